/* The player under the mouse, and the keys that go with it: in its real window, by what it does. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/window_settings.h"
#include "app/window_writing.h"
#include "player/osd/osd_bar.h"
#include "session.h"

#define LENGTH (11 * SECOND)

static Session session;

static int open_at(int64_t position)
{
    return session_open_at(&session, position, "off");
}

/* A test in the window that is opened by `fails`, an expression that is not 0 if it cannot be. */
#define OPEN_TEST(name, fails)                                                                     \
    static void name##_opened(void);                                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        if (fails)                                                                                 \
            return;                                                                                \
        name##_opened();                                                                           \
        session_close(&session);                                                                   \
    }                                                                                              \
    static void name##_opened(void)

/* Where the bar's parts are, by the sizes that its page tells. */
static OsdBarPlaces bar_places(void)
{
    OsdBar bar = {.duration = LENGTH, .from = -1, .to = -1, .most = 100};
    AUTO_GRAB g = grab(&session);
    const int shorter = g.width < g.height ? g.width : g.height;
    const int margin = (int)fmax(shorter / 45.0, 10), message = (int)fmax(shorter / 26.0, 16);
    const int size = (int)fmax(0.7 * message, 11);
    return osd_bar_places(&bar, (Rect){0, 0, g.width, g.height}, margin, size);
}

static int same_pixels(const Grab *a, const Grab *b)
{
    return memcmp(a->pixels, b->pixels, (size_t)a->width * (size_t)a->height * 4) == 0;
}

static int row_differs(const Grab *a, const Grab *b, int y)
{
    const size_t row = (size_t)a->width * 4;
    return memcmp(a->pixels + (size_t)y * row, b->pixels + (size_t)y * row, row) != 0;
}

/* The mouse moves, and the bar is there: for the first time there is nothing else that changes. */
static OsdBarPlaces show_bar(int first)
{
    const OsdBarPlaces at = bar_places();
    AUTO_GRAB before = grab(&session);
    send_mouse(SDL_MOUSEMOTION, 100, 100);
    session_turns(&session, 3);
    AUTO_GRAB now = grab(&session);
    CHECK(!first || row_differs(&before, &now, at.all.y + at.all.height / 2),
          "no bar is to be seen");
    return at;
}

static int64_t off(int64_t position)
{
    return llabs(session_state(&session).position - position);
}

/* A drag on the track seeks, exactly where it ends; elsewhere on the bar it is paused and made
 * louder. */
OPEN_TEST(bar, !has_text() || open_at(1 * SECOND))
{
    wait_for_text(&session);
    const OsdBarPlaces at = show_bar(1);
    const int y = at.track.y + at.track.height / 2, quarter = at.track.width / 4;
    send_mouse(SDL_MOUSEBUTTONDOWN, at.track.x + quarter, y);
    SESSION_UNTIL(&session, !state.seeking && off(LENGTH / 4) < SECOND / 10);
    send_mouse(SDL_MOUSEMOTION, at.track.x + 2 * quarter, y + 200); /* beside it, but held */
    SESSION_UNTIL(&session, !state.seeking && off(LENGTH / 2) < SECOND / 10);
    send_mouse(SDL_MOUSEBUTTONUP, at.track.x + 3 * quarter, y);
    SESSION_UNTIL(&session, !state.seeking && off(LENGTH / 4 * 3) < SECOND / 10);
    const int64_t there = session_state(&session).position;
    send_mouse(SDL_MOUSEMOTION, at.track.x + quarter, y);
    session_turns(&session, 3);
    CHECK(session_state(&session).position == there, "it follows a mouse that does not hold it");
    CHECK(session_state(&session).paused, "it plays");
    (void)show_bar(0);
    send_mouse(SDL_MOUSEBUTTONDOWN, at.volume.x + at.volume.width / 2, y);
    send_mouse(SDL_MOUSEBUTTONUP, at.volume.x + at.volume.width / 2, y);
    SESSION_UNTIL(&session, abs(state.volume - 50) <= 2);
    (void)show_bar(0);
    send_mouse(SDL_MOUSEBUTTONDOWN, at.button.x + at.button.width / 2, y);
    send_mouse(SDL_MOUSEBUTTONUP, at.button.x + at.button.width / 2, y);
    SESSION_UNTIL(&session, !state.paused);
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

/* Without subtitles, which come when they are drawn. */
static int open_without_subtitles(int64_t position)
{
    if (!has_text() || open_at(position))
        return -1;
    wait_for_text(&session);
    session_type("v");
    session_turns(&session, 4);
    return 0;
}

/* Subtitles are above the bar, and not behind it. */
OPEN_TEST(subtitles_above_the_bar, open_without_subtitles(9 * SECOND / 2))
{
    const OsdBarPlaces at = show_bar(1);
    AUTO_GRAB without = grab(&session);
    const int64_t end = session_now() + LIVENESS_US;
    session_type("v");
    for (int there = 0; !there && session_now() < end;) {
        send_mouse(SDL_MOUSEMOTION, 100 + (int)(session_now() % 2), 100);
        session_turns(&session, 1);
        AUTO_GRAB now = grab(&session);
        there = differ_above(&without, &now, &at, without.width / 2) > 0;
        CHECK(differ_in_rows(&without, &now, at.all) == 0, "they are behind the bar");
    }
    CHECK(session_now() < end, "no subtitles are to be seen");
}

/* The small picture above the bar comes, which is seen by its height; a grab with it. */
static Grab point_to_track(const OsdBarPlaces *at, const Grab *before)
{
    const int x = at->track.x + at->track.width / 2, y = at->track.y + at->track.height / 2;
    const int64_t end = session_now() + LIVENESS_US;
    Grab now = {0};
    for (int count = 0; count < 80 * before->height / 8 && session_now() < end;) {
        free(now.pixels);
        send_mouse(SDL_MOUSEMOTION, x + (int)(session_now() % 2), y);
        session_turns(&session, 1);
        now = grab(&session);
        count = differ_above(before, &now, at, x);
    }
    CHECK(session_now() < end, "there is no small picture");
    return now;
}

/* They make way for the small picture, too, and for all of its width. */
OPEN_TEST(subtitles_above_the_preview, open_without_subtitles(9 * SECOND / 2))
{
    const OsdBarPlaces at = show_bar(1);
    AUTO_GRAB before = grab(&session), without = point_to_track(&at, &before);
    const int lower = before.height / 3; /* no message stands there */
    int top = lower, above = 0;
    while (top < at.all.y && !row_differs(&before, &without, top))
        top++;
    const int64_t end = session_now() + LIVENESS_US;
    session_type("v");
    while (!above && session_now() < end) {
        send_mouse(SDL_MOUSEMOTION, at.track.x + at.track.width / 2 + (int)(session_now() % 2),
                   at.track.y + at.track.height / 2);
        session_turns(&session, 1);
        AUTO_GRAB now = grab(&session);
        above = differ_in_rows(&without, &now, (Rect){0, lower, 0, top - lower});
        CHECK(differ_in_rows(&without, &now, (Rect){0, top, 0, at.all.y - top}) == 0,
              "they are beside it");
    }
    CHECK(session_now() < end, "no subtitles are to be seen");
}

/* Above the track there is a picture of what would be there. */
OPEN_TEST(preview, open_without_subtitles(1 * SECOND))
{
    const OsdBarPlaces at = show_bar(1);
    AUTO_GRAB before = grab(&session);
    const int x = at.track.x + at.track.width / 2;
    AUTO_GRAB with = point_to_track(&at, &before);
    const int64_t end = session_now() + LIVENESS_US;
    for (int differs = 1; differs && session_now() < end;) {
        send_mouse(SDL_MOUSEMOTION, x + (int)(session_now() % 2), 100);
        session_turns(&session, 1);
        AUTO_GRAB now = grab(&session);
        differs = differ_above(&before, &now, &at, x);
    }
    CHECK(session_now() < end, "it stays");
    CHECK(session_state(&session).position < 2 * SECOND, "pointing to it seeks");
}

OPEN_TEST(chapters_and_edges, open_at(1 * SECOND))
{
    static const struct {
        SDL_Keycode key;
        int64_t position;
        const char *says;
    } steps[] = {
        {SDLK_PAGEUP, 4000000, "Chapter 2 of 3: Dark room"},
        {SDLK_PAGEUP, 7600000, "Chapter 3 of 3: Dusk at sea"},
        {SDLK_PAGEUP, 7600000, "The last chapter"},
        {SDLK_PAGEDOWN, 4000000, "Chapter 2 of 3: Dark room"},
        {SDLK_END, 10960000, "The end"},
        {SDLK_HOME, 0, "The beginning"},
        {SDLK_PAGEDOWN, 0, "The first chapter"},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        session_press(steps[i].key);
        SESSION_UNTIL(&session, !state.seeking && strcmp(state.message, steps[i].says) == 0 &&
                                    off(steps[i].position) < FRAME_US);
    }
    session_press(SDLK_PAGEUP);
    SESSION_UNTIL(&session, !state.seeking && off(4 * SECOND) < FRAME_US);
    session_turns(&session, 2);
    CHECK(strstr(session_title(), " (0:04 / 0:11) - lumeq"), "the title is %s", session_title());
    if (has_text()) {
        wait_for_text(&session);
        const OsdBarPlaces at = bar_places();
        AUTO_GRAB without = grab(&session);
        session_type("o");
        session_turns(&session, 3);
        AUTO_GRAB with = grab(&session);
        CHECK(differ_in_rows(&without, &with, at.all) > 0, "o shows no position");
    }
}

/* From here to there, again and again. */
OPEN_TEST(repeats, open_at(2 * SECOND))
{
    session_type("L");
    SESSION_UNTIL(&session, strncmp(state.message, "Repeat from 0:02.0", 18) == 0);
    for (int i = 1; i <= 10; i++) {
        session_type(".");
        SESSION_UNTIL(&session, state.position >= 2 * SECOND + i * FRAME_US);
    }
    session_type("L");
    SESSION_UNTIL(&session, strncmp(state.message, "Repeat to 0:02.4", 16) == 0);
    session_type("p");
    int64_t most = 0;
    for (int rounds = 0; rounds < 2; rounds++) {
        SESSION_UNTIL(&session, state.position >= 2 * SECOND + 8 * FRAME_US);
        SESSION_UNTIL(&session, (most = FFMAX(most, state.position),
                                 state.position <= 2 * SECOND + 2 * FRAME_US));
    }
    CHECK(most <= 2 * SECOND + 11 * FRAME_US, "it goes on to %lld", (long long)most);
    session_type("L");
    SESSION_UNTIL(&session, strcmp(state.message, "Repeat: off") == 0);
    SESSION_UNTIL(&session, state.position > 3 * SECOND);
}

static void wheel(int y, SDL_Keymod keys)
{
    SDL_Event event = {.type = SDL_MOUSEWHEEL};
    event.wheel.y = y;
    SDL_SetModState(keys);
    SDL_PushEvent(&event);
    session_turns(&session, 1);
    SDL_SetModState(KMOD_NONE);
}

static void button(int which, int clicks)
{
    for (int up = 0; up < 2; up++) {
        SDL_Event event = {.type = up ? SDL_MOUSEBUTTONUP : SDL_MOUSEBUTTONDOWN};
        event.button.button = (Uint8)which;
        event.button.state = up ? SDL_RELEASED : SDL_PRESSED;
        event.button.clicks = (Uint8)clicks;
        event.button.x = event.button.y = 150;
        SDL_PushEvent(&event);
    }
    session_turns(&session, 2);
}

/* The wheel is the volume and, with Ctrl, the zoom; the middle button shows the whole picture
 * again, the right one pauses. A picture that is larger than the window is moved by a drag. Two
 * clicks, as f, fill the screen. */
OPEN_TEST(wheel_and_buttons, open_at(1 * SECOND))
{
    AUTO_GRAB whole = grab(&session);
    wheel(-1, KMOD_NONE);
    SESSION_UNTIL(&session, state.volume == 95);
    for (int i = 0; i < 12; i++)
        wheel(1, KMOD_LCTRL);
    CHECK(strncmp(session_state(&session).message, "Zoom: ", 6) == 0, "it says %s",
          session_state(&session).message);
    session_turns(&session, 2);
    AUTO_GRAB zoomed = grab(&session);
    CHECK(difference(&whole, &zoomed, 0.5, 1) > 0.3, "it is not zoomed");
    SDL_Event drag = {.type = SDL_MOUSEMOTION};
    drag.motion.xrel = drag.motion.yrel = -60;
    send_mouse(SDL_MOUSEBUTTONDOWN, 300, 200);
    SDL_PushEvent(&drag);
    send_mouse(SDL_MOUSEBUTTONUP, 240, 140);
    session_turns(&session, 2);
    AUTO_GRAB moved = grab(&session);
    CHECK(difference(&zoomed, &moved, 0.5, 1) > 0.1, "it has not moved");
    button(SDL_BUTTON_MIDDLE, 1);
    CHECK(strcmp(session_state(&session).message, "Zoom: the whole picture") == 0, "it says %s",
          session_state(&session).message);
    AUTO_GRAB again = grab(&session);
    CHECK(difference(&whole, &again, 0.6, 1) == 0, "it is not whole again");
    CHECK(session_state(&session).paused, "it plays");
    button(SDL_BUTTON_RIGHT, 1);
    SESSION_UNTIL(&session, !state.paused);
    button(SDL_BUTTON_LEFT, 1);
    button(SDL_BUTTON_LEFT, 2);
    SESSION_UNTIL(&session, state.fullscreen);
    session_press(SDLK_ESCAPE);
    SESSION_UNTIL(&session, !state.fullscreen);
    session_type("f");
    SESSION_UNTIL(&session, state.fullscreen);
    session_type("f");
    SESSION_UNTIL(&session, !state.fullscreen);
}

static void press_with(SDL_Keycode code, SDL_Keymod with)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = code;
    event.key.keysym.mod = (Uint16)with;
    SDL_PushEvent(&event);
}

/* What the mouse does has its keys: zoom, what is seen then, the line of a split, metering. */
OPEN_TEST(without_a_mouse, open_at(1 * SECOND))
{
    AUTO_GRAB whole = grab(&session);
    for (int i = 0; i < 8; i++)
        session_type("+");
    SESSION_UNTIL(&session, strncmp(state.message, "Zoom: ", 6) == 0);
    session_turns(&session, 2);
    AUTO_GRAB zoomed = grab(&session);
    CHECK(difference(&whole, &zoomed, 0.5, 1) > 0.3, "it is not zoomed");
    press_with(SDLK_RIGHT, KMOD_LALT);
    press_with(SDLK_DOWN, KMOD_LALT);
    session_turns(&session, 3);
    AUTO_GRAB moved = grab(&session);
    CHECK(difference(&zoomed, &moved, 0.5, 1) > 0.1, "it has not moved");
    press_with(SDLK_LEFT, KMOD_LALT);
    press_with(SDLK_UP, KMOD_LALT);
    session_turns(&session, 3);
    AUTO_GRAB back = grab(&session);
    CHECK(difference(&zoomed, &back, 0.5, 1) == 0, "it is not where it was");
    session_type("z");
    session_press(SDLK_RETURN);
    SESSION_UNTIL(&session, strncmp(state.message, "Metering: ", 10) == 0 && !state.changing);
    CHECK(!strstr(session_state(&session).message, "whole"), "it says %s",
          session_state(&session).message);
    for (int i = 0; i < 8; i++)
        session_type("-");
    SESSION_UNTIL(&session, strcmp(state.message, "Zoom: the whole picture") == 0);
    session_type("c");
    press_with(SDLK_LEFT, KMOD_LCTRL);
    press_with(SDLK_LEFT, KMOD_LCTRL);
    SESSION_UNTIL(&session, state.split > 0.29 && state.split < 0.31);
    for (int i = 0; i < 12; i++)
        press_with(SDLK_RIGHT, KMOD_LCTRL);
    SESSION_UNTIL(&session, state.split == 1);
    CHECK(session_state(&session).position == 1 * SECOND, "it has gone elsewhere");
}

/* While its key is held the source is seen, as with the equalizer off. */
OPEN_TEST(source, open_at(1 * SECOND))
{
    AUTO_GRAB equalized = grab(&session);
    session_type("x");
    SESSION_UNTIL(&session, strcmp(state.message, "The source") == 0);
    session_turns(&session, 2);
    AUTO_GRAB held = grab(&session);
    SDL_Event up = {.type = SDL_KEYUP};
    up.key.keysym.sym = SDLK_x;
    SDL_PushEvent(&up);
    SESSION_UNTIL(&session, strcmp(state.message, "Equalized") == 0);
    session_turns(&session, 2);
    AUTO_GRAB after = grab(&session);
    session_type("e");
    SESSION_UNTIL(&session, strcmp(state.message, "Equalized") != 0 && !state.changing);
    session_turns(&session, 3);
    AUTO_GRAB off_by_key = grab(&session);
    CHECK(difference(&equalized, &after, 0.6, 1) == 0, "it does not come back");
    CHECK(difference(&equalized, &held, 0.6, 1) > 0.3, "nothing else is seen");
    CHECK(difference(&off_by_key, &held, 0.6, 1) == 0, "it is not the source");
}

/* What is drawn after z counts alone; asked for twice, all of the picture does again. */
OPEN_TEST(metering, open_at(1 * SECOND))
{
    AUTO_GRAB whole = grab(&session);
    session_type("z");
    send_mouse(SDL_MOUSEBUTTONDOWN, 10, 10);
    send_mouse(SDL_MOUSEMOTION, whole.width / 4, whole.height / 5);
    SESSION_UNTIL(&session, strncmp(state.message, "Draw the part", 13) == 0);
    session_turns(&session, 2);
    AUTO_GRAB marked = grab(&session);
    CHECK(difference(&whole, &marked, 0, 1) == 0 && !same_pixels(&whole, &marked),
          "there is no frame around it");
    send_mouse(SDL_MOUSEBUTTONUP, whole.width / 4, whole.height / 5);
    SESSION_UNTIL(&session, strncmp(state.message, "Metering: 1", 11) == 0 && !state.changing);
    session_turns(&session, 3);
    AUTO_GRAB metered = grab(&session);
    CHECK(difference(&whole, &metered, 0.6, 1) > 0.2, "nothing has changed");
    session_type("z");
    session_type("z");
    SESSION_UNTIL(&session,
                  strcmp(state.message, "Metering: the whole picture") == 0 && !state.changing);
    session_turns(&session, 3);
    AUTO_GRAB again = grab(&session);
    CHECK(difference(&whole, &again, 0.6, 1) == 0, "it is not what it was");
}

/* The panel of settings is where its page tells. */
static OsdSettingsPlaces settings_places(OsdSettings *rows)
{
    WindowSettings settings;
    Text *text;
    AUTO_GRAB g = grab(&session);
    const int shorter = g.width < g.height ? g.width : g.height;
    const int margin = (int)fmax(shorter / 45.0, 10), message = (int)fmax(shorter / 26.0, 16);
    const int top = 2 * margin + (int)ceil((1.25 + 2 * 0.4 + 0.5) * message);
    const Rect limit = {margin, top, g.width - 2 * margin, g.height - margin - top};
    OsdSettingsPlaces at = {0};
    window_settings_open(&settings, &session.options, (OptionsInput){.fine = 1});
    window_settings_list(&settings, rows);
    if (CHECK(text_open(&text) == 0, "no text")) {
        at = osd_settings_places(rows, limit, (int)fmax(shorter / 44.0, 14), text);
        text_close(&text);
    }
    return at;
}

static void click_at(int x, int y)
{
    send_mouse(SDL_MOUSEMOTION, x, y);
    send_mouse(SDL_MOUSEBUTTONDOWN, x, y);
    send_mouse(SDL_MOUSEBUTTONUP, x, y);
}

/* What is changed is seen at once, and what is put back is as it was. */
TEST(settings_by_keys)
{
    /* By the order of the panel: what it says after a step, whether the picture then is another
     * one, and what it says with its default. */
    static const struct {
        const char *says, *back;
        int seen;
    } rows[PLAYER_SETTINGS] = {
        {"Mode: clahe", "Mode: global", 1},
        {"Profile: fog", "Profile: none", 1},
        {"Strength: ", CHECK_SLOWER > 1 ? "Strength: 0.80" : "Strength: auto", 1},
        {"Clip limit: 3.38", "Clip limit: auto", 0},
        {"Tiles: 9x9; no effect but in modes clahe and haze", "Tiles: 8x8", 0},
        {"Chroma: keep", "Chroma: scale", 1},
        {"Smoothing: 0.6 s", "Smoothing: 0.5 s", 0},
        {"Black bars: ignore", "Black bars: auto", 0},
        {"Range: limited", "Range: auto", 0},
        {"Denoise: ", "Denoise: auto", 0},
        {"Brightness: 0.05", "Brightness: 0.00", 1},
        {"Gamma: 1.10", "Gamma: 1.00", 1},
        {"Metering: the centre", "Metering: the whole picture", 1},
        {"Deinterlace: all frames", "Deinterlace: where frames are interlaced", 0},
    };
    if (open_at(1 * SECOND))
        return;
    AUTO_GRAB before = grab(&session);
    session_press(SDLK_TAB);
    for (int i = 0; i < PLAYER_SETTINGS; i++) {
        SESSION_UNTIL(&session, state.settings && state.chosen == i);
        session_press(SDLK_RIGHT);
        SESSION_UNTIL(&session, strncmp(state.message, rows[i].says, strlen(rows[i].says)) == 0 &&
                                    !state.changing && !state.seeking);
        session_turns(&session, 3);
        AUTO_GRAB now = grab(&session);
        CHECK(!rows[i].seen || difference(&before, &now, 0.6, 1) > 0.05, "%s is not seen: %.3f",
              rows[i].says, difference(&before, &now, 0.6, 1));
        session_press(i % 2 ? SDLK_BACKSPACE : SDLK_DELETE);
        SESSION_UNTIL(&session, strncmp(state.message, rows[i].back, strlen(rows[i].back)) == 0 &&
                                    !state.changing && !state.seeking);
        session_turns(&session, 3);
        AUTO_GRAB back = grab(&session);
        CHECK(difference(&before, &back, 0.6, 1) == 0, "%s does not bring it back: %.3f",
              rows[i].back, difference(&before, &back, 0.6, 1));
        session_press(SDLK_DOWN);
    }
    SESSION_UNTIL(&session, state.chosen == 0);
    session_press(SDLK_UP);
    SESSION_UNTIL(&session, state.chosen == PLAYER_SETTINGS - 1);
    CHECK(session_state(&session).position == 1 * SECOND, "arrows seek");
    session_press(SDLK_ESCAPE);
    SESSION_UNTIL(&session, !state.settings && !session.ended);
    session_press(SDLK_RIGHT);
    SESSION_UNTIL(&session, state.position == 6 * SECOND && !state.seeking);
    session_close(&session);
}

/* A click beside a value is a step, on the default puts it back, on the name chooses the row; so
 * the wheel is a step there, and nothing of it reaches the picture below. */
OPEN_TEST(settings_by_mouse, !has_text() || open_at(1 * SECOND))
{
    OsdSettings rows;
    wait_for_text(&session);
    session_press(SDLK_TAB);
    SESSION_UNTIL(&session, state.settings);
    session_turns(&session, 2);
    const OsdSettingsPlaces at = settings_places(&rows);
    const int mode = at.top + at.row / 2, tiles = mode + PLAYER_TILES * at.row;
    click_at(at.end - 2, mode);
    SESSION_UNTIL(&session, strcmp(state.message, "Mode: clahe") == 0 && !state.changing);
    click_at(at.value + 2, tiles);
    SESSION_UNTIL(&session, strcmp(state.message, "Tiles: 7x7") == 0 && !state.changing);
    CHECK(session_state(&session).chosen == PLAYER_TILES, "another row is chosen");
    wheel(-1, KMOD_NONE);
    SESSION_UNTIL(&session, strcmp(state.message, "Tiles: 6x6") == 0 && !state.changing);
    CHECK(session_state(&session).volume == 100, "the wheel is the volume");
    click_at(at.usual + 2, tiles);
    SESSION_UNTIL(&session, strcmp(state.message, "Tiles: 8x8") == 0 && !state.changing);
    click_at(at.value - 4, mode);
    SESSION_UNTIL(&session, state.chosen == PLAYER_MODE);
    CHECK(strcmp(session_state(&session).message, "Tiles: 8x8") == 0, "choosing changes it");
    session_press(SDLK_TAB);
    SESSION_UNTIL(&session, !state.settings);
    wheel(-1, KMOD_NONE);
    SESSION_UNTIL(&session, state.volume == 95);
}

/* W prints the command, and it can be pasted; what is no file has none, and is not written. */
TEST(command)
{
    const Source none = {0};
    WindowWriting writing = {.output = NULL};
    char text[256];
    if (open_at(1 * SECOND))
        return;
    session_press(SDLK_TAB);
    session_press(SDLK_RIGHT);
    session_type("W");
    SESSION_UNTIL(&session, strncmp(state.message, "Printed and copied: lumeq ", 26) == 0);
    char *copied = SDL_GetClipboardText();
    CHECK(strncmp(copied, "lumeq ", 6) == 0 && strstr(copied, "-lumeq.mkv") &&
              strstr(copied, " --mode=clahe"),
          "it is %s", copied);
    SDL_free(copied);
    window_writing_start(&writing, &session.options, "-", &none, text, sizeof(text));
    CHECK(!writing.output && strncmp(text, "Only what is a file", 19) == 0, "it says %s", text);
    CHECK(!window_writing_command(&session.options, "-", &none, text, sizeof(text)), "a command");
    session_close(&session);
}

/* A program that answers with what `line` says, in place of the desktop's. */
static void make_dialog(const char *name, const char *line)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", getenv("PATH"), name);
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "#!/bin/sh\n%s\n", line) > 0 && fclose(file) == 0 &&
              chmod(path, 0755) == 0,
          "cannot write %s", path);
}

static void press_ctrl_o(void)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = SDLK_o;
    event.key.keysym.mod = KMOD_LCTRL;
    SDL_PushEvent(&event);
}

/* What is chosen in a dialog is played; what is not chosen changes nothing. */
TEST(opens_by_a_dialog)
{
    char folder[] = "/tmp/lumeq-dialog-XXXXXX", line[600], path[64];
    char *before = SDL_strdup(getenv("PATH"));
    if (!CHECK(mkdtemp(folder) != NULL, "no folder") || open_at(8 * SECOND))
        return;
    setenv("PATH", folder, 1);
    press_ctrl_o();
    SESSION_UNTIL(&session, strstr(state.message, "drop a file on the window"));
    make_dialog("zenity", "echo /chosen/but/left; exit 1");
    press_ctrl_o();
    session_turns(&session, 5);
    CHECK(strstr(session_state(&session).message, "drop"), "it says %s",
          session_state(&session).message);
    snprintf(line, sizeof(line), "echo '%s'", clip());
    snprintf(path, sizeof(path), "%s/zenity", folder);
    unlink(path);
    make_dialog("kdialog", line);
    /* Until the dialog before is gone there is no other; a second choice gives the first one up. */
    for (int tries = 0; session_state(&session).position >= 8 * SECOND && tries < 5; tries++) {
        const int64_t end = session_now() + LIVENESS_US / 5;
        press_ctrl_o();
        while (session_state(&session).position >= 8 * SECOND && session_now() < end)
            session_turns(&session, 1);
    }
    CHECK(session_state(&session).position < 8 * SECOND, "the other file is not played");
    make_dialog("kdialog", "while :; do :; done"); /* is closed with the player */
    press_ctrl_o();
    session_turns(&session, 2);
    session_close(&session);
    setenv("PATH", before, 1);
    SDL_free(before);
    snprintf(path, sizeof(path), "%s/kdialog", folder);
    unlink(path);
    rmdir(folder);
}

TEST_MAIN
