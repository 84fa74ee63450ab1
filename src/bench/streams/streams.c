#include "bench/streams/streams.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "media/compat.h"
#include "media/gpu_frame.h"
#include "run/equalizer_frame.h"

/* Until all threads have begun. */
#define HEAD_START_US 200000

/* Frames before the clock starts: decoder and equalizer are made by the first ones, and the memory
 * of frames in flight with those that follow. */
#define FRAMES_BEFORE 10

/* Packets of one video in memory. */
#define MOST_BYTES ((int64_t)1 << 30)

/* A stream while it runs. */
typedef struct StreamWork {
    pthread_t thread;
    int running;
    Engine engine;
    FrameMemory *device; /* where pictures stay on the GPU, or NULL */
    Decoder *decoder;
    AVPacket *packet;
    AVFrame *frame, *before;
    int64_t sent, sent_before; /* packets; before the clock started */
    int is_kept;               /* the packet was not taken yet */
    double begin;              /* bench_now_us(), when it starts; 0: it has not */
} StreamWork;

/* ---- the film ------------------------------------------------------------------------------ */

static int add_packet(Film *f, const AVPacket *packet)
{
    AVPacket **more = av_realloc_array(f->packets, (size_t)f->count + 1, sizeof(more[0]));
    if (!more)
        return AVERROR(ENOMEM);
    f->packets = more;
    more[f->count] = av_packet_clone(packet);
    return more[f->count] && av_packet_make_refcounted(more[f->count]) >= 0 ? f->count++
                                                                            : AVERROR(ENOMEM);
}

static int read_packets(Film *f)
{
    const int video = f->source->video->index;
    AVPacket *packet = av_packet_alloc();
    int64_t bytes = 0;
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && bytes < MOST_BYTES && (ret = source_read(f->source, packet)) >= 0) {
        bytes += packet->size;
        if (packet->stream_index == video)
            ret = add_packet(f, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ret == AVERROR_EOF ? 0 : ret;
}

int film_open(Film *f, const Options *o, const char *path, MediaError *error)
{
    static const atomic_int never;
    *f = (Film){0};
    int ret = engine_open_source(&f->source, o, path, &never, error);
    if (ret < 0)
        return ret;
    const AVStream *video = f->source->video;
    const AVRational rate = source_frame_rate(f->source);
    f->rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 25;
    if (read_packets(f) < 0 || f->count == 0)
        return media_fail(error, MEDIA_INPUT, "no packets of %s can be kept", media_quote(path));
    f->length = (int64_t)llround(f->count / f->rate / av_q2d(video->time_base));
    return 0;
}

void film_close(Film *f)
{
    for (int i = 0; i < f->count; i++)
        av_packet_free(&f->packets[i]);
    av_freep(&f->packets);
    source_close(&f->source);
}

/* ---- one stream ---------------------------------------------------------------------------- */

static void *alloc_device(void *equalizer, size_t size)
{
    return lumeq_alloc_device(equalizer, size);
}

static void free_device(void *equalizer, void *memory)
{
    lumeq_free_device(equalizer, memory);
}

static int out_of_memory(Stream *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "out of memory");
}

static void wait_until(double us)
{
    const double left = us - bench_now_us();
    const struct timespec nap = {(time_t)(left / 1e6), (long)(fmod(left, 1e6) * 1e3)};
    if (left > 0)
        nanosleep(&nap, NULL);
}

/* The next packet, when it is due. Each round of the film comes behind the one before. */
static int take_packet(Stream *s)
{
    StreamWork *w = s->work;
    const Film *f = s->film;
    const int64_t later = w->sent / f->count * f->length;
    if (w->is_kept)
        return 0;
    if (s->job->rate > 0 && w->begin > 0)
        wait_until(w->begin + (double)(w->sent - w->sent_before) * 1e6 / s->job->rate);
    if (av_packet_ref(w->packet, f->packets[w->sent % f->count]) < 0)
        return out_of_memory(s);
    if (w->packet->pts != AV_NOPTS_VALUE)
        w->packet->pts += later;
    if (w->packet->dts != AV_NOPTS_VALUE)
        w->packet->dts += later;
    w->sent++;
    w->is_kept = 1;
    return 0;
}

static int next_frame(Stream *s)
{
    StreamWork *w = s->work;
    int ret;
    while ((ret = decoder_receive(w->decoder, w->frame, &s->error)) == AVERROR(EAGAIN)) {
        ret = take_packet(s);
        if (ret < 0)
            return ret;
        ret = decoder_send(w->decoder, w->packet);
        w->is_kept = ret == AVERROR(EAGAIN);
        if (!w->is_kept)
            av_packet_unref(w->packet);
        if (ret < 0 && ret != AVERROR(EAGAIN))
            return out_of_memory(s);
    }
    return ret < 0 && !s->error.fault ? media_fail(&s->error, MEDIA_INPUT, "%s", media_av_text(ret))
                                      : ret;
}

/* NULL: the GPU has no room for it. */
static AVFrame *make_on_device(StreamWork *w)
{
    AVFrame *out = frame_memory_output(w->device, w->frame, 1);
    for (int i = 0; out && i < 3; i++)
        if (out->data[i] && !frame_memory_owns(w->device, out->data[i]))
            av_frame_free(&out);
    return out;
}

static int equalize(Stream *s)
{
    StreamWork *w = s->work;
    if (s->job->decode_only) {
        av_frame_unref(w->frame);
        return 0;
    }
    AVFrame *out = w->device ? make_on_device(w) : NULL;
    const int on_device = out != NULL;
    s->hosted += w->device && !out;
    if (!out)
        out = equalizer_output(w->engine.memory, w->frame, 1, &s->error);
    if (!out)
        return s->error.fault;
    LumeqFrame frame = equalizer_frame(w->frame, out);
    const LumeqImage before = equalizer_before(w->before, w->frame);
    const LumeqSync sync = equalizer_after(w->frame);
    if (on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    if (before.plane[0])
        frame.previous = &before;
    if (sync.after)
        frame.sync = &sync;
    const int ret = lumeq_process(w->engine.equalizer, &frame, NULL);
    av_frame_free(&out);
    av_frame_free(&w->before);
    w->before = av_frame_clone(w->frame);
    av_frame_unref(w->frame);
    if (ret < 0)
        return equalizer_failed(w->engine.equalizer, ret, &s->error);
    return w->before ? 0 : out_of_memory(s);
}

static int open_stream(Stream *s)
{
    const Options *o = s->job->options;
    StreamWork *w = s->work = calloc(1, sizeof(*w));
    if (!w)
        return out_of_memory(s);
    w->engine.share_streams = !s->job->own_streams;
    w->engine.real_time = s->job->rate > 0;
    w->engine.no_stage_times = 1;
    int ret = engine_open(&w->engine, o, 1, &s->error);
    const FrameAllocator device = {alloc_device, free_device, w->engine.equalizer, 1};
    const DecoderOptions decoder = engine_decoder(&w->engine, o, s->film->source);
    if (ret >= 0)
        ret = decoder_open(&w->decoder, s->film->source, &decoder, &s->error);
    if (ret < 0)
        return ret;
    const int stays = !s->job->download && strcmp(w->engine.backend, "cuda") == 0;
    w->device = stays ? frame_memory_create(&device) : NULL;
    w->packet = av_packet_alloc();
    w->frame = av_frame_alloc();
    ret = (stays && !w->device) || !w->packet || !w->frame ? out_of_memory(s) : 0;
    for (int i = 0; i < FRAMES_BEFORE && ret >= 0; i++) {
        ret = next_frame(s);
        if (ret >= 0)
            ret = equalize(s);
    }
    w->sent_before = w->sent;
    return ret;
}

static int note_delay(Stream *s)
{
    const StreamWork *w = s->work;
    const double period = 1e6 / s->job->rate;
    const double delay = bench_now_us() - w->begin - (double)s->frames * period;
    double *more = realloc(s->delays, ((size_t)s->frames + 1) * sizeof(more[0]));
    if (!more)
        return out_of_memory(s);
    s->delays = more;
    more[s->frames] = delay / 1e3;
    s->late += delay > 2 * period;
    return 0;
}

static void *stream_main(void *stream)
{
    Stream *s = stream;
    StreamWork *w = s->work;
    const double end = w->begin + s->job->seconds * 1e6;
    int ret = 0;
    wait_until(w->begin);
    while (ret >= 0 && bench_now_us() < end) {
        ret = next_frame(s);
        if (ret >= 0)
            ret = equalize(s);
        if (ret >= 0 && s->job->rate > 0)
            ret = note_delay(s);
        s->frames += ret >= 0;
    }
    s->wall_us = bench_now_us() - w->begin;
    s->on_gpu = decoder_is_on_gpu(w->decoder);
    return NULL;
}

static void close_stream(Stream *s)
{
    StreamWork *w = s->work;
    if (!w)
        return;
    av_frame_free(&w->before);
    av_frame_free(&w->frame);
    av_packet_free(&w->packet);
    decoder_close(&w->decoder);
    frame_memory_close(&w->device);
    engine_close(&w->engine);
    free(w);
    s->work = NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- all of them --------------------------------------------------------------------------- */

static int start(Stream *streams, int count)
{
    const double begin = bench_now_us() + HEAD_START_US;
    for (int i = 0; i < count; i++) {
        StreamWork *w = streams[i].work;
        w->begin = begin;
        w->running = pthread_create(&w->thread, NULL, stream_main, &streams[i]) == 0;
        if (!w->running)
            return media_fail(&streams[i].error, MEDIA_INPUT, "no thread can be started");
    }
    return 0;
}

int streams_run(Stream *streams, int count, void (*tick)(void *opaque), void *opaque)
{
    int ret = 0;
    for (int i = 0; i < count && ret >= 0; i++)
        ret = open_stream(&streams[i]);
    if (ret >= 0)
        ret = start(streams, count);
    for (double past = 1; ret >= 0 && past < streams[0].job->seconds; past++) {
        wait_until(streams[0].work->begin + past * 1e6);
        tick(opaque);
    }
    for (int i = 0; i < count; i++)
        if (streams[i].work && streams[i].work->running)
            pthread_join(streams[i].work->thread, NULL);
    for (int i = 0; i < count; i++) {
        close_stream(&streams[i]);
        if (streams[i].delays)
            qsort(streams[i].delays, (size_t)streams[i].frames, sizeof(double), by_size);
        ret = streams[i].error.fault ? -1 : ret;
    }
    return ret < 0 ? -1 : 0;
}
