/*
 * What the window's way through CUDA does about a GPU that hangs, with a made-up CUDA: no GPU is
 * needed. Nothing waits for ever, and the GPU is not called again.
 */
#include "../check.h"
#include "fake_cuda.h"
#include "lumeq/lumeq.h"
#include "player/view/view_cuda.h"

#define PLANES 2
#define WIDTH 64
#define HEIGHT 48

/* Where the planes of a frame lie. */
typedef enum Where { ORDINARY, PINNED, ON_DEVICE, WHERES } Where;

static uint8_t *make_memory(Where where)
{
    void *memory = NULL;
    if (where == PINNED)
        cudaHostAlloc(&memory, WIDTH * HEIGHT, cudaHostAllocPortable);
    else if (where == ON_DEVICE)
        cudaMalloc(&memory, WIDTH * HEIGHT);
    else
        memory = malloc(WIDTH * HEIGHT);
    return memory;
}

static int upload(const ViewCuda *cuda, uint8_t *memory, char *why, size_t size)
{
    const ViewUploader *way = view_cuda_uploader(cuda);
    ViewPlane planes[PLANES];
    for (int i = 0; i < PLANES; i++)
        planes[i] = (ViewPlane){.texture = 10 + (unsigned)i,
                                .plane = i,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .bytes_per_row = WIDTH,
                                .data = memory,
                                .stride = WIDTH};
    return way->upload(way->opaque, planes, PLANES, why, size);
}

/* One frame gets through, from memory of that kind. */
static ViewCuda *open_and_upload(Where where, uint8_t **memory)
{
    ViewCuda *cuda = NULL;
    char why[256] = "";
    fake_cuda_start((FakeCuda){0});
    CHECK(view_cuda_open(&cuda, 0, why, sizeof(why)) == 0, "%s", why);
    *memory = make_memory(where);
    CHECK(upload(cuda, *memory, why, sizeof(why)) == 0, "no upload: %s", why);
    return cuda;
}

/* It is given up after its time; what lies where only it reaches is refused. */
static void hang_with(Where where)
{
    char why[256] = "";
    uint8_t *memory;
    ViewCuda *cuda = open_and_upload(where, &memory);
    const ViewUploader *way = view_cuda_uploader(cuda);
    CHECK(!way->forget(way->opaque, 10), "a texture that is done is kept");
    const double begin = fake_cuda.now;
    fake_cuda.hangs = 1;
    const int ret = upload(cuda, memory, why, sizeof(why));
    const double waited = fake_cuda.now - begin;
    CHECK(ret == (where == ON_DEVICE ? -1 : 1), "memory %d: it answers %d", where, ret);
    CHECK(waited > 9.9 && waited < 11, "memory %d: given up after %.1f s", where, waited);
    CHECK(view_cuda_failure(cuda) && strstr(view_cuda_failure(cuda), "10 s"), "it says %s",
          view_cuda_failure(cuda) ? view_cuda_failure(cuda) : "nothing");
    const long calls = fake_cuda.calls;
    CHECK(fake_cuda.mapped == PLANES, "%d textures are mapped", fake_cuda.mapped);
    CHECK(upload(cuda, memory, why, sizeof(why)) == 1, "it goes on");
    for (unsigned i = 0; i < PLANES; i++)
        CHECK(way->forget(way->opaque, 10 + i), "texture %u may be written to", 10 + i);
    CHECK(!way->forget(way->opaque, 99), "a texture that it never had");
    view_cuda_close(&cuda);
    CHECK(fake_cuda.calls == calls, "%ld calls of a GPU that hangs", fake_cuda.calls - calls);
    if (where == ORDINARY)
        free(memory);
}

static void hangs(void)
{
    for (Where where = ORDINARY; where < WHERES; where++)
        hang_with(where);
}

/* A GPU that takes 3 s is slow, not lost. */
static void slow(void)
{
    char why[256] = "";
    for (Where where = ORDINARY; where < WHERES; where++) {
        uint8_t *memory;
        ViewCuda *cuda = open_and_upload(where, &memory);
        fake_cuda.hangs = 1;
        fake_cuda.stage_takes = 1.4;
        CHECK(upload(cuda, memory, why, sizeof(why)) == 0, "memory %d: %s", where, why);
        CHECK(!view_cuda_failure(cuda), "memory %d: %s", where, view_cuda_failure(cuda));
        CHECK(fake_cuda.now > 2, "it is not slow");
        view_cuda_close(&cuda);
        if (where == ORDINARY)
            free(memory);
    }
}

/* Somebody else has noticed. */
static void given_up(void)
{
    char why[256] = "";
    uint8_t *memory;
    ViewCuda *cuda = open_and_upload(PINNED, &memory);
    const ViewUploader *way = view_cuda_uploader(cuda);
    const long calls = fake_cuda.calls;
    fake_cuda.hangs = 1;
    view_cuda_give_up(cuda, "the CPU has taken over");
    CHECK(strstr(view_cuda_failure(cuda), "GPU 0") && strstr(view_cuda_failure(cuda), "the CPU"),
          "it says %s", view_cuda_failure(cuda));
    CHECK(upload(cuda, memory, why, sizeof(why)) == 1, "it goes on");
    CHECK(!way->forget(way->opaque, 10), "a texture that is done is kept");
    view_cuda_close(&cuda);
    CHECK(fake_cuda.calls == calls, "%ld calls", fake_cuda.calls - calls);
}

static const CheckTest tests[] = {
    {"slow", slow},
    {"given_up", given_up},
    {"hangs", hangs},
};

CHECK_MAIN(tests)
