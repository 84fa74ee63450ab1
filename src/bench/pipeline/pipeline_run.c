#include "bench/pipeline/pipeline_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine.h"
#include "app/terminal.h"
#include "bench/bench.h"
#include "bench/pcie.h"
#include "bench/pipeline/pipeline_busy.h"
#include "bench/pipeline/pipeline_planes.h"
#include "equalizer/backend.h"
#include "media/input/reader.h"
#include "media/output/writer.h"
#include "pipeline/pipeline.h"

/* How long the equalizer runs alone. */
#define LIBRARY_US 1e6

typedef struct Session {
    const PipelineJob *job;
    atomic_int stop;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source;
    Reader *reader;
    LumeqParams params;
    PipelineBusy busy;
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
    s->params = options_params(o);
    s->gpu_memory = s->job->gpu ? bench_gpu_memory((int)o->device) : -1;
    const int ret = engine_open(&s->engine, o, equalizer_writes_chroma(&s->params), &s->error);
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
        .threads = (int)o->threads,
        .memory = s->engine.memory,
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
    const int ret = engine_params(&s->params, s->job->options, s->source, 0, &s->error);
    if (ret >= 0 && lumeq_set_params(s->engine.equalizer, &s->params) < 0)
        return media_fail(&s->error, MEDIA_USAGE, "%s", lumeq_last_error(s->engine.equalizer));
    return ret;
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
    pipeline_busy_free(&s->busy);
    return ret < 0 || s->error.fault ? -1 : 0;
}

static int out_of_memory(Session *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "out of memory");
}

static int sink(Session *s, const AVFrame *frame)
{
    const double begin = bench_now_us();
    const int ret = s->writer ? writer_frame(s->writer, frame, &s->error) : 0;
    s->busy.sink_us += bench_now_us() - begin;
    if (s->job->sum)
        s->result->sum = pipeline_planes_sum(frame, s->result->sum);
    s->result->frames++;
    return ret;
}

static int take_item(Session *s, Item *item)
{
    if (!item->message.frame)
        return 0;
    s->busy.decode_us += item->message.decode_us;
    if (pipeline_busy_add(&s->busy, &item->stats) < 0)
        return out_of_memory(s);
    return sink(s, item->message.output);
}

/* As the program does it: a thread that decodes, one that equalizes, and this one. */
static int run_stages(Session *s)
{
    Pipeline *pipeline;
    const PipelineParts parts = {
        .reader = s->reader,
        .equalizer = s->engine.equalizer,
        .memory = s->engine.memory,
        .chroma = equalizer_writes_chroma(&s->params),
        .note = say_line,
    };
    int ret = pipeline_start(&pipeline, &parts, &s->error);
    while (ret >= 0) {
        Item *item = NULL;
        ret = pipeline_receive(pipeline, &item);
        if (ret >= 0)
            ret = take_item(s, item);
        item_free(&item);
    }
    if (ret != AVERROR_EOF)
        atomic_store(&s->stop, 1);
    pipeline_join(&pipeline, &s->error);
    return s->error.fault;
}

/* One after the other, so that the time for a part of it can be subtracted. */
static int run_in_turns(Session *s)
{
    int ret;
    do {
        Message message = {0};
        ret = reader_next(s->reader, &message, &s->error);
        if (ret >= 0 && message.frame) {
            s->busy.decode_us += message.decode_us;
            ret = sink(s, message.frame);
        }
        message_clear(&message);
    } while (ret >= 0);
    return s->error.fault;
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
    r->gpu_busy = pipeline_busy_any(&s->busy) / r->wall_us;
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
        ret = s.job->equalize && !s.job->pass ? run_stages(&s) : run_in_turns(&s);
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
        Message message = {0};
        ret = reader_next(s->reader, &message, &s->error);
        if (ret >= 0 && message.frame) {
            frames[count++] = message.frame;
            message.frame = NULL;
        }
        message_clear(&message);
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
        result->frame_bytes = pipeline_planes_size(frame, equalizer_writes_chroma(&s.params));
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
        if (pipeline_busy_add(&s->busy, &stats) < 0)
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
    pipeline_busy_free(&s.busy);
    result->frames = 0;
    pipeline_meter_begin(&meter);
    if (ret >= 0)
        ret = run_turns(&s, &turns, 1, LIBRARY_US);
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
