#include "media/output/picture_file.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>

#include "media/output/output_file.h"
#include "media/small_picture.h"

typedef struct Picture {
    const uint8_t *pixels; /* RGBA */
    ptrdiff_t stride;
    int width, height;
} Picture;

static AVFrame *make_frame(const Picture *picture)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = AV_PIX_FMT_RGB24;
    frame->width = picture->width;
    frame->height = picture->height;
    if (av_frame_get_buffer(frame, 0) < 0) {
        av_frame_free(&frame);
        return NULL;
    }
    for (int y = 0; y < picture->height; y++) {
        const uint8_t *from = picture->pixels + y * picture->stride;
        uint8_t *to = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (int x = 0; x < picture->width; x++)
            memcpy(to + (ptrdiff_t)x * 3, from + (ptrdiff_t)x * 4, 3);
    }
    return frame;
}

/* `name` may be NULL. */
static int write_picture(const Picture *picture, const char *path, OutputName kind, int overwrite,
                         char *name, size_t size, MediaError *error)
{
    OutputFile file = {0};
    AVFrame *frame = make_frame(picture);
    AVPacket *packet = av_packet_alloc();
    int ret = frame && packet ? picture_encode(AV_CODEC_ID_PNG, frame, 0, packet) : AVERROR(ENOMEM);
    if (ret < 0)
        ret = media_fail(error, MEDIA_OUTPUT, "cannot make a PNG: %s", media_av_text(ret));
    else if (kind == OUTPUT_FREE)
        ret = output_file_check_free(&file, path, error);
    else
        ret = output_file_check(&file, path, overwrite, NULL, error);
    if (ret >= 0)
        ret = output_file_open(&file, error);
    if (ret >= 0) {
        avio_write(file.io, packet->data, packet->size);
        ret = output_file_commit(&file, kind, error);
    }
    if (ret >= 0 && name)
        snprintf(name, size, "%s", file.name);
    output_file_close(&file);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return ret;
}

int picture_file_write(const char *base, const uint8_t *pixels, ptrdiff_t stride, int width,
                       int height, char *name, size_t size, MediaError *error)
{
    const Picture picture = {pixels, stride, width, height};
    char *path = av_asprintf("%s.png", base);
    const int ret = path ? write_picture(&picture, path, OUTPUT_FREE, 0, name, size, error)
                         : media_no_memory(error, MEDIA_OUTPUT);
    av_free(path);
    return ret;
}

int picture_file_name(const char *path, int overwrite, const uint8_t *pixels, ptrdiff_t stride,
                      int width, int height, MediaError *error)
{
    const Picture picture = {pixels, stride, width, height};
    return write_picture(&picture, path, OUTPUT_OWN_NAME, overwrite, NULL, 0, error);
}
