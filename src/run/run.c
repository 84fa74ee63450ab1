#include "run/run.h"

#include <assert.h>

static int give(RunLoop *run, Frame *f, MediaError *error)
{
    const Sinks *sinks = &run->sinks;
    int ret = 0;
    f->number = run->number;
    f->is_first = run->frames == 0;
    f->begin_us = run_now_us();
    f->error = error;
    for (int p = 0; p < f->decoded.packet_count; p++)
        for (int i = 0; i < sinks->count && ret >= 0; i++)
            if (sinks->all[i].packet)
                ret = sinks->all[i].packet(sinks->all[i].self, f->decoded.packets[p], error);
    if (ret < 0 || !f->out)
        return ret;
    f->time_us = av_rescale_q(f->out->pts, f->out->time_base, AV_TIME_BASE_Q);
    f->zero_us = run->input ? input_zero(run->input) : 0;
    for (int i = 0; i < sinks->count && ret >= 0; i++)
        if (sinks->all[i].frame)
            ret = sinks->all[i].frame(sinks->all[i].self, f);
    if (ret >= 0) {
        run->number++;
        run->frames++;
    }
    return ret < 0 ? ret : 0;
}

int run_frames(RunLoop *run, RunNext *next, void *opaque, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && (!run->stop || atomic_load(run->stop) == RUN_ON)) {
        Frame *frame = NULL;
        ret = next(opaque, &frame, error);
        if (ret >= 0)
            ret = give(run, frame, error);
        frame_free(&frame);
    }
    for (int i = 0; i < run->sinks.count; i++)
        if (run->sinks.all[i].end)
            run->sinks.all[i].end(run->sinks.all[i].self, ret == AVERROR_EOF, error);
    return ret;
}

/* Leaves `error` alone: pipeline_join() reports failures. */
static int receive(void *pipeline, Frame **frame, MediaError *error)
{
    (void)error;
    return pipeline_receive(pipeline, frame);
}

int run_pipeline(RunLoop *run, const PipelineParts *parts, MediaError *error)
{
    Pipeline *pipeline;
    int on = RUN_ON;
    int ret = pipeline_start(&pipeline, parts, error);
    if (ret >= 0)
        ret = run_frames(run, receive, pipeline, error);
    if (ret != AVERROR_EOF && run->stop)
        atomic_compare_exchange_strong(run->stop, &on, RUN_OVER);
    pipeline_join(&pipeline, error);
    return error->fault;
}

static int take_frame(void *input, Frame **frame, MediaError *error)
{
    const int ret = input_take(input, frame, QUEUE_WAIT, error);
    if (ret >= 0)
        FFSWAP(AVFrame *, (*frame)->out, (*frame)->decoded.frame);
    return ret;
}

int run_input(RunLoop *run, Input *input, MediaError *error)
{
    if (input_start(input, NULL, error) >= 0)
        (void)run_frames(run, take_frame, input, error);
    input_stop(input);
    return error->fault;
}

/* ---- sink ---- */

void sinks_add(Sinks *sinks, Sink sink)
{
    if (!sink.self)
        return;
    assert(sinks->count < SINKS_MOST);
    sinks->all[sinks->count++] = sink;
}

static int copy_packet(void *writer, AVPacket *packet, MediaError *error)
{
    return writer_packet(writer, packet, error);
}

static int encode_frame(void *writer, Frame *f)
{
    if (f->is_first)
        writer_set_start(writer, f->zero_us);
    return writer_frame(writer, f->out, f->error);
}

Sink writer_sink(Writer *writer)
{
    return (Sink){.self = writer, .packet = copy_packet, .frame = encode_frame};
}
