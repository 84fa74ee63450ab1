/* Writes a picture to a PNG file. */
#ifndef LUMEQ_MEDIA_PICTURE_FILE_H
#define LUMEQ_MEDIA_PICTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "media/error.h"

/*
 * Writes RGBA pixels, `stride` bytes from row to row, without alpha, as BASE.png, or BASE-2.png and
 * so on if that exists: overwrites nothing. `name`, of `size` bytes, receives the path. Any thread.
 * MEDIA_OUTPUT: no file is left, or the error says where.
 */
int picture_file_write(const char *base, const uint8_t *pixels, ptrdiff_t stride, int width,
                       int height, char *name, size_t size, MediaError *error);

/* Like picture_file_write(), but with exactly this name: replaces an existing file, or returns
 * MEDIA_USAGE without `overwrite`. */
int picture_file_name(const char *path, int overwrite, const uint8_t *pixels, ptrdiff_t stride,
                      int width, int height, MediaError *error);

#endif
