/* What is to be known of a frame, counted in one pass over its rows while they are in the cache. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/bars_profile.h"
#include "equalizer/cpu/clahe.h"

typedef struct Band {
    _Alignas(64) uint32_t hist[LUMEQ_MAX_BINS]; /* no cache line is shared by two threads */
    uint64_t cells[MEASURE_CELLS];
} Band;

typedef struct Measuring {
    const CpuTeam *team;
    const LumeqMeasureJob *job;
    Band *band;
    int bands;
} Measuring;

/* Steps of eight samples whose sums fit into lanes of 16 bits. */
#define LANE_STEPS (UINT16_MAX / (2 * UINT8_MAX))

/* The sum of some samples: eight at a time, in four lanes. */
static uint64_t sum8(const uint8_t *samples, int count)
{
    const uint64_t every_other = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t sum = 0;
    int x = 0;
    while (x + 8 <= count) {
        const int steps = (count - x) / 8 < LANE_STEPS ? (count - x) / 8 : LANE_STEPS;
        uint64_t lanes = 0;
        for (int i = 0; i < steps; i++, x += 8) {
            uint64_t eight;
            memcpy(&eight, samples + x, sizeof(eight));
            lanes += (eight & every_other) + (eight >> 8 & every_other);
        }
        for (; lanes; lanes >>= 16)
            sum += lanes & UINT16_MAX;
    }
    for (; x < count; x++)
        sum += samples[x];
    return sum;
}

/* The sum of the codes of some samples. */
static uint64_t sum16(const uint16_t *samples, int count, int shift, uint32_t last)
{
    uint32_t sum = 0;
    for (int x = 0; x < count; x++) {
        const uint32_t code = (uint32_t)samples[x] >> shift;
        sum += code < last ? code : last;
    }
    return sum;
}

static void sum_row(const LumeqMeasureJob *job, const void *row, uint64_t *cells)
{
    const LumeqImage *in = &job->in;
    const uint32_t last = (1u << in->depth) - 1;
    for (int i = 0; i < MEASURE_COLUMNS; i++) {
        const int from = measure_cell_start(in->width, i, MEASURE_COLUMNS);
        const int count = measure_cell_start(in->width, i + 1, MEASURE_COLUMNS) - from;
        cells[i] += in->depth > 8 ? sum16((const uint16_t *)row + from, count, in->shift, last)
                                  : sum8((const uint8_t *)row + from, count);
    }
}

static void sum_rows(const LumeqMeasureJob *job, uint64_t *cells, int from, int to)
{
    const int height = job->in.height;
    for (int i = 0; i < MEASURE_ROWS; i++) {
        const int start = measure_cell_start(height, i, MEASURE_ROWS);
        const int end = measure_cell_start(height, i + 1, MEASURE_ROWS);
        for (int y = start > from ? start : from; y < end && y < to; y++)
            sum_row(job, lumeq_row(&job->in, 0, y), &cells[i * MEASURE_COLUMNS]);
    }
}

static void measure_rows(const Measuring *m, Band *band, int from, int to)
{
    const LumeqMeasureJob *job = m->job;
    const LumeqImage *in = &job->in;
    (in->depth > 8 ? m->team->kernels.histogram16 : m->team->kernels.histogram8)(
        band->hist, lumeq_row(in, 0, from), in->stride[0], in->width, to - from, &job->curve);
    lumeq_profile_rows(&job->bars, job->counts.lit[BARS_ROWS], in->plane[0], in->stride[0], from,
                       to);
    sum_rows(job, band->cells, from, to);
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
    for (int band = 0; band < m->bands; band++) {
        for (int i = 0; i < bins; i++)
            counts->hist[i] += m->band[band].hist[i];
        for (int i = 0; i < MEASURE_CELLS; i++)
            counts->cells[i] += m->band[band].cells[i];
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
