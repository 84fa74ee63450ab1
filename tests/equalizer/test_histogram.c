/* The CPU's histograms in special code paths: large pictures, few codes, and counters that
 * overflow. */
#include "variants.h"

/* More samples of one code than 8 or 16 bits can count, in one row and in the picture. */
VARIANT_TEST(large_counts)
{
    static const struct {
        int width, height, code;
    } flats[] = {{65535, 2, 0}, {65535, 40, 255}, {300, 300, 128}, {1, 300, 1}, {4096, 33, 254}};
    for (int i = 0; i < (int)(sizeof(flats) / sizeof(flats[0])); i++) {
        FREED_BY(check_rect_free)
        CheckRect src = check_rect(flats[i].width, flats[i].height, flats[i].width, 0, 0);
        picture_fill(&src, PICTURE_FLAT, (uint64_t)flats[i].code);
        for (int f = 0; f < FORMATS && (f == 0 || src.width % 2 == 0); f++) {
            const CurveParams p = params_of(formats[f], LUMEQ_RANGE_FULL);
            check_histogram(name, kernels, &src, &p);
        }
    }
}

/* Pictures just above and just below the size at which another code path begins. */
VARIANT_TEST(large_pictures)
{
    static const struct {
        int width, height, stride;
    } sizes[] = {{1031, 299, -1040}, {4127, 67, 4127}, {512, 512, 513}, {511, 512, -511}};
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    for (int i = 0; i < (int)(sizeof(sizes) / sizeof(sizes[0])); i++)
        for (int picture = 0; picture < PICTURE_COUNT; picture++) {
            FREED_BY(check_rect_free)
            CheckRect src = check_rect(sizes[i].width, sizes[i].height, sizes[i].stride, i, 0);
            picture_fill(&src, (Picture)picture, 200 << 8 | 60);
            check_histogram(name, kernels, &src, &p);
        }
}

/* The left half of each row has one code, the right half another, so samples 32 apart always differ
 * and most neighbours are equal. With 4096 rows, counters of 8 and 16 bits return to 0. */
static void check_two_codes(const char *name, const LumeqKernels *kernels, int code, int other,
                            int height)
{
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    FREED_BY(check_rect_free) CheckRect src = check_rect(64, height, 64, 0, 0);
    for (int y = 0; y < height; y++) {
        memset(check_row(&src, y), code, 32);
        memset(check_row(&src, y) + 32, other, 32);
    }
    check_histogram(name, kernels, &src, &p);
}

VARIANT_TEST(meetings_of_two_codes)
{
    static const int apart[] = {1, 2, 127, 128, 129, 254, 255};
    for (int i = 0; i < (int)(sizeof(apart) / sizeof(apart[0])); i++)
        for (int code = 0; code < 256; code += 51)
            for (int more = -1; more <= 1; more++)
                check_two_codes(name, kernels, code, (code + apart[i]) & 255, 4096 + more);
}

/* Among random rows, some rows have only two distant codes, so that counters overflow or just fill
 * up. */
VARIANT_TEST(crowds)
{
    static const struct {
        int from, rows;
    } crowds[] = {{0, 2}, {16, 1}, {160, 2}, {160, 600}, {1000, 40}};
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    for (int i = 0; i < (int)(sizeof(crowds) / sizeof(crowds[0])); i++) {
        FREED_BY(check_rect_free) CheckRect src = check_rect(1024, 3400, 1024, 0, 0);
        picture_fill(&src, PICTURE_NOISE, (uint64_t)i);
        for (int y = crowds[i].from; y < crowds[i].from + crowds[i].rows; y++)
            for (int x = 0; x < src.width; x++)
                check_row(&src, y)[x] = x % 64 < 32 ? 3 : 203;
        check_histogram(name, kernels, &src, &p);
    }
}

/* One pair of codes occurs 250 to 260 times, because a byte counts up to 255. */
VARIANT_TEST(full_counters)
{
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    for (int code = 0; code < 4; code++)
        for (int times = 250; times <= 260; times++) {
            FREED_BY(check_rect_free) CheckRect src = check_rect(4096, 64, 4096, 0, 0);
            for (int y = 0; y < src.height; y++)
                for (int x = 0; x < src.width; x++)
                    check_row(&src, y)[x] = (uint8_t)(x % 64 < 32 ? 8 * y % 256 : x / 64 * 2);
            for (int n = 0; n < times; n++) {
                uint8_t *const pair = check_row(&src, n / 64) + n % 64 * 64 + 7;
                pair[0] = (uint8_t)(252 + code);
                pair[32] = (uint8_t)(100 + code);
            }
            check_histogram(name, kernels, &src, &p);
        }
}

/* Fills with random codes from `first` to `first` + `span` - 1. */
static void fill_codes(const CheckRect *rect, int first, int span, CheckRandom *random)
{
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++)
            check_row(rect, y)[x] = (uint8_t)(first + check_below(random, span));
}

/* Pictures with 1 to 90 neighbouring codes. The last code occurs at least once. */
VARIANT_TEST(few_codes)
{
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    CheckRandom random = check_random(5);
    FREED_BY(check_rect_free) CheckRect src = check_rect(330, 21, -331, 1, 0);
    for (int span = 1; span <= 90; span++)
        for (int first = check_below(&random, 3); first + span <= 256;
             first += 1 + check_below(&random, 9)) {
            fill_codes(&src, first, span, &random);
            const int x = check_below(&random, src.width), y = check_below(&random, src.height);
            check_row(&src, y)[x] = (uint8_t)(first + span - 1);
            check_histogram(name, kernels, &src, &p);
        }
}

/* Overlapping areas of one, few or many codes. */
VARIANT_TEST(patchwork)
{
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    CheckRandom random = check_random(6);
    for (int i = 0; i < 40; i++) {
        FREED_BY(check_rect_free) CheckRect src = check_rect(600 + 13 * i, 90, 1200, i, 0);
        for (int n = 0; n < 60; n++) {
            const int width = 1 + check_below(&random, 300), height = 1 + check_below(&random, 40);
            const int span = 1 + check_below(&random, n % 3 ? 40 : 256);
            const CheckRect part = {.pixels = check_row(&src, check_below(&random, 90 - height)) +
                                              check_below(&random, src.width - width),
                                    .stride = src.stride,
                                    .width = width,
                                    .height = height};
            fill_codes(&part, check_below(&random, 257 - span), span, &random);
        }
        check_histogram(name, kernels, &src, &p);
    }
}

/* Nearly all samples have one code: more than 16 bits can count. */
VARIANT_TEST(nearly_flat)
{
    const CurveParams p = params_of(formats[0], LUMEQ_RANGE_FULL);
    FREED_BY(check_rect_free) CheckRect src = check_rect(1920, 620, 1920, 0, 0);
    for (int code = 0; code < 256; code += 85) {
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++)
                check_row(&src, y)[x] = (uint8_t)(x % 64 == 5 && y % 5 == 0 ? code ^ 1 : code);
        check_histogram(name, kernels, &src, &p);
    }
}

/* Tiles count codes of any depth in 256 bins. */
VARIANT_TEST(tile_bins)
{
    CheckRandom random = check_random(7);
    for (int n = 0; n < FORMATS * 200; n++) {
        CurveParams p = params_of(formats[n % FORMATS], LUMEQ_RANGE_FULL);
        p.bins = 256;
        p.fraction = p.depth - 8;
        const int width = 1 + n / FORMATS, size = sample_size(&p);
        FREED_BY(check_rect_free)
        CheckRect src = check_rect(width * size, 4, (width + n % 3) * size, size * (n % 5), 0);
        picture_fill(&src, (Picture)check_below(&random, PICTURE_COUNT), 200 << 8 | 60);
        check_histogram(name, kernels, &src, &p);
    }
}

/* Fills with codes from `first` to `first` + `span` - 1. `first` changes slowly and sometimes
 * jumps. Some codes exceed the depth. Bits below the codes are random. */
static void fill_slowly(const CheckRect *rect, const CurveParams *p, int span, CheckRandom *random)
{
    const int codes = 1 << p->depth, low = (1 << p->shift) - 1, most = (65536 >> p->shift) - span;
    int first = check_below(random, codes);
    for (int y = 0; y < rect->height; y++) {
        uint16_t *const row = (uint16_t *)(void *)check_row(rect, y);
        for (int x = 0; x < rect->width / 2; x++) {
            first += x % 64 ? 0 : check_below(random, 41) - 20;
            if (!check_below(random, 2000))
                first = check_below(random, codes + 40);
            first = first < 0 ? 0 : first < most ? first : most;
            row[x] = (uint16_t)((first + check_below(random, span)) << p->shift |
                                (check_below(random, 256) & low));
        }
    }
}

/* Similar neighbours in large pictures are counted in pairs. Differences and sizes here lie around
 * the limits for pairs. */
VARIANT_TEST(close_neighbours)
{
    static const struct {
        int width, height;
    } sizes[] = {{511, 256}, {512, 256}, {2063, 70}, {64, 2300}};
    static const int spans[] = {1, 2, 9, 31, 32, 33, 34, 64, 400};
    CheckRandom random = check_random(8);
    for (int n = 0; n < (FORMATS - 1) * 9 * 4; n++) {
        CurveParams p = params_of(formats[1 + n / 4 / 9], LUMEQ_RANGE_FULL);
        const int width = sizes[n % 4].width, height = sizes[n % 4].height;
        FREED_BY(check_rect_free)
        CheckRect src = check_rect(2 * width, height, 2 * (width + n % 3) * (n % 2 ? 1 : -1), 2, 0);
        fill_slowly(&src, &p, spans[n / 4 % 9], &random);
        check_histogram(name, kernels, &src, &p);
        p.bins = 256;
        p.fraction = p.depth - 8;
        check_histogram(name, kernels, &src, &p);
    }
}

TEST_MAIN
