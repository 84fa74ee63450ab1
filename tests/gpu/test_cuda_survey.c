/*
 * The survey on the GPU: the same profile, bars and noise as the reference in C, over films whose
 * bars come and go, of any size, layout and depth. LUMEQ_TEST_CASES sets how many films are drawn.
 */
#include "equalizer/cpu/bars_profile.h"
#include "gpu_check.h"
#include "noise_check.h"

#define DEFAULT_FILMS 60
#define FRAMES 8

typedef struct Memory {
    CurveResult result[2];
    CurveTable table;
    LumeqCudaSurvey survey;
    LumeqCudaCounters counters;
} Memory;

typedef struct Film {
    BarsParams params;
    int top, bottom, left, right; /* of the bars, in lines */
    int noise;                    /* in them */
} Film;

static Film draw_film(CheckRandom *random)
{
    static const int widths[] = {1, 7, 16, 31, 64, 239, 240, 241, 255, 256, 640, 1279, 1920};
    static const int heights[] = {1, 5, 127, 128, 129, 255, 256, 383, 384, 511, 513, 1080};
    static const int formats[][2] = {{8, 0}, {10, 0}, {10, 6}, {16, 0}};
    const int *format = formats[check_below(random, 4)];
    return (Film){.params = {.width = widths[check_below(random, 13)],
                             .height = heights[check_below(random, 12)],
                             .depth = format[0],
                             .shift = format[1],
                             .range = check_below(random, 2)}};
}

/* Every few frames bars as large as any; text in them now and then. */
static void change(Film *film, CheckRandom *random)
{
    const int height = film->params.height, width = film->params.width;
    film->params.step = (int64_t)check_below(random, 2000) * 1000000;
    film->params.ignore = check_below(random, 12) == 0;
    film->noise = check_below(random, 4) == 0;
    if (check_below(random, 3))
        return;
    film->top = height * check_below(random, 60) / 100;
    film->bottom = check_below(random, 4) ? film->top : height * check_below(random, 50) / 100;
    film->left = check_below(random, 2) ? 0 : width * check_below(random, 60) / 100;
    film->right = check_below(random, 4) ? film->left : width * check_below(random, 50) / 100;
}

static void paint(const Film *film, const CheckRect *rect, CheckRandom *random)
{
    const BarsParams *p = &film->params;
    const int last = (1 << p->depth) - 1;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const int in_bar = y < film->top || y >= p->height - film->bottom || x < film->left ||
                               x >= p->width - film->right;
            const int bar = film->noise && check_below(random, 5) == 0 ? last : 0;
            const int code = in_bar ? bar : check_below(random, last + 1);
            uint8_t *row = check_row(rect, y);
            if (p->depth > 8)
                ((uint16_t *)(void *)row)[x] = (uint16_t)(code << p->shift);
            else
                row[x] = (uint8_t)code;
        }
}

static int same_pair(const BarsPair *a, const BarsPair *b)
{
    return a->known == b->known && !memcmp(a->held, b->held, sizeof(a->held)) &&
           !memcmp(a->found, b->found, sizeof(a->found)) && a->since == b->since;
}

static int same_state(const BarsState *a, const BarsState *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->range == b->range && same_pair(&a->pair[0], &b->pair[0]) &&
           same_pair(&a->pair[1], &b->pair[1]) &&
           !memcmp(&a->active, &b->active, sizeof(a->active)) && a->area == b->area &&
           a->grew == b->grew;
}

/* On the device, with the place of its first sample there. */
static LumeqCudaPlane copy_of(const CheckRect *rect, const BarsParams *p, uint8_t **memory)
{
    OK(cudaMalloc((void **)memory, rect->size));
    OK(cudaMemcpy(*memory, rect->memory, rect->size, cudaMemcpyHostToDevice));
    return (LumeqCudaPlane){*memory + (rect->pixels - rect->memory), rect->stride, p->width,
                            p->height};
}

/* Makes the previous frame, for the noise: the same, or with smaller values in some samples. */
static void paint_before(const Film *film, const CheckRect *before, const CheckRect *rect,
                         CheckRandom *random)
{
    const BarsParams *p = &film->params;
    const int most = check_below(random, 3) ? 1 + check_below(random, 1 << (p->depth - 4)) : 1;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const int less = check_below(random, most);
            const uint8_t *from = check_row(rect, y);
            uint8_t *to = check_row(before, y);
            if (p->depth > 8) {
                const int code = ((const uint16_t *)(const void *)from)[x] >> p->shift;
                ((uint16_t *)(void *)to)[x] =
                    (uint16_t)((code > less ? code - less : 0) << p->shift);
            } else {
                to[x] = (uint8_t)(from[x] > less ? from[x] - less : 0);
            }
        }
}

static void check_lines(const BarsParams *p, const BarsProfile *got, const BarsProfile *expected,
                        int frame)
{
    if (p->ignore)
        return;
    CHECK(!memcmp(got->lit[BARS_ROWS], expected->lit[BARS_ROWS], (size_t)p->height),
          "%dx%d, depth %d, frame %d: the rows differ", p->width, p->height, p->depth, frame);
    CHECK(!memcmp(got->lit[BARS_COLUMNS], expected->lit[BARS_COLUMNS], (size_t)p->width),
          "%dx%d, depth %d, frame %d: the columns differ", p->width, p->height, p->depth, frame);
}

/* Parameters of the curve that is computed as well. */
static CurveParams curve_of(const BarsParams *p)
{
    const int fraction = p->depth > 12 ? p->depth - 12 : 0;
    return (CurveParams){.depth = p->depth,
                         .shift = p->shift,
                         .bins = 1 << (p->depth - fraction),
                         .fraction = fraction,
                         .black = p->range ? 0 : 16 << (p->depth - 8),
                         .white = p->range ? (1 << p->depth) - 1 : 235 << (p->depth - 8),
                         .alpha = CURVE_ONE,
                         .strength = CURVE_ONE};
}

/* The kernels leave their counters zeroed. */
static void check_left(const Memory *memory)
{
    static const NoiseProfile noise;
    static const LumeqCudaCounters counters;
    CHECK(!memcmp(&memory->survey.noise, &noise, sizeof(noise)), "counts of noise are left behind");
    CHECK(!memcmp(&memory->counters, &counters, sizeof(counters)), "counters are left behind");
}

/* `before`: the previous frame, or NULL. Returns true if noise is known. */
static int check_frame(const Film *film, const CheckRect *rect, const CheckRect *before,
                       BarsState *state, Memory *on_device, int frame)
{
    static Memory memory;
    static BarsProfile profile;
    const BarsParams *p = &film->params;
    const CurveParams curve = curve_of(p);
    BarsWork work;
    uint8_t *twin = NULL, *twin_before = NULL;
    LumeqCudaSurveyJob survey = {
        .now = copy_of(rect, p, &twin), .bars = *p, .work = &on_device->survey};
    if (before)
        survey.before = copy_of(before, p, &twin_before);
    LumeqCudaHistogram *const histogram =
        p->depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const LumeqCudaCurve made = {&on_device->result[(frame + 1) % 2], &on_device->table,
                                 &on_device->counters, NULL};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&curve, p->step);
    OK(histogram(&device, &survey.now, &curve, &on_device->result[frame % 2], &made, &survey, &one,
                 0));
    OK(cudaMemcpy(&memory, on_device, sizeof(memory), cudaMemcpyDeviceToHost));
    OK(cudaFree(twin));
    OK(cudaFree(twin_before));

    lumeq_profile_rows(p, profile.lit[BARS_ROWS], rect->pixels, rect->stride, 0, p->height);
    lumeq_profile_columns(p, profile.lit[BARS_COLUMNS], rect->pixels, rect->stride, 0, p->width);
    *state = bars_update(p, state, &profile, &work);
    check_lines(p, &memory.survey.lines, &profile, frame);
    const CurveResult *result = &memory.result[(frame + 1) % 2];
    const BarsState *now = &result->bars;
    CHECK(same_state(now, state), "%dx%d, depth %d, frame %d: %d,%d %dx%d instead of %d,%d %dx%d",
          p->width, p->height, p->depth, frame, now->active.x, now->active.y, now->active.width,
          now->active.height, state->active.x, state->active.y, state->active.width,
          state->active.height);
    const uint32_t noise = before ? expected_noise(rect, before, p->width, &curve) : NOISE_UNKNOWN;
    CHECK(result->noise == noise, "%dx%d, depth %d, frame %d: noise %u instead of %u", p->width,
          p->height, p->depth, frame, result->noise, noise);
    check_left(&memory);
    return noise != NOISE_UNKNOWN;
}

static void films(void)
{
    if (!OK(cudaSetDevice(0)))
        return;
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int count = wanted ? atoi(wanted) : DEFAULT_FILMS;
    Memory *on_device = NULL;
    int with_bars = 0, with_noise = 0;
    OK(lumeq_cuda_prepare(&device, 0));
    OK(cudaMalloc((void **)&on_device, sizeof(*on_device)));
    for (int i = 0; i < count; i++) {
        CheckRandom random = check_random(4000000 + (uint64_t)i);
        Film film = draw_film(&random);
        const int size = film.params.depth > 8 ? 2 : 1;
        const ptrdiff_t stride = (film.params.width + check_below(&random, 40)) * size;
        BarsState state = {0};
        OK(cudaMemset(on_device, 0, sizeof(*on_device)));
        for (int frame = 0; frame < FRAMES; frame++) {
            const int bytes = film.params.width * size, height = film.params.height;
            CheckRect rect = check_rect(bytes, height, check_below(&random, 2) ? stride : -stride,
                                        check_below(&random, 17) * size, GUARD);
            CheckRect before =
                check_rect(bytes, height, stride, check_below(&random, 3) * size, GUARD);
            change(&film, &random);
            paint(&film, &rect, &random);
            paint_before(&film, &before, &rect, &random);
            with_noise += check_frame(&film, &rect, check_below(&random, 4) ? &before : NULL,
                                      &state, on_device, frame);
            with_bars += state.area > 0;
            check_rect_free(&rect);
            check_rect_free(&before);
        }
    }
    if (count >= DEFAULT_FILMS) { /* of a few films it may be that none has them */
        CHECK(with_bars > 0, "no frame of %d films has bars", count);
        CHECK(with_noise > 0, "no frame of %d films has noise", count);
    }
    OK(cudaFree(on_device));
}

/* Without a GPU there is nothing to compare with. */
TEST(on_the_gpu)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count) {
        check_skip("no GPU");
        return;
    }
    films();
}

TEST_MAIN
