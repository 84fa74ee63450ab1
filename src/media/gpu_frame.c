#include "media/gpu_frame.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

#include "media/log.h"

/* Maximum number of surfaces that NVDEC can decode into. */
#define MOST_SURFACES 32

/* Approximate row alignment of surfaces, in bytes. */
#define SURFACE_ALIGNMENT 256

/* Alignment in bytes that libavcodec keeps when it crops rows. */
#define CROP_ALIGNMENT 32

static AVHWFramesContext *frames_of(const AVFrame *frame)
{
    return (AVHWFramesContext *)frame->hw_frames_ctx->data;
}

enum AVPixelFormat gpu_frame_format(const AVFrame *frame)
{
    return gpu_frame_is(frame) ? (enum AVPixelFormat)(intptr_t)frames_of(frame)->user_opaque
                               : frame->format;
}

enum AVPixelFormat gpu_frame_stored(const AVFrame *frame)
{
    return frames_of(frame)->sw_format;
}

SampleLayout gpu_frame_layout(const AVFrame *frame)
{
    SampleLayout layout = convert_layout(gpu_frame_format(frame));
    if (!gpu_frame_is(frame))
        return layout;
    layout.planes = convert_layout(gpu_frame_stored(frame)).planes;
    layout.shift = layout.depth > 8 ? 16 - layout.depth : 0;
    return layout;
}

void gpu_budget_release(const GpuBudget *budget, int64_t *reserved)
{
    if (budget->reserve && *reserved)
        (void)budget->reserve(budget->opaque, -*reserved);
    *reserved = 0;
}

/* Reserves memory for the surfaces; returns 1 on success. Each surface counts twice: as decoding
 * target and as mapped output. */
static int reserve(const GpuBudget *budget, const AVHWFramesContext *surfaces, int64_t *reserved)
{
    const int picture = av_image_get_buffer_size(surfaces->sw_format, surfaces->width,
                                                 surfaces->height, SURFACE_ALIGNMENT);
    const int64_t bytes = 2 * (int64_t)surfaces->initial_pool_size * FFMAX(picture, 0);
    gpu_budget_release(budget, reserved);
    if (budget->reserve && budget->reserve(budget->opaque, bytes) != 0)
        return 0;
    *reserved = bytes;
    return 1;
}

enum AVPixelFormat gpu_device_choose(AVCodecContext *codec, const enum AVPixelFormat *formats,
                                     AVBufferRef *device, int frames, const GpuBudget *budget,
                                     int64_t *reserved)
{
    AVBufferRef *made = NULL;
    int full;
    while (*formats != AV_PIX_FMT_NONE && *formats != AV_PIX_FMT_CUDA)
        formats++;
    if (*formats == AV_PIX_FMT_NONE ||
        avcodec_get_hw_frames_parameters(codec, device, AV_PIX_FMT_CUDA, &made) < 0)
        return AV_PIX_FMT_NONE;
    AVHWFramesContext *context = (AVHWFramesContext *)made->data;
    const enum AVPixelFormat format = convert_without_j(codec->sw_pix_fmt, &full);
    /* Odd dimensions are refused, because FFmpeg and NVDEC then place chroma differently. */
    const int odd = (codec->coded_width | codec->coded_height) & 1;
    /* For unknown formats, FFmpeg chooses 4:2:0 surfaces, which may lose chroma. */
    int x = 0, y = 0, wanted_x = -1, wanted_y = -1;
    (void)av_pix_fmt_get_chroma_sub_sample(context->sw_format, &x, &y);
    (void)av_pix_fmt_get_chroma_sub_sample(format, &wanted_x, &wanted_y);
    const int same_chroma = x == wanted_x && y == wanted_y;
    context->initial_pool_size += frames;
    context->user_opaque = (void *)(intptr_t)format;
    if (odd || context->initial_pool_size > MOST_SURFACES || !convert_is_direct(format) ||
        !same_chroma || !reserve(budget, context, reserved) || av_hwframe_ctx_init(made) < 0) {
        gpu_budget_release(budget, reserved);
        av_buffer_unref(&made);
        return AV_PIX_FMT_NONE;
    }
    av_buffer_unref(&codec->hw_frames_ctx);
    codec->hw_frames_ctx = made;
    return AV_PIX_FMT_CUDA;
}

typedef struct Leaked {
    void *object;
    struct Leaked *next;
} Leaked;

static _Atomic(Leaked *) all_leaked;

void gpu_abandon(void *object)
{
    Leaked *left = object ? malloc(sizeof(*left)) : NULL;
    if (!left)
        return;
    *left = (Leaked){object, atomic_load(&all_leaked)};
    while (!atomic_compare_exchange_weak(&all_leaked, &left->next, left))
        ;
}

void gpu_frame_abandon(AVFrame *frame)
{
    AVFrame *left = av_frame_alloc();
    if (left)
        av_frame_move_ref(left, frame);
    else
        av_frame_unref(frame);
    gpu_abandon(left);
}

/* The flag that gpu_device_open() allocates, or NULL. */
static atomic_int *lost_flag(const AVBufferRef *device)
{
    return device ? ((AVHWDeviceContext *)device->data)->user_opaque : NULL;
}

void gpu_device_mark_lost(AVBufferRef *device)
{
    atomic_int *lost = lost_flag(device);
    if (lost)
        atomic_store(lost, 1);
}

bool gpu_device_is_lost(const AVBufferRef *device)
{
    atomic_int *lost = lost_flag(device);
    return lost && atomic_load(lost);
}

bool gpu_surfaces_are_lost(const AVBufferRef *surfaces)
{
    return gpu_device_is_lost(((AVHWFramesContext *)surfaces->data)->device_ref);
}

void gpu_frame_mark_lost(const AVFrame *frame)
{
    if (gpu_frame_is(frame))
        gpu_device_mark_lost(frames_of(frame)->device_ref);
}

bool gpu_frame_is_lost(const AVFrame *frame)
{
    return gpu_frame_is(frame) && frame->hw_frames_ctx &&
           gpu_surfaces_are_lost(frame->hw_frames_ctx);
}

void gpu_frame_unref(AVFrame *frame)
{
    if (gpu_frame_is_lost(frame))
        gpu_frame_abandon(frame);
    else
        av_frame_unref(frame);
}

void gpu_frame_free(AVFrame **frame)
{
    if (*frame)
        gpu_frame_unref(*frame);
    av_frame_free(frame);
}

/* ---- for encoders ---------------------------------------------------------------------------- */

/* The GPU encoder's equivalent of a planar format, or AV_PIX_FMT_NONE. */
static enum AVPixelFormat encoded_format(enum AVPixelFormat format)
{
    switch (format) {
    case AV_PIX_FMT_YUV420P: return AV_PIX_FMT_NV12;
    case AV_PIX_FMT_YUV444P: return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUV420P10: return AV_PIX_FMT_P010;
    case AV_PIX_FMT_YUV444P10: return AV_PIX_FMT_YUV444P16;
    default: return AV_PIX_FMT_NONE;
    }
}

static int open_surfaces(AVBufferRef **surfaces, AVBufferRef *device, const AVFrame *in)
{
    const enum AVPixelFormat format = gpu_frame_format(in), stored = encoded_format(format);
    if (stored == AV_PIX_FMT_NONE || ((in->width | in->height) & 1) ||
        av_frame_get_side_data(in, AV_FRAME_DATA_DISPLAYMATRIX))
        return AVERROR(ENOSYS);
    AVBufferRef *made = av_hwframe_ctx_alloc(device);
    if (!made)
        return AVERROR(ENOMEM);
    AVHWFramesContext *context = (AVHWFramesContext *)made->data;
    context->format = AV_PIX_FMT_CUDA;
    context->sw_format = stored;
    context->width = in->width;
    context->height = in->height;
    context->user_opaque = (void *)(intptr_t)format;
    const int ret = av_hwframe_ctx_init(made);
    if (ret < 0)
        av_buffer_unref(&made);
    *surfaces = made;
    return ret;
}

int gpu_frame_make(AVFrame **made, AVBufferRef **surfaces, AVBufferRef *device, const AVFrame *in)
{
    int ret = *surfaces ? 0 : open_surfaces(surfaces, device, in);
    AVFrame *frame = *made = NULL;
    if (ret < 0)
        return ret;
    frame = av_frame_alloc();
    ret = frame ? av_hwframe_get_buffer(*surfaces, frame, 0) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = av_frame_copy_props(frame, in);
    if (ret >= 0 && (frame->width != in->width || frame->height != in->height))
        ret = AVERROR(EINVAL);
    if (ret < 0)
        av_frame_free(&frame);
    *made = frame;
    return ret;
}

uint8_t *gpu_frame_picture(const AVFrame *frame, int plane)
{
    const SampleLayout layout = gpu_frame_layout(frame);
    const size_t bytes = layout.depth + layout.shift > 8 ? 2 : 1;
    const size_t samples = plane && layout.planes == 2 ? 2 : 1; /* Cb and Cr */
    const size_t x = frame->crop_left >> (plane ? layout.chroma_x : 0);
    const size_t y = frame->crop_top >> (plane ? layout.chroma_y : 0);
    return frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane] + x * bytes * samples;
}

/* ---- cropping ------------------------------------------------------------------------------ */

/* Crops the left and the top. libavcodec has already cropped the right and the bottom. */
void gpu_frame_crop(AVFrame *frame)
{
    const SampleLayout layout = gpu_frame_layout(frame);
    const int bytes = layout.depth > 8 ? 2 : 1, top = (int)frame->crop_top;
    int left = (int)frame->crop_left;
    /* Like libavcodec in planar frames, cut fewer columns than asked for where this keeps all
     * planes aligned. n & -n is the largest power of two that divides n. */
    const int chroma = layout.planes > 1 ? (left >> layout.chroma_x) * bytes : 0;
    int least = (left * bytes) & -(left * bytes);
    if (chroma)
        least = FFMIN(least, chroma & -chroma);
    if (left && least < CROP_ALIGNMENT)
        left &= ~(CROP_ALIGNMENT / least * (left & -left) - 1);
    for (int i = 0; i < layout.planes; i++) {
        const int x = i ? left >> layout.chroma_x : left, y = i ? top >> layout.chroma_y : top;
        const int step = i && layout.planes == 2 ? 2 * bytes : bytes;
        frame->data[i] += (ptrdiff_t)y * frame->linesize[i] + (ptrdiff_t)x * step;
    }
    frame->width -= left;
    frame->height -= top;
    frame->crop_left = frame->crop_top = 0;
}

/* ---- to the host --------------------------------------------------------------------------- */

/* Copies `count` samples of a row, which are `step` samples apart in `from`. */
static void copy_row(uint8_t *to, const uint8_t *from, int count, int step,
                     const SampleLayout *layout)
{
    uint16_t *to16 = (uint16_t *)to;
    const uint16_t *from16 = (const uint16_t *)from;
    if (layout->depth > 8)
        for (int x = 0; x < count; x++)
            to16[x] = (uint16_t)(from16[x * step] >> layout->shift);
    else
        for (int x = 0; x < count; x++)
            to[x] = from[x * step];
}

static void copy_planes(AVFrame *to, const AVFrame *from, const SampleLayout *layout)
{
    const int planes = convert_layout(to->format).planes, bytes = layout->depth > 8 ? 2 : 1;
    for (int i = 0; i < planes; i++) {
        const int interleaved = i && layout->planes == 2, place = interleaved ? 1 : i;
        const int width = i ? AV_CEIL_RSHIFT(to->width, layout->chroma_x) : to->width;
        const int height = i ? AV_CEIL_RSHIFT(to->height, layout->chroma_y) : to->height;
        const uint8_t *first = from->data[place] + (interleaved ? (i - 1) * bytes : 0);
        const bool is_there = to->data[i] == first && !layout->shift;
        for (int y = 0; y < height && !is_there; y++)
            copy_row(to->data[i] + (ptrdiff_t)y * to->linesize[i],
                     first + (ptrdiff_t)y * from->linesize[place], width, interleaved ? 2 : 1,
                     layout);
    }
}

int gpu_frame_download(AVFrame *host, AVFrame *stored, const AVFrame *frame)
{
    const SampleLayout layout = gpu_frame_layout(frame);
    int ret = AVERROR_EXTERNAL;
    media_log_clear();
    if (!gpu_frame_is_lost(frame))
        ret = av_hwframe_transfer_data(stored, frame, 0);
    if (ret >= 0 && *media_log_error()) /* FFmpeg logs a failed copy but returns 0 */
        ret = AVERROR_EXTERNAL;
    if (ret >= 0)
        copy_planes(host, stored, &layout);
    return ret;
}
