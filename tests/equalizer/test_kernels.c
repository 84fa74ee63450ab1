/*
 * The CPU's kernels, each variant of them against plain loops: every width up to a few vectors,
 * every alignment, strides of both signs, with guard bytes around what may be written and pages
 * that cannot be touched around what may be read.
 */
#include "equalizer/cpu/kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include "pictures.h"

#define GUARD 128
#define MAX_WIDTH 65
#define MAX_HEIGHT 5

typedef struct Variant {
    const char *name;
    void (*init)(LumeqKernels *kernels);
    int (*available)(void); /* NULL: on every machine */
} Variant;

static const Variant variants[] = {
    {"c", lumeq_kernels_c, NULL},
};

#define VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

static void for_each_variant(void (*test)(const char *name, const LumeqKernels *kernels))
{
    for (int i = 0; i < VARIANTS; i++) {
        if (variants[i].available && !variants[i].available()) {
            printf("%s: skipped: not on this CPU\n", variants[i].name);
            continue;
        }
        LumeqKernels kernels;
        variants[i].init(&kernels);
        test(variants[i].name, &kernels);
    }
}

/* The tables: the identity, its mirror image, one code, and any codes. */
enum { TABLES = 4 };

static void fill_table(uint8_t *table, int which, CheckRandom *random)
{
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(which == 0   ? i
                             : which == 1 ? 255 - i
                             : which == 2 ? 42
                                          : check_below(random, 256));
}

static void check_histogram(const char *name, const LumeqKernels *kernels, const CheckRect *src)
{
    enum { EDGE = 16 };
    uint32_t hist[EDGE + 256 + EDGE], expected[EDGE + 256 + EDGE];
    for (int i = 0; i < EDGE + 256 + EDGE; i++)
        hist[i] = expected[i] = 1000u + 7u * (unsigned)i; /* kernels add to what is there */
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            expected[EDGE + check_row(src, y)[x]]++;
    kernels->histogram8(hist + EDGE, src->pixels, src->stride, src->width, src->height);
    CHECK(!memcmp(hist, expected, sizeof(hist)), "%s: histogram of %dx%d, stride %td", name,
          src->width, src->height, src->stride);
}

static void check_apply(const char *name, const LumeqKernels *kernels, const CheckRect *src,
                        const CheckRect *dst, const uint8_t *table)
{
    kernels->apply8(dst->pixels, dst->stride, src->pixels, src->stride, src->width, src->height,
                    table);
    int wrong = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            wrong += check_row(dst, y)[x] != table[check_row(src, y)[x]];
    CHECK(!wrong, "%s: apply to %dx%d, strides %td and %td: %d samples are wrong", name, src->width,
          src->height, src->stride, dst->stride, wrong);
    CHECK(check_rect_intact(dst), "%s: apply to %dx%d, strides %td and %td: writes outside", name,
          src->width, src->height, src->stride, dst->stride);
}

static void histogram_by_hand(const char *name, const LumeqKernels *kernels)
{
    /* Two rows of five, the rest of the stride is not to be seen. */
    static const uint8_t samples[] = {0, 255, 7, 7, 7, 99, 99, 99, 1, 7, 255, 0, 254};
    uint32_t hist[256] = {0};
    hist[7] = 100;
    kernels->histogram8(hist, samples, 8, 5, 2);
    CHECK(hist[0] == 2 && hist[1] == 1 && hist[7] == 104 && hist[254] == 1 && hist[255] == 2,
          "%s: %u %u %u %u %u", name, hist[0], hist[1], hist[7], hist[254], hist[255]);
    uint32_t sum = 0;
    for (int i = 0; i < 256; i++)
        sum += hist[i];
    CHECK(sum == 110, "%s: %u in all", name, sum);

    /* The same upside down. */
    memset(hist, 0, sizeof(hist));
    kernels->histogram8(hist, samples + 8, -8, 5, 1);
    CHECK(hist[1] == 1 && hist[7] == 1 && hist[255] == 1 && hist[0] == 1 && hist[254] == 1,
          "%s: one row", name);
    kernels->histogram8(hist, samples + 8, -8, 5, 2);
    CHECK(hist[7] == 5 && hist[255] == 3 && hist[1] == 2 && hist[99] == 0, "%s: %u %u %u %u", name,
          hist[7], hist[255], hist[1], hist[99]);
}

static void apply_by_hand(const char *name, const LumeqKernels *kernels)
{
    static const uint8_t samples[] = {0, 1, 2, 77, 77, 255, 254, 1};
    static const uint8_t down[] = {10, 20, 30, 9, 9, 9, 50, 40, 20};
    static const uint8_t up[] = {50, 40, 20, 9, 10, 20, 30};
    uint8_t table[256] = {10, 20, 30};
    table[254] = 40;
    table[255] = 50;
    uint8_t out[9];
    memset(out, 9, sizeof(out));
    kernels->apply8(out, 6, samples, 5, 3, 2, table);
    CHECK(!memcmp(out, down, sizeof(down)), "%s: %d %d %d .. %d %d %d", name, out[0], out[1],
          out[2], out[6], out[7], out[8]);
    memset(out, 9, sizeof(out));
    kernels->apply8(out + 4, -4, samples, 5, 3, 2, table);
    CHECK(!memcmp(out, up, sizeof(up)), "%s: bottom up", name);
}

static void by_hand(void)
{
    for_each_variant(histogram_by_hand);
    for_each_variant(apply_by_hand);
}

static ptrdiff_t any_stride(CheckRandom *random, int width)
{
    const int padding = check_below(random, 2) ? check_below(random, 40) : 0;
    return check_below(random, 2) ? width + padding : -(width + padding);
}

static void check_rects(const char *name, const LumeqKernels *kernels, int width, int height,
                        int offset, CheckRandom *random)
{
    const Picture picture = (Picture)check_below(random, PICTURE_COUNT);
    CheckRect src = check_rect(width, height, any_stride(random, width), offset, 0);
    CheckRect dst = check_rect(width, height, any_stride(random, width),
                               check_below(random, 2) ? offset : check_below(random, 16), GUARD);
    picture_fill(&src, picture, (uint64_t)check_below(random, 1 << 16));
    check_histogram(name, kernels, &src);

    uint8_t table[256 + 16];
    uint8_t *codes = table + check_below(random, 16);
    fill_table(codes, check_below(random, TABLES), random);
    check_apply(name, kernels, &src, &dst, codes);
    check_rect_free(&src);
    check_rect_free(&dst);
}

static void small_variant(const char *name, const LumeqKernels *kernels)
{
    CheckRandom random = check_random(1);
    for (int width = 1; width <= MAX_WIDTH; width++)
        for (int height = 1; height <= MAX_HEIGHT; height++)
            for (int offset = 0; offset < 16; offset++)
                check_rects(name, kernels, width, height, offset, &random);
}

static void small_rectangles(void)
{
    for_each_variant(small_variant);
}

static void large_variant(const char *name, const LumeqKernels *kernels)
{
    static const int widths[] = {127, 128, 129, 255, 256, 257, 511, 1023, 1921, 4099};
    CheckRandom random = check_random(2);
    for (int i = 0; i < (int)(sizeof(widths) / sizeof(widths[0])); i++)
        for (int n = 0; n < 8; n++)
            check_rects(name, kernels, widths[i], 1 + check_below(&random, 9),
                        check_below(&random, 64), &random);
}

static void large_rectangles(void)
{
    for_each_variant(large_variant);
}

/* Every picture with every table, so that no pair of them depends on luck. */
static void pictures_variant(const char *name, const LumeqKernels *kernels)
{
    CheckRandom random = check_random(3);
    for (int picture = 0; picture < PICTURE_COUNT; picture++) {
        CheckRect src = check_rect(203, 7, -211, 3, 0), dst = check_rect(203, 7, 209, 5, GUARD);
        picture_fill(&src, (Picture)picture, 255 << 8);
        check_histogram(name, kernels, &src);
        for (int t = 0; t < TABLES; t++) {
            uint8_t table[256];
            fill_table(table, t, &random);
            check_apply(name, kernels, &src, &dst, table);
        }
        check_rect_free(&src);
        check_rect_free(&dst);
    }
}

static void pictures_and_tables(void)
{
    for_each_variant(pictures_variant);
}

/* More of one code than 8 or 16 bits can count, in one row and in all. */
static void counts_variant(const char *name, const LumeqKernels *kernels)
{
    static const struct {
        int width, height, code;
    } flats[] = {{65535, 2, 0}, {65535, 40, 255}, {300, 300, 128}, {1, 300, 1}, {4096, 33, 254}};
    for (int i = 0; i < (int)(sizeof(flats) / sizeof(flats[0])); i++) {
        CheckRect src = check_rect(flats[i].width, flats[i].height, flats[i].width, 0, 0);
        picture_fill(&src, PICTURE_FLAT, (uint64_t)flats[i].code);
        check_histogram(name, kernels, &src);
        check_rect_free(&src);
    }
}

static void large_counts(void)
{
    for_each_variant(counts_variant);
}

/* A picture between two pages that cannot be touched, at the end of what lies between or at its
 * start: kernels read and write nothing beyond. */
static void pages_variant(const char *name, const LumeqKernels *kernels)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED, "no memory"))
        return;
    for (int i = 0; i < 5; i += 2)
        mprotect(memory + (size_t)i * page, page, PROT_NONE);

    CheckRandom random = check_random(4);
    uint8_t table[256];
    fill_table(table, 3, &random);
    for (int width = 1; width <= 200; width++) {
        for (int at_end = 0; at_end < 2; at_end++) {
            const ptrdiff_t stride = width & 1 ? width + 3 : -(width + 3);
            const size_t pitch = (size_t)(width + 3), size = 2 * pitch + (size_t)width;
            const size_t start = at_end ? page - size : 0;
            const size_t first = start + (stride < 0 ? 2 * pitch : 0);
            CheckRect src = {memory, page, memory + page + first, stride, width, 3};
            CheckRect dst = src;
            dst.pixels += 2 * page;
            picture_fill(&src, PICTURE_NOISE, (uint64_t)width);
            check_histogram(name, kernels, &src);
            kernels->apply8(dst.pixels, stride, src.pixels, stride, width, 3, table);
            CHECK(check_row(&dst, 2)[width - 1] == table[check_row(&src, 2)[width - 1]],
                  "%s: last sample of width %d", name, width);
        }
    }
    munmap(memory, 5 * page);
}

static void nothing_beyond_is_touched(void)
{
    for_each_variant(pages_variant);
}

static const CheckTest tests[] = {
    {"by_hand", by_hand},
    {"small_rectangles", small_rectangles},
    {"large_rectangles", large_rectangles},
    {"pictures_and_tables", pictures_and_tables},
    {"large_counts", large_counts},
    {"nothing_beyond_is_touched", nothing_beyond_is_touched},
};

CHECK_MAIN(tests)
