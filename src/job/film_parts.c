#include "job/film_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Packets of video that are read to see whether they have times. */
#define TRIED_PACKETS 64

#define USUAL_RATE 25.0

/* Damage is noticed some frames before those that it is in come out, as many as threads decode at a
 * time, and some after. */
#define DAMAGE_MARGIN 96

/* A process for less costs more than it gains. */
#define SHORT_SECONDS 5.0

/* MEDIA_INPUT: they have no times, or there are none. */
static int check_times(Source *source, MediaError *error)
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
    return found ? 0
                 : media_fail(error, MEDIA_INPUT, "%s has no packet of video with a time",
                              source->name);
}

int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *o, MediaError *error)
{
    const AVRational average = source->video->avg_frame_rate;
    const double rate = average.num > 0 && average.den > 0 ? av_q2d(average) : USUAL_RATE;
    const int64_t start = source_start(source), from = FFMAX(o->from_us, 0);
    int64_t end = FFMAX(source->format->duration, from);
    if (check_times(source, error) < 0)
        return error->fault;
    if (o->to_us >= 0)
        end = FFMIN(end, o->to_us);
    if (o->frames >= 0 && (double)o->frames / rate < (double)(end - from) / AV_TIME_BASE)
        end = from + (int64_t)((double)o->frames / rate * AV_TIME_BASE);
    const double seconds = (double)(end - from) / AV_TIME_BASE;
    int64_t parts = FFMIN(o->at_a_time, (int64_t)(seconds / SHORT_SECONDS));
    parts = o->parts ? o->parts : FFMAX(parts, (int64_t)(seconds / o->seconds + 0.5));
    parts = FFMAX(FFMIN3(parts, JOB_MOST_PARTS, (int64_t)(seconds * rate)), 1);
    for (int64_t i = 0; i < parts; i++) {
        JobPart *part = job_plan_add_part(plan);
        if (!part)
            return media_fail(error, MEDIA_OUTPUT, "out of memory");
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

int film_frames_read(FilmFrames *f, MeasureFile *file, MediaError *error)
{
    const size_t count = (size_t)measure_file_count(file);
    MeasureCursor cursor = {0};
    MeasuredFrame frame;
    int ret;
    *f = (FilmFrames){.pts = calloc(count + 1, sizeof(*f->pts)), .uncut = calloc(1, count + 1)};
    if (!f->pts || !f->uncut)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    while ((ret = measure_file_read(file, &cursor, &frame, NULL, error)) > 0) {
        const int64_t n = f->count++, before = FFMIN(n, DAMAGE_MARGIN);
        const int64_t after = FFMIN((int64_t)count - n, DAMAGE_MARGIN + 1);
        f->pts[n] = frame.pts;
        f->end = frame.pts + frame.duration;
        if (frame.damaged)
            memset(f->uncut + n - before, 1, (size_t)(before + after));
    }
    return ret;
}

void film_frames_keep_together(FilmFrames *f, int64_t (*number)(int64_t time_us), int64_t shift,
                               AVRational base)
{
    int64_t last = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const int64_t now = number(av_rescale_q(f->pts[i] - shift, base, AV_TIME_BASE_Q));
        f->uncut[i] |= i && now == last;
        last = now;
    }
}

int film_frames_cut(FilmFrames *f, int64_t parts, MediaError *error)
{
    parts = FFMIN(parts, f->count);
    f->first = calloc((size_t)parts + 2, sizeof(*f->first));
    if (!f->first)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    f->parts = f->count > 0;
    for (int64_t i = 1, at = 1; i < parts; i++) {
        at = FFMAX(at, i * f->count / parts);
        while (at < f->count && f->uncut[at])
            at++;
        if (at > f->first[f->parts - 1] && at < f->count)
            f->first[f->parts++] = at;
    }
    f->first[f->parts] = f->count;
    return 0;
}

void film_frames_free(FilmFrames *f)
{
    free(f->pts);
    free(f->uncut);
    free(f->first);
    *f = (FilmFrames){0};
}
