/* The histogram panel draws its data, inside the panel's bounds. */
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "rects.h"

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

/* Replaces the previous picture. */
static void open_picture(int width, int height, int padding, int bins)
{
    check_rect_free(&picture.rect);
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

/* The output's bars are warm; the background, the grid and the axes are grey or bluish. */
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

/* Checks the height of each bar in the middle column of its bin. */
static void check_heights(const double *share, const char *name)
{
    const PanelLayout layout =
        panel_layout(picture.canvas.width, picture.canvas.height, 0, &(PanelData){0});
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

/* The exponential has gaps and a logarithmic scale. The spike is cut off. */
TEST(panel_heights)
{
    static const char *const names[] = {"triangle", "exponential", "spike"};
    for (int i = 0; i < 3; i++) {
        double share[BINS];
        open_picture(1400, 900, 0, BINS);
        picture.data.scale = i == 1 ? PANEL_LOG : PANEL_LINEAR;
        for (int code = 0; code < BINS; code++) {
            const uint32_t rise = (uint32_t)(code % 7 ? exp(code / 16.0) : 0);
            const uint32_t counts[] = {(uint32_t)(1000 * (BINS - abs(code - 100))), rise,
                                       code == 16 ? 1000000 : 400};
            const double shares[] = {(BINS - abs(code - 100)) / (double)BINS,
                                     log1p(rise) / log1p((uint32_t)exp(255 / 16.0)),
                                     code == 16 ? 1 : 400 / (1.25 * 400)};
            picture.hist_out[code] = counts[i];
            share[code] = shares[i];
        }
        check_heights(share, names[i]);
    }
}

/* If there are more bins than columns, a bar is the mean of its bins. */
TEST(panel_many_bins)
{
    open_picture(700, 420, 0, PANEL_MAX_BINS);
    for (int code = 0; code < PANEL_MAX_BINS; code++)
        picture.hist_out[code] = code % 2 ? (code < PANEL_MAX_BINS / 2 ? 1000 : 500) : 0;
    panel_draw(&picture.data, &picture.canvas, NULL);
    const Rect plot = panel_layout(700, 420, 0, &(PanelData){0}).output;
    for (int column = 0; column < plot.width; column++) {
        if (column == plot.width / 2) /* this column has bins of both halves */
            continue;
        const int height = bar_height(plot, column);
        const int want = column < plot.width / 2 ? plot.height : plot.height / 2;
        CHECK(abs(height - want) <= plot.height / 6, "column %d is %d of %d high", column, height,
              plot.height);
    }
}

/* The panel looks the same at every depth, however many codes a bin counts. */
TEST(panel_depth)
{
    static const int depths[] = {8, 10, 14, 16};
    uint8_t *first = calloc(700 * 4, 420);
    for (int i = 0; i < 4; i++) {
        const int bins = depths[i] < 12 ? 1 << depths[i] : PANEL_MAX_BINS, unit = bins / 256;
        open_picture(700, 420, 0, bins);
        picture.data.depth = depths[i];
        for (int b = 0; b < bins; b++) {
            const int code = b * ((1 << depths[i]) / bins);
            picture.hist_out[b] = (uint32_t)(b / unit);
            picture.curve[b] = (uint32_t)code << 16;
        }
        panel_draw(&picture.data, &picture.canvas, NULL);
        int different = 0;
        for (int y = 0; first && y < 420; y++)
            for (int x = 0; x < 700; x++) {
                uint8_t *before = first + (y * 700 + x) * 4;
                different += i > 0 && abs(before[0] - pixel(x, y)[0]) > 48;
                if (i == 0)
                    memcpy(before, pixel(x, y), 4);
            }
        CHECK(different < 700, "%d bits: %d pixels differ from 8 bits", depths[i], different);
    }
    free(first);
}

/* HDR has lines at 0.1, 1, 10, 100, 203 and 1,000 nits. */
TEST(panel_nits)
{
    static const int lines[][6] = {
        [PANEL_PQ] = {30, 49, 82, 127, 143, 181}, [PANEL_HLG] = {24, 37, 72, 154, 180, 235}};
    for (int light = PANEL_PQ; light <= PANEL_HLG; light++) {
        open_picture(1400, 900, 0, BINS);
        picture.data.light = (PanelLight)light;
        panel_draw(&picture.data, &picture.canvas, NULL);
        const Rect plot = panel_layout(1400, 900, 0, &picture.data).input;
        for (int i = 0; i < 6; i++) {
            const int x = plot.x + (int)((lines[light][i] + 0.5) * plot.width / BINS);
            int found = 0;
            for (int dx = -2; dx <= 2; dx++)
                found |= pixel(x + dx, plot.y + 5)[0] > 40;
            CHECK(found && pixel(x - 8, plot.y + 5)[0] < 40, "axis %d: no line %d", light, i);
        }
    }
}

/* The curve passes through the given points. */
TEST(panel_curve)
{
    open_picture(1400, 900, 0, BINS);
    for (int code = 0; code < BINS; code++)
        picture.curve[code] = (uint32_t)((255.0 - code) * 65536);
    panel_draw(&picture.data, &picture.canvas, NULL);
    const Rect plot = panel_layout(1400, 900, 0, &(PanelData){0}).curve;
    for (int code = 1; code < BINS - 1; code++) {
        const int x = plot.x + (int)((code + 0.5) * plot.width / BINS);
        const int y = plot.y + plot.height - (int)((255.0 - code + 0.5) * plot.height / BINS);
        int found = 0;
        for (int dy = -2; dy <= 2; dy++)
            found |= pixel(x, y + dy)[0] > 150;
        CHECK(found, "the curve misses code %d", code);
        const int far = y + (code < 128 ? plot.height / 3 : -plot.height / 3);
        CHECK(pixel(x, far)[0] < 200, "a bright pixel far from the curve at code %d", code);
    }
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
    CHECK(opaque, "%dx%d: not all pixels were drawn", width, height);
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
}

static const int sizes[][2] = {
    {1, 1},     {1, 300},   {300, 1},   {2, 3},       {7, 5},       {16, 16},    {40, 30},
    {64, 300},  {300, 64},  {159, 109}, {160, 110},   {161, 111},   {200, 1000}, {1000, 120},
    {333, 257}, {560, 360}, {400, 720}, {1920, 1080}, {3840, 2160},
};

TEST(panel_sizes)
{
    Text *text = NULL;
    const int has_font = text_open(&text) == 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_size(sizes[i][0], sizes[i][1], PANEL_MAX_BINS, NULL);
        check_size(sizes[i][0], sizes[i][1], BINS, NULL);
        if (has_font && check_drawn((int)i))
            check_size(sizes[i][0], sizes[i][1], BINS, text);
    }
    text_close(&text);
    CHECK(text == NULL, "not set to NULL");
}

/* Checks that the numbers of the curve's axes have room. */
static void check_numbers(const PanelLayout *l, int width, int height)
{
    const int number = text_room(l->text, l->digits), beside = l->curve.y < l->output.y;
    const int left = beside ? l->output.x + l->output.width : 0;
    CHECK(l->curve.x - number >= left, "%dx%d: numbers over the output", width, height);
    CHECK(l->curve.x + l->curve.width + number / 2 <= width, "%dx%d: last number outside", width,
          height);
    CHECK(l->curve.y + l->curve.height + l->text <= height, "%dx%d: numbers outside", width,
          height);
}

/* Plots and their labels lie inside the panel and do not overlap. */
TEST(panel_layout)
{
    for (int width = 1; width < 1300; width += width < 400 ? 3 : 97)
        for (int height = 1; height < 1300; height += height < 400 ? 7 : 101)
            for (int digits = 0; digits <= 5; digits += digits ? 1 : 3) {
                const PanelLayout l = panel_layout(
                    width, height, digits, &(PanelData){.words = (width + height) % 2 ? "" : NULL});
                const Rect plots[] = {l.input, l.output, l.curve, l.words};
                for (int i = 0; i < 4; i++)
                    CHECK(is_inside(plots[i], (Rect){0, 0, width, height}),
                          "%dx%d: plot %d lies outside", width, height, i);
                if (l.input.width && l.output.width)
                    CHECK(l.input.y + l.input.height + l.marks + l.text <= l.output.y,
                          "%dx%d: output over input", width, height);
                if (l.text && l.output.width && l.curve.width)
                    check_numbers(&l, width, height);
                if (l.words.height)
                    for (int i = 0; i < 3; i++)
                        CHECK(plots[i].y + plots[i].height + l.text <= l.words.y,
                              "%dx%d: plot %d over the words", width, height, i);
            }
}

/* With any scope, plots lie in the panel and do not overlap. At common sizes, all have room. */
TEST(scope_layout)
{
    static const int all[][2] = {{480, 1080}, {480, 790}, {768, 2160},
                                 {1080, 480}, {320, 720}, {216, 360}};
    for (int width = 1; width < 1300; width += width < 400 ? 5 : 97)
        for (int height = 1; height < 1300; height += height < 400 ? 9 : 101)
            for (int scope = PANEL_HISTOGRAM; scope <= PANEL_ALL; scope++) {
                const PanelData data = {.words = "", .scope = (PanelScope)scope};
                const PanelLayout l = panel_layout(width, height, 3, &data);
                const Rect plots[] = {l.input, l.output, l.curve, l.waveform, l.vectors, l.words};
                const int lower =
                    panel_scope_height(width, height, (PanelText){0}, (PanelScope)scope);
                CHECK(lower <= height && (lower > 0 || height <= 0), "%dx%d is %d high", width,
                      height, lower);
                for (int i = 0; i < 6; i++) {
                    const Rect a = plots[i];
                    CHECK(is_inside(a, (Rect){0, 0, width, height}),
                          "%dx%d, scope %d: plot %d lies outside", width, height, scope, i);
                    for (int k = 0; k < i; k++)
                        CHECK(!a.width || !plots[k].width || !overlap(a, plots[k]),
                              "%dx%d, scope %d: plots %d and %d overlap", width, height, scope, i,
                              k);
                }
                CHECK(l.vectors.width == l.vectors.height, "not square");
                if (scope == PANEL_ALL)
                    CHECK(!l.waveform.width == !l.vectors.width, "only one of two scopes");
            }
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int scale = 0; scale < 4; scale++) /* larger text leaves room for all plots */
            CHECK(panel_has_room_for_all(all[i][0], all[i][1], (PanelText){.scale = scale}),
                  "%dx%d, text times %d", all[i][0], all[i][1], scale);
    for (int width = 216; width < 1300;
         width += 31) { /* the same physical size at twice the density */
        const PanelData once = {.words = ""}, twice = {.words = "", .text.density = 2};
        const int text = panel_layout(width, 400, 3, &once).text;
        CHECK(panel_layout(2 * width, 800, 3, &twice).text / 2 == text,
              "%d wide: text is not %d high", width, text);
    }
    CHECK(!panel_has_room_for_all(216, 240, (PanelText){0}), "a small panel has room for all");
}

static Scopes scopes;

/* The waveform has two levels in its left half, the vectorscope has red. */
static void fill_scopes(void)
{
    scopes = (Scopes){.columns = 100,
                      .has_chroma = 1,
                      .kr = 0.2126,
                      .kb = 0.0722,
                      .column_samples = 10,
                      .most_vectors = 1000};
    for (int x = 0; x < 50; x++)
        scopes.waveform[x][16] = scopes.waveform[x][235] = 10;
    scopes.vectors[212][109] = 1000; /* red at 75 %, by BT.709 */
}

static int is_lit(int x, int y)
{
    return pixel(x, y)[0] > 0xB0;
}

/* Levels appear at their lines, and a colour in its box. */
TEST(scope_plots)
{
    static const int of[][2] = {{480, 520}, {300, 320}, {900, 960}};
    fill_scopes();
    for (int i = 0; i < 3; i++) {
        open_picture(of[i][0], of[i][1], 0, BINS);
        picture.data.scope = PANEL_WAVEFORM;
        picture.data.scopes = &scopes;
        panel_draw(&picture.data, &picture.canvas, NULL);
        PanelLayout l = panel_layout(of[i][0], of[i][1], 0, &picture.data);
        const Rect w = l.waveform;
        const int levels[] = {16, 235, 128};
        for (int k = 0; k < 3; k++) {
            const int y = w.y + (int)((255 - levels[k] + 0.5) * w.height / 256);
            CHECK(is_lit(w.x + w.width / 4, y) == (k < 2), "size %d, level %d", i, levels[k]);
            CHECK(!is_lit(w.x + w.width * 3 / 4, y), "level %d on the other side", levels[k]);
        }
        picture.data.scope = PANEL_VECTORSCOPE;
        panel_draw(&picture.data, &picture.canvas, NULL);
        l = panel_layout(of[i][0], of[i][1], 0, &picture.data);
        const Rect v = l.vectors;
        const int x = v.x + (int)(109.5 * v.width / 256);
        const int y = v.y + (int)((255 - 212 + 0.5) * v.height / 256);
        CHECK(is_lit(x, y) && pixel(x, y)[0] > pixel(x, y)[2] + 60, "no red in size %d", i);
        CHECK(!is_lit(x, v.y + v.height - (y - v.y)), "a colour that is not in the picture");
    }
}

/* Bounds of the bright pixels in the caption's rows. */
static Rect lit_words(const PanelLayout *l)
{
    Rect lit = {0};
    for (int y = 0; y < picture.canvas.height; y++)
        for (int x = 0; x < picture.canvas.width; x++)
            if (y >= l->words.y - 2 && pixel(x, y)[0] > 0x90)
                lit = lit.width ? rect_union(lit, (Rect){x, y, 1, 1}) : (Rect){x, y, 1, 1};
    return lit;
}

/* The caption stays in its area. */
TEST(caption_wraps_and_is_cut)
{
    static const int of[][2] = {{216, 270},  {216, 150}, {700, 160},
                                {480, 1080}, {480, 790}, {768, 2160}};
    static const char long_words[] =
        "dark, very noisy: lifted x2.5, as far as its noise allows, equalized by 100 %";
    FREED_BY(text_close) Text *text = NULL;
    if (text_open(&text) < 0)
        return;
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        const int width = of[i][0], height = of[i][1];
        const PanelLayout l = panel_layout(width, height, 3, &(PanelData){.words = ""});
        const char *const all[] = {"off", long_words,
                                   "many, words, many, words, many, words, many, "
                                   "words, many, words, many, words, the end"};
        for (int k = 0; k < 3; k++) {
            open_picture(width, height, 0, BINS);
            picture.data.words = all[k];
            panel_draw(&picture.data, &picture.canvas, text);
            const Rect lit = lit_words(&l);
            CHECK(lit.width > 0 && lit.x >= l.words.x - 1 && lit.y >= l.words.y &&
                      lit.x + lit.width <= l.words.x + l.words.width + 1 &&
                      lit.y + lit.height <= l.words.y + l.words.height,
                  "%dx%d, words %d: %dx%d at %d, %d", width, height, k, lit.width, lit.height,
                  lit.x, lit.y);
            CHECK(
                (lit.height > l.text * 3 / 2) ==
                    (k > 0 && l.word_lines > 1 && text_width(text, l.text, all[k]) > l.words.width),
                "%dx%d, words %d: %d rows", width, height, k, lit.height);
        }
    }
}

/* ---- laid over a picture ---- */

/* Over a transparent pixel, a colour is unchanged. Otherwise, alpha weights both colours. */
TEST(panel_blend)
{
    for (int cover = 1; cover < 256; cover++)
        for (int alpha = 0; alpha < 256; alpha += 5) {
            uint8_t p[4] = {200, 10, 90, (uint8_t)alpha};
            const Canvas canvas = {p, 4, 1, 1};
            canvas_blend(&canvas, 0, 0, 0x20C05A, cover);
            const double a = cover / 255.0, below = alpha / 255.0 * (1 - a), both = a + below;
            const double expected[] = {(200 * below + 0x20 * a) / both,
                                       (10 * below + 0xC0 * a) / both, 90, both * 255};
            for (int i = 0; i < 4; i++)
                CHECK(fabs(p[i] - expected[i]) <= 0.5001, "%d over %d: %d is %d, not %.3f", cover,
                      alpha, i, p[i], expected[i]);
        }
}

/* ---- drawn for every frame ---- */

/* Unless its numbers are late, a cached panel equals a newly drawn one. */
static void check_cached(PanelCache *cache, int width, int height, Text *text, int64_t now)
{
    panel_draw(&picture.data, &picture.canvas, text);
    const Canvas *cached = panel_cache_draw(cache, &picture.data, width, height, text, now);
    if (!CHECK(cached && cached->width == width && cached->height == height, "no canvas"))
        return;
    int different = 0;
    for (int y = 0; y < height; y++)
        different += memcmp(pixel(0, y), canvas_pixel(cached, 0, y), (size_t)width * 4) != 0;
    CHECK(!different, "%dx%d at %lld: %d rows differ", width, height, (long long)now, different);
}

TEST(panel_cache)
{
    static const int of[][2] = {{480, 1080}, {216, 270}, {600, 338}, {5, 5}};
    PanelCache *cache = NULL;
    FREED_BY(text_close) Text *text = NULL;
    text_open(&text);
    if (!CHECK(panel_cache_create(&cache) == 0, "no cache"))
        return;
    for (int turn = 0; turn < 48; turn++) {
        const int *size = of[turn / 4 % 4];
        open_picture(size[0], size[1], 0, turn & 8 ? 1024 : BINS);
        fill_with_noise((uint64_t)turn, picture.data.bins);
        picture.data.scale = turn & 1 ? PANEL_LOG : PANEL_LINEAR;
        picture.data.translucent = turn & 2;
        picture.data.full_range = turn & 16;
        fill_scopes();
        scopes.full_range = turn % 5 == 0;
        scopes.waveform[turn][100] = 7;
        picture.data.scope = (PanelScope)(turn % 7 % 4);
        picture.data.scopes = turn % 11 ? &scopes : NULL;
        if (turn == 20)
            picture.data.hist_in = picture.data.curve = NULL;
        check_cached(cache, size[0], size[1], turn < 40 ? text : NULL, turn * PANEL_NUMBERS_US);
    }
    CHECK(!panel_cache_draw(cache, &picture.data, 0, 10, text, 0), "a canvas without columns");
    panel_cache_free(&cache);
    panel_cache_free(&cache);
}

/* Numbers are updated only every PANEL_NUMBERS_US. */
TEST(panel_cache_numbers)
{
    FREED_BY(panel_cache_free) PanelCache *cache = NULL;
    FREED_BY(text_close) Text *text = NULL;
    if (text_open(&text) < 0 || panel_cache_create(&cache) < 0) {
        check_skip("no font on this machine");
        return;
    }
    open_picture(480, 640, 0, BINS);
    picture.hist_in[40] = picture.hist_out[60] = 1000;
    check_cached(cache, 480, 640, text, 1000);
    CHECK(!panel_cache_is_late(cache), "late at first");
    picture.hist_in[40] = 0;
    picture.hist_in[140] = 1000;
    panel_cache_draw(cache, &picture.data, 480, 640, text, 2000);
    CHECK(panel_cache_is_late(cache), "new numbers at once");
    check_cached(cache, 480, 640, text, PANEL_NUMBERS_US);
    CHECK(!panel_cache_is_late(cache), "still late");
    check_cached(cache, 480, 640, text, 2 * PANEL_NUMBERS_US);
    picture.hist_in[40] = 1000;
    panel_cache_draw(cache, &picture.data, 480, 640, text, 2 * PANEL_NUMBERS_US + 1);
    CHECK(panel_cache_is_late(cache), "an unchanged first frame does not start an interval");
    CHECK(panel_interval(-1) == -1 && panel_interval(0) == 0, "intervals around 0");
}

/* ---- marks of a histogram ---- */

TEST(panel_marks)
{
    static uint32_t hist[PANEL_MAX_BINS];
    const PanelData codes = {.bins = BINS};
    CHECK(!panel_find_marks(&codes, NULL).known && !panel_find_marks(&codes, hist).known,
          "marks of nothing");
    for (int i = 50; i < 150; i++)
        hist[i] = 7;
    const PanelMarks even = panel_find_marks(&codes, hist);
    CHECK(even.known && even.low == 50 && even.high == 148 && even.mean == 99.5,
          "of 50 to 149: %d to %d, mean %g", even.low, even.high, even.mean);
    hist[149]++; /* now 1 % is more than the count of one code */
    const PanelMarks more = panel_find_marks(&codes, hist);
    CHECK(more.low == 51 && more.high == 149, "with one more at the end: %d to %d", more.low,
          more.high);
}

/* ---- places ---- */

static void check_place(int width, int height, PanelMode mode)
{
    const Rect window = {0, 0, width, height};
    const PanelPlace p = panel_place(width, height, mode, 1);
    CHECK(is_inside(p.panel, window) && is_inside(p.picture, window) &&
              is_inside(p.free, p.picture),
          "%dx%d: a part lies outside", width, height);
    CHECK(!overlap(p.panel, p.free), "%dx%d: the panel covers the free area", width, height);
    CHECK(mode != PANEL_BESIDE || !overlap(p.panel, p.picture),
          "%dx%d: the panel covers the picture", width, height);
    CHECK(mode != PANEL_OVER || p.panel.y + p.panel.height <= height - height / 4,
          "%dx%d: the panel covers subtitles", width, height);
    CHECK((double)p.picture.width * p.picture.height >= 0.5 * width * height,
          "%dx%d: the picture is too small", width, height);
    if (width < 640 || height < 360 || mode == PANEL_OFF)
        return;
    const PanelLayout layout =
        panel_layout(p.panel.width, p.panel.height, 3, &(PanelData){.words = ""});
    CHECK(layout.text >= 11, "%dx%d: text of %d pixels", width, height, layout.text);
    CHECK(layout.input.height >= 32 && layout.output.height >= 32 && layout.curve.height >= 44 &&
              layout.input.width >= 120 && layout.curve.width >= 60,
          "%dx%d: plots of %dx%d, %dx%d", width, height, layout.input.width, layout.input.height,
          layout.curve.width, layout.curve.height);
}

/* Places the panel on either side of a picture that covers a part of the window. */
static void check_place_over(Rect around)
{
    const Rect window = {0, 0, 1400, 1000};
    for (int at_left = 0; at_left < 2; at_left++) {
        const PanelPlace p = panel_place_over(1400, 1000, around, at_left, 1);
        const int left = p.panel.x - around.x;
        const int right = around.x + around.width - p.panel.x - p.panel.width;
        if (!p.panel.width)
            continue;
        CHECK(is_inside(p.panel, around), "%dx%d: the panel is not over the picture", around.width,
              around.height);
        CHECK(is_inside(p.free, window) && !overlap(p.free, p.panel),
              "%dx%d: the panel covers the free area", around.width, around.height);
        CHECK((at_left ? left : right) <= 20, "%dx%d: %d pixels from the side", around.width,
              around.height, at_left ? left : right);
    }
}

TEST(panel_place_over)
{
    for (int width = 1; width <= 1280; width += 31)
        for (int height = 1; height <= 720; height += 23)
            check_place_over((Rect){(1400 - width) / 2, (1000 - height) / 3, width, height});
    check_place_over((Rect){60, 140, 1280, 720});
    const PanelPlace none = panel_place_over(400, 300, (Rect){0, 37, 400, 225}, false, 1);
    CHECK(!none.panel.width && none.free.width == 400 && none.free.height == 300,
          "a panel over 400x225");
    const Rect beside = panel_free((Rect){100, 50, 400, 300}, (Rect){90, 40, 150, 200});
    CHECK(beside.x == 240 && beside.y == 50 && beside.width == 260 && beside.height == 300,
          "free: %d, %d, %dx%d", beside.x, beside.y, beside.width, beside.height);
}

/* A window that is enlarged for the panel shows the picture as large as before. */
TEST(panel_add_room)
{
    for (int width = 16; width < 4000; width += 37)
        for (int height = 16; height < 2400; height += 41) {
            int across = width, down = height;
            panel_add_room(&across, &down);
            const PanelPlace p = panel_place(across, down, PANEL_BESIDE, 1);
            CHECK((p.panel.width > 0) == (across > width || down > height),
                  "%dx%d: in %dx%d the panel is %d wide", width, height, across, down,
                  p.panel.width);
            CHECK(abs(p.picture.width - width) <= 1 && abs(p.picture.height - height) <= 1,
                  "%dx%d becomes %dx%d in %dx%d", width, height, p.picture.width, p.picture.height,
                  across, down);
        }
}

TEST(panel_place)
{
    for (int width = 1; width < 4000; width += width < 700 ? 7 : 113)
        for (int height = 1; height < 2400; height += height < 400 ? 9 : 101)
            for (PanelMode mode = PANEL_OFF; mode <= PANEL_OVER; mode++)
                check_place(width, height, mode);
    check_place(640, 360, PANEL_BESIDE);
    check_place(640, 360, PANEL_OVER);
    CHECK(panel_place(640, 360, PANEL_BESIDE, 1).panel.width > 0, "no panel at 640x360");
    CHECK(panel_place(400, 300, PANEL_BESIDE, 1).panel.width == 0, "a panel at 400x300");
    CHECK(panel_place(100, 50, PANEL_BESIDE, 1).panel.width == 0, "a panel in a window of 100x50");
}

TEST_MAIN
