/*
 * Chroma scaled by the gain of the luma under it: the kernels against plain loops from the
 * definition, for every depth, subsampling and layout; the gain against a model in double
 * precision; and whole pictures on every backend.
 */
#include <math.h>

#include "variants.h"

#define GUARD 128
#define MS INT64_C(1000000)

static const LumeqParams full_strength = {.strength = 1, .bars = LUMEQ_BARS_IGNORE};

/* ---- planes ------------------------------------------------------------------------------- */

/* Luma, Cb and Cr, or luma and both in turns. */
typedef struct Planes {
    CheckRect rect[3];
} Planes;

/* `random` NULL: rows follow each other without a gap. */
static CheckRect open_plane(int samples, int rows, int size, int guard, CheckRandom *random)
{
    const int stride = random ? any_stride(random, samples) : samples;
    const int offset = random ? check_below(random, 16) : 0;
    return check_rect(samples * size, rows, (ptrdiff_t)stride * size, offset * size, guard);
}

static Planes open_planes(ChromaShape shape, int width, int height, int size, int guard,
                          CheckRandom *random)
{
    Planes planes = {.rect = {open_plane(width, height, size, guard, random)}};
    for (int i = 1; i <= shape.planes; i++)
        planes.rect[i] =
            open_plane(chroma_row(shape, width), chroma_side(height, shape.y), size, guard, random);
    return planes;
}

static void close_planes(Planes *planes)
{
    for (int i = 0; i < 3; i++)
        check_rect_free(&planes->rect[i]);
}

static void set_sample(const CheckRect *rect, int x, int y, int size, int sample)
{
    check_row(rect, y)[x * size] = (uint8_t)sample;
    if (size == 2)
        check_row(rect, y)[x * size + 1] = (uint8_t)(sample >> 8);
}

/* Any bytes: what lies below the codes, and above the last one, among them. */
static void fill_any(const Planes *planes, int count, CheckRandom *random)
{
    for (int i = 0; i < count; i++)
        for (int y = 0; y < planes->rect[i].height; y++)
            for (int x = 0; x < planes->rect[i].width; x++)
                check_row(&planes->rect[i], y)[x] = (uint8_t)check_below(random, 256);
}

/* ---- the kernels -------------------------------------------------------------------------- */

/* By the definition: the mean of the luma under it, that at the edges counted again; its gain; and
 * not further from gray than is legal, or than it was. */
static int expected_chroma(const Planes *in, const CheckRect *chroma, ChromaShape shape, int x,
                           int y, const CurveTable *table, const CurveParams *p)
{
    const CheckRect *luma = &in->rect[0];
    const int size = sample_size(p), middle = 1 << (p->depth - 1);
    const int reach = 112 << (p->depth - 8), area = 1 << (shape.x + shape.y);
    const int pixel = x / chroma_step(shape), columns = luma->width / size;
    int sum = 0;
    for (int v = y << shape.y; v < (y + 1) << shape.y; v++)
        for (int u = pixel << shape.x; u < (pixel + 1) << shape.x; u++)
            sum += code_at(luma, (u < columns ? u : columns - 1) * size,
                           v < luma->height ? v : luma->height - 1, p->depth, p->shift);
    const int mean = (int)floor((double)sum / area + 0.5);
    const int code = code_at(chroma, x * size, y, p->depth, p->shift);
    const double scaled = (code - middle) * (table->gain[mean >> (p->depth - 8)] / 4096.0);
    const int result = middle + (int)floor(scaled + added_at(p, pixel, y) / 256.0);
    const int low = p->black ? middle - reach : 0,
              high = p->black ? middle + reach : 2 * middle - 1;
    const int least = code < low ? code : low, most = code > high ? code : high;
    return result < least ? least : result > most ? most : result;
}

/* A plane, in two parts as two threads do it. */
static void run_chroma(const LumeqKernels *kernels, const Planes *in, const Planes *out, int plane,
                       ChromaShape shape, const CurveTable *table, const CurveParams *p, int split)
{
    const CheckRect *luma = &in->rect[0], *src = &in->rect[plane], *dst = &out->rect[plane];
    for (int part = 0; part < 2; part++) {
        const int y = part ? split : 0, end = part ? src->height : split;
        const LumeqChromaRows rows = {.dst = check_row(dst, y),
                                      .src = check_row(src, y),
                                      .luma = check_row(luma, y << shape.y),
                                      .dst_stride = dst->stride,
                                      .src_stride = src->stride,
                                      .luma_stride = luma->stride,
                                      .luma_width = luma->width / sample_size(p),
                                      .luma_height = luma->height - (y << shape.y),
                                      .sub_x = shape.x,
                                      .sub_y = shape.y,
                                      .step = chroma_step(shape),
                                      .height = end - y,
                                      .y = y};
        if (end > y)
            (p->depth > 8 ? kernels->chroma16 : kernels->chroma8)(&rows, table, p);
    }
}

static void check_planes(const char *name, const LumeqKernels *kernels, const Planes *in,
                         const Planes *out, ChromaShape shape, const CurveTable *table,
                         const CurveParams *p, CheckRandom *random)
{
    const int size = sample_size(p);
    for (int plane = 1; plane <= shape.planes; plane++) {
        const CheckRect *src = &in->rect[plane], *dst = &out->rect[plane];
        int wrong = 0;
        run_chroma(kernels, in, out, plane, shape, table, p, check_below(random, src->height));
        for (int y = 0; y < src->height; y++)
            for (int x = 0; x < src->width / size; x++)
                wrong += sample_at(dst, x * size, y, p->depth) !=
                         expected_chroma(in, src, shape, x, y, table, p) << p->shift;
        CHECK(!wrong, "%s: %d of %d bytes x %d, %d plane(s) over %dx%d, depth %d+%d, dither %d",
              name, wrong, src->width, src->height, shape.planes, 1 << shape.x, 1 << shape.y,
              p->depth, p->shift, p->dither);
        CHECK(check_rect_intact(dst), "%s: %d bytes x %d, depth %d: writes outside", name,
              src->width, src->height, p->depth);
    }
}

static void any_gains(CurveTable *table, CheckRandom *random)
{
    const int most = (int)CURVE_GAIN_MOST, least = 1000;
    for (int i = 0; i < CURVE_CELLS; i++)
        table->gain[i] =
            (uint16_t)(check_below(random, 4) ? least + check_below(random, most - least)
                       : i % 3 == 0           ? 4096
                       : i % 3 == 1           ? most
                                              : least);
}

static void check_size(const char *name, const LumeqKernels *kernels, int number, int width,
                       int height, CheckRandom *random)
{
    static CurveTable table;
    const ChromaShape shape = {1 + number % 2, number / 2 % 3, number / 6 % 3};
    CurveParams p = params_of(formats[number / 18 % FORMATS], (LumeqRange)check_below(random, 2));
    p.dither = check_below(random, 2);
    p.frame = (uint32_t)check_below(random, 1000);
    Planes in = open_planes(shape, width, height, sample_size(&p), 0, random);
    Planes out = open_planes(shape, width, height, sample_size(&p), GUARD, random);
    fill_any(&in, 3, random);
    any_gains(&table, random);
    check_planes(name, kernels, &in, &out, shape, &table, &p, random);
    close_planes(&in);
    close_planes(&out);
}

#define SHAPES_AND_FORMATS (18 * FORMATS)

static void kernels_variant(const char *name, const LumeqKernels *kernels)
{
    static const int large[] = {64, 127, 129, 257, 640, 1921, 4099};
    CheckRandom random = check_random(1);
    for (int n = 0; n < SHAPES_AND_FORMATS; n++) {
        for (int width = 1; width <= 9; width++)
            for (int height = 1; height <= 9; height++)
                check_size(name, kernels, n, width, height, &random);
        for (int i = 0; i < 4; i++)
            check_size(name, kernels, n, 10 + check_below(&random, 60),
                       1 + check_below(&random, 20), &random);
        check_size(name, kernels, n, large[n % 7], 1 + check_below(&random, 9), &random);
    }
}

static void plain_loops(void)
{
    for_each_variant(kernels_variant);
}

/* 4:2:0 of 8 bits, 3x3 pixels: gains of 1.5, 0.5 and 1 at the luma 100, 200 and 30. */
static void planar_by_hand(const char *name, const LumeqKernels *kernels)
{
    static const uint8_t luma[] = {99, 101, 200, 100, 98, 200, 30, 30, 30};
    static const uint8_t cb[] = {140, 150, 128, 240}, cr[] = {101, 128, 16, 255};
    static const uint8_t expected_cb[] = {146, 139, 128, 240}, expected_cr[] = {88, 128, 16, 255};
    static CurveTable table = {.gain = {[30] = 4096, [100] = 6144, [200] = 2048}};
    const CurveParams p = params_of((Format){8, 0}, LUMEQ_RANGE_LIMITED);
    const uint8_t *const planes[2][2] = {{cb, expected_cb}, {cr, expected_cr}};
    for (int i = 0; i < 2; i++) {
        uint8_t out[4];
        const LumeqChromaRows rows = {.dst = out,
                                      .src = planes[i][0],
                                      .luma = luma,
                                      .dst_stride = 2,
                                      .src_stride = 2,
                                      .luma_stride = 3,
                                      .luma_width = 3,
                                      .luma_height = 3,
                                      .sub_x = 1,
                                      .sub_y = 1,
                                      .step = 1,
                                      .height = 2};
        kernels->chroma8(&rows, &table, &p); /* the mean of 99, 101, 100 and 98 is 99.5: up */
        CHECK(!memcmp(out, planes[i][1], 4), "%s: plane %d: %d %d %d %d", name, i + 1, out[0],
              out[1], out[2], out[3]);
    }
}

/* P010, 4:2:2, one row: what lies below the codes is nothing. 448 from gray is as far as is legal,
 * the full range goes on to the last code. */
static void pairs_by_hand(const char *name, const LumeqKernels *kernels)
{
    static const uint16_t luma[] = {400 << 6, (400 << 6) + 63, 800 << 6};
    static const uint16_t pairs[] = {(512 + 100) << 6, (512 - 301) << 6 | 5, (512 + 400) << 6,
                                     (512 - 460) << 6};
    static const uint16_t limited[] = {(512 + 150) << 6, (512 - 448) << 6, (512 + 448) << 6,
                                       (512 - 460) << 6};
    static const uint16_t full[] = {(512 + 150) << 6, (512 - 451) << 6, 1023 << 6, 0};
    static CurveTable table = {.gain = {[100] = 6144, [200] = 7372}};
    for (int range = 0; range < 2; range++) {
        const CurveParams p = params_of((Format){10, 6}, (LumeqRange)range);
        uint16_t out[4];
        const LumeqChromaRows rows = {.dst = out,
                                      .src = pairs,
                                      .luma = luma,
                                      .dst_stride = 8,
                                      .src_stride = 8,
                                      .luma_stride = 6,
                                      .luma_width = 3,
                                      .luma_height = 1,
                                      .sub_x = 1,
                                      .step = 2,
                                      .height = 1};
        kernels->chroma16(&rows, &table, &p);
        CHECK(!memcmp(out, range ? full : limited, sizeof(out)), "%s: range %d: %d %d %d %d", name,
              range, (out[0] >> 6) - 512, (out[1] >> 6) - 512, (out[2] >> 6) - 512,
              (out[3] >> 6) - 512);
    }
}

static void by_hand(void)
{
    for_each_variant(planar_by_hand);
    for_each_variant(pairs_by_hand);
}

/* ---- one sample --------------------------------------------------------------------------- */

static uint32_t scale(int code, int gain, int add, int depth, int limited)
{
    const CurveLegal legal = curve_legal(depth, limited);
    return curve_chroma(code, (uint32_t)gain, (uint32_t)add, &legal);
}

/* Every code, with every threshold there is. */
static void gain_of_one_changes_nothing(void)
{
    int wrong = 0;
    for (int depth = 8; depth <= 16; depth++)
        for (int code = 0; code < 1 << depth; code += depth < 12 ? 1 : 7)
            for (int add = 2; add < 256; add += 4)
                wrong += scale(code, 4096, add, depth, add / 4 % 2) != (uint32_t)code;
    CHECK(!wrong, "%d codes are moved", wrong);
}

static void gray_stays_gray(void)
{
    int wrong = 0;
    for (int depth = 8; depth <= 16; depth++)
        for (int gain = 0; gain < 8192; gain += 13)
            for (int add = 2; add < 256; add += 4)
                wrong += scale(1 << (depth - 1), gain, add, depth, 1) != 1u << (depth - 1);
    CHECK(!wrong, "gray becomes a colour %d times", wrong);
}

/* Not beyond what is legal, or what it was where it was beyond already; and in order. */
static void legal_codes_stay_legal(void)
{
    for (int depth = 8; depth <= 16; depth++) {
        const int unit = 1 << (depth - 8), last = (1 << depth) - 1;
        for (int limited = 0; limited < 2; limited++) {
            const int low = limited ? 16 * unit : 0, high = limited ? 240 * unit : last;
            int illegal = 0, falls = 0;
            for (int gain = 0; gain < 8192; gain += 31) {
                int before = 0;
                for (int code = 0; code <= last; code += depth < 12 ? 1 : 37) {
                    const int out = (int)scale(code, gain, 128, depth, limited);
                    illegal += out < (code < low ? code : low) || out > (code > high ? code : high);
                    falls += out < before;
                    before = out;
                }
            }
            CHECK(!illegal && !falls, "depth %d, limited %d: %d illegal, %d fall", depth, limited,
                  illegal, falls);
        }
    }
}

/* Cb : Cr stays what it was, but for half a code's rounding of each. */
static void hue_is_kept(void)
{
    int turned = 0;
    for (int gain = 2048; gain <= 7372; gain += 121)
        for (int u = -60; u <= 60; u++)
            for (int v = -60; v <= 60; v++) {
                const int cb = (int)scale(128 + u, gain, 128, 8, 1) - 128;
                const int cr = (int)scale(128 + v, gain, 128, 8, 1) - 128;
                turned += 2 * abs(cb * v - cr * u) > abs(u) + abs(v);
            }
    CHECK(!turned, "%d colours are turned", turned);
}

/* ---- the gain ----------------------------------------------------------------------------- */

/* Of luma `in` codes of 8 bits above black that becomes `out`: three quarters of what luma gains
 * and a quarter of what it loses, little by little from 6 to 32 codes, and at most 1.8. */
static double model_gain(double in, double out)
{
    if (in <= 6)
        return 1;
    const double more = fmin(fmax(out / in, 0), 4) - 1;
    return fmin(1 + more * (more > 0 ? 0.75 : 0.25) * fmin((in - 6) / 26, 1), 1.8);
}

static void gains(void)
{
    double worst = 0;
    for (int in = -40; in < 256; in++) {
        for (int out = -40 * 256; out < 256 * 256; out += 61) {
            const double gain = curve_gain(in * 256, out) / 4096.0;
            worst = fmax(worst, fabs(gain - model_gain(in, out / 256.0)));
        }
    }
    CHECK(worst < 4.0 / 4096, "off by %g", worst);
    CHECK(curve_gain(100 * 256, 100 * 256) == 4096 && curve_gain(20 * 256, 20 * 256) == 4096,
          "luma that stays has a gain");
    CHECK(curve_gain(50 * 256, 75 * 256) == 4096 + 4096 * 3 / 8, "1.5 times as light: %u",
          curve_gain(50 * 256, 75 * 256));
    CHECK(curve_gain(100 * 256, 50 * 256) == 4096 - 4096 / 8, "half as light: %u",
          curve_gain(100 * 256, 50 * 256));
}

/* ---- pictures ----------------------------------------------------------------------------- */

typedef struct Film {
    LumeqEqualizer *eq;
    ChromaShape shape;
    Format format;
    LumeqRange range;
    Planes in, out;
    LumeqFrameStats stats;
} Film;

/* Static: it is large. */
static Film *film_open(LumeqBackendId id, const LumeqParams *params, ChromaShape shape,
                       Format format, LumeqRange range, int width, int height, CheckRandom *random)
{
    static Film f;
    const int size = format.depth > 8 ? 2 : 1;
    f = (Film){must_open(id, 2), shape, format, range, .in = {{{0}}}};
    f.in = open_planes(shape, width, height, size, 0, random);
    f.out = open_planes(shape, width, height, size, GUARD, random);
    set_params(f.eq, params);
    return &f;
}

static void film_close(Film *f)
{
    lumeq_destroy(&f->eq);
    close_planes(&f->in);
    close_planes(&f->out);
}

/* Dull luma; chroma of all codes. */
static void film_fill(const Film *f, uint64_t seed)
{
    const int size = f->format.depth > 8 ? 2 : 1, unit = 1 << (f->format.depth - 8);
    for (int i = 0; i <= f->shape.planes; i++) {
        const CheckRect *rect = &f->in.rect[i];
        for (int y = 0; y < rect->height; y++)
            for (int x = 0; x < rect->width / size; x++) {
                const int r =
                    (int)(check_hash(seed + (uint64_t)i, (uint64_t)(y * 65536 + x)) >> 40);
                const int code = i ? r % (256 * unit) : (60 + y % 40) * unit + r % (20 * unit);
                set_sample(rect, x, y, size, code << f->format.shift);
            }
    }
}

static void film_run(Film *f, int64_t time)
{
    const CheckRect *in = f->in.rect, *out = f->out.rect;
    LumeqFrame frame =
        frame_at_depth(frame_of(in, out, f->range, time), f->format.depth, f->format.shift);
    set_chroma(&frame.in, f->shape, in + 1);
    set_chroma(&frame.out, f->shape, out + 1);
    run_frame(f->eq, &frame, &f->stats);
    for (int i = 0; i <= f->shape.planes; i++)
        CHECK(check_rect_intact(&out[i]), "plane %d: writes outside", i);
}

/* The gain of a cell of luma, from the curve that is told. */
static double gain_told(const Film *f, int luma)
{
    const int unit = 1 << (f->format.depth - 8), cell = luma / unit;
    const int bin = cell * f->stats.bins / 256, black = f->range == LUMEQ_RANGE_FULL ? 0 : 16;
    return model_gain(cell - black, f->stats.curve[bin] / 65536.0 / unit - black);
}

/* Chroma of the first plane where one sample has one of luma under it. */
static void check_film(const Film *f, int dither)
{
    const int depth = f->format.depth, shift = f->format.shift, unit = 1 << (depth - 8);
    const int size = depth > 8 ? 2 : 1, middle = 128 * unit, last = 256 * unit - 1;
    const int low = f->range == LUMEQ_RANGE_FULL ? 0 : 16 * unit;
    const int high = f->range == LUMEQ_RANGE_FULL ? last : 240 * unit;
    int wrong = 0, moved = 0;
    for (int y = 0; y < f->in.rect[1].height; y++)
        for (int x = 0; x < f->in.rect[1].width; x += size) {
            const int luma = code_at(&f->in.rect[0], x, y, depth, shift);
            const int code = code_at(&f->in.rect[1], x, y, depth, shift);
            const int out = code_at(&f->out.rect[1], x, y, depth, shift);
            double wanted = middle + (code - middle) * gain_told(f, luma);
            wanted = fmin(fmax(wanted, code < low ? code : low), code > high ? code : high);
            const double slack = (dither ? 1 : 0.5) + 128 * unit * 4.0 / 4096;
            wrong += fabs(out - wanted) > slack;
            moved += fabs(wanted - code) > 2;
        }
    CHECK(!wrong, "depth %d, range %d, dither %d: %d samples are not what the curve says", depth,
          (int)f->range, dither, wrong);
    CHECK(moved > 1000, "depth %d: only %d samples are scaled", depth, moved);
}

BACKEND_TEST(chroma_follows_the_curve)
{
    const ChromaShape shape = {2, 0, 0};
    for (int n = 0; n < FORMATS * 4; n++) {
        LumeqParams params = full_strength;
        params.clip = 4;
        params.dither = n & 1;
        Film *f =
            film_open(id, &params, shape, formats[n / 4], (LumeqRange)(n / 2 % 2), 96, 64, NULL);
        for (int frame = 0; frame < 2; frame++) {
            film_fill(f, (uint64_t)(n + frame));
            film_run(f, frame * 40 * MS);
            check_film(f, params.dither);
        }
        film_close(f);
    }
}

/* The same picture whatever lies between its rows. */
BACKEND_TEST(layouts)
{
    static const int sides[] = {1, 2, 3, 5, 17, 64, 97};
    CheckRandom random = check_random(2);
    for (int n = 0; n < 18 * FORMATS; n++) {
        const ChromaShape shape = {1 + n % 2, n / 2 % 3, n / 6 % 3};
        const int width = sides[check_below(&random, 7)], height = sides[check_below(&random, 7)];
        const Format format = formats[n / 18];
        uint64_t hashes[2][3] = {{0}};
        LumeqParams params = full_strength;
        params.dither = check_below(&random, 2);
        for (int any = 0; any < 2; any++) {
            Film *f = film_open(id, &params, shape, format, LUMEQ_RANGE_LIMITED, width, height,
                                any ? &random : NULL);
            film_fill(f, (uint64_t)n);
            film_run(f, 0);
            for (int i = 0; i <= shape.planes; i++)
                hashes[any][i] = picture_hash(&f->out.rect[i]);
            film_close(f);
        }
        CHECK(!memcmp(hashes[0], hashes[1], sizeof(hashes[0])),
              "%dx%d, %d plane(s) over %dx%d, depth %d", width, height, shape.planes, 1 << shape.x,
              1 << shape.y, format.depth);
    }
}

/* Where nothing is to be done, illegal codes pass as well. */
BACKEND_TEST(kept)
{
    LumeqParams keep = full_strength, off = full_strength, none = full_strength;
    LumeqParams flat = full_strength, reference = full_strength;
    keep.chroma = LUMEQ_CHROMA_KEEP;
    off.mode = LUMEQ_MODE_OFF;
    none.strength = 0;
    flat.clip = 1;
    flat.dither = 1;
    reference.reference = 1;
    const LumeqParams *const settings[] = {&keep, &off, &none, &flat, &reference};
    for (int n = 0; n < 5 * FORMATS; n++) {
        const ChromaShape shape = {1 + n % 2, n % 3, n / 3 % 3};
        const LumeqParams *params = settings[n % 5];
        if (params->reference && n / 5)
            continue; /* only of 8 bits */
        Film *f = film_open(id, params, shape, formats[n / 5], LUMEQ_RANGE_LIMITED, 96, 64, NULL);
        film_fill(f, (uint64_t)n);
        film_run(f, 0);
        for (int i = 1; i <= shape.planes; i++)
            CHECK(check_rect_equal(&f->in.rect[i], &f->out.rect[i]), "settings %d, depth %d", n % 5,
                  f->format.depth);
        CHECK(n % 5 != 0 || !check_rect_equal(&f->in.rect[0], &f->out.rect[0]),
              "luma is kept, too");
        film_close(f);
    }
}

/* Of gray pictures, of those whose chroma is not asked for, and of others the luma is the same. */
BACKEND_TEST(luma_does_not_depend_on_chroma)
{
    for (int n = 0; n < FORMATS; n++) {
        uint64_t hashes[3] = {0};
        for (int way = 0; way < 3; way++) {
            const ChromaShape shape = {way == 0 ? 0 : 2, 1, 1};
            Film *f =
                film_open(id, &full_strength, shape, formats[n], LUMEQ_RANGE_LIMITED, 95, 63, NULL);
            film_fill(f, 5);
            if (way == 1)
                f->shape.planes = 0;
            film_run(f, 0);
            hashes[way] = picture_hash(&f->out.rect[0]);
            film_close(f);
        }
        CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2], "depth %d", formats[n].depth);
    }
}

static const CheckTest tests[] = {
    {"plain_loops", plain_loops},
    {"by_hand", by_hand},
    {"gain_of_one_changes_nothing", gain_of_one_changes_nothing},
    {"gray_stays_gray", gray_stays_gray},
    {"legal_codes_stay_legal", legal_codes_stay_legal},
    {"hue_is_kept", hue_is_kept},
    {"gains", gains},
    {"chroma_follows_the_curve", chroma_follows_the_curve},
    {"layouts", layouts},
    {"kept", kept},
    {"luma_does_not_depend_on_chroma", luma_does_not_depend_on_chroma},
};

CHECK_MAIN(tests)
