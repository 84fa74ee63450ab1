/*
 * Checks that chroma is scaled by the gain of the luma under it. Compares kernels with plain loops
 * for every depth, subsampling and layout, and whole pictures with a model on every backend.
 */
#include <math.h>

#include "chroma_planes.h"

#define MS INT64_C(1000000)

static const LumeqParams full_strength = {.strength = 1, .bars = LUMEQ_BARS_IGNORE};

/* Random bytes, including bits below the codes and values above the last code. */
static void fill_any(const Planes *planes, int count, CheckRandom *random)
{
    for (int i = 0; i < count; i++)
        for (int y = 0; y < planes->rect[i].height; y++)
            for (int x = 0; x < planes->rect[i].width; x++)
                check_row(&planes->rect[i], y)[x] = (uint8_t)check_below(random, 256);
}

/* Draws dull luma, and chroma of all codes. */
static void fill_dull(const Planes *planes, ChromaShape shape, Format format, uint64_t seed)
{
    const int size = format.depth > 8 ? 2 : 1, unit = 1 << (format.depth - 8);
    for (int i = 0; i <= shape.planes; i++) {
        const CheckRect *rect = &planes->rect[i];
        for (int y = 0; y < rect->height; y++)
            for (int x = 0; x < rect->width / size; x++) {
                const int r =
                    (int)(check_hash(seed + (uint64_t)i, (uint64_t)(y * 65536 + x)) >> 40);
                const int code = i ? r % (256 * unit) : (60 + y % 40) * unit + r % (20 * unit);
                set_sample(rect, x, y, size, code << format.shift);
            }
    }
}

/* The mean of the luma that a pixel covers; samples at the edges are repeated. */
static int mean_under(const CheckRect *luma, ChromaShape shape, int x, int y, const CurveParams *p)
{
    const int size = sample_size(p), columns = luma->width / size;
    int sum = 0;
    for (int v = y << shape.y; v < (y + 1) << shape.y; v++)
        for (int u = x << shape.x; u < (x + 1) << shape.x; u++)
            sum += code_at(luma, (u < columns ? u : columns - 1) * size,
                           v < luma->height ? v : luma->height - 1, p->depth, p->shift);
    return (int)floor((double)sum / (1 << (shape.x + shape.y)) + 0.5);
}

/* Scales both components by the definition. The gain is limited by model_limit() and truncated to
 * 4096ths. The result is within the legal range, or at most as far from gray as the input. */
static Pixel scaled_pixel(Pixel in, CurveGain over, int add, const CurveParams *p)
{
    const int unit = 1 << (p->depth - 8), middle = 128 * unit, last = 256 * unit - 1;
    const int low = p->black ? 16 * unit : 0, high = p->black ? 240 * unit : last;
    const double gain =
        floor(4096 * model_limit(over.gain / 4096.0, (in.code[0] - middle) / (double)unit,
                                 (in.code[1] - middle) / (double)unit, over.from / 256.0,
                                 over.to / 256.0, p->black ? 219 : 255)) /
        4096;
    Pixel out;
    for (int i = 0; i < 2; i++) {
        const int code = in.code[i], least = code < low ? code : low;
        const int most = code > high ? code : high;
        const int scaled = middle + (int)floor((code - middle) * gain + add / 256.0);
        out.code[i] = scaled < least ? least : scaled > most ? most : scaled;
    }
    return out;
}

static Pixel expected_pixel(const Planes *in, ChromaShape shape, int x, int y,
                            const CurveTable *table, const CurveParams *p)
{
    const int mean = mean_under(&in->rect[0], shape, x, y, p);
    return scaled_pixel(pixel_at(in, shape, x, y, p), table->gain[mean >> (p->depth - 8)],
                        (int)added_at(p, x, y), p);
}

/* Also compares the bits below the code. */
static int is_written(const Planes *out, ChromaShape shape, int x, int y, Pixel expected,
                      const CurveParams *p)
{
    int right = 1;
    for (int i = 0; i < 2; i++)
        right &= sample_at(&out->rect[chroma_plane(shape, i)],
                           chroma_column(shape, i, x) * sample_size(p), y,
                           p->depth) == expected.code[i] << p->shift;
    return right;
}

typedef struct Trial {
    ChromaShape shape;
    CurveParams p;
    Planes in, out;
} Trial;

static Trial open_trial(int number, int width, int height, CheckRandom *random)
{
    Trial t = {.shape = {1 + number % 2, number / 2 % 3, number / 6 % 3},
               .p = params_of(formats[number / 18 % FORMATS], (LumeqRange)check_below(random, 2))};
    t.p.dither = check_below(random, 2);
    t.p.frame = (uint32_t)check_below(random, 1000);
    t.in = open_planes(t.shape, width, height, sample_size(&t.p), 0, random);
    t.out = open_planes(t.shape, width, height, sample_size(&t.p), GUARD, random);
    return t;
}

static void close_trial(Trial *t)
{
    close_planes(&t->in);
    close_planes(&t->out);
}

static void check_planes(const char *name, const LumeqKernels *kernels, const Trial *t,
                         const CurveTable *table, CheckRandom *random)
{
    const CurveParams *p = &t->p;
    const int width = chroma_side(t->in.rect[0].width / sample_size(p), t->shape.x);
    const int height = t->in.rect[1].height;
    int wrong = 0;
    run_chroma(kernels, &t->in, &t->out, t->shape, table, p, check_below(random, height));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wrong += !is_written(&t->out, t->shape, x, y,
                                 expected_pixel(&t->in, t->shape, x, y, table, p), p);
    CHECK(!wrong, "%s: %d of %dx%d pixels, %d plane(s) over %dx%d, depth %d+%d, dither %d", name,
          wrong, width, height, t->shape.planes, 1 << t->shape.x, 1 << t->shape.y, p->depth,
          p->shift, p->dither);
    for (int i = 1; i <= t->shape.planes; i++)
        CHECK(check_rect_intact(&t->out.rect[i]), "%s: %dx%d, depth %d: writes outside plane %d",
              name, width, height, p->depth, i);
}

/* Sets random gains and luma. Luma may leave colours any room, or none. */
static void any_gains(CurveTable *table, CheckRandom *random)
{
    static const int ends[] = {0, 1, 219 << 8, 255 << 8, 65535};
    const int most = (int)CURVE_GAIN_MOST, least = 1000;
    for (int i = 0; i < CURVE_CELLS; i++) {
        const int gains[3] = {4096, most, least};
        const int any = least + check_below(random, most - least);
        table->gain[i].gain = (uint16_t)(check_below(random, 4) ? any : gains[i % 3]);
        table->gain[i].from =
            (uint16_t)(check_below(random, 4) ? check_below(random, 65536) : ends[i % 5]);
        table->gain[i].to =
            (uint16_t)(check_below(random, 4) ? check_below(random, 65536) : ends[(i + 2) % 5]);
    }
}

static void check_size(const char *name, const LumeqKernels *kernels, int number, int width,
                       int height, CheckRandom *random)
{
    static CurveTable table;
    FREED_BY(close_trial) Trial t = open_trial(number, width, height, random);
    fill_any(&t.in, 3, random);
    any_gains(&table, random);
    check_planes(name, kernels, &t, &table, random);
}

#define SHAPES_AND_FORMATS (18 * FORMATS)

VARIANT_TEST(plain_loops)
{
    static const int large[] = {64, 127, 129, 257, 640, 1921, 4099};
    CheckRandom random = check_random(1);
    for (int n = 0; n < SHAPES_AND_FORMATS; n++) {
        for (int width = 1; width <= 9; width++)
            for (int height = 1; height <= 9; height++)
                check_size(name, kernels, n, width, height, &random);
        for (int i = 0; i < 4; i++)
            check_size(name, kernels, n, 10 + check_below(&random, 60),
                       1 + check_below(&random, 20), &random);
        check_size(name, kernels, n, large[n % 7], 1 + check_below(&random, 9), &random);
        for (int width = 10; width <= 400 && n < 18; width++) /* 8-bit kernels work on blocks */
            check_size(name, kernels, n, width, 1 + check_below(&random, 5), &random);
    }
}

typedef struct Scaled {
    int wrong, moved;
} Scaled;

/* Compares a pixel with the model. `from`, `to`: luma before and after. Skips gains near 1,
 * where rounding decides whether the limit applies. */
static void check_pixel(Scaled *scaled, Pixel in, Pixel out, double gain, double from, double to,
                        const CurveParams *p)
{
    const int unit = 1 << (p->depth - 8), middle = 128 * unit, last = 256 * unit - 1;
    const int low = p->black ? 16 * unit : 0, high = p->black ? 240 * unit : last;
    const double slack = (p->dither ? 1 : 0.5) + 128 * unit * 4.0 / 4096;
    if (fabs(gain - 1) < 4.0 / 4096)
        return;
    const double taken =
        model_limit(gain, (in.code[0] - middle) / (double)unit,
                    (in.code[1] - middle) / (double)unit, from, to, p->black ? 219 : 255);
    for (int i = 0; i < 2; i++) {
        const int code = in.code[i];
        const double wanted = fmin(fmax(middle + (code - middle) * taken, code < low ? code : low),
                                   code > high ? code : high);
        scaled->wrong += fabs(out.code[i] - wanted) > slack;
        scaled->moved += fabs(wanted - code) > 2;
    }
}

static void run_tiles(const LumeqKernels *kernels, const Trial *t, const Planes *out,
                      const TileGrid *grid, const TileTables *tables, int y, int end)
{
    static const CurveTable none;
    LumeqChromaRows rows = chroma_rows(t->shape, t->in.rect, out->rect, sample_size(&t->p), y, end);
    rows.grid = grid;
    rows.tables = tables;
    if (rows.height)
        (t->p.depth > 8 ? kernels->chroma16 : kernels->chroma8)(&rows, &none, &t->p);
}

/* Random nodes. One tile in four is the identity. */
static void any_tiles(const TileGrid *grid, TileTables *tables, CheckRandom *random)
{
    const int last = (int)tile_last_node(grid->curve.depth);
    for (int tile = 0; tile < tile_count(grid); tile++) {
        const int kind = check_below(random, 4);
        for (int i = 0; i <= TILE_CELLS; i++)
            tables->nodes[tile][i] = (uint32_t)(kind == 0   ? (int64_t)last * i / TILE_CELLS
                                                : kind == 1 ? check_below(random, 2) * last
                                                            : check_below(random, last + 1));
    }
}

/* Compares a kernel with plain C. The active picture lies anywhere among the tiles. */
static void check_any_tiles(const char *name, const LumeqKernels *kernels, int number, int width,
                            int height, CheckRandom *random)
{
    static TileTables tables;
    LumeqKernels c;
    TileGrid grid;
    FREED_BY(close_trial) Trial t = open_trial(number, width, height, random);
    FREED_BY(close_planes)
    Planes expected = open_planes(t.shape, width, height, sample_size(&t.p), 0, NULL);
    t.p.chroma = check_below(random, 8) != 0;
    const int x = 4 * check_below(random, 30), y = 4 * check_below(random, 30);
    const LumeqRect active = {x, y, width, height};
    CurveParams of_tiles = t.p;
    of_tiles.bins = TILE_CELLS;
    of_tiles.fraction = t.p.depth - 8;
    lumeq_kernels_c(&c);
    fill_any(&t.in, 3, random);
    lumeq_tile_grid(&grid, x + width + check_below(random, 50), y + height + check_below(random, 9),
                    1 + check_below(random, 16), 1 + check_below(random, 16), &of_tiles, 0);
    any_tiles(&grid, &tables, random);
    tables.inside = tile_inside(&grid, &(BarsState){.area = 1, .active = active});
    run_tiles(&c, &t, &expected, &grid, &tables, 0, t.in.rect[1].height);
    run_tiles(kernels, &t, &t.out, &grid, &tables, 0, t.in.rect[1].height);
    for (int i = 1; i <= t.shape.planes; i++)
        CHECK(check_rect_equal(&t.out.rect[i], &expected.rect[i]) &&
                  check_rect_intact(&t.out.rect[i]),
              "%s: plane %d of %dx%d at %d, %d, %d plane(s) over %dx%d, depth %d+%d, %dx%d tiles",
              name, i, width, height, x, y, t.shape.planes, 1 << t.shape.x, 1 << t.shape.y,
              t.p.depth, t.p.shift, grid.x.tiles, grid.y.tiles);
}

VARIANT_TEST(any_tiles_as_in_c)
{
    CheckRandom random = check_random(6);
    for (int n = 0; n < SHAPES_AND_FORMATS; n++) {
        for (int i = 0; i < 6; i++)
            check_any_tiles(name, kernels, n, 1 + check_below(&random, 150),
                            1 + check_below(&random, 9), &random);
        check_any_tiles(name, kernels, n, 700 + check_below(&random, 700),
                        1 + check_below(&random, 4), &random);
    }
}

typedef struct Strip {
    LumeqEqualizer *eq;
    ChromaShape shape;
    Format format;
    LumeqRange range;
    Planes in, out;
    FrameStats stats;
} Strip;

/* Returns the only strip, which is static because it is large. */
static Strip *strip_open(LumeqBackendId id, const LumeqParams *params, ChromaShape shape,
                         Format format, LumeqRange range, int width, int height, uint64_t seed)
{
    static Strip f;
    const int size = format.depth > 8 ? 2 : 1;
    f = (Strip){must_open(id, 2), shape, format, range, .in = {{{0}}}};
    f.in = open_planes(shape, width, height, size, 0, NULL);
    f.out = open_planes(shape, width, height, size, GUARD, NULL);
    set_params(f.eq, params);
    fill_dull(&f.in, shape, format, seed);
    return &f;
}

static void strip_close(Strip *f)
{
    lumeq_destroy(&f->eq);
    close_planes(&f->in);
    close_planes(&f->out);
}

static void strip_run(Strip *f, int64_t time)
{
    const CheckRect *in = f->in.rect, *out = f->out.rect;
    LumeqFrame frame =
        frame_at_depth(frame_of(in, out, f->range, time), f->format.depth, f->format.shift);
    set_chroma(&frame.in, f->shape, in + 1);
    set_chroma(&frame.out, f->shape, out + 1);
    run_frame(f->eq, &frame, &f->stats);
    for (int i = 0; i <= f->shape.planes; i++)
        CHECK(check_rect_intact(&out[i]), "plane %d: writes outside", i);
}

/* The output of a luma cell on the reported curve, in codes of 8 bits above black. */
static double reported_luma(const Strip *f, int cell, int black)
{
    const int unit = 1 << (f->format.depth - 8), bin = cell * f->stats.values.bins / 256;
    return f->stats.curve[bin] / 65536.0 / unit - black;
}

static void check_strip(const Strip *f, int dither)
{
    const int depth = f->format.depth, unit = 1 << (depth - 8);
    CurveParams p = params_of(f->format, f->range);
    const int black = p.black / unit;
    Scaled scaled = {0};
    p.dither = dither;
    for (int y = 0; y < f->in.rect[0].height; y++)
        for (int x = 0; x < f->in.rect[0].width / sample_size(&p); x++) {
            const int luma = mean_under(&f->in.rect[0], f->shape, x, y, &p), cell = luma / unit;
            const double to = reported_luma(f, cell, black), gain = model_gain(cell - black, to);
            check_pixel(&scaled, pixel_at(&f->in, f->shape, x, y, &p),
                        pixel_at(&f->out, f->shape, x, y, &p), gain, cell - black, to, &p);
        }
    CHECK(!scaled.wrong, "depth %d, range %d, dither %d: %d samples differ from the curve", depth,
          (int)f->range, dither, scaled.wrong);
    CHECK(scaled.moved > 1000, "depth %d: only %d samples are scaled", depth, scaled.moved);
}

BACKEND_TEST(chroma_follows_the_curve)
{
    const ChromaShape shape = {2, 0, 0};
    for (int n = 0; n < FORMATS * 4; n++) {
        LumeqParams params = full_strength;
        params.clip = 4;
        params.dither = n & 1;
        Strip *f =
            strip_open(id, &params, shape, formats[n / 4], (LumeqRange)(n / 2 % 2), 96, 64, 0);
        for (int frame = 0; frame < 2; frame++) {
            fill_dull(&f->in, shape, f->format, (uint64_t)(n + frame));
            strip_run(f, frame * 40 * MS);
            check_strip(f, params.dither);
        }
        strip_close(f);
    }
}

/* Settings that do not scale chroma keep all codes, even illegal ones. */
BACKEND_TEST(kept)
{
    LumeqParams keep = full_strength, off = full_strength, none = full_strength;
    LumeqParams flat = full_strength, reference = full_strength;
    keep.chroma = LUMEQ_CHROMA_KEEP;
    off.mode = LUMEQ_MODE_OFF;
    none.strength = 0;
    flat.clip = 1;
    flat.dither = 1;
    reference.reference = 1;
    const LumeqParams *const settings[] = {&keep, &off, &none, &flat, &reference};
    for (int n = 0; n < 5 * FORMATS; n++) {
        const ChromaShape shape = {1 + n % 2, n % 3, n / 3 % 3};
        const LumeqParams *params = settings[n % 5];
        if (params->reference && n / 5)
            continue; /* `reference` needs the first format, 8 bits */
        Strip *f =
            strip_open(id, params, shape, formats[n / 5], LUMEQ_RANGE_LIMITED, 96, 64, (uint64_t)n);
        strip_run(f, 0);
        for (int i = 1; i <= shape.planes; i++)
            CHECK(check_rect_equal(&f->in.rect[i], &f->out.rect[i]), "settings %d, depth %d", n % 5,
                  f->format.depth);
        CHECK(n % 5 != 0 || !check_rect_equal(&f->in.rect[0], &f->out.rect[0]),
              "luma is unchanged as well");
        strip_close(f);
    }
}

/* If chroma is scaled, luma is the result of curve_bounded_code(). */
BACKEND_TEST(luma_is_bounded_by_chroma)
{
    enum { WIDTH = 195, HEIGHT = 63 };
    static int kept[HEIGHT][WIDTH];
    LumeqParams keep = full_strength;
    keep.chroma = LUMEQ_CHROMA_KEEP;
    for (int n = 0; n < FORMATS * 4; n++) {
        const ChromaShape shape = {1 + n % 2, n % 3, n / 2 % 2};
        const LumeqRange range = (LumeqRange)(n / 2 % 2);
        const CurveParams p = params_of(formats[n / 4], range);
        const uint32_t black = (uint32_t)p.black << (16 - p.depth);
        const uint32_t length = curve_legal(p.depth, p.black != 0).range;
        const int size = sample_size(&p);
        int wrong = 0, bounded = 0;
        Strip *f;
        f = strip_open(id, &keep, shape, formats[n / 4], range, WIDTH, HEIGHT, 3);
        strip_run(f, 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                kept[y][x] = code_at(&f->out.rect[0], x * size, y, p.depth, p.shift);
        strip_close(f);
        f = strip_open(id, &full_strength, shape, formats[n / 4], range, WIDTH, HEIGHT, 3);
        strip_run(f, 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const Pixel pixel = pixel_at(&f->in, shape, x >> shape.x, y >> shape.y, &p);
                const uint32_t most = (uint32_t)fmax(pixel.code[0], pixel.code[1]);
                const int in = code_at(&f->in.rect[0], x * size, y, p.depth, p.shift);
                const int out = code_at(&f->out.rect[0], x * size, y, p.depth, p.shift);
                wrong += (uint32_t)out != curve_bounded_code((uint32_t)in, (uint32_t)kept[y][x],
                                                             most, p.depth, black, length);
                bounded += out != kept[y][x];
            }
        strip_close(f);
        CHECK(!wrong, "case %d, depth %d: %d samples are wrong", n, p.depth, wrong);
        CHECK(bounded > 200, "case %d, depth %d: only %d samples are bounded", n, p.depth, bounded);
    }
}

TEST_MAIN
