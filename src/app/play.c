#include "app/play.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/decision.h"
#include "app/engine.h"
#include "app/headless.h"
#include "app/options/option_inputs.h"
#include "app/stats.h"
#include "app/terminal.h"
#include "app/window_recording.h"
#include "media/input/url.h"
#include "media/output/temp_file.h"
#include "pipeline/equalizer_frame.h"
#include "player/clock.h"

/* What a key changes a setting by. Clip limits go in steps of a ratio: from 1 they are felt so. */
#define STRENGTH_STEP 0.05
#define SMOOTH_STEP 0.1
#define CLIP_RATIO 1.125
#define BRIGHTNESS_STEP 0.05
#define GAMMA_RATIO 1.1
#define USUAL_CLIP 3.0 /* to begin with, where the limit was left to the library */

struct Play {
    const Options *options;
    atomic_int *stop;
    Engine engine;
    LumeqParams usual, params; /* what the options and the input ask for, and what is set now */
    LumeqParams next;          /* the usual ones of an input that was opened, but not taken yet */
    int off;                   /* not 0: the equalizer was switched off by its key */
    StatsFile *rows;
    int64_t row;
    int64_t begin; /* when it was opened */
    WindowRecording recording;
    SourceOpening *opening; /* of a further file, or NULL */
    Player *player;
};

/* ---- one frame ---- */

static int is_recorded(void *opaque)
{
    return window_recording_takes_frames(&((Play *)opaque)->recording);
}

static void record(void *opaque, const AVFrame *frame, const LumeqFrameStats *stats)
{
    window_recording_frame(&((Play *)opaque)->recording, frame, stats);
}

static const char *where(void *opaque, int lost)
{
    return engine_where(&((Play *)opaque)->engine, lost);
}

static void decided(void *opaque, const EqualizedFrame *frame, char *text, size_t size)
{
    const AVFrame *in = frame->decoded.frame;
    const Decision decision =
        decision_find(&frame->stats, &((Play *)opaque)->params, equalizer_depth(in),
                      frame->out->color_range == AVCOL_RANGE_JPEG);
    decision_text(&decision, "2", text, size);
}

static void shown(void *opaque, const EqualizedFrame *frame, double us)
{
    Play *p = opaque;
    const AVFrame *in = frame->decoded.frame;
    const StatsRow row = {
        .frame = p->row++,
        .pts = in->pts,
        .time = (double)in->pts * av_q2d(in->time_base),
        .stats = &frame->stats,
        .depth = equalizer_depth(in),
        .decode_us = frame->decoded.decode_us,
        .sink_us = us,
    };
    if (row.frame == 0)
        say(SAY_DETAILS, "the first frame is on the screen after %lld ms",
            (long long)(clock_now() - p->begin) / 1000);
    stats_write(p->rows, &row);
}

/* ---- settings ---- */

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Steps stay on round numbers. */
static double stepped(double value, int step, double size)
{
    return (round(value / size) + step) * size;
}

/* 0, no limit, lies beyond the highest one; what is left to the library is somewhere about 3. */
static double stepped_clip(double clip, int step)
{
    const double highest = 100;
    const double now = clip == 0                 ? highest * CLIP_RATIO
                       : clip == LUMEQ_CLIP_AUTO ? USUAL_CLIP
                                                 : clip;
    const double next = fmax(1, now * pow(CLIP_RATIO, step));
    return next > highest ? 0 : round(next * 100) / 100;
}

static double stepped_gamma(double gamma, int step)
{
    const double steps = round(log(gamma) / log(GAMMA_RATIO)) + step;
    const double next = round(pow(GAMMA_RATIO, steps) * 100) / 100;
    return clamp(next, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA);
}

static void say_setting(const Play *p, PlayerSetting setting, char *text, size_t size)
{
    const LumeqParams *params = &p->params;
    switch (setting) {
    case PLAYER_ON_OFF:
        snprintf(text, size, "Equalizer: %s", params->mode == LUMEQ_MODE_OFF ? "off" : "on");
        break;
    case PLAYER_STRENGTH: snprintf(text, size, "Strength: %.2f", params->strength); break;
    case PLAYER_CLIP:
        if (params->clip == LUMEQ_CLIP_AUTO)
            snprintf(text, size, "Clip limit: auto");
        else if (params->clip == 0)
            snprintf(text, size, "Clip limit: none");
        else
            snprintf(text, size, "Clip limit: %.2f", params->clip);
        break;
    case PLAYER_SMOOTH: snprintf(text, size, "Smoothing: %.1f s", params->smooth); break;
    case PLAYER_BRIGHTNESS: snprintf(text, size, "Brightness: %.2f", params->brightness); break;
    case PLAYER_GAMMA: snprintf(text, size, "Gamma: %.2f", params->gamma); break;
    case PLAYER_RESET: snprintf(text, size, "Settings reset"); break;
    }
}

static void change(void *opaque, PlayerSetting setting, int step, const LumeqFrameStats *seen,
                   LumeqParams *changed, char *text, size_t size)
{
    Play *p = opaque;
    LumeqParams *params = &p->params;
    switch (setting) {
    case PLAYER_ON_OFF: p->off = !p->off; break;
    case PLAYER_STRENGTH:
        if ((params->adaptive || params->lift) && !p->off && seen) /* from what is seen */
            params->strength = seen->strength;
        params->adaptive = params->lift = 0;
        params->strength = clamp(stepped(params->strength, step, STRENGTH_STEP), 0, 1);
        break;
    case PLAYER_CLIP: params->clip = stepped_clip(params->clip, step); break;
    case PLAYER_SMOOTH:
        params->smooth = clamp(stepped(params->smooth, step, SMOOTH_STEP), 0, 60);
        break;
    case PLAYER_BRIGHTNESS:
        params->brightness = clamp(stepped(params->brightness, step, BRIGHTNESS_STEP), -1, 1);
        break;
    case PLAYER_GAMMA: params->gamma = stepped_gamma(params->gamma, step); break;
    case PLAYER_RESET:
        *params = p->usual;
        p->off = params->mode == LUMEQ_MODE_OFF;
        break;
    }
    params->mode = p->usual.mode == LUMEQ_MODE_OFF ? LUMEQ_MODE_GLOBAL : p->usual.mode;
    if (p->off)
        params->mode = LUMEQ_MODE_OFF;
    *changed = *params;
    say_setting(p, setting, text, size);
}

/* ---- the recording ---- */

static void toggle_recording(void *opaque, const Source *source, char *text, size_t size)
{
    window_recording_toggle(&((Play *)opaque)->recording, source, text, size);
}

static void follow_recording(void *opaque, PlayerRecording *to)
{
    window_recording_follow(&((Play *)opaque)->recording, to);
}

static void take_packet(void *opaque, const AVPacket *packet)
{
    window_recording_packet(&((Play *)opaque)->recording, packet);
}

/* ---- opening and closing ---- */

static int start_opening(void *opaque, const char *path, MediaError *error)
{
    Play *p = opaque;
    source_opening_cancel(&p->opening, 0);
    return engine_start_opening(&p->opening, p->options, path, p->stop, error);
}

static int take_opened(void *opaque, Source **source, MediaError *error)
{
    Play *p = opaque;
    int ret = source_opening_take(&p->opening, 0, source, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (ret >= 0)
        ret = engine_params(&p->next, p->options, *source, 1, error);
    if (ret < 0)
        source_close(source);
    return ret;
}

/* What keys have set stays for a further input; the strength, where it is the usual one, is its. */
static int replace_source(void *opaque, LumeqParams *params)
{
    Play *p = opaque;
    if (!window_recording_let_go(&p->recording))
        return AVERROR(EAGAIN);
    if (p->params.strength == p->usual.strength && p->params.adaptive == p->usual.adaptive)
        p->params.strength = p->next.strength;
    if (p->params.lift == p->usual.lift)
        p->params.lift = p->next.lift;
    p->usual = p->next;
    *params = p->params;
    return 0;
}

/* Answers 0 or the fault, which has been said. */
static int end_rows(Play *p, int interrupted)
{
    stats_flush(p->rows);
    const int fault = stats_commit(p->rows, interrupted);
    if (interrupted && stats_name(p->rows))
        say(SAY_ERRORS, "interrupted; the statistics are in %s", media_quote(stats_name(p->rows)));
    return fault;
}

/* Anything else would only wait for the display. */
static void lose_display(void *opaque)
{
    Play *p = opaque;
    const int interrupted = atomic_load(p->stop) == RUN_INTERRUPTED;
    (void)window_recording_end(&p->recording, interrupted);
    (void)end_rows(p, interrupted);
    say(SAY_ERRORS, "the display is gone");
    temp_file_remove_all(NULL);
    _exit(interrupted ? EXIT_INTERRUPTED : EXIT_OUTPUT);
}

static int open_rows(Play *p, const Source *source, MediaError *error)
{
    const Options *o = p->options;
    return o->stats ? stats_open(&p->rows, o->stats, o->overwrite, &source->file, error) : 0;
}

/* At the start, not when the picture that was worth one has gone. */
static int check_screenshot_dir(const char *folder, MediaError *error)
{
    struct stat there;
    if (!folder)
        return 0;
    if (stat(folder, &there) >= 0 && !S_ISDIR(there.st_mode))
        errno = ENOTDIR;
    else if (access(folder, W_OK | X_OK) >= 0)
        return 0;
    return media_fail(error, MEDIA_OUTPUT, "cannot write screenshots into the folder %s: %s",
                      media_quote(folder), strerror(errno));
}

/* A person started it: programs that play a file, and wait for it to end, give it a pipe or a file
 * for at least one of the two. */
static int is_by_hand(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static int open_player(Play *p, Source *source, MediaError *error)
{
    static const int ranges[] = {AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG};
    static const DeinterlaceMode deinterlace[] = {DEINTERLACE_AUTO, DEINTERLACE_ON,
                                                  DEINTERLACE_OFF};
    const Options *o = p->options;
    const int is_auto = o->keep_open == OPTIONS_KEEP_OPEN_AUTO;
    const PlayerOptions options = {
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = o->frames,
        .range = ranges[o->range],
        .threads = (int)o->threads,
        .audio_track = (int)o->audio_track + 1,
        .sub_track = o->no_subs ? -1 : (int)o->sub_track + 1,
        .no_audio = o->no_audio,
        .mute = o->mute,
        .volume = (int)o->volume,
        .speed = o->speed,
        .loop = o->loop,
        .fullscreen = o->fullscreen,
        .mirror = o->mirror,
        .compare = (PlayerCompare)o->compare,
        .histogram = (PlayerHistogram)o->histogram,
        .log_scale = o->hist_scale,
        .deinterlace = deinterlace[o->deinterlace],
        .keep_open = o->keep_open == OPTIONS_KEEP_OPEN_YES || (is_auto && is_by_hand()),
        .keep_dropped = o->keep_open == OPTIONS_KEEP_OPEN_YES || is_auto,
        .screenshot_dir = o->screenshot_dir,
        .open = start_opening,
        .opened = take_opened,
        .replace = replace_source,
        .record = toggle_recording,
        .recording = follow_recording,
        .packet = take_packet,
        .lost = lose_display,
        .opaque = p,
        .note = say_line,
        .detail = say_detail,
    };
    const PlayerEqualizer equalizer = {
        .opaque = p,
        .stage = {.equalizer = p->engine.equalizer,
                  .params = p->params,
                  .memory = p->engine.memory,
                  .wants = is_recorded,
                  .take = record,
                  .opaque = p,
                  .note = say_line},
        .device = strcmp(p->engine.backend, "cuda") == 0 ? (int)o->device : -1,
        .change = change,
        .where = where,
        .decided = decided,
        .shown = shown,
    };
    char name[256];
    if (option_inputs_is_url(o))
        url_file_name(o->input, name, sizeof(name));
    const char *path = option_inputs_is_url(o) ? name : o->input ? o->input : "camera";
    return player_open(&p->player, &options, &equalizer, source, path, error);
}

int play_open(Play **play, const Options *options, atomic_int *stop, MediaError *error)
{
    Play *p = calloc(1, sizeof(*p));
    Source *source = NULL;
    *play = p;
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = options;
    p->stop = stop;
    p->begin = clock_now();
    int ret = check_screenshot_dir(options->screenshot_dir, error);
    if (ret >= 0)
        ret = window_recording_open(&p->recording, options, stop, error);
    if (ret >= 0)
        ret = engine_open_source(&source, options, options->input, stop, error);
    if (ret >= 0)
        ret = window_recording_start(&p->recording, source, error);
    if (ret >= 0)
        ret = engine_params(&p->usual, options, source, 1, error);
    p->params = p->usual;
    p->off = p->params.mode == LUMEQ_MODE_OFF;
    if (ret >= 0)
        ret = open_rows(p, source, error);
    if (ret >= 0)
        ret = engine_open(&p->engine, options, 1, error);
    if (ret >= 0 && lumeq_set_params(p->engine.equalizer, &p->params) < 0)
        ret = media_fail(error, MEDIA_USAGE, "%s", lumeq_last_error(p->engine.equalizer));
    if (ret >= 0)
        ret = open_player(p, source, error);
    if (ret < 0) {
        (void)window_recording_end(&p->recording, 0); /* its thread may look at the source */
        source_close(&source);
        play_close(play);
    }
    return ret;
}

Player *play_player(Play *p)
{
    return p->player;
}

int play_turn(Play *p, MediaError *error)
{
    return player_turn(p->player, error);
}

void play_close(Play **play)
{
    Play *p = *play;
    if (!p)
        return;
    source_opening_cancel(&p->opening, 1);
    (void)window_recording_end(&p->recording, 0); /* before its source is closed */
    player_close(&p->player);
    window_recording_close(&p->recording);
    stats_close(&p->rows);
    engine_close(&p->engine);
    free(p);
    *play = NULL;
}

/* What follows the last frame. Answers the exit code. */
static int finish(Play *p)
{
    char damage[512], lost[64] = "";
    const PlayerState state = player_state(p->player);
    if (state.lost)
        snprintf(lost, sizeof(lost), ", %lld lost in the camera", (long long)state.lost);
    say(SAY_DETAILS, "%lld frame%s shown, %lld dropped, %lld late%s", (long long)state.shown,
        state.shown == 1 ? "" : "s", (long long)state.dropped, (long long)state.late, lost);
    say(SAY_DETAILS,
        "a frame took %.2f ms to be equalized, %.2f ms to be uploaded, %.2f ms for panel and text, "
        "%.2f ms to be drawn, and was seen %.1f frames after it was decoded",
        state.equalize_ms, state.upload_ms, state.layers_ms, state.draw_ms, state.latency_frames);
    if (state.delay_ms > 0)
        say(SAY_DETAILS,
            "from the capture to the screen it took %.1f ms, for 95 %% of the frames at most %.0f "
            "ms, for all at most %.1f ms",
            state.delay_ms, state.delay_95_ms, state.delay_most_ms);
    say(SAY_DETAILS,
        "a turn of the window's loop took at most %.1f ms, without uploading, drawing and the wait "
        "for the screen",
        state.longest_turn_ms);
    if (state.responses)
        say(SAY_DETAILS,
            "%lld changed settings were seen after %.1f ms, 95 %% within %.0f ms, all within %.1f "
            "ms",
            (long long)state.responses, state.response_ms, state.response_95_ms,
            state.response_most_ms);
    if (!player_damage(p->player, damage, sizeof(damage)))
        return EXIT_DONE;
    say(SAY_WARNINGS, "%s", damage);
    return player_has_ended(p->player) ? EXIT_DAMAGED : EXIT_DONE;
}

int play_run(const Options *options, atomic_int *stop)
{
    Play *play;
    MediaError error = {0};
    int ret = play_open(&play, options, stop, &error);
    while (ret == 0 && atomic_load(stop) == RUN_ON)
        ret = play_turn(play, &error);
    int code = EXIT_INTERRUPTED, on = RUN_ON;
    const int interrupted = atomic_load(stop) == RUN_INTERRUPTED;
    int unwritten = play ? window_recording_end(&play->recording, interrupted) : 0;
    atomic_compare_exchange_strong(stop, &on, RUN_OVER); /* not before: it cuts off a pipe */
    if (ret >= 0) {
        const int fault = end_rows(play, interrupted);
        unwritten = unwritten ? unwritten : fault;
    }
    if (!interrupted)
        code = ret < 0 ? -error.fault : finish(play);
    if (error.fault)
        say(SAY_ERRORS, "%s", error.text);
    if (unwritten && (code == EXIT_DONE || code == EXIT_DAMAGED))
        code = -unwritten;
    play_close(&play);
    return code;
}
