#include "player/start_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/actions.h"
#include "player/clock.h"
#include "player/controls.h"
#include "player/file_dialog.h"
#include "player/window.h"

/* Maximum wait in a turn of the loop. The program's stop flag is checked between turns. */
#define TURN_US 100000

#define PROMPT "Drop a video here, or press Ctrl+O; ? shows all keys"

struct StartWindow {
    PlayerOptions options;
    Screen *screen;
    FileDialog dialog;
    char line[512];
    FileList chosen;
    Controls controls;
    bool over;
};

int start_window_open(StartWindow **window, const PlayerOptions *options, MediaError *error)
{
    StartWindow *w = calloc(1, sizeof(*w));
    *window = w;
    if (!w)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    w->options = *options;
    w->options.histogram = w->options.fullscreen_histogram = PANEL_OFF;
    w->options.compare = VIEW_COMPARE_OFF;
    w->options.device = -1; /* there are no frames to show */
    w->chosen.at = -1;
    window_silence_libraries();
    if (screen_open(&w->screen, &w->options, controls_help, NULL, error) < 0) {
        start_window_close(window);
        return error->fault;
    }
    return 0;
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

/* Executes commands that need no video; ignores other commands. */
static void execute(StartWindow *w, const Command *command)
{
    Action *act = command->act;
    const bool leaves_fullscreen =
        act == act_escape && window_is_fullscreen(screen_state(w->screen)->window);
    w->over |= act == act_quit || (act == act_escape && !leaves_fullscreen);
    if (act == act_quit)
        window_quit(screen_state(w->screen)->window, command->arg);
    else if (act == act_open)
        choose(w, command->path);
    else if (act == act_fullscreen || leaves_fullscreen)
        screen_toggle_fullscreen(w->screen);
    else if (act == act_look && command->which == LOOK_HELP)
        screen_toggle_help(w->screen);
    else if (act == act_look && command->which == LOOK_SETTINGS)
        start_window_say(w, "Tab shows the settings once a video is open");
    else if (act == act_dialog && file_dialog_show(&w->dialog) < 0)
        start_window_say(w, "Install zenity or kdialog to browse, or drop a file here");
    screen_touch(w->screen);
}

int start_window_turn(StartWindow *w, MediaError *error)
{
    int64_t wait = TURN_US;
    char notice[sizeof(w->line) + sizeof(PROMPT) + 4];
    Command command;
    while (!w->over && controls_next(&w->controls, clock_now(), &command))
        execute(w, &command);
    const char *chosen = file_dialog_take(&w->dialog);
    if (chosen)
        choose(w, chosen);
    screen_poll_screenshot(w->screen);
    const int64_t now = clock_now();
    snprintf(notice, sizeof(notice), "%s%s%s", w->line, w->line[0] ? " · " : "", PROMPT);
    const ScreenContent content = {.words = "", .notice = notice};
    const int ret = screen_update(w->screen, &content, now, &wait, error);
    if (ret < 0 || w->over)
        return ret < 0 ? ret : 1;
    if (wait >= 1000)
        (void)SDL_WaitEventTimeout(NULL, (int)(wait / 1000));
    return 0;
}

int start_window_take(StartWindow *w, FileList *files)
{
    const int count = w->controls.dropping ? 0 : w->chosen.count;
    if (!count)
        return 0;
    file_list_clear(files);
    *files = w->chosen;
    w->chosen = (FileList){.at = -1};
    return count;
}

Screen **start_window_screen(StartWindow *w)
{
    return &w->screen;
}

void start_window_close(StartWindow **window)
{
    StartWindow *w = *window;
    if (!w)
        return;
    file_dialog_close(&w->dialog);
    screen_close(&w->screen);
    file_list_clear(&w->chosen);
    free(w);
    *window = NULL;
}
