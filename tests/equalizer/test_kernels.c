/*
 * Compares the CPU's kernels for luma with plain loops, for all depths, small widths, alignments
 * and signs of strides. Guard bytes and inaccessible pages reveal accesses outside a picture.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "variants.h"

#define GUARD 128
#define MAX_WIDTH 200
#define MAX_HEIGHT 5

/* Tables: identity, mirror image (nodes: all white), one code, random codes (nodes: rising). */
enum { TABLES = 4 };

static uint32_t any_code(const CurveParams *p, int which, int i, CheckRandom *random)
{
    return (uint32_t)(which == 0   ? i
                      : which == 1 ? p->bins - 1 - i
                      : which == 2 ? 42
                                   : check_below(random, p->bins));
}

static void fill_table(CurveTable *table, const CurveParams *p, int which, CheckRandom *random)
{
    uint32_t node = 0;
    const uint32_t end = 1u << (p->depth + 8), step = 1u << (p->fraction + 8);
    for (int i = 0; i < p->bins; i++) {
        if (curve_has_nodes(p))
            table->nodes[i] = which == 0   ? (uint32_t)i * step
                              : which == 1 ? end - 1
                              : which == 2 ? 42 * step + 77
                                           : node;
        else if (p->depth == 8)
            table->codes8[i] = (uint8_t)any_code(p, which, i, random);
        else
            table->codes16[i] = (uint16_t)(any_code(p, which, i, random) << p->shift);
        node += (uint32_t)check_below(random, (int)step * 3);
        node = node < end ? node : end;
    }
    if (curve_has_nodes(p))
        table->nodes[p->bins] = end;
}

/* The sample by definition: nodes are interpolated in real numbers. */
static int expected_sample(const CurveTable *table, int code, const CurveParams *p, int x, int y)
{
    if (!curve_has_nodes(p))
        return p->depth == 8 ? table->codes8[code] : table->codes16[code];
    const int codes = 1 << p->fraction, bin = code / codes, last = (1 << p->depth) - 1;
    const double from = table->nodes[bin], to = table->nodes[bin + 1];
    const double value = from + (to - from) * (code % codes) / codes;
    const int rounded = (int)floor((value + added_at(p, x, y)) / 256);
    return (rounded < last ? rounded : last) << p->shift;
}

/* The rectangle begins at row `first` of the picture. */
static void run_apply(const LumeqKernels *kernels, const CheckRect *src, const CheckRect *dst,
                      int first, const CurveTable *table, const CurveParams *p)
{
    const int deep = p->depth > 8;
    LumeqApplyKernel *const nodes = deep ? kernels->nodes16 : kernels->nodes8;
    LumeqApplyKernel *const codes = deep ? kernels->apply16 : kernels->apply8;
    (curve_has_nodes(p) ? nodes : codes)(dst->pixels, dst->stride, src->pixels, src->stride,
                                         src->width / sample_size(p), src->height, first, table, p);
}

static void check_apply(const char *name, const LumeqKernels *kernels, const CheckRect *src,
                        const CheckRect *dst, int first, const CurveTable *table,
                        const CurveParams *p)
{
    const int size = sample_size(p);
    run_apply(kernels, src, dst, first, table, p);
    int wrong = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x += size)
            wrong += sample_at(dst, x, y, p->depth) !=
                     expected_sample(table, code_at(src, x, y, p->depth, p->shift), p, x / size,
                                     first + y);
    CHECK(!wrong,
          "%s: apply to %d bytes x %d, depth %d, shift %d, dither %d, strides %td and %td: %d "
          "wrong",
          name, src->width, src->height, p->depth, p->shift, p->dither, src->stride, dst->stride,
          wrong);
    CHECK(check_rect_intact(dst), "%s: apply to %d bytes x %d, strides %td and %td: writes outside",
          name, src->width, src->height, src->stride, dst->stride);
}

static CurveParams any_params_of(Format format, CheckRandom *random)
{
    CurveParams p = params_of(format, LUMEQ_RANGE_FULL);
    p.dither = check_below(random, 2);
    p.frame = (uint32_t)check_below(random, 1000);
    return p;
}

/* Checks the kernels on any bytes as samples of any depth, including malformed samples. */
static void check_rects(const char *name, const LumeqKernels *kernels, int width, int height,
                        int offset, CheckRandom *random)
{
    static CurveTable table;
    const Picture picture = (Picture)check_below(random, PICTURE_COUNT);
    const CurveParams p = any_params_of(formats[check_below(random, FORMATS)], random);
    const int size = sample_size(&p), other = check_below(random, 2) ? offset : offset / 3;
    CheckRect src =
        check_rect(width * size, height, any_stride(random, width) * size, offset * size, 0);
    CheckRect dst =
        check_rect(width * size, height, any_stride(random, width) * size, other * size, GUARD);
    picture_fill(&src, picture, (uint64_t)check_below(random, 1 << 16));
    check_histogram(name, kernels, &src, &p);
    fill_table(&table, &p, check_below(random, TABLES), random);
    check_apply(name, kernels, &src, &dst, check_below(random, 20), &table, &p);
    check_rect_free(&src);
    check_rect_free(&dst);
}

VARIANT_TEST(small_rectangles)
{
    CheckRandom random = check_random(1);
    for (int width = 1; width <= MAX_WIDTH; width++)
        for (int height = 1; height <= MAX_HEIGHT; height++)
            for (int offset = 0; offset < 16; offset++)
                check_rects(name, kernels, width, height, offset, &random);
}

VARIANT_TEST(large_rectangles)
{
    static const int widths[] = {127, 128, 129, 255, 256, 257, 511, 1023, 1921, 4099};
    CheckRandom random = check_random(2);
    for (int i = 0; i < (int)(sizeof(widths) / sizeof(widths[0])); i++)
        for (int n = 0; n < 8; n++)
            check_rects(name, kernels, widths[i], 1 + check_below(&random, 9),
                        check_below(&random, 64), &random);
}

VARIANT_TEST(larger_than_caches)
{
    static CurveTable table;
    CheckRandom random = check_random(5);
    CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    for (int dither = 0; dither < 2; dither++)
        for (int stride = -2112; stride <= 2112; stride += 2 * 2112) {
            FREED_BY(check_rect_free) CheckRect src = check_rect(2085, 1600, stride, 3, 0);
            FREED_BY(check_rect_free) CheckRect dst = check_rect(2085, 1600, stride, 0, GUARD);
            p.dither = dither;
            picture_fill(&src, PICTURE_NOISE, (uint64_t)stride);
            fill_table(&table, &p, 3, &random);
            check_apply(name, kernels, &src, &dst, 7, &table, &p);
        }
}

VARIANT_TEST(pictures_and_tables)
{
    static CurveTable table;
    CheckRandom random = check_random(3);
    for (int i = 0; i < PICTURE_COUNT * FORMATS; i++) {
        CurveParams p = params_of(formats[i / PICTURE_COUNT], LUMEQ_RANGE_FULL);
        CheckRect src = check_rect(202, 7, -210, 2, 0), dst = check_rect(202, 7, 210, 6, GUARD);
        picture_fill(&src, (Picture)(i % PICTURE_COUNT), 255 << 8);
        check_histogram(name, kernels, &src, &p);
        for (int t = 0; t < 2 * TABLES; t++) {
            p.dither = t / TABLES;
            p.frame = (uint32_t)i;
            fill_table(&table, &p, t % TABLES, &random);
            check_apply(name, kernels, &src, &dst, t, &table, &p);
        }
        check_rect_free(&src);
        check_rect_free(&dst);
    }
}

/* Fills with random codes from `first` to `last`. `last` occurs at least once. */
static void fill_between(uint8_t *samples, int count, int first, int last, CheckRandom *random)
{
    for (int i = 0; i < count; i++)
        samples[i] = (uint8_t)(first + check_below(random, last - first));
    samples[check_below(random, 3) ? check_below(random, count) : count - 1] = (uint8_t)last;
}

/* Each row consists of pieces with different ranges of codes. */
VARIANT_TEST(codes_between)
{
    static CurveTable table;
    CheckRandom random = check_random(6);
    CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    for (int n = 0; n < 16 * 16 * 4; n++) {
        const int from = n % 16, to = n / 16 % 16, width = 1 + check_below(&random, 4000);
        FREED_BY(check_rect_free)
        CheckRect src = check_rect(width, 3, width, check_below(&random, 32), 0);
        FREED_BY(check_rect_free)
        CheckRect dst = check_rect(width, 3, width, check_below(&random, 32), GUARD);
        picture_fill(&src, PICTURE_NOISE, (uint64_t)n);
        for (int y = 0; y < 3; y++)
            for (int x = 0, count; x < width; x += count) {
                const int any = check_below(&random, 255);
                const int first = x ? any : 16 * (from < to ? from : to);
                const int last = x ? any + 1 + check_below(&random, 255 - any)
                                   : 16 * (from < to ? to : from) + 15;
                count = check_below(&random, 2) ? 1024 : 1 + check_below(&random, 2048);
                count = count < width - x ? count : width - x;
                fill_between(check_row(&src, y) + x, count, first, last, &random);
            }
        p.dither = n & 1;
        p.frame = (uint32_t)n;
        fill_table(&table, &p, 3, &random);
        check_apply(name, kernels, &src, &dst, n, &table, &p);
    }
}

/* `memory` is five pages; only the second and the fourth are accessible. */
static void check_at_pages(const char *name, const LumeqKernels *kernels, uint8_t *memory,
                           size_t page, int width, int at_end, const CurveParams *p,
                           const CurveTable *table)
{
    const int size = sample_size(p), row = width * size;
    const size_t pitch = (size_t)(row + 3 * size), bytes = 2 * pitch + (size_t)row;
    const ptrdiff_t stride = width & 1 ? (ptrdiff_t)pitch : -(ptrdiff_t)pitch;
    const size_t first = (at_end ? page - bytes : 0) + (stride < 0 ? 2 * pitch : 0);
    CheckRect src = {memory, page, memory + page + first, stride, row, 3};
    CheckRect dst = src;
    dst.pixels += 2 * page;
    picture_fill(&src, PICTURE_NOISE, (uint64_t)width);
    check_histogram(name, kernels, &src, p);
    run_apply(kernels, &src, &dst, 0, table, p);
    const int code = code_at(&src, row - size, 2, p->depth, p->shift);
    CHECK(sample_at(&dst, row - size, 2, p->depth) == expected_sample(table, code, p, width - 1, 2),
          "%s: width %d, depth %d: the last sample is wrong", name, width, p->depth);
}

/* A picture at the start or end of the page between two inaccessible pages. */
VARIANT_TEST(nothing_beyond_is_touched)
{
    static CurveTable table;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED, "no memory"))
        return;
    for (int i = 0; i < 5; i += 2)
        mprotect(memory + (size_t)i * page, page, PROT_NONE);

    CheckRandom random = check_random(4);
    for (int f = 0; f < 2 * FORMATS; f++) {
        CurveParams p = params_of(formats[f % FORMATS], LUMEQ_RANGE_FULL);
        p.dither = f / FORMATS;
        fill_table(&table, &p, 3, &random);
        for (int width = 1; width <= 200; width++)
            for (int at_end = 0; at_end < 2; at_end++)
                check_at_pages(name, kernels, memory, page, width, at_end, &p, &table);
    }
    munmap(memory, 5 * page);
}

/* `cpu_without` removes flags, and the flags select the kernels. */
TEST(forced)
{
    LumeqKernels c, none;
    lumeq_kernels_c(&c);
    lumeq_kernels_init(&none, 0);
    CHECK(!memcmp(&c, &none, sizeof(c)), "without flags, the kernels are not plain C");
    for (unsigned mask = 0; mask < 16; mask++) {
        const unsigned flags = mask & lumeq_cpu_flags();
        const char *expected = flags & LUMEQ_CPU_AVX512  ? ", AVX-512"
                               : flags & LUMEQ_CPU_AVX2  ? ", AVX2"
                               : flags & LUMEQ_CPU_SSE42 ? ", SSE4.2"
                               : flags & LUMEQ_CPU_NEON  ? ", NEON"
                                                         : "thread";
        char text[256] = "";
        LumeqEqualizer *eq;
        const LumeqConfig config = {
            .backend = LUMEQ_BACKEND_CPU, .threads = 1, .cpu_without = ~mask};
        CHECK(lumeq_create(&eq, &config, text, sizeof(text)) == 0, "%s", text);
        const size_t length = strlen(text), end = strlen(expected);
        CHECK(length > end && !strcmp(text + length - end, expected), "mask %u: %s", mask, text);
        lumeq_destroy(&eq);
    }
}

TEST_MAIN
