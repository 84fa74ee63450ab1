#include "player/start_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/clock.h"
#include "player/controls.h"
#include "player/file_dialog.h"
#include "player/library_log.h"

/* Maximum wait of a turn. The program's stop flag is checked between turns. */
#define TURN_US 100000

/* The prompt is larger than the help. */
#define PROMPT_SCALE 1.6

struct StartWindow {
    PlayerOptions options;
    Screen *screen;
    FileDialog *dialog;
    Uint32 wake_event;
    double scale; /* of text, by the options */
    char line[512];
    FileList chosen;
    int shows_keys;  /* instead of the prompt */
    int is_dropping; /* files that follow belong to the same drop */
    int closed;      /* the user closed the window */
    int over;
};

/* Thread-safe. */
static void wake(void *opaque)
{
    SDL_Event event = {.type = ((const StartWindow *)opaque)->wake_event};
    (void)SDL_PushEvent(&event);
}

static int prompt(OsdRow *rows, int room)
{
    if (room < 2)
        return 0;
    rows[0] = (OsdRow){NULL, "Drop a video here, or press Ctrl+O"};
    rows[1] = (OsdRow){NULL, "? shows all keys"};
    return 2;
}

/* Shows the prompt, or the keys. */
static int show_rows(StartWindow *w, int keys, MediaError *error)
{
    Look look = screen_state(w->screen)->look;
    w->shows_keys = keys;
    w->options.osd_scale = w->scale * (keys ? 1 : PROMPT_SCALE);
    look.help = 1;
    screen_set_help(w->screen, keys ? controls_help : prompt);
    return screen_set_look(w->screen, &look, NULL, error);
}

static void toggle_keys(StartWindow *w)
{
    MediaError none = {0}; /* there is no picture to fail */
    (void)show_rows(w, !w->shows_keys, &none);
}

static int open_all(StartWindow *w, MediaError *error)
{
    const ScreenOptions screen = {&w->options, prompt, wake, w};
    w->dialog = file_dialog_create(wake, w);
    if (!w->dialog)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = screen_open(&w->screen, &screen, NULL, error);
    if (ret < 0)
        return ret;
    w->wake_event = SDL_RegisterEvents(1);
    SDL_StartTextInput();
    screen_show(w->screen);
    return show_rows(w, 0, error);
}

int start_window_open(StartWindow **window, const PlayerOptions *options, MediaError *error)
{
    StartWindow *w = calloc(1, sizeof(*w));
    *window = w;
    if (!w)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    w->options = *options;
    w->options.histogram = w->options.fullscreen_histogram = PANEL_OFF;
    w->options.compare = VIEW_COMPARE_OFF;
    w->scale = options->osd_scale;
    w->options.device = -1; /* it has no frames */
    w->chosen.at = -1;
    library_log_take(w->options.host.detail);
    const int ret = open_all(w, error);
    if (ret < 0)
        start_window_close(window);
    return ret;
}

void start_window_say(StartWindow *w, const char *line)
{
    snprintf(w->line, sizeof(w->line), "%s", line);
    screen_touch(w->screen);
}

static void choose(StartWindow *w, const char *path)
{
    if (file_list_add(&w->chosen, path, 0) < 0)
        start_window_say(w, "out of memory");
}

static void take_key(StartWindow *w, const SDL_Keysym *key)
{
    const int is_escape = key->sym == SDLK_ESCAPE;
    if (key->sym == SDLK_f || (is_escape && screen_is_fullscreen(w->screen)))
        screen_toggle_fullscreen(w->screen);
    else if (key->sym == SDLK_F1)
        toggle_keys(w);
    else if (key->sym == SDLK_TAB)
        start_window_say(w, "Tab shows the settings once a video is open");
    else if (key->sym == SDLK_q || is_escape)
        w->over = 1;
    else if (key->sym == SDLK_o && (key->mod & KMOD_CTRL) && file_dialog_show(w->dialog) < 0)
        start_window_say(w, "Install zenity or kdialog to browse, or drop a file here");
}

static void take_event(StartWindow *w, SDL_Event *event)
{
    switch (event->type) {
    case SDL_QUIT:
        screen_quit(w->screen, !w->closed);
        w->over = 1;
        break;
    case SDL_WINDOWEVENT: w->closed |= event->window.event == SDL_WINDOWEVENT_CLOSE; break;
    case SDL_DROPBEGIN: w->is_dropping = 1; break;
    case SDL_DROPCOMPLETE: w->is_dropping = 0; break;
    case SDL_DROPTEXT: /* of a link */
    case SDL_DROPFILE:
        choose(w, event->drop.file);
        SDL_free(event->drop.file);
        break;
    case SDL_TEXTINPUT:
        if (strcmp(event->text.text, "?") == 0)
            toggle_keys(w);
        break;
    case SDL_KEYDOWN: take_key(w, &event->key.keysym); break;
    case SDL_MOUSEBUTTONDOWN:
        if (event->button.button == SDL_BUTTON_LEFT && event->button.clicks == 2)
            screen_toggle_fullscreen(w->screen);
        break;
    default: break;
    }
    screen_touch(w->screen);
}

int start_window_turn(StartWindow *w, MediaError *error)
{
    int64_t wait = TURN_US;
    SDL_Event event;
    char path[PATH_MAX];
    while (!w->over && SDL_PollEvent(&event))
        take_event(w, &event);
    if (file_dialog_take(w->dialog, path, sizeof(path)))
        choose(w, path);
    screen_follow(w->screen);
    const int64_t now = clock_now();
    const ScreenContent content = {.words = "", .notice = w->line[0] ? w->line : NULL};
    const int ret = screen_update(w->screen, &content, now, &wait, error);
    if (ret < 0 || w->over)
        return ret < 0 ? ret : 1;
    if (wait >= 1000)
        (void)SDL_WaitEventTimeout(NULL, (int)(wait / 1000));
    return 0;
}

int start_window_take(StartWindow *w, FileList *files)
{
    const int count = w->is_dropping ? 0 : w->chosen.count;
    if (!count)
        return 0;
    file_list_clear(files);
    *files = w->chosen;
    w->chosen = (FileList){.at = -1};
    return count;
}

Screen *start_window_give(StartWindow *w)
{
    Screen *screen = w->screen;
    w->screen = NULL;
    return screen;
}

int start_window_is_open(const StartWindow *w)
{
    return w->screen != NULL;
}

uint8_t *start_window_grab(StartWindow *w, int *width, int *height)
{
    return screen_grab(w->screen, width, height);
}

void start_window_close(StartWindow **window)
{
    StartWindow *w = *window;
    if (!w)
        return;
    file_dialog_free(&w->dialog);
    screen_close(&w->screen);
    file_list_clear(&w->chosen);
    free(w);
    *window = NULL;
}
