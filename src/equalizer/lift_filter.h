/*
 * The filter of pictures that are lifted: what it is told of a frame, from the frame's curve, its
 * noise and the number of frames before it. The arithmetic of the pixels is in words in
 * tests/lift/README.md. One definition for C and CUDA, in integers.
 *
 * "Codes" are of 8 bits, whatever the depth is. Qn: n fraction bits.
 */
#ifndef LUMEQ_LIFT_FILTER_H
#define LUMEQ_LIFT_FILTER_H

#include <stdint.h>

#include "equalizer/samples.h"

#ifdef __CUDACC__
#define LIFT_ALONE static inline __host__ __device__
#else
#define LIFT_ALONE static inline
#endif

#define LIFT_CODES 256
#define LIFT_PAST 3 /* frames before that may be used, at most */
#define LIFT_ONE 65536

/* Of what is not lifted it leaves all samples as they are: luma, chroma. */
typedef struct LiftTables {
    /* By code: the output code, Q8, in the low 16 bits; above it, with its sign, how much more it
     * is for the next code. */
    uint32_t node[LIFT_CODES];
    /* By code: a quarter of the tolerance, Q6; above it the most that a sample before moves this
     * one, Q6. */
    uint32_t tolerance[LIFT_CODES];
    uint16_t chroma[LIFT_CODES]; /* by mean luma: a quarter of chroma's tolerance, Q6 */
    int32_t luma_on, chroma_on;  /* some entry of tolerance, of chroma is not 0 */
    int32_t noisy, past;         /* there is noise; frames before that are used */
    int32_t near;  /* 5x5 sum of differences, Q2, from which on a sample before does not count */
    int32_t speck; /* most that what stands out of all its neighbours is moved, Q6 */
    int32_t edge;  /* range of the 5x5, Q6, from which on the tolerance is 0 */
} LiftTables;

LIFT_ALONE int32_t lift_clamp(int32_t value, int32_t low, int32_t high)
{
    value = value < high ? value : high;
    return value > low ? value : low;
}

/* What the filter takes for noise, 64ths of a code: none below half a code, all of it from a whole
 * one on, as far as the picture is dark (Q16). */
LIFT_ALONE int32_t lift_noise(uint32_t dark, uint32_t noise)
{
    const uint64_t weighed = (uint64_t)dark * noise >> 16;
    const int32_t n = weighed < 16 * 64 ? (int32_t)weighed : 16 * 64;
    return lift_clamp(2 * (n - 32), 0, n);
}

/* As much of the noise as is filtered; `denoise`: that share, Q16. */
LIFT_ALONE int32_t lift_filtered(int32_t noise, uint32_t denoise)
{
    return (int32_t)((uint32_t)noise * denoise >> 16);
}

/* A 5x5 sum of differences that noise explains, Q2. */
LIFT_ALONE int32_t lift_near(int32_t noise)
{
    return noise * 75 / 32;
}

/* All but the entries; `noise` is lift_noise(), `filtered` lift_filtered(), `past` how many frames
 * before there are. */
LIFT_ALONE void lift_constants(LiftTables *t, int32_t noise, int32_t filtered, int32_t past)
{
    t->noisy = filtered > 0;
    t->past = filtered > 0 ? past : 0;
    t->near = lift_near(noise);
    t->speck = 4 * filtered;
    t->edge = 8 * 64 - 32 + 4 * filtered;
}

/* Entry `code` of tolerance. nodes: output codes, Q8, of all codes from black to white. */
LIFT_ALONE uint32_t lift_tolerance(const uint32_t *nodes, int code, int black, int white,
                                   int32_t filtered, int32_t past)
{
    /* 64 times 2 / sqrt(1 + past): noise that is left, of that with three frames before. */
    const int32_t left = past == 0 ? 128 : past == 1 ? 91 : past == 2 ? 74 : 64;
    const int i = lift_clamp(code, black + 4, white - 3);
    const int32_t slope = (int32_t)(nodes[i + 3] + nodes[i + 2] - nodes[i - 2] - nodes[i - 3]);
    const int32_t lifted = lift_clamp(6 * (slope - 2560) / 80, 0, 64);
    const int32_t clean = lift_clamp(4 * (slope - 3200) / 80, 0, 192);
    const int32_t noisy = lift_clamp((lifted * 5 * filtered >> 7) * left >> 6, 0, 48 * 64);
    const int32_t most = clean > noisy ? clean : noisy;
    const uint32_t quarter = (uint32_t)(most * 3 >> 3);
    const uint32_t still = (uint32_t)(lifted * 4 * lift_near(filtered) >> 6);
    return quarter | still << 16;
}

/* The share of luma's gain above 1 that chroma takes, Q12. Photographs of one place with less and
 * with more light have 0.8 times as much colour for their light where they are lighter (LOL). */
#define LIFT_COLOUR ((int32_t)CURVE_GAIN_ONE * 85 / 100)

/* Entry of chroma over luma that has this gain, Q12. */
LIFT_ALONE uint32_t lift_chroma(uint32_t gain)
{
    const int32_t tolerance = lift_clamp(3 * (2 * (int32_t)gain - 9830) / 128, 0, 256);
    return (uint32_t)(tolerance * 3 >> 3);
}

/* How chroma is scaled: by LIFT_COLOUR of the gain of luma, 5 times at most, or 3 times where the
 * noise is a code and more. Over luma from a code above black on and wholly
 * from 8 on; with such noise as what is not lifted. */
LIFT_ALONE CurveGainRule lift_gain_rule(int32_t noise)
{
    const int32_t one = (int32_t)CURVE_GAIN_ONE, part = noise < 64 ? noise : 64; /* 64ths */
    const CurveGainRule rule = {
        256 + (CURVE_GAIN_DARK - 1) * 4 * part,
        8 * 256 + (CURVE_GAIN_LIGHT - 8) * 4 * part,
        LIFT_COLOUR,
        6 * one,
        (uint32_t)(6 * one - 3 * one * part / 64),
    };
    return rule;
}

/* What is between black and white stays so: up to the one of these codes, of the picture's depth,
 * no sample gets darker than it was, and from the other one on none lighter. Grain that is a code
 * above black would be lost among what is black, and what is a code below white by the dither. */
LIFT_ALONE uint32_t lift_floor(int32_t black, int32_t depth)
{
    return (uint32_t)black + (1u << (depth - 8));
}

LIFT_ALONE uint32_t lift_ceiling(int32_t white, int32_t depth)
{
    return (uint32_t)white - (1u << (depth - 8));
}

/* Entry `code` of node. */
LIFT_ALONE uint32_t lift_node(const uint32_t *nodes, int code)
{
    const int next = code + 1 < LIFT_CODES ? code + 1 : code;
    return nodes[code] | (nodes[next] - nodes[code]) << 16;
}

#endif
