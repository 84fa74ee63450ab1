#include "pattern.h"

#include <linux/videodev2.h>
#include <string.h>

#include <libavcodec/avcodec.h>

#define NUMBER_BITS 16
#define NUMBER_PART 8 /* the number fills the upper eighth of the picture */
#define QUALITY 4     /* of JPEGs, as ffmpeg's -q:v */

static unsigned char luma(unsigned x, unsigned y, unsigned width, unsigned height, unsigned number)
{
    if (y < height / NUMBER_PART)
        return number >> (NUMBER_BITS - 1 - x * NUMBER_BITS / width) & 1 ? 235 : 16;
    return (unsigned char)(64 + (x / 8 + y / 8 + number) % 64 * 2);
}

/* Bits of a gray sample; 0: not gray. */
static unsigned gray_depth(uint32_t code)
{
    switch (code) {
    case V4L2_PIX_FMT_GREY: return 8;
    case V4L2_PIX_FMT_Y10: return 10;
    case V4L2_PIX_FMT_Y12: return 12;
    case V4L2_PIX_FMT_Y14: return 14;
    case V4L2_PIX_FMT_Y16:
    case V4L2_PIX_FMT_Y16_BE: return 16;
    default: return 0;
    }
}

unsigned raw_row(uint32_t code, unsigned width)
{
    if (code == V4L2_PIX_FMT_YUYV || gray_depth(code) > 8)
        return 2 * width;
    return code == V4L2_PIX_FMT_NV12 || code == V4L2_PIX_FMT_YUV420 || gray_depth(code) ? width : 0;
}

size_t raw_size(uint32_t code, unsigned height, unsigned stride)
{
    const size_t luma_bytes = (size_t)stride * height;
    return code == V4L2_PIX_FMT_YUYV || gray_depth(code) ? luma_bytes : luma_bytes * 3 / 2;
}

static void draw_deep_gray(unsigned char *to, uint32_t code, unsigned width, unsigned height,
                           unsigned stride, unsigned number)
{
    const unsigned shift = gray_depth(code) - 8, high = code == V4L2_PIX_FMT_Y16_BE ? 0 : 1;
    for (unsigned y = 0; y < height; y++, to += stride)
        for (unsigned x = 0; x < width; x++) {
            const unsigned sample = (unsigned)luma(x, y, width, height, number) << shift;
            to[2 * x + high] = (unsigned char)(sample >> 8);
            to[2 * x + 1 - high] = (unsigned char)sample;
        }
}

/* Writes luma to every `step`th byte, and 128 between. */
static void draw_luma_rows(unsigned char *to, unsigned step, unsigned width, unsigned height,
                           unsigned stride, unsigned number)
{
    for (unsigned y = 0; y < height; y++, to += stride) {
        const int same = y && y != height / NUMBER_PART &&
                         (y < height / NUMBER_PART || y % 8 != 0); /* as the row above */
        if (same) {
            memcpy(to, to - stride, (size_t)step * width);
            continue;
        }
        for (unsigned x = 0; x < width; x++) {
            to[step * x] = luma(x, y, width, height, number);
            if (step == 2)
                to[2 * x + 1] = 128;
        }
    }
}

/* Draws chroma whose adjacent rows differ. */
static void draw_chroma_rows(unsigned char *to, unsigned bytes, unsigned rows, unsigned stride)
{
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < bytes; x++)
            to[(size_t)y * stride + x] = (unsigned char)(112 + (x + 3 * y) % 32);
}

void draw_raw(unsigned char *to, uint32_t code, unsigned width, unsigned height, unsigned stride,
              unsigned number)
{
    const unsigned step = code == V4L2_PIX_FMT_YUYV ? 2 : 1;
    unsigned char *chroma = to + (size_t)stride * height;
    if (gray_depth(code) > 8) {
        draw_deep_gray(to, code, width, height, stride, number);
        return;
    }
    draw_luma_rows(to, step, width, height, stride, number);
    if (code == V4L2_PIX_FMT_NV12)
        draw_chroma_rows(chroma, width, height / 2, stride);
    else if (code == V4L2_PIX_FMT_YUV420)
        draw_chroma_rows(chroma, width / 2, height, stride / 2); /* both planes */
}

static AVCodecContext *encoder;
static AVFrame *frame;

static int open_encoder(unsigned width, unsigned height)
{
    if (encoder && encoder->width == (int)width && encoder->height == (int)height)
        return 0;
    avcodec_free_context(&encoder);
    av_frame_free(&frame);
    encoder = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MJPEG));
    frame = av_frame_alloc();
    if (!encoder || !frame)
        return -1;
    encoder->width = frame->width = (int)width;
    encoder->height = frame->height = (int)height;
    encoder->pix_fmt = frame->format = AV_PIX_FMT_YUVJ422P;
    encoder->color_range = AVCOL_RANGE_JPEG;
    encoder->time_base = (AVRational){1, 30};
    encoder->flags |= AV_CODEC_FLAG_QSCALE;
    encoder->global_quality = QUALITY * FF_QP2LAMBDA;
    frame->quality = encoder->global_quality;
    encoder->thread_count = 1;
    if (avcodec_open2(encoder, NULL, NULL) < 0 || av_frame_get_buffer(frame, 0) < 0)
        return -1;
    for (int i = 1; i < 3; i++)
        memset(frame->data[i], 128, (size_t)frame->linesize[i] * height);
    return 0;
}

static void draw_luma(unsigned width, unsigned height, unsigned number)
{
    for (unsigned y = 0; y < height; y++) {
        unsigned char *row = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        if (y && y != height / NUMBER_PART && (y < height / NUMBER_PART || y % 8 != 0)) {
            memcpy(row, row - frame->linesize[0], width);
            continue;
        }
        for (unsigned x = 0; x < width; x++)
            row[x] = luma(x, y, width, height, number);
    }
}

size_t draw_jpeg(unsigned char *to, size_t room, unsigned width, unsigned height, unsigned number)
{
    size_t size = 0;
    AVPacket *packet = av_packet_alloc();
    if (packet && open_encoder(width, height) >= 0 && av_frame_make_writable(frame) >= 0) {
        draw_luma(width, height, number);
        frame->pts = number;
        if (avcodec_send_frame(encoder, frame) >= 0 &&
            avcodec_receive_packet(encoder, packet) >= 0 && (size_t)packet->size <= room) {
            size = (size_t)packet->size;
            memcpy(to, packet->data, size);
        }
    }
    av_packet_free(&packet);
    return size;
}
