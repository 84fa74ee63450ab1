/*
 * Compares lumeq's curve with a model in double precision, written from its definition: clip,
 * target, smoothing in time, scene cuts, strength and its adaptation, mode stretch.
 */
#include <math.h>

#include "../default_params.h"
#include "backends.h"
#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/curve.h"

/* Tolerances of the integer arithmetic, in codes. Without clip, a target is off by one in Q16.
 * Smoothing is off by 2^-17 / alpha of the distance from the target. At an alpha of 0.1 and a
 * distance of 200 codes, this is 0.015 codes. */
#define TARGET_TOLERANCE 0.0001
#define TOLERANCE 0.02
#define CUT_TOLERANCE 0.06 /* where alpha depends on the picture */

#define CLIP_ROUNDS 4
/* Mean and variance are off by a few units in Q16. The strength changes up to 1.5 / 0.0174 times as
 * fast as the variance. */
#define STRENGTH_TOLERANCE 0.006

#define CUT_HIGH 0.12
#define JUMP 0.025
#define CALM 0.01875
#define MOVED 0.18
#define JUMPS 2

#define BLACK_MEAN 0.008
#define BLACK_ALPHA (1.0 / 3)
#define FADE_CALM 0.0025
#define FADE 0.0075
#define LEAST_NEED 0.1

/* Epochs: shares of the picture */
#define CHANGED 0.45
#define CHANGED_CUT 0.42 /* of the histogram in bins of 4 codes */
#define LEAST_LIT (1.0 / 3)
#define WAIT 0.3  /* seconds */
#define LEARN 0.2 /* seconds */

#define LEFT_OUT 0.005 /* of the samples at each end, in mode stretch */

#define MS INT64_C(1000000)

static const LumeqParams full_strength = {.strength = 1, .bars = LUMEQ_BARS_IGNORE};

typedef struct Model {
    int valid;          /* there was a frame */
    int seen;           /* there was a frame with samples in range */
    double smooth[256]; /* S, the smoothed curve */
    double cdf[256];
    double goal[256]; /* the mean target of the epoch; S moves towards it */
    double held[256]; /* the mean CDF of the epoch */
    double age, changed;
    int black;              /* the epoch began black */
    double wanted;          /* the mean need of the epoch */
    double speed, distance; /* of the last frame */
    int moved;              /* enough of the CDF moved */
    int jumps;              /* consecutive frames with a jump */
    int fades;
    double need, strength;
    double curve[256];
} Model;

static double model_rise(double x, double from, double to)
{
    const double t = fmin(fmax((x - from) / (to - from), 0), 1);
    return t * t * (3 - 2 * t);
}

static void model_clip(double *hist, int black, int white, double clip)
{
    const int bins = white - black + 1;
    double counted = 0;
    for (int i = black; i <= white; i++)
        counted += hist[i];
    const double limit = clip * counted / bins;
    for (int round = 0; round < CLIP_ROUNDS; round++) {
        double excess = 0;
        for (int i = black; i <= white; i++) {
            excess += fmax(hist[i] - limit, 0);
            hist[i] = fmin(hist[i], limit);
        }
        for (int i = black; i <= white; i++)
            hist[i] += excess / bins;
    }
}

/* Mode stretch: a straight line over the used codes, less LEFT_OUT at each end. A line steeper than
 * the clip limit is widened by whole codes. */
static void model_line(const double *cdf, int black, int white, double clip, double counted,
                       double *target)
{
    const int all = white - black, most = clip > 0 ? (int)(all / clip) : 1;
    const double left_out = floor(counted * LEFT_OUT);
    int low = 0, high = 0;
    for (int i = black; i < white; i++) {
        low += cdf[i] * counted <= left_out + 1e-6;
        high += cdf[i] * counted < counted - left_out - 1e-6;
    }
    if (high - low < most && high - low < all) {
        low -= (most - (high - low)) * low / (all - (high - low));
        high = low + most;
    }
    high = high > low ? high : low + 1;
    for (int i = black; i <= white; i++)
        target[i] = black + all * fmin(fmax((double)(i - black - low) / (high - low), 0), 1);
}

/* Computes T, and the CDF before the clip; returns 0 if nothing was counted. */
static double model_target(const uint32_t *counts, int black, int white, double clip, int stretch,
                           double *target, double *cdf)
{
    double hist[256] = {0}, counted = 0;
    int used = 0;
    for (int i = black; i <= white; i++) {
        counted += hist[i] = counts[i];
        used += counts[i] != 0;
    }
    double sum = 0;
    for (int i = 0; i < 256; i++) {
        sum += hist[i];
        cdf[i] = counted > 0 ? sum / counted : 0;
        target[i] = i;
    }
    if (used < 2 || clip == 1)
        return counted;
    if (stretch) {
        model_line(cdf, black, white, clip, counted, target);
        return counted;
    }
    if (clip > 0)
        model_clip(hist, black, white, clip);
    sum = 0;
    for (int i = black; i <= white; i++) {
        sum += i > black ? hist[i] : 0;
        target[i] = black + (white - black) * sum / (counted - hist[black]);
    }
    return counted;
}

/* The share of a picture that became lighter by more than 1 / `part` of its light plus a code. */
static double model_lighter(const double *was, const double *now, int black, int part)
{
    double most = 0;
    for (int i = black; i < 256; i++) {
        const int to = i + 1 + (i - black) / part;
        most = fmax(most, was[i] - now[to < 255 ? to : 255]);
    }
    return most;
}

static int model_differs(const double *was, const double *now, int black)
{
    const double lit = fmax(LEAST_LIT, 1 - fmin(was[black + 1], now[black + 1]));
    return model_lighter(was, now, black, 8) + model_lighter(now, was, black, 8) >= CHANGED * lit;
}

/* The code, counted from black, below which this share of the picture lies. */
static double model_level(const double *cdf, double share, int black)
{
    int i = 0;
    while (i < 255 && cdf[i] < share)
        i++;
    const double below = i ? cdf[i - 1] : 0;
    return i - black + (share > below && cdf[i] > below ? (share - below) / (cdf[i] - below) : 0);
}

/* True if the median and the brightest part get lighter, and almost nothing gets darker. */
static int model_rises(const double *was, const double *now, int black)
{
    static const double shares[] = {0.5, 0.98};
    for (int i = 0; i < 2; i++)
        if (model_level(now, shares[i], black) <
            model_level(was, shares[i], black) * 17 / 16 + 0.25)
            return 0;
    return model_lighter(now, was, black, 32) < 0.02;
}

static int model_is_cut(const double *was, const double *now)
{
    double lost = 0;
    for (int i = 3; i < 256; i += 4)
        lost += fmax((was[i] - (i > 3 ? was[i - 4] : 0)) - (now[i] - (i > 3 ? now[i - 4] : 0)), 0);
    return lost >= CHANGED_CUT;
}

/* Adds a frame to the epoch, or begins one. Returns the frame's weight in the epoch's means. */
static double model_epoch(Model *m, const double *cdf, int black, int begins, double dt)
{
    m->changed = !begins && model_differs(m->held, cdf, black) ? m->changed + dt : 0;
    begins |= m->age < LEARN - 1e-6 && model_rises(m->held, cdf, black);
    if (begins || m->changed > WAIT - 1e-6) {
        m->age = dt;
        m->changed = 0;
        memcpy(m->held, cdf, sizeof(m->held));
        return 1;
    }
    if (m->changed > 0 || m->age >= LEARN - 1e-6)
        return 0;
    m->age += dt;
    for (int i = 0; i < 256; i++)
        m->held[i] += dt / m->age * (cdf[i] - m->held[i]);
    return dt / m->age;
}

/* Mean and variance of the codes in range; the range has length 1. */
typedef struct View {
    double mean, variance;
} View;

static View model_look(const uint32_t *counts, int black, int white, double counted)
{
    View view = {0};
    double squares = 0;
    for (int i = black; i <= white && counted > 0; i++) {
        const double place = (double)(i - black) / (white - black + 1);
        view.mean += place * counts[i] / counted;
        squares += place * place * counts[i] / counted;
    }
    view.variance = squares - view.mean * view.mean;
    return view;
}

static double model_need(View view)
{
    return 1 - fmin(model_rise(view.variance, 0.0132, 0.0306), model_rise(view.mean, 0.12, 0.25));
}

/* The alpha at which a picture that got lighter keeps its mean output. */
static double model_rise_alpha(const Model *m, const double *cdf)
{
    double past = 0, now = 0, goal = 0;
    for (int i = 0; i < 256; i++) {
        past += m->smooth[i] * (m->cdf[i] - (i ? m->cdf[i - 1] : 0));
        now += m->smooth[i] * (cdf[i] - (i ? cdf[i - 1] : 0));
        goal += m->goal[i] * (cdf[i] - (i ? cdf[i - 1] : 0));
    }
    return now > past && now > goal ? fmin(1, (now - past) / (now - goal)) : 0;
}

static void model_frame(Model *m, const LumeqParams *params, LumeqRange range,
                        const uint32_t *counts, double dt)
{
    const int black = range == LUMEQ_RANGE_FULL ? 0 : 16,
              white = range == LUMEQ_RANGE_FULL ? 255 : 235;
    double target[256], cdf[256];
    const double counted = model_target(counts, black, white, params->clip,
                                        params->mode == LUMEQ_MODE_STRETCH, target, cdf);
    const View view = model_look(counts, black, white, counted);
    const int blank = params->adaptive && view.mean < BLACK_MEAN;

    double darker = 0;
    m->distance = m->moved = 0;
    if (counted > 0 && m->seen)
        for (int i = black; i <= white; i++) {
            m->distance += fabs(cdf[i] - m->cdf[i]) / (white - black + 1);
            darker += fmax(cdf[i] - m->cdf[i], 0) / (white - black + 1);
            m->moved |= fabs(cdf[i] - m->cdf[i]) >= MOVED;
        }
    const int dims = darker > 0.875 * m->distance;
    const int sudden = params->scene_cut &&
                       ((m->moved && m->distance >= CUT_HIGH) ||
                        (m->jumps >= 1 && m->jumps <= JUMPS && m->valid && m->distance <= CALM));
    const double *known = counted > 0 ? cdf : m->cdf;
    const int begins = !m->valid || params->smooth <= 0 ||
                       (m->black && view.mean > 1.5 * BLACK_MEAN) ||
                       (sudden && model_is_cut(m->held, known)) ||
                       ((blank || m->fades) && model_differs(m->held, known, black));
    const double weight = model_epoch(m, known, black, begins, dt);
    m->black = weight == 1 ? blank : m->black;

    double alpha = params->smooth > 0 ? 1 - exp(-dt / params->smooth) : 1;
    if (!m->valid || (sudden && begins))
        alpha = 1;
    m->fades = !blank && params->adaptive && m->valid && params->smooth > 0 && (m->fades || dims) &&
               !sudden && m->distance > FADE_CALM;
    if (m->black)
        alpha = fmax(alpha, BLACK_ALPHA);
    else if (m->fades)
        alpha *= 1 - 0.875 * model_rise(m->distance, FADE_CALM, FADE);
    m->fades |= blank;
    for (int i = 0; i < 256; i++) {
        const double own = m->black ? i : target[i];
        m->goal[i] = m->valid ? m->goal[i] + weight * (own - m->goal[i]) : own;
    }
    if (m->valid && !m->fades && !begins && weight == 1)
        alpha = fmax(alpha, model_rise_alpha(m, known));
    m->wanted += weight * ((m->black ? 0 : model_need(view)) - m->wanted);
    m->need += alpha * (m->wanted - m->need);
    m->jumps = m->moved && m->distance >= JUMP ? m->jumps + 1 : 0;

    m->strength = params->mode == LUMEQ_MODE_OFF ? 0 : params->strength;
    if (params->adaptive)
        m->strength *= LEAST_NEED + (1 - LEAST_NEED) * m->need;
    m->speed = 0;
    for (int i = 0; i < 256; i++) {
        const int in_range = i >= black && i <= white;
        const double before = m->valid ? m->smooth[i] : m->goal[i];
        m->smooth[i] = in_range ? before + alpha * (m->goal[i] - before) : i;
        m->speed += fabs(m->smooth[i] - before) / 256;
    }
    if (counted > 0) {
        memcpy(m->cdf, cdf, sizeof(cdf));
        m->seen = 1;
    }
    m->valid = 1;
}

static void model_curve(Model *m, double strength)
{
    for (int i = 0; i < 256; i++)
        m->curve[i] = i + strength * (m->smooth[i] - i);
}

typedef struct Run {
    LumeqEqualizer *eq;
    LumeqParams params;
    LumeqRange range;
    CheckRect in, out;
    Model model;
    FrameStats stats; /* of the last frame */
} Run;

static Run run_open(LumeqBackendId id, int side, LumeqRange range, const LumeqParams *params)
{
    Run run = {.eq = must_open(id, 0), .params = *params, .range = range};
    run.in = check_rect(side, side, side, 0, 0);
    run.out = check_rect(side, side, side, 0, 64);
    set_params(run.eq, params);
    return run;
}

static void run_close(Run *run)
{
    lumeq_destroy(&run->eq);
    check_rect_free(&run->in);
    check_rect_free(&run->out);
}

static void run_params(Run *run, const LumeqParams *params)
{
    run->params = *params;
    set_params(run->eq, params);
}

/* Draws codes low..high, equally frequent if their number divides the number of samples. */
static void fill_band(const CheckRect *rect, int low, int high)
{
    int code = low;
    for (int y = 0; y < rect->height; y++) {
        for (int x = 0; x < rect->width; x++) {
            check_row(rect, y)[x] = (uint8_t)code;
            code = code < high ? code + 1 : low;
        }
    }
}

static void check_shape(const uint32_t *curve, LumeqRange range)
{
    const int black = range == LUMEQ_RANGE_FULL ? 0 : 16,
              white = range == LUMEQ_RANGE_FULL ? 255 : 235;
    int falls = 0, moved = 0;
    for (int i = 0; i < 256; i++) {
        falls += i > 0 && curve[i] < curve[i - 1];
        moved += (i <= black || i >= white) && curve[i] != (uint32_t)i << 16;
    }
    CHECK(!falls, "the curve falls at %d codes", falls);
    CHECK(!moved, "%d codes at or outside black and white are moved", moved);
}

static void check_curve(const uint32_t *curve, const double *expected, double tolerance)
{
    int worst = 0;
    for (int i = 1; i < 256; i++)
        if (fabs(curve[i] / 65536.0 - expected[i]) > fabs(curve[worst] / 65536.0 - expected[worst]))
            worst = i;
    const double value = curve[worst] / 65536.0;
    CHECK(fabs(value - expected[worst]) <= tolerance, "code %d becomes %.5f, not %.5f", worst,
          value, expected[worst]);
}

/* Checks the strength. If it is adaptive, the model's curve uses the reported strength. */
static void check_strength(Run *run)
{
    const double tolerance = run->params.adaptive ? STRENGTH_TOLERANCE : 1.0 / 65536;
    CHECK(fabs(run->stats.values.strength - run->model.strength) <= tolerance,
          "strength %.5f, not %.5f", run->stats.values.strength, run->model.strength);
    model_curve(&run->model,
                run->params.adaptive ? run->stats.values.strength : run->model.strength);
}

/* Equalizes run->in and compares with the model. `dt`: expected seconds after the last frame. */
static void run_next(Run *run, int64_t time, int64_t duration, double dt, double tolerance)
{
    LumeqFrame frame = frame_of(&run->in, &run->out, run->range, time);
    frame.duration = duration;
    run_frame(run->eq, &frame, &run->stats);
    check_stats(&run->stats, &run->in, &run->out);
    check_shape(run->stats.curve, run->range);
    model_frame(&run->model, &run->params, run->range, run->stats.hist_in, dt);
    check_strength(run);
    check_curve(run->stats.curve, run->model.curve, tolerance);
    CHECK(fabs(run->stats.values.curve_speed - run->model.speed) <= 2 * tolerance,
          "speed %g, not %g", run->stats.values.curve_speed, run->model.speed);
    const int cut = run->params.scene_cut && run->model.moved && run->model.distance >= CUT_HIGH;
    CHECK(run->stats.values.scene_cut == cut, "scene cut %d at a distance of %g",
          run->stats.values.scene_cut, run->model.distance);
}

static void run_at_25(Run *run, int n, double tolerance)
{
    run_next(run, n * 40 * MS, 0, 0.04, tolerance);
}

BACKEND_TEST(targets)
{
    for (int range = 0; range < 2; range++) {
        for (int picture = 0; picture < PICTURE_COUNT; picture++) {
            FREED_BY(run_close) Run run = run_open(id, 256, (LumeqRange)range, &full_strength);
            picture_fill(&run.in, (Picture)picture, 200 << 8 | 20);
            run_at_25(&run, 0, TARGET_TOLERANCE);
        }
    }
}

/* Tests replaced divisions near multiples of the divisor, where errors are likeliest. */
TEST(divisions_are_exact)
{
    CheckRandom random = check_random(2);
    int wrong[3] = {0};
    for (int i = 0; i < 300000; i++) {
        const uint32_t d = 1 + (uint32_t)check_below(&random, INT32_MAX - 1) / (1u << i % 31);
        const uint64_t any = check_hash(random.seed, random.index++) >> 32;
        const uint64_t more = i % 3 == 0 ? 0 : i % 3 == 1 ? d - 1 : d / 2;
        uint64_t q = any >> 1 >> check_below(&random, 31);
        if (q * d + more < UINT64_C(1) << 50) {
            const double n = (double)(q * d + more);
            wrong[0] += curve_floor(n, 1.0 / d) != q;
            wrong[1] += curve_quotient(n, d) != q;
        }
        const uint32_t n = (uint32_t)(any % d) + (d > 1 && i % 2);
        const uint64_t m = (uint64_t)(1 + check_below(&random, 65535)) << 16;
        wrong[2] += curve_scale(n, curve_ratio(m, d)) != n * m / d;
        q = check_hash(random.seed, random.index++) % m;
        const uint32_t least = (uint32_t)((q * d + m - 1) / m); /* n with this quotient */
        wrong[2] += curve_scale(least, curve_ratio(m, d)) != least * m / d;
    }
    CHECK(!wrong[0] && !wrong[1] && !wrong[2], "wrong: %d products, %d quotients, %d fractions",
          wrong[0], wrong[1], wrong[2]);
}

static void random_counts(uint32_t *hist, CheckRandom *random)
{
    static const uint32_t most[] = {1, 40, 9000, 8388607};
    const uint32_t limit = most[check_below(random, 4)];
    const int low = check_below(random, 200), high = low + 1 + check_below(random, 256 - low);
    for (int i = 0; i < 256; i++)
        hist[i] = i >= low && i < high ? (uint32_t)check_below(random, (int)limit + 1) : 0;
    hist[low] += !hist[low]; /* a picture has pixels */
}

static CurveParams any_curve_params(CheckRandom *random, int *grew)
{
    const int full = check_below(random, 2), clipped = check_below(random, 4);
    return (CurveParams){
        .depth = 8,
        .bins = 256,
        .black = full ? 0 : 16,
        .white = full ? 255 : 235,
        .clip = clipped ? 65536u + (uint32_t)check_below(random, (64 >> clipped) * 65536) : 0,
        .alpha = 1 + (uint32_t)check_below(random, 65536),
        .strength = (uint32_t)check_below(random, 65537),
        .adaptive = check_below(random, 2),
        .stretch = check_below(random, 4) == 0,
        .scene_cut = check_below(random, 2),
        .reference = (*grew = check_below(random, 10) == 0, check_below(random, 10) == 0),
        .dither = check_below(random, 2),
        .step = (uint32_t)check_below(random, 200000),
    };
}

static uint64_t hash_result(uint64_t hash, const CurveParams *p, const CurveResult *result,
                            const CurveTable *table)
{
    const uint32_t rest[] = {result->scene_cut, result->jumps, result->fades != 0,
                             result->need,      result->alpha, result->strength};
    uint32_t values[3][256];
    for (int i = 0; i < 256; i++) {
        values[0][i] = result->bin[i].curve;
        values[1][i] = result->bin[i].smooth;
        values[2][i] = result->bin[i].cdf;
    }
    hash = check_fnv(hash, values, sizeof(values));
    hash = check_fnv(hash, rest, sizeof(rest));
    return p->dither ? check_fnv(hash, table->nodes, 257 * sizeof(table->nodes[0]))
                     : check_fnv(hash, table->codes8, sizeof(table->codes8));
}

/* Samples of bars count as the darkest ones: removing 6 of 18 takes all 5 in the first bin and 1 of
 * the 3 in the next. */
TEST(bars_are_left_out)
{
    const CurveParams params = {.depth = 8, .bins = 256};
    static const uint32_t left[][3] = {{5, 3, 10}, {4, 3, 10}, {0, 2, 10}, {0, 0, 10}, {0, 0, 0}};
    static const uint32_t out[] = {0, 1, 6, 8, 18};
    for (int i = 0; i < 5; i++) {
        uint32_t hist[256] = {0}, rest[256];
        hist[16] = 5;
        hist[18] = 3;
        hist[200] = 10;
        const uint32_t *got = curve_exclude(&params, hist, out[i], rest);
        CHECK(got[16] == left[i][0] && got[18] == left[i][1] && got[200] == left[i][2],
              "%u left out: %u, %u, %u", out[i], got[16], got[18], got[200]);
    }
}

/* The hash was made with the plain integer divisions that define the curve. */
TEST(same_bits_as_plain_divisions)
{
    static CurveResult results[2];
    static CurveTable table;
    static CurveWork work;
    CheckRandom random = {1, 0};
    uint64_t hash = CHECK_FNV_START;
    for (int n = 0; n < 4000; n++) {
        int grew;
        const CurveParams params = any_curve_params(&random, &grew);
        const CurveResult *before = &results[n % 2];
        CurveResult *result = &results[(n + 1) % 2];
        uint32_t counts[256];
        random_counts(counts, &random);
        result->bars.grew = grew;
        curve_compute(&params, counts, before, result, &table, &work);
        hash = hash_result(hash, &params, result, &table);
    }
    CHECK(hash == 0x3CBFBAF9C8D1E57Eu, "0x%016llX", (unsigned long long)hash);
}

BACKEND_TEST(smoothing_follows_timestamps)
{
    static const struct {
        int64_t time, duration;
        double dt; /* by the definition */
    } frames[] = {
        {1000 * MS, 0, 0.04},                                  /* the first frame */
        {1040 * MS, 0, 0.04},       {1140 * MS, 40 * MS, 0.1}, /* timestamps win over durations */
        {1145 * MS, 0, 0.005},      {3145 * MS, 0, 2},
        {3145 * MS, 20 * MS, 0.02}, /* the time did not rise */
        {3145 * MS, 0, 0.04},       /* no duration either: 1/25 s */
        {2000 * MS, 30 * MS, 0.03}, /* backwards */
        {2100 * MS, 30 * MS, 0.1},  {LUMEQ_NO_TIME, 50 * MS, 0.05},
        {LUMEQ_NO_TIME, 0, 0.04},   {LUMEQ_NO_TIME, -5, 0.04},
        {-500 * MS, 10 * MS, 0.01},                     /* no previous time */
        {-200 * MS, 10 * MS, 0.3},  {100 * MS, 0, 0.3}, /* through zero */
        {100 * MS + 1, 0, 1e-9},    {INT64_MAX, 0, 9e9},
    };
    LumeqParams params = full_strength;
    params.smooth = 0.5;
    FREED_BY(run_close) Run run = run_open(id, 128, LUMEQ_RANGE_LIMITED, &params);
    for (int n = 0; n < (int)(sizeof(frames) / sizeof(frames[0])); n++) {
        if (n & 1)
            fill_band(&run.in, 150, 220);
        else
            fill_band(&run.in, 20, 83);
        run_next(&run, frames[n].time, frames[n].duration, frames[n].dt, TOLERANCE);
    }
}

/* Even with the longest time constant, the curve moves. */
BACKEND_TEST(longest_time_constant)
{
    LumeqParams params = full_strength;
    params.smooth = LUMEQ_MAX_SMOOTH;
    FREED_BY(run_close) Run run = run_open(id, 64, LUMEQ_RANGE_LIMITED, &params);
    fill_band(&run.in, 180, 181);
    run_next(&run, 0, 0, 0.04, TOLERANCE);
    fill_band(&run.in, 30, 31);
    run_next(&run, 1000 * MS, 0, 1, TOLERANCE);
    CHECK(run.stats.curve[100] > 16 << 16, "stuck at %.5f", run.stats.curve[100] / 65536.0);
}

BACKEND_TEST(strength_acts_at_once)
{
    LumeqParams params = full_strength;
    params.smooth = 1;
    FREED_BY(run_close) Run run = run_open(id, 128, LUMEQ_RANGE_FULL, &params);
    for (int n = 0; n < 12; n++) {
        params.strength = n % 4 / 3.0;
        params.mode = n == 6 ? LUMEQ_MODE_OFF : LUMEQ_MODE_GLOBAL;
        run_params(&run, &params);
        fill_band(&run.in, 20 + 5 * n, 83 + 6 * n);
        run_at_25(&run, n, TOLERANCE);
    }
}

/* Frames with nothing to equalize pull the curve towards the identity. A frame without samples in
 * range has a distance of 0 and is no cut. The next frame's distance is then measured from the last
 * frame with samples in range. */
BACKEND_TEST(smoothing_towards_identity)
{
    static const struct {
        int low, high, cut;
    } bands[] = {{60, 123, 0},  {3, 3, 0},    {3, 3, 0},
                 {3, 3, 0},     {62, 125, 0}, {93, 93, 0}, /* all in one bin */
                 {240, 250, 0}, {160, 223, 1}};
    LumeqParams params = full_strength;
    params.smooth = 0.2;
    params.scene_cut = 1;
    for (int first = 0; first < 2; first++) { /* 1: the film begins with an empty frame */
        FREED_BY(run_close) Run run = run_open(id, 128, LUMEQ_RANGE_LIMITED, &params);
        for (int n = first; n < (int)(sizeof(bands) / sizeof(bands[0])); n++) {
            fill_band(&run.in, bands[n].low, bands[n].high);
            run_at_25(&run, n, CUT_TOLERANCE);
            CHECK(run.stats.values.scene_cut == bands[n].cut, "codes from %d on: cut %d",
                  bands[n].low, run.stats.values.scene_cut);
        }
    }
}

/* If a band of codes moves by k, the distance is k / 220 in limited range and k / 256 in full. */
BACKEND_TEST(cuts)
{
    for (int range = 0; range < 2; range++) {
        const int bins = range == LUMEQ_RANGE_FULL ? 256 : 220;
        for (int k = 0; k <= 40; k++) {
            LumeqParams params = full_strength;
            params.smooth = 2;
            params.scene_cut = 1;
            FREED_BY(run_close) Run run = run_open(id, 128, (LumeqRange)range, &params);
            fill_band(&run.in, 40, 103);
            run_at_25(&run, 0, CUT_TOLERANCE);
            fill_band(&run.in, 40 + k, 103 + k);
            run_at_25(&run, 1, CUT_TOLERANCE);
            CHECK(fabs(run.model.distance - (double)k / bins) < 1e-9, "distance %g",
                  run.model.distance);
            const int cut = k >= (range == LUMEQ_RANGE_FULL ? 31 : 27);
            CHECK(run.stats.values.scene_cut == cut, "a move by %d codes: cut %d", k,
                  run.stats.values.scene_cut);
            /* After a jump, a calm frame gets its own curve. */
            run_at_25(&run, 2, CUT_TOLERANCE);
        }
    }
}

static void fill_around(const CheckRect *rect, int middle, int wide)
{
    fill_band(rect, middle - wide / 2, middle + (wide - 1) / 2);
}

BACKEND_TEST(needs)
{
    for (int n = 0; n < 2 * 12 * 12; n++) {
        LumeqParams params = full_strength;
        params.adaptive = 1;
        params.strength = n % 5 / 4.0;
        params.clip = n % 3 * 1.5;
        FREED_BY(run_close) Run run = run_open(id, 256, (LumeqRange)(n % 2), &params);
        fill_around(&run.in, 40 + n / 2 % 12 * 6, 2 + n / 24 * 7);
        /* Rounding the clip limit moves up to 64 of 2^16 pixels. */
        run_at_25(&run, 0, params.clip > 0 ? 0.25 : TOLERANCE);
    }
}

/* Black frames soon take the need to 0 and the curve to the identity. */
BACKEND_TEST(black_needs_nothing)
{
    LumeqParams params = full_strength;
    params.adaptive = 1;
    params.smooth = 0.2;
    Run run = run_open(id, 128, LUMEQ_RANGE_LIMITED, &params);
    for (int n = 0; n < 12; n++) {
        const int black = n > 2 && n < 8;
        if (black)
            fill_band(&run.in, 16, n % 2 ? 17 : 18);
        else
            fill_band(&run.in, 60 + n, 120 + n);
        const double before = run.stats.values.strength;
        run_at_25(&run, n, CUT_TOLERANCE);
        const double left = 0.1 + (before - 0.1) * 2 / 3;
        CHECK(!black || fabs(run.stats.values.strength - left) < 0.001, "frame %d: %g after %g", n,
              run.stats.values.strength, before);
    }
    run_close(&run);

    /* The film begins black. */
    params.scene_cut = 1;
    run = run_open(id, 128, LUMEQ_RANGE_LIMITED, &params);
    for (int n = 0; n < 3; n++) {
        fill_band(&run.in, 16, 18);
        run_at_25(&run, n, 0);
        CHECK(check_rect_equal(&run.in, &run.out), "black is lifted");
    }
    run_close(&run);
}

BACKEND_TEST(stretches)
{
    static const double limits[] = {0, 1, 1.25, 2, 3, 17, 1000};
    for (int n = 0; n < PICTURE_COUNT * 7; n++) {
        LumeqParams params = full_strength;
        params.mode = LUMEQ_MODE_STRETCH;
        params.clip = limits[n % 7];
        params.strength = n % 2 ? 0.7 : 1;
        const LumeqRange range = (LumeqRange)(n & 1);
        FREED_BY(run_close) Run run = run_open(id, 200, range, &params);
        picture_fill(&run.in, (Picture)(n / 7), 200 << 8 | 20);
        run_at_25(&run, 0, 0.5 * 256 / 65536 + TARGET_TOLERANCE);
        double most = 0;
        for (int i = 1; i < 256; i++)
            most = fmax(most, (run.stats.curve[i] - run.stats.curve[i - 1]) / 65536.0);
        const double all = range == LUMEQ_RANGE_FULL ? 255 : 219;
        CHECK(params.clip < 1 || most <= params.clip / (1 - params.clip / all) + 0.001 ||
                  params.clip > all / 2,
              "a slope of %g with a limit of %g", most, params.clip);
    }
}

TEST_MAIN
