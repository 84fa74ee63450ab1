/* Batches (LumeqConfig.batch): many frames of the reference in a launch, the same bits as the CPU
 * frame by frame. */
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "../equalizer/all_stats.h"
#include "open_on.h"

#define FRAMES 70
#define MOST_BYTES (644 * 364 * 3)

/* A kind of picture, of 8 bits. */
typedef struct Format {
    int width, height;
    int chroma; /* planes: 0, 1 interleaved, 2 */
    int sub;    /* chroma is halved in both directions */
} Format;

static const Format formats[] = {
    {640, 360, 2, 1}, {640, 360, 1, 1}, {321, 183, 0, 0}, {322, 182, 2, 0}};

/* A way to process them; `later`: from the middle on. */
typedef struct Way {
    const char *name;
    LumeqMode mode, later;
    int reference_later;
} Way;

static const Way ways[] = {
    {"reference", LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 1},
    {"clahe, then global", LUMEQ_MODE_CLAHE, LUMEQ_MODE_GLOBAL, 1},
    {"clahe, then no reference", LUMEQ_MODE_CLAHE, LUMEQ_MODE_GLOBAL, 0},
};

/* A film: inputs on the host, and where the GPU reads and writes. */
typedef struct Film {
    const Format *format;
    int on_device; /* CUDA memory; otherwise pinned memory */
    size_t size;
    uint8_t *in[FRAMES], *gpu_in[FRAMES], *gpu_out[FRAMES];
} Film;

static ptrdiff_t stride_of(const Format *f)
{
    return (f->width + 15) / 16 * 16;
}

static size_t bytes_of(const Format *f)
{
    return (size_t)stride_of(f) * (size_t)f->height * (f->chroma ? 3 : 1);
}

static LumeqImage image_of(const Format *f, uint8_t *memory, int on_device)
{
    const ptrdiff_t stride = stride_of(f);
    LumeqImage image = {.width = f->width,
                        .height = f->height,
                        .depth = 8,
                        .chroma_x = f->sub,
                        .chroma_y = f->sub,
                        .memory = on_device ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST};
    image.plane[0] = memory;
    image.stride[0] = stride;
    for (int i = 1; i <= f->chroma; i++) {
        image.plane[i] = memory + i * stride * f->height;
        image.stride[i] = stride;
    }
    return image;
}

/* A scene of some frames: dark, dull or light, with noise, sometimes between bars. */
static void draw(const Format *f, uint8_t *memory, int n)
{
    const int scene = n / 9, row = (int)stride_of(f);
    const int base = 20 + (int)(check_hash(check_state.seed, (uint64_t)scene) % 120);
    const int range = 10 + (int)(check_hash(check_state.seed + 1, (uint64_t)scene) % 90);
    const int noise = 1 + scene % 5, bars = scene % 3 == 1 ? f->height / 8 / 4 * 4 : 0;
    for (size_t i = 0; i < bytes_of(f); i++) {
        const int y = (int)(i / (size_t)row), x = (int)(i % (size_t)row);
        const uint64_t random = check_hash(check_state.seed + (uint64_t)n, i);
        int code =
            base + (x + y + n) * range / (f->width + f->height) + (int)(random % (uint64_t)noise);
        if (y >= f->height)
            code = 128 + (int)(random % 60) - 30;
        else if (y < bars || y >= f->height - bars)
            code = 16;
        memory[i] = (uint8_t)(code > 235 ? 235 : code);
    }
}

static int open_film(Film *film, LumeqEqualizer *gpu)
{
    film->size = bytes_of(film->format);
    for (int i = 0; i < FRAMES; i++) {
        film->in[i] = malloc(film->size);
        film->gpu_in[i] = film->on_device ? lumeq_alloc_device(gpu, film->size)
                                          : lumeq_alloc_host(gpu, film->size);
        film->gpu_out[i] = film->on_device ? lumeq_alloc_device(gpu, film->size)
                                           : lumeq_alloc_host(gpu, film->size);
        if (!CHECK(film->in[i] && film->gpu_in[i] && film->gpu_out[i], "no memory"))
            return -1;
        draw(film->format, film->in[i], i);
        CHECK(!cudaMemcpy(film->gpu_in[i], film->in[i], film->size, cudaMemcpyDefault) &&
                  !cudaMemset(film->gpu_out[i], 0, film->size),
              "CUDA does not copy");
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : -1;
}

static void close_film(Film *film, LumeqEqualizer *gpu)
{
    for (int i = 0; i < FRAMES; i++) {
        free(film->in[i]);
        if (film->on_device) {
            lumeq_free_device(gpu, film->gpu_in[i]);
            lumeq_free_device(gpu, film->gpu_out[i]);
        } else {
            lumeq_free_host(gpu, film->gpu_in[i]);
            lumeq_free_host(gpu, film->gpu_out[i]);
        }
    }
}

static void set_params(LumeqEqualizer *eq, const Way *way, int n)
{
    const int late = n >= FRAMES / 2;
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.mode = late ? way->later : way->mode;
    params.reference = late ? way->reference_later : 1;
    CHECK(lumeq_set_params(eq, &params) == 0, "%s: %s", way->name, lumeq_last_error(eq));
}

static LumeqFrame frame_of(const Film *film, uint8_t *in, uint8_t *out, int on_device, int n)
{
    return (LumeqFrame){.size = sizeof(LumeqFrame),
                        .in = image_of(film->format, in, on_device),
                        .out = image_of(film->format, out, on_device),
                        .number = n,
                        .time = n * INT64_C(33333333)};
}

/* Compares a received frame with the CPU's. */
static void compare(const Film *film, LumeqEqualizer *cpu, const FrameStats *stats, const Way *way,
                    int n)
{
    static uint8_t expected[MOST_BYTES], got[MOST_BYTES];
    static FrameStats right;
    set_params(cpu, way, n);
    memset(expected, 0, film->size);
    LumeqFrame frame = frame_of(film, film->in[n], expected, 0, n);
    CHECK(lumeq_process(cpu, &frame, ask_stats(&right)) == 0, "%s", lumeq_last_error(cpu));
    CHECK(!cudaMemcpy(got, film->gpu_out[n], film->size, cudaMemcpyDefault), "CUDA does not copy");
    const Format *f = film->format;
    CHECK(!memcmp(got, expected, film->size), "%s, %dx%d, %d chroma planes: frame %d differs",
          way->name, f->width, f->height, f->chroma, n);
    CHECK(same_stats(stats, &right), "%s, %dx%d: the statistics of frame %d differ", way->name,
          f->width, f->height, n);
}

static void play(const Film *film, LumeqEqualizer *gpu, LumeqEqualizer *cpu, const Way *way)
{
    static FrameStats stats;
    int submitted = 0, received = 0, most = 0;
    lumeq_reset(gpu);
    lumeq_reset(cpu);
    while (received < FRAMES) {
        int ret = LUMEQ_ERR_AGAIN;
        if (submitted < FRAMES && submitted - received < 50) {
            set_params(gpu, way, submitted);
            const LumeqFrame frame = frame_of(film, film->gpu_in[submitted],
                                              film->gpu_out[submitted], film->on_device, submitted);
            ret = lumeq_submit(gpu, &frame);
            CHECK(ret == 0 || ret == LUMEQ_ERR_AGAIN, "%s", lumeq_last_error(gpu));
            submitted += ret == 0;
        }
        if (submitted == FRAMES)
            lumeq_flush(gpu);
        most = submitted - received > most ? submitted - received : most;
        if (ret == 0 && submitted < FRAMES)
            continue;
        if (!CHECK(lumeq_receive(gpu, NULL, ask_stats(&stats)) == 0, "%s: %s", way->name,
                   lumeq_last_error(gpu)))
            return;
        compare(film, cpu, &stats, way, received++);
    }
    CHECK(most > 3, "at most %d frames were in flight", most);
}

TEST(same_bits)
{
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int count = (int)(sizeof(formats) / sizeof(*formats)) * 3;
    const int cases = wanted && atoi(wanted) < count ? atoi(wanted) : count;
    FREED_BY(lumeq_destroy) LumeqEqualizer *cpu = open_on(LUMEQ_BACKEND_CPU);
    for (int i = 0; i < cases; i++) {
        static const int batches[] = {16, 5, 16};
        LumeqEqualizer *gpu = NULL;
        const LumeqConfig config = {.size = sizeof(config),
                                    .backend = LUMEQ_BACKEND_CUDA,
                                    .no_stage_times = i % 3 == 0,
                                    .batch = batches[i % 3]};
        char why[256] = "";
        const int ret = lumeq_create(&gpu, &config, why, sizeof(why));
        if (ret == LUMEQ_ERR_UNAVAILABLE) {
            check_skip("%s", why);
            return;
        }
        if (!CHECK(ret == 0, "create answers %d: %s", ret, why))
            return;
        Film film = {.format = &formats[i / 3], .on_device = i % 3 != 1};
        if (open_film(&film, gpu) == 0)
            for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
                play(&film, gpu, cpu, &ways[k]);
        close_film(&film, gpu);
        lumeq_destroy(&gpu);
    }
}

TEST(sizes_are_checked)
{
    LumeqEqualizer *eq = NULL;
    char why[256] = "";
    const LumeqConfig config = {.size = sizeof(config), .batch = LUMEQ_MAX_BATCH + 1};
    CHECK(lumeq_create(&eq, &config, why, sizeof(why)) == LUMEQ_ERR_ARGUMENT && strstr(why, "16"),
          "the sentence is \"%s\"", why);
}

TEST_MAIN
