/* The pictures of the fake camera: a moving ramp below the frame's number. */
#ifndef LUMEQ_TESTS_CAMERA_PATTERN_H
#define LUMEQ_TESTS_CAMERA_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a row of YUYV or gray, or of a luma row of NV12 or YU12; 0 for other codes. */
unsigned raw_row(uint32_t code, unsigned width);

/* Bytes of a picture in one of these formats with rows of `stride` bytes. */
size_t raw_size(uint32_t code, unsigned height, unsigned stride);

/* Draws limited-range luma, scaled up if gray has more than 8 bits. Does not change padding. */
void draw_raw(unsigned char *to, uint32_t code, unsigned width, unsigned height, unsigned stride,
              unsigned number);

/* Draws a JPEG of at most `room` bytes. Returns its size, 0 on errors. */
size_t draw_jpeg(unsigned char *to, size_t room, unsigned width, unsigned height, unsigned number);

#endif
