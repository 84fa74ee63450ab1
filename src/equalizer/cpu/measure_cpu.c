/* Measures a frame in one pass over its rows while they are in the cache. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/bars_profile.h"
#include "equalizer/cpu/clahe.h"
#include "equalizer/cpu/noise_cpu.h"

typedef struct Band {
    _Alignas(64) uint32_t hist[LUMEQ_MAX_BINS]; /* no two threads share a cache line */
    uint64_t cells[MEASURE_CELLS];
    NoiseProfile noise;
} Band;

typedef struct Measuring {
    const CpuTeam *team;
    const LumeqMeasureJob *job;
    Band *band;
    int bands;
} Measuring;

/* Adds some rows to the sums of cells. */
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

static void measure_rows(const Measuring *m, Band *band, int from, int to)
{
    const LumeqMeasureJob *job = m->job;
    const LumeqImage *in = &job->in;
    lumeq_count_rows(m->team, band->hist, in, &job->curve, from, to);
    lumeq_profile_rows(&job->bars, job->counts.lit[BARS_ROWS], in->plane[0], in->stride[0], from,
                       to);
    sum_rows(m, band->cells, from, to);
}

static void measure_band(void *priv, int number)
{
    const Measuring *m = priv;
    const LumeqMeasureJob *job = m->job;
    const LumeqImage *in = &job->in;
    Band *band = &m->band[number];
    const int end = lumeq_band_start(in->height, number + 1, m->bands);
    const int strip = 1 + (int)(CPU_STRIP_BYTES / lumeq_row_size(in, 0));
    memset(band, 0, sizeof(*band));
    for (int y = lumeq_band_start(in->height, number, m->bands); y < end; y += strip)
        measure_rows(m, band, y, y + strip < end ? y + strip : end);
    const int noise_end = noise_rows(in->width, in->height).rows;
    if (job->previous.plane[0])
        lumeq_noise_count(&band->noise, &m->team->kernels, in, &job->previous, &job->curve,
                          lumeq_band_start(noise_end, number, m->bands),
                          lumeq_band_start(noise_end, number + 1, m->bands));
    lumeq_profile_columns(&job->bars, job->counts.lit[BARS_COLUMNS], in->plane[0], in->stride[0],
                          lumeq_band_start(in->width, number, m->bands),
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

static void add_up(const Measuring *m)
{
    const LumeqCounts *counts = &m->job->counts;
    const int bins = m->job->curve.bins;
    memset(counts->hist, 0, (size_t)bins * sizeof(*counts->hist));
    memset(counts->cells, 0, MEASURE_CELLS * sizeof(*counts->cells));
    memset(counts->noise, 0, sizeof(*counts->noise));
    for (int band = 0; band < m->bands; band++) {
        for (int i = 0; i < bins; i++)
            counts->hist[i] += m->band[band].hist[i];
        for (int i = 0; i < MEASURE_CELLS; i++)
            counts->cells[i] += m->band[band].cells[i];
        lumeq_noise_add(counts->noise, &m->band[band].noise);
    }
}

int lumeq_cpu_measure(const CpuTeam *team, const LumeqMeasureJob *job)
{
    Measuring m = {.team = team, .job = job, .bands = lumeq_count_bands(team, &job->in)};
    m.band = aligned_alloc(_Alignof(Band), (size_t)m.bands * sizeof(*m.band));
    if (!m.band)
        return LUMEQ_ERR_MEMORY;
    lumeq_workers_run(team->workers, measure_band, &m, m.bands);
    if (job->clahe)
        lumeq_workers_run(team->workers, measure_tile, &m, tile_count(&job->grid));
    add_up(&m);
    free(m.band);
    return 0;
}
