/*
 * A window that is paused has frames that were decoded on the GPU, and no more than there are
 * surfaces for: however long it stays so and whatever is done meanwhile, it goes on decoding there.
 * If the GPU is lost meanwhile, what is shown is decoded once more.
 * GPU and driver are made up (fake_gpu.c, ../media/fake_nvidia.c), and so is the time.
 */
#include <dlfcn.h>
#include <stdatomic.h>

#include "fake_gpu.h"
#include "made_up_way.h"
#include "player/clock.h"
#include "session.h"

/* Those that the window asks for beyond what the codec needs. */
#define GPU_FRAMES 16

#define MINUTES 10

static _Atomic int64_t ahead; /* of the player's clock (--wrap) */
int64_t __real_clock_now(void);
int64_t __wrap_clock_now(void);

int64_t __wrap_clock_now(void)
{
    return __real_clock_now() + atomic_load(&ahead);
}

static int ask(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*function)(void) = NULL;
    if (driver)
        *(void **)&function = dlsym(driver, name);
    return CHECK(function != NULL, "there is no %s", name) ? function() : -1;
}

static void check_held(const char *when)
{
    const int held = ask("fake_mapped");
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

/* Each key, until its picture is there. */
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

/* Has shown some frames, decoded on the GPU. */
static int open_paused(Session *s)
{
    const char *const arguments[] = {LUMEQ_SAMPLE, "--no-config", "-q", "--no-audio", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    setenv("FAKE_NVDEC", "1000000", 1);
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 20);
    CHECK(session_state(s).on_gpu, "it does not decode on the GPU");
    check_held("while it plays");
    session_type(" ");
    SESSION_UNTIL(s, state.paused);
    return s->ended;
}

static void a_long_pause(void)
{
    Session s;
    if (open_paused(&s))
        return;
    pass_minutes(&s, "while it is paused");
    press(&s, "ebcc", "with settings that change");
    press(&s, "....,,", "while it steps");
    pass_minutes(&s, "behind that");
    const int64_t shown = session_state(&s).shown;
    session_type(" ");
    SESSION_UNTIL(&s, state.shown > shown + 40);
    CHECK(session_state(&s).on_gpu, "it has left the GPU");
    CHECK(ask("fake_refused") == 0, "%d surfaces too many were wanted", ask("fake_refused"));
    check_held("while it plays again");
    session_close(&s);
    const int most = ask("fake_most_mapped");
    CHECK(most <= GPU_FRAMES, "%d frames were held at a time", most);
    CHECK(ask("fake_open") == 0, "%d of the GPU's things are still open", ask("fake_open"));
    printf("%d frames at a time of %d\n", most, GPU_FRAMES);
    fake_gpu_free();
}

/* With settings that change it comes anew, and so it does where it is compared. */
static void lost_while_it_is_paused(void)
{
    Session s;
    if (open_paused(&s))
        return;
    const int64_t position = session_state(&s).position;
    fake_gpu_lose_after(0);
    session_type("e");
    SESSION_UNTIL(&s, fake_gpu_is_lost() && !state.changing);
    CHECK(!session_state(&s).on_gpu, "what is shown is on a lost GPU");
    CHECK(session_state(&s).position == position, "it shows %lld us, not %lld",
          (long long)session_state(&s).position, (long long)position);
    session_type("c");
    session_turns(&s, 4);
    session_type(".");
    SESSION_UNTIL(&s, state.position > position);
    session_type(",");
    SESSION_UNTIL(&s, state.position == position);
    const int64_t shown = session_state(&s).shown;
    session_type(" ");
    SESSION_UNTIL(&s, state.shown > shown + 20);
    CHECK(!s.ended, "it ends: %s", s.error.text);
    session_close(&s);
    fake_gpu_lose_after(1000000);
    fake_gpu_free();
}

static const CheckTest tests[] = {
    {"a_long_pause", a_long_pause},
    {"lost_while_it_is_paused", lost_while_it_is_paused},
};

CHECK_MAIN(tests)
