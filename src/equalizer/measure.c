#include "equalizer/measure.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/last_error.h"
#include "equalizer/platform.h"

#define LETTERS "LQms"
#define FORMAT 8

MeasureShape lumeq_measure_shape(const LumeqParams *params, const LumeqImage *image)
{
    const CurveParams samples = lumeq_sample_params(image);
    MeasureShape shape = {
        .width = image->width,
        .height = image->height,
        .depth = image->depth,
        .shift = image->shift,
        .range = image->range,
        .bins = samples.bins,
    };
    const LumeqClock clock = {0};
    const CurveParams curve = lumeq_curve_params(params, image, &clock);
    shape.meter = curve.meter;
    TileGrid grid;
    if (lumeq_tiles_params(&grid, params, image, &curve)) {
        shape.tiles_x = grid.x.tiles;
        shape.tiles_y = grid.y.tiles;
        shape.reference = curve.reference;
    }
    return shape;
}

LumeqImage lumeq_shape_image(const MeasureShape *shape)
{
    return (LumeqImage){
        .width = shape->width,
        .height = shape->height,
        .depth = shape->depth,
        .shift = shape->shift,
        .range = (LumeqRange)shape->range,
    };
}

static void *place(uint8_t *memory, size_t *used, size_t size)
{
    void *at = memory ? memory + *used : NULL;
    *used += padded(size);
    return at;
}

/* Returns the size of the counts, and sets their places in `memory`, which may be NULL. */
static size_t place_counts(LumeqCounts *counts, const MeasureShape *shape, void *memory)
{
    const size_t tiles = (size_t)shape->tiles_x * (size_t)shape->tiles_y;
    size_t used = 0;
    *counts = (LumeqCounts){
        .hist = place(memory, &used, (size_t)shape->bins * sizeof(*counts->hist)),
        .cells = place(memory, &used, MEASURE_CELLS * sizeof(*counts->cells)),
    };
    counts->haze = place(memory, &used, MEASURE_CELLS * sizeof(*counts->haze));
    counts->noise = place(memory, &used, sizeof(*counts->noise));
    counts->lit[BARS_COLUMNS] = place(memory, &used, (size_t)shape->width);
    counts->lit[BARS_ROWS] = place(memory, &used, (size_t)shape->height);
    if (tiles)
        counts->tiles = place(memory, &used, tiles * sizeof(*counts->tiles));
    if (tiles && shape->reference)
        counts->padding = place(memory, &used, tiles * sizeof(*counts->padding));
    return used;
}

int lumeq_measure_prepare(LumeqMeasure *measure, const MeasureShape *shape)
{
    LumeqCounts counts;
    const size_t size = place_counts(&counts, shape, NULL);
    if (size > measure->room) {
        void *memory = lumeq_alloc(size);
        if (!memory)
            return LUMEQ_ERR_MEMORY;
        lumeq_free(measure->memory);
        measure->memory = memory;
        measure->room = size;
    }
    place_counts(&measure->counts, shape, measure->memory);
    measure->shape = *shape;
    measure->valid = 0;
    return 0;
}

LumeqMeasureJob lumeq_measure_job(const LumeqMeasure *m, const LumeqParams *params,
                                  const LumeqClock *clock, const LumeqImage *in,
                                  const LumeqImage *previous, const LumeqSync *sync)
{
    LumeqMeasureJob job = {
        .in = *in,
        .shape = m->shape,
        .curve = lumeq_curve_params(params, in, clock),
        .bars = lumeq_bars_params(params, in, 0),
        .counts = m->counts,
        .sync = sync,
    };
    if (previous)
        job.previous = *previous;
    job.clahe = lumeq_tiles_params(&job.grid, params, in, &job.curve);
    job.chroma = lumeq_planes(in) > 1 && !job.curve.reference;
    return job;
}

void lumeq_measure_free(LumeqMeasure **measure)
{
    if (!measure || !*measure)
        return;
    if ((*measure)->pending)
        (void)lumeq_measure_finish(*measure, 1);
    lumeq_free((*measure)->memory);
    free(*measure);
    *measure = NULL;
}

static size_t tile_cells(const MeasureShape *shape)
{
    return (size_t)shape->tiles_x * (size_t)shape->tiles_y * TILE_CELLS;
}

/* Maps the histogram's 8-bit codes to the bins of a greater depth, and scales the cells' sums to
 * that depth. All other counts use 8-bit codes at every depth. */
static void deepen_counts(LumeqMeasure *to, const LumeqMeasure *from)
{
    const LumeqImage image = lumeq_shape_image(&to->shape);
    const CurveParams params = lumeq_sample_params(&image);
    const LumeqCounts *c = &from->counts;
    const int more = params.depth - 8;
    memset(to->counts.hist, 0, (size_t)params.bins * sizeof(*to->counts.hist));
    for (int code = 0; code < 256; code++) {
        const int below = params.black ? 0 : code >> (8 - more);
        to->counts.hist[(code << more | below) >> params.fraction] = c->hist[code];
    }
    for (int i = 0; i < MEASURE_CELLS; i++)
        to->counts.cells[i] =
            params.black ? c->cells[i] << more : (c->cells[i] * (uint64_t)params.white + 127) / 255;
    memcpy(to->counts.lit[BARS_COLUMNS], c->lit[BARS_COLUMNS], (size_t)from->shape.width);
    memcpy(to->counts.lit[BARS_ROWS], c->lit[BARS_ROWS], (size_t)from->shape.height);
    memcpy(to->counts.haze, c->haze, MEASURE_CELLS * sizeof(*c->haze));
    *to->counts.noise = *c->noise;
    if (c->tiles)
        memcpy(to->counts.tiles, c->tiles, tile_cells(&from->shape) * sizeof(uint32_t));
}

static int check_finished(const LumeqMeasure *m)
{
    if (m->pending)
        return lumeq_refuse_with(LUMEQ_ERR_AGAIN,
                                 "the measure is not finished: call lumeq_measure_finish() first");
    return m->valid ? 0 : lumeq_refuse("the measure is empty: lumeq_measure_finish() failed");
}

int lumeq_measure_deepen(LumeqMeasure *measure, int depth)
{
    LumeqMeasure deeper = {0};
    if (!measure)
        return lumeq_refuse("`measure` is NULL");
    const int finished = check_finished(measure);
    if (finished < 0)
        return finished;
    if (measure->shape.depth != 8 || measure->shape.reference || depth < 9 || depth > 16)
        return lumeq_refuse("cannot convert the measure: it must be of 8 bits and made without "
                            "`reference`, and `depth` must be 9..16");
    MeasureShape shape = measure->shape;
    shape.depth = depth;
    const LumeqImage image = lumeq_shape_image(&shape);
    shape.bins = lumeq_sample_params(&image).bins;
    if (lumeq_measure_prepare(&deeper, &shape) < 0)
        return lumeq_no_memory();
    deepen_counts(&deeper, measure);
    lumeq_free(measure->memory);
    *measure = deeper;
    measure->valid = 1;
    return 0;
}

static LumeqRect take_meter(ByteReader *r, const MeasureShape *s)
{
    LumeqRect m = {.x = lumeq_take_range(r, 0, s->width - 1)};
    m.y = lumeq_take_range(r, 0, s->height - 1);
    m.width = lumeq_take_range(r, 0, s->width - m.x);
    m.height = lumeq_take_range(r, 0, s->height - m.y);
    r->bad |= !m.width != !m.height || (!m.width && (m.x || m.y));
    return m;
}

int lumeq_measure_pack(const LumeqMeasure *measure, void *bytes, size_t *size)
{
    if (!measure || !size)
        return lumeq_refuse("`measure` or `size` is NULL");
    const int finished = check_finished(measure);
    if (finished < 0)
        return finished;
    const MeasureShape *s = &measure->shape;
    const LumeqCounts *c = &measure->counts;
    ByteWriter w = lumeq_bytes_begin(bytes, *size, LETTERS, FORMAT);
    lumeq_put_shape(&w, s);
    const uint32_t meter[] = {(uint32_t)s->meter.x, (uint32_t)s->meter.y, (uint32_t)s->meter.width,
                              (uint32_t)s->meter.height};
    lumeq_put32s(&w, meter, 4);
    lumeq_put32s(&w, c->hist, (size_t)s->bins);
    for (int i = 0; i < MEASURE_CELLS; i++)
        lumeq_put64(&w, c->cells[i]);
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const HazeCell *h = &c->haze[i];
        const uint8_t tones[] = {h->low, h->high, (uint8_t)(h->mean >> 8), (uint8_t)h->mean};
        lumeq_put8(&w, tones, sizeof(tones));
        lumeq_put32(&w, h->chroma[0] | (uint32_t)h->chroma[1] << 16);
    }
    lumeq_put8(&w, c->lit[BARS_COLUMNS], (size_t)s->width);
    lumeq_put8(&w, c->lit[BARS_ROWS], (size_t)s->height);
    lumeq_put32s(&w, c->noise->blocks, NOISE_LEVELS);
    lumeq_put32s(&w, c->noise->still[0], NOISE_LEVELS * NOISE_BINS);
    lumeq_put32(&w, c->noise->repeated);
    if (c->tiles)
        lumeq_put32s(&w, c->tiles[0], tile_cells(s));
    if (c->padding)
        lumeq_put32s(&w, c->padding[0], tile_cells(s));
    return lumeq_bytes_end(&w, size) < 0
               ? lumeq_refuse("the buffer is too small for the packed measure")
               : 0;
}

void lumeq_put_shape(ByteWriter *w, const MeasureShape *s)
{
    const uint32_t fields[] = {(uint32_t)s->width,   (uint32_t)s->height,   (uint32_t)s->depth,
                               (uint32_t)s->shift,   (uint32_t)s->range,    (uint32_t)s->tiles_x,
                               (uint32_t)s->tiles_y, (uint32_t)s->reference};
    lumeq_put32s(w, fields, sizeof(fields) / sizeof(fields[0]));
}

MeasureShape lumeq_take_shape(ByteReader *r)
{
    MeasureShape s = {.width = lumeq_take_range(r, 1, LUMEQ_MAX_SIDE)};
    s.height = lumeq_take_range(r, 1, LUMEQ_MAX_SIDE);
    s.depth = lumeq_take_range(r, 8, 16);
    s.shift = lumeq_take_range(r, 0, s.depth == 8 ? 0 : 16 - s.depth);
    s.range = lumeq_take_range(r, LUMEQ_RANGE_LIMITED, LUMEQ_RANGE_FULL);
    s.tiles_x = lumeq_take_range(r, 0, LUMEQ_MAX_TILES);
    s.tiles_y = lumeq_take_range(r, 0, LUMEQ_MAX_TILES);
    s.reference = lumeq_take_range(r, 0, s.depth == 8);
    const LumeqImage image = lumeq_shape_image(&s);
    s.bins = lumeq_sample_params(&image).bins;
    r->bad |= (s.tiles_x == 0) != (s.tiles_y == 0) || (s.reference && !s.tiles_x) ||
              (!s.reference && (s.tiles_x > s.width || s.tiles_y > s.height)) ||
              (int64_t)s.width * s.height > INT32_MAX;
    return s;
}

/* Sets `bad` if a histogram has more than `most` samples, as sums of counts must fit 32 bits. */
static void check_sum(ByteReader *r, const uint32_t *hist, size_t bins, int64_t most)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bins; i++)
        sum += hist[i];
    r->bad |= sum > (uint64_t)most;
}

static void take_noise(ByteReader *r, const MeasureShape *s, NoiseProfile *noise)
{
    const NoiseRows rows = noise_rows(s->width, s->height);
    const int64_t most = (int64_t)rows.rows * rows.columns;
    lumeq_take32s(r, noise->blocks, NOISE_LEVELS);
    lumeq_take32s(r, noise->still[0], NOISE_LEVELS * NOISE_BINS);
    noise->repeated = lumeq_take32(r);
    check_sum(r, noise->blocks, NOISE_LEVELS, most);
    check_sum(r, noise->still[0], NOISE_LEVELS * NOISE_BINS, most);
    check_sum(r, &noise->repeated, 1, most);
}

static void take_counts(ByteReader *r, const MeasureShape *s, const LumeqCounts *c)
{
    const int64_t area = (int64_t)s->width * s->height;
    lumeq_take32s(r, c->hist, (size_t)s->bins);
    check_sum(r, c->hist, (size_t)s->bins, area);
    for (int i = 0; i < MEASURE_CELLS; i++)
        c->cells[i] = lumeq_take64(r);
    for (int i = 0; i < MEASURE_CELLS; i++) {
        uint8_t t[4] = {0};
        lumeq_take8(r, t, sizeof(t));
        const uint32_t chroma = lumeq_take32(r);
        c->haze[i] = (HazeCell){
            t[0], t[1], (uint16_t)(t[2] << 8 | t[3]), {(uint16_t)chroma, (uint16_t)(chroma >> 16)}};
    }
    lumeq_take8(r, c->lit[BARS_COLUMNS], (size_t)s->width);
    lumeq_take8(r, c->lit[BARS_ROWS], (size_t)s->height);
    take_noise(r, s, c->noise);
    if (c->tiles)
        lumeq_take32s(r, c->tiles[0], tile_cells(s));
    if (c->padding)
        lumeq_take32s(r, c->padding[0], tile_cells(s));
    for (int i = 0; c->tiles && i < s->tiles_x * s->tiles_y; i++)
        check_sum(r, c->tiles[i], TILE_CELLS, area);
    for (int i = 0; c->padding && i < s->tiles_x * s->tiles_y; i++)
        check_sum(r, c->padding[i], TILE_CELLS, INT32_MAX);
}

int lumeq_measure_unpack(LumeqMeasure **measure, const void *bytes, size_t size)
{
    if (!measure || !bytes)
        return lumeq_refuse("`measure` or `bytes` is NULL");
    ByteReader r = lumeq_bytes_open(bytes, size, LETTERS, FORMAT);
    MeasureShape shape = lumeq_take_shape(&r);
    shape.meter = take_meter(&r, &shape);
    if (r.bad)
        return lumeq_refuse("these bytes are not a measure of this version, or they are damaged or "
                            "cut short");
    LumeqMeasure *made = calloc(1, sizeof(*made));
    if (!made || lumeq_measure_prepare(made, &shape) < 0) {
        free(made);
        return lumeq_no_memory();
    }
    take_counts(&r, &shape, &made->counts);
    if (!lumeq_bytes_done(&r)) {
        lumeq_measure_free(&made);
        return lumeq_refuse("the packed measure has an invalid value or length");
    }
    made->valid = 1;
    lumeq_measure_free(measure);
    *measure = made;
    return 0;
}

int lumeq_measure_finish(LumeqMeasure *m, int wait)
{
    if (!m)
        return lumeq_refuse("`measure` is NULL");
    if (!m->pending)
        return check_finished(m);
    const int ret = m->work->backend->measure_finish(m->work->priv, m->pending, &m->counts, wait);
    if (ret == LUMEQ_ERR_AGAIN)
        return ret;
    m->pending = NULL;
    m->valid = ret == 0;
    return ret;
}
