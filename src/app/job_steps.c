#include "app/job_film.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/drawing.h"
#include "app/run_end.h"
#include "app/run_summary.h"
#include "app/stats.h"
#include "app/terminal.h"
#include "job/film_joiner.h"
#include "job/film_parts.h"
#include "job/job_plan.h"
#include "job/part_files.h"
#include "media/compat.h"
#include "media/output/output_file.h"
#include "media/regular_file.h"
#include "run/curve_maker.h"
#include "run/run.h"

static int interrupted(JobFilm *f)
{
    return media_fail(&f->error, MEDIA_INPUT, "interrupted");
}

/* ---- is the output this job's film? ---- */

/* JOB_JOINING identifies the film that is about to become the output; then comes the sentence about
 * damage in the input. */
#define FILM_LINE "film %" PRId64 " %" PRId64 " %" PRId64 "\n"
#define FILM_SCAN "film %" SCNd64 " %" SCNd64 " %" SCNd64

/* Returns 1 if the marker of a join names the current output. */
static int read_marker(const char *output, struct stat *about, char *damage, int size)
{
    MediaError ignored = {0};
    const JobFile now = job_file_look(output);
    const JobPath folder = job_folder(output), path = job_path(folder.text, JOB_JOINING);
    FILE *file = job_folder_check(folder.text, &ignored) == 0
                     ? regular_file_stream(path.text, O_NOFOLLOW)
                     : NULL;
    JobFile film;
    const int is_own = file && now.inode && fgets(damage, size, file) &&
                       sscanf(damage, FILM_SCAN, &film.inode, &film.size, &film.modified_ns) == 3 &&
                       job_file_is_same(&film, &now) && fstat(fileno(file), about) == 0;
    if (!is_own || !fgets(damage, size, file))
        damage[0] = '\0';
    if (file)
        fclose(file);
    return is_own;
}

/* For the writer: called when the film is complete, before it is renamed to the output. */
static int write_marker(void *film, const struct stat *whole, MediaError *error)
{
    const JobFilm *f = film;
    char text[sizeof(f->damage) + 128];
    const JobFile id = job_file_of(whole);
    const int length =
        snprintf(text, sizeof(text), FILM_LINE "%s", id.inode, id.size, id.modified_ns, f->damage);
    return output_file_save(job_path(f->plan.folder, JOB_JOINING).text, text, (size_t)length,
                            error);
}

bool job_is_own(const char *output)
{
    struct stat about;
    char damage[sizeof(((JobFilm *)0)->damage)];
    return read_marker(output, &about, damage, sizeof(damage));
}

int job_is_joined(const char *output, const char *rows, int *code)
{
    struct stat marker, named;
    char damage[sizeof(((JobFilm *)0)->damage)];
    if (!read_marker(output, &marker, damage, sizeof(damage)))
        return 0;
    /* A rename after the marker was written changes the ctime. */
    if (rows && (stat(rows, &named) < 0 || named.st_ctim.tv_sec < marker.st_mtim.tv_sec ||
                 (named.st_ctim.tv_sec == marker.st_mtim.tv_sec &&
                  named.st_ctim.tv_nsec < marker.st_mtim.tv_nsec)))
        return 0;
    job_folder_clear(job_folder(output).text);
    say(SAY_NORMAL, "%s is already complete", media_quote(output));
    *code = losses_say_damage(damage, NULL);
    return 1;
}

/* ---- a part ---- */

typedef struct Segment {
    JobFilm *film;
    const JobPart *part;
    PartPlace place;
    FrameReader curves;
    PlannedCurves planned;
    RecordWriter writer;
    int number;     /* of the part */
    int64_t frames; /* that were encoded */
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
        (void)media_fail(&f->error, MEDIA_INPUT, "%s, the curves of the part, are missing",
                         media_quote(s->curves.file.path));
        return f->error.fault;
    }
    s->place.open = job_film_source;
    s->place.opaque = f;
    s->place.options = f->video;
    s->place.options.copy = 0;
    s->place.options.frames = -1; /* the part's end is the limit */
    s->place.context = f->engine.context;
    s->place.params = &f->params;
    if (part_reader_open(&s->place, &f->plan, s->part, &f->error) < 0)
        return f->error.fault;
    s->planned = (PlannedCurves){
        .next = part_curves_next,
        .opaque = &s->curves,
        .strict = 1,
        .depth = f->plan.depth,
        .source = s->place.source,
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
    return job_film_check_gpu(s->film, s->number);
}

static int write_frames(Segment *s)
{
    JobFilm *f = s->film;
    RunLoop loop = {.stop = f->stop, .input = s->place.input, .number = s->part->first};
    const PipelineParts parts = {
        .input = s->place.input,
        .context = f->engine.context,
        .params = &f->params,
        .planned = &s->planned,
        .before = {s->place.before[0], s->place.before[1], s->place.before[2]},
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
    if (!f->error.fault && decoder_changes(input_decoder(s->place.input)))
        say(SAY_ERRORS, "%s", decoder_changes(input_decoder(s->place.input)));
    if (!f->error.fault && atomic_load(f->stop) == RUN_INTERRUPTED)
        return interrupted(f);
    if (!f->error.fault && s->frames != s->part->frames)
        return media_fail(&f->error, MEDIA_INPUT,
                          "%s gave %" PRId64 " frames of the %" PRId64 " that part %d has",
                          media_quote(f->plan.input), s->frames, s->part->frames, s->number);
    return f->error.fault;
}

static int write_segment(Segment *s)
{
    JobFilm *f = s->film;
    int size = 0;
    if (open_segment(s) < 0)
        return f->error.fault;
    f->writer_options.tracks.note = say_error; /* of changes: --jobs shows only errors of parts */
    f->progress.frames = s->part->frames;
    progress_start(&f->progress);
    if (write_frames(s) < 0 || writer_end_frames(f->writer, &f->error) < 0)
        return f->error.fault;
    stats_flush(s->stats);
    if (stats_commit(s->stats, 0) < 0)
        return media_fail(&f->error, MEDIA_OUTPUT, "the statistics of part %d are missing",
                          s->number);
    const uint8_t *extradata = writer_extradata(f->writer, &size);
    return packets_commit(&s->writer, extradata, size, &f->error);
}

int job_step_segment(JobFilm *f, int part)
{
    Segment s = {.film = f, .number = part};
    if (!f->plan.ready)
        return media_fail(
            &f->error, MEDIA_USAGE,
            "the plan is not finished: run lumeq measure PLAN K for each listed part, "
            "then lumeq plan PLAN");
    if (part >= f->plan.part_count) {
        say(SAY_NORMAL, "part %d is empty: the film cannot be cut into that many parts", part);
        return 0;
    }
    s.part = &f->plan.parts[part];
    if (!f->options.overwrite && film_joiner_has(&f->plan, part)) {
        say(SAY_NORMAL, "part %d already exists", part);
        return 0;
    }
    f->writer_options.take_encoded = take_encoded;
    f->writer_options.take_opaque = &s;
    int ret = job_film_open(f);
    if (ret >= 0)
        ret = write_segment(&s);
    progress_end(&f->progress, ret < 0 ? "failed" : "done");
    if (ret >= 0)
        say(SAY_NORMAL, "part %d of %d: %" PRId64 " frame%s in %.2f s (%.0f fps)", part,
            f->plan.part_count, s.frames, s.frames == 1 ? "" : "s", progress_elapsed(&f->progress),
            (double)s.frames / progress_elapsed(&f->progress));
    stats_close(&s.stats);
    drawing_close(&s.drawing);
    frame_reader_close(&s.curves);
    part_reader_close(&s.place);
    record_writer_close(&s.writer);
    return ret;
}

/* ---- the whole ---- */

typedef struct Joining {
    JobFilm *film;
    FilmJoiner *joiner;
    StatsFile *stats;
    Input *video;
    AVPacket *packet;
    int began;
} Joining;

/* Writes the encoded packets whose decoding time is not after `until` (AV_TIME_BASE units). */
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

/* Opens the encoder for the first frame, as each part did: its extradata has to be theirs. */
static int begin_film(void *joining, Frame *frame)
{
    Joining *j = joining;
    JobFilm *f = j->film;
    int size = 0;
    if (!frame->is_first)
        return 0;
    j->began = 1;
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

static int finish_join(Joining *j, int *code)
{
    JobFilm *f = j->film;
    if (f->plan.damage)
        snprintf(f->damage, sizeof(f->damage), "%s", f->plan.damage);
    else
        (void)input_damage(j->video, 0, f->damage, sizeof(f->damage));
    int ret = 0;
    for (int i = 0; ret >= 0 && i < f->plan.part_count; i++)
        ret = stats_append(j->stats, film_joiner_rows(&f->plan, i).text, &f->error);
    stats_flush(j->stats);
    if (ret >= 0)
        ret = writer_finish(f->writer, 0, &f->error);
    if (ret < 0)
        return ret;
    const int incomplete = stats_commit(j->stats, 0) < 0;
    progress_end(&f->progress, incomplete ? "failed" : "done");
    const double seconds = progress_elapsed(&f->progress);
    f->progress.bytes = writer_bytes(f->writer);
    if (f->plan.picture)
        say(SAY_NORMAL, "%s", f->plan.picture);
    say(SAY_NORMAL, "%s: %" PRId64 " frame%s in %d part%s, %s in %.2f s (%.0f fps); %s",
        media_quote(f->plan.output), f->plan.frames, f->plan.frames == 1 ? "" : "s",
        f->plan.part_count, f->plan.part_count == 1 ? "" : "s", f->local ? "written" : "joined",
        seconds, (double)f->plan.frames / seconds, writer_video(f->writer));
    *code = losses_say_damage(f->damage, f->writer);
    if (incomplete)
        *code = EXIT_OUTPUT;
    return 0;
}

int job_step_join(JobFilm *f, int *code)
{
    Joining j = {.film = f, .packet = av_packet_alloc()};
    *code = EXIT_DONE;
    if (job_is_joined(f->plan.output, f->plan.rows, code)) {
        av_packet_free(&j.packet);
        return 0;
    }
    const int own = job_is_own(f->plan.output);
    f->writer_options.whole = write_marker;
    f->writer_options.whole_opaque = f;
    int ret = -1;
    if (!j.packet) {
        (void)media_no_memory(&f->error, MEDIA_OUTPUT);
        goto end;
    }
    if (!f->plan.ready) {
        (void)media_fail(&f->error, MEDIA_USAGE,
                         "the plan is not finished: lumeq measure PLAN K and lumeq plan PLAN come "
                         "first, then lumeq segment PLAN K");
        goto end;
    }
    /* An edited plan may name any file as its statistics, so these never replace a file. */
    if (f->options.overwrite && !f->local && !own && f->plan.rows &&
        access(f->plan.rows, F_OK) == 0) {
        (void)media_fail(&f->error, MEDIA_USAGE,
                         "--stats %s exists: -y of lumeq join only replaces the output; remove it "
                         "first",
                         media_quote(f->plan.rows));
        goto end;
    }
    f->options.overwrite |= own;
    if (film_joiner_open(&j.joiner, &f->plan, &f->error) < 0 || job_film_open(f) < 0)
        goto end;
    f->video.packets_only = 1;
    f->video.film_end = f->plan.film_end;
    if (input_open(&j.video, f->source, &f->video, &f->error) < 0)
        goto end;
    if (f->plan.depth)
        decoder_deepen(input_decoder(j.video), f->plan.depth);
    if ((f->plan.rows && stats_open(&j.stats, f->plan.rows, f->options.overwrite, &f->source->file,
                                    f->stop, &f->error) < 0))
        goto end;
    f->progress.frames = f->plan.frames;
    progress_start(&f->progress);
    ret = join_all(&j);
    if (ret >= 0)
        ret = finish_join(&j, code);
    if (ret < 0)
        progress_end(&f->progress, "failed");
    else if (!f->local)
        job_folder_clear(f->plan.folder);
end:
    stats_close(&j.stats);
    writer_close(&f->writer);
    input_close(&j.video);
    film_joiner_close(&j.joiner);
    av_packet_free(&j.packet);
    return ret < 0 ? f->error.fault : 0;
}
