/* A paused window never holds more GPU frames than there are surfaces, so decoding can continue on
 * the GPU. If the GPU is lost during the pause, software decodes the shown frame again. GPU, driver
 * (fake_gpu.c, ../media/fake_nvidia.c) and clock are fakes. */
#include <stdatomic.h>

#include "fake_gpu.h"
#include "fake_nvidia.h"
#include "fake_view_cuda.h"
#include "player/clock.h"
#include "session.h"

/* Surfaces that the window requests beyond the codec's own. */
#define GPU_FRAMES 16

#define MINUTES 10

static _Atomic int64_t ahead; /* how far the player's clock (--wrap) is ahead of the real one */
int64_t __real_clock_now(void);
int64_t __wrap_clock_now(void);

int64_t __wrap_clock_now(void)
{
    return __real_clock_now() + atomic_load(&ahead);
}

static void check_held(const char *when)
{
    const int held = fake_nvidia.mapped;
    CHECK(held > 0 && held <= GPU_FRAMES, "%d frames are held %s", held, when);
}

static void pass_minutes(Session *s, const char *when)
{
    for (int i = 0; i < MINUTES && !s->ended; i++) {
        atomic_fetch_add(&ahead, INT64_C(60000000));
        session_turns(s, 2);
        check_held(when);
    }
}

/* Presses each key, and waits for its picture. */
static void press(Session *s, const char *keys, const char *when)
{
    for (; *keys; keys++) {
        const char key[2] = {*keys, 0};
        session_type(key);
        session_turns(s, 2);
        SESSION_UNTIL(s, !state.changing && !state.seeking);
        check_held(when);
    }
}

static int open_paused(Session *s)
{
    const char *const arguments[] = {LUMEQ_SAMPLE, "--no-config", "-q", "--no-audio", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 20);
    CHECK(session_state(s).on_gpu, "frames are not decoded on the GPU");
    check_held("while it plays");
    TYPE_UNTIL(s, " ", state.paused);
    return s->ended;
}

TEST(a_long_pause)
{
    Session s;
    if (open_paused(&s))
        return;
    pass_minutes(&s, "while it is paused");
    press(&s, "ebcc", "with settings that change");
    press(&s, "....,,", "while it steps");
    pass_minutes(&s, "after the keys");
    const int64_t shown = session_state(&s).shown;
    TYPE_UNTIL(&s, " ", state.shown > shown + 40);
    CHECK(session_state(&s).on_gpu, "the GPU is no longer used");
    CHECK(!fake_nvidia.refused, "%d surfaces too many were requested", fake_nvidia.refused);
    check_held("while it plays again");
    session_close(&s);
    const int most = fake_nvidia.most_mapped;
    CHECK(most <= GPU_FRAMES, "%d frames were held at a time", most);
    CHECK(!fake_nvidia_open(), "%d GPU objects are still open", fake_nvidia_open());
    printf("at most %d of %d frames were held\n", most, GPU_FRAMES);
    fake_gpu_free();
}

TEST(lost_while_it_is_paused)
{
    Session s;
    if (open_paused(&s))
        return;
    const int64_t position = session_state(&s).position;
    fake_gpu_lose_after(0);
    TYPE_UNTIL(&s, "e", fake_gpu_is_lost() && !state.changing);
    CHECK(!session_state(&s).on_gpu, "the shown frame is on a lost GPU");
    CHECK(session_state(&s).position == position, "it shows %lld us, not %lld",
          (long long)session_state(&s).position, (long long)position);
    session_type("c");
    session_turns(&s, 4);
    TYPE_UNTIL(&s, ".", state.position > position);
    TYPE_UNTIL(&s, ",", state.position == position);
    const int64_t shown = session_state(&s).shown;
    TYPE_UNTIL(&s, " ", state.shown > shown + 20);
    CHECK(!s.ended, "the player ends: %s", s.error.text);
    session_close(&s);
    fake_gpu_lose_after(1000000);
    fake_gpu_free();
}

TEST_MAIN
