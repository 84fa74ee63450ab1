/* Conversion of colours to planes and back: compares kernels with plain C and plain C with numbers
 * computed by hand, and runs lumeq_process_pixels() on all layouts. */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "variants.h"

#define MAX_WIDTH 100

/* Fills with one value, the extremes, or random bytes. */
static void fill(uint8_t *bytes, int count, int kind, CheckRandom *random)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (uint8_t)(kind == 0   ? 200
                             : kind == 1 ? 255 * check_below(random, 2)
                                         : check_below(random, 256));
}

typedef struct Planes {
    uint16_t code[3][MAX_WIDTH + 2];
} Planes;

/* Converts a row beside an inaccessible page, and checks that nothing else changes. */
static void compare_row(const char *name, const LumeqKernels *k, uint8_t *space, size_t page,
                        int width, int mode, CheckRandom *random)
{
    const int channels = 3 + mode % 2, rgb = mode / 2 % 2, kind = mode / 4 % 3;
    const int size = width * channels;
    uint8_t *pixels = check_below(random, 2) ? space : space + page - size;
    uint8_t wanted[4 * MAX_WIDTH];
    Planes made, expected;
    memset(&made, 7, sizeof(made));
    memset(&expected, 7, sizeof(expected));
    fill(pixels, size, kind, random);
    uint16_t *const to[3] = {made.code[0] + 1, made.code[1] + 1, made.code[2] + 1};
    uint16_t *const to_wanted[3] = {expected.code[0] + 1, expected.code[1] + 1,
                                    expected.code[2] + 1};
    k->pixels_to_planes8(to, pixels, channels, rgb, width);
    lumeq_pixels_to_planes8(to_wanted, pixels, channels, rgb, width);
    CHECK(!memcmp(&made, &expected, sizeof(made)), "%s: %d pixels to planes, mode %d", name, width,
          mode);
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < width; x++)
            to[i][x] =
                (uint16_t)(kind == 1 ? 1023 * check_below(random, 2) : check_below(random, 1024));
    const uint16_t *const from[3] = {to[0], to[1], to[2]};
    memcpy(wanted, pixels, (size_t)size);
    lumeq_planes_to_pixels8(wanted, from, channels, rgb, width);
    k->planes_to_pixels8(pixels, from, channels, rgb, width);
    CHECK(!memcmp(wanted, pixels, (size_t)size), "%s: planes to %d pixels, mode %d", name, width,
          mode);
}

static void compare(const char *name, const LumeqKernels *kernels)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED, "no memory"))
        return;
    mprotect(memory, page, PROT_NONE);
    mprotect(memory + 2 * page, page, PROT_NONE);
    CheckRandom random = check_random(1);
    for (int width = 1; width <= MAX_WIDTH; width++)
        for (int mode = 0; mode < 24; mode++)
            compare_row(name, kernels, memory + page, page, width, mode, &random);
    munmap(memory, 3 * page);
}

TEST(variants_are_plain_c)
{
    for_each_variant(compare);
}

TEST(by_hand)
{
    /* Black, white, gray, blue, green and red, as BGR. */
    static const uint8_t pixels[6][3] = {{0, 0, 0},   {255, 255, 255}, {100, 100, 100},
                                         {255, 0, 0}, {0, 255, 0},     {0, 0, 255}};
    static const uint16_t wanted[3][6] = {{0, 1023, 401, 117, 600, 306},
                                          {512, 512, 512, 1023, 173, 339},
                                          {512, 512, 512, 429, 84, 1023}};
    uint16_t code[3][6];
    uint16_t *const to[3] = {code[0], code[1], code[2]};
    const uint16_t *const from[3] = {code[0], code[1], code[2]};
    lumeq_pixels_to_planes8(to, pixels, 3, 0, 6);
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < 6; x++)
            CHECK(code[i][x] == wanted[i][x], "plane %d, colour %d: %d", i, x, code[i][x]);
    uint8_t back[6][3];
    lumeq_planes_to_pixels8(back, from, 3, 0, 6);
    CHECK(!memcmp(back, pixels, sizeof(back)), "the colours differ");
    const uint16_t deep[2][3] = {{65535, 65535, 65535}, {0, 0, 65535}};
    lumeq_pixels_to_planes16(to, deep, 3, 0, 2);
    CHECK(code[0][0] == 65535 && code[1][0] == 32768 && code[0][1] == 19595 &&
              code[1][1] == 21710 && code[2][1] == 65535,
          "16 bits: %d %d, %d %d %d", code[0][0], code[1][0], code[0][1], code[1][1], code[2][1]);
}

TEST(no_colour_is_lost)
{
    static uint8_t pixels[256][3], back[256][3];
    static uint16_t code[3][256];
    uint16_t *const to[3] = {code[0], code[1], code[2]};
    const uint16_t *const from[3] = {code[0], code[1], code[2]};
    LumeqKernels k;
    lumeq_kernels_init(&k, lumeq_cpu_flags());
    int wrong = 0;
    for (int red = 0; red < 256; red++)
        for (int green = 0; green < 256; green++) {
            for (int i = 0; i < 256; i++) {
                pixels[i][0] = (uint8_t)i;
                pixels[i][1] = (uint8_t)green;
                pixels[i][2] = (uint8_t)red;
            }
            k.pixels_to_planes8(to, pixels, 3, 0, 256);
            k.planes_to_pixels8(back, from, 3, 0, 256);
            wrong += memcmp(pixels, back, sizeof(back)) != 0;
        }
    CHECK(!wrong, "%d rows of colours changed", wrong);
}

/* ---- lumeq_process_pixels() ---- */

#define WIDTH 161
#define HEIGHT 90

typedef struct Colours {
    uint8_t bytes[HEIGHT * WIDTH * 8];
    LumeqPixels pixels;
} Colours;

/* A dark picture with noise. */
static void draw(Colours *p, int channels, int depth, LumeqOrder order, CheckRandom *random)
{
    const int size = depth / 8;
    p->pixels = (LumeqPixels){
        p->bytes, (ptrdiff_t)WIDTH * channels * size, WIDTH, HEIGHT, channels, depth, order};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++) {
                const int code = (x + y) / 6 + 5 * c + check_below(random, 5);
                const int i = (y * WIDTH + x) * channels + c;
                if (size == 1)
                    p->bytes[i] = (uint8_t)code;
                else
                    ((uint16_t *)(void *)p->bytes)[i] = (uint16_t)(code * 257);
            }
}

/* Mean of green, in codes of 8 bits. */
static int mean(const Colours *p)
{
    const int step = p->pixels.channels;
    int64_t sum = 0;
    for (int i = 1; i < WIDTH * HEIGHT * step; i += step)
        sum += p->pixels.depth == 8 ? p->bytes[i]
                                    : ((const uint16_t *)(const void *)p->bytes)[i] / 257;
    return (int)(sum / (WIDTH * HEIGHT));
}

static Colours in, out, other;

BACKEND_TEST(pictures)
{
    CheckRandom random = check_random(2);
    LumeqEqualizer *eq = must_open(id, 3);
    if (!eq)
        return;
    LumeqFrameStats stats = {.size = sizeof(stats)};
    for (int mode = 0; mode < 8; mode++) {
        const int size = mode & 2 ? 2 : 1;
        draw(&in, 3 + mode % 2, 8 * size, mode & 4 ? LUMEQ_ORDER_RGB : LUMEQ_ORDER_BGR, &random);
        out.pixels = in.pixels;
        out.pixels.data = out.bytes;
        lumeq_reset(eq);
        CHECK(lumeq_process_pixels(eq, &in.pixels, &out.pixels, 0, 0, &stats) == 0, "%s",
              lumeq_last_error(eq));
        CHECK(stats.noise < 0, "noise %g without a previous picture", stats.noise);
        CHECK(mean(&out) > mean(&in) * 13 / 10, "mode %d: %d from %d", mode, mean(&out), mean(&in));
        CHECK(fabs(stats.mean_in / (size == 2 ? 257 : 1) - mean(&in)) < 3,
              "mean %g in the statistics, %d in the picture", stats.mean_in, mean(&in));
        int alphas = 0;
        for (int i = 3 * size; mode % 2 && i < WIDTH * HEIGHT * 4 * size; i += 4 * size)
            alphas += memcmp(out.bytes + i, in.bytes + i, (size_t)size) != 0;
        CHECK(!alphas, "mode %d: %d samples of alpha changed", mode, alphas);

        /* The next picture, in place. */
        draw(&other, in.pixels.channels, 8 * size, in.pixels.order, &random);
        CHECK(lumeq_process_pixels(eq, &other.pixels, &other.pixels, 1, 0, &stats) == 0, "%s",
              lumeq_last_error(eq));
        CHECK(stats.noise > 0 && mean(&other) > mean(&in) * 13 / 10, "noise %g, mean %d",
              stats.noise, mean(&other));

        /* Mode off, stored bottom up. */
        LumeqParams off = {.size = sizeof(off)};
        lumeq_params_default(&off);
        off.mode = LUMEQ_MODE_OFF;
        set_params(eq, &off);
        memset(out.bytes, 0, sizeof(out.bytes));
        const ptrdiff_t stride = in.pixels.stride, end = (HEIGHT - 1) * stride;
        in.pixels.data = in.bytes + end;
        out.pixels.data = out.bytes + end;
        in.pixels.stride = out.pixels.stride = -stride;
        CHECK(lumeq_process_pixels(eq, &in.pixels, &out.pixels, 2, 0, &stats) == 0, "%s",
              lumeq_last_error(eq));
        int most = 0;
        for (int i = 0; i < WIDTH * HEIGHT * in.pixels.channels; i++) {
            const int apart =
                size == 2
                    ? abs(((uint16_t *)(void *)in.bytes)[i] - ((uint16_t *)(void *)out.bytes)[i])
                    : abs(in.bytes[i] - out.bytes[i]);
            most = apart > most ? apart : most;
        }
        CHECK(most <= (size == 2 ? 2 : 0), "mode off changed a colour by %d", most);
        lumeq_params_default(&off);
        set_params(eq, &off);
    }
    lumeq_destroy(&eq);
}

/* Thread counts and instruction sets do not matter. */
TEST(same_bits_everywhere)
{
    CheckRandom random = check_random(3);
    draw(&in, 3, 8, LUMEQ_ORDER_BGR, &random);
    out.pixels = other.pixels = in.pixels;
    out.pixels.data = out.bytes;
    other.pixels.data = other.bytes;
    for (int i = 0; i < 4; i++) {
        Colours *to = i ? &other : &out;
        LumeqEqualizer *eq = NULL;
        const LumeqConfig config = {
            .backend = LUMEQ_BACKEND_CPU, .threads = i % 2 ? 4 : 1, .cpu_without = i / 2 ? ~0u : 0};
        if (!CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "no equalizer"))
            return;
        CHECK(lumeq_process_pixels(eq, &in.pixels, &to->pixels, 0, 0, NULL) == 0, "%s",
              lumeq_last_error(eq));
        CHECK(!i || !memcmp(out.bytes, other.bytes, WIDTH * HEIGHT * 3), "configuration %d", i);
        lumeq_destroy(&eq);
    }
}

TEST(bad_pictures)
{
    LumeqEqualizer *eq = must_open(LUMEQ_BACKEND_CPU, 1);
    if (!eq)
        return;
    CheckRandom random = check_random(4);
    draw(&in, 3, 8, LUMEQ_ORDER_BGR, &random);
    const LumeqPixels good = {out.bytes, in.pixels.stride, WIDTH, HEIGHT, 3, 8, LUMEQ_ORDER_BGR};
    LumeqPixels bad[] = {good, good, good, good, good, good, good, good, good};
    bad[0].data = NULL;
    bad[1].stride = WIDTH * 3 - 1;
    bad[2].width = 0;
    bad[3].height = LUMEQ_MAX_SIDE + 1;
    bad[4].channels = 2;
    bad[5].depth = 12;
    bad[6].order = (LumeqOrder)2;
    bad[7].channels = 4;
    bad[8].width--;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(lumeq_process_pixels(eq, &in.pixels, &bad[i], 0, 0, NULL) == LUMEQ_ERR_ARGUMENT,
              "output %zu", i);
        CHECK(i > 6 || lumeq_process_pixels(eq, &bad[i], &bad[i], 0, 0, NULL) == LUMEQ_ERR_ARGUMENT,
              "input %zu", i);
        CHECK(*lumeq_last_error(eq), "no message");
    }
    CHECK(lumeq_process_pixels(NULL, &in.pixels, &good, 0, 0, NULL) == LUMEQ_ERR_ARGUMENT, "NULL");
    CHECK(lumeq_process_pixels(eq, NULL, &good, 0, 0, NULL) == LUMEQ_ERR_ARGUMENT, "NULL");
    CHECK(lumeq_process_pixels(eq, &in.pixels, NULL, 0, 0, NULL) == LUMEQ_ERR_ARGUMENT, "NULL");
    CHECK(lumeq_process_pixels(eq, &in.pixels, &good, 0, 0, NULL) == 0, "%s", lumeq_last_error(eq));
    lumeq_destroy(&eq);
}

TEST_MAIN
