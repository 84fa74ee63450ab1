/* The steps of a job after planning: encode a part, join the parts. */
#include "app/job_film.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "app/drawing.h"
#include "app/made.h"
#include "app/run_end.h"
#include "app/run_summary.h"
#include "app/stats.h"
#include "app/terminal.h"
#include "job/film_joiner.h"
#include "job/job_plan.h"
#include "job/part_files.h"
#include "media/compat.h"
#include "media/output/output_file.h"
#include "run/curve_maker.h"
#include "run/run.h"

static int interrupted(JobFilm *f)
{
    return media_fail(&f->error, MEDIA_INPUT, "interrupted");
}

static bool is_ready(JobFilm *f)
{
    if (!f->plan.ready)
        (void)media_fail(&f->error, MEDIA_USAGE,
                         "the plan is not finished: run lumeq measure PLAN K for each part, then "
                         "lumeq plan PLAN");
    return f->plan.ready;
}

/* ---- a part ---- */

typedef struct Segment {
    JobFilm *film;
    const JobPart *part;
    Source *source;
    InputSpan span;
    Input *input;
    AVFrame *before[3]; /* the three frames before the part, the last one first */
    FrameReader curves;
    PlannedCurves planned;
    RecordWriter writer;
    int number;     /* of the part */
    int64_t frames; /* number of encoded frames */
    StatsFile *stats;
    JobPath rows;
    RunFigures figures;
    Drawing *drawing;
} Segment;

static int take_encoded(void *opaque, const AVPacket *packet, MediaError *error)
{
    Segment *s = opaque;
    s->film->progress.held = writer_held(s->film->writer);
    progress_update(&s->film->progress);
    return packet_write(&s->writer, packet, error);
}

/* Opens the film where measuring the part began, and decodes the frames before the part. */
static int open_frames(Segment *s)
{
    JobFilm *f = s->film;
    const JobPart *part = s->part;
    InputOptions options = f->video;
    s->span = (InputSpan){part->seek_us, f->plan.zero, part->begin_pts, part->end_pts};
    options.span = &s->span;
    options.copy = 0;
    options.frames = -1; /* the part's end is the limit */
    if (job_film_source(f, &s->source, &f->error) < 0 ||
        input_open(&s->input, s->source, &options, &f->error) < 0)
        return f->error.fault;
    if (f->plan.depth)
        decoder_deepen(input_decoder(s->input), f->plan.depth);
    int ret = input_start(s->input, NULL, &f->error);
    bool is_next = part->begin_pts == INT64_MIN;
    while (ret >= 0 && !is_next) {
        Frame *taken = NULL;
        ret = input_take(s->input, &taken, QUEUE_WAIT, &f->error);
        AVFrame *frame = taken ? taken->decoded.frame : NULL;
        if (frame) {
            is_next = frame->pts + av_rescale_q(f->plan.zero, AV_TIME_BASE_Q, frame->time_base) >=
                      part->before_pts;
            av_frame_free(&s->before[2]);
            s->before[2] = s->before[1];
            s->before[1] = s->before[0];
            s->before[0] = frame;
            taken->decoded.frame = NULL;
        }
        frame_free(&taken);
    }
    return ret;
}

static int open_segment(Segment *s)
{
    JobFilm *f = s->film;
    AVFrame *first = NULL;
    int64_t zero;
    const int opened =
        job_film_first(f, &first, &zero) >= 0 &&
        record_writer_open(&s->writer, &f->plan, RECORDS_PACKETS, s->number, &f->error) >= 0 &&
        job_film_open_encoder(f, first) >= 0;
    av_frame_free(&first);
    if (!opened)
        return f->error.fault;
    if (record_file_open(&s->curves.file, &f->plan, RECORDS_CURVES, s->number, &f->error) < 0) {
        (void)media_fail(
            &f->error, MEDIA_INPUT,
            "%s, the file with the curves of the part, is missing: plan the film again",
            media_quote(s->curves.file.path));
        return f->error.fault;
    }
    if (open_frames(s) < 0)
        return atomic_load(f->stop) == RUN_INTERRUPTED
                   ? interrupted(f)
                   : media_fail(&f->error, MEDIA_INPUT,
                                "%s ends before part %d begins, unlike when it was measured; all "
                                "steps need the same file",
                                media_quote(f->plan.input), s->number);
    s->planned = (PlannedCurves){
        .next = part_curves_next,
        .opaque = &s->curves,
        .strict = 1,
        .depth = f->plan.depth,
        .source = s->source,
        .path = f->plan.input,
    };
    s->rows = film_joiner_rows(&f->plan, s->number);
    if (f->plan.rows && stats_open(&s->stats, s->rows.text, 1, NULL, NULL, &f->error) < 0)
        return f->error.fault;
    return drawing_open(&s->drawing, &f->options, &f->error);
}

static int end_frame(void *segment, Frame *frame)
{
    Segment *s = segment;
    Progress *p = &s->film->progress;
    const AVFrame *output = frame->out;
    p->frame = ++s->frames;
    p->time += FRAME_DURATION(output) * av_q2d(output->time_base);
    p->bytes = output_file_bytes(&s->writer.file);
    p->held = writer_held(s->film->writer);
    progress_update(p);
    return 0;
}

static int write_frames(Segment *s)
{
    JobFilm *f = s->film;
    RunLoop loop = {.stop = f->stop, .input = s->input, .number = s->part->first};
    const PipelineParts parts = {
        .input = s->input,
        .context = f->engine.context,
        .params = &f->params,
        .planned = &s->planned,
        .before = {s->before[0], s->before[1], s->before[2]},
        .memory = equalizer_writes(&f->params) ? f->engine.memory : NULL,
        .chroma = equalizer_writes_chroma(&f->params),
        .source = f->options.compare,
        .arrays = s->stats || f->options.overlay,
        .note = say_line,
    };
    s->figures.params = &f->params;
    s->figures.options = &f->options;
    if (f->options.overlay)
        sinks_add(&loop.sinks, figures_sink(&s->figures));
    sinks_add(&loop.sinks, drawing_sink(s->drawing));
    sinks_add(&loop.sinks, writer_sink(f->writer));
    sinks_add(&loop.sinks, stats_sink(s->stats));
    sinks_add(&loop.sinks, (Sink){.self = s, .frame = end_frame});
    (void)run_pipeline(&loop, &parts, &f->error);
    if (!f->error.fault && decoder_changes(input_decoder(s->input)))
        say(SAY_ERRORS, "%s", decoder_changes(input_decoder(s->input)));
    if (!f->error.fault && atomic_load(f->stop) == RUN_INTERRUPTED)
        return interrupted(f);
    if (!f->error.fault && s->frames != s->part->frames)
        return media_fail(&f->error, MEDIA_INPUT,
                          "decoded only %" PRId64 " of the %" PRId64 " frames of part %d of %s",
                          s->frames, s->part->frames, s->number, media_quote(f->plan.input));
    return f->error.fault;
}

static int write_segment(Segment *s)
{
    JobFilm *f = s->film;
    int size = 0;
    if (open_segment(s) < 0)
        return f->error.fault;
    f->writer_options.tracks.note = say_error; /* --jobs shows only errors of parts */
    f->progress.frames = s->part->frames;
    if (write_frames(s) < 0 || writer_end_frames(f->writer, &f->error) < 0)
        return f->error.fault;
    stats_flush(s->stats);
    if (stats_commit(s->stats, 0) < 0)
        return media_fail(&f->error, MEDIA_OUTPUT, "the statistics of part %d could not be written",
                          s->number);
    const uint8_t *extradata = writer_extradata(f->writer, &size);
    return packets_commit(&s->writer, extradata, size, &f->error);
}

int job_step_segment(JobFilm *f, int part)
{
    Segment s = {.film = f, .number = part};
    if (!is_ready(f))
        return f->error.fault;
    if (part >= f->plan.part_count) {
        say(SAY_NORMAL, "part %d is empty: the film has fewer parts than requested", part);
        return 0;
    }
    s.part = &f->plan.parts[part];
    if (!f->options.overwrite && film_joiner_has(&f->plan, part)) {
        say(SAY_NORMAL, "part %d already exists", part);
        return 0;
    }
    int ret = job_film_open(f, take_encoded, &s);
    if (ret >= 0)
        ret = write_segment(&s);
    if (ret >= 0)
        job_film_say_part(f, part, s.frames, "");
    stats_close(&s.stats);
    drawing_close(&s.drawing);
    frame_reader_close(&s.curves);
    for (int i = 0; i < 3; i++)
        av_frame_free(&s.before[i]);
    input_close(&s.input);
    source_close(&s.source);
    record_writer_close(&s.writer);
    return ret;
}

/* ---- joining ---- */

typedef struct Joining {
    JobFilm *film;
    FilmJoiner *joiner;
    StatsFile *stats;
    Input *video;
    AVPacket *packet;
    bool began;
    bool incomplete; /* the statistics are missing */
    uint32_t how;    /* see made_how() */
    char damage[512];
} Joining;

/* Writes the encoded packets up to the decoding time `until`, in AV_TIME_BASE units; INT64_MAX:
 * all. */
static int write_video(Joining *j, int64_t until)
{
    JobFilm *f = j->film;
    int ret = 0;
    while (ret >= 0 && atomic_load(f->stop) == RUN_ON) {
        const int64_t next = film_joiner_next(j->joiner);
        if (next == INT64_MAX ||
            (until != INT64_MAX &&
             av_rescale_q(next, writer_encoded_base(f->writer), AV_TIME_BASE_Q) > until))
            break;
        ret = film_joiner_read(j->joiner, j->packet, &f->error);
        if (ret > 0)
            ret = writer_encoded(f->writer, j->packet, &f->error);
        f->progress.frame++;
        f->progress.bytes = writer_bytes(f->writer);
        progress_update(&f->progress);
    }
    return ret < 0 ? ret : 0;
}

/* Opens the encoder for the first frame, as each part did, and checks that all parts have the same
 * extradata. */
static int begin_film(void *joining, Frame *frame)
{
    Joining *j = joining;
    JobFilm *f = j->film;
    int size = 0;
    if (!frame->is_first)
        return 0;
    j->began = true;
    writer_set_start(f->writer, frame->zero_us);
    const int ret = job_film_open_encoder(f, frame->out);
    if (ret < 0)
        return ret;
    const uint8_t *extradata = writer_extradata(f->writer, &size);
    return film_joiner_check(j->joiner, extradata, size, &f->error);
}

static int write_packet(void *joining, AVPacket *packet, MediaError *error)
{
    Joining *j = joining;
    const JobFilm *f = j->film;
    const int64_t stamp = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    const AVRational base = f->source->format->streams[packet->stream_index]->time_base;
    int ret = 0;
    if (j->began && stamp != AV_NOPTS_VALUE)
        ret = write_video(j, av_rescale_q(stamp, base, AV_TIME_BASE_Q));
    return ret < 0 ? ret : writer_packet(f->writer, packet, error);
}

static int join_all(Joining *j)
{
    JobFilm *f = j->film;
    RunLoop loop = {.stop = f->stop, .input = j->video};
    sinks_add(&loop.sinks, (Sink){.self = j, .packet = write_packet, .frame = begin_film});
    if (run_input(&loop, j->video, &f->error) < 0)
        return f->error.fault;
    if (atomic_load(f->stop) == RUN_INTERRUPTED)
        return interrupted(f);
    if (!j->began)
        return media_fail(&f->error, MEDIA_INPUT, "no frame of %s could be decoded",
                          f->source->name);
    const int ret = write_video(j, INT64_MAX);
    return ret >= 0 && atomic_load(f->stop) == RUN_INTERRUPTED ? interrupted(f) : ret;
}

/* Called just before the film gets the output's name. If this join is killed afterwards, the next
 * join learns from the note in JOB_JOINING that the output is complete. */
static int complete_join(void *joining, const struct stat *whole, MediaError *error)
{
    Joining *j = joining;
    const JobFilm *f = j->film;
    char note[MADE_ROOM];
    j->incomplete = stats_commit(j->stats, 0) < 0;
    if (j->incomplete)
        return 0;
    losses_add_tracks(j->damage, sizeof(j->damage), f->writer);
    const int length = made_print(note, whole, j->how, j->damage[0] ? EXIT_DAMAGED : EXIT_DONE);
    return output_file_save(job_path(f->plan.folder, JOB_JOINING).text, note, (size_t)length,
                            error);
}

static int finish_join(Joining *j)
{
    JobFilm *f = j->film;
    if (f->plan.damage)
        snprintf(j->damage, sizeof(j->damage), "%s", f->plan.damage);
    else
        (void)input_damage(j->video, 0, j->damage, sizeof(j->damage));
    int ret = 0;
    for (int i = 0; ret >= 0 && i < f->plan.part_count; i++)
        ret = stats_append(j->stats, film_joiner_rows(&f->plan, i).text, &f->error);
    stats_flush(j->stats);
    return ret < 0 ? ret : writer_finish(f->writer, 0, &f->error);
}

static void say_joined(const Joining *j)
{
    const JobFilm *f = j->film;
    const double seconds = progress_elapsed(&f->progress);
    if (f->plan.picture)
        say(SAY_NORMAL, "%s", f->plan.picture);
    say(SAY_NORMAL, "%s: %" PRId64 " frame%s in %d part%s, written in %.2f s (%.0f fps); %s",
        media_quote(f->plan.output), f->plan.frames, f->plan.frames == 1 ? "" : "s",
        f->plan.part_count, f->plan.part_count == 1 ? "" : "s", seconds,
        (double)f->plan.frames / seconds, writer_video(f->writer));
}

static int open_join(Joining *j)
{
    JobFilm *f = j->film;
    j->packet = av_packet_alloc();
    if (!j->packet)
        return media_no_memory(&f->error, MEDIA_OUTPUT);
    if (!is_ready(f))
        return f->error.fault;
    /* An edited plan may name any file for --stats, so lumeq join never replaces that file. */
    if (f->options.overwrite && !f->local && f->plan.rows && access(f->plan.rows, F_OK) == 0)
        return media_fail(&f->error, MEDIA_USAGE,
                          "--stats %s exists, and lumeq join -y only replaces the output; remove "
                          "that file first",
                          media_quote(f->plan.rows));
    f->writer_options.whole = complete_join;
    f->writer_options.whole_opaque = j;
    if (film_joiner_open(&j->joiner, &f->plan, &f->error) < 0 || job_film_open(f, NULL, NULL) < 0)
        return f->error.fault;
    f->video.packets_only = 1;
    f->video.film_end = f->plan.film_end;
    if (input_open(&j->video, f->source, &f->video, &f->error) < 0)
        return f->error.fault;
    if (f->plan.depth)
        decoder_deepen(input_decoder(j->video), f->plan.depth);
    return f->plan.rows ? stats_open(&j->stats, f->plan.rows, f->options.overwrite,
                                     &f->source->file, f->stop, &f->error)
                        : 0;
}

int job_step_join(JobFilm *f, int *code)
{
    Joining j = {.film = f, .how = made_how(&f->options, f->plan.input)};
    const JobPath joining = job_path(f->plan.folder, JOB_JOINING);
    *code = f->local ? -1 : made_code(f->plan.output, j.how, joining.text);
    if (*code >= 0) {
        say(SAY_NORMAL, "%s is already complete", media_quote(f->plan.output));
        job_folder_clear(f->plan.folder);
        return 0;
    }
    f->progress.frames = f->plan.frames;
    const int ret =
        open_join(&j) < 0 || join_all(&j) < 0 || finish_join(&j) < 0 ? f->error.fault : 0;
    if (ret >= 0) {
        f->progress.bytes = writer_bytes(f->writer);
        say_joined(&j);
        *code = losses_say_damage(j.damage, j.incomplete ? f->writer : NULL);
        if (j.incomplete)
            *code = EXIT_OUTPUT;
        if (!f->local) /* else job_run() clears the folder, later */
            job_folder_clear(f->plan.folder);
    }
    stats_close(&j.stats);
    writer_close(&f->writer);
    input_close(&j.video);
    film_joiner_close(&j.joiner);
    av_packet_free(&j.packet);
    return ret;
}
