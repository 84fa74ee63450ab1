/*
 * The filter for lifted pictures: computes its parameters from the frame's curve, noise and number
 * of previous frames. tests/lift/README.md describes how the filter uses them. Integer
 * arithmetic for C and CUDA.
 *
 * "Codes" are 8-bit codes at every depth. Qn: n fraction bits.
 */
#ifndef LUMEQ_LIFT_FILTER_H
#define LUMEQ_LIFT_FILTER_H

#include <stdint.h>

#include "equalizer/samples.h"

#ifdef __CUDACC__
#define LIFT_INLINE static inline __host__ __device__
#else
#define LIFT_INLINE static inline
#endif

#define LIFT_CODES 256
#define LIFT_PAST 3 /* maximum number of previous frames to use */

/* Tables of the filter. The code of a sample decides its tolerance: neighbours that differ from the
 * sample by more have no influence on it. */
typedef struct LiftTables {
    /* For each code: the output code, Q8, in the low 16 bits; the signed difference to the next
     * output code in the high 16 bits. */
    uint32_t node[LIFT_CODES];
    /* For each code, Q6. Low 16 bits: a quarter of the tolerance. High 16 bits: by how much a
     * previous frame may change a sample at most. */
    uint32_t tolerance[LIFT_CODES];
    uint16_t chroma[LIFT_CODES]; /* for each mean luma: a quarter of chroma's tolerance, Q6 */
    int32_t luma_on;             /* true if `tolerance` has an entry that is not 0 */
    int32_t chroma_on;           /* the same for `chroma` */
    int32_t noisy;               /* there is noise to filter */
    int32_t past;                /* number of previous frames used */
    int32_t alone;               /* there is noise but no previous frame: blur in short steps */
    int32_t near;  /* a previous sample is ignored if its 5x5 differences add up to this, Q2 */
    int32_t speck; /* maximum distance by which a speck moves towards its neighbours, Q6 */
    int32_t edge;  /* the tolerance is 0 if the range of the 5x5 neighbours reaches this, Q6 */
} LiftTables;

LIFT_INLINE int32_t lift_clamp(int32_t value, int32_t low, int32_t high)
{
    value = value < high ? value : high;
    return value > low ? value : low;
}

/* The noise that the filter assumes, in 64ths of a code: `noise` times `dark`, the darkness of the
 * picture (Q16). It is at most 16 codes. Noise up to half a code counts as 0. */
LIFT_INLINE int32_t lift_noise(uint32_t dark, uint32_t noise)
{
    const uint64_t weighed = (uint64_t)dark * noise >> 16;
    const int32_t n = weighed < 16 * 64 ? (int32_t)weighed : 16 * 64;
    return lift_clamp(2 * (n - 32), 0, n);
}

/* The noise to filter: the share `denoise` (Q16) of the noise. */
LIFT_INLINE int32_t lift_filtered(int32_t noise, uint32_t denoise)
{
    return (int32_t)((uint32_t)noise * denoise >> 16);
}

/* The largest 5x5 sum of differences that this noise can cause, Q2. */
LIFT_INLINE int32_t lift_near(int32_t noise)
{
    return noise * 75 / 32;
}

/* Sets the members from `noisy` on. `noise` is lift_noise(), `filtered` is lift_filtered(), and
 * `past` is the number of previous frames. */
LIFT_INLINE void lift_constants(LiftTables *t, int32_t noise, int32_t filtered, int32_t past)
{
    t->noisy = filtered > 0;
    t->past = filtered > 0 ? past : 0;
    t->near = lift_near(noise);
    t->alone = t->noisy && t->past == 0;
    t->speck = (t->alone ? 12 : 4) * filtered;
    t->edge = (t->alone ? 16 : 8) * 64 - 32 + 4 * filtered;
}

/* The noise that remains with `past` previous frames, in 64ths of that with three frames. */
LIFT_INLINE int32_t lift_left(int32_t past)
{
    return past == 0 ? 128 : past == 1 ? 91 : past == 2 ? 74 : 64;
}

/* The slope of the output codes (Q8) at a code; 2560 is slope 1. */
LIFT_INLINE int32_t lift_slope(const uint32_t *nodes, int code)
{
    return (int32_t)(nodes[code + 3] + nodes[code + 2] - nodes[code - 2] - nodes[code - 3]);
}

/* An entry of LiftTables.tolerance for a slope; `left` is lift_left(). */
LIFT_INLINE uint32_t lift_tolerance_of(int32_t slope, int32_t filtered, int32_t left)
{
    const int32_t lifted = lift_clamp(6 * (slope - 2560) / 80, 0, 64);
    const int32_t clean = lift_clamp(4 * (slope - 3200) / 80, 0, 152);
    const int32_t noisy = lift_clamp((lifted * 5 * filtered >> 7) * left >> 6, 0, 48 * 64);
    const int32_t most = clean > noisy ? clean : noisy;
    const uint32_t quarter = (uint32_t)(most * 3 >> 3);
    const uint32_t still = (uint32_t)(lifted * 4 * lift_near(filtered) >> 6);
    return quarter | still << 16;
}

/* An entry of LiftTables.tolerance. `nodes`: the output code of each code, Q8. */
LIFT_INLINE uint32_t lift_tolerance(const uint32_t *nodes, int code, int black, int white,
                                    int32_t filtered, int32_t past)
{
    const int i = lift_clamp(code, black + 4, white - 3);
    return lift_tolerance_of(lift_slope(nodes, i), filtered, lift_left(past));
}

/* If luma's gain is 1 + x, chroma's is 1 + x times this, Q12, because well-lit photographs have
 * less colour in proportion to light than dark photographs of the same scene. */
#define LIFT_COLOUR ((int32_t)CURVE_GAIN_ONE * 85 / 100)

/* An entry of LiftTables.chroma. `gain`: the gain of chroma, Q12. */
LIFT_INLINE uint32_t lift_chroma(uint32_t gain)
{
    const int32_t tolerance = lift_clamp(3 * (2 * (int32_t)gain - 9830) / 128, 0, 256);
    return (uint32_t)(tolerance * 3 >> 3);
}

/* The rule for chroma gains in lifted pictures. Chroma takes LIFT_COLOUR of luma's gain. The
 * maximum gain is 7.9, because 8 would overflow the 16 bits of the CPU's vectors. Without
 * noise, scaling begins at 1 code above black and is complete at 4; with much noise, at 2 and 6.
 * The colour of a void, such as a night sky, is mostly noise. So, as `voids` (Q16) approaches 1,
 * the maximum falls to 2, and scaling is complete later. */
LIFT_INLINE CurveGainRule lift_gain_rule(int32_t noise, uint32_t voids, int hdr)
{
    const int32_t one = (int32_t)CURVE_GAIN_ONE, part = noise < 64 ? noise : 64; /* 64ths */
    const int32_t none = (int32_t)(voids >> 8), dark = 256 + 4 * part, light = 4 * 256 + 8 * part;
    const CurveGainRule rule = {
        dark + (none * (CURVE_GAIN_DARK - 2) * 4 * part >> 8),
        light + (none * (4 * 256 + (CURVE_GAIN_LIGHT - 10) * 4 * part) >> 8),
        LIFT_COLOUR,
        (int32_t)(hdr ? LIFT_COLOUR : CURVE_LOSS_SHARE),
        10 * one,
        (uint32_t)(79 * one / 10 - (59 * one / 10 * none >> 8)),
    };
    return rule;
}

/* A sample must not fall below the floor or rise above the ceiling, unless it is there already. So
 * tones between black and white stay between them. In codes of `depth` bits. */
LIFT_INLINE uint32_t lift_floor(int32_t black, int32_t depth)
{
    return (uint32_t)black + (1u << (depth - 8));
}

LIFT_INLINE uint32_t lift_ceiling(int32_t white, int32_t depth)
{
    return (uint32_t)white - (1u << (depth - 8));
}

LIFT_INLINE uint32_t lift_node(const uint32_t *nodes, int code)
{
    const int next = code + 1 < LIFT_CODES ? code + 1 : code;
    return nodes[code] | (nodes[next] - nodes[code]) << 16;
}

#endif
