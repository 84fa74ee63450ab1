/* What differs between the supported FFmpeg versions, 5.1 to 7. */
#ifndef LUMEQ_MEDIA_COMPAT_H
#define LUMEQ_MEDIA_COMPAT_H

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
#define FRAME_DURATION(frame) ((frame)->duration)
#else
#define FRAME_DURATION(frame) ((frame)->pkt_duration)
#endif

/* Lets a decoder call get_buffer2 from its own threads, which later versions always do. */
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

/* The pixel formats an encoder takes, AV_PIX_FMT_NONE at the end; NULL: it does not say. */
static inline const enum AVPixelFormat *codec_pixel_formats(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *formats = NULL;
    if (avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, NULL) <
        0)
        return NULL;
    return formats;
#else
    return codec->pix_fmts;
#endif
}

#endif
