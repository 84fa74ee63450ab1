/* Differences between the supported FFmpeg versions, 5.1 to 7. */
#ifndef LUMEQ_MEDIA_COMPAT_H
#define LUMEQ_MEDIA_COMPAT_H

#include <libavcodec/avcodec.h>
#include <libavformat/version.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
#define FRAME_DURATION(frame) ((frame)->duration)
#else
#define FRAME_DURATION(frame) ((frame)->pkt_duration)
#endif

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
#define FRAME_IS_INTERLACED(frame) (((frame)->flags & AV_FRAME_FLAG_INTERLACED) != 0)
#define FRAME_IS_TOP_FIRST(frame) (((frame)->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0)
#else
#define FRAME_IS_INTERLACED(frame) ((frame)->interlaced_frame)
#define FRAME_IS_TOP_FIRST(frame) ((frame)->top_field_first)
#endif

static inline void frame_set_fields(AVFrame *frame, int interlaced, int top_first)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
    frame->flags |= (interlaced ? AV_FRAME_FLAG_INTERLACED : 0) |
                    (top_first ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0);
#else
    frame->interlaced_frame = interlaced;
    frame->top_field_first = top_first;
#endif
}

#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
/* An encoder's list of supported values, or NULL for any. */
static inline const void *codec_config(const AVCodec *codec, enum AVCodecConfig config)
{
    const void *list = NULL;
    return avcodec_get_supported_config(NULL, codec, config, 0, &list, NULL) < 0 ? NULL : list;
}
#define CODEC_LIST(codec, config, field) codec_config(codec, config)
#else
#define CODEC_LIST(codec, config, field) ((codec)->field)
#endif

/* Supported frame rates, terminated by {0, 0}; NULL: any. */
static inline const AVRational *codec_frame_rates(const AVCodec *codec)
{
    return CODEC_LIST(codec, AV_CODEC_CONFIG_FRAME_RATE, supported_framerates);
}

/* Supported pixel formats, terminated by AV_PIX_FMT_NONE; NULL: unknown. */
static inline const enum AVPixelFormat *codec_pixel_formats(const AVCodec *codec)
{
    return CODEC_LIST(codec, AV_CODEC_CONFIG_PIX_FORMAT, pix_fmts);
}

/* For sound: lists terminated by 0, AV_SAMPLE_FMT_NONE or a layout without channels; NULL: any. */
static inline const int *codec_sample_rates(const AVCodec *codec)
{
    return CODEC_LIST(codec, AV_CODEC_CONFIG_SAMPLE_RATE, supported_samplerates);
}

static inline const enum AVSampleFormat *codec_sample_formats(const AVCodec *codec)
{
    return CODEC_LIST(codec, AV_CODEC_CONFIG_SAMPLE_FORMAT, sample_fmts);
}

static inline const AVChannelLayout *codec_channel_layouts(const AVCodec *codec)
{
    return CODEC_LIST(codec, AV_CODEC_CONFIG_CHANNEL_LAYOUT, ch_layouts);
}

/* 1: decoded frames are NVDEC's own memory, in buf[1]; 0: FFmpeg has copied them to buf[0]. */
#ifdef AV_HWACCEL_FLAG_UNSAFE_OUTPUT
#define NVDEC_MAPS 0
#else
#define NVDEC_MAPS 1
#endif

/* Lets a decoder call get_buffer2 from its own threads. From FFmpeg 6 on, decoders always may. */
static inline void allow_threaded_callbacks(AVCodecContext *codec)
{
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    codec->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#else
    (void)codec;
#endif
}

#endif
