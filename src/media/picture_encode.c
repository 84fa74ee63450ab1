#include "media/picture_encode.h"

static int encode_with(AVCodecContext *encoder, AVFrame *frame, int quality, AVPacket *packet)
{
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
    return ret >= 0 ? avcodec_receive_packet(encoder, packet) : ret;
}

int picture_encode(enum AVCodecID id, AVFrame *frame, int quality, AVPacket *packet)
{
    const AVCodec *codec = avcodec_find_encoder(id);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    const int ret =
        encoder ? encode_with(encoder, frame, quality, packet) : AVERROR_ENCODER_NOT_FOUND;
    avcodec_free_context(&encoder);
    return ret;
}
