#include "player/window_manager.h"

#include <string.h>

#include <SDL.h>

/* Of Xlib, whose headers need not be there to build; SDL loads the library by this name, too. */
typedef struct Xlib {
    void *library;
    void *(*open)(const char *name);
    unsigned long (*root)(void *display);
    unsigned long (*atom)(void *display, const char *name, int only_if_there);
    int (*property)(void *display, unsigned long window, unsigned long name, long offset,
                    long length, int remove, unsigned long wanted, unsigned long *type, int *format,
                    unsigned long *count, unsigned long *behind, unsigned char **value);
    int (*release)(void *data);
    int (*close)(void *display);
} Xlib;

/* A function pointer is copied, as C does not convert them. */
static int find(const Xlib *x, const char *name, void *function)
{
    void *found = SDL_LoadFunction(x->library, name);
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static int load(Xlib *x)
{
    x->library = SDL_LoadObject("libX11.so.6");
    return x->library && find(x, "XOpenDisplay", &x->open) &&
           find(x, "XDefaultRootWindow", &x->root) && find(x, "XInternAtom", &x->atom) &&
           find(x, "XGetWindowProperty", &x->property) && find(x, "XFree", &x->release) &&
           find(x, "XCloseDisplay", &x->close);
}

/* The root window names a window of the manager's. */
static int has_name(const Xlib *x, void *display)
{
    const unsigned long name = x->atom(display, "_NET_SUPPORTING_WM_CHECK", 1);
    unsigned long type = 0, count = 0, behind = 0;
    unsigned char *value = NULL;
    int format = 0;
    if (!name || x->property(display, x->root(display), name, 0, 1, 0, 0, &type, &format, &count,
                             &behind, &value) != 0)
        return 0;
    if (value)
        x->release(value);
    return type != 0;
}

int window_manager_is_there(void)
{
    Xlib x = {0};
    void *display = load(&x) ? x.open(NULL) : NULL;
    const int there = display && has_name(&x, display);
    if (display)
        x.close(display);
    if (x.library)
        SDL_UnloadObject(x.library);
    return there;
}
