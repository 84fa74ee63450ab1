/* While reads block, the window keeps responding; afterwards it carries out the last request. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <libavformat/avformat.h>

#include "session.h"

#define NAP_US 1000

/* ---- reads that wait, and cannot be interrupted ---- */

static atomic_int held;
static atomic_int waiting; /* a read waits */
static atomic_int gave_up; /* a read timed out: the window must have waited for it */

int av_read_frame(AVFormatContext *format, AVPacket *packet)
{
    int (*read)(AVFormatContext *, AVPacket *) = NULL;
    void *found = dlsym(RTLD_NEXT, "av_read_frame");
    if (!found)
        abort();
    memcpy(&read, &found, sizeof(read));
    const int64_t end = session_now() + LIVENESS_US;
    while (atomic_load(&held) && !atomic_load(&gave_up)) {
        atomic_store(&waiting, 1);
        if (session_now() > end)
            atomic_store(&gave_up, 1);
        usleep(NAP_US);
    }
    return read(format, packet);
}

/* Opens the clip, pauses at 1 s, and starts a seek to 6 s, where reading blocks. */
static int open_clip(Session *s)
{
    const char *const arguments[] = {LUMEQ_CLIP, "--no-config", "--ss", "1", NULL};
    atomic_store(&held, 0);
    atomic_store(&gave_up, 0);
    if (session_open(s, arguments) < 0)
        return -1;
    TYPE_UNTIL(s, "p", state.paused && state.shown > 0 && !state.seeking);
    CHECK(session_state(s).position == 1 * SECOND, "at %lld", (long long)session_state(s).position);
    atomic_store(&waiting, 0);
    atomic_store(&held, 1);
    PRESS_UNTIL(s, SDLK_RIGHT, atomic_load(&waiting));
    return s->ended;
}

static void close_clip(Session *s)
{
    CHECK(!atomic_load(&gave_up), "the window waits for the input");
    atomic_store(&held, 0);
    session_close(s);
}

/* ---- tests ---- */

/* Settings change the picture while the threads of the previous seek are stuck. */
SESSION_TEST(seeks_do_not_wait, open_clip(s))
{
    PRESS_UNTIL(s, SDLK_RIGHT, BEGINS("0:11"));
    TYPE_UNTIL(s, "?", state.look.help);
    TYPE_UNTIL(s, "1", BEGINS("Strength") && !state.changing);
    TYPE_UNTIL(s, "m", state.muted);
    session_press(SDLK_LEFT);
    session_press(SDLK_LEFT);
    session_press(SDLK_LEFT);
    session_press(SDLK_RIGHT);
    session_turns(s, 3);
    const PlayerState stuck = session_state(s);
    CHECK(stuck.seeking && stuck.position == 1 * SECOND, "at %lld", (long long)stuck.position);
    atomic_store(&held, 0);
    SESSION_UNTIL(s, state.position == 5 * SECOND && !state.seeking);
    TYPE_UNTIL(s, " ", !state.paused && state.position >= 5 * SECOND + 200000);
    close_clip(s);
}

SESSION_TEST(tracks_do_not_wait, open_clip(s))
{
    TYPE_UNTIL(s, "#", SAYS("Sound: none"));
    TYPE_UNTIL(s, "#", BEGINS("Sound: ") && strcmp(state.message, "Sound: none") != 0);
    TYPE_UNTIL(s, " ", !state.paused);
    atomic_store(&held, 0);
    SESSION_UNTIL(s, state.position >= 6 * SECOND && !state.seeking);
    SESSION_UNTIL(s, state.offset != AV_NOPTS_VALUE); /* there is sound */
    close_clip(s);
}

/* A dropped file plays once the old one can be closed. */
SESSION_TEST(files_do_not_wait, open_clip(s))
{
    session_press(SDLK_RIGHT);
    session_drop(LUMEQ_CLIP);
    session_turns(s, 3);
    TYPE_UNTIL(s, "m", state.muted);
    atomic_store(&held, 0);
    SESSION_UNTIL(s, !state.paused && state.position < SECOND);
    SESSION_UNTIL(s, state.position >= 400000 && !state.seeking);
    close_clip(s);
}

SESSION_TEST(quits, open_clip(s))
{
    session_press(SDLK_RIGHT);
    TYPE_UNTIL(s, "q", s->ended);
    close_clip(s);
}

TEST_MAIN
