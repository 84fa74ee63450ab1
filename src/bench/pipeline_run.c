#include "bench/pipeline_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/terminal.h"
#include "bench/bench.h"
#include "equalizer/backend.h"
#include "media/checksum.h"
#include "media/convert.h"
#include "media/process.h"
#include "run/run.h"

#define RING_FRAMES 8 /* in turn, more than an equalizer has in flight */

/* How long pipeline_library() runs: at most a second, the time of the usual 250 frames. */
#define LIBRARY_US 1e6
#define LIBRARY_FRAME_US 4e3

#define PCIE_SECONDS 0.5

/* Time that a frame spent in a stage of the equalizer, in microseconds. */
typedef struct Span {
    double begin, end;
    int stage;
} Span;

typedef struct Session {
    const PipelineJob *job;
    atomic_int stop;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source;
    Reader *reader;
    LumeqParams params;
    PipelineResult *result;
    double gpu_memory; /* in use before */
    MediaError error;

    Span *spans;
    int span_count;
    double decode_us, sink_us;
    double wall_us, cpu_us; /* when the measurement began */
} Session;

static int out_of_memory(Session *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "out of memory");
}

/* ---- time ---- */

static double cpu_us(void)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void begin_measurement(Session *s)
{
    s->result->frames = 0;
    s->span_count = 0;
    s->wall_us = bench_now_us();
    s->cpu_us = cpu_us();
}

static void end_measurement(Session *s)
{
    s->result->wall_us = bench_now_us() - s->wall_us;
    s->result->cpu_us = cpu_us() - s->cpu_us;
}

/* Notes a frame that passed the equalizer. Returns 0, or a fault: out of memory. */
static int note_frame(Session *s, const LumeqFrameStats *stats)
{
    s->result->frames++;
    for (int i = 0; i < LUMEQ_STAGES; i++) {
        const Span span = {stats->stage_begin_us[i], stats->stage_end_us[i], i};
        if (span.end > span.begin && !av_dynarray2_add((void **)&s->spans, &s->span_count,
                                                       sizeof(span), (const uint8_t *)&span))
            return out_of_memory(s);
    }
    return 0;
}

static int compare_spans(const void *a, const void *b)
{
    const double x = ((const Span *)a)->begin, y = ((const Span *)b)->begin;
    return (x > y) - (x < y);
}

/* Share of the time in which the stage (-1: any stage) had a frame. Spans are sorted. */
static double busy(const Session *s, int stage)
{
    double sum = 0, end = 0;
    for (int i = 0; i < s->span_count; i++) {
        const Span *span = &s->spans[i];
        const double begin = fmax(span->begin, end);
        if ((stage >= 0 && span->stage != stage) || span->end <= begin)
            continue;
        sum += span->end - begin;
        end = span->end;
    }
    return sum / s->result->wall_us;
}

static void note_result(Session *s)
{
    const PipelineJob *job = s->job;
    PipelineResult *r = s->result;
    if (s->span_count)
        qsort(s->spans, (size_t)s->span_count, sizeof(*s->spans), compare_spans);
    r->decode_busy = s->decode_us / r->wall_us;
    if (s->writer)
        r->sink_busy = s->sink_us / r->wall_us;
    if (!job->equalize || job->pass)
        return;
    r->equalize_busy = busy(s, LUMEQ_STAGE_EQUALIZE);
    if (!job->gpu)
        return;
    r->upload_busy = busy(s, LUMEQ_STAGE_UPLOAD);
    r->download_busy = busy(s, LUMEQ_STAGE_DOWNLOAD);
    r->gpu_busy = busy(s, -1);
    const double now = bench_gpu_memory((int)job->options->device);
    if (s->gpu_memory >= 0 && now >= 0)
        r->gpu_memory_mib = now - s->gpu_memory;
}

/* ---- samples ---- */

/* Bytes of a row of a plane; *height gets its rows. */
static size_t plane_row(const AVFrame *frame, int plane, int *height)
{
    const SampleLayout layout = convert_layout(frame->format);
    const int x = plane ? layout.chroma_x : 0, y = plane ? layout.chroma_y : 0;
    const int interleaved = plane && layout.planes == 2;
    *height = (frame->height + (1 << y) - 1) >> y;
    return ((size_t)(frame->width + (1 << x) - 1) >> x) * (layout.depth > 8 ? 2 : 1) *
           (interleaved ? 2 : 1);
}

/* Bytes of luma, and of chroma if `chroma` is set, without padding. */
static int64_t planes_size(const AVFrame *frame, int chroma)
{
    const int planes = chroma ? convert_layout(frame->format).planes : 1;
    int64_t size = 0;
    for (int i = 0; i < planes; i++) {
        int height;
        const size_t row = plane_row(frame, i, &height);
        size += (int64_t)row * height;
    }
    return size;
}

/* Continues a checksum with all planes but alpha. */
static uint32_t sum_planes(const AVFrame *frame, uint32_t sum)
{
    const int planes = convert_layout(frame->format).planes;
    for (int i = 0; i < planes; i++) {
        int height;
        const size_t row = plane_row(frame, i, &height);
        for (int y = 0; y < height; y++)
            sum = checksum(sum, frame->data[i] + y * (ptrdiff_t)frame->linesize[i], row);
    }
    return sum;
}

/* ---- sessions ---- */

static int open_writer(Session *s)
{
    const Options *o = s->job->options;
    const int store = s->job->sink == PIPELINE_STORE;
    if (s->job->sink == PIPELINE_DROP)
        return 0;
    s->writer_options = (WriterOptions){
        .path = s->job->output,
        .format = store ? PIPELINE_RAW_FORMAT : NULL,
        .overwrite = 1,
        .stop = &s->stop,
        .video = {.codec = store ? "rawvideo" : o->vcodec,
                  .crf = store ? -1 : o->crf,
                  .preset = store ? NULL : o->preset,
                  .bitrate = -1,
                  .threads = (int)o->threads},
        .tracks = {.acodec = "none", .no_subs = 1, .no_chapters = 1, .no_metadata = 1},
    };
    return writer_create(&s->writer, &s->writer_options, NULL, &s->error);
}

static int open_engine(Session *s)
{
    const Options *o = s->job->options;
    if (!s->job->equalize)
        return 0;
    if (s->job->plain && setenv("LUMEQ_CPU_MASK", "0", 1) != 0)
        return out_of_memory(s);
    s->gpu_memory = s->job->gpu ? bench_gpu_memory((int)o->device) : -1;
    const int ret = engine_open(&s->engine, o, 0, &s->error);
    snprintf(s->result->where, sizeof(s->result->where), "%s", s->engine.where);
    return ret;
}

static int open_reader(Session *s)
{
    const Options *o = s->job->options;
    const ReaderOptions reader = {
        .from_us = -1,
        .to_us = -1,
        .frames = o->frames,
        .decoder = {.memory = s->engine.memory, .threads = (int)o->threads},
    };
    int ret = engine_open_source(&s->source, o, s->job->input, &s->stop, &s->error);
    if (ret >= 0 && s->writer)
        ret = writer_map(s->writer, s->source, &s->error);
    if (ret >= 0)
        ret = reader_open(&s->reader, s->source, &reader, &s->error);
    if (ret < 0 || !s->job->equalize)
        return ret;
    OptionsInput input = engine_input(o, s->source, NULL);
    input.fine = 0;
    ret = engine_params(&s->params, o, input, s->source, &s->error);
    return ret < 0 ? ret : engine_set_params(&s->engine, &s->params, &s->error);
}

static int session_open(Session *s, const PipelineJob *job, PipelineResult *result)
{
    *s = (Session){.job = job, .result = result};
    int ret = open_writer(s);
    if (ret >= 0)
        ret = open_engine(s);
    return ret < 0 ? ret : open_reader(s);
}

static int session_close(Session *s, int ret)
{
    if (ret < 0 || s->error.fault)
        snprintf(s->result->error, sizeof(s->result->error), "%s",
                 s->error.fault ? s->error.text : "the run failed");
    /* Frames first: the equalizer owns their memory. */
    writer_close(&s->writer);
    reader_close(&s->reader);
    source_close(&s->source);
    engine_close(&s->engine);
    av_freep(&s->spans);
    return ret < 0 || s->error.fault ? -1 : 0;
}

/* After a GPU is lost the CPU takes over: the measurement fails then. */
static int check_backend(Session *s)
{
    if (!s->job->gpu || !s->engine.equalizer ||
        !strcmp(lumeq_backend_name(s->engine.equalizer), "cuda"))
        return 0;
    return media_fail(&s->error, MEDIA_USAGE, "%s", lumeq_last_error(s->engine.equalizer));
}

static int no_frames(Session *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "no frame of %s could be decoded",
                      media_quote(s->job->input));
}

/* ---- all stages ---- */

static int take_frame(void *session, Frame *f)
{
    Session *s = session;
    const AVFrame *frame = f->out;
    s->decode_us += f->decoded.decode_us;
    if (note_frame(s, &f->stats) < 0)
        return s->error.fault;
    const double begin = bench_now_us();
    const int ret = s->writer ? writer_frame(s->writer, frame, &s->error) : 0;
    s->sink_us += bench_now_us() - begin;
    if (s->job->sum)
        s->result->sum = sum_planes(frame, s->result->sum);
    return ret;
}

/* Runs the program's threads: one decodes, one equalizes, and this one writes. Without the
 * equalizer one thread does everything, so that the time of a part can be subtracted. */
static int run_stages(Session *s)
{
    RunLoop loop = {.stop = &s->stop};
    const PipelineParts parts = {
        .reader = s->reader,
        .equalizer = s->engine.equalizer,
        .memory = s->engine.memory,
        .chroma = equalizer_writes_chroma(&s->params),
        .note = say_line,
    };
    sinks_add(&loop.sinks, (Sink){.self = s, .frame = take_frame});
    int ret = s->job->equalize && !s->job->pass ? run_pipeline(&loop, &parts, &s->error)
                                                : run_reader(&loop, s->reader, &s->error);
    const double begin = bench_now_us();
    if (ret >= 0 && s->writer)
        ret = writer_finish(s->writer, 0, &s->error);
    s->sink_us += bench_now_us() - begin;
    return ret;
}

int pipeline_run(const PipelineJob *job, PipelineResult *result)
{
    Session s;
    int ret = session_open(&s, job, result);
    begin_measurement(&s);
    if (ret >= 0)
        ret = run_stages(&s);
    end_measurement(&s);
    if (ret >= 0 && !result->frames)
        ret = no_frames(&s);
    if (ret >= 0)
        ret = check_backend(&s);
    if (ret >= 0)
        note_result(&s);
    return session_close(&s, ret);
}

/* Reads up to `max` frames. Returns their number, or a fault. */
static int read_frames(Session *s, AVFrame **frames, int max)
{
    int count = 0, ret = 0;
    while (count < max && ret >= 0) {
        Decoded decoded = {0};
        ret = reader_next(s->reader, &decoded, &s->error);
        if (ret >= 0 && decoded.frame) {
            frames[count++] = decoded.frame;
            decoded.frame = NULL;
        }
        decoded_clear(&decoded);
    }
    if (!count && !s->error.fault)
        no_frames(s);
    return s->error.fault ? s->error.fault : count;
}

int pipeline_probe(const PipelineJob *job, PipelineResult *result)
{
    Session s;
    AVFrame *frame = NULL;
    int ret = session_open(&s, job, result);
    if (ret >= 0)
        ret = read_frames(&s, &frame, 1);
    if (ret >= 0) {
        result->width = frame->width;
        result->height = frame->height;
        result->depth = equalizer_depth(frame);
        result->frame_bytes = planes_size(frame, equalizer_writes_chroma(&s.params));
    }
    if (ret >= 0 && s.writer)
        ret = writer_frame(s.writer, frame, &s.error);
    av_frame_free(&frame);
    return session_close(&s, ret);
}

/* ---- the equalizer alone ---- */

/* Input frames that are submitted in a loop, and an output for each frame in flight. */
typedef struct Ring {
    AVFrame *in[RING_FRAMES], *out[RING_FRAMES];
    int count;
    int64_t submitted;
} Ring;

static int open_ring(Session *s, Ring *ring)
{
    ring->count = read_frames(s, ring->in, RING_FRAMES);
    for (int i = 0; i < RING_FRAMES && ring->count > 0; i++) {
        ring->out[i] = frame_memory_output(s->engine.memory, ring->in[i % ring->count],
                                           equalizer_writes_chroma(&s->params));
        if (!ring->out[i])
            return out_of_memory(s);
    }
    return ring->count < 0 ? ring->count : 0;
}

/* After a failure frames may still be in flight: they are received first. */
static void close_ring(Session *s, Ring *ring)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    if (s->engine.equalizer)
        lumeq_flush(s->engine.equalizer);
    while (s->engine.equalizer && lumeq_receive(s->engine.equalizer, &frame, NULL) == 0)
        continue;
    for (int i = 0; i < RING_FRAMES; i++) {
        av_frame_free(&ring->in[i]);
        av_frame_free(&ring->out[i]);
    }
}

static int receive_finished(Session *s)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    LumeqFrameStats stats = {.size = sizeof(stats)};
    int ret;
    while ((ret = lumeq_receive(s->engine.equalizer, &frame, &stats)) == 0)
        if (note_frame(s, &stats) < 0)
            return s->error.fault;
    return ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END
               ? 0
               : equalizer_failed(s->engine.equalizer, ret, &s->error);
}

static int submit_next(Session *s, Ring *ring)
{
    const int out = (int)(ring->submitted % RING_FRAMES);
    const AVFrame *in = ring->in[out % ring->count];
    LumeqFrame frame = equalizer_frame(in, ring->out[out]);
    const LumeqImage before =
        equalizer_previous(ring->in[(out + ring->count - 1) % ring->count], in);
    if (before.plane[0])
        frame.previous = &before;
    frame.time = ring->submitted * 40000000;
    int ret;
    while ((ret = lumeq_submit(s->engine.equalizer, &frame)) == LUMEQ_ERR_AGAIN) {
        ret = receive_finished(s);
        if (ret < 0)
            return ret;
    }
    ring->submitted++;
    return ret < 0 ? equalizer_failed(s->engine.equalizer, ret, &s->error) : 0;
}

static int run_ring(Session *s, Ring *ring, int64_t min_frames, double for_us)
{
    const double begin = bench_now_us();
    int ret = 0;
    for (int64_t i = 0; ret >= 0 && (i < min_frames || bench_now_us() - begin < for_us); i++)
        ret = submit_next(s, ring);
    lumeq_flush(s->engine.equalizer);
    return ret < 0 ? ret : receive_finished(s);
}

int pipeline_library(const PipelineJob *job, PipelineResult *result)
{
    Session s;
    Ring ring = {0};
    const double for_us = fmin(LIBRARY_US, LIBRARY_FRAME_US * (double)job->options->frames);
    int ret = session_open(&s, job, result);
    if (ret >= 0)
        ret = open_ring(&s, &ring);
    if (ret >= 0)
        ret = run_ring(&s, &ring, RING_FRAMES, 0); /* the first frames are slow */
    begin_measurement(&s);
    if (ret >= 0)
        ret = run_ring(&s, &ring, 1, for_us);
    end_measurement(&s);
    if (ret >= 0)
        ret = check_backend(&s);
    if (ret >= 0)
        note_result(&s);
    result->decode_busy = NAN;
    close_ring(&s, &ring);
    return session_close(&s, ret);
}

int pipeline_pcie(const PipelineJob *job, PipelineResult *result)
{
    double us = 0;
    long count = 0;
    const int ret =
        bench_copies(&us, &count, (int)job->options->device, job->way, (size_t)job->size,
                     PCIE_SECONDS, result->error, sizeof(result->error));
    result->wall_us = us * (double)count;
    result->frames = count;
    return ret;
}

/* ---- processes ---- */

typedef struct Child {
    PipelineWork *work;
    const PipelineJob *job;
} Child;

static void clear(PipelineResult *r)
{
    *r = (PipelineResult){.wall_us = NAN,
                          .cpu_us = NAN,
                          .memory_mib = NAN,
                          .gpu_memory_mib = NAN,
                          .gpu_busy = NAN,
                          .decode_busy = NAN,
                          .upload_busy = NAN,
                          .equalize_busy = NAN,
                          .download_busy = NAN,
                          .sink_busy = NAN};
}

static int child_main(void *child, int output)
{
    const Child *c = child;
    PipelineResult result;
    clear(&result);
    const int failed = c->work(c->job, &result) < 0;
    const int unwritten = write(output, &result, sizeof(result)) != sizeof(result);
    _exit(failed || unwritten); /* without flushing the parent's buffered stdout */
}

int pipeline_child(PipelineWork *work, const PipelineJob *job, PipelineResult *result)
{
    Child child = {work, job};
    Process process;
    const ProcessOptions options = {.body = child_main, .opaque = &child};
    size_t done = 0;
    ssize_t n;
    clear(result);
    const int reason = process_start(&process, &options);
    if (reason) {
        snprintf(result->error, sizeof(result->error), "no process: %s", strerror(reason));
        return -1;
    }
    while (done < sizeof(*result) &&
           (n = process_read(&process, (char *)result + done, sizeof(*result) - done, -1)) != 0)
        done += n > 0 ? (size_t)n : 0;
    const int whole = done == sizeof(*result), status = process_wait(&process, -1);
    result->memory_mib = (double)process.memory_kib / 1024;
    if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!whole || !result->error[0])
        snprintf(result->error, sizeof(result->error), "a run's process ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return -1;
}
