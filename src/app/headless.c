#include "app/headless.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/camera_sound.h"
#include "app/drawing.h"
#include "app/engine.h"
#include "app/progress.h"
#include "app/run_report.h"
#include "app/run_summary.h"
#include "app/sandbox.h"
#include "app/setup.h"
#include "app/stats.h"
#include "app/terminal.h"
#include "app/virtual_camera.h"
#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/input/shared_pipe.h"
#include "media/output/writer.h"
#include "media/process.h"
#include "run/curve_maker.h"
#include "run/lookahead.h"
#include "run/run.h"

/* Bytes that may wait for the slower of two decoders that share a pipe. The lookahead is shortened
 * to keep this limit, but not below MIN_LOOKAHEAD nanoseconds. */
#define PIPE_BYTES (64.0 * (1 << 20))
#define MIN_LOOKAHEAD INT64_C(200000000)

typedef struct Run {
    const Options *options;
    atomic_int *stop;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source;
    InputOptions video_options;
    Input *video;
    OptionsInput input;
    LumeqParams params; /* from the options and the input */
    int64_t ahead;      /* lookahead in nanoseconds, or 0 */
    int depth;          /* depth that 8-bit frames are converted to, or 0 */
    SharedPipe *pipe;   /* read by two decoders, or NULL */
    Lookahead *lookahead;
    PlannedCurves planned; /* of the lookahead */
    StatsFile *stats;
    RunReport *report;
    Drawing *drawing;
    VirtualCamera *virtual;
    CameraSound *sound; /* of a camera recording, or NULL */
    int paced;
    Pace pace;
    Progress progress;
    Trial *trial; /* or NULL */
    RunFigures figures;
    RunResult *many;  /* if not NULL, gets the summary */
    int64_t lost;     /* frames lost with a GPU */
    Missed missed;    /* dropped by a camera */
    char damage[768]; /* known losses, or "" */
    MediaError error;
} Run;

static void note_encoded(void *opaque)
{
    Run *run = opaque;
    run->progress.held = writer_held(run->writer);
    progress_update(&run->progress);
}

static int count_packet(void *trial, const AVPacket *packet, MediaError *error)
{
    (void)error;
    ((Trial *)trial)->payload += packet->size;
    return 0;
}

/* Checks the output completely before the input is opened. */
static int check_output(Run *run)
{
    const Options *o = run->options;
    if (!o->output)
        return 0;
    run->writer_options = setup_writer(o, run->stop);
    run->writer_options.video.hint = sandbox_hint(o);
    run->writer_options.encoded = note_encoded;
    run->writer_options.encoded_opaque = run;
    if (run->trial) {
        run->writer_options.count_only = 1;
        run->writer_options.overwrite = 1; /* nothing is written */
        run->writer_options.take_encoded = count_packet;
        run->writer_options.take_opaque = run->trial;
    }
    return setup_create_writer(&run->writer, &run->writer_options, o, &run->error);
}

/* Only compares with the output, because --stats and --report have different endings. */
static int open_reports(Run *run)
{
    const Options *o = run->options;
    const struct stat *input = &run->source->file;
    const char *const paths[] = {o->stats, o->report};
    for (int i = 0; i < 2; i++)
        if (paths[i] && o->output && strcmp(paths[i], o->output) == 0)
            return media_fail(&run->error, MEDIA_USAGE, "%s %s is the output",
                              i ? "--report" : "--stats", media_quote(paths[i]));
    const int ret =
        o->stats ? stats_open(&run->stats, o->stats, o->overwrite, input, run->stop, &run->error)
                 : 0;
    return ret < 0 ? ret : run_report_open(&run->report, o, input, run->stop, &run->error);
}

/* True if the run needs decoded frames besides the equalized ones. */
static bool reads_source(const Run *run)
{
    return run->options->report || run->trial || run->options->compare;
}

/* ---- the lookahead ---- */

static bool is_pipe_input(const Options *o)
{
    struct stat file;
    if (!o->input || options_is_url(o))
        return false;
    return options_stat(o->input, STDIN_FILENO, &file) == 0 &&
           (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode));
}

/* Returns why there is no lookahead, or NULL. *impossible: --lookahead cannot change this. */
static const char *why_no_lookahead(const Run *run, bool *impossible)
{
    const Options *o = run->options;
    struct stat file;
    const bool is_asked = o->lookahead > 0 || o->deflicker > 0;
    *impossible = true;
    if (run->writer && writer_is_picture(run->writer))
        return "the output is a single picture";
    if (o->low_latency)
        return "--low-latency holds nothing back";
    if (o->camera)
        return "a camera delivers each picture once";
    if (options_is_url(o))
        return "network streams are read once";
    if (!is_pipe_input(o)) { /* two decoders can share a pipe */
        if (strcmp(o->input, "-") == 0)
            return "standard input is a file; give its name to read ahead";
        if (stat(o->input, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
            return "the input is neither a regular file nor a pipe";
    }
    *impossible = false;
    if (is_asked)
        return NULL;
    if (o->lookahead == 0)
        return "--lookahead off";
    if (!run->writer)
        return "no video is written";
    if (o->reference)
        return "--reference treats each frame on its own";
    return o->mode == LUMEQ_MODE_OFF ? "--mode off has no curve that follows the picture" : NULL;
}

/* Sets the length of the lookahead. MEDIA_USAGE: an option on the command line needs a lookahead,
 * but this run cannot have one. */
static int choose_lookahead(Run *run)
{
    const Options *o = run->options;
    bool impossible;
    const char *why = why_no_lookahead(run, &impossible);
    if (why && impossible && o->lookahead_for)
        return media_fail(&run->error, MEDIA_USAGE, "%s needs an input that can be read ahead: %s",
                          o->lookahead_for, why);
    if (why && impossible && o->deflicker > 0)
        say(SAY_WARNINGS, "the settings file's deflicker needs a lookahead and is ignored: %s",
            why);
    run->ahead = why ? 0 : options_lookahead(o);
    if (why)
        say(SAY_DETAILS, "no lookahead: %s", why);
    else
        say(SAY_DETAILS, "lookahead: curves see up to %.3g s ahead", (double)run->ahead / 1e9);
    return 0;
}

/* Opens the input. With a lookahead, two decoders share a pipe (see PIPE_BYTES). */
static int open_source(Run *run)
{
    const Options *o = run->options;
    if (!run->ahead || !is_pipe_input(o))
        return setup_source(&run->source, o, o->input, NULL, run->stop, &run->error);
    run->pipe = shared_pipe_open(o->input);
    if (!run->pipe)
        return media_fail(&run->error, MEDIA_INPUT, "cannot open %s: %s",
                          media_quote_input(o->input), strerror(errno));
    int ret = setup_source(&run->source, o, o->input, run->pipe, run->stop, &run->error);
    const double most = ret < 0 ? 0 : PIPE_BYTES / source_byte_rate(run->source) * 1e9;
    if (ret >= 0 && most < (double)run->ahead) {
        run->ahead = FFMAX((int64_t)most, MIN_LOOKAHEAD);
        say(SAY_DETAILS, "the video from the pipe is large: curves see only up to %.2g s ahead",
            (double)run->ahead / 1e9);
    }
    return ret;
}

/* True if the run can start again after it lost the GPU: the input can be read again, nobody has
 * seen the output, and no encoder needs the GPU. */
static bool can_begin_again(const Run *run)
{
    const Options *o = run->options;
    const char *encoder = run->writer ? writer_encoder(run->writer) : NULL;
    return source_can_begin_again(run->source) && !run->trial && !o->virtual_camera &&
           !options_is_piped(o->output) && !options_is_piped(o->stats) && o->segment_time <= 0 &&
           !run->writer_options.sequence && !(encoder && strstr(encoder, "_nvenc"));
}

static int open_input(Run *run)
{
    const Options *o = run->options;
    run->video_options = setup_video(o, run->writer);
    run->video_options.decoder.marks_bars = !run->engine.encodes; /* NVENC must not get crop_* */
    if (open_source(run) < 0)
        return run->error.fault;
    engine_decoder(&run->engine, o, run->source, &run->video_options.decoder);
    if (run->ahead && run->writer) /* two decoders share the cores */
        run->video_options.decoder.threads =
            (int)((o->threads > 0 ? o->threads : process_cores()) + 1) / 2;
    if (run->pipe) /* a pipe cannot be read again after a GPU loss */
        run->video_options.decoder.gpu = NULL;
    run->video_options.decoder.lossless = can_begin_again(run);
    if (setup_survey_codes(&run->video_options.decoder.codes, o, run->source, run->stop,
                           &run->error) < 0 ||
        (run->writer && writer_map(run->writer, run->source, &run->error) < 0))
        return run->error.fault;
    camera_sound_use(run->sound, run->source, run->writer);
    run->paced = setup_is_paced(o, run->source);
    const int ret = input_open(&run->video, run->source, &run->video_options, &run->error);
    return ret < 0 ? ret : virtual_camera_start(run->virtual, run->source, 1, &run->error);
}

/* Decides --pix-fmt auto10. */
static void choose_depth(Run *run, FramesSeen seen)
{
    const Options *o = run->options;
    run->depth = choose_output_depth(o, &run->params, run->writer, run->source, seen);
    if (!run->depth)
        return;
    decoder_deepen(input_decoder(run->video), run->depth);
    run->input.fine = 1;
    run->params = options_params(o, run->input);
}

ProgressStyle headless_progress(const Options *options)
{
    const ProgressStyle style = (ProgressStyle)options->progress;
    return options->quiet && style == PROGRESS_AUTO ? PROGRESS_NONE : style;
}

/* Opens the input for the lookahead. Skips the streams that `like` skips, so that both see the same
 * packets. */
static int open_again(void *opaque, const Source *like, Source **source, MediaError *error)
{
    const Run *run = opaque;
    return setup_source_again(source, run->options, run->pipe, like, run->stop, error);
}

/* See PlannedCurves. Called by the equalizing thread. */
static int next_curve(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    const Run *run = opaque;
    return lookahead_next(run->lookahead, frame, curve, error);
}

static int look_ahead(Run *run)
{
    const Options *o = run->options;
    LookaheadOptions options = {
        .open = open_again,
        .opaque = run,
        .source = run->source,
        .input = run->video_options,
        .context = run->engine.context,
        .nanoseconds = run->ahead,
    };
    run->planned = (PlannedCurves){
        .next = next_curve,
        .opaque = run,
        .source = run->source,
        .path = o->input,
    };
    FramesSeen seen = {0};
    if (lookahead_open(&run->lookahead, &options, &run->error) < 0 ||
        (is_auto10(o) && lookahead_survey(run->lookahead, &run->params, &seen.frames,
                                          &seen.filtered, &run->error) < 0))
        return run->error.fault;
    choose_depth(run, seen);
    run->planned.depth = run->depth;
    return lookahead_start(run->lookahead, &run->params, run->depth, &run->error);
}

/* ---- the sinks ---- */

/* Counts the frames that a camera dropped (see Missed). If the run must not be faster than real
 * time, waits until the frame is due. */
static int keep_time(void *opaque, Frame *f)
{
    Run *run = opaque;
    if (run->source->camera)
        losses_count_missed(&run->missed, run->source, f->time_us + f->zero_us);
    if (run->paced)
        pace_wait(&run->pace, f->time_us, run->stop);
    return 0;
}

/* Prints the nonzero counts of a long recording, each followed by ", ". */
static const char *print_counts(const Run *run, char *text, size_t size)
{
    const SegmentTotals segments = run->writer ? writer_segments(run->writer) : (SegmentTotals){0};
    const struct {
        long long count;
        const char *what, *more;
    } counts[] = {{segments.count, " segment", "s"},
                  {segments.deleted, " deleted", ""},
                  {run->source ? source_losses(run->source) : 0, " outage", "s"}};
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].count)
            length += (size_t)snprintf(text + length, size - length, "%lld%s%s, ", counts[i].count,
                                       counts[i].what, counts[i].count == 1 ? "" : counts[i].more);
    return text;
}

static int show_progress(void *opaque, Frame *f)
{
    Run *run = opaque;
    Progress *p = &run->progress;
    const AVFrame *frame = f->out;
    p->frame++;
    p->time = (double)(frame->pts + FRAME_DURATION(frame)) * av_q2d(frame->time_base);
    p->bytes = run->writer ? writer_bytes(run->writer) : -1;
    p->held = run->writer ? writer_held(run->writer) : 0;
    progress_update(p);
    return 0;
}

static int process(Run *run)
{
    if (!run->lookahead)
        choose_depth(run, (FramesSeen){0});
    const Options *o = run->options;
    /* True for live input whose frames only the watchers of a virtual camera need. */
    const bool is_only_watched = run->virtual && run->source->live && !run->writer && !o->stats &&
                                 o->frames < 0 && !reads_source(run);
    /* True if frames that the GPU decodes are needed on the host. */
    const int needs_host_frames = run->video_options.decoder.gpu &&
                                  (run->writer || run->virtual || o->overlay || reads_source(run));
    const PipelineParts parts = {
        .input = run->video,
        .context = run->engine.context,
        .params = &run->params,
        .planned = run->lookahead ? &run->planned : NULL,
        .memory = equalizer_writes(&run->params) || needs_host_frames ? run->engine.memory : NULL,
        .chroma = equalizer_writes_chroma(&run->params),
        .source = reads_source(run),
        .arrays = 1, /* the summary describes the picture from histograms */
        .is_unwanted = is_only_watched ? virtual_camera_is_unwatched : NULL,
        .opaque = run->virtual,
        .lost = &run->lost,
        .note = say_line,
    };
    RunLoop loop = {.stop = run->stop, .input = run->video};
    Sinks *s = &loop.sinks;
    run->figures.params = &run->params;
    run->figures.options = o;
    if (run->source->camera || run->paced)
        sinks_add(s, (Sink){.self = run, .frame = keep_time});
    sinks_add(s, figures_sink(&run->figures));
    sinks_add(s, run_report_sink(run->report));
    sinks_add(s, drawing_sink(run->drawing));
    sinks_add(s, virtual_camera_sink(run->virtual));
    if (run->trial)
        sinks_add(s, run->trial->sink);
    sinks_add(s, writer_sink(run->writer));
    sinks_add(s, camera_sound_sink(run->sound));
    sinks_add(s, stats_sink(run->stats));
    sinks_add(s, (Sink){.self = run, .frame = show_progress});
    return run_pipeline(&loop, &parts, &run->error);
}

static int no_frames(Run *run, const char *damage)
{
    const Options *o = run->options;
    if (input_explain(run->video, &run->error) < 0)
        return EXIT_INPUT;
    if (run->trial) {
        run->trial->no_frames = true;
        run->trial->is_damaged = *damage != '\0';
    }
    (void)media_fail(&run->error, MEDIA_INPUT, "no frame of %s could be decoded",
                     run->source->name);
    if (*damage)
        media_add(&run->error, ": %s", damage);
    else if (o->from_us > 0 || o->to_us >= 0)
        media_add(&run->error, ": the given part is empty");
    return EXIT_INPUT;
}

static void say_details(const Run *run)
{
    char memory[128];
    const Decoder *decoder = input_decoder(run->video);
    const char *conversion = decoder_conversion(decoder);
    figures_say_details(&run->figures, run->lookahead != NULL);
    const char *where = "in software: the GPU cannot decode it";
    if (decoder_is_on_gpu(decoder))
        where = "on the GPU";
    else if (!run->video_options.decoder.gpu)
        where = run->pipe ? "in software, since the input is a pipe"
                          : "in software, which is faster here";
    else if (engine_is_lost(&run->engine))
        where = "in software since the GPU was lost";
    if (run->engine.decodes)
        say(SAY_DETAILS, "decoded %s", where);
    engine_say_memory(&run->engine);
    if (conversion)
        say(SAY_DETAILS, "frames were converted from %s for the equalizer", conversion);
    if (frame_memory_report(run->engine.memory, memory, sizeof(memory)))
        say(SAY_DETAILS, "%s", memory);
}

static void say_summary(const Run *run)
{
    char text[256];
    const double seconds = progress_elapsed(&run->progress);
    const char *output = run->options->output;
    const char *video = run->writer ? writer_video(run->writer) : "";
    char counts[128];
    decisions_text(&run->figures.decisions, text, sizeof(text));
    if (run->many) {
        snprintf(run->many->summary, sizeof(run->many->summary),
                 "%lld frame%s, %.2f s of video in %.2f s%s%s", (long long)run->progress.frame,
                 run->progress.frame == 1 ? "" : "s", run->progress.time, seconds,
                 text[0] ? "; " : "", text);
        return;
    }
    if (text[0])
        say(SAY_NORMAL, "%s", text);
    say(SAY_NORMAL, "%s%s%s%lld frame%s, %.2f s of video in %.2f s (%.0f fps, %.2fx)%s on %s%s%s",
        output ? media_quote(output) : "", output ? ": " : "",
        print_counts(run, counts, sizeof(counts)), (long long)run->progress.frame,
        run->progress.frame == 1 ? "" : "s", run->progress.time, seconds,
        (double)run->progress.frame / seconds, run->progress.time / seconds,
        run->lookahead ? " with lookahead" : "",
        engine_where(&run->engine, engine_is_lost(&run->engine)), *video ? "; " : "", video);
}

static void say_missed(const Run *run)
{
    losses_say_missed(&run->missed, run->writer
                                        ? "encoded; use a faster --preset or a smaller --video-size"
                                        : "equalized; use a smaller --video-size");
    losses_say_lost(run->source);
}

/* Completes all files before renaming the first. Returns a fault if the output is missing, or 1
 * if the statistics or the report are missing. */
static int finish_files(Run *run, int partial)
{
    int ret = 0;
    stats_flush(run->stats);
    run_report_write(run->report, partial);
    if (run->writer)
        ret = writer_finish(run->writer, partial, &run->error);
    if (ret < 0 && !partial && !writer_name(run->writer))
        return ret;
    int incomplete = stats_commit(run->stats, partial) < 0;
    incomplete |= run_report_commit(run->report, partial) < 0;
    return ret < 0 ? ret : incomplete;
}

/* Fails if the lookahead saw other frames than the run, unless the input is damaged. */
static int check_lookahead(Run *run, const char *damage)
{
    MeasuredFrame frame;
    LumeqCurve *curve = NULL;
    if (!run->lookahead)
        return 0;
    if (source_check_unchanged(run->source, run->options->input, &run->error) < 0)
        return run->error.fault;
    int differs = run->planned.differs;
    if (!differs)
        differs = lookahead_next(run->lookahead, &frame, &curve, &run->error);
    lumeq_curve_unref(&curve);
    if (differs <= 0 || *damage || lookahead_is_damaged(run->lookahead) ||
        (run->pipe && shared_pipe_was_cut(run->pipe)))
        return differs < 0 ? differs : 0;
    return media_fail(&run->error, MEDIA_INPUT,
                      "%s changed while it was being read: the lookahead saw different frames",
                      run->source->name);
}

/* Returns the exit code. */
static int finish(Run *run)
{
    char damage[512] = "";
    if (!losses_camera_gone(run->source, run->progress.frame, run->options, damage, sizeof(damage)))
        (void)input_damage(run->video, run->lost, damage, sizeof(damage));
    if (run->progress.frame == 0)
        return no_frames(run, damage);
    if (check_lookahead(run, damage) < 0)
        return EXIT_INPUT;
    if (run->trial) {
        if (writer_finish(run->writer, 0, &run->error) < 0)
            return EXIT_OUTPUT;
        run->trial->ended = run_now_us() * 1e-6;
        run->trial->written = writer_bytes(run->writer);
        return losses_say_damage(damage, run->writer);
    }
    const int incomplete = finish_files(run, 0);
    if (incomplete < 0)
        return EXIT_OUTPUT;
    run->progress.bytes = run->writer ? writer_bytes(run->writer) : -1;
    progress_end(&run->progress, incomplete ? "failed" : "done");
    say_missed(run);
    if (run->options->denoise != LUMEQ_DENOISE_AUTO && !run->figures.filtered)
        say(SAY_WARNINGS, "--denoise had no effect: nothing was lifted");
    const Decoder *decoder = input_decoder(run->video);
    if (decoder_changes(decoder))
        say(SAY_WARNINGS, "%s", decoder_changes(decoder));
    if (decoder_codes(decoder))
        say(SAY_NORMAL, "%s %s", run->source->name, decoder_codes(decoder));
    say_details(run);
    say_summary(run);
    const int code = losses_say_damage(damage, run->writer);
    snprintf(run->damage, sizeof(run->damage), "%s", damage);
    losses_add_tracks(run->damage, sizeof(run->damage), run->writer);
    return incomplete ? EXIT_OUTPUT : code;
}

static int run_all(Run *run, ProgressShare *share)
{
    const Options *o = run->options;
    MediaError *error = &run->error;
    int ret = 0;
    run->engine.real_time = o->camera || o->virtual_camera;
    if (check_output(run) < 0 || virtual_camera_open(&run->virtual, o, run->stop, error) < 0 ||
        choose_lookahead(run) < 0 ||
        (run->writer &&
         camera_sound_open(&run->sound, o, run->writer, &run->writer_options.tracks, error) < 0) ||
        engine_open(&run->engine, o, 0, error) < 0)
        return -error->fault;
    if (run->writer && writer_takes_gpu_frames(run->writer) && !reads_source(run) && !o->overlay &&
        !run->virtual) /* only the encoder reads the frames */
        engine_encode_on_gpu(&run->engine);
    if (open_input(run) < 0)
        return -error->fault;
    run->input.ahead = run->ahead > 0;
    if (setup_params(&run->params, &run->input, o, run->source, run->writer, error) < 0 ||
        open_reports(run) < 0 || drawing_open(&run->drawing, o, error) < 0)
        return -error->fault;
    run->progress.style = run->trial ? PROGRESS_NONE : headless_progress(run->options);
    run->progress.duration = input_duration(run->video);
    run->progress.frames = input_frames(run->video);
    run->progress.share = share;
    progress_start(&run->progress);
    if (run->trial)
        run->trial->opened = run_now_us() * 1e-6;
    if (run->ahead)
        ret = look_ahead(run);
    if (ret >= 0 && atomic_load(run->stop) == RUN_ON)
        ret = process(run);
    if (atomic_load(run->stop) == RUN_INTERRUPTED && !run->trial) {
        if (error->fault != MEDIA_OUTPUT)
            *error = (MediaError){0}; /* the signal caused the error */
        (void)finish_files(run, 1);
        run->progress.bytes = run->writer ? writer_bytes(run->writer) : -1;
        progress_end(&run->progress, "interrupted");
        say_missed(run);
    }
    if (atomic_load(run->stop) == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    const int code = ret < 0 ? -ret : finish(run);
    if (run->error.fault && run->error.fault != MEDIA_LOST)
        progress_end(&run->progress,
                     atomic_load(run->stop) == RUN_INTERRUPTED ? "interrupted" : "failed");
    return code;
}

static void say_interrupted(const Run *run)
{
    const char *name = run->writer ? writer_name(run->writer) : NULL;
    const char *stats = stats_name(run->stats), *report = run_report_name(run->report);
    char counts[128];
    MediaError line = {0};
    (void)media_fail(&line, MEDIA_OUTPUT, "interrupted after %s%lld frame%s",
                     print_counts(run, counts, sizeof(counts)), (long long)run->progress.frame,
                     run->progress.frame == 1 ? "" : "s");
    if (run->error.fault == MEDIA_OUTPUT && run->writer && !writer_is_direct(run->writer))
        media_add(&line, ": %s", run->error.text);
    else if (name && run->options->segment_time > 0)
        media_add(&line, "; the last segment is %s", media_quote(name));
    else if (name)
        media_add(&line, "; the finished part is in %s", media_quote(name));
    if (stats)
        media_add(&line, "; the statistics are in %s", media_quote(stats));
    if (report)
        media_add(&line, "; the report is in %s", media_quote(report));
    say(SAY_ERRORS, "%s", line.text);
}

/* Returns the exit code, or -MEDIA_LOST if the run must begin again with the options `again`. */
static int run_once(const Options *options, atomic_int *stop, RunResult *result, Options *again)
{
    Run run = {.options = options, .stop = stop, .trial = result ? result->trial : NULL};
    run.many = result && !result->trial && !options->camera ? result : NULL;
    int code = run_all(&run, result ? result->share : NULL);
    if (run.error.fault)
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -run.error.fault;
    if (code == EXIT_INTERRUPTED && !run.trial)
        say_interrupted(&run);
    else if (code == -MEDIA_LOST) {
        *again = *options;
        again->hwdec = OPTIONS_HWDEC_NO;
        again->backend =
            gpu_device_is_lost(run.engine.gpu) ? LUMEQ_BACKEND_CPU : LUMEQ_BACKEND_AUTO;
        say(SAY_WARNINGS, "%s: the GPU lost frames: starting again, decoding in software",
            run.source->name);
    } else if (code != EXIT_INTERRUPTED && run.error.fault && !run.trial)
        say(SAY_ERRORS, "%s", run.error.text);
    if (result) {
        result->frames = run.progress.frame;
        result->is_changed = run.source && losses_camera_changed(run.source);
        result->seconds = run.progress.time;
        snprintf(result->why, sizeof(result->why), "%s",
                 run.error.fault ? run.error.text : run.damage);
    }
    /* Close the engine last because it owns the memory of frames. */
    virtual_camera_close(&run.virtual);
    camera_sound_close(&run.sound);
    writer_close(&run.writer);
    stats_close(&run.stats);
    run_report_close(&run.report);
    drawing_close(&run.drawing);
    lookahead_close(&run.lookahead);
    input_close(&run.video);
    source_close(&run.source);
    shared_pipe_close(&run.pipe);
    engine_close(&run.engine);
    return code;
}

int headless_run(const Options *options, atomic_int *stop, RunResult *result)
{
    Options again;
    int over = RUN_OVER;
    const int code = run_once(options, stop, result, &again);
    if (code != -MEDIA_LOST)
        return code;
    atomic_compare_exchange_strong(stop, &over, RUN_ON);
    if (strcmp(options->input, "-") == 0) /* a file: read it again */
        (void)lseek(STDIN_FILENO, 0, SEEK_SET);
    return run_once(&again, stop, result, &again);
}
