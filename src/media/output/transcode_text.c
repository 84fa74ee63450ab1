#include <string.h>

#include "media/output/transcode.h"

/* What one line of subtitles takes at most, styles included. */
#define MAX_TEXT (64 * 1024)

static const AVRational milliseconds = {1, 1000};

struct TextTranscoder {
    AVCodecContext *decoder, *encoder;
};

static int open_encoder(TextTranscoder *t, const AVCodec *codec)
{
    const int size = t->decoder->subtitle_header_size;
    t->encoder = avcodec_alloc_context3(codec);
    if (!t->encoder)
        return AVERROR(ENOMEM);
    t->encoder->time_base = milliseconds;
    if (size > 0) { /* the styles, which the encoder reads as it opens */
        t->encoder->subtitle_header = av_mallocz((size_t)size + 1);
        if (!t->encoder->subtitle_header)
            return AVERROR(ENOMEM);
        memcpy(t->encoder->subtitle_header, t->decoder->subtitle_header, (size_t)size);
        t->encoder->subtitle_header_size = size;
    }
    return avcodec_open2(t->encoder, codec, NULL);
}

int text_transcoder_open(TextTranscoder **transcoder, const AVStream *in, AVStream *out,
                         const AVCodec *encoder)
{
    *transcoder = NULL;
    TextTranscoder *t = av_mallocz(sizeof(*t));
    int ret =
        t ? transcode_open_decoder(&t->decoder, in->codecpar, in->time_base) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = open_encoder(t, encoder);
    if (ret >= 0)
        ret = avcodec_parameters_from_context(out->codecpar, t->encoder);
    if (ret < 0) {
        text_transcoder_close(&t);
        return ret;
    }
    out->time_base = milliseconds;
    *transcoder = t;
    return 0;
}

static int encode(TextTranscoder *t, AVSubtitle *subtitle, AVPacket *to)
{
    uint8_t *text = av_malloc(MAX_TEXT);
    if (!text)
        return AVERROR(ENOMEM);
    int ret = avcodec_encode_subtitle(t->encoder, text, MAX_TEXT, subtitle);
    if (ret > 0) {
        const int size = ret;
        ret = av_new_packet(to, size);
        if (ret >= 0)
            memcpy(to->data, text, (size_t)size);
    } else if (ret == 0) {
        ret = AVERROR(EAGAIN); /* nothing to show */
    }
    av_free(text);
    return ret;
}

int text_transcoder_run(TextTranscoder *t, const AVPacket *packet, AVPacket *to)
{
    AVSubtitle subtitle = {0};
    int got = 0;
    AVPacket *copy = av_packet_clone(packet); /* the decoder takes none that is const */
    if (!copy)
        return AVERROR(ENOMEM);
    const int read = avcodec_decode_subtitle2(t->decoder, &subtitle, &got, copy);
    av_packet_free(&copy);
    if (read < 0 || !got || !subtitle.num_rects || packet->pts == AV_NOPTS_VALUE) {
        if (got)
            avsubtitle_free(&subtitle);
        return 0;
    }
    const int64_t start = av_rescale_q(packet->pts, t->decoder->pkt_timebase, milliseconds) +
                          subtitle.start_display_time;
    int64_t duration = av_rescale_q(packet->duration, t->decoder->pkt_timebase, milliseconds);
    if (duration <= 0)
        duration = (int64_t)subtitle.end_display_time - subtitle.start_display_time;
    /* Encoders write the time they are told here, too: of a packet, it is 0. */
    subtitle.pts = av_rescale_q(start, milliseconds, AV_TIME_BASE_Q);
    subtitle.end_display_time = (uint32_t)(duration > 0 ? duration : 0);
    subtitle.start_display_time = 0;
    const int ret = encode(t, &subtitle, to);
    avsubtitle_free(&subtitle);
    if (ret < 0)
        return ret == AVERROR(ENOMEM) ? ret : 0;
    to->pts = to->dts = start;
    to->duration = duration;
    return 1;
}

void text_transcoder_close(TextTranscoder **transcoder)
{
    TextTranscoder *t = *transcoder;
    if (!t)
        return;
    avcodec_free_context(&t->decoder);
    avcodec_free_context(&t->encoder);
    av_freep(transcoder);
}
