#include "app/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "app/engine.h"
#include "app/overlay.h"
#include "app/say.h"
#include "media/compat.h"
#include "media/message.h"
#include "media/output/writer.h"
#include "pipeline/equalizer_frame.h"
#include "pipeline/queue.h"

/* Two seconds at 30 frames, to ride out a disk that stops for a moment, in no more memory than this
 * (a 4K frame has 12 MB). */
#define QUEUE_LENGTH 60
#define QUEUE_BYTES (192 << 20)

/* Of this thread and those it starts, the encoder's: the preview comes first. */
#define NICE 5

/* Recordings of one second. */
#define MOST_NAMES 100

/* What is to be written next: one of the two. */
typedef struct Entry {
    AVFrame *frame;
    AVPacket *packet;
    LumeqFrameStats stats;
    StatsArrays *arrays; /* those of `stats` */
} Entry;

struct Recorder {
    const char *path; /* the options', or `name` */
    char name[64];
    WriterOptions writer_options;
    Writer *writer;
    const Source *source;
    FrameOverlay *overlay;
    int with_overlay;
    PanelScale scale;
    Queue *queue; /* of Entry * */
    pthread_t thread;
    int running;
    atomic_int partial;
    /* Of who brings packets: something was brought; not 0: nothing is missing that the next one may
     * refer to. */
    int begun, follows;
    /* The thread's while it runs. */
    int64_t first; /* time of the first one, AV_NOPTS_VALUE: none yet */
    MediaError error;

    pthread_mutex_t lock;
    RecorderState state; /* under the lock */
};

static void entry_free(void *message)
{
    Entry **entry = message;
    av_frame_free(&(*entry)->frame);
    av_packet_free(&(*entry)->packet);
    free((*entry)->arrays);
    free(*entry);
    *entry = NULL;
}

/* ---- opening ---- */

static WriterOptions writer_options(const Options *o, const char *path, int named,
                                    const atomic_int *stop)
{
    return (WriterOptions){
        .path = path,
        .format = named ? NULL : o->format,
        .overwrite = !named && o->overwrite,
        .any_name = named,
        .stop = stop,
        .copy_video = o->record_raw,
        .video = engine_encoder(o),
        .tracks = {.no_metadata = o->no_metadata, .note = say_line},
    };
}

/* `name` NULL: the options' OUTPUT; else another one, which is never overwritten. */
static int create(Recorder **recorder, const Options *options, const char *name,
                  const atomic_int *stop, MediaError *error)
{
    Recorder *r = calloc(1, sizeof(*r));
    *recorder = r;
    if (!r)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    pthread_mutex_init(&r->lock, NULL);
    r->state.bytes = -1;
    r->first = AV_NOPTS_VALUE;
    r->with_overlay = options->overlay;
    r->scale = options->hist_scale ? PANEL_LOG : PANEL_LINEAR;
    snprintf(r->name, sizeof(r->name), "%s", name ? name : "");
    r->path = name ? r->name : options->output;
    r->writer_options = writer_options(options, r->path, name != NULL, stop);
    const int ret = writer_create(&r->writer, &r->writer_options, NULL, error);
    if (ret < 0)
        recorder_close(recorder, NULL, 0, &(MediaError){0});
    return ret;
}

int recorder_create(Recorder **recorder, const Options *options, const atomic_int *stop,
                    MediaError *error)
{
    return create(recorder, options, NULL, stop, error);
}

/* "lumeq-20260131-120000.mkv", "lumeq-20260131-120000-2.mkv" */
static void name_of_now(char *name, size_t size, int number)
{
    char when[32] = "", which[16] = "";
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(when, sizeof(when), "-%Y%m%d-%H%M%S", &local);
    if (number > 1)
        snprintf(which, sizeof(which), "-%d", number);
    snprintf(name, size, "lumeq%s%s.mkv", when, which);
}

int recorder_create_named(Recorder **recorder, const Options *options, const atomic_int *stop,
                          MediaError *error)
{
    char name[64];
    struct stat there;
    for (int i = 1; i <= MOST_NAMES; i++) {
        name_of_now(name, sizeof(name), i);
        if (lstat(name, &there) < 0)
            break;
    }
    return create(recorder, options, name, stop, error);
}

const char *recorder_path(const Recorder *r)
{
    return r->path;
}

/* ---- the thread ---- */

/* Times begin at 0 with the first one. */
static int64_t shift_of(Recorder *r, int64_t time)
{
    if (r->first == AV_NOPTS_VALUE)
        r->first = time;
    return r->first;
}

static int write_frame(Recorder *r, Entry *entry, int64_t *end)
{
    AVFrame *frame = entry->frame;
    frame->pts -= shift_of(r, frame->pts);
    *end = frame->pts + FRAME_DURATION(frame);
    const int ret = r->overlay ? overlay_draw(r->overlay, frame, &entry->stats, &r->error) : 0;
    return ret < 0 ? ret : writer_frame(r->writer, frame, &r->error);
}

static int write_packet(Recorder *r, AVPacket *packet, int64_t *end)
{
    const int64_t first = shift_of(r, packet->pts);
    packet->pts -= first;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= first;
    *end = packet->pts + packet->duration;
    return writer_video_packet(r->writer, packet, &r->error);
}

static void note_written(Recorder *r, int64_t end)
{
    const int64_t us = av_rescale_q(end, r->source->video->time_base, AV_TIME_BASE_Q);
    pthread_mutex_lock(&r->lock);
    r->state.frames++;
    r->state.length_us = us;
    r->state.bytes = writer_bytes(r->writer);
    pthread_mutex_unlock(&r->lock);
}

/* AVERROR_EOF at the end, also of a picture, which has its one frame. */
static int write_next(Recorder *r)
{
    Entry *entry;
    int64_t end;
    int ret = queue_take(r->queue, &entry, QUEUE_WAIT);
    if (ret < 0)
        return ret;
    ret = entry->frame ? write_frame(r, entry, &end) : write_packet(r, entry->packet, &end);
    entry_free(&entry);
    if (ret >= 0)
        note_written(r, end);
    return ret;
}

static void *recorder_main(void *arg)
{
    Recorder *r = arg;
    int ret = 0;
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (r->with_overlay)
        ret = overlay_open(&r->overlay, r->scale, &r->error);
    while (ret >= 0)
        ret = write_next(r);
    queue_stop(r->queue);
    const int partial = atomic_load(&r->partial);
    if (ret == AVERROR_EOF || partial)
        (void)writer_finish(r->writer, partial, &r->error);
    pthread_mutex_lock(&r->lock);
    r->state.failed = r->error.fault != 0;
    r->state.bytes = writer_bytes(r->writer);
    r->state.done = 1;
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

int recorder_start(Recorder *r, const Source *source, MediaError *error)
{
    r->source = source;
    const int ret = writer_map(r->writer, source, error);
    if (ret < 0)
        return ret;
    const QueueOptions options = {
        .item = sizeof(Entry *), .count = QUEUE_LENGTH, .bytes = QUEUE_BYTES, .free = entry_free};
    if (queue_open(&r->queue, &options) < 0)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (pthread_create(&r->thread, NULL, recorder_main, r) != 0)
        return media_fail(error, MEDIA_OUTPUT, "no thread can be started to record");
    r->running = 1;
    return 0;
}

/* ---- what is recorded ---- */

static void note_dropped(Recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->state.dropped += !r->state.done;
    pthread_mutex_unlock(&r->lock);
}

/* Takes the entry over. Answers whether it will be written. */
static int put(Recorder *r, Entry *entry, QueueWait wait)
{
    if (entry && (entry->frame || entry->packet)) {
        const int64_t bytes =
            entry->frame ? message_frame_bytes(entry->frame, NULL) : entry->packet->size;
        if (queue_put(r->queue, &entry, bytes, wait) >= 0)
            return 1;
    }
    if (entry)
        entry_free(&entry);
    note_dropped(r);
    return 0;
}

static int keep_stats(Entry *entry, const LumeqFrameStats *stats)
{
    const size_t size = (size_t)stats->bins * sizeof(uint32_t);
    entry->arrays = malloc(sizeof(*entry->arrays));
    if (!entry->arrays)
        return -1;
    memcpy(entry->arrays->hist_in, stats->hist_in, size);
    memcpy(entry->arrays->hist_out, stats->hist_out, size);
    memcpy(entry->arrays->curve, stats->curve, size);
    entry->stats = *stats;
    entry->stats.hist_in = entry->arrays->hist_in;
    entry->stats.hist_out = entry->arrays->hist_out;
    entry->stats.curve = entry->arrays->curve;
    return 0;
}

void recorder_frame(Recorder *r, const AVFrame *frame, const LumeqFrameStats *stats)
{
    Entry *entry = calloc(1, sizeof(*entry));
    if (entry) {
        entry->frame = av_frame_clone(frame);
        if (r->with_overlay && keep_stats(entry, stats) < 0)
            av_frame_free(&entry->frame);
    }
    (void)put(r, entry, QUEUE_TRY);
}

static int put_packet(Recorder *r, const AVPacket *packet, QueueWait wait)
{
    if (!r->follows && !(packet->flags & AV_PKT_FLAG_KEY)) {
        if (r->begun)
            note_dropped(r);
        return 0;
    }
    Entry *entry = calloc(1, sizeof(*entry));
    if (entry)
        entry->packet = av_packet_clone(packet);
    r->follows = put(r, entry, wait);
    r->begun = 1;
    return r->follows;
}

void recorder_packet(Recorder *r, const AVPacket *packet)
{
    (void)put_packet(r, packet, QUEUE_TRY);
}

int recorder_packet_wait(Recorder *r, const AVPacket *packet)
{
    return put_packet(r, packet, QUEUE_WAIT);
}

/* ---- the end ---- */

void recorder_end(Recorder *r, int partial)
{
    atomic_store(&r->partial, partial);
    if (r->running)
        queue_end(r->queue, AVERROR_EOF);
}

RecorderState recorder_state(Recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const RecorderState state = r->state;
    pthread_mutex_unlock(&r->lock);
    return state;
}

RecorderState recorder_wait(Recorder *r)
{
    if (r->running)
        pthread_join(r->thread, NULL);
    r->running = 0;
    return r->state;
}

static void describe(const Recorder *r, char *line, size_t size)
{
    char dropped[64] = "";
    const RecorderState *s = &r->state;
    const char *name = writer_name(r->writer);
    if (s->dropped)
        snprintf(dropped, sizeof(dropped), ", %lld dropped", (long long)s->dropped);
    snprintf(line, size, "recorded %s: %lld frame%s, %.2f s%s", media_quote(name ? name : r->path),
             (long long)s->frames, s->frames == 1 ? "" : "s", (double)s->length_us * 1e-6, dropped);
}

int recorder_close(Recorder **recorder, char *line, size_t size, MediaError *error)
{
    Recorder *r = *recorder;
    if (line)
        *line = '\0';
    if (!r)
        return 0;
    recorder_end(r, atomic_load(&r->partial));
    (void)recorder_wait(r);
    if (line && r->state.frames && !r->error.fault)
        describe(r, line, size);
    const int ret = r->error.fault ? media_fail(error, r->error.fault, "%s", r->error.text) : 0;
    writer_close(&r->writer);
    overlay_close(&r->overlay);
    queue_close(&r->queue);
    pthread_mutex_destroy(&r->lock);
    free(r);
    *recorder = NULL;
    return ret;
}
