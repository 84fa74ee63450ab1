/*
 * Measures and curves as bytes: packed objects unpack to equal objects. All other bytes are refused
 * or give usable objects.
 */
#include "../check.h"
#include "all_stats.h"
#include "layouts.h"
#include "lumeq/lumeq.h"

#define WIDTH 40
#define HEIGHT 36
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct Packed {
    uint8_t *bytes;
    size_t size;
} Packed;

typedef enum Kind { MEASURE, CURVE, KINDS } Kind;

static const char *const kind_names[KINDS] = {"measure", "curve"};

typedef struct Case {
    LumeqMode mode;
    int reference, depth, shift, dither;
} Case;

typedef struct Film {
    const Case *usual;
    LumeqContext *context;
    LumeqParams params;
    LumeqImage in, out, before;
    LumeqMeasure *measure;
    LumeqHistory *history;
    LumeqCurve *curve;
    int frames;
} Film;

static const Case cases[] = {
    {LUMEQ_MODE_GLOBAL, 0, 8, 0, 0},  {LUMEQ_MODE_GLOBAL, 0, 10, 6, 1},
    {LUMEQ_MODE_GLOBAL, 0, 16, 0, 0}, {LUMEQ_MODE_GLOBAL, 1, 8, 0, 0},
    {LUMEQ_MODE_CLAHE, 0, 8, 0, 1},   {LUMEQ_MODE_CLAHE, 0, 14, 2, 0},
    {LUMEQ_MODE_CLAHE, 1, 8, 0, 0},   {LUMEQ_MODE_STRETCH, 0, 12, 0, 0},
    {LUMEQ_MODE_OFF, 0, 9, 0, 0},
};

static void must(int ret, const char *what)
{
    if (ret < 0) {
        fprintf(stderr, "cannot continue: %s: %s\n", what, lumeq_last_error(NULL));
        exit(1);
    }
}

/* A picture between bars, brighter from frame to frame. */
static void draw(const Film *f)
{
    CheckRandom random = check_random((uint64_t)f->frames);
    const int codes = 1 << f->in.depth;
    for (int c = 0; c < layout_components(&f->in); c++)
        for (int y = 0; y < layout_height(&f->in, c); y++)
            for (int x = 0; x < layout_width(&f->in, c); x++) {
                const int bar = !c && (y < 8 || y >= HEIGHT - 8);
                const int code =
                    codes / 8 + check_below(&random, codes / 4) + f->frames * codes / 64;
                layout_put(&f->in, c, x, y, bar ? codes / 16 : code);
            }
}

static void next_frame(Film *f)
{
    const LumeqMoment moment = {
        .number = f->frames, .time = f->frames * INT64_C(40000000), .interlaced = 1};
    memcpy(f->before.plane[0], f->in.plane[0], (size_t)(f->in.stride[0] * HEIGHT));
    draw(f);
    must(lumeq_measure(f->context, &f->measure, &f->params, &f->in, f->frames ? &f->before : NULL,
                       NULL),
         "measure");
    must(lumeq_history_put(f->history, f->measure, &moment), "put");
    lumeq_curve_unref(&f->curve);
    must(lumeq_history_get(f->history, &f->curve), "get");
    f->frames++;
}

static void open_film(Film *f, const Case *c)
{
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CPU, .threads = 1};
    memset(f, 0, sizeof(*f));
    f->usual = c;
    f->params.size = sizeof(f->params);
    lumeq_params_default(&f->params);
    f->params.mode = c->mode;
    f->params.reference = c->reference;
    f->params.dither = c->dither;
    f->params.transfer = c->depth == 10   ? LUMEQ_TRANSFER_PQ
                         : c->depth == 14 ? LUMEQ_TRANSFER_HLG
                                          : LUMEQ_TRANSFER_SDR;
    f->params.tiles_x = 3;
    f->params.tiles_y = 2;
    f->in = (LumeqImage){.width = WIDTH,
                         .height = HEIGHT,
                         .depth = c->depth,
                         .shift = c->shift,
                         .chroma_x = 1,
                         .chroma_y = 1};
    f->out = f->before = f->in;
    layout_alloc(&f->before, LAYOUT_PLANAR);
    layout_alloc(&f->in, LAYOUT_PLANAR);
    layout_alloc(&f->out, LAYOUT_PLANAR);
    must(lumeq_context_create(&f->context, &config, NULL, 0), "a context");
    must(lumeq_history_create(&f->history, &f->params, 0), "a history");
    for (int i = 0; i < 5; i++)
        next_frame(f);
}

static void close_film(Film *f)
{
    lumeq_curve_unref(&f->curve);
    lumeq_measure_free(&f->measure);
    lumeq_history_destroy(&f->history);
    lumeq_context_destroy(&f->context);
    layout_free(&f->in);
    layout_free(&f->before);
    layout_free(&f->out);
}

static int pack_object(const Film *f, Kind kind, void *bytes, size_t *size)
{
    return kind == MEASURE ? lumeq_measure_pack(f->measure, bytes, size)
                           : lumeq_curve_pack(f->curve, bytes, size);
}

/* Packs into memory of exactly the needed size, so that AddressSanitizer sees overruns. */
static Packed pack(const Film *f, Kind kind)
{
    Packed p = {0};
    CHECK(pack_object(f, kind, NULL, &p.size) == 0 && p.size > 100, "%s has no size",
          kind_names[kind]);
    p.bytes = malloc(p.size);
    must(p.bytes ? pack_object(f, kind, p.bytes, &p.size) : -1, "pack");
    return p;
}

/* Uses an unpacked object, whatever its content. */
static void use_measure(const Film *f, const LumeqMeasure *measure)
{
    static FrameStats stats;
    const LumeqMoment moment = {.number = 7, .time = 5};
    FREED_BY(lumeq_history_destroy) LumeqHistory *history = NULL;
    FREED_BY(lumeq_curve_unref) LumeqCurve *curve = NULL;
    must(lumeq_history_create(&history, &f->params, 0), "a history");
    if (lumeq_history_put(history, measure, &moment) == 0 &&
        lumeq_history_get(history, &curve) == 0) {
        CHECK(lumeq_curve_stats(curve, ask_stats(&stats)) == 0, "no statistics");
        (void)lumeq_apply(f->context, curve, &f->in, NULL, 0, &f->out, NULL);
    }
}

static void use_curve(const Film *f, const LumeqCurve *curve)
{
    static FrameStats stats;
    size_t size = 0;
    CHECK(lumeq_curve_stats(curve, ask_stats(&stats)) == 0, "no statistics");
    CHECK(lumeq_curve_pack(curve, NULL, &size) == 0, "no size");
    (void)lumeq_apply(f->context, curve, &f->in, NULL, 0, &f->out, NULL);
}

/* Unpacks and uses the object; returns 0 on success. */
static int unpack(const Film *f, Kind kind, const uint8_t *bytes, size_t size)
{
    LumeqMeasure *measure = NULL;
    LumeqCurve *curve = NULL;
    const int ret = kind == MEASURE ? lumeq_measure_unpack(&measure, bytes, size)
                                    : lumeq_curve_unpack(&curve, bytes, size);
    CHECK((ret == 0) == (measure || curve), "%d, but an object was %screated", ret,
          measure || curve ? "" : "not ");
    if (measure)
        use_measure(f, measure);
    if (curve)
        use_curve(f, curve);
    lumeq_measure_free(&measure);
    lumeq_curve_unref(&curve);
    return ret;
}

/* Defines the test `name`, whose body is run for both kinds of objects of each film. */
#define OBJECT_TEST(name)                                                                          \
    static void name##_of(Film *f, Kind kind);                                                     \
    TEST(name)                                                                                     \
    {                                                                                              \
        for (int i = 0; i < COUNT(cases); i++)                                                     \
            for (Kind kind = 0; kind < KINDS; kind++) {                                            \
                Film f;                                                                            \
                open_film(&f, &cases[i]);                                                          \
                name##_of(&f, kind);                                                               \
                close_film(&f);                                                                    \
            }                                                                                      \
    }                                                                                              \
    static void name##_of(Film *f, Kind kind)

static void check_same_output(Film *f, const LumeqCurve *curve, const char *what)
{
    LumeqImage expected = f->out;
    layout_alloc(&expected, LAYOUT_PLANAR);
    CHECK(lumeq_apply(f->context, f->curve, &f->in, NULL, 0, &f->out, NULL) == 0 &&
              lumeq_apply(f->context, curve, &f->in, NULL, 0, &expected, NULL) == 0 &&
              !layout_differences(&f->out, &expected),
          "the unpacked %s gives other bits", what);
    layout_free(&expected);
}

/* Compares later results of the unpacked object with those of the original. */
static void check_followers(Film *f, Kind kind, Film *other)
{
    static FrameStats stats, same;
    if (kind == MEASURE) {
        const LumeqMoment moment = {.number = 5, .time = INT64_C(200000000)};
        must(lumeq_history_copy(other->history, f->history), "copy");
        for (int i = 0; i < 2; i++) {
            Film *film = i ? other : f;
            must(lumeq_history_put(film->history, film->measure, &moment), "put");
            lumeq_curve_unref(&film->curve);
            must(lumeq_history_get(film->history, &film->curve), "get");
        }
    }
    CHECK(lumeq_curve_stats(f->curve, ask_stats(&stats)) == 0 &&
              lumeq_curve_stats(other->curve, ask_stats(&same)) == 0 && same_stats(&stats, &same),
          "the unpacked %s gives other statistics", kind_names[kind]);
    check_same_output(f, other->curve, kind_names[kind]);
}

OBJECT_TEST(round_trip)
{
    Film other;
    Packed p = pack(f, kind), again;
    open_film(&other, f->usual);
    for (int i = 0; i < 4; i++) /* so that its objects differ */
        next_frame(&other);
    other.frames = f->frames;
    const int ret = kind == MEASURE ? lumeq_measure_unpack(&other.measure, p.bytes, p.size)
                                    : lumeq_curve_unpack(&other.curve, p.bytes, p.size);
    CHECK(ret == 0, "%s: %s", kind_names[kind], lumeq_last_error(NULL));
    again = pack(&other, kind);
    CHECK(p.size == again.size && !memcmp(p.bytes, again.bytes, p.size),
          "a %s packed again differs", kind_names[kind]);
    check_followers(f, kind, &other);
    free(p.bytes);
    free(again.bytes);
    close_film(&other);
}

/* A curve packed without histograms gives the same output, but no statistics of histograms. */
OBJECT_TEST(bare)
{
    static FrameStats stats, again;
    FREED_BY(lumeq_curve_unref) LumeqCurve *curve = NULL;
    if (kind != CURVE)
        return;
    Packed p = pack(f, CURVE);
    must(lumeq_curve_pack_bare(f->curve, p.bytes, &p.size), "pack");
    must(lumeq_curve_unpack(&curve, p.bytes, p.size), "unpack");
    check_same_output(f, curve, "curve without histograms");
    CHECK(lumeq_curve_stats(f->curve, ask_stats(&stats)) == 0 &&
              lumeq_curve_stats(curve, ask_stats(&again)) == 0,
          "no statistics");
    CHECK(again.values.mean_in == 0 && again.values.mean_out == 0 && stats.values.mean_in > 0,
          "means without histograms: %g and %g", again.values.mean_in, again.values.mean_out);
    CHECK(again.values.strength == stats.values.strength &&
              again.values.noise_gain == stats.values.noise_gain,
          "the statistics differ");
    free(p.bytes);
}

/* If there is too little room, nothing is written beyond the room, and the size is returned. */
OBJECT_TEST(no_room)
{
    Packed p = pack(f, kind);
    for (size_t room = 0; room < p.size; room += 1 + p.size / 50) {
        uint8_t *little = malloc(room ? room : 1);
        size_t size = room;
        CHECK(little && pack_object(f, kind, little, &size) == LUMEQ_ERR_ARGUMENT && size == p.size,
              "a %s in %zu bytes of %zu", kind_names[kind], room, p.size);
        free(little);
    }
    free(p.bytes);
}

static void check_refused(const Film *f, Kind kind, const uint8_t *bytes, size_t size,
                          const char *what, size_t at)
{
    const int ret = unpack(f, kind, bytes, size);
    CHECK(ret == LUMEQ_ERR_ARGUMENT, "a %s %s %zu: %d", kind_names[kind], what, at, ret);
}

OBJECT_TEST(damage)
{
    Packed p = pack(f, kind);
    CHECK(unpack(f, kind, p.bytes, p.size) == 0, "whole: %s", lumeq_last_error(NULL));
    const size_t step = p.size > 3000 ? p.size / check_rounds(80) : 1;
    for (size_t size = 0; size < p.size; size += step) {
        uint8_t *cut = malloc(size ? size : 1);
        if (cut && size)
            memcpy(cut, p.bytes, size);
        check_refused(f, kind, cut, size, "cut to", size);
        free(cut);
    }
    for (size_t i = 0; i < p.size; i += step) {
        p.bytes[i] ^= (uint8_t)(1 << i % 8);
        check_refused(f, kind, p.bytes, p.size, "with another byte", i);
        p.bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    free(p.bytes);
}

/* Counts of 4 bytes: blocks by 16 levels, still blocks also by 32 bins, and repeated blocks. */
#define NOISE_SIZE (4 * (16 + 16 * 32 + 1))

/* A packed measure begins with letters, version and 8 fields. The meter follows. */
#define METER_AT (8 + 32)
#define METER_SIZE (4 * 4)

/* The bytes are the same on any machine. A new format needs a new version number. */
TEST(fixed_bytes)
{
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CPU, .threads = 1};
    uint8_t gray[16 * 8], bytes[8192];
    size_t size = sizeof(bytes);
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    for (int i = 0; i < COUNT(gray); i++)
        gray[i] = (uint8_t)(16 + i);
    const LumeqImage in = {.plane = {gray}, .stride = {16}, .width = 16, .height = 8, .depth = 8};
    must(lumeq_context_create(&context, &config, NULL, 0), "a context");
    must(lumeq_measure(context, &measure, NULL, &in, NULL, NULL), "a measure");
    must(lumeq_measure_pack(measure, bytes, &size), "pack");
    static const uint8_t head[] = {'L', 'Q', 'm', 's', 8, 0, 0, 0, 16, 0,
                                   0,   0,   8,   0,   0, 0, 8, 0, 0};
    CHECK(!memcmp(bytes, head, sizeof(head)), "the header has changed");
    /* Letters, version, 8 fields, meter, 256 counts, 16x9 sums of 8 bytes and groups of 8 bytes,
     * 16 + 8 lines, noise, checksum. */
    CHECK(size == METER_AT + METER_SIZE + 1024 + 1152 + 1152 + 24 + NOISE_SIZE + 4, "%zu bytes",
          size);
    const uint8_t *hist = bytes + METER_AT + METER_SIZE, *sums = hist + 1024;
    CHECK(hist[4 * 15] == 0 && hist[4 * 16] == 1 && hist[4 * 143] == 1 && hist[4 * 144] == 0,
          "the histogram has moved");
    CHECK(sums[0] == 0 && sums[16 * 8] == 16, "the sums have moved");
}

#define DEEP_WIDTH 96
#define DEEP_HEIGHT 64
#define DEEP_SIZE (DEEP_WIDTH * DEEP_HEIGHT)

/* Draws noise between two bars, with 8 bits and with `depth` bits. */
static void draw_deep(uint8_t *luma, uint16_t *deep, int depth, LumeqRange range, uint64_t seed)
{
    CheckRandom random = check_random(seed);
    for (int i = 0; i < DEEP_SIZE; i++) {
        const int dark = i / DEEP_WIDTH < 8 || i / DEEP_WIDTH >= 56;
        luma[i] = (uint8_t)(dark ? 16 : i % DEEP_WIDTH + check_below(&random, 160));
        deep[i] = (uint16_t)(luma[i] << (depth - 8));
        if (range == LUMEQ_RANGE_FULL)
            deep[i] = (uint16_t)(deep[i] | luma[i] >> (16 - depth));
    }
}

static void check_deeper(LumeqContext *context, int depth, LumeqRange range, LumeqMode mode)
{
    static uint8_t luma[2][DEEP_SIZE], bytes[2][1 << 18];
    static uint16_t deep[2][DEEP_SIZE];
    const LumeqParams params = {.size = sizeof(params), .strength = 1, .mode = mode};
    LumeqMeasure *measure = NULL, *expected = NULL;
    LumeqImage in[2], deeper[2];
    size_t size[2] = {sizeof(bytes[0]), sizeof(bytes[0])};
    for (int i = 0; i < 2; i++) {
        draw_deep(luma[i], deep[i], depth, range, (uint64_t)i);
        in[i] = (LumeqImage){.plane = {luma[i]},
                             .stride = {DEEP_WIDTH},
                             .width = DEEP_WIDTH,
                             .height = DEEP_HEIGHT,
                             .depth = 8,
                             .range = range};
        deeper[i] = in[i];
        deeper[i].plane[0] = deep[i];
        deeper[i].stride[0] = 2 * DEEP_WIDTH;
        deeper[i].depth = depth;
    }
    must(lumeq_measure(context, &measure, &params, &in[0], &in[1], NULL), "a measure");
    must(lumeq_measure(context, &expected, &params, &deeper[0], &deeper[1], NULL), "a measure");
    CHECK(lumeq_measure_deepen(measure, depth) == 0, "%s", lumeq_last_error(NULL));
    must(lumeq_measure_pack(measure, bytes[0], &size[0]), "pack");
    must(lumeq_measure_pack(expected, bytes[1], &size[1]), "pack");
    CHECK(size[0] == size[1], "depth %d: %zu bytes, not %zu", depth, size[0], size[1]);
    /* In full range, sums and differences may be off by a code. Compare the bytes before them. */
    const size_t same = range == LUMEQ_RANGE_FULL
                            ? METER_AT + METER_SIZE + 4 * (size_t)(depth < 12 ? 1 << depth : 4096)
                            : size[0];
    CHECK(!memcmp(bytes[0], bytes[1], same), "depth %d, range %d, mode %d: the bytes differ", depth,
          (int)range, (int)mode);
    CHECK(lumeq_measure_deepen(measure, 16) == LUMEQ_ERR_ARGUMENT, "a measure is deepened twice");
    lumeq_measure_free(&measure);
    lumeq_measure_free(&expected);
}

/* A deepened measure equals the measure of the deeper picture. */
TEST(deeper)
{
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CPU, .threads = 1};
    const LumeqParams reference = {
        .size = sizeof(reference), .mode = LUMEQ_MODE_CLAHE, .reference = 1};
    uint8_t gray[64] = {0};
    const LumeqImage in = {.plane = {gray}, .stride = {8}, .width = 8, .height = 8, .depth = 8};
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    must(lumeq_context_create(&context, &config, NULL, 0), "a context");
    for (int depth = 9; depth <= 16; depth++)
        for (int range = LUMEQ_RANGE_LIMITED; range <= LUMEQ_RANGE_FULL; range++) {
            check_deeper(context, depth, (LumeqRange)range, LUMEQ_MODE_GLOBAL);
            check_deeper(context, depth, (LumeqRange)range, LUMEQ_MODE_CLAHE);
        }
    CHECK(lumeq_measure_deepen(NULL, 10) == LUMEQ_ERR_ARGUMENT, "NULL is deepened");
    must(lumeq_measure(context, &measure, NULL, &in, NULL, NULL), "a measure");
    CHECK(lumeq_measure_deepen(measure, 8) == LUMEQ_ERR_ARGUMENT &&
              lumeq_measure_deepen(measure, 17) == LUMEQ_ERR_ARGUMENT,
          "a measure is deepened to 8 or 17 bits");
    must(lumeq_measure(context, &measure, &reference, &in, NULL, NULL), "a measure");
    CHECK(lumeq_measure_deepen(measure, 10) == LUMEQ_ERR_ARGUMENT, "the reference's is deepened");
}

/* Curves do not contain tiles that their mode does not use. */
TEST(tiles_that_are_not_used)
{
    const LumeqMoment moment = {.size = sizeof(moment)};
    Film f;
    open_film(&f, &cases[4]);
    f.params.mode = LUMEQ_MODE_GLOBAL;
    must(lumeq_history_set_params(f.history, &f.params), "parameters");
    must(lumeq_history_put(f.history, f.measure, &moment), "put");
    lumeq_curve_unref(&f.curve);
    must(lumeq_history_get(f.history, &f.curve), "get");
    Packed p = pack(&f, CURVE);
    CHECK(lumeq_curve_unpack(&f.curve, p.bytes, p.size) == 0, "%s", lumeq_last_error(NULL));
    Packed again = pack(&f, CURVE);
    CHECK(p.size == again.size && !memcmp(p.bytes, again.bytes, p.size),
          "the unpacked curve differs");
    free(p.bytes);
    free(again.bytes);
    close_film(&f);
}

TEST_MAIN
