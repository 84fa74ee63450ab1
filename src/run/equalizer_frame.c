#include "run/equalizer_frame.h"

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"

int equalizer_failed(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL));
}

bool equalizer_writes(const LumeqParams *params)
{
    return params->mode != LUMEQ_MODE_OFF || params->deflicker > 0 || params->brightness != 0 ||
           (params->gamma != 0 && params->gamma != 1);
}

bool equalizer_writes_chroma(const LumeqParams *params)
{
    return equalizer_writes(params) && !params->reference && params->chroma == LUMEQ_CHROMA_SCALE;
}

/* The picture without cropped margins; with its chroma planes if `chroma`. */
static LumeqImage image_of(const AVFrame *frame, int chroma)
{
    const SampleLayout layout = gpu_frame_layout(frame);
    LumeqImage image = {
        .width = frame->width - (int)(frame->crop_left + frame->crop_right),
        .height = frame->height - (int)(frame->crop_top + frame->crop_bottom),
        .chroma_x = layout.chroma_x,
        .chroma_y = layout.chroma_y,
        .depth = layout.depth,
        .shift = layout.shift,
        .range = frame->color_range == AVCOL_RANGE_JPEG ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED,
        .memory = gpu_frame_is(frame) ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST,
    };
    for (int i = 0; i < (chroma ? layout.planes : 1); i++) {
        image.plane[i] = gpu_frame_picture(frame, i);
        image.stride[i] = frame->linesize[i];
    }
    return image;
}

LumeqFrame equalizer_frame(const AVFrame *in, const AVFrame *out)
{
    const AVRational nanoseconds = {1, 1000000000};
    const LumeqImage none = {.plane = {NULL}};
    const int chroma = !out || out->data[1] != in->data[1];
    return (LumeqFrame){
        .in = image_of(in, chroma),
        .out = out ? image_of(out, chroma) : none,
        .time = av_rescale_q(in->pts, in->time_base, nanoseconds),
        .duration = av_rescale_q(FRAME_DURATION(in), in->time_base, nanoseconds),
        .interlaced = FRAME_IS_INTERLACED(in),
    };
}

/* True if both frames have the same size, format and range; they may be in different memory. */
static bool is_alike(const AVFrame *before, const AVFrame *in)
{
    return before->width == in->width && before->height == in->height &&
           before->crop_left == in->crop_left && before->crop_right == in->crop_right &&
           before->crop_top == in->crop_top && before->crop_bottom == in->crop_bottom &&
           gpu_frame_format(before) == gpu_frame_format(in) &&
           before->color_range == in->color_range;
}

LumeqImage equalizer_previous(const AVFrame *before, const AVFrame *in)
{
    const LumeqImage none = {.plane = {NULL}};
    return before && before->format == in->format && is_alike(before, in) ? image_of(before, 0)
                                                                          : none;
}

int equalizer_colocate(FrameMemory *memory, AVFrame *before, AVFrame *in)
{
    AVFrame *host;
    if (!before || gpu_frame_is(before) == gpu_frame_is(in) || !is_alike(before, in))
        return 0;
    AVFrame *away = gpu_frame_is(in) ? in : before;
    const int ret = frame_memory_download(memory, &host, away);
    if (ret < 0)
        return ret;
    gpu_frame_unref(away);
    av_frame_move_ref(away, host);
    av_frame_free(&host);
    return 0;
}

LumeqSync equalizer_sync(const AVFrame *in)
{
    return (LumeqSync){.size = sizeof(LumeqSync), .after = gpu_frame_stream(in)};
}

LumeqFrameStats equalizer_init_stats(StatsArrays *arrays)
{
    LumeqFrameStats stats = {.size = sizeof(stats)};
    if (arrays) {
        stats.hist_in = arrays->hist_in;
        stats.hist_out = arrays->hist_out;
        stats.curve = arrays->curve;
    }
    return stats;
}

AVFrame *equalizer_output(FrameMemory *memory, const AVFrame *in, int chroma, MediaError *error)
{
    AVFrame *out = memory ? frame_memory_output(memory, in, chroma) : av_frame_clone(in);
    if (!out)
        media_fail(error, MEDIA_INPUT, "out of memory for a frame of %dx%d", in->width, in->height);
    return out;
}

int equalizer_measure(LumeqContext *context, LumeqMeasure **measure, const LumeqParams *params,
                      const AVFrame *in, const AVFrame *before, MediaError *error)
{
    const LumeqFrame frame = equalizer_frame(in, NULL);
    const LumeqImage previous = equalizer_previous(before, in);
    const LumeqSync sync = equalizer_sync(in);
    if (gpu_frame_is_lost(in) || (before && gpu_frame_is_lost(before)))
        return MEDIA_LOST;
    int ret = lumeq_measure(context, measure, params, &frame.in,
                            previous.plane[0] ? &previous : NULL, sync.after ? &sync : NULL);
    if (ret == 0)
        ret = lumeq_measure_finish(*measure, 1);
    if (ret == LUMEQ_ERR_GPU)
        return MEDIA_LOST;
    return ret < 0 ? equalizer_failed(error) : 0;
}

int equalizer_depth(const AVFrame *frame)
{
    return gpu_frame_layout(frame).depth;
}
