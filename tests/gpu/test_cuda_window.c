/* A fake CUDA hangs while the window uploads frames. The window gives up after a time limit, and
 * does not call the GPU again. */
#include "../check.h"
#include "fake_cuda.h"
#include "lumeq/lumeq.h"
#include "player/view/view_cuda.h"
#include "run/frame_scopes.h"

#include <libavutil/frame.h>

#define PLANES 2
#define WIDTH 64
#define HEIGHT 48

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

static int upload(const ViewCuda *cuda, uint8_t *memory, MediaError *error)
{
    const ViewUploader *way = view_cuda_uploader(cuda);
    ViewPlane planes[PLANES];
    for (int i = 0; i < PLANES; i++)
        planes[i] = (ViewPlane){.texture = 10 + (unsigned)i,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .bytes_per_row = WIDTH,
                                .data = memory,
                                .stride = WIDTH};
    return way->upload(way->opaque, planes, PLANES, error);
}

static ViewCuda *open_fake(FakeCuda fake)
{
    ViewCuda *cuda = NULL;
    MediaError error = {0};
    fake_cuda_start(fake);
    CHECK(view_cuda_open(&cuda, 0, &error) == 0, "%s", error.text);
    return cuda;
}

static ViewCuda *open_and_upload(Where where, uint8_t **memory)
{
    MediaError error = {0};
    ViewCuda *cuda = open_fake((FakeCuda){0});
    *memory = make_memory(where);
    CHECK(upload(cuda, *memory, &error) == 0, "no upload: %s", error.text);
    return cuda;
}

/* After the time limit, the window gives the GPU up and refuses frames in GPU memory. */
static void hang_with(Where where)
{
    MediaError error = {0};
    uint8_t *memory;
    ViewCuda *cuda = open_and_upload(where, &memory);
    const ViewUploader *way = view_cuda_uploader(cuda);
    way->forget(way->opaque, 10);
    const double begin = fake_cuda.now;
    fake_cuda.hangs = 1;
    const int ret = upload(cuda, memory, &error);
    const double waited = fake_cuda.now - begin;
    CHECK(ret == (where == ON_DEVICE ? MEDIA_INPUT : 1), "memory %d: upload returns %d", where,
          ret);
    CHECK(waited > 9.9 && waited < 11, "memory %d: given up after %.1f s", where, waited);
    CHECK(view_cuda_failure(cuda) && strstr(view_cuda_failure(cuda), "10 s"), "the message is %s",
          view_cuda_failure(cuda) ? view_cuda_failure(cuda) : "nothing");
    const long calls = fake_cuda.calls;
    CHECK(fake_cuda.mapped == PLANES, "%d textures are mapped", fake_cuda.mapped);
    CHECK(upload(cuda, memory, &error) == 1, "a hung GPU is still used");
    for (unsigned i = 0; i < PLANES; i++)
        way->forget(way->opaque, 10 + i);
    way->forget(way->opaque, 99); /* an unknown texture */
    view_cuda_close(&cuda);
    CHECK(fake_cuda.calls == calls, "%ld calls of a GPU that hangs", fake_cuda.calls - calls);
    if (where == ORDINARY)
        free(memory);
}

TEST(hangs)
{
    for (Where where = ORDINARY; where < WHERES; where++)
        hang_with(where);
}

/* A slow GPU is not given up. */
TEST(slow)
{
    MediaError error = {0};
    for (Where where = ORDINARY; where < WHERES; where++) {
        uint8_t *memory;
        ViewCuda *cuda = open_and_upload(where, &memory);
        fake_cuda.hangs = 1;
        fake_cuda.stage_takes = 1.4;
        CHECK(upload(cuda, memory, &error) == 0, "memory %d: %s", where, error.text);
        CHECK(!view_cuda_failure(cuda), "memory %d: %s", where, view_cuda_failure(cuda));
        CHECK(fake_cuda.now > 2, "the GPU is not slow");
        view_cuda_close(&cuda);
        if (where == ORDINARY)
            free(memory);
    }
}

/* The equalizer notices the hang before the window does. */
TEST(given_up)
{
    MediaError error = {0};
    uint8_t *memory;
    ViewCuda *cuda = open_and_upload(PINNED, &memory);
    const ViewUploader *way = view_cuda_uploader(cuda);
    const long calls = fake_cuda.calls;
    fake_cuda.hangs = 1;
    view_cuda_give_up(cuda, "the CPU has taken over");
    CHECK(strstr(view_cuda_failure(cuda), "GPU 0") && strstr(view_cuda_failure(cuda), "the CPU"),
          "the message is %s", view_cuda_failure(cuda));
    CHECK(upload(cuda, memory, &error) == 1, "a hung GPU is still used");
    way->forget(way->opaque, 10);
    view_cuda_close(&cuda);
    CHECK(fake_cuda.calls == calls, "%ld calls", fake_cuda.calls - calls);
}

/* ---- rows for the scopes ------------------------------------------------------------------ */

enum { LARGE_WIDTH = 640, LARGE_HEIGHT = 1000 };

static AVFrame large_frame(Where where)
{
    const size_t size = (size_t)LARGE_WIDTH * LARGE_HEIGHT;
    void *memory = NULL;
    if (where == ON_DEVICE)
        cudaMalloc(&memory, size);
    else
        cudaHostAlloc(&memory, size, cudaHostAllocPortable);
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)memory)[i] = (uint8_t)check_hash(1, i);
    return (AVFrame){.format = AV_PIX_FMT_GRAY8,
                     .width = LARGE_WIDTH,
                     .height = LARGE_HEIGHT,
                     .data = {memory},
                     .linesize = {LARGE_WIDTH}};
}

/* Rows downloaded from the GPU give the same figures as the frame on the host. */
TEST(rows_come)
{
    static Scopes there, here;
    ViewCuda *cuda = open_fake((FakeCuda){0});
    for (Where where = PINNED; where <= ON_DEVICE; where++) {
        const AVFrame frame = large_frame(where);
        FrameRows rows[FRAME_ROWS_PLANES] = {0};
        CHECK(frame_scopes_count(&here, &frame, 0) == 0, "not counted");
        CHECK(frame_scopes_rows(rows, &frame, 0) == 1 && rows[0].count == LARGE_HEIGHT / 4,
              "%d rows", rows[0].count);
        CHECK(view_cuda_fetch(cuda, rows, 1) == 0, "%s", view_cuda_failure(cuda));
        CHECK((rows[0].data == frame.data[0]) == (where == PINNED), "memory %d is %s", where,
              where == PINNED ? "copied" : "read on the host");
        if (where == ON_DEVICE)
            memset(frame.data[0], 0, (size_t)LARGE_WIDTH * LARGE_HEIGHT);
        frame_scopes_count_rows(&there, &frame, rows, 0);
        CHECK(memcmp(&there, &here, sizeof(here)) == 0, "memory %d: figures differ", where);
    }
    const size_t pinned = fake_cuda.pinned;
    view_cuda_close(&cuda);
    CHECK(fake_cuda.pinned < pinned && fake_cuda.streams == 0, "memory or streams are left");
}

/* A GPU that was given up may wake up and write rows later, so their memory must stay. */
TEST(rows_hang)
{
    ViewCuda *cuda = open_fake((FakeCuda){.late = 1, .copies_hang = 1});
    const AVFrame frame = large_frame(ON_DEVICE);
    FrameRows rows[FRAME_ROWS_PLANES] = {0};
    frame_scopes_rows(rows, &frame, 0);
    fake_cuda.hangs = 1;
    const double begin = fake_cuda.now;
    CHECK(view_cuda_fetch(cuda, rows, 1) == -1, "rows came");
    CHECK(fake_cuda.now - begin > 9.9 && fake_cuda.now - begin < 11, "given up after %.1f s",
          fake_cuda.now - begin);
    CHECK(view_cuda_failure(cuda) && strstr(view_cuda_failure(cuda), "10 s"),
          "there is no message");
    const long calls = fake_cuda.calls;
    CHECK(view_cuda_fetch(cuda, rows, 1) == -1, "a hung GPU is still used");
    view_cuda_close(&cuda);
    CHECK(fake_cuda.calls == calls, "%ld calls", fake_cuda.calls - calls);
    fake_cuda_wake();
}

TEST(rows_fail)
{
    for (int call = 1;; call++) {
        ViewCuda *cuda = open_fake((FakeCuda){0});
        const AVFrame frame = large_frame(ON_DEVICE);
        FrameRows rows[FRAME_ROWS_PLANES] = {0};
        frame_scopes_rows(rows, &frame, 0);
        fake_cuda.error = cudaErrorUnknown;
        fake_cuda.fail_at = fake_cuda.calls + call;
        const int ret = view_cuda_fetch(cuda, rows, 1);
        CHECK((ret < 0) == fake_cuda.failed && !view_cuda_failure(cuda) == !ret, "call %d: %d",
              call, ret);
        view_cuda_close(&cuda);
        if (!ret) {
            CHECK(call > 4, "%d calls", call);
            break;
        }
    }
}

TEST_MAIN
