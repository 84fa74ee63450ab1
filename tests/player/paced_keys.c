/*
 * Preloaded into the player, measures the latency of keys: simulates a screen of SWAP_HZ, presses
 * KEYS keys that change the strength at random moments, then closes the window. KEYS_PAUSED pauses
 * the picture first. The player's own line at -v has the result.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include <SDL.h>

/* Between two keys, in ms. */
#define LEAST_MS 120
#define MOST_MS 320

#define SECOND_NS 1000000000LL

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static void press(const char *text)
{
    SDL_Event event = {.type = SDL_TEXTINPUT};
    SDL_strlcpy(event.text.text, text, sizeof(event.text.text));
    (void)SDL_PushEvent(&event);
}

static int press_all(void *unused)
{
    unsigned seed = (unsigned)number("KEYS_SEED", 1);
    SDL_Event quit = {.type = SDL_QUIT};
    (void)unused;
    SDL_Delay(1000);
    if (getenv("KEYS_PAUSED"))
        press(" ");
    for (long i = number("KEYS", 200); i > 0; i--) {
        SDL_Delay(LEAST_MS + (Uint32)(rand_r(&seed) % (MOST_MS - LEAST_MS)));
        press(i % 2 ? "1" : "2");
    }
    SDL_Delay(1000);
    (void)SDL_PushEvent(&quit);
    return 0;
}

static void wait_for_screen(void)
{
    const long long period = SECOND_NS / number("SWAP_HZ", 60);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long next = ((now.tv_sec * SECOND_NS + now.tv_nsec) / period + 1) * period;
    const struct timespec until = {next / SECOND_NS, next % SECOND_NS};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Returns when the picture is drawn and on the screen. */
void SDL_GL_SwapWindow(SDL_Window *window)
{
    static void (*swap)(SDL_Window *), (*finish)(void);
    if (!swap) {
        *(void **)&swap = dlsym(RTLD_NEXT, "SDL_GL_SwapWindow");
        *(void **)&finish = SDL_GL_GetProcAddress("glFinish");
        SDL_DetachThread(SDL_CreateThread(press_all, "keys", NULL));
    }
    finish();
    wait_for_screen();
    swap(window);
}
