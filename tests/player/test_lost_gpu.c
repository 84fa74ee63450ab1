/* A GPU that is lost while the window shows what it equalizes: the window lets go of it, too. */
#include <stdlib.h>

#include "fake_gpu.h"
#include "player/view/view_cuda.h"
#include "session.h"

#define LOST_AFTER 6

/* The window's way through CUDA, which only counts: planes go the usual way. */
static struct {
    int opened, closed, uploads, given_up, too_late;
} way;

struct ViewCuda {
    ViewUploader uploader;
    char failure[64];
};

static int count_upload(void *opaque, const ViewPlane *planes, int count, char *why, size_t size)
{
    (void)opaque;
    (void)planes;
    (void)count;
    (void)why;
    (void)size;
    way.uploads++;
    way.too_late += way.given_up;
    return 1;
}

int view_cuda_open(ViewCuda **cuda, int device, char *why, size_t size)
{
    (void)device;
    (void)why;
    (void)size;
    *cuda = calloc(1, sizeof(**cuda));
    if (!*cuda)
        abort();
    (*cuda)->uploader.upload = count_upload;
    way.opened++;
    return 0;
}

const ViewUploader *view_cuda_uploader(const ViewCuda *cuda)
{
    return &cuda->uploader;
}

const char *view_cuda_failure(const ViewCuda *cuda)
{
    return cuda->failure[0] ? cuda->failure : NULL;
}

void view_cuda_give_up(ViewCuda *cuda, const char *why)
{
    snprintf(cuda->failure, sizeof(cuda->failure), "%s", why);
    way.given_up++;
}

void view_cuda_close(ViewCuda **cuda)
{
    way.closed += *cuda != NULL;
    free(*cuda);
    *cuda = NULL;
}

static void the_window_lets_go(void)
{
    Session s;
    const char *const arguments[] = {LUMEQ_CLIP, "--no-config", "-q", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    fake_gpu_lose_after(LOST_AFTER);
    if (session_open(&s, arguments) == 0) {
        SESSION_UNTIL(&s, state.shown > LOST_AFTER + 3);
        CHECK(fake_gpu_is_lost() && way.opened == 1, "no GPU was lost");
        CHECK(way.uploads > 0 && !way.too_late, "%d of %d frames go through a lost GPU",
              way.too_late, way.uploads);
        CHECK(way.given_up == 1 && way.closed == 1, "given up %d times, closed %d times",
              way.given_up, way.closed);
        CHECK(!s.ended, "it ends: %s", s.error.text);
        session_close(&s);
    }
    fake_gpu_free();
}

static const CheckTest tests[] = {
    {"the_window_lets_go", the_window_lets_go},
};

CHECK_MAIN(tests)
