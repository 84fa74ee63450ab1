/*
 * The model in tests/lift defines the rule exactly; this code uses its names and gives the same
 * bits. A place is a tone above black as a share of the range, Q16.
 */
#include "equalizer/rule/lift.h"

#include <math.h>
#include <string.h>

#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/transfer.h"

/* Counts are scaled to a sum of this many bits, so that sums and clipped excess fit 32 bits. */
#define LIFT_BITS 28

/* Maximum slope, and maximum output noise in 64ths of a code: NOISE_OUT before the noise filter,
 * which removes most of the noise, or NOISE_LEFT without the filter. */
#define LIFT_SLOPE_MOST (13 * CURVE_ONE)
#define LIFT_NOISE_OUT (26u * 64)
#define LIFT_NOISE_LEFT 685u

/* Minimum noise to assume in the first LIFT_AWAITED frames of a video, in codes. The first frame
 * cannot measure noise, and the second frame uses the first frame's noise. */
#define LIFT_NOISE_POSSIBLE 4
#define LIFT_AWAITED 2

/* A new measurement has at least the weight 1 / (1 + LIFT_NOISE_SEEN) in the mean noise. */
#define LIFT_NOISE_SEEN 8

#define LIFT_PAGE 12  /* a page's colour is at least this many codes above black */
#define LIFT_GLOOM 32 /* a night sky's colour is at most about this many codes above black */

#define LIFT_CLIP_ROUNDS 4 /* as in curve.h */

/* Target mean of a dark picture, as a share of the range: AIM_VOID if it is mostly void, otherwise
 * up to AIM_MORE more. Void samples are black apart from noise, or in one narrow peak of dark
 * codes. More light would only turn them gray. */
#define LIFT_AIM_VOID LIFT_PERCENT(9)
#define LIFT_AIM_MORE (LIFT_PERCENT(115) / 4)
#define LIFT_VOID_FROM LIFT_PERCENT(45)
#define LIFT_VOID_TO LIFT_PERCENT(65)
#define LIFT_VOID_CODES 4 /* codes up to black + VOID_CODES + VOID_NOISE * noise are void */
#define LIFT_VOID_NOISE 2

/* The lift moves the 99th percentile of a dark SDR picture at most to this place, or as far as the
 * mean needs if equalization doubles it. */
#define LIFT_LIGHT LIFT_PERCENT(70)

/* A picture is dark if the mean of its darker three quarters is below DARK_FROM, and not dark if it
 * is above DARK_TO. The lighter quarter (captions, lamps, sky) does not count. */
#define LIFT_DARK_FROM LIFT_PERCENT(18)
#define LIFT_DARK_TO LIFT_PERCENT(32)

/* A picture is also dark if nine tenths of it are below DIM_FROM and one tenth is below BLACK_FROM,
 * for example a city under a large, dull sky. */
#define LIFT_DIM_FROM LIFT_PERCENT(36)
#define LIFT_DIM_TO LIFT_PERCENT(46)
#define LIFT_BLACK_FROM LIFT_PERCENT(14)
#define LIFT_BLACK_TO LIFT_PERCENT(20)

/* The mean of a dull picture moves by at most 1 / LIFT_MEAN_MOVES of itself. */
#define LIFT_MEAN_MOVES 25

/* Arrays are by code, from black to white. */
typedef struct Picture {
    uint32_t count[CURVE_CELLS]; /* scaled */
    uint32_t sums[CURVE_CELLS];  /* prefix sums of the counts, then of the clipped counts */
    uint32_t at[CURVE_CELLS];    /* places */
    uint32_t place[CURVE_CELLS]; /* lifted places */
    uint32_t width[CURVE_CELLS]; /* distance to the next code's lifted place */
    uint32_t equal[CURVE_CELLS]; /* clipped counts, then places after equalization */

    uint32_t total;        /* sum of the counts */
    int last;              /* white's code minus black's */
    uint32_t mean, darker; /* mean place of all counts, and of the darker three quarters */
    uint32_t peak, gloom;  /* largest sum of the counts of three neighbouring codes: from LIFT_PAGE
                            * on, and below LIFT_GLOOM */
    uint32_t voids;        /* void share, Q16 */
    /* Percentiles, as codes; floor: 1 %, middle: 50 %. */
    uint32_t floor, p10, middle, p90, p99, p995;
    uint32_t noise, slope; /* assumed noise, 64ths of a code; the steepest slope that the limit of
                            * output noise allows, Q16 */
    uint32_t page;         /* Q16: the picture is a page or a screen, to be left unchanged */
    uint32_t quality;      /* Q16: the picture is neither a page nor noise alone */
    uint32_t aim;          /* target mean of a dark picture */
} Picture;

static uint32_t ramp(int32_t x, int32_t from, int32_t to)
{
    if (x <= from)
        return 0;
    return x >= to ? CURVE_ONE : ((uint32_t)(x - from) << 16) / (uint32_t)(to - from);
}

static uint32_t times(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b + CURVE_ONE / 2) >> 16);
}

static uint32_t between(uint32_t from, uint32_t to, uint32_t part)
{
    return times(from, CURVE_ONE - part) + times(to, part);
}

/* n / d, saturated to 32 bits. */
static uint32_t ratio(uint64_t n, uint32_t d)
{
    return n >> 32 >= d ? UINT32_MAX : (uint32_t)(n / d);
}

uint32_t lift_reach(uint32_t from, uint32_t to)
{
    const uint32_t reach = to > from ? from * (CURVE_ONE - to) : 0; /* 0: to black or white */
    return reach ? (uint32_t)(((uint64_t)(to - from) << 32) / reach) : 0;
}

/* Scales the counts and sums them up. Black counts are capped, as they may be undetected bars.
 * Returns the ratio of the black counts to all others, Q16, at most 256. */
static uint32_t scale_counts(Picture *v, const uint32_t *counts)
{
    uint32_t others = 0;
    for (int i = 1; i < CURVE_CELLS; i++)
        others += counts[i];
    const uint32_t most = others >> 8;
    const uint32_t black = others && counts[0] > most ? most : counts[0];
    const uint32_t sum = others + black;
    int up = 0, down = 0;
    while (sum >> down >> LIFT_BITS)
        down++;
    while (sum && !(sum << up >> (LIFT_BITS - 1)))
        up++;
    for (int i = 0; i < CURVE_CELLS; i++)
        v->count[i] = counts[i] >> down << up;
    v->count[0] = black >> down << up;
    v->total = curve_scan(v->count, CURVE_CELLS, v->sums);
    return counts[0] >> 8 < others ? (uint32_t)(((uint64_t)counts[0] << 16) / others)
                                   : CURVE_ONE << 8;
}

/* The code at which `share` thousandths of `total` counts are reached. */
static uint32_t percentile(const Picture *v, uint32_t total, uint32_t share)
{
    const uint32_t least = (uint32_t)(((uint64_t)total * share + 999) / 1000);
    uint32_t below = 0;
    for (int i = 0; i <= v->last; i++)
        below += v->sums[i] < least;
    return below;
}

/* The mean of values weighted by the counts. */
static uint32_t weighted(const Picture *v, const uint32_t *values)
{
    uint64_t sum = 0;
    for (int i = 0; i <= v->last; i++)
        sum += (uint64_t)v->count[i] * values[i];
    return (uint32_t)(sum / v->total);
}

static void find_statistics(Picture *v, int hdr)
{
    const uint32_t three_quarters = v->total - v->total / 4;
    uint64_t darker = 0, light = 0, all = 0;
    v->peak = v->gloom = 0;
    for (int i = 0; i <= v->last; i++) {
        const uint32_t room = three_quarters - least_of(v->sums[i] - v->count[i], three_quarters);
        darker += (uint64_t)least_of(v->count[i], room) * v->at[i];
    }
    for (int i = LIFT_PAGE; i <= v->last - 2; i++)
        v->peak = most_of(v->peak, v->count[i] + v->count[i + 1] + v->count[i + 2]);
    for (int i = 0; i < LIFT_GLOOM; i++)
        v->gloom = most_of(v->gloom, v->count[i] + v->count[i + 1] + v->count[i + 2]);
    v->darker = most_of(LIFT_PERCENT(1) * 2 / 5, (uint32_t)(darker / three_quarters));
    /* HDR highlights, which stay unchanged, count an eighth in the mean. */
    for (int i = 0; i <= v->last; i++) {
        const uint64_t still = hdr ? (1 << 24) - transfer_kept(v->at[i] << 8) : 0;
        const uint64_t count = v->count[i] - (7 * v->count[i] * still >> 27);
        light += count * v->at[i];
        all += count;
    }
    v->mean = most_of(LIFT_PERCENT(1) * 2 / 5, (uint32_t)(light / (all ? all : 1)));
    v->floor = percentile(v, v->total, 10);
    v->p10 = percentile(v, v->total, 100);
    v->middle = percentile(v, v->total, 500);
    v->p90 = percentile(v, v->total, 900);
    /* HDR: without the highlights that are white on the axis. */
    v->p99 = percentile(v, v->total - (hdr ? v->count[v->last] : 0), 990);
    v->p995 = percentile(v, v->total, 995);
}

/* Width of the histogram without its noise, 64ths of a code. 99 % of the noise lies within 2.5
 * deviations of the median, but not below black. In compressed video, the measured noise is too
 * low, so 3.5 codes are added, up to a sum of 6 deviations. */
static uint32_t span_of(const Picture *v)
{
    const uint32_t span = 64 * (v->p995 - v->floor),
                   all = least_of(6 * v->noise, 5 * v->noise / 2 + 7 * 32);
    const uint32_t half = least_of(all, span);
    const uint32_t noise = half + least_of(half, 64 * v->middle);
    const uint32_t square = noise < span ? span * span - noise * noise : 0;
    return (uint32_t)sqrt(square);
}

/* How much the picture looks like a page or a screen, Q16. Much of a page has one colour; the other
 * tones span a wide range or are nearly absent. Fog and asphalt have lower peaks. */
static uint32_t page_of(const Picture *v)
{
    const int32_t even = (int32_t)(((uint64_t)v->peak << 16) / v->total);
    const uint32_t wide = ramp((int32_t)(v->p995 - v->floor), 48, 80);
    const uint32_t all = ramp(even, LIFT_PERCENT(70), LIFT_PERCENT(85));
    return times(ramp(even, LIFT_PERCENT(35), LIFT_PERCENT(55)), most_of(wide, all));
}

/* The void share of the picture, Q16; `hidden`: black samples per other sample, Q16. */
static uint32_t voids_of(const Picture *v, uint32_t noise, uint32_t hidden)
{
    const uint32_t codes = LIFT_VOID_CODES + (LIFT_VOID_NOISE * noise + 32) / 64;
    const uint32_t dark = most_of(v->sums[least_of(codes, (uint32_t)v->last)], v->gloom);
    const uint32_t share = (uint32_t)(((uint64_t)dark << 16) / v->total);
    return (uint32_t)(((uint64_t)(hidden + share) << 16) / (CURVE_ONE + hidden));
}

static LiftChoice choose(Picture *v)
{
    const uint32_t light = ramp((int32_t)v->darker, LIFT_DARK_FROM, LIFT_DARK_TO);
    const uint32_t bright = most_of(ramp((int32_t)v->at[v->p90], LIFT_DIM_FROM, LIFT_DIM_TO),
                                    ramp((int32_t)v->at[v->p10], LIFT_BLACK_FROM, LIFT_BLACK_TO));
    LiftChoice c = {.dark = CURVE_ONE - least_of(light, bright)};
    const uint32_t picture = ramp((int32_t)span_of(v), 64 * 4, 64 * 12);
    v->page = page_of(v);
    v->quality = times(picture, CURVE_ONE - v->page);
    const uint32_t calm = ramp((int32_t)(v->slope >> 8), 4 * 256, 8 * 256);
    c.voids = ramp((int32_t)v->voids, LIFT_VOID_FROM, LIFT_VOID_TO);
    v->aim = LIFT_AIM_VOID + times(LIFT_AIM_MORE, times(calm, CURVE_ONE - c.voids));
    const uint32_t share = times(c.dark, v->quality);
    uint32_t most = least_of(LIFT_MOST, v->slope > CURVE_ONE ? v->slope - CURVE_ONE : 0);
    most = least_of(most, lift_reach(v->mean, v->aim));
    most = least_of(most, most_of(lift_reach(v->at[most_of(v->p99, 1)], LIFT_LIGHT),
                                  lift_reach(2 * v->mean, v->aim)));
    c.lift = times(share, most);
    return c;
}

static uint32_t raised(uint32_t place, uint32_t lift)
{
    return curve_quotient((double)(int32_t)(CURVE_ONE + lift) * (int32_t)place,
                          (int32_t)(CURVE_ONE + (uint32_t)((uint64_t)lift * place >> 16)));
}

/* Lifts all codes, then applies manual brightness and gamma. */
static void raise_places(Picture *v, uint32_t lift, const CurveLight *light)
{
    memcpy(v->place, v->at, sizeof(v->place));
    for (int i = 0; i <= v->last && lift; i++)
        v->place[i] = raised(v->at[i], lift);
    for (int i = 0; i <= v->last && light_is_on(light); i++)
        v->place[i] = (light_place(light, v->place[i], CURVE_ONE) + (1u << 13)) >> 14;
    for (int i = 0; i < v->last; i++)
        v->width[i] = v->place[i + 1] - v->place[i];
    v->width[v->last] = v->at[1];
}

/* The part of the clipped excess that a code of this width gets, at most 2^30. */
static uint32_t portion(uint32_t each, uint32_t width)
{
    const double part = (double)each * (int32_t)width * 0x1p-16;
    return (uint32_t)(int32_t)(part < 0x1p30 ? part : 0x1p30);
}

/* The clipped excess per unit of width, Q16. `limit`: the limit of each code; `most`: the limit of
 * a code of width `whole`. */
static uint32_t spread(const Picture *v, const uint32_t *limit, uint64_t most, uint32_t whole)
{
    uint32_t each = 0;
    for (int round = 0; round < LIFT_CLIP_ROUNDS; round++) {
        uint32_t below = 0, wide = 0; /* sum of the clipped counts; width of the codes that share
                                       * the rest */
        for (int i = 0; i <= v->last; i++) {
            const int32_t count = (int32_t)(v->count[i] + portion(each, v->width[i]));
            const uint32_t cut = count >= (int32_t)limit[i] ? UINT32_MAX : 0;
            below += (limit[i] & cut) | (v->count[i] & ~cut);
            wide += v->width[i] & ~cut;
        }
        const uint32_t rest = v->total > below ? v->total - below : 0, before = each;
        wide = most_of(wide, 1);
        each = (uint64_t)rest * whole < most * wide ? ratio((uint64_t)rest << 16, wide)
                                                    : ratio(most << 16, whole);
        if (each == before)
            break; /* converged */
    }
    return each;
}

/* Clips the counts and sums them up. */
static void clip_counts(Picture *v, uint32_t clip)
{
    const uint32_t whole = CURVE_ONE + v->at[1];
    const uint64_t most = (uint64_t)clip * v->total >> 16;
    const double largest = (double)v->total * whole, inverse = 1.0 / whole;
    uint32_t limit[CURVE_CELLS], each = 0;
    for (int i = 0; i <= v->last; i++) {
        const double scaled = (double)most * (int32_t)v->width[i];
        limit[i] = curve_floor(scaled < largest ? scaled : largest, inverse);
    }
    if (clip)
        each = spread(v, limit, most, whole);
    for (int i = 0; i <= v->last; i++)
        v->equal[i] =
            least_of(v->count[i] + portion(each, v->width[i]), clip ? limit[i] : v->total);
    curve_scan(v->equal, v->last + 1, v->sums);
}

/* How many of a code's counts lie up to its place: all of them or, if the lift made it wider than
 * one code, one code's share. */
static uint32_t part_before(const Picture *v, uint32_t count, uint32_t width)
{
    const uint32_t whole = most_of(width * (uint32_t)v->last, CURVE_ONE);
    return curve_quotient((double)(int32_t)count * CURVE_ONE, (int32_t)whole);
}

/* Finds the places after clipped equalization. */
static void equalize(Picture *v, uint32_t clip)
{
    clip_counts(v, clip);
    const uint32_t before_last = v->sums[v->last - 1];
    const uint32_t begin = part_before(v, v->sums[0], v->width[0]);
    const uint32_t end =
        before_last + part_before(v, v->sums[v->last] - before_last, v->width[v->last]);
    const double inverse = 1.0 / (end > begin ? end - begin : 1);
    for (int i = 0; i <= v->last; i++) {
        const uint32_t at =
            v->sums[i] - v->equal[i] + part_before(v, v->equal[i], v->width[i]) - begin;
        v->equal[i] = end > begin ? curve_part(at, inverse) : v->place[i];
    }
}

/* Decides how much of the equalization to use. Narrow histograms need more. The mean of a dark
 * picture may move as far as it lacks light, the mean of a light picture only a little. In dull
 * pictures, equalization may move the mean further, and a lift or its inverse moves the mean back.
 * `wide`: how wide the lifted histogram is, Q16; `mean`, `equalized`: means before and after
 * equalization. Returns how far the mean should move back. Sets c->lowered or c->raised to the lift
 * that moves a tone equal to the mean back by this distance. */
static uint32_t find_need(LiftChoice *c, const Picture *v, uint32_t wide, uint32_t mean,
                          uint32_t equalized)
{
    uint32_t need = times(CURVE_ONE - wide, v->quality);
    need = most_of(need, times(LIFT_PERCENT(5), CURVE_ONE - v->page));
    need = most_of(need, times(LIFT_PERCENT(55), times(c->dark, v->quality)));
    const int lighter = equalized > mean;
    const uint32_t moved = lighter ? equalized - mean : mean - equalized;
    const uint32_t rest = between(LIFT_PERCENT(1) / 2, mean / LIFT_MEAN_MOVES, CURVE_ONE - wide);
    const uint32_t missing = mean < v->aim ? v->aim - mean : 0;
    const uint32_t most = times(c->dark, missing) + times(CURVE_ONE - c->dark, rest);
    const uint32_t moves = times(need, moved);
    uint32_t back = 0;
    c->need = need;
    if (moves > most) {
        const uint32_t dull = times(CURVE_ONE - wide, CURVE_ONE - c->dark / 2);
        back = times(dull, moves - most);
        c->need = least_of(need, ((most + back) << 16) / moved);
    }
    const uint32_t now = between(mean, equalized, c->need);
    c->lowered = lighter ? lift_reach(now - back, now) : 0;
    c->raised = lighter ? 0 : lift_reach(now, now + back);
    return back;
}

/* Finds the final places of the codes. Equalization darkens no tone of a dark picture. */
static void find_places(const Picture *v, const LiftChoice *c, uint32_t *places)
{
    for (int i = 0; i <= v->last; i++) {
        const uint32_t both = least_of(between(v->place[i], v->equal[i], c->need), CURVE_ONE);
        const uint32_t place = most_of(both, times(c->dark, v->place[i]));
        const uint32_t low = CURVE_ONE + times(c->lowered, CURVE_ONE - place);
        places[i] =
            raised(curve_quotient((double)(int32_t)place * CURVE_ONE, (int32_t)low), c->raised);
    }
}

static uint32_t auto_clip(const Picture *v, const LiftChoice *c)
{
    const uint32_t clip = (uint32_t)(((uint64_t)v->slope << 16) / (CURVE_ONE + c->lift));
    return least_of(most_of(clip, LIFT_PERCENT(130)), 5 * CURVE_ONE / 2 + c->dark / 2);
}

LiftChoice lift_decide(const uint32_t counts[CURVE_CELLS], LiftWanted wanted,
                       const CurveLight *light, uint32_t nodes[CURVE_CELLS])
{
    Picture v;
    LiftChoice c = {0};
    const uint32_t hidden = scale_counts(&v, counts);
    for (uint32_t i = 0; i < CURVE_CELLS; i++)
        nodes[i] = i << 8;
    if (!v.total)
        return c;
    const uint32_t out =
        LIFT_NOISE_LEFT + ((LIFT_NOISE_OUT - LIFT_NOISE_LEFT) * wanted.denoise >> 16);
    v.slope = least_of(LIFT_SLOPE_MOST, (out << 16) / most_of(wanted.noise, 1));
    /* Black hides noise: if half of the picture is black, the measured noise may be as little as
     * 0.6 times the noise of the rest. */
    v.noise = most_of(wanted.noise, wanted.awaited ? 64 * LIFT_NOISE_POSSIBLE : 0);
    v.noise +=
        times(v.noise, times(LIFT_PERCENT(70), ramp((int32_t)hidden, CURVE_ONE / 2, CURVE_ONE)));
    v.last = wanted.white - wanted.black;
    const uint32_t inverse = UINT32_MAX / (uint32_t)v.last + 1;
    for (uint32_t i = 0; i < CURVE_CELLS; i++)
        v.at[i] = (uint32_t)((uint64_t)(i << 16) * inverse >> 32);
    find_statistics(&v, wanted.hdr);
    v.voids = voids_of(&v, wanted.noise, hidden);
    c = choose(&v);
    raise_places(&v, c.lift, light);
    const uint32_t mean = weighted(&v, v.place);
    const uint32_t apart = v.place[v.p90] - v.place[v.p10];
    const uint32_t wide = least_of(ramp((int32_t)apart, LIFT_PERCENT(27), LIFT_PERCENT(42)),
                                   ramp((int32_t)mean, LIFT_PERCENT(12), LIFT_PERCENT(25)));
    equalize(&v, wanted.clip == CURVE_CLIP_AUTO ? auto_clip(&v, &c) : wanted.clip);
    const uint32_t equalized = weighted(&v, v.equal);
    const uint32_t back = find_need(&c, &v, wide, mean, equalized);
    uint32_t *places = v.sums;
    const LiftChoice plain = {.dark = c.dark, .need = c.need};
    find_places(&v, &plain, places);
    if (c.lowered || c.raised) {
        /* Because the curve is bent, the mean moves by less than a tone equal to the mean. */
        const uint32_t without = weighted(&v, places);
        find_places(&v, &c, places);
        const uint32_t with = weighted(&v, places);
        const uint32_t went = with > without ? with - without : without - with;
        c.lowered = least_of(ratio((uint64_t)c.lowered * back, most_of(went, 1)), LIFT_MOST);
        c.raised = least_of(ratio((uint64_t)c.raised * back, most_of(went, 1)), LIFT_MOST);
        find_places(&v, &c, places);
    }
    for (int i = 0; i <= v.last; i++) {
        /* Codes above black do not become black. */
        const uint32_t place = most_of(places[i], least_of(v.place[i], v.at[2]));
        nodes[i + wanted.black] =
            ((uint32_t)wanted.black << 8) + times(place, (uint32_t)v.last << 8);
    }
    return c;
}

LiftWanted lift_wanted(const CurveParams *p, const uint32_t counts[CURVE_CELLS], uint32_t noise,
                       uint32_t awaited)
{
    const int down = p->depth - 8;
    return (LiftWanted){
        p->black >> down, p->white >> down, transfer_noise(p, counts, noise) >> 10, p->denoise,
        p->clip,          awaited != 0,     p->transfer != LUMEQ_TRANSFER_SDR};
}

void lift_targets(const CurveParams *p, const uint32_t nodes[CURVE_CELLS], uint32_t *targets)
{
    const uint32_t width = (uint32_t)curve_width(p);
    const int deeper = p->depth - 8;
    if (width == 1) {
        for (int i = 0; i < CURVE_CELLS; i++)
            targets[i] = nodes[i] << 8;
        return;
    }
    for (uint32_t code = 0; code < CURVE_CELLS; code++) {
        const uint32_t from = nodes[code];
        const uint32_t to = code + 1 < CURVE_CELLS ? nodes[code + 1] : CURVE_CELLS << 8;
        const uint32_t step = ((to - from) << 8) / width;
        for (uint32_t i = 0; i < width; i++)
            *targets++ = ((from << 8) + step * i) << deeper;
    }
}

void lift_shares(const CurveParams *p, const uint32_t *sums, uint32_t counted,
                 uint32_t shares[CURVE_CELLS])
{
    const int width = curve_width(p), black = p->black >> (p->depth - 8);
    const CurveRatio one = curve_ratio(1u << LIFT_SHARE_BITS, counted);
    uint32_t before = black ? sums[black * width - 1] : 0;
    memset(shares, 0, CURVE_CELLS * sizeof(shares[0]));
    for (int i = 0; i < CURVE_CELLS - black; i++) {
        const uint32_t sum = sums[(i + black + 1) * width - 1];
        shares[i] = sum - before;
        before = sum;
    }
    for (int i = 0; i < CURVE_CELLS; i++)
        shares[i] = curve_scale(shares[i], one);
}

void lift_follow_noise(LiftState *s, const LiftState *before, uint32_t now, uint32_t weight,
                       int cut, int first)
{
    s->known = before ? before->known : 0;
    s->awaited = first ? LIFT_AWAITED : before && before->awaited ? before->awaited - 1 : 0;
    s->noise = before ? before->noise : LIFT_NOISE_USUAL;
    s->seen = before ? before->seen : 0;
    if (now != NOISE_UNKNOWN && (weight || !s->seen)) {
        s->noise = curve_lerp(s->noise, now << 8, CURVE_ONE / (s->seen + 1));
        s->seen += s->seen < LIFT_NOISE_SEEN;
        s->known = 1;
        s->awaited = 0;
    }
    if (cut)
        s->seen = 0;
}
