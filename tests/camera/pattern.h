/* The pictures of the fake camera: a moving ramp below the frame's number. */
#ifndef LUMEQ_TESTS_CAMERA_PATTERN_H
#define LUMEQ_TESTS_CAMERA_PATTERN_H

#include <stddef.h>

/* Limited-range luma. */
void draw_yuyv(unsigned char *to, unsigned width, unsigned height, unsigned number);

/* A JPEG of at most `room` bytes; answers its size, 0 without memory. */
size_t draw_jpeg(unsigned char *to, size_t room, unsigned width, unsigned height, unsigned number);

#endif
