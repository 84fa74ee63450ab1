/*
 * Frames in flight on the GPU, in any memory, alone or in batches: pictures and statistics equal
 * the CPU's. LUMEQ_TEST_CASES sets the number of films.
 */
#include <math.h>

#include "../equalizer/all_stats.h"
#include "gpu_check.h"

#define FRAMES 70
#define MOST_FLIGHTS FRAMES
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef enum Where { PAGEABLE, PINNED, ON_DEVICE } Where;

/* An 8-bit format. */
typedef struct Format {
    int width, height;
    int chroma; /* number of chroma planes; 1: interleaved */
    int sub;    /* log2 of the chroma subsampling */
} Format;

/* A film and its parameters, for the first and the second half. */
typedef struct Film {
    Where where;
    int batch, no_times;
    Format format; /* width 0: formats change, and most frames have a previous frame */
    LumeqMode mode, later;
    int reference, reference_later;
} Film;

#define REFERENCE(format)                                                                          \
    {ON_DEVICE, 16, 1, format, LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL, 1, 1},                        \
        {PINNED, 5, 0, format, LUMEQ_MODE_CLAHE, LUMEQ_MODE_GLOBAL, 1, 1},                         \
    {                                                                                              \
        ON_DEVICE, 16, 0, format, LUMEQ_MODE_CLAHE, LUMEQ_MODE_GLOBAL, 1, 0                        \
    }

#define FORMAT(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const Film films[] = {
    {.where = PAGEABLE},
    {.where = PINNED},
    {.where = ON_DEVICE, .mode = LUMEQ_MODE_HAZE},
    {.where = PINNED, .no_times = 1, .later = LUMEQ_MODE_CLAHE},
    {.where = PAGEABLE, .batch = 3, .later = LUMEQ_MODE_HAZE},
    {.where = PINNED, .batch = 16, .mode = LUMEQ_MODE_CLAHE},
    {.where = ON_DEVICE, .batch = 16, .no_times = 1},
    {ON_DEVICE, 16, 1, {640, 360, 2, 1}, LUMEQ_MODE_GLOBAL, LUMEQ_MODE_HAZE, 0, 0},
    {PINNED, 16, 0, {322, 182, 1, 1}, LUMEQ_MODE_GLOBAL, LUMEQ_MODE_CLAHE, 0, 1},
    REFERENCE(FORMAT(640, 360, 2, 1)),
    REFERENCE(FORMAT(640, 360, 1, 1)),
    REFERENCE(FORMAT(321, 183, 0, 0)),
    REFERENCE(FORMAT(322, 182, 2, 0)),
};

static Format format_of(const Film *film, int n)
{
    static const int sizes[][2] = {{320, 180}, {321, 181}, {417, 233}, {515, 301}, {64, 48}};
    const int *size = sizes[n / 8 % COUNT(sizes)];
    return film->format.width ? film->format : (Format){size[0], size[1], n % 4 ? 2 : 0, 1};
}

static ptrdiff_t stride_of(const Film *film, const Format *f)
{
    return film->format.width ? (f->width + 15) / 16 * 16 : f->width + 3;
}

static size_t bytes_of(const Film *film, int n)
{
    const Format f = format_of(film, n);
    return (size_t)stride_of(film, &f) * (size_t)f.height * (size_t)(1 + f.chroma);
}

/* `up`: luma is bottom up if formats change. */
static LumeqImage image_of(const Film *film, uint8_t *memory, Where where, int n, int up)
{
    const Format f = format_of(film, n);
    const ptrdiff_t stride = stride_of(film, &f), size = stride * f.height;
    LumeqImage image = {.plane = {memory},
                        .stride = {stride},
                        .width = f.width,
                        .height = f.height,
                        .depth = 8,
                        .chroma_x = f.sub,
                        .chroma_y = f.sub,
                        .memory = where == ON_DEVICE ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST};
    if (up && !film->format.width) {
        image.plane[0] = memory + size - stride;
        image.stride[0] = -stride;
    }
    for (int i = 1; i <= f.chroma; i++) {
        image.plane[i] = memory + i * size;
        image.stride[i] = stride;
    }
    return image;
}

/* Scenes of eight frames: dark, dull or light, with noise, sometimes between bars or tinted. */
static void draw(const Film *film, uint8_t *memory, int n)
{
    const Format f = format_of(film, n);
    const uint64_t seed = check_state.seed, scene = check_hash(seed, (uint64_t)(n / 8));
    const int row = (int)stride_of(film, &f), bars = scene % 3 ? 0 : f.height / 8 / 4 * 4;
    const int base = 20 + (int)(scene >> 8 & 127), range = 10 + (int)(scene >> 16 & 63);
    const int tint = 98 + (int)(scene >> 24 & 3) * 12; /* chroma: gray, or as in haze */
    for (size_t i = 0; i < bytes_of(film, n); i++) {
        const int y = (int)(i / (size_t)row), x = (int)(i % (size_t)row);
        const int noise = (int)(check_hash(seed + (uint64_t)n, i) % 60);
        const int code = base + (x + y) * range / (f.width + f.height) + noise % (1 + n / 8 % 5);
        memory[i] = (uint8_t)(y >= f.height                      ? tint + noise
                              : y < bars || y >= f.height - bars ? 16
                                                                 : code);
    }
}

static uint8_t *get(LumeqEqualizer *eq, Where where, size_t size)
{
    uint8_t *memory = where == PAGEABLE    ? malloc(size)
                      : where == ON_DEVICE ? lumeq_alloc_device(lumeq_get_context(eq), size)
                                           : lumeq_alloc_host(lumeq_get_context(eq), size);
    if (!CHECK(memory != NULL, "no memory"))
        exit(1);
    return memory;
}

static void put(LumeqEqualizer *eq, Where where, uint8_t *memory)
{
    if (where == PAGEABLE)
        free(memory);
    else if (where == ON_DEVICE)
        lumeq_free_device(lumeq_get_context(eq), memory);
    else
        lumeq_free_host(lumeq_get_context(eq), memory);
}

/* An equalizer and the memory of its frames. */
typedef struct Side {
    LumeqEqualizer *eq;
    Where where;
    uint8_t *in[FRAMES], *out[FRAMES];
} Side;

static void open_frames(Side *side, const Film *film, const Side *from)
{
    for (int n = 0; n < FRAMES; n++) {
        const size_t size = bytes_of(film, n);
        side->in[n] = get(side->eq, side->where, size);
        side->out[n] = get(side->eq, side->where, size);
        if (from)
            OK(cudaMemcpy(side->in[n], from->in[n], size, cudaMemcpyDefault));
        else
            draw(film, side->in[n], n);
        if (side->where == ON_DEVICE)
            OK(cudaMemset(side->out[n], 0, size));
        else
            memset(side->out[n], 0, size);
    }
    OK(cudaDeviceSynchronize());
}

static void close_side(Side *side)
{
    for (int n = 0; n < FRAMES; n++) {
        put(side->eq, side->where, side->in[n]);
        put(side->eq, side->where, side->out[n]);
    }
    lumeq_destroy(&side->eq);
}

static int submit(const Side *side, const Film *film, int n)
{
    const int late = n >= FRAMES / 2;
    LumeqParams params = {.size = sizeof(params)};
    LumeqFrame frame = {.in = image_of(film, side->in[n], side->where, n, n % 3 == 0),
                        .out = image_of(film, side->out[n], side->where, n, n % 2 == 0),
                        .number = n,
                        .time = n * INT64_C(33333333),
                        .interlaced = !film->format.width && n % 5 == 2};
    LumeqImage previous;
    if (!film->format.width && n % 8 && n % 8 != 3) {
        const int before = n - 1 - (n % 8 == 6); /* usually still on the GPU */
        previous = image_of(film, side->in[before], side->where, before, before % 3 == 0);
        frame.previous = &previous;
    }
    if (film->format.width && n / 16 % 2) /* chroma is neither measured nor written */
        frame.out.plane[1] = frame.out.plane[2] = NULL;
    lumeq_params_default(&params);
    params.mode = late ? film->later : film->mode;
    params.reference = late ? film->reference_later : film->reference;
    CHECK(lumeq_set_params(side->eq, &params) == 0, "%s", lumeq_last_error(side->eq));
    return lumeq_submit(side->eq, &frame);
}

static void check_times(const LumeqFrameStats *t, int wanted, int n)
{
    for (int i = 0; i < LUMEQ_STAGES; i++)
        CHECK(wanted ? t->stage_begin_us[i] <= t->stage_end_us[i] &&
                           (!i || t->stage_end_us[i - 1] <= t->stage_begin_us[i] + 1)
                     : !t->stage_begin_us[i] && !t->stage_end_us[i],
              "frame %d: stage %d lasts from %.1f to %.1f us", n, i, t->stage_begin_us[i],
              t->stage_end_us[i]);
}

/* Compares a received frame with the CPU's. Returns true if its noise is known. */
static int compare(const Side *gpu, const Side *cpu, const Film *film, const FrameStats *stats,
                   int n)
{
    static FrameStats expected;
    const size_t size = bytes_of(film, n);
    uint8_t *got = malloc(size);
    CHECK(submit(cpu, film, n) == 0 && lumeq_receive(cpu->eq, NULL, ask_stats(&expected)) == 0,
          "%s", lumeq_last_error(cpu->eq));
    OK(cudaMemcpy(got, gpu->out[n], size, cudaMemcpyDefault));
    CHECK(!memcmp(got, cpu->out[n], size), "film %td: frame %d differs", film - films, n);
    CHECK(same_stats(stats, &expected), "film %td: the statistics of frame %d differ", film - films,
          n);
    if (film->no_times || !film->batch)
        check_times(&stats->values, !film->no_times, n);
    free(got);
    return stats->values.noise > 0;
}

static void play(const Film *film, Side *gpu, Side *cpu)
{
    static FrameStats stats;
    int submitted = 0, received = 0, most = 0, known = 0;
    while (received < FRAMES) {
        int ret = LUMEQ_ERR_AGAIN;
        if (submitted < FRAMES && submitted - received < MOST_FLIGHTS)
            ret = submit(gpu, film, submitted);
        CHECK(ret == 0 || ret == LUMEQ_ERR_AGAIN, "%s", lumeq_last_error(gpu->eq));
        submitted += ret == 0;
        if (submitted == FRAMES)
            lumeq_flush(gpu->eq);
        most = submitted - received > most ? submitted - received : most;
        if (ret == 0 && submitted < FRAMES)
            continue;
        if (!CHECK(lumeq_receive(gpu->eq, NULL, ask_stats(&stats)) == 0, "film %td: %s",
                   film - films, lumeq_last_error(gpu->eq)))
            return;
        known += compare(gpu, cpu, film, &stats, received++);
    }
    CHECK(most > (film->batch ? 3 : 1), "at most %d frames were in flight", most);
    CHECK(film->format.width || known > FRAMES / 4, "the noise of %d frames is known", known);
}

TEST(same_bits)
{
    for (int i = 0; i < COUNT(films) && i < cases_of(COUNT(films)); i++) {
        const Film *film = &films[i];
        const LumeqConfig config = {
            .backend = LUMEQ_BACKEND_CUDA, .batch = film->batch, .no_stage_times = film->no_times};
        Side gpu = {.eq = open_with(&config), .where = film->where};
        if (!gpu.eq)
            return;
        Side cpu = {.eq = open_on(LUMEQ_BACKEND_CPU), .where = PAGEABLE};
        open_frames(&cpu, film, NULL);
        open_frames(&gpu, film, &cpu);
        play(film, &gpu, &cpu);
        close_side(&gpu);
        close_side(&cpu);
    }
}

#define OVERLAP_FRAMES 24
#define OVERLAP_WIDTH 3840
#define OVERLAP_HEIGHT 2160

static double intersection(const LumeqFrameStats *a, int stage, const LumeqFrameStats *b, int other)
{
    const double begin = fmax(a->stage_begin_us[stage], b->stage_begin_us[other]);
    const double end = fmin(a->stage_end_us[stage], b->stage_end_us[other]);
    return fmax(end - begin, 0);
}

/* Checks that frame n is equalized while n+1 uploads and n-1 downloads. */
static void check_overlap(const LumeqFrameStats *stats)
{
    double compute_upload = 0, compute_download = 0, upload_download = 0;
    for (int n = 1; n + 1 < OVERLAP_FRAMES; n++) {
        const LumeqFrameStats *s = &stats[n];
        compute_upload += intersection(s, LUMEQ_STAGE_EQUALIZE, s + 1, LUMEQ_STAGE_UPLOAD);
        compute_download += intersection(s, LUMEQ_STAGE_EQUALIZE, s - 1, LUMEQ_STAGE_DOWNLOAD);
        upload_download += intersection(s + 1, LUMEQ_STAGE_UPLOAD, s - 1, LUMEQ_STAGE_DOWNLOAD);
    }
    CHECK(compute_upload > 0, "no frame is equalized while the next one uploads");
    CHECK(compute_download > 0, "no frame is equalized while the previous one downloads");
    CHECK(upload_download > 0, "no frame uploads while the last but one downloads");
}

TEST(stages_overlap)
{
    static LumeqFrameStats stats[OVERLAP_FRAMES];
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    if (!eq)
        return;
    const size_t size = (size_t)OVERLAP_WIDTH * OVERLAP_HEIGHT;
    uint8_t *in = lumeq_alloc_host(lumeq_get_context(eq), size), *out[4] = {NULL};
    int received = 0, ret = 0;
    for (int i = 0; i < 4; i++)
        out[i] = lumeq_alloc_host(lumeq_get_context(eq), size);
    if (CHECK(in && out[0] && out[1] && out[2] && out[3], "no pinned memory")) {
        memset(in, 90, size);
        for (int n = 0; n < OVERLAP_FRAMES && ret == 0; n++) {
            LumeqFrame frame = {.in = {.plane = {in},
                                       .stride = {OVERLAP_WIDTH},
                                       .width = OVERLAP_WIDTH,
                                       .height = OVERLAP_HEIGHT,
                                       .depth = 8}};
            frame.out = frame.in;
            frame.out.plane[0] = out[n % 4];
            while ((ret = lumeq_submit(eq, &frame)) == LUMEQ_ERR_AGAIN)
                received += lumeq_receive(eq, NULL, &stats[received]) == 0;
        }
        lumeq_flush(eq);
        while (ret == 0 && lumeq_receive(eq, NULL, &stats[received]) == 0)
            received++;
        if (CHECK(received == OVERLAP_FRAMES, "only %d frames were received", received))
            check_overlap(stats);
    }
    for (int i = 0; i < 4; i++)
        lumeq_free_host(lumeq_get_context(eq), out[i]);
    lumeq_free_host(lumeq_get_context(eq), in);
}

TEST_MAIN
