#include "app/recording.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "app/camera_sound.h"
#include "app/drawing.h"
#include "app/headless.h"
#include "app/progress.h"
#include "app/run_summary.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "media/compat.h"
#include "media/file_name.h"
#include "media/output/writer.h"
#include "player/clock.h"
#include "run/queue.h"
#include "run/run.h"

/* The queue holds two seconds at 30 fps, so that a disk may stall briefly. QUEUE_BYTES limits large
 * frames: a 4K frame has 12 MB. */
#define QUEUE_LENGTH 60
#define QUEUE_BYTES (192 << 20)

/* Niceness of the writing thread and the encoder's threads, so that the preview has priority. */
#define NICE 5

#define TICK_US 1000000 /* between writes of sound while no frames come */
#define MAX_NAMES 100   /* limit of the number in names such as "talk-2.mkv" */

typedef struct RecorderState {
    int64_t frames, dropped; /* `frames`: written */
    int64_t length_us;       /* recorded so far */
    int64_t bytes;           /* of the file, -1: unknown */
    int done;                /* the thread has ended, so closing does not wait */
} RecorderState;

/* Encodes and writes a file in a thread of its own, so that a window never waits for the encoder.
 * Drops frames that come too fast. */
struct Recorder {
    const Options *options;
    const char *path; /* OUTPUT, or `name` */
    char name[64];
    WriterOptions writer_options;
    Writer *writer;
    const Source *source;
    int losses;         /* source_losses() before the recording */
    CameraSound *sound; /* or NULL */
    Drawing *drawing;
    Queue *queue; /* of Frame *, each with a picture or a packet, or empty: see take_frame() */
    pthread_t thread;
    int running;
    atomic_int partial;
    /* Used by the thread that queues packets. `begun`: a packet was queued; `decodable`: no packet
     * was lost since the last key frame. */
    int begun, decodable;
    /* Owned by the thread while it runs. */
    int64_t first; /* time of the first frame or packet, or AV_NOPTS_VALUE */
    int64_t end;   /* end of the last frame or packet, relative to `first` */
    MediaError error;

    pthread_mutex_t lock;
    RecorderState state; /* protected by `lock` */
};

/* Ends the queue. The thread then completes the file, as NAME.partial.EXT if `partial`. */
static void end_recorder(Recorder *w, int partial)
{
    atomic_store(&w->partial, partial);
    if (w->running)
        queue_end(w->queue, AVERROR_EOF);
}

static RecorderState state_of(Recorder *w)
{
    pthread_mutex_lock(&w->lock);
    const RecorderState state = w->state;
    pthread_mutex_unlock(&w->lock);
    return state;
}

/* After end_recorder(): waits until the file is complete. */
static void wait_recorder(Recorder *w)
{
    if (w->running)
        pthread_join(w->thread, NULL);
    w->running = 0;
}

static void describe_file(const Recorder *w, char *line, size_t size)
{
    char outages[32] = "", dropped[64] = "";
    const RecorderState *s = &w->state;
    const char *name = writer_name(w->writer);
    const int losses = source_losses(w->source) - w->losses;
    if (losses)
        snprintf(outages, sizeof(outages), ", %d outage%s", losses, losses == 1 ? "" : "s");
    if (s->dropped)
        snprintf(dropped, sizeof(dropped), ", %lld dropped", (long long)s->dropped);
    const char *video = writer_video(w->writer);
    if (!s->frames)
        snprintf(line, size, "nothing was recorded");
    else
        snprintf(line, size, "recorded %s: %lld frame%s, %.2f s%s%s%s%s",
                 media_quote(name ? name : w->path), (long long)s->frames,
                 s->frames == 1 ? "" : "s", (double)s->length_us * 1e-6, outages, dropped,
                 *video ? "; " : "", video);
}

/* Waits until the file is complete, and frees the recorder, which may be NULL. `line` (or NULL)
 * gets a description of the file, or "". Errors: MEDIA_OUTPUT, MEDIA_USAGE. */
static int close_recorder(Recorder **writer, char *line, size_t size, MediaError *error)
{
    Recorder *w = *writer;
    if (line)
        *line = '\0';
    if (!w)
        return 0;
    end_recorder(w, atomic_load(&w->partial));
    wait_recorder(w);
    if (line && !w->error.fault)
        describe_file(w, line, size);
    const int ret = w->error.fault ? media_fail(error, w->error.fault, "%s", w->error.text) : 0;
    camera_sound_close(&w->sound);
    writer_close(&w->writer);
    drawing_close(&w->drawing);
    queue_close(&w->queue);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *writer = NULL;
    return ret;
}

static WriterOptions writer_options(const Options *o, const char *path, int named,
                                    const atomic_int *stop)
{
    return (WriterOptions){
        .path = path,
        .format = named ? NULL : o->format,
        .overwrite = !named && o->overwrite,
        .any_name = named,
        .stop = stop,
        .segments = named ? (SegmentOptions){0} : setup_segments(o),
        .copy_video = o->record_raw,
        .video = setup_encoder(o),
        .tracks = {.acodec = o->acodec, .no_metadata = o->no_metadata, .note = say_line},
    };
}

/* Checks the output and its encoder without touching a file. `named`: make a new file in the
 * current folder, named after the time, instead of OUTPUT. Errors: MEDIA_USAGE, MEDIA_OUTPUT. */
static int create_recorder(Recorder **writer, const Options *options, int named,
                           const atomic_int *stop, MediaError *error)
{
    Recorder *w = calloc(1, sizeof(*w));
    *writer = w;
    if (!w)
        return media_no_memory(error, MEDIA_OUTPUT);
    pthread_mutex_init(&w->lock, NULL);
    w->state.bytes = -1;
    w->first = AV_NOPTS_VALUE;
    w->options = options;
    if (named) { /* an unused name: "lumeq-20260131-120000.mkv", or with "-2" and so on */
        char when[32] = "";
        const time_t now = time(NULL);
        struct tm local;
        struct stat there;
        if (localtime_r(&now, &local))
            strftime(when, sizeof(when), "-%Y%m%d-%H%M%S", &local);
        snprintf(w->name, sizeof(w->name), "lumeq%s.mkv", when);
        for (int i = 2; i <= MAX_NAMES && lstat(w->name, &there) == 0; i++)
            snprintf(w->name, sizeof(w->name), "lumeq%s-%d.mkv", when, i);
    }
    w->path = named ? w->name : options->output;
    w->writer_options = writer_options(options, w->path, named, stop);
    if (is_auto10(options))
        say(SAY_DETAILS, "--pix-fmt auto10: recordings made in the window keep the video's depth");
    int ret = writer_create(&w->writer, &w->writer_options, NULL, error);
    if (ret >= 0)
        ret = camera_sound_open(&w->sound, options, w->writer, &w->writer_options.tracks, error);
    if (ret < 0)
        close_recorder(writer, NULL, 0, &(MediaError){0});
    return ret;
}

/* ---- the thread ---- */

/* Returns the time of the first frame or packet, to subtract from all times. */
static int64_t shift_of(Recorder *w, int64_t time)
{
    if (w->first == AV_NOPTS_VALUE) {
        w->first = time;
        w->losses = source_losses(w->source);
    }
    return w->first;
}

static void note_written(Recorder *w, int64_t end)
{
    const int64_t us = av_rescale_q(end, w->source->video->time_base, AV_TIME_BASE_Q);
    pthread_mutex_lock(&w->lock);
    w->state.frames++;
    w->state.length_us = us;
    w->state.bytes = writer_bytes(w->writer);
    pthread_mutex_unlock(&w->lock);
}

static int64_t source_us(const Recorder *w, int64_t time)
{
    return av_rescale_q(w->first + time, w->source->video->time_base, AV_TIME_BASE_Q);
}

static int write_packet(void *writer, AVPacket *packet, MediaError *error)
{
    Recorder *w = writer;
    const int64_t first = shift_of(w, packet->pts);
    packet->pts -= first;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= first;
    const int64_t begin = packet->pts;
    w->end = begin + packet->duration;
    const int ret = writer_video_packet(w->writer, packet, error);
    if (ret < 0)
        return ret;
    note_written(w, w->end);
    return camera_sound_follow(w->sound, source_us(w, begin), error);
}

static int shift_frame(void *writer, Frame *f)
{
    AVFrame *frame = f->out;
    frame->pts -= shift_of(writer, frame->pts);
    return 0;
}

static int write_frame(void *writer, Frame *f)
{
    Recorder *w = writer;
    const AVFrame *frame = f->out;
    const int ret = writer_frame(w->writer, frame, f->error);
    if (ret < 0)
        return ret;
    w->end = frame->pts + FRAME_DURATION(frame);
    note_written(w, w->end);
    return camera_sound_follow(w->sound, source_us(w, frame->pts), f->error);
}

static int take_frame(void *writer, Frame **frame, MediaError *error)
{
    const Recorder *w = writer;
    const int ret = queue_take(w->queue, frame, QUEUE_WAIT);
    const int is_tick = ret >= 0 && !(*frame)->out && !(*frame)->decoded.packet_count;
    return is_tick ? camera_sound_follow(w->sound, AV_NOPTS_VALUE, error) : ret;
}

static void *recorder_main(void *arg)
{
    Recorder *w = arg;
    RunLoop loop = {.stop = NULL};
    Options options = *w->options;
    int ret = 0;
    options.compare = 0; /* the window's comparison is not recorded */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (drawing_open(&w->drawing, &options, &w->error) >= 0) {
        sinks_add(&loop.sinks, (Sink){.self = w, .packet = write_packet, .frame = shift_frame});
        sinks_add(&loop.sinks, drawing_sink(w->drawing));
        sinks_add(&loop.sinks, (Sink){.self = w, .frame = write_frame});
        /* Returns AVERROR_EOF at the end, also after the only frame of a picture. */
        ret = run_frames(&loop, take_frame, w, &w->error);
    }
    if (!w->error.fault)
        (void)camera_sound_end(w->sound, source_us(w, w->end), &w->error);
    queue_stop(w->queue);
    const int partial = atomic_load(&w->partial);
    if ((ret == AVERROR_EOF && !w->error.fault) || partial)
        (void)writer_finish(w->writer, partial, &w->error);
    pthread_mutex_lock(&w->lock);
    w->state.bytes = writer_bytes(w->writer);
    w->state.done = 1;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Starts the thread. The source must outlive the recorder. Errors: MEDIA_USAGE, MEDIA_OUTPUT. */
static int start_recorder(Recorder *w, const Source *source, MediaError *error)
{
    w->source = source;
    const int ret = writer_map(w->writer, source, error);
    if (ret < 0)
        return ret;
    camera_sound_use(w->sound, source, w->writer);
    const QueueOptions options = {.item = sizeof(Frame *),
                                  .count = QUEUE_LENGTH,
                                  .bytes = QUEUE_BYTES,
                                  .free = frame_free_queued};
    if (queue_open(&w->queue, &options) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (pthread_create(&w->thread, NULL, recorder_main, w) != 0)
        return media_fail(error, MEDIA_INPUT, "cannot start a thread for the recording");
    w->running = 1;
    return 0;
}

/* ---- frames and packets ---- */

static void note_dropped(Recorder *w)
{
    pthread_mutex_lock(&w->lock);
    w->state.dropped += !w->state.done;
    pthread_mutex_unlock(&w->lock);
}

/* Takes ownership of the frame, which may be NULL. Returns true if it will be written. */
static int put(Recorder *w, Frame *frame, QueueWait wait)
{
    if (frame && queue_put(w->queue, &frame, frame_bytes(frame), wait) >= 0)
        return 1;
    frame_free(&frame);
    note_dropped(w);
    return 0;
}

static int keep_stats(Frame *frame, const LumeqFrameStats *stats)
{
    const size_t size = (size_t)stats->bins * sizeof(uint32_t);
    if (frame_init_stats(frame, 1) < 0)
        return -1;
    memcpy(frame->arrays->hist_in, stats->hist_in, size);
    memcpy(frame->arrays->hist_out, stats->hist_out, size);
    memcpy(frame->arrays->curve, stats->curve, size);
    frame->stats = *stats;
    frame->stats.hist_in = frame->arrays->hist_in;
    frame->stats.hist_out = frame->arrays->hist_out;
    frame->stats.curve = frame->arrays->curve;
    return 0;
}

/* Queues a packet of the source. Returns true if it will be written. */
static int put_packet(Recorder *w, const AVPacket *packet, QueueWait wait)
{
    if (!w->decodable && !(packet->flags & AV_PKT_FLAG_KEY)) {
        if (w->begun)
            note_dropped(w);
        return 0;
    }
    Frame *frame = frame_alloc();
    if (frame)
        frame->decoded.packets[0] = av_packet_clone(packet);
    if (frame && frame->decoded.packets[0])
        frame->decoded.packet_count = 1;
    else
        frame_free(&frame);
    w->decodable = put(w, frame, wait);
    w->begun = 1;
    return w->decodable;
}

/* ---- beside the window ---- */

int window_recording_open(WindowRecording *r, const Options *options, const atomic_int *stop,
                          MediaError *error)
{
    *r = (WindowRecording){.options = options, .stop = stop, .open = 1};
    pthread_mutex_init(&r->lock, NULL);
    return options->output ? create_recorder(&r->writer, options, 0, stop, error) : 0;
}

int window_recording_start(WindowRecording *r, const Source *source, MediaError *error)
{
    r->source = source;
    return r->writer ? start_recorder(r->writer, source, error) : 0;
}

/* True if packets (or, without `packets`, frames) are being recorded. Call with the lock held. */
static int takes(const WindowRecording *r, int packets)
{
    return r->writer && !r->ending && !r->options->record_raw == !packets;
}

int window_recording_takes_frames(WindowRecording *r)
{
    pthread_mutex_lock(&r->lock);
    const int answer = takes(r, 0);
    pthread_mutex_unlock(&r->lock);
    return answer;
}

void window_recording_frame(WindowRecording *r, const AVFrame *picture,
                            const LumeqFrameStats *stats)
{
    pthread_mutex_lock(&r->lock);
    if (takes(r, 0)) {
        Frame *frame = frame_alloc();
        if (frame)
            frame->out = av_frame_clone(picture);
        if (frame && (!frame->out || (r->options->overlay && keep_stats(frame, stats) < 0)))
            frame_free(&frame);
        (void)put(r->writer, frame, QUEUE_TRY);
    }
    pthread_mutex_unlock(&r->lock);
}

void window_recording_packet(void *opaque, const AVPacket *packet)
{
    WindowRecording *r = opaque;
    pthread_mutex_lock(&r->lock);
    if (takes(r, 1))
        (void)put_packet(r->writer, packet, QUEUE_TRY);
    pthread_mutex_unlock(&r->lock);
}

static void set_writer(WindowRecording *r, Recorder *writer)
{
    pthread_mutex_lock(&r->lock);
    r->writer = writer;
    r->ending = 0;
    pthread_mutex_unlock(&r->lock);
}

static void start_finishing(WindowRecording *r, int partial)
{
    pthread_mutex_lock(&r->lock);
    r->ending = 1;
    pthread_mutex_unlock(&r->lock);
    end_recorder(r->writer, partial);
}

/* Waits for the writer, and reports its result, also in `text`. */
static void finish_window(WindowRecording *r, char *text, size_t size)
{
    MediaError error = {0};
    Recorder *writer = r->writer;
    set_writer(r, NULL);
    r->source = NULL;
    const int ret = close_recorder(&writer, text, size, &error);
    if (ret < 0) {
        snprintf(text, size, "recording failed: %s", error.text);
        r->failed = r->failed ? r->failed : error.fault;
    }
    if (*text)
        say(ret < 0 ? SAY_ERRORS : SAY_NORMAL, "%s", text);
}

static void begin(WindowRecording *r, const Source *source, char *text, size_t size)
{
    MediaError error = {0};
    Recorder *writer = NULL;
    int ret = create_recorder(&writer, r->options, 1, r->stop, &error);
    if (ret >= 0)
        ret = start_recorder(writer, source, &error);
    if (ret < 0) {
        close_recorder(&writer, NULL, 0, &(MediaError){0});
        snprintf(text, size, "Can't record: %s", error.text);
        return;
    }
    snprintf(text, size, "Recording %s", writer->path);
    r->source = source;
    set_writer(r, writer);
}

void window_recording_toggle(WindowRecording *r, const Source *source, char *text, size_t size)
{
    if (r->writer && !r->ending) {
        start_finishing(r, 0);
        snprintf(text, size, "Finishing the recording");
    } else if (r->ending) {
        snprintf(text, size, "Still finishing the last recording");
    } else {
        begin(r, source, text, size);
    }
}

void window_recording_follow(WindowRecording *r, PlayerRecording *to)
{
    char hours[16] = "", dropped[40] = "";
    if (!r->writer)
        return;
    const RecorderState state = state_of(r->writer);
    if (state.done) {
        finish_window(r, to->message, sizeof(to->message));
        to->message[0] = (char)toupper((unsigned char)to->message[0]);
        return;
    }
    const int64_t now = clock_now();
    if (!r->ending && r->writer->sound && now - r->ticked >= TICK_US) {
        /* An empty frame makes the thread write sound while no frames come, as in a pause. */
        r->ticked = now;
        Frame *frame = frame_alloc();
        if (frame && queue_put(r->writer->queue, &frame, 0, QUEUE_TRY) < 0)
            frame_free(&frame);
    }
    to->on = !r->ending;
    to->level = r->ending ? -1 : camera_sound_level(r->writer->sound);
    to->frames = state.frames;
    to->dropped = state.dropped;
    /* Prints "REC 0:12", or "REC 1:02:03, 3 dropped". */
    const int seconds = (int)(state.length_us / 1000000);
    if (seconds >= 3600)
        snprintf(hours, sizeof(hours), "%d:", seconds / 3600);
    if (state.dropped)
        snprintf(dropped, sizeof(dropped), ", %lld dropped", (long long)state.dropped);
    snprintf(to->line, sizeof(to->line), *hours ? "REC %s%02d:%02d%s" : "REC %s%d:%02d%s", hours,
             seconds / 60 % 60, seconds % 60, dropped);
}

int window_recording_release(WindowRecording *r)
{
    if (r->writer && !r->ending)
        start_finishing(r, 0);
    return !r->writer;
}

int window_recording_end(WindowRecording *r, int partial)
{
    char text[1200];
    if (!r->writer)
        return r->failed;
    if (!r->ending)
        start_finishing(r, partial);
    finish_window(r, text, sizeof(text));
    return r->failed;
}

void window_recording_close(WindowRecording *r)
{
    if (!r->open)
        return;
    close_recorder(&r->writer, NULL, 0, &(MediaError){0});
    pthread_mutex_destroy(&r->lock);
    *r = (WindowRecording){0};
}

/* ---- a camera's packets, without a window ---- */

typedef struct Raw {
    const Options *options;
    Source *source;
    Recorder *writer;
    Progress progress;
    Missed missed;
    int64_t count; /* number of packets that will be written */
    MediaError error;
} Raw;

/* Updates the progress from the state of the writer. Returns true if the writer has ended. */
static int follow_writer(Raw *r)
{
    const RecorderState state = state_of(r->writer);
    r->progress.frame = state.frames;
    r->progress.time = (double)state.length_us * 1e-6;
    r->progress.bytes = state.bytes;
    return state.done;
}

static void pass_packets(Raw *r)
{
    const int64_t most = r->options->frames >= 0 ? r->options->frames : INT64_MAX;
    const AVStream *video = r->source->video;
    AVPacket *packet = av_packet_alloc();
    int done = !packet;
    if (!packet)
        media_no_memory(&r->error, MEDIA_INPUT);
    while (!done && r->count < most && source_read(r->source, packet) >= 0) {
        if (packet->stream_index == video->index) {
            r->count += put_packet(r->writer, packet, QUEUE_WAIT);
            losses_count_missed(&r->missed, r->source,
                                av_rescale_q(packet->pts, video->time_base, AV_TIME_BASE_Q));
        }
        av_packet_unref(packet);
        done = follow_writer(r);
        progress_update(&r->progress);
    }
    av_packet_free(&packet);
    losses_say_missed(&r->missed, "written");
    losses_say_lost(r->source);
}

/* Returns the exit code. */
static int finish_raw(Raw *r, int interrupted)
{
    char line[1200], gone[256];
    end_recorder(r->writer, interrupted);
    wait_recorder(r->writer);
    (void)follow_writer(r);
    const int ret = close_recorder(&r->writer, line, sizeof(line), &r->error);
    const int code = interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
    progress_end(&r->progress, run_end_state(ret < 0 && !interrupted ? -r->error.fault : code));
    if (ret < 0)
        return -r->error.fault;
    say(interrupted ? SAY_ERRORS : SAY_NORMAL, "%s%s", interrupted ? "interrupted: " : "", line);
    if (interrupted)
        return EXIT_INTERRUPTED;
    if (!losses_camera_gone(r->source, r->count, r->options, gone, sizeof(gone)))
        return EXIT_DONE;
    say(SAY_ERRORS, "%s", gone);
    return EXIT_DAMAGED;
}

/* Records a camera's packets. Returns like headless_run(). */
static int run_raw(const Options *options, atomic_int *stop, RunResult *result)
{
    Raw r = {.options = options};
    int code = EXIT_DONE;
    int ret = create_recorder(&r.writer, options, 0, stop, &r.error);
    if (ret >= 0)
        ret = setup_source(&r.source, options, NULL, NULL, stop, &r.error);
    if (ret >= 0)
        ret = start_recorder(r.writer, r.source, &r.error);
    if (ret >= 0) {
        r.progress.style = headless_progress(options);
        r.progress.frames = options->frames >= 0 ? options->frames : 0;
        progress_start(&r.progress);
        pass_packets(&r);
        code = finish_raw(&r, atomic_load(stop) == RUN_INTERRUPTED);
        result->frames = r.count;
        result->is_changed = losses_camera_changed(r.source);
    }
    if (r.error.fault) {
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -r.error.fault;
        say(SAY_ERRORS, "%s", r.error.text);
    }
    close_recorder(&r.writer, NULL, 0, &(MediaError){0});
    source_close(&r.source);
    return code;
}

/* ---- a camera without a window ---- */

/* Sets `name` to an unused name in the folder of `first`, such as "talk-2.mkv", numbered from
 * `piece` on. Returns it, or NULL if `first` is NULL. */
static const char *name_piece(const char *first, int piece, char name[PATH_MAX])
{
    struct stat there;
    char word[16], *folder = first ? file_name_folder(first) : NULL;
    for (int found = 0; folder && !found && piece < MAX_NAMES; piece++) {
        snprintf(word, sizeof(word), "-%d", piece);
        char *with = file_name_with(first, word, file_name_room(folder));
        snprintf(name, PATH_MAX, "%s", with ? with : "");
        found = lstat(name, &there) < 0;
        av_free(with);
    }
    av_free(folder);
    return first ? name : NULL;
}

int recording_camera_run(const Options *options, atomic_int *stop)
{
    const int raw = options->output && options->record_raw;
    char names[3][PATH_MAX];
    Options o = *options;
    int code = EXIT_DONE, is_over = 0;
    for (int piece = 2; !is_over; piece++) {
        RunResult result = {0};
        const int ret = raw ? run_raw(&o, stop, &result) : headless_run(&o, stop, &result);
        code = code ? code : ret;
        is_over = !result.is_changed || (ret != EXIT_DONE && ret != EXIT_DAMAGED);
        o.piece = piece;
        if (o.segment_time <= 0)
            o.output = name_piece(options->output, piece, names[0]);
        o.stats = name_piece(options->stats, piece, names[1]);
        o.report = name_piece(options->report, piece, names[2]);
        o.frames -= o.frames >= 0 ? result.frames : 0;
        is_over |= o.frames == 0;
    }
    return code;
}
