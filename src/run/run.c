#include "run/run.h"

#include <stdlib.h>
#include <time.h>

double run_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int give(RunLoop *run, Item *item, MediaError *error)
{
    const Sinks *sinks = &run->sinks;
    const Message *m = &item->message;
    SinkFrame frame = {
        .item = item,
        .number = run->number,
        .is_first = run->frames == 0,
        .begin_us = run_now_us(),
        .error = error,
    };
    int ret = 0;
    for (int p = 0; p < m->packet_count; p++)
        for (int i = 0; i < sinks->count && ret >= 0; i++)
            if (sinks->all[i].packet)
                ret = sinks->all[i].packet(sinks->all[i].self, m->packets[p], error);
    if (ret < 0 || !m->output)
        return ret;
    frame.time_us = av_rescale_q(m->output->pts, m->output->time_base, AV_TIME_BASE_Q);
    frame.zero_us = run->reader ? reader_zero(run->reader) : 0;
    for (int i = 0; i < sinks->count && ret >= 0; i++)
        if (sinks->all[i].frame)
            ret = sinks->all[i].frame(sinks->all[i].self, &frame);
    if (ret >= 0) {
        run->number++;
        run->frames++;
    }
    return ret < 0 ? ret : 0;
}

int run_items(RunLoop *run, RunNext *next, void *opaque, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && (!run->stop || atomic_load(run->stop) == RUN_ON)) {
        Item *item = NULL;
        ret = next(opaque, &item, error);
        if (ret >= 0)
            ret = give(run, item, error);
        item_free(&item);
    }
    for (int i = 0; i < run->sinks.count; i++)
        if (run->sinks.all[i].end)
            run->sinks.all[i].end(run->sinks.all[i].self, ret == AVERROR_EOF, error);
    return ret;
}

/* pipeline_join() reports failures. */
static int receive(void *pipeline, Item **item, MediaError *error)
{
    (void)error;
    return pipeline_receive(pipeline, item);
}

int run_pipeline(RunLoop *run, const PipelineParts *parts, MediaError *error)
{
    Pipeline *pipeline;
    int on = RUN_ON;
    int ret = pipeline_start(&pipeline, parts, error);
    if (ret >= 0)
        ret = run_items(run, receive, pipeline, error);
    if (ret != AVERROR_EOF)
        atomic_compare_exchange_strong(run->stop, &on, RUN_OVER);
    pipeline_join(&pipeline, error);
    return error->fault;
}

static int read_item(void *reader, Item **item, MediaError *error)
{
    Item *read = *item = calloc(1, sizeof(*read));
    if (!read)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = reader_next(reader, &read->message, error);
    read->message.output = read->message.frame;
    read->message.frame = NULL;
    return ret;
}

int run_reader(RunLoop *run, Reader *reader, MediaError *error)
{
    (void)run_items(run, read_item, reader, error);
    return error->fault;
}
