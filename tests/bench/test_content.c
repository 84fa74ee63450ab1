/* The library lifts the generated picture "dark" and leaves "exposed" untouched. */
#include "../check.h"

#include <math.h>
#include <stdlib.h>

#include "bench/content.h"
#include "lumeq/lumeq.h"

#define FRAMES 4

/* Equalizes frames with different grain. Returns the last frame's statistics. */
static LumeqFrameStats made_of(BenchContent content, int width, int height, int depth)
{
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1};
    const size_t row = (size_t)width * (depth > 8 ? 2 : 1), size = row * (size_t)height;
    uint8_t *memory = calloc(FRAMES + 1, size);
    LumeqFrameStats stats = {.size = sizeof(stats)};
    LumeqEqualizer *eq = NULL;
    CHECK(memory && lumeq_create(&eq, &config, NULL, 0) == 0, "no equalizer");
    for (int i = 0; memory && eq && i < FRAMES; i++) {
        const BenchPicture picture = {memory + (size_t)i * size, width, height, depth};
        LumeqImage in = {.plane = {picture.luma},
                         .stride = {(ptrdiff_t)row},
                         .width = width,
                         .height = height,
                         .depth = depth};
        LumeqImage out = in, previous = in;
        out.plane[0] = memory + FRAMES * size;
        previous.plane[0] = memory + (size_t)(i ? i - 1 : 0) * size;
        LumeqFrame frame = {.size = sizeof(frame),
                            .in = in,
                            .out = out,
                            .time = i * INT64_C(40000000),
                            .previous = i ? &previous : NULL};
        bench_fill(&picture, content, (uint64_t)i + 1);
        CHECK(lumeq_process(eq, &frame, &stats) == 0, "%s", lumeq_last_error(eq));
    }
    lumeq_destroy(&eq);
    free(memory);
    return stats;
}

TEST(contents)
{
    static const int of[][3] = {{160, 90, 8}, {640, 360, 10}, {1280, 720, 8}, {1920, 1080, 8}};
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        const int width = of[i][0], height = of[i][1];
        const LumeqFrameStats exposed = made_of(BENCH_EXPOSED, width, height, of[i][2]);
        CHECK(!exposed.filtered && exposed.lift < 1.01 && exposed.strength < 0.15 &&
                  fabs(exposed.mean_out - exposed.mean_in) < 1.5 * (1 << (of[i][2] - 8)),
              "%dx%d: filtered %d, lifted by %g, equalized by %g, mean %g to %g", width, height,
              exposed.filtered, exposed.lift, exposed.strength, exposed.mean_in, exposed.mean_out);
        const LumeqFrameStats dark = made_of(BENCH_DARK, width, height, of[i][2]);
        CHECK(dark.filtered && dark.lift > 1.1, "%dx%d: filtered %d, lifted by %g", width, height,
              dark.filtered, dark.lift);
    }
}

TEST_MAIN
