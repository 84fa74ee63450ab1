#include "stills.h"

#include <math.h>

#define HD_LINES 720

#define TIME_TOLERANCE 0.002 /* seconds; containers round times by less */

#define MAX_PIXELS (8192 * 8192)

int stills_open(Stills *s, const char *path, MediaError *error)
{
    static const atomic_int never_stop;
    const SourceOptions options = {.path = path, .max_pixels = MAX_PIXELS, .stop = &never_stop};
    *s = (Stills){.packet = av_packet_alloc(), .frame = av_frame_alloc()};
    if (!s->packet || !s->frame)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = source_open(&s->source, &options, error);
    return ret < 0 ? ret : decoder_open(&s->decoder, s->source, &(DecoderOptions){0}, error);
}

/* Sends the decoder the next video packet, or the end of the stream. */
static int feed(Stills *s)
{
    for (;;) {
        const int ret = source_read(s->source, s->packet);
        if (ret < 0)
            return decoder_send(s->decoder, NULL);
        const int is_video = s->packet->stream_index == s->source->video->index;
        const int sent = is_video ? decoder_send(s->decoder, s->packet) : 0;
        av_packet_unref(s->packet);
        if (is_video)
            return sent;
    }
}

int stills_take(Stills *s, double time, MediaError *error)
{
    const int64_t position = llrint(time * AV_TIME_BASE) - source_start(s->source);
    AVFrame *next = av_frame_alloc();
    if (!next)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    source_seek(s->source, position);
    decoder_flush(s->decoder);
    av_frame_unref(s->frame);
    int ret = 0, found = 0;
    while (ret >= 0 && !found) {
        ret = decoder_receive(s->decoder, next, error);
        if (ret == AVERROR(EAGAIN)) {
            ret = feed(s);
            continue;
        }
        if (ret < 0)
            break;
        av_frame_unref(s->frame);
        av_frame_move_ref(s->frame, next);
        found = s->frame->pts * av_q2d(s->source->video->time_base) >= time - TIME_TOLERANCE;
    }
    av_frame_free(&next);
    if (ret < 0 && ret != AVERROR_EOF)
        return media_fail(error, MEDIA_INPUT, "cannot decode the video: %s", media_av_text(ret));
    if (!s->frame->data[0])
        return media_fail(error, MEDIA_INPUT, "there is no frame at %.3f s", time);
    return 0;
}

int stills_convert(Stills *s, int width, int height, AVFrame **picture, MediaError *error)
{
    AVFrame *out = *picture = av_frame_alloc();
    if (!out)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    out->format = AV_PIX_FMT_RGBA;
    out->width = width;
    out->height = height;
    out->color_range = AVCOL_RANGE_JPEG;
    out->colorspace = AVCOL_SPC_RGB;
    /* Guess the matrix of untagged video as most players do. */
    if (s->frame->colorspace == AVCOL_SPC_UNSPECIFIED)
        s->frame->colorspace = s->frame->height >= HD_LINES ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    const int ret = convert_frame(&s->converter, s->frame, out);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "cannot convert a frame to RGB: %s",
                          media_av_text(ret));
    return 0;
}

double stills_aspect(const Stills *s)
{
    const AVRational pixel =
        av_guess_sample_aspect_ratio(s->source->format, s->source->video, s->frame);
    const double ratio = (double)s->frame->width / s->frame->height;
    return pixel.num > 0 && pixel.den > 0 ? ratio * av_q2d(pixel) : ratio;
}

void stills_close(Stills *s)
{
    convert_close(&s->converter);
    decoder_close(&s->decoder);
    source_close(&s->source);
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
}
