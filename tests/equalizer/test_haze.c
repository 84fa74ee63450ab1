/* Tests how the colour of haze is measured in cells, decided, and removed from chroma. */
#include "equalizer/haze.h"
#include "equalizer/measure.h"
#include "layouts.h"
#include "variants.h"

#define CELLS MEASURE_CELLS

static const LumeqRect all = {0, 0, 160, 90}, unmetered;

static HazeTint tint_of(const HazeCell *cells)
{
    return haze_tint(cells, all.width, all.height, &unmetered, 16, &all);
}

#define CHROMA(code) (uint16_t)((code) << 8)

/* Makes cells 100 codes above black. Cb is `chroma` in the first `count`, `other` in the rest. */
static void fill(HazeCell *cells, int count, int chroma, int other)
{
    for (int i = 0; i < CELLS; i++) {
        const int c = i < count ? chroma : other;
        cells[i] = (HazeCell){.low = 96, .high = 136, .chroma = {CHROMA(c), CHROMA(256 - c)}};
    }
}

TEST(tint_by_hand)
{
    HazeCell cells[CELLS];
    fill(cells, CELLS, 118, 0);
    HazeTint tint = tint_of(cells);
    CHECK(tint.of[0] == -6553 && tint.of[1] == 6553, "10 codes for 100 of light: %d, %d",
          tint.of[0], tint.of[1]);
    fill(cells, CELLS * 7 / 10 + 2, 118, 150);
    CHECK(tint_of(cells).of[0] == -6553, "the colour of seven tenths is not found");
    fill(cells, CELLS * 6 / 10, 118, 150);
    CHECK(tint_of(cells).of[0] == 0, "a colour that four tenths lack is found");
    fill(cells, CELLS * 6 / 10, 118, 124);
    CHECK(tint_of(cells).of[0] == -6553 * 102 / 256, "the weaker colour is not found: %d",
          tint_of(cells).of[0]);
    fill(cells, CELLS, 68, 0);
    for (int i = 0; i < CELLS; i++)
        cells[i].chroma[1] = CHROMA(158);
    tint = tint_of(cells);
    CHECK(abs(tint.of[0] + 65536 / 9) < 200 && abs(tint.of[1] - 65536 / 18) < 200,
          "the colour is not limited, or changes its hue: %d, %d", tint.of[0], tint.of[1]);
    for (int i = 0; i < CELLS / 2; i++) /* -5 codes at 50 codes of light, 4 at 150 */
        cells[i] = (HazeCell){.low = 46, .high = 86, .chroma = {CHROMA(123), HAZE_GRAY}};
    for (int i = CELLS / 2; i < CELLS; i++)
        cells[i] = (HazeCell){.low = 146, .high = 186, .chroma = {CHROMA(132), HAZE_GRAY}};
    tint = tint_of(cells);
    const double dark = tint.of[0] * 50 / 65536.0 + tint.base[0] / 128.0;
    const double light = tint.of[0] * 150 / 65536.0 + tint.base[0] / 128.0;
    CHECK(fabs(dark + 5) < 0.05 && fabs(light - 4) < 0.05 && tint.of[1] == 0 && tint.base[1] == 0,
          "dark and light haze of different colours: %g, %g", dark, light);
    for (int i = 0; i < CELLS; i++)
        cells[i].low = cells[i].high = 16 + 15;
    CHECK(tint_of(cells).of[0] == 0, "dark cells have a colour");
}

TEST(cleared_by_hand)
{
    static const struct {
        int code, depth, luma, tint, base, lost, expected;
    } cases[] = {
        {118, 8, 100, -6554, 0, 0, 128},
        {108, 8, 100, -6554, 0, 0, 118},
        {123, 8, 100, -6554, 0, 0, 128}, /* not beyond gray */
        {140, 8, 100, -6554, 0, 0, 140}, /* not away from gray */
        {148, 8, 0, 0, 0, 32768, 158},
        {108, 8, 100, -6554, 0, 32768, 113},
        {160, 8, 0, 0, 0, 65536, 168}, /* up to 40 codes from gray */
        {200, 8, 0, 0, 0, 65536, 200}, /* or as many as before */
        {432, 10, 400, -6554, 0, 0, 472},
        {20000, 16, 30000, -16384, 0, 0, 27500},
        {128, 8, 200, 16384, 0, 65536, 128},
        {0, 8, 255, -16384, 0, 0, 64},
        {108, 8, 100, -6554, -640, 0, 123},
        {432, 10, 400, -6554, 640, 0, 452},
        {20000, 16, 30000, -16384, HAZE_BASE_MOST, 0, 20000},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        const int found =
            haze_cleared(cases[i].code, cases[i].depth, cases[i].luma,
                         (HazeTint){{0, cases[i].tint}, {0, cases[i].base}, cases[i].lost}, 1);
        CHECK(found == cases[i].expected, "case %d: %d, not %d", i, found, cases[i].expected);
    }
}

TEST(cells_by_hand)
{
    CHECK(haze_kept(500, 540, 300, 509, 10) == 540 && haze_kept(500, 540, 509, 509, 10) == 500 &&
              haze_kept(500, 540, 900, 509, 10) == 500 && haze_kept(500, 540, 477, 509, 10) == 520,
          "below white, a tint is not removed; or it is removed at white");
    CHECK(haze_lined(100, 16, 200, 512) == 50, "half of the distance");
    CHECK(haze_lined(100, 16, 90, 512) == 100 && haze_lined(16, 16, 200, 512) == 16 &&
              haze_lined(3, 16, 200, 512) == 3,
          "a code above the light, black or a code below black moves");
    CHECK(haze_lined(30, 16, 200, 1024) == 16 + 14 * HAZE_LEFT / 256, "some is left above black");
    CHECK(haze_lifted(116, 16, 219, 0, 8) == 116 && haze_lifted(235, 16, 219, 8192, 8) == 235 &&
              haze_lifted(250, 16, 219, 8192, 8) == 250 && haze_lifted(9, 16, 219, 8192, 8) == 9,
          "a lift of 0 changes a code, or a lift changes white or a code out of range");
    CHECK(haze_lifted(116, 16, 219, 8192, 8) == 116 + 23 &&
              haze_lifted(464, 64, 876, 8192, 10) == 464 + 93,
          "a lift of 1/2 does not add half of 100 * 119 / 256 codes");
    for (int size = 1; size < 5000; size += 61)
        for (int at = 0; at < size; at++) {
            const HazePlace place = haze_between(at, haze_step(size, 16), 16);
            const double middle = fmin(fmax((at + 0.5) * 16 / size - 0.5, 0), 15);
            CHECK(fabs(place.cell + place.part / 256.0 - middle) < 0.005 && place.cell < 15 &&
                      place.part >= 0 && place.part <= 256,
                  "sample %d of %d: %d + %d / 256, not %g", at, size, place.cell, place.part,
                  middle);
        }
}

/* Half of the cells are hazy, and most hazy cells have detail. The other cells are dark. */
TEST(clearing_by_hand)
{
    uint32_t nodes[256];
    HazeState haze = {.local = 0};
    for (int i = 0; i < 256; i++)
        nodes[i] = (uint32_t)i << 8;
    for (int i = 0; i < CELLS; i++) {
        haze.low[i] = haze.veil[i] = i < 72 ? 156 << 8 : 36 << 8;
        haze.mean[i] = i < 16 ? 158 << 8 : i < 72 ? 186 << 8 : 66 << 8;
    }
    const HazeClear clear = haze_clear(&haze, CURVE_ONE, nodes, 16, 235, 10);
    CHECK(clear.light == 816, "the light is %d", clear.light);
    CHECK(clear.gain[0] < clear.gain[16] && clear.gain[48] > 1000 && clear.gain[130] < 140,
          "gains %d, %d, %d, %d", clear.gain[0], clear.gain[16], clear.gain[48], clear.gain[130]);
    CHECK(clear.gain[60] < clear.gain[48] * 3 / 5,
          "dark cells below do not limit a light cell's gain: %d, and %d without dark cells",
          clear.gain[60], clear.gain[48]);
    CHECK(clear.lift > 0, "the picture gets darker");
    CHECK(haze_clear(&haze, 0, nodes, 16, 235, 10).light == 0, "haze is cleared by the share 0");
    HazeState white = haze;
    for (int i = 0; i < CELLS; i++)
        white.mean[i] = 230 << 8;
    CHECK(haze_clear(&white, CURVE_ONE, nodes, 16, 235, 10).light == 940, "light beyond white");

    /* A gain of 1/8 makes changes of light 9/8 as large; without clearing, they stay the same. */
    static const HazeClear none;
    HazeClear steep = clear;
    steep.lift = 0;
    for (int i = 0; i < CELLS; i++)
        steep.gain[i] = 128;
    const double more = haze_slope(&haze, &steep, nodes, 16, 235, 10) / 65536.0;
    const double same = haze_slope(&haze, &none, nodes, 16, 235, 10) / 65536.0;
    CHECK(fabs(more - 1.125) < 0.01 && fabs(same - 1) < 0.01, "slopes of %g and %g", more, same);

    /* The veil is half way from the cell's `low` code to the darkest component of its R'G'B'. */
    const HazeCell cells[] = {{.low = 100, .chroma = {CHROMA(128), CHROMA(128)}},
                              {.low = 100, .chroma = {CHROMA(168), CHROMA(128)}},
                              {.low = 100, .chroma = {CHROMA(128), CHROMA(108)}},
                              {.low = 20, .chroma = {CHROMA(128), CHROMA(48)}}};
    static const int veils[] = {100, 93, 85, 0};
    for (int i = 0; i < 4; i++)
        CHECK((int)haze_veil(&cells[i]) >> 8 == veils[i], "cell %d: %d / 256, not %d", i,
              (int)haze_veil(&cells[i]), veils[i]);
}

/* Compares each variant of the luma kernel with the definition, sample by sample. */
VARIANT_TEST(clearing_kernels)
{
    for (int round = 0; round < check_rounds(2000); round++) {
        CheckRandom random = check_random((uint64_t)round);
        const Format format = formats[check_below(&random, FORMATS)];
        const CurveParams p = params_of(format, (LumeqRange)check_below(&random, 2));
        const int size = sample_size(&p), width = 1 + check_below(&random, 300);
        CheckRect out = check_rect(width * size, 1, width * size, size, 64);
        CheckRect expected = check_rect(width * size, 1, width * size, size, 64);
        LumeqClearRow row = {.out = check_row(&out, 0),
                             .at = 4 * check_below(&random, 100),
                             .depth = p.depth,
                             .shift = p.shift,
                             .black = p.black,
                             .range = 1 + check_below(&random, p.white - p.black),
                             .light = check_below(&random, 1 << p.depth),
                             .lift = check_below(&random, HAZE_LIFT_MOST + 1)};
        row.width = row.at + width + check_below(&random, 100);
        for (int i = 0; i < MEASURE_COLUMNS; i++)
            row.gain[i] = check_below(&random, HAZE_GAIN_MOST + 1);
        for (int x = 0; x < width; x++) {
            const int code = check_below(&random, 1 << p.depth), sample = code << p.shift;
            const HazePlace at =
                haze_between(row.at + x, haze_step(row.width, MEASURE_COLUMNS), MEASURE_COLUMNS);
            const int gain = haze_gain(row.gain[at.cell], row.gain[at.cell + 1], at.part);
            const int lined = haze_lined(code, p.black, row.light, gain);
            const int cleared = haze_lifted(lined, p.black, row.range, row.lift, p.depth)
                                << p.shift;
            memcpy(check_row(&out, 0) + x * size, &sample, (size_t)size);
            memcpy(check_row(&expected, 0) + x * size, &cleared, (size_t)size);
        }
        (size == 2 ? kernels->clear16 : kernels->clear8)(&row, width);
        CHECK(check_rect_equal(&out, &expected) && check_rect_intact(&out),
              "%s: %d samples, depth %d, shift %d", name, width, p.depth, p.shift);
        check_rect_free(&out);
        check_rect_free(&expected);
    }
}

/* Compares each variant of the chroma kernel with the definition, pixel by pixel. */
VARIANT_TEST(kernels)
{
    for (int round = 0; round < check_rounds(3000); round++) {
        CheckRandom random = check_random((uint64_t)round);
        const Format format = formats[check_below(&random, FORMATS)];
        const CurveParams p = params_of(format, (LumeqRange)check_below(&random, 2));
        const int size = sample_size(&p), sub_x = check_below(&random, 3);
        const int sub_y = check_below(&random, 3), area = 1 << (sub_x + sub_y);
        const int step = 1 + check_below(&random, 2), width = 1 + check_below(&random, 200);
        const int luma_width = (width << sub_x) - check_below(&random, 1 << sub_x);
        const int out_shift = size == 2 ? check_below(&random, 17 - p.depth) : 0;
        CheckRect luma = check_rect(luma_width * size, 4, luma_width * size, size, 64);
        const int columns = width * step, rows = 2 / step;
        CheckRect out = check_rect(columns * size, rows, columns * size, size, 64);
        CheckRect expected = check_rect(columns * size, rows, columns * size, size, 64);
        LumeqTintRow row = {
            .step = step,
            .sub_x = sub_x,
            .sub_y = sub_y,
            .luma_width = luma_width,
            .depth = p.depth,
            .in_shift = p.shift,
            .out_shift = out_shift,
            .black = p.black,
            .white = check_below(&random, 2) * check_below(&random, p.white),
            .tint = {{check_below(&random, 2 * HAZE_TINT_MOST) - HAZE_TINT_MOST,
                      check_below(&random, 2 * HAZE_TINT_MOST) - HAZE_TINT_MOST},
                     {check_below(&random, 2 * HAZE_BASE_MOST) - HAZE_BASE_MOST,
                      check_below(&random, 2 * HAZE_BASE_MOST) - HAZE_BASE_MOST},
                     check_below(&random, 65537)},
        };
        for (int y = 0; y < 4; y++) {
            row.luma[y] = check_row(&luma, y);
            for (int x = 0; x < luma_width; x++) {
                const int code = check_below(&random, 1 << p.depth) << p.shift;
                memcpy(check_row(&luma, y) + x * size, &code, (size_t)size);
            }
        }
        for (int i = 0; i < 2; i++)
            row.out[i] = step == 2 ? check_row(&out, 0) + i * size : check_row(&out, i);
        for (int i = 0; i < width * 2; i++) {
            const int code = check_below(&random, 1 << p.depth);
            const int pixel = i / 2, component = i % 2, at = pixel * step * size;
            int sum = 0, sample = code << out_shift;
            memcpy((uint8_t *)row.out[component] + at, &sample, (size_t)size);
            for (int k = 0; k < area; k++) {
                const int x = (pixel << sub_x) + k % (1 << sub_x), last = luma_width - 1;
                sample = 0;
                memcpy(&sample,
                       (const uint8_t *)row.luma[k >> sub_x] + (x < last ? x : last) * size,
                       (size_t)size);
                sum += sample >> p.shift;
            }
            const int mean = (sum + area / 2) / area, above = mean > p.black ? mean - p.black : 0;
            sample = haze_cleared(code, p.depth, above, row.tint, component);
            if (row.white)
                sample = haze_kept(code, sample, above, row.white, p.depth);
            sample <<= out_shift;
            memcpy(check_row(&expected, step == 2 ? 0 : component) +
                       (step == 2 ? component * size : 0) + at,
                   &sample, (size_t)size);
        }
        (size == 2 ? kernels->tint16 : kernels->tint8)(&row, width);
        CHECK(check_rect_equal(&out, &expected) && check_rect_intact(&out),
              "%s: %d pixels, depth %d, shifts %d and %d, step %d, subsampled %d, %d", name, width,
              p.depth, p.shift, out_shift, step, sub_x, sub_y);
        check_rect_free(&luma);
        check_rect_free(&out);
        check_rect_free(&expected);
    }
}

enum { WIDTH = 322, HEIGHT = 181 };

/* A street in orange fog, which tints everything in proportion to the light. */
static LumeqImage street(Format format, Layout layout, int sub)
{
    LumeqImage image = {.width = WIDTH,
                        .height = HEIGHT,
                        .depth = format.depth,
                        .shift = format.shift,
                        .chroma_x = sub,
                        .chroma_y = sub};
    layout_alloc(&image, layout);
    CheckRandom random = check_random(7);
    for (int c = 0; c < layout_components(&image); c++)
        for (int y = 0; y < layout_height(&image, c); y++)
            for (int x = 0; x < layout_width(&image, c); x++) {
                const int light = 120 + 60 * (y << (c ? sub : 0)) / HEIGHT;
                const int own = check_below(&random, 8);
                const int code = c == 0   ? light + 5 * own
                                 : c == 1 ? 128 - light / 10 + own
                                          : 128 + light / 10 - own;
                layout_put(&image, c, x, y, code << (format.depth - 8));
            }
    return image;
}

/* The mean distance of chroma from gray, in codes of 8 bits. */
static double colour_of(const LumeqImage *image)
{
    double sum = 0;
    int count = 0;
    for (int c = 1; c < 3; c++)
        for (int y = 0; y < layout_height(image, c); y++)
            for (int x = 0; x < layout_width(image, c); x++, count++)
                sum +=
                    abs((layout_get(image, c, x, y) >> image->shift) - (1 << (image->depth - 1)));
    return sum / count / (1 << (image->depth - 8));
}

/* The cells of the metered part have the mean chroma of their samples, in any layout. */
BACKEND_TEST(chroma_of_cells)
{
    const LumeqRect part = {33, 7, 200, 150};
    const LumeqConfig config = {.backend = id, .threads = 3};
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    for (int k = 0; k < 8 * FORMATS; k++) {
        const int sub = k & 1 ? 1 + k % 3 % 2 : 0, metered = k >> 1 & 1;
        FREED_BY(layout_free)
        LumeqImage in = street(formats[k / 8], k & 4 ? LAYOUT_PAIRS : LAYOUT_PLANAR, sub);
        LumeqParams params = {.size = sizeof(params)};
        lumeq_params_default(&params);
        params.meter = metered ? part : (LumeqRect){0};
        CHECK(lumeq_measure(context, &measure, &params, &in, NULL, NULL) == 0, "%s",
              lumeq_last_error(NULL));
        const LumeqRect of = metered ? part : (LumeqRect){0, 0, WIDTH, HEIGHT};
        for (int i = 0; i < CELLS; i++)
            for (int c = 0; c < 2; c++) {
                const int left = of.width * (i % 16) / 16, right = of.width * (i % 16 + 1) / 16;
                const int top = of.height * (i / 16) / 9, bottom = of.height * (i / 16 + 1) / 9;
                double sum = 0;
                for (int s = 0; s < 64; s++) {
                    const int x = of.x + left + (right - left) * (2 * (s % 8) + 1) / 16;
                    const int y = of.y + top + (bottom - top) * (2 * (s / 8) + 1) / 16;
                    sum += layout_get(&in, c + 1, x >> sub, y >> sub) >> in.shift;
                }
                const double mean = sum / 64 / (1 << (in.depth - 8));
                const double found = measure->counts.haze[i].chroma[c] / 256.0;
                CHECK(fabs(found - mean) <= 1 / 256.0, "case %d, cell %d: %g, not %g", k, i, found,
                      mean);
            }
    }
}

/* The fog loses its colour unless chroma is kept. Each backend gives the bits of one CPU thread. */
BACKEND_TEST(orange_fog)
{
    for (int k = 0; k < 12; k++) {
        const int sub = k % 3;
        const Layout layout = k & 2 ? LAYOUT_PAIRS : LAYOUT_PLANAR;
        const Format format = formats[k % FORMATS];
        FREED_BY(layout_free) LumeqImage in = street(format, layout, sub);
        FREED_BY(layout_free) LumeqImage out = street(format, layout, sub);
        FREED_BY(layout_free) LumeqImage kept = street(format, layout, sub);
        FREED_BY(layout_free) LumeqImage plain = street(format, layout, sub);
        LumeqParams params = {.size = sizeof(params)};
        lumeq_params_default(&params);
        if (k >= 6)
            lumeq_params_profile(&params, "fog");
        for (int i = 0; i < 3; i++) {
            LumeqEqualizer *eq = must_open(i == 1 ? LUMEQ_BACKEND_CPU : id, i ? 1 : 3);
            params.chroma = i == 2 ? LUMEQ_CHROMA_KEEP : LUMEQ_CHROMA_SCALE;
            LumeqFrame frame = {.in = in, .out = i == 0 ? out : i == 1 ? plain : kept};
            CHECK(lumeq_set_params(eq, &params) == 0 && lumeq_process(eq, &frame, NULL) == 0, "%s",
                  lumeq_last_error(eq));
            lumeq_destroy(&eq);
        }
        CHECK(colour_of(&out) < 0.6 * colour_of(&in), "case %d: colour %g, before %g", k,
              colour_of(&out), colour_of(&in));
        CHECK(layout_differences(&out, &plain) == 0, "case %d: not the CPU's bits", k);
        CHECK(colour_of(&kept) == colour_of(&in), "case %d: kept chroma changes", k);
    }
}

TEST_MAIN
