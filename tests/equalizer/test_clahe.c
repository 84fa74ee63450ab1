/*
 * Checks mode CLAHE: `reference` against stored results of OpenCV, the smoothing of curves, and
 * the samples of all kernels against tile_value().
 */
#include <math.h>

#include "../clahe_frame.h"
#include "opencv_clahe_oracle.h"
#include "variants.h"

static TileTables tables;
static const CurveResult no_frame;
static const TileResult no_tiles;

TEST(opencv)
{
    static TileResult result;
    for (int i = 0; i < (int)(sizeof(opencv_clahe_oracle) / sizeof(*opencv_clahe_oracle)); i++) {
        const int width = opencv_clahe_oracle[i].width, height = opencv_clahe_oracle[i].height;
        const int tiles_x = opencv_clahe_oracle[i].tiles_x;
        const int tiles_y = opencv_clahe_oracle[i].tiles_y;
        FREED_BY(check_rect_free) CheckRect in = check_rect(width, height, width + 3, 1, 0);
        FREED_BY(check_rect_free) CheckRect out = check_rect(width, height, -(width + 5), 3, 64);
        picture_fill(&in, opencv_clahe_oracle[i].picture, opencv_clahe_oracle[i].seed);
        CHECK(picture_hash(&in) == opencv_clahe_oracle[i].in_hash, "picture %d is not OpenCV's", i);

        ClaheSettings settings = {clahe_curve(8, 0, i & 1), tiles_x, tiles_y,
                                  opencv_clahe_oracle[i].clip};
        settings.curve.reference = 1;
        const TileGrid grid = clahe_grid(&settings, &in);
        clahe_tiles(&grid, &in, &no_frame, &no_tiles, &result, &tables);
        clahe_apply(&grid, &in, &out, &tables);
        CHECK(picture_hash(&out) == opencv_clahe_oracle[i].out_hash,
              "picture %d, %dx%d, limit %g, %dx%d tiles: differs from OpenCV's", i, width, height,
              settings.clip, tiles_x, tiles_y);
        CHECK(check_rect_intact(&out), "picture %d: writes outside", i);
        CHECK(result.depth == 0, "picture %d: leaves a history", i);
        uint64_t counted = 0;
        for (int cell = 0; cell < TILE_CELLS; cell++)
            counted += result.sums.hist_out[cell];
        CHECK(counted == (uint64_t)width * (uint64_t)height, "picture %d: %llu samples", i,
              (unsigned long long)counted);
    }
}

static CurveParams draw_curve(int depth, CheckRandom *random)
{
    CurveParams p =
        clahe_curve(depth, depth > 8 ? check_below(random, 17 - depth) : 0, check_below(random, 2));
    p.clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 400000) : 0;
    p.alpha = 1 + (uint32_t)check_below(random, CURVE_ONE);
    p.strength = (uint32_t)check_below(random, CURVE_ONE + 1);
    p.adaptive = check_below(random, 2);
    p.scene_cut = check_below(random, 2);
    p.frame = (uint32_t)check_below(random, 1000);
    return p;
}

/* Each tile's curve moves towards its target by alpha; without a history it moves all the way. */
TEST(smoothing)
{
    static TileResult first, second, both, other;
    const uint32_t quarter = CURVE_ONE / 4;
    ClaheSettings settings = {clahe_curve(8, 0, 0), 4, 3, 0};
    CheckRect dark = check_rect(101, 77, 101, 0, 0), noise = check_rect(101, 77, 101, 0, 0);
    clahe_fill(&dark, &settings.curve, PICTURE_DARK, 1);
    clahe_fill(&noise, &settings.curve, PICTURE_NOISE, 2);
    TileGrid grid = clahe_grid(&settings, &dark);
    clahe_tiles(&grid, &dark, clahe_frame(1, CURVE_ONE), &no_tiles, &first, &tables);
    clahe_tiles(&grid, &noise, clahe_frame(1, CURVE_ONE), &no_tiles, &second, &tables);
    clahe_tiles(&grid, &noise, clahe_frame(quarter, 0), &first, &both, &tables);
    for (int tile = 0; tile < 12; tile++)
        for (int i = 0; i < TILE_CELLS; i++) {
            const double expected =
                0.75 * first.tile[tile].smooth[i] + 0.25 * second.tile[tile].smooth[i];
            CHECK(fabs(both.tile[tile].smooth[i] - expected) <= 1, "tile %d, cell %d", tile, i);
            CHECK(tables.nodes[tile][i] == (uint32_t)i << 8, "strength 0 changes code %d", i);
        }
    CHECK(first.depth == 8 && first.tiles_x == 4 && first.tiles_y == 3,
          "the history has another format");

    settings.tiles_x = 3;
    settings.tiles_y = 4;
    grid = clahe_grid(&settings, &noise);
    clahe_tiles(&grid, &noise, clahe_frame(quarter, CURVE_ONE), &first, &both, &tables);
    clahe_tiles(&grid, &noise, clahe_frame(CURVE_ONE, CURVE_ONE), &no_tiles, &other, &tables);
    CHECK(!memcmp(&both, &other, offsetof(TileResult, tile[12])),
          "the history of other tiles is used");
    both.depth = 10;
    clahe_tiles(&grid, &noise, clahe_frame(quarter, CURVE_ONE), &both, &second, &tables);
    CHECK(!memcmp(&second, &other, offsetof(TileResult, tile[12])),
          "the history of another depth is used");
    both.depth = 8;
    both.white--;
    clahe_tiles(&grid, &noise, clahe_frame(quarter, CURVE_ONE), &both, &second, &tables);
    CHECK(!memcmp(&second, &other, offsetof(TileResult, tile[12])),
          "the history of another range is used");

    CurveResult *blank = clahe_frame(CURVE_ONE, CURVE_ONE);
    blank->epoch.black = 1;
    clahe_tiles(&grid, &noise, blank, &no_tiles, &both, &tables);
    CHECK(both.tile[0].smooth[100] == 100 << 16, "a black frame's curve is not the identity");
    check_rect_free(&dark);
    check_rect_free(&noise);
}

/* The whole picture or a random part. */
static LumeqRect any_part(int width, int height, CheckRandom *random)
{
    LumeqRect part = {0, 0, width, height};
    if (check_below(random, 2)) {
        part.x = check_below(random, width);
        part.y = check_below(random, height);
        part.width = 1 + check_below(random, width - part.x);
        part.height = 1 + check_below(random, height - part.y);
    }
    return part;
}

/* Checks a random rectangle: every sample equals tile_value(), nothing else is written, and rows
 * may be split arbitrarily. */
static void check_case(CheckRandom *random, int number, const char *name,
                       const LumeqKernels *kernels)
{
    static CurveResult frame;
    static CurveTable table;
    static TileResult result;
    static const int depths[] = {8, 8, 10, 12, 16, 9};
    static const int widths[] = {1, 2, 3, 7, 16, 17, 33, 100, 255, 640};
    const int width = widths[check_below(random, 10)], height = 1 + check_below(random, 90);
    ClaheSettings settings = {draw_curve(depths[check_below(random, 6)], random),
                              1 + check_below(random, 16), 1 + check_below(random, 16), 0};
    CurveParams *p = &settings.curve;
    const int size = clahe_sample_size(p);
    p->dither = check_below(random, 2);
    const ptrdiff_t stride = (width + check_below(random, 9)) * size;
    CheckRect in = check_rect(width * size, height, check_below(random, 2) ? stride : -stride,
                              size * check_below(random, 5), 0);
    CheckRect out = check_rect(width * size, height, check_below(random, 2) ? stride : -stride,
                               size * check_below(random, 5), 64);
    clahe_fill(&in, p, (Picture)check_below(random, PICTURE_COUNT), (uint64_t)number);
    if (number % 4 == 0) /* random bits, also below and above the code */
        picture_fill(&in, PICTURE_NOISE, (uint64_t)number);
    const TileGrid grid = clahe_grid(&settings, &in);
    clahe_global(&in, p, &no_frame, &frame, &table);
    clahe_tiles(&grid, &in, &frame, &no_tiles, &result, &tables);
    const LumeqRect a = any_part(width, height, random);
    tables.inside = tile_inside(&grid, &(BarsState){.area = 1, .active = a});
    for (int y = a.y, rows; y < a.y + a.height; y += rows) {
        rows = 1 + check_below(random, a.y + a.height - y);
        lumeq_clahe_apply(&grid, kernels, check_row(&out, y), out.stride, check_row(&in, y),
                          in.stride, a.x, a.x + a.width, rows, y, &tables);
    }
    int wrong = 0;
    for (int y = a.y; y < a.y + a.height; y++)
        for (int x = a.x; x < a.x + a.width; x++) {
            const uint32_t last = (1u << p->depth) - 1;
            const uint32_t sample = clahe_sample(&in, p, x, y) >> p->shift;
            const uint32_t value = tile_value(&grid, &tables, x, y, sample < last ? sample : last);
            const uint32_t add =
                p->dither ? curve_dither((uint32_t)(x - a.x), (uint32_t)(y - a.y), p->frame)
                          : CURVE_ROUND;
            wrong += clahe_sample(&out, p, x, y) != tile_code(value, add, last) << p->shift;
        }
    CHECK(wrong == 0, "%s, case %d, %dx%d, depth %d: %d samples are wrong", name, number, width,
          height, p->depth, wrong);
    CHECK(check_rect_intact(&out), "%s, case %d: writes outside", name, number);
    uint64_t counted = 0;
    for (int i = 0; i < TILE_CELLS; i++)
        counted += result.sums.hist_out[i];
    CHECK(counted == (uint64_t)width * (uint64_t)height, "case %d: wrong sum of hist_out", number);
    check_rect_free(&in);
    check_rect_free(&out);
}

VARIANT_TEST(rectangles)
{
    for (int i = 0; i < check_rounds(400); i++) {
        CheckRandom random = check_random((uint64_t)i);
        check_case(&random, i, name, kernels);
    }
}

TEST_MAIN
