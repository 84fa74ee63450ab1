#include "media/input/thumbnail.h"

#include <libavutil/display.h>

#include "media/input/decoder.h"
#include "media/side_data.h"

struct Thumbnails {
    Source *source;
    Decoder *decoder;
    Converter converter;
    AVPacket *packet;
    AVFrame *frame;
};

int thumbnails_open(Thumbnails **thumbnails, Source *source, MediaError *error)
{
    Thumbnails *t = av_mallocz(sizeof(*t));
    *thumbnails = t;
    if (!t) {
        source_close(&source);
        return media_no_memory(error, MEDIA_INPUT);
    }
    t->source = source;
    t->packet = av_packet_alloc();
    t->frame = av_frame_alloc();
    for (unsigned i = 0; i < source->format->nb_streams; i++)
        if (source->format->streams[i] != source->video)
            source->format->streams[i]->discard = AVDISCARD_ALL;
    int ret = t->packet && t->frame ? 0 : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0)
        ret = decoder_open(&t->decoder, source, &(DecoderOptions){.threads = 1}, error);
    if (ret < 0)
        thumbnails_close(thumbnails);
    return ret;
}

void thumbnails_close(Thumbnails **thumbnails)
{
    Thumbnails *t = *thumbnails;
    if (!t)
        return;
    decoder_close(&t->decoder);
    convert_close(&t->converter);
    av_frame_free(&t->frame);
    av_packet_free(&t->packet);
    source_close(&t->source);
    av_freep(thumbnails);
}

/* Reads the next packet of the video. */
static int read_video(Thumbnails *t)
{
    int ret;
    while ((ret = source_read(t->source, t->packet)) >= 0 &&
           t->packet->stream_index != t->source->video->index)
        av_packet_unref(t->packet);
    return ret;
}

/* Decodes the key frame at or before a position, alone. */
static int decode_at(Thumbnails *t, int64_t position, MediaError *error)
{
    decoder_flush(t->decoder);
    source_seek(t->source, position);
    int ret = read_video(t);
    if (ret >= 0)
        ret = decoder_send(t->decoder, t->packet);
    av_packet_unref(t->packet);
    if (ret >= 0)
        ret = decoder_send(t->decoder, NULL);
    if (ret >= 0)
        ret = decoder_receive(t->decoder, t->frame, error);
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "no picture can be decoded at that position")
                   : 0;
}

int thumbnails_follow(Thumbnails *t, int64_t position, int count,
                      int (*take)(void *opaque, const AVFrame *frame), void *opaque,
                      MediaError *error)
{
    int ret = 0;
    decoder_flush(t->decoder);
    source_seek(t->source, position);
    for (int i = 0; i < count && ret >= 0;) {
        ret = decoder_receive(t->decoder, t->frame, error);
        if (ret == AVERROR(EAGAIN)) {
            ret = decoder_send(t->decoder, read_video(t) >= 0 ? t->packet : NULL);
            av_packet_unref(t->packet);
        } else if (ret >= 0) {
            i++;
            ret = take(opaque, t->frame);
            av_frame_unref(t->frame);
        }
    }
    return ret == AVERROR_EOF ? 0 : ret;
}

int thumbnails_decode(Thumbnails *t, int64_t position, AVFrame **frame, MediaError *error)
{
    const int ret = decode_at(t, position, error);
    *frame = ret >= 0 ? av_frame_clone(t->frame) : NULL;
    av_frame_unref(t->frame);
    return ret < 0 || *frame ? ret : media_no_memory(error, MEDIA_INPUT);
}

int thumbnails_make(Thumbnails *t, int64_t position, int width, int height, Thumbnail *thumbnail,
                    MediaError *error)
{
    *thumbnail = (Thumbnail){0};
    int ret = decode_at(t, position, error);
    if (ret >= 0) {
        const AVRational pixel = t->frame->sample_aspect_ratio;
        const AVFrameSideData *own = av_frame_get_side_data(t->frame, AV_FRAME_DATA_DISPLAYMATRIX);
        const int32_t *matrix =
            own ? (const int32_t *)own->data : side_data_display_matrix(t->source->video);
        if (small_picture_make(
                &t->converter, t->frame, matrix ? picture_turn(matrix) : picture_upright(),
                pixel.num > 0 && pixel.den > 0 ? av_q2d(pixel) : 1, width, height, thumbnail) < 0)
            ret = media_fail(error, MEDIA_INPUT, "the picture cannot be scaled");
    }
    av_frame_unref(t->frame);
    return ret;
}
