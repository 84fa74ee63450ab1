/* A picture written to a file of its own: the only place where PNG is made of pixels. */
#ifndef LUMEQ_MEDIA_PICTURE_FILE_H
#define LUMEQ_MEDIA_PICTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "media/error.h"

/*
 * Writes RGBA pixels (alpha is left out), `stride` bytes from row to row, as a PNG with the name
 * BASE.png, or BASE-2.png and so on where there are such files already: nothing is overwritten.
 * `name`, of `size` bytes, gets the name. Any thread. MEDIA_OUTPUT; no file is left then,
 * or the error says where.
 */
int picture_file_write(const char *base, const uint8_t *pixels, ptrdiff_t stride, int width,
                       int height, char *name, size_t size, MediaError *error);

/* As picture_file_write(), under this very name: what the file was before is replaced, or, without
 * `overwrite`, MEDIA_USAGE. */
int picture_file_name(const char *path, int overwrite, const uint8_t *pixels, ptrdiff_t stride,
                      int width, int height, MediaError *error);

#endif
