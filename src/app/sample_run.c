#include "app/sample_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/engine.h"
#include "app/headless.h"
#include "app/sample_estimate.h"
#include "app/sample_sheet.h"
#include "app/terminal.h"
#include "media/output/output_file.h"
#include "player/osd/osd_bar.h"

#define USUAL_PIECES 8

/* Multiples of it, less what is whole of them, are never near each other. */
#define GOLDEN 0.618033988749895

/* Seconds of a piece that count, and those behind them: more frames than x264 and x265 look ahead
 * by at 24 a second, so that what counts is encoded as in the whole film. */
#define PIECE_SECONDS 4.0
#define BEHIND_SECONDS 2.0

/* Standard errors from here on are said. */
#define ERROR_SAID 0.1

#define SHEET_ENDING ".sample.png"

typedef struct Sample {
    const Options *options;
    atomic_int *stop;
    char *sheet_path;
    SampleSheet *sheet;
    double from, seconds; /* of the input: where the film begins, and how long it is */
    int is_whole;         /* it is tried as a whole: it is no longer than its pieces */
    int stills;           /* wanted of the film */
    int pieces;
    Trial *trials; /* of each piece that has a picture ... */
    int tried;     /* ... so many, then the one in hand */
    double begin;  /* of the piece in hand, in the film */
    int first;     /* of its stills; as many were added before */
    Progress progress;
    int64_t steps; /* frames done, of either pass */
    int code;      /* of the pieces so far */
    MediaError error;
} Sample;

/* ---- before the first piece ---- */

/* The sheet can have its name. */
static int check_sheet(Sample *s)
{
    const Options *o = s->options;
    const size_t size = strlen(o->output) + sizeof(SHEET_ENDING);
    struct stat input;
    OutputFile file = {0};
    s->sheet_path = malloc(size);
    if (!s->sheet_path)
        return media_fail(&s->error, MEDIA_OUTPUT, "out of memory");
    snprintf(s->sheet_path, size, "%s" SHEET_ENDING, o->output);
    const int there = stat(o->input, &input) == 0;
    const int ret =
        output_file_check(&file, s->sheet_path, o->overwrite, there ? &input : NULL, &s->error);
    output_file_close(&file);
    return ret;
}

/* --frames may end it before its time. */
static double limit_seconds(const Options *o, const Source *source, double seconds)
{
    const AVRational rate = source->video->avg_frame_rate;
    if (o->frames < 0 || rate.num <= 0 || rate.den <= 0)
        return seconds;
    return fmin(seconds, (double)o->frames / av_q2d(rate));
}

static int find_length(Sample *s)
{
    const Options *o = s->options;
    Source *source = NULL;
    Reader *reader = NULL;
    const ReaderOptions wanted = engine_reader(o, NULL);
    int ret = engine_open_again(&source, o, o->input, s->stop, &s->error);
    if (ret >= 0)
        ret = reader_open(&reader, source, &wanted, &s->error);
    if (ret >= 0) {
        s->from = o->from_us > 0 ? (double)o->from_us / AV_TIME_BASE : 0;
        s->seconds = limit_seconds(o, source, reader_duration(reader));
        if (source_is_still(source))
            ret = media_fail(&s->error, MEDIA_USAGE, "--sample is for a film, and %s is a picture",
                             source->name);
        else if (s->seconds <= 0 || !source_can_seek(source))
            ret =
                media_fail(&s->error, MEDIA_INPUT,
                           "--sample needs an input that says how long it is, and %s does not, or "
                           "nothing of it lies in the part that was asked for",
                           source->name);
    }
    reader_close(&reader);
    source_close(&source);
    return ret;
}

static int begin(Sample *s)
{
    const Options *o = s->options;
    s->stills = o->sample > 0 ? (int)o->sample : USUAL_PIECES;
    int ret = check_sheet(s);
    if (ret >= 0)
        ret = find_length(s);
    if (ret < 0)
        return ret;
    s->is_whole = s->seconds <= s->stills * (PIECE_SECONDS + BEHIND_SECONDS);
    s->pieces = s->is_whole ? 1 : s->stills;
    s->trials = calloc((size_t)s->pieces, sizeof(*s->trials));
    s->sheet = sample_sheet_create(s->stills);
    return s->trials && s->sheet ? 0 : media_fail(&s->error, MEDIA_OUTPUT, "out of memory");
}

/* ---- a piece ---- */

static void note_step(void *sample)
{
    Sample *s = sample;
    Progress *p = &s->progress;
    p->frame = ++s->steps;
    if (p->frame <= p->frames || !p->frames)
        p->time = p->frames ? p->duration * (double)p->frame / (double)p->frames : 0;
    progress_update(p);
}

/* Each still is the frame that is seen in the middle of its share of the piece. */
static void take_still(void *sample, const AVFrame *before, const AVFrame *after, double time)
{
    Sample *s = sample;
    const Trial *t = &s->trials[s->tried];
    const double length = s->is_whole ? s->seconds / s->stills : PIECE_SECONDS;
    const int taken = sample_sheet_count(s->sheet) - s->first;
    if (taken >= (s->is_whole ? s->stills : 1) || t->end - t->begin <= (taken + 0.5) * length)
        return;
    (void)sample_sheet_add(s->sheet, before, after, s->begin + time - t->begin, &s->error);
}

/* Where piece `i` begins: somewhere in its share of the film, elsewhere in each, so that what comes
 * again and again is not met at the same place each time; and not so late that what is behind it is
 * missing. */
static double piece_begin(const Sample *s, int i)
{
    const double share = s->seconds / s->pieces, whole = PIECE_SECONDS + BEHIND_SECONDS;
    const double place = fmod((i + 1) * GOLDEN, 1);
    return fmax(fmin((i + place) * share - PIECE_SECONDS * place, s->seconds - whole), 0);
}

/* A piece of a slide show, or of a film that was cut off, may have no picture: the others tell
 * enough. */
static int leave_out(Sample *s, int i, const char *why)
{
    Trial *trial = &s->trials[s->tried];
    const int is_last = i == s->pieces - 1 && !s->tried;
    const int code = is_last ? EXIT_INPUT : trial->damaged ? EXIT_DAMAGED : EXIT_DONE;
    if (is_last)
        say(SAY_ERRORS, "%s", why);
    else
        say(SAY_DETAILS, "piece %d is left out: %s", i + 1, why);
    *trial = (Trial){0};
    return code;
}

static int try_piece(Sample *s, int i)
{
    Options options = *s->options;
    Trial *trial = &s->trials[s->tried];
    RunResult result = {.trial = trial};
    s->first = sample_sheet_count(s->sheet);
    s->begin = s->from;
    if (!s->is_whole) {
        s->begin += piece_begin(s, i);
        options.from_us = llrint(s->begin * AV_TIME_BASE);
        options.to_us = options.from_us + llrint((PIECE_SECONDS + BEHIND_SECONDS) * AV_TIME_BASE);
        options.frames = -1; /* its length says as much */
    }
    trial->length = s->is_whole ? INFINITY : PIECE_SECONDS;
    trial->frame = take_still;
    trial->step = note_step;
    trial->opaque = s;
    trial_begin(trial);
    const int code = headless_run(&options, s->stop, &result);
    if (trial->no_frames)
        return leave_out(s, i, result.why);
    if (code != EXIT_DONE && code != EXIT_DAMAGED && code != EXIT_INTERRUPTED)
        say(SAY_ERRORS, "%s", result.why);
    if (!s->tried++ && !s->is_whole) { /* what the others are like is known */
        s->progress.frames = trial->frames * s->pieces;
        say_set_verbosity(SAY_ERRORS); /* what is chosen has been said */
    }
    return code;
}

static int try_all(Sample *s)
{
    int code = EXIT_DONE;
    const Options *o = s->options;
    for (int i = 0; i < s->pieces; i++) {
        const int ret = try_piece(s, i);
        if (ret != EXIT_DONE && ret != EXIT_DAMAGED)
            code = ret;
        if (code != EXIT_DONE && code != EXIT_DAMAGED)
            break;
        code = ret == EXIT_DAMAGED ? ret : code;
    }
    say_set_verbosity(o->quiet ? SAY_ERRORS : o->verbose ? SAY_DETAILS : SAY_NORMAL);
    return code;
}

/* ---- what is told ---- */

/* "1 h 12 min", "12 min 5 s", "48 s" */
static void print_time(char *text, size_t size, double seconds)
{
    const long s = lrint(seconds), minutes = lrint(seconds / 60);
    if (s >= 3600)
        snprintf(text, size, "%ld h %ld min", minutes / 60, minutes % 60);
    else if (s >= 60)
        snprintf(text, size, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, size, s < 10 ? "%.1f s" : "%.0f s", seconds);
}

/* "3.41 GB", "820 KB" */
static void print_size(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1000;
    snprintf(text, size, "%.*f %s",
             !unit || bytes >= 99.95 ? 0
             : bytes >= 9.995        ? 1
                                     : 2,
             bytes, units[unit]);
}

static void say_how(const Sample *s)
{
    char film[32];
    osd_time((int64_t)(s->seconds * AV_TIME_BASE), film, sizeof(film));
    if (s->is_whole)
        say(SAY_NORMAL, "found by trying all of it, since it is no longer than a sample: %s", film);
    else
        say(SAY_NORMAL, "found by trying %d piece%s of %.0f s, spread over %s", s->tried,
            s->tried == 1 ? "" : "s", PIECE_SECONDS + BEHIND_SECONDS, film);
    if (s->tried < s->pieces)
        say(SAY_NORMAL, "%d of %d pieces had no picture and were left out", s->pieces - s->tried,
            s->pieces);
}

static void say_estimate(const Sample *s, const SampleEstimate *e)
{
    char time[32], bytes[32], video[32];
    print_time(time, sizeof(time), e->seconds);
    print_size(bytes, sizeof(bytes), e->bytes);
    print_size(video, sizeof(video), e->video);
    say(SAY_NORMAL, "%s: about %s, at %.*f frames a second, and about %s, of which video %s",
        media_quote(s->options->output), time, e->frames_a_second < 10 ? 1 : 0, e->frames_a_second,
        bytes, video);
    say_how(s);
}

/* How much pieces differ is what there is to know of all that was not tried. */
static void say_error(const Sample *s, const SampleEstimate *e)
{
    char more[64] = "";
    if (e->seconds_error < ERROR_SAID && e->bytes_error < ERROR_SAID)
        return;
    if (2 * s->pieces <= OPTIONS_SAMPLE_MOST)
        snprintf(more, sizeof(more), "; --sample %d tells more closely", 2 * s->pieces);
    say(SAY_NORMAL, "the pieces differ much: time may be off by %.0f %%, size by %.0f %%%s",
        100 * e->seconds_error, 100 * e->bytes_error, more);
}

static int tell(Sample *s)
{
    const Options *o = s->options;
    const SampleFilm film = {.seconds = s->seconds, .bitrate = o->bitrate};
    const SampleEstimate e = s->is_whole ? sample_estimate_whole(s->trials)
                                         : sample_estimate(&film, s->trials, s->tried);
    say_estimate(s, &e);
    say_error(s, &e);
    if (!s->error.fault && !sample_sheet_count(s->sheet)) {
        say(SAY_NORMAL, "no sheet was written: no picture was found in the middle of a piece");
        return 0;
    }
    if (s->error.fault || sample_sheet_write(s->sheet, s->sheet_path, o->overwrite, &s->error) < 0)
        return s->error.fault;
    say(SAY_NORMAL, "before and after: %s; nothing else was written", media_quote(s->sheet_path));
    return 0;
}

int sample_run(const Options *options, atomic_int *stop)
{
    Sample s = {.options = options, .stop = stop};
    int code = EXIT_DONE;
    int ret = begin(&s);
    s.progress = (Progress){.style = headless_progress(options), .passes = 1, .bytes = -1};
    s.progress.duration = s.is_whole ? s.seconds : s.pieces * (PIECE_SECONDS + BEHIND_SECONDS);
    if (ret >= 0) {
        progress_start(&s.progress);
        code = try_all(&s);
        const int done = code == EXIT_DONE || code == EXIT_DAMAGED;
        progress_end(&s.progress, code == EXIT_INTERRUPTED ? "interrupted"
                                  : done                   ? "done"
                                                           : "failed");
        ret = done ? tell(&s) : 0;
    }
    if (atomic_load(stop) == RUN_INTERRUPTED)
        code = EXIT_INTERRUPTED;
    else if (ret < 0)
        code = -s.error.fault;
    if (code == EXIT_INTERRUPTED)
        say(SAY_ERRORS, "interrupted; nothing was written");
    else if (ret < 0)
        say(SAY_ERRORS, "%s", s.error.text);
    sample_sheet_free(&s.sheet);
    free(s.trials);
    free(s.sheet_path);
    return code;
}
