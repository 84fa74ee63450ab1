#include "player/actions.h"

#include <stdio.h>
#include <stdlib.h>

#include <SDL.h>

#include "media/convert.h"
#include "media/file_name.h"
#include "media/input/track_choice.h"
#include "player/playlist.h"
#include "player/status.h"

#define SECOND INT64_C(1000000)
#define SPEED_RATIO 1.1
#define VOLUME_STEP 5

/* Steps of delays, and the maximum number of steps in each direction. */
#define SUBTITLE_STEP_US INT64_C(100000)
#define SUBTITLE_STEPS 600
#define SOUND_STEP_US INT64_C(20000)
#define SOUND_STEPS 100

/* Number of key steps that move the picture or the split line across the visible picture. */
#define PAN_STEPS 10

/* A drag smaller than this, in window units, is a click. */
#define LEAST_PART 4

/* How long the position key shows the bar. */
#define POSITION_US 1000000

/* Maximum pending backward steps, because each may take a while. */
#define MAX_STEPS_BACK 10

void player_seek(Player *p, InputStart start)
{
    p->steps = 0;
    subtitle_thread_reset(p->subtitles);
    playback_start(p->playback, &start);
}

static void say_no_seek(Player *p)
{
    screen_say(p->screen,
               played(p)->source->live ? "Can't seek in live video" : "Can't seek in this input");
}

/* Returns 0 after a message if the input is not seekable. */
static int try_seek(Player *p, InputStart start)
{
    if (!playback_can_seek(p->playback)) {
        say_no_seek(p);
        return 0;
    }
    p->ended = 0;
    player_seek(p, start);
    return 1;
}

void player_pause(Player *p, int paused)
{
    playback_pause(p->playback, paused, p->shown->position, clock_now());
}

void act_pause(Player *p)
{
    const int pauses = !p->ended && !played(p)->paused;
    if (p->ended && !try_seek(p, (InputStart){.position = SDL_max(p->options.from_us, 0)}))
        return;
    p->steps = p->steps_back = 0;
    player_pause(p, pauses);
    screen_say(p->screen, pauses ? "Paused" : "Playing");
}

/* Seeks, at most to the end of the played part. Returns the new position; -1: not seekable. */
static int64_t seek_to(Player *p, int64_t to)
{
    const int64_t duration = playback_duration(p->playback), end = p->options.to_us;
    if (duration > 0 && to > duration)
        to = duration;
    if (end >= 0 && to >= end)
        to = end - 1;
    to = SDL_max(to, 0);
    return try_seek(p, (InputStart){.position = to, .preview = 1}) ? to : -1;
}

void act_seek(Player *p)
{
    char text[80];
    const int64_t duration = playback_duration(p->playback);
    const int64_t to = seek_to(p, player_position(p) + p->command.arg * SECOND);
    if (to < 0)
        return;
    status_position(to, duration, text, sizeof(text));
    screen_say(p->screen, "%s", text);
    act_position(p);
}

void act_seek_to(Player *p)
{
    const int64_t duration = playback_duration(p->playback);
    if (duration <= 0)
        return;
    (void)seek_to(
        p, (int64_t)(screen_bar_at(p->screen, CONTROLS_TRACK, p->command.x) * (double)duration));
    act_point(p);
}

void act_edge(Player *p)
{
    const int end = p->command.arg;
    if (seek_to(p, end ? playback_duration(p->playback) : 0) >= 0)
        screen_say(p->screen, end ? "End" : "Beginning");
}

/* Going back returns to the start of this chapter or, within its first second, to the previous
 * chapter. A chapter that begins within the current frame counts as begun. */
void act_chapter(Player *p)
{
    const int step = p->command.arg;
    const Source *source = played(p)->source;
    const int64_t at =
        player_position(p) + SDL_max(p->shown->duration - 1, 0) - (step < 0 ? SECOND : 0);
    const int count = source_chapters(source);
    int n = 0; /* number of chapters that have begun at `at` */
    while (n < count && source_chapter(source, n) <= at)
        n++;
    const int to = step < 0 ? n - 1 : n;
    if (!count) {
        screen_say(p->screen, "No chapters");
    } else if (to < 0 || to >= count) {
        screen_say(p->screen, step < 0 ? "First chapter" : "Last chapter");
    } else if (seek_to(p, source_chapter(source, to)) >= 0) {
        const char *title = source_chapter_title(source, to);
        screen_say(p->screen, "Chapter %d of %d%s%s", to + 1, count, title[0] ? ": " : "", title);
    }
}

void player_say_frame(Player *p)
{
    char text[64];
    status_frame(p->shown->position, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

void player_step_back(Player *p)
{
    (void)try_seek(p, (InputStart){.position = player_position(p), .before = 1});
}

void act_step(Player *p)
{
    const PlaybackState *b = played(p);
    if (!b->paused)
        player_pause(p, 1);
    if (!p->shown->frame)
        return;
    if (!p->command.arg)
        p->steps++;
    else if (b->pending && b->start.before) /* step back once the pending frame arrives */
        p->steps_back = p->command.repeated ? 1 : SDL_min(p->steps_back + 1, MAX_STEPS_BACK);
    else
        player_step_back(p);
}

void act_speed(Player *p)
{
    const int step = p->command.arg;
    double speed = played(p)->speed;
    if (played(p)->source->live) {
        screen_say(p->screen, "Can't change the speed of live video");
        return;
    }
    speed = step > 0 ? speed * SPEED_RATIO : speed / SPEED_RATIO;
    if (!step || (speed > 0.96 && speed < 1.04)) /* exactly 1 after steps up and down */
        speed = 1;
    speed = SDL_clamp(speed, PLAYER_MIN_SPEED, PLAYER_MAX_SPEED);
    playback_set_speed(p->playback, speed, clock_now());
    screen_say(p->screen, "Speed: %.2f", speed);
}

void act_loop(Player *p)
{
    if (played(p)->source->live) {
        screen_say(p->screen, "Can't loop live video");
        return;
    }
    p->options.loop = !p->options.loop;
    screen_say(p->screen, "Loop: %s", p->options.loop ? "on" : "off");
}

void act_repeat(Player *p)
{
    char at[32];
    Wanted *w = &p->wanted;
    const int64_t position = player_position(p);
    if (!playback_can_seek(p->playback)) {
        say_no_seek(p);
        return;
    }
    status_frame(position, at, sizeof(at));
    if (w->from < 0) {
        w->from = position;
        screen_say(p->screen, "Repeat from %s; press L at the end", at);
    } else if (w->to < 0 && position > w->from) {
        w->to = position;
        (void)try_seek(p, (InputStart){.position = w->from});
        screen_say(p->screen, "Repeat to %s", at);
    } else {
        w->from = w->to = -1;
        screen_say(p->screen, "Repeat: off");
    }
}

void act_position(Player *p)
{
    screen_show_bar(p->screen, clock_now() + POSITION_US);
}

static void set_volume(Player *p, int volume, int muted)
{
    p->options.volume = SDL_clamp(volume, 0, PLAYER_MAX_VOLUME);
    p->options.mute = muted;
    playback_set_volume(p->playback, p->options.volume, muted);
    screen_say(p->screen, "Volume: %d %%%s", p->options.volume, muted ? " (muted)" : "");
}

void act_volume(Player *p)
{
    set_volume(p, p->options.volume + p->command.arg * VOLUME_STEP, p->options.mute);
}

void act_volume_to(Player *p)
{
    const double share = screen_bar_at(p->screen, CONTROLS_VOLUME, p->command.x);
    set_volume(p, (int)(share * PLAYER_MAX_VOLUME + 0.5), 0);
}

void act_mute(Player *p)
{
    set_volume(p, p->options.volume, !p->options.mute);
}

static const AVStream *next_track(const Player *p, enum AVMediaType type, const AVStream *before)
{
    const Source *source = played(p)->source;
    return track_find(source, type, before ? source_track_number(source, before) + 1 : 0);
}

static void say_track(Player *p, const char *kind, const AVStream *track)
{
    char text[256] = "none";
    if (track)
        track_describe(played(p)->source, track, text, sizeof(text));
    screen_say(p->screen, "%s: %s", kind, text);
}

void act_next_sound(Player *p)
{
    const AVStream *before = played(p)->sound;
    const AVStream *track = next_track(p, AVMEDIA_TYPE_AUDIO, before);
    const int can_change = playback_can_seek(p->playback);
    if ((before || track) && can_change)
        playback_select_audio(p->playback, track, player_position(p));
    if ((before || track) && !can_change)
        screen_say(p->screen, "Can't change the sound of this input");
    else
        say_track(p, "Sound", track);
}

/* If the look needs data that a lost GPU held, the current frame is equalized again. */
static void set_look(Player *p, Look look)
{
    if (screen_set_look(p->screen, &look, p->shown->frame, &p->failed) <= 0)
        return;
    playback_drop_ahead(p->playback);
    equalize_stage_redo(p->stage);
}

static void show_subtitles(Player *p)
{
    Look look = p->seen->look;
    const PlaybackState *b = played(p);
    player_show_subtitles(p);
    look.subtitles_on = 1;
    set_look(p, look);
    if (b->file)
        screen_say(p->screen, "Subtitles: %s", file_name_base(b->file->source->format->url));
    else
        say_track(p, "Subtitles", b->subtitle);
}

/* Order: tracks of the video, subtitle files, none. */
void act_next_subtitles(Player *p)
{
    const PlaybackState *b = played(p);
    const AVStream *track = b->file ? NULL : next_track(p, AVMEDIA_TYPE_SUBTITLE, b->subtitle);
    int at = 0; /* index of the next file */
    while (b->file && b->files[at++] != b->file)
        ;
    if (!track && at < b->file_count)
        playback_select_file(p->playback, b->files[at]);
    else
        playback_select_subtitles(p->playback, track);
    show_subtitles(p);
}

void act_last_subtitles(Player *p)
{
    playback_select_file(p->playback, played(p)->files[played(p)->file_count - 1]);
    show_subtitles(p);
}

static void change_delay(Player *p, const char *name, int64_t *delay, int64_t step, int limit)
{
    *delay = SDL_clamp(*delay + p->command.arg * step, -limit * step, limit * step);
    screen_say(p->screen, "%s delay: %+lld ms", name, (long long)*delay / 1000);
}

void act_subtitle_delay(Player *p)
{
    change_delay(p, "Subtitle", &p->wanted.subtitle_delay, SUBTITLE_STEP_US, SUBTITLE_STEPS);
}

void act_sound_delay(Player *p)
{
    if (!played(p)->sound) {
        screen_say(p->screen, "No sound");
        return;
    }
    change_delay(p, "Sound", &p->wanted.sound_delay, SOUND_STEP_US, SOUND_STEPS);
    playback_set_sound_delay(p->playback, p->wanted.sound_delay);
}

/* Applies the parameters to all frames, including the current and waiting ones. */
static void set_params(Player *p, const LumeqParams *params, const char *text)
{
    screen_say(p->screen, "%s", text);
    playback_drop_ahead(p->playback);
    equalize_stage_set(p->stage, params);
}

/* Range, code levels and deinterlacing belong to the decoder, so existing frames must be decoded
 * again. */
static void set_decoding(Player *p, const PlayerSettings *settings)
{
    PlayerOptions *o = &p->options;
    const int is_deep_gray =
        code_range_suits(convert_nearest_direct(played(p)->source->video->codecpar->format));
    const int must_decode = settings->deinterlace != o->deinterlace ||
                            settings->range != o->range ||
                            (settings->codes != o->codes && is_deep_gray);
    o->range = settings->range;
    o->deinterlace = settings->deinterlace;
    o->codes = settings->codes;
    decoder_deinterlace(input_decoder(played(p)->input), o->deinterlace);
    input_set_range(played(p)->input, o->range);
    decoder_set_codes(input_decoder(played(p)->input), o->codes);
    if (must_decode && playback_can_seek(p->playback))
        player_seek(p, (InputStart){.position = player_position(p)});
}

static void change_setting(Player *p, PlayerSetting setting, int step)
{
    char text[128];
    PlayerSettings settings;
    const LumeqFrameStats *shown = p->shown->frame ? &p->shown->frame->stats : NULL;
    p->host->change_setting(p->host->opaque, setting, step, shown, &settings, text, sizeof(text));
    set_params(p, &settings.params, text);
    set_decoding(p, &settings);
}

void act_setting(Player *p)
{
    change_setting(p, (PlayerSetting)p->command.which, p->command.arg);
}

void act_setting_chosen(Player *p)
{
    change_setting(p, (PlayerSetting)p->seen->look.chosen, p->command.arg);
}

/* Selects the settings row at the command's x, y. Returns 0 if none. See osd_settings_at(). */
static int choose_row(Player *p, int *acts, int *step)
{
    Look look = p->seen->look;
    const int row = screen_setting_at(p->screen, p->command.x, p->command.y, acts, step);
    if (row < 0)
        return 0;
    look.chosen = row;
    set_look(p, look);
    return 1;
}

void act_setting_at(Player *p)
{
    int acts, step;
    if (choose_row(p, &acts, &step) && acts)
        change_setting(p, (PlayerSetting)p->seen->look.chosen, step);
}

void act_setting_scroll(Player *p)
{
    int acts, step;
    if (choose_row(p, &acts, &step))
        act_setting_chosen(p);
}

static Rect drawn_part(const Command *c)
{
    return (Rect){SDL_min(c->x, c->from_x), SDL_min(c->y, c->from_y), abs(c->x - c->from_x),
                  abs(c->y - c->from_y)};
}

void act_meter(Player *p)
{
    char text[128];
    LumeqParams params;
    Look look = p->seen->look;
    Rect part = {0}; /* no width: meter the whole picture */
    const Rect drawn = drawn_part(&p->command);
    if (p->command.arg == 1) {
        screen_say(p->screen, "Draw a rectangle to meter; Enter: visible part; z: everything");
        return;
    }
    if (p->command.arg == 0 && drawn.width >= LEAST_PART && drawn.height >= LEAST_PART)
        part = screen_to_samples(p->screen, drawn);
    else if (p->command.arg == 3)
        part = screen_to_samples(p->screen, screen_picture(p->screen));
    p->host->meter(p->host->opaque, (LumeqRect){part.x, part.y, part.width, part.height}, &params,
                   text, sizeof(text));
    set_params(p, &params, text);
    look.mark = (Rect){0};
    set_look(p, look);
}

/* Order: the histogram beside the picture, the histogram over it, the scopes over it, off. */
static void show_next_panel(const Player *p, Look *look)
{
    const PanelScope last = screen_has_room_for_all(p->screen) ? PANEL_ALL : PANEL_VECTORSCOPE;
    if (look->histogram == PANEL_OFF) {
        look->histogram = PANEL_BESIDE;
        look->scope = PANEL_HISTOGRAM;
    } else if (look->histogram == PANEL_BESIDE && look->scope == PANEL_HISTOGRAM) {
        look->histogram = PANEL_OVER;
    } else if (look->scope < last) {
        look->scope++;
    } else {
        look->histogram = PANEL_OFF;
    }
}

void act_look(Player *p)
{
    const Command *c = &p->command;
    Look look = p->seen->look;
    switch ((LookChange)c->which) {
    case LOOK_SUBTITLES: look.subtitles_on = !look.subtitles_on; break;
    case LOOK_SETTINGS: look.settings = !look.settings; break;
    case LOOK_MIRROR: look.mirrored = !look.mirrored; break;
    case LOOK_LOG_SCALE: look.log_scale = !look.log_scale; break;
    case LOOK_STATISTICS: look.statistics = !look.statistics; break;
    case LOOK_HELP: screen_toggle_help(p->screen); return;
    case LOOK_COMPARE: look.compare = (ViewCompare)((look.compare + 1) % 3); break;
    case LOOK_PANEL: show_next_panel(p, &look); break;
    case LOOK_PANEL_PLACE:
        look.histogram = look.histogram == PANEL_BESIDE ? PANEL_OVER : PANEL_BESIDE;
        break;
    case LOOK_SOURCE: look.source = c->arg != 0; break;
    case LOOK_SPLIT: look.split = screen_split_at(p->screen, c->x); break;
    case LOOK_SPLIT_BY:
        look.split = SDL_clamp(look.split + (double)c->arg / PAN_STEPS, 0.0, 1.0);
        break;
    case LOOK_MARK: look.mark = drawn_part(c); break;
    case LOOK_SETTING_ROW:
        look.chosen = (look.chosen + c->arg + PLAYER_SETTINGS) % PLAYER_SETTINGS;
        break;
    }
    set_look(p, look);
}

void act_zoom(Player *p)
{
    double pixels;
    Look look = p->seen->look;
    const Command *c = &p->command;
    look.zoom = screen_zoom_at(p->screen, c->arg, c->x, c->y, &pixels);
    set_look(p, look);
    if (look.zoom.by > 1)
        screen_say(p->screen, "Zoom: %.0f %%", pixels * 100);
    else
        screen_say(p->screen, "Zoom: whole picture");
}

void act_zoom_by(Player *p)
{
    const Rect seen = screen_picture(p->screen);
    p->command.x = seen.x + seen.width / 2;
    p->command.y = seen.y + seen.height / 2;
    act_zoom(p);
}

void act_pan(Player *p)
{
    Look look = p->seen->look;
    look.zoom = screen_pan_by(p->screen, p->command.x, p->command.y);
    set_look(p, look);
}

void act_pan_by(Player *p)
{
    const Rect seen = screen_picture(p->screen);
    const int down = p->command.which, steps = -p->command.arg;
    p->command.x = down ? 0 : steps * (seen.width / PAN_STEPS);
    p->command.y = down ? steps * (seen.height / PAN_STEPS) : 0;
    act_pan(p);
}

/* Shows the time and chapter under the mouse above the seek bar. */
void act_point(Player *p)
{
    char line[256] = "";
    const int x = p->command.x, y = p->command.y;
    const int64_t duration = playback_duration(p->playback), before = p->pointed;
    const int is_held = p->controls.dragging && p->controls.held == CONTROLS_TRACK;
    const int is_there = is_held || screen_target(p->screen, x, y) == CONTROLS_TRACK;
    p->pointed =
        is_there ? (int64_t)(screen_bar_at(p->screen, CONTROLS_TRACK, x) * (double)duration) : -1;
    if (is_there)
        status_pointed(played(p)->source, p->pointed, line, sizeof(line));
    if (is_there || before >= 0)
        screen_set_pointed(p->screen, x, line);
}

void act_fullscreen(Player *p)
{
    screen_toggle_fullscreen(p->screen);
}

void act_screenshot(Player *p)
{
    screen_take_screenshot(p->screen, p->path, p->shown->position);
}

void act_record(Player *p)
{
    char text[512] = "Only cameras can be recorded";
    if (played(p)->source->camera)
        p->host->record(p->host->opaque, played(p)->source, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

void act_write(Player *p)
{
    char text[512];
    p->host->write(p->host->opaque, p->path, played(p)->source, text, sizeof(text));
    if (text[0])
        screen_say(p->screen, "%s", text);
}

void act_print_command(Player *p)
{
    char text[512];
    char *command =
        p->host->print_command(p->host->opaque, p->path, played(p)->source, text, sizeof(text));
    const int copied = command && SDL_SetClipboardText(command) == 0;
    if (command)
        snprintf(text, sizeof(text), "Printed%s: %s", copied ? " and copied" : "", command);
    screen_say(p->screen, "%s", text);
    free(command);
}

void act_open(Player *p)
{
    playlist_drop(p, p->command.path, p->command.arg);
}

void act_file(Player *p)
{
    char text[512];
    const int is_near = p->next.path[0] && !p->next.waits && !p->dropped.count;
    const int at = file_list_find(&p->files, is_near ? p->next.at : p->files.at, p->command.arg);
    if (p->files.count < 2 || at == p->files.at) {
        screen_say(p->screen, "No other files");
    } else if (at < 0) {
        screen_say(p->screen, p->command.arg > 0 ? "Last file" : "First file");
    } else {
        playlist_change(p, at, p->command.arg);
        status_file(&p->files, at, text, sizeof(text));
        screen_say(p->screen, "%s", text);
    }
}

void act_dialog(Player *p)
{
    if (file_dialog_show(&p->dialog) < 0)
        screen_say(p->screen, "Install zenity or kdialog to browse, or drop a file here");
}

/* During an export, the first request only warns. A second request while the warning is visible
 * cancels the export and quits. */
void act_quit(Player *p)
{
    const int by_itself = p->command.arg;
    if (p->writing.on && !by_itself && clock_now() >= p->warned_until) {
        p->warned_until = clock_now() + OSD_WARNING_US;
        screen_warn(p->screen, "Still exporting; quit again to cancel");
        return;
    }
    window_quit(p->seen->window, by_itself);
    p->over = 1;
}

void act_escape(Player *p)
{
    if (window_is_fullscreen(p->seen->window))
        screen_toggle_fullscreen(p->screen);
    else
        act_quit(p);
}
