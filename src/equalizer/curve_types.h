/*
 * What the curve is computed from and leaves behind, and the group of threads that computes it.
 *
 * The common subset of C and CUDA. What is written for a group shares the work among its threads:
 * CURVE_EACH hands out the bins, always the same ones to the same thread; curve_sum(),
 * curve_sum2(), curve_max(), curve_cell(), curve_any() and curve_scan() are collective, and what
 * was written before curve_sum() and those after it is seen by all threads afterwards. `was` and
 * `now` are the results' bins before and after the frame, of which a thread has its own,
 * CURVE_OWNED of so many: CURVE_OWN is that of the number handed out. On the CPU the group is one
 * thread. A .cu file defines what is under CURVE_FN below for a thread block before it includes
 * this header.
 *
 * Q16 is fixed point with 16 fraction bits. Right shifts of negative numbers are arithmetic with
 * every compiler this builds with.
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

/* Bins that the arrays have room for. A .cu file that knows of fewer defines how many: in what it
 * shares with others the arrays come last. */
#ifndef CURVE_BINS
#define CURVE_BINS LUMEQ_MAX_BINS
#endif

#define CURVE_ONE 65536u /* 1.0 in Q16 */

/* Cells of the chroma gain's table and of clipping: codes of 8 bits, whatever the depth is. */
#define CURVE_CELLS 256

#define CURVE_CLIP_AUTO UINT32_MAX /* of CurveParams.clip */

/* Light by hand, see light.h; zero: none. */
typedef struct CurveLight {
    uint32_t power; /* of tones, Q24; 0: 1 */
    int32_t lift;   /* Q24 */
} CurveLight;

#define CURVE_LIGHT_ONE (1u << 24) /* of its members */

/* Everything the curve depends on besides the histogram and the history. */
typedef struct CurveParams {
    int32_t depth, shift; /* of the samples, as in LumeqImage */
    int32_t bins;
    int32_t fraction;     /* a bin counts 2^fraction codes */
    int32_t black, white; /* codes */
    uint32_t clip;        /* Q16 multiples of the mean bin, 0: none; CURVE_CLIP_AUTO: with a lift */
    uint32_t alpha;       /* Q16 share of the target taken by this frame's curve, 1..CURVE_ONE */
    uint32_t strength;    /* Q16 */
    int32_t adaptive;     /* the strength is for pictures that need it */
    int32_t stretch;      /* the target is a straight line */
    int32_t limit;        /* a LumeqLimit: the curve is only darker, or only lighter */
    int32_t lift;         /* the target is what lift_decide() makes of the picture */
    CurveLight light;
    uint32_t slow;    /* Q16 share of this frame in what it decides on */
    uint32_t denoise; /* with a lift: the share of the noise that is filtered, Q16 */
    int32_t past;     /* frames before this one that the filter may look at */
    int32_t first;    /* with a lift: the first frame of all, whose noise those to come will tell */
    int32_t scene_cut;
    int32_t reference; /* only with 8 bits */
    int32_t chroma;    /* the gains are not all 1 */
    int32_t dither;
    uint32_t frame;  /* number of the dither's pattern */
    LumeqRect meter; /* the part that is counted, within the picture; width 0: all of it */
} CurveParams;

/* A group's thread moves one at once. */
typedef struct __attribute__((aligned(16))) CurveBin {
    uint32_t smooth; /* Q16 codes: the smoothed curve before strength */
    uint32_t cdf;    /* Q16 of the last frame that had anything in range */
    uint32_t hist;
    uint32_t curve; /* Q16 codes: that of the bin's first code, strength applied */
} CurveBin;

/* What the lift goes by from frame to frame. */
typedef struct LiftState {
    uint32_t on;         /* 0: there is none, and all else is undefined */
    uint32_t dark, more; /* Q16, smoothed as the curve is: LiftChoice.dark, LiftChoice.lift */
    uint32_t ignored;    /* the frame's own noise, by which the next is decided: of another scene */
    uint32_t known;      /* noise has been measured */
    uint32_t awaited; /* frames that it is waited for: LIFT_AWAITED with the first of all, .. 0 */
    uint32_t young;   /* frames for which the scene is still followed fast */
    uint32_t noise;   /* smoothed: codes of 8 bits, Q16 */
    uint32_t seen;    /* how often it was measured in this scene, LIFT_NOISE_SEEN at most */
    uint32_t counted; /* there are shares */
    uint32_t share[CURVE_CELLS]; /* of the pictures' counts, by code from black on, smoothed */
} LiftState;

/*
 * What a frame leaves behind: the history, all of it, that the next one starts from, and what is
 * reported of this one. Zero is an empty history. What lies behind the first `bins` is undefined.
 */
typedef struct CurveResult {
    uint32_t bins;
    uint32_t depth; /* that the history is of; 0: there is none */
    uint32_t white; /* the code of white: with the depth that tells the range */
    uint32_t scene_cut;
    uint32_t jumps;    /* changes in a row of at least CURVE_JUMP, CURVE_JUMPS + 1 at most */
    uint32_t need;     /* Q16, smoothed: the share of the strength that the picture needs */
    uint32_t alpha;    /* Q16: what this frame's curve took of its target; 0 with the reference */
    uint32_t strength; /* Q16: what was used */
    uint32_t blank;    /* the picture is black: the identity was its target */
    uint32_t fades;    /* it is, or comes up from it and is not calm yet */
    uint32_t noise;    /* of this frame, by noise_of() */
    BarsState bars;    /* found before the curve, which leaves their samples out */
    LiftState lift;
    CurveBin bin[CURVE_BINS];
} CurveResult;

/* What the samples are looked up in. */
typedef struct CurveTable {
    CurveGain gain[CURVE_CELLS]; /* of the chroma over luma in each cell */
    LiftTables lift;             /* of what is not lifted only luma_on and chroma_on, which are 0 */
    union __attribute__((aligned(16))) {
        uint8_t codes8[256];          /* of 8 bits: the output sample of each code */
        uint16_t codes16[CURVE_BINS]; /* up to 12 bits: the same, shifted as samples are */
        /* With dither, or deeper: for curve_between(); ends with the code after all. */
        uint32_t nodes[CURVE_BINS + 1];
    };
} CurveTable;

/* Working memory of one group. */
typedef struct CurveWork {
    uint32_t hist[CURVE_BINS]; /* counts in range, then clipped */
    uint32_t cum[CURVE_BINS];
    uint32_t sums[2][2 * 32]; /* for curve_sum() and curve_sum2(), by turns */
    uint32_t scan[128];
} CurveWork;

/* What the histogram tells of a picture, Q16. */
typedef struct CurveView {
    uint32_t mean, variance; /* of the range, as shares of it and its square */
    uint32_t distance;       /* from the picture before */
    uint32_t moved;          /* enough of it is another one for a change of the scene */
} CurveView;

#ifndef CURVE_FN
#define CURVE_FN static inline
#define CURVE_INVERSE(d) (1 / (d))
#define CURVE_EACH(i, n) for (int i = 0; i < (n); i++)
#define CURVE_OWN(bins, i) ((bins)[i])
#define CURVE_OWNED(n) (n)
#define CURVE_ROLLED

/* The sum of every thread's value, in every thread. Two in a row need scratch of their own. */
CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
    (void)scratch;
    return value;
}

/* The same of two values at once. */
CURVE_FN void curve_sum2(uint32_t values[2], uint32_t *scratch)
{
    (void)values;
    (void)scratch;
}

/* The sum of the `width` values, a power of two up to 16, among which number i is. */
CURVE_FN uint32_t curve_cell(const uint32_t *values, int i, int width)
{
    uint32_t sum = 0;
    for (int k = i & -width; k < (i & -width) + width; k++)
        sum += values[k];
    return sum;
}

/* Whether the condition holds in any thread. */
CURVE_FN uint32_t curve_any(uint32_t condition)
{
    return condition;
}

/* The greatest of every thread's value, in every thread; scratch as of curve_sum(). */
CURVE_FN uint32_t curve_max(uint32_t value, uint32_t *scratch)
{
    (void)scratch;
    return value;
}

/* What was written before it is seen by all threads after it. */
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

/* Of what is called from many places: on a GPU the code of a curve is longer than a multiprocessor
 * keeps, and comes from memory each time where pictures go through its cache. */
#ifndef CURVE_CALL
#define CURVE_CALL CURVE_FN
#endif

CURVE_FN uint32_t curve_lerp(uint32_t from, uint32_t to, uint32_t weight)
{
    const int64_t step = (int64_t)weight * ((int64_t)to - from);
    return (uint32_t)(from + ((step + (CURVE_ONE / 2)) >> 16));
}

/*
 * n / d, rounded down, for quotients below 2^32 and n below 2^63. A GPU has no 64-bit division but
 * a long routine; this estimates twice in float32. A factor just below 1 outweighs every rounding,
 * so that an estimate is never too large: the first is at most 2^-19 of itself too small, the
 * second at most 1, which the last step makes good. CURVE_INVERSE() may be wrong by 2^-23.
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
 * with which the product is too large by less than 1. */
CURVE_FN uint32_t curve_share(uint32_t x, uint32_t n, uint32_t reciprocal)
{
    const uint32_t q = (uint32_t)((uint64_t)x * reciprocal >> 32);
    return q - (q * n > x);
}

/* Bins of a cell: of what 8 bits would hold as one code. */
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

/* How many bins are in range. */
CURVE_FN uint32_t curve_range(const CurveParams *p)
{
    return (uint32_t)(curve_white(p) - curve_black(p) + 1);
}

#endif
