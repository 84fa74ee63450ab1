/*
 * Filters a band from top to bottom. To compute a row, a stage needs lower rows of the previous
 * stage, so it lags that stage by some rows. Each stage stores its rows in a ring just large enough
 * for the next stage, so all rings together fit in a core's second-level cache.
 */
#include "equalizer/cpu/lift_cpu.h"

#include <string.h>

#include "equalizer/cpu/bands.h"

#define LIFT_STEPS 3

/* Samples added to each row, so that rows are an odd number of cache lines apart. Rows that are
 * 4096 bytes apart would compete for the same few cache lines. */
#define ODD_LINES 32

/* LAG: rows by which a stage lags the source. REACH: rows that a stage computes above and below the
 * rows to filter. */
#define MEAN_LAG 2
#define SMOOTH_LAG 3
#define TOLERANCE_LAG 5
#define SOURCE_REACH 5
#define MEAN_REACH 3
#define SMOOTH_REACH 2

#define NOW_ROWS 8
#define RING_ROWS 6 /* for stages that look two rows up and down */

/* Row y is at index y modulo `rows`. */
typedef struct Ring {
    int16_t *first;
    ptrdiff_t stride;
    uint32_t rows, part; /* part: 2^32 / rows, rounded up */
} Ring;

/* A band of a plane, and the memory used so far (in samples). */
typedef struct Band {
    LiftRow row;
    const LiftKernels *kernels;
    int rows;   /* rows of the plane */
    int y, end; /* rows to compute */
    ptrdiff_t stride, taken;
    int16_t *memory; /* NULL: only count the memory */
} Band;

/* State of the a-trous filter. */
typedef struct Passes {
    int steps[LIFT_STEPS], count;
    int reach[LIFT_STEPS + 1]; /* rows up and down that a step and the later steps need */
    Ring across[LIFT_STEPS];   /* each step's rows after the horizontal pass */
    int16_t *row;              /* a row after the vertical pass */
} Passes;

static int16_t *take_rows(Band *band, int rows)
{
    const ptrdiff_t at = band->taken + LIFT_MARGIN;
    band->taken += band->stride * rows;
    return band->memory ? band->memory + at : NULL;
}

static Ring open_ring(Band *band, int rows)
{
    return (Ring){take_rows(band, rows), band->stride, (uint32_t)rows,
                  UINT32_MAX / (uint32_t)rows + 1};
}

static int16_t *ring_row(const Ring *ring, int y)
{
    const uint32_t rounds = (uint32_t)((uint64_t)(uint32_t)y * ring->part >> 32);
    return ring->first + (ptrdiff_t)((uint32_t)y - rounds * ring->rows) * ring->stride;
}

static Band open_band(const LiftedPicture *picture, int plane, void *memory, int y, int end)
{
    const int width = lumeq_width(&picture->in, plane);
    const int blocks = (width + LIFT_BLOCK - 1) / LIFT_BLOCK;
    Band band = {
        .row = {.width = width, .tables = &picture->table->lift, .params = picture->params},
        .kernels = picture->kernels,
        .rows = plane ? picture->chroma_rows : picture->in.height,
        .y = y,
        .end = end,
        .stride = LIFT_MARGIN + (ptrdiff_t)blocks * LIFT_BLOCK + LIFT_MARGIN + ODD_LINES,
        .memory = memory,
    };
    band.row.prepared = memory;
    band.taken = LIFT_PREPARED / (ptrdiff_t)sizeof(int16_t);
    for (int i = 0; i < 2; i++)
        band.row.scratch[i] = take_rows(&band, 1);
    if (memory && band.kernels->prepare)
        band.kernels->prepare(memory, picture->table, picture->params);
    return band;
}

/* True if row y is at most `reach` rows outside of the rows to compute. */
static int is_wanted(const Band *band, int y, int reach)
{
    return y >= 0 && y < band->rows && y >= band->y - reach && y < band->end + reach;
}

static int first_wanted(const Band *band, int reach)
{
    return band->y > reach ? band->y - reach : 0;
}

/* Rows y - reach to y + reach of a ring, mirrored at the plane's ends. */
static void rows_around(const int16_t **rows, const Band *band, const Ring *ring, int y, int reach)
{
    for (int i = -reach; i <= reach; i++)
        rows[i + reach] = ring_row(ring, lift_mirrored(y + i, band->rows - 1));
}

static Passes open_passes(Band *band, const int *steps, int count)
{
    Passes p = {.count = count};
    for (int i = count - 1; i >= 0; i--) {
        p.steps[i] = steps[i];
        p.reach[i] = p.reach[i + 1] + steps[i];
        p.across[i] = open_ring(band, 2 * steps[i] + 1);
    }
    p.row = take_rows(band, 1);
    return p;
}

static void pass_down(const Band *band, const Passes *p, int i, const int16_t *quarter, int y)
{
    const Ring *across = &p->across[i];
    const int last = band->rows - 1, step = p->steps[i], width = band->row.width;
    band->kernels->pass(p->row, ring_row(across, lift_mirrored(y - step, last)),
                        ring_row(across, y), ring_row(across, lift_mirrored(y + step, last)),
                        quarter, width);
    if (i + 1 < p->count)
        lift_mirror(p->row, width, p->steps[i + 1]);
}

/* Passes row y to the steps. `from`: that row, with ends mirrored for the first step. Returns the
 * filtered row y - reach[0], or NULL if that row is not wanted. */
static const int16_t *filter_row(const Band *band, Passes *p, const int16_t *from,
                                 const Ring *quarter, int y)
{
    for (int i = 0; i < p->count; i++) {
        if (is_wanted(band, y, p->reach[i]))
            band->kernels->pass(ring_row(&p->across[i], y), from - p->steps[i], from,
                                from + p->steps[i], ring_row(quarter, y), band->row.width);
        y -= p->steps[i];
        if (is_wanted(band, y, p->reach[i + 1]))
            pass_down(band, p, i, ring_row(quarter, y), y);
        from = p->row;
    }
    return is_wanted(band, y, 0) ? p->row : NULL;
}

typedef struct Luma {
    const LiftedPicture *picture;
    Band band;
    Passes passes;
    int noisy, past;
    int margin; /* samples to mirror for the first step */
    Ring now, past_rows[LIFT_PAST], apart[LIFT_PAST];
    Ring still, mean, smooth, quarter;
    int16_t *row; /* a row after the speck filter */
} Luma;

static Luma open_luma(const LiftedPicture *picture, void *memory, int y, int end)
{
    Luma l = {
        .picture = picture,
        .band = open_band(picture, 0, memory, y, end),
        .noisy = picture->table->lift.noisy,
        .past = picture->past_count,
    };
    static const int alone[] = {2, 1, 1}, steps[][LIFT_STEPS] = {{4, 2, 1}, {8, 3, 1}, {12, 4, 1}};
    const int size = (picture->frame_rows >= 600) + (picture->frame_rows >= 900);
    l.passes = open_passes(&l.band, picture->table->lift.alone ? alone : steps[size], LIFT_STEPS);
    l.margin = l.passes.steps[0];
    l.now = open_ring(&l.band, NOW_ROWS);
    for (int i = 0; i < l.past; i++) {
        l.past_rows[i] = open_ring(&l.band, MEAN_LAG + 1);
        l.apart[i] = open_ring(&l.band, RING_ROWS);
    }
    l.still = open_ring(&l.band, MEAN_LAG + 1);
    l.mean = l.past ? open_ring(&l.band, RING_ROWS) : l.now;
    l.smooth = l.noisy ? open_ring(&l.band, RING_ROWS) : l.mean;
    l.quarter = open_ring(&l.band, TOLERANCE_LAG + l.passes.reach[0] + 1);
    l.row = take_rows(&l.band, 1);
    return l;
}

/* True if the tolerance is computed from samples of 8 bits. */
static int reads_bytes(const Luma *l)
{
    return l->band.kernels->whole_tolerance && !l->noisy && l->picture->in.depth == 8;
}

static void load_rows(Luma *l, int y)
{
    const LiftKernels *kernels = l->band.kernels;
    LiftLoad *const load = l->picture->in.depth > 8 ? kernels->load16 : kernels->load8;
    int16_t *now = ring_row(&l->now, y);
    load(now, lumeq_row(&l->picture->in, 0, y), 1, l->margin, &l->band.row);
    if (!reads_bytes(l))
        kernels->look_up(ring_row(&l->quarter, y), l->past ? ring_row(&l->still, y) : NULL, now,
                         &l->band.row);
    for (int i = 0; i < l->past; i++) {
        int16_t *past = ring_row(&l->past_rows[i], y);
        load(past, lumeq_row(&l->picture->past[i], 0, y), 1, 0, &l->band.row);
        kernels->apart(ring_row(&l->apart[i], y), now, past, &l->band.row);
    }
}

static void mean_row(Luma *l, int y)
{
    LiftPastRow past[LIFT_PAST];
    for (int i = 0; i < l->past; i++) {
        past[i].row = ring_row(&l->past_rows[i], y);
        rows_around(past[i].apart, &l->band, &l->apart[i], y, 2);
    }
    l->band.kernels->mean(ring_row(&l->mean, y), ring_row(&l->now, y), ring_row(&l->still, y), past,
                          l->past, &l->band.row);
}

static void tolerance_row(Luma *l, int y)
{
    const LiftKernels *kernels = l->band.kernels;
    const int16_t *rows[5];
    const uint8_t *whole[5];
    int16_t *quarter = ring_row(&l->quarter, y);
    if (reads_bytes(l)) {
        for (int i = 0; i < 5; i++)
            whole[i] = lumeq_row(&l->picture->in, 0, lift_mirrored(y + i - 2, l->band.rows - 1));
        kernels->whole_tolerance(quarter, whole, &l->band.row);
    } else {
        rows_around(rows, &l->band, &l->smooth, y, 2);
        kernels->tolerance(quarter, rows, &l->band.row);
    }
}

/* Returns a row for the a-trous filter, and finds its tolerance. */
static const int16_t *prepare_row(Luma *l, int y)
{
    const int16_t *rows[3];
    tolerance_row(l, y);
    if (!l->noisy)
        return ring_row(&l->now, y);
    rows_around(rows, &l->band, &l->mean, y, 1);
    l->band.kernels->specks(l->row, rows, ring_row(&l->quarter, y), l->margin, &l->band.row);
    return l->row;
}

void lumeq_lift_luma(const LiftedPicture *picture, void *memory, int y, int end)
{
    Luma l = open_luma(picture, memory, y, end);
    const LumeqImage *out = &picture->out;
    const LiftKernels *kernels = l.band.kernels;
    const int reach = l.passes.reach[0], lag = TOLERANCE_LAG + reach;
    for (int t = first_wanted(&l.band, reach + SOURCE_REACH); t < end + lag; t++) {
        if (is_wanted(&l.band, t, reach + SOURCE_REACH))
            load_rows(&l, t);
        if (l.past && is_wanted(&l.band, t - MEAN_LAG, reach + MEAN_REACH))
            mean_row(&l, t - MEAN_LAG);
        if (l.noisy && is_wanted(&l.band, t - SMOOTH_LAG, reach + SMOOTH_REACH)) {
            const int16_t *rows[3];
            rows_around(rows, &l.band, &l.mean, t - SMOOTH_LAG, 1);
            l.band.kernels->smooth(ring_row(&l.smooth, t - SMOOTH_LAG), rows, &l.band.row);
        }
        const int prepared = t - TOLERANCE_LAG;
        const int16_t *from =
            is_wanted(&l.band, prepared, reach) ? prepare_row(&l, prepared) : NULL;
        const int16_t *done = filter_row(&l.band, &l.passes, from, &l.quarter, prepared);
        if (done)
            (out->depth > 8 ? kernels->finish16 : kernels->finish8)(
                lumeq_row(out, 0, t - lag), done, lumeq_row(&picture->in, 0, t - lag), t - lag,
                out->shift, &l.band.row);
    }
}

typedef struct Chroma {
    const LiftedPicture *picture;
    Band band;
    Passes passes[2];
    Ring source[2], quarter, cells;
    uint8_t *out[2]; /* rows of Cb and Cr before they are interleaved */
} Chroma;

static Chroma open_chroma(const LiftedPicture *picture, void *memory, int y, int end)
{
    static const int usual[] = {4, 1}, alone[] = {3, 1, 1};
    const int is_alone = picture->table->lift.alone;
    Chroma c = {.picture = picture, .band = open_band(picture, 1, memory, y, end)};
    for (int i = 0; i < 2; i++)
        c.passes[i] = open_passes(&c.band, is_alone ? alone : usual, is_alone ? 3 : 2);
    const int rows = c.passes[0].reach[0] + 1;
    for (int i = 0; i < 2; i++) {
        c.source[i] = open_ring(&c.band, rows);
        c.out[i] = (uint8_t *)take_rows(&c.band, 1);
    }
    c.quarter = open_ring(&c.band, rows);
    c.cells = open_ring(&c.band, rows);
    return c;
}

static void load_chroma(Chroma *c, int y)
{
    const LumeqImage *in = &c->picture->in;
    const LiftKernels *kernels = c->band.kernels;
    const int deep = in->depth > 8, last = in->height - 1;
    LiftUnder under = {.columns = in->width, .sub_x = in->chroma_x, .sub_y = in->chroma_y};
    for (int i = 0; i < 1 << in->chroma_y; i++) {
        const int luma_y = (y << in->chroma_y) + i;
        under.luma[i] = lumeq_row(in, 0, luma_y < last ? luma_y : last);
    }
    (deep ? kernels->under16 : kernels->under8)(
        ring_row(&c->quarter, y), (uint8_t *)ring_row(&c->cells, y), &under, &c->band.row);
    for (int i = 0; i < 2; i++)
        (deep ? kernels->load16 : kernels->load8)(ring_row(&c->source[i], y),
                                                  lumeq_component(in, i, y), lumeq_step(in, 1),
                                                  c->passes[i].steps[0], &c->band.row);
}

static void finish_chroma(const Chroma *c, const int16_t *const done[2], int y)
{
    const LumeqImage *out = &c->picture->out;
    const LiftKernels *kernels = c->band.kernels;
    const int deep = out->depth > 8, interleaved = lumeq_step(out, 1) == 2;
    LiftChroma chroma = {.cells = (const uint8_t *)ring_row(&c->cells, y),
                         .gain = c->picture->table->gain,
                         .y = y,
                         .shift = out->shift};
    for (int i = 0; i < 2; i++) {
        chroma.dst[i] = interleaved ? c->out[i] : lumeq_component(out, i, y);
        chroma.from[i] = done[i];
        chroma.source[i] = ring_row(&c->source[i], y);
    }
    (deep ? kernels->scale16 : kernels->scale8)(&chroma, &c->band.row);
    for (int i = 0; i < 2 && interleaved; i++) {
        void *const to = lumeq_component(out, i, y);
        if (deep)
            take16(to, 2, chroma.dst[i], 1, c->band.row.width);
        else
            take8(to, 2, chroma.dst[i], 1, c->band.row.width);
    }
}

void lumeq_lift_chroma(const LiftedPicture *picture, void *memory, int y, int end)
{
    Chroma c = open_chroma(picture, memory, y, end);
    const int reach = c.passes[0].reach[0];
    for (int t = first_wanted(&c.band, reach); t < end + reach; t++) {
        const int16_t *done[2];
        if (is_wanted(&c.band, t, reach))
            load_chroma(&c, t);
        for (int i = 0; i < 2; i++)
            done[i] = filter_row(&c.band, &c.passes[i], ring_row(&c.source[i], t), &c.quarter, t);
        if (done[0])
            finish_chroma(&c, done, t - reach);
    }
}

size_t lumeq_lift_memory(const LiftedPicture *picture)
{
    ptrdiff_t most = open_luma(picture, NULL, 0, 0).band.taken;
    if (lumeq_planes(&picture->in) > 1) {
        const ptrdiff_t chroma = open_chroma(picture, NULL, 0, 0).band.taken;
        most = most > chroma ? most : chroma;
    }
    return (size_t)most * sizeof(int16_t);
}
