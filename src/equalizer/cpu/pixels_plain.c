#include "equalizer/cpu/pixels.h"

static inline int64_t between(int64_t value, int64_t last)
{
    const int64_t positive = value < 0 ? 0 : value;
    return positive < last ? positive : last;
}

/* `deep`: bits per code of a plane. `sum`: type of sums. */
#define DEFINE_PIXELS(bits, deep, sum)                                                             \
    void lumeq_pixels_to_planes##bits(uint16_t *const to[3], const void *from, int channels,       \
                                      int rgb, int width)                                          \
    {                                                                                              \
        const uint##bits##_t *pixel = from;                                                        \
        const int blue = rgb ? 2 : 0;                                                              \
        const sum half = (sum)1 << (PIXELS_BITS_##bits - 1);                                       \
        for (int x = 0; x < width; x++, pixel += channels) {                                       \
            const sum b = pixel[blue], g = pixel[1], r = pixel[2 - blue];                          \
            for (int i = 0; i < 3; i++) {                                                          \
                const int32_t *k = lumeq_to_planes##bits[i];                                       \
                const sum zero = i ? (sum)1 << (deep - 1) : 0;                                     \
                const sum code =                                                                   \
                    zero + ((k[0] * b + k[1] * g + k[2] * r + half) >> PIXELS_BITS_##bits);        \
                to[i][x] = (uint16_t)between(code, (1 << deep) - 1);                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void lumeq_planes_to_pixels##bits(void *to, const uint16_t *const from[3], int channels,       \
                                      int rgb, int width)                                          \
    {                                                                                              \
        uint##bits##_t *pixel = to;                                                                \
        const sum zero = (sum)1 << (deep - 1), half = (sum)1 << (PLANES_BITS - 1);                 \
        for (int x = 0; x < width; x++, pixel += channels) {                                       \
            const sum y = from[0][x], cb = from[1][x] - zero, cr = from[2][x] - zero;              \
            for (int i = 0; i < 3; i++) {                                                          \
                const int32_t *k = lumeq_to_pixels##bits[i];                                       \
                const sum code = (k[0] * y + k[1] * cb + k[2] * cr + half) >> PLANES_BITS;         \
                pixel[rgb ? 2 - i : i] = (uint##bits##_t)between(code, (1 << bits) - 1);           \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_PIXELS(8, 10, int32_t)
DEFINE_PIXELS(16, 16, int64_t)
