#include "player/player.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <SDL.h>

#include "media/input/damage.h"
#include "player/commands.h"
#include "player/library_log.h"
#include "player/status.h"

/* How long a turn waits at most: the stop flag of the program is looked at between turns. */
#define TURN_US 100000

/* How long the first frame of a file that was dropped is waited for. One that takes longer is given
 * the benefit of the doubt. */
#define FIRST_FRAME_US 3000000

/* Each of them may take a while. */
#define MAX_STEPS_BACK 10

/* A file that is to take the place of the one that is played. */
typedef struct Dropped {
    char path[PATH_MAX]; /* "": there is none */
    Playback *playback;  /* once it was opened, until its first frame is there; or NULL */
    int64_t since;       /* that is waited for */
} Dropped;

struct Player {
    PlayerOptions options;
    PlayerEqualizer equalizer;
    char path[PATH_MAX];
    uint32_t wake_event;

    Screen *screen;
    EqualizeStage *stage;
    Showing *showing;
    Playback *playback;
    Dropped dropped;
    Subtitles *subtitles;
    int trouble_said; /* what is wrong with the subtitles */

    /* What others own, to be read. */
    const ScreenState *seen;
    const Shown *shown;

    Controls controls;
    Wanted wanted;
    int steps;      /* frames to go on by while paused */
    int steps_back; /* frames to go back by when the one that was asked for is there */
    CameraWatch camera;
    PlayerRecording recording;
    Delay response;       /* from a key that changes a setting until that was seen */
    int64_t asked_at;     /* by the first such key that was not answered; 0: all were */
    int64_t longest_turn; /* without OpenGL */
    int over;             /* it is to be closed */
    int ended;            /* it came to its end by itself, and is over or kept open there */
};

/* From any thread: ends the wait of a turn. */
static void wake(void *opaque)
{
    SDL_Event event = {.type = ((const Player *)opaque)->wake_event};
    (void)SDL_PushEvent(&event);
}

/* From the threads of any feed. */
static void wake_for_decoded(void *opaque)
{
    equalize_stage_wake(((const Player *)opaque)->stage);
    wake(opaque);
}

/* ---- opening ---- */

/* What the user has said of the `first` input does not hold for one that was dropped. */
static PlaybackOptions playback_options(Player *p, int first)
{
    return (PlaybackOptions){
        .video = {.memory = p->equalizer.stage.memory,
                  .threads = p->options.threads,
                  .range = p->options.range,
                  .deinterlace = p->wanted.deinterlace,
                  .end = first && p->options.to_us >= 0 ? p->options.to_us : AV_NOPTS_VALUE,
                  .frames = first ? p->options.frames : -1,
                  .wake = wake_for_decoded,
                  .opaque = p},
        .audio_track = first ? p->options.audio_track : 0,
        .sub_track = first ? p->options.sub_track : 0,
        .no_audio = p->options.no_audio,
        .sound_later = !first,
        .speed = first ? p->options.speed : p->playback->speed,
        .packet = first ? p->options.packet : NULL,
        .opaque = p->options.opaque,
    };
}

static int open_playback(Player *p, Playback **next, Source *source, MediaError *error)
{
    const int first = !p->playback;
    const PlaybackOptions options = playback_options(p, first);
    FeedStart start = {.position = AV_NOPTS_VALUE};
    if (first && p->options.from_us > 0)
        start.position = p->options.from_us;
    *next = playback_open(source, &options, &start);
    return *next ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

/* What cannot be played is not opened. */
static int open_first(Player *p, Source *source, MediaError *error)
{
    int ret = open_playback(p, &p->playback, source, error);
    if (ret >= 0)
        ret = playback_wait(p->playback, error);
    if (ret < 0 && p->playback) {
        p->playback->source = NULL; /* the caller's still */
        playback_close(&p->playback);
    }
    return ret;
}

static void show_playback(Player *p, const char *path)
{
    char title[PATH_MAX + 16];
    snprintf(p->path, sizeof(p->path), "%s", path);
    playback_equalize(p->playback, p->stage);
    playback_set_volume(p->playback, p->wanted.volume, p->wanted.muted);
    subtitles_select(p->subtitles, p->playback->source, p->playback->subtitle);
    status_title(p->playback->source, path, title, sizeof(title));
    screen_set_title(p->screen, title);
}

static int open_stage(Player *p, MediaError *error)
{
    EqualizeStageOptions options = p->equalizer.stage;
    options.wake = wake;
    options.wake_opaque = p;
    const int ret = equalize_stage_open(&p->stage, &options, error);
    if (ret >= 0)
        equalize_stage_allow_device(p->stage, screen_takes_device(p->screen));
    return ret;
}

static int open_screen(Player *p, const Source *source, MediaError *error)
{
    const ScreenOptions options = {&p->options, p->equalizer.device, wake, p};
    const int ret = screen_open(&p->screen, &options, source, error);
    if (ret < 0)
        return ret;
    p->wake_event = SDL_RegisterEvents(1);
    SDL_StartTextInput();
    p->seen = screen_state(p->screen);
    return 0;
}

static int open_showing(Player *p, MediaError *error)
{
    p->showing = showing_create(p->stage, p->screen);
    if (!p->showing)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->shown = showing_shown(p->showing);
    return 0;
}

static int open_all(Player *p, Source *source, const char *path, MediaError *error)
{
    if (subtitles_open(&p->subtitles) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    int ret = open_screen(p, source, error);
    if (ret >= 0)
        ret = open_stage(p, error);
    if (ret >= 0)
        ret = open_showing(p, error);
    if (ret >= 0)
        ret = open_first(p, source, error);
    if (ret >= 0)
        show_playback(p, path);
    return ret;
}

int player_open(Player **player, const PlayerOptions *options, const PlayerEqualizer *equalizer,
                Source *source, const char *path, MediaError *error)
{
    Player *p = calloc(1, sizeof(*p));
    *player = p;
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    p->equalizer = *equalizer;
    p->wanted = (Wanted){
        .loop = options->loop,
        .muted = options->mute,
        .volume = options->volume,
        .deinterlace = options->deinterlace,
    };
    library_log_take(p->options.detail);
    const int ret = open_all(p, source, path, error);
    if (ret < 0)
        player_close(player);
    return ret;
}

/* ---- where it is ---- */

/* Seeks add up while the frame of the last one is still to come. */
static int64_t from_where(const Player *p)
{
    const Playback *b = p->playback;
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown->position;
}

static Situation situation(const Player *p)
{
    return (Situation){
        .options = &p->options,
        .equalizer = &p->equalizer,
        .playback = p->playback,
        .shown = p->shown,
        .screen = p->screen,
        .wanted = &p->wanted,
        .camera = &p->camera,
        .recording = &p->recording,
        .position = from_where(p),
        .at_end = p->ended,
        .equalized = equalize_stage_waiting(p->stage),
        .lost = equalize_stage_is_lost(p->stage),
    };
}

static void go(Player *p, FeedStart start)
{
    p->steps = 0;
    subtitles_reset(p->subtitles);
    playback_start(p->playback, &start);
}

/* Answers 0 where that cannot be. */
static int go_to(Player *p, FeedStart start)
{
    if (!playback_can_seek(p->playback)) {
        screen_say(p->screen, p->playback->source->live ? "A live picture has no past to go to"
                                                        : "This input cannot be searched");
        return 0;
    }
    p->ended = 0;
    go(p, start);
    return 1;
}

static void step_back(Player *p)
{
    (void)go_to(p, (FeedStart){.position = from_where(p), .before = 1});
}

static void say_frame(Player *p)
{
    char text[64];
    status_frame(p->shown->position, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

static void pause_playback(Player *p, int paused)
{
    playback_pause(p->playback, paused, p->shown->position, clock_now());
}

/* ---- files ---- */

static void drop_next(Player *p)
{
    playback_finish(p->playback, &p->dropped.playback);
}

static int replace_playback(Player *p)
{
    LumeqParams params;
    const int ret = p->options.replace(p->options.opaque, &params);
    if (ret < 0)
        return ret;
    showing_drop(p->showing);
    equalize_stage_set(p->stage, &params);
    playback_set_speed(p->dropped.playback, p->playback->speed, clock_now());
    playback_finish(p->dropped.playback, &p->playback);
    p->playback = p->dropped.playback;
    p->dropped.playback = NULL;
    p->steps = p->steps_back = 0;
    p->options.from_us = p->options.to_us = -1; /* the part was the first one's */
    p->options.keep_open = p->options.keep_dropped;
    p->ended = 0;
    show_playback(p, p->dropped.path);
    return 0;
}

static int take_next(Player *p, MediaError *error)
{
    int ret = playback_follow(p->dropped.playback, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (ret >= 0)
        ret = playback_look(p->dropped.playback, error);
    if (ret == AVERROR_EOF)
        ret = media_fail(error, MEDIA_INPUT, "no frame of it could be decoded");
    else if (ret == AVERROR(EAGAIN))
        ret = clock_now() - p->dropped.since < FIRST_FRAME_US ? ret : 0;
    if (ret >= 0)
        ret = replace_playback(p);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        drop_next(p);
    return ret;
}

/* What cannot be opened is said on the screen; what is shown goes on. */
static void start_file(Player *p, const char *path)
{
    MediaError why = {0};
    p->dropped.path[0] = '\0';
    drop_next(p);
    if (!p->options.open || p->options.open(p->options.opaque, path, &why) < 0)
        screen_say(p->screen, "%s", why.fault ? why.text : "Files cannot be opened here");
    else
        snprintf(p->dropped.path, sizeof(p->dropped.path), "%s", path);
}

/* AVERROR(EAGAIN): it is being opened, or tried. What cannot be played changes nothing, either. */
static int follow_file(Player *p, MediaError *error)
{
    MediaError why = {0};
    Source *source = NULL;
    int ret = p->dropped.playback ? 0 : p->options.opened(p->options.opaque, &source, error);
    if (ret < 0)
        return ret;
    if (source) {
        p->dropped.since = clock_now();
        ret = open_playback(p, &p->dropped.playback, source, &why);
    }
    if (ret < 0)
        source_close(&source);
    else
        ret = take_next(p, &why);
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
        screen_say(p->screen, "%s", error.text);
    p->dropped.path[0] = '\0';
}

/* ---- what the user asks ---- */

/* Where there is no going, that has been said. At its end it runs once there is a frame to begin
 * from. */
static void go_where(Player *p, Intent *intent)
{
    if (!go_to(p, intent->start)) {
        intent->say[0] = '\0';
        return;
    }
    if (!intent->on)
        return;
    p->steps_back = 0;
    pause_playback(p, 0);
}

static void step(Player *p, const Command *command)
{
    if (!p->playback->paused)
        pause_playback(p, 1);
    if (!p->shown->frame)
        return;
    if (!command->arg)
        p->steps++;
    else if (p->playback->pending && p->playback->start.before) /* when that frame is there */
        p->steps_back = command->repeated ? 1 : FFMIN(p->steps_back + 1, MAX_STEPS_BACK);
    else
        step_back(p);
}

/* Frames that are there already are decoded again where they are to be deinterlaced otherwise. */
static void want(Player *p, const Wanted *wanted)
{
    const int decodes_anew = wanted->deinterlace != p->wanted.deinterlace;
    p->wanted = *wanted;
    playback_set_volume(p->playback, wanted->volume, wanted->muted);
    if (!decodes_anew)
        return;
    video_feed_deinterlace(p->playback->feed, wanted->deinterlace);
    if (playback_can_seek(p->playback))
        (void)go_to(p, (FeedStart){.position = from_where(p)});
}

static int select_subtitles(Player *p, const AVStream *track, MediaError *error)
{
    Playback *b = p->playback;
    Look look = p->seen->look;
    b->subtitle = track;
    subtitles_select(p->subtitles, b->source, track);
    for (int i = 0; track && i < b->subtitles.count; i++)
        if (b->subtitles.packets[i]->stream_index == track->index)
            subtitles_packet(p->subtitles, b->subtitles.packets[i]);
    look.subtitles_on = 1;
    return screen_set_look(p->screen, &look, p->shown->frame, error);
}

static void change_setting(Player *p, PlayerSetting setting, const Command *command)
{
    char text[128];
    LumeqParams params;
    const LumeqFrameStats *shown = p->shown->frame ? &p->shown->frame->stats : NULL;
    p->equalizer.change(p->equalizer.opaque, setting, command->arg, shown, &params, text,
                        sizeof(text));
    screen_say(p->screen, "%s", text);
    playback_forget_ahead(p->playback);
    equalize_stage_set(p->stage, &params);
    if (shown && !p->asked_at)
        p->asked_at = command->at;
}

static void record(Player *p)
{
    char text[512] = "Only a camera is recorded";
    if (p->options.record && p->playback->source->camera)
        p->options.record(p->options.opaque, p->playback->source, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

static int carry_out(Player *p, const Command *command, Intent *intent, MediaError *error)
{
    switch (intent->kind) {
    case INTENT_NOTHING: break;
    case INTENT_GO: go_where(p, intent); break;
    case INTENT_PAUSE:
        p->steps = p->steps_back = 0;
        pause_playback(p, intent->on);
        break;
    case INTENT_STEP: step(p, command); break;
    case INTENT_SPEED: playback_set_speed(p->playback, intent->speed, clock_now()); break;
    case INTENT_WANT: want(p, &intent->wanted); break;
    case INTENT_LOOK: return screen_set_look(p->screen, &intent->look, p->shown->frame, error);
    case INTENT_SOUND: playback_select_audio(p->playback, intent->track, from_where(p)); break;
    case INTENT_SUBTITLES: return select_subtitles(p, intent->track, error);
    case INTENT_SETTING: change_setting(p, intent->setting, command); break;
    case INTENT_FULLSCREEN: screen_toggle_fullscreen(p->screen); break;
    case INTENT_SCREENSHOT: screen_shoot(p->screen, p->path, p->shown->position); break;
    case INTENT_RECORD: record(p); break;
    case INTENT_OPEN: start_file(p, command->path); break;
    case INTENT_CLOSE: screen_quit(p->screen, intent->on); p->over = 1;
    }
    return 0;
}

static int follow_command(Player *p, const Command *command, MediaError *error)
{
    const Situation now = situation(p);
    Intent intent = commands_intent(command, &now);
    const int ret = carry_out(p, command, &intent, error);
    if (intent.say[0])
        screen_message(p->screen, intent.say, intent.share);
    screen_touch(p->screen);
    return ret;
}

static int follow_user(Player *p, int64_t now, MediaError *error)
{
    Command command;
    int ret = 0;
    do
        p->controls.can_drag = p->seen->look.compare == PLAYER_COMPARE_SPLIT;
    while (!p->over && controls_next(&p->controls, now, &command) &&
           (ret = follow_command(p, &command, error)) >= 0);
    if (p->dropped.path[0])
        take_file(p);
    screen_show_cursor(p->screen, p->controls.cursor_until, now);
    return ret;
}

/* ---- what is shown ---- */

static void arrive(Player *p)
{
    if (p->playback->start.before)
        say_frame(p);
    if (p->steps_back) {
        p->steps_back--;
        step_back(p);
    }
}

/* Of what is live, the newest frame was the next one. */
static void note_step(Player *p)
{
    if (p->playback->source->live) {
        p->steps = 0;
        return;
    }
    p->steps--;
    say_frame(p);
}

static void end(Player *p)
{
    p->ended = 1;
    p->over = p->playback->source->live || !p->options.keep_open || !p->shown->frame;
    if (p->over)
        return;
    pause_playback(p, 1);
    screen_say(p->screen,
               playback_can_seek(p->playback) ? "The end; Space plays it again" : "The end");
}

static void end_or_loop(Player *p)
{
    Playback *b = p->playback;
    const int is_picture = source_is_still(b->source) && !b->source->live;
    if (p->dropped.playback) /* that is about to take its place */
        return;
    if (is_picture && p->shown->frame) { /* it is to be looked at */
        pause_playback(p, 1);
    } else if (!p->wanted.loop || !playback_can_seek(b) || b->pending) {
        end(p);
    } else {
        p->steps_back = 0;
        go(p, (FeedStart){.position = FFMAX(p->options.from_us, 0)});
    }
}

static int show(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    const int event = showing_run(p->showing, p->playback, p->steps > 0, now, wait, error);
    if (event == SHOWING_ARRIVED)
        arrive(p);
    else if (event == SHOWING_STEPPED)
        note_step(p);
    else if (event == SHOWING_ENDED)
        end_or_loop(p);
    if (!p->shown->count && p->shown->frame)
        screen_fit(p->screen, p->playback->source);
    return FFMIN(event, 0);
}

static void write_statistics(Player *p, int64_t now)
{
    StatusRows rows;
    const Situation is = situation(p);
    status_rows(&is, &rows);
    screen_set_statistics(p->screen, rows.rows, rows.count, now);
}

/* Frames may be seconds apart. */
static int64_t time_of_subtitles(Player *p, int64_t now)
{
    const Playback *b = p->playback;
    if (b->paused || b->pending || !p->shown->frame || !p->seen->look.subtitles_on)
        return p->shown->position;
    return FFMAX(p->shown->position, playback_time(p->playback, now));
}

/* Of several keys that are answered at once, the first has waited longest. */
static void note_response(Player *p, int64_t now)
{
    if (!p->asked_at || equalize_stage_is_behind(p->stage))
        return;
    delay_note(&p->response, now - p->asked_at);
    p->asked_at = 0;
}

static int draw(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    const ScreenContent content = {
        .frame = p->shown->frame,
        .fresh = showing_is_due(p->showing, now),
        .subtitles = p->subtitles,
        .position = time_of_subtitles(p, now),
        .notice = p->camera.notice,
        .recording = p->recording.on ? p->recording.line : NULL,
    };
    if (screen_wants_statistics(p->screen, now))
        write_statistics(p, now);
    const int ret = screen_update(p->screen, &content, now, wait, error);
    if (ret <= 0)
        return ret;
    const int64_t end = clock_now();
    note_response(p, end);
    if (content.fresh) {
        showing_note(p->showing, p->playback, end);
        p->equalizer.shown(p->equalizer.opaque, p->shown->frame,
                           p->seen->upload_us + p->seen->draw_us);
    }
    return 0;
}

/* ---- what comes by itself ---- */

/* Said once for each selection. */
static void note_trouble(Player *p)
{
    const char *trouble = subtitles_trouble(p->subtitles);
    if (trouble && !p->trouble_said)
        p->options.detail(trouble);
    p->trouble_said = trouble != NULL;
}

static void say_trouble(Player *p)
{
    if (!p->playback->trouble[0])
        return;
    p->options.detail(p->playback->trouble);
    screen_say(p->screen, "%s", p->playback->trouble);
    p->playback->trouble[0] = '\0';
}

static int take_subtitles(Player *p, MediaError *error)
{
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    while (demuxer_read(p->playback->demuxer, DEMUX_SUBTITLE, packet, 0) >= 0) {
        packet_store_add(&p->playback->subtitles, packet);
        if (p->playback->subtitle && packet->stream_index == p->playback->subtitle->index)
            subtitles_packet(p->subtitles, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    note_trouble(p);
    return 0;
}

/* While its threads are stopped and started, nothing is to be had of it. */
static int follow_playback(Player *p, MediaError *error)
{
    const int ret = playback_follow(p->playback, error);
    say_trouble(p);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        return ret;
    return p->playback->attached ? take_subtitles(p, error) : 0;
}

static void follow_recording(Player *p)
{
    PlayerRecording *r = &p->recording;
    if (!p->options.recording)
        return;
    *r = (PlayerRecording){0};
    p->options.recording(p->options.opaque, r);
    if (r->message[0])
        screen_say(p->screen, "%s", r->message);
}

/* ---- the loop ---- */

static int turn(Player *p, int64_t *wait, MediaError *error)
{
    const int64_t now = clock_now();
    int ret = follow_user(p, now, error);
    screen_follow(p->screen);
    if (ret >= 0)
        ret = follow_playback(p, error);
    camera_watch(&p->camera, p->playback->source->camera, p->shown->came, now, p->options.note);
    follow_recording(p);
    if (ret >= 0)
        ret = show(p, now, wait, error);
    return ret < 0 ? ret : draw(p, now, wait, error);
}

int player_turn(Player *p, MediaError *error)
{
    int64_t wait = TURN_US;
    const int64_t begin = clock_now(), drawn = p->seen->drawing;
    const int ret = turn(p, &wait, error);
    const int64_t took = clock_now() - begin - (p->seen->drawing - drawn);
    p->longest_turn = FFMAX(p->longest_turn, took);
    if (ret < 0)
        return ret;
    if (p->over)
        return 1;
    if (wait >= 1000)
        (void)SDL_WaitEventTimeout(NULL, (int)(wait / 1000));
    else if (wait > 0)
        SDL_Delay(0);
    return 0;
}

PlayerState player_state(const Player *p)
{
    const double share = 1e-3 / (double)FFMAX(p->shown->measured.totals.count, 1);
    return (PlayerState){
        .position = p->shown->position,
        .duration = playback_duration(p->playback),
        .shown = p->shown->count,
        .dropped = playback_dropped(p->playback),
        .late = p->playback->sync.late,
        .lost = p->camera.lost,
        .paused = p->playback->paused,
        .muted = p->wanted.muted,
        .volume = p->wanted.volume,
        .fullscreen = screen_is_fullscreen(p->screen),
        .loop = p->wanted.loop,
        .speed = p->playback->speed,
        .compare = p->seen->look.compare,
        .histogram = p->seen->look.histogram,
        .log_scale = p->seen->look.log_scale,
        .statistics = p->seen->look.statistics,
        .help = p->seen->look.help,
        .at_end = p->ended && !p->over,
        .seeking = p->playback->pending,
        .changing = equalize_stage_is_behind(p->stage),
        .split = p->seen->look.split,
        .offset = p->shown->measured.offset,
        .screenshots = p->seen->screenshots,
        .equalize_ms = p->shown->measured.totals.run * share,
        .upload_ms = p->shown->measured.totals.upload * share,
        .layers_ms = p->shown->measured.totals.layers * share,
        .draw_ms = p->shown->measured.totals.draw * share,
        .latency_frames = p->shown->measured.totals.latency * share * 1e3,
        .delay_ms = delay_mean(&p->shown->measured.delay),
        .delay_95_ms = delay_share(&p->shown->measured.delay, 0.95),
        .delay_most_ms = (double)p->shown->measured.delay.most * 1e-3,
        .responses = p->response.count,
        .response_ms = delay_mean(&p->response),
        .response_95_ms = delay_share(&p->response, 0.95),
        .response_most_ms = (double)p->response.most * 1e-3,
        .longest_turn_ms = (double)p->longest_turn * 1e-3,
        .rate = p->shown->measured.rate,
        .gone = p->camera.gone,
        .damaged = p->camera.damaged,
        .recording = p->recording.on,
        .mirrored = p->seen->look.mirrored,
        .message = p->seen->message,
    };
}

int player_damage(Player *p, char *text, size_t size)
{
    Playback *b = p->playback;
    playback_stop(b);
    const int64_t sound = b->audio ? audio_damage(b->audio) : 0;
    const int64_t end = video_feed_end(b->feed);
    const ReadPart part = {
        .video_end = end == AV_NOPTS_VALUE ? end : end + source_start(b->source),
        .any_end = demuxer_end(b->demuxer),
        .to_end = p->ended && !video_feed_is_part(b->feed),
    };
    if (damage_describe(b->source, decoder_damage(video_feed_decoder(b->feed)), &part, text, size))
        return 1;
    if (sound > 0)
        snprintf(text, size, "the input is damaged: %lld packets of sound", (long long)sound);
    return sound > 0;
}

int player_has_ended(const Player *p)
{
    return p->ended;
}

uint8_t *player_grab(Player *p, int *width, int *height)
{
    return screen_grab(p->screen, width, height);
}

void player_close(Player **player)
{
    Player *p = *player;
    if (!p)
        return;
    if (p->stage)
        equalize_stage_stop(p->stage);
    showing_free(&p->showing);
    playback_close(&p->dropped.playback);
    playback_close(&p->playback);
    subtitles_close(&p->subtitles);
    screen_close(&p->screen);
    equalize_stage_close(&p->stage); /* whose memory the screen's last frame lay in */
    free(p);
    *player = NULL;
}
