#include "app/remembered.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options/config.h"
#include "app/options/option_table.h"
#include "app/options/option_value.h"
#include "app/terminal.h"
#include "job/key_text.h"
#include "media/output/output_file.h"
#include "media/regular_file.h"

#define HEADER "lumeq-state"
#define FORMAT "1"

#define MAX_PLACES 500      /* files; the oldest are dropped */
#define MAX_BYTES (4 << 20) /* of the file */
#define MAX_SIDE 32767      /* of a window, in pixels */

/* The position at which a file was left. */
typedef struct Place {
    char *path;            /* owned */
    int64_t size, changed; /* size and modification time, to recognize the file */
    int64_t position;      /* in microseconds; -1: forget the file */
    int new;               /* this process set the position */
} Place;

/* Contents of the state file. */
typedef struct State {
    char settings[PLAYER_SETTINGS]
                 [OSD_SETTING_TEXT]; /* values of options, which may be invalid; "": not changed */
    RememberedWindow window;
    Place *places; /* owned; the latest one is last */
    int count;
} State;

struct Remembered {
    char path[PATH_MAX];
    State state;
};

/* ---- places ---- */

static void drop(State *s, int index)
{
    free(s->places[index].path);
    memmove(&s->places[index], &s->places[index + 1],
            (size_t)(--s->count - index) * sizeof(s->places[0]));
}

static void free_state(State *s)
{
    while (s->count)
        drop(s, s->count - 1);
    free(s->places);
    *s = (State){.window.volume = -1};
}

static int find(const State *s, const char *path)
{
    int i = s->count - 1;
    while (i >= 0 && strcmp(s->places[i].path, path) != 0)
        i--;
    return i;
}

/* Stores a place, and removes an earlier one of the same file. */
static void note(State *s, const Place *place)
{
    const int before = find(s, place->path);
    Place copy = *place;
    if (before >= 0)
        drop(s, before);
    if (s->count == MAX_PLACES)
        drop(s, 0);
    copy.path = strdup(place->path);
    if (copy.path && !s->places)
        s->places = calloc(MAX_PLACES, sizeof(*s->places));
    if (copy.path && s->places)
        s->places[s->count++] = copy;
    else
        free(copy.path);
}

/* ---- the file ---- */

static int take_setting(State *s, const char *key, const char *value)
{
    for (int i = 0; i < PLAYER_SETTINGS; i++)
        if (strcmp(key, window_settings_option((PlayerSetting)i)) == 0) {
            snprintf(s->settings[i], sizeof(s->settings[i]), "%s", value);
            return 0;
        }
    return -1;
}

static int take_line(State *s, const char *key, char *value)
{
    Place place = {.position = -1};
    RememberedWindow *w = &s->window;
    int begin = 0;
    if (strcmp(key, "volume") == 0)
        return sscanf(value, "%d", &w->volume) == 1 && w->volume >= 0 &&
                       w->volume <= PLAYER_MAX_VOLUME
                   ? 0
                   : -1;
    if (strcmp(key, "window") == 0)
        return sscanf(value, "%dx%d", &w->width, &w->height) == 2 && w->width > 0 &&
                       w->height > 0 && w->width <= MAX_SIDE && w->height <= MAX_SIDE
                   ? 0
                   : -1;
    if (strcmp(key, "position") != 0)
        return take_setting(s, key, value);
    if (sscanf(value, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &place.position, &place.size,
               &place.changed, &begin) != 3 ||
        place.position < 0 || value[begin] != '/')
        return -1;
    place.path = value + begin;
    note(s, &place);
    return 0;
}

/* Returns the reason why the text is unusable, or NULL. */
static const char *take_text(State *s, char *text)
{
    char *at = text, *key, *value;
    uint32_t sum;
    if (strncmp(text, HEADER " ", strlen(HEADER) + 1) != 0)
        return "not a state file of lumeq";
    if (strncmp(text, HEADER " " FORMAT "\n", strlen(HEADER " " FORMAT) + 1) != 0)
        return "written by another version";
    if (!key_text_is_whole(text, &sum))
        return "damaged";
    (void)key_text_next(&at, &key, &value);
    while (key_text_next(&at, &key, &value))
        if (strcmp(key, "end") != 0 && take_line(s, key, value) < 0)
            return "a line is wrong";
    return NULL;
}

static void read_state(const char *path, State *s)
{
    const char *why = NULL;
    char *text = calloc(1, MAX_BYTES + 1);
    FILE *file = regular_file_stream(path, 0);
    *s = (State){.window.volume = -1};
    if (file && text) {
        (void)!fread(text, 1, MAX_BYTES, file);
        why = take_text(s, text);
    } else if (file || errno != ENOENT) {
        why = "cannot be read";
    }
    if (file)
        fclose(file);
    free(text);
    if (!why)
        return;
    say(SAY_DETAILS, "--remember ignores %s: %s", media_quote(path), why);
    free_state(s);
}

Remembered *remembered_open(void)
{
    Remembered *r = calloc(1, sizeof(*r));
    if (!r ||
        !config_print_path(r->path, sizeof(r->path), "XDG_STATE_HOME", ".local/state", "state")) {
        say(SAY_WARNINGS, "--remember needs a home folder, and HOME is not set");
        free(r);
        return NULL;
    }
    read_state(r->path, &r->state);
    return r;
}

void remembered_close(Remembered **remembered)
{
    if (!*remembered)
        return;
    free_state(&(*remembered)->state);
    free(*remembered);
    *remembered = NULL;
}

void remembered_apply(const Remembered *r, WindowSettings *settings)
{
    Options *now = &settings->now;
    char text[64];
    const Refusal refusal = {text, sizeof(text), ""};
    for (int i = 0; i < PLAYER_SETTINGS && !now->reference; i++) {
        const PlayerSetting setting = (PlayerSetting)i;
        const char *name = window_settings_option(setting), *value = r->state.settings[i];
        if (!value[0] || option_is_given(now->given, name))
            continue;
        window_settings_put(settings, setting, value, &refusal);
    }
}

RememberedWindow *remembered_window(Remembered *r)
{
    return &r->state.window;
}

int64_t remembered_position(const Remembered *r, const char *path, const struct stat *file)
{
    char *whole = realpath(path, NULL);
    const int at = whole ? find(&r->state, whole) : -1;
    const Place *place = at < 0 ? NULL : &r->state.places[at];
    free(whole);
    if (!place || place->size != file->st_size || place->changed != file->st_mtime)
        return -1;
    return place->position;
}

void remembered_leave(Remembered *r, const char *path, const struct stat *file, int64_t position)
{
    const Place place = {realpath(path, NULL), file->st_size, file->st_mtime, position, 1};
    if (place.path)
        note(&r->state, &place);
    free(place.path);
}

void remembered_save(Remembered *r, const WindowSettings *settings)
{
    MediaError error = {0};
    KeyText text = {0};
    char value[OSD_SETTING_TEXT], folder[PATH_MAX];
    State all; /* the file as it is now: another window may have written it */
    read_state(r->path, &all);
    memcpy(all.settings, r->state.settings, sizeof(all.settings));
    all.window = r->state.window;
    for (int i = 0; i < r->state.count; i++)
        if (r->state.places[i].new)
            note(&all, &r->state.places[i]);
    for (int i = all.count - 1; i >= 0; i--)
        if (all.places[i].position < 0)
            drop(&all, i);
    key_text_add(&text, HEADER, FORMAT);
    for (int i = 0; i < PLAYER_SETTINGS; i++) {
        const PlayerSetting setting = (PlayerSetting)i;
        const char *name = window_settings_option(setting);
        if (window_settings_get(settings, setting, value, sizeof(value)))
            snprintf(all.settings[i], sizeof(all.settings[i]), "%s", value);
        else if (!option_is_given(settings->usual.given, name))
            all.settings[i][0] = '\0';
        if (all.settings[i][0])
            key_text_add(&text, name, "%s", all.settings[i]);
    }
    if (all.window.volume >= 0)
        key_text_add(&text, "volume", "%d", all.window.volume);
    if (all.window.width > 0)
        key_text_add(&text, "window", "%dx%d", all.window.width, all.window.height);
    for (const Place *p = all.places; p < all.places + all.count; p++)
        key_text_add(&text, "position", "%" PRId64 " %" PRId64 " %" PRId64 " %s", p->position,
                     p->size, p->changed, p->path);
    (void)key_text_end(&text);
    free_state(&all);
    snprintf(folder, sizeof(folder), "%s", r->path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0700); /* writing the file reports failures */
        *slash = '/';
    }
    const int ret = text.failed ? media_no_memory(&error, MEDIA_OUTPUT)
                                : output_file_save(r->path, text.text, text.size, &error);
    key_text_free(&text);
    if (ret < 0)
        say(SAY_WARNINGS, "--remember: %s", error.text);
}
