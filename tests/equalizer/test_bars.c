/* Finds the active picture in synthetic films: some have black bars, others are only dark. */
#include "equalizer/bars.h"
#include "equalizer/cpu/bars_profile.h"

#include "../check.h"

#define WIDTH 320
#define HEIGHT 180
#define FRAME 40000000 /* nanoseconds */
#define LONG 160       /* frames after which even a single bar would be confirmed */
#define HOLD 13        /* frames until new bars are confirmed, 0.5 s */
/* Size of films of hundreds of frames, small because pictures are drawn pixel by pixel. */
#define SMALL_WIDTH 256
#define SMALL_HEIGHT 144

static LumeqRect update(BarsState *state, const LumeqImage *image, int64_t step)
{
    static uint8_t columns[LUMEQ_MAX_SIDE], rows[LUMEQ_MAX_SIDE];
    uint8_t *const lit[BARS_DIRECTIONS] = {columns, rows};
    const BarsParams params = {.width = image->width,
                               .height = image->height,
                               .depth = image->depth,
                               .shift = image->shift,
                               .range = image->range,
                               .step = step};
    lumeq_profile_rows(&params, rows, image->plane[0], image->stride[0], 0, image->height);
    lumeq_profile_columns(&params, columns, image->plane[0], image->stride[0], 0, image->width);
    *state = bars_update(&params, state, lit);
    return state->active;
}

typedef enum Content {
    LIT,      /* light and dark areas everywhere */
    BLACK,    /* nothing but noise */
    DARK,     /* black, with some dim spots in the middle */
    SKYLINE,  /* a night sky with stars above towers with windows */
    CREDITS,  /* lines of text that go up */
    STARS,    /* moving stars on black */
    VIGNETTE, /* dark towards the edges */
    LAMP,     /* a lamp in a black room */
    STREET,   /* rows of lamps above dim ground */
    SCREEN,   /* a screen with a dark application: bright text on black panes */
    HORIZON,  /* black above, abruptly lit below */
    CONTENTS,
} Content;

typedef struct Film {
    int width, height;
    int left, right, top, bottom; /* bars */
    Content content;
    int light; /* brightness of the picture, percent */
    int text;  /* lines of subtitles in the bottom bar */
    int bold;  /* 1: bold text, which lights more than half of some rows */
    int logo;  /* 1: a logo in the top bar */
    int frame;
    /* sample format and row order (`up`: from the bottom) */
    int depth, shift, up;
    LumeqRange range;
    int padding, fill; /* bytes between rows, and their content */
} Film;

static Film film(int width, int height, Content content)
{
    return (Film){width, height, .content = content, .light = 100, .depth = 8};
}

static Film with_bars(Film f, int left, int right, int top, int bottom)
{
    f.left = left;
    f.right = right;
    f.top = top;
    f.bottom = bottom;
    return f;
}

#define GRAINS (1 << 16)

/* Noise of 0..n - 1, from a table to save time. */
CHECK_NOT_INSTRUMENTED static int noise(const Film *f, int x, int y, int n)
{
    static uint8_t grains[GRAINS];
    static int drawn;
    for (; drawn < GRAINS; drawn++)
        grains[drawn] = (uint8_t)check_hash(7, (uint64_t)drawn);
    return grains[(f->frame * 40503 + y * 517 + x) % GRAINS] * n >> 8;
}

/* Glyphs of 3x4 random blocks, `size` rows high. Every eighth glyph is a space. */
CHECK_NOT_INSTRUMENTED static int glyph(int x, int y, int size, uint64_t seed)
{
    const int cell = x / size;
    if (x < 0 || y < 0 || y >= size || cell % 8 == 7 || x % size * 4 / size == 3)
        return 0;
    return check_hash(seed, (uint64_t)(cell * 16 + y * 4 / size * 4 + x % size * 4 / size)) & 1;
}

/* Brightness of the content, 0..219. */
CHECK_NOT_INSTRUMENTED static int content(const Film *f, int x, int y)
{
    const int w = f->width, h = f->height, n = f->frame;
    const int dx = 2 * x - w, dy = 2 * y - h;
    int far = dx * dx / 16 + dy * dy / 9;
    uint64_t cell = 0;
    if (f->content == LIT || f->content == DARK || f->content == SKYLINE)
        cell = check_hash(3, (uint64_t)((x + 2 * n) / 24 + 999 * (y / 24)));
    switch (f->content) {
    case LIT: return 25 + (int)(cell % 8) * 27;
    case DARK: return cell % 3 == 0 && far < w * w / 64 ? 60 : 3;
    case SKYLINE:
        if (y > h / 4 + (int)(check_hash(4, (uint64_t)(x / 37)) % (uint64_t)(h / 2)))
            return cell % 3 ? 12 + y * 20 / h : 120;
        return check_hash(5, (uint64_t)(y * w + x)) % 400 ? 2 : 150;
    case CREDITS: return 200 * glyph(x - w / 3, (y + 2 * n) % 30, 18, (uint64_t)((y + 2 * n) / 30));
    case STARS: return check_hash(6, (uint64_t)(y * w + x + n)) % 150 ? 0 : 200;
    case VIGNETTE: return far > w * w / 18 ? 0 : 200 - far * 3600 / (w * w);
    case LAMP:
        far = (dx + w / 5) * (dx + w / 5) / 16 + (dy + h / 3) * (dy + h / 3) / 9;
        return far < w * w / 160 ? 210 : far < w * w / 40 ? 30 : noise(f, x, y, 6);
    case STREET: return (x + n) % 50 < 9 && y % 40 < 9 ? 180 : y > h * 2 / 3 ? 4 + y * 12 / h : 4;
    case SCREEN: return x % 210 == 0 ? 30 : 150 * glyph(x - 20, y % 16 - 2, 10, (uint64_t)(y / 16));
    case HORIZON: return y < h / 3 ? 0 : 120;
    case BLACK:
    case CONTENTS: break;
    }
    return 0;
}

CHECK_NOT_INSTRUMENTED static int in_bar(const Film *f, int x, int y)
{
    return x < f->left || x >= f->width - f->right || y < f->top || y >= f->height - f->bottom;
}

CHECK_NOT_INSTRUMENTED static int brightness(const Film *f, int x, int y)
{
    if (!in_bar(f, x, y)) {
        const int ring = y == f->top || y == f->height - f->bottom - 1; /* blurred by scaling */
        const int lit = content(f, x, y) * f->light / 100;
        return (f->top && ring ? lit / 2 : lit) + noise(f, x, y, 3) - 1;
    }
    const int size = f->bottom / 4, below = y - (f->height - f->bottom) - size / 3;
    const int wide = f->width * 9 / 10, at = x - f->width / 20;
    if (size && below >= 0 && at < wide && below < f->text * size * 3 / 2) {
        const uint64_t seed = (uint64_t)(f->text + below / size);
        return 200 * (glyph(at, below % (size * 3 / 2), size, seed) |
                      (f->bold && glyph(at + size / 2, below % (size * 3 / 2), size, seed)));
    }
    if (f->logo && x > f->width * 8 / 10 && x < f->width * 9 / 10 && y > 3 && y < f->top - 3)
        return 180;
    return noise(f, x, y, 9) - 2;
}

CHECK_NOT_INSTRUMENTED static void paint(const Film *f, const CheckRect *rect)
{
    for (int y = 0; y < f->height; y++) {
        uint8_t *row = check_row(rect, y);
        for (int x = 0; x < f->width; x++) {
            const int black = f->range == LUMEQ_RANGE_FULL ? 0 : 16;
            const int code = black + brightness(f, x, y);
            const unsigned sample = (unsigned)(code < 0 ? 0 : code) << (f->depth - 8) << f->shift;
            if (f->depth == 8) {
                row[x] = (uint8_t)sample;
            } else {
                row[2 * x] = (uint8_t)sample;
                row[2 * x + 1] = (uint8_t)(sample >> 8);
            }
        }
    }
}

static LumeqImage image_of(const Film *f, const CheckRect *rect)
{
    return (LumeqImage){.plane = {rect->pixels},
                        .stride = {rect->stride},
                        .width = f->width,
                        .height = f->height,
                        .depth = f->depth,
                        .shift = f->shift,
                        .range = f->range};
}

/* Paints the frame and updates the state. The memory ends with the frame, so that AddressSanitizer
 * finds reads beyond it. */
static LumeqRect show(BarsState *state, const Film *f)
{
    const int row = f->width * (f->depth > 8 ? 2 : 1), stride = row + f->padding;
    CheckRect rect = check_rect(row, f->height, f->up ? -stride : stride, 0, 0);
    memset(rect.memory, f->fill, rect.size);
    paint(f, &rect);
    const LumeqImage image = image_of(f, &rect);
    const LumeqRect active = update(state, &image, FRAME);
    check_rect_free(&rect);
    return active;
}

static LumeqRect expected(const Film *f)
{
    const int x = f->left / 4 * 4, y = f->top / 4 * 4;
    const int right = (f->width - f->right + 3) / 4 * 4, low = (f->height - f->bottom + 3) / 4 * 4;
    return (LumeqRect){x, y, (right < f->width ? right : f->width) - x,
                       (low < f->height ? low : f->height) - y};
}

static int is_same(const LumeqRect *a, const LumeqRect *b)
{
    return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

/* Shows the film's next frame and expects the bars of the film `bars`. */
static int check_frame(BarsState *state, Film *f, const Film *bars, const char *what)
{
    const LumeqRect got = show(state, f), want = expected(bars);
    f->frame++;
    return CHECK(is_same(&got, &want), "%s, frame %d: %dx%d+%d+%d, expected %dx%d+%d+%d", what,
                 f->frame - 1, got.width, got.height, got.x, got.y, want.width, want.height, want.x,
                 want.y);
}

/* Stops at the first wrong frame. */
static void check_frames(BarsState *state, Film *f, const Film *bars, int count, const char *what)
{
    for (int i = 0; i < count && check_frame(state, f, bars, what); i++)
        ;
}

static const int kinds[][4] = {
    /* left, right, top, bottom in thousandths of the side */
    {0, 0, 0, 0},         {0, 0, 120, 120}, {0, 0, 15, 15},     {0, 0, 130, 115},
    {125, 125, 0, 0},     {341, 341, 0, 0}, {125, 125, 90, 90}, {340, 345, 130, 125},
    {400, 400, 230, 230}, {0, 0, 440, 440},
};

static Film of_kind(Film f, int kind)
{
    const int *k = kinds[kind], w = f.width, h = f.height;
    return with_bars(f, w * k[0] / 1000, w * k[1] / 1000, h * k[2] / 1000, h * k[3] / 1000);
}

TEST(first_frame)
{
    static const int sizes[][2] = {{640, 360},   {641, 361},   {853, 479}, {1280, 720},
                                   {1920, 1080}, {2048, 1152}, {608, 1080}};
    for (int size = 0; size < 7; size++)
        for (int kind = 0; kind < 10; kind++) {
            if (!check_drawn(size + kind))
                continue;
            Film f = of_kind(film(sizes[size][0], sizes[size][1], LIT), kind);
            char what[64];
            snprintf(what, sizeof(what), "%dx%d, kind %d", f.width, f.height, kind);
            if (f.top && f.top < 5)
                continue; /* bars this small are ignored */
            BarsState state = {0};
            check_frame(&state, &f, &f, what);
        }
}

TEST(sample_formats)
{
    static const int formats[][2] = {{8, 0}, {9, 0}, {10, 0}, {10, 6}, {12, 4}, {16, 0}};
    for (int i = 0; i < 6 * 2 * 2 * 4; i++)
        for (int k = 0; k < 3; k++) { /* 3 of the 10 kinds of bars */
            if (!check_drawn(i / 16 + k + i))
                continue;
            Film f = of_kind(film(501, 403, LIT), (i + 3 * k) % 10);
            f.depth = formats[i / 16][0];
            f.shift = formats[i / 16][1];
            f.range = i & 1 ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED;
            f.up = i >> 1 & 1;
            f.padding = (i >> 2 & 3) * 62;
            f.fill = (i >> 2 & 3) == 2 ? 255 : 0;
            BarsState state = {0};
            check_frame(&state, &f, &f, "format");
        }
}

/* Bits below the code are ignored. With 10 bits, code 96 is black and 97 is not. */
TEST(bits_below_the_code)
{
    for (int code = 96; code <= 97; code++) {
        uint16_t samples[64 * 64];
        for (int i = 0; i < 64 * 64; i++)
            samples[i] = (uint16_t)((i / 64 < 8 || i / 64 >= 56 ? code : 400) << 6 | 63);
        const LumeqImage image = {.plane = {samples},
                                  .stride = {128},
                                  .width = 64,
                                  .height = 64,
                                  .depth = 10,
                                  .shift = 6};
        BarsState state = {0};
        const LumeqRect active = update(&state, &image, FRAME);
        CHECK(active.height == (code == 96 ? 48 : 64), "code %d: %d rows", code, active.height);
    }
}

TEST(tiny_pictures)
{
    for (int i = 0; i < 8 * 8 * CONTENTS * 2; i++) {
        Film f = film(i % 8 + 1, i / 8 % 8 + 1, (Content)(i / 64 % CONTENTS));
        if (f.content == SKYLINE && f.height < 2)
            continue;
        f.depth = i / 64 / CONTENTS ? 10 : 8;
        f.up = i & 1;
        BarsState state = {0};
        check_frames(&state, &f, &f, 20, "tiny");
    }
}

TEST(too_small_or_too_large)
{
    static const int bars[][4] = {
        {0, 0, 3, 3}, {4, 4, 0, 0}, {0, 0, 125, 125}, {220, 220, 0, 0}, {4, 4, 3, 3}};
    for (int i = 0; i < 5; i++) {
        Film f = with_bars(film(480, 270, LIT), bars[i][0], bars[i][1], bars[i][2], bars[i][3]);
        const Film none = film(480, 270, LIT);
        BarsState state = {0};
        check_frames(&state, &f, &none, 30, "too small or too large");
    }
}

TEST(text_in_bars)
{
    for (int i = 0; i < 3 * 2 * 2; i++) {
        const int first = i / 4;
        Film f = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 34, 34);
        f.bold = i & 1;
        f.logo = i >> 1 & 1;
        if ((f.logo && first) || !check_drawn(i))
            continue; /* skips first frames with a logo in one bar and text in the other */
        BarsState state = {0};
        for (int n = 0; n < 100; n++) {
            f.text = (first + n / 15) % 3;
            if (!check_frame(&state, &f, &f, f.bold ? "bold text" : "text"))
                break;
        }
    }
}

TEST(bars_in_mid_film)
{
    Film wide = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 34, 34), full = film(WIDTH, HEIGHT, LIT);
    Film narrow = with_bars(full, 60, 60, 0, 0), both = with_bars(full, 60, 60, 30, 30);
    BarsState state = {0};
    check_frames(&state, &wide, &wide, 50, "wide");
    check_frames(&state, &full, &full, 50, "opened");
    check_frames(&state, &wide, &full, HOLD, "wide again, not confirmed");
    check_frames(&state, &wide, &wide, 50, "wide again");
    check_frames(&state, &narrow, &full, HOLD, "narrow, not confirmed");
    check_frames(&state, &narrow, &narrow, 50, "narrow");
    check_frames(&state, &wide, &full, HOLD, "from narrow to wide");
    check_frames(&state, &wide, &wide, 20, "wide after narrow");
    check_frames(&state, &full, &full, 20, "opened again");
    check_frames(&state, &both, &full, HOLD, "both, not confirmed");
    check_frames(&state, &both, &both, 20, "both");
    wide.top = wide.bottom = 18;
    check_frames(&state, &wide, &wide, 50, "smaller bars");
}

TEST(brief_bars_are_ignored)
{
    Film wide = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 34, 34), full = film(WIDTH, HEIGHT, LIT);
    BarsState state = {0};
    for (int i = 0; i < 20; i++) {
        check_frames(&state, &full, &full, 3, "full");
        check_frames(&state, &wide, &full, HOLD, "brief bars");
    }
}

TEST(black_and_dark_frames_and_fades)
{
    static const Content dark[] = {BLACK, DARK, LAMP, STARS, CREDITS, VIGNETTE};
    for (int kind = 0; kind < 9; kind++)
        for (int i = 0; i < 6; i++) {
            if (!check_drawn(kind + i))
                continue;
            Film f = of_kind(film(SMALL_WIDTH, SMALL_HEIGHT, LIT), kind);
            const Film bars = f;
            BarsState state = {0};
            char what[64];
            snprintf(what, sizeof(what), "kind %d, dark %d", kind, i);
            check_frames(&state, &f, &bars, 5, what);
            f.content = dark[i];
            check_frames(&state, &f, &bars, 40, what);
            f.content = LIT;
            check_frames(&state, &f, &bars, 5, what);
            for (int n = 0; i == 0 && n <= 100; n++) { /* fade out and in */
                f.light = abs(n % 100 - 50) * 2;
                if (!check_frame(&state, &f, &bars, what))
                    break;
            }
        }
}

/* Black frames do not count as the first frame. */
TEST(black_first)
{
    Film f = with_bars(film(WIDTH, HEIGHT, BLACK), 0, 0, 34, 34);
    const Film none = film(WIDTH, HEIGHT, LIT), bars = f;
    BarsState state = {0};
    check_frames(&state, &f, &none, 25, "black");
    f.content = LIT;
    check_frames(&state, &f, &bars, 25, "the picture after black");
}

TEST(dark_pictures_have_no_bars)
{
    for (int content = DARK; content < CONTENTS; content++) {
        if (!check_drawn(content))
            continue;
        Film f = film(SMALL_WIDTH, SMALL_HEIGHT, (Content)content);
        Film lit = film(SMALL_WIDTH, SMALL_HEIGHT, LIT);
        BarsState state = {0};
        char what[64];
        snprintf(what, sizeof(what), "content %d", content);
        check_frames(&state, &f, &f, content == HORIZON ? 100 : LONG, what);
        check_frames(&state, &lit, &lit, 5, what);
        check_frames(&state, &f, &f, content == HORIZON ? 100 : LONG, what);
    }
}

TEST(one_bar_takes_longer)
{
    Film f = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 0, 45);
    const Film none = film(WIDTH, HEIGHT, LIT);
    BarsState state = {0};
    check_frames(&state, &f, &none, 100, "not yet");
    for (int i = 0; i < 50; i++, f.frame++)
        show(&state, &f);
    check_frames(&state, &f, &f, 50, "one bar");
    f.text = 2;
    check_frames(&state, &f, &f, 50, "one bar with text");
}

/* A film loses its bars in a dark scene, which lights less than half of each row. */
TEST(opened_in_the_dark)
{
    Film wide = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 34, 34);
    Film dark = film(WIDTH, HEIGHT, SCREEN);
    BarsState state = {0};
    check_frames(&state, &wide, &wide, 10, "wide");
    check_frames(&state, &dark, &dark, 50, "dark");
}

TEST(a_new_format_resets)
{
    Film f = with_bars(film(WIDTH, HEIGHT, LIT), 0, 0, 34, 34);
    const Film none = film(WIDTH, HEIGHT, LIT);
    BarsState state = {0};
    for (int i = 0; i < 4; i++) {
        Film black = f;
        black.content = BLACK;
        black.depth = i == 1 ? 10 : 8;
        black.range = i == 2 ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED;
        black.height = i == 3 ? HEIGHT + 2 : HEIGHT;
        Film whole = none;
        whole.height = black.height;
        check_frame(&state, &f, &f, "before");
        check_frame(&state, &black, i == 0 ? &f : &whole, "another format");
    }
}

TEST(steps_of_any_length)
{
    static const int64_t steps[] = {0, 1, 1000000000, INT64_MAX};
    CheckRandom random = check_random(1);
    BarsState state = {0};
    uint8_t samples[64 * 64];
    for (int i = 0; i < 2000; i++) {
        const int top = check_below(&random, 40), bottom = check_below(&random, 40);
        for (int k = 0; k < 64 * 64; k++)
            samples[k] = k / 64 < top || k / 64 > 63 - bottom ? 16 : 90;
        const LumeqImage image = {
            .plane = {samples}, .stride = {64}, .width = 64, .height = 64, .depth = 8};
        BarsState again = state;
        const LumeqRect a = update(&state, &image, steps[i % 4]);
        const LumeqRect b = update(&again, &image, steps[i % 4]);
        CHECK(is_same(&a, &b), "a copy of the state gives another result");
        CHECK(a.x == 0 && a.width == 64 && a.y >= 0 && a.height > 0 && a.y + a.height <= 64,
              "frame %d: %d rows from row %d on", i, a.height, a.y);
    }
}

TEST_MAIN
