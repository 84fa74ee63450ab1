#include "bench/content.h"

#include <math.h>

/* xorshift64, by George Marsaglia */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* A dull picture that lumeq improves: broad shapes, a horizon and some grain, over less than half
 * of the range. Returns an 8-bit code. */
static uint32_t natural(int x, int y, int height, uint64_t random)
{
    const double shapes = 22 * sin(x / 211.0) * cos(y / 157.0) + 9 * sin((x + 2 * y) / 31.0);
    const int grain = (int)(random & 7) + (int)(random >> 8 & 7) - 7;
    return (uint32_t)((y < height / 3 ? 140 : 95) + (int)shapes + grain);
}

/* The natural picture, dark and noisy. */
static uint32_t dark(int x, int y, int height, uint64_t random)
{
    return 15 + natural(x, y, height, random) / 6 + (uint32_t)(random >> 32 & 3);
}

/* A well-exposed picture that lumeq leaves untouched, like most video: shapes over most of the
 * range and little grain. */
static uint32_t exposed(const BenchPicture *c, int x, int y, uint64_t random)
{
    const double across = 9.1 * x / c->width, down = 6.9 * y / c->height;
    const double shapes = 76 * sin(across) * cos(down) + 22 * sin(9 * across + 13 * down);
    const int grain = (int)(random & 3) + (int)(random >> 8 & 3) - 3;
    return (uint32_t)(122 + (int)shapes + grain);
}

static uint32_t code_at(const BenchPicture *c, BenchContent kind, int x, int y, uint64_t random)
{
    const uint32_t below = (uint32_t)(random >> 24 & 255); /* the lower 8 bits */
    switch (kind) {
    case BENCH_FLAT: return 100 << 8;
    case BENCH_TWO_LEVEL: return (random & 1 ? 60u : 180u) << 8;
    case BENCH_RAMP: return (uint32_t)((uint64_t)x * 65536 / (uint64_t)c->width);
    case BENCH_NATURAL: return natural(x, y, c->height, random) << 8 | below;
    case BENCH_DARK: return dark(x, y, c->height, random) << 8 | below;
    case BENCH_EXPOSED: return exposed(c, x, y, random) << 8 | below;
    default: return (uint32_t)(random & 255) << 8 | below;
    }
}

size_t bench_row_size(const BenchPicture *picture)
{
    return (size_t)picture->width * (picture->depth > 8 ? 2 : 1);
}

/* Takes the upper bits of 16-bit codes for smaller depths. */
void bench_fill(const BenchPicture *p, BenchContent content, uint64_t seed)
{
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const uint32_t full = code_at(p, content, x, y, next_random(&seed) >> 16);
            const uint16_t code = (uint16_t)((uint16_t)full >> (16 - p->depth));
            const size_t at = (size_t)y * (size_t)p->width + (size_t)x;
            if (p->depth > 8)
                ((uint16_t *)p->luma)[at] = code;
            else
                ((uint8_t *)p->luma)[at] = (uint8_t)code;
        }
}
