/* Computes LumeqFrameStats from a frame's curve. */
#include <string.h>

#include "equalizer/last_error.h"
#include "equalizer/rule/curve.h"
#include "equalizer/settings.h"
#include "equalizer/tone_curve.h"

typedef struct Tally {
    uint32_t *hist; /* NULL: not wanted */
    uint64_t count, sum;
} Tally;

static inline void tally(Tally *t, uint32_t bin, uint32_t count)
{
    t->count += count;
    t->sum += (uint64_t)count * bin;
    if (t->hist)
        t->hist[bin] += count;
}

static Tally tally_begin(uint32_t *hist, int bins)
{
    if (hist)
        memset(hist, 0, (size_t)bins * sizeof(*hist));
    return (Tally){.hist = hist};
}

/* The mean in codes; each bin counts as the middle of its codes. */
static double tally_mean(const Tally *t, const CurveParams *curve)
{
    const int codes = 1 << curve->fraction;
    if (!t->count)
        return 0;
    return (double)t->sum / (double)t->count * codes + (codes - 1) / 2.0;
}

/* Adds the output of a bin of several equally frequent codes. The result is that of curve_between()
 * for each code, but the loop is over output bins. */
static void spread_bin(Tally *out, const CurveParams *p, const CurveBin *bin, int is_last)
{
    const uint32_t node = curve_node(bin->curve);
    const uint32_t next = is_last ? 1u << (p->depth + CURVE_NODE_BITS) : curve_node(bin[1].curve);
    const uint32_t codes = 1u << p->fraction, step = next - node, last = (uint32_t)p->bins - 1;
    const uint32_t start = (node + CURVE_ROUND) << p->fraction;
    const int bits = CURVE_NODE_BITS + 2 * p->fraction; /* `start` >> bits is the output bin */
    uint32_t part = 0, counted = 0;
    while (part < codes) {
        const uint32_t to = (start + step * part) >> bits;
        uint32_t end = codes;
        if ((start + step * (codes - 1)) >> bits > to)
            end = (((to + 1) << bits) - start + step - 1) / step;
        const uint32_t count = (uint32_t)((uint64_t)bin->hist * end >> p->fraction);
        tally(out, to < last ? to : last, count - counted);
        counted = count;
        part = end;
    }
}

static void count_out(Tally *out, const LumeqCurve *curve)
{
    const CurveParams *p = &curve->params;
    const CurveBin *bin = curve->result->bin;
    for (int i = 0; i < p->bins; i++) {
        if (!bin[i].hist)
            continue;
        if (p->fraction)
            spread_bin(out, p, &bin[i], i == p->bins - 1);
        else
            tally(out, (bin[i].curve + CURVE_ONE / 2) >> 16, bin[i].hist);
    }
}

/* The tiles' histograms have 256 cells. A cell's count is divided evenly among its bins. */
static void count_tiles_out(Tally *out, const LumeqCurve *curve)
{
    const uint32_t width = (uint32_t)curve->params.bins / TILE_CELLS;
    for (uint32_t i = 0; i < TILE_CELLS; i++) {
        const uint64_t count = curve->sums->hist_out[i];
        for (uint32_t k = 0; k < width; k++)
            tally(out, i * width + k, (uint32_t)(count * (k + 1) / width - count * k / width));
    }
}

/* The mean of the tiles' curves, interpolated between cells. */
static uint32_t tiles_curve_at(const LumeqCurve *curve, uint32_t bin)
{
    const CurveParams *p = &curve->params;
    const uint32_t width = (uint32_t)p->bins / TILE_CELLS, i = bin / width, k = bin % width;
    const uint32_t tiles = (uint32_t)tile_count(curve->grid);
    const uint64_t begin = curve->sums->curve_sum[i];
    const uint64_t end =
        i + 1 < TILE_CELLS ? curve->sums->curve_sum[i + 1] : (uint64_t)tiles << (p->depth + 8);
    const uint64_t sum = begin + (end > begin ? end - begin : 0) * k / width;
    return (uint32_t)((sum << 8) / tiles);
}

static uint32_t curve_at(const LumeqCurve *curve, int bin)
{
    return curve->grid ? tiles_curve_at(curve, (uint32_t)bin) : curve->result->bin[bin].curve;
}

/* The steepest slope, over a width of one 8-bit code, in the darkest quarter of the range. */
static double noise_gain(const LumeqCurve *curve)
{
    const CurveParams *p = &curve->params;
    const int width = p->bins / CURVE_CELLS, black = p->black >> p->fraction;
    const int quarter = black + ((p->white - p->black) >> (p->fraction + 2));
    uint32_t most = 0;
    for (int i = black; i < quarter; i++) {
        const uint32_t rise = curve_at(curve, i + width) - curve_at(curve, i);
        most = rise > most ? rise : most;
    }
    return (double)most / ((double)CURVE_ONE * (width << p->fraction));
}

uint64_t lumeq_curve_moved(const CurveParams *params, const CurveResult *before,
                           const CurveResult *result)
{
    uint64_t moved = 0;
    if (before->depth != (uint32_t)params->depth || before->white != (uint32_t)params->white ||
        params->reference)
        return 0;
    for (int i = 0; i < params->bins; i++) {
        const int64_t step = (int64_t)result->bin[i].smooth - before->bin[i].smooth;
        moved += (uint64_t)(step < 0 ? -step : step);
    }
    return moved;
}

static int32_t filtered_noise(const LumeqCurve *curve)
{
    const LiftState *lift = &curve->result->lift;
    return lift_filtered(lift_noise(lift->dark, lift->noise >> 10), curve->params.denoise);
}

static int is_filtered(const LumeqCurve *curve)
{
    const CurveParams *p = &curve->params;
    const int width = p->bins / CURVE_CELLS, black = p->black >> (p->depth - 8);
    const int white = p->white >> (p->depth - 8);
    const int32_t filtered = filtered_noise(curve);
    uint32_t nodes[LIFT_CODES], any = 0;
    for (int i = 0; i < LIFT_CODES; i++)
        nodes[i] = curve_code8(p, curve->result->bin[i * width].curve);
    for (int i = 0; i < LIFT_CODES; i++)
        any |= lift_tolerance(nodes, i, black, white, filtered, 0) & 0xffff;
    return any != 0;
}

int lumeq_curve_stats(const LumeqCurve *curve, LumeqFrameStats *stats)
{
    LumeqFrameStats filled, *const to = &filled;
    if (!curve || !stats)
        return lumeq_refuse("`curve` or `stats` is NULL");
    if (LUMEQ_TAKE(LumeqFrameStats, to, stats) < 0)
        return LUMEQ_ERR_ARGUMENT;
    const CurveParams *p = &curve->params;
    const CurveResult *result = curve->result;
    const int lifted = p->lift && p->strength;
    Tally in = tally_begin(to->hist_in, p->bins), out = tally_begin(to->hist_out, p->bins);
    for (int i = 0; i < p->bins; i++)
        tally(&in, (uint32_t)i, result->bin[i].hist);
    if (curve->grid)
        count_tiles_out(&out, curve);
    else
        count_out(&out, curve);
    for (int i = 0; to->curve && i < p->bins; i++)
        to->curve[i] = curve_at(curve, i);
    to->bins = p->bins;
    to->active = result->bars.active;
    to->mean_in = tally_mean(&in, p);
    to->mean_out = tally_mean(&out, p);
    to->strength = (double)result->strength / CURVE_ONE;
    to->noise_gain = noise_gain(curve);
    to->curve_speed = (double)curve->moved / p->bins / CURVE_ONE;
    to->scene_cut = (int)result->scene_cut;
    to->lift = lifted ? 1 + (double)result->lift.more / CURVE_ONE : 1;
    to->dark = lifted ? (double)result->lift.dark / CURVE_ONE : 0;
    to->filtered = lifted && is_filtered(curve);
    to->cleared = 0;
    for (int i = 0; curve->table.clear.light && i < MEASURE_CELLS; i++)
        to->cleared += curve->table.clear.gain[i] / (1024.0 * MEASURE_CELLS);
    to->previous = lumeq_curve_previous(curve);
    to->noise = result->noise == NOISE_UNKNOWN ? -1 : result->noise / 256.0;
    (void)lumeq_give_struct(stats, to, sizeof(*to));
    return 0;
}
