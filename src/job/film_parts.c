#include "job/film_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/measure_pass.h"

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

/* ---- part reader ---- */

#define FIRST_STEP_US INT64_C(4000000)
#define MOST_TRIES 40

#define BEFORE ((int)(sizeof(((PartPlace *)0)->before) / sizeof(AVFrame *)))

int64_t part_seek_again(const JobPart *part, int tries)
{
    int64_t back = 0;
    for (int i = 0; i < tries; i++)
        back = back ? 4 * back : FIRST_STEP_US;
    return part->seek_us > back ? part->seek_us - back : -1;
}

void part_reader_close(PartPlace *p)
{
    for (int i = 0; i < BEFORE; i++)
        av_frame_free(&p->before[i]);
    input_close(&p->input);
    source_close(&p->source);
}

/* Opens the film again; frames are converted to `depth` bits. */
static int open_try(PartPlace *p, int depth, MediaError *error)
{
    part_reader_close(p);
    p->options.span = &p->span;
    int ret = p->open(p->opaque, &p->source, error);
    if (ret >= 0)
        ret = input_open(&p->input, p->source, &p->options, error);
    if (ret >= 0 && depth)
        decoder_deepen(input_decoder(p->input), depth);
    return ret >= 0 ? input_start(p->input, NULL, error) : ret;
}

/* Reads up to the frame before the part. Returns 1 if it came, 0 if not. */
static int read_up_to(PartPlace *p, const JobPlan *plan, const JobPart *part, MediaError *error)
{
    int found = 0, ret = 0;
    while (!found && ret >= 0) {
        Frame *taken = NULL;
        ret = input_take(p->input, &taken, QUEUE_WAIT, error);
        AVFrame *frame = taken ? taken->decoded.frame : NULL;
        if (frame) {
            const int64_t pts =
                frame->pts + av_rescale_q(plan->zero, AV_TIME_BASE_Q, frame->time_base);
            av_frame_free(&p->before[BEFORE - 1]);
            memmove(&p->before[1], &p->before[0], (BEFORE - 1) * sizeof(p->before[0]));
            p->before[0] = frame;
            taken->decoded.frame = NULL;
            found = pts >= part->before_pts ? 1 + (pts > part->before_pts) : 0;
        }
        frame_free(&taken);
    }
    return error->fault ? error->fault : found == 1;
}

int part_reader_open(PartPlace *p, const JobPlan *plan, const JobPart *part, MediaError *error)
{
    const bool is_first = part->begin_pts == INT64_MIN;
    uint32_t marks[2];
    int ret = is_first;
    p->span = (InputSpan){-1, plan->zero, part->begin_pts, part->end_pts};
    for (int tries = 0; ret == 0 && tries < MOST_TRIES; tries++) {
        p->span.seek_us = part_seek_again(part, tries);
        ret = open_try(p, 0, error);
        if (ret >= 0)
            ret = read_up_to(p, plan, part, error);
        if (ret > 0 && measure_pass_marks(p->context, p->params, p->before, marks, error) < 0)
            ret = error->fault;
        if (ret > 0) /* did they come out as they were measured? */
            ret = marks[0] == part->before[0] && marks[1] == part->before[1];
        if (ret == 0 && (p->span.seek_us < 0 || atomic_load(p->source->options.stop)))
            break;
    }
    if (ret > 0 && (is_first || plan->depth)) { /* marks are of frames in their own depth */
        ret = open_try(p, plan->depth, error) < 0 ? error->fault : 1;
        if (ret > 0 && !is_first)
            ret = read_up_to(p, plan, part, error);
    }
    return ret > 0 ? 0
                   : media_fail(error, MEDIA_INPUT,
                                "the frames of %s differ from those that were measured: all steps "
                                "need the same file",
                                p->source ? p->source->name : media_quote(plan->input));
}
