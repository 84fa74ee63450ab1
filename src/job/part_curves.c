#include "job/part_curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job/frame_block.h"
#include "run/curve_planner.h"
#include "run/planned_curves.h"

typedef struct Planning {
    JobPlan *plan;
    CurvePlanner *planner;
    AtomicFile file;
    BlockWriter block;
    int64_t start;
    MeasuredFrame last[JOB_LEAD + 1]; /* frames, by their number modulo their count */
    int64_t number;
    const LumeqParams *params;
    int histograms; /* are wanted */
    CurveWatcher watcher;
} Planning;

static int put_curve(Planning *p, const MeasuredFrame *frame, const LumeqCurve *curve,
                     MediaError *error)
{
    int (*const pack)(const LumeqCurve *curve, void *bytes, size_t *size) =
        p->histograms && !planned_counts(p->params, curve) ? lumeq_curve_pack
                                                           : lumeq_curve_pack_bare;
    size_t size = 0;
    int ret = pack(curve, NULL, &size);
    void *bytes = ret < 0 ? NULL : block_writer_reserve(&p->block, size);
    if (bytes)
        ret = pack(curve, bytes, &size);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    return bytes ? block_writer_add(&p->block, frame, error)
                 : media_fail(error, MEDIA_OUTPUT, "out of memory");
}

static int64_t position_of(const Planning *p, const MeasuredFrame *frame)
{
    return av_rescale_q_rnd(frame->pts, p->plan->time_base, AV_TIME_BASE_Q, AV_ROUND_DOWN) -
           p->start;
}

/* The frame is the first of the part. */
static void begin_part(Planning *p, JobPart *part, const MeasuredFrame *frame)
{
    const int known = JOB_LEAD + 1;
    *part = (JobPart){.first = p->number,
                      .begin_pts = INT64_MIN,
                      .end_pts = INT64_MAX,
                      .seek_us = -1,
                      .position = p->file.written};
    if (!p->number)
        return;
    part[-1].end_pts = part->begin_pts = frame->pts;
    part->before_pts = p->last[(p->number - 1) % known].pts;
    part->before[0] = p->last[(p->number - 1) % known].mark;
    part->before[1] = p->number > 1 ? p->last[(p->number - 2) % known].mark : 0;
    if (p->number > JOB_LEAD)
        part->seek_us = position_of(p, &p->last[(p->number - JOB_LEAD) % known]);
}

static int plan_part(Planning *p, JobPart *part, int64_t end, MediaError *error)
{
    const JobPlan *plan = p->plan;
    const int64_t shift = av_rescale_q(plan->zero, AV_TIME_BASE_Q, plan->time_base);
    const int64_t first = p->number;
    int ret;
    p->block = (BlockWriter){.file = &p->file};
    for (; p->number < end; p->number++) {
        MeasuredFrame frame;
        LumeqCurve *curve = NULL;
        ret = curve_planner_next(p->planner, shift, plan->time_base, &frame, &curve, error);
        if (ret > 0) {
            if (p->number == first)
                begin_part(p, part, &frame);
            p->last[p->number % (JOB_LEAD + 1)] = frame;
            ret = put_curve(p, &frame, curve, error);
            if (p->watcher.see)
                p->watcher.see(p->watcher.opaque, &frame, curve);
            lumeq_curve_unref(&curve);
        } else if (ret == 0) {
            ret = media_fail(error, MEDIA_INPUT, "a frame has no curve");
        }
        if (ret < 0)
            return ret;
    }
    part->sum = p->block.sum;
    block_writer_close(&p->block);
    part->frames = end - first;
    part->size = p->file.written - part->position;
    return 0;
}

static int plan_all(Planning *p, const FilmFrames *frames, MediaError *error)
{
    JobPlan *plan = p->plan;
    int ret = 0;
    free(plan->parts);
    plan->part_count = 0;
    plan->parts = calloc((size_t)frames->parts, sizeof(*plan->parts));
    if (!plan->parts)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    for (; ret >= 0 && plan->part_count < frames->parts; plan->part_count++)
        ret = plan_part(p, &plan->parts[plan->part_count], frames->first[plan->part_count + 1],
                        error);
    plan->frames = p->number;
    KeyText text = {0}; /* the plan tells where the blocks are */
    return ret < 0 ? ret : sealed_file_commit(&p->file, &text, error);
}

int part_curves_plan(JobPlan *plan, MeasureFile *file, const LumeqParams *params, int64_t lookahead,
                     const FilmFrames *frames, int64_t start, int histograms, CurveWatcher watcher,
                     MediaError *error)
{
    Planning p = {.plan = plan,
                  .start = start,
                  .params = params,
                  .histograms = histograms,
                  .watcher = watcher};
    char *path = job_path(plan->folder, "curves");
    int ret = path ? curve_planner_open(&p.planner, file, params, lookahead, plan->depth, error)
                   : media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (ret >= 0)
        ret = sealed_file_create(&p.file, path, error);
    if (ret >= 0)
        ret = plan_all(&p, frames, error);
    atomic_file_close(&p.file);
    block_writer_close(&p.block);
    curve_planner_close(&p.planner);
    free(path);
    return ret;
}

/* ---- reading ---- */

struct PartCurves {
    SealedFile file;
    BlockReader block;
};

int part_curves_open(PartCurves **curves, const JobPlan *plan, const JobPart *part,
                     MediaError *error)
{
    PartCurves *c = *curves = calloc(1, sizeof(*c));
    if (!c)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = sealed_file_open(&c->file, job_path(plan->folder, "curves"), error);
    if (ret == -ENOENT)
        return media_fail(error, MEDIA_INPUT, "%s, the curves of the plan, is missing",
                          media_quote(c->file.path));
    return ret < 0 ? ret
                   : block_reader_open(&c->block, &c->file, part->position, part->size,
                                       (uint32_t)part->sum, error);
}

int part_curves_next(void *curves, int64_t shift, AVRational base, MeasuredFrame *frame,
                     LumeqCurve **curve, MediaError *error)
{
    PartCurves *c = curves;
    const void *bytes;
    size_t size;
    (void)shift, (void)base;
    const int ret = block_reader_next(&c->block, frame, &bytes, &size, error);
    if (ret > 0 && lumeq_curve_unpack(curve, bytes, size) < 0)
        return media_fail(error, MEDIA_INPUT, "%s does not hold what a plan does: %s",
                          media_quote(c->file.path), lumeq_last_error(NULL));
    return ret;
}

void part_curves_close(PartCurves **curves)
{
    PartCurves *c = *curves;
    if (!c)
        return;
    block_reader_close(&c->block);
    sealed_file_close(&c->file);
    free(c);
    *curves = NULL;
}
