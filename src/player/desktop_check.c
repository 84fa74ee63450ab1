#include "player/desktop_check.h"

#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "player/view/gl.h"
#include "player/window.h"

static void take(char *to, size_t size, const void *text)
{
    SDL_strlcpy(to, text ? text : "", size);
}

void desktop_check_display(DesktopDisplay *display)
{
    const WindowOptions options = {.title = "lumeq"};
    MediaError error = {0};
    Window *window;
    Gl gl;
    *display = (DesktopDisplay){.state = DESKTOP_FINE};
    if (window_open(&window, &options, &error) < 0) {
        display->state = strstr(error.text, "OpenGL") ? DESKTOP_NO_OPENGL : DESKTOP_NO_DISPLAY;
    } else {
        take(display->driver, sizeof(display->driver), SDL_GetCurrentVideoDriver());
        if (gl_load(&gl, &error) < 0) {
            display->state = DESKTOP_NO_OPENGL;
        } else {
            take(display->vendor, sizeof(display->vendor), gl.GetString(GL_VENDOR));
            take(display->renderer, sizeof(display->renderer), gl.GetString(GL_RENDERER));
            take(display->version, sizeof(display->version), gl.GetString(GL_VERSION));
            display->software = gl_is_software(display->renderer);
        }
        window_close(&window);
    }
    take(display->why, sizeof(display->why), error.text);
}

void desktop_check_sound(DesktopSound *sound)
{
    *sound = (DesktopSound){.count = 0};
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) < 0) {
        take(sound->why, sizeof(sound->why), SDL_GetError());
        return;
    }
    take(sound->driver, sizeof(sound->driver), SDL_GetCurrentAudioDriver());
    sound->count = SDL_max(SDL_GetNumAudioDevices(0), 0);
    for (int i = 0; i < sound->count && i < DESKTOP_SOUNDS; i++)
        take(sound->names[i], sizeof(sound->names[i]), SDL_GetAudioDeviceName(i, 0));
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
}

void desktop_sdl_version(char version[32])
{
    SDL_version v;
    SDL_GetVersion(&v);
    snprintf(version, 32, "%d.%d.%d", v.major, v.minor, v.patch);
}
