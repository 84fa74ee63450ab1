/* ALSA and libwayland accept a log function. lumeq does not link to them; SDL may load them later.
 * So they are loaded here first, if installed, and stay loaded, because unloading would drop the
 * setting. Errors still reach the user through SDL_GetError(). */
#include "player/library_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

/* See snd_local_error_handler_t of alsa/error.h. */
typedef void (*LocalHandler)(const char *, int, const char *, int, const char *, va_list);

static void (*print)(const char *line);
static LocalHandler (*set_local)(LocalHandler);

/* See snd_lib_error_handler_t of alsa/error.h. */
static void take_alsa(const char *file, int line, const char *function, int error,
                      const char *format, ...)
{
    char text[512];
    va_list args;
    /* the calling thread's own handler, which ALSA sets while it probes devices */
    const LocalHandler local = set_local ? set_local(NULL) : NULL;
    va_start(args, format);
    if (local) {
        (void)set_local(local);
        local(file, line, function, error, format, args);
        va_end(args);
        return;
    }
    snprintf(text, sizeof(text), "ALSA: %s: ", function ? function : "?");
    const size_t at = strlen(text);
    vsnprintf(text + at, sizeof(text) - at, format, args);
    va_end(args);
    const size_t end = strlen(text);
    if (error)
        snprintf(text + end, sizeof(text) - end, ": %s", strerror(error < 0 ? -error : error));
    text[strcspn(text, "\n")] = '\0';
    print(text);
}

/* See wl_log_func_t of wayland-util.h. */
static void take_wayland(const char *format, va_list args)
{
    char text[512] = "Wayland: ";
    const size_t end = strlen(text);
    vsnprintf(text + end, sizeof(text) - end, format, args);
    text[strcspn(text, "\n")] = '\0';
    print(text);
}

/* Looks up a library function; sets the pointer to NULL if it is missing. */
static void find(const char *library, const char *name, void *function)
{
    void *object = SDL_LoadObject(library);
    void *found = object ? SDL_LoadFunction(object, name) : NULL;
    memcpy(function, &found, sizeof(found));
}

void library_log_take(void (*detail)(const char *line))
{
    int (*set_alsa)(void (*)(const char *, int, const char *, int, const char *, ...));
    void (*set_wayland)(void (*)(const char *, va_list));
    if (print)
        return;
    print = detail;
    find("libasound.so.2", "snd_lib_error_set_local", &set_local);
    find("libasound.so.2", "snd_lib_error_set_handler", &set_alsa);
    find("libwayland-client.so.0", "wl_log_set_handler_client", &set_wayland);
    if (set_alsa)
        set_alsa(take_alsa);
    if (set_wayland)
        set_wayland(take_wayland);
    SDL_ClearError();
}
