/*
 * Histogram -> tone curve -> lookup table: the arithmetic of every backend, in one definition.
 *
 * The common subset of C and CUDA, in integers, so that all backends give the same bits. It is
 * written for a group of threads that share the work: CURVE_EACH hands out the bins, always the
 * same ones to the same thread; curve_sum(), curve_any() and curve_scan() are collective, and what
 * was written before them is seen by all threads after them. `was` and `now` are the results' bins
 * before and after the frame, of which a thread has its own: CURVE_OWN is that of the number handed
 * out. On the CPU the group is one thread. A .cu file defines what is under CURVE_FN below for a
 * thread block before it includes this header.
 *
 * Q16 is fixed point with 16 fraction bits. Right shifts of negative numbers are arithmetic with
 * every compiler this builds with.
 */
#ifndef LUMEQ_CURVE_H
#define LUMEQ_CURVE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

/* Bins that the arrays have room for. A .cu file that knows of fewer defines how many: in what it
 * shares with others the arrays come last. */
#ifndef CURVE_BINS
#define CURVE_BINS LUMEQ_MAX_BINS
#endif

#define CURVE_ONE 65536u /* 1.0 in Q16 */

/* Fraction bits of the codes between which a table is interpolated: with the 16 of the deepest code
 * and the 4 of a place between two bins they fit in 32. */
#define CURVE_NODE_BITS 8

/* Rounds of "cut what is over the limit, spread it evenly": each leaves a fraction of the excess of
 * the one before, so that after a few what is left moves no code. */
#define CURVE_CLIP_ROUNDS 4

/* Distance between the CDFs of two frames, as a share of the range, from which a change is treated
 * as ever more of a cut, and from which it is one: 4 % is a jump of the mean by 9 codes, which no
 * fade makes within one frame; 12 % is 26 codes. */
#define CURVE_CUT_LOW (CURVE_ONE * 4 / 100)
#define CURVE_CUT_HIGH (CURVE_ONE * 12 / 100)

/* Everything the curve depends on besides the histogram and the history. */
typedef struct CurveParams {
    int32_t depth, shift; /* of the samples, as in LumeqImage */
    int32_t bins;
    int32_t fraction;     /* a bin counts 2^fraction codes */
    int32_t black, white; /* codes */
    uint32_t clip;        /* Q16 multiples of the mean bin, 0 = none */
    uint32_t alpha;       /* Q16 share of the target taken by this frame's curve, 1..CURVE_ONE */
    uint32_t strength;    /* Q16 */
    int32_t scene_cut;
    int32_t reference; /* only with 8 bits */
} CurveParams;

/* A group's thread moves one at once. */
typedef struct __attribute__((aligned(16))) CurveBin {
    uint32_t smooth; /* Q16 codes: the smoothed curve before strength */
    uint32_t cdf;    /* Q16 of the last frame that had anything in range */
    uint32_t hist;
    uint32_t curve; /* Q16 codes: that of the bin's first code, strength applied */
} CurveBin;

/*
 * What a frame leaves behind: the history, all of it, that the next one starts from, and what is
 * reported of this one. Zero is an empty history. What lies behind the first `bins` is undefined.
 */
typedef struct CurveResult {
    uint32_t bins;
    uint32_t depth; /* that the history is of; 0: there is none */
    uint32_t scene_cut;
    CurveBin bin[CURVE_BINS];
} CurveResult;

/* What the samples are looked up in. */
typedef union __attribute__((aligned(16))) CurveTable {
    uint8_t codes8[256];            /* of 8 bits: the output sample of each code */
    uint16_t codes16[CURVE_BINS];   /* up to 12 bits: the same, shifted as samples are */
    uint32_t nodes[CURVE_BINS + 1]; /* deeper: for curve_between(); ends with the code after all */
} CurveTable;

/* Working memory of one group. */
typedef struct CurveWork {
    uint32_t hist[CURVE_BINS]; /* counts in range, then clipped */
    uint32_t cum[CURVE_BINS];
    uint32_t sums[2][32]; /* for curve_sum(), by turns */
    uint32_t scan[128];
} CurveWork;

/* What needs no group is also called where there is none. */
#ifdef __CUDACC__
#define CURVE_ALONE static inline __host__ __device__
#else
#define CURVE_ALONE static inline
#endif

/* An entry of CurveTable.nodes. */
CURVE_ALONE uint32_t curve_node(uint32_t curve)
{
    return (curve + (1u << (15 - CURVE_NODE_BITS))) >> (16 - CURVE_NODE_BITS);
}

/* Where a bin counts several codes: the output code of number `part` of the 2^fraction, on a line
 * from the bin's node to the next one. What rounds to the code after all is `last`, the last one.
 */
CURVE_ALONE uint32_t curve_between(uint32_t node, uint32_t next, uint32_t part, int fraction,
                                   uint32_t last)
{
    const int bits = CURVE_NODE_BITS + fraction;
    const uint32_t value = (node << fraction) + (next - node) * part;
    const uint32_t code = (value + (1u << (bits - 1))) >> bits;
    return code < last ? code : last;
}

#ifndef CURVE_FN
#define CURVE_FN static inline
#define CURVE_EACH(i, n) for (int i = 0; i < (n); i++)
#define CURVE_OWN(bins, i) ((bins)[i])
#define CURVE_ROLLED

/* The sum of every thread's value, in every thread. Two in a row need scratch of their own. */
CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
    (void)scratch;
    return value;
}

/* Whether the condition holds in any thread. */
CURVE_FN uint32_t curve_any(uint32_t condition)
{
    return condition;
}

/* Inclusive prefix sum, in place. */
CURVE_FN void curve_scan(uint32_t *values, int n, uint32_t *scratch)
{
    (void)scratch;
    for (int i = 1; i < n; i++)
        values[i] += values[i - 1];
}
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
 * second at most 1, which the last step makes good.
 */
CURVE_FN uint32_t curve_divide(uint64_t n, uint32_t d)
{
    const float inverse = (1 - 0x1p-20f) / (float)d;
    uint32_t q = (uint32_t)((float)(int64_t)n * inverse);
    q += (uint32_t)((float)(int64_t)(n - (uint64_t)q * d) * inverse);
    return q + (n - (uint64_t)q * d >= d);
}

/* x / n, rounded down, for x below 2^31 and n from 2 to 2^16. `reciprocal` is 2^32 / n rounded up,
 * with which the product is too large by less than 1. */
CURVE_FN uint32_t curve_share(uint32_t x, uint32_t n, uint32_t reciprocal)
{
    const uint32_t q = (uint32_t)((uint64_t)x * reciprocal >> 32);
    return q - (q * n > x);
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

/* The most that may be in a bin. */
CURVE_FN uint32_t curve_limit(const CurveParams *p, uint32_t counted)
{
    const uint32_t n = curve_range(p);
    if (!p->clip || p->clip >> 16 >= n)
        return counted;
    return curve_divide((uint64_t)counted * p->clip >> 16, n);
}

/* Cuts each bin in range to the limit and spreads the excess over all of them; the remainder of the
 * division goes one count each to bins at even distances. */
CURVE_FN void curve_clip(const CurveParams *p, uint32_t limit, uint32_t reciprocal, CurveWork *w)
{
    const uint32_t n = curve_range(p);
    const int black = curve_black(p), white = curve_white(p);

    CURVE_ROLLED
    for (int round = 0; round < CURVE_CLIP_ROUNDS; round++) {
        uint32_t over = 0;
        CURVE_EACH (i, p->bins) {
            if (w->hist[i] > limit) {
                over += w->hist[i] - limit;
                w->hist[i] = limit;
            }
        }
        const uint32_t excess = curve_sum(over, w->sums[round % 2]);
        if (!excess)
            break;
        const uint32_t share = curve_share(excess, n, reciprocal), rest = excess - share * n;
        CURVE_EACH (i, p->bins) {
            if (i >= black && i <= white) {
                const uint32_t k = (uint32_t)(i - black);
                const uint32_t before = curve_share(k * rest, n, reciprocal);
                w->hist[i] += share + (k * rest - before * n + rest >= n);
            }
        }
    }
}

/* How much of the new curve this frame takes: alpha, rising smoothly to 1 over a scene cut. */
CURVE_FN uint32_t curve_cut_alpha(const CurveParams *p, uint32_t distance)
{
    if (!p->scene_cut || distance <= CURVE_CUT_LOW)
        return p->alpha;
    if (distance >= CURVE_CUT_HIGH)
        return CURVE_ONE;
    const uint64_t t = ((distance - CURVE_CUT_LOW) << 16) / (CURVE_CUT_HIGH - CURVE_CUT_LOW);
    const uint64_t rise = (t * t >> 16) * (3 * CURVE_ONE - 2 * t) >> 16;
    return curve_lerp(p->alpha, CURVE_ONE, (uint32_t)rise);
}

/* Takes the frame's CDF into the history and answers its distance from the one before: the mean
 * over the range of |difference|, in Q16. 0 where either has nothing in range. */
CURVE_FN uint32_t curve_distance(const CurveParams *p, uint32_t counted, uint32_t reciprocal,
                                 CurveWork *w, const CurveResult *before, const CurveBin *was,
                                 CurveBin *now)
{
    const int black = curve_black(p), white = curve_white(p);
    const int seen = before && before->bin[p->bins - 1].cdf;
    uint32_t difference = 0;
    CURVE_EACH (i, p->bins) {
        const uint32_t old = before ? CURVE_OWN(was, i).cdf : 0;
        uint32_t cdf = old;
        if (counted) {
            cdf = curve_divide((uint64_t)w->cum[i] << 16, counted);
            if (i >= black && i <= white)
                difference += cdf > old ? cdf - old : old - cdf;
        }
        CURVE_OWN(now, i).cdf = cdf;
    }
    difference = curve_sum(difference, w->sums[1]);
    return seen ? curve_share(difference, curve_range(p), reciprocal) : 0;
}

/* The target's curve from the sums in w->cum, smoothed and weakened. `flat`: it is the identity. */
CURVE_FN void curve_target(const CurveParams *p, uint32_t counted, uint32_t flat, uint32_t alpha,
                           const CurveBin *was, CurveBin *now, const CurveWork *w)
{
    /* Spreading keeps the total; all in the first bin leaves no divisor, and is flat. */
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t first = w->cum[black];
    const uint32_t divisor = flat ? 1 : counted - first;
    const uint64_t scale = (uint64_t)(p->white - p->black) << 16;

    CURVE_EACH (i, p->bins) {
        const uint32_t identity = (uint32_t)i << (16 + p->fraction);
        const int in_range = i >= black && i <= white;
        uint32_t target = identity;
        if (!flat && in_range)
            target =
                ((uint32_t)p->black << 16) + curve_divide(scale * (w->cum[i] - first), divisor);
        uint32_t smooth = target;
        if (alpha < CURVE_ONE && in_range)
            smooth = curve_lerp(CURVE_OWN(was, i).smooth, target, alpha);
        CURVE_OWN(now, i).smooth = smooth;
        CURVE_OWN(now, i).curve = curve_lerp(identity, smooth, p->strength);
    }
}

/* lumeq's curve for video. `before` is NULL where there is no history. */
CURVE_FN void curve_video(const CurveParams *p, const CurveResult *before, const CurveBin *was,
                          CurveResult *result, CurveBin *now, CurveWork *w)
{
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t reciprocal = UINT32_MAX / curve_range(p) + 1;
    CURVE_EACH (i, p->bins) {
        w->hist[i] = i >= black && i <= white ? CURVE_OWN(now, i).hist : 0;
        w->cum[i] = w->hist[i];
    }
    curve_scan(w->cum, p->bins, w->scan);
    const uint32_t counted = w->cum[p->bins - 1];
    const uint32_t limit = curve_limit(p, counted);

    uint32_t full = 0;
    CURVE_EACH (i, p->bins)
        full |= w->hist[i] == counted;
    /* Nothing counted, or all in one bin; or a limit that only evenly filled bins keep to, the
     * curve of which is the identity. */
    const uint32_t flat = curve_any(full) || p->clip == CURVE_ONE;

    const uint32_t distance = curve_distance(p, counted, reciprocal, w, before, was, now);
    const uint32_t alpha = before ? curve_cut_alpha(p, distance) : CURVE_ONE;

    if (limit < counted && !flat) {
        curve_clip(p, limit, reciprocal, w);
        CURVE_EACH (i, p->bins)
            w->cum[i] = w->hist[i];
        curve_scan(w->cum, p->bins, w->scan);
    }
    curve_target(p, counted, flat, alpha, was, now, w);
    CURVE_EACH (i, 1) {
        result->depth = (uint32_t)p->depth;
        result->scene_cut = before && p->scene_cut && distance >= CURVE_CUT_HIGH;
    }
}

/*
 * OpenCV's equalizeHist: cumulative sum from the bin after the first non-empty one, times a float32
 * factor, rounded half to even. Needs a build without fused multiply-add.
 * Source: OpenCV 4.x, modules/imgproc/src/histogram.cpp, EqualizeHistLut.
 */
CURVE_FN void curve_reference(const CurveParams *p, CurveBin *now, CurveWork *w)
{
    CURVE_EACH (i, p->bins)
        w->cum[i] = CURVE_OWN(now, i).hist;
    curve_scan(w->cum, p->bins, w->scan);
    const uint32_t total = w->cum[p->bins - 1];
    uint32_t empty = 0;
    CURVE_EACH (i, p->bins)
        empty += w->cum[i] == 0;
    const uint32_t first = curve_sum(empty, w->sums[0]);
    const uint32_t base = w->cum[first];
    const float scale = 255.0f / (float)(base == total ? 1 : total - base);

    CURVE_EACH (i, p->bins) {
        uint32_t code = base == total ? first : 0;
        if (base != total && (uint32_t)i > first) {
            const float value = rintf((float)(int32_t)(w->cum[i] - base) * scale);
            code = value >= 255.0f ? 255 : (uint32_t)value;
        }
        CURVE_OWN(now, i).curve = code << 16;
    }
}

/* The history passes such a frame by. */
CURVE_FN void curve_keep_history(const CurveParams *p, const CurveResult *before,
                                 const CurveBin *was, CurveResult *result, CurveBin *now)
{
    CURVE_EACH (i, p->bins) {
        CURVE_OWN(now, i).smooth = before ? CURVE_OWN(was, i).smooth : 0;
        CURVE_OWN(now, i).cdf = before ? CURVE_OWN(was, i).cdf : 0;
    }
    CURVE_EACH (i, 1) {
        result->depth = before ? (uint32_t)p->depth : 0;
        result->scene_cut = 0;
    }
}

CURVE_FN void curve_fill_table(const CurveParams *p, const CurveBin *now, CurveTable *table)
{
    CURVE_EACH (i, p->bins) {
        const uint32_t curve = CURVE_OWN(now, i).curve, code = (curve + CURVE_ONE / 2) >> 16;
        if (p->depth == 8)
            table->codes8[i] = (uint8_t)code;
        else if (!p->fraction)
            table->codes16[i] = (uint16_t)(code << p->shift);
        else
            table->nodes[i] = curve_node(curve);
    }
    if (p->fraction) {
        CURVE_EACH (i, 1)
            table->nodes[p->bins] = 1u << (p->depth + CURVE_NODE_BITS);
    }
}

/* The frame's curve, table and history from its histogram, which is in `now`. A history of another
 * depth is none. */
CURVE_FN void curve_compute(const CurveParams *p, const CurveResult *before, const CurveBin *was,
                            CurveResult *result, CurveBin *now, CurveTable *table, CurveWork *w)
{
    if (before->depth != (uint32_t)p->depth)
        before = NULL;
    if (p->reference) {
        curve_reference(p, now, w);
        curve_keep_history(p, before, was, result, now);
    } else {
        curve_video(p, before, was, result, now, w);
    }
    CURVE_EACH (i, 1)
        result->bins = (uint32_t)p->bins;
    curve_fill_table(p, now, table);
}

#endif
