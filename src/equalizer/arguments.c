#include "equalizer/arguments.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "equalizer/settings.h"

/* LUMEQ_STRENGTH_AUTO without lift. */
#define USUAL_STRENGTH 0.8

typedef struct Text {
    char *text;
    size_t size;
} Text;

__attribute__((format(printf, 2, 3))) static int refuse(Text why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why.text, why.size, format, args);
    va_end(args);
    return LUMEQ_ERR_ARGUMENT;
}

static int in_range(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

static int check_params(const LumeqParams *params, Text why)
{
    if (params->mode < LUMEQ_MODE_GLOBAL || params->mode > LUMEQ_MODE_HAZE)
        return refuse(why, "mode %d is unknown", (int)params->mode);
    if (params->reference &&
        (params->mode == LUMEQ_MODE_STRETCH || params->mode == LUMEQ_MODE_HAZE))
        return refuse(why, "mode %s has no reference; global and clahe have one",
                      params->mode == LUMEQ_MODE_HAZE ? "haze" : "stretch");
    if (params->strength != LUMEQ_STRENGTH_AUTO && !in_range(params->strength, 0, 1))
        return refuse(why, "strength %g is neither automatic nor within 0..1", params->strength);
    if (params->clip != 0 && params->clip != LUMEQ_CLIP_AUTO &&
        !in_range(params->clip, 1, LUMEQ_MAX_CLIP))
        return refuse(why, "clip %g is neither 0 nor within 1..%g, nor automatic", params->clip,
                      LUMEQ_MAX_CLIP);
    if (!in_range(params->smooth, 0, LUMEQ_MAX_SMOOTH))
        return refuse(why, "smooth %g is not within 0..%g seconds", params->smooth,
                      LUMEQ_MAX_SMOOTH);
    if (params->tiles_x < 0 || params->tiles_x > LUMEQ_MAX_TILES || params->tiles_y < 0 ||
        params->tiles_y > LUMEQ_MAX_TILES)
        return refuse(why, "%dx%d tiles are not supported; each number may be 1 to %d",
                      params->tiles_x, params->tiles_y, LUMEQ_MAX_TILES);
    if (params->chroma != LUMEQ_CHROMA_SCALE && params->chroma != LUMEQ_CHROMA_KEEP)
        return refuse(why, "chroma %d is unknown", (int)params->chroma);
    if (params->bars != LUMEQ_BARS_AUTO && params->bars != LUMEQ_BARS_IGNORE)
        return refuse(why, "bars %d is unknown", (int)params->bars);
    if (params->limit < LUMEQ_LIMIT_NONE || params->limit > LUMEQ_LIMIT_LIGHTEN)
        return refuse(why, "limit %d is unknown", (int)params->limit);
    if (params->code_range < LUMEQ_CODE_RANGE_FULL || params->code_range > LUMEQ_CODE_RANGE_USED)
        return refuse(why, "code_range %d is unknown", (int)params->code_range);
    if (params->transfer < LUMEQ_TRANSFER_SDR || params->transfer > LUMEQ_TRANSFER_HLG)
        return refuse(why, "transfer %d is unknown", (int)params->transfer);
    const LumeqRect *m = &params->meter;
    const int named = m->width == m->height && (m->width == 0 || m->width == -1);
    if (m->x < 0 || m->y < 0 || (!named && (m->width < 1 || m->height < 1)))
        return refuse(why,
                      "the meter is %dx%d at %d,%d; its sides must be at least 1, and its position "
                      "at least 0",
                      m->width, m->height, m->x, m->y);
    if (!in_range(params->deflicker, 0, 1))
        return refuse(why, "deflicker %g is not within 0..1", params->deflicker);
    if (params->denoise != LUMEQ_DENOISE_AUTO && !in_range(params->denoise, 0, 1))
        return refuse(why, "denoise %g is neither automatic nor within 0..1", params->denoise);
    if (!in_range(params->brightness, -1, 1))
        return refuse(why, "brightness %g is not within -1..1", params->brightness);
    if (params->gamma != 0 && !in_range(params->gamma, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA))
        return refuse(why, "gamma %g is neither 0 nor within %g..%g", params->gamma,
                      LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA);
    return 0;
}

int lumeq_take_params(LumeqParams *to, const LumeqParams *from, char *text, size_t text_size)
{
    const Text why = {text, text_size};
    LumeqParams usual = {.size = sizeof(usual)};
    lumeq_params_default(&usual);
    if (lumeq_take_struct(to, sizeof(*to), from ? from : &usual) < 0)
        return refuse(why, "LumeqParams.size is not the size of any known version");
    if (check_params(to, why) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (to->strength == LUMEQ_STRENGTH_AUTO) {
        to->strength = USUAL_STRENGTH;
        to->adaptive = 1;
    } else {
        to->lift = 0;
    }
    return 0;
}

int lumeq_check_config(const LumeqConfig *config, char *text, size_t text_size)
{
    const Text why = {text, text_size};
    if (config->backend < LUMEQ_BACKEND_AUTO || config->backend > LUMEQ_BACKEND_CUDA)
        return refuse(why, "backend %d is unknown", (int)config->backend);
    if (config->device < 0)
        return refuse(why, "there is no CUDA device %d; they count from 0", config->device);
    if (config->threads < 0 || config->threads > 256)
        return refuse(why, "threads %d is not within 0..256", config->threads);
    if (config->batch < 0 || config->batch > LUMEQ_MAX_BATCH)
        return refuse(why, "batch %d is not within 0..%d", config->batch, LUMEQ_MAX_BATCH);
    return 0;
}

static int check_plane(const LumeqImage *image, int plane, const char *name, Text why)
{
    static const char *const planes[] = {"luma", "chroma", "the second chroma"};
    const ptrdiff_t stride = image->stride[plane], row = lumeq_row_size(image, plane);
    if (image->plane[plane] && (stride < -INT32_MAX || stride > INT32_MAX))
        return refuse(why, "the stride %td of %s's %s must be within +-(2^31 - 1)", stride, name,
                      planes[plane]);
    if (image->plane[plane] && stride > -row && stride < row)
        return refuse(why, "the stride %td of %s's %s is shorter than a row of %td bytes", stride,
                      name, planes[plane], row);
    if (image->depth > 8 && ((uintptr_t)image->plane[plane] % 2 || stride % 2))
        return refuse(why, "%s has 16-bit samples at odd addresses", name);
    return 0;
}

static int check_samples(const LumeqImage *image, const char *name, Text why)
{
    if (image->depth < 8 || image->depth > 16)
        return refuse(why, "%s has %d bits per sample; 8 to 16 are supported", name, image->depth);
    const int most = image->depth == 8 ? 0 : 16 - image->depth;
    if (image->shift < 0 || image->shift > most)
        return refuse(why,
                      "%s has %d unused low bits below codes of %d bits; 0 to %d are supported",
                      name, image->shift, image->depth, most);
    if (image->chroma_x < 0 || image->chroma_x > 2 || image->chroma_y < 0 || image->chroma_y > 2)
        return refuse(why, "%s subsamples chroma by 2^%d x 2^%d; exponents of 0 to 2 are supported",
                      name, image->chroma_x, image->chroma_y);
    for (int plane = 0; plane < lumeq_planes(image); plane++)
        if (check_plane(image, plane, name, why) < 0)
            return LUMEQ_ERR_ARGUMENT;
    return 0;
}

static int check_image(const LumeqImage *image, const char *name, Text why)
{
    if (image->width < 1 || image->width > LUMEQ_MAX_SIDE || image->height < 1 ||
        image->height > LUMEQ_MAX_SIDE || (int64_t)image->width * image->height > INT32_MAX)
        return refuse(why, "%s is %dx%d; sides may be 1 to %d, and the area up to 2^31 - 1", name,
                      image->width, image->height, LUMEQ_MAX_SIDE);
    if (image->range != LUMEQ_RANGE_LIMITED && image->range != LUMEQ_RANGE_FULL)
        return refuse(why, "the range of %s is unknown", name);
    return check_samples(image, name, why);
}

static int check_memory(const LumeqImage *image, const char *name, const LumeqBackend *backend,
                        Text why)
{
    if (image->memory == LUMEQ_MEMORY_HOST)
        return 0;
    if (image->memory != LUMEQ_MEMORY_CUDA)
        return refuse(why, "the kind of memory of %s is unknown", name);
    if (!backend->alloc_device)
        return refuse(why, "%s is in CUDA memory, which the %s backend cannot access", name,
                      backend->name);
    return 0;
}

static int check_source(const LumeqImage *image, const char *name, const LumeqBackend *backend,
                        Text why)
{
    int ret = check_image(image, name, why);
    if (ret == 0 && !image->plane[0])
        ret = refuse(why, "%s has no luma plane", name);
    return ret < 0 ? ret : check_memory(image, name, backend, why);
}

int lumeq_check_input(const LumeqImage *in, const LumeqParams *params, const LumeqBackend *backend,
                      char *text, size_t text_size)
{
    const Text why = {text, text_size};
    const int ret = check_source(in, "the input", backend, why);
    if (ret < 0)
        return ret;
    if (params->reference && params->mode != LUMEQ_MODE_OFF && in->depth != 8)
        return refuse(why, "the reference is defined for 8 bits per sample, not for %d", in->depth);
    return 0;
}

int lumeq_check_previous(const LumeqImage *previous, const LumeqImage *in,
                         const LumeqBackend *backend, char *text, size_t text_size)
{
    const Text why = {text, text_size};
    const int ret = check_source(previous, "the frame before", backend, why);
    if (ret < 0)
        return ret;
    if (previous->width != in->width || previous->height != in->height ||
        previous->depth != in->depth || previous->shift != in->shift ||
        previous->range != in->range)
        return refuse(why,
                      "the previous frame must have the size, depth, shift and range of this one");
    return 0;
}

/* Rows of a plane in the order of their addresses. */
typedef struct Rows {
    uintptr_t next, size, stride;
    uintptr_t left;
} Rows;

static Rows rows_of(const LumeqImage *image, int plane)
{
    const ptrdiff_t stride = image->stride[plane], last = lumeq_height(image, plane) - 1;
    return (Rows){
        .next = (uintptr_t)image->plane[plane] + (uintptr_t)(stride < 0 ? stride * last : 0),
        .size = (uintptr_t)lumeq_row_size(image, plane),
        .stride = (uintptr_t)(stride < 0 ? -stride : stride),
        .left = (uintptr_t)last + 1,
    };
}

/* True if they share bytes; rows of one may lie between those of the other. */
static bool overlap(Rows a, Rows b)
{
    while (a.left && b.left) {
        Rows *low = a.next < b.next ? &a : &b;
        const uintptr_t high = a.next < b.next ? b.next : a.next;
        uintptr_t skipped = (high - low->next) / low->stride;
        if (skipped >= low->left)
            skipped = low->left - 1;
        low->next += skipped * low->stride;
        if (high - low->next < low->size)
            return true;
        low->next += low->stride;
        low->left -= skipped + 1;
    }
    return false;
}

static int check_output(const LumeqImage *in, const LumeqImage *out, const LumeqBackend *backend,
                        Text why)
{
    int ret = check_image(out, "the output", why);
    if (ret == 0)
        ret = check_memory(out, "the output", backend, why);
    if (ret < 0)
        return ret;
    if (out->width != in->width || out->height != in->height || out->range != in->range)
        return refuse(why, "the output must have the input's size and range");
    if (out->depth != in->depth)
        return refuse(why, "the output must have the input's depth");
    if (out->plane[1] &&
        (!in->plane[1] || out->chroma_x != in->chroma_x || out->chroma_y != in->chroma_y))
        return refuse(why, "the output must have the input's chroma planes and subsampling");
    for (int i = 0; i < lumeq_planes(out); i++)
        for (int k = 0; k < lumeq_planes(in); k++)
            if (overlap(rows_of(out, i), rows_of(in, k)))
                return refuse(
                    why, "a plane of the output overlaps the input; it needs memory of its own");
    return 0;
}

int lumeq_check_pair(const LumeqImage *in, const LumeqImage *out, const LumeqBackend *backend,
                     char *text, size_t text_size)
{
    const Text why = {text, text_size};
    const int ret = check_source(in, "the input", backend, why);
    if (ret < 0)
        return ret;
    if (!out->plane[0])
        return refuse(why, "the output has no luma plane");
    return check_output(in, out, backend, why);
}

int lumeq_check_frame(const LumeqFrame *frame, const LumeqParams *params,
                      const LumeqBackend *backend, char *text, size_t text_size)
{
    const Text why = {text, text_size};
    int ret = lumeq_check_input(&frame->in, params, backend, text, text_size);
    if (ret == 0 && frame->previous)
        ret = lumeq_check_previous(frame->previous, &frame->in, backend, text, text_size);
    return ret < 0 || !frame->out.plane[0] ? ret
                                           : check_output(&frame->in, &frame->out, backend, why);
}

int lumeq_check_pixels(const LumeqPixels *in, const LumeqPixels *out, char *text, size_t text_size)
{
    const Text why = {text, text_size};
    if (!in || !out || !in->data || !out->data)
        return refuse(why, "`in` or `out` is NULL");
    if (in->channels < 3 || in->channels > 4 || (in->depth != 8 && in->depth != 16) ||
        (in->order != LUMEQ_ORDER_BGR && in->order != LUMEQ_ORDER_RGB))
        return refuse(why, "pixels must have 3 or 4 channels of 8 or 16 bits, in BGR or RGB order");
    if (in->width < 1 || in->width > LUMEQ_MAX_SIDE || in->height < 1 ||
        in->height > LUMEQ_MAX_SIDE)
        return refuse(why, "the picture is %dx%d; sides of 1 to %d are supported", in->width,
                      in->height, LUMEQ_MAX_SIDE);
    if (in->width != out->width || in->height != out->height || in->channels != out->channels ||
        in->depth != out->depth || in->order != out->order)
        return refuse(why, "the output must have the picture's size and format");
    const ptrdiff_t row = (ptrdiff_t)in->width * in->channels * (in->depth / 8);
    const ptrdiff_t strides[2] = {in->stride, out->stride};
    for (int i = 0; i < 2; i++) {
        const ptrdiff_t size = strides[i] < 0 ? -strides[i] : strides[i];
        if (size < row || size > INT32_MAX)
            return refuse(why, "a stride of %td bytes is shorter than a row of %td", strides[i],
                          row);
    }
    return 0;
}
