#include "player/library.h"

#include <stdarg.h>
#include <string.h>

#include <SDL.h>

/* See snd_lib_error_handler_t of alsa/error.h. */
static void ignore_alsa(const char *file, int line, const char *function, int error,
                        const char *format, ...)
{
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

/* See wl_log_func_t of wayland-util.h. */
static void ignore_wayland(const char *format, va_list args)
{
    (void)format, (void)args;
}

void library_find(const char *library, const char *name, void *function)
{
    void *object = SDL_LoadObject(library);
    void *found = object ? SDL_LoadFunction(object, name) : NULL;
    memcpy(function, &found, sizeof(found));
}

void library_log_silence(void)
{
    int (*set_alsa)(void (*)(const char *, int, const char *, int, const char *, ...));
    void (*set_wayland)(void (*)(const char *, va_list));
    library_find("libasound.so.2", "snd_lib_error_set_handler", &set_alsa);
    library_find("libwayland-client.so.0", "wl_log_set_handler_client", &set_wayland);
    if (set_alsa)
        set_alsa(ignore_alsa);
    if (set_wayland)
        set_wayland(ignore_wayland);
    SDL_ClearError();
}
