#include "media/picture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>

/* Pictures of one name; more are refused rather than searched through. */
#define MAX_NUMBER 9999

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

/* A new file of that name or the next free number: its descriptor, or -1 with errno set. */
static int create(const char *base, char *name, size_t size)
{
    int fd = -1;
    for (int number = 1; fd < 0 && number <= MAX_NUMBER; number++) {
        const int length = number == 1 ? snprintf(name, size, "%s.png", base)
                                       : snprintf(name, size, "%s-%d.png", base, number);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static int write_all(int fd, const uint8_t *data, int size)
{
    while (size > 0) {
        const ssize_t done = write(fd, data, (size_t)size);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            data += done;
            size -= (int)done;
        }
    }
    return 0;
}

static int save(const AVPacket *packet, const char *base, char *name, size_t size,
                MediaError *error)
{
    const int fd = create(base, name, size);
    if (fd < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(base),
                          strerror(errno));
    int failed = write_all(fd, packet->data, packet->size) < 0 ? errno : 0;
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed)
        return 0;
    unlink(name);
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(name),
                      strerror(failed));
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
