#include "player/window.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/view/gl.h"

/* Default size. */
#define USUAL_WIDTH 1280
#define USUAL_HEIGHT 720

/* Smaller windows are hard to grab. */
#define MIN_WIDTH 160
#define MIN_HEIGHT 90

/* Maximum share of the desktop for a new window; the rest is for its frame and other windows. */
#define DESKTOP_SHARE 0.9

/* Much longer than a turn of the loop (0.1 s). */
#define STUCK_MS 2000

struct Window {
    SDL_Window *window;
    SDL_GLContext context;
    int video_started;
    int awake;
    SDL_Rect before; /* its place before fullscreen */
    void *xlib;
    SDL_threadID thread; /* that opened the window */
    void (*lost)(void *opaque);
    void *opaque;
};

/* Xlib's own handler exits with code 1. A handler must not return, and Xlib does not tell it which
 * window is concerned, so only one window is supported. */
typedef int (*XlibHandler)(void *display);
typedef XlibHandler (*XlibSetHandler)(XlibHandler handler);
static const Window *on_x11;

/* Other threads may notice the loss first. They wait until the window's thread does, unless it is
 * waiting for them. */
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

/* Returns nonzero on success. SDL loads the same library. */
static int set_x11_handler(Window *w, XlibHandler handler)
{
    XlibSetHandler set;
    if (!w->xlib)
        w->xlib = SDL_LoadObject("libX11.so.6");
    void *function = w->xlib ? SDL_LoadFunction(w->xlib, "XSetIOErrorHandler") : NULL;
    memcpy(&set, &function, sizeof(set));
    if (set)
        (void)set(handler);
    return set != NULL;
}

/* XErrorEvent; only X11 has its header. */
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

/* SDL wakes the thread that waits for events with a message to the window, on another connection.
 * It may arrive after the window is gone, which is no error. */
static int pass_over_messages(void *display, XlibError *error)
{
    return error->request == X_SEND_EVENT ? 0 : usual_handler(display, error);
}

/* Call it before SDL starts, which keeps the handler that it finds. Xlib stays loaded. */
static void expect_late_messages(void)
{
    XlibSetErrorHandler set;
    void *library = usual_handler ? NULL : SDL_LoadObject("libX11.so.6");
    void *function = library ? SDL_LoadFunction(library, "XSetErrorHandler") : NULL;
    memcpy(&set, &function, sizeof(set));
    if (set)
        usual_handler = set(pass_over_messages);
}

/* If the Wayland compositor is gone, SDL sends a quit event that no user caused. */
void window_set_lost(Window *w, void (*lost)(void *opaque), void *opaque)
{
    w->lost = lost;
    w->opaque = opaque;
}

void window_quit(const Window *window, int by_itself)
{
    if (by_itself && window->lost && has_driver("wayland"))
        window->lost(window->opaque);
}

/* The maximum size of a new window; unlimited if the display's usable area is unknown. */
static void find_most(int display, int *width, int *height)
{
    SDL_Rect usable;
    if (SDL_GetDisplayUsableBounds(display, &usable) < 0 || usable.w <= 0 || usable.h <= 0)
        usable = (SDL_Rect){0, 0, SDL_MAX_SINT16, SDL_MAX_SINT16};
    *width = (int)(usable.w * DESKTOP_SHARE);
    *height = (int)(usable.h * DESKTOP_SHARE);
}

static void fit_desktop(int display, int *width, int *height)
{
    int most_width, most_height;
    find_most(display, &most_width, &most_height);
    const double share = SDL_min((double)most_width / *width, (double)most_height / *height);
    if (share < 1) {
        *width = (int)(*width * share);
        *height = (int)(*height * share);
    }
    *width = SDL_max(*width, MIN_WIDTH);
    *height = SDL_max(*height, MIN_HEIGHT);
}

static void set_attributes(int any_version)
{
    SDL_GL_ResetAttributes();
    if (!any_version) {
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_FLAGS, SDL_GL_CONTEXT_FORWARD_COMPATIBLE_FLAG);
    }
    SDL_GL_SetAttribute(SDL_GL_RED_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_GREEN_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_BLUE_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0);
    SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
}

static int display_of(const Window *window)
{
    return SDL_max(SDL_GetWindowDisplayIndex(window->window), 0);
}

static int create(Window *w, const WindowOptions *options, int width, int height)
{
    const Uint32 flags =
        SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    w->window = SDL_CreateWindow(options->title ? options->title : "", SDL_WINDOWPOS_UNDEFINED,
                                 SDL_WINDOWPOS_UNDEFINED, width, height, flags);
    if (w->window)
        w->context = SDL_GL_CreateContext(w->window);
    return w->context ? 0 : -1;
}

static void destroy(Window *w)
{
    if (w->context)
        SDL_GL_DeleteContext(w->context);
    if (w->window)
        SDL_DestroyWindow(w->window);
    w->context = NULL;
    w->window = NULL;
}

/* Explains which OpenGL the driver offers if it is not 3.3. */
static int fail_version(Window *w, const WindowOptions *options, MediaError *error)
{
    char said[256];
    SDL_strlcpy(said, SDL_GetError(), sizeof(said));
    destroy(w);
    set_attributes(1);
    if (create(w, options, MIN_WIDTH, MIN_HEIGHT) < 0)
        return media_fail(error, MEDIA_INPUT,
                          "the window needs OpenGL 3.3, and this display has no OpenGL (%s)", said);
    const GLubyte *(APIENTRY * get_string)(GLenum);
    void *function = SDL_GL_GetProcAddress("glGetString");
    memcpy(&get_string, &function, sizeof(function));
    const GLubyte *version = get_string ? get_string(GL_VERSION) : NULL;
    const GLubyte *renderer = get_string ? get_string(GL_RENDERER) : NULL;
    return media_fail(error, MEDIA_INPUT,
                      "the window needs OpenGL 3.3, and this display has %s, by %s (%s)",
                      version ? (const char *)version : "an unknown version",
                      renderer ? (const char *)renderer : "an unknown driver", said);
}

static int open_all(Window *w, const WindowOptions *options, MediaError *error)
{
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    SDL_SetHint(SDL_HINT_APP_NAME, "lumeq");
    /* otherwise the desktop turns off its compositor for an ordinary window */
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    expect_late_messages();
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) < 0)
        return media_fail(error, MEDIA_INPUT, "no display to open a window on: %s", SDL_GetError());
    w->video_started = 1;
    /* drivers without a visible window are used only on request */
    const int is_hidden = has_driver("offscreen") || has_driver("dummy") || has_driver("evdev");
    if (is_hidden && !SDL_getenv("SDL_VIDEODRIVER"))
        return media_fail(error, MEDIA_INPUT, "no display to open a window on");

    int width = options->width > 0 ? options->width : USUAL_WIDTH;
    int height = options->height > 0 ? options->height : USUAL_HEIGHT;
    fit_desktop(0, &width, &height);
    set_attributes(0);
    if (create(w, options, width, height) < 0)
        return fail_version(w, options, error);
    w->lost = options->lost;
    w->opaque = options->opaque;
    w->thread = SDL_ThreadID();
    if (options->fullscreen && window_set_fullscreen(w, true, error) < 0)
        return -1;
    if (w->lost && has_driver("x11")) {
        on_x11 = w;
        if (!set_x11_handler(w, lose_x11))
            on_x11 = NULL;
    }
    SDL_SetWindowMinimumSize(w->window, MIN_WIDTH, MIN_HEIGHT);
    /* adaptive vsync: late frames tear instead of waiting for another refresh */
    if (SDL_GL_SetSwapInterval(-1) < 0)
        SDL_GL_SetSwapInterval(1);
    return 0;
}

int window_open(Window **window, const WindowOptions *options, MediaError *error)
{
    *window = NULL;
    Window *w = calloc(1, sizeof(*w));
    if (!w)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (open_all(w, options, error) < 0) {
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

void window_most(const Window *window, int *width, int *height)
{
    find_most(display_of(window), width, height);
}

void window_resize(Window *window, int width, int height)
{
    int before, before_height;
    if (window_is_fullscreen(window))
        return;
    fit_desktop(display_of(window), &width, &height);
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
    /* without a window manager (X11) the window has to take its place by itself */
    SDL_Rect *before = &window->before, to = *before;
    if (fullscreen) {
        int top = 0, left = 0; /* of the frame, which SDL does not know while fullscreen */
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
    destroy(w);
    if (on_x11 == w)
        (void)set_x11_handler(w, NULL);
    on_x11 = NULL;
    if (w->xlib)
        SDL_UnloadObject(w->xlib);
    if (w->video_started)
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    free(w);
    *window = NULL;
}

/* ---- desktop check ---- */

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
