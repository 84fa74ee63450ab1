/*
 * Histogram -> tone curve -> lookup table: the arithmetic of every backend, in one definition.
 *
 * The common subset of C and CUDA, in integers, so that all backends give the same bits. It is
 * written for a group of threads that share the work: CURVE_EACH hands out the bins, always the
 * same ones to the same thread; curve_sum(), curve_any() and curve_scan() are collective, and what
 * was written before them is seen by all threads after them. On the CPU the group is one thread. A
 * .cu file defines what is under CURVE_FN below for a thread block before it includes this header.
 *
 * Q16 is fixed point with 16 fraction bits. Right shifts of negative numbers are arithmetic with
 * every compiler this builds with.
 */
#ifndef LUMEQ_CURVE_H
#define LUMEQ_CURVE_H

#include <math.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

#define CURVE_ONE 65536u /* 1.0 in Q16 */

/* Rounds of "cut what is over the limit, spread it evenly": each leaves a fraction of the excess of
 * the one before, so that after a few what is left moves no code. */
#define CURVE_CLIP_ROUNDS 4

/* Distance between the CDFs of two frames, as a share of the range, from which a change is treated
 * as ever more of a cut, and from which it is one: 4 % is a jump of the mean by 9 codes, which no
 * fade makes within one frame; 12 % is 26 codes. */
#define CURVE_CUT_LOW (CURVE_ONE * 4 / 100)
#define CURVE_CUT_HIGH (CURVE_ONE * 12 / 100)

/* Everything the curve depends on besides the histogram and the state. */
typedef struct CurveParams {
    int32_t bins;
    int32_t black, white; /* codes */
    uint32_t clip;        /* Q16 multiples of the mean bin, 0 = none */
    uint32_t alpha;       /* Q16 share of the target taken by this frame's curve, 1..CURVE_ONE */
    uint32_t strength;    /* Q16 */
    int32_t scene_cut;
    int32_t reference;
} CurveParams;

/* The history, all of it: what frame n+1 needs from frame n. Zero is an empty one. */
typedef struct CurveState {
    uint32_t valid;
    uint32_t smooth[LUMEQ_MAX_BINS]; /* Q16 codes: the smoothed curve before strength */
    uint32_t cdf[LUMEQ_MAX_BINS];    /* Q16 of the last frame that had anything in range */
} CurveState;

typedef struct CurveResult {
    CurveState state; /* after the frame */
    uint32_t hist[LUMEQ_MAX_BINS];
    uint32_t curve[LUMEQ_MAX_BINS]; /* Q16 codes, strength applied */
    uint32_t scene_cut;
} CurveResult;

/* Working memory of one group. */
typedef struct CurveWork {
    uint32_t hist[LUMEQ_MAX_BINS]; /* counts in range, then clipped */
    uint32_t cum[LUMEQ_MAX_BINS];
    uint32_t scratch[3][32]; /* two for sums, by turns, one for scans */
} CurveWork;

#ifndef CURVE_FN
#define CURVE_FN static inline
#define CURVE_EACH(i, n) for (int i = 0; i < (n); i++)
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
 * n / d, rounded down, for quotients below 2^31 and n below 2^63. A GPU has no 64-bit division but
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

/* The most that may be in a bin. */
CURVE_FN uint32_t curve_limit(const CurveParams *p, uint32_t counted)
{
    const uint32_t n = (uint32_t)(p->white - p->black + 1);
    if (!p->clip || p->clip >> 16 >= n)
        return counted;
    return curve_divide((uint64_t)counted * p->clip >> 16, n);
}

/* Cuts each bin in range to the limit and spreads the excess over all of them; the remainder of the
 * division goes one count each to bins at even distances. */
CURVE_FN void curve_clip(const CurveParams *p, uint32_t limit, uint32_t reciprocal, CurveWork *w)
{
    const uint32_t n = (uint32_t)(p->white - p->black + 1);

    CURVE_ROLLED
    for (int round = 0; round < CURVE_CLIP_ROUNDS; round++) {
        uint32_t over = 0;
        CURVE_EACH (i, p->bins) {
            if (w->hist[i] > limit) {
                over += w->hist[i] - limit;
                w->hist[i] = limit;
            }
        }
        const uint32_t excess = curve_sum(over, w->scratch[round % 2]);
        if (!excess)
            break;
        const uint32_t share = curve_share(excess, n, reciprocal), rest = excess - share * n;
        CURVE_EACH (i, p->bins) {
            if (i >= p->black && i <= p->white) {
                const uint32_t k = (uint32_t)(i - p->black);
                w->hist[i] += share + curve_share((k + 1) * rest, n, reciprocal) -
                              curve_share(k * rest, n, reciprocal);
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

/* Takes the frame's CDF into the state and answers its distance from the one before: the mean over
 * the range of |difference|, in Q16. 0 where either has nothing in range. */
CURVE_FN uint32_t curve_distance(const CurveParams *p, uint32_t counted, uint32_t reciprocal,
                                 CurveWork *w, const CurveState *before, CurveState *after)
{
    uint32_t difference = 0;
    CURVE_EACH (i, p->bins) {
        const uint32_t old = before->cdf[i];
        uint32_t cdf = old;
        if (counted) {
            cdf = curve_divide((uint64_t)w->cum[i] << 16, counted);
            if (i >= p->black && i <= p->white)
                difference += cdf > old ? cdf - old : old - cdf;
        }
        after->cdf[i] = cdf;
    }
    difference = curve_sum(difference, w->scratch[1]);
    difference = curve_share(difference, (uint32_t)(p->white - p->black + 1), reciprocal);
    return before->valid && before->cdf[p->bins - 1] ? difference : 0;
}

/* lumeq's curve for video. */
CURVE_FN void curve_video(const CurveParams *p, const uint32_t *hist, const CurveState *before,
                          CurveState *after, uint32_t *curve, uint32_t *scene_cut, CurveWork *w)
{
    const uint32_t reciprocal = UINT32_MAX / (uint32_t)(p->white - p->black + 1) + 1;
    CURVE_EACH (i, p->bins) {
        w->hist[i] = i >= p->black && i <= p->white ? hist[i] : 0;
        w->cum[i] = w->hist[i];
    }
    curve_scan(w->cum, p->bins, w->scratch[2]);
    const uint32_t counted = w->cum[p->bins - 1];
    const uint32_t limit = curve_limit(p, counted);

    uint32_t full = 0;
    CURVE_EACH (i, p->bins)
        full |= w->hist[i] == counted;
    /* Nothing counted, or all in one bin; or a limit that only evenly filled bins keep to, the
     * curve of which is the identity. */
    const uint32_t flat = curve_any(full) || p->clip == CURVE_ONE;

    const uint32_t valid = before->valid;
    const uint32_t distance = curve_distance(p, counted, reciprocal, w, before, after);
    const uint32_t alpha = valid ? curve_cut_alpha(p, distance) : CURVE_ONE;

    if (limit < counted && !flat) {
        curve_clip(p, limit, reciprocal, w);
        CURVE_EACH (i, p->bins)
            w->cum[i] = w->hist[i];
        curve_scan(w->cum, p->bins, w->scratch[2]);
    }
    /* Spreading keeps the total; all in the first bin leaves no divisor, and is flat. */
    const uint32_t first = w->cum[p->black];
    const uint32_t divisor = flat ? 1 : counted - first;
    const uint64_t scale = (uint64_t)(p->white - p->black) << 16;

    CURVE_EACH (i, p->bins) {
        const uint32_t identity = (uint32_t)i << 16;
        const int in_range = i >= p->black && i <= p->white;
        uint32_t target = identity;
        if (!flat && in_range)
            target =
                ((uint32_t)p->black << 16) + curve_divide(scale * (w->cum[i] - first), divisor);
        const uint32_t smooth =
            valid && in_range ? curve_lerp(before->smooth[i], target, alpha) : target;
        after->smooth[i] = smooth;
        curve[i] = curve_lerp(identity, smooth, p->strength);
    }
    CURVE_EACH (i, 1) {
        after->valid = 1;
        *scene_cut = valid && p->scene_cut && distance >= CURVE_CUT_HIGH;
    }
}

/*
 * OpenCV's equalizeHist: cumulative sum from the bin after the first non-empty one, times a float32
 * factor, rounded half to even. Needs a build without fused multiply-add.
 * Source: OpenCV 4.x, modules/imgproc/src/histogram.cpp, EqualizeHistLut.
 */
CURVE_FN void curve_reference(const CurveParams *p, const uint32_t *hist, uint32_t *curve,
                              CurveWork *w)
{
    CURVE_EACH (i, p->bins)
        w->cum[i] = hist[i];
    curve_scan(w->cum, p->bins, w->scratch[2]);
    const uint32_t total = w->cum[p->bins - 1];
    uint32_t empty = 0;
    CURVE_EACH (i, p->bins)
        empty += w->cum[i] == 0;
    const uint32_t first = curve_sum(empty, w->scratch[0]);
    const uint32_t base = hist[first];
    const float scale = 255.0f / (float)(base == total ? 1 : total - base);

    CURVE_EACH (i, p->bins) {
        uint32_t code = base == total ? first : 0;
        if (base != total && (uint32_t)i > first) {
            const float value = rintf((float)(int32_t)(w->cum[i] - base) * scale);
            code = value >= 255.0f ? 255 : (uint32_t)value;
        }
        curve[i] = code << 16;
    }
}

/* The frame's curve, table and history from its histogram. `before` and `result->state` are two
 * states; `hist` and `result->hist` may be the same. */
CURVE_FN void curve_compute(const CurveParams *p, const uint32_t *hist, const CurveState *before,
                            CurveResult *result, uint8_t *table, CurveWork *w)
{
    if (p->reference) {
        curve_reference(p, hist, result->curve, w);
        CURVE_EACH (i, p->bins) {
            result->state.smooth[i] = before->smooth[i];
            result->state.cdf[i] = before->cdf[i];
        }
        CURVE_EACH (i, 1) {
            result->state.valid = before->valid;
            result->scene_cut = 0;
        }
    } else {
        curve_video(p, hist, before, &result->state, result->curve, &result->scene_cut, w);
    }
    CURVE_EACH (i, p->bins) {
        result->hist[i] = hist[i];
        table[i] = (uint8_t)((result->curve[i] + CURVE_ONE / 2) >> 16);
    }
}

#endif
