/* The history with lookahead on synthetic films: cuts, fades, bars and light. */
#include <math.h>

#include "../check.h"
#include "lumeq/lumeq.h"

#define SECOND INT64_C(1000000000)
#define LOOKAHEAD (4 * SECOND)
#define STEP (SECOND / 25)
#define MOST_FRAMES 400
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The linker replaces calls of malloc() etc. by calls of __wrap_malloc() etc. */
static int allocations_left = -1; /* allocations before failure; -1: never fail */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static int is_allowed(void)
{
    return allocations_left < 0 || allocations_left-- > 0;
}

void *__wrap_malloc(size_t size)
{
    return is_allowed() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_allowed() ? __real_calloc(count, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_allowed() ? __real_aligned_alloc(alignment, size) : NULL;
}

/* The 8-bit code at a place of a frame. */
typedef int (*Draw)(int frame, int x, int y);

typedef struct Film {
    Draw draw;
    int frames, width, height, depth;
    LumeqRange range;
    int64_t step;
    int first;   /* first frame */
    int cut_off; /* not 0: a discontinuity at this frame */
} Film;

typedef struct Run {
    int frames;
    int held; /* maximum number of measures in the history */
    LumeqCurve *curve[MOST_FRAMES];
    LumeqFrameStats *stats; /* one per frame, with its curve */
    uint32_t *curves;
} Run;

static LumeqContext *context;

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "cannot continue: %s: %s\n", what, lumeq_last_error(NULL));
        exit(1);
    }
}

/* Adaptive strength, without lift. */
static LumeqParams literal(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.strength = 0.8;
    params.adaptive = 1;
    return params;
}

static LumeqParams usual(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    return params;
}

static Film film(Draw draw, int frames)
{
    return (Film){
        .draw = draw, .frames = frames, .width = 96, .height = 54, .depth = 8, .step = STEP};
}

CHECK_NOT_INSTRUMENTED static void draw_frame(const Film *f, int n, uint16_t *samples)
{
    const int frame = f->first + n;
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            const int code = f->draw(frame, x, y);
            const int bounded = code < 0 ? 0 : code > 255 ? 255 : code;
            if (f->depth == 8)
                ((uint8_t *)samples)[y * f->width + x] = (uint8_t)bounded;
            else
                samples[y * f->width + x] = (uint16_t)(bounded << (f->depth - 8));
        }
}

static LumeqImage image_of(const Film *f, void *samples)
{
    return (LumeqImage){.plane = {samples},
                        .stride = {f->width * (f->depth > 8 ? 2 : 1)},
                        .width = f->width,
                        .height = f->height,
                        .depth = f->depth,
                        .range = f->range};
}

static LumeqMeasure *measure(const Film *f, const LumeqParams *params, int n)
{
    static uint16_t samples[256 * 256];
    LumeqMeasure *m = NULL;
    draw_frame(f, n, samples);
    const LumeqImage image = image_of(f, samples);
    if (!context) {
        const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
        must(lumeq_context_create(&context, &config, NULL, 0) == 0, "context");
    }
    must(lumeq_measure(context, &m, params, &image, NULL, NULL) == 0, "measure");
    return m;
}

static LumeqMoment moment(const Film *f, int n)
{
    return (LumeqMoment){.size = sizeof(LumeqMoment),
                         .number = n,
                         .time = n * f->step,
                         .duration = f->step,
                         .discontinuity = f->cut_off && n == f->cut_off};
}

/* If set, calls are repeated until they succeed: first without memory, then with one allocation
 * more each time. */
static int scarce;

#define WITH_MEMORY(ret, call)                                                                     \
    do {                                                                                           \
        ret = LUMEQ_ERR_MEMORY;                                                                    \
        for (int enough = scarce ? 0 : -1; ret == LUMEQ_ERR_MEMORY; enough++) {                    \
            allocations_left = enough;                                                             \
            ret = (call);                                                                          \
            allocations_left = -1;                                                                 \
        }                                                                                          \
    } while (0)

static int put(LumeqHistory *h, const Film *f, const LumeqParams *params, int n)
{
    LumeqMeasure *m = measure(f, params, n);
    const LumeqMoment at = moment(f, n);
    int ret;
    WITH_MEMORY(ret, lumeq_history_put(h, m, &at));
    lumeq_measure_free(&m);
    return ret;
}

static int get(LumeqHistory *h, LumeqCurve **curve)
{
    int ret;
    WITH_MEMORY(ret, lumeq_history_get(h, curve));
    CHECK((ret == 0) == (*curve != NULL), "get returns %d", ret);
    return ret;
}

static LumeqHistory *history(const LumeqParams *params, int64_t lookahead)
{
    LumeqHistory *h = NULL;
    must(lumeq_history_create(&h, params, lookahead) == 0, "history");
    return h;
}

static void take(Run *run, LumeqCurve *curve)
{
    LumeqFrameStats *stats = &run->stats[run->frames];
    stats->size = sizeof(*stats);
    stats->curve = run->curves + (size_t)run->frames * LUMEQ_MAX_BINS;
    run->curve[run->frames++] = curve;
    must(lumeq_curve_stats(curve, stats) == 0, "statistics");
}

/* Puts frames from *n on until a curve is ready. Returns 0, or LUMEQ_ERR_END after the last. */
static int next_curve(LumeqHistory *h, const Film *f, const LumeqParams *params, int *n,
                      LumeqCurve **curve)
{
    int ret;
    while ((ret = get(h, curve)) == LUMEQ_ERR_AGAIN) {
        ret = *n < f->frames ? put(h, f, params, *n) : lumeq_history_put(h, NULL, NULL);
        must(ret == 0, "put");
        ++*n;
    }
    return ret;
}

static Run *run_film(const Film *f, const LumeqParams *params, int64_t lookahead)
{
    Run *run = calloc(1, sizeof(*run));
    must(run && f->frames <= MOST_FRAMES, "memory");
    run->stats = calloc((size_t)f->frames, sizeof(*run->stats));
    run->curves = calloc((size_t)f->frames, LUMEQ_MAX_BINS * sizeof(*run->curves));
    must(run->stats && run->curves, "memory");
    LumeqHistory *h = history(params, lookahead);
    LumeqCurve *curve;
    int n = 0, ret;
    while ((ret = next_curve(h, f, params, &n, &curve)) == 0) {
        const int put_so_far = n < f->frames ? n : f->frames;
        run->held = put_so_far - run->frames > run->held ? put_so_far - run->frames : run->held;
        take(run, curve);
    }
    CHECK(ret == LUMEQ_ERR_END, "get returns %d at the end", ret);
    CHECK(run->frames == f->frames, "%d curves of %d frames", run->frames, f->frames);
    lumeq_history_destroy(&h);
    return run;
}

static void free_run(Run **run)
{
    for (int i = 0; i < (*run)->frames; i++)
        lumeq_curve_unref(&(*run)->curve[i]);
    free((*run)->stats);
    free((*run)->curves);
    free(*run);
    *run = NULL;
}

static int same_curve(const LumeqFrameStats *a, const LumeqFrameStats *b)
{
    return a->bins == b->bins &&
           !memcmp(a->curve, b->curve, (size_t)a->bins * sizeof(a->curve[0])) &&
           a->strength == b->strength;
}

/* The bytes of a curve; the caller frees them. */
static uint8_t *packed(const LumeqCurve *curve, size_t *size)
{
    *size = 0;
    must(lumeq_curve_pack(curve, NULL, size) == 0, "size");
    uint8_t *bytes = malloc(*size);
    must(bytes && lumeq_curve_pack(curve, bytes, size) == 0, "pack");
    return bytes;
}

static int same_bytes(const LumeqCurve *a, const LumeqCurve *b)
{
    size_t sizes[2];
    uint8_t *bytes[2] = {packed(a, &sizes[0]), packed(b, &sizes[1])};
    const int same = sizes[0] == sizes[1] && !memcmp(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
    return same;
}

static double on_curve(const LumeqFrameStats *stats, int code)
{
    return stats->curve[code] / 65536.0;
}

/* Mean difference between the brightness changes of output and input, without cuts. */
static double excess_flicker(const Run *run)
{
    double sum = 0;
    int count = 0;
    for (int i = 1; i < run->frames; i++) {
        const LumeqFrameStats *a = &run->stats[i - 1], *b = &run->stats[i];
        if (b->scene_cut)
            continue;
        sum += fabs((b->mean_out - a->mean_out) - (b->mean_in - a->mean_in));
        count++;
    }
    return sum / count;
}

/* Mean absolute difference of brightness between neighbouring frames. */
static double unsteadiness(const Run *run, int out)
{
    double sum = 0;
    for (int i = 1; i < run->frames; i++) {
        const LumeqFrameStats *a = &run->stats[i - 1], *b = &run->stats[i];
        sum += out ? fabs(b->mean_out - a->mean_out) : fabs(b->mean_in - a->mean_in);
    }
    return sum / (run->frames - 1);
}

/* Returns a number from -8 to 8, smooth over about ten pixels. */
CHECK_NOT_INSTRUMENTED static int texture(uint64_t seed, int x, int y)
{
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        const int u = (x + 4 * k) / 12, v = (y + 4 * k) / 12;
        sum += (int)(check_hash(seed, (uint64_t)(v * 100 + u)) % 9) - 4;
    }
    return sum / 2;
}

CHECK_NOT_INSTRUMENTED static int grain(int frame, int x, int y)
{
    return (int)(check_hash(77, ((uint64_t)frame << 32) + (uint64_t)(y * 256 + x)) % 3) - 1;
}

static int still(int frame, int x, int y)
{
    (void)frame;
    return 80 + 3 * texture(1, x, y);
}

static int scene_a(int frame, int x, int y)
{
    return 80 + 3 * texture(1, x + frame / 3, y) + grain(frame, x, y);
}

static int scene_b(int frame, int x, int y)
{
    return 110 + 4 * texture(2, x + frame / 3, y) + grain(frame, x, y);
}

/* scene_a, mirrored: the histogram stays the same. */
static int mirrored(int frame, int x, int y)
{
    return scene_a(frame, 95 - x, 53 - y);
}

#define CUT 60

static int a_then_b(int frame, int x, int y)
{
    return frame < CUT ? scene_a(frame, x, y) : scene_b(frame, x, y);
}

static int a_then_mirrored(int frame, int x, int y)
{
    return frame < CUT ? scene_a(frame, x, y) : mirrored(frame, x, y);
}

/* Fast pans in which each picture is shown two or three times. */
static int pan_on_twos(int frame, int x, int y)
{
    return 80 + 3 * texture(1, x + frame / 2 * 12, y);
}

static int pan_on_threes(int frame, int x, int y)
{
    return 80 + 3 * texture(1, x + frame / 3 * 18, y);
}

/* A new scene every five frames. */
static int montage(int frame, int x, int y)
{
    return 60 + frame / 5 % 7 * 10 + 3 * texture((uint64_t)(frame / 5), x + frame, y);
}

static int flashes(int frame, int x, int y)
{
    const int flash = frame == 40 || frame == 70 || frame == 71;
    return scene_a(frame, x, y) + (flash ? 90 : 0);
}

#define FADE_START 6
#define FADE_FRAMES 24

static int dimmed(int code, int part, int whole)
{
    return 16 + ((code - 16) * part + whole / 2) / whole;
}

static int faded(int code, int part)
{
    part = part < 0 ? 0 : part > FADE_FRAMES ? FADE_FRAMES : part;
    return dimmed(code, part, FADE_FRAMES);
}

static int fade_in(int frame, int x, int y)
{
    return faded(still(0, x, y), frame - FADE_START);
}

static int fade_out(int frame, int x, int y)
{
    return faded(still(0, x, y), 60 + FADE_FRAMES - 1 - frame);
}

/* Light that wavers by about half a percent, like a candle, and then goes out. */
static int waver(int frame, int x, int y)
{
    const int gain = 1000 + (int)(check_hash(6, (uint64_t)frame) % 15) - 7;
    const int rest = (int)(check_hash(8, (uint64_t)(y * 256 + x)) % 1000);
    return 16 + ((still(0, x, y) - 16) * gain + rest) / 1000;
}

static int waver_then_fade(int frame, int x, int y)
{
    return faded(waver(frame, x, y), CUT + FADE_FRAMES - frame);
}

/* A shot that begins inside a fade. */
static int a_then_fade_in(int frame, int x, int y)
{
    return frame < CUT ? scene_a(frame, x, y) : fade_in(frame - CUT + FADE_START + 2, x, y);
}

#define OUT_START 50
#define IN_START (OUT_START + FADE_FRAMES + 8)

static int over_black(int frame, int x, int y)
{
    return frame < IN_START ? faded(still(0, x, y), OUT_START + FADE_FRAMES - frame)
                            : faded(100 + 3 * texture(2, x, y), frame - IN_START);
}

#define EASED (FADE_FRAMES * FADE_FRAMES * FADE_FRAMES)

static int eased_part(int frame)
{
    const int n = frame < IN_START ? OUT_START + FADE_FRAMES - frame : frame - IN_START;
    const int part = n < 0 ? 0 : n > FADE_FRAMES ? FADE_FRAMES : n;
    return part * part * (3 * FADE_FRAMES - 2 * part);
}

static int eased_over_black(int frame, int x, int y)
{
    const int code = frame < IN_START ? still(0, x, y) : 100 + 3 * texture(2, x, y);
    return dimmed(code, eased_part(frame), EASED);
}

/* A fade longer than the lookahead. */
#define DUSK 240

static int dusk(int frame, int x, int y)
{
    const int left = 20 + DUSK - frame;
    const int part = left < 0 ? 0 : left > DUSK ? DUSK : left;
    return dimmed(still(0, x, y), part, DUSK);
}

#define BAR 8

/* A letterboxed scene after one without bars. */
static int letterboxed(int frame, int x, int y)
{
    if (frame < CUT)
        return scene_a(frame, x, y);
    return y < BAR || y >= 56 - BAR ? 16 : scene_b(frame, x, y);
}

/* A light van crosses a dull street, then a dark van. */
static int vans(int frame, int x, int y)
{
    const int left = (frame - 30) * 5 - 40, right = 96 - (frame - 70) * 5;
    const int light = frame >= 30 && frame < 70 && x >= left && x < left + 40;
    const int dark = frame >= 70 && frame < 110 && x >= right && x < right + 40;
    if (y > 15 && y < 45 && (light || dark))
        return light ? 205 : 30;
    return scene_a(0, x, y);
}

CHECK_NOT_INSTRUMENTED static int pumping_by(int frame, int x, int y, int most)
{
    const int gain = 1000 - most + (int)(check_hash(5, (uint64_t)frame) % (2 * most + 1));
    return dimmed(scene_b(0, x, y), gain, 1000);
}

static int pumping(int frame, int x, int y)
{
    return pumping_by(frame, x, y, 100);
}

static int pumping_hard(int frame, int x, int y)
{
    return pumping_by(frame, x, y, 300);
}

static int pumping_under_sky(int frame, int x, int y)
{
    return y < 36 ? 235 : pumping(frame, x, y);
}

/* A mixture of changing textures, black, fades, bars and cuts. */
CHECK_NOT_INSTRUMENTED static int anything(int frame, int x, int y)
{
    const uint64_t scene = check_hash(check_state.seed, (uint64_t)(frame / 12));
    const int light = (int)(scene % 200), part = scene >> 8 & 1 ? frame % 12 : 11;
    const int bars = scene >> 10 & 1 ? 7 : 0;
    if (scene >> 12 % 5 == 0 || y < bars || y >= 54 - bars)
        return 16;
    return 16 + (light + (int)(scene >> 16 & 7) * texture(scene, x + frame, y)) * part / 11;
}

/* Checks that a shot has the curves that it gets as a film of its own. */
static void check_alone(const Run *run, Draw draw, int from, int frames)
{
    Film alone = film(draw, frames);
    const LumeqParams params = usual();
    alone.first = from;
    FREED_BY(free_run) Run *expected = run_film(&alone, &params, LOOKAHEAD);
    for (int i = 0; i < frames; i++)
        CHECK(same_curve(&run->stats[from + i], &expected->stats[i]),
              "frame %d: the curve is not that of its shot alone", from + i);
}

TEST(cuts)
{
    static const struct {
        Draw draw;
        int cut, every; /* cut: frame of the only cut; every: frames between cuts */
        int causal;     /* not 0: the cut is found without lookahead */
    } films[] = {
        {a_then_b, CUT, 0, 1}, {a_then_mirrored, CUT, 0, 0}, {montage, 0, 5, 1},
        {flashes, 0, 0, 0},    {pan_on_twos, 0, 0, 0},       {pan_on_threes, 0, 0, 0},
        {vans, 0, 0, 0},       {over_black, 0, 0, 0},
    };
    const LumeqParams params = usual();
    for (int i = 0; i < COUNT(films); i++) {
        const Film f = film(films[i].draw, 120);
        const int cut = films[i].cut, every = films[i].every;
        FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
        FREED_BY(free_run) Run *causal = run_film(&f, &params, 0);
        for (int n = 1; n < run->frames; n++)
            CHECK(run->stats[n].scene_cut == (every ? n % every == 0 : cut && n == cut),
                  "film %d, frame %d: scene_cut is %d", i, n, run->stats[n].scene_cut);
        CHECK(!run->stats[0].scene_cut, "film %d: the first frame is a cut", i);
        CHECK(!cut || causal->stats[cut].scene_cut == films[i].causal,
              "film %d: wrong scene_cut without lookahead", i);
    }
}

/* Cuts and discontinuities begin a shot. */
TEST(each_shot_is_as_alone)
{
    static const struct {
        Draw draw, shots[2];
        int at, cut_off;
    } films[] = {{a_then_b, {scene_a, scene_b}, CUT, 0},
                 {scene_a, {scene_a, scene_a}, 50, 50},
                 {a_then_fade_in, {scene_a, a_then_fade_in}, CUT, CUT}};
    const LumeqParams params = usual();
    for (int i = 0; i < COUNT(films); i++) {
        Film f = film(films[i].draw, 120);
        f.cut_off = films[i].cut_off;
        FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
        check_alone(run, films[i].shots[0], 0, films[i].at);
        check_alone(run, films[i].shots[1], films[i].at, 120 - films[i].at);
        CHECK(run->stats[films[i].at].scene_cut == !f.cut_off,
              "film %d: scene_cut is wrong at the shot", i);
    }
}

/* Checks that the first curves of two films differ by less than `most` codes. */
static void check_close(const Run *run, const Run *other, int frames, double most)
{
    for (int i = 0; i < frames; i++)
        for (int code = 40; code < 160; code += 10) {
            const double is = on_curve(&run->stats[i], code);
            const double expected = on_curve(&other->stats[i], code);
            CHECK(fabs(is - expected) < most, "frame %d, code %d: %g, not %g", i, code, is,
                  expected);
        }
}

TEST(flash)
{
    const LumeqParams params = usual();
    const Film f = film(flashes, 120), quiet = film(scene_a, 120);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    FREED_BY(free_run) Run *expected = run_film(&quiet, &params, LOOKAHEAD);
    check_close(run, expected, run->frames, 6);
}

static int dark_flash(int frame, int x, int y)
{
    const int code = 20 + (x / 8 + y / 6) % 5 * 3;
    return frame == 40 ? 90 + 4 * code : code;
}

/* The end of a flash in a dark scene is no fade to black. */
TEST(flash_in_the_dark)
{
    const LumeqParams params = usual();
    const Film f = film(dark_flash, 120);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    for (int i = 41; i < run->frames; i++)
        CHECK(fabs(on_curve(&run->stats[i], 30) - on_curve(&run->stats[0], 30)) < 1,
              "frame %d: 30 becomes %g, was %g", i, on_curve(&run->stats[i], 30),
              on_curve(&run->stats[0], 30));
}

/* Without smoothing, a flash gets a curve of its own. */
TEST(flash_alone)
{
    LumeqParams params = usual();
    const Film f = film(flashes, 90);
    params.smooth = 0;
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    for (int i = 39; i < 42; i++)
        CHECK(on_curve(&run->stats[i], 235) > on_curve(&run->stats[i], 60),
              "frame %d: the curve does not rise from 60 to 235", i);
}

TEST(scene_cut_off)
{
    LumeqParams params = usual();
    params.scene_cut = 0;
    const Film f = film(a_then_b, 120);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    CHECK(!run->stats[CUT].scene_cut, "a cut with scene_cut off");
    CHECK(!same_curve(&run->stats[CUT - 1], &run->stats[0]),
          "the curve is not smoothed across the cut");
}

#define SHOT 70                   /* frames of each scene */
#define DARK (SHOT + FADE_FRAMES) /* black from here on */
#define NEXT (DARK + 6)           /* the second scene fades in */
#define LONG_FILM (NEXT + FADE_FRAMES + SHOT)

static int bright(int frame, int x, int y)
{
    (void)frame;
    return 128 + 14 * texture(3, 8 * x, 8 * y);
}

/* `first`, `second`: the codes of both scenes. */
static int two_scenes(int frame, int first, int second)
{
    return frame < DARK ? faded(first, DARK - frame) : faded(second, frame - NEXT);
}

static int dull_then_bright(int frame, int x, int y)
{
    return two_scenes(frame, still(0, x, y), bright(0, x, y));
}

static int bright_then_dull(int frame, int x, int y)
{
    return two_scenes(frame, bright(0, x, y), still(0, x, y));
}

/* With any lookahead, a scene's strength does not depend on the scene after the black. */
TEST(scenes_between_fades)
{
    const LumeqParams params = usual();
    const Draw films[] = {dull_then_bright, bright_then_dull}, scenes[] = {still, bright};
    for (int i = 0; i < 2; i++) {
        const Film f = film(films[i], LONG_FILM);
        const Film scene[2] = {film(scenes[i], SHOT), film(scenes[!i], SHOT)};
        Run *alone[2] = {run_film(&scene[0], &params, SECOND),
                         run_film(&scene[1], &params, SECOND)};
        for (int ahead = 1; ahead <= 10; ahead += 3) {
            FREED_BY(free_run) Run *run = run_film(&f, &params, ahead * SECOND);
            for (int n = 0; n < run->frames; n++) {
                const int second = n >= NEXT + FADE_FRAMES;
                const double expected = alone[second]->stats[0].strength;
                if (n < SHOT || second)
                    CHECK(fabs(run->stats[n].strength - expected) < 0.01,
                          "film %d, %d s ahead, frame %d: strength %g, alone %g", i, ahead, n,
                          run->stats[n].strength, expected);
            }
        }
        CHECK(fabs(alone[0]->stats[0].strength - alone[1]->stats[0].strength) > 0.5,
              "both scenes need the same strength");
        free_run(&alone[0]);
        free_run(&alone[1]);
    }
}

/* Checks that `frame` shows the output of frame `plateau`, dimmed to `part` / `whole`. */
static void check_faded(const Run *run, int frame, int plateau, int part, int whole)
{
    for (int code = 50; code <= 110; code += 10) {
        const double full = on_curve(&run->stats[plateau], code);
        const double expected = 16 + (full - 16) * part / whole;
        const double is = on_curve(&run->stats[frame], dimmed(code, part, whole));
        CHECK(fabs(is - expected) < 2, "frame %d, code %d: %g, not %g", frame, code, is, expected);
    }
}

/* A fade from black with manual brightness and gamma. `strength`: share of equalization, or -1:
 * automatic. The equalized share fades like the input. The rest has only brightness and gamma. */
static void check_lit_fade(double brightness, double gamma, double strength)
{
    LumeqParams params = usual(), light = usual(), alone;
    const Film f = film(fade_in, 140);
    params.brightness = light.brightness = brightness;
    params.gamma = light.gamma = gamma;
    params.strength = strength;
    alone = params;
    if (strength >= 0)
        alone.strength = 1;
    light.mode = LUMEQ_MODE_OFF;
    const int end = FADE_START + FADE_FRAMES;
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    FREED_BY(free_run) Run *full = run_film(&f, &alone, LOOKAHEAD);
    FREED_BY(free_run) Run *hand = run_film(&f, &light, LOOKAHEAD);
    CHECK(!same_curve(&run->stats[139], &full->stats[139]) == (strength >= 0 && strength < 1),
          "%g, %g: strength %g has the wrong effect", brightness, gamma, strength);
    for (int part = 1; part < FADE_FRAMES; part++) {
        const int i = FADE_START + part;
        check_faded(full, i, 139, part, FADE_FRAMES);
        for (int code = 20; code <= 110; code += 10) {
            const double share = strength < 0 ? 1 : strength;
            const double expected = share * on_curve(&full->stats[i], code) +
                                    (1 - share) * on_curve(&hand->stats[i], code);
            CHECK(fabs(on_curve(&run->stats[i], code) - expected) < 0.02,
                  "%g, %g, strength %g, frame %d, code %d: %g, not %g", brightness, gamma, strength,
                  i, code, on_curve(&run->stats[i], code), expected);
        }
    }
    for (int i = 1; i < run->frames; i++)
        CHECK(run->stats[i].mean_out >= run->stats[i - 1].mean_out - 0.1,
              "%g, %g, strength %g, frame %d: it gets darker, %g after %g", brightness, gamma,
              strength, i, run->stats[i].mean_out, run->stats[i - 1].mean_out);
    for (int code = 20; code <= 110; code += 10)
        CHECK(fabs(on_curve(&run->stats[end], code) - on_curve(&run->stats[139], code)) < 0.02,
              "%g, %g, strength %g: the fade ends with %g for %d, not %g", brightness, gamma,
              strength, on_curve(&run->stats[end], code), code, on_curve(&run->stats[139], code));
    for (int i = 0; i < FADE_START; i++)
        CHECK(fabs(run->stats[i].mean_out - 16) < 0.01, "frame %d: black becomes %g", i,
              run->stats[i].mean_out);
}

TEST(fade_in)
{
    static const double lights[][2] = {{0, 1}, {0.4, 1}, {-0.3, 1}, {0, 1.6}, {0, 0.7}, {0.3, 1.4}};
    static const double strengths[] = {-1, 0, 0.5, 1};
    for (int i = 0; i < COUNT(lights); i++)
        for (int k = 0; k < COUNT(strengths); k++)
            if ((i || k % 3 == 0) && check_drawn(4 * i + k))
                check_lit_fade(lights[i][0], lights[i][1], strengths[k]);
}

/* The film ends before the last, black frame of the fade. */
TEST(fade_out)
{
    const LumeqParams params = usual();
    const Film f = film(fade_out, 60 + FADE_FRAMES - 1);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    for (int part = 1; part < FADE_FRAMES; part++)
        check_faded(run, 60 + FADE_FRAMES - 1 - part, 59, part, FADE_FRAMES);
}

/* Frames that waver before a fade are not part of the fade. */
TEST(fade_after_waver)
{
    const LumeqParams params = usual();
    const Film f = film(waver_then_fade, 120), steady = film(waver, 120);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    FREED_BY(free_run) Run *other = run_film(&steady, &params, LOOKAHEAD);
    check_close(run, other, CUT - 3, 0.4);
}

TEST(fades_over_black)
{
    const LumeqParams params = usual();
    for (int is_eased = 0; is_eased < 2; is_eased++) {
        const Film f = film(is_eased ? eased_over_black : over_black, IN_START + FADE_FRAMES + 40);
        FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
        for (int n = 1; n < FADE_FRAMES; n++) {
            const int out = OUT_START + FADE_FRAMES - n, in = IN_START + n;
            check_faded(run, out, OUT_START, is_eased ? eased_part(out) : n,
                        is_eased ? EASED : FADE_FRAMES);
            check_faded(run, in, f.frames - 1, is_eased ? eased_part(in) : n,
                        is_eased ? EASED : FADE_FRAMES);
        }
    }
}

TEST(letterbox)
{
    const LumeqParams params = usual();
    Film f = film(letterboxed, 120);
    f.height = 56;
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    FREED_BY(free_run) Run *causal = run_film(&f, &params, 0);
    for (int i = 0; i < run->frames; i++) {
        const LumeqRect *a = &run->stats[i].active;
        const int bar = i < CUT ? 0 : BAR;
        CHECK(a->y == bar && a->height == 56 - 2 * bar, "frame %d: rows from %d, %d of them", i,
              a->y, a->height);
    }
    CHECK(causal->stats[CUT].active.height == 56, "bars are known at once without lookahead");
}

/* A still picture and the reference have the same curves with and without lookahead. */
TEST(as_without_lookahead)
{
    static const struct {
        LumeqMode mode;
        int reference;
        Draw draw;
    } cases[] = {{LUMEQ_MODE_GLOBAL, 0, still},    {LUMEQ_MODE_OFF, 0, still},
                 {LUMEQ_MODE_CLAHE, 0, still},     {LUMEQ_MODE_STRETCH, 0, still},
                 {LUMEQ_MODE_GLOBAL, 1, anything}, {LUMEQ_MODE_CLAHE, 1, anything}};
    for (int k = 0; k < COUNT(cases); k++) {
        LumeqParams params = usual();
        params.mode = cases[k].mode;
        params.reference = cases[k].reference;
        const Film f = film(cases[k].draw, 60);
        FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
        FREED_BY(free_run) Run *causal = run_film(&f, &params, 0);
        for (int i = 0; i < run->frames; i++)
            CHECK(same_bytes(run->curve[i], causal->curve[i]), "case %d, frame %d differs", k, i);
    }
}

/* A passing object hardly changes a scene's strength and lift. */
TEST(passing_object)
{
    for (int lift = 0; lift < 2; lift++) {
        const LumeqParams params = lift ? usual() : literal();
        const Film f = film(vans, 140);
        FREED_BY(free_run) Run *run = run_film(&f, &params, 8 * SECOND);
        FREED_BY(free_run) Run *causal = run_film(&f, &params, 0);
        CHECK(excess_flicker(run) <= excess_flicker(causal), "lift %d: flicker %g, live %g", lift,
              excess_flicker(run), excess_flicker(causal));
        for (int i = 0; i < run->frames; i++)
            CHECK(fabs(run->stats[i].strength - run->stats[0].strength) <= (lift ? 0.05 : 0) &&
                      fabs(run->stats[i].dark - run->stats[0].dark) < 0.1,
                  "lift %d, frame %d: strength %g, was %g", lift, i, run->stats[i].strength,
                  run->stats[0].strength);
    }
}

/* Darkness does not raise the strength, however long it lasts. */
TEST(long_dark)
{
    const LumeqParams params = literal();
    const Film f = film(dusk, MOST_FRAMES);
    FREED_BY(free_run) Run *run = run_film(&f, &params, 5 * STEP);
    for (int i = 0; i < run->frames; i++)
        CHECK(run->stats[i].strength < params.strength + 0.001, "frame %d: a strength of %g", i,
              run->stats[i].strength);
}

static int with_noise(int code, int frame, int x, int y)
{
    return code + (int)(check_hash((uint64_t)frame, (uint64_t)(y * 256 + x)) % 7) - 3;
}

static int lamp_passes(int frame, int x, int y)
{
    const int left = frame * 2 - 60;
    return y >= 24 && x >= left && x < left + 30 ? 220 : 20 + (x / 8 + y / 6) % 5 * 3;
}

static int noisy_lamp_passes(int frame, int x, int y)
{
    return with_noise(lamp_passes(frame, x, y), frame, x, y);
}

/* Marks on a road in fog. */
static int marks_pass(int frame, int x, int y)
{
    const int mark = y >= 24 && x >= 40 && x < 56 && (frame * 2 + y) % 25 < 10;
    return mark ? 225 : 120 + (x / 8 + y / 6) % 5 * 8;
}

/* A lamp lights a third of the picture. */
static int lamp_on(int frame, int x, int y)
{
    return y >= 36 && frame >= 40 ? 200 : 30 + (x / 8 + y / 6) % 5 * 6;
}

/* A lamp becomes lighter in a mostly black picture. It covers three fifths of the lit area. */
static int lamp_in_void(int frame, int x, int y)
{
    const int lamp = y >= 24 && y < 36 && x < 72 ? frame >= 40 ? 64 : 40 : 0;
    return 16 + (y / 6 == 2 ? 20 + x / 8 % 5 * 8 : lamp);
}

static int noisy_marks_pass(int frame, int x, int y)
{
    return with_noise(marks_pass(frame, x, y), frame, x, y);
}

/* Returns by how much the mean output of rows 0 to 21 varies over a film. *most: the largest
 * variation that the source's changes explain. No passing object reaches these rows. */
static double wander(const Film *f, const LumeqParams *params, int64_t lookahead, double *most)
{
    static uint16_t in[96 * 54], out[96 * 54];
    FREED_BY(free_run) Run *run = run_film(f, params, lookahead);
    double low[2] = {1e9, 1e9}, high[2] = {0}, sum[2] = {0};
    for (int n = 0; n < run->frames; n++) {
        draw_frame(f, n, in);
        const LumeqImage image = image_of(f, in), result = image_of(f, out);
        must(lumeq_apply(context, run->curve[n], &image, NULL, 0, &result, NULL) == 0, "apply");
        for (int k = 0; k < 2; k++) {
            double mean = 0; /* above black */
            for (int i = 0; i < 22 * f->width; i++)
                mean += (((const uint8_t *)(k ? out : in))[i] - 16) / (22.0 * f->width);
            low[k] = fmin(low[k], mean);
            high[k] = fmax(high[k], mean);
            sum[k] += mean;
        }
    }
    *most = 1.5 * sum[1] / sum[0] * (high[0] - low[0]) + 1;
    return high[1] - low[1];
}

/* Still parts keep their light beside passing objects. */
TEST(never_pumps)
{
    static const Draw draws[] = {lamp_passes,      noisy_lamp_passes, marks_pass,
                                 noisy_marks_pass, lamp_on,           lamp_in_void};
    static const struct {
        LumeqMode mode;
        double strength, brightness, deflicker;
    } cases[] = {{LUMEQ_MODE_GLOBAL, LUMEQ_STRENGTH_AUTO, 0, 0},
                 {LUMEQ_MODE_GLOBAL, LUMEQ_STRENGTH_AUTO, 0.12, 0},
                 {LUMEQ_MODE_GLOBAL, LUMEQ_STRENGTH_AUTO, 0, 1},
                 {LUMEQ_MODE_GLOBAL, 0.8, 0, 0},
                 {LUMEQ_MODE_STRETCH, 0.8, 0, 0},
                 {LUMEQ_MODE_CLAHE, 0.8, 0, 0},
                 {LUMEQ_MODE_HAZE, 1, 0, 0}};
    for (int k = 0; k < COUNT(draws) * COUNT(cases); k++) {
        const int draw = k % COUNT(draws), mode = k / COUNT(draws);
        LumeqParams params = usual();
        params.mode = cases[mode].mode;
        params.strength = cases[mode].strength;
        params.brightness = cases[mode].brightness;
        params.deflicker = cases[mode].deflicker;
        const Film f = film(draws[draw], 110);
        double most;
        const double ahead = wander(&f, &params, LOOKAHEAD, &most);
        /* Curves of cells become up to four times as steep, which amplifies noise. */
        const double noise = params.mode == LUMEQ_MODE_HAZE ? 0.3 : 0;
        CHECK(ahead <= most + noise, "film %d, case %d: a range of %g ahead, not %g", draw, mode,
              ahead, most);
        if (params.deflicker > 0)
            continue;
        const double range = wander(&f, &params, 0, &most);
        CHECK(range <= most + noise, "film %d, case %d: a range of %g, not %g", draw, mode, range,
              most);
        CHECK(ahead <= range + 0.3, "film %d, case %d: %g with a lookahead, %g without", draw, mode,
              ahead, range);
    }
}

/* The light falls by an eighth within 250 frames. */
static int nightfall(int frame, int x, int y)
{
    const int light = 2000 - (frame > 100 ? frame - 100 : 0);
    const int dither = (int)(check_hash((uint64_t)frame, (uint64_t)(y * 256 + x)) % 2000);
    return 16 + (light * (4 + (x / 8 + y / 6) % 5 * 4) + dither) / 2000;
}

/* The same beside lights that pass one after another. */
static int nightfall_in_traffic(int frame, int x, int y)
{
    const int light = y >= 24 && (x + 8 * (y / 6) + frame * 3) % 100 < 30;
    return light ? 150 : nightfall(frame, x, y);
}

/* With a lookahead, slow changes of light change the output no more than without, and passing
 * lights do not matter. */
TEST(slow_light)
{
    for (int mode = 0; mode < 2; mode++) {
        LumeqParams params = usual();
        params.mode = mode ? LUMEQ_MODE_HAZE : LUMEQ_MODE_GLOBAL;
        const Film f = film(nightfall, 350), traffic = film(nightfall_in_traffic, 350);
        double most;
        const double ahead = wander(&f, &params, LOOKAHEAD, &most);
        const double range = wander(&f, &params, 0, &most);
        CHECK(ahead <= range + 0.3 && ahead <= most,
              "mode %d: a range of %g with a lookahead, %g without, not %g", mode, ahead, range,
              most);
        const double beside = wander(&traffic, &params, LOOKAHEAD, &most);
        CHECK(beside <= ahead + 0.3, "mode %d: a range of %g in traffic, %g without", mode, beside,
              ahead);
    }
}

static int fog_fades(int frame, int x, int y)
{
    const int light = frame < 60 ? 30 : frame < 90 ? 90 - frame : 0;
    return 16 + (60 + x + (x + y) % 4 * 10) * light / 30;
}

/* A foggy scene fades to black without a jump. */
TEST(haze_fades)
{
    static uint16_t in[96 * 54], out[96 * 54];
    LumeqParams params = usual();
    params.mode = LUMEQ_MODE_HAZE;
    params.strength = 1;
    const Film f = film(fog_fades, 110);
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    double was = 0;
    for (int n = 0; n < run->frames; n++) {
        draw_frame(&f, n, in);
        const LumeqImage image = image_of(&f, in), result = image_of(&f, out);
        must(lumeq_apply(context, run->curve[n], &image, NULL, 0, &result, NULL) == 0, "apply");
        double mean = 0;
        for (int i = 0; i < f.width * f.height; i++)
            mean += ((const uint8_t *)out)[i] / (double)(f.width * f.height);
        CHECK(!n || fabs(mean - was) < 8, "frame %d: the mean changes from %g to %g", n, was, mean);
        was = mean;
    }
}

/* The light of a room doubles within 0.3 s. */
static int room(int frame, int x, int y)
{
    const int part = frame < 50 ? 0 : frame < 58 ? frame - 50 : 8;
    return 16 + (still(0, x, y) - 16) * (8 + part) / 16;
}

/* Within a second, the curve mostly reaches that of the lit room. */
TEST(follows_changes)
{
    for (int k = 0; k < 4; k++) {
        const LumeqParams params = k / 2 ? usual() : literal();
        const int64_t lookahead = k % 2 * LOOKAHEAD;
        const Film f = film(room, 110);
        Film after = f;
        after.first = 60;
        FREED_BY(free_run) Run *run = run_film(&f, &params, lookahead);
        FREED_BY(free_run) Run *end = run_film(&after, &params, lookahead);
        for (int code = 30; code < 140; code += 10) {
            const double was = on_curve(&run->stats[40], code);
            const double now = on_curve(&run->stats[82], code);
            const double wanted = on_curve(&end->stats[20], code);
            CHECK(fabs(now - wanted) <= 2 + 0.3 * fabs(was - wanted),
                  "lift %d, lookahead %d: code %d becomes %g, not %g, was %g", k / 2, k % 2, code,
                  now, wanted, was);
        }
    }
}

/* Highlights stay light, and distinct from white. */
static void check_knee(const Run *run)
{
    for (int i = 0; i < run->frames; i++)
        CHECK(on_curve(&run->stats[i], 235) == 235 && on_curve(&run->stats[i], 233) < 235 &&
                  on_curve(&run->stats[i], 233) > 228,
              "frame %d: 233 and 235 become %g and %g", i, on_curve(&run->stats[i], 233),
              on_curve(&run->stats[i], 235));
}

/* Lifted curves reduce changes by about half, even without deflicker. */
TEST(deflicker)
{
    static const struct {
        LumeqMode mode;
        Draw draw;
        double most; /* unsteadiness with deflicker 0.5, as a share of that without */
    } cases[] = {{LUMEQ_MODE_GLOBAL, pumping, 1.05},
                 {LUMEQ_MODE_OFF, pumping, 0.7},
                 {LUMEQ_MODE_CLAHE, pumping, 0.7},
                 {LUMEQ_MODE_OFF, pumping_under_sky, 0.7}};
    for (int k = 0; k < COUNT(cases); k++) {
        LumeqParams params = usual();
        params.mode = cases[k].mode;
        const Film f = film(cases[k].draw, 120);
        FREED_BY(free_run) Run *without = run_film(&f, &params, LOOKAHEAD);
        params.deflicker = 1;
        FREED_BY(free_run) Run *with = run_film(&f, &params, LOOKAHEAD);
        params.deflicker = 0.5;
        FREED_BY(free_run) Run *half = run_film(&f, &params, LOOKAHEAD);
        const double was = unsteadiness(without, 1), is = unsteadiness(half, 1);
        CHECK(unsteadiness(with, 1) < 0.2 * was, "case %d: %g, was %g", k, unsteadiness(with, 1),
              was);
        CHECK(is < cases[k].most * was && is > 0.3 * was, "case %d, deflicker 0.5: %g, was %g", k,
              is, was);
        if (params.mode == LUMEQ_MODE_OFF)
            check_knee(with);
    }
}

/* The contrast of a lifted picture does not amplify changes of its light. */
TEST(light_is_not_amplified)
{
    LumeqParams params = usual();
    const Film f = film(pumping, 120);
    for (int ahead = 0; ahead < 2; ahead++) {
        FREED_BY(free_run) Run *lifted = run_film(&f, &params, ahead ? LOOKAHEAD : 0);
        const double slope = on_curve(&lifted->stats[60], 104) - on_curve(&lifted->stats[60], 96);
        CHECK(slope > 1.4 * 8, "8 codes become %g", slope);
        CHECK(unsteadiness(lifted, 1) < 1.2 * unsteadiness(lifted, 0),
              "ahead %d: %g, in the source %g", ahead, unsteadiness(lifted, 1),
              unsteadiness(lifted, 0));
    }
}

TEST(deflicker_much)
{
    LumeqParams params = usual();
    const Film f = film(pumping_hard, 120);
    params.mode = LUMEQ_MODE_OFF;
    params.deflicker = 1;
    FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
    check_knee(run);
    double most = 0;
    for (int i = 0; i < run->frames; i++)
        most = fmax(most, (on_curve(&run->stats[i], 50) - 16) / (50 - 16));
    CHECK(most > 1.2, "light is raised by at most %g", most);
}

TEST(deflicker_of_steady)
{
    const Draw draws[] = {still, scene_a, vans};
    for (int i = 0; i < 3; i++) {
        LumeqParams params = usual();
        params.mode = LUMEQ_MODE_OFF;
        params.deflicker = 1;
        const Film f = film(draws[i], 140);
        FREED_BY(free_run) Run *run = run_film(&f, &params, LOOKAHEAD);
        for (int n = 0; n < run->frames; n++)
            for (int code = 16; code < 236; code += 10)
                CHECK(fabs(on_curve(&run->stats[n], code) - code) < 0.01 * code,
                      "film %d, frame %d: %d becomes %g", i, n, code,
                      on_curve(&run->stats[n], code));
    }
}

TEST(protocol)
{
    const LumeqParams params = usual();
    const Film f = film(scene_a, 30);
    FREED_BY(lumeq_history_destroy) LumeqHistory *h = history(&params, 10 * STEP);
    LumeqCurve *curve = NULL;
    CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_AGAIN, "a curve without a measure");
    for (int i = 0; i < 10; i++) {
        CHECK(put(h, &f, &params, i) == 0, "put %d", i);
        CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_AGAIN, "a curve too early, at %d", i);
    }
    CHECK(put(h, &f, &params, 10) == 0, "put");
    CHECK(put(h, &f, &params, 11) == LUMEQ_ERR_AGAIN, "a measure beyond the lookahead is accepted");
    CHECK(lumeq_history_get(h, &curve) == 0 && curve, "no curve");
    lumeq_curve_unref(&curve);
    CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_AGAIN && !curve, "a second curve");
    CHECK(lumeq_history_put(h, NULL, NULL) == 0, "end");
    for (int i = 0; i < 10; i++) {
        CHECK(lumeq_history_get(h, &curve) == 0, "remaining curve %d is missing", i);
        lumeq_curve_unref(&curve);
    }
    CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_END, "no END");
    CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_END, "no END the second time");
    CHECK(put(h, &f, &params, 12) == 0, "a measure after the end is refused");
    CHECK(lumeq_history_get(h, &curve) == LUMEQ_ERR_AGAIN, "still END after a new measure");
}

/* The number of measures in a history is limited, for any duration of frames. */
TEST(bounds)
{
    const LumeqParams params = usual();
    static const struct {
        int64_t step, lookahead;
        int frames, least, most;                   /* held */
    } films[] = {{STEP, LOOKAHEAD, 400, 101, 101}, /* 4 s */
                 {1, SECOND, 400, 1, 302},
                 {SECOND * SECOND / 40, LOOKAHEAD, 30, 1, 2}}; /* frames that last for years */
    for (int i = 0; i < COUNT(films); i++) {
        Film f = film(scene_a, films[i].frames);
        f.step = films[i].step;
        FREED_BY(free_run) Run *run = run_film(&f, &params, films[i].lookahead);
        CHECK(run->held >= films[i].least && run->held <= films[i].most, "film %d: %d measures", i,
              run->held);
    }
}

static Film any_film(CheckRandom *random)
{
    Film f = film(anything, 40 + check_below(random, 40));
    f.depth = 8 + check_below(random, 9);
    f.range = (LumeqRange)check_below(random, 2);
    f.step = STEP / (1 + check_below(random, 3));
    f.first = check_below(random, 1000);
    return f;
}

static LumeqParams any_params(CheckRandom *random)
{
    LumeqParams params = usual();
    params.mode = (LumeqMode)check_below(random, 4);
    if (check_below(random, 2))
        params.strength = check_below(random, 11) / 10.0;
    params.adaptive = check_below(random, 2);
    params.clip = check_below(random, 3) ? 1 + check_below(random, 8) : 0;
    params.smooth = check_below(random, 4) / 3.0;
    params.scene_cut = check_below(random, 4) > 0;
    params.tiles_x = 1 + check_below(random, 9);
    params.tiles_y = 1 + check_below(random, 9);
    params.dither = check_below(random, 2);
    params.deflicker = check_below(random, 3) / 2.0;
    return params;
}

/* Unpacks the curve, because unpacking refuses curves that fall or leave the range. */
static void check_curve(const LumeqCurve *curve, const LumeqFrameStats *stats, int n)
{
    size_t size;
    LumeqCurve *other = NULL;
    uint8_t *bytes = packed(curve, &size);
    CHECK(lumeq_curve_unpack(&other, bytes, size) == 0, "frame %d: %s", n, lumeq_last_error(NULL));
    lumeq_curve_unref(&other);
    free(bytes);
    for (int i = 1; i < stats->bins; i++)
        if (!CHECK(stats->curve[i] >= stats->curve[i - 1], "frame %d: the curve falls", n))
            return;
}

TEST(anything)
{
    for (int round = 0; round < check_rounds(15); round++) {
        CheckRandom random = check_random((uint64_t)round);
        const Film f = any_film(&random);
        const LumeqParams params = any_params(&random);
        const int64_t lookahead = 1 + check_below(&random, 2000) * (SECOND / 1000);
        FREED_BY(free_run) Run *run = run_film(&f, &params, lookahead);
        FREED_BY(free_run) Run *again = run_film(&f, &params, lookahead);
        for (int i = 0; i < run->frames; i++) {
            check_curve(run->curve[i], &run->stats[i], i);
            CHECK(same_bytes(run->curve[i], again->curve[i]), "frame %d differs when repeated", i);
        }
    }
}

/* Failures for lack of memory do not change the results. */
TEST(no_memory)
{
    LumeqParams params = usual();
    params.mode = LUMEQ_MODE_CLAHE;
    const Film f = film(over_black, 120);
    FREED_BY(free_run) Run *expected = run_film(&f, &params, SECOND);
    scarce = 1;
    FREED_BY(free_run) Run *run = run_film(&f, &params, SECOND);
    scarce = 0;
    for (int i = 0; i < run->frames; i++)
        CHECK(same_bytes(run->curve[i], expected->curve[i]), "frame %d differs", i);
}

TEST_MAIN
