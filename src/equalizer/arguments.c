#include "equalizer/arguments.h"

#include <stdbool.h>

#include "equalizer/last_error.h"
#include "equalizer/settings.h"

/* LUMEQ_STRENGTH_AUTO without lift. */
#define USUAL_STRENGTH 0.8

static int in_range(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

static int check_params(const LumeqParams *params)
{
    if (params->mode < LUMEQ_MODE_GLOBAL || params->mode > LUMEQ_MODE_HAZE)
        return lumeq_refuse("mode %d is unknown", (int)params->mode);
    if (params->reference &&
        (params->mode == LUMEQ_MODE_STRETCH || params->mode == LUMEQ_MODE_HAZE))
        return lumeq_refuse("mode %s has no reference; global and clahe have one",
                            params->mode == LUMEQ_MODE_HAZE ? "haze" : "stretch");
    if (params->strength != LUMEQ_STRENGTH_AUTO && !in_range(params->strength, 0, 1))
        return lumeq_refuse("strength %g is neither automatic nor within 0..1", params->strength);
    if (params->clip != 0 && params->clip != LUMEQ_CLIP_AUTO &&
        !in_range(params->clip, 1, LUMEQ_MAX_CLIP))
        return lumeq_refuse("clip %g is neither 0 nor within 1..%g, nor automatic", params->clip,
                            LUMEQ_MAX_CLIP);
    if (!in_range(params->smooth, 0, LUMEQ_MAX_SMOOTH))
        return lumeq_refuse("smooth %g is not within 0..%g seconds", params->smooth,
                            LUMEQ_MAX_SMOOTH);
    if (params->tiles_x < 0 || params->tiles_x > LUMEQ_MAX_TILES || params->tiles_y < 0 ||
        params->tiles_y > LUMEQ_MAX_TILES)
        return lumeq_refuse("%dx%d tiles are not supported; each number may be 1 to %d",
                            params->tiles_x, params->tiles_y, LUMEQ_MAX_TILES);
    if (params->chroma != LUMEQ_CHROMA_SCALE && params->chroma != LUMEQ_CHROMA_KEEP)
        return lumeq_refuse("chroma %d is unknown", (int)params->chroma);
    if (params->bars != LUMEQ_BARS_AUTO && params->bars != LUMEQ_BARS_IGNORE)
        return lumeq_refuse("bars %d is unknown", (int)params->bars);
    if (params->limit < LUMEQ_LIMIT_NONE || params->limit > LUMEQ_LIMIT_LIGHTEN)
        return lumeq_refuse("limit %d is unknown", (int)params->limit);
    if (params->code_range < LUMEQ_CODE_RANGE_FULL || params->code_range > LUMEQ_CODE_RANGE_USED)
        return lumeq_refuse("code_range %d is unknown", (int)params->code_range);
    if (params->transfer < LUMEQ_TRANSFER_SDR || params->transfer > LUMEQ_TRANSFER_HLG)
        return lumeq_refuse("transfer %d is unknown", (int)params->transfer);
    const LumeqRect *m = &params->meter;
    const int named = m->width == m->height && (m->width == 0 || m->width == -1);
    if (m->x < 0 || m->y < 0 || (!named && (m->width < 1 || m->height < 1)))
        return lumeq_refuse(
            "the meter is %dx%d at %d,%d; its sides must be at least 1, and its position "
            "at least 0",
            m->width, m->height, m->x, m->y);
    if (!in_range(params->deflicker, 0, 1))
        return lumeq_refuse("deflicker %g is not within 0..1", params->deflicker);
    if (params->denoise != LUMEQ_DENOISE_AUTO && !in_range(params->denoise, 0, 1))
        return lumeq_refuse("denoise %g is neither automatic nor within 0..1", params->denoise);
    if (!in_range(params->brightness, -1, 1))
        return lumeq_refuse("brightness %g is not within -1..1", params->brightness);
    if (params->gamma != 0 && !in_range(params->gamma, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA))
        return lumeq_refuse("gamma %g is neither 0 nor within %g..%g", params->gamma,
                            LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA);
    return 0;
}

int lumeq_take_params(LumeqParams *to, const LumeqParams *from)
{
    LumeqParams usual = {.size = sizeof(usual)};
    lumeq_params_default(&usual);
    if (lumeq_take_struct(to, sizeof(*to), from ? from : &usual) < 0)
        return lumeq_refuse("LumeqParams.size is not the size of any known version");
    if (check_params(to) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (to->strength == LUMEQ_STRENGTH_AUTO) {
        to->strength = USUAL_STRENGTH;
        to->adaptive = 1;
    } else {
        to->lift = 0;
    }
    return 0;
}

int lumeq_check_config(const LumeqConfig *config)
{
    if (config->backend < LUMEQ_BACKEND_AUTO || config->backend > LUMEQ_BACKEND_CUDA)
        return lumeq_refuse("backend %d is unknown", (int)config->backend);
    if (config->device < 0)
        return lumeq_refuse("there is no CUDA device %d; they count from 0", config->device);
    if (config->threads < 0 || config->threads > 256)
        return lumeq_refuse("threads %d is not within 0..256", config->threads);
    if (config->batch < 0 || config->batch > LUMEQ_MAX_BATCH)
        return lumeq_refuse("batch %d is not within 0..%d", config->batch, LUMEQ_MAX_BATCH);
    return 0;
}

static int check_plane(const LumeqImage *image, int plane, const char *name)
{
    static const char *const planes[] = {"luma", "chroma", "the second chroma"};
    const ptrdiff_t stride = image->stride[plane], row = lumeq_row_size(image, plane);
    if (image->plane[plane] && (stride < -INT32_MAX || stride > INT32_MAX))
        return lumeq_refuse("the stride %td of %s's %s must be within +-(2^31 - 1)", stride, name,
                            planes[plane]);
    if (image->plane[plane] && stride > -row && stride < row)
        return lumeq_refuse("the stride %td of %s's %s is shorter than a row of %td bytes", stride,
                            name, planes[plane], row);
    if (image->depth > 8 && ((uintptr_t)image->plane[plane] % 2 || stride % 2))
        return lumeq_refuse("%s has 16-bit samples at odd addresses", name);
    return 0;
}

static int check_samples(const LumeqImage *image, const char *name)
{
    if (image->depth < 8 || image->depth > 16)
        return lumeq_refuse("%s has %d bits per sample; 8 to 16 are supported", name, image->depth);
    const int most = image->depth == 8 ? 0 : 16 - image->depth;
    if (image->shift < 0 || image->shift > most)
        return lumeq_refuse(
            "%s has %d unused low bits below codes of %d bits; 0 to %d are supported", name,
            image->shift, image->depth, most);
    if (image->chroma_x < 0 || image->chroma_x > 2 || image->chroma_y < 0 || image->chroma_y > 2)
        return lumeq_refuse(
            "%s subsamples chroma by 2^%d x 2^%d; exponents of 0 to 2 are supported", name,
            image->chroma_x, image->chroma_y);
    for (int plane = 0; plane < lumeq_planes(image); plane++)
        if (check_plane(image, plane, name) < 0)
            return LUMEQ_ERR_ARGUMENT;
    return 0;
}

static int check_image(const LumeqImage *image, const char *name)
{
    if (image->width < 1 || image->width > LUMEQ_MAX_SIDE || image->height < 1 ||
        image->height > LUMEQ_MAX_SIDE || (int64_t)image->width * image->height > INT32_MAX)
        return lumeq_refuse("%s is %dx%d; sides may be 1 to %d, and the area up to 2^31 - 1", name,
                            image->width, image->height, LUMEQ_MAX_SIDE);
    if (image->range != LUMEQ_RANGE_LIMITED && image->range != LUMEQ_RANGE_FULL)
        return lumeq_refuse("the range of %s is unknown", name);
    return check_samples(image, name);
}

static int check_memory(const LumeqImage *image, const char *name, const LumeqBackend *backend)
{
    if (image->memory == LUMEQ_MEMORY_HOST)
        return 0;
    if (image->memory != LUMEQ_MEMORY_CUDA)
        return lumeq_refuse("the kind of memory of %s is unknown", name);
    if (!backend->alloc_device)
        return lumeq_refuse("%s is in CUDA memory, which the %s backend cannot access", name,
                            backend->name);
    return 0;
}

static int check_source(const LumeqImage *image, const char *name, const LumeqBackend *backend)
{
    int ret = check_image(image, name);
    if (ret == 0 && !image->plane[0])
        ret = lumeq_refuse("%s has no luma plane", name);
    return ret < 0 ? ret : check_memory(image, name, backend);
}

int lumeq_check_input(const LumeqImage *in, const LumeqParams *params, const LumeqBackend *backend)
{
    const int ret = check_source(in, "the input", backend);
    if (ret < 0)
        return ret;
    if (params->reference && params->mode != LUMEQ_MODE_OFF && in->depth != 8)
        return lumeq_refuse("the reference is defined for 8 bits per sample, not for %d",
                            in->depth);
    return 0;
}

int lumeq_check_previous(const LumeqImage *previous, const LumeqImage *in,
                         const LumeqBackend *backend)
{
    const int ret = check_source(previous, "the frame before", backend);
    if (ret < 0)
        return ret;
    if (previous->width != in->width || previous->height != in->height ||
        previous->depth != in->depth || previous->shift != in->shift ||
        previous->range != in->range)
        return lumeq_refuse(
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

static int check_output(const LumeqImage *in, const LumeqImage *out, const LumeqBackend *backend)
{
    int ret = check_image(out, "the output");
    if (ret == 0)
        ret = check_memory(out, "the output", backend);
    if (ret < 0)
        return ret;
    if (out->width != in->width || out->height != in->height || out->range != in->range)
        return lumeq_refuse("the output must have the input's size and range");
    if (out->depth != in->depth)
        return lumeq_refuse("the output must have the input's depth");
    if (out->plane[1] &&
        (!in->plane[1] || out->chroma_x != in->chroma_x || out->chroma_y != in->chroma_y))
        return lumeq_refuse("the output must have the input's chroma planes and subsampling");
    for (int i = 0; i < lumeq_planes(out); i++)
        for (int k = 0; k < lumeq_planes(in); k++)
            if (overlap(rows_of(out, i), rows_of(in, k)))
                return lumeq_refuse(
                    "a plane of the output overlaps the input; it needs memory of its own");
    return 0;
}

int lumeq_check_pair(const LumeqImage *in, const LumeqImage *out, const LumeqBackend *backend)
{
    const int ret = check_source(in, "the input", backend);
    if (ret < 0)
        return ret;
    if (!out->plane[0])
        return lumeq_refuse("the output has no luma plane");
    return check_output(in, out, backend);
}

int lumeq_check_frame(const LumeqFrame *frame, const LumeqParams *params,
                      const LumeqBackend *backend)
{
    int ret = lumeq_check_input(&frame->in, params, backend);
    if (ret == 0 && frame->previous)
        ret = lumeq_check_previous(frame->previous, &frame->in, backend);
    return ret < 0 || !frame->out.plane[0] ? ret : check_output(&frame->in, &frame->out, backend);
}

int lumeq_check_pixels(const LumeqPixels *in, const LumeqPixels *out)
{
    if (!in || !out || !in->data || !out->data)
        return lumeq_refuse("`in` or `out` is NULL");
    if (in->channels < 3 || in->channels > 4 || (in->depth != 8 && in->depth != 16) ||
        (in->order != LUMEQ_ORDER_BGR && in->order != LUMEQ_ORDER_RGB))
        return lumeq_refuse(
            "pixels must have 3 or 4 channels of 8 or 16 bits, in BGR or RGB order");
    if (in->width < 1 || in->width > LUMEQ_MAX_SIDE || in->height < 1 ||
        in->height > LUMEQ_MAX_SIDE)
        return lumeq_refuse("the picture is %dx%d; sides of 1 to %d are supported", in->width,
                            in->height, LUMEQ_MAX_SIDE);
    if (in->width != out->width || in->height != out->height || in->channels != out->channels ||
        in->depth != out->depth || in->order != out->order)
        return lumeq_refuse("the output must have the picture's size and format");
    const ptrdiff_t row = (ptrdiff_t)in->width * in->channels * (in->depth / 8);
    const ptrdiff_t strides[2] = {in->stride, out->stride};
    for (int i = 0; i < 2; i++) {
        const ptrdiff_t size = strides[i] < 0 ? -strides[i] : strides[i];
        if (size < row || size > INT32_MAX)
            return lumeq_refuse("a stride of %td bytes is shorter than a row of %td", strides[i],
                                row);
    }
    return 0;
}
