/* Limits gains of chroma, so that colours stay within R'G'B'. The compiler vectorizes the loops
 * over blocks for the instruction set of the including file. */
#ifndef LUMEQ_GAIN_BLOCKS_H
#define LUMEQ_GAIN_BLOCKS_H

#include "equalizer/curve_types.h"

#define GAIN_BLOCK 64 /* pixels; a multiple of the dither's period of 8 */

/* Members of CurveGain for the pixels of a block, in lanes of 32 bits. */
typedef struct GainBlock {
    uint32_t gain[GAIN_BLOCK], from[GAIN_BLOCK], to[GAIN_BLOCK];
} GainBlock;

/* The terms of curve_within(), divided by 2^down, so that used * gain fits in 32 bits. */
typedef struct GainLimit {
    uint32_t used, most;
} GainLimit;

/* `off`: a chroma code's distance from gray. `unit`: one code in 256ths of an 8-bit code, divided
 * by 2^down. */
static inline GainLimit gain_limit(uint32_t from, uint32_t to, uint32_t range, int32_t off,
                                   uint32_t unit, int down)
{
    const uint32_t reach = 15 * unit * (uint32_t)(off < 0 ? -off : off);
    const uint32_t room = (off > 0 ? range - from : from) << (3 - down);
    return (GainLimit){reach < room ? reach : room, (off > 0 ? range - to : to) << (15 - down)};
}

/* Conditions are masks (all ones or 0), so that the compiler vectorizes the division. */
static inline uint32_t gain_exceeds(uint32_t gain, GainLimit limit)
{
    return -(uint32_t)(limit.used * gain > limit.most);
}

/* Limits the gain to most / used, rounded down, but at least to CURVE_GAIN_KEPT. `most` and `used`
 * are exact in float32, but their quotient may be rounded up to the next integer. `end` corrects
 * this. Quotients from 2^16 on are not used, because gains are below. */
static inline uint32_t gain_limited(uint32_t gain, GainLimit limit)
{
    const float used = (float)(int32_t)(limit.used | (limit.used == 0));
    const uint32_t q = (uint32_t)(int32_t)((float)(int32_t)limit.most / used);
    const uint32_t end = q - (q * limit.used > limit.most);
    const uint32_t kept = end > CURVE_GAIN_KEPT ? end : CURVE_GAIN_KEPT;
    const uint32_t taken = gain_exceeds(gain, limit);
    return (kept & taken) | (gain & ~taken);
}

/* Mask: curve_within() may limit the gain. */
static inline uint32_t gain_may_end(uint32_t gain, uint32_t from, uint32_t range)
{
    return -(uint32_t)((gain > CURVE_GAIN_ONE) & (from <= range));
}

/* NAME() limits the gains for the samples of both components; `middle` is gray. NAME_any() returns
 * true if any gain must be limited, and is faster. */
#define DEFINE_END_GAINS(name, type)                                                               \
    static inline int name##_any(const GainBlock *restrict block, uint32_t range,                  \
                                 const type *first, const type *second, int32_t middle,            \
                                 uint32_t unit, int down)                                          \
    {                                                                                              \
        uint32_t any = 0;                                                                          \
        for (int i = 0; i < GAIN_BLOCK; i++) {                                                     \
            const uint32_t gain = block->gain[i], from = block->from[i];                           \
            const uint32_t to = block->to[i] < range ? block->to[i] : range;                       \
            const GainLimit a = gain_limit(from, to, range, first[i] - middle, unit, down);        \
            const GainLimit b = gain_limit(from, to, range, second[i] - middle, unit, down);       \
            any |=                                                                                 \
                (gain_exceeds(gain, a) | gain_exceeds(gain, b)) & gain_may_end(gain, from, range); \
        }                                                                                          \
        return any != 0;                                                                           \
    }                                                                                              \
    static inline void name(GainBlock *restrict block, uint32_t range, const type *first,          \
                            const type *second, int32_t middle, uint32_t unit, int down)           \
    {                                                                                              \
        for (int i = 0; i < GAIN_BLOCK; i++) {                                                     \
            const uint32_t gain = block->gain[i], from = block->from[i];                           \
            const uint32_t to = block->to[i] < range ? block->to[i] : range;                       \
            const GainLimit a = gain_limit(from, to, range, first[i] - middle, unit, down);        \
            const GainLimit b = gain_limit(from, to, range, second[i] - middle, unit, down);       \
            const uint32_t limited = gain_limited(gain_limited(gain, a), b);                       \
            const uint32_t ends = gain_may_end(gain, from, range);                                 \
            block->gain[i] = (limited & ends) | (gain & ~ends);                                    \
        }                                                                                          \
    }

#endif
