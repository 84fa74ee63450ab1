/* A run of the player under SDL's offscreen driver, driven by events as the user's are. */
#ifndef LUMEQ_TESTS_PLAYER_SESSION_H
#define LUMEQ_TESTS_PLAYER_SESSION_H

#include <SDL.h>

#include "app/play.h"
#include "check.h"
#include "keep_libraries.h"

/* Nothing in these runs takes a fifth of this. */
#define LIVENESS_US (CHECK_SLOWER * 30000000)

typedef struct Session {
    Play *play;
    atomic_int stop;
    Options options;
    int ended; /* player_turn()'s last answer */
    MediaError error;
} Session;

static inline int64_t session_now(void)
{
    return (int64_t)(SDL_GetTicks64() * 1000);
}

/* `arguments`: what is on the command line, NULL at the end. It computes on the CPU, unless
 * LUMEQ_TEST_BACKEND says otherwise. Also where a person runs the test at a terminal, it is a
 * program that has started it. */
static inline int session_open(Session *s, const char *const *arguments)
{
    const char *backend = getenv("LUMEQ_TEST_BACKEND");
    char *argv[32] = {(char *)"lumeq", (char *)"--backend", (char *)(backend ? backend : "cpu")};
    char text[512];
    int argc = 3;
    memset(s, 0, sizeof(*s));
    CHECK(freopen("/dev/null", "r", stdin) != NULL, "no standard input");
    for (; *arguments && argc < 31; arguments++)
        argv[argc++] = (char *)*arguments;
    SDL_setenv("SDL_VIDEODRIVER", "offscreen", 0);
    SDL_setenv("SDL_AUDIODRIVER", "dummy", 0);
    if (!CHECK(options_parse(&s->options, argc, argv, text, sizeof(text)) == 0, "%s", text))
        return -1;
    const int ret = play_open(&s->play, &s->options, &s->stop, &s->error);
    CHECK(ret >= 0, "%s", s->error.text);
    keep_libraries();
    return ret;
}

static inline PlayerState session_state(const Session *s)
{
    return player_state(play_player(s->play));
}

/* Turns until the condition, with `state` in it, holds; counts whether it came to that. */
#define SESSION_UNTIL(s, condition)                                                                \
    do {                                                                                           \
        const int64_t until_end = session_now() + LIVENESS_US;                                     \
        PlayerState state = session_state(s);                                                      \
        while (!(condition) && !(s)->ended && session_now() < until_end) {                         \
            (s)->ended = play_turn((s)->play, &(s)->error);                                        \
            state = session_state(s);                                                              \
        }                                                                                          \
        (void)state;                                                                               \
        CHECK(condition, "it never came to that; at %lld us, %s, %s", (long long)state.position,   \
              state.message, (s)->error.text);                                                     \
    } while (0)

/* So many more turns. */
static inline void session_turns(Session *s, int count)
{
    while (count-- > 0 && !s->ended)
        s->ended = play_turn(s->play, &s->error);
}

/* A key that writes something. */
static inline void session_type(const char *text)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    SDL_PushEvent(&event);
    event = (SDL_Event){.type = SDL_TEXTINPUT};
    SDL_strlcpy(event.text.text, text, sizeof(event.text.text));
    SDL_PushEvent(&event);
}

/* Any other key. */
static inline void session_press(SDL_Keycode code)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = code;
    SDL_PushEvent(&event);
}

static inline void session_drop(const char *path)
{
    SDL_Event event = {.type = SDL_DROPFILE};
    event.drop.file = SDL_strdup(path);
    SDL_PushEvent(&event);
}

static inline void session_close(Session *s)
{
    play_close(&s->play);
    options_free(&s->options);
}

#endif
