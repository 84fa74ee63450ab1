#include <stdio.h>

#include <SDL.h>

#include "media/input/track_choice.h"
#include "player/player_state.h"

#define SECOND INT64_C(1000000)
#define SPEED_RATIO 1.1
#define VOLUME_STEP 5

/* Each of them may take a while. */
#define MAX_STEPS_BACK 10

/* ---- time ---- */

/* Answers 0 where that cannot be. */
static int go_to(Player *p, FeedStart start)
{
    if (!playback_can_seek(p->playback)) {
        status_say(p, "%s",
                   p->playback->source->live ? "A live picture has no past to go to"
                                             : "This input cannot be searched");
        return 0;
    }
    p->wanted.steps = p->ended = 0;
    subtitles_reset(p->layers.subtitles);
    playback_start(p->playback, &start);
    return 1;
}

/* It stands at its end. Once there is a frame to begin from, it runs. */
static void play_again(Player *p)
{
    if (!go_to(p, (FeedStart){.position = SDL_max(p->options.from_us, 0)}))
        return;
    playback_pause(p->playback, 0, p->shown.position, player_now());
    status_say(p, "Playing");
}

static int toggle_pause(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->wanted.steps = p->wanted.steps_back = 0;
    if (p->ended) {
        play_again(p);
        return 0;
    }
    playback_pause(p->playback, !p->playback->paused, p->shown.position, player_now());
    status_say(p, p->playback->paused ? "Paused" : "Playing");
    return 0;
}

/* Seeks add up while the frame of the last one is still to come. */
static int64_t from_where(const Player *p)
{
    const Playback *b = p->playback;
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown.position;
}

static int seek_by(Player *p, const Command *command, MediaError *error)
{
    const int seconds = command->arg;
    (void)error;
    const int64_t duration = playback_duration(p->playback);
    int64_t to = from_where(p) + seconds * SECOND;
    if (duration > 0 && to > duration)
        to = duration;
    if (p->options.to_us >= 0 && to >= p->options.to_us)
        to = p->options.to_us - 1;
    if (to < 0)
        to = 0;
    if (go_to(p, (FeedStart){.position = to, .preview = 1}))
        status_say_position(p, to);
    return 0;
}

static int step(Player *p, const Command *command, MediaError *error)
{
    const int back = command->arg;
    const int64_t now = player_now();
    (void)error;
    if (!p->playback->paused)
        playback_pause(p->playback, 1, p->shown.position, now);
    if (!p->shown.frame)
        return 0;
    if (!back) {
        p->wanted.steps++;
        return 0;
    }
    if (p->playback->pending && p->playback->start.before) { /* when that frame is there */
        p->wanted.steps_back =
            command->repeated ? 1 : SDL_min(p->wanted.steps_back + 1, MAX_STEPS_BACK);
        return 0;
    }
    commands_step_back(p);
    return 0;
}

void commands_step_back(Player *p)
{
    (void)go_to(p, (FeedStart){.position = from_where(p), .before = 1});
}

static int change_speed(Player *p, const Command *command, MediaError *error)
{
    const int step = command->arg;
    (void)error;
    if (p->playback->source->live) {
        status_say(p, "A live picture has its own speed");
        return 0;
    }
    double speed = 1;
    if (step)
        speed = step > 0 ? p->playback->speed * SPEED_RATIO : p->playback->speed / SPEED_RATIO;
    if (speed > 0.96 && speed < 1.04) /* back to 1 after as many steps up as down */
        speed = 1;
    speed = SDL_clamp(speed, PLAYER_MIN_SPEED, PLAYER_MAX_SPEED);
    playback_set_speed(p->playback, speed, player_now());
    status_say(p, "Speed: %.2f", speed);
    return 0;
}

static int toggle_loop(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    if (p->playback->source->live) {
        status_say(p, "A live picture has no end to begin again from");
        return 0;
    }
    p->wanted.loop = !p->wanted.loop;
    status_say(p, "Loop: %s", p->wanted.loop ? "on" : "off");
    return 0;
}

/* ---- sound and tracks ---- */

static void apply_volume(Player *p)
{
    playback_set_volume(p->playback, p->wanted.volume, p->wanted.muted);
    if (p->wanted.muted)
        status_say(p, "Volume: %d %% (muted)", p->wanted.volume);
    else
        status_say(p, "Volume: %d %%", p->wanted.volume);
}

static int toggle_mute(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->wanted.muted = !p->wanted.muted;
    apply_volume(p);
    return 0;
}

static int change_volume(Player *p, const Command *command, MediaError *error)
{
    const int step = command->arg;
    (void)error;
    p->wanted.volume = SDL_clamp(p->wanted.volume + step * VOLUME_STEP, 0, PLAYER_MAX_VOLUME);
    apply_volume(p);
    return 0;
}

/* The one after `now` among its kind; after the last one, none. */
static const AVStream *next_of(const Player *p, enum AVMediaType type, const AVStream *now)
{
    const Source *source = p->playback->source;
    return track_find(source, type, now ? source_track_number(source, now) + 1 : 0);
}

static void say_track(Player *p, const char *name, const AVStream *before, const AVStream *track)
{
    char text[256] = "none";
    if (track)
        track_describe(p->playback->source, track, text, sizeof(text));
    status_say(p, "%s: %s", name, before || track ? text : "there is none");
}

static int next_audio(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    const AVStream *now = p->playback->sound;
    const AVStream *next = next_of(p, AVMEDIA_TYPE_AUDIO, now);
    if ((now || next) && !playback_can_seek(p->playback)) {
        status_say(p, "The sound of this input cannot be changed");
        return 0;
    }
    say_track(p, "Sound", now, next);
    if (now || next)
        playback_select_audio(p->playback, next, from_where(p));
    return 0;
}

static int next_subtitles(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    Playback *b = p->playback;
    const AVStream *now = b->subtitle, *next = next_of(p, AVMEDIA_TYPE_SUBTITLE, now);
    b->subtitle = next;
    subtitles_select(p->layers.subtitles, b->source, next);
    for (int i = 0; next && i < b->subtitles.count; i++)
        if (b->subtitles.packets[i]->stream_index == next->index)
            subtitles_packet(p->layers.subtitles, b->subtitles.packets[i]);
    p->look.subtitles_on = 1;
    say_track(p, "Subtitles", now, next);
    return 0;
}

static int toggle_subtitles(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->look.subtitles_on = !p->look.subtitles_on;
    status_say(p, "Subtitles: %s", p->look.subtitles_on ? "shown" : "hidden");
    return 0;
}

/* ---- the equalizer ---- */

static int change_setting(Player *p, PlayerSetting setting, const Command *command)
{
    char text[128];
    LumeqParams params;
    const LumeqFrameStats *shown = p->shown.frame ? &p->shown.frame->stats : NULL;
    p->equalizer.change(p->equalizer.opaque, setting, command->arg, shown, &params, text,
                        sizeof(text));
    status_say(p, "%s", text);
    playback_forget_ahead(p->playback);
    equalize_stage_set(p->stage, &params);
    if (shown && !p->measured.asked_at)
        p->measured.asked_at = command->at;
    return 0;
}

static int switch_equalizer(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_ON_OFF, command);
}

static int change_strength(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_STRENGTH, command);
}

static int change_clip(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_CLIP, command);
}

static int change_smooth(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_SMOOTH, command);
}

static int reset_settings(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_RESET, command);
}

/* ---- what is seen ---- */

static int toggle_fullscreen(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    char why[256];
    const int wanted = !window_is_fullscreen(p->window);
    if (window_set_fullscreen(p->window, wanted, why, sizeof(why)) < 0)
        status_say(p, "%s", why);
    return 0;
}

static int escape(Player *p, const Command *command, MediaError *error)
{
    if (window_is_fullscreen(p->window))
        return toggle_fullscreen(p, command, error);
    p->over = 1;
    return 0;
}

static int quit(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->over = 1;
    return 0;
}

static int next_compare(Player *p, const Command *command, MediaError *error)
{
    static const char *const names[] = {"off", "split", "side by side"};
    (void)command;
    p->look.compare = (PlayerCompare)((p->look.compare + 1) % 3);
    status_say(p, "Compare: %s", names[p->look.compare]);
    osd_show_labels(p->layers.osd, player_now() + OSD_LABELS_US);
    return showing_update_input(p, error);
}

static int next_histogram(Player *p, const Command *command, MediaError *error)
{
    static const char *const names[] = {"off", "beside the picture", "over the picture"};
    static const PlayerHistogram next[] = {PLAYER_HISTOGRAM_PANEL, PLAYER_HISTOGRAM_OVERLAY,
                                           PLAYER_HISTOGRAM_OFF};
    (void)command;
    (void)error;
    const int has_room = screen_set_histogram(p, next[p->look.histogram]);
    status_say(p, "Histogram: %s%s", has_room ? "" : "no room ", names[p->look.histogram]);
    return 0;
}

static int toggle_scale(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->look.log_scale = !p->look.log_scale;
    status_say(p, "Histogram: %s", p->look.log_scale ? "logarithmic" : "linear");
    return 0;
}

/* Frames that are there already are decoded again. */
static int next_deinterlace(Player *p, const Command *command, MediaError *error)
{
    static const char *const names[] = {"off", "where frames are interlaced", "all frames"};
    (void)command;
    (void)error;
    p->wanted.deinterlace = (DeinterlaceMode)((p->wanted.deinterlace + 1) % 3);
    status_say(p, "Deinterlace: %s", names[p->wanted.deinterlace]);
    video_feed_deinterlace(p->playback->feed, p->wanted.deinterlace);
    if (playback_can_seek(p->playback))
        (void)go_to(p, (FeedStart){.position = from_where(p)});
    return 0;
}

static int toggle_mirror(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->look.mirrored = !p->look.mirrored;
    view_set_mirror(p->view, p->look.mirrored);
    status_say(p, "Mirror: %s", p->look.mirrored ? "on" : "off");
    return 0;
}

static int toggle_statistics(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->look.statistics = !p->look.statistics;
    p->layers.statistics_at = 0;
    return 0;
}

static int toggle_help(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    p->look.help = !p->look.help;
    return 0;
}

static int take_screenshot(Player *p, const Command *command, MediaError *error)
{
    (void)command;
    (void)error;
    screen_shoot(p);
    return 0;
}

static int move_split(Player *p, const Command *command, MediaError *error)
{
    int px, py;
    const ViewScene scene = screen_scene(p);
    const Rect picture = view_layout(p->view, &scene).picture[VIEW_OUTPUT];
    (void)error;
    window_to_pixels(p->window, command->x, command->y, &px, &py);
    if (picture.width > 0)
        p->look.split = SDL_clamp((double)(px - picture.x) / picture.width, 0, 1);
    return 0;
}

static int redraw(Player *p, const Command *command, MediaError *error)
{
    (void)p; /* whatever is carried out is drawn */
    (void)command;
    (void)error;
    return 0;
}

static int close_window(Player *p, const Command *command, MediaError *error)
{
    (void)error;
    window_quit(p->window, command->arg);
    p->over = 1;
    return 0;
}

static int record(Player *p, const Command *command, MediaError *error)
{
    return live_record(p, command->arg, error);
}

/* ---- files ---- */

/* What cannot be opened is said on the screen; what is shown goes on. */
static int start_file(Player *p, const Command *command, MediaError *error)
{
    MediaError why = {0};
    (void)error;
    p->dropped.path[0] = '\0';
    player_drop_next(p);
    if (!p->options.open || p->options.open(p->options.opaque, command->path, &why) < 0)
        status_say(p, "%s", why.fault ? why.text : "Files cannot be opened here");
    else
        snprintf(p->dropped.path, sizeof(p->dropped.path), "%s", command->path);
    return 0;
}

/* AVERROR(EAGAIN): it is being opened, or tried. What cannot be played changes nothing, either. */
static int follow_file(Player *p, MediaError *error)
{
    MediaError why = {0};
    Source *source = NULL;
    int ret = p->dropped.playback ? 0 : p->options.opened(p->options.opaque, &source, error);
    if (ret < 0)
        return ret;
    if (source)
        ret = player_try(p, source, &why);
    if (ret < 0)
        source_close(&source);
    else
        ret = player_take_next(p, &why);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        media_fail(error, why.fault, "cannot play %s: %s", media_quote(p->dropped.path), why.text);
    return ret;
}

static void take_file(Player *p)
{
    MediaError error = {0};
    const int ret = follow_file(p, &error);
    if (ret == AVERROR(EAGAIN))
        return;
    if (ret < 0)
        status_say(p, "%s", error.text);
    p->dropped.path[0] = '\0';
}

/* ---- all of them ---- */

static int carry_out(Player *p, const Command *command, MediaError *error)
{
    static int (*const actions[COMMAND_KINDS])(Player *, const Command *, MediaError *) = {
        [COMMAND_PAUSE] = toggle_pause,
        [COMMAND_SEEK] = seek_by,
        [COMMAND_STEP] = step,
        [COMMAND_SPEED] = change_speed,
        [COMMAND_LOOP] = toggle_loop,
        [COMMAND_VOLUME] = change_volume,
        [COMMAND_MUTE] = toggle_mute,
        [COMMAND_NEXT_SOUND] = next_audio,
        [COMMAND_NEXT_SUBTITLES] = next_subtitles,
        [COMMAND_SUBTITLES] = toggle_subtitles,
        [COMMAND_EQUALIZER] = switch_equalizer,
        [COMMAND_STRENGTH] = change_strength,
        [COMMAND_CLIP] = change_clip,
        [COMMAND_SMOOTH] = change_smooth,
        [COMMAND_RESET] = reset_settings,
        [COMMAND_COMPARE] = next_compare,
        [COMMAND_HISTOGRAM] = next_histogram,
        [COMMAND_SCALE] = toggle_scale,
        [COMMAND_RECORD] = record,
        [COMMAND_DEINTERLACE] = next_deinterlace,
        [COMMAND_MIRROR] = toggle_mirror,
        [COMMAND_FULLSCREEN] = toggle_fullscreen,
        [COMMAND_SCREENSHOT] = take_screenshot,
        [COMMAND_STATISTICS] = toggle_statistics,
        [COMMAND_HELP] = toggle_help,
        [COMMAND_QUIT] = quit,
        [COMMAND_ESCAPE] = escape,
        [COMMAND_SPLIT] = move_split,
        [COMMAND_OPEN] = start_file,
        [COMMAND_REDRAW] = redraw,
        [COMMAND_CLOSE] = close_window,
    };
    p->dirty = 1;
    return actions[command->kind](p, command, error);
}

static void follow_cursor(Player *p, int64_t now)
{
    const int64_t until = p->controls.cursor_until;
    const int shown = until && now <= until;
    if (shown != p->cursor_shown)
        window_show_cursor(p->window, shown);
    if (shown) /* with it go the labels of a comparison */
        osd_show_labels(p->layers.osd, until);
    p->cursor_shown = shown;
}

int commands_run(Player *p, int64_t now, MediaError *error)
{
    Command command;
    int ret = 0;
    do
        p->controls.can_drag = p->look.compare == PLAYER_COMPARE_SPLIT;
    while (!p->over && controls_next(&p->controls, now, &command) &&
           (ret = carry_out(p, &command, error)) >= 0);
    if (p->dropped.path[0])
        take_file(p);
    follow_cursor(p, now);
    return ret;
}
