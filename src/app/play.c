#include "app/play.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/decision.h"
#include "app/engine.h"
#include "app/headless.h"
#include "app/options/options.h"
#include "app/recording.h"
#include "app/remembered.h"
#include "app/setup.h"
#include "app/stats.h"
#include "app/terminal.h"
#include "app/virtual_camera.h"
#include "app/window_settings.h"
#include "app/window_writing.h"
#include "job/folder_walk.h"
#include "media/error.h"
#include "media/output/container.h"
#include "media/output/output_file.h"
#include "media/picture_pattern.h"
#include "player/clock.h"
#include "player/start_window.h"
#include "run/equalizer_frame.h"

/* ---- the window before a file is chosen ---- */

/* Exits at once, since SDL would wait for the lost display. */
static void lose_start_window(void *opaque)
{
    (void)opaque;
    say(SAY_ERRORS, "the display was lost");
    _exit(EXIT_OUTPUT);
}

/* Opens the window if *window is NULL. Shows `message` ("": none) until the user chooses a file
 * that can be opened, or several files. Returns 1 with the files, 0 if the window was closed or the
 * run stopped, MEDIA_USAGE (no display) or MEDIA_INPUT. */
static int start_choose(StartWindow **window, const Options *o, atomic_int *stop,
                        const char *message, FileList *files, MediaError *error)
{
    const PlayerOptions options = {
        .osd_scale = o->osd_scale,
        .fullscreen = o->fullscreen,
        .host = {.note = say_line, .detail = say_detail, .lost = lose_start_window},
    };
    SourceOpening *opening = NULL;
    int ret = *window ? 0 : start_window_open(window, &options, error), is_chosen = 0;
    if (ret < 0)
        return ret;
    start_window_say(*window, message);
    while (!is_chosen && ret == 0 && atomic_load(stop) == RUN_ON) {
        MediaError why = {0};
        Source *source = NULL;
        struct stat there;
        char line[512];
        ret = start_window_turn(*window, error);
        if (ret == 0 && start_window_take(*window, files)) {
            const char *path = files->entries[0].path;
            source_opening_cancel(&opening, 0);
            /* Several files, or the videos of a folder, are opened only when they play. */
            is_chosen = files->count > 1 || (stat(path, &there) == 0 && S_ISDIR(there.st_mode));
            snprintf(line, sizeof(line), "Opening %.480s", files->entries[0].name);
            if (!is_chosen)
                start_window_say(*window, setup_start_opening(&opening, o, path, stop, &why) < 0
                                              ? why.text
                                              : line);
        }
        if (ret < 0 || is_chosen || !opening)
            continue;
        const int opened = source_opening_take(&opening, 0, &source, &why);
        source_close(&source);
        is_chosen = opened >= 0;
        if (opened < 0 && opened != AVERROR(EAGAIN)) {
            say(SAY_ERRORS, "%s", why.text);
            start_window_say(*window, why.text);
        }
    }
    source_opening_cancel(&opening, 1);
    return ret < 0 ? ret : is_chosen;
}

struct Play {
    const Options *options;
    atomic_int *stop;
    Engine engine;
    WindowSettings settings;
    OptionsInput next_input; /* of an opened input that is not played yet */
    StatsFile *rows;
    int64_t row;
    int64_t begin; /* clock_now() at play_open() */
    WindowRecording recording;
    WindowWriting writing;
    Remembered *remembered; /* or NULL */
    VirtualCamera *virtual;
    atomic_int live;        /* the input is live */
    int next_live;          /* `live` of an opened input that is not played yet */
    SourceOpening *opening; /* of the next file, or NULL */
    FileList files;         /* until the player takes it */
    char skipped[sizeof(
        ((MediaError *)0)->text)]; /* message about a file that cannot be opened, or "" */
    StartWindow *start;            /* the player takes over its window; borrowed, or NULL */
    Player *player;
};

static LumeqParams params_of(const Play *p)
{
    return window_settings_all(&p->settings).params;
}

/* ---- the list of files ---- */

typedef struct Adding {
    FileList *files;
    const Options *options;
} Adding;

static int take_file(void *opaque, const char *path, const char *below, const struct stat *there)
{
    const Adding *a = opaque;
    (void)below;
    if (!S_ISREG(there->st_mode) || !container_promises_video(path) ||
        picture_codec(path) != AV_CODEC_ID_NONE)
        return 0;
    return file_list_add(a->files, path, a->options->shuffle);
}

/* Adds a file, or the videos in a folder. Recognizes videos by name, because opening every file
 * would take long. Adds a folder that has no videos, because it may hold pictures. Returns -1 if
 * out of memory. */
static int add_files(FileList *files, const Options *options, const char *path)
{
    struct stat there;
    MediaError error = {0};
    Adding adding = {files, options};
    const int count = files->count;
    const FolderWalk walk = {
        .recursive = options->recursive, .file = take_file, .opaque = &adding, .error = &error};
    if (strcmp(path, "-") != 0 && stat(path, &there) == 0 && S_ISDIR(there.st_mode) &&
        folder_walk(&walk, path) < 0)
        return -1;
    return files->count > count ? 0 : file_list_add(files, path, options->shuffle);
}

/* ---- one frame ---- */

static void take_packet(void *opaque, const AVPacket *packet)
{
    window_recording_packet(&((Play *)opaque)->recording, packet);
}

static int is_recorded(void *opaque)
{
    Play *p = opaque;
    return p->virtual || window_recording_takes_frames(&p->recording);
}

/* Sends live frames to the virtual camera at once, even while the window is hidden. Other frames
 * are sent when they are shown. */
static void record(void *opaque, const AVFrame *frame, const LumeqFrameStats *stats)
{
    Play *p = opaque;
    if (atomic_load(&p->live))
        virtual_camera_frame(p->virtual, frame, AV_NOPTS_VALUE);
    window_recording_frame(&p->recording, frame, stats);
}

static const char *engine(void *opaque, int lost)
{
    return engine_where(&((Play *)opaque)->engine, lost);
}

static void print_decision(void *opaque, const Frame *frame, char *text, size_t size)
{
    const LumeqParams params = params_of(opaque);
    const Decision decision = decision_find(
        &frame->stats, &params, &((const Play *)opaque)->settings.now,
        equalizer_depth(frame->decoded.frame), frame->out->color_range == AVCOL_RANGE_JPEG);
    decision_text(&decision, "2", text, size);
}

static void shown(void *opaque, const Frame *frame, double us)
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
        say(SAY_DETAILS, "the first frame was shown after %lld ms",
            (long long)(clock_now() - p->begin) / 1000);
    if (!atomic_load(&p->live))
        virtual_camera_frame(p->virtual, frame->out, AV_NOPTS_VALUE);
    stats_write(p->rows, &row);
}

/* ---- settings ---- */

static void change(void *opaque, PlayerSetting setting, int step, const LumeqFrameStats *seen,
                   PlayerSettings *changed, char *text, size_t size)
{
    Play *p = opaque;
    window_settings_change(&p->settings, setting, step, seen, text, size);
    *changed = window_settings_all(&p->settings);
}

static void list_settings(void *opaque, OsdSettings *rows)
{
    window_settings_list(&((const Play *)opaque)->settings, rows);
}

static void set_meter(void *opaque, LumeqRect part, LumeqParams *changed, char *text, size_t size)
{
    Play *p = opaque;
    window_settings_meter(&p->settings, part, text, size);
    *changed = params_of(p);
}

static void toggle_recording(void *opaque, const Source *source, char *text, size_t size)
{
    window_recording_toggle(&((Play *)opaque)->recording, source, text, size);
}

/* ---- key w: write a file ---- */

static void write_file(void *opaque, const char *path, const Source *source, char *text,
                       size_t size)
{
    Play *p = opaque;
    window_writing_start(&p->writing, &p->settings.now, path, source, text, size);
}

static char *print_command(void *opaque, const char *path, const Source *source, char *text,
                           size_t size)
{
    const Play *p = opaque;
    char *command = window_writing_command(&p->settings.now, path, source, text, size);
    if (command) {
        puts(command);
        (void)fflush(stdout);
    }
    return command;
}

/* ---- --remember ---- */

/* In microseconds. A film that is not longer than MIN_LENGTH, or was left within EDGE of either
 * end, plays from the start. */
#define MIN_LENGTH INT64_C(60000000)
#define EDGE INT64_C(5000000)

static bool is_file(const char *path, const Source *source)
{
    return S_ISREG(source->file.st_mode) && !source->camera && strcmp(path, "-") != 0;
}

static int64_t where_left(void *opaque, const char *path, const Source *source)
{
    const Play *p = opaque;
    const int known = p->remembered && is_file(path, source);
    return known ? remembered_position(p->remembered, path, &source->file) : -1;
}

static void note_left(void *opaque, const char *path, const Source *source, int64_t position,
                      int ended)
{
    Play *p = opaque;
    const int64_t length = source_duration(source);
    if (!p->remembered || !is_file(path, source) || length <= MIN_LENGTH)
        return;
    const int edge = ended || position < EDGE || position > length - EDGE;
    remembered_leave(p->remembered, path, &source->file, edge ? -1 : position);
}

/* ---- opening and closing ---- */

static int start_opening(void *opaque, const char *path, MediaError *error)
{
    Play *p = opaque;
    source_opening_cancel(&p->opening, 0);
    return setup_start_opening(&p->opening, p->options, path, p->stop, error);
}

static int list_files(void *opaque, const char *path, FileList *files)
{
    return add_files(files, ((const Play *)opaque)->options, path);
}

static int take_opened(void *opaque, Source **source, MediaError *error)
{
    Play *p = opaque;
    int ret = source_opening_take(&p->opening, 0, source, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    LumeqParams usual; /* ignored: the window's settings apply */
    if (ret >= 0) {
        ret = setup_params(&usual, &p->next_input, p->options, *source, NULL, error);
    }
    p->next_live = ret >= 0 && (*source)->live;
    if (ret < 0)
        source_close(source);
    return ret;
}

/* Starts the opened input, with the settings of the window. Returns AVERROR(EAGAIN) while a
 * recording still needs the old input. */
static int replace_source(void *opaque, LumeqParams *params)
{
    Play *p = opaque;
    if (!window_recording_release(&p->recording))
        return AVERROR(EAGAIN);
    window_settings_next(&p->settings, p->next_input);
    atomic_store(&p->live, p->next_live);
    *params = params_of(p);
    return 0;
}

/* Completes the statistics. Returns 0 or the fault, after a message. */
static int end_rows(Play *p, int interrupted)
{
    stats_flush(p->rows);
    const int fault = stats_commit(p->rows, interrupted);
    if (interrupted && stats_name(p->rows))
        say(SAY_ERRORS, "interrupted; the statistics are in %s", media_quote(stats_name(p->rows)));
    return fault;
}

static void lose_display(void *opaque)
{
    Play *p = opaque;
    const int interrupted = atomic_load(p->stop) == RUN_INTERRUPTED;
    (void)window_recording_end(&p->recording, interrupted);
    window_writing_cancel(&p->writing);
    (void)end_rows(p, interrupted);
    say(SAY_ERRORS, "the display was lost");
    output_file_remove_all(NULL);
    _exit(interrupted ? EXIT_INTERRUPTED : EXIT_OUTPUT);
}

/* The file to open; NULL for the camera. */
static const char *input_path(const Play *p)
{
    return p->files.count ? p->files.entries[p->files.at].path : p->options->input;
}

/* Reports an unusable file of the list and selects the next file. */
static int skip_file(Play *p, MediaError *error)
{
    say(SAY_ERRORS, "%s", error->text);
    snprintf(p->skipped, sizeof(p->skipped), "%s", error->text);
    *error = (MediaError){0};
    p->files.entries[p->files.at].failed = 1;
    p->files.at = file_list_find(&p->files, p->files.at, 1);
    return p->files.at >= 0
               ? 0
               : media_fail(error, MEDIA_INPUT, "cannot play any of %d files", p->files.count);
}

static bool has_more_files(const Play *p)
{
    return p->files.count > 1 && !atomic_load(p->stop);
}

/* Opens the first usable file of the list. */
static int open_source(Play *p, Source **source, MediaError *error)
{
    int ret;
    while ((ret = setup_source(source, p->options, input_path(p), NULL, p->stop, error)) < 0 &&
           has_more_files(p))
        if ((ret = skip_file(p, error)) < 0)
            break;
    return ret;
}

static PlayerHost host_of(Play *p)
{
    return (PlayerHost){
        .opaque = p,
        .list_files = list_files,
        .start_opening = start_opening,
        .take_opened = take_opened,
        .replace = replace_source,
        .where_left = where_left,
        .note_left = note_left,
        .change_setting = change,
        .list_settings = list_settings,
        .meter = set_meter,
        .engine = engine,
        .decided = print_decision,
        .shown = shown,
        .record = toggle_recording,
        .packet = take_packet,
        .write = write_file,
        .print_command = print_command,
        .lost = lose_display,
        .note = say_line,
        .detail = say_detail,
    };
}

static int open_player(Play *p, Source *source, MediaError *error)
{
    const Options *o = p->options;
    const PlayerSettings settings = window_settings_all(&p->settings);
    const int is_auto = o->keep_open == OPTIONS_AUTO;
    /* False if another program started lumeq and redirected one of these streams. */
    const int is_on_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    RememberedWindow window = {.volume = -1};
    if (p->remembered)
        window = *remembered_window(p->remembered);
    const int volume = option_is_given(o->given, "volume") ? -1 : window.volume;
    const PlayerOptions options = {
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = o->frames,
        .range = settings.range,
        .threads = (int)o->threads,
        .audio_track = (int)o->audio_track + 1,
        .sub_track = o->no_subs ? -1 : (int)o->sub_track + 1,
        .sub_file = o->sub_file,
        .no_audio = o->no_audio,
        .mute = o->mute,
        .volume = volume >= 0 ? volume : (int)o->volume,
        .width = window.width,
        .height = window.height,
        .speed = o->speed,
        .loop = o->loop,
        .fullscreen = o->fullscreen,
        .osd_scale = o->osd_scale,
        .scope = (PanelScope)o->scope,
        .mirror = o->mirror,
        .compare = (ViewCompare)o->compare,
        .histogram = (PanelMode)o->histogram,
        .fullscreen_histogram =
            option_is_given(o->given, "histogram") ? (PanelMode)o->histogram : 0,
        .log_scale = o->hist_scale,
        .deinterlace = settings.deinterlace,
        .codes = settings.codes,
        .keep_open = o->keep_open == OPTIONS_ON || (is_auto && is_on_terminal),
        .keep_dropped = o->keep_open == OPTIONS_ON || is_auto,
        .screenshot_dir = o->screenshot_dir,
        .files = &p->files,
        .greeting = p->skipped[0] ? p->skipped : NULL,
        .start = p->start,
        .gpu = p->engine.gpu,
        .stage = {.context = p->engine.context,
                  .params = settings.params,
                  .memory = p->engine.memory,
                  .copies = p->engine.gpu != NULL,
                  .wants = is_recorded,
                  .take = record,
                  .opaque = p},
        .gpu_budget = engine_budget(&p->engine),
        .device = strcmp(p->engine.backend, "cuda") == 0 ? (int)o->device : -1,
        .host = host_of(p),
    };
    const char *name = p->files.count ? p->files.entries[p->files.at].name : "camera";
    return player_open(&p->player, &options, source, name, error);
}

/* Opens the player, and skips files that it cannot play. */
static int open_playable(Play *p, Source **source, MediaError *error)
{
    OptionsInput input = {0};
    LumeqParams usual;
    int ret;
    while ((ret = open_player(p, *source, error)) < 0 && error->fault == MEDIA_INPUT &&
           has_more_files(p)) {
        MediaError why = {0};
        media_fail(&why, MEDIA_INPUT, "cannot play %s: %s", media_quote(input_path(p)),
                   error->text);
        *error = why;
        source_close(source);
        if ((ret = skip_file(p, error)) < 0 || (ret = open_source(p, source, error)) < 0 ||
            (ret = setup_params(&usual, &input, p->options, *source, NULL, error)) < 0)
            break;
        atomic_store(&p->live, (*source)->live);
        window_settings_next(&p->settings, input);
    }
    return ret;
}

static int open_play(Play **play, const Options *options, atomic_int *stop, StartWindow *start,
                     MediaError *error)
{
    Play *p = calloc(1, sizeof(*p));
    Source *source = NULL;
    LumeqParams params;
    OptionsInput input = {0};
    *play = p;
    if (!p)
        return media_no_memory(error, MEDIA_INPUT);
    p->options = options;
    p->stop = stop;
    p->start = start;
    p->begin = clock_now();
    p->engine.real_time = 1;
    p->files = (FileList){.at = -1, .round = options->loop_all};
    /* Check the folder now, not when the user takes a screenshot. */
    const char *shots = options->screenshot_dir;
    struct stat there;
    const int is_no_folder = shots && stat(shots, &there) >= 0 && !S_ISDIR(there.st_mode);
    if (shots && (is_no_folder || access(shots, W_OK | X_OK) < 0)) {
        media_fail(error, MEDIA_OUTPUT, "cannot write screenshots into the folder %s: %s",
                   media_quote(shots), strerror(is_no_folder ? ENOTDIR : errno));
        goto fail;
    }
    for (int i = 0; !options->camera && i < options->input_count; i++)
        if (add_files(&p->files, options, options->inputs[i]) < 0) {
            (void)media_no_memory(error, MEDIA_INPUT);
            goto fail;
        }
    p->files.at = p->files.count ? 0 : -1;
    if (window_recording_open(&p->recording, options, stop, error) < 0 ||
        virtual_camera_open(&p->virtual, options, stop, error) < 0 ||
        open_source(p, &source, error) < 0 ||
        virtual_camera_start(p->virtual, source, 0, error) < 0)
        goto fail;
    atomic_store(&p->live, source->live);
    if (window_recording_start(&p->recording, source, error) < 0 ||
        setup_params(&params, &input, options, source, NULL, error) < 0)
        goto fail;
    window_settings_open(&p->settings, options, input);
    p->remembered = options->remember ? remembered_open() : NULL;
    if (p->remembered)
        remembered_apply(p->remembered, &p->settings);
    if (options->stats && stats_open(&p->rows, options->stats, options->overwrite, &source->file,
                                     source->options.stop, error) < 0)
        goto fail;
    if (engine_open(&p->engine, options, 1, error) >= 0 && open_playable(p, &source, error) >= 0)
        return 0;
fail:
    window_recording_close(&p->recording); /* its thread reads the source */
    source_close(&source);
    play_close(play);
    return error->fault ? error->fault : MEDIA_INPUT;
}

int play_open(Play **play, const Options *options, atomic_int *stop, MediaError *error)
{
    return open_play(play, options, stop, NULL, error);
}

Player *play_player(Play *p)
{
    return p->player;
}

int play_turn(Play *p, MediaError *error)
{
    if (p->virtual)
        virtual_camera_mirror(p->virtual, player_state(p->player).look.mirrored);
    PlayerRecording recording = {0};
    PlayerWriting writing;
    window_recording_follow(&p->recording, &recording);
    window_writing_follow(&p->writing, &writing);
    player_set_status(p->player, &recording, &writing);
    return player_turn(p->player, error);
}

void play_close(Play **play)
{
    Play *p = *play;
    if (!p)
        return;
    source_opening_cancel(&p->opening, 1);
    (void)window_recording_end(&p->recording, 0); /* while its source is open */
    if (p->remembered && p->player) {
        const PlayerState state = player_state(p->player);
        RememberedWindow *window = remembered_window(p->remembered);
        if (!option_is_given(p->options->given, "volume") || state.volume != p->options->volume)
            window->volume = state.volume;
        if (state.width > 0 && state.height > 0) {
            window->width = state.width;
            window->height = state.height;
        }
    }
    const int played = p->player != NULL;
    player_close(&p->player);
    if (p->remembered && played)
        remembered_save(p->remembered, &p->settings);
    remembered_close(&p->remembered);
    window_writing_cancel(&p->writing);
    virtual_camera_close(&p->virtual); /* after all threads that send it frames */
    window_recording_close(&p->recording);
    stats_close(&p->rows);
    file_list_clear(&p->files);
    engine_close(&p->engine);
    free(p);
    *play = NULL;
}

/* Returns the exit code. */
static int finish(Play *p)
{
    char damage[512], lost[64] = "";
    const PlayerState state = player_state(p->player);
    if (state.lost)
        snprintf(lost, sizeof(lost), ", %lld lost in the camera", (long long)state.lost);
    say(SAY_DETAILS, "%lld frame%s shown, %lld dropped, %lld late%s", (long long)state.shown,
        state.shown == 1 ? "" : "s", (long long)state.dropped, (long long)state.late, lost);
    say(SAY_DETAILS,
        "time per frame: equalize %.2f ms, upload %.2f ms, panel and text %.2f ms, draw %.2f ms; "
        "latency %.1f frames after decoding",
        state.equalize_ms, state.upload_ms, state.layers_ms, state.draw_ms, state.latency_frames);
    if (state.delay_ms > 0)
        say(SAY_DETAILS,
            "latency from capture to screen: %.1f ms, 95 %% of frames within %.0f ms, all within "
            "%.1f ms",
            state.delay_ms, state.delay_95_ms, state.delay_most_ms);
    engine_say_memory(&p->engine);
    const int is_damaged = player_damage(p->player, damage, sizeof(damage));
    if (is_damaged)
        say(SAY_ERRORS, "%s", damage);
    else if (!state.gone)
        return EXIT_DONE;
    return state.ended ? EXIT_DAMAGED : EXIT_DONE;
}

/* Opens and plays the inputs. Returns the exit code. *failed gets an input's error if no frame was
 * shown. */
static int play_inputs(const Options *options, atomic_int *stop, StartWindow *start,
                       MediaError *failed)
{
    Play *play;
    MediaError error = {0};
    int ret = open_play(&play, options, stop, start, &error);
    while (ret == 0 && atomic_load(stop) == RUN_ON)
        ret = play_turn(play, &error);
    if (play && ret >= 0 && virtual_camera_check(play->virtual, &error) < 0)
        ret = error.fault;
    int code = EXIT_INTERRUPTED, on = RUN_ON;
    const int interrupted = atomic_load(stop) == RUN_INTERRUPTED;
    int unwritten = play ? window_recording_end(&play->recording, interrupted) : 0;
    /* Only after the recording has ended, because RUN_OVER cuts off a recording into a pipe. */
    atomic_compare_exchange_strong(stop, &on, RUN_OVER);
    if (play && ret >= 0) {
        const int fault = end_rows(play, interrupted);
        unwritten = unwritten ? unwritten : fault;
    }
    if (!interrupted)
        code = ret < 0 || !play ? -error.fault : finish(play);
    if (error.fault == MEDIA_INPUT && (!play || !player_state(play->player).shown))
        *failed = error;
    if (error.fault)
        say(SAY_ERRORS, "%s", error.text);
    if (unwritten && (code == EXIT_DONE || code == EXIT_DAMAGED))
        code = -unwritten;
    play_close(&play);
    return code;
}

/* Plays files as if they were dropped on a window. Options about the first INPUT do not apply. */
static int play_chosen(const Options *options, const FileList *files, atomic_int *stop,
                       StartWindow *start, MediaError *failed)
{
    Options o = *options;
    o.inputs = calloc((size_t)files->count, sizeof(*o.inputs));
    if (!o.inputs) {
        say(SAY_ERRORS, "out of memory");
        return EXIT_INPUT;
    }
    for (int i = 0; i < files->count; i++)
        o.inputs[i] = files->entries[i].path;
    o.input_count = files->count;
    o.from_us = o.to_us = o.frames = -1;
    o.camera = NULL;
    if (options->input) {
        o.sub_file = NULL;
        o.audio_track = FFMIN(o.audio_track, -1);
        o.sub_track = FFMIN(o.sub_track, -1);
    }
    o.input = o.inputs[0];
    if (o.keep_open == OPTIONS_AUTO)
        o.keep_open = OPTIONS_ON;
    const int code = play_inputs(&o, stop, start, failed);
    free(o.inputs);
    return code;
}

int play_run(const Options *options, atomic_int *stop)
{
    MediaError failed = {0}, error = {0};
    FileList files = {.at = -1};
    StartWindow *start = NULL;
    int ret = 1, code = EXIT_DONE, waits = !options->input && !options->camera;
    if (waits && !options->idle)
        say(SAY_NORMAL, "no INPUT: waiting for a file in the window; see lumeq --help");
    if (!waits) {
        code = play_inputs(options, stop, NULL, &failed);
        waits = options->idle && failed.fault;
    }
    while (waits) {
        int over = RUN_OVER; /* left by the last attempt */
        atomic_compare_exchange_strong(stop, &over, RUN_ON);
        ret = start_choose(&start, options, stop, failed.text, &files, &error);
        if (ret <= 0)
            break;
        failed = (MediaError){0};
        code = play_chosen(options, &files, stop, start, &failed);
        waits = failed.fault != 0;
        if (!*start_window_screen(start))
            start_window_close(&start);
    }
    if (ret < 0)
        say(SAY_ERRORS, "%s", error.text);
    file_list_clear(&files);
    start_window_close(&start);
    if (atomic_load(stop) == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    return ret < 0 ? -ret : code;
}
