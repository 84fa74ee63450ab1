/* The steps of a job before its parts are written: job_film.h has them all. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/decision.h"
#include "app/headless.h"
#include "app/job_film.h"
#include "app/lookahead_choice.h"
#include "app/options/option_arguments.h"
#include "app/options/option_inputs.h"
#include "app/output_depth.h"
#include "app/terminal.h"
#include "job/film_parts.h"
#include "job/job_folder.h"
#include "job/part_curves.h"
#include "job/part_measures.h"
#include "job/part_reader.h"
#include "media/compat.h"
#include "media/convert.h"
#include "media/process.h"
#include "panel/panel.h"
#include "run/curve_planner.h"
#include "run/equalizer_frame.h"
#include "run/measure_pass.h"

/* More threads make an encoder's pictures worse, and no faster. */
#define MOST_ENCODER_THREADS 16

#define MOST_DECODER_THREADS 16 /* MAX_AUTO_THREADS of FFmpeg */

/* Of a part, where nothing else is asked for. */
#define USUAL_SECONDS 60.0

static int out_of_memory(JobFilm *f)
{
    return media_fail(&f->error, MEDIA_OUTPUT, "out of memory");
}

/* As it is found from any folder. NULL: out of memory. */
static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof(folder)))
        return strdup(path);
    return job_path(folder, path);
}

/* What is written beside the output; NULL: nothing. */
static int check_beside(JobFilm *f, const char *option, const char *path)
{
    if (path && !f->options.overwrite && access(path, F_OK) == 0)
        return media_fail(&f->error, MEDIA_USAGE, "%s %s exists; -y overwrites it", option,
                          media_quote(path));
    if (path && strcmp(path, f->plan.output) == 0)
        return media_fail(&f->error, MEDIA_USAGE, "%s %s is the output", option, media_quote(path));
    return 0;
}

/* What is known of the plan before anything is read. */
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
    plan->report = o->report ? absolute(o->report) : NULL;
    plan->folder = plan->output ? job_folder(plan->output) : NULL;
    plan->asked = *asked ? strdup(asked) : NULL;
    plan->before = job_file_look(o->output);
    if (!plan->program || !plan->input || !plan->output || (o->stats && !plan->rows) ||
        (o->report && !plan->report) || !plan->folder || !plan->asked != !*asked ||
        option_arguments(o, text_list_add, &plan->arguments) < 0)
        return out_of_memory(f);
    /* The encoder has half as many threads again as cores, as x264 does it: they wait for each
     * other. The decoder has as many as in one run: what becomes of damaged pictures depends on
     * them. */
    const int cores = process_cores(), share = f->within ? cores / f->at_a_time : cores;
    plan->encoder_threads = av_clip((3 * share + 1) / 2, 1, MOST_ENCODER_THREADS);
    plan->decoder_threads = cores < 2 ? 1 : FFMIN(cores + 1, MOST_DECODER_THREADS);
    if (o->threads > 0)
        plan->encoder_threads = plan->decoder_threads = (int)o->threads;
    if (!job_is_own(plan->output) && (check_beside(f, "--stats", plan->rows) < 0 ||
                                      check_beside(f, "--report", plan->report) < 0))
        return f->error.fault;
    return job_input_look(&plan->identity, plan->input, &f->error);
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* What a plan that is there was made for, that this one is not; NULL: they are for the same. */
static const char *differs_in(const JobPlan *there, const JobPlan *plan)
{
    const JobInput *a = &there->identity, *b = &plan->identity;
    if (!same_text(there->input, plan->input) || a->size != b->size ||
        a->modified_ns != b->modified_ns || a->head != b->head || a->tail != b->tail)
        return "another input";
    if (!same_text(there->rows, plan->rows))
        return "another --stats";
    if (!same_text(there->report, plan->report))
        return "another --report";
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

/* Whether it may be gone on with what is there; `other`: what it was made for, or NULL. */
static int check_plan_there(JobFilm *f, const char *other)
{
    const char *folder = media_quote(f->plan.folder), *output = f->plan.output;
    if (other)
        return media_fail(&f->error, MEDIA_USAGE,
                          "%s has a plan already, and not for this (%s); -y%s replaces it", folder,
                          other, f->resume ? " without --resume" : "");
    if (f->within && !f->resume)
        return media_fail(&f->error, MEDIA_USAGE,
                          "%s has what an earlier run for this has done; --resume goes on with it, "
                          "-y begins anew",
                          folder);
    if (f->resume && !f->options.overwrite && access(output, F_OK) == 0 && !job_is_own(output))
        return media_fail(&f->error, MEDIA_USAGE,
                          "the output %s exists; -y overwrites it, when all parts are there",
                          media_quote(output));
    return 0;
}

/* 1: the plan is there already, and is the film's now; 0: there is none, or none that counts. */
static int take_plan_there(JobFilm *f)
{
    JobPlan there = {0};
    MediaError why = {0};
    char *path = job_path(f->plan.folder, "plan");
    int ret = path ? job_plan_read(&there, path, f->plan.program, &why) : out_of_memory(f);
    free(path);
    if ((ret == -ENOENT && !why.fault) || (f->options.overwrite && !f->resume)) {
        job_plan_free(&there);
        return 0;
    }
    if (check_plan_there(f, ret < 0 ? why.text : differs_in(&there, &f->plan)) < 0) {
        job_plan_free(&there);
        return f->error.fault;
    }
    job_plan_free(&f->plan);
    f->plan = there;
    return 1;
}

static int ignore_packet(void *opaque, const AVPacket *packet, MediaError *error)
{
    (void)opaque, (void)packet, (void)error;
    return 0;
}

/* Whether the film can be encoded as asked for is known before it is measured. */
static int try_encoder(JobFilm *f)
{
    AVFrame *first = NULL;
    int ret = job_film_first(f, &first, &f->plan.zero);
    if (ret >= 0) {
        f->plan.time_base = first->time_base;
        ret = job_film_try_encoder(f, first);
    }
    av_frame_free(&first);
    free(f->plan.encoder);
    f->plan.encoder = ret < 0 ? NULL : strdup(writer_encoder(f->writer));
    return ret < 0 || f->plan.encoder ? ret : out_of_memory(f);
}

/* ---- measuring ---- */

typedef struct Measuring {
    JobFilm *film;
    int part; /* -1: all of the film */
    MeasureFile *file;
} Measuring;

/* See MeasurePass.take. A lost GPU ends a part that has to be measured on one. */
static int keep_measure(void *opaque, const AVFrame *frame, const MeasuredFrame *which,
                        LumeqMeasure **measure, MediaError *error)
{
    const Measuring *m = opaque;
    Progress *p = &m->film->progress;
    int on = RUN_ON;
    if (measure_file_add(m->file, which, *measure, error) < 0)
        return error->fault;
    p->frame++;
    p->time = (double)(frame->pts + FRAME_DURATION(frame)) * av_q2d(frame->time_base);
    progress_update(p);
    if (m->part >= 0 && job_film_check_gpu(m->film, m->part) < 0)
        atomic_compare_exchange_strong(m->film->stop, &on, RUN_OVER);
    return 0;
}

/* Frames of all parts are converted to the first one of the film. */
static int find_shape(JobFilm *f)
{
    AVFrame *first = NULL;
    int64_t zero;
    const int ret = f->reader.shape.width ? 0 : job_film_first(f, &first, &zero);
    av_frame_free(&first);
    return ret;
}

/* Measures a part, which is decoded from `tries` places further back; -1: the whole film. */
static int measure(JobFilm *f, int number, int tries, MeasureFile *file, PartMeasures *measures)
{
    static const JobPart whole = {.begin_pts = INT64_MIN};
    const JobPart *part = number < 0 ? &whole : &f->plan.parts[number];
    const ReaderSpan span = {part_seek_again(part, tries), f->plan.zero, part->begin_pts,
                             part->end_pts};
    Measuring measuring = {f, number, file};
    int ret = find_shape(f);
    MeasurePass pass = {.reader = f->reader,
                        .context = f->engine.context,
                        .params = &f->params,
                        .from_pts = part->begin_pts,
                        .take = keep_measure,
                        .opaque = &measuring};
    pass.reader.copy = 0;
    if (number >= 0)
        pass.reader.span = &span; /* of the last part, --frames is the end at the latest */
    if (ret >= 0)
        ret = job_film_source(f, &pass.source, &f->error);
    if (ret >= 0)
        ret = measure_pass_run(&pass, &f->error);
    if (ret >= 0)
        ret = measure_file_flush(file, &f->error);
    if (ret >= 0 && atomic_load(f->stop) != RUN_ON)
        ret = media_fail(&f->error, MEDIA_INPUT, "interrupted");
    memcpy(measures->before, pass.before, sizeof(pass.before));
    measures->damage = pass.report;
    source_close(&pass.source);
    return ret;
}

static int measure_part(JobFilm *f, int number, int tries, int64_t *frames)
{
    MeasureFile *file = NULL;
    PartMeasures measures = {0};
    int ret = measure_file_open(&file, f->plan.output, &f->error);
    if (ret >= 0)
        ret = measure(f, number, tries, file, &measures);
    if (ret >= 0)
        ret = part_measures_write(&measures, &f->plan, number, file, &f->error);
    *frames = measures.frames;
    measure_file_close(&file);
    return ret;
}

/* Reads the measures of a part. `last`: the marks of the frames before it, or NULL. If those came
 * out otherwise, the part is measured again, from further back. */
static int read_measures(JobFilm *f, int part, const uint32_t last[2], PartMeasures *measures)
{
    for (int tries = 0;; tries++) {
        int64_t frames;
        if (part_measures_read(measures, &f->plan, part, &f->error) < 0)
            return f->error.fault;
        const int fits = !last || !measures->frames ||
                         (memcmp(measures->before, last, sizeof(measures->before)) == 0 &&
                          (tries || !damage_is_seen(&measures->damage)));
        if (fits || part_seek_again(&f->plan.parts[part], tries) < 0)
            return 0;
        say(SAY_DETAILS, "part %d is measured anew, from further back", part);
        part_measures_close(measures);
        if (measure_part(f, part, tries + 1, &frames) < 0)
            return f->error.fault;
    }
}

/* All measures, one part after the other. */
static int gather(JobFilm *f, MeasureFile *file, DamageReport *damage)
{
    uint32_t last[2] = {0};
    int ret = 0, known = 0;
    for (int i = 0; ret >= 0 && i < f->plan.part_count; i++) {
        PartMeasures measures = {0};
        ret = read_measures(f, i, known ? last : NULL, &measures);
        if (ret >= 0)
            ret = part_measures_add(&measures, i, file, f->options.frames, &f->error);
        if (ret >= 0)
            damage_add(damage, &measures.damage);
        if (measures.frames) {
            last[1] = measures.frames > 1 ? measures.last[1] : last[0];
            last[0] = measures.last[0];
            known = 1;
        }
        part_measures_close(&measures);
    }
    return ret < 0 ? ret : measure_file_flush(file, &f->error);
}

/* ---- planning ---- */

/* In the words of one run, which reads all parts. */
static int note_damage(JobFilm *f, DamageReport *damage)
{
    const Options *o = &f->options;
    char text[512] = "";
    damage->part.to_end = o->to_us < 0 && o->frames < 0;
    damage->part.whole = damage->part.to_end && o->from_us < 0;
    if (!damage_describe(f->source, damage, text, sizeof(text)))
        return 0;
    free(f->plan.damage);
    f->plan.damage = strdup(text);
    return f->plan.damage ? 0 : out_of_memory(f);
}

/* How many parts are wanted of a film of so many seconds. */
static int64_t wanted_parts(int64_t least, const Options *o, double seconds)
{
    if (o->parts > 0)
        return o->parts;
    const double parts = seconds / (o->part_seconds > 0 ? o->part_seconds : USUAL_SECONDS);
    return FFMAX(FFMAX(least, 1), parts > JOB_MOST_PARTS ? JOB_MOST_PARTS : (int64_t)(parts + 0.5));
}

/* Notes the encoder of the deeper output, which may be another one than that for the source. */
static int try_deeper_encoder(JobFilm *f)
{
    writer_close(&f->writer);
    free(f->plan.encoder_version);
    f->plan.encoder_version = NULL;
    f->writer_options.tracks.note = NULL; /* the first one has said all */
    int ret = engine_create_writer(&f->writer, &f->writer_options, &f->options, &f->error);
    if (ret >= 0)
        ret = writer_map(f->writer, f->source, &f->error);
    return ret < 0 ? ret : try_encoder(f);
}

/* --pix-fmt auto10, as in one run: see headless.c. */
static int choose_depth(JobFilm *f, MeasureFile *measures)
{
    const AVRational base = f->plan.time_base;
    FramesSeen seen = {.frames = measure_file_count(measures)};
    if (!output_depth_is_auto(&f->options))
        return 0;
    const int ret = curve_planner_filtered(measures, &f->params,
                                           av_rescale_q(f->plan.zero, AV_TIME_BASE_Q, base), base,
                                           &seen.filtered, &f->error);
    if (ret >= 0)
        f->plan.depth = output_depth_choose(&f->options, &f->params, f->writer, f->source, seen);
    job_film_deepen(f);
    return ret >= 0 && f->plan.depth ? try_deeper_encoder(f) : ret;
}

/* Decisions about all frames of a film. */
typedef struct Judging {
    const JobFilm *film;
    Decisions decisions;
    StatsArrays arrays;
} Judging;

static void judge(void *opaque, const MeasuredFrame *frame, const LumeqCurve *curve)
{
    Judging *j = opaque;
    LumeqFrameStats stats = equalizer_ask_stats(&j->arrays);
    const enum AVPixelFormat format =
        convert_deeper((enum AVPixelFormat)frame->format, j->film->plan.depth);
    if (lumeq_curve_stats(curve, &stats) < 0)
        return;
    const Decision decision = decision_find(&stats, &j->film->params, convert_depth(format),
                                            frame->range == AVCOL_RANGE_JPEG);
    decisions_add(&j->decisions, &decision);
}

/* The curves of the plan, and what they do in words. */
static int plan_curves(JobFilm *f, MeasureFile *measures, const FilmFrames *frames)
{
    char text[512];
    Judging *j = calloc(1, sizeof(*j));
    if (!j)
        return out_of_memory(f);
    j->film = f;
    int ret = part_curves_plan(&f->plan, measures, &f->params, lookahead_of_parts(&f->options),
                               frames, source_start(f->source), job_film_has_histograms(f),
                               (CurveWatcher){judge, j}, &f->error);
    decisions_text(&j->decisions, text, sizeof(text));
    free(j);
    free(f->plan.picture);
    f->plan.picture = *text ? strdup(text) : NULL;
    if (ret >= 0 && *text && !f->plan.picture)
        ret = out_of_memory(f);
    return ret;
}

static void say_planned(const JobFilm *f)
{
    const JobPlan *plan = &f->plan;
    const JobPart *last = &plan->parts[plan->part_count - 1];
    say(SAY_NORMAL,
        "%s: %" PRId64 " frame%s in %d part%s, %.0f bytes of curves a frame, planned in %.2f s",
        media_quote(plan->folder), plan->frames, plan->frames == 1 ? "" : "s", plan->part_count,
        plan->part_count == 1 ? "" : "s",
        (double)(last->position + last->size) / (double)plan->frames,
        progress_elapsed(&f->progress));
}

static int finish_plan(JobFilm *f, MeasureFile *measures)
{
    JobPlan *plan = &f->plan;
    const AVRational base = plan->time_base;
    const int64_t limit = f->options.frames;
    FilmFrames frames = {0};
    int ret = film_frames_read(&frames, measures, &f->error);
    if (ret >= 0 && !frames.count)
        ret =
            media_fail(&f->error, MEDIA_INPUT, "no frame of %s could be decoded", f->source->name);
    if (ret >= 0)
        ret = choose_depth(f, measures);
    if (ret >= 0) {
        plan->length_us = av_rescale_q(frames.end - frames.pts[0], base, AV_TIME_BASE_Q);
        plan->film_end = limit >= 0 && frames.count >= limit
                             ? av_rescale_q(frames.end, base, AV_TIME_BASE_Q)
                             : AV_NOPTS_VALUE;
        if (!plan->wanted_parts)
            plan->wanted_parts = wanted_parts(f->at_a_time, &f->options,
                                              (double)(frames.end - frames.pts[0]) * av_q2d(base));
        if (f->options.overlay)
            film_frames_keep_together(&frames, panel_stretch,
                                      av_rescale_q(plan->zero, AV_TIME_BASE_Q, base), base);
        ret = film_frames_cut(&frames, plan->wanted_parts, &f->error);
    }
    if (ret >= 0)
        ret = plan_curves(f, measures, &frames);
    if (ret >= 0 && limit >= 0)
        plan->parts[plan->part_count - 1].end_pts = frames.pts[frames.count - 1] + 1;
    film_frames_free(&frames);
    plan->ready = 1;
    return ret < 0 ? ret : job_plan_write(plan, &f->error);
}

/* Plans the film by the measures of its parts; `whole`: measures it first. */
static int plan_film(JobFilm *f, int whole)
{
    MeasureFile *file = NULL;
    PartMeasures measures = {0};
    DamageReport damage = {.part = {.video_end = AV_NOPTS_VALUE, .any_end = AV_NOPTS_VALUE}};
    job_film_begin(f);
    int ret = measure_file_open(&file, f->plan.output, &f->error);
    if (ret >= 0)
        ret = whole ? measure(f, -1, 0, file, &measures) : gather(f, file, &damage);
    if (ret >= 0 && whole)
        ret = take_plan_there(f); /* another run may have been faster */
    if (ret == 0)
        ret = note_damage(f, whole ? &measures.damage : &damage);
    if (ret == 0)
        ret = finish_plan(f, file);
    job_film_end(f, ret < 0 ? "failed" : "done");
    measure_file_close(&file);
    return ret < 0 ? ret : 0;
}

/* ---- steps ---- */

/* The parts, which others measure. A run that takes all steps may write others than it measures; it
 * has no list where there is one part alone, or packets do not tell: then it measures the film as a
 * whole. */
static int list_parts(JobFilm *f)
{
    const Options *o = &f->options;
    const FilmListOptions wanted = {
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = o->frames,
        .parts = f->within ? 0 : o->parts,
        .seconds = !f->within && o->part_seconds > 0 ? o->part_seconds : USUAL_SECONDS,
        .at_a_time = f->measures,
    };
    Source *source = NULL;
    job_film_begin(f);
    int ret = job_film_source(f, &source, &f->error);
    if (ret >= 0)
        ret = film_list_make(&f->plan, source, &wanted, &f->error);
    source_close(&source);
    if (f->within)
        f->plan.wanted_parts =
            wanted_parts(f->at_a_time, o, (double)f->plan.length_us / AV_TIME_BASE);
    if (f->within && f->plan.part_count < 2) {
        f->plan.part_count = 0;
        f->plan.wanted_parts = 0;
        f->error = (MediaError){0}; /* which comes again, if there is one */
        ret = 0;
    } else if (ret >= 0 && (ret = take_plan_there(f)) == 0) /* another run may have been faster */
        ret = job_plan_write(&f->plan, &f->error);
    job_film_end(f, ret < 0 ? "failed" : "done");
    return ret < 0 ? ret : 0;
}

static int make_plan(JobFilm *f)
{
    if (job_film_open(f) < 0 || try_encoder(f) < 0)
        return f->error.fault;
    if (f->options.overwrite)
        job_folder_clear(f->plan.folder, 0);
    int ret = job_folder_make(f->plan.folder, f->plan.output, &f->error);
    if (ret >= 0 && (f->options.no_measure || f->within))
        ret = list_parts(f);
    if (ret >= 0 && !f->plan.part_count) {
        f->progress.duration = 0;
        ret = plan_film(f, 1);
    }
    if (ret < 0)
        (void)rmdir(f->plan.folder); /* unless there is something in it */
    return ret;
}

int job_step_plan(JobFilm *f)
{
    f->options.lookahead_for = "a film in parts";
    f->options.lookahead = (double)lookahead_of_parts(&f->options) * 1e-9;
    if (job_begin(&f->options, f->resume, &f->error) < 0)
        return f->error.fault;
    const int there = begin_plan(f) < 0 ? f->error.fault : take_plan_there(f);
    const int ret = there == 0 ? make_plan(f) : there;
    char *begun = ret < 0 ? NULL : job_path(f->plan.folder, JOB_BEGUN);
    if (begun)
        (void)unlink(begun); /* now the plan says that the output is not this job's film yet */
    free(begun);
    if (ret >= 0 && !there && f->plan.ready)
        say_planned(f);
    else if (ret >= 0)
        say(f->within ? SAY_DETAILS : SAY_NORMAL, "%s%s: %d part%s%s", media_quote(f->plan.folder),
            there ? " has this plan already" : "", f->plan.part_count,
            f->plan.part_count == 1 ? "" : "s", there ? "" : ", to be measured");
    return ret < 0 ? ret : 0;
}

int job_step_measure(JobFilm *f, int part)
{
    MediaError why = {0};
    int64_t frames = 0;
    if (f->plan.ready) {
        say(SAY_NORMAL, "the plan is finished: there is nothing left to measure");
        return 0;
    }
    if (part_measures_are_there(&f->plan, part, &why) && !f->options.overwrite) {
        say(SAY_NORMAL, "part %d is measured already", part);
        return 0;
    }
    if (why.fault)
        say(SAY_NORMAL, "part %d was measured, but is so anew: what is there cannot be used", part);
    f->writer_options.take_encoded = ignore_packet;
    int ret = job_film_open(f);
    job_film_begin(f);
    if (ret >= 0)
        ret = measure_part(f, part, 0, &frames);
    job_film_end(f, ret < 0 ? "failed" : "done");
    if (ret >= 0)
        say(SAY_NORMAL, "part %d of %d: %" PRId64 " frame%s measured in %.2f s (%.0f fps)", part,
            f->plan.part_count, frames, frames == 1 ? "" : "s", progress_elapsed(&f->progress),
            (double)frames / progress_elapsed(&f->progress));
    return ret;
}

/* Which parts are not measured yet. */
static int check_measured(JobFilm *f)
{
    int missing = 0, first = 0;
    for (int i = f->plan.part_count - 1; i >= 0; i--) {
        PartMeasures measures = {0};
        const int ret = part_measures_read(&measures, &f->plan, i, &f->error);
        part_measures_close(&measures);
        if (f->error.fault)
            return f->error.fault;
        missing += ret < 0;
        first = ret < 0 ? i : first;
    }
    return missing ? media_fail(&f->error, MEDIA_INPUT,
                                "%d of %d parts %s not measured, part %d among them; lumeq measure "
                                "PLAN K measures part K",
                                missing, f->plan.part_count, missing == 1 ? "is" : "are", first)
                   : 0;
}

/* The numbers of parts are those that were listed, or fewer, unless others were planned. */
int job_step_finish(JobFilm *f)
{
    if (f->plan.ready) {
        say(SAY_NORMAL, "the plan is finished already");
        return 0;
    }
    f->writer_options.take_encoded = ignore_packet;
    if (check_measured(f) < 0 || job_film_open(f) < 0)
        return f->error.fault;
    if (!f->plan.wanted_parts)
        f->plan.wanted_parts = f->plan.part_count;
    const int ret = plan_film(f, 0);
    if (ret >= 0)
        say_planned(f);
    return ret;
}
