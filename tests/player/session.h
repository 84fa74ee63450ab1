/* Runs the player under SDL's offscreen driver, driven by the events a user would cause. */
#ifndef LUMEQ_TESTS_PLAYER_SESSION_H
#define LUMEQ_TESTS_PLAYER_SESSION_H

#include <SDL.h>

#include "app/play.h"
#include "check.h"
#include "keep_libraries.h"
#include "panel/text.h"

/* Time limit of any wait: five times the slowest step. */
#define LIVENESS_US (CHECK_SLOWER * 30000000)

#define SECOND 1000000
#define FRAME_US 40000 /* duration of a frame; the clip lasts 11 s */

/* Not in Session, because a thread that opens a file may read the flag after the session's end. */
static atomic_int session_stop;

typedef struct Session {
    Play *play;
    Options options;
    int ended; /* last result of play_turn() */
    MediaError error;
} Session;

static inline int64_t session_now(void)
{
    return (int64_t)(SDL_GetTicks64() * 1000);
}

/* Opens the player. `arguments`: the command line, NULL at the end. The environment variable
 * LUMEQ_TEST_BACKEND names the backend, by default the CPU. Standard input becomes /dev/null. */
static inline int session_open(Session *s, const char *const *arguments)
{
    const char *backend = getenv("LUMEQ_TEST_BACKEND");
    char *argv[32] = {(char *)"lumeq", (char *)"--backend", (char *)(backend ? backend : "cpu"),
                      (char *)"--strength", (char *)"0.8"};
    char text[512];
    /* With a sanitizer, the lift and the noise filter would take seconds per frame, so a fixed
     * strength turns them off. */
    int argc = CHECK_SLOWER > 1 ? 5 : 3;
    memset(s, 0, sizeof(*s));
    CHECK(freopen("/dev/null", "r", stdin) != NULL, "no standard input");
    for (; *arguments && argc < 31; arguments++)
        argv[argc++] = (char *)*arguments;
    SDL_setenv("SDL_VIDEODRIVER", "offscreen", 0);
    SDL_setenv("SDL_AUDIODRIVER", "dummy", 0);
    if (!CHECK(options_parse(&s->options, argc, argv, text, sizeof(text)) == 0, "%s", text))
        return -1;
    const int ret = play_open(&s->play, &s->options, &session_stop, &s->error);
    CHECK(ret >= 0, "%s", s->error.text);
    keep_libraries();
    return ret;
}

static inline void session_close(Session *s)
{
    play_close(&s->play);
    options_free(&s->options);
}

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* SESSION_TEST(name, fails) { ... }: defines a test of the player `s`. The expression `fails` opens
 * `s`; if it is not 0, the body does not run. `s` is closed afterwards. */
#define SESSION_TEST(name, fails)                                                                  \
    static void name##_in(Session *s);                                                             \
    TEST(name)                                                                                     \
    {                                                                                              \
        Session session = {0}, *s = &session;                                                      \
        if (!(fails))                                                                              \
            name##_in(s);                                                                          \
        session_close(s);                                                                          \
    }                                                                                              \
    static void name##_in(Session *s)

static inline PlayerState session_state(const Session *s)
{
    return player_state(play_player(s->play));
}

/* Runs the player until the condition holds. The condition may use `state`. */
#define SESSION_UNTIL(s, condition)                                                                \
    do {                                                                                           \
        const int64_t until_end = session_now() + LIVENESS_US;                                     \
        PlayerState state = session_state(s);                                                      \
        while (!(condition) && !(s)->ended && session_now() < until_end) {                         \
            (s)->ended = play_turn((s)->play, &(s)->error);                                        \
            state = session_state(s);                                                              \
        }                                                                                          \
        (void)state;                                                                               \
        CHECK(condition, "not reached; at %lld us, last message '%s', error '%s'",                 \
              (long long)state.position, state.message, (s)->error.text);                          \
    } while (0)

/* Conditions: the last message is this text, or begins with it. */
#define SAYS(text) (strcmp(state.message, text) == 0)
#define BEGINS(text) (strncmp(state.message, text, strlen(text)) == 0)

/* Types a character, or presses a key, and waits. */
#define TYPE_UNTIL(s, text, condition)                                                             \
    do {                                                                                           \
        session_type(text);                                                                        \
        SESSION_UNTIL(s, condition);                                                               \
    } while (0)
#define PRESS_UNTIL(s, code, condition)                                                            \
    do {                                                                                           \
        session_press(code);                                                                       \
        SESSION_UNTIL(s, condition);                                                               \
    } while (0)

/* Runs the player's loop `count` times. */
static inline void session_turns(Session *s, int count)
{
    while (count-- > 0 && !s->ended)
        s->ended = play_turn(s->play, &s->error);
}

/* Presses a key that types a character. */
static inline void session_type(const char *text)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    SDL_PushEvent(&event);
    event = (SDL_Event){.type = SDL_TEXTINPUT};
    SDL_strlcpy(event.text.text, text, sizeof(event.text.text));
    SDL_PushEvent(&event);
}

/* Presses a key that types nothing, with these modifiers. */
static inline void session_press_with(SDL_Keycode code, int mod)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = code;
    event.key.keysym.mod = (Uint16)mod;
    SDL_PushEvent(&event);
}

static inline void session_press(SDL_Keycode code)
{
    session_press_with(code, 0);
}

static inline void session_drop(const char *path)
{
    SDL_Event event = {.type = SDL_DROPFILE};
    event.drop.file = SDL_strdup(path);
    SDL_PushEvent(&event);
}

#ifdef LUMEQ_CLIP
static inline const char *clip(void)
{
    const char *elsewhere = getenv("LUMEQ_CLIP");
    return elsewhere ? elsewhere : LUMEQ_CLIP;
}

/* Opens the clip and pauses on the frame at this position. `histogram` as on the command line. */
static inline int session_open_at(Session *s, int64_t position, const char *histogram)
{
    char from[32];
    snprintf(from, sizeof(from), "%.3f", (double)position * 1e-6);
    if (session_open(s, ARGUMENTS(clip(), "--no-config", "--ss", from, "--histogram", histogram)) <
        0)
        return -1;
    session_type("p");
    SESSION_UNTIL(s, state.paused && state.shown > 0 && !state.seeking);
    return s->ended;
}
#endif

/* The title of the only window. */
static inline const char *session_title(void)
{
    for (Uint32 id = 1; id < 64; id++)
        if (SDL_GetWindowFromID(id))
            return SDL_GetWindowTitle(SDL_GetWindowFromID(id));
    return "";
}

/* Returns 0 and skips the test if there are no fonts. */
static inline int has_text(void)
{
    Text *text;
    if (text_open(&text) < 0) {
        check_skip("there are no fonts");
        return 0;
    }
    text_close(&text);
    return 1;
}

/* ---- pictures of the window ---- */

typedef struct Grab {
    uint8_t *pixels;
    int width, height;
} Grab;

static inline void grab_free(Grab *g)
{
    free(g->pixels);
}

/* A grab that is freed at the end of its block. */
#define AUTO_GRAB FREED_BY(grab_free) Grab

static inline Grab grab(Session *s)
{
    Grab g = {NULL, 0, 0};
    g.pixels = player_grab(play_player(s->play), &g.width, &g.height);
    CHECK(g.pixels != NULL, "no picture of the window");
    return g;
}

/* The share of pixels that differ in the middle half of the rows. `left` and `right` limit the
 * columns, as shares of the width. -1: a picture is missing or the sizes differ. */
static inline double difference(const Grab *a, const Grab *b, double left, double right)
{
    int64_t count = 0, all = 0;
    if (!a->pixels || !b->pixels || a->width != b->width || a->height != b->height)
        return -1;
    for (int y = a->height / 4; y < a->height * 3 / 4; y++)
        for (int x = (int)(a->width * left); x < (int)(a->width * right); x++) {
            const size_t at = ((size_t)y * (size_t)a->width + (size_t)x) * 4;
            count += memcmp(a->pixels + at, b->pixels + at, 3) != 0;
            all++;
        }
    return (double)count / (double)all;
}

/* Opens and closes the help page, and checks that it changes many pixels. Video would also change
 * pixels, so the player is paused meanwhile. */
static inline void wait_for_text(Session *s)
{
    const int64_t end = session_now() + LIVENESS_US;
    const int playing = !session_state(s).paused;
    if (playing)
        session_type(" ");
    SESSION_UNTIL(s, state.paused);
    session_turns(s, 3);
    AUTO_GRAB before = grab(s);
    double changed = 0;
    session_type("?");
    while (changed < 0.3 && session_now() < end) {
        session_turns(s, 1);
        AUTO_GRAB now = grab(s);
        changed = difference(&before, &now, 0.1, 0.6);
    }
    CHECK(changed >= 0.3, "the help is not visible");
    session_type("?");
    SESSION_UNTIL(s, !state.look.help);
    if (playing)
        session_type(" ");
    SESSION_UNTIL(s, !playing || !state.paused);
}

/* ---- the mouse ---- */

static inline void send_mouse(Uint32 type, int x, int y)
{
    SDL_Event event = {.type = type};
    if (type == SDL_MOUSEMOTION) {
        event.motion.x = x;
        event.motion.y = y;
    } else {
        event.button.button = SDL_BUTTON_LEFT;
        event.button.state = type == SDL_MOUSEBUTTONDOWN ? SDL_PRESSED : SDL_RELEASED;
        event.button.clicks = 1;
        event.button.x = x;
        event.button.y = y;
    }
    SDL_PushEvent(&event);
}

#endif
