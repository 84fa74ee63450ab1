/* What differs between the supported FFmpeg versions, 5.1 to 7. */
#ifndef LUMEQ_MEDIA_COMPAT_H
#define LUMEQ_MEDIA_COMPAT_H

#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
#define FRAME_DURATION(frame) ((frame)->duration)
#else
#define FRAME_DURATION(frame) ((frame)->pkt_duration)
#endif

/* The rates an encoder is limited to, {0, 0} at the end; NULL: it takes any. */
static inline const AVRational *codec_frame_rates(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *rates = NULL;
    if (avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_FRAME_RATE, 0, &rates, NULL) < 0)
        return NULL;
    return rates;
#else
    return codec->supported_framerates;
#endif
}

/* Copies a stream's side data of one type, if it has it: 0 or AVERROR(ENOMEM). */
static inline int copy_side_data(AVStream *to, const AVStream *from, enum AVPacketSideDataType type)
{
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        from->codecpar->coded_side_data, from->codecpar->nb_coded_side_data, type);
    AVPacketSideData *copy =
        data ? av_packet_side_data_new(&to->codecpar->coded_side_data,
                                       &to->codecpar->nb_coded_side_data, type, data->size, 0)
             : NULL;
    if (copy)
        memcpy(copy->data, data->data, data->size);
    return data && !copy ? AVERROR(ENOMEM) : 0;
#else
    size_t size;
    const uint8_t *data = av_stream_get_side_data(from, type, &size);
    uint8_t *copy = data ? av_stream_new_side_data(to, type, size) : NULL;
    if (copy)
        memcpy(copy, data, size);
    return data && !copy ? AVERROR(ENOMEM) : 0;
#endif
}

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
