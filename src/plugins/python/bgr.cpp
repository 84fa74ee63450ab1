#include "bgr.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

namespace
{

constexpr int bits = 16; // of fractions
constexpr int half = 1 << (bits - 1);

constexpr int fixed(double x)
{
    return int(x * (1 << bits) + (x < 0 ? -0.5 : 0.5));
}

constexpr double deep = 1023.0 / 255; // codes of 10 bits for one of 8
constexpr double kr = 0.299, kg = 0.587, kb = 0.114;

uint8_t clip8(int x)
{
    return uint8_t(x < 0 ? 0 : x > 255 ? 255 : x);
}

uint16_t clip10(int x)
{
    return uint16_t(x > 1023 ? 1023 : x);
}

FOR_EACH_CPU void row_to_yuv(const uint8_t *b, const uint8_t *g, const uint8_t *r, ptrdiff_t pixel,
                             uint16_t *__restrict y, uint16_t *__restrict cb,
                             uint16_t *__restrict cr, int width)
{
    constexpr int middle = 512 << bits;
    constexpr double u = deep * 0.5 / (1 - kb), v = deep * 0.5 / (1 - kr);
    for (int i = 0; i < width; i++) {
        const int blue = b[i * pixel], green = g[i * pixel], red = r[i * pixel];
        y[i] = clip10(
            (fixed(deep * kr) * red + fixed(deep * kg) * green + fixed(deep * kb) * blue + half) >>
            bits);
        cb[i] = clip10((fixed(-u * kr) * red + fixed(-u * kg) * green + fixed(u * (1 - kb)) * blue +
                        middle + half) >>
                       bits);
        cr[i] = clip10((fixed(v * (1 - kr)) * red + fixed(-v * kg) * green + fixed(-v * kb) * blue +
                        middle + half) >>
                       bits);
    }
}

FOR_EACH_CPU void row_to_bgr(const uint16_t *y, const uint16_t *cb, const uint16_t *cr, uint8_t *b,
                             uint8_t *g, uint8_t *r, ptrdiff_t pixel, int width)
{
    constexpr double u = 2 * (1 - kb) / deep, v = 2 * (1 - kr) / deep;
    for (int i = 0; i < width; i++) {
        const int luma = fixed(1 / deep) * y[i] + half, blue = cb[i] - 512, red = cr[i] - 512;
        b[i * pixel] = clip8((luma + fixed(u) * blue) >> bits);
        g[i * pixel] = clip8((luma - fixed(u * kb / kg) * blue - fixed(v * kr / kg) * red) >> bits);
        r[i * pixel] = clip8((luma + fixed(v) * red) >> bits);
    }
}

} // namespace

void bgr_to_yuv(const Bgr &in, const Yuv &out)
{
    for (int y = 0; y < in.height; y++) {
        const ptrdiff_t row = y * in.row, at = ptrdiff_t(y) * in.width;
        row_to_yuv(in.channel[0] + row, in.channel[1] + row, in.channel[2] + row, in.pixel,
                   out.plane[0] + at, out.plane[1] + at, out.plane[2] + at, in.width);
    }
}

void yuv_to_bgr(const Yuv &in, const Bgr &out)
{
    for (int y = 0; y < out.height; y++) {
        const ptrdiff_t row = y * out.row, at = ptrdiff_t(y) * out.width;
        row_to_bgr(in.plane[0] + at, in.plane[1] + at, in.plane[2] + at, out.channel[0] + row,
                   out.channel[1] + row, out.channel[2] + row, out.pixel, out.width);
    }
}
