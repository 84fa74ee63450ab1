/* Writes NUT files of raw pictures and sound, packet by packet. */
#ifndef LUMEQ_TESTS_MADE_CLIP_H
#define LUMEQ_TESTS_MADE_CLIP_H

#include <libavformat/avformat.h>

#include "check.h"

typedef struct MadeClip {
    AVFormatContext *format;
    int rates[2]; /* ticks per second of the video's and of the sound's time stamps */
    int ret;      /* negative after a failure; later calls then write nothing */
} MadeClip;

static inline AVCodecParameters *made_clip_stream(MadeClip *clip, enum AVMediaType type,
                                                  enum AVCodecID codec)
{
    AVStream *stream = clip->ret < 0 ? NULL : avformat_new_stream(clip->format, NULL);
    if (!stream) {
        clip->ret = clip->ret < 0 ? clip->ret : AVERROR(ENOMEM);
        return NULL;
    }
    stream->codecpar->codec_type = type;
    stream->codecpar->codec_id = codec;
    stream->time_base = (AVRational){1, clip->rates[stream->index]};
    return stream->codecpar;
}

/* Opens the file. Pictures are gray, `side` wide and high. Sound is mono with 8 bits. */
static inline MadeClip made_clip_begin(const char *path, int side, int frame_rate, int sound_rate)
{
    MadeClip clip = {.rates = {frame_rate, sound_rate}};
    clip.ret = avformat_alloc_output_context2(&clip.format, NULL, "nut", path);
    if (clip.ret >= 0)
        clip.ret = avio_open(&clip.format->pb, path, AVIO_FLAG_WRITE);
    AVCodecParameters *video = made_clip_stream(&clip, AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_RAWVIDEO);
    if (video) {
        video->width = video->height = side;
        video->format = AV_PIX_FMT_GRAY8;
        video->codec_tag = MKTAG('Y', '8', '0', '0');
    }
    AVCodecParameters *sound = made_clip_stream(&clip, AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_PCM_U8);
    if (sound) {
        sound->sample_rate = sound_rate;
        av_channel_layout_default(&sound->ch_layout, 1);
    }
    if (clip.ret >= 0)
        clip.ret = avformat_write_header(clip.format, NULL);
    return clip;
}

/* Writes a packet of the video (stream 0) or of the sound (1); `time` is in ticks. */
static inline void made_clip_write(MadeClip *clip, int stream, int64_t time, void *data, int size)
{
    AVPacket *packet = av_packet_alloc();
    if (packet && clip->ret >= 0) {
        packet->stream_index = stream;
        packet->pts = packet->dts = time;
        packet->flags = AV_PKT_FLAG_KEY;
        packet->data = data;
        packet->size = size;
        av_packet_rescale_ts(packet, (AVRational){1, clip->rates[stream]},
                             clip->format->streams[stream]->time_base);
        clip->ret = av_write_frame(clip->format, packet);
    } else if (!packet) {
        clip->ret = AVERROR(ENOMEM);
    }
    av_packet_free(&packet);
}

/* Closes the file. Returns 1 if all was written. */
static inline int made_clip_end(MadeClip *clip)
{
    if (clip->ret >= 0)
        clip->ret = av_write_trailer(clip->format);
    if (clip->format)
        avio_closep(&clip->format->pb);
    avformat_free_context(clip->format);
    return CHECK(clip->ret >= 0, "cannot write the clip: %s", av_err2str(clip->ret));
}

#endif
