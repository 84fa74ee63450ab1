/* Writes pictures to files: single ones as PNG, and numbered sequences. */
#ifndef LUMEQ_MEDIA_PICTURE_FILE_H
#define LUMEQ_MEDIA_PICTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/packet.h>

#include "media/error.h"
#include "media/input/picture_list.h"

/*
 * Writes RGBA pixels without their alpha to BASE.png or, if that exists, to BASE-2.png and so on.
 * `stride`: bytes from row to row. `name`, of `size` bytes, receives the path. Any thread.
 * MEDIA_OUTPUT: no file is left, or the error contains its path.
 */
int picture_file_write(const char *base, const uint8_t *pixels, ptrdiff_t stride, int width,
                       int height, char *name, size_t size, MediaError *error);

/* Like picture_file_write(), but uses exactly this name. If the file exists, replaces it if
 * `overwrite` is set, else returns MEDIA_USAGE. */
int picture_file_name(const char *path, int overwrite, const uint8_t *pixels, ptrdiff_t stride,
                      int width, int height, MediaError *error);

/* ---- picture sequence ---- */

typedef struct PictureSequence {
    const char *pattern;  /* such as "out%04d.png"; owned by the caller */
    int64_t count, bytes; /* of the pictures written so far */
} PictureSequence;

/* Checks that pictures with such names can be written and, without `overwrite`, that no such file
 * exists. MEDIA_USAGE, MEDIA_OUTPUT. */
int picture_sequence_check(const char *pattern, int overwrite, MediaError *error);

/* Checks that no picture would overwrite an input. MEDIA_USAGE. */
int picture_sequence_check_inputs(const char *pattern, const PictureList *inputs,
                                  MediaError *error);

/* Writes the next picture; numbers start at 1. MEDIA_OUTPUT. */
int picture_sequence_write(PictureSequence *sequence, const AVPacket *packet, MediaError *error);

#endif
