// Colour pictures of 8 bits to planes of 10 bits and back: full range, BT.601, as in JPEG.
#ifndef LUMEQ_PLUGINS_PYTHON_BGR_H
#define LUMEQ_PLUGINS_PYTHON_BGR_H

#include <cstddef>
#include <cstdint>

struct Bgr {
    uint8_t *channel[3];  // first samples of blue, green and red
    ptrdiff_t row, pixel; // bytes from one to the next
    int width, height;
};

struct Yuv {
    uint16_t *plane[3]; // luma, Cb, Cr: each of the picture's size, without gaps between rows
};

// Ten bits keep every colour: converted there and back, a picture is unchanged.
void bgr_to_yuv(const Bgr &in, const Yuv &out);
void yuv_to_bgr(const Yuv &in, const Bgr &out);

#endif
