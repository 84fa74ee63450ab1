#include "player/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "media/input/damage.h"
#include "media/input/track_choice.h"
#include "panel/panel_place.h"
#include "player/library_log.h"
#include "player/player_state.h"

/* How long a turn waits at most: the stop flag of the program is looked at between turns. */
#define TURN_US 100000

/* How long the first frame of a file that was dropped is waited for. One that takes longer is given
 * the benefit of the doubt. */
#define FIRST_FRAME_US 3000000

#define USUAL_WIDTH 1280
#define USUAL_HEIGHT 720

int64_t player_now(void)
{
    return clock_now();
}

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

/* ---- text ---- */

static void *load_text(void *arg)
{
    Player *p = arg;
    if (text_open(&p->layers.loader.text) < 0)
        p->layers.loader.text = NULL;
    atomic_store(&p->layers.loader.done, 1);
    wake(p);
    return NULL;
}

/* Once the first frame is on the screen. */
static void start_text(Player *p)
{
    if (p->layers.loader.running || p->layers.text || atomic_load(&p->layers.loader.done))
        return;
    p->layers.loader.running = pthread_create(&p->layers.loader.thread, NULL, load_text, p) == 0;
}

static void finish_text(Player *p)
{
    if (!p->layers.loader.running)
        return;
    pthread_join(p->layers.loader.thread, NULL);
    p->layers.loader.running = 0;
    p->layers.text = p->layers.loader.text;
    osd_set_text(p->layers.osd, p->layers.text);
    osd_show_labels(p->layers.osd, player_now() + OSD_LABELS_US);
    p->dirty = 1;
    if (!p->layers.text)
        p->options.detail("no font was found: the window shows no text");
}

/* ---- opening ---- */

static int open_window(Player *p, const Source *source, MediaError *error)
{
    char why[256];
    WindowOptions options = {
        .title = "lumeq",
        .fullscreen = p->options.fullscreen,
        .lost = p->options.lost,
        .opaque = p->options.opaque,
    };
    track_display_size(source, &options.width, &options.height);
    if (options.width <= 0 || options.height <= 0) {
        options.width = USUAL_WIDTH;
        options.height = USUAL_HEIGHT;
    }
    const int width = options.width, height = options.height;
    if (p->look.histogram == PLAYER_HISTOGRAM_PANEL)
        panel_add_room(&options.width, &options.height);
    if (window_open(&p->window, &options, why, sizeof(why)) < 0 ||
        view_open(&p->view, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_USAGE, "%s; %s or --null works without a window", why,
                          source->camera ? "-o with --frames" : "-o");
    snprintf(p->renderer, sizeof(p->renderer), "%s", view_renderer(p->view));
    p->wake_event = SDL_RegisterEvents(1);
    SDL_StartTextInput();
    screen_fit_window(p, width, height);
    window_show(p->window);
    window_keep_awake(p->window, 1);
    return 0;
}

/* Of a photo, the first frame alone says that it is shown on its side. */
static void fit_window(Player *p)
{
    int width, height, across, down;
    if (p->count || !p->shown.frame)
        return;
    view_picture_size(p->view, VIEW_OUTPUT, &width, &height);
    track_display_size(p->playback->source, &across, &down);
    if (across <= 0 || (width > height) == (across > down))
        return;
    screen_fit_window(p, width, height);
}

/* Without it, planes go through host memory. */
static void open_cuda(Player *p)
{
    char why[256], line[320];
    if (p->equalizer.device < 0)
        return;
    if (view_cuda_open(&p->cuda, p->equalizer.device, why, sizeof(why)) >= 0) {
        view_set_uploader(p->view, view_cuda_uploader(p->cuda));
        snprintf(line, sizeof(line), "equalized luma stays on the GPU");
    } else {
        snprintf(line, sizeof(line), "frames are shown through host memory: %s", why);
    }
    p->options.detail(line);
}

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
    snprintf(p->path, sizeof(p->path), "%s", path);
    playback_equalize(p->playback, p->stage);
    playback_set_volume(p->playback, p->wanted.volume, p->wanted.muted);
    subtitles_select(p->layers.subtitles, p->playback->source, p->playback->subtitle);
    status_title(p);
}

int player_try(Player *p, Source *source, MediaError *error)
{
    p->dropped.since = player_now();
    return open_playback(p, &p->dropped.playback, source, error);
}

void player_drop_next(Player *p)
{
    playback_finish(p->playback, &p->dropped.playback);
}

static int replace_playback(Player *p)
{
    LumeqParams params;
    const int ret = p->options.replace(p->options.opaque, &params);
    if (ret < 0)
        return ret;
    player_drop_shown(p);
    equalize_stage_set(p->stage, &params);
    playback_set_speed(p->dropped.playback, p->playback->speed, player_now());
    playback_finish(p->dropped.playback, &p->playback);
    p->playback = p->dropped.playback;
    p->dropped.playback = NULL;
    p->wanted.steps = p->wanted.steps_back = 0;
    p->options.from_us = p->options.to_us = -1; /* the part was the first one's */
    p->options.keep_open = p->options.keep_dropped;
    p->ended = 0;
    show_playback(p, p->dropped.path);
    return 0;
}

int player_take_next(Player *p, MediaError *error)
{
    int ret = playback_follow(p->dropped.playback, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (ret >= 0)
        ret = playback_look(p->dropped.playback, error);
    if (ret == AVERROR_EOF)
        ret = media_fail(error, MEDIA_INPUT, "no frame of it could be decoded");
    else if (ret == AVERROR(EAGAIN))
        ret = player_now() - p->dropped.since < FIRST_FRAME_US ? ret : 0;
    if (ret >= 0)
        ret = replace_playback(p);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        player_drop_next(p);
    return ret;
}

static void take_options(Player *p)
{
    p->look.compare = p->options.compare;
    p->look.histogram = p->options.histogram;
    p->look.log_scale = p->options.log_scale;
    p->wanted.deinterlace = p->options.deinterlace;
    p->wanted.loop = p->options.loop;
    p->wanted.muted = p->options.mute;
    p->wanted.volume = p->options.volume;
    p->look.mirrored = p->options.mirror;
    p->look.split = 0.5;
    p->look.subtitles_on = 1;
    p->cursor_shown = 1; /* until the first turn */
    p->measured.offset = AV_NOPTS_VALUE;
}

static int open_stage(Player *p, MediaError *error)
{
    EqualizeStageOptions options = p->equalizer.stage;
    options.wake = wake;
    options.wake_opaque = p;
    const int ret = equalize_stage_open(&p->stage, &options, error);
    if (ret >= 0)
        equalize_stage_allow_device(p->stage, p->cuda != NULL);
    return ret;
}

static int open_all(Player *p, Source *source, const char *path, MediaError *error)
{
    p->screenshot = screenshot_create(wake, p);
    if (!p->screenshot || osd_open(&p->layers.osd) < 0 ||
        subtitles_open(&p->layers.subtitles) < 0 || panel_cache_create(&p->layers.panel) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    int ret = open_window(p, source, error);
    if (ret < 0)
        return ret;
    view_set_mirror(p->view, p->look.mirrored);
    open_cuda(p);
    ret = open_stage(p, error);
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
    take_options(p);
    library_log_take(p->options.detail);
    const int ret = open_all(p, source, path, error);
    if (ret < 0)
        player_close(player);
    return ret;
}

/* ---- the loop ---- */

static void take_results(Player *p)
{
    char text[PATH_MAX + 64];
    if (atomic_load(&p->layers.loader.done))
        finish_text(p);
    const int result = screenshot_result(p->screenshot, text, sizeof(text));
    if (result)
        status_say(p, "%s", text);
    p->screenshots += result > 0;
}

/* Said once for each selection. */
static void note_trouble(Player *p)
{
    const char *trouble = subtitles_trouble(p->layers.subtitles);
    if (trouble && !p->layers.trouble_said)
        p->options.detail(trouble);
    p->layers.trouble_said = trouble != NULL;
}

static void say_trouble(Player *p)
{
    if (!p->playback->trouble[0])
        return;
    p->options.detail(p->playback->trouble);
    status_say(p, "%s", p->playback->trouble);
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
            subtitles_packet(p->layers.subtitles, packet);
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

static int turn(Player *p, int64_t *wait, MediaError *error)
{
    const int64_t now = player_now();
    int ret = commands_run(p, now, error);
    take_results(p);
    if (ret >= 0)
        ret = follow_playback(p, error);
    live_follow(p);
    if (ret >= 0)
        ret = showing_run(p, now, wait, error);
    fit_window(p);
    if (ret >= 0)
        ret = screen_update(p, now, wait, error);
    if (ret >= 0 && p->count == 1)
        start_text(p);
    return ret;
}

int player_turn(Player *p, MediaError *error)
{
    int64_t wait = TURN_US;
    const int64_t begin = player_now();
    p->measured.drawing = 0;
    const int ret = turn(p, &wait, error);
    const int64_t took = player_now() - begin - p->measured.drawing;
    p->measured.longest = FFMAX(p->measured.longest, took);
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
    const double share = 1e-3 / (double)FFMAX(p->measured.totals.count, 1);
    return (PlayerState){
        .position = p->shown.position,
        .duration = playback_duration(p->playback),
        .shown = p->count,
        .dropped = playback_dropped(p->playback),
        .late = p->playback->sync.late,
        .lost = live_lost(p),
        .paused = p->playback->paused,
        .muted = p->wanted.muted,
        .volume = p->wanted.volume,
        .fullscreen = window_is_fullscreen(p->window),
        .loop = p->wanted.loop,
        .speed = p->playback->speed,
        .compare = p->look.compare,
        .histogram = p->look.histogram,
        .log_scale = p->look.log_scale,
        .statistics = p->look.statistics,
        .help = p->look.help,
        .at_end = p->ended && !p->over,
        .seeking = p->playback->pending,
        .changing = equalize_stage_is_behind(p->stage),
        .split = p->look.split,
        .offset = p->measured.offset,
        .screenshots = p->screenshots,
        .equalize_ms = p->measured.totals.run * share,
        .upload_ms = p->measured.totals.upload * share,
        .layers_ms = p->measured.totals.layers * share,
        .draw_ms = p->measured.totals.draw * share,
        .latency_frames = p->measured.totals.latency * share * 1e3,
        .delay_ms = delay_mean(&p->measured.delay),
        .delay_95_ms = delay_share(&p->measured.delay, 0.95),
        .delay_most_ms = (double)p->measured.delay.most * 1e-3,
        .responses = p->measured.response.count,
        .response_ms = delay_mean(&p->measured.response),
        .response_95_ms = delay_share(&p->measured.response, 0.95),
        .response_most_ms = (double)p->measured.response.most * 1e-3,
        .longest_turn_ms = (double)p->measured.longest * 1e-3,
        .rate = p->measured.rate,
        .gone = p->live.gone,
        .damaged = p->live.pictures.damaged,
        .recording = p->live.recording.on,
        .mirrored = p->look.mirrored,
        .message = p->message,
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

void player_drop_shown(Player *p)
{
    equalized_frame_free(&p->shown.frame);
    p->shown.drawn = 0;
    if (p->stage)
        equalize_stage_shown(p->stage, NULL);
}

void player_close(Player **player)
{
    Player *p = *player;
    if (!p)
        return;
    if (p->layers.loader.running)
        finish_text(p);
    if (p->stage)
        equalize_stage_stop(p->stage);
    screenshot_free(&p->screenshot);
    player_drop_shown(p);
    playback_close(&p->dropped.playback);
    playback_close(&p->playback);
    subtitles_close(&p->layers.subtitles);
    osd_close(&p->layers.osd);
    text_close(&p->layers.text);
    panel_cache_free(&p->layers.panel);
    view_close(&p->view);
    view_cuda_close(&p->cuda);
    equalize_stage_close(&p->stage); /* whose memory the view's last frame lay in */
    window_close(&p->window);
    free(p);
    *player = NULL;
}
