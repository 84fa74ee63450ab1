/* Measures a frame in bands. */
#include <string.h>

#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/bars_profile.h"
#include "equalizer/cpu/tile_rows.h"

typedef struct Measuring {
    const CpuTeam *team;
    const LumeqMeasureJob *job;
    int bands;
} Measuring;

#define BLOCKS_AT_ONCE 64 /* number of noise blocks to sum at once */

/* Adds the noise blocks of the rows [from, to) of noise_rows() to a profile. */
static void count_noise(NoiseProfile *profile, const LumeqKernels *kernels, const LumeqImage *in,
                        const LumeqImage *previous, const CurveParams *params, int from, int to)
{
    const int depth = in->depth, black = params->black >> (depth - 8), size = depth > 8 ? 2 : 1;
    const NoiseRows rows = noise_rows(in->width, in->height);
    LumeqApartKernel *const apart = depth > 8 ? kernels->apart16 : kernels->apart8;
    for (int row = from; row < to; row++) {
        const int y = noise_line(&rows, row);
        for (int x = 0; x < rows.columns; x += BLOCKS_AT_ONCE) {
            const int some = rows.columns - x < BLOCKS_AT_ONCE ? rows.columns - x : BLOCKS_AT_ONCE;
            const ptrdiff_t left = (ptrdiff_t)x * NOISE_BLOCK * size;
            NoiseSums sums[BLOCKS_AT_ONCE];
            apart(sums, (const uint8_t *)lumeq_row(in, 0, y) + left, in->stride[0],
                  (const uint8_t *)lumeq_row(previous, 0, y) + left, previous->stride[0], some,
                  params);
            for (int i = 0; i < some; i++) {
                const uint32_t level = noise_level(&sums[i], depth, black);
                profile->blocks[level]++;
                profile->repeated += sums[i].apart == 0;
                profile->still[level][noise_bin(&sums[i], depth)] +=
                    noise_is_still(&sums[i], depth) != 0;
            }
        }
    }
}

static void add_noise(NoiseProfile *sum, const NoiseProfile *part)
{
    for (int level = 0; level < NOISE_LEVELS; level++) {
        sum->blocks[level] += part->blocks[level];
        for (int bin = 0; bin < NOISE_BINS; bin++)
            sum->still[level][bin] += part->still[level][bin];
    }
    sum->repeated += part->repeated;
}

/* Adds the rows [from, to) to the sums of cells. */
static void sum_rows(const Measuring *m, uint64_t *cells, int from, int to)
{
    const LumeqImage *in = &m->job->in;
    const LumeqKernels *kernels = &m->team->kernels;
    LumeqSumKernel *const sum = in->depth > 8 ? kernels->sum16 : kernels->sum8;
    const int size = in->depth > 8 ? 2 : 1;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int row = i / MEASURE_COLUMNS, column = i % MEASURE_COLUMNS;
        const int left = measure_cell_start(in->width, column, MEASURE_COLUMNS);
        const int right = measure_cell_start(in->width, column + 1, MEASURE_COLUMNS);
        int top = measure_cell_start(in->height, row, MEASURE_ROWS);
        int bottom = measure_cell_start(in->height, row + 1, MEASURE_ROWS);
        top = top > from ? top : from;
        bottom = bottom < to ? bottom : to;
        if (top < bottom)
            cells[i] += sum((const uint8_t *)lumeq_row(in, 0, top) + left * size, in->stride[0],
                            right - left, bottom - top, &m->job->curve);
    }
}

/* The mean of a chroma component at the luma positions x[0..7], y[0..7]. */
static uint16_t mean_chroma(const LumeqImage *in, const int *x, const int *y, int component)
{
    const int step = lumeq_step(in, 1), last = (1 << in->depth) - 1;
    uint32_t sum = 0;
    for (int k = 0; k < HAZE_SIDE; k++) {
        const void *row = lumeq_component(in, component, y[k] >> in->chroma_y);
        for (int i = 0; i < HAZE_SIDE; i++) {
            const int at = (x[i] >> in->chroma_x) * step;
            const int code = in->depth > 8 ? ((const uint16_t *)row)[at] >> in->shift
                                           : ((const uint8_t *)row)[at];
            sum += (uint32_t)(code < last ? code : last);
        }
    }
    return haze_mean(sum, in->depth);
}

/* Measures the percentiles and means of a cell of the metered part. */
static HazeCell measure_haze(const LumeqMeasureJob *job, int cell)
{
    const LumeqImage *in = &job->in, metered = lumeq_metered(in, &job->curve);
    const LumeqRect *meter = &job->curve.meter;
    const int column = cell % MEASURE_COLUMNS, line = cell / MEASURE_COLUMNS;
    const int deeper = in->depth - 8, last = (1 << in->depth) - 1;
    uint16_t counts[256] = {0};
    int x[HAZE_SIDE], y[HAZE_SIDE], low = 255, high, sum;
    uint32_t light = 0;
    for (int i = 0; i < HAZE_SIDE; i++) {
        x[i] = meter->x + haze_place(metered.width, column, MEASURE_COLUMNS, i);
        y[i] = meter->y + haze_place(metered.height, line, MEASURE_ROWS, i);
    }
    for (int k = 0; k < HAZE_SIDE; k++) {
        const void *row = lumeq_row(in, 0, y[k]);
        for (int i = 0; i < HAZE_SIDE; i++) {
            const int code =
                deeper ? ((const uint16_t *)row)[x[i]] >> in->shift : ((const uint8_t *)row)[x[i]];
            const uint32_t of8 = (uint32_t)(code < last ? code : last) >> deeper;
            counts[of8]++;
            light += of8;
            low = of8 < (uint32_t)low ? (int)of8 : low;
        }
    }
    for (sum = counts[low]; sum <= HAZE_LOW; sum += counts[low])
        low++;
    for (high = low; sum <= HAZE_HIGH; sum += counts[high])
        high++;
    HazeCell found = {(uint8_t)low, (uint8_t)high, haze_mean(light, 8), {HAZE_GRAY, HAZE_GRAY}};
    for (int i = 0; i < 2 && job->chroma; i++)
        found.chroma[i] = mean_chroma(in, x, y, i);
    return found;
}

static void measure_band(void *priv, int number)
{
    const Measuring *m = priv;
    const LumeqMeasureJob *job = m->job;
    const LumeqImage *in = &job->in;
    BandCounts *band = &m->team->counts[number];
    const int end = lumeq_band_start(in->height, number + 1, m->bands);
    const int strip = 1 + (int)(CPU_STRIP_BYTES / lumeq_row_size(in, 0));
    memset(band->hist, 0, (size_t)job->curve.bins * sizeof(*band->hist));
    memset(band->cells, 0, sizeof(band->cells));
    memset(&band->noise, 0, sizeof(band->noise));
    const int noise_end = noise_rows(in->width, in->height).rows;
    if (job->previous.plane[0])
        count_noise(&band->noise, &m->team->kernels, in, &job->previous, &job->curve,
                    lumeq_band_start(noise_end, number, m->bands),
                    lumeq_band_start(noise_end, number + 1, m->bands));
    for (int i = lumeq_band_start(MEASURE_CELLS, number, m->bands),
             all = lumeq_band_start(MEASURE_CELLS, number + 1, m->bands);
         i < all; i++)
        job->counts.haze[i] = measure_haze(job, i);
    for (int y = lumeq_band_start(in->height, number, m->bands); y < end; y += strip) {
        const int to = y + strip < end ? y + strip : end;
        lumeq_count_rows(m->team, band->hist, in, &job->curve, y, to);
        if (!job->bars.ignore)
            lumeq_profile_rows(&job->bars, job->counts.lit[BARS_ROWS], in->plane[0], in->stride[0],
                               y, to);
        if (job->counts.cells)
            sum_rows(m, band->cells, y, to);
    }
    if (!job->bars.ignore)
        lumeq_profile_columns(&job->bars, job->counts.lit[BARS_COLUMNS], in->plane[0],
                              in->stride[0], lumeq_band_start(in->width, number, m->bands),
                              lumeq_band_start(in->width, number + 1, m->bands));
}

static void measure_tile(void *priv, int tile)
{
    const Measuring *m = priv;
    const LumeqMeasureJob *job = m->job;
    const LumeqCounts *counts = &job->counts;
    lumeq_clahe_count(&job->grid, tile, &m->team->kernels, job->in.plane[0], job->in.stride[0],
                      counts->tiles[tile], counts->padding ? counts->padding[tile] : NULL);
}

void lumeq_cpu_measure(const CpuTeam *team, const LumeqMeasureJob *job)
{
    Measuring m = {.team = team, .job = job, .bands = lumeq_count_bands(team, &job->in)};
    const LumeqCounts *counts = &job->counts;
    const int bins = job->curve.bins;
    lumeq_workers_run(team->workers, measure_band, &m, m.bands);
    if (counts->tiles)
        lumeq_workers_run(team->workers, measure_tile, &m, tile_count(&job->grid));
    memset(counts->hist, 0, (size_t)bins * sizeof(*counts->hist));
    memset(counts->noise, 0, sizeof(*counts->noise));
    if (counts->cells)
        memset(counts->cells, 0, MEASURE_CELLS * sizeof(*counts->cells));
    for (int band = 0; band < m.bands; band++) {
        for (int i = 0; i < bins; i++)
            counts->hist[i] += team->counts[band].hist[i];
        for (int i = 0; counts->cells && i < MEASURE_CELLS; i++)
            counts->cells[i] += team->counts[band].cells[i];
        add_noise(counts->noise, &team->counts[band].noise);
    }
}
