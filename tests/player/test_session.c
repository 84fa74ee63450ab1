/* Drives the player by keys and the mouse, and checks its state and pictures of its window. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

#include <ass/ass.h>

#include "folder.h"
#include "player/osd/osd.h"
#include "player/view/view.h"
#include "session.h"

static int open_clip(Session *s)
{
    if (session_open(s, ARGUMENTS(clip(), "--no-config")) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 0);
    return s->ended;
}

static int open_at(Session *s, int64_t position)
{
    return session_open_at(s, position, "panel");
}

/* How far the player's clock (--wrap) is ahead of the real one. Change it only while paused, since
 * sound and decoders do not follow. */
static _Atomic int64_t ahead;

int64_t __real_clock_now(void);
int64_t __wrap_clock_now(void);

int64_t __wrap_clock_now(void)
{
    return __real_clock_now() + atomic_load(&ahead);
}

/* Lets the player's clock advance by `time`, in steps of a second with one turn each. */
static void pass(Session *s, int64_t time)
{
    for (; time > 0 && !s->ended; time -= SECOND) {
        atomic_fetch_add(&ahead, FFMIN(time, SECOND));
        session_turns(s, 1);
    }
}

static int swaps; /* how often the window was drawn */

void SDL_GL_SwapWindow(SDL_Window *window)
{
    void (*swap)(SDL_Window *);
    *(void **)&swap = dlsym(RTLD_NEXT, "SDL_GL_SwapWindow");
    swaps++;
    swap(window);
}

/* While `held`, libass (--wrap) blocks in the subtitle thread. */
static pthread_t loop;
static atomic_int held, is_waiting, gave_up;

ASS_Image *__real_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed);
ASS_Image *__wrap_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed);

ASS_Image *__wrap_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed)
{
    const int64_t end = session_now() + LIVENESS_US;
    if (pthread_equal(pthread_self(), loop)) /* draws a message, not subtitles */
        return __real_ass_render_frame(renderer, track, now, changed);
    while (atomic_load(&held)) {
        atomic_store(&is_waiting, 1);
        usleep(1000);
        if (session_now() > end)
            atomic_store(&gave_up, 1), atomic_store(&held, 0);
    }
    atomic_store(&is_waiting, 0);
    return __real_ass_render_frame(renderer, track, now, changed);
}

static int shows_subtitles; /* the subtitle layer (--wrap) is not empty */

int __real_view_set_layer(View *view, ViewLayer layer, const Overlay *overlay, double opacity,
                          MediaError *error);
int __wrap_view_set_layer(View *view, ViewLayer layer, const Overlay *overlay, double opacity,
                          MediaError *error);

int __wrap_view_set_layer(View *view, ViewLayer layer, const Overlay *overlay, double opacity,
                          MediaError *error)
{
    if (layer == VIEW_LAYER_SUBTITLES)
        shows_subtitles = overlay->canvas.width > 0;
    return __real_view_set_layer(view, layer, overlay, opacity, error);
}

/* ---- time ---- */

SESSION_TEST(plays_to_its_end, session_open(s, ARGUMENTS(clip(), "--no-config", "--ss", "9.5")) < 0)
{
    const int64_t begin = session_now();
    SESSION_UNTIL(s, s->ended);
    const int64_t took = session_now() - begin;
    const PlayerState state = session_state(s);
    CHECK(s->ended == 1, "play_turn() returns %d: %s", s->ended, s->error.text);
    CHECK(state.position >= 10960000 - FRAME_US, "ended at %lld", (long long)state.position);
    CHECK(state.shown + state.dropped >= 37, "%lld shown, %lld dropped", (long long)state.shown,
          (long long)state.dropped);
    CHECK(took > 1000000, "1.5 s of video took %lld us", (long long)took);
}

SESSION_TEST(appears_with_its_picture, session_open(s, ARGUMENTS(clip(), "--no-config")) < 0)
{
    CHECK(SDL_GetWindowFlags(SDL_GL_GetCurrentWindow()) & SDL_WINDOW_HIDDEN, "it is shown empty");
    SESSION_UNTIL(s, state.shown > 0);
    CHECK(SDL_GetWindowFlags(SDL_GL_GetCurrentWindow()) & SDL_WINDOW_SHOWN, "it is not shown");
}

/* Pauses for ten minutes of the player's clock and LUMEQ_TEST_PAUSE_S seconds of real time. Then a
 * GPU that decodes must still have free surfaces. */
SESSION_TEST(pauses_for_long, open_clip(s))
{
    const char *seconds = getenv("LUMEQ_TEST_PAUSE_S");
    const int64_t end = session_now() + (seconds ? atoi(seconds) : 0) * INT64_C(1000000);
    SESSION_UNTIL(s, state.shown > 10);
    const int on_gpu = session_state(s).on_gpu;
    TYPE_UNTIL(s, " ", state.paused);
    const int64_t when_paused = session_state(s).shown;
    for (int i = 0; i < 10; i++) { /* an idle turn takes 0.1 s */
        atomic_fetch_add(&ahead, 60 * SECOND);
        session_turns(s, 1);
    }
    CHECK(session_state(s).shown <= when_paused + 1, "frames are shown while paused");
    TYPE_UNTIL(s, "e", !state.changing);
    TYPE_UNTIL(s, "e", !state.changing);
    while (!s->ended && session_now() < end)
        session_turns(s, 1);
    const int64_t shown = session_state(s).shown;
    TYPE_UNTIL(s, " ", !state.paused && state.shown >= shown + 60);
    CHECK(session_state(s).on_gpu == on_gpu, "the GPU is no longer used");
    CHECK(!s->error.fault, "%s", s->error.text);
    const char *backend = getenv("LUMEQ_TEST_BACKEND");
    const int wanted = backend && !strcmp(backend, "cuda");
    CHECK(on_gpu == wanted, "frames are decoded %s", on_gpu ? "on a GPU" : "in software");
}

SESSION_TEST(steps_both_ways, open_at(s, 2 * SECOND))
{
    const int64_t first = session_state(s).position;
    CHECK(first == 2 * SECOND, "at %lld", (long long)first);
    for (int i = 1; i <= 3; i++) {
        TYPE_UNTIL(s, ".", state.position == first + i * FRAME_US);
    }
    for (int i = 2; i >= -2; i--) {
        TYPE_UNTIL(s, ",", state.position == first + i * FRAME_US && !state.seeking);
    }
    TYPE_UNTIL(s, ".", state.position == first - FRAME_US);
    CHECK(session_state(s).paused, "stepping does not pause");
}

SESSION_TEST(seeks_exactly, open_at(s, 1 * SECOND))
{
    PRESS_UNTIL(s, SDLK_RIGHT, state.position == 6 * SECOND && !state.seeking);
    PRESS_UNTIL(s, SDLK_LEFT, state.position == 1 * SECOND && !state.seeking);
    /* not before the start */
    PRESS_UNTIL(s, SDLK_LEFT, state.position == 0 && !state.seeking);
    session_press(SDLK_RIGHT); /* two seeks add up */
    PRESS_UNTIL(s, SDLK_RIGHT, state.position == 10 * SECOND && !state.seeking);
    /* not beyond the last frame */
    PRESS_UNTIL(s, SDLK_UP, state.position >= 10900000 && !state.seeking);
    CHECK(!s->ended, "a seek to the end while paused ends the player");
    PRESS_UNTIL(s, SDLK_DOWN, state.position == 0 && !state.seeking);
    TYPE_UNTIL(s, " ", state.position >= 200000);
}

/* Steps add up even while the previous step is still seeking. */
SESSION_TEST(steps_back_add_up, open_at(s, 2 * SECOND))
{
    for (int i = 0; i < 5; i++)
        session_type(",");
    SESSION_UNTIL(s, state.position == 2 * SECOND - 5 * FRAME_US && !state.seeking);
}

/* With --to, sound stops with the pictures, and seeks stay within the part. */
SESSION_TEST(a_part_ends,
             session_open(s, ARGUMENTS(clip(), "--no-config", "--ss", "1", "--to", "2")) < 0)
{
    SESSION_UNTIL(s, state.shown > 0 && !state.seeking);
    session_type(" ");
    PRESS_UNTIL(s, SDLK_UP, state.position == 2 * SECOND - FRAME_US && !state.seeking);
    session_type(" ");
    const int64_t begin = session_now();
    SESSION_UNTIL(s, s->ended);
    CHECK(session_now() - begin < 5 * SECOND, "the sound does not end with the part");
}

/* Choosing a track during a seek does not stop the seek. */
SESSION_TEST(tracks_and_seeks, open_at(s, 1 * SECOND))
{
    session_press(SDLK_RIGHT);
    session_type("#");
    TYPE_UNTIL(s, "j", state.position == 6 * SECOND && !state.seeking);
}

static void stays_at_its_end(Session *s)
{
    SESSION_UNTIL(s, state.at_end);
    session_turns(s, 3);
    const PlayerState state = session_state(s);
    CHECK(!s->ended && state.paused && state.position >= 10960000 - FRAME_US,
          "play_turn() returns %d, %s, at %lld", s->ended, state.paused ? "paused" : "playing",
          (long long)state.position);
    CHECK(session_state(s).ended, "the video does not count as ended");
}

SESSION_TEST(keeps_the_last_picture, session_open(s, ARGUMENTS(clip(), "--no-config", "--ss",
                                                               "10.5", "--keep-open", "yes")) < 0)
{
    stays_at_its_end(s);
    /* plays again from the start of the part */
    TYPE_UNTIL(s, " ", !state.at_end && !state.paused && state.position < 10700000);
    stays_at_its_end(s);
    PRESS_UNTIL(s, SDLK_LEFT, !state.at_end && !state.seeking && state.position < 6000000);
    CHECK(session_state(s).paused, "it plays after a seek");
    session_type(" ");
    const int64_t shown = session_state(s).shown;
    SESSION_UNTIL(s, !state.paused && state.shown >= shown + 5);
    session_press(SDLK_UP);
    stays_at_its_end(s);
    const int64_t last = session_state(s).position;
    for (int i = 0; i < 3; i++) /* all deinterlacing modes keep the last frame */
        session_type("D");
    SESSION_UNTIL(s, state.at_end && !state.seeking && state.position == last);
    TYPE_UNTIL(s, " ", !state.at_end && !state.paused && state.position < 10700000);
    stays_at_its_end(s);
    TYPE_UNTIL(s, ",", !state.at_end && !state.seeking && state.position < last);
    TYPE_UNTIL(s, "q", s->ended);
    CHECK(!session_state(s).ended, "the video counts as ended, though closed before its end");
}

/* By default the window stays open at the end of a dropped file; with --keep-open no, it closes. */
SESSION_TEST(stays_open_after_a_dropped_file, open_clip(s))
{
    SESSION_UNTIL(s, state.position >= 200000); /* so that position 0 is the dropped file's */
    for (int i = 0; i < 3; i++) {
        if (i == 2) {
            session_close(s);
            if (session_open(s, ARGUMENTS(clip(), "--no-config", "--keep-open", "no")) < 0)
                return;
            SESSION_UNTIL(s, state.position >= 200000);
        }
        session_drop(clip());
        SESSION_UNTIL(s, state.position == 0);
        session_press(SDLK_UP);
        if (i < 2)
            stays_at_its_end(s);
    }
    SESSION_UNTIL(s, s->ended);
}

SESSION_TEST(changes_speed, open_clip(s))
{
    for (int i = 0; i < 30; i++)
        session_type("]");
    SESSION_UNTIL(s, state.speed == 4);
    SESSION_UNTIL(s, state.position >= 4 * SECOND);
    for (int i = 0; i < 40; i++)
        session_type("[");
    SESSION_UNTIL(s, state.speed == 0.25);
    PRESS_UNTIL(s, SDLK_BACKSPACE, state.speed == 1);
}

SESSION_TEST(loops, session_open(s, ARGUMENTS(clip(), "--no-config", "--to", "0.4")) < 0)
{
    TYPE_UNTIL(s, "l", state.loop && state.position == 360000);
    SESSION_UNTIL(s, state.position == 0);
    SESSION_UNTIL(s, state.position == 360000);
    TYPE_UNTIL(s, "l", s->ended);
}

/* ---- settings ---- */

/* Presses a key that changes a setting, and waits until the picture shows it. */
static void change(Session *s, const char *key)
{
    char before[128];
    SDL_strlcpy(before, session_state(s).message, sizeof(before));
    TYPE_UNTIL(s, key, strcmp(state.message, before) != 0 && !state.changing);
    session_turns(s, 3);
}

/* While paused, keys change the shown frame, and r restores it exactly. */
SESSION_TEST(settings_act_while_paused, open_at(s, 1 * SECOND))
{
    session_turns(s, 4);
    AUTO_GRAB before = grab(s);
    change(s, "3");
    change(s, "b");
    AUTO_GRAB changed = grab(s);
    CHECK(difference(&before, &changed, 0.1, 0.6) > 0.3, "the changes cannot be seen");
    change(s, "r");
    AUTO_GRAB reset = grab(s);
    CHECK(difference(&before, &reset, 0.1, 0.6) == 0, "r does not undo all changes");
    CHECK(session_state(s).position == 1 * SECOND, "another frame is shown");
}

/* Fullscreen starts without a panel unless the command line asks for one. */
SESSION_TEST(fullscreen_has_its_own_panel, session_open(s, ARGUMENTS(clip(), "--no-config")))
{
    static const struct {
        const char *key;
        int fullscreen;
        PanelMode panel;
    } steps[] = {{"f", 1, PANEL_OFF},
                 {"P", 1, PANEL_BESIDE},
                 {"P", 1, PANEL_OVER},
                 {"f", 0, PANEL_BESIDE},
                 {"f", 1, PANEL_OVER}};
    SESSION_UNTIL(s, state.shown > 0 && state.look.histogram == PANEL_BESIDE);
    for (int i = 0; i < 5; i++) {
        TYPE_UNTIL(s, steps[i].key,
                   state.fullscreen == steps[i].fullscreen &&
                       state.look.histogram == steps[i].panel);
    }
    session_close(s);
    if (session_open(
            s, ARGUMENTS(clip(), "--no-config", "--fullscreen", "--histogram", "overlay")) == 0)
        SESSION_UNTIL(s, state.fullscreen && state.look.histogram == PANEL_OVER);
}

/* Writes two seconds of a picture with all tones. */
static const char *write_good_clip(void)
{
    enum { SIZE = 64, FRAME = 6 + SIZE * SIZE * 3 / 2 };
    static char clip[100 + 50 * FRAME];
    char *at = clip + sprintf(clip, "YUV4MPEG2 W%d H%d F25:1 C420jpeg\n", SIZE, SIZE);
    for (int frame = 0; frame < 50; frame++, at += FRAME) {
        memcpy(at, "FRAME\n", 6);
        for (int i = 0; i < SIZE * SIZE; i++)
            at[6 + i] = (char)(16 + i * 37 % SIZE * 219 / (SIZE - 1));
        memset(at + 6 + SIZE * SIZE, 128, SIZE * SIZE / 2);
    }
    return write_file("good.y4m", clip, (size_t)(at - clip));
}

/* The first step up from automatic strength is large enough to see. */
SESSION_TEST(steps_for_a_good_picture,
             session_open(s, ARGUMENTS(write_good_clip(), "--no-config", "--strength", "auto")))
{
    TYPE_UNTIL(s, "p", state.paused && state.shown > 0);
    static const char *const says[][2] = {{"2", "Strength: 0.25"},   {"2", "Strength: 0.3"},
                                          {"1", "Strength: 0.25"},   {"4", "Clip limit: 3.38"},
                                          {"3", "Clip limit: 3"},    {"6", "Smoothing: 0.6 s"},
                                          {"5", "Smoothing: 0.5 s"}, {"5", "Smoothing: 0.4 s"}};
    for (int i = 0; i < 8; i++) {
        TYPE_UNTIL(s, says[i][0], strcmp(state.message, says[i][1]) == 0 && !state.changing);
    }
}

/* Enlarges the window, because messages cover the middle of a small one. */
static void enlarge(Session *s)
{
    SDL_SetWindowSize(SDL_GL_GetCurrentWindow(), 1280, 720);
    session_turns(s, 4);
}

static void hide_panel(Session *s)
{
    for (int i = 0; i < 5 && session_state(s).look.histogram != PANEL_OFF; i++) {
        session_type("h");
        session_turns(s, 2);
    }
    SESSION_UNTIL(s, state.look.histogram == PANEL_OFF);
}

SESSION_TEST(compares, open_at(s, 1 * SECOND))
{
    enlarge(s);
    hide_panel(s);
    session_turns(s, 4);
    AUTO_GRAB on = grab(s);
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_SPLIT);
    session_turns(s, 4);
    AUTO_GRAB split = grab(s);
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_SIDE);
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_OFF);
    change(s, "e");
    AUTO_GRAB off = grab(s);
    CHECK(difference(&on, &split, 0.55, 0.95) == 0, "the right side is not the equalized one");
    CHECK(difference(&off, &split, 0.05, 0.45) == 0, "the left side is not the untouched one");
    CHECK(difference(&on, &split, 0.05, 0.45) > 0.3, "both sides are the same");
    session_type("e");
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_SPLIT);
    const int picture = on.height * 16 / 9, left = (on.width - picture) / 2;
    send_mouse(SDL_MOUSEBUTTONDOWN, on.width / 2, on.height / 2);
    send_mouse(SDL_MOUSEMOTION, left + picture / 4, on.height / 2);
    send_mouse(SDL_MOUSEBUTTONUP, left + picture / 4, on.height / 2);
    SESSION_UNTIL(s, state.look.split > 0.24 && state.look.split < 0.26);
    send_mouse(SDL_MOUSEMOTION, on.width * 3 / 4, on.height / 2);
    session_turns(s, 3);
    CHECK(session_state(s).look.split < 0.3, "the line follows a mouse that does not hold it");
}

SESSION_TEST(the_panel_over_a_split,
             session_open(s, ARGUMENTS(clip(), "--no-config", "--ss", "1", "--compare", "split",
                                       "--histogram", "overlay")) < 0)
{
    TYPE_UNTIL(s, "p", state.paused && state.shown > 0 && !state.seeking);
    enlarge(s);
    AUTO_GRAB there = grab(s);
    hide_panel(s);
    session_turns(s, 4);
    AUTO_GRAB without = grab(s);
    CHECK(difference(&there, &without, 0.05, 0.2) > 0.3, "the panel was not at the left");
    CHECK(difference(&there, &without, 0.55, 0.95) == 0, "the panel covered the equalized half");
}

static int same_picture(const Grab *a, const Grab *b)
{
    return a->width == b->width && a->height == b->height && a->pixels && b->pixels &&
           memcmp(a->pixels, b->pixels, (size_t)a->width * (size_t)a->height * 4) == 0;
}

/* Waits until all messages and labels have gone, and returns a picture of the window. */
static Grab settled(Session *s)
{
    const int64_t end = session_now() + LIVENESS_US;
    Grab last = grab(s);
    for (int same = 0; !same && session_now() < end;) {
        pass(s, OSD_LABELS_US + 2 * OSD_FADE_US);
        session_turns(s, 2);
        const Grab now = grab(s);
        same = same_picture(&last, &now);
        free(last.pixels);
        last = now;
    }
    CHECK(session_now() < end, "the window does not stop changing");
    return last;
}

SESSION_TEST(labels_a_comparison, !has_text() || open_at(s, 1 * SECOND))
{
    wait_for_text(s);
    AUTO_GRAB one = settled(s);
    CHECK(SDL_ShowCursor(SDL_QUERY) == SDL_DISABLE, "the cursor is visible before the mouse moves");
    send_mouse(SDL_MOUSEMOTION, 100, 100);
    session_turns(s, 3);
    AUTO_GRAB unlabelled = grab(s);
    CHECK(difference(&one, &unlabelled, 0, 1) == 0, "a single picture is labelled");
    TYPE_UNTIL(s, "c", state.look.compare == VIEW_COMPARE_SPLIT);
    AUTO_GRAB rest = settled(s);
    send_mouse(SDL_MOUSEMOTION, 110, 100);
    session_turns(s, 3);
    AUTO_GRAB moving = grab(s);
    CHECK(!same_picture(&rest, &moving), "there are no labels");
    CHECK(SDL_ShowCursor(SDL_QUERY) == SDL_ENABLE, "the cursor is hidden while it moves");
    AUTO_GRAB again = settled(s);
    CHECK(same_picture(&rest, &again), "the labels stay");
    CHECK(SDL_ShowCursor(SDL_QUERY) == SDL_DISABLE, "the cursor stays");
}

/* h cycles through these: histogram beside the picture, histogram over it, other scopes, no panel.
 * A small window has no room for all scopes together, so h skips them. */
SESSION_TEST(goes_through_panels, open_at(s, 1 * SECOND))
{
    static const char *const names[] = {"histogram", "waveform", "vectorscope", "all scopes"};
    CHECK(session_state(s).look.histogram == PANEL_BESIDE, "the panel is not beside at first");
    TYPE_UNTIL(s, "h", state.look.histogram == PANEL_OVER);
    CHECK(session_state(s).look.scope == PANEL_HISTOGRAM, "another scope is first");
    for (int beside = 0; beside < 2; beside++) {
        SDL_SetWindowSize(SDL_GL_GetCurrentWindow(), 1280, 720);
        session_turns(s, 4);
        Grab before = grab(s);
        for (int i = 1; i <= PANEL_ALL; i++) {
            char says[64];
            snprintf(says, sizeof(says), "Panel: %s", names[i]);
            TYPE_UNTIL(s, "h", strcmp(state.message, says) == 0 && (int)state.look.scope == i);
            if (beside && i == 1) {
                TYPE_UNTIL(s, "P", state.look.histogram == PANEL_BESIDE);
            }
            session_turns(s, 2);
            const Grab now = grab(s);
            CHECK(difference(&before, &now, 0.8, 0.99) > 0.02, "%s cannot be seen", names[i]);
            free(before.pixels);
            before = now;
        }
        free(before.pixels);
        CHECK(session_state(s).look.histogram == (beside ? PANEL_BESIDE : PANEL_OVER),
              "the panel has moved");
        TYPE_UNTIL(s, "h", state.look.histogram == PANEL_OFF);
        TYPE_UNTIL(s, "h", state.look.histogram == PANEL_BESIDE);
        CHECK(session_state(s).look.scope == PANEL_HISTOGRAM, "another scope is first");
        TYPE_UNTIL(s, "h", state.look.histogram == PANEL_OVER);
    }
    SDL_SetWindowSize(SDL_GL_GetCurrentWindow(), 480, 270);
    session_turns(s, 4);
    session_type("h");
    TYPE_UNTIL(s, "h", state.look.scope == PANEL_VECTORSCOPE);
    TYPE_UNTIL(s, "h", state.look.histogram == PANEL_OFF);
}

SESSION_TEST(help_statistics_and_other_keys, open_clip(s))
{
    if (has_text()) /* the keys also work if the window shows no text */
        wait_for_text(s);
    TYPE_UNTIL(s, "H", state.look.log_scale);
    TYPE_UNTIL(s, "P", state.look.histogram == PANEL_OVER);
    TYPE_UNTIL(s, "i", state.look.statistics);
    TYPE_UNTIL(s, "?", state.look.help);
    TYPE_UNTIL(s, "?", !state.look.help);
    TYPE_UNTIL(s, "i", !state.look.statistics);
    for (int i = 0; i < 3; i++) {
        static const char *const words[] = {"all frames", "off", "interlaced"};
        TYPE_UNTIL(s, "D", BEGINS("Deinterlace:") && strstr(state.message, words[i]));
    }
    session_type("M");
    session_type("v");
    session_type("j");
    TYPE_UNTIL(s, "#", BEGINS("Sound:"));
    session_type("f");
    session_press(SDLK_ESCAPE);
    session_turns(s, 3);
    PRESS_UNTIL(s, SDLK_ESCAPE, s->ended);
}

/* A paused window is drawn only when the system asks for it. */
SESSION_TEST(is_drawn_when_asked, open_at(s, SECOND))
{
    pass(s, OSD_MESSAGE_US + OSD_FADE_US); /* no message is left to fade */
    int known = -1;
    for (const int64_t end = session_now() + LIVENESS_US; known != swaps && session_now() < end;) {
        known = swaps;
        session_turns(s, 10); /* a second */
    }
    CHECK(known == swaps, "the window is drawn all the time");
    SDL_Event event = {.type = SDL_WINDOWEVENT};
    event.window.event = SDL_WINDOWEVENT_EXPOSED;
    SDL_PushEvent(&event);
    SESSION_UNTIL(s, swaps > known);
}

/* A busy machine may show frames late. But after a second, some frames are in sync, and no frame is
 * far ahead of the sound. */
SESSION_TEST(picture_and_sound_go_together, open_clip(s))
{
    int64_t together = 0, ahead_of_sound = 0, shown = 0;
    SESSION_UNTIL(s, state.offset != AV_NOPTS_VALUE);
    while (!s->ended && together < 10) {
        s->ended = play_turn(s->play, &s->error);
        const PlayerState state = session_state(s);
        if (state.shown == shown)
            continue;
        shown = state.shown;
        together += state.position > SECOND && llabs(state.offset) < CHECK_SLOWER * SECOND / 10;
        ahead_of_sound += state.offset > SECOND / 2;
    }
    CHECK(together == 10, "of %lld frames only %lld are in sync", (long long)shown,
          (long long)together);
    CHECK(!ahead_of_sound, "%lld frames are far ahead of the sound", (long long)ahead_of_sound);
}

/* ---- files ---- */

/* Takes two screenshots of a video of this name. Checks that they lie beside the video and have
 * different names. */
static void screenshots_of(const char *video, const char *picture)
{
    char link[400], target[4096], name[320];
    Session s;
    remove_folder();
    snprintf(name, sizeof(name), "%s.mkv", video);
    strcpy(link, in_folder(name));
    CHECK(realpath(clip(), target) && symlink(target, link) == 0, "no link");
    if (session_open(&s, ARGUMENTS(link, "--no-config", "--ss", "1")) == 0) {
        TYPE_UNTIL(&s, "p", state.paused && state.shown > 0 && !state.seeking);
        for (int i = 1; i <= 2; i++) {
            TYPE_UNTIL(&s, "s", state.screenshots == i);
        }
        session_close(&s);
    }
    for (int i = 1; i <= 2; i++) {
        snprintf(name, sizeof(name), "%s-0.00.01.000%s.png", picture, i == 1 ? "" : "-2");
        CHECK(unlink(in_folder(name)) == 0, "there is no %s", name);
    }
    CHECK(unlink(link) == 0 && rmdir(folder) == 0, "the folder is not empty");
    remove_folder();
}

/* If a file's name is too long for a screenshot's name, it is cut, but not inside a character. */
TEST(screenshots)
{
    char video[252] = "x", picture[252] = "x";
    for (int i = 0; i < 125; i++)
        strcat(video, "\u00e4");
    memcpy(picture, video, 1 + 111 * 2); /* 255 bytes, less 32 for the position */
    screenshots_of("video", "video");
    screenshots_of(video, picture);
}

/* ---- subtitles ---- */

/* Frames, keys, seeks and other files do not wait while a subtitle is drawn. */
SESSION_TEST(subtitles_hold_up_nothing,
             (shows_subtitles = 0, loop = pthread_self(), !has_text()) ||
                 session_open(s, ARGUMENTS(clip(), "--no-config", "--ss", "1")))
{
    SESSION_UNTIL(s, state.shown > 0 && shows_subtitles);
    atomic_store(&held, 1);
    SESSION_UNTIL(s, atomic_load(&is_waiting));
    const int64_t shown = session_state(s).shown;
    SESSION_UNTIL(s, state.shown >= shown + 10);
    TYPE_UNTIL(s, "2", BEGINS("Strength") && !state.changing);
    PRESS_UNTIL(s, SDLK_RIGHT, !state.seeking && state.position > 5 * SECOND);
    session_drop(clip());
    SESSION_UNTIL(s, !state.seeking && state.position < 2 * SECOND);
    CHECK(!shows_subtitles, "a subtitle of the previous file is shown");
    CHECK(atomic_load(&is_waiting), "the thread drew while it was held");
    atomic_store(&held, 0);
    SESSION_UNTIL(s, shows_subtitles);
    CHECK(!atomic_load(&gave_up), "the player's loop waited for a subtitle");
}

/* Pauses one frame before the first subtitle (0.2 s). */
static int open_before_the_first_line(Session *s)
{
    shows_subtitles = 0;
    return open_at(s, 4 * FRAME_US);
}

SESSION_TEST(subtitles_belong_to_frames, !has_text() || open_before_the_first_line(s))
{
    const int64_t first = 5 * FRAME_US;
    session_turns(s, 4);
    CHECK(!shows_subtitles, "the subtitle is shown before its start");
    TYPE_UNTIL(s, ".", state.position == first && shows_subtitles);
    TYPE_UNTIL(s, ",", state.position < first);
    CHECK(!shows_subtitles, "the subtitle stays on the previous frame");
    TYPE_UNTIL(s, ".", state.position == first && shows_subtitles);
    for (int i = 0; i < 2; i++) {
        PRESS_UNTIL(s, i ? SDLK_LEFT : SDLK_RIGHT, (state.position > 3 * SECOND) == !i);
        CHECK(!shows_subtitles, "after a seek, the subtitle of another frame is shown");
    }
    SESSION_UNTIL(s, !state.seeking && shows_subtitles);
}

/* ---- closing ---- */

TEST(closes_at_any_moment)
{
    for (int i = 0; i < 12; i++) {
        Session s;
        if (session_open(&s, ARGUMENTS(clip(), "--no-config")) < 0)
            return;
        session_turns(&s, 2 * i);
        if (i % 3 == 1)
            session_press(SDLK_RIGHT);
        if (i % 3 == 2)
            session_type(",");
        session_turns(&s, i % 4);
        SDL_Event event = {.type = SDL_QUIT};
        if (i % 2) {
            SDL_PushEvent(&event);
            SESSION_UNTIL(&s, s.ended);
        }
        session_close(&s);
    }
}

TEST_MAIN
