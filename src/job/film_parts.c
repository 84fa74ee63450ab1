#include "job/film_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Video packets that are read to see if they have times. */
#define TRIED_PACKETS 64

#define USUAL_RATE 25.0 /* frames per second, if the container has no rate */

/* Damage is reported up to as many frames early as there are decoder threads, or some frames late.
 */
#define DAMAGE_MARGIN 96

/* Starting a process for a shorter part costs more than it gains. */
#define SHORT_SECONDS 5.0

/* Reads the first video packets. Returns true if one of them has a time. */
static bool find_times(Source *source)
{
    AVPacket *packet = av_packet_alloc();
    int found = 0, ret = packet ? 0 : AVERROR(ENOMEM);
    for (int tried = 0; !found && tried < TRIED_PACKETS && ret >= 0;) {
        ret = source_read(source, packet);
        if (ret >= 0 && packet->stream_index == source->video->index) {
            found = packet->pts != AV_NOPTS_VALUE || packet->dts != AV_NOPTS_VALUE;
            tried++;
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return found;
}

int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *o, MediaError *error)
{
    const AVRational average = source->video->avg_frame_rate;
    const double rate = average.num > 0 && average.den > 0 ? av_q2d(average) : USUAL_RATE;
    const int64_t start = source_start(source), from = FFMAX(o->from_us, 0);
    int64_t end = FFMAX(source->format->duration, from);
    const int timed = find_times(source);
    if (o->timed && !timed)
        return media_fail(error, MEDIA_INPUT, "the video packets of %s have no timestamps",
                          source->name);
    if (o->to_us >= 0)
        end = FFMIN(end, o->to_us);
    if (o->frames >= 0 && (double)o->frames / rate < (double)(end - from) / AV_TIME_BASE)
        end = from + (int64_t)((double)o->frames / rate * AV_TIME_BASE);
    const double seconds = (double)(end - from) / AV_TIME_BASE;
    int64_t parts = FFMIN(o->at_a_time, (int64_t)(seconds / SHORT_SECONDS));
    parts = o->parts ? o->parts : FFMAX(parts, (int64_t)(seconds / o->seconds + 0.5));
    parts = timed ? FFMAX(FFMIN3(parts, JOB_MOST_PARTS, (int64_t)(seconds * rate)), 1) : 1;
    for (int64_t i = 0; i < parts; i++) {
        JobPart *part = job_plan_add_part(plan);
        if (!part)
            return media_no_memory(error, MEDIA_OUTPUT);
        *part = (JobPart){.begin_pts = INT64_MIN, .end_pts = INT64_MAX, .seek_us = -1};
        if (!i)
            continue;
        const int64_t begin = from + av_rescale(i, end - from, parts);
        part[-1].end_pts = part->begin_pts =
            av_rescale_q(start + begin, AV_TIME_BASE_Q, plan->time_base);
        part->seek_us = FFMAX(begin - (int64_t)(JOB_LEAD / rate * AV_TIME_BASE), -1);
    }
    plan->frames = (int64_t)(seconds * rate);
    plan->length_us = end - from;
    return 0;
}

/* ---- measured ---- */

int film_frames_add(FilmFrames *f, const RecordFile *file, int64_t most, MediaError *error)
{
    const int64_t add = FFMIN(file->count, most - f->count);
    MeasuredFrame *larger = realloc(f->all, (size_t)(f->count + add + 1) * sizeof(*larger));
    if (!larger)
        return media_no_memory(error, MEDIA_OUTPUT);
    f->all = larger;
    for (int64_t i = 0; i < add; i++)
        f->all[f->count++] = file->records[i].frame;
    return 0;
}

/* Marks the frames at which no part may begin. */
static void find_uncut(const FilmFrames *f, const JobPlan *plan, int64_t (*number)(int64_t time_us),
                       char *uncut)
{
    const int64_t shift = av_rescale_q(plan->zero, AV_TIME_BASE_Q, plan->time_base);
    int64_t last = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const int64_t before = FFMIN(i, DAMAGE_MARGIN);
        const int64_t after = FFMIN(f->count - i, DAMAGE_MARGIN + 1);
        if (f->all[i].damaged)
            memset(uncut + i - before, 1, (size_t)(before + after));
        if (!number)
            continue;
        const int64_t now =
            number(av_rescale_q(f->all[i].pts - shift, plan->time_base, AV_TIME_BASE_Q));
        uncut[i] |= i && now == last;
        last = now;
    }
}

/* Adds the part that begins with frame `first` and ends the one before it. */
static int begin_part(const FilmFrames *f, JobPlan *plan, int64_t first, int64_t start,
                      MediaError *error)
{
    const MeasuredFrame *at = f->all + first;
    JobPart *part = job_plan_add_part(plan);
    if (!part)
        return media_no_memory(error, MEDIA_OUTPUT);
    *part = (JobPart){.first = first,
                      .frames = f->count - first,
                      .begin_pts = INT64_MIN,
                      .end_pts = INT64_MAX,
                      .seek_us = -1};
    if (!first)
        return 0;
    part[-1].frames = first - part[-1].first;
    part[-1].end_pts = part->begin_pts = at->pts;
    part->before_pts = at[-1].pts;
    part->before[0] = at[-1].mark;
    part->before[1] = first > 1 ? at[-2].mark : 0;
    if (first > JOB_LEAD)
        part->seek_us =
            av_rescale_q_rnd(at[-JOB_LEAD].pts, plan->time_base, AV_TIME_BASE_Q, AV_ROUND_DOWN) -
            start;
    return 0;
}

int film_frames_cut(const FilmFrames *f, JobPlan *plan, int64_t wanted, int64_t start,
                    int64_t (*number)(int64_t time_us), MediaError *error)
{
    char *uncut = calloc(1, (size_t)f->count + 1);
    int ret = uncut ? 0 : media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0)
        find_uncut(f, plan, number, uncut);
    plan->part_count = 0;
    plan->frames = f->count;
    wanted = FFMIN(wanted, f->count);
    for (int64_t i = 0, at = 0, last = -1; ret >= 0 && i < wanted; i++) {
        at = FFMAX(at, i * f->count / wanted);
        while (at && at < f->count && uncut[at])
            at++;
        if (at > last && at < f->count)
            ret = begin_part(f, plan, last = at, start, error);
    }
    free(uncut);
    return ret;
}

void film_frames_free(FilmFrames *f)
{
    free(f->all);
    *f = (FilmFrames){0};
}
