#include "equalizer/frame_stats.h"

#include <string.h>

/* In codes; each bin counts for the middle of its codes. */
static double histogram_mean(const uint32_t *hist, const CurveParams *curve)
{
    uint64_t count = 0, sum = 0;
    for (int i = 0; i < curve->bins; i++) {
        count += hist[i];
        sum += (uint64_t)hist[i] * (unsigned)i;
    }
    const int codes = 1 << curve->fraction;
    return (double)sum / (double)count * codes + (codes - 1) / 2.0;
}

/*
 * Adds what becomes of a bin that counts several codes: as if each were as frequent as the others.
 * By the terms of curve_between(), but from one output bin to the next, not code by code.
 */
static void spread_bin(uint32_t *hist_out, const CurveParams *p, const CurveBin *bin, int is_last)
{
    const uint32_t node = curve_node(bin->curve);
    const uint32_t next = is_last ? 1u << (p->depth + CURVE_NODE_BITS) : curve_node(bin[1].curve);
    const uint32_t codes = 1u << p->fraction, step = next - node, last = (uint32_t)p->bins - 1;
    const uint32_t start = (node + CURVE_ROUND) << p->fraction;
    const int bits = CURVE_NODE_BITS + 2 * p->fraction; /* of `start` within an output bin */
    uint32_t part = 0, counted = 0;
    while (part < codes) {
        const uint32_t to = (start + step * part) >> bits;
        uint32_t end = codes;
        if ((start + step * (codes - 1)) >> bits > to)
            end = (((to + 1) << bits) - start + step - 1) / step;
        const uint32_t count = (uint32_t)((uint64_t)bin->hist * end >> p->fraction);
        hist_out[to < last ? to : last] += count - counted;
        counted = count;
        part = end;
    }
}

static void fill_curve(LumeqFrameStats *to, const FrameSummary *from)
{
    const CurveParams *curve = from->params;
    const CurveBin *bin = from->result->bin;
    memset(to->hist_out, 0, (size_t)curve->bins * sizeof(to->hist_out[0]));
    for (int i = 0; i < curve->bins; i++) {
        to->curve[i] = bin[i].curve;
        if (!bin[i].hist)
            continue;
        if (curve->fraction)
            spread_bin(to->hist_out, curve, &bin[i], i == curve->bins - 1);
        else
            to->hist_out[(bin[i].curve + CURVE_ONE / 2) >> 16] += bin[i].hist;
    }
}

/* Of the tiles, whose curves and histograms have 256 cells: the bins of a cell share what it has,
 * and their curve is a line from it to the next. */
static void fill_tiles(LumeqFrameStats *to, const FrameSummary *from)
{
    const CurveParams *curve = from->params;
    const uint32_t width = (uint32_t)curve->bins / TILE_CELLS;
    for (uint32_t i = 0; i < TILE_CELLS; i++) {
        const uint64_t begin = from->tile_curve_sum[i];
        const uint64_t end = i + 1 < TILE_CELLS ? from->tile_curve_sum[i + 1]
                                                : (uint64_t)from->tiles << (curve->depth + 8);
        for (uint32_t k = 0; k < width; k++) {
            const uint64_t sum = begin + (end > begin ? end - begin : 0) * k / width;
            const uint64_t out = from->tile_hist_out[i];
            to->curve[i * width + k] = (uint32_t)((sum << 8) / from->tiles);
            to->hist_out[i * width + k] = (uint32_t)(out * (k + 1) / width - out * k / width);
        }
    }
}

/* Over stretches of a code of 8 bits, in the darkest quarter of the range. */
static double noise_gain(const uint32_t *curve, const CurveParams *p)
{
    const int width = p->bins / CURVE_CELLS, black = p->black >> p->fraction;
    const int quarter = black + ((p->white - p->black) >> (p->fraction + 2));
    uint32_t most = 0;
    for (int i = black; i < quarter; i++) {
        const uint32_t rise = curve[i + width] - curve[i];
        most = rise > most ? rise : most;
    }
    return (double)most / ((double)CURVE_ONE * (width << p->fraction));
}

uint64_t lumeq_curve_moved(const CurveParams *params, const CurveResult *before,
                           const CurveResult *result)
{
    uint64_t moved = 0;
    if (before->depth != (uint32_t)params->depth || params->reference)
        return 0;
    for (int i = 0; i < params->bins; i++) {
        const int64_t step = (int64_t)result->bin[i].smooth - before->bin[i].smooth;
        moved += (uint64_t)(step < 0 ? -step : step);
    }
    return moved;
}

void lumeq_fill_stats(LumeqFrameStats *stats, const FrameSummary *from)
{
    const CurveParams *p = from->params;
    for (int i = 0; i < p->bins; i++)
        stats->hist_in[i] = from->result->bin[i].hist;
    if (from->tiles)
        fill_tiles(stats, from);
    else
        fill_curve(stats, from);
    stats->bins = p->bins;
    stats->active = from->result->bars.active;
    stats->mean_in = histogram_mean(stats->hist_in, p);
    stats->mean_out = histogram_mean(stats->hist_out, p);
    stats->strength = (double)from->result->strength / CURVE_ONE;
    stats->noise_gain = noise_gain(stats->curve, p);
    stats->curve_speed = (double)from->moved / p->bins / CURVE_ONE;
    stats->scene_cut = (int)from->result->scene_cut;
    stats->previous = 0;
}
