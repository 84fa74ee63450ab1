/*
 * HDR on its axis of light: the transfer functions against published values, counts and curves that
 * move there and back, and dark scenes with a white paper and a lamp, live and planned.
 */
#include <math.h>
#include <stdlib.h>

#include "../check.h"
#include "../default_params.h"
#include "all_stats.h"
#include "equalizer/rule/transfer.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

#define WIDTH 160
#define HEIGHT 90

static TransferMap map;

static CurveParams params_of(LumeqTransfer transfer, int depth, int full)
{
    const LumeqImage image = {.width = WIDTH,
                              .height = HEIGHT,
                              .depth = depth,
                              .range = full ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
    CurveParams p = lumeq_sample_params(&image);
    p.transfer = (int32_t)transfer;
    return p;
}

/* Percent of the signal for light in nits, from BT.2408-7, table 1 and annex 5. */
static const struct {
    LumeqTransfer transfer;
    double nits, percent;
} levels[] = {
    {LUMEQ_TRANSFER_PQ, 1, 15.0},    {LUMEQ_TRANSFER_PQ, 10, 30.1},  {LUMEQ_TRANSFER_PQ, 26, 38.0},
    {LUMEQ_TRANSFER_PQ, 100, 50.8},  {LUMEQ_TRANSFER_PQ, 203, 58.1}, {LUMEQ_TRANSFER_HLG, 26, 38.0},
    {LUMEQ_TRANSFER_HLG, 203, 75.0},
};

TEST(published_levels)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        for (int full = 0; full < 2; full++) {
            const CurveParams p = params_of(levels[i].transfer, 12, full);
            const double range = p.white - p.black;
            const double light = pow(levels[i].nits / 203, 1 / 2.4);
            const uint32_t level = (uint32_t)lrint(levels[i].percent / 100 * range * 256);
            const double got = transfer_level(&p, level) / (range * 256);
            CHECK(fabs(got - fmin(light, 1)) < 0.006, "transfer %d: %.1f %% is %.4f, not %.4f",
                  levels[i].transfer, levels[i].percent, got, light);
        }
}

static uint64_t sum_of(const uint32_t *counts, int from, int to)
{
    uint64_t sum = 0;
    for (int i = from; i < to; i++)
        sum += counts[i];
    return sum;
}

/* No count is lost, none leaves the range, and all light above 203 nits is white. */
TEST(counts_move)
{
    static uint32_t counts[LUMEQ_MAX_BINS], memory[LUMEQ_MAX_BINS];
    for (int number = 0; number < 48; number++) {
        CheckRandom random = check_random((uint64_t)number);
        const LumeqTransfer transfer = number % 2 ? LUMEQ_TRANSFER_HLG : LUMEQ_TRANSFER_PQ;
        const CurveParams p = params_of(transfer, 8 + number / 2 % 9, number % 3 == 0);
        const int black = p.black >> p.fraction, white = (p.white >> p.fraction) + 1;
        const double paper = transfer == LUMEQ_TRANSFER_PQ ? 0.5807 : 0.75;
        const int above = black + (int)ceil(paper * (white - black)) + 1;
        for (int i = 0; i < p.bins; i++)
            counts[i] = check_below(&random, 3) ? (uint32_t)check_below(&random, 1 << 16) : 0;
        transfer_map(&p, &map);
        const uint32_t *light = transfer_counts(&p, &map, counts, memory);
        CHECK(sum_of(light, 0, black) == sum_of(counts, 0, black) &&
                  sum_of(light, black, white) == sum_of(counts, black, white) &&
                  sum_of(light, white, p.bins) == sum_of(counts, white, p.bins),
              "case %d: counts are lost", number);
        const uint64_t least = sum_of(counts, above, white);
        CHECK(light[white - 1] >= least && light[white - 1] <= least + (UINT64_C(4) << 16),
              "case %d: white has %u counts, %llu are above it", number, light[white - 1],
              (unsigned long long)least);
        const CurveParams sdr = params_of(LUMEQ_TRANSFER_SDR, 10, 0);
        CHECK(transfer_counts(&sdr, &map, counts, memory) == counts, "SDR moves");
    }
}

/* The identity stays one; other curves stay monotone, and end at 203 nits without a kink. */
TEST(curves_move_back)
{
    static uint32_t curve[LUMEQ_MAX_BINS], memory[LUMEQ_MAX_BINS];
    for (int number = 0; number < 96; number++) {
        const LumeqTransfer transfer = number % 2 ? LUMEQ_TRANSFER_HLG : LUMEQ_TRANSFER_PQ;
        const CurveParams p = params_of(transfer, 8 + number / 2 % 9, number % 3 == 0);
        const int black = p.black >> p.fraction, white = p.white >> p.fraction;
        const double paper = transfer == LUMEQ_TRANSFER_PQ ? 0.5807 : 0.75;
        const double unit = 65536.0 * (1 << p.fraction), lift = number / 24 * 4;
        for (int i = 0; i < p.bins; i++) {
            const double x = fmin(fmax((double)(i - black) / (white - black), 0), 1);
            const double moved = (1 + lift) * x / (1 + lift * x) - x;
            curve[i] = (uint32_t)lrint(unit * (i + moved * (white - black)));
        }
        transfer_map(&p, &map);
        const uint32_t *codes = transfer_curve(&p, &map, curve, memory);
        int falls = 0, moves = 0;
        double kink = 0;
        for (int i = 0; i < p.bins; i++) {
            const double place = (double)(i - black) / (white - black);
            falls += i && codes[i] < codes[i - 1];
            moves += (lift == 0 || place > paper || place < 0) && codes[i] != (uint32_t)(i * unit);
            if (place > 0.97 * paper && place < paper)
                kink = fmax(kink, fabs(codes[i] / unit - i) / (white - black));
        }
        CHECK(!falls && !moves, "case %d: %d codes fall, %d move", number, falls, moves);
        CHECK(kink < 0.006, "case %d: %.4f of the range are left just below white", number, kink);
    }
}

/* ---- whole frames ---- */

/* Codes of 10 bits, limited range. */
static const struct Scene {
    LumeqTransfer transfer;
    int dark, paper, lamp; /* the scene around its dark code; 203 and 1,000 nits */
    int low, high;         /* the scene's mean code afterwards: 14 and 20 nits */
} scenes[] = {
    {LUMEQ_TRANSFER_PQ, 196, 573, 723, 346, 384},  /* 1 nit */
    {LUMEQ_TRANSFER_HLG, 151, 721, 922, 320, 361}, /* 1 nit */
};

static void draw(uint16_t *codes, const struct Scene *s, uint64_t seed)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int noise = (int)(check_hash(seed, (uint64_t)(y * WIDTH + x)) % 3);
            const int code = s->dark - 30 + (x * 7 + y * 3) % 61 + noise - 1;
            codes[y * WIDTH + x] = (uint16_t)(x < 2 ? s->lamp : x < 4 ? s->paper : code);
        }
}

static double mean_of(const uint16_t *codes)
{
    double sum = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 4; x < WIDTH; x++)
            sum += codes[y * WIDTH + x];
    return sum / (HEIGHT * (WIDTH - 4));
}

TEST(dark_scenes_keep_highlights)
{
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        const struct Scene *s = &scenes[i];
        static uint16_t in[2][HEIGHT * WIDTH], out[HEIGHT * WIDTH];
        LumeqEqualizer *eq = NULL;
        const LumeqConfig config = {.backend = LUMEQ_BACKEND_CPU, .threads = 1};
        LumeqParams params = DEFAULT_PARAMS;
        params.transfer = s->transfer;
        CHECK(lumeq_create(&eq, &config, NULL, 0) == 0 && lumeq_set_params(eq, &params) == 0, "%s",
              lumeq_last_error(eq));
        for (int n = 0; n < 30; n++) {
            draw(in[n % 2], s, (uint64_t)n);
            const LumeqImage image = {
                .stride = {2 * WIDTH}, .width = WIDTH, .height = HEIGHT, .depth = 10};
            LumeqImage previous = image;
            LumeqFrame frame = {.in = image, .out = image, .time = n * INT64_C(40000000)};
            frame.in.plane[0] = in[n % 2];
            frame.out.plane[0] = out;
            previous.plane[0] = in[!(n % 2)];
            frame.previous = n ? &previous : NULL;
            CHECK(lumeq_process(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
        }
        for (int y = 0; y < HEIGHT; y++)
            CHECK(out[y * WIDTH] == s->lamp && abs(out[y * WIDTH + 2] - s->paper) <= 1,
                  "the lamp becomes %d, the paper %d", out[y * WIDTH], out[y * WIDTH + 2]);
        CHECK(mean_of(out) > s->low && mean_of(out) < s->high, "transfer %d: the mean becomes %.1f",
              s->transfer, mean_of(out));
        lumeq_destroy(&eq);
    }
}

TEST_MAIN
