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

static double stage_us(const LumeqJob *job, int stage)
{
    return job->stage_end_us[stage] - job->stage_begin_us[stage];
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

static void fill_curve(LumeqFrameStats *stats, const LumeqJob *job)
{
    const CurveParams *curve = &job->curve;
    const CurveBin *bin = job->result.curve.bin;
    memset(stats->hist_out, 0, (size_t)curve->bins * sizeof(stats->hist_out[0]));
    for (int i = 0; i < curve->bins; i++) {
        stats->curve[i] = bin[i].curve;
        if (!bin[i].hist)
            continue;
        if (curve->fraction)
            spread_bin(stats->hist_out, curve, &bin[i], i == curve->bins - 1);
        else
            stats->hist_out[(bin[i].curve + CURVE_ONE / 2) >> 16] += bin[i].hist;
    }
}

/* Of the tiles, whose curves and histograms have 256 cells: the bins of a cell share what it has,
 * and their curve is a line from it to the next. */
static void fill_tiles(LumeqFrameStats *stats, const LumeqJob *job)
{
    const TileResult *tiles = &job->result.tiles;
    const uint32_t count = tiles->tiles_x * tiles->tiles_y;
    const uint32_t width = (uint32_t)job->curve.bins / TILE_CELLS;
    for (uint32_t i = 0; i < TILE_CELLS; i++) {
        const uint64_t from = tiles->curve_sum[i];
        const uint64_t to = i + 1 < TILE_CELLS ? tiles->curve_sum[i + 1]
                                               : (uint64_t)count << (job->curve.depth + 8);
        for (uint32_t k = 0; k < width; k++) {
            const uint64_t sum = from + (to > from ? to - from : 0) * k / width;
            const uint64_t out = tiles->hist_out[i];
            stats->curve[i * width + k] = (uint32_t)((sum << 8) / count);
            stats->hist_out[i * width + k] = (uint32_t)(out * (k + 1) / width - out * k / width);
        }
    }
}

static void fill_histograms(LumeqFrameStats *stats, const LumeqJob *job)
{
    const CurveParams *curve = &job->curve;
    for (int i = 0; i < curve->bins; i++)
        stats->hist_in[i] = job->result.curve.bin[i].hist;
    if (job->clahe)
        fill_tiles(stats, job);
    else
        fill_curve(stats, job);
    stats->mean_in = histogram_mean(stats->hist_in, curve);
    stats->mean_out = histogram_mean(stats->hist_out, curve);
}

/* Of the curve, over stretches of a code of 8 bits, in the darkest quarter of the range. */
static double noise_gain(const LumeqFrameStats *stats, const LumeqJob *job)
{
    const CurveParams *p = &job->curve;
    const int width = p->bins / CURVE_CELLS, black = p->black >> p->fraction;
    const int quarter = black + ((p->white - p->black) >> (p->fraction + 2));
    uint32_t most = 0;
    for (int i = black; i < quarter; i++) {
        const uint32_t rise = stats->curve[i + width] - stats->curve[i];
        most = rise > most ? rise : most;
    }
    return (double)most / ((double)CURVE_ONE * (width << p->fraction));
}

static double curve_speed(const LumeqJob *job, const CurveResult *before)
{
    const int bins = job->curve.bins;
    if (before->depth != (uint32_t)job->curve.depth || job->curve.reference)
        return 0;
    uint64_t moved = 0;
    for (int i = 0; i < bins; i++) {
        const int64_t step = (int64_t)job->result.curve.bin[i].smooth - before->bin[i].smooth;
        moved += (uint64_t)(step < 0 ? -step : step);
    }
    return (double)moved / bins / CURVE_ONE;
}

void lumeq_fill_stats(LumeqFrameStats *stats, const LumeqJob *job, const LumeqHistory *before)
{
    stats->active = job->result.curve.bars.active;
    stats->bins = job->curve.bins;
    fill_histograms(stats, job);
    stats->strength = (double)job->result.curve.strength / CURVE_ONE;
    stats->noise_gain = noise_gain(stats, job);
    stats->curve_speed = curve_speed(job, &before->curve);
    stats->scene_cut = (int)job->result.curve.scene_cut;
    stats->upload_us = stage_us(job, LUMEQ_STAGE_UPLOAD);
    stats->equalize_us = stage_us(job, LUMEQ_STAGE_EQUALIZE);
    stats->download_us = stage_us(job, LUMEQ_STAGE_DOWNLOAD);
    memcpy(stats->stage_begin_us, job->stage_begin_us, sizeof(stats->stage_begin_us));
    memcpy(stats->stage_end_us, job->stage_end_us, sizeof(stats->stage_end_us));
}
