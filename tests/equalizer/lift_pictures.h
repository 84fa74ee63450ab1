/* Draws test pictures for the filter of lifted pictures, as tests/lift/make_filter_vectors.py does,
 * and fills the filter's tables. */
#ifndef LUMEQ_TESTS_LIFT_PICTURES_H
#define LUMEQ_TESTS_LIFT_PICTURES_H

#include "../check.h"
#include "equalizer/curve_types.h"

enum { LIFT_RANDOM, LIFT_FLAT, LIFT_GRADIENT, LIFT_EDGES, LIFT_EXTREMES, LIFT_BLOCKS, LIFT_KINDS };

static inline int lift_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return (int)(*state >> 16);
}

static inline int lift_level(int kind, int x, int y, int width, int height, const int *blocks)
{
    switch (kind) {
    case LIFT_GRADIENT: return 16 + 60 * x / width + 20 * y / height;
    case LIFT_EDGES: return 20 + (x / 7 + y / 5) % 6 * 9;
    case LIFT_BLOCKS: return 16 + blocks[(x / 8 + y / 8 * 5) % 64] % 45;
    default: return 30;
    }
}

/* Writes a plane's codes, row by row. `noise`: in 64ths of a code; `seed`: selects the noise. */
CHECK_NOT_INSTRUMENTED static inline void lift_draw(uint16_t *codes, int kind, int width,
                                                    int height, int depth, int plane, int noise,
                                                    int seed)
{
    uint32_t fixed = 7 + (uint32_t)plane, moving = (uint32_t)seed;
    const int unit = 1 << (depth - 8), last = 256 * unit - 1, reach = (noise * unit + 63) / 64;
    int blocks[64];
    for (int i = 0; i < 64; i++)
        blocks[i] = lift_number(&fixed);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int r = lift_number(&moving);
            const int level = lift_level(kind, x, y, width, height, blocks);
            int code = ((plane == 2 ? -level : level) + (plane ? 128 : 0)) * unit;
            code += r % (2 * reach + 1) - reach;
            code = kind == LIFT_RANDOM ? r & last : kind == LIFT_EXTREMES ? last * (r & 1) : code;
            *codes++ = (uint16_t)(code < 0 ? 0 : code > last ? last : code);
        }
}

/* Fills a curve of limited range whose slope at black is `lift`; 1: the identity. */
static inline void lift_nodes(uint32_t nodes[LIFT_CODES], int lift)
{
    for (int i = 0; i < LIFT_CODES; i++) {
        const int x = i - 16;
        nodes[i] =
            (uint32_t)(x < 0 || x > 219 ? 256 * i
                                        : 4096 + 219 * 256 * lift * x / (219 + (lift - 1) * x));
    }
}

/* Fills all tables of the filter for a curve. `noise`: in 64ths of a code; `denoise`: the share of
 * the noise that is filtered, Q16. `noise` also selects the `voids` of lift_gain_rule(). */
static inline void lift_fill(CurveTable *table, const uint32_t *nodes, int noise, uint32_t denoise,
                             int past)
{
    LiftTables *t = &table->lift;
    const int n = lift_noise(CURVE_ONE, (uint32_t)noise);
    const int filtered = lift_filtered(n, denoise);
    lift_constants(t, n, filtered, past);
    t->luma_on = t->chroma_on = 1;
    for (int i = 0; i < LIFT_CODES; i++) {
        const int from = (i - 16) * 256, to = (int)nodes[i] - 4096;
        t->node[i] = lift_node(nodes, i);
        t->tolerance[i] = lift_tolerance(nodes, i, 16, 235, filtered, t->past);
        const uint32_t gain =
            curve_gain(from, to, lift_gain_rule(n, (uint32_t)noise % 512 << 7, 0));
        t->chroma[i] = (uint16_t)lift_chroma(gain);
        table->gain[i] = (CurveGain){
            .gain = (uint16_t)gain,
            .from = (uint16_t)(from > 0 ? from : 0),
            .to = (uint16_t)(to > 0 ? to : 0),
        };
    }
}

/* Fills the tables for a random monotone curve, with some random tolerances. */
static inline void lift_any(CurveTable *table, CheckRandom *random)
{
    uint32_t nodes[LIFT_CODES];
    const int noise = check_below(random, 3) ? check_below(random, 1100) : 0;
    const int past = check_below(random, LIFT_PAST + 1), step = 1 + check_below(random, 900);
    uint32_t node = 0;
    for (int i = 0; i < LIFT_CODES; i++) {
        nodes[i] = node;
        node += (uint32_t)check_below(random, step);
        node = node < 65280 ? node : 65280;
    }
    lift_fill(table, nodes, noise, CURVE_ONE, past);
    for (int i = 0; i < LIFT_CODES && check_below(random, 4); i++) {
        table->lift.tolerance[i] =
            (uint32_t)check_below(random, 1153) | (uint32_t)check_below(random, 9601) << 16;
        table->lift.chroma[i] = (uint16_t)(check_below(random, 5) ? check_below(random, 49) : 0);
    }
}

#endif
