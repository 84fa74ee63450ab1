/*
 * Input, result and history of a curve, and the group of threads that computes it.
 *
 * This code is in the common subset of C and CUDA. A group of threads shares the work: CURVE_EACH
 * hands out the bins, always the same ones to the same thread; curve_sum(), curve_sum2(),
 * curve_max(), curve_cell(), curve_any() and curve_scan() are collective. curve_sum() and those
 * after it in this list make earlier writes visible to all threads. `was` and `now` are the
 * results' bins before and after the frame. Each thread holds only its own, CURVE_OWNED of them,
 * and CURVE_OWN selects one by its bin number. On the CPU the group is one thread. A .cu file
 * defines everything under CURVE_FN below for a thread block before it includes this header.
 *
 * Q16 is fixed point with 16 fraction bits. Right shifts of negative numbers are arithmetic with
 * every supported compiler.
 */
#ifndef LUMEQ_CURVE_TYPES_H
#define LUMEQ_CURVE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/bars.h"
#include "equalizer/lift_filter.h"
#include "equalizer/noise.h"
#include "equalizer/samples.h"
#include "lumeq/lumeq.h"

/* Size of the arrays. A .cu file that needs fewer bins defines its own; the arrays come last in
 * structs that it shares with others. */
#ifndef CURVE_BINS
#define CURVE_BINS LUMEQ_MAX_BINS
#endif

#define CURVE_ONE 65536u /* 1.0 in Q16 */

/* Cells of the chroma gain table and of clipping: codes of 8 bits at every depth. */
#define CURVE_CELLS 256

#define CURVE_CLIP_AUTO UINT32_MAX /* for CurveParams.clip */

/* Manual brightness and gamma, see light.h; zero: unchanged. */
typedef struct CurveLight {
    uint32_t power; /* exponent of tones, Q24; 0 means 1 */
    int32_t lift;   /* Q24 */
} CurveLight;

#define CURVE_LIGHT_ONE (1u << 24) /* 1.0 in its members */

/* Everything the curve depends on besides the histogram and the history. */
typedef struct CurveParams {
    int32_t depth, shift; /* of the samples, as in LumeqImage */
    int32_t bins;
    int32_t fraction;     /* a bin counts 2^fraction codes */
    int32_t black, white; /* codes */
    uint32_t clip;        /* Q16 multiples of the mean bin; 0: no limit; CURVE_CLIP_AUTO: by the
                           * lift rule */
    uint32_t alpha;       /* Q16 share of the target taken by this frame's curve, 1..CURVE_ONE */
    uint32_t strength;    /* Q16 */
    int32_t adaptive;     /* well exposed pictures get less of the strength */
    int32_t stretch;      /* the target is a straight line */
    int32_t limit;        /* a LumeqLimit */
    int32_t lift;         /* lift_decide() makes the target */
    CurveLight light;
    uint32_t slow;    /* with a lift: Q16 weight of this frame in the smoothed histogram */
    uint32_t denoise; /* with a lift: share of the noise to filter, Q16 */
    int32_t past;     /* previous frames that the filter may use */
    int32_t first;    /* with a lift: the first frame of a video, whose noise later frames will
                       * tell */
    int32_t scene_cut;
    int32_t reference; /* OpenCV's curve; 8 bits only */
    int32_t chroma;    /* scale chroma; otherwise all gains are 1 */
    int32_t dither;
    uint32_t frame;  /* selects the dither pattern */
    LumeqRect meter; /* the counted region, within the picture; width 0: all of it */
} CurveParams;

/* 16 bytes, so that a GPU thread moves one at once. */
typedef struct __attribute__((aligned(16))) CurveBin {
    uint32_t smooth; /* Q16 codes: the smoothed curve before strength */
    uint32_t cdf;    /* Q16, of the last frame with samples in range */
    uint32_t hist;
    uint32_t curve; /* Q16 codes: output of the bin's first code, strength applied */
} CurveBin;

/* State of the lift between frames. */
typedef struct LiftState {
    uint32_t on;         /* 0: no lift, and the other members are undefined */
    uint32_t dark, more; /* Q16: LiftChoice.dark and LiftChoice.lift, smoothed like the curve */
    uint32_t ignored;    /* ignore the frame's own noise for the next frame: it belongs to
                          * another scene */
    uint32_t known;      /* the noise has been measured */
    uint32_t awaited;    /* frames left to wait for a noise measurement: LIFT_AWAITED after the
                          * first frame, then down to 0 */
    uint32_t young;      /* frames left in which the scene is followed fast */
    uint32_t noise;      /* smoothed noise, in codes of 8 bits, Q16 */
    uint32_t seen;       /* noise measurements in this scene, at most LIFT_NOISE_SEEN */
    uint32_t counted;    /* `share` is valid */
    uint32_t share[CURVE_CELLS]; /* smoothed histogram: shares of the counts, by code from black
                                  * on */
} LiftState;

/*
 * Result of a frame: the complete history for the next frame, and its statistics. Zero is an empty
 * history. Bins from `bins` on are undefined.
 */
typedef struct CurveResult {
    uint32_t bins;
    uint32_t depth; /* of the history; 0: no history */
    uint32_t white; /* the code of white; together with the depth it tells the range */
    uint32_t scene_cut;
    uint32_t jumps;    /* consecutive changes of at least CURVE_JUMP, at most CURVE_JUMPS + 1 */
    uint32_t need;     /* Q16, smoothed: share of the strength that the picture needs */
    uint32_t alpha;    /* Q16: weight of this frame's target; 0 for the reference */
    uint32_t strength; /* Q16: strength used */
    uint32_t blank;    /* the picture is black; its target is the identity */
    uint32_t fades;    /* the picture is black, or fades in from black */
    uint32_t noise;    /* noise of this frame, from noise_of() */
    BarsState bars;    /* found before the curve, which excludes their samples */
    LiftState lift;
    CurveBin bin[CURVE_BINS];
} CurveResult;

/* Lookup table of a frame. */
typedef struct CurveTable {
    CurveGain gain[CURVE_CELLS]; /* of chroma, by the luma cell below it */
    LiftTables lift;             /* without a lift only luma_on and chroma_on are valid: 0 */
    union __attribute__((aligned(16))) {
        uint8_t codes8[256];          /* 8 bits: the output sample of each code */
        uint16_t codes16[CURVE_BINS]; /* up to 12 bits: the same, with shifted samples */
        /* With dither, or deeper: nodes for curve_between(); the last is the one past the last
         * code. */
        uint32_t nodes[CURVE_BINS + 1];
    };
} CurveTable;

typedef struct CurveWork {
    uint32_t hist[CURVE_BINS]; /* counts in range, then clipped */
    uint32_t cum[CURVE_BINS];
    uint32_t sums[2][2 * 32]; /* for curve_sum() and curve_sum2(), used alternately */
    uint32_t scan[128];
} CurveWork;

typedef struct CurveView {
    uint32_t mean, variance; /* of the range, as shares of it and its square */
    uint32_t distance;       /* from the previous picture */
    uint32_t moved;          /* enough of the picture changed for a cut */
} CurveView;

#ifndef CURVE_FN
#define CURVE_FN static inline
#define CURVE_INVERSE(d) (1 / (d))
#define CURVE_EACH(i, n) for (int i = 0; i < (n); i++)
#define CURVE_OWN(bins, i) ((bins)[i])
#define CURVE_OWNED(n) (n)
#define CURVE_ROLLED

/* Returns the sum over all threads, in every thread. Consecutive calls need different scratch. */
CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
    (void)scratch;
    return value;
}

/* The same for two values at once. */
CURVE_FN void curve_sum2(uint32_t values[2], uint32_t *scratch)
{
    (void)values;
    (void)scratch;
}

/* The sum of the `width` values of the aligned group that contains number i; a power of two up to
 * 16. */
CURVE_FN uint32_t curve_cell(const uint32_t *values, int i, int width)
{
    uint32_t sum = 0;
    for (int k = i & -width; k < (i & -width) + width; k++)
        sum += values[k];
    return sum;
}

/* True if the condition holds in any thread. */
CURVE_FN uint32_t curve_any(uint32_t condition)
{
    return condition;
}

/* The maximum over all threads, in every thread; scratch as in curve_sum(). */
CURVE_FN uint32_t curve_max(uint32_t value, uint32_t *scratch)
{
    (void)scratch;
    return value;
}

/* Makes earlier writes visible to all threads. */
CURVE_FN void curve_barrier(void)
{
}

/* Inclusive prefix sum, in place. */
CURVE_FN void curve_scan(uint32_t *values, int n, uint32_t *scratch)
{
    (void)scratch;
    for (int i = 1; i < n; i++)
        values[i] += values[i - 1];
}
#endif

/* For functions called from many places: a GPU's instruction cache is smaller than the inlined code
 * of a curve, which would be fetched from memory again for each frame. */
#ifndef CURVE_CALL
#define CURVE_CALL CURVE_FN
#endif

CURVE_FN uint32_t curve_lerp(uint32_t from, uint32_t to, uint32_t weight)
{
    const int64_t step = (int64_t)weight * ((int64_t)to - from);
    return (uint32_t)(from + ((step + (CURVE_ONE / 2)) >> 16));
}

/*
 * n / d, rounded down, for quotients below 2^32 and n below 2^63. GPUs divide 64 bits in a long
 * routine, so this estimates twice in float32. The factor just below 1 outweighs all rounding, so
 * an estimate is never too large: the first is at most 2^-19 of itself too small, the second at
 * most 1, which the last step corrects. CURVE_INVERSE() may be wrong by 2^-23.
 */
CURVE_CALL uint32_t curve_divide(uint64_t n, uint32_t d)
{
    const float inverse = (1 - 0x1p-20f) * CURVE_INVERSE((float)d);
    uint32_t q = (uint32_t)((float)(int64_t)n * inverse);
    q += (uint32_t)((float)(int64_t)(n - (uint64_t)q * d) * inverse);
    return q + (n - (uint64_t)q * d >= d);
}

/* The same for quotients below 2^18: the first estimate is at most 1 too small. */
CURVE_FN uint32_t curve_quotient(uint64_t n, uint32_t d)
{
    const float inverse = (1 - 0x1p-20f) * CURVE_INVERSE((float)d);
    const uint32_t q = (uint32_t)((float)(int64_t)n * inverse);
    return q + (n - (uint64_t)q * d >= d);
}

/* x / n, rounded down, for x below 2^31 and n from 2 to 2^16. `reciprocal` is 2^32 / n rounded up,
 * which makes the product too large by less than 1. */
CURVE_FN uint32_t curve_share(uint32_t x, uint32_t n, uint32_t reciprocal)
{
    const uint32_t q = (uint32_t)((uint64_t)x * reciprocal >> 32);
    return q - (q * n > x);
}

/* Bins per cell, the equivalent of one 8-bit code. */
CURVE_FN int curve_width(const CurveParams *p)
{
    return CURVE_BINS == CURVE_CELLS ? 1 : p->bins / CURVE_CELLS;
}

/* The bins of black and white. */
CURVE_FN int curve_black(const CurveParams *p)
{
    return p->black >> p->fraction;
}

CURVE_FN int curve_white(const CurveParams *p)
{
    return p->white >> p->fraction;
}

CURVE_FN uint32_t curve_range(const CurveParams *p)
{
    return (uint32_t)(curve_white(p) - curve_black(p) + 1);
}

#endif
