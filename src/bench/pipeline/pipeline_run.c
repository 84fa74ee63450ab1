#include "bench/pipeline/pipeline_run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/terminal.h"
#include "bench/bench.h"
#include "bench/pcie.h"
#include "equalizer/backend.h"
#include "lumeq/lumeq.h"
#include "media/checksum.h"
#include "media/convert.h"
#include "media/input/reader.h"
#include "media/output/writer.h"
#include "media/process.h"
#include "run/run.h"

typedef struct Span {
    double begin, end; /* us */
} Span;

/* {0} is an empty one. */
typedef struct Busy {
    Span *spans; /* of all stages of the equalizer */
    size_t count, room;
    double stage_us[LUMEQ_STAGES]; /* at least one frame was in the stage */
    double stage_end[LUMEQ_STAGES];
    double decode_us, sink_us;
} Busy;

/* ---- how long stages were at work ---- */

static int add_span(Busy *busy, double begin, double end)
{
    if (busy->count == busy->room) {
        const size_t room = busy->room ? 2 * busy->room : 1024;
        Span *const spans = realloc(busy->spans, room * sizeof(*spans));
        if (!spans)
            return -1;
        busy->spans = spans;
        busy->room = room;
    }
    busy->spans[busy->count++] = (Span){begin, end};
    return 0;
}

/* A frame's stages in the equalizer. 0, or -1: out of memory. */
static int add_busy(Busy *busy, const LumeqFrameStats *stats)
{
    for (int i = 0; i < LUMEQ_STAGES; i++) {
        const double begin = stats->stage_begin_us[i], end = stats->stage_end_us[i];
        if (end <= begin)
            continue;
        /* A stage takes frames in order. */
        const double new_begin = begin > busy->stage_end[i] ? begin : busy->stage_end[i];
        if (end > new_begin) {
            busy->stage_us[i] += end - new_begin;
            busy->stage_end[i] = end;
        }
        if (add_span(busy, begin, end) < 0)
            return -1;
    }
    return 0;
}

static int compare_begins(const void *a, const void *b)
{
    const double x = ((const Span *)a)->begin, y = ((const Span *)b)->begin;
    return (x > y) - (x < y);
}

/* The time in which at least one stage of the equalizer was at work. */
static double any_busy_us(Busy *busy)
{
    double sum = 0, end = 0;
    if (busy->count)
        qsort(busy->spans, busy->count, sizeof(*busy->spans), compare_begins);
    for (size_t i = 0; i < busy->count; i++) {
        const Span *s = &busy->spans[i];
        const double begin = s->begin > end ? s->begin : end;
        if (s->end > begin) {
            sum += s->end - begin;
            end = s->end;
        }
    }
    return sum;
}

static void free_busy(Busy *busy)
{
    free(busy->spans);
    *busy = (Busy){0};
}

/* ---- samples of a frame ---- */

typedef struct Plane {
    const uint8_t *data;
    ptrdiff_t stride;
    size_t row;
    int height;
} Plane;

static Plane plane_of(const AVFrame *frame, int number)
{
    const SampleLayout layout = convert_layout(frame->format);
    const size_t sample = layout.depth > 8 ? 2 : 1;
    const int over_x = number ? (1 << layout.chroma_x) - 1 : 0;
    const int over_y = number ? (1 << layout.chroma_y) - 1 : 0;
    const size_t width = (size_t)(frame->width + over_x) >> (number ? layout.chroma_x : 0);
    return (Plane){
        .data = frame->data[number],
        .stride = frame->linesize[number],
        .row = width * sample * (number && layout.planes == 2 ? 2 : 1),
        .height = (frame->height + over_y) >> (number ? layout.chroma_y : 0),
    };
}

/* Bytes of its luma, and with `chroma` of its chroma, without what lies beside the rows. */
static int64_t planes_size(const AVFrame *frame, int chroma)
{
    const int planes = chroma ? convert_layout(frame->format).planes : 1;
    int64_t size = 0;
    for (int i = 0; i < planes; i++) {
        const Plane plane = plane_of(frame, i);
        size += (int64_t)plane.row * plane.height;
    }
    return size;
}

/* Adds the samples of all planes but alpha to a checksum. */
static uint32_t sum_planes(const AVFrame *frame, uint32_t sum)
{
    const int planes = convert_layout(frame->format).planes;
    for (int i = 0; i < planes; i++) {
        const Plane plane = plane_of(frame, i);
        for (int y = 0; y < plane.height; y++)
            sum = checksum(sum, plane.data + y * plane.stride, plane.row);
    }
    return sum;
}

/* ---- runs ---- */

/* How long the equalizer runs alone: a second at most, as for the usual 250 frames. */
#define LIBRARY_US 1e6
#define LIBRARY_FRAME_US 4e3

typedef struct Session {
    const PipelineJob *job;
    atomic_int stop;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source;
    Reader *reader;
    LumeqParams params;
    Busy busy;
    PipelineResult *result;
    double gpu_memory; /* in use before */
    MediaError error;
} Session;

static int open_writer(Session *s)
{
    const PipelineJob *job = s->job;
    const Options *o = job->options;
    const int store = job->sink == PIPELINE_STORE;
    if (job->sink == PIPELINE_DROP)
        return 0;
    s->writer_options = (WriterOptions){
        .path = job->output,
        .format = store ? PIPELINE_RAW_FORMAT : NULL,
        .overwrite = 1,
        .stop = &s->stop,
        .video = {.codec = store ? PIPELINE_RAW_CODEC : o->vcodec,
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
        return media_fail(&s->error, MEDIA_INPUT, "out of memory");
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
    return ret < 0 ? ret : reader_open(&s->reader, s->source, &reader, &s->error);
}

static int set_look(Session *s)
{
    if (!s->job->equalize)
        return 0;
    OptionsInput input = engine_input(s->job->options, s->source, NULL);
    input.fine = 0;
    const int ret = engine_params(&s->params, s->job->options, input, s->source, &s->error);
    return ret < 0 ? ret : engine_set_params(&s->engine, &s->params, &s->error);
}

static int session_open(Session *s, const PipelineJob *job, PipelineResult *result)
{
    *s = (Session){.job = job, .result = result};
    int ret = open_writer(s);
    if (ret >= 0)
        ret = open_engine(s);
    if (ret >= 0)
        ret = open_reader(s);
    return ret < 0 ? ret : set_look(s);
}

static int session_close(Session *s, int ret)
{
    if (ret < 0 || s->error.fault)
        snprintf(s->result->error, sizeof(s->result->error), "%s",
                 s->error.fault ? s->error.text : "the run has failed");
    /* Frames first: their memory is the equalizer's. */
    writer_close(&s->writer);
    reader_close(&s->reader);
    source_close(&s->source);
    engine_close(&s->engine);
    free_busy(&s->busy);
    return ret < 0 || s->error.fault ? -1 : 0;
}

static int out_of_memory(Session *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "out of memory");
}

static int take_frame(void *session, Frame *f)
{
    Session *s = session;
    const AVFrame *frame = f->out;
    s->busy.decode_us += f->decoded.decode_us;
    if (add_busy(&s->busy, &f->stats) < 0)
        return out_of_memory(s);
    const double begin = bench_now_us();
    const int ret = s->writer ? writer_frame(s->writer, frame, &s->error) : 0;
    s->busy.sink_us += bench_now_us() - begin;
    if (s->job->sum)
        s->result->sum = sum_planes(frame, s->result->sum);
    s->result->frames++;
    return ret;
}

/* As the program does it: a thread that decodes, one that equalizes, and this one. Without the
 * equalizer one thread does all, so that the time for a part of it can be subtracted. */
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
    return s->job->equalize && !s->job->pass ? run_pipeline(&loop, &parts, &s->error)
                                             : run_reader(&loop, s->reader, &s->error);
}

static int finish_writer(Session *s)
{
    const double begin = bench_now_us();
    const int ret = s->writer ? writer_finish(s->writer, 0, &s->error) : 0;
    s->busy.sink_us += bench_now_us() - begin;
    return ret;
}

static void note_busy(Session *s)
{
    PipelineResult *r = s->result;
    r->decode_busy = s->busy.decode_us / r->wall_us;
    if (s->writer)
        r->sink_busy = s->busy.sink_us / r->wall_us;
    if (s->job->equalize && !s->job->pass)
        r->equalize_busy = s->busy.stage_us[LUMEQ_STAGE_EQUALIZE] / r->wall_us;
}

/* A GPU that was lost is replaced by the CPU, which is not what was to be measured. */
static int check_backend(Session *s)
{
    if (!s->job->gpu || !s->engine.equalizer ||
        !strcmp(lumeq_backend_name(s->engine.equalizer), "cuda"))
        return 0;
    return media_fail(&s->error, MEDIA_USAGE, "%s", lumeq_last_error(s->engine.equalizer));
}

/* The GPU's shares and memory, where it has done the work. */
static void note_gpu(Session *s)
{
    PipelineResult *r = s->result;
    if (!s->engine.equalizer || s->job->pass || !s->job->gpu)
        return;
    r->upload_busy = s->busy.stage_us[LUMEQ_STAGE_UPLOAD] / r->wall_us;
    r->download_busy = s->busy.stage_us[LUMEQ_STAGE_DOWNLOAD] / r->wall_us;
    r->gpu_busy = any_busy_us(&s->busy) / r->wall_us;
    const double now = bench_gpu_memory((int)s->job->options->device);
    if (s->gpu_memory >= 0 && now >= 0)
        r->gpu_memory_mib = now - s->gpu_memory;
}

int pipeline_run(const void *job, PipelineResult *result)
{
    Session s;
    PipelineMeter meter;
    int ret = session_open(&s, job, result);
    pipeline_meter_begin(&meter);
    if (ret >= 0)
        ret = run_stages(&s);
    if (ret >= 0)
        ret = finish_writer(&s);
    pipeline_meter_end(&meter, result);
    if (ret >= 0 && !result->frames)
        ret = media_fail(&s.error, MEDIA_INPUT, "no frame of %s could be decoded",
                         media_quote(s.job->input));
    if (ret >= 0)
        ret = check_backend(&s);
    if (ret >= 0) {
        note_busy(&s);
        note_gpu(&s);
    }
    return session_close(&s, ret);
}

/* Up to `most` frames: how many, or a negative number. */
static int read_frames(Session *s, AVFrame **frames, int most)
{
    int count = 0, ret = 0;
    while (count < most && ret >= 0) {
        Decoded decoded = {0};
        ret = reader_next(s->reader, &decoded, &s->error);
        if (ret >= 0 && decoded.frame) {
            frames[count++] = decoded.frame;
            decoded.frame = NULL;
        }
        decoded_clear(&decoded);
    }
    if (!count && !s->error.fault)
        media_fail(&s->error, MEDIA_INPUT, "no frame of %s could be decoded",
                   media_quote(s->job->input));
    return s->error.fault ? s->error.fault : count;
}

int pipeline_probe(const void *job, PipelineResult *result)
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

/* Frames in turns, and as many outputs as can be in flight. */
typedef struct Turns {
    AVFrame *in[LUMEQ_MAX_SLOTS], *out[LUMEQ_MAX_SLOTS];
    int count;
    int64_t submitted;
} Turns;

static int open_turns(Session *s, Turns *turns)
{
    turns->count = read_frames(s, turns->in, LUMEQ_MAX_SLOTS);
    for (int i = 0; i < LUMEQ_MAX_SLOTS && turns->count > 0; i++) {
        turns->out[i] = frame_memory_output(s->engine.memory, turns->in[i % turns->count],
                                            equalizer_writes_chroma(&s->params));
        if (!turns->out[i])
            return out_of_memory(s);
    }
    return turns->count < 0 ? turns->count : 0;
}

/* Those still in flight after a failure, too. */
static void close_turns(Session *s, Turns *turns)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    if (s->engine.equalizer)
        lumeq_flush(s->engine.equalizer);
    while (s->engine.equalizer && lumeq_receive(s->engine.equalizer, &frame, NULL) == 0)
        continue;
    for (int i = 0; i < LUMEQ_MAX_SLOTS; i++) {
        av_frame_free(&turns->in[i]);
        av_frame_free(&turns->out[i]);
    }
}

/* Takes what is finished: 0, or a negative number. */
static int receive_finished(Session *s)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    LumeqFrameStats stats = {.size = sizeof(stats)};
    int ret;
    while ((ret = lumeq_receive(s->engine.equalizer, &frame, &stats)) == 0) {
        s->result->frames++;
        if (add_busy(&s->busy, &stats) < 0)
            return out_of_memory(s);
    }
    return ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END
               ? 0
               : equalizer_failed(s->engine.equalizer, ret, &s->error);
}

static int submit_next(Session *s, Turns *turns)
{
    const int out = (int)(turns->submitted % LUMEQ_MAX_SLOTS);
    LumeqFrame frame = equalizer_frame(turns->in[out % turns->count], turns->out[out]);
    const LumeqImage before = equalizer_before(turns->in[(out + turns->count - 1) % turns->count],
                                               turns->in[out % turns->count]);
    if (before.plane[0])
        frame.previous = &before;
    frame.time = turns->submitted * 40000000;
    int ret;
    while ((ret = lumeq_submit(s->engine.equalizer, &frame)) == LUMEQ_ERR_AGAIN) {
        ret = receive_finished(s);
        if (ret < 0)
            return ret;
    }
    turns->submitted++;
    return ret < 0 ? equalizer_failed(s->engine.equalizer, ret, &s->error) : 0;
}

static int run_turns(Session *s, Turns *turns, int64_t least, double for_us)
{
    const double begin = bench_now_us();
    int ret = 0;
    for (int64_t i = 0; ret >= 0 && (i < least || bench_now_us() - begin < for_us); i++)
        ret = submit_next(s, turns);
    lumeq_flush(s->engine.equalizer);
    return ret < 0 ? ret : receive_finished(s);
}

int pipeline_library(const void *job, PipelineResult *result)
{
    Session s;
    Turns turns = {0};
    PipelineMeter meter;
    int ret = session_open(&s, job, result);
    if (ret >= 0)
        ret = open_turns(&s, &turns);
    if (ret >= 0)
        ret = run_turns(&s, &turns, LUMEQ_MAX_SLOTS, 0); /* the first ones are slow */
    free_busy(&s.busy);
    result->frames = 0;
    pipeline_meter_begin(&meter);
    if (ret >= 0)
        ret = run_turns(&s, &turns, 1,
                        fmin(LIBRARY_US, LIBRARY_FRAME_US * (double)s.job->options->frames));
    pipeline_meter_end(&meter, result);
    if (ret >= 0)
        ret = check_backend(&s);
    if (ret >= 0) {
        note_busy(&s);
        result->decode_busy = NAN;
        note_gpu(&s);
    }
    close_turns(&s, &turns);
    return session_close(&s, ret);
}

/* ---- the process of a run ---- */

static double cpu_us(void)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void pipeline_meter_begin(PipelineMeter *meter)
{
    *meter = (PipelineMeter){.wall_us = bench_now_us(), .cpu_us = cpu_us()};
}

void pipeline_meter_end(const PipelineMeter *meter, PipelineResult *result)
{
    result->wall_us = bench_now_us() - meter->wall_us;
    result->cpu_us = cpu_us() - meter->cpu_us;
}

static void clear(PipelineResult *result)
{
    *result = (PipelineResult){.wall_us = NAN,
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

typedef struct Child {
    PipelineWork *work;
    const void *job;
} Child;

static int child_main(void *child, int output)
{
    const Child *c = child;
    PipelineResult result;
    clear(&result);
    const int failed = c->work(c->job, &result) < 0;
    const int unwritten = write(output, &result, sizeof(result)) != sizeof(result);
    _exit(failed || unwritten); /* what the parent has buffered for stdout is the parent's */
}

int pipeline_child(PipelineWork *work, const void *job, PipelineResult *result)
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
