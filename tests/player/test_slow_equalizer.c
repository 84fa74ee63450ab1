/* While the equalizer blocks, the window keeps responding; afterwards it shows the result. */
#include <stdlib.h>

#include "fake_gpu.h"
#include "session.h"

static int open_clip(Session *s)
{
    const char *const arguments[] = {LUMEQ_CLIP, "--no-config", "-q", NULL};
    setenv("LUMEQ_TEST_BACKEND", "cuda", 1);
    gate_set(0);
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 3);
    gate_set(1);
    SESSION_UNTIL(s, gate_is_reached());
    return s->ended;
}

static void close_clip(Session *s)
{
    CHECK(!gate_gave_up(), "the window waits for the equalizer");
    gate_set(0);
    session_close(s);
}

SESSION_TEST(keys_act, open_clip(s))
{
    const int64_t shown = session_state(s).shown;
    TYPE_UNTIL(s, "m", state.muted);
    TYPE_UNTIL(s, "?", state.look.help);
    TYPE_UNTIL(s, "P", state.look.histogram == PANEL_OVER);
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_SPLIT);
    TYPE_UNTIL(s, "e", SAYS("Equalizer: off"));
    CHECK(session_state(s).changing, "the change counts as shown before it is equalized");
    TYPE_UNTIL(s, " ", state.paused);
    CHECK(session_state(s).shown <= shown + 2, "frames come through the gate");
    gate_set(0);
    SESSION_UNTIL(s, !state.changing);
    close_clip(s);
}

SESSION_TEST(seeks_do_not_wait, open_clip(s))
{
    TYPE_UNTIL(s, " ", state.paused);
    const int64_t from = session_state(s).position;
    PRESS_UNTIL(s, SDLK_RIGHT, state.seeking);
    TYPE_UNTIL(s, "1", BEGINS("Strength"));
    CHECK(session_state(s).position == from, "a frame came through the gate");
    gate_set(0);
    SESSION_UNTIL(s, !state.seeking && !state.changing);
    CHECK(session_state(s).position == from + 5 * SECOND, "at %lld, from %lld",
          (long long)session_state(s).position, (long long)from);
    close_clip(s);
}

SESSION_TEST(quits, open_clip(s))
{
    TYPE_UNTIL(s, "q", s->ended);
    close_clip(s);
}

TEST_MAIN
