/* Ordered dither: the mean of outputs is the curve, and the pattern depends only on the place and
 * the frames since a reset. */
#include <math.h>

#include "../default_params.h"
#include "variants.h"

#define SIDE 8 /* of the pattern */
#define THRESHOLDS (SIDE * SIDE)

static const LumeqParams dithered = {.strength = 1, .dither = 1, .bars = LUMEQ_BARS_IGNORE};

/* The index of a threshold, 0 to 63. Threshold i is (4 i + 2) / 256 of a code. */
static int threshold(int x, int y, int frame)
{
    const uint32_t add = curve_dither((uint32_t)x, (uint32_t)y, (uint32_t)frame);
    CHECK(add % 4 == 2 && add < 256, "a threshold of %u", add);
    return (int)add / 4;
}

/* Each threshold occurs once in each frame's pattern, and once in 64 frames at each place. */
TEST(each_threshold_once)
{
    for (int frame = -3; frame < THRESHOLDS; frame++) {
        uint64_t seen = 0;
        for (int i = 0; i < THRESHOLDS; i++)
            seen |= UINT64_C(1) << threshold(i % SIDE, i / SIDE, frame);
        CHECK(seen == UINT64_MAX, "frame %d lacks a threshold", frame);
    }
    for (int i = 0; i < THRESHOLDS; i++) {
        uint64_t seen = 0;
        for (int frame = 0; frame < THRESHOLDS; frame++)
            seen |= UINT64_C(1) << threshold(i % SIDE, i / SIDE, frame);
        CHECK(seen == UINT64_MAX, "place %d lacks a threshold", i);
    }
}

/* All codes between 60 and 139, in 8-bit codes; most are in the middle. */
static void fill_dull(const Film *f)
{
    const int unit = 1 << (f->format.depth - 8);
    for (int i = 0; i < f->width * f->height; i++) {
        const uint64_t r = check_hash(11, (uint64_t)i);
        set_code(f, i, 60 * unit + (int)(r % (40u * unit) + (r >> 20) % (40u * unit)));
    }
}

/* Over 64 frames each sample's mean is the curve's value, to within 1/64. */
BACKEND_TEST(mean_over_time)
{
    enum { WIDTH = 40, HEIGHT = 24 };
    static double sums[HEIGHT][WIDTH];
    for (int format = 0; format < FORMATS; format++) {
        FREED_BY(film_close)
        Film f = film_open(id, formats[format], LUMEQ_RANGE_LIMITED, &dithered, WIDTH, HEIGHT);
        fill_dull(&f);
        memset(sums, 0, sizeof(sums));
        for (int n = 0; n < THRESHOLDS; n++) {
            film_run(&f);
            check_stats_at(&f.stats, &f.in, &f.out, f.format.depth, f.format.shift, 1);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    sums[y][x] += out_code(&f, y * WIDTH + x);
        }
        double worst = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const double value =
                    code_on_curve(&f.stats, in_code(&f, y * WIDTH + x), f.format.depth);
                worst = fmax(worst, fabs(sums[y][x] / THRESHOLDS - value));
            }
        CHECK(worst <= 1.0 / THRESHOLDS, "depth %d: off by %g", f.format.depth, worst);
    }
}

/* The picture is still, so only the pattern changes. */
BACKEND_TEST(counts_from_a_reset)
{
    enum { COUNT = 9 };
    for (int format = 0; format < FORMATS; format++) {
        uint64_t hashes[COUNT];
        FREED_BY(film_close)
        Film f = film_open(id, formats[format], LUMEQ_RANGE_LIMITED, &dithered, 97, 61);
        fill_dull(&f);
        for (int round = 0; round < 3; round++) {
            for (int n = 0; n < COUNT - round; n++) {
                film_run(&f);
                const uint64_t hash = picture_hash(&f.out);
                if (round == 0)
                    hashes[n] = hash;
                CHECK(hash == hashes[n], "round %d: frame %d has another pattern", round, n);
                CHECK(n == 0 || hash != hashes[n - 1], "frame %d has the previous pattern", n);
            }
            lumeq_reset(f.eq);
        }
    }
}

/* Frames that are only measured or not dithered count as frames, refused frames do not. */
BACKEND_TEST(what_counts_as_a_frame)
{
    uint64_t hashes[8];
    FREED_BY(film_close) Film f = film_open(id, formats[0], LUMEQ_RANGE_LIMITED, &dithered, 97, 61);
    LumeqParams rounded = dithered;
    rounded.dither = 0;
    fill_dull(&f);
    for (int n = 0; n < 8; n++) {
        film_run(&f);
        hashes[n] = picture_hash(&f.out);
    }
    lumeq_reset(f.eq);
    for (int n = 0; n < 8; n++) {
        LumeqFrame frame = film_frame(&f), refused = frame;
        refused.in.depth = 99;
        CHECK(lumeq_submit(f.eq, &refused) == LUMEQ_ERR_ARGUMENT, "99 bits");
        if (n % 3 == 1)
            frame.out.plane[0] = NULL;
        set_params(f.eq, n % 3 == 2 ? &rounded : &dithered);
        run_frame(f.eq, &frame, NULL);
        CHECK(n % 3 || picture_hash(&f.out) == hashes[n], "frame %d has another pattern", n);
    }
}

TEST_MAIN
