#include "media/input/thumbnail.h"

#include <libavutil/display.h>

#include "media/input/decoder.h"
#include "media/picture_format.h"
#include "media/side_data.h"

struct Thumbnails {
    Source *source;
    Decoder *decoder;
    Converter converter;
    AVPacket *packet;
    AVFrame *frame, *small;
};

int thumbnails_open(Thumbnails **thumbnails, Source *source, MediaError *error)
{
    Thumbnails *t = av_mallocz(sizeof(*t));
    *thumbnails = t;
    if (!t) {
        source_close(&source);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    t->source = source;
    t->packet = av_packet_alloc();
    t->frame = av_frame_alloc();
    t->small = av_frame_alloc();
    for (unsigned i = 0; i < source->format->nb_streams; i++)
        if (source->format->streams[i] != source->video)
            source->format->streams[i]->discard = AVDISCARD_ALL;
    int ret =
        t->packet && t->frame && t->small ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0)
        ret = decoder_open(&t->decoder, source, NULL, 1, error);
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
    av_frame_free(&t->small);
    av_packet_free(&t->packet);
    source_close(&t->source);
    av_freep(thumbnails);
}

/* The first packet of the video that is read, and nothing else: that is decoded by itself. */
static int decode_key(Thumbnails *t, MediaError *error)
{
    int ret;
    while ((ret = source_read(t->source, t->packet)) >= 0 &&
           t->packet->stream_index != t->source->video->index)
        av_packet_unref(t->packet);
    if (ret >= 0)
        ret = decoder_send(t->decoder, t->packet);
    av_packet_unref(t->packet);
    if (ret >= 0)
        ret = decoder_send(t->decoder, NULL);
    if (ret >= 0)
        ret = decoder_receive(t->decoder, t->frame, error);
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "no picture can be decoded there") : 0;
}

/* `usual`: of frames that do not say how they are turned, or NULL. */
static PictureTurn turn_of(const AVFrame *frame, const int32_t *usual)
{
    const AVFrameSideData *own = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    const int32_t *matrix = own ? (const int32_t *)own->data : usual;
    return matrix ? picture_turn(matrix) : picture_upright();
}

/* From the stored picture to one that is upright. */
static void turn(const AVFrame *from, PictureTurn by, const Thumbnail *to)
{
    const PictureSteps steps = picture_steps(by, from->width, from->height, 4, from->linesize[0]);
    uint8_t *pixel = to->pixels;
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++, pixel += 4)
            memcpy(pixel, from->data[0] + steps.first + x * steps.column + y * steps.row, 4);
}

/* `small`: an empty frame. */
static int scale_into(Converter *converter, const AVFrame *frame, PictureTurn by, int width,
                      int height, AVFrame *small, Thumbnail *thumbnail)
{
    const AVRational pixel = frame->sample_aspect_ratio;
    const double aspect = pixel.num > 0 && pixel.den > 0 ? av_q2d(pixel) : 1;
    const double across = frame->width * aspect, down = frame->height;
    const double by_x = (by.xx ? width : height) / across, by_y = (by.xx ? height : width) / down;
    const double share = FFMIN(by_x, by_y);
    small->format = AV_PIX_FMT_RGBA;
    small->width = FFMAX((int)(across * share + 0.5), 1);
    small->height = FFMAX((int)(down * share + 0.5), 1);
    small->color_range = AVCOL_RANGE_JPEG;
    const int ret = convert_frame(converter, frame, small);
    if (ret < 0)
        return ret;
    thumbnail->width = by.xx ? small->width : small->height;
    thumbnail->height = by.xx ? small->height : small->width;
    thumbnail->pixels = malloc((size_t)thumbnail->width * (size_t)thumbnail->height * 4);
    if (!thumbnail->pixels)
        return AVERROR(ENOMEM);
    turn(small, by, thumbnail);
    return 0;
}

static int scale(Thumbnails *t, int width, int height, Thumbnail *thumbnail)
{
    const PictureTurn by = turn_of(t->frame, side_data_display_matrix(t->source->video));
    av_frame_unref(t->small);
    return scale_into(&t->converter, t->frame, by, width, height, t->small, thumbnail);
}

int thumbnail_of_frame(Converter *converter, const AVFrame *frame, int width, int height,
                       Thumbnail *thumbnail)
{
    AVFrame *small = av_frame_alloc();
    *thumbnail = (Thumbnail){0};
    const int ret =
        small ? scale_into(converter, frame, turn_of(frame, NULL), width, height, small, thumbnail)
              : AVERROR(ENOMEM);
    av_frame_free(&small);
    return ret;
}

int thumbnails_make(Thumbnails *t, int64_t position, int width, int height, Thumbnail *thumbnail,
                    MediaError *error)
{
    *thumbnail = (Thumbnail){0};
    decoder_flush(t->decoder);
    source_seek(t->source, position);
    int ret = decode_key(t, error);
    if (ret >= 0 && scale(t, width, height, thumbnail) < 0)
        ret = media_fail(error, MEDIA_INPUT, "no picture can be made of it");
    av_frame_unref(t->frame);
    return ret;
}
