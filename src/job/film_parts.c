#include "job/film_parts.h"

#include <stdlib.h>
#include <string.h>

#include "media/message.h"

#define FIRST_ROOM 4096

/* Damage is noticed some frames before those that it is in come out, as many as threads decode at a
 * time, and some after. */
#define DAMAGE_MARGIN 96

/* A process for less costs more than it gains. */
#define SHORT_SECONDS 5.0

typedef struct Times {
    int64_t *pts;
    int64_t count, room;
} Times;

static int add_time(Times *t, int64_t pts, MediaError *error)
{
    if (t->count == t->room) {
        const int64_t room = t->room ? 2 * t->room : FIRST_ROOM;
        int64_t *larger = realloc(t->pts, (size_t)room * sizeof(*larger));
        if (!larger)
            return media_fail(error, MEDIA_OUTPUT, "out of memory");
        t->pts = larger;
        t->room = room;
    }
    t->pts[t->count++] = pts;
    return 0;
}

static int read_times(Times *t, Source *source, MediaError *error)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? 0 : media_fail(error, MEDIA_INPUT, "out of memory"), got = ret;
    while (ret >= 0 && (got = source_read(source, packet)) >= 0) {
        const int64_t pts = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        if (packet->stream_index == source->video->index && pts != AV_NOPTS_VALUE &&
            !(packet->flags & AV_PKT_FLAG_DISCARD))
            ret = add_time(t, pts, error);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    if (ret >= 0 && got == AVERROR(ENOMEM))
        return media_fail(error, MEDIA_INPUT, "out of memory");
    return ret >= 0 && got == AVERROR_EXIT ? media_fail(error, MEDIA_INPUT, "interrupted") : ret;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Leaves those of the wanted part, in order, each once; at the end the one behind them, if there
 * is one that is not wanted. */
static int64_t choose_times(Times *t, const Source *source, const FilmListOptions *o,
                            AVRational base)
{
    const int64_t start = source_start(source);
    int64_t count = 0;
    if (!t->count)
        return 0; /* qsort() takes no NULL */
    qsort(t->pts, (size_t)t->count, sizeof(*t->pts), compare_times);
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t us = av_rescale_q(t->pts[i], base, AV_TIME_BASE_Q) - start;
        if ((count && t->pts[i] == t->pts[count - 1]) || (o->from_us >= 0 && us < o->from_us) ||
            (o->to_us >= 0 && us >= o->to_us) || (o->frames >= 0 && count >= o->frames))
            continue;
        t->pts[count++] = t->pts[i];
    }
    return count;
}

/* The part that begins with packet number `at`. */
static int add_part(JobPlan *plan, const Times *t, int64_t at, int64_t start, MediaError *error)
{
    const AVRational base = plan->time_base;
    JobPart *part = job_plan_add_part(plan);
    if (!part)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    *part = (JobPart){.begin_pts = INT64_MIN, .end_pts = INT64_MAX, .seek_us = -1};
    if (!at)
        return 0;
    part[-1].end_pts = part->begin_pts = t->pts[at];
    part->before_pts = t->pts[at - 1];
    if (at > JOB_LEAD)
        part->seek_us =
            av_rescale_q_rnd(t->pts[at - JOB_LEAD], base, AV_TIME_BASE_Q, AV_ROUND_DOWN) - start;
    return 0;
}

/* Of a film of so many seconds. */
static int64_t count_parts(const FilmListOptions *o, double seconds)
{
    const int64_t parts = (int64_t)(seconds / o->seconds + 0.5);
    return FFMAX(parts, FFMIN(o->at_a_time, (int64_t)(seconds / SHORT_SECONDS)));
}

int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *o, MediaError *error)
{
    const AVRational base = plan->time_base;
    Times times = {0};
    int ret = read_times(&times, source, error);
    const int64_t count = ret < 0 ? 0 : choose_times(&times, source, o, base);
    if (ret >= 0 && !count)
        ret = media_fail(error, MEDIA_INPUT, "%s has no packet of video", source->name);
    const int64_t span = count ? times.pts[count - 1] - times.pts[0] : 0;
    int64_t parts = o->parts ? o->parts : count_parts(o, (double)span * av_q2d(base));
    parts = FFMAX(FFMIN(FFMIN(parts, o->most_parts), count), 1);
    for (int64_t i = 0; ret >= 0 && i < parts; i++)
        ret = add_part(plan, &times, i * count / parts, source_start(source), error);
    plan->frames = count;
    plan->length_us = av_rescale_q(span, base, AV_TIME_BASE_Q);
    if (ret >= 0 && o->frames >= 0 && count == o->frames)
        plan->parts[plan->part_count - 1].end_pts = times.pts[count - 1] + 1;
    free(times.pts);
    return ret;
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
