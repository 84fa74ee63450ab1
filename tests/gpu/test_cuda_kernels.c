/*
 * The kernels of the reference in a row: each starts before the one before it has ended, and leaves
 * no counts behind. test_cuda_steps.c compares all kernels with the CPU's.
 */
#include "equalizer/cpu/kernels.h"
#include "equalizer/cuda/kernels.h"
#include "equalizer/rule/curve.h"
#include "gpu_check.h"

#define GUARD 128

static LumeqCudaDevice device;
static LumeqKernels kernels; /* in C */

static const CurveParams params = {.depth = 8,
                                   .bins = REFERENCE_CODES,
                                   .black = 16,
                                   .white = 235,
                                   .alpha = CURVE_ONE,
                                   .strength = CURVE_ONE,
                                   .reference = 1};

/* A gray rectangle and its twin on the device, guards and all. */
typedef struct Plane {
    CheckRect rect;
    uint8_t *memory;
    LumeqCudaPlane device;
} Plane;

/* Memory of the kernels besides samples. */
typedef struct Reference {
    LumeqCudaTally counters, host; /* the kernel writes either in device memory here */
    CurveTable table;
} Reference;

typedef struct Frame {
    Plane in, out;
    Reference *reference;
} Frame;

static void open_plane(Plane *p, int width, int height, CheckRandom *random)
{
    const int low = check_below(random, 200), range = 1 + check_below(random, 256 - low);
    p->rect = check_rect(width, height, width, 0, GUARD);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            check_row(&p->rect, y)[x] = (uint8_t)(low + check_below(random, range));
    OK(cudaMalloc((void **)&p->memory, p->rect.size));
    OK(cudaMemcpy(p->memory, p->rect.memory, p->rect.size, cudaMemcpyHostToDevice));
    p->device = (LumeqCudaPlane){p->memory + GUARD, p->rect.stride, width, height};
}

static Frame open_frame(int width, int height, CheckRandom *random)
{
    Frame f = {.reference = NULL};
    open_plane(&f.in, width, height, random);
    open_plane(&f.out, width, height, random);
    OK(cudaMalloc((void **)&f.reference, sizeof(*f.reference)));
    OK(cudaMemset(f.reference, 0, sizeof(f.reference->counters)));
    OK(cudaMemset(&f.reference->host, 0x5A, sizeof(*f.reference) - offsetof(Reference, host)));
    return f;
}

static void close_frame(Frame *f)
{
    check_rect_free(&f->in.rect);
    check_rect_free(&f->out.rect);
    OK(cudaFree(f->in.memory));
    OK(cudaFree(f->out.memory));
    OK(cudaFree(f->reference));
}

static void queue(const Frame *f, cudaStream_t stream)
{
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&params);
    Reference *r = f->reference;
    OK(lumeq_cuda_reference(&device, &f->in.device, &params, &r->counters, &r->host, &r->table,
                            &one, stream));
    OK(lumeq_cuda_apply(&device, &f->out.device, &f->in.device, &r->table, NULL, &params, &one,
                        stream));
}

/* Compares the curve, the table and the picture with those in C. */
static void compare(const Frame *f)
{
    static const CurveResult none;
    static const LumeqCudaTally zero;
    static CurveWork work;
    static CurveResult result;
    static CurveTable table;
    static Reference got;
    uint32_t hist[REFERENCE_CODES] = {0};
    const CheckRect *in = &f->in.rect, *out = &f->out.rect;
    FREED_BY(check_rect_free)
    CheckRect expected = check_rect(in->width, in->height, in->stride, 0, GUARD);
    kernels.histogram8(hist, in->pixels, in->stride, in->width, in->height, &params);
    curve_compute(&params, hist, &none, &result, &table, &work);
    kernels.apply8(expected.pixels, expected.stride, in->pixels, in->stride, in->width, in->height,
                   0, &table, &params);
    OK(cudaMemcpy(&got, f->reference, sizeof(got), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(out->memory, f->out.memory, out->size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < REFERENCE_CODES; i++) {
        const CurveGain *gain = &got.table.gain[i], *right = &table.gain[i];
        CHECK(got.host.hist[i] == hist[i] && got.table.codes8[i] == table.codes8[i],
              "%dx%d, code %d: count %u, output %d", in->width, in->height, i, got.host.hist[i],
              got.table.codes8[i]);
        CHECK(gain->gain == right->gain && gain->from == right->from && gain->to == right->to,
              "%dx%d: the gain of code %d differs", in->width, in->height, i);
    }
    CHECK(!got.table.lift.luma_on && !got.table.lift.chroma_on, "it is lifted");
    CHECK(!memcmp(&got.counters, &zero, sizeof(zero)), "counts are left behind");
    CHECK(check_rect_equal(out, &expected) && check_rect_intact(out), "%dx%d: the picture differs",
          in->width, in->height);
}

/* In a graph kernels do start early. */
TEST_IF(in_a_row, have_gpu() && OK(lumeq_cuda_prepare(&device, 0)))
{
    enum { FRAMES = 24, REPLAYS = 3 };
    static const int sizes[][2] = {{16, 1}, {64, 48}, {641, 361}, {1920, 1080}};
    static Frame f[FRAMES];
    lumeq_kernels_c(&kernels);
    for (int i = 0; i < 4 && i < cases_of(4); i++) {
        CheckRandom random = check_random(2000000 + (uint64_t)i);
        cudaStream_t stream = NULL;
        cudaGraph_t graph = NULL;
        cudaGraphExec_t executable = NULL;
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int k = 0; k < FRAMES; k++)
            f[k] = open_frame(sizes[i][0], sizes[i][1], &random);
        OK(cudaDeviceSynchronize()); /* the stream does not wait for memsets and copies */
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int k = 0; k < FRAMES; k++)
            queue(&f[k], stream);
        OK(cudaStreamEndCapture(stream, &graph));
        OK(cudaGraphInstantiate(&executable, graph, 0));
        for (int k = 0; k < REPLAYS; k++)
            OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        for (int k = 0; k < FRAMES; k++) {
            compare(&f[k]);
            close_frame(&f[k]);
        }
        OK(cudaGraphExecDestroy(executable));
        OK(cudaGraphDestroy(graph));
        OK(cudaStreamDestroy(stream));
    }
}

TEST_MAIN
