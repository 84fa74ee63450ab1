/* The grid of tiles, and their curves. */
#include "equalizer/tiles.h"

#include <string.h>

#include "equalizer/reference.h"
#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/lift.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/transfer.h"

/* Finds each piece's first sample by bisection: piece numbers increase along the axis. */
static void find_pieces(TileAxis *axis)
{
    for (int piece = 0; piece <= axis->tiles + 1; piece++) {
        int low = 0, high = axis->size;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (tile_piece(axis, middle) < piece)
                low = middle + 1;
            else
                high = middle;
        }
        axis->piece[piece] = low;
    }
}

static TileAxis divide(int size, int tiles)
{
    TileAxis axis = {.size = size, .padded = size, .tiles = tiles < size ? tiles : size};
    axis.step = (uint32_t)((((uint64_t)axis.tiles << 31) + (uint32_t)size - 1) / (uint32_t)size);
    find_pieces(&axis);
    return axis;
}

static TileAxis divide_padded(int size, int tiles, int padding)
{
    TileAxis axis = {.size = size, .padded = size + padding, .tiles = tiles};
    const int side = axis.padded / tiles;
    axis.inverse = 1.0f / (float)side;
    find_pieces(&axis);
    return axis;
}

/* Source: OpenCV 4.x, modules/imgproc/src/clahe.cpp, CLAHE_Impl::apply. */
static void divide_reference(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                             double clip)
{
    const int even = width % tiles_x == 0 && height % tiles_y == 0;
    grid->x = divide_padded(width, tiles_x, even ? 0 : tiles_x - width % tiles_x);
    grid->y = divide_padded(height, tiles_y, even ? 0 : tiles_y - height % tiles_y);
    const int64_t area = (int64_t)(grid->x.padded / tiles_x) * (grid->y.padded / tiles_y);
    const double limit = clip * (double)area / TILE_CELLS;
    grid->limit = UINT32_MAX;
    if (clip > 0 && limit < (double)UINT32_MAX)
        grid->limit = limit < 1 ? 1 : (uint32_t)limit;
}

void lumeq_tile_grid(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                     const CurveParams *curve, double clip)
{
    *grid = (TileGrid){.curve = *curve};
    grid->curve.bins = TILE_CELLS;
    grid->curve.fraction = curve->depth - 8;
    grid->curve.stretch = 0;
    if (curve->reference) {
        divide_reference(grid, width, height, tiles_x, tiles_y, clip);
    } else {
        grid->x = divide(width, tiles_x);
        grid->y = divide(height, tiles_y);
    }
}

/* The number of a tile's samples in [from, to). */
static int overlap(const TileAxis *axis, int tile, int from, int to)
{
    const int start = tile_start(axis, tile), end = tile_start(axis, tile + 1);
    const int common = (end < to ? end : to) - (start > from ? start : from);
    return common > 0 ? common : 0;
}

/* The first and the last tile that lie in [from, to) by at least half. */
static void find_range(const TileAxis *axis, int from, int to, int32_t *first, int32_t *last)
{
    *first = axis->tiles;
    *last = 0;
    for (int i = 0; i < axis->tiles; i++) {
        const int size = tile_start(axis, i + 1) - tile_start(axis, i);
        if (2 * overlap(axis, i, from, to) >= size) {
            *first = i < *first ? i : *first;
            *last = i;
        }
    }
    if (*first > *last) /* no tile does: use the one in the picture's middle */
        *first = *last = tile_piece(axis, from + (to - from) / 2) < axis->tiles
                             ? tile_piece(axis, from + (to - from) / 2)
                             : axis->tiles - 1;
}

TileInside tile_inside(const TileGrid *grid, const BarsState *bars)
{
    TileInside inside = {0, 0, 0, grid->x.tiles - 1, 0, grid->y.tiles - 1, {0, 0}};
    if (bars->area) {
        const LumeqRect *a = &bars->active;
        inside.x = a->x;
        inside.y = a->y;
        find_range(&grid->x, a->x, a->x + a->width, &inside.first_x, &inside.last_x);
        find_range(&grid->y, a->y, a->y + a->height, &inside.first_y, &inside.last_y);
    }
    return inside;
}

uint32_t tile_bars(const TileGrid *grid, const BarsState *bars, int tile)
{
    if (!bars->area)
        return 0;
    const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
    const LumeqRect *a = &bars->active;
    const int width = overlap(&grid->x, x, a->x, a->x + a->width);
    const int height = overlap(&grid->y, y, a->y, a->y + a->height);
    return (uint32_t)overlap(&grid->x, x, 0, grid->x.size) *
               (uint32_t)overlap(&grid->y, y, 0, grid->y.size) -
           (uint32_t)width * (uint32_t)height;
}

/* ---- mode HAZE ---- */

/*
 * Mode HAZE. Haze adds the same light to all of a tile, the veil, which is about the level of the
 * tile's darkest samples, and leaves a share t of the contrast. The curve is a line that subtracts
 * the veil and keeps the bright end of the whole picture, the light of the haze itself, in its
 * place. The line darkens the tile, so a lift returns half of the lost mean; then one curve for all
 * tiles returns the rest, which keeps the light of the picture. A tile that contains black has no
 * veil.
 */
#define HAZE_DARKEST 50                      /* one sample in 50 is darker than the veil */
#define HAZE_BRIGHT (CURVE_ONE * 995 / 1000) /* share of the picture below the haze's own light */
#define HAZE_TAKEN LIFT_PERCENT(80)          /* share of the veil to subtract; 1 looks harsh */
#define HAZE_STEEPEST (16 * CURVE_ONE)       /* maximum slope if there is no clip limit */
#define HAZE_KEPT (CURVE_ONE / 2)            /* share of the lost mean that a tile's lift returns */
#define HAZE_MOST_LIFT (6 * CURVE_ONE)
#define HAZE_SHIFTED 70 /* percent of a change of light to even out */

/* Tiles whose tones span less than PLAIN, such as a clear sky, show noise and blocks of the codec
 * instead of detail: from DETAIL on their contrast rises fully. In 256ths of cells. */
#define HAZE_PLAIN (6 << 8)
#define HAZE_DETAIL (16 << 8)

/* The picture's mean afterwards, as a share of its mean before. Its light grows by at most MOST,
 * in proportion up to SHOULDER, and from there on towards white. */
#define HAZE_MEAN LIFT_PERCENT(97)
#define HAZE_MOST (8 * CURVE_ONE)
#define HAZE_SHOULDER LIFT_PERCENT(75)
#define HAZE_STEPS 14 /* bisections of the growth */

typedef struct Haze {
    uint32_t range, light; /* in 256ths of cells above black; the light is the whole picture's */
    uint32_t left;         /* t, Q16 */
    uint32_t veil, span;   /* of a tile: the places of its veil, and from there to its lightest */
    uint32_t mean;         /* of a tile, Q16 */
    uint32_t lift;         /* a of (1 + a) x / (1 + a x), Q16 */
} Haze;

/* Light before and after the veils are removed, of all tiles. */
typedef struct HazeLight {
    uint64_t before;                                       /* sum of cells above black */
    uint32_t count[TILE_CELLS + 1], after[TILE_CELLS + 1]; /* by place: samples; their place */
} HazeLight;

/* The place, in 256ths of cells above black, of a value in a cell that spans `from` to `to`. */
static uint32_t place_of(const CurveParams *p, int cell, uint32_t value, uint32_t from, uint32_t to)
{
    const uint32_t part = to > from ? (uint32_t)(((uint64_t)(value - from) << 8) / (to - from)) : 0;
    const uint32_t place = ((uint32_t)cell << 8) + part, black = (uint32_t)curve_black(p) << 8;
    return place > black ? place - black : 0;
}

/* The share of the frame at or below a cell, Q16. */
static uint32_t frame_cdf(const CurveResult *frame, int cell)
{
    const int width = (int)frame->bins / TILE_CELLS;
    return cell < 0 ? 0 : frame->bin[(cell + 1) * width - 1].cdf;
}

/* The light of the haze itself. */
static Haze find_light(const CurveParams *p, const CurveResult *frame)
{
    Haze h = {.range = (uint32_t)(p->white - p->black) << 8 >> p->fraction};
    int bright = 0;
    while (bright < TILE_CELLS - 1 && frame_cdf(frame, bright) < HAZE_BRIGHT)
        bright++;
    h.light = least_of(h.range, place_of(p, bright, HAZE_BRIGHT, frame_cdf(frame, bright - 1),
                                         frame_cdf(frame, bright)));
    return h;
}

/* The place below which this many of a tile's samples lie; `sums`: their prefix sums. */
static uint32_t quantile(const CurveParams *p, const uint32_t *sums, uint32_t samples)
{
    int cell = 0; /* the first with more sums, by bisection */
    for (int step = TILE_CELLS / 2; step; step /= 2)
        cell += sums[cell + step - 1] <= samples ? step : 0;
    return place_of(p, cell, samples, cell ? sums[cell - 1] : 0, sums[cell]);
}

/* Finds the veil of a tile, and the share of contrast that it left. */
static void find_veil(const CurveParams *p, Haze *h, uint32_t counted, const uint32_t *sums)
{
    const uint32_t veiled = counted / HAZE_DARKEST;
    const uint32_t clip = p->clip && p->clip < HAZE_STEEPEST ? p->clip : HAZE_STEEPEST;
    const uint32_t dark = quantile(p, sums, veiled);
    h->veil = least_of(h->light, dark);
    h->span = quantile(p, sums, counted - veiled - 1) - dark;
    h->left = CURVE_ONE;
    if (h->light)
        h->left -= (uint32_t)((uint64_t)h->veil * HAZE_TAKEN / h->light);
    h->left = most_of(h->left, (uint32_t)(((uint64_t)CURVE_ONE << 16) / clip));
}

/* The places of all cells in range without the veil. Tones below the veil stay above black. */
static ALSO_AVX2 void remove_veil(const Haze *h, int cells, uint32_t *places)
{
    const double inverse = 1.0 / h->left;
    const int32_t light = (int32_t)h->light, range = (int32_t)h->range;
    const int below = (light + 255) / 256 < cells ? (light + 255) / 256 : cells;
    const int32_t kept = light - (int32_t)curve_part(h->light - h->veil, inverse);
    const uint32_t toe = kept > 0 ? (uint32_t)((uint64_t)kept << 16) / most_of(h->veil, 1) : 0;
    for (int32_t i = 0; i < below; i++) {
        const int32_t place = light - (int32_t)curve_part((uint32_t)(light - 256 * i), inverse);
        const int32_t least = (int32_t)((uint32_t)i * toe >> 8);
        places[i] = (uint32_t)(place > least ? place : least);
    }
    for (int32_t i = below; i < cells; i++) {
        const int32_t place = light + (int32_t)curve_part((uint32_t)(256 * i - light), inverse);
        places[i] = (uint32_t)(place < range ? place : range);
    }
}

/* Finds the lift that returns some of the tile's mean; `places`: without the veil. */
static ALSO_AVX2 void find_lift(Haze *h, uint32_t counted, const uint32_t *counts, int cells,
                                const uint32_t *places)
{
    const double inverse = 1.0 / counted;
    uint32_t with = 0, without = 0; /* sums of shares times places */
    for (uint32_t i = 0; i < (uint32_t)cells; i++) {
        const uint32_t share = curve_part(counts[i], inverse);
        with += share * i;
        without += share * places[i] >> 8;
    }
    const uint32_t after = (uint32_t)(((uint64_t)without << 8) / h->range);
    h->mean = (uint32_t)(((uint64_t)with << 8) / h->range);
    const uint32_t wanted = h->mean > after ? curve_lerp(after, h->mean, HAZE_KEPT) : after;
    /* At least 1/256 of the range, so that the quotient fits 32 bits. */
    h->lift = least_of(lift_reach(most_of(after, CURVE_ONE / 256), wanted), HAZE_MOST_LIFT);
}

static ALSO_AVX2 void lift_places(const Haze *h, int cells, uint32_t *places)
{
    const double inverse = 1.0 / h->range, lift = h->lift * 0x1p-16;
    const double steepest = CURVE_ONE + h->lift;
    const int32_t range = (int32_t)h->range;
    for (int i = 0; i < cells; i++) {
        const int32_t share = (int32_t)curve_part(places[i], inverse);
        const int32_t divisor = (int32_t)CURVE_ONE + (int32_t)(share * lift);
        const int32_t lifted = (int32_t)curve_quotient((int32_t)places[i] * steepest, divisor);
        places[i] = (uint32_t)(lifted < range ? lifted : range);
    }
}

/* Around its mean, gives a tile without detail its old contrast. The difference fades out towards
 * black and white. */
static void calm_places(const Haze *h, int cells, uint32_t *places)
{
    if (h->span >= HAZE_DETAIL)
        return;
    const uint32_t plain = HAZE_DETAIL - most_of(h->span, HAZE_PLAIN);
    const uint32_t part = (plain << 16) / (HAZE_DETAIL - HAZE_PLAIN);
    const int reach = (int)(most_of(h->span, HAZE_PLAIN) >> 8);
    const int mean = (int)((uint64_t)h->mean * h->range >> 24);
    for (int way = -1; way <= 1; way += 2) {
        const int from = mean + way * reach, end = way < 0 ? -1 : cells;
        const uint32_t rest = (uint32_t)(way < 0 ? from : cells - 1 - from);
        uint32_t off = 0, old = places[mean];
        for (int i = mean + way; i != end; i += way) {
            const uint32_t step = places[i] > old ? places[i] - old : old - places[i];
            const int inside = way * (from - i) >= 0;
            if (inside && step > 256)
                off += (step - 256) * part >> 16;
            const uint32_t left = (uint32_t)(way < 0 ? i : cells - 1 - i);
            const uint32_t here = inside ? off : off * left / most_of(rest, 1);
            old = places[i];
            places[i] = way < 0 ? old + here : old - here;
        }
    }
}

/* Finds the places of a tile in mode HAZE, before the picture gets its light back. */
static ALSO_AVX2 void haze_places(const CurveParams *p, Haze h, uint32_t counted,
                                  const uint32_t *hist, const uint32_t *sums, HazeLight *light,
                                  uint32_t *places)
{
    const int black = curve_black(p), cells = curve_white(p) - black + 1;
    find_veil(p, &h, counted, sums);
    remove_veil(&h, cells, places);
    find_lift(&h, counted, hist + black, cells, places);
    if (h.lift)
        lift_places(&h, cells, places);
    calm_places(&h, cells, places);
    for (int i = 0; i < cells; i++) {
        light->before += (uint64_t)hist[black + i] * (uint32_t)i;
        light->count[(places[i] + 128) >> 8] += hist[black + i];
    }
}

/* Light that grows by `growth` (Q16), by place in cells, in 256ths of cells. */
static ALSO_AVX2 void grow(uint32_t range, uint32_t growth, uint32_t *tone)
{
    const double inverse = 1.0 / range;
    const int32_t knee = (int32_t)(((uint64_t)HAZE_SHOULDER << 16) / growth);
    const int32_t room = CURVE_ONE - HAZE_SHOULDER, most = (int32_t)(growth - HAZE_SHOULDER);
    const double above = (double)(CURVE_ONE - knee) * room, more = growth - CURVE_ONE;
    for (uint32_t i = 0; i <= TILE_CELLS; i++) {
        const int32_t x = (int32_t)least_of(curve_part(i << 8, inverse), CURVE_ONE);
        const int32_t past = x > knee ? x - knee : 0;
        const uint32_t straight = (uint32_t)((uint64_t)x * growth >> 16);
        const uint32_t bent = (uint32_t)HAZE_SHOULDER +
                              curve_quotient((double)past * most * room, above + more * past);
        tone[i] = (uint32_t)((uint64_t)(past ? bent : straight) * range >> 16);
    }
}

/* Finds the curve of all tiles that returns the light of the picture. */
static void return_light(uint32_t range, HazeLight *light)
{
    uint32_t growth = CURVE_ONE;
    for (uint32_t step = (HAZE_MOST - CURVE_ONE) / 2, i = 0; i < HAZE_STEPS; i++, step /= 2) {
        uint64_t sum = 0;
        grow(range, growth + step, light->after);
        for (int k = 0; k <= TILE_CELLS; k++)
            sum += (uint64_t)light->count[k] * light->after[k];
        growth += sum < (light->before * HAZE_MEAN >> 8) ? step : 0;
    }
    grow(range, growth, light->after);
}

/* The target of a tile in mode HAZE, from its places. */
static ALSO_AVX2 void haze_target(const CurveParams *p, uint32_t range, const HazeLight *light,
                                  const uint32_t *places, uint32_t *target)
{
    const int black = curve_black(p), cells = curve_white(p) - black + 1;
    const uint32_t first = (uint32_t)p->black << 16, *after = light->after;
    const int shift = 8 + p->fraction;
    for (int i = 0; i < cells; i++) {
        const uint32_t from = after[places[i] >> 8], to = after[(places[i] >> 8) + 1];
        const uint32_t place = least_of(from + ((to - from) * (places[i] & 255) >> 8), range);
        target[black + i] =
            light_is_on(&p->light) ? light_code(p, place, range) : first + (place << shift);
    }
}

/* ---- curves ---- */

/* Shared by the curves of a frame's tiles. */
typedef struct TileFrame {
    const TileGrid *grid;
    const CurveResult *frame;
    uint32_t light[TILE_CELLS]; /* codes before equalization */
    uint32_t weight, alpha;     /* of the frame, or 1 without a history */
    Haze haze;
    HazeLight haze_light;
} TileFrame;

/* True if a tile has nothing to equalize. */
static int has_nothing(const TileFrame *f, const CurveView *view)
{
    return (view->flat && !(f->grid->haze && view->counted)) || f->frame->epoch.black;
}

/* Mode HAZE: finds the places of a tile from its counts without bars. */
static void tile_haze(TileFrame *f, const uint32_t *left, uint32_t *places)
{
    uint32_t hist[TILE_CELLS], sums[TILE_CELLS];
    const CurveView view = curve_count(&f->grid->curve, left, hist);
    curve_scan(hist, TILE_CELLS, sums);
    if (!has_nothing(f, &view))
        haze_places(&f->grid->curve, f->haze, view.counted, hist, sums, &f->haze_light, places);
}

/* Computes the target of a tile from its counts without bars; mode HAZE: and from its places. */
static ALSO_AVX2 void tile_target(const TileFrame *f, const uint32_t *left, const uint32_t *places,
                                  uint32_t *target)
{
    const CurveParams *p = &f->grid->curve;
    uint32_t hist[TILE_CELLS], sums[TILE_CELLS];
    const CurveView view = curve_count(p, left, hist);
    const int nothing = has_nothing(f, &view);
    if (f->grid->haze && !nothing)
        haze_target(p, f->haze.range, &f->haze_light, places, target);
    else
        curve_target(p, view.counted, nothing, f->light, hist, sums, target);
}

void tile_shift(const TileGrid *grid, const uint32_t *curve, int32_t shift, uint32_t *shifted)
{
    const int black = curve_black(&grid->curve), white = curve_white(&grid->curve);
    const int32_t by = shift * HAZE_SHIFTED / 100;
    memcpy(shifted, curve, TILE_CELLS * sizeof(curve[0]));
    for (int i = black + 1; i < white && grid->haze && by; i++) {
        const int32_t from = 256 * i - by;
        const int32_t at = from < 256 * black   ? 256 * black
                           : from > 256 * white ? 256 * white
                                                : from;
        const uint32_t next = curve[at < 256 * white ? at / 256 + 1 : white];
        shifted[i] = curve_lerp(curve[at / 256], next, (uint32_t)(at % 256) << 8);
    }
}

/* OpenCV's curve of a tile. */
static void tile_reference(const TileGrid *grid, const uint32_t *hist, const uint32_t *padding,
                           uint32_t *curve)
{
    const int width = grid->x.padded / grid->x.tiles, height = grid->y.padded / grid->y.tiles;
    const float scale = 255.0f / (float)((uint32_t)width * (uint32_t)height);
    uint32_t counts[TILE_CELLS], excess = 0;
    for (int i = 0; i < TILE_CELLS; i++) {
        counts[i] = hist[i] + (padding ? padding[i] : 0);
        excess += counts[i] > grid->limit ? counts[i] - grid->limit : 0;
    }
    for (uint32_t i = 0; i < TILE_CELLS; i++)
        counts[i] = reference_clipped(i, counts[i], grid->limit, excess);
    curve_scan(counts, TILE_CELLS, curve);
    for (int i = 0; i < TILE_CELLS; i++)
        curve[i] = reference_rounded(curve[i], scale) << 16;
}

void lumeq_tile_begin(const TileGrid *grid, const BarsState *bars, TileResult *result,
                      TileTables *tables)
{
    tables->inside = tile_inside(grid, bars);
    result->tiles_x = (uint32_t)grid->x.tiles;
    result->tiles_y = (uint32_t)grid->y.tiles;
    result->depth = grid->curve.reference ? 0 : (uint32_t)grid->curve.depth;
    result->white = (uint32_t)grid->curve.white;
    memset(&result->sums, 0, sizeof(result->sums));
}

HIDE_VARIANTS(lumeq_tile_add)
ALSO_AVX2 void lumeq_tile_add(const TileGrid *grid, int tile, const uint32_t *left,
                              const uint32_t *curve, TileResult *result, TileTables *tables)
{
    const int shift = 8 + grid->curve.fraction;
    uint32_t *nodes = tables->nodes[tile], codes[TILE_CELLS];
    for (int i = 0; i < TILE_CELLS; i++) {
        /* Truncated, so that rounding it gives the same code as rounding the curve. */
        const uint32_t node = curve[i] >> 8;
        nodes[i] = node;
        result->sums.curve_sum[i] += node;
        codes[i] = least_of((node + 128) >> shift, TILE_CELLS - 1);
    }
    nodes[TILE_CELLS] = tile_last_node(grid->curve.depth);
    /* Neighbours often have the same code, and would wait for each other's sum. */
    for (int i = 0; i < TILE_CELLS / 4; i++)
        for (int j = i; j < TILE_CELLS; j += TILE_CELLS / 4)
            result->sums.hist_out[codes[j]] += left[j];
}

void lumeq_tile_curves(const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                       uint32_t (*padding)[TILE_CELLS], const CurveResult *frame,
                       const TileResult *before, TileResult *result, TileTables *tables)
{
    const CurveParams *p = &grid->curve;
    const int goes_on =
        before->depth == (uint32_t)p->depth && before->white == (uint32_t)p->white &&
        before->tiles_x == (uint32_t)grid->x.tiles && before->tiles_y == (uint32_t)grid->y.tiles;
    TileFrame f = {.grid = grid,
                   .frame = frame,
                   .weight = goes_on ? frame->weight : CURVE_ONE,
                   .alpha = goes_on ? frame->alpha : CURVE_ONE};
    TransferMap map;
    memset(map.key, 0, sizeof(map.key));
    transfer_map(p, &map);
    light_bins(p, f.light);
    lumeq_tile_begin(grid, &frame->bars, result, tables);
    if (grid->haze && f.weight) {
        f.haze = find_light(p, frame);
        for (int tile = 0; tile < tile_count(grid); tile++) {
            uint32_t without[TILE_CELLS], light[TILE_CELLS];
            const uint32_t *left =
                curve_exclude(p, hist[tile], tile_bars(grid, &frame->bars, tile), without);
            tile_haze(&f, transfer_counts(p, &map, left, light), result->tile[tile].smooth);
        }
        return_light(f.haze.range, &f.haze_light);
    }
    for (int tile = 0; tile < tile_count(grid); tile++) {
        uint32_t without[TILE_CELLS], light[TILE_CELLS], curve[TILE_CELLS], codes[TILE_CELLS];
        uint32_t shifted[TILE_CELLS];
        const uint32_t *left = hist[tile];
        if (p->reference) {
            tile_reference(grid, left, padding ? padding[tile] : NULL, curve);
        } else {
            left = curve_exclude(p, left, tile_bars(grid, &frame->bars, tile), without);
            uint32_t *target = result->tile[tile].target, *smooth = result->tile[tile].smooth;
            if (f.weight)
                tile_target(&f, transfer_counts(p, &map, left, light), smooth, target);
            curve_smooth(p, f.light, target, before->tile[tile].target, f.weight, target);
            curve_smooth(p, f.light, target, before->tile[tile].smooth, f.alpha, smooth);
            tile_shift(grid, smooth, frame->epoch.shift, shifted);
            curve_weaken(p, f.light, shifted, frame->strength, curve);
        }
        lumeq_tile_add(grid, tile, left, transfer_curve(p, &map, curve, codes), result, tables);
    }
}
