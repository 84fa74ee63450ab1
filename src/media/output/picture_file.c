#include "media/output/picture_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/convert.h"
#include "media/file_name.h"
#include "media/output/output_file.h"
#include "media/picture_pattern.h"
#include "media/small_picture.h"

typedef struct Picture {
    const uint8_t *pixels; /* RGBA */
    ptrdiff_t stride;
    int width, height;
} Picture;

static AVFrame *make_frame(const Picture *picture)
{
    AVFrame *frame = convert_new_frame(AV_PIX_FMT_RGB24, picture->width, picture->height);
    if (frame && av_frame_get_buffer(frame, 0) < 0)
        av_frame_free(&frame);
    if (!frame)
        return NULL;
    for (int y = 0; y < picture->height; y++) {
        const uint8_t *from = picture->pixels + y * picture->stride;
        uint8_t *to = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (int x = 0; x < picture->width; x++)
            memcpy(to + (ptrdiff_t)x * 3, from + (ptrdiff_t)x * 4, 3);
    }
    return frame;
}

/* Writes a PNG file. Copies its path to `name` if not NULL. */
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

/* ---- picture sequence ---- */

static int check_folder(const char *pattern, const char *path, int overwrite, MediaError *error)
{
    DIR *folder = access(path, W_OK | X_OK) < 0 ? NULL : opendir(path);
    if (!folder)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(pattern),
                          strerror(errno));
    const char *name = NULL;
    for (const struct dirent *entry; !overwrite && !name && (entry = readdir(folder));)
        if (picture_pattern_number(pattern, entry->d_name) >= 0)
            name = entry->d_name;
    if (name)
        (void)media_fail(error, MEDIA_USAGE, "pictures %s exist, such as %s; -y overwrites them",
                         media_quote(pattern), media_quote(name));
    closedir(folder);
    return error->fault;
}

int picture_sequence_check(const char *pattern, int overwrite, MediaError *error)
{
    const char *dot = strrchr(pattern, '.');
    /* WebP is refused, because FFmpeg's encoder would make one animation of all frames. */
    if (picture_codec(pattern) == AV_CODEC_ID_NONE || (dot && av_strcasecmp(dot, ".webp") == 0))
        return media_fail(
            error, MEDIA_USAGE,
            "--sequence writes pictures, but %s is not the name of one; end it in .png, "
            ".jpg or .tif",
            media_quote(pattern));
    char *path = file_name_folder(pattern);
    const int ret =
        path ? check_folder(pattern, path, overwrite, error) : media_no_memory(error, MEDIA_OUTPUT);
    av_free(path);
    return ret;
}

int picture_sequence_check_inputs(const char *pattern, const PictureList *inputs, MediaError *error)
{
    struct stat x, y;
    char *out = file_name_folder(pattern);
    char *in = inputs->count ? file_name_folder(inputs->paths[0]) : NULL;
    const bool is_same = out && in && stat(out, &x) == 0 && stat(in, &y) == 0 &&
                         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    av_free(out);
    av_free(in);
    if (!is_same)
        return 0;
    for (int i = 0; i < inputs->count; i++) {
        if (picture_pattern_number(pattern, file_name_base(inputs->paths[i])) < 0)
            continue;
        return media_fail(error, MEDIA_USAGE, "the output %s would overwrite the input %s",
                          media_quote(pattern), media_quote(inputs->paths[i]));
    }
    return 0;
}

int picture_sequence_write(PictureSequence *s, const AVPacket *packet, MediaError *error)
{
    OutputFile file = {.temp_like = s->pattern, .keeps_leftovers = s->count > 0};
    char *path = picture_pattern_name(s->pattern, s->count + 1);
    int ret = path ? output_file_replace(&file, path, error) : media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0)
        ret = output_file_write(&file, packet->data, (size_t)packet->size, error);
    if (ret >= 0)
        ret = output_file_commit(&file, OUTPUT_REPLACE, error);
    output_file_close(&file);
    av_free(path);
    if (ret < 0)
        return ret;
    s->count++;
    s->bytes += packet->size;
    return 0;
}
