#include "equalizer/frame_stats.h"

#include <string.h>

#include "equalizer/rule/curve.h"

/* A histogram with its running count and sum; it is stored only if requested. */
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

/*
 * Adds the output of a bin that counts several codes, each assumed equally frequent. Equivalent to
 * curve_between() for each code, but steps from output bin to output bin.
 */
static void spread_bin(Tally *out, const CurveParams *p, const CurveBin *bin, int is_last)
{
    const uint32_t node = curve_node(bin->curve);
    const uint32_t next = is_last ? 1u << (p->depth + CURVE_NODE_BITS) : curve_node(bin[1].curve);
    const uint32_t codes = 1u << p->fraction, step = next - node, last = (uint32_t)p->bins - 1;
    const uint32_t start = (node + CURVE_ROUND) << p->fraction;
    const int bits = CURVE_NODE_BITS + 2 * p->fraction; /* fraction bits of `start` within an
                                                         * output bin */
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

static void count_out(Tally *out, const FrameSummary *from)
{
    const CurveParams *curve = from->params;
    const CurveBin *bin = from->result->bin;
    for (int i = 0; i < curve->bins; i++) {
        if (!bin[i].hist)
            continue;
        if (curve->fraction)
            spread_bin(out, curve, &bin[i], i == curve->bins - 1);
        else
            tally(out, (bin[i].curve + CURVE_ONE / 2) >> 16, bin[i].hist);
    }
}

/* The tiles' histograms have 256 cells; the bins of a cell share its count. */
static void count_tiles_out(Tally *out, const FrameSummary *from)
{
    const uint32_t width = (uint32_t)from->params->bins / TILE_CELLS;
    for (uint32_t i = 0; i < TILE_CELLS; i++) {
        const uint64_t count = from->sums->hist_out[i];
        for (uint32_t k = 0; k < width; k++)
            tally(out, i * width + k, (uint32_t)(count * (k + 1) / width - count * k / width));
    }
}

/* The tiles' curves are interpolated between the nodes of cells. */
static uint32_t tiles_curve_at(const FrameSummary *from, uint32_t bin)
{
    const CurveParams *curve = from->params;
    const uint32_t width = (uint32_t)curve->bins / TILE_CELLS, i = bin / width, k = bin % width;
    const uint64_t begin = from->sums->curve_sum[i];
    const uint64_t end = i + 1 < TILE_CELLS ? from->sums->curve_sum[i + 1]
                                            : (uint64_t)from->tiles << (curve->depth + 8);
    const uint64_t sum = begin + (end > begin ? end - begin : 0) * k / width;
    return (uint32_t)((sum << 8) / from->tiles);
}

static uint32_t curve_at(const FrameSummary *from, int bin)
{
    return from->tiles ? tiles_curve_at(from, (uint32_t)bin) : from->result->bin[bin].curve;
}

/* The steepest slope over one code of 8 bits in the darkest quarter of the range. `curve` is filled
 * in, or NULL. */
static double noise_gain(const FrameSummary *from, const uint32_t *curve)
{
    const CurveParams *p = from->params;
    const int width = p->bins / CURVE_CELLS, black = p->black >> p->fraction;
    const int quarter = black + ((p->white - p->black) >> (p->fraction + 2));
    uint32_t most = 0;
    for (int i = black; i < quarter; i++) {
        const uint32_t rise =
            curve ? curve[i + width] - curve[i] : curve_at(from, i + width) - curve_at(from, i);
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

static int32_t filtered_noise(const FrameSummary *from)
{
    const LiftState *lift = &from->result->lift;
    return lift_filtered(lift_noise(lift->dark, lift->noise >> 10), from->params->denoise);
}

static int is_filtered(const FrameSummary *from)
{
    const CurveParams *p = from->params;
    const int width = p->bins / CURVE_CELLS, black = p->black >> (p->depth - 8);
    const int white = p->white >> (p->depth - 8);
    const int32_t filtered = filtered_noise(from);
    uint32_t nodes[LIFT_CODES], any = 0;
    for (int i = 0; i < LIFT_CODES; i++)
        nodes[i] = curve_code8(p, from->result->bin[i * width].curve);
    for (int i = 0; i < LIFT_CODES; i++)
        any |= lift_tolerance(nodes, i, black, white, filtered, 0) & 0xffff;
    return any != 0;
}

void lumeq_fill_stats(LumeqFrameStats *stats, const FrameSummary *from)
{
    const CurveParams *p = from->params;
    Tally in = tally_begin(stats->hist_in, p->bins), out = tally_begin(stats->hist_out, p->bins);
    for (int i = 0; i < p->bins; i++)
        tally(&in, (uint32_t)i, from->result->bin[i].hist);
    if (from->tiles)
        count_tiles_out(&out, from);
    else
        count_out(&out, from);
    for (int i = 0; stats->curve && i < p->bins; i++)
        stats->curve[i] = curve_at(from, i);
    stats->bins = p->bins;
    stats->active = from->result->bars.active;
    stats->mean_in = tally_mean(&in, p);
    stats->mean_out = tally_mean(&out, p);
    stats->strength = (double)from->result->strength / CURVE_ONE;
    stats->noise_gain = noise_gain(from, stats->curve);
    stats->curve_speed = (double)from->moved / p->bins / CURVE_ONE;
    stats->scene_cut = (int)from->result->scene_cut;
    const LiftState *lift = &from->result->lift;
    const int lifted = p->lift && p->strength;
    stats->lift = lifted ? 1 + (double)lift->more / CURVE_ONE : 1;
    stats->dark = lifted ? (double)lift->dark / CURVE_ONE : 0;
    stats->filtered = lifted && is_filtered(from);
    stats->previous = stats->filtered && filtered_noise(from) > 0;
    stats->noise = from->result->noise == NOISE_UNKNOWN ? -1 : from->result->noise / 256.0;
}
