/*
 * Converts interleaved colours to planes of Y, Cb and Cr, and back: full range BT.601, as in JPEG
 * and OpenCV. 8-bit colours become 10-bit codes, so that no colour is lost. 16-bit colours become
 * 16-bit codes.
 */
#ifndef LUMEQ_PIXELS_H
#define LUMEQ_PIXELS_H

#include <stdint.h>

/* Coefficients of blue, green and red for Y, Cb and Cr, with these numbers of fraction bits. */
#define PIXELS_BITS_8 13
#define PIXELS_BITS_16 16
static const int32_t lumeq_to_planes8[3][3] = {
    {3747, 19291, 9826}, {16432, -10887, -5545}, {-2672, -13760, 16432}};
static const int32_t lumeq_to_planes16[3][3] = {
    {7471, 38470, 19595}, {32768, -21710, -11058}, {-5329, -27439, 32768}};

/* Coefficients of Y, Cb and Cr for blue, green and red, with 16 fraction bits. */
#define PLANES_BITS 16
static const int32_t lumeq_to_pixels8[3][3] = {
    {16336, 28947, 0}, {16336, -5622, -11666}, {16336, 0, 22903}};
static const int32_t lumeq_to_pixels16[3][3] = {
    {65536, 116130, 0}, {65536, -22553, -46802}, {65536, 0, 91881}};

/* Converts a row of pixels with 3 or 4 `channels`. The first channel is blue; red if `rgb`. */
typedef void LumeqToPlanesKernel(uint16_t *const to[3], const void *from, int channels, int rgb,
                                 int width);

/* Converts back. Does not write a fourth channel. */
typedef void LumeqToPixelsKernel(void *to, const uint16_t *const from[3], int channels, int rgb,
                                 int width);

LumeqToPlanesKernel lumeq_pixels_to_planes8, lumeq_pixels_to_planes16; /* the reference */
LumeqToPixelsKernel lumeq_planes_to_pixels8, lumeq_planes_to_pixels16;

#endif
