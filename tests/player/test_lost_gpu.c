/* The GPU is lost while the window shows its frames: the window stops using it. */
#include <stdlib.h>

#include "fake_gpu.h"
#include "made_up_way.h"
#include "session.h"

#define LOST_AFTER 6

TEST(the_window_lets_go)
{
    Session s;
    const char *const arguments[] = {LUMEQ_CLIP, "--no-config", "-q", "--scope", "waveform", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    fake_gpu_lose_after(LOST_AFTER);
    if (session_open(&s, arguments) == 0) {
        SESSION_UNTIL(&s, state.shown > LOST_AFTER + 3);
        CHECK(fake_gpu_is_lost() && way.opened == 1, "no GPU was lost");
        CHECK(way.fetched > 0, "frames do not stay on the GPU while a scope is shown");
        CHECK(way.uploads > 0 && !way.too_late, "%d of %d frames go through a lost GPU",
              way.too_late, way.uploads);
        CHECK(way.given_up == 1 && way.closed == 1, "given up %d times, closed %d times",
              way.given_up, way.closed);
        CHECK(!s.ended, "it ends: %s", s.error.text);
        session_close(&s);
    }
    fake_gpu_free();
}

TEST_MAIN
