#include "media/small_picture.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/base64.h>

/* From 2 (best) to 31. At 3, artefacts are invisible. */
#define JPEG_QUALITY 3

int small_picture_make(Converter *converter, const AVFrame *frame, PictureTurn by, double aspect,
                       int width, int height, SmallPicture *picture)
{
    const double across = frame->width * aspect, down = frame->height;
    const double by_x = (by.xx ? width : height) / across, by_y = (by.xx ? height : width) / down;
    const double share = FFMIN(by_x, by_y);
    AVFrame *small = convert_new_frame(AV_PIX_FMT_RGBA, FFMAX((int)(across * share + 0.5), 1),
                                       FFMAX((int)(down * share + 0.5), 1));
    *picture = (SmallPicture){0};
    if (!small)
        return AVERROR(ENOMEM);
    small->color_range = AVCOL_RANGE_JPEG;
    int ret = convert_frame(converter, frame, small);
    if (ret >= 0) {
        picture->width = by.xx ? small->width : small->height;
        picture->height = by.xx ? small->height : small->width;
        picture->pixels = malloc((size_t)picture->width * (size_t)picture->height * 4);
        ret = picture->pixels ? 0 : AVERROR(ENOMEM);
    }
    if (ret >= 0) { /* copy the stored picture upright */
        const PictureSteps steps =
            picture_steps(by, small->width, small->height, 4, small->linesize[0]);
        uint8_t *pixel = picture->pixels;
        for (int y = 0; y < picture->height; y++)
            for (int x = 0; x < picture->width; x++, pixel += 4)
                memcpy(pixel, small->data[0] + steps.first + x * steps.column + y * steps.row, 4);
    }
    av_frame_free(&small);
    return ret;
}

int picture_encode(enum AVCodecID id, AVFrame *frame, int quality, AVPacket *packet)
{
    const AVCodec *codec = avcodec_find_encoder(id);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!encoder)
        return AVERROR_ENCODER_NOT_FOUND;
    encoder->width = frame->width;
    encoder->height = frame->height;
    encoder->pix_fmt = frame->format;
    encoder->color_range = frame->color_range;
    encoder->time_base = (AVRational){1, 25};
    encoder->thread_count = 1;
    encoder->flags |= AV_CODEC_FLAG_BITEXACT | (quality ? AV_CODEC_FLAG_QSCALE : 0);
    encoder->global_quality = frame->quality = FF_QP2LAMBDA * quality;
    int ret = avcodec_open2(encoder, NULL, NULL);
    if (ret >= 0)
        ret = avcodec_send_frame(encoder, frame);
    if (ret >= 0)
        ret = avcodec_send_frame(encoder, NULL);
    if (ret >= 0)
        ret = avcodec_receive_packet(encoder, packet);
    avcodec_free_context(&encoder);
    return ret;
}

static AVFrame *to_yuv(Converter *converter, const SmallPicture *picture)
{
    AVFrame *rgb = convert_new_frame(AV_PIX_FMT_RGBA, picture->width, picture->height);
    AVFrame *yuv = convert_new_frame(AV_PIX_FMT_YUV420P, picture->width, picture->height);
    int ret = rgb && yuv ? 0 : AVERROR(ENOMEM);
    if (ret >= 0) {
        rgb->data[0] = picture->pixels;
        rgb->linesize[0] = picture->width * 4;
        yuv->color_range = AVCOL_RANGE_JPEG;
        yuv->colorspace = AVCOL_SPC_SMPTE170M;
        ret = convert_frame(converter, rgb, yuv);
    }
    av_frame_free(&rgb);
    if (ret < 0)
        av_frame_free(&yuv);
    return yuv;
}

char *small_picture_jpeg(SmallPictureMaker *maker, const AVFrame *frame, int side, int *width,
                         int *height)
{
    char why[256];
    PictureFormat format;
    SmallPicture picture = {0};
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return NULL;
    const int most = FFMIN(side, FFMAX(frame->width, frame->height));
    int ret =
        small_picture_make(&maker->shrink, frame, format.turn, format.aspect, most, most, &picture);
    AVFrame *yuv = ret < 0 ? NULL : to_yuv(&maker->to_jpeg, &picture);
    AVPacket *packet = av_packet_alloc();
    char *text = NULL;
    if (yuv && packet && picture_encode(AV_CODEC_ID_MJPEG, yuv, JPEG_QUALITY, packet) >= 0) {
        const int length = AV_BASE64_SIZE(packet->size);
        text = malloc((size_t)length);
        if (text)
            av_base64_encode(text, length, packet->data, packet->size);
    }
    av_packet_free(&packet);
    *width = picture.width;
    *height = picture.height;
    av_frame_free(&yuv);
    free(picture.pixels);
    return text;
}

void small_picture_close(SmallPictureMaker *maker)
{
    convert_close(&maker->shrink);
    convert_close(&maker->to_jpeg);
}
