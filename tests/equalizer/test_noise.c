/* Measured noise and haze: the kernels' sums of blocks, the evaluation of counts, and the whole
 * library on noise of known deviation. */
#include "equalizer/measure.h"
#include "layouts.h"
#include "variants.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static NoiseSums sums_of(const CheckRect *now, const CheckRect *before, int column,
                         const CurveParams *p)
{
    NoiseSums s = {0, 0, 0};
    for (int y = 0; y < NOISE_BLOCK; y++)
        for (int x = column * NOISE_BLOCK; x < (column + 1) * NOISE_BLOCK; x++) {
            const int a = code_at(now, x * sample_size(p), y, p->depth, p->shift);
            const int b = code_at(before, x * sample_size(p), y, p->depth, p->shift);
            s.now += (uint32_t)a;
            s.before += (uint32_t)b;
            s.apart += (uint32_t)abs(a - b);
        }
    return s;
}

static void check_apart(const char *name, const LumeqKernels *kernels, int columns, Format format,
                        CheckRandom *random)
{
    const CurveParams p = params_of(format, LUMEQ_RANGE_LIMITED);
    const int size = sample_size(&p), width = columns * NOISE_BLOCK;
    CheckRect rect[2];
    for (int i = 0; i < 2; i++) {
        rect[i] = check_rect(width * size, NOISE_BLOCK, any_stride(random, width) * size,
                             check_below(random, 16) * size, 0);
        picture_fill(&rect[i], (Picture)check_below(random, PICTURE_COUNT),
                     (uint64_t)check_below(random, 1 << 16));
    }
    NoiseSums sums[9];
    memset(sums, 0xEE, sizeof(sums));
    (size == 2 ? kernels->apart16 : kernels->apart8)(sums, rect[0].pixels, rect[0].stride,
                                                     rect[1].pixels, rect[1].stride, columns, &p);
    for (int i = 0; i < columns; i++) {
        const NoiseSums expected = sums_of(&rect[0], &rect[1], i, &p);
        CHECK(!memcmp(&sums[i], &expected, sizeof(expected)),
              "%s: block %d of %d, depth %d, shift %d: %u %u %u, not %u %u %u", name, i, columns,
              p.depth, p.shift, sums[i].now, sums[i].before, sums[i].apart, expected.now,
              expected.before, expected.apart);
    }
    CHECK(sums[columns].now == 0xEEEEEEEE, "%s: more than %d blocks are written", name, columns);
    check_rect_free(&rect[0]);
    check_rect_free(&rect[1]);
}

VARIANT_TEST(sums)
{
    CheckRandom random = check_random(1);
    for (int round = 0; round < 40; round++)
        for (int columns = 1; columns <= 8; columns++)
            check_apart(name, kernels, columns, formats[check_below(&random, FORMATS)], &random);
}

/* The measured rows of blocks are spread over the picture. */
TEST(rows)
{
    static const struct {
        int width, height;
        NoiseRows expected;
        int first, last; /* their lines */
    } all[] = {
        {15, 100, {1, 6, 0}, 0, 80},           {640, 360, {2, 11, 40}, 16, 336},
        {1280, 720, {8, 6, 80}, 64, 704},      {1920, 1080, {8, 8, 120}, 64, 960},
        {3840, 2160, {16, 8, 240}, 128, 1920}, {65535, 16, {1, 1, 4095}, 0, 0},
    };
    for (int i = 0; i < COUNT(all); i++) {
        const NoiseRows r = noise_rows(all[i].width, all[i].height);
        const NoiseRows *e = &all[i].expected;
        CHECK(r.step == e->step && r.rows == e->rows && r.columns == e->columns,
              "%dx%d: every %d, %d rows, %d columns", all[i].width, all[i].height, r.step, r.rows,
              r.columns);
        if (r.rows)
            CHECK(noise_line(&r, 0) == all[i].first && noise_line(&r, r.rows - 1) == all[i].last,
                  "%dx%d: lines %d to %d", all[i].width, all[i].height, noise_line(&r, 0),
                  noise_line(&r, r.rows - 1));
    }
}

TEST(blocks_by_hand)
{
    /* A block's mean code now and before, and its mean difference, all times 256. */
    static const struct {
        uint32_t now, before, apart, level, bin;
        int still;
    } all[] = {
        {16 * 256, 16 * 256, 0, 0, 0, 1},
        {17 * 256 + 127, 17 * 256, 15, 0, 0, 0}, /* just below 1.5 codes above black */
        {17 * 256 + 128, 17 * 256 + 128, 16, 1, 1, 1},
        {18 * 256, 18 * 256, 20, 2, 2, 1},
        {19 * 256, 19 * 256, 28, 3, 4, 1},
        {20 * 256, 20 * 256, 32, 4, 5, 1},
        {235 * 256, 235 * 256, 256, 15, 17, 1}, /* 438 half codes; level 15 begins at 384 */
        {255 * 256, 255 * 256, 65280, 15, 31, 1},
        {40 * 256, 40 * 256 + 38, 0, 9, 0, 1}, /* still: means up to 0.15 codes apart ... */
        {40 * 256, 40 * 256 + 39, 0, 9, 0, 0},
        {40 * 256, 40 * 256 + 388, 1000, 9, 24, 1}, /* ... plus 0.35 of the difference */
        {40 * 256, 40 * 256 + 389, 1000, 9, 24, 0},
    };
    for (int i = 0; i < COUNT(all); i++)
        for (int depth = 8; depth <= 16; depth += 4) {
            const int up = depth - 8;
            const NoiseSums s = {all[i].now << up, all[i].before << up, all[i].apart << up};
            const uint32_t level = noise_level(&s, depth, 16), bin = noise_bin(&s, depth);
            const int still = noise_is_still(&s, depth);
            CHECK(level == all[i].level && bin == all[i].bin && still == all[i].still,
                  "number %d, depth %d: level %u, bin %u, still %d", i, depth, level, bin, still);
        }
    for (uint32_t bin = 0; bin < NOISE_BINS - 1; bin++) {
        const NoiseSums here = {0, 0, noise_bin_start(bin)},
                        next = {0, 0, noise_bin_start(bin + 1)};
        const NoiseSums last = {0, 0, noise_bin_start(bin + 1) - 1};
        CHECK(noise_bin(&here, 8) == bin && noise_bin(&last, 8) == bin &&
                  noise_bin(&next, 8) == bin + 1,
              "bin %u does not begin at %u", bin, here.apart);
    }
}

/* The noise is the first quartile of the still blocks in the darker half of the picture. */
TEST(quartiles_by_hand)
{
    NoiseProfile p = {.blocks = {[0] = 2, [3] = 20, [5] = 10, [9] = 10, [12] = 40}};
    CHECK(noise_of(&p) == NOISE_UNKNOWN, "noise without still blocks");
    p.still[12][20] = 40; /* too bright */
    p.still[0][20] = 2;   /* black */
    CHECK(noise_of(&p) == NOISE_UNKNOWN, "bright or black blocks count");
    p.still[3][9] = 8; /* bin 9: 64 to 80 */
    CHECK(noise_of(&p) == 68 * 234 / 256, "a quarter into its bin: %u", noise_of(&p));
    p.still[9][1] = 8; /* bin 1: 16 to 20; 4 of its 8 are a quarter of all 16 */
    CHECK(noise_of(&p) == 18 * 234 / 256, "half into its bin: %u", noise_of(&p));
    p.still[5][13] = 24; /* a quarter of all 40 is 10; 8 of these are in bin 1 */
    CHECK(noise_of(&p) == 68 * 234 / 256, "2 of 8 into its bin: %u", noise_of(&p));
    p.repeated = 81;
    CHECK(noise_of(&p) != NOISE_UNKNOWN, "no noise though a block has changed");
    p.repeated = 82;
    CHECK(noise_of(&p) == NOISE_UNKNOWN, "a repeated frame has noise");

    NoiseProfile black = {.blocks = {[0] = 160, [7] = 9}};
    black.still[0][1] = 160;
    CHECK(noise_of(&black) == 17 * 234 / 256, "all is black: %u", noise_of(&black));
    black.blocks[7] = 11;
    CHECK(noise_of(&black) == NOISE_UNKNOWN, "blocks that are not black are ignored");
}

#define WIDTH 320
#define HEIGHT 192

/* A nearly normally distributed number of mean 0 and deviation 1. */
static double gaussian(uint64_t seed, uint64_t at)
{
    double sum = -6;
    for (uint64_t i = 0; i < 12; i++)
        sum += (double)(check_hash(seed, at * 12 + i) % 65536) / 65536.0;
    return sum;
}

/* Draws a dark picture, lighter by `light`, with noise of deviation `noise`, in 8-bit codes. */
CHECK_NOT_INSTRUMENTED static void draw(const LumeqImage *image, double noise, int light,
                                        uint64_t seed)
{
    const double scale = (double)(1 << (image->depth - 8));
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            const double code = 24 + light + 24 * (y % 64) / 64.0 + 40 * (x / 4 % 2);
            const double n = noise * gaussian(seed, (uint64_t)(y * image->width + x));
            layout_put(image, 0, x, y, (int)floor(fmax(code + n, 0) * scale + 0.5));
        }
}

static LumeqImage gray_image(int depth, int shift)
{
    LumeqImage image = {.width = WIDTH, .height = HEIGHT, .depth = depth, .shift = shift};
    layout_alloc(&image, LAYOUT_GRAY);
    return image;
}

/* The reported noise of `in` after `before`, which may be NULL. */
static double reported_noise(LumeqBackendId id, const LumeqImage *in, const LumeqImage *before)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(id, 2);
    LumeqFrameStats stats = {.size = sizeof(stats)};
    FREED_BY(layout_free) LumeqImage out = gray_image(in->depth, in->shift);
    if (before) {
        LumeqFrame frame = {.in = *before, .out = out};
        CHECK(lumeq_process(eq, &frame, &stats) == 0, "%s", lumeq_last_error(eq));
        CHECK(stats.noise == -1, "noise without a previous frame: %g", stats.noise);
    }
    LumeqFrame frame = {.in = *in, .out = out, .previous = before};
    CHECK(lumeq_process(eq, &frame, &stats) == 0, "%s", lumeq_last_error(eq));
    CHECK(!frame.previous, "the previous frame is still set");
    return stats.noise;
}

static double noise_at(LumeqBackendId id, double noise, int depth, int shift, int brighter)
{
    LumeqImage before = gray_image(depth, shift), in = gray_image(depth, shift);
    draw(&before, noise, 0, 1);
    draw(&in, noise, brighter, 2);
    const double found = reported_noise(id, &in, &before);
    layout_free(&before);
    layout_free(&in);
    return found;
}

BACKEND_TEST(known_noise)
{
    static const double wanted[] = {0.4, 1, 2, 4, 7};
    for (int i = 0; i < COUNT(wanted); i++)
        for (int format = 0; format < FORMATS; format += 3) {
            const Format f = formats[format];
            const double found = noise_at(id, wanted[i], f.depth, f.shift, 0);
            /* Rounding to codes of 8 bits adds noise of 0.29. */
            const double least = wanted[i] * 0.94;
            const double most = sqrt(wanted[i] * wanted[i] + 0.09) * 1.06;
            CHECK(found >= least && found <= most, "%g codes, depth %d, shift %d: %g", wanted[i],
                  f.depth, f.shift, found);
        }
}

BACKEND_TEST(nothing_to_tell)
{
    FREED_BY(layout_free) LumeqImage in = gray_image(8, 0);
    draw(&in, 2, 0, 1);
    CHECK(reported_noise(id, &in, NULL) == -1, "there was no frame before");
    FREED_BY(layout_free) LumeqImage same = gray_image(8, 0);
    draw(&same, 2, 0, 1);
    CHECK(reported_noise(id, &in, &same) == -1, "the frame is repeated");
    CHECK(noise_at(id, 0.4, 8, 0, 4) == -1, "noise without still blocks");
}

static int by_code(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static HazeCell sorted_cell(const LumeqImage *in, const LumeqRect *part, int cell)
{
    int codes[64], sum = 0;
    for (int i = 0; i < 64; i++) {
        const int column = cell % 16, row = cell / 16, last = (1 << in->depth) - 1;
        const int left = part->width * column / 16, right = part->width * (column + 1) / 16;
        const int top = part->height * row / 9, bottom = part->height * (row + 1) / 9;
        const int x = part->x + left + (right - left) * (2 * (i % 8) + 1) / 16;
        const int y = part->y + top + (bottom - top) * (2 * (i / 8) + 1) / 16;
        const uint8_t *at = (const uint8_t *)in->plane[0] + y * in->stride[0];
        const int code =
            in->depth > 8 ? ((const uint16_t *)(const void *)at)[x] >> in->shift : at[x];
        codes[i] = (code < last ? code : last) >> (in->depth - 8);
        sum += codes[i];
    }
    qsort(codes, 64, sizeof(codes[0]), by_code);
    return (HazeCell){
        .low = (uint8_t)codes[1], .high = (uint8_t)codes[48], .mean = (uint16_t)(sum * 4)};
}

/* Cells of the metered part have the percentiles and means of their samples, at all depths. */
BACKEND_TEST(haze_of_cells)
{
    const LumeqRect parts[] = {{0, 0, WIDTH, HEIGHT}, {33, 7, 100, 5}, {3, 20, 9, 40}};
    const LumeqConfig config = {.backend = id, .threads = 3};
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    for (int k = 0; k < 3 * FORMATS; k++) {
        const Format f = formats[k / 3];
        FREED_BY(layout_free) LumeqImage in = gray_image(f.depth, f.shift);
        LumeqParams params = {.size = sizeof(params)};
        lumeq_params_default(&params);
        params.meter = k % 3 ? parts[k % 3] : (LumeqRect){0};
        draw(&in, 30, 0, (uint64_t)k);
        CHECK(lumeq_measure(context, &measure, &params, &in, NULL, NULL) == 0, "%s",
              lumeq_last_error(NULL));
        for (int i = 0; i < MEASURE_CELLS; i++) {
            const HazeCell cell = measure->counts.haze[i];
            const HazeCell expected = sorted_cell(&in, &parts[k % 3], i);
            CHECK(cell.low == expected.low && cell.high == expected.high &&
                      cell.mean == expected.mean,
                  "depth %d, part %d, cell %d: %d, %d, %d, not %d, %d, %d", f.depth, k % 3, i,
                  cell.low, cell.high, cell.mean, expected.low, expected.high, expected.mean);
        }
    }
}

/* The clearest quarter of the cells with detail decides. Cells in bars do not count. */
TEST(haze_by_hand)
{
    const LumeqRect all = {0, 0, 160, 90}, low = {0, 30, 160, 60}, none = {0};
    HazeCell cells[MEASURE_CELLS];
    for (int i = 0; i < MEASURE_CELLS; i++) /* haze 1/4, 1/2 or, without detail, nearly 1 */
        cells[i] = i < 30    ? (HazeCell){.low = 16 + 30, .high = 16 + 120}
                   : i < 100 ? (HazeCell){.low = 16 + 60, .high = 16 + 120}
                             : (HazeCell){.low = 116, .high = 121};
    CHECK(haze_of(cells, 160, 90, &none, 16, &all) == CURVE_ONE / 4, "haze of all cells");
    CHECK(haze_of(cells, 160, 90, &none, 16, &low) == CURVE_ONE / 2, "haze without the bar");
    CHECK(haze_of(cells, 160, 90, &low, 16, &all) == CURVE_ONE / 4, "haze of a metered part");
    cells[0].low = cells[1].low = 3;
    CHECK(haze_of(cells, 160, 90, &none, 16, &all) == CURVE_ONE / 4, "haze below black");
    for (int i = 8; i < MEASURE_CELLS; i++)
        cells[i] = (HazeCell){.low = 116, .high = 121};
    CHECK(haze_of(cells, 160, 90, &none, 16, &all) == 0, "haze though too few cells have detail");
}

TEST_MAIN
