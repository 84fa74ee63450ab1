#include "equalizer/arguments.h"

#include <stdbool.h>

#include "equalizer/last_error.h"
#include "equalizer/settings.h"

/* The strength for LUMEQ_STRENGTH_AUTO if LumeqParams.lift does not define it. */
#define USUAL_STRENGTH 0.8

/* `also` names values outside low..high that are allowed, for the message. */
static int check_number(const char *name, double value, double low, double high, const char *also)
{
    if (value >= low && value <= high) /* false for NaN */
        return 0;
    return lumeq_refuse("%s must be %s%g..%g, not %g", name, also, low, high, value);
}

static int check_choice(const char *name, int value, int last)
{
    return value >= 0 && value <= last
               ? 0
               : lumeq_refuse("%s must be 0..%d, not %d", name, last, value);
}

static int check_params(const LumeqParams *p)
{
    if (check_choice("mode", (int)p->mode, LUMEQ_MODE_HAZE) < 0 ||
        check_choice("chroma", (int)p->chroma, LUMEQ_CHROMA_KEEP) < 0 ||
        check_choice("bars", (int)p->bars, LUMEQ_BARS_IGNORE) < 0 ||
        check_choice("limit", (int)p->limit, LUMEQ_LIMIT_LIGHTEN) < 0 ||
        check_choice("code_range", (int)p->code_range, LUMEQ_CODE_RANGE_USED) < 0 ||
        check_choice("transfer", (int)p->transfer, LUMEQ_TRANSFER_HLG) < 0 ||
        check_number("tiles_x", p->tiles_x, 0, LUMEQ_MAX_TILES, "") < 0 ||
        check_number("tiles_y", p->tiles_y, 0, LUMEQ_MAX_TILES, "") < 0 ||
        check_number("smooth", p->smooth, 0, LUMEQ_MAX_SMOOTH, "") < 0 ||
        check_number("deflicker", p->deflicker, 0, 1, "") < 0 ||
        check_number("brightness", p->brightness, -1, 1, "") < 0)
        return LUMEQ_ERR_ARGUMENT;
    if ((p->strength != LUMEQ_STRENGTH_AUTO &&
         check_number("strength", p->strength, 0, 1, "automatic or ") < 0) ||
        (p->denoise != LUMEQ_DENOISE_AUTO &&
         check_number("denoise", p->denoise, 0, 1, "automatic or ") < 0) ||
        (p->clip != 0 && p->clip != LUMEQ_CLIP_AUTO &&
         check_number("clip", p->clip, 1, LUMEQ_MAX_CLIP, "automatic, 0 or ") < 0) ||
        (p->gamma != 0 &&
         check_number("gamma", p->gamma, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA, "0 or ") < 0))
        return LUMEQ_ERR_ARGUMENT;
    if (p->reference && (p->mode == LUMEQ_MODE_STRETCH || p->mode == LUMEQ_MODE_HAZE))
        return lumeq_refuse("the reference exists for modes global and clahe, not for %s",
                            p->mode == LUMEQ_MODE_HAZE ? "haze" : "stretch");
    const LumeqRect *m = &p->meter;
    const int named = m->width == m->height && (m->width == 0 || m->width == -1);
    if (m->x < 0 || m->y < 0 || (!named && (m->width < 1 || m->height < 1)))
        return lumeq_refuse(
            "the metering area is %dx%d at %d,%d; its size must be positive, and its position not "
            "negative",
            m->width, m->height, m->x, m->y);
    return 0;
}

int lumeq_take_params(LumeqParams *to, const LumeqParams *from)
{
    LumeqParams usual = {.size = sizeof(usual)};
    lumeq_params_default(&usual);
    if (LUMEQ_TAKE(LumeqParams, to, from ? from : &usual) < 0 || check_params(to) < 0)
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
    if (check_choice("backend", (int)config->backend, LUMEQ_BACKEND_CUDA) < 0 ||
        check_number("device", config->device, 0, INT32_MAX, "") < 0 ||
        check_number("threads", config->threads, 0, 256, "") < 0)
        return LUMEQ_ERR_ARGUMENT;
    return check_number("batch", config->batch, 0, LUMEQ_MAX_BATCH, "");
}

static int check_plane(const LumeqImage *image, int plane, const char *name)
{
    static const char *const planes[] = {"luma", "first chroma", "second chroma"};
    const ptrdiff_t stride = image->stride[plane], row = lumeq_row_size(image, plane);
    if (image->plane[plane] && (stride < -INT32_MAX || stride > INT32_MAX))
        return lumeq_refuse("%s's %s plane has stride %td, beyond 2^31 - 1 bytes", name,
                            planes[plane], stride);
    if (image->plane[plane] && stride > -row && stride < row)
        return lumeq_refuse("%s's %s plane has stride %td, shorter than a row of %td bytes", name,
                            planes[plane], stride, row);
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
            "%s has %d unused low bits; with codes of %d bits, 0 to %d are supported", name,
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
        return lumeq_refuse("%s has range %d; it must be 0 or 1", name, (int)image->range);
    return check_samples(image, name);
}

static int check_memory(const LumeqImage *image, const char *name, const LumeqBackend *backend)
{
    if (image->memory == LUMEQ_MEMORY_HOST)
        return 0;
    if (image->memory != LUMEQ_MEMORY_CUDA)
        return lumeq_refuse("%s has memory %d; it must be 0 or 1", name, (int)image->memory);
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
    const int ret = check_source(previous, "the previous frame", backend);
    if (ret < 0)
        return ret;
    if (previous->width != in->width || previous->height != in->height ||
        previous->depth != in->depth || previous->shift != in->shift ||
        previous->range != in->range)
        return lumeq_refuse(
            "the previous frame must have the input's size, depth, shift and range");
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

/* True if the planes share bytes. Rows of one plane may lie between rows of the other. */
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
    if (out->width != in->width || out->height != in->height || out->range != in->range ||
        out->depth != in->depth)
        return lumeq_refuse("the output must have the input's size, range and depth");
    if (out->plane[1] &&
        (!in->plane[1] || out->chroma_x != in->chroma_x || out->chroma_y != in->chroma_y))
        return lumeq_refuse("the output must have the input's chroma planes and subsampling");
    for (int i = 0; i < lumeq_planes(out); i++)
        for (int k = 0; k < lumeq_planes(in); k++)
            if (overlap(rows_of(out, i), rows_of(in, k)))
                return lumeq_refuse("the output overlaps the input; it needs memory of its own");
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
        return lumeq_refuse("`in`, `out` or the `data` of one of them is NULL");
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
            return lumeq_refuse("a stride is %td bytes; %td (a row) to 2^31 - 1 are supported",
                                strides[i], row);
    }
    return 0;
}
