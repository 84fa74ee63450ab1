#include "equalizer/rule/curve.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/reference.h"
#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/epoch.h"
#include "equalizer/rule/lift.h"
#include "equalizer/rule/light.h"

/* In a cut, the CDF changes by at least this much at some code. A car, a lamp or a screen in the
 * picture changes it less. */
#define CURVE_MOVED (CURVE_ONE * 18 / 100)

/*
 * A picture needs full strength if luma's standard deviation is below 11.5 % of the range (25 codes
 * in 8-bit limited range) or luma's mean is below 12 % (code 42). It needs none if the deviation is
 * above 17.5 % (38 codes) and the mean above 25 % (code 71). Deviations are compared as variances.
 */
#define CURVE_DULL_VARIANCE (CURVE_ONE * 132 / 10000)
#define CURVE_RICH_VARIANCE (CURVE_ONE * 306 / 10000)
#define CURVE_DARK_MEAN (CURVE_ONE * 12 / 100)
#define CURVE_BRIGHT_MEAN (CURVE_ONE * 25 / 100)

/* A picture is hazy if its shadows have at least HAZE_TO of the light around them, and not hazy if
 * they have at most HAZE_FROM. */
#define CURVE_HAZE_FROM (CURVE_ONE * 50 / 100)
#define CURVE_HAZE_TO (CURVE_ONE * 60 / 100)

/* Share of the haze's colour to remove. Other colours become 1 + LOST times as strong. */
#define CURVE_UNTINT (CURVE_ONE * 75 / 100)
#define CURVE_LOST (CURVE_ONE * 65 / 100)

/* Share of the haze that is cleared by default. */
#define CURVE_CLEARED (CURVE_ONE * 75 / 100)

/* Mode STRETCH ignores 1/200 of the samples at each end. */
#define CURVE_STRETCH_LEFT_OUT 200

/* The number of bins in range. */
static uint32_t range_of(const CurveParams *p)
{
    return (uint32_t)(curve_white(p) - curve_black(p) + 1);
}

static int overlap(int from, int size, int other, int other_size)
{
    const int begin = from > other ? from : other;
    const int end = from + size < other + other_size ? from + size : other + other_size;
    return end > begin ? end - begin : 0;
}

uint32_t curve_bars(const CurveParams *p, const LumeqRect *active, uint32_t area)
{
    const LumeqRect *m = &p->meter;
    if (!m->width || !area)
        return area;
    return (uint32_t)(m->width * m->height -
                      overlap(m->x, m->width, active->x, active->width) *
                          overlap(m->y, m->height, active->y, active->height));
}

const uint32_t *curve_exclude(const CurveParams *p, const uint32_t *hist, uint32_t samples,
                              uint32_t *left)
{
    if (!samples)
        return hist;
    for (int i = 0; i < p->bins; i++) {
        const uint32_t out = least_of(samples, hist[i]);
        left[i] = hist[i] - out;
        samples -= out;
    }
    return left;
}

HIDE_VARIANTS(curve_count)
ALSO_AVX2 CurveView curve_count(const CurveParams *p, const uint32_t *left, uint32_t *hist)
{
    const int black = curve_black(p), white = curve_white(p), bins = p->bins;
    CurveView view = {0};
    uint32_t most = 0;
    for (int i = 0; i < black; i++)
        hist[i] = 0;
    for (int i = white + 1; i < bins; i++)
        hist[i] = 0;
    for (int i = black; i <= white; i++) {
        hist[i] = left[i];
        view.counted += left[i];
        most = most_of(most, left[i]);
    }
    view.flat = most == view.counted;
    view.flat |= p->clip == CURVE_ONE && !p->lift;
    return view;
}

HIDE_VARIANTS(curve_statistics)
ALSO_AVX2 void curve_statistics(const CurveParams *p, CurveView *view, const uint32_t *hist,
                                uint32_t *sums, uint32_t *cdf)
{
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t n = range_of(p);
    const double place = 1.0 / n;
    const int bins = p->bins;
    uint32_t sum = 0, squares = 0;
    const double inverse = view->counted ? 1.0 / view->counted : 0;
    curve_scan(hist, bins, sums);
    for (int i = 0; i < bins; i++)
        cdf[i] = curve_part(sums[i], inverse);
    for (int i = 0; i < bins && !view->counted; i++)
        cdf[i] = CURVE_ONE;
    for (int i = black; i <= white; i++) {
        const uint32_t above = CURVE_ONE - cdf[i];
        sum += above;
        squares += curve_floor((2 * (i - black) + 1) << 15, place) * above >> 16;
    }
    const uint32_t mean = sum / n, square = 2 * (squares / n);
    const uint32_t squared = (uint32_t)((uint64_t)mean * mean >> 16);
    view->mean = mean;
    view->variance = square > squared ? square - squared : 0;
}

void curve_compare(const CurveParams *p, CurveView *view, const CurveResult *before, int same_scene,
                   uint32_t *cdf)
{
    view->distance = view->moved = view->dims = 0;
    if (!view->counted) {
        for (int i = 0; i < p->bins; i++)
            cdf[i] = before ? before->bin[i].cdf : 0;
        return;
    }
    if (!before || !before->bin[p->bins - 1].cdf || same_scene)
        return;
    uint32_t sum = 0, moved = 0, darker = 0;
    for (int i = curve_black(p); i <= curve_white(p); i++) {
        const uint32_t old = before->bin[i].cdf;
        const uint32_t apart = cdf[i] > old ? cdf[i] - old : old - cdf[i];
        sum += apart;
        darker += cdf[i] > old ? apart : 0;
        moved |= apart >= CURVE_MOVED;
    }
    view->distance = sum / range_of(p);
    view->moved = moved;
    view->dims = darker > sum - sum / 8;
}

/* Smoothstep from 0 at `from` to 1 at `to`, Q16. */
static uint32_t rise(uint32_t x, uint32_t from, uint32_t to)
{
    if (x <= from)
        return 0;
    if (x >= to)
        return CURVE_ONE;
    const uint64_t t = ((x - from) << 16) / (to - from);
    return (uint32_t)((t * t >> 16) * (3 * CURVE_ONE - 2 * t) >> 16);
}

uint32_t curve_need(const CurveView *view)
{
    const uint32_t rich = rise(view->variance, CURVE_DULL_VARIANCE, CURVE_RICH_VARIANCE);
    const uint32_t light = rise(view->mean, CURVE_DARK_MEAN, CURVE_BRIGHT_MEAN);
    return CURVE_ONE - least_of(rich, light);
}

uint32_t curve_strength(const CurveParams *p, uint32_t need)
{
    if (!p->adaptive || p->clear == CURVE_CLEAR_ALWAYS)
        return p->strength;
    const uint32_t used = p->lift ? need : curve_lerp(CURVE_NEED_LEAST, CURVE_ONE, need);
    return curve_lerp(0, p->strength, used);
}

static int32_t part_of(int32_t whole, uint32_t part)
{
    return (int32_t)((int64_t)whole * part / 65536);
}

static HazeTint mix_tint(HazeTint from, HazeTint to, uint32_t part)
{
    for (int i = 0; i < 2; i++) {
        from.of[i] += part_of(to.of[i] - from.of[i], part);
        from.base[i] += part_of(to.base[i] - from.base[i], part);
    }
    from.lost += part_of(to.lost - from.lost, part);
    return from;
}

static HazeTint weak_tint(HazeTint tint, uint32_t share)
{
    return mix_tint((HazeTint){.lost = 0}, tint, share);
}

void curve_weaken_haze(const CurveParams *p, HazeState *haze, uint32_t dark)
{
    const uint32_t share = p->clear == CURVE_CLEAR_ALWAYS ? CURVE_ONE : CURVE_ONE - dark;
    haze->tint = weak_tint(haze->tint, share);
    haze->local = (uint32_t)part_of((int32_t)haze->local, share);
}

void curve_move_haze(HazeState *from, const HazeState *to, uint32_t part)
{
    from->tint = mix_tint(from->tint, to->tint, part);
    from->local = curve_lerp(from->local, to->local, part);
    for (int i = 0; i < MEASURE_CELLS; i++) {
        from->low[i] = curve_lerp(from->low[i], to->low[i], part);
        from->mean[i] = curve_lerp(from->mean[i], to->mean[i], part);
        from->veil[i] = curve_lerp(from->veil[i], to->veil[i], part);
    }
}

void curve_haze(const CurveParams *p, const HazeCell *cells, int width, int height,
                const LumeqRect *active, HazeState *state)
{
    const int black = p->black >> (p->depth - 8);
    const int always = p->clear == CURVE_CLEAR_ALWAYS;
    HazeCell lit[MEASURE_CELLS]; /* on the axis of light */
    int coloured = 0;            /* gray pictures, such as thermal video, are not cleared locally */
    memset(state, 0, sizeof(*state));
    for (int i = 0; i < MEASURE_CELLS; i++) {
        lit[i] = transfer_cell(p, cells[i]);
        state->low[i] = (uint32_t)lit[i].low << 8;
        state->mean[i] = most_of(lit[i].mean, (uint32_t)black << 8);
        state->veil[i] = haze_veil(&lit[i]);
        for (int k = 0; k < 2; k++)
            coloured |= abs(cells[i].chroma[k] - HAZE_GRAY) >= 128;
    }
    const uint32_t hazy =
        rise(haze_of(lit, width, height, &p->meter, black, active), CURVE_HAZE_FROM, CURVE_HAZE_TO);
    const uint32_t share = always ? CURVE_ONE : hazy;
    if (!p->clear || !share)
        return;
    const HazeTint all = haze_tint(lit, width, height, &p->meter, black, active);
    state->tint = transfer_tint(p, weak_tint(all, curve_lerp(0, CURVE_UNTINT, share)));
    state->tint.lost = (int32_t)curve_lerp(0, CURVE_LOST, hazy);
    if (!p->meter.width && !p->limit && (coloured || always))
        state->local = share;
}

uint32_t curve_clear_haze(const CurveParams *p, const uint32_t *curve, CurveResult *result)
{
    uint32_t nodes[CURVE_CELLS];
    const int down = p->depth - 8, width = curve_width(p);
    const int black = p->black >> down, white = p->white >> down;
    for (int i = 0; i < CURVE_CELLS; i++)
        nodes[i] = curve_code8(p, curve[i * width]);
    const uint32_t most = p->clear == CURVE_CLEAR_ALWAYS ? CURVE_ONE : CURVE_CLEARED;
    const uint32_t share = curve_lerp(0, curve_lerp(0, most, p->strength), result->cleared.local);
    result->clear = haze_clear(&result->cleared, share, nodes, black, white, p->depth);
    const uint32_t slope =
        haze_slope(&result->cleared, &result->clear, nodes, black, white, p->depth);
    if (result->clear.light)
        transfer_clear(p, &result->cleared, nodes, &result->clear);
    return slope > CURVE_ONE ? CURVE_ONE - (uint32_t)(((uint64_t)CURVE_ONE << 16) / slope) : 0;
}

/* True if the picture has changed within a frame or two, and is calm again. */
static int follows_jump(const CurveParams *p, const CurveResult *before, const CurveView *view)
{
    return before && p->scene_cut && before->jumps >= 1 && before->jumps <= CURVE_JUMPS &&
           view->distance <= CURVE_CALM;
}

/* True if an epoch that began black got lighter. The margin keeps nearly black pictures black. */
static int leaves_black(const EpochState *epoch, const CurveView *view)
{
    return epoch && epoch->black && view->mean > CURVE_BLACK_MEAN + CURVE_BLACK_MEAN / 2;
}

/* Change of the picture. A lift amplifies dark pictures and thus their changes. So with a lift, the
 * change of a picture darker than CURVE_FADE_MEAN is relative to the picture's mean. */
static uint32_t change_of(const CurveParams *p, const CurveView *view)
{
    if (!p->lift || view->mean >= CURVE_FADE_MEAN)
        return view->distance;
    return (uint32_t)((uint64_t)view->distance * CURVE_FADE_MEAN /
                      most_of(view->mean, CURVE_BLACK_MEAN));
}

/* Adjusts `alpha`: at least CURVE_BLACK_ALPHA if the picture is black, and less in a fade. */
static uint32_t fade_alpha(const CurveParams *p, uint32_t alpha, int black, int fades,
                           uint32_t change)
{
    if (black)
        return most_of(alpha, CURVE_BLACK_ALPHA);
    if (!fades)
        return alpha;
    return curve_lerp(alpha, alpha / (p->lift ? 64 : 8), rise(change, CURVE_FADE_CALM, CURVE_FADE));
}

/* Clips cells that have one bin each. Each round spreads the previous round's excess evenly and
 * cuts at the limit. The division's remainder goes to evenly spaced cells, one count each: where
 * cell * remainder / n passes an integer. This quotient, with 24 fraction bits, is less than 1/n
 * too large, so it passes integers at the same cells. */
static ALSO_AVX2 void clip_codes(uint32_t *hist, uint32_t n, uint32_t counted, uint32_t limit)
{
    uint32_t excess = 0;
    for (int round = 0; round <= CURVE_CLIP_ROUNDS; round++) {
        const uint32_t share = excess / n, step = excess % n * ((1u << 24) / n + 1);
        const uint32_t most = round < CURVE_CLIP_ROUNDS ? limit : UINT32_MAX;
        uint32_t at = 0;
        excess = counted;
        for (uint32_t i = 0; i < n; i++, at += step) {
            hist[i] = least_of(hist[i] + share + (((at & 0xffffff) + step) >> 24), most);
            excess -= hist[i];
        }
        if (!excess)
            break;
    }
}

/* Cuts cells to the limit, and their bins in proportion. Returns the excess. A limit for single
 * bins would fail if a deep format holds codes of fewer bits, because most bins are then empty. */
static ALSO_AVX2 uint32_t cut_cells(const CurveParams *p, uint32_t *hist, uint32_t limit)
{
    const int width = curve_width(p);
    uint32_t over = 0;
    for (uint32_t *bin = hist; bin < hist + p->bins; bin += width) {
        uint32_t cell = 0, left = 0;
        for (int i = 0; i < width; i++)
            cell += bin[i];
        if (cell <= limit)
            continue;
        const CurveRatio share = curve_ratio(limit, cell);
        for (int i = 0; i < width; i++)
            left += bin[i] = curve_scale(bin[i], share);
        over += cell - left;
    }
    return over;
}

/* Adds `excess` counts to n bins evenly, as clip_codes() does. */
static ALSO_AVX2 void spread(uint32_t *hist, uint32_t n, uint32_t excess)
{
    const uint32_t share = excess / n, rest = excess % n;
    const double inverse = 1.0 / n;
    for (uint32_t i = 0; i < n; i++)
        hist[i] += share + curve_floor((int32_t)((i + 1) * rest), inverse) -
                   curve_floor((int32_t)(i * rest), inverse);
}

/* Cuts each cell in range to the clip limit and spreads the excess over all bins. */
static void clip(const CurveParams *p, uint32_t counted, uint32_t *hist)
{
    const uint32_t n = range_of(p), width = (uint32_t)curve_width(p);
    if (!p->clip || (p->clip >> 16) * width >= n)
        return;
    const uint32_t limit = (uint32_t)(((uint64_t)counted * p->clip >> 16) * width / n);
    if (limit >= counted)
        return;
    uint32_t *in_range = hist + curve_black(p);
    if (width == 1)
        clip_codes(in_range, n, counted, limit);
    for (int round = 0; round < CURVE_CLIP_ROUNDS && width > 1; round++) {
        const uint32_t excess = cut_cells(p, hist, limit);
        if (!excess)
            break;
        spread(in_range, n, excess);
    }
}

/* Mode STRETCH: a straight line from black to white over the codes that hold all but a few counts.
 * A line steeper than the clip limit is extended on both sides in proportion to the room there. */
static void stretch(const CurveParams *p, uint32_t counted, const uint32_t *sums, uint32_t *target)
{
    const int black = curve_black(p), white = curve_white(p);
    const uint32_t left_out = counted / CURVE_STRETCH_LEFT_OUT;
    const uint32_t all = (uint32_t)(white - black);
    uint32_t low = 0, high = 0;
    for (int i = black; i < white; i++) {
        low += sums[i] <= left_out;
        high += sums[i] < counted - left_out;
    }
    uint32_t length = high - low;
    const uint32_t least = p->clip ? (uint32_t)(((uint64_t)all << 16) / p->clip) : 1;
    if (length < least && length < all) {
        low -= (uint32_t)((uint64_t)(least - length) * low / (all - length));
        length = least;
    }
    length = most_of(length, 1);
    low += (uint32_t)black;
    const CurveRatio slope = curve_ratio((uint64_t)(p->white - p->black) << 16, length);
    for (uint32_t i = 0; i < (uint32_t)p->bins; i++) {
        target[i] = (uint32_t)(i <= low ? p->black : p->white) << 16;
        if (i > low && i < low + length)
            target[i] = light_is_on(&p->light)
                            ? light_code(p, i - low, length)
                            : ((uint32_t)p->black << 16) + curve_scale(i - low, slope);
    }
}

HIDE_VARIANTS(curve_target)
ALSO_AVX2 void curve_target(const CurveParams *p, uint32_t counted, int flat, const uint32_t *light,
                            uint32_t *hist, uint32_t *sums, uint32_t *target)
{
    const int black = curve_black(p), white = curve_white(p);
    if (flat) {
        for (int i = black; i <= white; i++)
            target[i] = light[i];
        return;
    }
    if (!p->stretch)
        clip(p, counted, hist);
    curve_scan(hist, p->bins, sums);
    if (p->stretch) {
        stretch(p, counted, sums, target);
        return;
    }
    const uint32_t first = sums[black];
    const CurveRatio slope =
        curve_ratio((uint64_t)(p->white - p->black) << 16, most_of(counted - first, 1));
    const uint32_t from = (uint32_t)p->black << 16;
    target[black] = light[black];
    for (int i = black + 1; i <= white; i++)
        target[i] = from + curve_scale(sums[i] - first, slope);
}

HIDE_VARIANTS(curve_smooth)
ALSO_AVX2 void curve_smooth(const CurveParams *p, const uint32_t *light, const uint32_t *target,
                            const uint32_t *was, uint32_t alpha, uint32_t *smooth)
{
    const int black = curve_black(p), white = curve_white(p);
    const size_t size = (size_t)(white - black + 1) * sizeof(*smooth);
    if (alpha < CURVE_ONE)
        for (int i = black; i <= white; i++)
            smooth[i] = curve_lerp(was[i], target[i], alpha);
    else if (smooth != target)
        memcpy(smooth + black, target + black, size);
    for (int i = 0; i < black; i++)
        smooth[i] = light[i];
    for (int i = white + 1; i < p->bins; i++)
        smooth[i] = light[i];
}

uint32_t curve_limited(const CurveParams *p, int i, uint32_t curve)
{
    const uint32_t same = (uint32_t)i << (16 + p->fraction);
    if (p->limit == LUMEQ_LIMIT_DARKEN)
        return least_of(curve, same);
    return p->limit == LUMEQ_LIMIT_LIGHTEN ? most_of(curve, same) : curve;
}

HIDE_VARIANTS(curve_weaken)
ALSO_AVX2 void curve_weaken(const CurveParams *p, const uint32_t *light, const uint32_t *smooth,
                            uint32_t strength, uint32_t *curve)
{
    const int bins = p->bins;
    if (strength == CURVE_ONE)
        memcpy(curve, smooth, (size_t)bins * sizeof(curve[0]));
    else
        for (int i = 0; i < bins; i++)
            curve[i] = curve_lerp(light[i], smooth[i], strength);
    for (int i = 0; i < bins && p->limit; i++)
        curve[i] = curve_limited(p, i, curve[i]);
}

/* The history, or NULL if it has another depth or range. */
static const CurveResult *history_of(const CurveParams *p, const CurveResult *before)
{
    const int same = before->depth == (uint32_t)p->depth && before->white == (uint32_t)p->white;
    return same ? before : NULL;
}

/* The noise of the previous frame, or NOISE_UNKNOWN if there was no lift or `ignored` is set. */
static uint32_t noise_before(const CurveResult *before)
{
    return before && before->lift.on && !before->lift.ignored ? before->noise : NOISE_UNKNOWN;
}

/* True if the noise has just become known, or is no longer awaited. The curve is then decided
 * again, because the noise assumed before may have been far off. */
static int is_noise_new(const CurveResult *before)
{
    return before->lift.awaited == 1 ||
           (!before->lift.known && noise_before(before) != NOISE_UNKNOWN);
}

/* Computes the target of this frame alone, in w->smooth. Returns the lift rule's decisions. */
static LiftChoice own_target(const CurveParams *p, const CurveView *view, int flat,
                             const CurveResult *result, CurveWork *w)
{
    LiftChoice choice = {0};
    if (!p->lift) {
        choice.need = result->epoch.black ? 0 : curve_need(view);
        curve_target(p, view->counted, flat, w->light, w->hist, w->sums, w->smooth);
    } else if (flat) {
        memcpy(w->smooth, w->light, (size_t)p->bins * sizeof(w->smooth[0]));
    } else {
        uint32_t shares[CURVE_CELLS], nodes[CURVE_CELLS];
        lift_shares(p, w->sums, view->counted, shares);
        choice =
            lift_decide(shares, lift_wanted(p, shares, result->lift.noise, result->lift.awaited),
                        &p->light, nodes);
        lift_targets(p, nodes, w->smooth);
    }
    return choice;
}

/* Updates the epoch's target, the mean of its first frames' targets. Copies it to w->smooth. */
static void follow_target(const CurveParams *p, const CurveView *view, const CurveResult *before,
                          CurveResult *result, CurveWork *w)
{
    const int flat = view->flat || result->epoch.black;
    const uint32_t weight = result->weight;
    EpochState *now = &result->epoch;
    for (int i = 0; before && i < p->bins; i++)
        w->was[i] = before->bin[i].target;
    if (weight) {
        const LiftChoice choice = own_target(p, view, flat, result, w);
        now->need = curve_lerp(now->need, choice.need, weight);
        now->dark = curve_lerp(now->dark, choice.dark, weight);
        now->more = curve_lerp(now->more, choice.lift, weight);
        now->voids = curve_lerp(now->voids, choice.voids, weight);
        HazeState seen = result->seen;
        curve_weaken_haze(p, &seen, choice.dark);
        curve_move_haze(&now->haze, &seen, weight);
    }
    curve_smooth(p, w->light, weight ? w->smooth : w->was, w->was, weight, w->smooth);
    for (int i = 0; i < p->bins; i++)
        result->bin[i].target = w->smooth[i];
}

/* The mean light of a picture, Q16, after a curve. `apart`: distance between the CDFs of
 * neighbouring bins, in elements of `cdf`. */
static uint64_t mean_of(const CurveParams *p, const uint32_t *curve, const uint32_t *cdf,
                        size_t apart)
{
    uint64_t sum = 0;
    uint32_t below = 0;
    for (int i = 0; i < p->bins; i++, cdf += apart) {
        sum += (uint64_t)curve[i] * (*cdf - below);
        below = *cdf;
    }
    return sum >> 16;
}

/* How far the curve may move to a darker target at once, Q16. If the picture got lighter: until the
 * output is as light as the previous frame's. Otherwise 0. */
static uint32_t rise_alpha(const CurveParams *p, const CurveResult *before, const CurveWork *w)
{
    const uint64_t past = mean_of(p, w->was, &before->bin->cdf, sizeof(CurveBin) / 4);
    const uint64_t now = mean_of(p, w->was, w->cdf, 1);
    const uint64_t target = mean_of(p, w->smooth, w->cdf, 1);
    if (now <= past || now <= target)
        return 0;
    return now - past >= now - target ? CURVE_ONE
                                      : (uint32_t)(((now - past) << 16) / (now - target));
}

/* Changes w->curve so that the output's light changes less, except in a fade from black. `share`:
 * the share of the output's change that the curve adds, Q16. */
static void even_light(const CurveParams *p, const CurveResult *past, CurveResult *result,
                       uint32_t share, CurveWork *w)
{
    EpochState *now = &result->epoch;
    const uint32_t alpha = result->alpha, *seen = result->seen.mean;
    now->change = past ? past->epoch.change : 0;
    for (int i = 0; i < MEASURE_CELLS; i++)
        now->light[i] = result->fades == CURVE_FADES_IN
                            ? seen[i]
                            : curve_lerp(past ? past->epoch.light[i] : 0, now->haze.mean[i], alpha);
    memcpy(w->was, w->curve, (size_t)p->bins * sizeof(w->was[0]));
    if (p->lift)
        light_even(p,
                   light_factor(p, share, now->light, past ? past->seen.mean : NULL, seen, alpha,
                                &now->change),
                   w->was, w->curve);
    for (int i = 0; i < p->bins && p->limit; i++)
        w->curve[i] = curve_limited(p, i, w->curve[i]);
}

/* Computes a frame's curve, except in the reference mode. */
static void video(const CurveParams *p, const uint32_t *hist, const CurveResult *before,
                  CurveResult *result, CurveWork *w)
{
    before = history_of(p, before);
    light_bins(p, w->light);
    transfer_map(p, &w->map);
    const uint32_t bars = curve_bars(p, &result->bars.active, result->bars.area);
    const uint32_t *left = curve_exclude(p, hist, bars, w->left);
    CurveView view = curve_count(p, transfer_counts(p, &w->map, left, w->moved), w->hist);
    curve_statistics(p, &view, w->hist, w->sums, w->cdf);
    curve_compare(p, &view, before, result->bars.grew, w->cdf);

    const int black = p->adaptive && view.mean < CURVE_BLACK_MEAN;
    const uint32_t change = change_of(p, &view);
    const int cut = before && p->scene_cut && view.moved && view.distance >= CURVE_CUT_HIGH;
    const int sudden = cut || follows_jump(p, before, &view);
    /* A fade, from black or to darkness, lasts while the histogram changes without a cut. */
    const int fades = p->adaptive && before && p->alpha < CURVE_ONE &&
                      (before->fades || view.dims) && change > CURVE_FADE_CALM && !sudden;
    result->scene_cut = (uint32_t)cut;
    result->jumps = 0;
    if (before && view.moved && view.distance >= CURVE_JUMP)
        result->jumps = before->jumps > CURVE_JUMPS ? before->jumps : before->jumps + 1;
    const int from_black = black || (fades && before->fades == CURVE_FADES_IN);
    result->fades = from_black ? CURVE_FADES_IN : (uint32_t)fades;

    /* After the lift is switched on or off, the curve's history is not used. */
    const int same = before && before->lift.on == (uint32_t)p->lift;
    const uint32_t noise = noise_before(before);
    const int measured = p->lift && same && is_noise_new(before);
    uint32_t cells[CURVE_CELLS];
    epoch_cells(p, w->cdf, cells);
    const EpochState *epoch = same ? &before->epoch : NULL;
    const int faded = black || (before && before->fades);
    const int has_risen = before && before->fades == CURVE_FADES_IN && !result->fades;
    const int begins = has_risen || measured || p->alpha == CURVE_ONE ||
                       leaves_black(epoch, &view) ||
                       (epoch && sudden && epoch_is_cut(epoch->cdf, cells)) ||
                       (epoch && faded && epoch_differs(p, epoch->cdf, cells));
    result->weight = epoch_follow(p, epoch, cells, begins, &result->epoch);
    if (result->weight == CURVE_ONE)
        result->epoch.black = (uint32_t)black;
    uint32_t alpha = !same || (sudden && begins) ? CURVE_ONE : p->alpha;
    if (same)
        alpha = fade_alpha(p, alpha, (int)result->epoch.black, fades, change);
    if (p->lift) {
        const LiftState *old = same ? &before->lift : NULL;
        LiftState *now = &result->lift;
        now->on = 1;
        now->ignored = result->scene_cut || view.flat || black;
        lift_follow_noise(now, old, noise, result->weight, (int)now->ignored, p->first);
        if (measured && !before->epoch.black && result->fades != CURVE_FADES_IN)
            alpha = CURVE_ONE;
    }
    result->lift.on = (uint32_t)p->lift;
    const CurveResult *past = same ? before : NULL;
    follow_target(p, &view, past, result, w);
    for (int i = 0; before && i < p->bins; i++)
        w->was[i] = before->bin[i].smooth;
    if (past && !fades && !begins && result->weight == CURVE_ONE)
        alpha = most_of(alpha, rise_alpha(p, past, w));
    const EpochState *wanted = &result->epoch;
    result->alpha = alpha;
    result->need = curve_lerp(before ? before->need : 0, wanted->need, alpha);
    result->lift.dark = curve_lerp(past ? past->lift.dark : 0, wanted->dark, alpha);
    result->lift.more = curve_lerp(past ? past->lift.more : 0, wanted->more, alpha);
    result->lift.voids = curve_lerp(past ? past->lift.voids : 0, wanted->voids, alpha);
    memset(&result->cleared, 0, sizeof(result->cleared));
    if (past)
        result->cleared = past->cleared;
    curve_move_haze(&result->cleared, &wanted->haze, alpha);
    result->strength = curve_strength(p, result->need);

    curve_smooth(p, w->light, w->smooth, w->was, alpha, w->smooth);
    curve_weaken(p, w->light, w->smooth, p->lift ? p->strength : result->strength, w->curve);
    even_light(p, past, result, curve_clear_haze(p, w->curve, result), w);
    const uint32_t *curve = transfer_curve(p, &w->map, w->curve, w->moved);
    for (int i = 0; i < p->bins; i++)
        result->bin[i] =
            (CurveBin){result->bin[i].target, w->smooth[i], w->cdf[i], left[i], curve[i]};
}

void curve_keep_history(const CurveParams *p, const CurveResult *before, CurveResult *result)
{
    static const LiftState none;
    before = history_of(p, before);
    for (int i = 0; i < p->bins; i++) {
        result->bin[i].target = before ? before->bin[i].target : 0;
        result->bin[i].smooth = before ? before->bin[i].smooth : 0;
        result->bin[i].cdf = before ? before->bin[i].cdf : 0;
    }
    result->lift = before ? before->lift : none;
    result->lift.ignored = 1;
    result->epoch = before ? before->epoch : (EpochState){0};
    result->cleared = before ? before->cleared : (HazeState){.local = 0};
    memset(&result->clear, 0, sizeof(result->clear));
    result->bins = (uint32_t)p->bins;
    result->depth = before ? (uint32_t)p->depth : 0;
    result->white = (uint32_t)p->white;
    result->scene_cut = 0;
    result->jumps = before ? before->jumps : 0;
    result->need = before ? before->need : 0;
    result->weight = result->alpha = 0;
    result->strength = CURVE_ONE;
    result->fades = before ? before->fades : 0;
}

static void reference(const CurveParams *p, const uint32_t *hist, CurveResult *result, CurveWork *w)
{
    const uint32_t total = curve_scan(hist, p->bins, w->sums);
    uint32_t first = 0;
    for (int i = 0; i < p->bins; i++)
        first += !w->sums[i];
    const uint32_t base = total ? w->sums[first] : 0;
    const float scale = reference_scale(base, total);
    for (uint32_t i = 0; i < (uint32_t)p->bins; i++) {
        result->bin[i].hist = hist[i];
        result->bin[i].curve = reference_code(i, w->sums[i], first, base, total, scale) << 16;
    }
}

void curve_compute(const CurveParams *p, const uint32_t *hist, const CurveResult *before,
                   CurveResult *result, CurveTable *table, CurveWork *w)
{
    if (p->reference) {
        reference(p, hist, result, w);
        curve_keep_history(p, before, result);
    } else {
        video(p, hist, before, result, w);
        result->bins = (uint32_t)p->bins;
        result->depth = (uint32_t)p->depth;
        result->white = (uint32_t)p->white;
    }
    curve_fill_table(p, result, table);
}

/* ---- the lookup table ---- */

uint32_t curve_code8(const CurveParams *p, uint32_t curve)
{
    return (uint32_t)(((uint64_t)curve + (1u << (p->depth - 1))) >> p->depth);
}

static int32_t filter_noise(const CurveResult *result)
{
    return lift_noise(result->lift.dark, result->lift.noise >> 10);
}

/* How the curve changes the first code of a cell of HDR. */
static TransferStep cell_step(const CurveParams *p, const CurveBin *bin, int cell)
{
    return transfer_step(p, (uint32_t)cell << (p->depth + 8), bin[cell * curve_width(p)].curve);
}

/* HDR: the gain on the axis of light, converted to codes. */
static uint32_t hdr_gain(TransferStep step, CurveGainRule rule)
{
    return (uint32_t)((int64_t)curve_gain(step.from, step.to, rule) * step.codes_after /
                      step.codes);
}

/* HDR: the tolerances of SDR codes of the same light, converted to codes of the format. The
 * conversion never increases them. */
static void hdr_tolerances(const CurveParams *p, const CurveResult *result, const uint32_t *nodes,
                           int32_t filtered, int cell, CurveTable *table)
{
    LiftTables *t = &table->lift;
    const TransferStep s = cell_step(p, result->bin, cell);
    const int64_t slope = (int64_t)lift_slope(nodes, cell) * s.codes / s.codes_after;
    const int64_t gain = (int64_t)table->gain[cell].gain * s.codes / s.codes_after;
    const uint32_t codes = least_of((uint32_t)s.codes, CURVE_ONE);
    const uint32_t tolerance = lift_tolerance_of((int32_t)slope, filtered, lift_left(t->past));
    t->tolerance[cell] =
        ((tolerance & 0xffff) * codes >> 16) | ((tolerance >> 16) * codes & ~0xffffu);
    t->chroma[cell] = (uint16_t)(lift_chroma((uint32_t)gain) * codes >> 16);
}

void curve_fill_lift(const CurveParams *p, const CurveResult *result, int32_t past,
                     CurveTable *table)
{
    const int width = curve_width(p), down = p->depth - 8;
    const int32_t noise = filter_noise(result), filtered = lift_filtered(noise, p->denoise);
    LiftTables *t = &table->lift;
    uint32_t nodes[CURVE_CELLS], luma = 0, chroma = 0;
    for (int i = 0; i < CURVE_CELLS; i++)
        nodes[i] = curve_code8(p, result->bin[i * width].curve);
    lift_constants(t, noise, filtered, past);
    const int first = (p->black >> down) + 4, last = (p->white >> down) - 3;
    const int32_t left = lift_left(t->past);
    for (int i = first; i <= last; i++)
        t->tolerance[i] = lift_tolerance_of(lift_slope(nodes, i), filtered, left);
    for (int i = 0; i < CURVE_CELLS; i++)
        t->chroma[i] = (uint16_t)lift_chroma(table->gain[i].gain);
    for (int i = first; i <= last && p->transfer != LUMEQ_TRANSFER_SDR; i++)
        hdr_tolerances(p, result, nodes, filtered, i, table);
    for (int i = 0; i < first; i++)
        t->tolerance[i] = t->tolerance[first];
    for (int i = last + 1; i < CURVE_CELLS; i++)
        t->tolerance[i] = t->tolerance[last];
    for (int i = 0; i < CURVE_CELLS; i++) {
        t->node[i] = lift_node(nodes, i);
        luma |= t->tolerance[i];
        chroma |= t->chroma[i];
    }
    if (p->transfer != LUMEQ_TRANSFER_SDR)
        t->node[CURVE_CELLS - 1] |= 256u << 16; /* slope 1 keeps codes above 255 */
    t->luma_on = luma != 0;
    t->chroma_on = chroma != 0;
}

static void fill_codes(const CurveParams *p, const CurveBin *bin, CurveTable *table)
{
    if (curve_has_nodes(p)) {
        for (int i = 0; i < p->bins; i++)
            table->nodes[i] = curve_node(bin[i].curve);
        table->nodes[p->bins] = 1u << (p->depth + CURVE_NODE_BITS);
    } else if (p->depth == 8) {
        for (int i = 0; i < 256; i++)
            table->codes8[i] = (uint8_t)((bin[i].curve + CURVE_ONE / 2) >> 16);
    } else {
        for (int i = 0; i < p->bins; i++)
            table->codes16[i] = (uint16_t)((bin[i].curve + CURVE_ONE / 2) >> 16 << p->shift);
    }
}

/* Computes curve_gain_over() for the first code of each cell. */
static void fill_gains(const CurveParams *p, const CurveBin *bin, CurveGainRule rule,
                       CurveGain *gains)
{
    const int width = curve_width(p), depth = p->depth;
    const int32_t black = p->black >> (depth - 8);
    int32_t from[CURVE_CELLS], to[CURVE_CELLS], ratio[CURVE_CELLS];
    for (int32_t i = 0; i < CURVE_CELLS; i++) {
        const int32_t above = (int32_t)(bin[i * width].curve >> depth) - 256 * black;
        from[i] = i > black ? 256 * (i - black) : 0;
        to[i] = above > 0 ? above : 0;
    }
    for (int i = 0; i < CURVE_CELLS; i++)
        ratio[i] = (int32_t)curve_quotient((double)to[i] * CURVE_GAIN_ONE, from[i] | !from[i]);
    for (int i = 0; i < CURVE_CELLS; i++) {
        uint32_t gain = CURVE_GAIN_ONE;
        if (p->chroma)
            gain = p->transfer == LUMEQ_TRANSFER_SDR ? curve_gain_by(from[i], ratio[i], rule)
                                                     : hdr_gain(cell_step(p, bin, i), rule);
        gains[i] =
            (CurveGain){.gain = (uint16_t)gain, .from = (uint16_t)from[i], .to = (uint16_t)to[i]};
    }
}

void curve_fill_table(const CurveParams *p, const CurveResult *result, CurveTable *table)
{
    const int lifted = p->lift && p->strength;
    table->clear = result->clear;
    table->tint = weak_tint(result->cleared.tint, p->chroma ? p->strength : 0);
    fill_codes(p, result->bin, table);
    fill_gains(p, result->bin,
               lifted ? lift_gain_rule(filter_noise(result), result->lift.voids, p->transfer)
                      : curve_gain_rule(p->transfer),
               table->gain);
    if (lifted)
        curve_fill_lift(p, result, result->scene_cut ? 0 : p->past, table);
    else
        table->lift.luma_on = table->lift.chroma_on = 0;
}
