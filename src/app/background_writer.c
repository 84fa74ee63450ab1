#include "app/background_writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "app/drawing.h"
#include "app/engine.h"
#include "app/output_depth.h"
#include "app/terminal.h"
#include "media/compat.h"
#include "media/output/writer.h"
#include "pipeline/queue.h"
#include "run/run.h"

/* Two seconds at 30 frames, to ride out a disk that stops for a moment, in no more memory than this
 * (a 4K frame has 12 MB). */
#define QUEUE_LENGTH 60
#define QUEUE_BYTES (192 << 20)

/* Of this thread and those it starts, the encoder's: the preview comes first. */
#define NICE 5

/* Recordings of one second. */
#define MOST_NAMES 100

struct BackgroundWriter {
    const Options *options;
    const char *path; /* the options', or `name` */
    char name[64];
    WriterOptions writer_options;
    Writer *writer;
    const Source *source;
    Drawing *drawing;
    Queue *queue; /* of Item *: a frame or a packet */
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
    BackgroundWriterState state; /* under the lock */
};

static void free_queued(void *item)
{
    item_free(item);
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
        .segments = named ? (SegmentOptions){0} : engine_segments(o),
        .copy_video = o->record_raw,
        .video = engine_encoder(o),
        .tracks = {.no_metadata = o->no_metadata, .note = say_line},
    };
}

/* `name` NULL: the options' OUTPUT; else another one, which is never overwritten. */
static int create(BackgroundWriter **writer, const Options *options, const char *name,
                  const atomic_int *stop, MediaError *error)
{
    BackgroundWriter *w = calloc(1, sizeof(*w));
    *writer = w;
    if (!w)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    pthread_mutex_init(&w->lock, NULL);
    w->state.bytes = -1;
    w->first = AV_NOPTS_VALUE;
    w->options = options;
    snprintf(w->name, sizeof(w->name), "%s", name ? name : "");
    w->path = name ? w->name : options->output;
    w->writer_options = writer_options(options, w->path, name != NULL, stop);
    if (output_depth_is_auto(options))
        say(SAY_DETAILS, "--pix-fmt auto10: what is recorded beside the window keeps its depth");
    const int ret = writer_create(&w->writer, &w->writer_options, NULL, error);
    if (ret < 0)
        background_writer_close(writer, NULL, 0, &(MediaError){0});
    return ret;
}

int background_writer_create(BackgroundWriter **writer, const Options *options,
                             const atomic_int *stop, MediaError *error)
{
    return create(writer, options, NULL, stop, error);
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

int background_writer_create_named(BackgroundWriter **writer, const Options *options,
                                   const atomic_int *stop, MediaError *error)
{
    char name[64];
    struct stat there;
    for (int i = 1; i <= MOST_NAMES; i++) {
        name_of_now(name, sizeof(name), i);
        if (lstat(name, &there) < 0)
            break;
    }
    return create(writer, options, name, stop, error);
}

const char *background_writer_path(const BackgroundWriter *w)
{
    return w->path;
}

/* ---- the thread ---- */

/* Times begin at 0 with the first one. */
static int64_t shift_of(BackgroundWriter *w, int64_t time)
{
    if (w->first == AV_NOPTS_VALUE)
        w->first = time;
    return w->first;
}

static void note_written(BackgroundWriter *w, int64_t end)
{
    const int64_t us = av_rescale_q(end, w->source->video->time_base, AV_TIME_BASE_Q);
    pthread_mutex_lock(&w->lock);
    w->state.frames++;
    w->state.length_us = us;
    w->state.bytes = writer_bytes(w->writer);
    pthread_mutex_unlock(&w->lock);
}

static int write_packet(void *writer, AVPacket *packet, MediaError *error)
{
    BackgroundWriter *w = writer;
    const int64_t first = shift_of(w, packet->pts);
    packet->pts -= first;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= first;
    const int64_t end = packet->pts + packet->duration;
    const int ret = writer_video_packet(w->writer, packet, error);
    if (ret >= 0)
        note_written(w, end);
    return ret;
}

static int shift_frame(void *writer, SinkFrame *f)
{
    AVFrame *frame = f->item->message.output;
    frame->pts -= shift_of(writer, frame->pts);
    return 0;
}

static int write_frame(void *writer, SinkFrame *f)
{
    BackgroundWriter *w = writer;
    const AVFrame *frame = f->item->message.output;
    const int ret = writer_frame(w->writer, frame, f->error);
    if (ret >= 0)
        note_written(w, frame->pts + FRAME_DURATION(frame));
    return ret;
}

static int take_item(void *writer, Item **item, MediaError *error)
{
    const BackgroundWriter *w = writer;
    (void)error;
    return queue_take(w->queue, item, QUEUE_WAIT);
}

/* Returns AVERROR_EOF at the end, also of a picture, which has its one frame. */
static int write_all(BackgroundWriter *w)
{
    RunLoop loop = {.stop = NULL};
    Options options = *w->options;
    options.compare = 0; /* the window's comparison is not written */
    if (drawing_open(&w->drawing, &options, &w->error) < 0)
        return w->error.fault;
    sinks_add(&loop.sinks, (Sink){.self = w, .packet = write_packet, .frame = shift_frame});
    sinks_add(&loop.sinks, drawing_sink(w->drawing));
    sinks_add(&loop.sinks, (Sink){.self = w, .frame = write_frame});
    return run_items(&loop, take_item, w, &w->error);
}

static void *recorder_main(void *arg)
{
    BackgroundWriter *w = arg;
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    const int ret = write_all(w);
    queue_stop(w->queue);
    const int partial = atomic_load(&w->partial);
    if (ret == AVERROR_EOF || partial)
        (void)writer_finish(w->writer, partial, &w->error);
    pthread_mutex_lock(&w->lock);
    w->state.failed = w->error.fault != 0;
    w->state.bytes = writer_bytes(w->writer);
    w->state.done = 1;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int background_writer_start(BackgroundWriter *w, const Source *source, MediaError *error)
{
    w->source = source;
    const int ret = writer_map(w->writer, source, error);
    if (ret < 0)
        return ret;
    const QueueOptions options = {
        .item = sizeof(Item *), .count = QUEUE_LENGTH, .bytes = QUEUE_BYTES, .free = free_queued};
    if (queue_open(&w->queue, &options) < 0)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (pthread_create(&w->thread, NULL, recorder_main, w) != 0)
        return media_fail(error, MEDIA_INPUT, "no thread can be started to record");
    w->running = 1;
    return 0;
}

/* ---- what is recorded ---- */

static void note_dropped(BackgroundWriter *w)
{
    pthread_mutex_lock(&w->lock);
    w->state.dropped += !w->state.done;
    pthread_mutex_unlock(&w->lock);
}

/* Takes the item over; NULL: out of memory. Returns true if it will be written. */
static int put(BackgroundWriter *w, Item *item, QueueWait wait)
{
    if (item && queue_put(w->queue, &item, message_bytes(&item->message), wait) >= 0)
        return 1;
    item_free(&item);
    note_dropped(w);
    return 0;
}

static int keep_stats(Item *item, const LumeqFrameStats *stats)
{
    const size_t size = (size_t)stats->bins * sizeof(uint32_t);
    item->arrays = malloc(sizeof(*item->arrays));
    if (!item->arrays)
        return -1;
    memcpy(item->arrays->hist_in, stats->hist_in, size);
    memcpy(item->arrays->hist_out, stats->hist_out, size);
    memcpy(item->arrays->curve, stats->curve, size);
    item->stats = *stats;
    item->stats.hist_in = item->arrays->hist_in;
    item->stats.hist_out = item->arrays->hist_out;
    item->stats.curve = item->arrays->curve;
    return 0;
}

void background_writer_frame(BackgroundWriter *w, const AVFrame *frame,
                             const LumeqFrameStats *stats)
{
    Item *item = calloc(1, sizeof(*item));
    if (item)
        item->message.output = av_frame_clone(frame);
    if (item && (!item->message.output || (w->options->overlay && keep_stats(item, stats) < 0)))
        item_free(&item);
    (void)put(w, item, QUEUE_TRY);
}

static int put_packet(BackgroundWriter *w, const AVPacket *packet, QueueWait wait)
{
    if (!w->follows && !(packet->flags & AV_PKT_FLAG_KEY)) {
        if (w->begun)
            note_dropped(w);
        return 0;
    }
    Item *item = calloc(1, sizeof(*item));
    if (item)
        item->message.packets[0] = av_packet_clone(packet);
    if (item && item->message.packets[0])
        item->message.packet_count = 1;
    else
        item_free(&item);
    w->follows = put(w, item, wait);
    w->begun = 1;
    return w->follows;
}

void background_writer_packet(BackgroundWriter *w, const AVPacket *packet)
{
    (void)put_packet(w, packet, QUEUE_TRY);
}

int background_writer_packet_wait(BackgroundWriter *w, const AVPacket *packet)
{
    return put_packet(w, packet, QUEUE_WAIT);
}

/* ---- the end ---- */

void background_writer_end(BackgroundWriter *w, int partial)
{
    atomic_store(&w->partial, partial);
    if (w->running)
        queue_end(w->queue, AVERROR_EOF);
}

BackgroundWriterState background_writer_state(BackgroundWriter *w)
{
    pthread_mutex_lock(&w->lock);
    const BackgroundWriterState state = w->state;
    pthread_mutex_unlock(&w->lock);
    return state;
}

BackgroundWriterState background_writer_wait(BackgroundWriter *w)
{
    if (w->running)
        pthread_join(w->thread, NULL);
    w->running = 0;
    return w->state;
}

static void describe(const BackgroundWriter *w, char *line, size_t size)
{
    char dropped[64] = "";
    const BackgroundWriterState *s = &w->state;
    const char *name = writer_name(w->writer);
    if (s->dropped)
        snprintf(dropped, sizeof(dropped), ", %lld dropped", (long long)s->dropped);
    const char *video = writer_video(w->writer);
    snprintf(line, size, "recorded %s: %lld frame%s, %.2f s%s%s%s",
             media_quote(name ? name : w->path), (long long)s->frames, s->frames == 1 ? "" : "s",
             (double)s->length_us * 1e-6, dropped, *video ? "; " : "", video);
}

int background_writer_close(BackgroundWriter **writer, char *line, size_t size, MediaError *error)
{
    BackgroundWriter *w = *writer;
    if (line)
        *line = '\0';
    if (!w)
        return 0;
    background_writer_end(w, atomic_load(&w->partial));
    (void)background_writer_wait(w);
    if (line && w->state.frames && !w->error.fault)
        describe(w, line, size);
    const int ret = w->error.fault ? media_fail(error, w->error.fault, "%s", w->error.text) : 0;
    writer_close(&w->writer);
    drawing_close(&w->drawing);
    queue_close(&w->queue);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *writer = NULL;
    return ret;
}
