/*
 * Histogram -> tone curve -> lookup table. All backends compile this one definition, in integers,
 * so that they give the same bits.
 */
#ifndef LUMEQ_CURVE_H
#define LUMEQ_CURVE_H

#include <math.h>

#include "equalizer/curve_types.h"
#include "equalizer/lift_rule.h"
#include "equalizer/light.h"

/* Rounds of clipping. Each spreads the excess over all bins, which pushes a fraction of it over the
 * limit again; after four rounds the remainder moves no code. */
#define CURVE_CLIP_ROUNDS 4

/* Distance between the CDFs of two frames, as a share of the range: below LOW no cut, above HIGH a
 * cut, in between partly. 4 % is a jump of the mean by 9 codes, which no fade makes within one
 * frame; 12 % is 26 codes. */
#define CURVE_CUT_LOW (CURVE_ONE * 4 / 100)
#define CURVE_CUT_HIGH (CURVE_ONE * 12 / 100)

/* A cut must move the CDF by at least this much somewhere: that share of the picture has changed. A
 * car, a lamp or a screen in the picture changes less. */
#define CURVE_MOVED (CURVE_ONE * 18 / 100)

/* One or two changes in a row of at least CURVE_JUMP, followed by one of at most CURVE_CALM, are a
 * cut between similarly bright scenes, or a flash: the curve jumps and leaves no trail. More in a
 * row are a fade or motion. */
#define CURVE_JUMP (CURVE_ONE * 25 / 1000)
#define CURVE_CALM (CURVE_JUMP * 3 / 4)
#define CURVE_JUMPS 2

/*
 * With an adaptive strength, pictures with a mean below CURVE_BLACK_MEAN count as black: their
 * target is the identity, and their curve moves at least a third of the way to it. The frames after
 * black count as a fade until one changes by less than CURVE_FADE_CALM. A fade must not be lifted
 * as if it were as dark as it looks, so its curve follows at an eighth of the usual pace, or at a
 * 64th with lift.
 */
#define CURVE_BLACK_MEAN (CURVE_ONE * 8 / 1000)
#define CURVE_BLACK_ALPHA (CURVE_ONE / 3)
#define CURVE_FADE_CALM (CURVE_ONE / 400)
#define CURVE_FADE (CURVE_ONE * 3 / 400)
#define CURVE_FADE_MEAN (CURVE_ONE * 32 / 100)

/*
 * The need of a picture: full strength if luma's standard deviation is below 11.5 % of the range
 * (25 codes of limited 8 bits) or its mean below 12 % (42 codes), none if they are above 17.5 %
 * (38) and 25 % (71). Deviations are compared as variances.
 */
#define CURVE_DULL_VARIANCE (CURVE_ONE * 132 / 10000)
#define CURVE_RICH_VARIANCE (CURVE_ONE * 306 / 10000)
#define CURVE_DARK_MEAN (CURVE_ONE * 12 / 100)
#define CURVE_BRIGHT_MEAN (CURVE_ONE * 25 / 100)

/* Minimum share of the strength. */
#define CURVE_NEED_LEAST (CURVE_ONE / 10)

/* Mode STRETCH ignores 1/200 of the samples at each end. */
#define CURVE_STRETCH_LEFT_OUT 200

/* Clip limit: the maximum count of a cell. */
CURVE_FN uint32_t curve_limit(const CurveParams *p, uint32_t counted)
{
    const uint32_t n = curve_range(p), width = (uint32_t)curve_width(p);
    if (!p->clip || (p->clip >> 16) * width >= n)
        return counted;
    return curve_divide(((uint64_t)counted * p->clip >> 16) * width, n);
}

/* The clipped count of a bin: its cell is cut to the limit, and each bin of the cell by the same
 * share. Working on cells matters in deep formats that hold codes of fewer bits: their empty bins
 * are no contrast. */
CURVE_FN uint32_t curve_cut(const CurveParams *p, const uint32_t *hist, int i, uint32_t limit)
{
    const int width = curve_width(p);
    const uint32_t cell = width == 1 ? hist[i] : curve_cell(hist, i, width);
    if (cell <= limit)
        return hist[i];
    return width == 1 ? limit : curve_divide((uint64_t)hist[i] * limit, cell);
}

/* Cuts each cell in range to the limit and spreads the excess over all bins. The remainder of the
 * division adds one count each to evenly spaced bins. Overwrites w->cum. */
CURVE_FN void curve_clip(const CurveParams *p, uint32_t limit, uint32_t reciprocal, CurveWork *w)
{
    const uint32_t n = curve_range(p);
    const int black = curve_black(p), white = curve_white(p);

    CURVE_ROLLED
    for (int round = 0; round < CURVE_CLIP_ROUNDS; round++) {
        uint32_t over = 0;
        CURVE_EACH (i, p->bins) {
            w->cum[i] = curve_cut(p, w->hist, i, limit);
            over += w->hist[i] - w->cum[i];
        }
        const uint32_t excess = curve_sum(over, w->sums[round % 2]);
        if (!excess)
            break;
        const uint32_t share = curve_share(excess, n, reciprocal), rest = excess - share * n;
        CURVE_EACH (i, p->bins) {
            if (i >= black && i <= white) {
                const uint32_t k = (uint32_t)(i - black);
                const uint32_t before = curve_share(k * rest, n, reciprocal);
                w->hist[i] = w->cum[i] + share + (k * rest - before * n + rest >= n);
            }
        }
    }
}

/* Smoothstep from 0 at `from` to 1 at `to`, Q16. */
CURVE_FN uint32_t curve_rise(uint32_t x, uint32_t from, uint32_t to)
{
    if (x <= from)
        return 0;
    if (x >= to)
        return CURVE_ONE;
    const uint64_t t = ((x - from) << 16) / (to - from);
    return (uint32_t)((t * t >> 16) * (3 * CURVE_ONE - 2 * t) >> 16);
}

/* The weight of this frame's target: `part` usually, rising smoothly to 1 over a cut. */
CURVE_FN uint32_t curve_alpha(const CurveParams *p, const CurveResult *before,
                              const CurveView *view, uint32_t part)
{
    const uint32_t distance = view->distance;
    if (!before)
        return CURVE_ONE;
    if (!p->scene_cut)
        return part;
    if (before->jumps >= 1 && before->jumps <= CURVE_JUMPS && distance <= CURVE_CALM)
        return CURVE_ONE;
    if (!view->moved)
        return part;
    return curve_lerp(part, CURVE_ONE, curve_rise(distance, CURVE_CUT_LOW, CURVE_CUT_HIGH));
}

/* True if a picture that is not black still belongs to a fade from black: there was no cut, and the
 * histogram still changes. */
CURVE_FN uint32_t curve_fades(const CurveParams *p, const CurveResult *before, uint32_t distance,
                              uint32_t alpha)
{
    return p->adaptive && before && before->fades && distance > CURVE_FADE_CALM &&
           alpha < CURVE_ONE / 2;
}

/* Change of light relative to the picture's own light, up to CURVE_FADE_MEAN. A lift amplifies dark
 * pictures, and would amplify a fade to a dark scene as well. */
CURVE_FN uint32_t curve_fade_change(const CurveView *view)
{
    if (view->mean >= CURVE_FADE_MEAN)
        return view->distance;
    const uint32_t mean = view->mean > CURVE_BLACK_MEAN ? view->mean : CURVE_BLACK_MEAN;
    return curve_divide((uint64_t)view->distance * CURVE_FADE_MEAN, mean);
}

/* The weight of the target in black, and in a fade from black. */
CURVE_FN uint32_t curve_fade_alpha(const CurveParams *p, uint32_t alpha, int blank, uint32_t fades,
                                   uint32_t distance)
{
    if (blank)
        return alpha > CURVE_BLACK_ALPHA ? alpha : CURVE_BLACK_ALPHA;
    if (!fades)
        return alpha;
    const uint32_t rise = curve_rise(distance, CURVE_FADE_CALM, CURVE_FADE);
    return curve_lerp(alpha, alpha / (p->lift ? 64 : 8), rise);
}

CURVE_FN uint32_t curve_need(const CurveView *view)
{
    const uint32_t rich = curve_rise(view->variance, CURVE_DULL_VARIANCE, CURVE_RICH_VARIANCE);
    const uint32_t light = curve_rise(view->mean, CURVE_DARK_MEAN, CURVE_BRIGHT_MEAN);
    return CURVE_ONE - (rich < light ? rich : light);
}

/*
 * Stores the frame's CDF in the history and computes mean and variance from it, as sums over the
 * bins' places x in the range: E(x) = sum of 1 - CDF, E(x^2) = sum of 2 x (1 - CDF). A picture with
 * no samples in range is black.
 */
CURVE_FN CurveView curve_statistics(const CurveParams *p, uint32_t counted, uint32_t reciprocal,
                                    CurveWork *w, CurveBin *now)
{
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t n = curve_range(p);
    uint32_t sums[2] = {0, 0};
    CURVE_EACH (i, p->bins) {
        const uint32_t cdf =
            counted ? curve_quotient((uint64_t)w->cum[i] << 16, counted) : CURVE_ONE;
        if (i >= black && i <= white) {
            const uint32_t place =
                curve_share((2 * (uint32_t)(i - black) + 1) << 15, n, reciprocal);
            const uint32_t above = CURVE_ONE - cdf;
            sums[0] += above;
            sums[1] += (uint32_t)((uint64_t)place * above >> 16);
        }
        CURVE_OWN(now, i).cdf = cdf;
    }
    curve_sum2(sums, w->sums[1]);
    const uint32_t mean = curve_share(sums[0], n, reciprocal);
    const uint32_t squares = 2 * curve_share(sums[1], n, reciprocal);
    const uint32_t squared = (uint32_t)((uint64_t)mean * mean >> 16);
    const CurveView view = {mean, squares > squared ? squares - squared : 0, 0, 0};
    return view;
}

/* Computes the distance from the previous frame: the mean over the range of the CDFs' |difference|,
 * or 0 if either frame has no samples in range; such a frame keeps the old CDF. `same_scene`: new
 * bars were just excluded, so the change of the histogram means nothing. */
CURVE_FN void curve_compare(const CurveParams *p, CurveView *view, uint32_t counted,
                            uint32_t reciprocal, const CurveResult *before, int same_scene,
                            const CurveBin *was, CurveBin *now, CurveWork *w)
{
    const int black = curve_black(p), white = curve_white(p);
    const int seen = counted && before && before->bin[p->bins - 1].cdf && !same_scene;
    uint32_t sums[2] = {0, 0};
    CURVE_EACH (i, p->bins) {
        const uint32_t old = before ? CURVE_OWN(was, i).cdf : 0;
        const uint32_t cdf = CURVE_OWN(now, i).cdf;
        if (i >= black && i <= white) {
            const uint32_t apart = cdf > old ? cdf - old : old - cdf;
            sums[0] += apart;
            sums[1] += apart >= CURVE_MOVED;
        }
        if (!counted)
            CURVE_OWN(now, i).cdf = old;
    }
    curve_sum2(sums, w->sums[0]);
    view->distance = seen ? curve_share(sums[0], curve_range(p), reciprocal) : 0;
    view->moved = seen && sums[1];
}

/* Mode STRETCH: the ends of a straight line through all but a few of the counts, in bins. */
typedef struct CurveLine {
    uint32_t low, high;
} CurveLine;

/* If the line is steeper than the clip limit, it is extended on both sides in proportion to the
 * room there. */
CURVE_FN CurveLine curve_find_line(const CurveParams *p, uint32_t counted, CurveWork *w)
{
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t left_out = counted / CURVE_STRETCH_LEFT_OUT;
    const uint32_t all = (uint32_t)(white - black);
    uint32_t sums[2] = {0, 0};
    CURVE_EACH (i, p->bins) {
        if (i >= black && i < white) {
            sums[0] += w->cum[i] <= left_out;
            sums[1] += w->cum[i] < counted - left_out;
        }
    }
    curve_sum2(sums, w->sums[1]);
    uint32_t low = sums[0], length = sums[1] - sums[0];
    const uint32_t least = p->clip ? curve_divide((uint64_t)all << 16, p->clip) : 1;
    if (length < least && length < all) {
        low -= curve_divide((uint64_t)(least - length) * low, all - length);
        length = least;
    }
    const CurveLine line = {(uint32_t)black + low, (uint32_t)black + low + (length ? length : 1)};
    return line;
}

CURVE_FN uint32_t curve_on_line(const CurveParams *p, CurveLine line, uint32_t i)
{
    const uint64_t scale = (uint64_t)(p->white - p->black) << 16;
    if (i <= line.low)
        return (uint32_t)p->black << 16;
    if (i >= line.high)
        return (uint32_t)p->white << 16;
    if (light_is_on(&p->light))
        return light_code(p, i - line.low, line.high - line.low);
    return ((uint32_t)p->black << 16) + curve_divide(scale * (i - line.low), line.high - line.low);
}

/* Clips the histogram and leaves its prefix sums in w->cum, for curve_target(). */
CURVE_FN void curve_shape(const CurveParams *p, uint32_t counted, uint32_t reciprocal, CurveWork *w)
{
    const uint32_t limit = curve_limit(p, counted);
    if (limit >= counted)
        return;
    curve_clip(p, limit, reciprocal, w);
    CURVE_EACH (i, p->bins)
        w->cum[i] = w->hist[i];
    curve_scan(w->cum, p->bins, w->scan);
}

/* Stores each bin's code before equalization in CurveBin.curve, until the curve replaces it. */
CURVE_FN void curve_light(const CurveParams *p, CurveBin *now)
{
    CURVE_EACH (i, p->bins)
        CURVE_OWN(now, i).curve = light_bin(p, i);
}

/* A bin's curve, bounded by the identity as `limit` says. The history stores it unbounded, so that
 * another limit applies at once. */
CURVE_INLINE uint32_t curve_limited(const CurveParams *p, int i, uint32_t curve)
{
    const uint32_t same = (uint32_t)i << (16 + p->fraction);
    if (p->limit == LUMEQ_LIMIT_DARKEN)
        return curve < same ? curve : same;
    if (p->limit == LUMEQ_LIMIT_LIGHTEN)
        return curve > same ? curve : same;
    return curve;
}

/* A bin's new curve: smoothed towards the target and weakened by the strength. `now` has the value
 * from curve_light(). */
CURVE_FN CurveBin curve_towards(const CurveParams *p, int i, uint32_t target, uint32_t alpha,
                                uint32_t strength, CurveBin was, CurveBin now)
{
    const int in_range = i >= curve_black(p) && i <= curve_white(p);
    now.smooth = in_range ? target : now.curve;
    if (alpha < CURVE_ONE && in_range)
        now.smooth = curve_lerp(was.smooth, target, alpha);
    now.curve = curve_limited(p, i, curve_lerp(now.curve, now.smooth, strength));
    return now;
}

/* Computes the curve from the sums in w->cum, smoothed and weakened. `flat`: there is nothing to
 * equalize. */
CURVE_FN void curve_target(const CurveParams *p, uint32_t counted, uint32_t flat, uint32_t alpha,
                           uint32_t strength, const CurveBin *was, CurveBin *now, CurveWork *w)
{
    /* Spreading keeps the total. If all counts are in the first bin, the divisor would be 0, but
     * that is flat. */
    const uint32_t first = w->cum[curve_black(p)];
    const uint32_t divisor = flat ? 1 : counted - first;
    const uint64_t scale = (uint64_t)(p->white - p->black) << 16;
    CurveLine line = {0, 1};
    if (p->stretch)
        line = curve_find_line(p, counted, w);

    CURVE_EACH (i, p->bins) {
        uint32_t target = CURVE_OWN(now, i).curve;
        if (!flat && p->stretch)
            target = curve_on_line(p, line, (uint32_t)i);
        else if (!flat && i > curve_black(p))
            target =
                ((uint32_t)p->black << 16) + curve_divide(scale * (w->cum[i] - first), divisor);
        CURVE_OWN(now, i) =
            curve_towards(p, i, target, alpha, strength, CURVE_OWN(was, i), CURVE_OWN(now, i));
    }
}

CURVE_FN int curve_overlap(int from, int size, int other, int other_size)
{
    const int begin = from > other ? from : other;
    const int end = from + size < other + other_size ? from + size : other + other_size;
    return end > begin ? end - begin : 0;
}

/* The number of counted samples that lie in bars. */
CURVE_FN uint32_t curve_bars(const CurveParams *p, const LumeqRect *active, uint32_t area)
{
    const LumeqRect *m = &p->meter;
    if (!m->width || !area)
        return area;
    return (uint32_t)(m->width * m->height -
                      curve_overlap(m->x, m->width, active->x, active->width) *
                          curve_overlap(m->y, m->height, active->y, active->height));
}

/* Removes the darkest `samples` from the frame's histogram: those of the bars, which are black. */
CURVE_FN void curve_exclude(const CurveParams *p, uint32_t samples, CurveBin *now, CurveWork *w)
{
    CURVE_EACH (i, p->bins)
        w->cum[i] = CURVE_OWN(now, i).hist;
    curve_scan(w->cum, p->bins, w->scan);
    CURVE_EACH (i, p->bins) {
        const uint32_t left = w->cum[i] > samples ? w->cum[i] - samples : 0;
        if (CURVE_OWN(now, i).hist > left)
            CURVE_OWN(now, i).hist = left;
    }
}

/* Copies the counts in range to w->hist and their prefix sums to w->cum, and returns the total.
 * `flat`: the range is empty, all counts are in one bin, or the clip limit is 1, which only an even
 * histogram meets; its curve is the identity. */
CURVE_FN uint32_t curve_count(const CurveParams *p, const CurveBin *now, CurveWork *w,
                              uint32_t *flat)
{
    const int black = curve_black(p), white = curve_white(p);
    CURVE_EACH (i, p->bins) {
        w->hist[i] = i >= black && i <= white ? CURVE_OWN(now, i).hist : 0;
        w->cum[i] = w->hist[i];
    }
    curve_scan(w->cum, p->bins, w->scan);
    const uint32_t counted = w->cum[p->bins - 1];
    uint32_t full = 0;
    CURVE_EACH (i, p->bins)
        full |= w->hist[i] == counted;
    *flat = curve_any(full) || (p->clip == CURVE_ONE && !p->lift);
    return counted;
}

/* 1 / (bins in range), for curve_share(). */
CURVE_FN uint32_t curve_reciprocal(const CurveParams *p)
{
    return UINT32_MAX / curve_range(p) + 1;
}

/* Statistics of a frame that need no history. */
typedef struct CurveMeasured {
    CurveView view;
    uint32_t counted, flat; /* from curve_count() */
} CurveMeasured;

/* Computes them from the histogram in `now`. */
CURVE_FN CurveMeasured curve_see_all(const CurveParams *p, CurveBin *now, CurveWork *w)
{
    const uint32_t reciprocal = curve_reciprocal(p);
    CurveMeasured seen;
    curve_light(p, now);
    seen.counted = curve_count(p, now, w, &seen.flat);
    seen.view = curve_statistics(p, seen.counted, reciprocal, w, now);
    if (!seen.flat && !p->stretch && !p->lift)
        curve_shape(p, seen.counted, reciprocal, w);
    return seen;
}

/* The history, or NULL if it has another depth or range. */
CURVE_FN const CurveResult *curve_history(const CurveParams *p, const CurveResult *before)
{
    return before->depth == (uint32_t)p->depth && before->white == (uint32_t)p->white ? before
                                                                                      : NULL;
}

typedef struct CurveLifted {
    int32_t on;
    uint32_t dark, noise; /* Q16; 64ths of a code */
    int32_t past;         /* previous frames that the filter may use */
} CurveLifted;

/* A frame in its history, before its curve is chosen. */
typedef struct CurveScene {
    uint32_t alpha; /* weight of the curve's target */
    uint32_t slow;  /* weight of the histogram that the lift is decided on */
    uint32_t alone; /* nothing to lift: a flat or black picture */
    uint32_t cut;
    uint32_t blank;          /* the picture is black */
    uint32_t young;          /* of the lift: the scene is followed fast */
    uint32_t noisier;        /* the first measured noise is higher than the assumed one */
    uint32_t noise, awaited; /* as in LiftState */
} CurveScene;

/*
 * A lifted picture, before its lift is chosen. Passing lights, such as cars, must not make the
 * curve swing, so the rule uses a slowly smoothed histogram, which this leaves in `code` and in the
 * result. Black pictures, and those fading in from black, predict nothing, so the next ones replace
 * them at once.
 */
CURVE_FN void curve_follow_lift(const CurveParams *p, CurveScene *scene, uint32_t counted,
                                uint32_t slow, const CurveResult *before, CurveResult *result,
                                LiftCode *code, CurveWork *w)
{
    const LiftState *old = before && before->lift.on ? &before->lift : NULL;
    const int goes_on = old && old->counted;
    LiftState s;
    const uint32_t noise = old && !old->ignored ? before->noise : NOISE_UNKNOWN;
    lift_follow_noise(&s, old, noise, slow, scene->cut || scene->alone, p->first);
    scene->young = s.young && old && !before->fades;
    scene->noisier = old && s.known && !old->known && s.noise > old->noise;
    scene->noise = s.noise;
    scene->awaited = s.awaited;
    if (scene->young)
        scene->slow = lift_most(scene->slow, LIFT_YOUNG_PACE);
    if (counted)
        lift_count(p, counted, code, w);
    CURVE_EACH (i, CURVE_CELLS) {
        LiftCode *c = &CURVE_OWN(code, i);
        const uint32_t share = goes_on ? old->share[i] : 0;
        if (!counted)
            c->count = share;
        else if (goes_on)
            c->count = curve_lerp(share, c->count, scene->slow);
        result->lift.share[i] = c->count;
    }
    CURVE_EACH (i, 1) {
        result->lift.on = 1;
        result->lift.ignored = scene->cut || scene->alone;
        result->lift.known = s.known;
        result->lift.awaited = s.awaited;
        result->lift.young = s.young;
        result->lift.noise = s.noise;
        result->lift.seen = s.seen;
        result->lift.counted = counted || goes_on;
    }
}

/* Chooses the lift from the counts in `code`, without the history. Leaves the lifted codes in
 * w->hist. */
CURVE_FN LiftChoice curve_choose_lift(const CurveParams *p, const CurveScene *scene, LiftCode *code,
                                      CurveWork *w)
{
    LiftChoice choice = {0, 0, 0, 0};
    if (!scene->alone)
        choice = lift_decide(code, lift_wanted(p, scene->noise, scene->awaited), &p->light, w);
    return choice;
}

/* Moves the curve towards the lifted codes in w->hist. */
CURVE_FN CurveLifted curve_move(const CurveParams *p, const CurveScene *scene, LiftChoice choice,
                                const CurveResult *before, const CurveBin *was, CurveResult *result,
                                CurveBin *now, CurveWork *w)
{
    const LiftState *old = before && before->lift.on ? &before->lift : NULL;
    /* The first measurement replaces an assumed noise, so it may change the lift a lot. If the
     * noise is higher than assumed, the picture gets darker at once; otherwise it gets lighter
     * slowly. */
    uint32_t alpha = scene->noisier && !scene->alone && !before->fades ? CURVE_ONE : scene->alpha;
    if (old && scene->young && choice.lift + choice.lift / 4 < old->more)
        alpha = lift_most(alpha, LIFT_YOUNG_PACE);
    CURVE_EACH (i, p->bins) {
        const uint32_t target =
            scene->alone ? CURVE_OWN(now, i).curve : lift_target(p, w->hist, (uint32_t)i);
        CURVE_OWN(now, i) =
            curve_towards(p, i, target, alpha, p->strength, CURVE_OWN(was, i), CURVE_OWN(now, i));
    }
    const uint32_t need = curve_lerp(before ? before->need : 0, choice.need, alpha);
    const uint32_t dark = curve_lerp(old ? old->dark : 0, choice.dark, alpha);
    const uint32_t more = curve_lerp(old ? old->more : 0, choice.lift, alpha);
    CURVE_EACH (i, 1) {
        result->need = need;
        result->alpha = alpha;
        result->strength = curve_lerp(0, p->strength, need);
        result->lift.dark = dark;
        result->lift.more = more;
    }
    curve_barrier(); /* before w->hist is reused */
    const CurveLifted lifted = {p->strength != 0, dark, scene->noise >> 10,
                                scene->cut ? 0 : p->past};
    return lifted;
}

CURVE_FN void curve_equalize(const CurveParams *p, const CurveView *view, uint32_t counted,
                             uint32_t flat, uint32_t blank, uint32_t alpha,
                             const CurveResult *before, const CurveBin *was, CurveResult *result,
                             CurveBin *now, CurveWork *w)
{
    const uint32_t need =
        curve_lerp(before ? before->need : 0, blank ? 0 : curve_need(view), alpha);
    uint32_t strength = p->strength;
    if (p->adaptive)
        strength = curve_lerp(0, strength, curve_lerp(CURVE_NEED_LEAST, CURVE_ONE, need));
    curve_target(p, counted, flat || blank, alpha, strength, was, now, w);
    CURVE_EACH (i, 1) {
        result->need = need;
        result->alpha = alpha;
        result->strength = strength;
        result->lift.on = 0;
    }
}

/* CurveParams.alpha and slow of a frame. */
typedef struct CurveRates {
    uint32_t alpha, slow;
} CurveRates;

/* Compares a frame with the history, in which it continues. With bars `seen` becomes that of the
 * picture between them. */
CURVE_FN CurveScene curve_follow(const CurveParams *p, CurveRates rates, CurveMeasured *seen,
                                 const BarsState *bars, const CurveResult *before,
                                 const CurveBin *was, CurveResult *result, CurveBin *now,
                                 CurveWork *w)
{
    const uint32_t samples = curve_bars(p, &bars->active, bars->area);
    if (samples) {
        curve_exclude(p, samples, now, w);
        *seen = curve_see_all(p, now, w);
    }
    CurveView view = seen->view;
    curve_compare(p, &view, seen->counted, curve_reciprocal(p), before, bars->grew, was, now, w);
    seen->view = view;
    const int blank = p->adaptive && view.mean < CURVE_BLACK_MEAN;
    const int same = before && before->lift.on == (uint32_t)p->lift;
    const uint32_t usual = curve_alpha(p, before, &view, rates.alpha);
    const uint32_t change = p->lift ? curve_fade_change(&view) : view.distance;
    const uint32_t fades = curve_fades(p, before, change, usual);
    const uint32_t cut = before && p->scene_cut && view.moved && view.distance >= CURVE_CUT_HIGH;
    uint32_t jumps = 0;
    if (before && view.moved && view.distance >= CURVE_JUMP)
        jumps = before->jumps > CURVE_JUMPS ? before->jumps : before->jumps + 1;
    CURVE_EACH (i, 1) {
        result->depth = (uint32_t)p->depth;
        result->white = (uint32_t)p->white;
        result->scene_cut = cut;
        result->jumps = jumps;
        result->blank = (uint32_t)blank;
        result->fades = blank || fades;
    }
    CurveScene scene = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    scene.cut = cut;
    scene.blank = (uint32_t)blank;
    scene.alone = seen->flat || blank;
    /* A history from the other rule cannot be continued. */
    scene.alpha = same ? curve_fade_alpha(p, usual, blank, fades, change) : CURVE_ONE;
    scene.slow =
        p->lift && same && !before->fades ? curve_alpha(p, before, &view, rates.slow) : CURVE_ONE;
    return scene;
}

/* The curve of a frame, without OpenCV's reference. */
CURVE_FN CurveLifted curve_video(const CurveParams *p, CurveRates rates, CurveMeasured seen,
                                 const BarsState *bars, const CurveResult *before,
                                 const CurveBin *was, CurveResult *result, CurveBin *now,
                                 CurveWork *w)
{
    const CurveLifted none = {0, 0, 0, 0};
    before = curve_history(p, before);
    CurveScene scene = curve_follow(p, rates, &seen, bars, before, was, result, now, w);
    if (!p->lift) {
        curve_equalize(p, &seen.view, seen.counted, seen.flat, scene.blank, scene.alpha, before,
                       was, result, now, w);
        return none;
    }
    LiftCode code[CURVE_OWNED(CURVE_CELLS)];
    curve_follow_lift(p, &scene, scene.blank ? 0 : seen.counted, rates.slow, before, result, code,
                      w);
    const LiftChoice choice = curve_choose_lift(p, &scene, code, w);
    return curve_move(p, &scene, choice, before, was, result, now, w);
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

/* Keeps the history unchanged: reference frames do not affect it. */
CURVE_FN void curve_keep_history(const CurveParams *p, const CurveResult *before,
                                 const CurveBin *was, CurveResult *result, CurveBin *now)
{
    CURVE_EACH (i, p->bins) {
        CURVE_OWN(now, i).smooth = before ? CURVE_OWN(was, i).smooth : 0;
        CURVE_OWN(now, i).cdf = before ? CURVE_OWN(was, i).cdf : 0;
    }
    CURVE_EACH (i, CURVE_CELLS)
        result->lift.share[i] = before ? before->lift.share[i] : 0;
    CURVE_EACH (i, 1) {
        result->depth = before ? (uint32_t)p->depth : 0;
        result->white = (uint32_t)p->white;
        result->scene_cut = 0;
        result->jumps = before ? before->jumps : 0;
        result->need = before ? before->need : 0;
        result->alpha = 0;
        result->strength = CURVE_ONE;
        result->blank = 0;
        result->fades = before ? before->fades : 0;
        result->lift.on = before ? before->lift.on : 0;
        result->lift.dark = before ? before->lift.dark : 0;
        result->lift.more = before ? before->lift.more : 0;
        result->lift.ignored = 1;
        result->lift.known = before ? before->lift.known : 0;
        result->lift.awaited = before ? before->lift.awaited : 0;
        result->lift.young = before ? before->lift.young : 0;
        result->lift.noise = before ? before->lift.noise : 0;
        result->lift.seen = before ? before->lift.seen : 0;
        result->lift.counted = before ? before->lift.counted : 0;
    }
}

/* True if samples are interpolated between nodes. */
CURVE_INLINE int curve_has_nodes(const CurveParams *p)
{
    return p->fraction || p->dither;
}

/* Converts Q16 codes of any depth to 256ths of 8-bit codes above black. */
CURVE_INLINE int32_t curve_above_black(const CurveParams *p, uint32_t value)
{
    return (int32_t)(value >> p->depth) - (p->black << 8 >> (p->depth - 8));
}

/* The gain of chroma over luma that changes from `in` to `out`, both in Q16 codes. */
CURVE_INLINE CurveGain curve_gain_over(const CurveParams *p, uint32_t in, uint32_t out,
                                       CurveGainRule rule)
{
    const int32_t from = curve_above_black(p, in), to = curve_above_black(p, out);
    CurveGain over;
    over.gain = (uint16_t)(p->chroma ? curve_gain(from, to, rule) : CURVE_GAIN_ONE);
    over.from = (uint16_t)(from > 0 ? from : 0);
    over.to = (uint16_t)(to > 0 ? to : 0);
    over.free = 0;
    return over;
}

CURVE_FN CurveLifted curve_lifted(const CurveParams *p, const CurveResult *result)
{
    CurveLifted lifted = {p->lift && p->strength, 0, 0, 0};
    if (lifted.on) {
        lifted.dark = result->lift.dark;
        lifted.noise = result->lift.noise >> 10;
        lifted.past = result->scene_cut ? 0 : p->past;
    }
    return lifted;
}

/* Fills in the gains of chroma, and copies them to `cells` if it is not NULL. */
CURVE_FN void curve_fill_gains(const CurveParams *p, CurveGainRule rule, const CurveBin *now,
                               CurveTable *table, uint32_t *cells)
{
    const int width = curve_width(p);
    CURVE_EACH (i, p->bins) {
        if ((i & (width - 1)) == 0) {
            const CurveGain over = curve_gain_over(p, (uint32_t)i << (16 + p->fraction),
                                                   CURVE_OWN(now, i).curve, rule);
            table->gain[i / width] = over;
            if (cells)
                cells[i / width] = over.gain;
        }
    }
}

/* Converts a Q16 code of any depth to 8 bits, Q8. */
CURVE_FN uint32_t curve_code8(const CurveParams *p, uint32_t curve)
{
    return (uint32_t)(((uint64_t)curve + (1u << (p->depth - 1))) >> p->depth);
}

/* Fills in the filter's tables. Overwrites w->hist with the curve; w->cum has the gains. */
CURVE_FN void curve_fill_lift(const CurveParams *p, int32_t noise, int32_t past,
                              const CurveBin *now, LiftTables *table, CurveWork *w)
{
    const int width = curve_width(p), black = p->black >> (p->depth - 8);
    const int white = p->white >> (p->depth - 8);
    CURVE_EACH (i, p->bins) {
        if ((i & (width - 1)) == 0)
            w->hist[i / width] = curve_code8(p, CURVE_OWN(now, i).curve);
    }
    curve_barrier();
    const int32_t filtered = lift_filtered(noise, p->denoise);
    LiftTables constants;
    lift_constants(&constants, noise, filtered, past);
    uint32_t luma = 0, chroma = 0;
    CURVE_EACH (i, CURVE_CELLS) {
        const uint32_t tolerance =
            lift_tolerance(w->hist, i, black, white, filtered, constants.past);
        const uint32_t quarter = lift_chroma(w->cum[i]);
        table->node[i] = lift_node(w->hist, i);
        table->tolerance[i] = tolerance;
        table->chroma[i] = (uint16_t)quarter;
        luma |= tolerance;
        chroma |= quarter;
    }
    luma = curve_any(luma);
    chroma = curve_any(chroma);
    CURVE_EACH (i, 1) {
        table->luma_on = luma != 0;
        table->chroma_on = chroma != 0;
        table->noisy = constants.noisy;
        table->past = constants.past;
        table->near = constants.near;
        table->speck = constants.speck;
        table->edge = constants.edge;
    }
}

CURVE_FN void curve_fill_codes(const CurveParams *p, const CurveBin *now, CurveTable *table)
{
    const int nodes = curve_has_nodes(p);
    CURVE_EACH (i, p->bins) {
        const uint32_t curve = CURVE_OWN(now, i).curve, code = (curve + CURVE_ONE / 2) >> 16;
        if (nodes)
            table->nodes[i] = curve_node(curve);
        else if (p->depth == 8)
            table->codes8[i] = (uint8_t)code;
        else
            table->codes16[i] = (uint16_t)(code << p->shift);
    }
    if (nodes) {
        CURVE_EACH (i, 1)
            table->nodes[p->bins] = 1u << (p->depth + CURVE_NODE_BITS);
    }
}

CURVE_FN void curve_fill_table(const CurveParams *p, CurveLifted lifted, const CurveBin *now,
                               CurveTable *table, CurveWork *w)
{
    const int32_t noise = lift_noise(lifted.dark, lifted.noise);
    curve_fill_codes(p, now, table);
    /* Without a lift, other threads may still read w->cum. */
    curve_fill_gains(p, lifted.on ? lift_gain_rule(noise) : curve_gain_rule(), now, table,
                     lifted.on ? w->cum : NULL);
    if (lifted.on) {
        curve_fill_lift(p, noise, lifted.past, now, &table->lift, w);
    } else {
        CURVE_EACH (i, 1)
            table->lift.luma_on = table->lift.chroma_on = 0;
    }
}

/* The first half of a curve: works on the whole histogram in `now` and needs neither history nor
 * bars. */
CURVE_FN CurveMeasured curve_begin(const CurveParams *p, CurveBin *now, CurveWork *w)
{
    const CurveMeasured none = {{0, 0, 0, 0}, 0, 0};
    return p->reference ? none : curve_see_all(p, now, w);
}

/* The second half: computes the frame's curve, history and table (NULL: no table; it can be made
 * from the result). The rates replace those in `p`, which may be another frame's. */
CURVE_FN void curve_finish(const CurveParams *p, CurveRates rates, CurveMeasured seen,
                           const BarsState *bars, const CurveResult *before, const CurveBin *was,
                           CurveResult *result, CurveBin *now, CurveTable *table, CurveWork *w)
{
    CurveLifted lifted = {0, 0, 0, 0};
    if (p->reference) {
        curve_reference(p, now, w);
        curve_keep_history(p, curve_history(p, before), was, result, now);
    } else {
        lifted = curve_video(p, rates, seen, bars, before, was, result, now, w);
    }
    CURVE_EACH (i, 1)
        result->bins = (uint32_t)p->bins;
    if (table)
        curve_fill_table(p, lifted, now, table, w);
}

/* Both halves, if bars and history are ready. */
CURVE_FN void curve_compute(const CurveParams *p, const CurveResult *before, const CurveBin *was,
                            CurveResult *result, CurveBin *now, CurveTable *table, CurveWork *w)
{
    const CurveRates rates = {p->alpha, p->slow};
    const CurveMeasured seen = curve_begin(p, now, w);
    curve_finish(p, rates, seen, &result->bars, before, was, result, now, table, w);
}

#endif
