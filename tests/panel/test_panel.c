/* The histogram panel: what it draws against what was given, and that it stays inside. */
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "panel/panel.h"

#define BINS 256
#define GUARD 128

/* A histogram and a curve, and the panel that they are drawn into. */
typedef struct Picture {
    CheckRect rect;
    Canvas canvas;
    PanelData data;
    uint32_t hist_in[PANEL_MAX_BINS], hist_out[PANEL_MAX_BINS], curve[PANEL_MAX_BINS];
} Picture;

static Picture picture;

static void open_picture(int width, int height, int padding, int bins)
{
    picture.rect = check_rect(width * 4, height, (ptrdiff_t)width * 4 + padding, 0, GUARD);
    picture.canvas = (Canvas){check_row(&picture.rect, 0), picture.rect.stride, width, height};
    picture.data = (PanelData){.bins = bins,
                               .hist_in = picture.hist_in,
                               .hist_out = picture.hist_out,
                               .curve = picture.curve};
    for (int code = 0; code < bins; code++) {
        picture.hist_in[code] = picture.hist_out[code] = 0;
        picture.curve[code] = (uint32_t)code << 16;
    }
}

static const uint8_t *pixel(int x, int y)
{
    return check_row(&picture.rect, y) + (ptrdiff_t)x * 4;
}

/* Warm: the output's bars; the ground, grid and axes are grey or bluish. */
static int is_output_bar(int x, int y)
{
    const uint8_t *p = pixel(x, y);
    return p[0] > p[2] + 60;
}

/* Height of the output's bar in a column, from the base up; -1 if it has holes. */
static int bar_height(Rect plot, int column)
{
    int height = 0;
    while (height < plot.height &&
           is_output_bar(plot.x + column, plot.y + plot.height - 1 - height))
        height++;
    for (int y = height; y < plot.height; y++)
        if (is_output_bar(plot.x + column, plot.y + plot.height - 1 - y))
            return -1;
    return height;
}

/* A panel whose plot has a whole number of columns for each bin is not needed: columns in the
 * middle of a bin are looked at, and bins wide enough to have one. */
static void check_heights(const double *share, const char *name)
{
    const PanelLayout layout = panel_layout(picture.canvas.width, picture.canvas.height, 0);
    panel_draw(&picture.data, &picture.canvas, NULL);
    const Rect plot = layout.output;
    CHECK(plot.width >= 2 * picture.data.bins, "%s: plot of %d columns", name, plot.width);
    for (int code = 0; code < picture.data.bins; code++) {
        const int column = (int)((code + 0.5) * plot.width / picture.data.bins);
        const int height = bar_height(plot, column);
        const double expected = share[code] * plot.height;
        CHECK(fabs(height - expected) <= 1, "%s: bar of code %d is %d high, not %.2f", name, code,
              height, expected);
    }
}

static void test_linear_heights(void)
{
    double share[BINS];
    open_picture(1400, 900, 0, BINS);
    for (int code = 0; code < BINS; code++) {
        picture.hist_out[code] = (uint32_t)(1000 * (BINS - abs(code - 100)));
        share[code] = (BINS - abs(code - 100)) / (double)BINS;
    }
    check_heights(share, "triangle");
    check_rect_free(&picture.rect);
}

static void test_log_heights(void)
{
    double share[BINS];
    open_picture(1400, 900, 0, BINS);
    picture.data.scale = PANEL_LOG;
    for (int code = 0; code < BINS; code++) {
        picture.hist_out[code] = (uint32_t)(code % 7 ? exp(code / 16.0) : 0);
        share[code] = log1p(picture.hist_out[code]) / log1p((uint32_t)exp(255 / 16.0));
    }
    check_heights(share, "exponential");
    check_rect_free(&picture.rect);
}

static void test_spike(void)
{
    double share[BINS];
    open_picture(1400, 900, 0, BINS);
    for (int code = 0; code < BINS; code++) {
        picture.hist_out[code] = code == 16 ? 1000000 : 400;
        share[code] = code == 16 ? 1 : 400 / (1.25 * 400);
    }
    check_heights(share, "spike");
    check_rect_free(&picture.rect);
}

static void test_two_levels(void)
{
    double share[BINS] = {0};
    open_picture(1400, 900, 0, BINS);
    picture.hist_out[40] = 100;
    picture.hist_out[200] = 50;
    share[40] = 1;
    share[200] = 0.5;
    check_heights(share, "two levels");
    check_rect_free(&picture.rect);
}

/* More bins than columns: a bar is the mean of the bins under it. */
static void test_many_bins(void)
{
    open_picture(700, 420, 0, PANEL_MAX_BINS);
    for (int code = 0; code < PANEL_MAX_BINS; code++)
        picture.hist_out[code] = code % 2 ? 1000 : 0;
    panel_draw(&picture.data, &picture.canvas, NULL);
    const Rect plot = panel_layout(700, 420, 0).output;
    for (int column = 0; column < plot.width; column++) {
        const int height = bar_height(plot, column);
        CHECK(abs(height - plot.height / 2) <= plot.height / 10, "column %d is %d of %d high",
              column, height, plot.height);
    }
    check_rect_free(&picture.rect);
}

/* The curve passes through the points that it was given: bright pixels there, none far away. */
static void test_curve(void)
{
    open_picture(1400, 900, 0, BINS);
    for (int code = 0; code < BINS; code++)
        picture.curve[code] = (uint32_t)((255.0 - code) * 65536);
    panel_draw(&picture.data, &picture.canvas, NULL);
    const Rect plot = panel_layout(1400, 900, 0).curve;
    for (int code = 1; code < BINS - 1; code++) {
        const int x = plot.x + (int)((code + 0.5) * plot.width / BINS);
        const int y = plot.y + plot.height - (int)((255.0 - code + 0.5) * plot.height / BINS);
        int found = 0;
        for (int dy = -2; dy <= 2; dy++)
            found |= pixel(x, y + dy)[0] > 150;
        CHECK(found, "code %d", code);
        const int far = y + (code < 128 ? plot.height / 3 : -plot.height / 3);
        CHECK(pixel(x, far)[0] < 200, "something bright below the curve at code %d", code);
    }
    check_rect_free(&picture.rect);
}

static void fill_with_noise(uint64_t number, int bins)
{
    CheckRandom random = check_random(number);
    for (int code = 0; code < bins; code++) {
        picture.hist_in[code] = (uint32_t)check_below(&random, 100000);
        picture.hist_out[code] = (uint32_t)check_below(&random, 100000);
        picture.curve[code] = (uint32_t)(check_below(&random, bins) << 16);
    }
}

static void check_all_opaque(int width, int height)
{
    int opaque = 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            opaque &= pixel(x, y)[3] == 255;
    CHECK(opaque, "%dx%d: not all of it was drawn", width, height);
}

static void check_size(int width, int height, int bins, Text *text)
{
    static int count;
    open_picture(width, height, count % 3 * 20, bins);
    fill_with_noise((uint64_t)count, bins);
    picture.data.full_range = count & 1;
    picture.data.scale = count & 2 ? PANEL_LOG : PANEL_LINEAR;
    count++;
    panel_draw(&picture.data, &picture.canvas, text);
    CHECK(check_rect_intact(&picture.rect), "%dx%d: wrote outside", width, height);
    check_all_opaque(width, height);
    check_rect_free(&picture.rect);
}

static const int sizes[][2] = {
    {1, 1},      {1, 300},    {300, 1},   {2, 3},     {7, 5},     {16, 16},
    {40, 30},    {64, 300},   {300, 64},  {159, 109}, {160, 110}, {161, 111},
    {200, 1000}, {1000, 120}, {333, 257}, {560, 360}, {400, 720}, {1920, 1080},
};

static void test_sizes(void)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_size(sizes[i][0], sizes[i][1], BINS, NULL);
        check_size(sizes[i][0], sizes[i][1], PANEL_MAX_BINS, NULL);
    }
    check_size(3840, 2160, BINS, NULL);
}

static void test_sizes_with_text(void)
{
    Text *text = NULL;
    if (text_open(&text) < 0) {
        check_skip("no font on this machine");
        return;
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check_size(sizes[i][0], sizes[i][1], BINS, text);
    check_size(3840, 2160, 1024, text);
    text_close(&text);
    CHECK(text == NULL, "not set to NULL");
}

/* The numbers of the axes: the curve's to its left, the last ones centred on the ends. */
static void check_numbers(const PanelLayout *l, int width, int height)
{
    const int number = text_room(l->text, 3), beside = l->curve.y < l->output.y;
    const int left = beside ? l->output.x + l->output.width : 0;
    CHECK(l->curve.x - number >= left, "%dx%d: numbers over the output", width, height);
    CHECK(l->curve.x + l->curve.width + number / 2 <= width, "%dx%d: last number outside", width,
          height);
    CHECK(l->curve.y + l->curve.height + l->text <= height, "%dx%d: numbers outside", width,
          height);
}

/* Plots and their labels lie inside and apart from each other. */
static void test_layout(void)
{
    for (int width = 1; width < 1300; width += width < 400 ? 3 : 97)
        for (int height = 1; height < 1300; height += height < 400 ? 7 : 101)
            for (int with_text = 0; with_text <= 1; with_text++) {
                const PanelLayout l = panel_layout(width, height, with_text);
                const Rect plots[] = {l.input, l.output, l.curve};
                for (int i = 0; i < 3; i++)
                    CHECK(plots[i].x >= 0 && plots[i].y >= 0 &&
                              plots[i].x + plots[i].width <= width &&
                              plots[i].y + plots[i].height <= height,
                          "%dx%d: plot %d lies outside", width, height, i);
                if (l.input.width && l.output.width)
                    CHECK(l.input.y + l.input.height + l.marks + l.text <= l.output.y,
                          "%dx%d: output over input", width, height);
                if (l.text && l.output.width && l.curve.width)
                    check_numbers(&l, width, height);
            }
}

/* Empty, missing and extreme data. */
static void test_no_data(void)
{
    open_picture(560, 360, 0, BINS);
    panel_draw(&picture.data, &picture.canvas, NULL);
    picture.data = (PanelData){.bins = 2};
    panel_draw(&picture.data, &picture.canvas, NULL);
    picture.data = (PanelData){BINS, picture.hist_in, picture.hist_out, picture.curve, 0, 0};
    for (int code = 0; code < BINS; code++) {
        picture.hist_in[code] = picture.hist_out[code] = UINT32_MAX;
        picture.curve[code] = code % 2 ? UINT32_MAX : 0;
    }
    panel_draw(&picture.data, &picture.canvas, NULL);
    check_all_opaque(560, 360);
    CHECK(check_rect_intact(&picture.rect), "wrote outside");
    check_rect_free(&picture.rect);
}

/* Rows may lie upside down in memory. */
static void test_negative_stride(void)
{
    open_picture(320, 200, 0, BINS);
    fill_with_noise(1, BINS);
    CheckRect other = check_rect(320 * 4, 200, -320 * 4, 0, GUARD);
    const Canvas canvas = {check_row(&other, 0), other.stride, 320, 200};
    panel_draw(&picture.data, &picture.canvas, NULL);
    panel_draw(&picture.data, &canvas, NULL);
    CHECK(check_rect_equal(&picture.rect, &other), "differs from the one with a positive stride");
    CHECK(check_rect_intact(&other), "wrote outside");
    check_rect_free(&other);
    check_rect_free(&picture.rect);
}

static const CheckTest tests[] = {
    {"panel_linear_heights", test_linear_heights},
    {"panel_log_heights", test_log_heights},
    {"panel_spike", test_spike},
    {"panel_two_levels", test_two_levels},
    {"panel_many_bins", test_many_bins},
    {"panel_curve", test_curve},
    {"panel_sizes", test_sizes},
    {"panel_sizes_with_text", test_sizes_with_text},
    {"panel_layout", test_layout},
    {"panel_no_data", test_no_data},
    {"panel_negative_stride", test_negative_stride},
};

CHECK_MAIN(tests)
