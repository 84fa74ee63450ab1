/* A frame that is refused after it was measured, because memory runs out, leaves no trace in the
 * curve or the bars. */
#include "../check.h"
#include "../default_params.h"
#include "all_stats.h"

#define WIDTH 96
#define HEIGHT 64
#define BAR 16
#define LUMA (WIDTH * HEIGHT)
#define SIZE (LUMA * 3 / 2)
#define FRAMES 40
#define FULL 10 /* frames without bars, before those with bars that are not confirmed yet */

static int no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

static LumeqImage in_two_planes(uint8_t *memory)
{
    return (LumeqImage){.plane = {memory, memory + LUMA},
                        .stride = {WIDTH, WIDTH},
                        .width = WIDTH,
                        .height = HEIGHT,
                        .chroma_x = 1,
                        .chroma_y = 1,
                        .depth = 8};
}

static LumeqImage in_three_planes(uint8_t *memory)
{
    LumeqImage image = in_two_planes(memory);
    image.plane[2] = memory + LUMA + LUMA / 4;
    image.stride[1] = image.stride[2] = WIDTH / 2;
    return image;
}

/* Brighter with every frame. */
static void paint(uint8_t *memory, int n, int bar)
{
    memset(memory, 128, SIZE);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            memory[y * WIDTH + x] =
                (uint8_t)(y < bar || y >= HEIGHT - bar ? 16 : 60 + n + (x * 7 + y * 3) % 60);
}

/* Submits a frame without bars and with another picture. */
static void refuse(LumeqEqualizer *eq, int n)
{
    static uint8_t in[SIZE], out[SIZE];
    paint(in, 90 - n, 0);
    const LumeqFrame frame = {
        .in = in_two_planes(in), .out = in_three_planes(out), .time = INT64_C(40000000) * n};
    no_memory = 1;
    const int ret = lumeq_submit(eq, &frame);
    no_memory = 0;
    CHECK(ret == LUMEQ_ERR_MEMORY && !strcmp(lumeq_last_error(eq), "no memory for the output"),
          "submit answers %d: %s", ret, lumeq_last_error(eq));
}

/* A CPU that was chosen first replaces no GPU. */
static void note(void *user, LumeqLogLevel level, const char *text)
{
    (void)user;
    CHECK(level == LUMEQ_LOG_INFO, "%s", text);
}

typedef struct Film {
    uint8_t out[FRAMES][SIZE];
    FrameStats stats[FRAMES];
} Film;

static void play(Film *film, LumeqMode mode, int refusing)
{
    static uint8_t in[SIZE];
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CPU, .threads = 1, .log = note};
    LumeqParams params = DEFAULT_PARAMS;
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = NULL;
    params.mode = mode;
    params.lift = 0; /* the filter needs no such memory */
    params.tiles_x = params.tiles_y = 2;
    if (!CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "create"))
        return;
    CHECK(lumeq_set_params(eq, &params) == 0, "%s", lumeq_last_error(eq));
    for (int n = 0; n < FRAMES; n++) {
        paint(in, n, n < FULL ? 0 : BAR);
        const LumeqFrame frame = {.in = in_two_planes(in),
                                  .out = in_two_planes(film->out[n]),
                                  .time = INT64_C(40000000) * n};
        if (refusing && n > 0)
            refuse(eq, n);
        CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
        CHECK(lumeq_receive(eq, NULL, ask_stats(&film->stats[n])) == 0, "%s", lumeq_last_error(eq));
    }
}

TEST(leaves_nothing_behind)
{
    static Film without, with;
    for (LumeqMode mode = LUMEQ_MODE_GLOBAL; mode <= LUMEQ_MODE_STRETCH; mode++) {
        play(&without, mode, 0);
        play(&with, mode, 1);
        const LumeqRect first = with.stats[0].values.active,
                        last = with.stats[FRAMES - 1].values.active;
        CHECK(first.height == HEIGHT && last.height == HEIGHT - 2 * BAR,
              "mode %d: %d and %d rows: no bars came", mode, first.height, last.height);
        for (int n = 0; n < FRAMES; n++) {
            CHECK(same_stats(&without.stats[n], &with.stats[n]),
                  "mode %d: frame %d is measured otherwise", mode, n);
            CHECK(!memcmp(without.out[n], with.out[n], SIZE), "mode %d: frame %d differs", mode, n);
        }
    }
}

TEST_MAIN
