#include "equalizer/rule/transfer.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "equalizer/rule/arithmetic.h"
#include "lumeq/lumeq.h"

#define WHITE 203.0 /* nits */
#define GAMMA 2.4

/* Numbers are Q24. A table has a node every 2^STEP_BITS of ONE. */
#define ONE_BITS 24
#define STEP_BITS 12
#define ONE (1 << ONE_BITS)
#define NODES (1 << (ONE_BITS - STEP_BITS))
#define NEAR 16 /* slopes are measured over this many nodes to each side */

/* A place is a share of the range from black to white, Q24. */
typedef struct Axis {
    uint32_t light[NODES + 1]; /* place on the axis of light, by place of the code */
    uint32_t code[NODES + 1];  /* place of the code, by place on the axis of light */
    uint32_t codes[NODES + 1]; /* slope of `code`, Q16, by place on the axis of light */
    uint32_t white;            /* place of the code of 203 nits */
} Axis;

static Axis axes[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- the transfer functions ---- */

static const double m1 = 1305 / 8192.0, m2 = 2523 / 32.0;
static const double c1 = 107 / 128.0, c2 = 2413 / 128.0, c3 = 2392 / 128.0;

static double pq_nits(double code)
{
    const double e = pow(code, 1 / m2);
    return 10000 * pow(fmax(e - c1, 0) / (c2 - c3 * e), 1 / m1);
}

static double pq_code(double nits)
{
    const double y = pow(nits / 10000, m1);
    return pow((c1 + c2 * y) / (1 + c3 * y), m2);
}

static const double hlg_a = 0.17883277, hlg_b = 0.28466892, hlg_c = 0.55991073;

static double hlg_nits(double code)
{
    const double scene = code <= 0.5 ? code * code / 3 : (exp((code - hlg_c) / hlg_a) + hlg_b) / 12;
    return 1000 * pow(scene, 1.2);
}

static double hlg_code(double nits)
{
    const double scene = pow(nits / 1000, 1 / 1.2);
    return scene <= 1 / 12.0 ? sqrt(3 * scene) : hlg_a * log(12 * scene - hlg_b) + hlg_c;
}

double lumeq_nits(LumeqTransfer transfer, double signal)
{
    const double place = fmin(fmax(signal, 0), 1);
    return transfer == LUMEQ_TRANSFER_PQ    ? pq_nits(place)
           : transfer == LUMEQ_TRANSFER_HLG ? hlg_nits(place)
                                            : WHITE * pow(place, GAMMA);
}

static void fill(Axis *axis, double (*nits_of)(double), double (*code_of)(double))
{
    for (int i = 0; i <= NODES; i++) {
        const double place = (double)i / NODES;
        axis->light[i] = (uint32_t)lrint(ONE * fmin(pow(nits_of(place) / WHITE, 1 / GAMMA), 1));
        axis->code[i] = i ? (uint32_t)lrint(ONE * code_of(WHITE * pow(place, GAMMA))) : 0;
    }
    for (int i = 0; i <= NODES; i++) {
        const int low = i > NEAR ? i - NEAR : 0, high = i + NEAR < NODES ? i + NEAR : NODES;
        axis->codes[i] = (axis->code[high] - axis->code[low]) / (uint32_t)(high - low) << 4;
    }
    axis->white = axis->code[NODES];
}

static void fill_all(void)
{
    fill(&axes[0], pq_nits, pq_code);
    fill(&axes[1], hlg_nits, hlg_code);
}

static const Axis *axis_of(const CurveParams *p)
{
    pthread_once(&once, fill_all);
    return &axes[p->transfer == LUMEQ_TRANSFER_HLG];
}

static int64_t read_at(const uint32_t *table, int64_t place)
{
    const int64_t i = place >> STEP_BITS, part = place & ((1 << STEP_BITS) - 1);
    return i >= NODES ? table[NODES]
                      : table[i] + (((int64_t)table[i + 1] - table[i]) * part >> STEP_BITS);
}

/* ---- counts and curves ---- */

static int64_t range_of(const CurveParams *p)
{
    return p->white - p->black;
}

/* The bins of black and white. */
static int black_of(const CurveParams *p)
{
    return p->black >> p->fraction;
}

static int white_of(const CurveParams *p)
{
    return p->white >> p->fraction;
}

/* The place of a Q16 code. */
static int64_t place_of(const CurveParams *p, int64_t code)
{
    const int64_t above = code - ((int64_t)p->black << 16), range = range_of(p);
    return above <= 0 ? 0 : above >= range << 16 ? ONE : (above << (ONE_BITS - 16)) / range;
}

uint64_t transfer_kept(uint32_t place)
{
    const int64_t t = 2 * (int64_t)place - ONE;
    if (t <= 0)
        return ONE;
    return (uint64_t)(ONE - ((t * t >> ONE_BITS) * (3 * (int64_t)ONE - 2 * t) >> ONE_BITS));
}

void transfer_map(const CurveParams *p, TransferMap *map)
{
    const int32_t key[] = {p->transfer, p->depth, p->black, p->white, p->fraction, p->bins};
    if (p->transfer == LUMEQ_TRANSFER_SDR || !memcmp(map->key, key, sizeof(key)))
        return;
    const Axis *axis = axis_of(p);
    /* With one bin per code, a bin's code is its middle, otherwise its start. */
    const int64_t half = p->fraction ? 0 : 1 << 15, range = range_of(p);
    memcpy(map->key, key, sizeof(key));
    for (int i = black_of(p); i <= white_of(p) + 1; i++) {
        const int64_t code = (int64_t)i << (16 + p->fraction);
        const int64_t begin = read_at(axis->light, place_of(p, code - half));
        const int64_t place = read_at(axis->light, place_of(p, code));
        map->begin[i] = (uint32_t)((begin * range >> (ONE_BITS - 16 + p->fraction)) + half);
        map->light[i] = (uint32_t)place;
        map->kept[i] = (uint32_t)transfer_kept((uint32_t)place);
    }
}

/* Spreads a count over the bins between two places on the axis, in Q16 bins above black. */
static void spread(uint32_t *bins, uint32_t last, uint32_t count, uint32_t from, uint32_t to)
{
    const uint32_t first = from >> 16 < last ? from >> 16 : last;
    uint32_t given = 0;
    if (to > from && first != (to - 1) >> 16) {
        const double each = (double)count / (to - from);
        for (uint32_t bin = first; bin < last && (bin + 1) << 16 < to; bin++) {
            const uint32_t sum = (uint32_t)(each * (((bin + 1) << 16) - from));
            bins[bin] += sum - given;
            given = sum;
        }
    }
    const uint32_t end = to > from ? (to - 1) >> 16 : first;
    bins[end < last ? end : last] += count - given;
}

const uint32_t *transfer_counts(const CurveParams *p, const TransferMap *map,
                                const uint32_t *counts, uint32_t *light)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return counts;
    const int black = black_of(p), white = white_of(p);
    memcpy(light, counts, (size_t)p->bins * sizeof(*light));
    memset(light + black, 0, (size_t)(white - black + 1) * sizeof(*light));
    for (int i = black; i <= white; i++)
        if (counts[i])
            spread(light + black, (uint32_t)(white - black), counts[i], map->begin[i],
                   map->begin[i + 1]);
    return light;
}

/* How far the curve moves a place on the axis, in Q16 codes. */
static int64_t moved_at(const CurveParams *p, const uint32_t *curve, int64_t place)
{
    const int bits = 16 + p->fraction, last = white_of(p);
    const int64_t code = place * range_of(p) >> (ONE_BITS - 16);
    const int64_t i = black_of(p) + (code >> bits), next = i < last ? i + 1 : i;
    const int64_t one = (int64_t)curve[i] - (i << bits), other = curve[next] - (next << bits);
    return one + ((other - one) * (code & ((1 << bits) - 1)) >> bits);
}

const uint32_t *transfer_curve(const CurveParams *p, const TransferMap *map, const uint32_t *curve,
                               uint32_t *codes)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return curve;
    const Axis *axis = axis_of(p);
    const int black = black_of(p);
    const int64_t from_code = (int64_t)p->black << 16, range = range_of(p);
    const int64_t white = from_code + (axis->white * range >> (ONE_BITS - 16));
    const double place_of_code = (double)(1 << (ONE_BITS - 16)) / range;
    memcpy(codes, curve, (size_t)p->bins * sizeof(*codes));
    for (int i = black; i <= white_of(p); i++) {
        const int64_t code = (int64_t)i << (16 + p->fraction), from = map->light[i];
        int64_t moved = 0, made = code;
        if (code < white)
            moved = (int64_t)((double)moved_at(p, curve, from) * place_of_code) * map->kept[i] >>
                    ONE_BITS;
        int64_t to = from + moved;
        to = to < 0 ? 0 : to < ONE ? to : ONE;
        if (moved) { /* the difference, so that the tables' rounding cancels out */
            made +=
                (read_at(axis->code, to) - read_at(axis->code, from)) * range >> (ONE_BITS - 16);
            made = made < from_code ? from_code : made < white ? made : white;
        }
        codes[i] = (uint32_t)made;
        if (i > black && codes[i] < codes[i - 1])
            codes[i] = codes[i - 1];
    }
    return codes;
}

uint32_t transfer_level(const CurveParams *p, uint32_t level)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return level;
    const int64_t place = place_of(p, ((int64_t)p->black << 16) + ((int64_t)level << 8));
    return (uint32_t)(read_at(axis_of(p)->light, place) * range_of(p) >> (ONE_BITS - 8));
}

int transfer_white(const CurveParams *p)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return p->white;
    return p->black + (int)(axis_of(p)->white * range_of(p) >> ONE_BITS);
}

int32_t transfer_tint_end(const CurveParams *p)
{
    return p->transfer == LUMEQ_TRANSFER_SDR ? 0 : transfer_white(p) - p->black;
}

uint32_t transfer_range(const CurveParams *p)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return curve_legal(p->depth, p->black != 0).range;
    return (uint32_t)(transfer_white(p) - p->black) << (16 - p->depth);
}

/* ---- haze ---- */

/* A level is above black, in 256ths of 8-bit codes. */
typedef int32_t LevelMove(const CurveParams *p, int32_t level);

static int32_t axis_level(const CurveParams *p, int32_t level)
{
    const int down = p->depth - 8;
    return (int32_t)(transfer_level(p, level > 0 ? (uint32_t)level << down : 0) >> down);
}

static int32_t code_level(const CurveParams *p, int32_t level)
{
    const int64_t range = range_of(p) >> (p->depth - 8);
    const int64_t place = level > 0 ? ((int64_t)level << (ONE_BITS - 8)) / range : 0;
    return (int32_t)(read_at(axis_of(p)->code, place < ONE ? place : ONE) * range >>
                     (ONE_BITS - 8));
}

/* BT.2020's luma, and Cb and Cr from gray: levels. */
typedef struct Colour {
    int32_t luma, cb, cr;
} Colour;

/* Moves the components of R'G'B' to the axis or back. Factors are Q16. */
static Colour move_colour(const CurveParams *p, Colour c, LevelMove *move)
{
    const int64_t cb = c.cb, cr = c.cr;
    const int64_t red = move(p, c.luma + (int32_t)(96640 * cr >> 16));
    const int64_t green = move(p, c.luma - (int32_t)((10784 * cb + 37444 * cr) >> 16));
    const int64_t blue = move(p, c.luma + (int32_t)(123299 * cb >> 16));
    const int64_t luma = (17216 * red + 44433 * green + 3887 * blue) >> 16;
    return (Colour){(int32_t)luma, (int32_t)(34834 * (blue - luma) >> 16),
                    (int32_t)(44443 * (red - luma) >> 16)};
}

HazeCell transfer_cell(const CurveParams *p, HazeCell cell)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return cell;
    const int black = p->black >> (p->depth - 8);
    const Colour codes = {128 * (cell.low + cell.high - 2 * black), cell.chroma[0] - HAZE_GRAY,
                          cell.chroma[1] - HAZE_GRAY};
    const Colour c = move_colour(p, codes, axis_level);
    return (HazeCell){
        .low = (uint8_t)(black + axis_level(p, 256 * (cell.low - black)) / 256),
        .high = (uint8_t)(black + axis_level(p, 256 * (cell.high - black)) / 256),
        .mean = (uint16_t)(256 * black + axis_level(p, cell.mean - 256 * black)),
        .chroma = {(uint16_t)(HAZE_GRAY + c.cb), (uint16_t)(HAZE_GRAY + c.cr)},
    };
}

HazeTint transfer_tint(const CurveParams *p, HazeTint tint)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return tint;
    const int32_t range = (int32_t)range_of(p) >> (p->depth - 8) << 8;
    Colour ends[2];
    for (int i = 0; i < 2; i++) {
        const int32_t luma = range * (1 + 2 * i) / 4;
        const Colour on_axis = {luma,
                                (int32_t)((int64_t)luma * tint.of[0] >> 16) + 2 * tint.base[0],
                                (int32_t)((int64_t)luma * tint.of[1] >> 16) + 2 * tint.base[1]};
        ends[i] = move_colour(p, on_axis, code_level);
    }
    const int32_t apart = ends[1].luma - ends[0].luma, codes = apart > 256 ? apart / 256 : 1;
    const int32_t chroma[2][2] = {{ends[0].cb, ends[1].cb}, {ends[0].cr, ends[1].cr}};
    for (int k = 0; k < 2; k++) {
        const int32_t of = (chroma[k][1] - chroma[k][0]) * 256 / codes;
        tint.of[k] = limited(of, HAZE_TINT_MOST);
        const int32_t base = chroma[k][0] - (int32_t)((int64_t)tint.of[k] * ends[0].luma >> 16);
        tint.base[k] = limited(base / 2, HAZE_BASE_MOST);
    }
    return tint;
}

void transfer_clear(const CurveParams *p, const HazeState *haze, const uint32_t nodes[CURVE_CELLS],
                    HazeClear *clear)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return;
    const int down = p->depth - 8, black = p->black >> down;
    const int32_t range = (p->white >> down) - black, legal = range << 8;
    const int32_t light = (clear->light << 8 >> down) - (black << 8), top = code_level(p, light);
    const int32_t white = code_level(p, legal);
    int64_t lifted = 0, room = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int bin = (int)(haze->mean[i] >> 8);
        const int32_t mean = (int32_t)nodes[bin] - (black << 8), most = light - light / 8;
        if (mean <= 0)
            continue;
        const int32_t tone = mean < most ? mean : most;
        const int32_t cleared = haze_lined(tone, 0, light, clear->gain[i]);
        const int32_t from = code_level(p, tone), to = code_level(p, cleared);
        const int64_t gain = top > from ? ((int64_t)(from - to) << 10) / (top - from) : 0;
        clear->gain[i] = (uint16_t)(gain < HAZE_GAIN_MOST ? gain : HAZE_GAIN_MOST);
        const int32_t more = haze_lifted(cleared, 0, legal, clear->lift, 16);
        lifted += code_level(p, more) - to;
        room += (int64_t)to * (white - to) / white;
    }
    clear->lift = haze_lift(lifted, room, white);
    clear->light = (int32_t)((uint32_t)(top + (black << 8)) << down >> 8);
}

uint32_t transfer_noise(const CurveParams *p, const uint32_t counts[CURVE_CELLS], uint32_t noise)
{
    if (p->transfer == LUMEQ_TRANSFER_SDR)
        return noise;
    uint64_t all = 0, below = 0;
    int64_t dark = 1;
    for (int i = 1; i < CURVE_CELLS; i++)
        all += counts[i];
    for (; dark < CURVE_CELLS - 1 && 4 * (below + counts[dark]) < all; dark++)
        below += counts[dark];
    const int64_t place = (dark << ONE_BITS) / (range_of(p) >> (p->depth - 8));
    return (uint32_t)(((uint64_t)noise << 16) / (uint64_t)read_at(axis_of(p)->codes, place));
}

TransferStep transfer_step(const CurveParams *p, uint32_t from, uint32_t to)
{
    const Axis *axis = axis_of(p);
    const int64_t range = range_of(p) >> (p->depth - 8);
    const int64_t before = read_at(axis->light, place_of(p, from));
    const int64_t after = read_at(axis->light, place_of(p, to));
    return (TransferStep){
        .from = (int32_t)(before * range >> (ONE_BITS - 8)),
        .to = (int32_t)(after * range >> (ONE_BITS - 8)),
        .codes = (int32_t)read_at(axis->codes, before),
        .codes_after = (int32_t)read_at(axis->codes, after),
    };
}
