#include "player/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include <SDL.h>

#include "media/input/track_choice.h"
#include "player/status.h"

#define SECOND INT64_C(1000000)
#define SPEED_RATIO 1.1
#define VOLUME_STEP 5

/* Steps of keys across the picture, and from one side to the other of a split. */
#define PAN_STEPS 10

static void say(Intent *i, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Intent *i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(i->say, sizeof(i->say), format, args);
    va_end(args);
}

/* ---- time ---- */

static void toggle_pause(const Situation *now, Intent *i)
{
    i->on = now->at_end || !now->played->paused;
    i->kind = now->at_end ? INTENT_GO : INTENT_PAUSE;
    i->start.position = SDL_max(now->options->from_us, 0);
    say(i, now->at_end || !i->on ? "Playing" : "Paused");
}

static void seek_to(const Situation *now, int64_t to, Intent *i)
{
    const int64_t duration = playback_duration(now->playback), end = now->options->to_us;
    if (duration > 0 && to > duration)
        to = duration;
    if (end >= 0 && to >= end)
        to = end - 1;
    i->kind = INTENT_GO;
    i->start = (FeedStart){.position = SDL_max(to, 0), .preview = 1};
}

static void seek_by(const Situation *now, int seconds, Intent *i)
{
    const int64_t duration = playback_duration(now->playback);
    seek_to(now, now->position + seconds * SECOND, i);
    status_position(i->start.position, duration, i->say, sizeof(i->say));
    i->share = duration > 0 ? (double)i->start.position / (double)duration : -1;
}

/* The bar says where that is. */
static void seek_on_bar(const Situation *now, int x, Intent *i)
{
    const int64_t duration = playback_duration(now->playback);
    if (duration > 0)
        seek_to(now, (int64_t)(screen_track_at(now->screen, x) * (double)duration), i);
}

static void go_to_edge(const Situation *now, int end, Intent *i)
{
    seek_to(now, end ? playback_duration(now->playback) : 0, i);
    say(i, end ? "The end" : "The beginning");
}

/* Back goes to where this one begins first, unless that was just now. One may begin within the
 * frame that is shown. */
static void change_chapter(const Situation *now, int step, Intent *i)
{
    const Source *source = now->played->source;
    const int64_t at =
        now->position + SDL_max(now->shown->duration - 1, 0) - (step < 0 ? SECOND : 0);
    const int count = source_chapters(source);
    int n = 0; /* chapters that begin up to there */
    while (n < count && source_chapter(source, n) <= at)
        n++;
    const int to = step < 0 ? n - 1 : n;
    if (!count || to < 0 || to >= count) {
        say(i, "%s",
            count ? step < 0 ? "The first chapter" : "The last chapter" : "There are no chapters");
        return;
    }
    seek_to(now, source_chapter(source, to), i);
    say(i, "Chapter %d of %d%s%s", to + 1, count, source_chapter_title(source, to)[0] ? ": " : "",
        source_chapter_title(source, to));
}

static void change_file(const Situation *now, int step, Intent *i)
{
    const FileList *files = now->files;
    const int at = file_list_find(files, now->file, step);
    if (files->count < 2 || at == files->at) {
        say(i, "There is no other file");
        return;
    }
    if (at < 0) {
        say(i, step > 0 ? "The last file" : "The first file");
        return;
    }
    i->kind = INTENT_FILE;
    i->file = at;
    status_file(files, at, i->say, sizeof(i->say));
}

/* From here; to here; not any more. */
static void change_repeat(const Situation *now, Intent *i)
{
    char at[32];
    Wanted *w = &i->wanted;
    if (!playback_can_seek(now->playback)) {
        say(i, "This input cannot be searched");
        return;
    }
    status_frame(now->position, at, sizeof(at));
    i->kind = INTENT_WANT;
    if (w->from < 0) {
        w->from = now->position;
        say(i, "Repeat from %s; L again: to there", at);
    } else if (w->to < 0 && now->position > w->from) {
        w->to = now->position;
        say(i, "Repeat to %s", at);
    } else {
        w->from = w->to = -1;
        say(i, "Repeat: off");
    }
}

static void change_speed(const Situation *now, int step, Intent *i)
{
    const double before = now->played->speed;
    double speed = 1;
    if (now->played->source->live) {
        say(i, "A live picture has its own speed");
        return;
    }
    if (step)
        speed = step > 0 ? before * SPEED_RATIO : before / SPEED_RATIO;
    if (speed > 0.96 && speed < 1.04) /* back to 1 after as many steps up as down */
        speed = 1;
    i->kind = INTENT_SPEED;
    i->speed = SDL_clamp(speed, PLAYER_MIN_SPEED, PLAYER_MAX_SPEED);
    say(i, "Speed: %.2f", i->speed);
}

static void toggle_loop(const Situation *now, Intent *i)
{
    if (now->played->source->live) {
        say(i, "A live picture has no end to begin again from");
        return;
    }
    i->kind = INTENT_WANT;
    i->wanted.loop = !i->wanted.loop;
    say(i, "Loop: %s", i->wanted.loop ? "on" : "off");
}

/* ---- sound and tracks ---- */

static void change_volume(int volume, int muted, Intent *i)
{
    i->kind = INTENT_WANT;
    i->wanted.volume = SDL_clamp(volume, 0, PLAYER_MAX_VOLUME);
    i->wanted.muted = muted;
    say(i, "Volume: %d %%%s", i->wanted.volume, muted ? " (muted)" : "");
}

/* The one after `before` among its kind; after the last one, none. */
static void next_track(const Situation *now, IntentKind kind, enum AVMediaType type,
                       const AVStream *before, Intent *i)
{
    const Source *source = now->played->source;
    const int after = before ? source_track_number(source, before) + 1 : 0;
    const char *name = type == AVMEDIA_TYPE_AUDIO ? "Sound" : "Subtitles";
    char text[256] = "none";
    i->kind = kind;
    i->track = track_find(source, type, after);
    if (i->track)
        track_describe(source, i->track, text, sizeof(text));
    say(i, "%s: %s", name, before || i->track ? text : "there is none");
}

static void next_sound(const Situation *now, Intent *i)
{
    const AVStream *before = now->played->sound;
    next_track(now, INTENT_SOUND, AVMEDIA_TYPE_AUDIO, before, i);
    if (!before && !i->track)
        i->kind = INTENT_NOTHING;
    else if (!playback_can_seek(now->playback)) {
        i->kind = INTENT_NOTHING;
        say(i, "The sound of this input cannot be changed");
    }
}

/* ---- what is seen ---- */

/* Histograms beside the picture, then over it; there the scopes, one after the other; then none. A
 * scope that stands beside is followed there. */
static void next_panel(const Situation *now, Look *look)
{
    const int last = screen_has_room_for_all(now->screen) ? PANEL_ALL : PANEL_VECTORSCOPE;
    if (look->histogram == PLAYER_HISTOGRAM_OFF) {
        look->histogram = PLAYER_HISTOGRAM_PANEL;
        look->scope = PANEL_HISTOGRAM;
    } else if (look->histogram == PLAYER_HISTOGRAM_PANEL && look->scope == PANEL_HISTOGRAM) {
        look->histogram = PLAYER_HISTOGRAM_OVERLAY;
    } else if ((int)look->scope < last) {
        look->scope++;
    } else {
        look->histogram = PLAYER_HISTOGRAM_OFF;
    }
}

static void next_place(Look *look)
{
    const int is_beside = look->histogram == PLAYER_HISTOGRAM_PANEL;
    look->histogram = is_beside ? PLAYER_HISTOGRAM_OVERLAY : PLAYER_HISTOGRAM_PANEL;
}

static void change_look(const Command *command, const Situation *now, Intent *i)
{
    Look *look = &i->look;
    const Rect all = screen_seen(now->screen);
    const Rect seen = {0, 0, all.width / PAN_STEPS, all.height / PAN_STEPS};
    const int arg = command->arg;
    i->kind = INTENT_LOOK;
    switch (command->kind) {
    case COMMAND_COMPARE: look->compare = (PlayerCompare)((look->compare + 1) % 3); break;
    case COMMAND_HISTOGRAM: next_panel(now, look); break;
    case COMMAND_PLACE: next_place(look); break;
    case COMMAND_SCALE: look->log_scale = !look->log_scale; break;
    case COMMAND_MIRROR: look->mirrored = !look->mirrored; break;
    case COMMAND_STATISTICS: look->statistics = !look->statistics; break;
    case COMMAND_HELP:
        look->help = look->help < screen_help_parts(now->screen) ? look->help + 1 : 0;
        break;
    case COMMAND_SETTINGS: look->settings = !look->settings; break;
    case COMMAND_SUBTITLES: look->subtitles_on = !look->subtitles_on; break;
    case COMMAND_SOURCE: look->source = arg; break;
    case COMMAND_PAN: look->zoom = screen_pan_by(now->screen, command->x, command->y); break;
    case COMMAND_PAN_ACROSS: look->zoom = screen_pan_by(now->screen, -arg * seen.width, 0); break;
    case COMMAND_PAN_DOWN: look->zoom = screen_pan_by(now->screen, 0, -arg * seen.height); break;
    case COMMAND_SPLIT_BY:
        look->split = SDL_clamp(look->split + (double)arg / PAN_STEPS, 0.0, 1.0);
        break;
    default: look->split = screen_split_at(now->screen, command->x, command->y); break;
    }
}

static void zoom(const Command *command, const Situation *now, Intent *i)
{
    double pixels;
    const Rect seen = screen_seen(now->screen);
    const int at_mouse = command->kind == COMMAND_ZOOM;
    const int x = at_mouse ? command->x : seen.x + seen.width / 2;
    const int y = at_mouse ? command->y : seen.y + seen.height / 2;
    i->kind = INTENT_LOOK;
    i->look.zoom = screen_zoom_at(now->screen, command->arg, x, y, &pixels);
    if (i->look.zoom.by > 1)
        say(i, "Zoom: %.0f %%", pixels * 100);
    else
        say(i, "Zoom: the whole picture");
}

static void change_setting(PlayerSetting setting, int step, Intent *i)
{
    i->kind = INTENT_SETTING;
    i->setting = setting;
    i->step = step;
}

/* ---- the panel of settings ---- */

static void choose_setting(int by, Intent *i)
{
    i->kind = INTENT_LOOK;
    i->look.chosen = (i->look.chosen + by + PLAYER_SETTINGS) % PLAYER_SETTINGS;
}

/* A click does what is there, the wheel turns the value. */
static void change_setting_at(const Command *command, const Situation *now, Intent *i)
{
    int acts, step;
    const int row = screen_setting_at(now->screen, command->x, command->y, &acts, &step);
    if (row < 0)
        return;
    if (command->kind == COMMAND_SETTING_TURN) {
        acts = 1;
        step = command->arg;
    }
    i->kind = INTENT_LOOK;
    i->look.chosen = row;
    if (acts)
        change_setting((PlayerSetting)row, step, i);
}

static Rect part_of(const Command *command)
{
    const int x = SDL_min(command->x, command->from.x), y = SDL_min(command->y, command->from.y);
    return (Rect){x, y, abs(command->x - command->from.x), abs(command->y - command->from.y)};
}

/* So small a part, in units of the window, is a click. */
#define LEAST_PART 4

static void meter(const Command *command, const Situation *now, Intent *i)
{
    const Rect part = part_of(command);
    if (command->arg == 1) {
        say(i, "Draw the part that counts; Enter: what is seen; z again: all of it");
        return;
    }
    i->kind = INTENT_METER;
    if (command->arg == 0 && part.width >= LEAST_PART && part.height >= LEAST_PART)
        i->part = screen_find(now->screen, part);
    else if (command->arg == 3)
        i->part = screen_find(now->screen, screen_seen(now->screen));
}

static void escape(const Situation *now, Intent *i)
{
    i->kind = screen_is_fullscreen(now->screen) ? INTENT_FULLSCREEN : INTENT_CLOSE;
}

Intent commands_intent(const Command *command, const Situation *now)
{
    const Wanted *wanted = now->wanted;
    const int arg = command->arg;
    Intent i = {.wanted = *wanted, .look = screen_state(now->screen)->look, .share = -1};
    switch (command->kind) {
    case COMMAND_PAUSE: toggle_pause(now, &i); break;
    case COMMAND_SEEK: seek_by(now, arg, &i); break;
    case COMMAND_SEEK_TO: seek_on_bar(now, command->x, &i); break;
    case COMMAND_EDGE: go_to_edge(now, arg, &i); break;
    case COMMAND_CHAPTER: change_chapter(now, arg, &i); break;
    case COMMAND_REPEAT: change_repeat(now, &i); break;
    case COMMAND_POSITION: i.kind = INTENT_POSITION; break;
    case COMMAND_STEP: i.kind = INTENT_STEP; break;
    case COMMAND_SPEED: change_speed(now, arg, &i); break;
    case COMMAND_LOOP: toggle_loop(now, &i); break;
    case COMMAND_VOLUME:
        change_volume(wanted->volume + arg * VOLUME_STEP, wanted->muted, &i);
        break;
    case COMMAND_VOLUME_TO:
        change_volume((int)(screen_volume_at(now->screen, command->x) * PLAYER_MAX_VOLUME + 0.5), 0,
                      &i);
        break;
    case COMMAND_MUTE: change_volume(wanted->volume, !wanted->muted, &i); break;
    case COMMAND_NEXT_SOUND: next_sound(now, &i); break;
    case COMMAND_NEXT_SUBTITLES:
        next_track(now, INTENT_SUBTITLES, AVMEDIA_TYPE_SUBTITLE, now->played->subtitle, &i);
        break;
    case COMMAND_EQUALIZER: change_setting(PLAYER_ON_OFF, arg, &i); break;
    case COMMAND_STRENGTH: change_setting(PLAYER_STRENGTH, arg, &i); break;
    case COMMAND_CLIP: change_setting(PLAYER_CLIP, arg, &i); break;
    case COMMAND_SMOOTH: change_setting(PLAYER_SMOOTH, arg, &i); break;
    case COMMAND_BRIGHTNESS: change_setting(PLAYER_BRIGHTNESS, arg, &i); break;
    case COMMAND_GAMMA: change_setting(PLAYER_GAMMA, arg, &i); break;
    case COMMAND_RESET: change_setting(PLAYER_RESET, arg, &i); break;
    case COMMAND_DEINTERLACE: change_setting(PLAYER_DEINTERLACE, 1, &i); break;
    case COMMAND_SETTINGS_ROW: choose_setting(arg, &i); break;
    case COMMAND_SETTING: change_setting((PlayerSetting)i.look.chosen, arg, &i); break;
    case COMMAND_SETTING_AT:
    case COMMAND_SETTING_TURN: change_setting_at(command, now, &i); break;
    case COMMAND_COMPARE:
    case COMMAND_HISTOGRAM:
    case COMMAND_PLACE:
    case COMMAND_SCALE:
    case COMMAND_MIRROR:
    case COMMAND_STATISTICS:
    case COMMAND_HELP:
    case COMMAND_SETTINGS:
    case COMMAND_SUBTITLES:
    case COMMAND_SOURCE:
    case COMMAND_PAN:
    case COMMAND_PAN_ACROSS:
    case COMMAND_PAN_DOWN:
    case COMMAND_SPLIT_BY:
    case COMMAND_SPLIT: change_look(command, now, &i); break;
    case COMMAND_ZOOM:
    case COMMAND_ZOOM_BY: zoom(command, now, &i); break;
    case COMMAND_MARK:
        i.kind = INTENT_LOOK;
        i.look.mark = part_of(command);
        break;
    case COMMAND_METER: meter(command, now, &i); break;
    case COMMAND_POINT: i.kind = INTENT_POINT; break;
    case COMMAND_FULLSCREEN: i.kind = INTENT_FULLSCREEN; break;
    case COMMAND_SCREENSHOT: i.kind = INTENT_SCREENSHOT; break;
    case COMMAND_RECORD: i.kind = INTENT_RECORD; break;
    case COMMAND_WRITE: i.kind = INTENT_WRITE; break;
    case COMMAND_SCRIPT: i.kind = INTENT_SCRIPT; break;
    case COMMAND_OPEN: i.kind = INTENT_OPEN; break;
    case COMMAND_FILE: change_file(now, arg, &i); break;
    case COMMAND_DIALOG: i.kind = INTENT_DIALOG; break;
    case COMMAND_ESCAPE: escape(now, &i); break;
    case COMMAND_QUIT:
    case COMMAND_CLOSE:
        i.kind = INTENT_CLOSE;
        i.on = arg;
        break;
    case COMMAND_REDRAW:
    case COMMAND_KINDS: break;
    }
    return i;
}
