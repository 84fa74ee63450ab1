/* The pictures of the fake camera: a moving ramp below the frame's number. */
#ifndef LUMEQ_TESTS_CAMERA_PATTERN_H
#define LUMEQ_TESTS_CAMERA_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a row (of luma) of YUYV, NV12, YU12 or gray; 0: the code is another one. */
unsigned raw_row(uint32_t code, unsigned width);

/* Bytes of a picture of one of these whose rows are `stride` apart. */
size_t raw_size(uint32_t code, unsigned height, unsigned stride);

/* Draws limited-range luma, scaled to the depth of deep gray. Padding between rows is left alone.
 */
void draw_raw(unsigned char *to, uint32_t code, unsigned width, unsigned height, unsigned stride,
              unsigned number);

/* A JPEG of at most `room` bytes; answers its size, 0 without memory. */
size_t draw_jpeg(unsigned char *to, size_t room, unsigned width, unsigned height, unsigned number);

#endif
