/* Test pictures from integer formulas. opencv_oracle.py draws the same pictures; the hashes in
 * opencv_oracle.h reveal differences. */
#ifndef LUMEQ_TESTS_PICTURES_H
#define LUMEQ_TESTS_PICTURES_H

#include "../check.h"

/* The content of a picture; s is the seed. */
typedef enum Picture {
    PICTURE_FLAT,      /* s & 255 */
    PICTURE_TWO_LEVEL, /* s >> 8 & 255 at about every eighth pixel, else s & 255 */
    PICTURE_ONE_PIXEL, /* s >> 8 & 255 at one pixel, else s & 255 */
    PICTURE_RAMP,      /* 0 at the left to 255 at the right */
    PICTURE_DIAGONAL,  /* 0 at the top left to 255 at the bottom right */
    PICTURE_NOISE,     /* all codes equally frequent */
    PICTURE_EXTREMES,  /* 0 and 255 */
    PICTURE_NARROW,    /* 100..108 */
    PICTURE_DARK,      /* a bell around 35, 4..66 */
    PICTURE_HALVES, /* n pixels of 0, n of 1, 3n of 255, 2n of each other code: outputs end in .5 */
    PICTURE_COUNT,
} Picture;

CHECK_NOT_INSTRUMENTED static inline uint8_t picture_code(Picture picture, uint64_t seed, int x,
                                                          int y, int width, int height)
{
    const int i = y * width + x;
    const uint64_t r = check_hash(seed, (uint64_t)i);
    int bell = 0, k;
    switch (picture) {
    case PICTURE_FLAT: return seed & 255;
    case PICTURE_TWO_LEVEL: return r & 7 ? seed & 255 : seed >> 8 & 255;
    case PICTURE_ONE_PIXEL: return i == width * height / 2 ? seed >> 8 & 255 : seed & 255;
    case PICTURE_RAMP: return (uint8_t)(x * 256 / width);
    case PICTURE_DIAGONAL: return (uint8_t)((x + y) * 255 / (width + height - 1));
    case PICTURE_NOISE: return r & 255;
    case PICTURE_EXTREMES: return r & 1 ? 255 : 0;
    case PICTURE_NARROW: return (uint8_t)(100 + r % 9);
    case PICTURE_DARK:
        for (k = 0; k < 6; k++)
            bell += r >> (8 * k) & 31;
        return (uint8_t)(bell / 3 + 4);
    case PICTURE_HALVES:
        k = i / (width * height < 511 ? 1 : width * height / 511);
        return (uint8_t)(k < 2 ? k : k < 510 ? k / 2 + 1 : 255);
    case PICTURE_COUNT: break;
    }
    return 0;
}

CHECK_NOT_INSTRUMENTED static inline void picture_fill(const CheckRect *rect, Picture picture,
                                                       uint64_t seed)
{
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++)
            check_row(rect, y)[x] = picture_code(picture, seed, x, y, rect->width, rect->height);
}

static inline uint64_t picture_hash(const CheckRect *rect)
{
    uint64_t hash = CHECK_FNV_START;
    for (int y = 0; y < rect->height; y++)
        hash = check_fnv(hash, check_row(rect, y), (size_t)rect->width);
    return hash;
}

#endif
