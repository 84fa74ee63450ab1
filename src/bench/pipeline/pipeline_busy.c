#include "bench/pipeline/pipeline_busy.h"

#include <stdlib.h>

static int add_span(PipelineBusy *busy, double begin, double end)
{
    if (busy->count == busy->room) {
        const size_t room = busy->room ? 2 * busy->room : 1024;
        PipelineSpan *const spans = realloc(busy->spans, room * sizeof(*spans));
        if (!spans)
            return -1;
        busy->spans = spans;
        busy->room = room;
    }
    busy->spans[busy->count++] = (PipelineSpan){begin, end};
    return 0;
}

int pipeline_busy_add(PipelineBusy *busy, const LumeqFrameStats *stats)
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
    const double x = ((const PipelineSpan *)a)->begin, y = ((const PipelineSpan *)b)->begin;
    return (x > y) - (x < y);
}

double pipeline_busy_any(PipelineBusy *busy)
{
    double sum = 0, end = 0;
    if (busy->count)
        qsort(busy->spans, busy->count, sizeof(*busy->spans), compare_begins);
    for (size_t i = 0; i < busy->count; i++) {
        const PipelineSpan *s = &busy->spans[i];
        const double begin = s->begin > end ? s->begin : end;
        if (s->end > begin) {
            sum += s->end - begin;
            end = s->end;
        }
    }
    return sum;
}

void pipeline_busy_free(PipelineBusy *busy)
{
    free(busy->spans);
    *busy = (PipelineBusy){0};
}
