/*
 * The filter of lifted pictures on the CPU: against the model's results (tests/lift), each variant
 * of the kernels against plain C, and whole frames whatever the threads.
 */
#include "equalizer/cpu/lift_cpu.h"

#include "equalizer/tone_curve.h"
#include "lift_pictures.h"
#include "variants.h"

#define GUARD 128
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct LiftVector {
    int kind, width, height, rows, lift, noise, past, depth, sub_x, sub_y, frame;
    uint32_t hash[3];
} LiftVector;

#include "lift_vectors.h"

/* A frame in rectangles of its own: luma, Cb and Cr, or luma and both in turns. */
typedef struct Drawing {
    CheckRect rect[3];
    LumeqImage image;
} Drawing;

typedef struct Form {
    int width, height, depth, shift, sub_x, sub_y;
    int turns; /* Cb and Cr lie in turns */
} Form;

static int plane_width(const Form *f, int plane)
{
    return plane ? chroma_side(f->width, f->sub_x) : f->width;
}

static int plane_height(const Form *f, int plane)
{
    return plane ? chroma_side(f->height, f->sub_y) : f->height;
}

/* `random` NULL: rows follow each other without a gap, and memory ends with them. */
static Drawing open_drawing(const Form *f, CheckRandom *random)
{
    Drawing p = {.image = {.width = f->width,
                           .height = f->height,
                           .depth = f->depth,
                           .shift = f->shift,
                           .chroma_x = f->sub_x,
                           .chroma_y = f->sub_y}};
    const int size = f->depth > 8 ? 2 : 1;
    for (int i = 0; i < (f->turns ? 2 : 3); i++) {
        const int samples = plane_width(f, i) << (i && f->turns);
        const int stride = random ? any_stride(random, samples) : samples;
        const int offset = random ? check_below(random, 16) * size : 0;
        p.rect[i] = check_rect(samples * size, plane_height(f, i), (ptrdiff_t)stride * size, offset,
                               random ? GUARD : 0);
        p.image.plane[i] = p.rect[i].pixels;
        p.image.stride[i] = p.rect[i].stride;
    }
    return p;
}

static void close_drawing(Drawing *p)
{
    for (int i = 0; i < 3; i++)
        check_rect_free(&p->rect[i]);
}

static uint8_t *sample_place(const Drawing *p, int plane, int x, int y)
{
    const int turns = plane && !p->image.plane[2], size = p->image.depth > 8 ? 2 : 1;
    return check_row(&p->rect[turns ? 1 : plane], y) + (turns ? 2 * x + plane - 1 : x) * size;
}

static void put_plane(const Form *f, Drawing *p, int plane, const uint16_t *codes)
{
    for (int y = 0; y < plane_height(f, plane); y++)
        for (int x = 0; x < plane_width(f, plane); x++) {
            const uint16_t sample = (uint16_t)(*codes++ << f->shift);
            memcpy(sample_place(p, plane, x, y), &sample, f->depth > 8 ? 2 : 1);
        }
}

static void draw_picture(const Form *f, Drawing *p, int kind, int noise, int seed)
{
    uint16_t *codes = malloc((size_t)f->width * (size_t)f->height * sizeof(*codes));
    for (int i = 0; i < 3; i++) {
        lift_draw(codes, kind, plane_width(f, i), plane_height(f, i), f->depth, i, noise, seed + i);
        put_plane(f, p, i, codes);
    }
    free(codes);
}

static uint32_t hash_plane(const Form *f, const Drawing *p, int plane)
{
    uint64_t hash = CHECK_FNV_START;
    for (int y = 0; y < plane_height(f, plane); y++)
        for (int x = 0; x < plane_width(f, plane); x++)
            hash = check_fnv(hash, sample_place(p, plane, x, y), f->depth > 8 ? 2 : 1);
    return (uint32_t)hash;
}

/* In two bands, whose memory holds anything. */
static void lift_in_bands(const LiftPicture *lifted, int split)
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

/* ---- the model ----------------------------------------------------------------------------- */

static void check_vector(const char *name, const LumeqKernels *kernels, const LiftVector *v,
                         int turns, int split)
{
    const Form form = {v->width, v->height, v->depth, turns && v->depth > 8 ? 16 - v->depth : 0,
                       v->sub_x, v->sub_y,  turns};
    Drawing in = open_drawing(&form, NULL), out = open_drawing(&form, NULL), past[LIFT_PAST];
    CurveParams params = params_of((Format){v->depth, form.shift}, LUMEQ_RANGE_LIMITED);
    params.frame = (uint32_t)v->frame;
    CurveTable *table = calloc(1, sizeof(*table));
    uint32_t nodes[LIFT_CODES];
    lift_nodes(nodes, v->lift);
    lift_fill(table, nodes, v->noise, v->past);
    LiftPicture lifted = {.kernels = &kernels->lift,
                          .params = &params,
                          .table = table,
                          .in = in.image,
                          .out = out.image,
                          .past_count = table->lift.past,
                          .chroma_rows = plane_height(&form, 1),
                          .frame_rows = v->rows};
    draw_picture(&form, &in, v->kind, v->noise, 1);
    for (int i = 0; i < v->past; i++) {
        past[i] = open_drawing(&form, NULL);
        draw_picture(&form, &past[i], v->kind, v->noise, 1 + 3 * (i + 1));
        lifted.past[i] = past[i].image;
    }
    lift_in_bands(&lifted, split);
    for (int i = 0; i < 3; i++) {
        for (int y = 0; y < plane_height(&form, i) && form.shift; y++)
            for (int x = 0; x < plane_width(&form, i); x++) {
                uint16_t sample;
                memcpy(&sample, sample_place(&out, i, x, y), 2);
                sample = (uint16_t)(sample >> form.shift);
                memcpy(sample_place(&out, i, x, y), &sample, 2);
            }
        const uint32_t hash = hash_plane(&form, &out, i);
        CHECK(hash == v->hash[i],
              "%s: plane %d of kind %d, %dx%d, rows %d, lift %d, noise %d, past %d, depth %d, "
              "%d %d, turns %d, split %d: %08x",
              name, i, v->kind, v->width, v->height, v->rows, v->lift, v->noise, v->past, v->depth,
              v->sub_x, v->sub_y, turns, split, hash);
    }
    for (int i = 0; i < v->past; i++)
        close_drawing(&past[i]);
    close_drawing(&in);
    close_drawing(&out);
    free(table);
}

static void check_model(const char *name, const LumeqKernels *kernels)
{
    for (int i = 0; i < COUNT(lift_vectors); i++)
        for (int turns = 0; turns < 2; turns++)
            check_vector(name, kernels, &lift_vectors[i], turns, (i + turns) % 5);
}

static void model(void)
{
    for_each_variant(check_model);
}

/* ---- variants ------------------------------------------------------------------------------ */

/* Any nodes that do not fall, any tolerances in their range. */
static void any_tables(CurveTable *table, CheckRandom *random)
{
    uint32_t nodes[LIFT_CODES];
    const int noise = check_below(random, 3) ? check_below(random, 1100) : 0;
    const int past = check_below(random, LIFT_PAST + 1), step = 1 + check_below(random, 900);
    uint32_t node = 0;
    for (int i = 0; i < LIFT_CODES; i++) {
        nodes[i] = node;
        node += (uint32_t)check_below(random, step);
        node = node < 65280 ? node : 65280;
    }
    lift_fill(table, nodes, noise, past);
    for (int i = 0; i < LIFT_CODES && check_below(random, 4); i++) {
        table->lift.tolerance[i] =
            (uint32_t)check_below(random, 1153) | (uint32_t)check_below(random, 9601) << 16;
        table->lift.chroma[i] = (uint16_t)(check_below(random, 5) ? check_below(random, 49) : 0);
    }
}

static Form any_form(CheckRandom *random)
{
    const Format format = formats[check_below(random, FORMATS)];
    return (Form){.width = 1 + check_below(random, check_below(random, 4) ? 70 : 400),
                  .height = 1 + check_below(random, 60),
                  .depth = format.depth,
                  .shift = format.shift,
                  .sub_x = check_below(random, 3),
                  .sub_y = check_below(random, 3),
                  .turns = check_below(random, 2)};
}

/* One filter in plain C and in the variant. */
static void compare(const char *name, const LumeqKernels *kernels, CheckRandom *random)
{
    const Form form = any_form(random);
    const int noise = check_below(random, 400), kind = check_below(random, LIFT_KINDS);
    CurveParams params = params_of((Format){form.depth, form.shift}, (LumeqRange)(kind % 2));
    params.frame = (uint32_t)check_below(random, 1000);
    CurveTable *table = calloc(1, sizeof(*table));
    any_tables(table, random);
    Drawing in = open_drawing(&form, random), past[LIFT_PAST] = {0};
    Drawing out[2] = {open_drawing(&form, random), open_drawing(&form, random)};
    draw_picture(&form, &in, kind, noise, 1 + check_below(random, 1000));
    LiftPicture lifted = {.params = &params,
                          .table = table,
                          .in = in.image,
                          .past_count = table->lift.past,
                          .chroma_rows = plane_height(&form, 1),
                          .frame_rows = 400 + check_below(random, 700)};
    for (int i = 0; i < lifted.past_count; i++) {
        past[i] = open_drawing(&form, random);
        draw_picture(&form, &past[i], kind, noise, 1 + check_below(random, 1000));
        lifted.past[i] = past[i].image;
    }
    for (int i = 0; i < 2; i++) {
        lifted.kernels = i ? &kernels->lift : &lumeq_lift_c;
        lifted.out = out[i].image;
        lift_in_bands(&lifted, check_below(random, 5));
    }
    for (int i = 0; i < 3; i++) {
        CHECK(check_rect_equal(&out[0].rect[i], &out[1].rect[i]),
              "%s: plane %d of kind %d, %dx%d, rows %d, noise %d, past %d, depth %d, shift %d, "
              "%d %d, turns %d",
              name, i, kind, form.width, form.height, lifted.frame_rows, noise, lifted.past_count,
              form.depth, form.shift, form.sub_x, form.sub_y, form.turns);
        for (int v = 0; v < 2; v++)
            CHECK(!out[v].rect[i].memory || check_rect_intact(&out[v].rect[i]),
                  "%s: plane %d of %dx%d, depth %d: writes outside", v ? name : "c", i, form.width,
                  form.height, form.depth);
        close_drawing(&past[i]);
    }
    for (int i = 0; i < 2; i++)
        close_drawing(&out[i]);
    close_drawing(&in);
    free(table);
}

static void check_variant(const char *name, const LumeqKernels *kernels)
{
    CheckRandom random = check_random(1);
    for (int i = 0; i < 600 / CHECK_SLOWER; i++)
        compare(name, kernels, &random);
}

static void variants_agree(void)
{
    for_each_variant(check_variant);
}

static const CheckTest tests[] = {
    {"model", model},
    {"variants", variants_agree},
};

CHECK_MAIN(tests)
