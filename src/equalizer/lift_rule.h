/*
 * The lift rule: computes the curve of a picture from its histogram and noise. The model in
 * tests/lift defines it exactly; this code uses its names and gives the same bits. For a group of
 * threads, see curve_types.h.
 *
 * "Codes" are of 8 bits at every depth; places count from black and are Q16 shares of the range.
 */
#ifndef LUMEQ_LIFT_RULE_H
#define LUMEQ_LIFT_RULE_H

#include "equalizer/curve_types.h"
#include "equalizer/light.h"

/* Counts are scaled to a sum of this many bits, so that sums and clipped excess fit 32 bits. */
#define LIFT_BITS 28

/* Maximum slope, and maximum output noise in 64ths of a code: NOISE_OUT if the noise is filtered,
 * which removes most of it, NOISE_LEFT if not. */
#define LIFT_SLOPE_MOST (13 * CURVE_ONE)
#define LIFT_NOISE_OUT (26u * 64)
#define LIFT_NOISE_LEFT 685u

/* Assumed noise until it is measured, in codes, Q16. */
#define LIFT_NOISE_USUAL (CURVE_ONE * 7 / 10)

/* Highest noise to assume in the first frames of a video, in codes, and the number of such frames:
 * the first has no previous frame, and the second uses the first one's result. */
#define LIFT_NOISE_POSSIBLE 4
#define LIFT_AWAITED 2

/* In the first YOUNG frames of a scene that gets lighter, the lift is taken back at least at this
 * pace. Otherwise a film that begins with a fade keeps the curve of its dark first frame for
 * seconds. */
#define LIFT_YOUNG 30
#define LIFT_YOUNG_PACE (CURVE_ONE / 4)

/* Noise measurements to average before switching to exponential smoothing. */
#define LIFT_NOISE_SEEN 255

#define LIFT_MOST (12 * CURVE_ONE) /* LiftChoice.lift */

/* Additional lift of dark tones over light ones, at most. Up to 3 the curve stays monotone. */
#define LIFT_DARK_MORE (2 * CURVE_ONE)

#define LIFT_PAGE 12       /* codes above black: a page's colour is lighter */
#define LIFT_GLOOM 32      /* codes above black: a night sky's colour is darker */
#define LIFT_SHARE_BITS 30 /* fraction bits of LiftState.share */

#define LIFT_CLIP_ROUNDS 4 /* as in curve.h */

#define LIFT_PERCENT(percent) (CURVE_ONE * (percent) / 100)

/* Target mean of a dark picture, as a share of the range: AIM_VOID if it is mostly void, and
 * AIM_MORE on top otherwise. Void are samples within the noise of black, or in one narrow peak of
 * dark codes: more light only turns them gray. */
#define LIFT_AIM_VOID LIFT_PERCENT(17)
#define LIFT_AIM_MORE LIFT_PERCENT(21)
#define LIFT_VOID_FROM LIFT_PERCENT(45)
#define LIFT_VOID_TO LIFT_PERCENT(65)
#define LIFT_VOID_CODES 4 /* above black, plus LIFT_VOID_NOISE times the noise */
#define LIFT_VOID_NOISE 2

/* The lightest tones of a dark picture stay below this place. */
#define LIFT_LIGHT LIFT_PERCENT(70)

/* A picture is dark if the mean of its darker three quarters is below DARK_FROM, and not dark above
 * DARK_TO. Captions, lamps and the sky do not count. */
#define LIFT_DARK_FROM LIFT_PERCENT(18)
#define LIFT_DARK_TO LIFT_PERCENT(32)

/* A picture is hazy if its darkest percent has at least HAZE_TO of the median's light, and clear
 * below HAZE_FROM. A hazy picture gets contrast like a dull one. A mean above HAZE_MEAN, the usual
 * mean of clear pictures, is lowered to it, by at most HAZE_DARKER. */
#define LIFT_HAZE_FROM LIFT_PERCENT(18)
#define LIFT_HAZE_TO LIFT_PERCENT(30)
#define LIFT_HAZE_MEAN LIFT_PERCENT(48)
#define LIFT_HAZE_DARKER LIFT_PERCENT(25)
#define LIFT_HAZE_NEED LIFT_PERCENT(54) /* minimum share of the equalization */

/* One code. Each thread holds its own, see CURVE_OWN. */
typedef struct LiftCode {
    uint32_t count; /* of samples, scaled */
    uint32_t place; /* its lifted place */
    uint32_t width; /* distance to the next code's place */
    uint32_t limit; /* clip limit; then the clipped count; then the equalized place */
} LiftCode;

typedef struct LiftPicture {
    uint32_t total, last;  /* sum of the counts; white's code minus black's */
    uint32_t inverse;      /* 2^32 / last, rounded up */
    uint32_t mean, darker; /* of all counts; of the darker three quarters */
    uint32_t peak, gloom;  /* maximum of three neighbouring codes: for a page, for a night sky */
    uint32_t voids;        /* void share, Q16 */
    /* Percentiles, as codes; floor: 1 %, middle: 50 %. */
    uint32_t floor, p10, middle, p90, p99, p995;
    uint32_t noise, slope; /* maximum noise, 64ths of a code; the steepest slope that it allows,
                            * Q16 */
    uint32_t page;         /* the picture is a page or a screen, to be left unchanged */
    uint32_t quality;      /* the picture is neither a page nor noise alone */
    uint32_t aim;          /* target mean of a dark picture */
    uint32_t kept;         /* lift of light tones; dark tones are lifted at least as far */
    uint32_t haze;
} LiftPicture;

typedef struct LiftWanted {
    int black, white; /* codes */
    uint32_t noise;   /* 64ths of a code */
    uint32_t denoise; /* share of the noise that is filtered, Q16 */
    uint32_t clip;    /* CurveParams.clip */
    int awaited;      /* the noise is assumed, and a measurement is about to come */
} LiftWanted;

/* Decisions besides the curve, Q16. */
typedef struct LiftChoice {
    uint32_t dark;    /* darkness of the picture, 0..1 */
    uint32_t lift;    /* near black, light grows by 1 + lift */
    uint32_t need;    /* share of the equalization */
    uint32_t lowered; /* this lift is taken back after equalization */
} LiftChoice;

CURVE_FN uint32_t lift_ramp(int32_t x, int32_t from, int32_t to)
{
    return x <= from ? 0
           : x >= to ? CURVE_ONE
                     : ((uint32_t)(x - from) << 16) / (uint32_t)(to - from);
}

CURVE_FN uint32_t lift_times(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b + CURVE_ONE / 2) >> 16);
}

CURVE_FN uint32_t lift_between(uint32_t from, uint32_t to, uint32_t part)
{
    return lift_times(from, CURVE_ONE - part) + lift_times(to, part);
}

CURVE_FN uint32_t lift_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

CURVE_FN uint32_t lift_most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* n / d, saturated to 32 bits. */
CURVE_FN uint32_t lift_ratio(uint64_t n, uint32_t d)
{
    return n >> 32 >= d ? UINT32_MAX : curve_divide(n, d);
}

/* The lift (Q16) that maps tone `from` to tone `to`; 0 if `to` is not lighter. Tones are Q16 of the
 * range from black to white. */
CURVE_FN uint32_t lift_reach(uint32_t from, uint32_t to)
{
    return to > from ? curve_divide((uint64_t)(to - from) << 32, from * (CURVE_ONE - to)) : 0;
}

/* curve_sum() of 48-bit values. */
CURVE_FN uint64_t lift_sum(uint64_t value, uint32_t *scratch)
{
    uint32_t parts[2] = {(uint32_t)value & 0xffff, (uint32_t)(value >> 16)};
    curve_sum2(parts, scratch);
    return ((uint64_t)parts[1] << 16) + parts[0];
}

/* Scales the counts in `code` and leaves their prefix sums in w->cum. Black counts are capped, as
 * they may be undetected bars. Returns the sum; 0 if there are no counts. `share`: black counts per
 * other count, Q16, at most 256. */
CURVE_FN uint32_t lift_scale(LiftCode *code, uint32_t *share, CurveWork *w)
{
    uint32_t sums[2] = {0, 0};
    CURVE_EACH (i, CURVE_CELLS)
        sums[i == 0] += CURVE_OWN(code, i).count;
    curve_sum2(sums, w->sums[0]);
    const uint32_t black = sums[0] && sums[1] > sums[0] >> 8 ? sums[0] >> 8 : sums[1];
    const uint32_t sum = sums[0] + black;
    *share =
        sums[1] >> 8 < sums[0] ? curve_divide((uint64_t)sums[1] << 16, sums[0]) : CURVE_ONE << 8;
    if (!sum)
        return 0;
    int up = 0, down = 0;
    while (sum >> down >> LIFT_BITS)
        down++;
    while (!(sum << up >> (LIFT_BITS - 1)))
        up++;
    CURVE_EACH (i, CURVE_CELLS) {
        const uint32_t count = (i ? CURVE_OWN(code, i).count : black) >> down << up;
        CURVE_OWN(code, i).count = count;
        w->hist[i] = w->cum[i] = count;
    }
    curve_scan(w->cum, CURVE_CELLS, w->scan);
    return w->cum[CURVE_CELLS - 1];
}

/* 1 if the code is below this share of the counts, in thousandths. */
CURVE_FN uint32_t lift_below(uint32_t cdf, uint32_t total, uint32_t share)
{
    return (uint64_t)cdf * 1000 < (uint64_t)total * share;
}

/* The place of an 8-bit code. The inverse is rounded up; the error stays below one unit. */
CURVE_FN uint32_t lift_place(const LiftPicture *v, uint32_t i)
{
    return (uint32_t)((uint64_t)(i << 16) * v->inverse >> 32);
}

/* Computes statistics of the histogram; w->hist has the scaled counts, w->cum their sums. */
CURVE_FN void lift_look(LiftPicture *v, const LiftCode *code, CurveWork *w)
{
    uint64_t sum = 0, darker = 0;
    uint32_t below[2] = {0, 0}, peak = 0, gloom = 0;
    const uint32_t three_quarters = v->total - v->total / 4;
    CURVE_EACH (i, CURVE_CELLS) {
        if (i <= (int)v->last) {
            const uint32_t cdf = w->cum[i], count = CURVE_OWN(code, i).count;
            const uint32_t room = three_quarters - lift_least(cdf - count, three_quarters);
            sum += (uint64_t)count * lift_place(v, (uint32_t)i);
            darker += (uint64_t)lift_least(count, room) * lift_place(v, (uint32_t)i);
            below[0] += lift_below(cdf, v->total, 10) | lift_below(cdf, v->total, 100) << 10 |
                        lift_below(cdf, v->total, 900) << 20;
            below[1] += lift_below(cdf, v->total, 990) | lift_below(cdf, v->total, 995) << 10 |
                        lift_below(cdf, v->total, 500) << 20;
            if (i <= (int)v->last - 2) {
                const uint32_t three = w->hist[i] + w->hist[i + 1] + w->hist[i + 2];
                peak = lift_most(peak, i >= LIFT_PAGE ? three : 0);
                gloom = lift_most(gloom, i < LIFT_GLOOM ? three : 0);
            }
        }
    }
    sum = lift_sum(sum, w->sums[1]);
    curve_sum2(below, w->sums[0]);
    darker = lift_sum(darker, w->sums[1]);
    v->peak = curve_max(peak, w->sums[0]);
    v->gloom = curve_max(gloom, w->sums[1]);
    v->darker = lift_most(LIFT_PERCENT(1) * 2 / 5, curve_quotient(darker, three_quarters));
    v->mean = lift_most(LIFT_PERCENT(1) * 2 / 5, curve_quotient(sum, v->total));
    v->floor = below[0] & 1023;
    v->p10 = below[0] >> 10 & 1023;
    v->p90 = below[0] >> 20;
    v->p99 = below[1] & 1023;
    v->p995 = below[1] >> 10 & 1023;
    v->middle = below[1] >> 20;
}

CURVE_FN uint32_t lift_raised(uint32_t place, uint32_t lift)
{
    return curve_quotient((uint64_t)(CURVE_ONE + lift) * place,
                          CURVE_ONE + (uint32_t)((uint64_t)lift * place >> 16));
}

/* The lifted place of a code. Near black the full lift applies; towards the 99th percentile it
 * blends into the smaller lift of light tones. */
CURVE_FN uint32_t lift_lifted(const LiftPicture *v, uint32_t lift, uint32_t i)
{
    const uint32_t at = i < v->last ? lift_place(v, i) : CURVE_ONE;
    const uint32_t place = lift_raised(at, v->kept), whole = lift_raised(at, lift);
    if (i >= v->p99 || whole <= place)
        return place;
    return place + curve_quotient((whole - place) * (v->p99 - i), v->p99);
}

CURVE_FN uint32_t lift_steepest(const LiftWanted *wanted)
{
    const uint32_t out =
        LIFT_NOISE_LEFT + ((LIFT_NOISE_OUT - LIFT_NOISE_LEFT) * wanted->denoise >> 16);
    return lift_least(LIFT_SLOPE_MOST, curve_divide(out << 16, lift_most(wanted->noise, 1)));
}

/* The square root of a number below 2^30, rounded down. sqrtf() is at most one off, even if root
 * and product are wrong in their last places. */
CURVE_FN uint32_t lift_root(uint32_t square)
{
    uint32_t root = (uint32_t)sqrtf((float)square);
    root -= root * root > square;
    return root + ((root + 1) * (root + 1) <= square);
}

/* Width of the histogram without its noise, 64ths of a code. 99 % of the noise spans 5 deviations,
 * and compressed noise measures less from frame to frame than it spans; below black there is no
 * noise. */
CURVE_FN uint32_t lift_span(const LiftPicture *v)
{
    const uint32_t span = 64 * (v->p995 - v->floor),
                   all = lift_least(6 * v->noise, 5 * v->noise / 2 + 7 * 32);
    const uint32_t half = lift_least(all, span);
    const uint32_t noise = half + lift_least(half, 64 * v->middle);
    const uint32_t square = noise < span ? span * span - noise * noise : 0;
    return lift_root(square);
}

/* How much the picture looks like a page or a screen: much of it has one colour, and the rest is
 * far from it or nearly absent. Fog and asphalt are narrow, but less even. */
CURVE_FN uint32_t lift_page(const LiftPicture *v)
{
    const int32_t even = (int32_t)curve_quotient((uint64_t)v->peak << 16, v->total);
    const uint32_t wide = lift_ramp((int32_t)(v->p995 - v->floor), 48, 80);
    const uint32_t all = lift_ramp(even, LIFT_PERCENT(70), LIFT_PERCENT(85));
    return lift_times(lift_ramp(even, LIFT_PERCENT(35), LIFT_PERCENT(55)), lift_most(wide, all));
}

/* The void share of the picture; `hidden`: black samples per other sample. */
CURVE_FN uint32_t lift_voids(const LiftPicture *v, uint32_t noise, uint32_t hidden,
                             const CurveWork *w)
{
    const uint32_t codes = LIFT_VOID_CODES + (LIFT_VOID_NOISE * noise + 32) / 64;
    const uint32_t dark = lift_most(w->cum[lift_least(codes, v->last)], v->gloom);
    const uint32_t share = curve_quotient((uint64_t)dark << 16, v->total);
    return curve_quotient((uint64_t)(hidden + share) << 16, CURVE_ONE + hidden);
}

CURVE_FN LiftChoice lift_choose(LiftPicture *v)
{
    LiftChoice c = {CURVE_ONE - lift_ramp((int32_t)v->darker, LIFT_DARK_FROM, LIFT_DARK_TO), 0, 0,
                    0};
    const uint32_t picture = lift_ramp((int32_t)lift_span(v), 64 * 4, 64 * 12);
    v->page = lift_page(v);
    v->quality = lift_times(picture, CURVE_ONE - v->page);
    const uint32_t calm = lift_ramp((int32_t)(v->slope >> 8), 4 * 256, 8 * 256);
    const uint32_t seen = CURVE_ONE - lift_ramp((int32_t)v->voids, LIFT_VOID_FROM, LIFT_VOID_TO);
    v->aim = LIFT_AIM_VOID + lift_times(LIFT_AIM_MORE, lift_times(calm, seen));
    const uint32_t share = lift_times(c.dark, v->quality);
    uint32_t most = lift_least(LIFT_MOST, v->slope > CURVE_ONE ? v->slope - CURVE_ONE : 0);
    most = lift_least(most, lift_reach(v->mean, v->aim));
    const uint32_t kept = lift_reach(lift_place(v, lift_most(v->p99, 1)), LIFT_LIGHT);
    v->kept = lift_times(share, lift_least(most, kept));
    c.lift = lift_times(share, kept < LIFT_MOST ? lift_least(most, kept + LIFT_DARK_MORE) : most);

    const uint32_t veil = curve_quotient(v->floor << 16, lift_most(v->middle, 1));
    v->haze = lift_times(lift_ramp((int32_t)veil, LIFT_HAZE_FROM, LIFT_HAZE_TO),
                         lift_times(CURVE_ONE - c.dark, v->quality));
    return c;
}

/* Computes the widths of the codes; w->hist has their places. */
CURVE_FN void lift_widths(const LiftPicture *v, LiftCode *code, CurveWork *w)
{
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        c->width = i < (int)v->last ? w->hist[i + 1] - c->place : 0;
        if (i == (int)v->last)
            c->width = lift_place(v, 1);
    }
}

/* The share of the clipped excess per unit of width, Q16. `most`: the limit of a code of width
 * `whole`. */
CURVE_FN uint32_t lift_spread(const LiftPicture *v, const LiftCode *code, uint64_t most,
                              uint32_t whole, CurveWork *w)
{
    uint32_t each = 0;
    CURVE_ROLLED
    for (int round = 0; round < LIFT_CLIP_ROUNDS; round++) {
        uint32_t sums[2] = {0, 0}; /* counts below the limit, and the width that shares the rest */
        CURVE_EACH (i, CURVE_CELLS) {
            const LiftCode *c = &CURVE_OWN(code, i);
            const uint64_t count = c->count + ((uint64_t)each * c->width >> 16);
            const int cut = count >= c->limit;
            if (i <= (int)v->last) {
                sums[0] += cut ? c->limit : c->count;
                sums[1] += cut ? 0 : c->width;
            }
        }
        curve_sum2(sums, w->sums[1 - round % 2]);
        const uint32_t rest = v->total > sums[0] ? v->total - sums[0] : 0;
        const uint32_t wide = lift_most(sums[1], 1), before = each;
        each = (uint64_t)rest * whole < most * wide ? lift_ratio((uint64_t)rest << 16, wide)
                                                    : lift_ratio(most << 16, whole);
        if (each == before)
            break; /* converged */
    }
    return each;
}

/* Replaces the limits by the clipped counts, with prefix sums in w->cum. */
CURVE_FN void lift_clip(const LiftPicture *v, LiftCode *code, uint32_t clip, CurveWork *w)
{
    const uint32_t whole = CURVE_ONE + lift_place(v, 1);
    const uint64_t most = (uint64_t)clip * v->total >> 16;
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        const uint64_t scaled = most * c->width;
        c->limit = v->total;
        if (clip && scaled < (uint64_t)v->total * whole)
            c->limit = curve_divide(scaled, whole);
    }
    const uint32_t each = clip ? lift_spread(v, code, most, whole, w) : 0;
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        const uint64_t count = c->count + ((uint64_t)each * c->width >> 16);
        if (count < c->limit)
            c->limit = (uint32_t)count;
        if (i > (int)v->last)
            c->limit = 0;
        w->cum[i] = c->limit;
    }
    curve_scan(w->cum, CURVE_CELLS, w->scan);
}

/* The part of a code's counts that lies before its place. */
CURVE_FN uint32_t lift_part(const LiftPicture *v, uint32_t count, uint32_t width)
{
    return curve_divide((uint64_t)count << 16, lift_most(width * v->last, CURVE_ONE));
}

/* Replaces `limit` by the places after clipped equalization. */
CURVE_FN void lift_equalize(const LiftPicture *v, LiftCode *code, uint32_t clip, CurveWork *w)
{
    const uint32_t first_width = w->hist[1] - w->hist[0], last_width = lift_place(v, 1);
    lift_clip(v, code, clip, w);
    const uint32_t before_last = w->cum[v->last - 1];
    const uint32_t begin = lift_part(v, w->cum[0], first_width);
    const uint32_t end = before_last + lift_part(v, w->cum[v->last] - before_last, last_width);
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        const uint32_t at = w->cum[i] - c->limit + lift_part(v, c->limit, c->width);
        c->limit = c->place;
        if (end > begin && i <= (int)v->last)
            c->limit = curve_quotient((uint64_t)(at - begin) << 16, end - begin);
    }
}

/* The mean of the places; `equalized`: of those in `limit`, after equalization. */
CURVE_FN uint32_t lift_mean(const LiftPicture *v, const LiftCode *code, int equalized, CurveWork *w)
{
    uint64_t sum = 0;
    CURVE_EACH (i, CURVE_CELLS) {
        const LiftCode *c = &CURVE_OWN(code, i);
        sum += (uint64_t)c->count * (equalized ? c->limit : c->place);
    }
    return curve_quotient(lift_sum(sum, w->sums[0]), v->total);
}

/* Decides how much of the equalization to use. Narrow histograms need it, but the mean must not
 * move further than the dark picture lacks. A dull picture would stay dull that way: it gets more
 * contrast than that, and the resulting rise of the mean is taken back by a negative lift, half as
 * much in the dark. `wide`: how wide the lifted histogram is; `mean`, `equalized`: means before and
 * after. Returns how far the mean should go back; c->lowered does that at the place of the mean. */
CURVE_FN uint32_t lift_need(LiftChoice *c, const LiftPicture *v, uint32_t wide, uint32_t mean,
                            uint32_t equalized)
{
    uint32_t need = lift_times(CURVE_ONE - wide, v->quality);
    /* Without this, lamps, the moon or a lit stage would become lighter. */
    const int32_t light = (int32_t)lift_place(v, v->p99);
    need = lift_times(need, CURVE_ONE - lift_times(c->dark, lift_ramp(light, LIFT_PERCENT(60),
                                                                      LIFT_PERCENT(80))));
    need = lift_most(need, lift_times(LIFT_PERCENT(5), CURVE_ONE - v->page));
    need = lift_most(need, lift_times(LIFT_HAZE_NEED, v->haze));
    const uint32_t moved = equalized > mean ? equalized - mean : mean - equalized;
    const uint32_t least = LIFT_PERCENT(1) / 2;
    const uint32_t rest =
        least + lift_times(lift_most(CURVE_ONE - wide, v->haze), LIFT_PERCENT(5) - least);
    const uint32_t missing = mean < v->aim ? v->aim - mean : 0;
    const uint32_t most = lift_times(c->dark, missing) + lift_times(CURVE_ONE - c->dark, rest);
    const uint32_t moves = lift_times(need, moved);
    uint32_t back = 0;
    c->need = need;
    if (moves > most) {
        const uint32_t dull = lift_times(CURVE_ONE - wide, CURVE_ONE - c->dark / 2);
        back = equalized > mean ? lift_times(dull, moves - most) : 0;
        c->need = lift_least(need, curve_divide((most + back) << 16, moved));
    }
    const uint32_t now = lift_between(mean, equalized, c->need);
    const uint32_t clear = LIFT_HAZE_MEAN + back;
    back += now > clear ? lift_times(v->haze, lift_least(now - clear, LIFT_HAZE_DARKER)) : 0;
    c->lowered = lift_reach(now - back, now);
    return back;
}

/* The final place of a code. */
CURVE_FN uint32_t lift_last(const LiftChoice *c, const LiftCode *code)
{
    const uint32_t place = lift_least(lift_between(code->place, code->limit, c->need), CURVE_ONE);
    return curve_quotient((uint64_t)place << 16,
                          CURVE_ONE + lift_times(c->lowered, CURVE_ONE - place));
}

/* Corrects c->lowered: because the curve is bent, the mean of all codes falls less than the place
 * of the mean. `mean`: the mean without it. */
CURVE_FN void lift_lower(LiftChoice *c, const LiftPicture *v, const LiftCode *code, uint32_t mean,
                         uint32_t back, CurveWork *w)
{
    uint64_t sum = 0;
    CURVE_EACH (i, CURVE_CELLS)
        sum += (uint64_t)CURVE_OWN(code, i).count * lift_last(c, &CURVE_OWN(code, i));
    const uint32_t lowered = curve_quotient(lift_sum(sum, w->sums[1]), v->total);
    const uint32_t fell = mean > lowered ? mean - lowered : 1;
    c->lowered = lift_least(lift_ratio((uint64_t)c->lowered * back, fell), LIFT_MOST);
}

/* Lifts all codes, by the rule and by manual brightness and gamma. */
CURVE_FN void lift_raise(const LiftPicture *v, LiftCode *code, uint32_t lift,
                         const CurveLight *light, CurveWork *w)
{
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        c->place = i <= (int)v->last ? lift_lifted(v, lift, (uint32_t)i) : 0;
        if (light_is_on(light))
            c->place = (light_place(light, c->place, CURVE_ONE) + (1u << 13)) >> 14;
        w->hist[i] = c->place;
    }
}

CURVE_FN uint32_t lift_auto_clip(const LiftPicture *v, const LiftChoice *c)
{
    const uint32_t clip = curve_divide((uint64_t)v->slope << 16, CURVE_ONE + c->lift);
    return lift_least(lift_most(clip, LIFT_PERCENT(130)), 5 * CURVE_ONE / 2 + c->dark / 2);
}

/*
 * Decides the curve of a picture. `code` has the counts of the codes in range, from black on, with
 * a sum below 2^31. Leaves the output codes of all codes, Q8, in w->hist.
 */
CURVE_FN LiftChoice lift_decide(LiftCode *code, LiftWanted wanted, const CurveLight *light,
                                CurveWork *w)
{
    const int black = wanted.black;
    LiftPicture v;
    LiftChoice c = {0, 0, 0, 0};
    uint32_t hidden;
    v.slope = lift_steepest(&wanted);
    v.last = (uint32_t)(wanted.white - black);
    v.inverse = UINT32_MAX / v.last + 1;
    v.total = lift_scale(code, &hidden, w);
    /* If half of the picture is black, noise measures as little as 0.6 of its level elsewhere. */
    v.noise = lift_most(wanted.noise, wanted.awaited ? 64 * LIFT_NOISE_POSSIBLE : 0);
    v.noise +=
        lift_times(v.noise, lift_times(LIFT_PERCENT(70),
                                       lift_ramp((int32_t)hidden, CURVE_ONE / 2, CURVE_ONE)));
    if (v.total) {
        lift_look(&v, code, w);
        v.voids = lift_voids(&v, wanted.noise, hidden, w);
        c = lift_choose(&v);
        lift_raise(&v, code, c.lift, light, w);
        const uint32_t mean = lift_mean(&v, code, 0, w);
        const uint32_t apart = w->hist[v.p90] - w->hist[v.p10];
        const uint32_t wide =
            lift_least(lift_ramp((int32_t)apart, LIFT_PERCENT(27), LIFT_PERCENT(42)),
                       lift_ramp((int32_t)mean, LIFT_PERCENT(12), LIFT_PERCENT(25)));
        lift_widths(&v, code, w);
        const uint32_t clip = wanted.clip;
        lift_equalize(&v, code, clip == CURVE_CLIP_AUTO ? lift_auto_clip(&v, &c) : clip, w);
        const uint32_t equalized = lift_mean(&v, code, 1, w);
        const uint32_t back = lift_need(&c, &v, wide, mean, equalized);
        if (c.lowered)
            lift_lower(&c, &v, code, lift_between(mean, equalized, c.need), back, w);
    }
    CURVE_EACH (i, CURVE_CELLS) {
        const LiftCode *own = &CURVE_OWN(code, i);
        const uint32_t at = (uint32_t)(i + black) & (CURVE_CELLS - 1);
        /* No code becomes black that was not. */
        const uint32_t place =
            lift_most(lift_last(&c, own), lift_least(own->place, lift_place(&v, 2)));
        w->hist[at] = at << 8;
        if (v.total && i <= (int)v.last)
            w->hist[at] = ((uint32_t)black << 8) + lift_times(place, v.last << 8);
    }
    curve_barrier();
    return c;
}

/* `noise`: Q16 codes. */
CURVE_FN LiftWanted lift_wanted(const CurveParams *p, uint32_t noise, uint32_t awaited)
{
    const int down = p->depth - 8;
    const LiftWanted wanted = {p->black >> down, p->white >> down, noise >> 10,
                               p->denoise,       p->clip,          awaited != 0};
    return wanted;
}

/* The output of a bin's first code, Q16, interpolated between the 8-bit codes in `nodes`. */
CURVE_FN uint32_t lift_target(const CurveParams *p, const uint32_t *nodes, uint32_t bin)
{
    const uint32_t width = (uint32_t)curve_width(p), code = bin / width;
    const uint32_t from = nodes[code];
    const uint32_t to = code + 1 < CURVE_CELLS ? nodes[code + 1] : CURVE_CELLS << 8;
    const uint32_t value = (from << 8) + ((to - from) << 8) / width * (bin % width);
    return value << (p->depth - 8);
}

/* Fills in each code's share of the counts in range; w->cum has prefix sums by bins, `counted` is
 * not 0. */
CURVE_FN void lift_count(const CurveParams *p, uint32_t counted, LiftCode *code, CurveWork *w)
{
    const int width = curve_width(p), black = p->black >> (p->depth - 8);
    CURVE_EACH (i, CURVE_CELLS) {
        const int from = (i + black) * width;
        CURVE_OWN(code, i).count = 0;
        if (from < p->bins) {
            const uint32_t count = w->cum[from + width - 1] - (from ? w->cum[from - 1] : 0);
            CURVE_OWN(code, i).count = curve_divide((uint64_t)count << LIFT_SHARE_BITS, counted);
        }
    }
    curve_barrier(); /* before w->cum is reused */
}

/* Updates the noise estimate for a frame; `now` is the noise of the frame before. It averages over
 * a scene's first frames, then smooths with the weight `part`. A new scene keeps the noise of the
 * old one until its own is measured. */
CURVE_FN void lift_follow_noise(LiftState *s, const LiftState *before, uint32_t now, uint32_t part,
                                int cut, int first)
{
    s->known = before ? before->known : 0;
    s->awaited = first ? LIFT_AWAITED : before && before->awaited ? before->awaited - 1 : 0;
    s->noise = before ? before->noise : LIFT_NOISE_USUAL;
    s->seen = before ? before->seen : 0;
    s->young = before && before->young ? before->young - 1 : 0;
    if (now != NOISE_UNKNOWN) {
        const uint32_t mean = curve_quotient(CURVE_ONE, s->seen + 1);
        s->noise = curve_lerp(s->noise, now << 8, lift_most(part, mean));
        s->seen += s->seen < LIFT_NOISE_SEEN;
        s->known = 1;
        s->awaited = 0;
    }
    if (cut)
        s->seen = 0;
    if (cut || !before)
        s->young = LIFT_YOUNG;
}

#endif
