#include "player/window.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/view/gl.h"

/* Size before window_resize(). */
#define USUAL_WIDTH 1280
#define USUAL_HEIGHT 720

/* Smaller windows are hard to grab. */
#define MIN_WIDTH 160
#define MIN_HEIGHT 90

/* Maximum share of the desktop for a new window; the rest is for its frame and other windows. */
#define DESKTOP_SHARE 0.9

/* How long another thread waits for the window's thread to notice that the display is lost. Much
 * longer than a turn of the loop (0.1 s). */
#define STUCK_MS 2000

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

/* Stores a library's function in the function pointer at `function`, or NULL if it is missing. The
 * library stays loaded because unloading would drop settings. */
static void library_find(const char *library, const char *name, void *function)
{
    void *object = SDL_LoadObject(library);
    void *found = object ? SDL_LoadFunction(object, name) : NULL;
    memcpy(function, &found, sizeof(found));
}

void window_silence_libraries(void)
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

struct Window {
    SDL_Window *window;
    SDL_GLContext context;
    int video_started;
    int awake;
    SDL_Rect before;     /* the window's place before fullscreen */
    SDL_threadID thread; /* the thread that opened the window */
    void (*lost)(void *opaque);
    void *opaque;
};

/* Xlib's handler for a lost display exits with code 1, so it is replaced. A handler must not
 * return. Xlib does not name the window, so only one window is supported. */
typedef int (*XlibHandler)(void *display);
typedef XlibHandler (*XlibSetHandler)(XlibHandler handler);
static const Window *on_x11;

/* Another thread waits only STUCK_MS, because the window's thread may wait for that thread. */
static int lose_x11(void *display)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    (void)display;
    if (SDL_ThreadID() != on_x11->thread)
        SDL_Delay(STUCK_MS);
    while (atomic_flag_test_and_set(&told))
        SDL_Delay(STUCK_MS);
    on_x11->lost(on_x11->opaque);
    return 0;
}

static bool has_driver(const char *name)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    return driver && strcmp(driver, name) == 0;
}

/* Returns nonzero on success. */
static int set_x11_handler(XlibHandler handler)
{
    XlibSetHandler set;
    library_find("libX11.so.6", "XSetIOErrorHandler", &set);
    if (set)
        (void)set(handler);
    return set != NULL;
}

/* Xlib's XErrorEvent, declared here so that the build needs no X11 headers. */
typedef struct XlibError {
    int type;
    void *display;
    unsigned long resource, serial;
    unsigned char code, request, minor;
} XlibError;
typedef int (*XlibErrorHandler)(void *display, XlibError *error);
typedef XlibErrorHandler (*XlibSetErrorHandler)(XlibErrorHandler handler);

#define X_SEND_EVENT 25

static XlibErrorHandler usual_handler;

/* To end a wait for events, SDL sends the window a message on another connection. If the message
 * arrives after the window is closed, the error is ignored. */
static int ignore_late_messages(void *display, XlibError *error)
{
    return error->request == X_SEND_EVENT ? 0 : usual_handler(display, error);
}

/* Call it before SDL starts, because SDL then keeps this handler. */
static void expect_late_messages(void)
{
    XlibSetErrorHandler set = NULL;
    if (!usual_handler)
        library_find("libX11.so.6", "XSetErrorHandler", &set);
    if (set)
        usual_handler = set(ignore_late_messages);
}

void window_set_lost(Window *w, void (*lost)(void *opaque), void *opaque)
{
    w->lost = lost;
    w->opaque = opaque;
    if (has_driver("x11") && set_x11_handler(lose_x11))
        on_x11 = w;
}

void window_quit(const Window *window, int by_itself)
{
    if (by_itself && window->lost && has_driver("wayland"))
        window->lost(window->opaque);
}

static int display_of(const Window *window)
{
    return SDL_max(SDL_GetWindowDisplayIndex(window->window), 0);
}

static int create(Window *w, MediaError *error)
{
    const Uint32 flags =
        SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    SDL_GL_ResetAttributes();
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_FLAGS, SDL_GL_CONTEXT_FORWARD_COMPATIBLE_FLAG);
    SDL_GL_SetAttribute(SDL_GL_RED_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_GREEN_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_BLUE_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0);
    SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
    w->window = SDL_CreateWindow("lumeq", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
                                 USUAL_WIDTH, USUAL_HEIGHT, flags);
    if (w->window)
        w->context = SDL_GL_CreateContext(w->window);
    return w->context ? 0
                      : media_fail(error, MEDIA_INPUT,
                                   "the window needs OpenGL 3.3, which this display lacks: %s",
                                   SDL_GetError());
}

static int open_all(Window *w, MediaError *error)
{
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    SDL_SetHint(SDL_HINT_APP_NAME, "lumeq");
    /* otherwise the desktop turns off its compositor even for an ordinary window */
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    expect_late_messages();
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) < 0)
        return media_fail(error, MEDIA_INPUT, "no display to open a window on: %s", SDL_GetError());
    w->video_started = 1;
    /* use drivers without a visible window only on request */
    const int is_hidden = has_driver("offscreen") || has_driver("dummy") || has_driver("evdev");
    if (is_hidden && !SDL_getenv("SDL_VIDEODRIVER"))
        return media_fail(error, MEDIA_INPUT, "no display to open a window on");

    if (create(w, error) < 0)
        return -1;
    w->thread = SDL_ThreadID();
    SDL_StartTextInput();
    SDL_SetWindowMinimumSize(w->window, MIN_WIDTH, MIN_HEIGHT);
    /* adaptive vsync: late frames tear instead of waiting for another refresh */
    if (SDL_GL_SetSwapInterval(-1) < 0)
        SDL_GL_SetSwapInterval(1);
    return 0;
}

int window_open(Window **window, MediaError *error)
{
    *window = NULL;
    Window *w = calloc(1, sizeof(*w));
    if (!w)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (open_all(w, error) < 0) {
        window_close(&w);
        return -1;
    }
    *window = w;
    return 0;
}

void window_show(Window *window)
{
    SDL_ShowWindow(window->window);
}

void window_wake(void *unused)
{
    (void)unused;
    (void)SDL_PushEvent(&(SDL_Event){.type = SDL_USEREVENT});
}

void window_max_size(const Window *window, int *width, int *height)
{
    SDL_Rect usable;
    if (SDL_GetDisplayUsableBounds(display_of(window), &usable) < 0 || usable.w <= 0 ||
        usable.h <= 0)
        usable = (SDL_Rect){0, 0, SDL_MAX_SINT16, SDL_MAX_SINT16};
    *width = (int)(usable.w * DESKTOP_SHARE);
    *height = (int)(usable.h * DESKTOP_SHARE);
}

void window_resize(Window *window, int width, int height)
{
    int before, before_height;
    if (window_is_fullscreen(window))
        return;
    width = SDL_max(width, MIN_WIDTH);
    height = SDL_max(height, MIN_HEIGHT);
    SDL_GetWindowSize(window->window, &before, &before_height);
    if (width == before && height == before_height)
        return;
    SDL_SetWindowSize(window->window, width, height);
    const int centred = (int)SDL_WINDOWPOS_CENTERED_DISPLAY((unsigned)display_of(window));
    SDL_SetWindowPosition(window->window, centred, centred);
}

void window_own_size(const Window *window, int *width, int *height)
{
    *width = *height = 0;
    if (!window_is_fullscreen(window) &&
        !(SDL_GetWindowFlags(window->window) & SDL_WINDOW_MAXIMIZED))
        SDL_GetWindowSize(window->window, width, height);
}

void window_size(const Window *window, int *width, int *height)
{
    SDL_GL_GetDrawableSize(window->window, width, height);
}

double window_density(const Window *window)
{
    int width, height, pixels, rows;
    SDL_GetWindowSize(window->window, &width, &height);
    window_size(window, &pixels, &rows);
    return width > 0 && pixels > width ? (double)pixels / width : 1;
}

void window_swap(Window *window)
{
    SDL_GL_SwapWindow(window->window);
}

void window_set_title(Window *window, const char *title)
{
    SDL_SetWindowTitle(window->window, title);
}

static void place(Window *window, const SDL_Rect *to)
{
    SDL_SetWindowSize(window->window, to->w, to->h);
    SDL_SetWindowPosition(window->window, to->x, to->y);
}

int window_set_fullscreen(Window *window, bool fullscreen, MediaError *error)
{
    /* on X11, also place the window, because there may be no window manager to do it */
    SDL_Rect *before = &window->before, to = *before;
    if (fullscreen) {
        int top = 0, left = 0; /* of the window's frame, which SDL does not know while fullscreen */
        SDL_GetWindowPosition(window->window, &before->x, &before->y);
        SDL_GetWindowSize(window->window, &before->w, &before->h);
        (void)SDL_GetWindowBordersSize(window->window, &top, &left, NULL, NULL);
        before->x -= left;
        before->y -= top;
        if (has_driver("x11") && SDL_GetDisplayBounds(display_of(window), &to) == 0)
            place(window, &to);
    }
    if (SDL_SetWindowFullscreen(window->window, fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0) < 0)
        return media_fail(error, MEDIA_INPUT, "the window cannot %s: %s",
                          fullscreen ? "enter fullscreen" : "leave fullscreen", SDL_GetError());
    if (!fullscreen && has_driver("x11"))
        place(window, before);
    return 0;
}

bool window_is_fullscreen(const Window *window)
{
    return (SDL_GetWindowFlags(window->window) & SDL_WINDOW_FULLSCREEN) != 0;
}

void window_show_cursor(Window *window, bool shown)
{
    (void)window; /* SDL has one cursor for all windows */
    SDL_ShowCursor(shown ? SDL_ENABLE : SDL_DISABLE);
}

void window_keep_awake(Window *window, int awake)
{
    if (!window->awake == !awake)
        return;
    window->awake = awake;
    if (awake)
        SDL_DisableScreenSaver();
    else
        SDL_EnableScreenSaver();
}

void window_close(Window **window)
{
    Window *w = *window;
    if (!w)
        return;
    if (w->window) {
        window_keep_awake(w, 0);
        SDL_ShowCursor(SDL_ENABLE);
    }
    if (w->context)
        SDL_GL_DeleteContext(w->context);
    if (w->window)
        SDL_DestroyWindow(w->window);
    if (on_x11 == w)
        (void)set_x11_handler(NULL);
    on_x11 = NULL;
    if (w->video_started)
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    free(w);
    *window = NULL;
}

/* ---- desktop check ---- */

static void copy_text(char *to, size_t size, const void *text)
{
    SDL_strlcpy(to, text ? text : "", size);
}

void desktop_check_display(DesktopDisplay *display)
{
    MediaError error = {0};
    Window *window;
    Gl gl;
    *display = (DesktopDisplay){.state = DESKTOP_FINE};
    if (window_open(&window, &error) < 0) {
        display->state = strstr(error.text, "OpenGL") ? DESKTOP_NO_OPENGL : DESKTOP_NO_DISPLAY;
    } else {
        copy_text(display->driver, sizeof(display->driver), SDL_GetCurrentVideoDriver());
        if (gl_load(&gl, &error) < 0) {
            display->state = DESKTOP_NO_OPENGL;
        } else {
            copy_text(display->vendor, sizeof(display->vendor), gl.GetString(GL_VENDOR));
            copy_text(display->renderer, sizeof(display->renderer), gl.GetString(GL_RENDERER));
            copy_text(display->version, sizeof(display->version), gl.GetString(GL_VERSION));
            display->software = gl_is_software(display->renderer);
        }
        window_close(&window);
    }
    copy_text(display->why, sizeof(display->why), error.text);
}

void desktop_check_sound(DesktopSound *sound)
{
    *sound = (DesktopSound){.count = 0};
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) < 0) {
        copy_text(sound->why, sizeof(sound->why), SDL_GetError());
        return;
    }
    copy_text(sound->driver, sizeof(sound->driver), SDL_GetCurrentAudioDriver());
    sound->count = SDL_max(SDL_GetNumAudioDevices(0), 0);
    for (int i = 0; i < sound->count && i < DESKTOP_SOUNDS; i++)
        copy_text(sound->names[i], sizeof(sound->names[i]), SDL_GetAudioDeviceName(i, 0));
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
}

void desktop_sdl_version(char version[32])
{
    SDL_version v;
    SDL_GetVersion(&v);
    snprintf(version, 32, "%d.%d.%d", v.major, v.minor, v.patch);
}
