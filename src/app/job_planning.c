/* The steps of a job before its parts are encoded: plan and measure. */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/decision.h"
#include "app/headless.h"
#include "app/job_film.h"
#include "app/options/option_arguments.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "job/job_plan.h"
#include "job/part_files.h"
#include "media/compat.h"
#include "media/convert.h"
#include "media/process.h"
#include "panel/panel.h"
#include "run/equalizer_frame.h"
#include "run/measure_pass.h"

/* With more threads, encoders lose quality and gain no speed. */
#define MAX_ENCODER_THREADS 16

#define MAX_DECODER_THREADS 16 /* MAX_AUTO_THREADS of FFmpeg */

/* Number of frames to decode before a part, because filtering and deinterlacing the part's first
 * frame need previous frames. */
#define LEAD 6

#define USUAL_SECONDS 60.0 /* of a part */
#define USUAL_RATE 25.0    /* frames per second, if the container has no rate */

/* If the frames before a part differ from the end of the previous part, the part is measured again,
 * from this many microseconds earlier. Each further step back is four times as long. */
#define FIRST_STEP_US INT64_C(4000000)

/* Returns the absolute path, which the caller frees. NULL: out of memory. */
static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof(folder)))
        return strdup(path);
    return text_print("%s/%s", folder, path);
}

/* Fills in the members of the plan that are known before the film is opened. */
static int begin_plan(JobFilm *f)
{
    const Options *o = &f->options;
    JobPlan *plan = &f->plan;
    char program[400], asked[64] = "";
    job_program(program, sizeof(program));
    if (o->parts > 0)
        snprintf(asked, sizeof(asked), "--parts=%" PRId64, o->parts);
    else if (o->part_seconds > 0)
        snprintf(asked, sizeof(asked), "--part-seconds=%g", o->part_seconds);
    plan->program = strdup(program);
    plan->input = absolute(o->input);
    plan->output = absolute(o->output);
    plan->rows = o->stats ? absolute(o->stats) : NULL;
    plan->folder = plan->output ? strdup(job_folder(plan->output).text) : NULL;
    plan->asked = *asked ? strdup(asked) : NULL;
    if (!plan->program || !plan->input || !plan->output || (o->stats && !plan->rows) ||
        !plan->folder || !plan->asked != !*asked ||
        option_arguments(o, text_list_add, &plan->arguments) < 0)
        return media_no_memory(&f->error, MEDIA_OUTPUT);
    /* Like x264, use 1.5 encoder threads per core, because the threads wait for each other. The
     * number of decoder threads affects how damage is concealed, so it is as without parts. */
    const int cores = process_cores(), share = cores / FFMAX(plan->jobs, 1);
    plan->encoder_threads = av_clip((3 * share + 1) / 2, 1, MAX_ENCODER_THREADS);
    plan->decoder_threads = cores < 2 ? 1 : FFMIN(cores + 1, MAX_DECODER_THREADS);
    if (o->threads > 0)
        plan->encoder_threads = plan->decoder_threads = (int)o->threads;
    if (plan->rows && !o->overwrite && !f->made && access(plan->rows, F_OK) == 0)
        return media_fail(&f->error, MEDIA_USAGE, "--stats %s exists; -y overwrites it",
                          media_quote(plan->rows));
    if (plan->rows && strcmp(plan->rows, plan->output) == 0)
        return media_fail(&f->error, MEDIA_USAGE, "--stats %s is the output",
                          media_quote(plan->rows));
    return job_input_record(plan, &f->error);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Names a difference between the existing plan `there` and the new `plan`; NULL if none. */
static const char *plan_difference(const JobPlan *there, const JobPlan *plan)
{
    if (!same_text(there->input, plan->input) || there->input_size != plan->input_size ||
        there->input_ns != plan->input_ns)
        return "another input";
    if (!same_text(there->rows, plan->rows))
        return "another --stats";
    if (plan->asked && !same_text(there->asked, plan->asked))
        return plan->asked;
    const TextList *x = &there->arguments, *y = &plan->arguments;
    for (int i = 0; i < x->count || i < y->count; i++) {
        const char *one = i < x->count ? x->all[i] : NULL;
        const char *other = i < y->count ? y->all[i] : NULL;
        if (!same_text(one, other))
            return one && (!other || strcmp(one, other) < 0) ? one : other;
    }
    return NULL;
}

/* Returns 1 if an existing plan is taken, 0 without a plan or if -y replaces it, or a fault. */
static int take_existing_plan(JobFilm *f)
{
    JobPlan there = {0};
    MediaError why = {0}, *error = &f->error;
    const char *folder = media_quote(f->plan.folder), *output = f->plan.output;
    const int resume = f->options.resume;
    const JobPath path = job_path(f->plan.folder, "plan");
    if (access(path.text, F_OK) < 0 || (f->options.overwrite && !resume))
        return 0;
    int ret = job_plan_read(&there, path.text, f->plan.program, &why);
    const char *other = ret < 0 ? why.text : plan_difference(&there, &f->plan);
    if (other)
        ret = media_fail(error, MEDIA_USAGE, "%s already has another plan (%s); -y%s replaces it",
                         folder, other, resume ? " without --resume" : "");
    else if (f->local && !resume)
        ret = media_fail(
            error, MEDIA_USAGE,
            "%s has the files of an earlier run; --resume continues it, -y starts over", folder);
    else if (resume && !f->options.overwrite && !f->made && access(output, F_OK) == 0)
        ret = media_fail(error, MEDIA_USAGE,
                         "the output %s exists; -y overwrites it when all parts are done",
                         media_quote(output));
    else {
        FFSWAP(JobPlan, f->plan, there);
        ret = 1;
    }
    job_plan_free(&there);
    return ret;
}

static int ignore_packet(void *opaque, const AVPacket *packet, MediaError *error)
{
    (void)opaque, (void)packet, (void)error;
    return 0;
}

/* Opens the film to measure it, without an output. */
static int open_film(JobFilm *f)
{
    return job_film_open(f, ignore_packet, NULL);
}

/* Opens the encoder, to check that it can encode the film, and sets the plan's zero and time base.
 * The writer cannot be used afterwards. */
static int try_encoder(JobFilm *f)
{
    AVFrame *first = NULL;
    int ret = job_film_first(f, &first, &f->plan.zero);
    if (ret >= 0) {
        f->plan.time_base = first->time_base;
        ret = job_film_open_encoder(f, first);
    }
    av_frame_free(&first);
    return ret;
}

/* ---- the list of parts ---- */

/* Returns the first time from `time_us` on at which --overlay updates its numbers. */
static int64_t next_interval(int64_t time_us)
{
    return (panel_interval(time_us - 1) + 1) * PANEL_NUMBERS_US;
}

/* Lists parts of equal duration. The last part has no end, because the length of a film is often an
 * estimate. A film of unknown length is one part. */
static int list_parts(JobFilm *f)
{
    const Options *o = &f->options;
    const Source *source = f->source;
    JobPlan *plan = &f->plan;
    const AVRational average = source->video->avg_frame_rate;
    const double rate = average.num > 0 && average.den > 0 ? av_q2d(average) : USUAL_RATE;
    const int64_t from = FFMAX(o->from_us, 0), start = source_start(source) + from;
    int64_t end = FFMAX(source->format->duration, from);
    if (o->to_us >= 0)
        end = FFMIN(end, o->to_us);
    if (o->frames >= 0 && (double)o->frames / rate < (double)(end - from) / AV_TIME_BASE)
        end = from + (int64_t)((double)o->frames / rate * AV_TIME_BASE);
    plan->length_us = end - from;
    plan->frames = (int64_t)((double)plan->length_us / AV_TIME_BASE * rate);
    const double seconds = o->part_seconds > 0 ? o->part_seconds : USUAL_SECONDS;
    const double wanted = (double)plan->length_us / AV_TIME_BASE / seconds + 0.5;
    int64_t count = o->parts;
    if (!count)
        count = wanted > JOB_MAX_PARTS ? JOB_MAX_PARTS : FFMAX3((int64_t)wanted, plan->jobs, 1);
    plan->wanted_parts = count;
    count = FFMAX(FFMIN3(count, JOB_MAX_PARTS, plan->frames), 1);
    for (int64_t i = 0, last = INT64_MIN; i < count; i++) {
        int64_t begin = start + av_rescale(i, plan->length_us, count);
        if (o->overlay)
            begin = plan->zero + next_interval(begin - plan->zero);
        if (i && begin <= last)
            continue;
        last = begin;
        JobPart *part = job_plan_add_part(plan);
        if (!part)
            return media_no_memory(&f->error, MEDIA_OUTPUT);
        *part = (JobPart){.begin_pts = INT64_MIN, .end_pts = INT64_MAX, .seek_us = -1};
        if (!i)
            continue;
        part[-1].end_pts = part->begin_pts = av_rescale_q(begin, AV_TIME_BASE_Q, plan->time_base);
        part->seek_us = FFMAX(begin - start + from - (int64_t)(LEAD / rate * AV_TIME_BASE), -1);
    }
    return 0;
}

/* ---- measuring ---- */

typedef struct Measuring {
    JobFilm *film;
    FrameWriter out;
} Measuring;

/* See MeasurePass.take. */
static int add_measure(void *opaque, const AVFrame *frame, const MeasuredFrame *which,
                       LumeqMeasure **measure, MediaError *error)
{
    Measuring *m = opaque;
    Progress *p = &m->film->progress;
    if (frame_writer_add_measure(&m->out, which, *measure, error) < 0)
        return error->fault;
    p->frame++;
    p->time = (double)(frame->pts + FRAME_DURATION(frame)) * av_q2d(frame->time_base);
    progress_update(p);
    return 0;
}

/* Measures a part, decoding from `seek_us` on. */
static int measure_part(JobFilm *f, int number, int64_t seek_us, int64_t *frames)
{
    const JobPart *part = &f->plan.parts[number];
    const InputSpan span = {seek_us, f->plan.zero, part->begin_pts, part->end_pts};
    Measuring m = {.film = f};
    AVFrame *first = NULL;
    int64_t zero;
    int ret = f->video.decoder.shape.width ? 0 : job_film_first(f, &first, &zero);
    MeasurePass pass = {.input = f->video,
                        .context = f->engine.context,
                        .params = &f->params,
                        .from_pts = part->begin_pts,
                        .take = add_measure,
                        .opaque = &m};
    pass.input.copy = 0;
    pass.input.span = &span;
    if (ret < 0 ||
        record_writer_open(&m.out.out, &f->plan, RECORDS_MEASURES, number, &f->error) < 0 ||
        job_film_source(f, &pass.source, &f->error) < 0 || measure_pass_run(&pass, &f->error) < 0)
        ret = f->error.fault;
    else if (atomic_load(f->stop) != RUN_ON)
        ret = media_fail(&f->error, MEDIA_INPUT, "interrupted");
    *frames = m.out.out.end.count;
    const PartMeasures measures = {{pass.before[0], pass.before[1]}, pass.report, seek_us};
    if (ret >= 0)
        ret = record_writer_commit(&m.out.out, &measures, sizeof(measures), &f->error);
    frame_writer_close(&m.out);
    source_close(&pass.source);
    av_frame_free(&first);
    return ret;
}

/* Opens the measures of a part. `last`: the marks (measure_mark()) of the previous part's last two
 * frames, or NULL. If the part was measured after frames with other marks, measures it again from
 * earlier positions. Measures a damaged part again once. */
static int open_measures(JobFilm *f, int part, const uint32_t last[2], FrameReader *reader,
                         PartMeasures *measures)
{
    int64_t step = FIRST_STEP_US;
    for (bool is_first = true;; is_first = false, step *= 4) {
        int64_t frames;
        if (part_measures_open(reader, measures, &f->plan, part, &f->error) < 0)
            return f->error.fault;
        if (!last || !reader->file.count || measures->seek_us < 0 ||
            (memcmp(measures->before, last, sizeof(measures->before)) == 0 &&
             !(is_first && damage_any(&measures->damage.damage))))
            return 0;
        say(SAY_DETAILS, "measuring part %d again, from an earlier position", part);
        frame_reader_close(reader);
        if (measure_part(f, part, FFMAX(measures->seek_us - step, -1), &frames) < 0)
            return f->error.fault;
    }
}

/* Totals of all parts. */
typedef struct Gathered {
    int64_t frames;
    MeasuredFrame first, last;
    DamageReport damage;
} Gathered;

/* Completes the plan's parts from their measures, and removes parts without frames. */
static int gather(JobFilm *f, Gathered *all)
{
    const int64_t most = f->options.frames >= 0 ? f->options.frames : INT64_MAX;
    JobPlan *plan = &f->plan;
    uint32_t marks[2] = {0}; /* of the last two frames */
    int ret = 0, kept = 0;
    for (int i = 0; ret >= 0 && i < plan->part_count && all->frames < most; i++) {
        FrameReader reader = {0};
        PartMeasures measures;
        JobPart part = plan->parts[i];
        ret = open_measures(f, i, kept ? marks : NULL, &reader, &measures);
        if (ret >= 0)
            damage_add(&all->damage, &measures.damage);
        const int64_t count = ret >= 0 ? FFMIN(reader.file.count, most - all->frames) : 0;
        if (count > 0) {
            const Record *records = reader.file.records;
            part.first = all->frames;
            part.frames = count;
            part.seek_us = measures.seek_us;
            part.before_pts = all->last.pts;
            if (!kept) {
                part.begin_pts = INT64_MIN;
                part.seek_us = -1;
                all->first = records[0].frame;
            }
            marks[1] = count > 1 ? records[count - 2].frame.mark : marks[0];
            marks[0] = records[count - 1].frame.mark;
            all->last = records[count - 1].frame;
            all->frames += count;
            plan->parts[kept++] = part;
        }
        frame_reader_close(&reader);
    }
    plan->part_count = ret >= 0 ? kept : plan->part_count;
    return ret;
}

/* ---- planning ---- */

static LumeqMoment moment_of(const JobPlan *plan, const MeasuredFrame *frame, int64_t number)
{
    return measured_moment(frame, number, av_rescale_q(plan->zero, AV_TIME_BASE_Q, plan->time_base),
                           plan->time_base);
}

/* Counts the frames that a lookahead would see first, and how many of them need filtering. */
static int survey(JobFilm *f, FilmMeasures in, FramesSeen *seen)
{
    const int64_t lookahead = options_lookahead(&f->options);
    CurveMaker *maker = NULL;
    MeasuredFrame frame;
    int ret = curve_maker_open(&maker, &f->params, 0, 0, &f->error);
    for (int64_t time = 0; ret >= 0 && time < lookahead; seen->filtered += (ret > 0)) {
        ret = film_measures_next(&in, &frame, &f->error);
        if (ret <= 0)
            break;
        const LumeqMoment moment = moment_of(&f->plan, &frame, seen->frames++);
        ret = curve_maker_judge(maker, &frame, in.measure, &moment, &f->error);
        time = moment.time;
    }
    curve_maker_close(&maker);
    film_measures_close(&in);
    return ret;
}

/* Decides --pix-fmt auto10 like headless.c. If the output gets 10 bits, opens the encoder
 * again, because 10 bits may need another one. */
static int choose_depth(JobFilm *f, FilmMeasures in)
{
    FramesSeen seen = {0};
    if (!is_auto10(&f->options))
        return 0;
    if (survey(f, in, &seen) < 0)
        return f->error.fault;
    f->plan.depth = choose_output_depth(&f->options, &f->params, f->writer, f->source, seen);
    job_film_deepen(f);
    if (!f->plan.depth)
        return 0;
    writer_close(&f->writer);
    f->writer_options.tracks.note = NULL; /* the first writer has printed the notes */
    return setup_create_writer(&f->writer, &f->writer_options, &f->options, &f->error) < 0 ||
                   writer_map(f->writer, f->source, &f->error) < 0
               ? f->error.fault
               : try_encoder(f);
}

typedef struct Planning {
    JobFilm *film;
    FilmMeasures in;
    CurveMaker *maker;
    int64_t put; /* number of measures that `maker` got */
    int ended;
    Decisions decisions;
    StatsArrays arrays;
} Planning;

static int next_curve(Planning *p, MeasuredFrame *frame, LumeqCurve **curve)
{
    MediaError *error = &p->film->error;
    int ret;
    while ((ret = curve_maker_next(p->maker, frame, curve, error)) == 0 && !p->ended) {
        ret = film_measures_next(&p->in, frame, error);
        if (ret < 0)
            return ret;
        p->ended = !ret;
        const LumeqMoment moment = moment_of(&p->film->plan, frame, p->put++);
        if (curve_maker_put(p->maker, p->ended ? NULL : frame, p->in.measure, &moment, error) < 0)
            return error->fault;
    }
    return ret ? ret : media_fail(error, MEDIA_INPUT, "the lookahead made no curve for a frame");
}

/* Writes the curves of a part. */
static int plan_part(Planning *p, int number)
{
    JobFilm *f = p->film;
    JobPart *part = &f->plan.parts[number];
    FrameWriter out = {0};
    const int has_histograms = f->options.stats || f->options.overlay;
    int ret = record_writer_open(&out.out, &f->plan, RECORDS_CURVES, number, &f->error);
    for (int64_t i = 0; ret >= 0 && i < part->frames; i++) {
        MeasuredFrame frame;
        LumeqCurve *curve = NULL;
        LumeqFrameStats stats = equalizer_init_stats(&p->arrays);
        ret = next_curve(p, &frame, &curve);
        if (ret > 0 && lumeq_curve_stats(curve, &stats) >= 0) {
            const enum AVPixelFormat format =
                convert_deeper((enum AVPixelFormat)frame.format, f->plan.depth);
            const Decision decision =
                decision_find(&stats, &f->params, &f->options, convert_depth(format),
                              frame.range == AVCOL_RANGE_JPEG);
            decisions_add(&p->decisions, &decision);
        }
        if (ret > 0)
            ret = frame_writer_add_curve(&out, &frame, curve, !has_histograms, &f->error);
        lumeq_curve_unref(&curve);
    }
    if (ret >= 0)
        ret = record_writer_commit(&out.out, NULL, 0, &f->error);
    part->curves = out.out.end.index;
    frame_writer_close(&out);
    return ret;
}

/* Writes the curves of all parts, and stores a description of their effect in plan->picture. */
static int plan_curves(JobFilm *f, FilmMeasures in)
{
    JobPlan *plan = &f->plan;
    char text[512];
    Planning *p = calloc(1, sizeof(*p));
    if (!p)
        return media_no_memory(&f->error, MEDIA_OUTPUT);
    p->film = f;
    p->in = in;
    int ret = curve_maker_open(&p->maker, &f->params, options_lookahead(&f->options), plan->depth,
                               &f->error);
    for (int i = 0; ret >= 0 && i < plan->part_count; i++)
        ret = plan_part(p, i);
    decisions_text(&p->decisions, text, sizeof(text));
    curve_maker_close(&p->maker);
    film_measures_close(&p->in);
    free(p);
    free(plan->picture);
    plan->picture = *text ? strdup(text) : NULL;
    return ret >= 0 && *text && !plan->picture ? media_no_memory(&f->error, MEDIA_OUTPUT) : ret;
}

static int finish_plan(JobFilm *f)
{
    const Options *o = &f->options;
    JobPlan *plan = &f->plan;
    const AVRational base = plan->time_base;
    const int listed = plan->part_count;
    Gathered all = {
        .damage.part = {.video_end = AV_NOPTS_VALUE, .any_end = AV_NOPTS_VALUE},
    };
    char text[512];
    if (gather(f, &all) < 0)
        return f->error.fault;
    all.damage.part.to_end = o->to_us < 0 && o->frames < 0;
    all.damage.part.whole = all.damage.part.to_end && o->from_us < 0;
    if (damage_describe(f->source, &all.damage, text, sizeof(text))) {
        plan->damage = strdup(text);
        if (!plan->damage)
            return media_no_memory(&f->error, MEDIA_OUTPUT);
    }
    if (!all.frames)
        return media_fail(&f->error, MEDIA_INPUT, "no frame of %s could be decoded",
                          f->source->name);
    const FilmMeasures in = {plan, listed, all.frames, .part = 0};
    if (choose_depth(f, in) < 0)
        return f->error.fault;
    const int64_t end = all.last.pts + all.last.duration;
    plan->frames = all.frames;
    plan->length_us = av_rescale_q(end - all.first.pts, base, AV_TIME_BASE_Q);
    plan->film_end = AV_NOPTS_VALUE;
    plan->ready = 1;
    if (o->frames >= 0)
        plan->parts[plan->part_count - 1].end_pts = all.last.pts + 1;
    if (o->frames >= 0 && all.frames >= o->frames)
        plan->film_end = av_rescale_q(end, base, AV_TIME_BASE_Q);
    return plan_curves(f, in) < 0 ? f->error.fault : job_plan_write(plan, &f->error);
}

/* ---- steps ---- */

/* Lists the parts, after checking that the film can be opened and encoded. */
static int list_film(JobFilm *f)
{
    const char *folder = f->plan.folder;
    if (open_film(f) < 0 || try_encoder(f) < 0)
        return f->error.fault;
    (void)unlink(job_path(folder, "plan").text); /* first, because a plan needs the other files */
    job_folder_clear(folder);
    const int ret = job_folder_make(folder, &f->error) < 0 || list_parts(f) < 0
                        ? f->error.fault
                        : job_plan_write(&f->plan, &f->error);
    if (ret < 0)
        (void)rmdir(folder); /* if it is empty */
    return ret;
}

static bool is_measured(const JobPlan *plan, int part)
{
    MediaError ignored = {0};
    FrameReader reader;
    PartMeasures measures;
    const int ret = part_measures_open(&reader, &measures, plan, part, &ignored);
    frame_reader_close(&reader);
    return ret >= 0;
}

int job_step_finish(JobFilm *f)
{
    const JobPlan *plan = &f->plan;
    if (plan->ready) {
        say(SAY_NORMAL, "the plan is already finished");
        return 0;
    }
    if ((!f->source && open_film(f) < 0) || finish_plan(f) < 0)
        return f->error.fault;
    say(SAY_NORMAL, "%s: %" PRId64 " frame%s in %d part%s, planned in %.2f s",
        media_quote(plan->folder), plan->frames, plan->frames == 1 ? "" : "s", plan->part_count,
        plan->part_count == 1 ? "" : "s", progress_elapsed(&f->progress));
    return 0;
}

int job_step_plan(JobFilm *f)
{
    JobPlan *plan = &f->plan;
    f->options.lookahead_for = "a film in parts";
    if (begin_plan(f) < 0 || job_folder_check(plan->folder, &f->error) < 0)
        return f->error.fault;
    const int there = take_existing_plan(f);
    if (there < 0 || (there == 0 && list_film(f) < 0))
        return f->error.fault;
    if (plan->ready || f->options.no_measure) {
        say(f->local ? SAY_DETAILS : SAY_NORMAL, "%s%s: %d part%s%s", media_quote(plan->folder),
            there ? " already has this plan" : "", plan->part_count,
            plan->part_count == 1 ? "" : "s", there ? "" : ", to be measured");
        return 0;
    }
    int64_t frames;
    int ret = f->source ? 0 : open_film(f);
    for (int i = 0; ret >= 0 && i < plan->part_count; i++)
        if (!is_measured(plan, i))
            ret = measure_part(f, i, plan->parts[i].seek_us, &frames);
    return ret < 0 ? ret : job_step_finish(f);
}

int job_step_measure(JobFilm *f, int part)
{
    int64_t frames = 0;
    if (f->plan.ready) {
        say(SAY_NORMAL, "the plan is finished: there is nothing left to measure");
        return 0;
    }
    if (!f->options.overwrite && is_measured(&f->plan, part)) {
        say(SAY_NORMAL, "part %d is already measured", part);
        return 0;
    }
    if (open_film(f) < 0 || measure_part(f, part, f->plan.parts[part].seek_us, &frames) < 0)
        return f->error.fault;
    job_film_say_part(f, part, frames, "measured ");
    return 0;
}
