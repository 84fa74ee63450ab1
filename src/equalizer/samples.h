/* Integer arithmetic of single samples of luma and chroma, for C and CUDA. */
#ifndef LUMEQ_SAMPLES_H
#define LUMEQ_SAMPLES_H

#include <stdint.h>

#ifdef __CUDACC__
#define CURVE_INLINE static inline __host__ __device__
#else
#define CURVE_INLINE static inline
#endif

/* Fraction bits of table nodes. Together with the 16 bits of the deepest code and the 4 bits of a
 * position between two bins, they fit in 32 bits. */
#define CURVE_NODE_BITS 8

#define CURVE_GAIN_ONE 4096u /* 1.0 of a chroma gain */

/* Chroma takes GAIN_SHARE of luma's gain above 1 and LOSS_SHARE of luma's gain below 1. GAIN_MOST
 * limits its gain. In SDR, LOSS_SHARE is smaller, because darkening mostly removes haze and so
 * brings out colours. HDR uses GAIN_SHARE for both: a smaller share would shift hues. */
#define CURVE_GAIN_SHARE (CURVE_GAIN_ONE * 3 / 4)
#define CURVE_LOSS_SHARE (CURVE_GAIN_ONE / 4)
#define CURVE_GAIN_MOST (CURVE_GAIN_ONE * 9 / 5)

/* A colour at the edge of R'G'B' keeps at least this share of its chroma. */
#define CURVE_GAIN_KEPT (CURVE_GAIN_ONE * 7 / 8)

/* Luma above black, in 8-bit codes. Up to DARK, chroma is mostly noise and stays unchanged; from
 * LIGHT on, chroma takes its whole share. */
#define CURVE_GAIN_DARK 6
#define CURVE_GAIN_LIGHT 32

typedef struct CurveGainRule {
    int32_t dark, light; /* CURVE_GAIN_DARK and CURVE_GAIN_LIGHT in 256ths of codes */
    int32_t share, loss; /* shares of luma's gain above and below 1 */
    int32_t far;         /* maximum ratio of luma to use */
    uint32_t most;       /* maximum gain of chroma */
} CurveGainRule;

/* An entry of CurveTable.nodes from an output code, Q16. */
CURVE_INLINE uint32_t curve_node(uint32_t curve)
{
    return (curve + (1u << (15 - CURVE_NODE_BITS))) >> (16 - CURVE_NODE_BITS);
}

/* Half a code with 8 fraction bits: adding it before truncation rounds the code. */
#define CURVE_ROUND 128u

/* The dither to add instead of CURVE_ROUND: one of 64 thresholds in the order of Bayer's 8x8
 * matrix. Each frame advances the thresholds by 25, about 64 / (golden ratio)^2. So the thresholds
 * of a sample are spread evenly over time. */
CURVE_INLINE uint32_t curve_dither(uint32_t x, uint32_t y, uint32_t frame)
{
    const uint32_t a = x ^ y;
    const uint32_t order =
        (a & 1) << 5 | (y & 1) << 4 | (a & 2) << 2 | (y & 2) << 1 | (a & 4) >> 1 | (y & 4) >> 2;
    return ((order + 25 * frame) & 63) * 4 + 2;
}

/* Interpolates the output of code number `part` of a bin's 2^fraction codes, between `node`, the
 * bin's node, and `next`. `last`: the last code; `add`: CURVE_ROUND or curve_dither(). */
CURVE_INLINE uint32_t curve_between(uint32_t node, uint32_t next, uint32_t part, int fraction,
                                    uint32_t add, uint32_t last)
{
    const uint32_t value = (node << fraction) + (next - node) * part + (add << fraction);
    const uint32_t code = value >> (CURVE_NODE_BITS + fraction);
    return code < last ? code : last;
}

/* The rule of pictures that are not lifted. */
CURVE_INLINE CurveGainRule curve_gain_rule(int hdr)
{
    const CurveGainRule rule = {
        CURVE_GAIN_DARK << 8, CURVE_GAIN_LIGHT << 8,
        CURVE_GAIN_SHARE,     (int32_t)(hdr ? CURVE_GAIN_SHARE : CURVE_LOSS_SHARE),
        4 * CURVE_GAIN_ONE,   CURVE_GAIN_MOST};
    return rule;
}

/* The gain of chroma if its luma `in` changes by the factor `ratio`; CURVE_GAIN_ONE is 1.0. Luma is
 * counted from black, in 256ths of 8-bit codes. */
CURVE_INLINE uint32_t curve_gain_by(int32_t in, int32_t ratio, CurveGainRule rule)
{
    if (in <= rule.dark)
        return CURVE_GAIN_ONE;
    const int32_t one = (int32_t)CURVE_GAIN_ONE;
    const int32_t more = (ratio < rule.far ? ratio : rule.far) - one;
    int32_t taken = more * (more > 0 ? rule.share : rule.loss) / one;
    if (in < rule.light)
        taken = taken * (in - rule.dark) / (rule.light - rule.dark);
    const uint32_t gain = (uint32_t)(one + taken);
    return gain < rule.most ? gain : rule.most;
}

/* As curve_gain_by(), for luma that changes from `in` to `out`. */
CURVE_INLINE uint32_t curve_gain(int32_t in, int32_t out, CurveGainRule rule)
{
    if (in <= rule.dark)
        return CURVE_GAIN_ONE;
    const int32_t ratio = out > 0 ? (int32_t)(((uint32_t)out << 12) / (uint32_t)in) : 0;
    return curve_gain_by(in, ratio, rule);
}

/* gain: of chroma. from, to: luma above black, before and after, in 256ths of 8-bit codes. free:
 * curve_free() at the depth of the chroma; 0: not computed. */
typedef struct __attribute__((aligned(8))) CurveGain {
    uint16_t gain, from, to, free;
} CurveGain;

/* low, high: the lowest and highest legal chroma codes; middle: gray; range: the length of luma's
 * range in 256ths of 8-bit codes. */
typedef struct CurveLegal {
    int32_t low, middle, high;
    uint32_t range;
} CurveLegal;

CURVE_INLINE CurveLegal curve_legal(int depth, int limited)
{
    const int32_t middle = 1 << (depth - 1), reach = 112 << (depth - 8);
    CurveLegal legal = {0, middle, 2 * middle - 1, 255 << 8};
    if (limited) {
        legal.low = middle - reach;
        legal.high = middle + reach;
        legal.range = 219 << 8;
    }
    return legal;
}

/* Limits chroma's gain where luma rises, so that the component `chroma`, relative to gray, does not
 * drive B' or R' out of range. The limit is at least CURVE_GAIN_KEPT. B' differs from luma by about
 * 15/8 of Cb, R' by a smaller multiple of Cr. A colour that is already out of range counts as at
 * the edge. `from` and `to`: luma before and after. */
CURVE_INLINE uint32_t curve_within(uint32_t gain, int32_t chroma, uint32_t from, uint32_t to,
                                   uint32_t range)
{
    const uint32_t reach = 15 * (uint32_t)(chroma < 0 ? -chroma : chroma); /* in eighths */
    const uint32_t room = 8 * (chroma > 0 ? range - from : from);
    const uint32_t most = (chroma > 0 ? range - to : to) << 15; /* times CURVE_GAIN_ONE */
    const uint32_t used = reach < room ? reach : room;
    if ((uint64_t)used * gain <= most)
        return gain;
    const uint32_t end = most / used;
    return end > CURVE_GAIN_KEPT ? end : CURVE_GAIN_KEPT;
}

/* Limits how much lighter a colour gets, so that the share CURVE_GAIN_KEPT of the colour stays in
 * range: a blue that gets lighter stays blue. The limit sets in gradually. `from`, `to`: luma above
 * black, before and after; `far`: how far the larger chroma component is above gray. All are in
 * 256ths of 8-bit codes. */
CURVE_INLINE uint32_t curve_bounded(uint32_t from, uint32_t to, uint32_t far, uint32_t range)
{
    const uint32_t reach = 15 * far / 8, kept = reach - reach / 8, soft = reach / 2;
    if (to <= from || from >= range || to + kept + soft <= range)
        return to;
    const uint32_t room = range - from > kept ? range - from - kept : 0;
    const uint32_t width = soft < room ? soft : room;
    /* Some backends divide in float32, in which the square is exact in 16ths of codes of 8 bits. */
    const uint32_t part = width / 16, beyond = (to - from - (room - width)) / 16 + part;
    const uint32_t bounded = from + room - (beyond ? 16 * (part * part / beyond) : 0);
    return bounded < to ? bounded : to;
}

/* Like curve_bounded(), but `in`, `out` and `chroma`, the larger component, have `depth` bits. */
CURVE_INLINE uint32_t curve_bounded_code(uint32_t in, uint32_t out, uint32_t chroma, int depth,
                                         uint32_t black, uint32_t range)
{
    const uint32_t gray = 1u << (depth - 1);
    const int up = 16 - depth;
    if (chroma <= gray || out <= in || in << up <= black)
        return out;
    const uint32_t bounded =
        curve_bounded((in << up) - black, (out << up) - black, (chroma - gray) << up, range);
    return (black + bounded + (1u << up >> 1)) >> up;
}

/* True if luma rises by at least two 8-bit codes; a smaller rise loses no colour. */
CURVE_INLINE int curve_is_raised(CurveGain over)
{
    return over.to >= over.from + 2 * 256;
}

/* The distance from gray, in codes of `depth` bits, up to which curve_within() does not limit the
 * gain; UINT16_MAX: unlimited. */
CURVE_INLINE uint16_t curve_free(CurveGain over, int depth, uint32_t range)
{
    const uint32_t to = over.to < range ? over.to : range;
    uint32_t free = UINT16_MAX; /* in 256ths of codes of 8 bits */
    if (over.gain <= CURVE_GAIN_ONE || over.from > range)
        return UINT16_MAX;
    for (int side = 0; side < 2; side++) {
        const uint32_t room = 8 * (side ? range - over.from : over.from);
        const uint32_t most = (side ? range - to : to) << 15;
        const uint32_t reach = most / (15 * (uint32_t)over.gain);
        if ((uint64_t)room * over.gain > most && reach < free)
            free = reach;
    }
    return (uint16_t)(free == UINT16_MAX ? free : free >> (16 - depth));
}

/* The common gain of a pixel's two components: scaling both alike keeps the hue. */
CURVE_INLINE uint32_t curve_pixel_gain(CurveGain over, int32_t first, int32_t second, int depth,
                                       const CurveLegal *legal)
{
    first -= legal->middle;
    second -= legal->middle;
    const int32_t one = first < 0 ? -first : first, other = second < 0 ? -second : second;
    if ((one > other ? one : other) <= over.free)
        return over.gain;
    const int32_t unit = 65536 >> depth; /* 256ths of codes of 8 bits in a code */
    const uint32_t range = legal->range, to = over.to < range ? over.to : range;
    if (over.gain <= CURVE_GAIN_ONE || over.from > range)
        return over.gain;
    const uint32_t gain = curve_within(over.gain, first * unit, over.from, to, range);
    return curve_within(gain, second * unit, over.from, to, range);
}

/* A chroma code scaled by a gain. A legal code stays legal; an illegal code does not move further
 * out. `add` as in curve_between(). */
CURVE_INLINE uint32_t curve_chroma(int32_t code, uint32_t gain, uint32_t add,
                                   const CurveLegal *legal)
{
    const int32_t more = (code - legal->middle) * (int32_t)gain + (int32_t)(add << 4);
    const int32_t scaled = legal->middle + (more >> 12);
    const int32_t high = code > legal->high ? code : legal->high;
    const int32_t low = code < legal->low ? code : legal->low;
    return (uint32_t)(scaled > high ? high : scaled < low ? low : scaled);
}

#endif
