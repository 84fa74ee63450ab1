/* The GPU is lost while the window shows its frames: the window stops using it. */
#include <stdlib.h>

#include "fake_gpu.h"
#include "fake_view_cuda.h"
#include "session.h"

#define LOST_AFTER 6

TEST(window_stops_using_it)
{
    Session s;
    const char *const arguments[] = {LUMEQ_CLIP, "--no-config", "-q", "--scope", "waveform", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    fake_gpu_lose_after(LOST_AFTER);
    if (session_open(&s, arguments) == 0) {
        SESSION_UNTIL(&s, state.shown > LOST_AFTER + 3);
        CHECK(fake_gpu_is_lost() && fake_view_cuda.opened == 1, "no GPU was lost");
        CHECK(fake_view_cuda.fetched > 0, "frames do not stay on the GPU while a scope is shown");
        CHECK(fake_view_cuda.uploads > 0 && !fake_view_cuda.too_late,
              "%d of %d frames go through a lost GPU", fake_view_cuda.too_late,
              fake_view_cuda.uploads);
        CHECK(fake_view_cuda.given_up == 1 && fake_view_cuda.closed == 1,
              "given up %d times, closed %d times", fake_view_cuda.given_up, fake_view_cuda.closed);
        CHECK(!s.ended, "the player ends: %s", s.error.text);
        session_close(&s);
    }
    fake_gpu_free();
}

TEST_MAIN
