/*
 * Lifted pictures on the GPU: the same bits as on the CPU for any picture, layout and parameters,
 * and nothing is written outside of it. LUMEQ_TEST_CASES sets the number of cases.
 */
#include "../equalizer/lift_pictures.h"
#include "equalizer/cuda/frame.h"
#include "kernel_check.h"

#define LIFT_CASES 1500
#define MAX_PAST LIFT_PAST

typedef struct Form {
    int width, height, depth, shift;
    ChromaShape shape;
} Form;

/* Planes in memory of the host, and their twins on the device, guards and all. */
typedef struct Frame {
    CheckRect rect[3];
    uint8_t *memory[3];
    LumeqImage host, device;
} Frame;

/* A picture and its parameters. */
typedef struct Case {
    Form form;
    Frame in, past[MAX_PAST], out[2]; /* out: of the CPU, of the GPU */
    LumeqApplyJob job;
    CurveTable table;
    BarsState bars;
} Case;

static void *cpu, *cuda; /* backends */

static int open_backend(const LumeqBackend *backend, void **priv)
{
    char text[256] = "";
    const LumeqConfig config = {.threads = 2};
    *priv = calloc(1, backend->priv_size);
    return CHECK(*priv && backend->open(*priv, &config, text, sizeof(text)) == 0, "%s", text);
}

static int open_all(void)
{
    return have_gpu() && open_backend(&lumeq_backend_cpu, &cpu) &&
           open_backend(&lumeq_backend_cuda, &cuda);
}

static void close_all(void)
{
    lumeq_backend_cpu.close(cpu);
    lumeq_backend_cuda.close(cuda);
    free(cpu);
    free(cuda);
}

/* ---- drawing ------------------------------------------------------------------------------- */

static Form any_form(CheckRandom *random)
{
    static const int heights[] = {30, 70, 130, 640, 960};
    const int deep = check_below(random, 2), depth = deep ? 9 + check_below(random, 8) : 8;
    const int most = heights[check_below(random, 5)];
    return (Form){
        .width = 1 + check_below(random, check_below(random, 3) ? 60 : 400),
        .height = most < 600 ? 1 + check_below(random, most) : most - 50 + check_below(random, 50),
        .depth = depth,
        .shift = deep && check_below(random, 2) ? check_below(random, 17 - depth) : 0,
        .shape = {check_below(random, 3), check_below(random, 3), check_below(random, 3)}};
}

static int sample_size(const Form *f)
{
    return f->depth > 8 ? 2 : 1;
}

static Frame open_frame(const Form *f, int aligned, CheckRandom *random)
{
    Frame frame = {
        .host = {.width = f->width, .height = f->height, .depth = f->depth, .shift = f->shift}};
    const int size = sample_size(f);
    for (int i = 0; i <= f->shape.planes; i++) {
        const int samples = i ? chroma_row(f->shape, f->width) : f->width;
        const int rows = i ? chroma_side(f->height, f->shape.y) : f->height;
        const ptrdiff_t stride =
            aligned ? (samples + 63) / 64 * 64 : samples + check_below(random, 20);
        frame.rect[i] = check_rect(samples * size, rows,
                                   check_below(random, 4) ? stride * size : -stride * size,
                                   aligned ? 0 : check_below(random, 17) * size, GUARD);
    }
    frame.host.plane[0] = frame.rect[0].pixels;
    frame.host.stride[0] = frame.rect[0].stride;
    set_chroma(&frame.host, f->shape, frame.rect + 1);
    return frame;
}

static void close_frame(Frame *frame)
{
    for (int i = 0; i < 3; i++) {
        check_rect_free(&frame->rect[i]);
        OK(cudaFree(frame->memory[i]));
    }
}

static void put(const Form *f, const CheckRect *rect, int step, int first, const uint16_t *codes)
{
    const int size = sample_size(f);
    for (int y = 0; y < rect->height; y++)
        for (int x = first; x < rect->width / size; x += step) {
            const uint16_t sample = (uint16_t)(*codes++ << f->shift);
            memcpy(check_row(rect, y) + x * size, &sample, (size_t)size);
        }
}

static void draw_frame(const Form *f, Frame *frame, int kind, int noise, int seed)
{
    uint16_t *codes = malloc((size_t)f->width * (size_t)f->height * sizeof(*codes));
    for (int i = 0; i < (f->shape.planes ? 3 : 1); i++) {
        const int step = i ? chroma_step(f->shape) : 1;
        const int plane = i ? chroma_plane(f->shape, i - 1) : 0;
        lift_draw(codes, kind, i ? chroma_side(f->width, f->shape.x) : f->width,
                  frame->rect[plane].height, f->depth, i, noise, seed + i);
        put(f, &frame->rect[plane], step, i == 2 ? step - 1 : 0, codes);
    }
    free(codes);
}

static void frame_to_device(const Form *f, Frame *frame)
{
    frame->device = frame->host;
    frame->device.memory = LUMEQ_MEMORY_CUDA;
    for (int i = 0; i <= f->shape.planes; i++) {
        const CheckRect *rect = &frame->rect[i];
        OK(cudaMalloc((void **)&frame->memory[i], rect->size));
        OK(cudaMemcpy(frame->memory[i], rect->memory, rect->size, cudaMemcpyHostToDevice));
        frame->device.plane[i] = frame->memory[i] + (rect->pixels - rect->memory);
    }
}

static void to_host(const Form *f, Frame *frame)
{
    for (int i = 0; i <= f->shape.planes; i++)
        OK(cudaMemcpy(frame->rect[i].memory, frame->memory[i], frame->rect[i].size,
                      cudaMemcpyDeviceToHost));
}

/* ---- one case ------------------------------------------------------------------------------ */

/* An edge at a multiple of 4 from `from` on, or the frame's own. */
static int any_edge(int from, int size, CheckRandom *random)
{
    const int edge = (from + check_below(random, size - from + 8)) / 4 * 4;
    return edge < size ? edge : size;
}

static LumeqRect any_active(const Form *f, CheckRandom *random)
{
    LumeqRect a = {0, 0, f->width, f->height};
    if (check_below(random, 2) && f->width > 8 && f->height > 8) {
        a.x = check_below(random, 2) ? any_edge(0, 8, random) : 0;
        a.y = any_edge(0, f->height / 2, random) / 4 * 4;
        a.width = any_edge(a.x + 4, f->width, random) - a.x;
        a.height = any_edge(a.y + 4, f->height, random) - a.y;
    }
    return a;
}

/* Limited range, like the tables of lift_pictures.h: with gains for full range chroma would leave
 * the range, which never happens with real curves. */
static CurveParams any_params(const Form *f, CheckRandom *random)
{
    const int fraction = f->depth > 12 ? f->depth - 12 : 0;
    return (CurveParams){
        .depth = f->depth,
        .shift = f->shift,
        .bins = 1 << (f->depth - fraction),
        .fraction = fraction,
        .black = 16 << (f->depth - 8),
        .white = 235 << (f->depth - 8),
        .lift = 1,
        .chroma = 1,
        .dither = check_below(random, 2),
        .frame = (uint32_t)check_below(random, 1000),
    };
}

/* Makes the table for luma that is not lifted. */
static void any_plain(Case *c, CheckRandom *random)
{
    const CurveParams *p = &c->job.curve;
    CurveTable *t = &c->table;
    for (int i = 0; i < p->bins; i++) {
        const uint32_t code = (uint32_t)check_below(random, (1 << p->depth) - 1);
        if (curve_has_nodes(p))
            t->nodes[i] = code << CURVE_NODE_BITS;
        else if (p->depth == 8)
            t->codes8[i] = (uint8_t)code;
        else
            t->codes16[i] = (uint16_t)(code << p->shift);
    }
    if (curve_has_nodes(p))
        t->nodes[p->bins] = 1u << (p->depth + CURVE_NODE_BITS);
}

/* Disables the filter for chroma. Chroma that is scaled more than this is always filtered. */
static void leave_chroma(CurveTable *table)
{
    table->lift.chroma_on = 0;
    for (int i = 0; i < CURVE_CELLS; i++)
        if (table->gain[i].gain > CURVE_GAIN_MOST)
            table->gain[i].gain = CURVE_GAIN_MOST;
}

/* Decides whether luma and chroma are lifted: three of four cases are, and one of eight if `left`.
 */
static void any_lift(Case *c, int left, CheckRandom *random)
{
    lift_any(&c->table, random);
    if (left ? check_below(random, 8) : !check_below(random, 4))
        c->table.lift.luma_on = 0;
    if (left ? check_below(random, 8) : !check_below(random, 4))
        leave_chroma(&c->table);
    c->job.fields = check_below(random, 3) == 0;
}

/* With `left` the chroma may be scaled with luma: 4:2:0, in vectors. */
static Case *open_case(int left, CheckRandom *random)
{
    Case *c = calloc(1, sizeof(*c));
    const int kind = check_below(random, LIFT_KINDS), noise = check_below(random, 400);
    c->form = any_form(random);
    if (left)
        c->form.shape = (ChromaShape){1 + check_below(random, 2), 1, 1};
    const int aligned = left || check_below(random, 2);
    c->in = open_frame(&c->form, aligned, random);
    draw_frame(&c->form, &c->in, kind, noise, 1 + check_below(random, 1000));
    any_lift(c, left, random);
    c->bars.active = any_active(&c->form, random);
    c->bars.area =
        (uint32_t)(c->form.width * c->form.height - c->bars.active.width * c->bars.active.height);
    c->job.curve = any_params(&c->form, random);
    any_plain(c, random);
    c->job.bars = &c->bars;
    c->job.table = &c->table;
    c->job.write = 1 + c->form.shape.planes;
    c->job.previous_count = check_below(random, MAX_PAST + 1);
    for (int i = 0; i < c->job.previous_count; i++) {
        c->past[i] = open_frame(&c->form, aligned, random);
        draw_frame(&c->form, &c->past[i], kind, noise, 1 + check_below(random, 1000));
    }
    const uint64_t seed = random->seed;
    for (int i = 0; i < 2; i++) {
        random->seed = seed; /* laid out alike */
        c->out[i] = open_frame(&c->form, aligned, random);
    }
    return c;
}

static void close_case(Case *c)
{
    close_frame(&c->in);
    for (int i = 0; i < MAX_PAST; i++)
        close_frame(&c->past[i]);
    for (int i = 0; i < 2; i++)
        close_frame(&c->out[i]);
    free(c);
}

static LumeqApplyJob job_on_host(const Case *c, int which)
{
    LumeqApplyJob job = c->job;
    job.in = c->in.host;
    job.out = c->out[which].host;
    for (int i = 0; i < job.previous_count; i++)
        job.previous[i] = c->past[i].host;
    return job;
}

/* The kernels, on planes as they are. */
static void apply_there(Case *c)
{
    LumeqApplyJob job = c->job;
    void *memory = NULL;
    frame_to_device(&c->form, &c->in);
    frame_to_device(&c->form, &c->out[1]);
    job.in = c->in.device;
    job.out = c->out[1].device;
    for (int i = 0; i < job.previous_count; i++) {
        frame_to_device(&c->form, &c->past[i]);
        job.previous[i] = c->past[i].device;
    }
    OK(cudaMalloc(&memory, sizeof(c->table) + sizeof(c->bars)));
    OK(cudaMemcpy(memory, &c->table, sizeof(c->table), cudaMemcpyHostToDevice));
    OK(cudaMemcpy((uint8_t *)memory + sizeof(c->table), &c->bars, sizeof(c->bars),
                  cudaMemcpyHostToDevice));
    job.table = memory;
    job.bars = (const BarsState *)(const void *)((uint8_t *)memory + sizeof(c->table));
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&job.curve);
    OK(lumeq_cuda_apply_curve(&device, &job, &one, 0, 0));
    OK(cudaDeviceSynchronize());
    to_host(&c->form, &c->out[1]);
    OK(cudaFree(memory));
}

static void check_case(int number, int left)
{
    CheckRandom random = check_random((uint64_t)number);
    char text[256] = "", name[300];
    Case *c = open_case(left, &random);
    const LiftTables *lift = &c->table.lift;
    const LumeqRect *a = &c->bars.active;
    const LumeqApplyJob expected = job_on_host(c, 0), job = job_on_host(c, 1);
    snprintf(name, sizeof(name),
             "case %d: %dx%d, depth %d+%d, active %d,%d %dx%d, fields %d, lift %d %d, noisy %d, "
             "past %d of %d, chroma %d/%d/%d",
             number, c->form.width, c->form.height, c->form.depth, c->form.shift, a->x, a->y,
             a->width, a->height, job.fields, lift->luma_on, lift->chroma_on, lift->noisy,
             lift->past, job.previous_count, c->form.shape.planes, c->form.shape.x,
             c->form.shape.y);
    CHECK(lumeq_backend_cpu.apply(cpu, &expected, text, sizeof(text)) == 0, "%s: %s", name, text);
    if (number % 4)
        apply_there(c);
    else
        CHECK(lumeq_backend_cuda.apply(cuda, &job, text, sizeof(text)) == 0, "%s: %s", name, text);
    for (int i = 0; i <= c->form.shape.planes; i++) {
        CHECK(check_rect_equal(&c->out[0].rect[i], &c->out[1].rect[i]), "%s: plane %d differs",
              name, i);
        CHECK(check_rect_intact(&c->out[1].rect[i]), "%s: written outside of plane %d", name, i);
    }
    close_case(c);
}

static void check_cases(int left)
{
    if (!open_all())
        return;
    for (int i = 0; i < cases_of(LIFT_CASES); i++)
        check_case(i, left);
    close_all();
}

TEST(pictures)
{
    check_cases(0);
}

TEST(left_alone)
{
    check_cases(1);
}

TEST_MAIN
