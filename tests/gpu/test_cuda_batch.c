/* Batches (LumeqConfig.batch): many frames in a launch, the same bits as the CPU frame by frame. */
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "../equalizer/all_stats.h"
#include "open_on.h"

#define FRAMES 70
#define MOST_BYTES (644 * 364 * 2 * 3)

/* A kind of picture. */
typedef struct Format {
    int width, height, depth, shift;
    int chroma; /* planes: 0, 1 interleaved, 2 */
    int sub;    /* chroma is halved in both directions */
} Format;

static const Format formats[] = {
    {640, 360, 8, 0, 2, 1},  {640, 360, 8, 0, 1, 1},  {321, 183, 8, 0, 0, 0},
    {322, 182, 8, 0, 2, 0},  {640, 360, 10, 6, 1, 1}, {320, 180, 12, 0, 2, 1},
    {320, 180, 16, 0, 0, 0},
};

/* A way to process them. */
typedef struct Way {
    const char *name;
    LumeqMode mode, later; /* later: from the middle on */
    int reference, dither, bars;
    double strength, gamma;
} Way;

static const Way ways[] = {
    {"lifted", LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 0, 0, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"dithered", LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 0, 1, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"reference", LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 1, 0, 0, 1, 1},
    {"fixed strength", LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 0, 0, 1, 0.7, 1},
    {"stretch", LUMEQ_MODE_STRETCH, LUMEQ_MODE_STRETCH, 0, 0, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"clahe", LUMEQ_MODE_CLAHE, LUMEQ_MODE_CLAHE, 0, 0, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"clahe, dithered", LUMEQ_MODE_CLAHE, LUMEQ_MODE_CLAHE, 0, 1, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"clahe reference", LUMEQ_MODE_CLAHE, LUMEQ_MODE_CLAHE, 1, 0, 0, 1, 1},
    {"off with gamma", LUMEQ_MODE_OFF, LUMEQ_MODE_OFF, 0, 0, 1, 1, 1.4},
    {"haze", LUMEQ_MODE_HAZE, LUMEQ_MODE_HAZE, 0, 0, 1, LUMEQ_STRENGTH_AUTO, 1},
    {"clahe, then haze", LUMEQ_MODE_CLAHE, LUMEQ_MODE_HAZE, 0, 0, 1, 0.7, 1},
};

/* A film: inputs on the host, and where the GPU reads and writes. */
typedef struct Film {
    const Format *format;
    int on_device; /* CUDA memory; otherwise pinned memory */
    int previous;  /* frames come with the one before */
    size_t size;
    uint8_t *in[FRAMES], *gpu_in[FRAMES], *gpu_out[FRAMES];
} Film;

static size_t sample_size(const Format *f)
{
    return f->depth > 8 ? 2 : 1;
}

static ptrdiff_t stride_of(const Format *f)
{
    return (f->width + 15) / 16 * 16 * (ptrdiff_t)sample_size(f);
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
                        .depth = f->depth,
                        .shift = f->shift,
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

static void put_sample(const Format *f, uint8_t *memory, size_t at, uint32_t code)
{
    const uint16_t sample = (uint16_t)(code << (f->depth - 8) << f->shift);
    memcpy(memory + at * sample_size(f), &sample, sample_size(f)); /* little-endian */
}

/* A scene of some frames: dark, dull or light, with noise, sometimes between bars. */
static void draw(const Format *f, uint8_t *memory, int n)
{
    const int scene = n / 9, row = (int)(stride_of(f) / (ptrdiff_t)sample_size(f));
    const int base = 20 + (int)(check_hash(check_state.seed, (uint64_t)scene) % 120);
    const int range = 10 + (int)(check_hash(check_state.seed + 1, (uint64_t)scene) % 90);
    const int noise = 1 + scene % 5, bars = scene % 3 == 1 ? f->height / 8 / 4 * 4 : 0;
    const size_t all = bytes_of(f) / sample_size(f);
    for (size_t i = 0; i < all; i++) {
        const int y = (int)(i / (size_t)row), x = (int)(i % (size_t)row);
        const uint64_t random = check_hash(check_state.seed + (uint64_t)n, i);
        int code =
            base + (x + y + n) * range / (f->width + f->height) + (int)(random % (uint64_t)noise);
        if (y >= f->height)
            code = 128 + (int)(random % 60) - 30;
        else if (y < bars || y >= f->height - bars)
            code = 16;
        put_sample(f, memory, i, (uint32_t)(code > 235 ? 235 : code));
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
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.mode = n >= FRAMES / 2 ? way->later : way->mode;
    params.reference = way->reference;
    params.dither = way->dither;
    params.strength = way->strength;
    params.gamma = way->gamma;
    params.bars = way->bars ? LUMEQ_BARS_AUTO : LUMEQ_BARS_IGNORE;
    if (n >= FRAMES / 2 && !way->reference)
        params.smooth = 2; /* a change in the middle */
    CHECK(lumeq_set_params(eq, &params) == 0, "%s: %s", way->name, lumeq_last_error(eq));
}

static LumeqFrame frame_of(const Film *film, uint8_t *const *in, uint8_t *out, int on_device, int n,
                           LumeqImage *previous)
{
    const Format *f = film->format;
    LumeqFrame frame = {.size = sizeof(frame),
                        .in = image_of(f, in[n], on_device),
                        .out = image_of(f, out, on_device),
                        .number = n,
                        .time = n * INT64_C(33333333) + n % 3}; /* like times in milliseconds */
    if (film->previous && n) {
        *previous = image_of(f, in[n - 1], on_device);
        frame.previous = previous;
    }
    return frame;
}

/* Compares a received frame with the CPU's. */
static void compare(const Film *film, LumeqEqualizer *cpu, const FrameStats *stats, const Way *way,
                    int n)
{
    static uint8_t expected[MOST_BYTES], got[MOST_BYTES];
    static FrameStats right;
    LumeqImage previous;
    set_params(cpu, way, n);
    memset(expected, 0, film->size);
    LumeqFrame frame = frame_of(film, film->in, expected, 0, n, &previous);
    CHECK(lumeq_process(cpu, &frame, ask_stats(&right)) == 0, "%s", lumeq_last_error(cpu));
    CHECK(!cudaMemcpy(got, film->gpu_out[n], film->size, cudaMemcpyDefault), "CUDA does not copy");
    const Format *f = film->format;
    CHECK(!memcmp(got, expected, film->size),
          "%s, %dx%d, %d bits, %d chroma planes: frame %d differs", way->name, f->width, f->height,
          f->depth, f->chroma, n);
    CHECK(same_stats(stats, &right), "%s, %dx%d, %d bits: the statistics of frame %d differ",
          way->name, f->width, f->height, f->depth, n);
}

static void play(const Film *film, LumeqEqualizer *gpu, LumeqEqualizer *cpu, const Way *way)
{
    static FrameStats stats;
    int submitted = 0, received = 0, most = 0;
    lumeq_reset(gpu);
    lumeq_reset(cpu);
    while (received < FRAMES) {
        LumeqImage previous;
        int ret = LUMEQ_ERR_AGAIN;
        if (submitted < FRAMES && submitted - received < 50) {
            set_params(gpu, way, submitted);
            const LumeqFrame frame = frame_of(film, film->gpu_in, film->gpu_out[submitted],
                                              film->on_device, submitted, &previous);
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
        Film film = {.format = &formats[i / 3], .on_device = i % 3 != 1, .previous = i % 3 != 2};
        if (open_film(&film, gpu) == 0)
            for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
                if (!ways[k].reference || film.format->depth == 8)
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
