/* Limits gains of chroma so that colours stay within R'G'B', in blocks that the compiler vectorizes
 * for the instruction set of the including file. */
#ifndef LUMEQ_GAIN_BLOCKS_H
#define LUMEQ_GAIN_BLOCKS_H

#include "equalizer/curve_types.h"

#define GAIN_BLOCK 64 /* pixels; a multiple of the dither's period of 8 */

/* In lanes of 32 bits. */
typedef struct GainBlock {
    uint32_t gain[GAIN_BLOCK], from[GAIN_BLOCK], to[GAIN_BLOCK]; /* as CurveGain */
    uint32_t ends[GAIN_BLOCK]; /* all ones if curve_within() may limit the gain */
} GainBlock;

/* Limits `to`, and finds which gains may be limited. */
static inline void gain_find_ends(GainBlock *restrict block, uint32_t range)
{
    for (int i = 0; i < GAIN_BLOCK; i++) {
        block->to[i] = block->to[i] < range ? block->to[i] : range;
        block->ends[i] = -(uint32_t)((block->gain[i] > CURVE_GAIN_ONE) & (block->from[i] <= range));
    }
}

/* The terms of curve_within(), divided by 2^down, so that a product with a gain fits. */
typedef struct GainLimit {
    uint32_t used, most;
} GainLimit;

/* `unit`: of the distance from gray, in 256ths of codes of 8 bits divided by 2^down. */
static inline GainLimit gain_limit(const GainBlock *block, uint32_t range, int32_t off,
                                   uint32_t unit, int down, int i)
{
    const uint32_t from = block->from[i], to = block->to[i];
    const uint32_t reach = 15 * unit * (uint32_t)(off < 0 ? -off : off);
    const uint32_t room = (off > 0 ? range - from : from) << (3 - down);
    return (GainLimit){reach < room ? reach : room, (off > 0 ? range - to : to) << (15 - down)};
}

/* most / used, rounded down, and at least CURVE_GAIN_KEPT. Both are exact in float32, and the
 * quotient, below 2^16 where it matters, is at most rounded up to the next integer. */
static inline uint32_t gain_quotient(GainLimit limit)
{
    const float used = (float)(int32_t)(limit.used | (limit.used == 0));
    const uint32_t q = (uint32_t)(int32_t)((float)(int32_t)limit.most / used);
    const uint32_t end = q - (q * limit.used > limit.most);
    return end > CURVE_GAIN_KEPT ? end : CURVE_GAIN_KEPT;
}

/* Limits the gains for the samples of a component; `middle` is gray. Divides only in the few blocks
 * that need it. */
#define DEFINE_END_GAINS(name, type)                                                               \
    static inline void name(GainBlock *restrict block, uint32_t range, const type *samples,        \
                            int32_t middle, uint32_t unit, int down)                               \
    {                                                                                              \
        uint32_t beyond = 0;                                                                       \
        for (int i = 0; i < GAIN_BLOCK; i++) {                                                     \
            const GainLimit l = gain_limit(block, range, samples[i] - middle, unit, down, i);      \
            beyond |= -(uint32_t)(l.used * block->gain[i] > l.most) & block->ends[i];              \
        }                                                                                          \
        if (!beyond)                                                                               \
            return;                                                                                \
        for (int i = 0; i < GAIN_BLOCK; i++) {                                                     \
            const GainLimit l = gain_limit(block, range, samples[i] - middle, unit, down, i);      \
            const uint32_t end = gain_quotient(l);                                                 \
            const uint32_t taken = -(uint32_t)(l.used * block->gain[i] > l.most) & block->ends[i]; \
            block->gain[i] = (end & taken) | (block->gain[i] & ~taken);                            \
        }                                                                                          \
    }

#endif
