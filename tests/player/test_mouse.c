/* Mouse, bar, settings panel and related keys, checked by what the player's window then shows. */
#include <stdlib.h>
#include <sys/stat.h>

#include "app/window_writing.h"
#include "folder.h"
#include "player/osd/osd_parts.h"
#include "session.h"

#define LENGTH (11 * SECOND)

static int open_at(Session *s, int64_t position)
{
    return session_open_at(s, position, "off");
}

/* Positions of the bar's parts, by the sizes that its page documents. */
static OsdBarPlaces bar_places(Session *s)
{
    OsdBar bar = {.duration = LENGTH, .from = -1, .to = -1, .most = 100};
    AUTO_GRAB g = grab(s);
    const int shorter = g.width < g.height ? g.width : g.height;
    const int margin = (int)fmax(shorter / 45.0, 10), message = (int)fmax(shorter / 26.0, 16);
    const int size = (int)fmax(0.7 * message, 11);
    return osd_bar_places(&bar, (Rect){0, 0, g.width, g.height}, margin, size);
}

static int row_differs(const Grab *a, const Grab *b, int y)
{
    const size_t row = (size_t)a->width * 4;
    return memcmp(a->pixels + (size_t)y * row, b->pixels + (size_t)y * row, row) != 0;
}

/* Moves the mouse to show the bar. If `first`, checks that its pixels change. */
static OsdBarPlaces show_bar(Session *s, int first)
{
    const OsdBarPlaces at = bar_places(s);
    AUTO_GRAB before = grab(s);
    send_mouse(SDL_MOUSEMOTION, 100, 100);
    session_turns(s, 3);
    AUTO_GRAB now = grab(s);
    CHECK(!first || row_differs(&before, &now, at.all.y + at.all.height / 2),
          "the bar is not visible");
    return at;
}

static void click(Rect part)
{
    send_mouse(SDL_MOUSEBUTTONDOWN, part.x + part.width / 2, part.y + part.height / 2);
    send_mouse(SDL_MOUSEBUTTONUP, part.x + part.width / 2, part.y + part.height / 2);
}

/* Distance of the player's position from this position. */
static int64_t off(const Session *s, int64_t position)
{
    return llabs(session_state(s).position - position);
}

/* A drag on the track seeks to where the drag ends. */
SESSION_TEST(bar_seeks_pauses_and_sets_volume, !has_text() || open_at(s, 1 * SECOND))
{
    wait_for_text(s);
    const OsdBarPlaces at = show_bar(s, 1);
    const int y = at.track.y + at.track.height / 2, quarter = at.track.width / 4;
    send_mouse(SDL_MOUSEBUTTONDOWN, at.track.x + quarter, y);
    SESSION_UNTIL(s, !state.seeking && off(s, LENGTH / 4) < SECOND / 10);
    send_mouse(SDL_MOUSEMOTION, at.track.x + 2 * quarter, y + 200); /* off the track, still held */
    SESSION_UNTIL(s, !state.seeking && off(s, LENGTH / 2) < SECOND / 10);
    send_mouse(SDL_MOUSEBUTTONUP, at.track.x + 3 * quarter, y);
    SESSION_UNTIL(s, !state.seeking && off(s, LENGTH / 4 * 3) < SECOND / 10);
    const int64_t there = session_state(s).position;
    send_mouse(SDL_MOUSEMOTION, at.track.x + quarter, y);
    session_turns(s, 3);
    CHECK(session_state(s).position == there,
          "the position follows a mouse that does not hold the track");
    CHECK(session_state(s).paused, "seeking ends the pause");
    (void)show_bar(s, 0);
    click(at.volume);
    SESSION_UNTIL(s, abs(state.volume - 50) <= 2);
    (void)show_bar(s, 0);
    click(at.button);
    SESSION_UNTIL(s, !state.paused);
    for (int opened = 1; opened >= 0; opened--) {
        (void)show_bar(s, 0);
        click(at.settings);
        SESSION_UNTIL(s, state.look.settings == opened);
    }
    (void)show_bar(s, 0);
    click(at.fullscreen);
    SESSION_UNTIL(s, state.fullscreen);
}

/* The message has the size of the marked part. */
SESSION_TEST(metered_part_has_its_size, open_at(s, 1 * SECOND))
{
    session_type("z");
    send_mouse(SDL_MOUSEBUTTONDOWN, 100, 60);
    send_mouse(SDL_MOUSEBUTTONUP, 200, 120);
    SESSION_UNTIL(s, BEGINS("Metering: only the marked part, "));
    int width = 0, height = 0;
    const char *size = session_state(s).message + 32;
    CHECK(sscanf(size, "%dx%d pixels", &width, &height) == 2 && width > 0 && height > 0,
          "the size is '%s'", size);
}

/* Pixels that differ above the bar, around a column. */
static int differ_above(const Grab *a, const Grab *b, const OsdBarPlaces *at, int x)
{
    int count = 0;
    for (int y = at->all.y - a->height / 5; y < at->all.y; y++)
        for (int i = x - 40; i < x + 40; i++) {
            const size_t pixel = ((size_t)y * (size_t)a->width + (size_t)i) * 4;
            count += memcmp(a->pixels + pixel, b->pixels + pixel, 3) != 0;
        }
    return count;
}

static int differ_in_rows(const Grab *a, const Grab *b, Rect rows)
{
    int count = 0;
    for (int y = rows.y; y < rows.y + rows.height; y++)
        count += row_differs(a, b, y);
    return count;
}

/* Hides the subtitles, because they would change pixels at any time. */
static int open_without_subtitles(Session *s, int64_t position)
{
    if (!has_text() || open_at(s, position))
        return -1;
    wait_for_text(s);
    session_type("v");
    session_turns(s, 4);
    return 0;
}

/* Pointing at the track shows its time above the bar. */
SESSION_TEST(time_under_the_mouse, open_without_subtitles(s, 1 * SECOND))
{
    const OsdBarPlaces at = show_bar(s, 1);
    const int x = at.track.x + at.track.width / 2, y = at.track.y + at.track.height / 2;
    const int64_t end = session_now() + LIVENESS_US;
    AUTO_GRAB before = grab(s);
    for (int there = 1; there >= 0; there--)
        for (int differs = !there; differs != there && session_now() < end;) {
            send_mouse(SDL_MOUSEMOTION, x + (int)(session_now() % 2), there ? y : 100);
            session_turns(s, 1);
            AUTO_GRAB now = grab(s);
            differs = differ_above(&before, &now, &at, x) > 0;
        }
    CHECK(session_now() < end, "the time does not appear, or stays");
    CHECK(session_state(s).position < 2 * SECOND, "pointing at the track seeks");
}

SESSION_TEST(chapters_and_edges, open_at(s, 1 * SECOND))
{
    static const struct {
        SDL_Keycode key;
        int64_t position;
        const char *says;
    } steps[] = {
        {SDLK_PAGEUP, 4000000, "Chapter 2 of 3: Dark room"},
        {SDLK_PAGEUP, 7600000, "Chapter 3 of 3: Dusk at sea"},
        {SDLK_PAGEUP, 7600000, "Last chapter"},
        {SDLK_PAGEDOWN, 4000000, "Chapter 2 of 3: Dark room"},
        {SDLK_END, 10960000, "End"},
        {SDLK_HOME, 0, "Beginning"},
        {SDLK_PAGEDOWN, 0, "First chapter"},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        PRESS_UNTIL(s, steps[i].key,
                    !state.seeking && strcmp(state.message, steps[i].says) == 0 &&
                        off(s, steps[i].position) < FRAME_US);
    }
    PRESS_UNTIL(s, SDLK_PAGEUP, !state.seeking && off(s, 4 * SECOND) < FRAME_US);
    session_turns(s, 2);
    CHECK(strstr(session_title(), " (0:04 / 0:11) - lumeq"), "the title is %s", session_title());
    if (has_text()) {
        wait_for_text(s);
        const OsdBarPlaces at = bar_places(s);
        AUTO_GRAB without = grab(s);
        session_type("o");
        session_turns(s, 3);
        AUTO_GRAB with = grab(s);
        CHECK(differ_in_rows(&without, &with, at.all) > 0, "o shows no position");
    }
}

/* L sets both ends of a section that repeats. */
SESSION_TEST(repeats, open_at(s, 2 * SECOND))
{
    TYPE_UNTIL(s, "L", BEGINS("Repeat from 0:02.0"));
    for (int i = 1; i <= 10; i++) {
        TYPE_UNTIL(s, ".", state.position >= 2 * SECOND + i * FRAME_US);
    }
    TYPE_UNTIL(s, "L", BEGINS("Repeat to 0:02.4"));
    session_type("p");
    int64_t most = 0;
    for (int rounds = 0; rounds < 2; rounds++) {
        SESSION_UNTIL(s, state.position >= 2 * SECOND + 8 * FRAME_US);
        SESSION_UNTIL(
            s, (most = FFMAX(most, state.position), state.position <= 2 * SECOND + 2 * FRAME_US));
    }
    CHECK(most <= 2 * SECOND + 11 * FRAME_US, "the section plays to %lld", (long long)most);
    TYPE_UNTIL(s, "L", SAYS("Repeat: off"));
    SESSION_UNTIL(s, state.position > 3 * SECOND);
}

/* The default of each setting restores the picture. */
SESSION_TEST(settings_by_keys, open_at(s, 1 * SECOND))
{
    /* In the panel's order: messages after a step and after a reset, and whether the step changes
     * the picture. */
    static const struct {
        const char *says, *back;
        int seen;
    } rows[PLAYER_SETTINGS] = {
        {"Mode: clahe", "Mode: global", 1},
        {"Profile: fog", "Profile: none", 1},
        {"Strength: ", CHECK_SLOWER > 1 ? "Strength: 0.8" : "Strength: auto", 1},
        {"Clip limit: 3.38", "Clip limit: auto", 0},
        {"Tiles: 9x9; no effect outside mode clahe", "Tiles: 8x8", 0},
        {"Chroma: keep", "Chroma: scale", 1},
        {"Smoothing: 0.6 s", "Smoothing: 0.5 s", 0},
        {"Black bars: ignore", "Black bars: auto", 0},
        {"Range: limited", "Range: auto", 0},
        {"Denoise: ", "Denoise: auto", 0},
        {"Brightness: 0.05", "Brightness: 0", 1},
        {"Gamma: 1.1", "Gamma: 1", 1},
        {"Metering: the centre", "Metering: the whole picture", 1},
        {"Deinterlace: all frames", "Deinterlace: interlaced frames", 0},
    };
    AUTO_GRAB before = grab(s);
    session_press(SDLK_TAB);
    for (int i = 0; i < PLAYER_SETTINGS; i++) {
        SESSION_UNTIL(s, state.look.settings && state.look.chosen == i);
        PRESS_UNTIL(s, SDLK_RIGHT,
                    strncmp(state.message, rows[i].says, strlen(rows[i].says)) == 0 &&
                        !state.changing && !state.seeking);
        session_turns(s, 3);
        AUTO_GRAB now = grab(s);
        CHECK(!rows[i].seen || difference(&before, &now, 0.6, 1) > 0.05, "%s cannot be seen: %.3f",
              rows[i].says, difference(&before, &now, 0.6, 1));
        PRESS_UNTIL(s, i % 2 ? SDLK_BACKSPACE : SDLK_DELETE,
                    strncmp(state.message, rows[i].back, strlen(rows[i].back)) == 0 &&
                        strchr(";", state.message[strlen(rows[i].back)]) && !state.changing &&
                        !state.seeking);
        session_turns(s, 3);
        AUTO_GRAB back = grab(s);
        CHECK(difference(&before, &back, 0.6, 1) == 0, "%s does not restore the picture: %.3f",
              rows[i].back, difference(&before, &back, 0.6, 1));
        session_press(SDLK_DOWN);
    }
    SESSION_UNTIL(s, state.look.chosen == 0);
    PRESS_UNTIL(s, SDLK_UP, state.look.chosen == PLAYER_SETTINGS - 1);
    CHECK(session_state(s).position == 1 * SECOND, "arrows seek");
    PRESS_UNTIL(s, SDLK_ESCAPE, !state.look.settings && !s->ended);
    PRESS_UNTIL(s, SDLK_RIGHT, state.position == 6 * SECOND && !state.seeking);
}

/* A video from standard input has no command. */
SESSION_TEST(w_prints_and_copies_the_command, open_at(s, 1 * SECOND))
{
    const Source none = {0};
    WindowWriting writing = {.output = NULL};
    char text[256];
    session_press(SDLK_TAB);
    session_press(SDLK_RIGHT);
    TYPE_UNTIL(s, "W", BEGINS("Printed and copied: lumeq "));
    char *copied = SDL_GetClipboardText();
    CHECK(strncmp(copied, "lumeq ", 6) == 0 && strstr(copied, "-lumeq.mkv") &&
              strstr(copied, " --mode=clahe"),
          "the clipboard has '%s'", copied);
    SDL_free(copied);
    window_writing_start(&writing, &s->options, "-", &none, text, sizeof(text));
    CHECK(!writing.output && strncmp(text, "Only files", 10) == 0, "the message is '%s'", text);
    CHECK(!window_writing_command(&s->options, "-", &none, text, sizeof(text)),
          "standard input has a command");
}

/* Writes a script with this line. The script replaces the desktop's dialog. */
static void make_dialog(const char *name, const char *line)
{
    char script[600];
    const int size = snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", line);
    CHECK(chmod(write_file(name, script, (size_t)size), 0755) == 0, "no script");
}

/* A file chosen in a dialog is played; a cancelled dialog changes nothing. */
SESSION_TEST(opens_by_a_dialog, open_at(s, 8 * SECOND))
{
    char line[512];
    char *before = SDL_strdup(getenv("PATH"));
    setenv("PATH", in_folder(""), 1);
    session_press_with(SDLK_o, KMOD_LCTRL);
    SESSION_UNTIL(s, strstr(state.message, "drop a file here"));
    make_dialog("zenity", "echo /chosen/but/left; exit 1");
    session_press_with(SDLK_o, KMOD_LCTRL);
    session_turns(s, 5);
    CHECK(strstr(session_state(s).message, "drop"), "the message is '%s'",
          session_state(s).message);
    snprintf(line, sizeof(line), "echo '%s'", clip());
    unlink(in_folder("zenity"));
    make_dialog("kdialog", line);
    /* Pressing the key again opens no second dialog while one is open. */
    for (int tries = 0; session_state(s).position >= 8 * SECOND && tries < 5; tries++) {
        const int64_t end = session_now() + LIVENESS_US / 5;
        session_press_with(SDLK_o, KMOD_LCTRL);
        while (session_state(s).position >= 8 * SECOND && session_now() < end)
            session_turns(s, 1);
    }
    CHECK(session_state(s).position < 8 * SECOND, "the chosen file is not played");
    make_dialog("kdialog", "while :; do :; done"); /* the player must close it */
    session_press_with(SDLK_o, KMOD_LCTRL);
    session_turns(s, 2);
    session_close(s);
    setenv("PATH", before, 1);
    SDL_free(before);
}

TEST_MAIN
