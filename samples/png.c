#include "png.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>

static int fill_frame(AVFrame *frame, const Canvas *canvas)
{
    frame->format = AV_PIX_FMT_RGB24;
    frame->width = canvas->width;
    frame->height = canvas->height;
    const int ret = av_frame_get_buffer(frame, 0);
    for (int y = 0; ret >= 0 && y < canvas->height; y++) {
        const uint8_t *from = canvas->pixels + y * canvas->stride;
        uint8_t *to = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (int x = 0; x < canvas->width; x++)
            memcpy(to + (ptrdiff_t)x * 3, from + (ptrdiff_t)x * 4, 3);
    }
    return ret;
}

static int encode(AVCodecContext *codec, const AVFrame *frame, AVPacket *packet)
{
    codec->width = frame->width;
    codec->height = frame->height;
    codec->pix_fmt = AV_PIX_FMT_RGB24;
    codec->time_base = (AVRational){1, 1};
    int ret = avcodec_open2(codec, NULL, NULL);
    if (ret >= 0)
        ret = avcodec_send_frame(codec, frame);
    if (ret >= 0)
        ret = avcodec_send_frame(codec, NULL);
    return ret < 0 ? ret : avcodec_receive_packet(codec, packet);
}

static int write_file(const char *path, const AVPacket *packet, MediaError *error)
{
    errno = 0;
    FILE *file = fopen(path, "wb");
    int ok = file && fwrite(packet->data, 1, (size_t)packet->size, file) == (size_t)packet->size;
    const int reason = errno;
    if (file && fclose(file) != 0)
        ok = 0;
    if (!ok)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(path),
                          strerror(reason ? reason : errno));
    return 0;
}

int png_write(const char *path, const Canvas *canvas, MediaError *error)
{
    const AVCodec *png = avcodec_find_encoder(AV_CODEC_ID_PNG);
    if (!png)
        return media_fail(error, MEDIA_OUTPUT, "this FFmpeg has no PNG encoder");
    AVCodecContext *codec = avcodec_alloc_context3(png);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    int ret = codec && frame && packet ? fill_frame(frame, canvas) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = encode(codec, frame, packet);
    ret = ret < 0
              ? media_fail(error, MEDIA_OUTPUT, "cannot encode the picture: %s", media_av_text(ret))
              : write_file(path, packet, error);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&codec);
    return ret;
}
