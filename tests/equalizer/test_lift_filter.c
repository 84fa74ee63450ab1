/*
 * Compares the CPU's filter of lifted pictures with the model in tests/lift, each variant of the
 * kernels with plain C, and whole frames for any number of threads.
 */
#include "equalizer/cpu/lift_cpu.h"

#include "equalizer/cpu/bands.h"
#include "equalizer/tone_curve.h"
#include "lift_pictures.h"
#include "variants.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct LiftVector {
    int kind, width, height, rows, lift, noise, past, depth, sub_x, sub_y, frame;
    uint32_t denoise, hash[3];
} LiftVector;

#include "lift_filter_vectors.h"

#define GUARD 128

typedef struct LiftForm {
    int width, height, depth, shift;
    ChromaShape shape;
} LiftForm;

typedef struct LiftFrame {
    CheckRect rect[3]; /* luma, Cb and Cr, or luma and interleaved chroma */
    LumeqImage image;
} LiftFrame;

static int lift_sample_size(const LiftForm *f)
{
    return f->depth > 8 ? 2 : 1;
}

/* The width of component 0, 1 or 2, in samples. */
static int lift_width(const LiftForm *f, int component)
{
    return component ? chroma_side(f->width, f->shape.x) : f->width;
}

static int lift_height(const LiftForm *f, int component)
{
    return component ? chroma_side(f->height, f->shape.y) : f->height;
}

/* `random` NULL: rows have no padding, and memory ends with the last row. */
static LiftFrame lift_open(const LiftForm *f, CheckRandom *random)
{
    LiftFrame frame = {
        .image = {.width = f->width, .height = f->height, .depth = f->depth, .shift = f->shift}};
    const int size = lift_sample_size(f);
    for (int i = 0; i <= f->shape.planes; i++) {
        const int samples = i ? chroma_row(f->shape, f->width) : f->width;
        const int stride = random ? any_stride(random, samples) : samples;
        const int offset = random ? check_below(random, 16) : 0;
        frame.rect[i] = check_rect(samples * size, lift_height(f, i), (ptrdiff_t)stride * size,
                                   offset * size, random ? GUARD : 0);
    }
    frame.image.plane[0] = frame.rect[0].pixels;
    frame.image.stride[0] = frame.rect[0].stride;
    set_chroma(&frame.image, f->shape, frame.rect + 1);
    return frame;
}

static void lift_close(LiftFrame *frame)
{
    for (int i = 0; i < 3; i++)
        check_rect_free(&frame->rect[i]);
}

static uint8_t *lift_place(const LiftFrame *frame, int component, int x, int y)
{
    const int pairs = component && !frame->image.plane[2];
    return check_row(&frame->rect[pairs ? 1 : component], y) +
           (pairs ? 2 * x + component - 1 : x) * (frame->image.depth > 8 ? 2 : 1);
}

static int lift_get(const LiftFrame *frame, int component, int x, int y)
{
    const uint8_t *at = lift_place(frame, component, x, y);
    return (frame->image.depth > 8 ? at[0] | at[1] << 8 : at[0]) >> frame->image.shift;
}

static void lift_put(const LiftFrame *frame, int component, int x, int y, int code)
{
    const uint16_t sample = (uint16_t)(code << frame->image.shift);
    memcpy(lift_place(frame, component, x, y), &sample, frame->image.depth > 8 ? 2 : 1);
}

static void lift_draw_frame(const LiftForm *f, const LiftFrame *frame, int kind, int noise,
                            int seed)
{
    uint16_t *codes = malloc((size_t)f->width * (size_t)f->height * sizeof(*codes));
    for (int i = 0; i < 3; i++) {
        const int width = lift_width(f, i), height = lift_height(f, i);
        lift_draw(codes, kind, width, height, f->depth, i, noise, seed + i);
        for (int k = 0; k < width * height; k++)
            lift_put(frame, i, k % width, k / width, codes[k]);
    }
    free(codes);
}

static uint32_t hash_plane(const LiftForm *f, const LiftFrame *p, int plane)
{
    uint64_t hash = CHECK_FNV_START;
    for (int y = 0; y < lift_height(f, plane); y++)
        for (int x = 0; x < lift_width(f, plane); x++) {
            const uint16_t code = (uint16_t)lift_get(p, plane, x, y);
            hash = check_fnv(hash, &code, (size_t)lift_sample_size(f));
        }
    return (uint32_t)hash;
}

/* Filters in two bands, in memory with arbitrary content. */
static void lift_in_bands(const LiftedPicture *lifted, int split)
{
    const size_t size = (lumeq_lift_memory(lifted) + 63) / 64 * 64;
    uint8_t *memory = aligned_alloc(64, size);
    for (int band = 0; band < 2; band++) {
        const int rows = lifted->in.height, chroma = lifted->chroma_rows;
        memset(memory, band ? 0x5a : 0, size);
        lumeq_lift_luma(lifted, memory, band ? rows * split / 4 : 0,
                        band ? rows : rows * split / 4);
        lumeq_lift_chroma(lifted, memory, band ? chroma * split / 4 : 0,
                          band ? chroma : chroma * split / 4);
    }
    free(memory);
}

typedef struct Trial {
    LiftForm form;
    CurveParams params;
    CurveTable table;
    LiftFrame in, past[LIFT_PAST], out;
    LiftedPicture lifted;
} Trial;

static Trial *open_trial(const LiftForm *form, LumeqRange range, CheckRandom *random)
{
    Trial *t = calloc(1, sizeof(*t));
    t->form = *form;
    t->params = params_of((Format){form->depth, form->shift}, range);
    t->in = lift_open(form, random);
    t->out = lift_open(form, random);
    t->lifted = (LiftedPicture){.params = &t->params,
                                .table = &t->table,
                                .in = t->in.image,
                                .out = t->out.image,
                                .chroma_rows = lift_height(form, 1)};
    return t;
}

/* Draws the input and its previous frames. The table, filled before, sets their number. */
static void draw_trial(Trial *t, int kind, int noise, int seed, CheckRandom *random)
{
    lift_draw_frame(&t->form, &t->in, kind, noise, seed);
    t->lifted.past_count = t->table.lift.past;
    for (int i = 0; i < t->lifted.past_count; i++) {
        t->past[i] = lift_open(&t->form, random);
        lift_draw_frame(&t->form, &t->past[i], kind, noise, seed + 3 * (i + 1));
        t->lifted.past[i] = t->past[i].image;
    }
}

static void close_trial(Trial **t)
{
    lift_close(&(*t)->in);
    lift_close(&(*t)->out);
    for (int i = 0; i < LIFT_PAST; i++)
        lift_close(&(*t)->past[i]);
    free(*t);
}

static void check_vector(const char *name, const LumeqKernels *kernels, const LiftVector *v,
                         int interleaved, int split)
{
    const LiftForm form = {v->width,
                           v->height,
                           v->depth,
                           interleaved && v->depth > 8 ? 16 - v->depth : 0,
                           {interleaved ? 1 : 2, v->sub_x, v->sub_y}};
    FREED_BY(close_trial) Trial *t = open_trial(&form, LUMEQ_RANGE_LIMITED, NULL);
    uint32_t nodes[LIFT_CODES];
    t->params.frame = (uint32_t)v->frame;
    t->lifted.kernels = &kernels->lift;
    t->lifted.frame_rows = v->rows;
    lift_nodes(nodes, v->lift);
    lift_fill(&t->table, nodes, v->noise, v->denoise, v->past);
    draw_trial(t, v->kind, v->noise, 1, NULL);
    lift_in_bands(&t->lifted, split);
    for (int i = 0; i < 3; i++) {
        const uint32_t hash = hash_plane(&form, &t->out, i);
        CHECK(hash == v->hash[i],
              "%s: plane %d of kind %d, %dx%d, rows %d, lift %d, noise %d, past %d, depth %d, "
              "%d %d, interleaved %d, split %d: %08x",
              name, i, v->kind, v->width, v->height, v->rows, v->lift, v->noise, v->past, v->depth,
              v->sub_x, v->sub_y, interleaved, split, hash);
    }
}

VARIANT_TEST(model)
{
    for (int i = 0; i < COUNT(lift_vectors); i++)
        for (int interleaved = 0; interleaved < 2; interleaved++)
            check_vector(name, kernels, &lift_vectors[i], interleaved, (i + interleaved) % 5);
}

static LiftForm any_form(CheckRandom *random)
{
    const Format format = formats[check_below(random, FORMATS)];
    static const int widths[] = {70, 70,  70,  70,
                                 70, 400, 400, 2500}; /* wider than the prefetch distance */
    const int width = 1 + check_below(random, widths[check_below(random, COUNT(widths))]);
    return (LiftForm){
        .width = width,
        .height = 1 + check_below(random, width > 400 ? 12 : 60),
        .depth = format.depth,
        .shift = format.shift,
        .shape = {1 + check_below(random, 2), check_below(random, 3), check_below(random, 3)}};
}

static void compare(const char *name, const LumeqKernels *kernels, CheckRandom *random)
{
    const LiftForm form = any_form(random);
    const int noise = check_below(random, 400), kind = check_below(random, LIFT_KINDS);
    FREED_BY(close_trial) Trial *t = open_trial(&form, (LumeqRange)(kind % 2), random);
    FREED_BY(lift_close) LiftFrame expected = lift_open(&form, random);
    t->params.frame = (uint32_t)check_below(random, 1000);
    t->lifted.frame_rows = 400 + check_below(random, 700);
    lift_any(&t->table, random);
    draw_trial(t, kind, noise, 1 + check_below(random, 1000), random);
    t->lifted.kernels = &kernels->lift;
    lift_in_bands(&t->lifted, check_below(random, 5));
    t->lifted.kernels = &lumeq_lift_c;
    t->lifted.out = expected.image;
    lift_in_bands(&t->lifted, check_below(random, 5));
    for (int i = 0; i <= form.shape.planes; i++) {
        CHECK(check_rect_equal(&t->out.rect[i], &expected.rect[i]),
              "%s: plane %d of kind %d, %dx%d, rows %d, noise %d, past %d, depth %d, shift %d, "
              "%d %d, interleaved %d",
              name, i, kind, form.width, form.height, t->lifted.frame_rows, noise,
              t->lifted.past_count, form.depth, form.shift, form.shape.x, form.shape.y,
              form.shape.planes == 1);
        CHECK(check_rect_intact(&t->out.rect[i]) && check_rect_intact(&expected.rect[i]),
              "%s: plane %d of %dx%d, depth %d: writes outside", name, i, form.width, form.height,
              form.depth);
    }
}

VARIANT_TEST(variants)
{
    CheckRandom random = check_random(1);
    for (int i = 0; i < 600 / CHECK_SLOWER; i++)
        compare(name, kernels, &random);
}

#define WHOLE_PAST 2

/* A frame with bars, and the format of its output. */
typedef struct Whole {
    LiftForm form, out;
    LumeqRect active;
    int fields, luma, chroma; /* true: interlaced, luma filtered, chroma filtered */
} Whole;

static const Whole wholes[] = {
    {{1000, 560, 8, 0, {2, 1, 1}}, {1000, 560, 8, 0, {2, 1, 1}}, {16, 8, 968, 544}, 0, 1, 1},
    {{1000, 560, 8, 0, {2, 1, 1}}, {1000, 560, 8, 0, {1, 1, 1}}, {0, 40, 1000, 480}, 0, 1, 0},
    {{1001, 563, 10, 0, {2, 1, 1}}, {1001, 563, 10, 6, {1, 1, 1}}, {4, 0, 997, 563}, 0, 1, 1},
    {{1000, 562, 8, 0, {1, 1, 1}}, {1000, 562, 8, 0, {2, 1, 1}}, {0, 4, 1000, 558}, 1, 1, 1},
    {{999, 561, 10, 6, {2, 1, 0}}, {999, 561, 10, 0, {2, 1, 0}}, {0, 0, 999, 561}, 1, 1, 1},
    {{1000, 560, 8, 0, {2, 0, 0}}, {1000, 560, 8, 0, {2, 0, 0}}, {8, 8, 984, 544}, 0, 0, 1},
    {{1000, 561, 8, 0, {2, 1, 1}}, {1000, 561, 8, 0, {1, 1, 1}}, {0, 4, 1000, 557}, 1, 1, 0},
    {{1000, 562, 10, 6, {1, 1, 1}}, {1000, 562, 10, 0, {1, 1, 1}}, {16, 0, 984, 562}, 1, 0, 1},
};

typedef struct Scene {
    LiftFrame in, past[WHOLE_PAST], out;
    CurveParams params;
    CurveTable table;
    BarsState bars;
} Scene;

static Scene *open_scene(const Whole *w)
{
    Scene *s = calloc(1, sizeof(*s));
    uint32_t nodes[LIFT_CODES];
    s->in = lift_open(&w->form, NULL);
    s->out = lift_open(&w->out, NULL);
    lift_draw_frame(&w->form, &s->in, LIFT_BLOCKS, 160, 1);
    for (int i = 0; i < WHOLE_PAST; i++) {
        s->past[i] = lift_open(&w->form, NULL);
        lift_draw_frame(&w->form, &s->past[i], LIFT_BLOCKS, 160, 4 + 3 * i);
    }
    s->params = params_of((Format){w->form.depth, w->form.shift}, LUMEQ_RANGE_LIMITED);
    s->params.frame = 3;
    s->bars.active = w->active;
    lift_nodes(nodes, 6);
    lift_fill(&s->table, nodes, 160, CURVE_ONE, WHOLE_PAST);
    s->table.lift.luma_on = w->luma;
    s->table.lift.chroma_on = w->chroma;
    for (int i = 0; i < 256 && w->form.depth == 8; i++)
        s->table.codes8[i] = (uint8_t)(255 - i);
    return s;
}

static void close_scene(Scene *s)
{
    lift_close(&s->in);
    lift_close(&s->out);
    for (int i = 0; i < WHOLE_PAST; i++)
        lift_close(&s->past[i]);
    free(s);
}

static void apply_scene(Scene *s, const Whole *w, int threads)
{
    CpuTeam team = {.workers = lumeq_workers_create(threads), .threads = threads};
    lumeq_kernels_init(&team.kernels, lumeq_cpu_flags());
    LumeqApplyJob job = {.in = s->in.image,
                         .out = s->out.image,
                         .previous_count = WHOLE_PAST,
                         .fields = w->fields,
                         .write = lumeq_planes(&s->out.image),
                         .curve = s->params,
                         .bars = &s->bars,
                         .table = &s->table};
    for (int i = 0; i < WHOLE_PAST; i++)
        job.previous[i] = s->past[i].image;
    CHECK(lumeq_cpu_apply(&team, &job) == 0, "no memory");
    lumeq_workers_destroy(&team.workers);
    free(team.lift_memory);
}

/* Rows of a component in the active picture, or in a field of it. */
static int field_rows(const LiftForm *form, const LumeqRect *active, int component, int field,
                      int fields)
{
    const int rows = component ? chroma_side(active->height, form->shape.y) : active->height;
    return (rows + fields - 1 - field) / fields;
}

/* The active picture of a frame, or a field of it. */
static LumeqImage field_of(const LiftFrame *frame, const LiftForm *form, const LumeqRect *active,
                           int field, int fields)
{
    LumeqImage image = frame->image;
    image.width = active->width;
    image.height = field_rows(form, active, 0, field, fields);
    for (int i = 0; i < 3 && image.plane[i]; i++) {
        const int top = (i ? active->y >> form->shape.y : active->y) + field;
        image.plane[i] = lift_place(frame, i, i ? active->x >> form->shape.x : active->x, top);
        image.stride[i] *= fields;
    }
    return image;
}

/* Filters the field alone, and counts the samples that differ in the output. */
static int count_wrong(const Scene *s, const Whole *w, int field)
{
    const int fields = w->fields ? 2 : 1;
    const LumeqRect *active = &w->active;
    LiftForm form = w->form;
    form.width = active->width;
    form.height = field_rows(&form, active, 0, field, fields);
    const int chroma_rows = field_rows(&form, active, 1, field, fields);
    LiftFrame out = lift_open(&form, NULL);
    LiftedPicture lifted = {.kernels = &lumeq_lift_c,
                            .params = &s->params,
                            .table = &s->table,
                            .in = field_of(&s->in, &form, active, field, fields),
                            .out = out.image,
                            .past_count = WHOLE_PAST,
                            .chroma_rows = chroma_rows,
                            .frame_rows = active->height};
    for (int i = 0; i < WHOLE_PAST; i++)
        lifted.past[i] = field_of(&s->past[i], &form, active, field, fields);
    lift_in_bands(&lifted, 0);
    int wrong = 0;
    for (int i = 0; i < 3; i++) {
        const int left = i ? active->x >> form.shape.x : active->x;
        const int top = (i ? active->y >> form.shape.y : active->y) + field;
        const int rows = i ? chroma_rows : form.height;
        for (int y = 0; y < rows && (i ? w->chroma : w->luma); y++)
            for (int x = 0; x < lift_width(&form, i); x++)
                wrong +=
                    lift_get(&out, i, x, y) != lift_get(&s->out, i, left + x, top + y * fields);
    }
    lift_close(&out);
    return wrong;
}

/* Counts the samples outside the active picture that differ from the input. */
static int count_wrong_bars(const Scene *s, const Whole *w)
{
    const LumeqRect *a = &w->active;
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < lift_height(&w->form, i); y++)
            for (int x = 0; x < lift_width(&w->form, i); x++) {
                const int luma_x = i ? x << w->form.shape.x : x,
                          luma_y = i ? y << w->form.shape.y : y;
                const int inside = luma_x >= a->x && luma_x < a->x + a->width && luma_y >= a->y &&
                                   luma_y < a->y + a->height;
                wrong += !inside && lift_get(&s->in, i, x, y) != lift_get(&s->out, i, x, y);
            }
    return wrong;
}

/* Planes that are not filtered equal those written without any filter. */
static void check_unfiltered(const Scene *s, const Whole *w)
{
    Scene *plain = open_scene(w);
    plain->table.lift.luma_on = plain->table.lift.chroma_on = 0;
    apply_scene(plain, w, 1);
    for (int i = 0; i < 3; i++)
        if (!(i ? w->chroma : w->luma))
            CHECK(hash_plane(&w->out, &s->out, i) == hash_plane(&w->out, &plain->out, i),
                  "whole %td: plane %d is not filtered, but differs", w - wholes, i);
    close_scene(plain);
}

static void check_whole(const Whole *w)
{
    static const int threads[] = {1, 2, 3, 7};
    uint32_t hash[3] = {0};
    for (int t = 0; t < COUNT(threads); t++) {
        Scene *s = open_scene(w);
        apply_scene(s, w, threads[t]);
        for (int i = 0; i < 3; i++) {
            const uint32_t now = hash_plane(&w->out, &s->out, i);
            hash[i] = t ? hash[i] : now;
            CHECK(now == hash[i], "whole %td: plane %d differs with %d threads", w - wholes, i,
                  threads[t]);
        }
        for (int field = 0; t == 0 && field <= w->fields; field++)
            CHECK(!count_wrong(s, w, field), "whole %td: field %d differs", w - wholes, field);
        if (t == 0) {
            CHECK(!count_wrong_bars(s, w), "whole %td: the bars are not the input's", w - wholes);
            check_unfiltered(s, w);
        }
        close_scene(s);
    }
}

TEST(whole_frames)
{
    for (int i = 0; i < COUNT(wholes); i++)
        if (check_drawn(i))
            check_whole(&wholes[i]);
}

#define FILM_WIDTH 192
#define FILM_HEIGHT 128
#define FILM_FRAMES 12
#define FILM_SIZE (FILM_WIDTH * FILM_HEIGHT)

/* A dark still picture with noise. */
static void draw_film(uint8_t *luma, int frame)
{
    CheckRandom random = {(uint64_t)frame + 1, 0};
    for (int i = 0; i < FILM_SIZE; i++) {
        const int noise = check_below(&random, 5) + check_below(&random, 5) - 4;
        luma[i] = (uint8_t)(24 + i % FILM_WIDTH / 8 + noise);
    }
}

static LumeqImage film_image(uint8_t *luma)
{
    return (LumeqImage){.plane = {luma},
                        .stride = {FILM_WIDTH},
                        .width = FILM_WIDTH,
                        .height = FILM_HEIGHT,
                        .depth = 8};
}

#define SCENE 7 /* frames of the first scene */

/* Sum of differences between neighbouring output frames, made with up to `most` previous frames. */
static int64_t planned_apart(LumeqContext *context, LumeqCurve *const *curves,
                             uint8_t film[][FILM_SIZE], int most)
{
    static uint8_t out[2][FILM_SIZE];
    int64_t apart = 0;
    for (int i = 0; i < FILM_FRAMES; i++) {
        LumeqImage previous[LIFT_PAST];
        const LumeqImage in = film_image(film[i]), to = film_image(out[i % 2]);
        const int count = i < most ? i : most;
        for (int k = 0; k < count; k++)
            previous[k] = film_image(film[i - 1 - k]);
        CHECK(lumeq_apply(context, curves[i], &in, previous, count, &to, NULL) == 0, "%s",
              lumeq_last_error(NULL));
        for (int k = 0; k < FILM_SIZE && i % SCENE > LIFT_PAST; k++)
            apart += abs(out[0][k] - out[1][k]);
    }
    return apart;
}

/* With lookahead, a curve uses up to three previous frames of its own scene. Each additional frame
 * removes more noise. */
TEST(planned_looks_further)
{
    static uint8_t film[FILM_FRAMES][FILM_SIZE];
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 2};
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_history_destroy) LumeqHistory *history = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    LumeqCurve *curves[FILM_FRAMES] = {NULL};
    int64_t apart[LIFT_PAST + 1] = {0};
    CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0 &&
              lumeq_history_create(&history, NULL, LUMEQ_MAX_LOOKAHEAD) == 0,
          "no context or no history");
    for (int i = 0; i < FILM_FRAMES; i++) {
        draw_film(film[i], i);
        for (int k = 0; k < FILM_SIZE / 2 && i >= SCENE; k++) /* the upper half lights up */
            film[i][k] = (uint8_t)(film[i][k] + 30);
        const LumeqImage in = film_image(film[i]), before = film_image(film[i ? i - 1 : 0]);
        const LumeqMoment moment = {.size = sizeof(moment), .time = i * INT64_C(40000000)};
        CHECK(lumeq_measure(context, &measure, NULL, &in, i ? &before : NULL, NULL) == 0 &&
                  lumeq_history_put(history, measure, &moment) == 0,
              "%s", lumeq_last_error(NULL));
    }
    CHECK(lumeq_history_put(history, NULL, NULL) == 0, "the end is refused");
    for (int i = 0; i < FILM_FRAMES; i++) {
        LumeqFrameStats stats = {.size = sizeof(stats)};
        const int there = i < SCENE ? i : i - SCENE;
        CHECK(lumeq_history_get(history, &curves[i]) == 0 &&
                  lumeq_curve_stats(curves[i], &stats) == 0,
              "%s", lumeq_last_error(NULL));
        CHECK(stats.scene_cut == (i == SCENE), "frame %d: cut %d", i, stats.scene_cut);
        CHECK(stats.previous == (there < LIFT_PAST ? there : LIFT_PAST),
              "frame %d asks for %d previous ones", i, stats.previous);
    }
    const LumeqImage in = film_image(film[1]);
    static uint8_t out[FILM_SIZE];
    const LumeqImage to = film_image(out);
    LumeqImage wrong = film_image(film[0]);
    wrong.width -= 8;
    CHECK(lumeq_apply(context, curves[1], &in, &wrong, 1, &to, NULL) == LUMEQ_ERR_ARGUMENT,
          "a previous frame of another size is accepted");
    for (int most = 0; most <= LIFT_PAST; most++)
        apart[most] = planned_apart(context, curves, film, most);
    for (int most = 1; most <= LIFT_PAST; most++)
        CHECK(apart[most] < apart[most - 1], "%d frames before: %lld apart, %lld with fewer", most,
              (long long)apart[most], (long long)apart[most - 1]);
    for (int i = 0; i < FILM_FRAMES; i++)
        lumeq_curve_unref(&curves[i]);
}

/* Two fields of a dark picture, one of them brighter. */
TEST(interlaced)
{
    static uint8_t film[FILM_SIZE], out[2][FILM_SIZE];
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 2};
    draw_film(film, 0);
    for (int i = 0; i < FILM_SIZE; i++)
        film[i] = (uint8_t)(film[i] + i / FILM_WIDTH % 2 * 3);
    for (int i = 0; i < 2; i++) {
        FREED_BY(lumeq_destroy) LumeqEqualizer *eq = NULL;
        LumeqFrame frame = {.size = sizeof(frame),
                            .in = film_image(film),
                            .out = film_image(out[i]),
                            .interlaced = i};
        CHECK(lumeq_create(&eq, &config, NULL, 0) == 0 && lumeq_process(eq, &frame, NULL) == 0,
              "frame %d", i);
        CHECK(frame.interlaced == i, "frame %d: interlaced has become %d", i, frame.interlaced);
    }
    CHECK(memcmp(out[0], out[1], FILM_SIZE), "fields are filtered like frames");
}

/* Single samples that are one code above the surrounding black do not become black. */
TEST(grain_stays_above_black)
{
    static uint8_t film[FILM_SIZE], out[FILM_SIZE];
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = NULL;
    LumeqFrameStats stats = {.size = sizeof(stats)};
    for (int i = 0; i < FILM_SIZE; i++) {
        const int lit = i > FILM_SIZE / 4;
        film[i] = (uint8_t)(lit ? 20 + i % FILM_WIDTH / 8 : i % 7 ? 16 : 17);
    }
    LumeqFrame frame = {.size = sizeof(frame), .in = film_image(film), .out = film_image(out)};
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0 && lumeq_process(eq, &frame, &stats) == 0,
          "the frame is refused");
    CHECK(stats.filtered && stats.lift > 2, "lifted by %g", stats.lift);
    int lost = 0, specks = 0;
    for (int i = 0; i < FILM_SIZE; i++) {
        lost += film[i] > 16 && out[i] <= 16;
        specks += i < FILM_SIZE / 5 && out[i] > 18;
    }
    CHECK(!lost && !specks, "%d samples are newly black, %d stand out", lost, specks);
}

/* The first frame of a scene contains nothing of the previous scene. */
TEST(never_across_a_cut)
{
    static uint8_t film[2][FILM_SIZE], out[2][FILM_SIZE];
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 2};
    for (int with = 0; with <= 1; with++) {
        FREED_BY(lumeq_destroy) LumeqEqualizer *eq = NULL;
        LumeqFrameStats stats = {.size = sizeof(stats)};
        CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "no equalizer");
        for (int i = 0; i < 8; i++) {
            const LumeqImage previous = film_image(film[(i + 1) % 2]);
            LumeqFrame frame = {.size = sizeof(frame),
                                .in = film_image(film[i % 2]),
                                .out = film_image(out[with]),
                                .time = i * INT64_C(40000000),
                                .previous = i && (i < 7 || with) ? &previous : NULL};
            draw_film(film[i % 2], i);
            for (int k = 0; k < FILM_SIZE && i == 7; k++) /* a lit part, the rest unchanged */
                film[1][k] = k < FILM_SIZE / 2 ? film[1][k] : (uint8_t)(film[1][k] + 120);
            CHECK(lumeq_process(eq, &frame, &stats) == 0, "%s", lumeq_last_error(eq));
        }
        CHECK(stats.scene_cut, "no cut is found");
    }
    CHECK(!memcmp(out[0], out[1], FILM_SIZE), "the frame after the cut depends on the one before");
}

TEST_MAIN
