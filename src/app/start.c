#include "app/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/headless.h"
#include "app/terminal.h"

int start_has_desktop(void)
{
    static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return 1;
    }
    return 0;
}

/* Exits at once, since SDL would wait for the lost display. */
static void lose_display(void *opaque)
{
    (void)opaque;
    say(SAY_ERRORS, "the display is gone");
    _exit(EXIT_OUTPUT);
}

/* Begins to open the chosen file while the window stays. Returns 1 if there is nothing to wait for.
 */
static int begin(StartWindow *w, const Options *options, const atomic_int *stop,
                 const FileList *files, SourceOpening **opening)
{
    MediaError why = {0};
    struct stat there;
    char line[512];
    const char *path = files->entries[0].path;
    source_opening_cancel(opening, 0);
    if (files->count > 1 || (stat(path, &there) == 0 && S_ISDIR(there.st_mode)))
        return 1; /* several files, or the videos of a folder, are tried when they play */
    const int ret = engine_start_opening(opening, options, path, stop, &why);
    snprintf(line, sizeof(line), "Opening %.480s", files->entries[0].name);
    start_window_say(w, ret < 0 ? why.text : line);
    return 0;
}

/* Returns 1 if the file could be opened. */
static int follow(StartWindow *w, SourceOpening **opening)
{
    MediaError why = {0};
    Source *source = NULL;
    const int ret = *opening ? source_opening_take(opening, 0, &source, &why) : AVERROR(EAGAIN);
    source_close(&source);
    if (ret < 0 && ret != AVERROR(EAGAIN)) {
        say(SAY_ERRORS, "%s", why.text);
        start_window_say(w, why.text);
    }
    return ret >= 0;
}

static int open_window(StartWindow **window, const Options *o, MediaError *error)
{
    const PlayerOptions options = {
        .osd_scale = o->osd_scale,
        .fullscreen = o->fullscreen,
        .host = {.note = say_line, .detail = say_detail, .lost = lose_display},
    };
    return start_window_open(window, &options, error);
}

int start_choose(StartWindow **window, const Options *o, atomic_int *stop, const char *message,
                 FileList *files, MediaError *error)
{
    SourceOpening *opening = NULL;
    int ret = *window ? 0 : open_window(window, o, error), is_chosen = 0;
    if (ret < 0)
        return ret;
    start_window_say(*window, message);
    while (!is_chosen && ret == 0 && atomic_load(stop) == RUN_ON) {
        ret = start_window_turn(*window, error);
        if (ret == 0 && start_window_take(*window, files))
            is_chosen = begin(*window, o, stop, files, &opening);
        if (ret == 0 && !is_chosen)
            is_chosen = follow(*window, &opening);
    }
    source_opening_cancel(&opening, 1);
    return ret < 0 ? ret : is_chosen;
}
