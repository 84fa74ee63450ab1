#include "media/output/picture_file.h"

#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>

#include "media/output/output_file.h"

static AVFrame *make_frame(const uint8_t *pixels, ptrdiff_t stride, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = AV_PIX_FMT_RGB24;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame, 0) < 0) {
        av_frame_free(&frame);
        return NULL;
    }
    for (int y = 0; y < height; y++) {
        const uint8_t *from = pixels + y * stride;
        uint8_t *to = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (int x = 0; x < width; x++)
            memcpy(to + (ptrdiff_t)x * 3, from + (ptrdiff_t)x * 4, 3);
    }
    return frame;
}

static int encode_with(AVCodecContext *encoder, const AVFrame *frame, AVPacket *packet)
{
    encoder->width = frame->width;
    encoder->height = frame->height;
    encoder->pix_fmt = frame->format;
    encoder->time_base = (AVRational){1, 25};
    int ret = avcodec_open2(encoder, NULL, NULL);
    if (ret >= 0)
        ret = avcodec_send_frame(encoder, frame);
    if (ret >= 0)
        ret = avcodec_send_frame(encoder, NULL);
    return ret >= 0 ? avcodec_receive_packet(encoder, packet) : ret;
}

static int encode(const AVFrame *frame, AVPacket *packet)
{
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    const int ret = encoder ? encode_with(encoder, frame, packet) : AVERROR_ENCODER_NOT_FOUND;
    avcodec_free_context(&encoder);
    return ret;
}

static int write_to(OutputFile *file, const AVPacket *packet, const char *path, MediaError *error)
{
    int ret = output_file_check_free(file, path, error);
    if (ret >= 0)
        ret = output_file_open(file, error);
    if (ret < 0)
        return ret;
    avio_write(file->io, packet->data, packet->size);
    return output_file_commit(file, OUTPUT_FREE, error);
}

static int save(const AVPacket *packet, const char *base, char *name, size_t size,
                MediaError *error)
{
    OutputFile file = {0};
    char *path = av_asprintf("%s.png", base);
    const int ret = path ? write_to(&file, packet, path, error)
                         : media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (ret >= 0)
        snprintf(name, size, "%s", file.name);
    output_file_close(&file);
    av_free(path);
    return ret;
}

int picture_file_write(const char *base, const uint8_t *pixels, ptrdiff_t stride, int width,
                       int height, char *name, size_t size, MediaError *error)
{
    AVFrame *frame = make_frame(pixels, stride, width, height);
    AVPacket *packet = av_packet_alloc();
    int ret = frame && packet ? encode(frame, packet) : AVERROR(ENOMEM);
    if (ret < 0)
        ret = media_fail(error, MEDIA_OUTPUT, "cannot make a PNG: %s", media_av_text(ret));
    else
        ret = save(packet, base, name, size, error);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return ret;
}
