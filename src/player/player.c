#include "player/player.h"

#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/actions.h"
#include "player/controls.h"
#include "player/playlist.h"
#include "player/start_window.h"
#include "player/status.h"

/* Maximum wait in a turn of the loop. The program's stop flag is checked between turns. */
#define TURN_US 100000

/* Maximum subtitle packets per turn. A file may have 100,000 packets at one position. */
#define SUBTITLES_A_TURN 256

/* Subtitles follow the current frame. If frames are late, subtitles stay at most this far behind
 * the clock. */
#define SUBTITLES_BEHIND_US 50000

/* Open the next file this long before the current file ends, to leave no gap. */
#define AHEAD_US 5000000

static ControlsTarget target(const void *opaque, int x, int y)
{
    return screen_target(((const Player *)opaque)->screen, x, y);
}

static int open_all(Player *p, Source *source, const char *path, MediaError *error)
{
    EqualizeStageOptions stage = p->options.stage;
    stage.wake = window_wake;
    p->pointed = -1;
    p->subtitles = subtitle_thread_create(window_wake, NULL);
    if (!p->subtitles)
        return media_fail(error, MEDIA_INPUT, "cannot start a thread to draw subtitles");
    if (p->options.start) {
        p->screen = *start_window_screen(p->options.start);
        *start_window_screen(p->options.start) = NULL;
    }
    if (p->screen)
        screen_adopt(p->screen, &p->options, source);
    else if (screen_open(&p->screen, &p->options, controls_help, source, error) < 0)
        return error->fault;
    p->seen = screen_state(p->screen);
    p->controls = (Controls){.target = target, .opaque = p};
    int ret = equalize_stage_open(&p->stage, &stage, error);
    if (ret < 0)
        return ret;
    equalize_stage_allow_device(p->stage, screen_takes_device(p->screen));
    p->showing = showing_create(p->stage, p->screen);
    if (!p->showing)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->shown = showing_shown(p->showing);
    ret = playlist_open(p, source, path, error);
    if (ret >= 0 && p->options.greeting)
        screen_say(p->screen, "%s", p->options.greeting);
    return ret;
}

int player_open(Player **player, const PlayerOptions *options, Source *source, const char *path,
                MediaError *error)
{
    Player *p = calloc(1, sizeof(*p));
    *player = p;
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    p->host = &p->options.host;
    p->wanted.from = p->wanted.to = -1;
    p->files = p->dropped = (FileList){.at = -1};
    if (options->files) {
        p->files = *options->files;
        *options->files = (FileList){.at = -1};
    }
    p->dropped.round = p->files.round;
    p->options.files = NULL;
    window_silence_libraries();
    const int ret = open_all(p, source, path, error);
    if (ret >= 0)
        return ret;
    if (options->files) { /* so that the caller can try again */
        *options->files = p->files;
        p->files = (FileList){0};
    }
    player_close(player);
    return ret;
}

static int handle_user(Player *p, int64_t now, MediaError *error)
{
    while (!p->failed.fault && !p->over && controls_next(&p->controls, now, &p->command)) {
        if (p->command.act)
            p->command.act(p);
        p->controls.settings = p->seen->look.settings;
        screen_touch(p->screen);
    }
    const char *chosen = file_dialog_take(&p->dialog);
    if (chosen)
        playlist_drop(p, chosen, 0);
    if (p->next.path[0])
        playlist_poll(p);
    screen_show_cursor(p->screen, p->controls.cursor_until, now);
    if (p->failed.fault)
        *error = p->failed;
    return p->failed.fault;
}

static void end(Player *p)
{
    p->ended = 1;
    const int keeps_open = p->options.keep_open || p->writing.on;
    p->over = played(p)->source->live || !keeps_open || !p->shown->frame;
    if (p->over)
        return;
    player_pause(p, 1);
    screen_warn(p->screen,
                playback_can_seek(p->playback) ? "End; press Space to play again" : "End");
}

static bool repeats(const Player *p)
{
    return p->wanted.from >= 0 && p->wanted.to >= 0;
}

static void restart(Player *p)
{
    p->steps_back = 0;
    player_seek(
        p, (InputStart){.position = repeats(p) ? p->wanted.from : FFMAX(p->options.from_us, 0)});
}

static bool will_repeat(const Player *p)
{
    return (p->options.loop || repeats(p)) && playback_can_seek(p->playback) && !played(p)->pending;
}

static void handle_end(Player *p)
{
    const PlaybackState *b = played(p);
    const int is_picture = source_is_still(b->source) && !b->source->live;
    const int at = playlist_following(p);
    if (p->next.playback && !p->next.waits) /* the next file is about to start */
        return;
    if (is_picture && p->shown->frame) /* a still image stays visible */
        player_pause(p, 1);
    else if (will_repeat(p))
        restart(p);
    else if (p->next.path[0])
        p->next.waits = 0;
    else if (at >= 0)
        playlist_start(p, at, 1, 0);
    else if (p->files.round && playback_can_seek(p->playback) && !b->pending) /* no other file */
        restart(p);
    else
        end(p);
}

static void open_next_early(Player *p)
{
    const PlaybackState *b = played(p);
    const int64_t duration = playback_duration(p->playback), to = p->options.to_us;
    const int64_t end = to >= 0 && (!duration || to < duration) ? to : duration;
    const int is_near = end > 0 && p->shown->position > end - AHEAD_US;
    if (p->next.path[0] || b->source->live || b->pending || !p->shown->frame || will_repeat(p) ||
        source_is_still(b->source) || !(is_near || b->ended))
        return;
    const int at = playlist_following(p);
    if (at >= 0)
        playlist_start(p, at, 1, 1);
}

/* Repeats the marked section. Seeking past its end leaves the loop. */
static void repeat(Player *p)
{
    const int64_t end = p->shown->position + p->shown->duration;
    const int is_inside = p->shown->position >= p->wanted.from && p->shown->position < p->wanted.to;
    if (!repeats(p) || played(p)->pending || played(p)->paused) {
        p->inside = 0;
        return;
    }
    if (end >= p->wanted.to && (is_inside || p->inside)) {
        restart(p);
        p->inside = 0;
    } else {
        p->inside = is_inside;
    }
}

/* Seeks to the current position, so that frames lost with the GPU are decoded again. */
static void continue_in_software(Player *p)
{
    const PlaybackState *b = played(p);
    InputStart start = b->start;
    if (!b->pending)
        start = (InputStart){.position = p->shown->position};
    if (!b->pending && !b->paused && p->shown->drawn)
        start.position += p->shown->duration;
    start.position = FFMAX(start.position, 0); /* AV_NOPTS_VALUE would not seek */
    p->host->note("the GPU was lost: decoding continues in software");
    player_seek(p, start);
}

static int show(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    const int event = showing_run(p->showing, p->playback, p->steps > 0, now, wait, error);
    const PlaybackState *b = played(p);
    if (event == MEDIA_LOST) {
        continue_in_software(p);
        *error = (MediaError){0};
        return 0;
    }
    if (event == SHOWING_ENDED && !p->shown->frame && !b->source->live && !playlist_is_part(p))
        return media_fail(error, MEDIA_INPUT, "no frame of %s could be decoded",
                          media_quote(p->path));
    if (event == SHOWING_ARRIVED) {
        if (b->start.before)
            player_say_frame(p);
        if (p->steps_back) {
            p->steps_back--;
            player_step_back(p);
        }
    } else if (event == SHOWING_STEPPED && b->source->live) {
        p->steps = 0; /* live video has no frame after the newest one */
    } else if (event == SHOWING_STEPPED) {
        p->steps--;
        player_say_frame(p);
    } else if (event == SHOWING_ENDED) {
        handle_end(p);
    }
    repeat(p);
    open_next_early(p);
    if (!p->shown->count && p->shown->frame)
        screen_fit(p->screen, played(p)->source);
    return FFMIN(event, 0);
}

static int draw(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    char words[256] = "";
    OsdSettings settings = {0};
    const PlaybackState *b = played(p);
    int64_t position = p->shown->position; /* for the subtitles */
    if (!b->paused && !b->pending && p->shown->frame && p->seen->look.subtitles_on)
        position = FFMAX(position, playback_time(p->playback, now) - SUBTITLES_BEHIND_US);
    const int64_t late = p->wanted.subtitle_delay;
    if (p->shown->frame)
        p->host->decided(p->host->opaque, p->shown->frame, words, sizeof(words));
    const ScreenContent content = {
        .frame = p->shown->frame,
        .words = words,
        .fresh = showing_is_due(p->showing, now),
        .subtitles = p->subtitles,
        .position = position - late,
        .next_position = played(p)->ahead && !played(p)->pending
                             ? playback_next(p->playback)->decoded.position - late
                             : AV_NOPTS_VALUE,
        .notice = source_is_lost(played(p)->source) ? "connection lost, waiting"
                  : p->writing.on                   ? p->writing.line
                                                    : p->camera.notice,
        .recording = p->recording.on ? p->recording.line : NULL,
        .recording_level = p->recording.level,
        .bar = &p->bar,
        .settings = &settings,
    };
    if (screen_wants_statistics(p->screen, now)) {
        StatusRows rows;
        status_rows(p, &rows);
        screen_set_statistics(p->screen, rows.rows, rows.count, now);
    }
    if (p->seen->look.settings) {
        p->host->list_settings(p->host->opaque, &settings);
        settings.chosen = p->seen->look.chosen;
    }
    for (int i = 0; i < settings.count; i++)
        settings.rows[i].about = status_setting((PlayerSetting)i);
    const int64_t second = player_position(p) / 1000000;
    if (second != p->titled) {
        p->titled = second;
        playlist_set_title(p);
    }
    status_bar(p, &p->bar);
    const int ret = screen_update(p->screen, &content, now, wait, error);
    if (ret <= 0)
        return ret;
    if (content.fresh) {
        showing_mark_drawn(p->showing, p->playback, clock_now());
        p->host->shown(p->host->opaque, p->shown->frame, p->seen->upload_us + p->seen->draw_us);
    }
    return 0;
}

/* Passes packets to the subtitle thread, first the stored packets of a newly selected track. */
static int take_subtitles(Player *p, int64_t *wait, MediaError *error)
{
    int count = 0;
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const PlaybackState *b = played(p);
    const AVStream *shown = b->subtitle;
    for (; count < SUBTITLES_A_TURN && !subtitle_thread_is_full(p->subtitles); count++) {
        const int is_stored = p->kept < p->kept_end;
        const int ret =
            is_stored ? av_packet_ref(packet, playback_subtitles(p->playback)->packets[p->kept++])
                      : playback_read_subtitle(p->playback, packet);
        if (ret < 0)
            break;
        if (shown && (b->file ? is_stored : packet->stream_index == shown->index))
            subtitle_thread_packet(p->subtitles, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    if (count == SUBTITLES_A_TURN)
        *wait = 0;
    const char *trouble = subtitle_thread_trouble(p->subtitles);
    if (trouble && !p->trouble_said) { /* once per selected track */
        p->host->note(trouble);
        screen_say(p->screen, "%s", trouble);
    }
    p->trouble_said = trouble != NULL;
    return 0;
}

void player_set_status(Player *p, const PlayerRecording *recording, const PlayerWriting *writing)
{
    p->recording = *recording;
    p->writing = *writing;
    if (recording->message[0])
        screen_say(p->screen, "%s", recording->message);
    if (writing->message[0])
        screen_say(p->screen, "%s", writing->message);
}

static int play(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    char text[320];
    if (p->broken.fault)
        return p->next.path[0] ? 0 : media_fail(error, p->broken.fault, "%s", p->broken.text);
    int ret = playback_poll(p->playback, error);
    if (playback_take_trouble(p->playback, text, sizeof(text))) {
        p->host->detail(text);
        screen_say(p->screen, "%s", text);
    }
    if (playback_take_file(p->playback))
        act_last_subtitles(p);
    if (ret == AVERROR(EAGAIN)) /* the playback's threads are restarting */
        ret = 0;
    if (ret >= 0 && played(p)->attached)
        ret = take_subtitles(p, wait, error);
    camera_watch(&p->camera, played(p)->source->camera, p->shown->came, now, p->host->note);
    if (ret >= 0)
        ret = show(p, now, wait, error);
    const int at = playlist_following(p);
    if (ret >= 0 || error->fault != MEDIA_INPUT || at < 0)
        return FFMIN(ret, 0);
    /* in a list, report the error and go on with the next file */
    p->broken = *error;
    *error = (MediaError){0};
    playlist_say_failed(p, p->broken.text);
    p->files.entries[p->files.at].failed = 1;
    playlist_change(p, at, 1);
    return 0;
}

int player_turn(Player *p, MediaError *error)
{
    int64_t wait = TURN_US;
    const int64_t now = clock_now();
    int ret = handle_user(p, now, error);
    screen_poll_screenshot(p->screen);
    if (ret >= 0)
        ret = play(p, now, &wait, error);
    if (ret >= 0)
        ret = draw(p, now, &wait, error);
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
    int width, height;
    screen_own_size(p->screen, &width, &height);
    const Timings *t = &p->shown->measured.timings;
    const double frame = (double)p->shown->duration / played(p)->speed;
    return (PlayerState){
        .position = p->shown->position,
        .duration = playback_duration(p->playback),
        .shown = p->shown->count,
        .dropped = playback_dropped(p->playback),
        .late = playback_late(p->playback),
        .lost = p->camera.lost,
        .paused = played(p)->paused,
        .on_gpu = p->shown->frame && gpu_frame_is(p->shown->frame->decoded.frame),
        .muted = p->options.mute,
        .volume = p->options.volume,
        .fullscreen = window_is_fullscreen(p->seen->window),
        .width = width,
        .height = height,
        .loop = p->options.loop,
        .speed = played(p)->speed,
        .look = p->seen->look,
        .ended = p->ended,
        .at_end = p->ended && !p->over,
        .seeking = played(p)->pending,
        .changing = equalize_stage_is_behind(p->stage),
        .offset = p->shown->measured.offset,
        .screenshots = p->seen->screenshots,
        .equalize_ms = t->run * 1e-3,
        .upload_ms = t->upload * 1e-3,
        .layers_ms = t->layers * 1e-3,
        .draw_ms = t->draw * 1e-3,
        .latency_frames = frame > 0 ? t->latency / frame : 0,
        .delay_ms = delay_mean(&p->shown->measured.delay),
        .delay_95_ms = delay_share(&p->shown->measured.delay, 0.95),
        .delay_most_ms = (double)p->shown->measured.delay.most * 1e-3,
        .gone = p->camera.gone || source_is_lost(played(p)->source),
        .damaged = p->camera.damaged,
        .recording = p->recording.on,
        .message = p->seen->message,
        .file = p->files.at + 1,
        .files = p->files.count,
    };
}

int player_damage(Player *p, char *text, size_t size)
{
    return playback_damage(p->playback, p->ended, equalize_stage_lost(p->stage), text, size);
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
    if (p->playback)
        playlist_note_position(p);
    if (p->stage)
        equalize_stage_stop(p->stage);
    file_dialog_close(&p->dialog);
    showing_free(&p->showing);
    playback_close(&p->next.playback);
    playback_close(&p->playback);
    subtitle_thread_free(&p->subtitles);
    screen_close(&p->screen);
    file_list_clear(&p->files);
    file_list_clear(&p->dropped);
    equalize_stage_close(&p->stage); /* last, because the stage owns the frames' GPU memory */
    free(p);
    *player = NULL;
}
