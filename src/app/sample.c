#include "app/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/engine.h"
#include "app/headless.h"
#include "app/terminal.h"
#include "media/output/output_file.h"
#include "media/output/picture_file.h"
#include "media/small_picture.h"
#include "panel/scope_plot.h"
#include "panel/text.h"
#include "player/osd/osd_bar.h"
#include "run/run.h"

#define DEFAULT_PIECES 8

/* The fractional parts of its multiples are spread evenly. */
#define GOLDEN 0.618033988749895

/* Seconds of a piece that count, and seconds encoded after them: more frames than x264 and x265
 * look ahead at 24 fps, so that the encoder decides as in the whole film. */
#define PIECE_SECONDS 4.0
#define EXTRA_SECONDS 2.0

#define MIN_REPORTED_ERROR 0.1 /* smaller standard errors are not reported */

#define SHEET_ENDING ".sample.png"

/* ---- the estimate ---- */

/* Key frame interval of encoders that do not tell theirs, like x264 and x265. */
#define DEFAULT_KEY_INTERVAL 250

/* Frame rate of a film whose packets have no duration. */
#define DEFAULT_RATE 25.0

/* Sums over all pieces. */
typedef struct Sums {
    double packets, keys, first, rest, seconds; /* as in Trial; `packets` without the first ones */
    double frames, tried;                       /* all frames, and their seconds of video */
    double other, header;
    double work, begin;
    int key_interval;
} Sums;

static Sums add_up(const Trial *trials, int count)
{
    Sums s = {.begin = INFINITY};
    for (int i = 0; i < count; i++) {
        const Trial *t = &trials[i];
        const double frames = (double)t->frames;
        s.packets += (double)t->packets;
        s.keys += (double)t->keys;
        s.first += (double)t->first;
        s.rest += (double)t->rest;
        s.seconds += t->seconds;
        s.frames += frames;
        s.tried += t->end - t->begin;
        s.other += (double)(t->written - t->header - t->payload);
        s.work += trial_pace(t) * frames;
        s.begin = fmin(s.begin, t->encoded - t->began);
        s.header = fmax(s.header, (double)t->header);
        s.key_interval = t->key_interval;
    }
    s.tried = s.tried > 0 ? s.tried : s.frames / DEFAULT_RATE;
    s.seconds = s.seconds > 0 ? s.seconds : s.tried;
    return s;
}

/*
 * Key frames per frame of a film. If a share `cuts` of frames are key frames because of their
 * content, and one comes `interval` frames after the last at the latest, the mean distance is
 * (1 - (1 - cuts)^interval) / cuts frames, the mean of a truncated geometric distribution.
 */
static double key_rate(double cuts, double interval)
{
    return cuts > 0 ? cuts / (1 - pow(1 - cuts, interval)) : 1 / interval;
}

/* Each piece begins with a key frame; a film has fewer of them. */
static double bytes_a_frame(const Sums *s, int pieces)
{
    const double all = s->packets + pieces;
    const double length = all / pieces;
    const double interval = s->key_interval > 0 ? s->key_interval : DEFAULT_KEY_INTERVAL;
    if (interval <= length || !s->packets)
        return (s->first + s->rest) / all;
    const double other = s->rest / s->packets, key = s->first / pieces;
    const double cuts = s->keys / s->packets;
    return other + (key_rate(cuts, interval) - cuts) * (key - other);
}

static double bytes_of_frame(const Trial *t)
{
    return t->packets ? (double)t->rest / (double)t->packets : (double)t->first;
}

/* Returns the standard error of the mean of `of` over the pieces, relative to the mean. */
static double relative_error(const Trial *trials, int count, double (*of)(const Trial *))
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += of(&trials[i]) / count;
    for (int i = 0; i < count; i++)
        squares += (of(&trials[i]) - mean) * (of(&trials[i]) - mean);
    return count > 1 && mean > 0 ? sqrt(squares / (count - 1) / count) / mean : 0;
}

SampleEstimate sample_estimate(const SampleFilm *film, const Trial *trials, int count)
{
    const Sums s = add_up(trials, count);
    const double frames = film->seconds * (s.packets + count) / s.seconds;
    SampleEstimate e = {
        .frames = frames,
        .begin = s.begin,
        .video = film->bitrate > 0 ? film->seconds * (double)film->bitrate / 8
                                   : frames * bytes_a_frame(&s, count),
    };
    e.seconds = e.begin + frames * s.work / s.frames;
    e.bytes = e.video + s.header + s.other * film->seconds / s.tried;
    e.frames_a_second = frames / e.seconds;
    e.seconds_error = relative_error(trials, count, trial_pace);
    e.bytes_error = film->bitrate > 0 ? 0 : relative_error(trials, count, bytes_of_frame);
    return e;
}

SampleEstimate sample_estimate_whole(const Trial *t)
{
    const double seconds = t->ended - t->began;
    return (SampleEstimate){
        .frames = (double)t->frames,
        .seconds = seconds,
        .begin = t->encoded - t->began,
        .bytes = (double)t->written,
        .video = (double)t->payload,
        .frames_a_second = (double)t->frames / seconds,
    };
}

/* ---- the sheet ---- */

/* Pixels: largest picture, gap around it, line above it and its letters. */
#define PICTURE_WIDTH 480
#define PICTURE_HEIGHT 360
#define GAP 8
#define LINE_HEIGHT 32
#define LETTERS 20

#define LABEL_HEIGHT 28
#define LABEL_COVER 170 /* of 255 */

#define COLUMNS 4

typedef struct Pair {
    SmallPicture before, after;
    double position;
} Pair;

struct SampleSheet {
    Converter converters[2];
    int count, room;
    Pair pairs[];
};

SampleSheet *sample_sheet_create(int room)
{
    SampleSheet *s = calloc(1, sizeof(*s) + (size_t)room * sizeof(s->pairs[0]));
    if (s)
        s->room = room;
    return s;
}

/* Makes a small upright picture with square pixels. */
static int shrink(Converter *converter, const AVFrame *frame, SmallPicture *picture)
{
    char why[256];
    PictureFormat format;
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return -1;
    return small_picture_make(converter, frame, format.turn, format.aspect, PICTURE_WIDTH,
                              PICTURE_HEIGHT, picture);
}

int sample_sheet_add(SampleSheet *s, const AVFrame *before, const AVFrame *after, double position,
                     MediaError *error)
{
    if (s->count == s->room)
        return 0;
    Pair *pair = &s->pairs[s->count++];
    pair->position = position;
    if (shrink(&s->converters[0], before, &pair->before) < 0 ||
        shrink(&s->converters[1], after, &pair->after) < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot convert a frame for the sheet");
    return 0;
}

static void lay(const Canvas *canvas, const SmallPicture *picture, int x, int y)
{
    for (int row = 0; row < picture->height; row++)
        memcpy(canvas_pixel(canvas, x, y + row),
               picture->pixels + (ptrdiff_t)row * picture->width * 4, (size_t)picture->width * 4);
}

/* Draws a label in the picture's corner, on a legible background. */
static void label(const Canvas *canvas, Text *text, int x, int y, const char *word)
{
    const int width = text_width(text, LETTERS, word);
    if (width)
        canvas_fill(canvas, (Rect){x, y, width + 2 * GAP, LABEL_HEIGHT}, PANEL_BACKGROUND,
                    LABEL_COVER);
    text_add(text, x + GAP, y + LABEL_HEIGHT / 2, TEXT_LEFT, LETTERS, PANEL_BRIGHT, width + GAP,
             word);
}

/* Draws the time and the pair below it. `cell`: the position, and the size of each picture. */
static void draw_pair(const Canvas *canvas, Text *text, const Pair *pair, Rect cell)
{
    char time[32];
    const int x = cell.x, above = cell.y + LINE_HEIGHT, below = above + cell.height + GAP / 2;
    osd_time((int64_t)(pair->position * 1e6), time, sizeof(time));
    text_add(text, x, cell.y + LINE_HEIGHT / 2, TEXT_LEFT, LETTERS, PANEL_BRIGHT, cell.width, time);
    lay(canvas, &pair->before, x, above);
    lay(canvas, &pair->after, x, below);
    label(canvas, text, x, above, "before");
    label(canvas, text, x, below, "after");
}

int sample_sheet_write(const SampleSheet *s, const char *path, int overwrite, MediaError *error)
{
    Rect cell = {0}; /* of the largest picture: the size may change within a film */
    for (int i = 0; i < s->count; i++) {
        const SmallPicture *before = &s->pairs[i].before, *after = &s->pairs[i].after;
        cell.width = FFMAX3(cell.width, before->width, after->width);
        cell.height = FFMAX3(cell.height, before->height, after->height);
    }
    const int columns = s->count < COLUMNS ? s->count : COLUMNS;
    const int rows = (s->count + columns - 1) / columns;
    const int across = cell.width + GAP, down = LINE_HEIGHT + 2 * cell.height + GAP / 2 + GAP;
    const Canvas canvas = canvas_alloc(columns * across + GAP, rows * down + GAP);
    if (!canvas.pixels)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    Text *text;
    (void)text_open(&text);
    canvas_set(&canvas, (Rect){0, 0, canvas.width, canvas.height}, PANEL_BACKGROUND, 255);
    for (int i = 0; i < s->count; i++) {
        cell.x = GAP + i % columns * across;
        cell.y = GAP + i / columns * down;
        draw_pair(&canvas, text, &s->pairs[i], cell);
    }
    text_draw(text, &canvas);
    const int ret = picture_file_name(path, overwrite, canvas.pixels, canvas.stride, canvas.width,
                                      canvas.height, error);
    text_close(&text);
    free(canvas.pixels);
    return ret;
}

void sample_sheet_free(SampleSheet **sheet)
{
    SampleSheet *s = *sheet;
    if (!s)
        return;
    for (int i = 0; i < s->count; i++) {
        free(s->pairs[i].before.pixels);
        free(s->pairs[i].after.pixels);
    }
    convert_close(&s->converters[0]);
    convert_close(&s->converters[1]);
    free(s);
    *sheet = NULL;
}

/* ---- the run ---- */

typedef struct Sample {
    const Options *options;
    atomic_int *stop;
    char *sheet_path;
    SampleSheet *sheet;
    double from, seconds; /* start of the film in the input, and its length */
    int is_whole;         /* the film is not longer than its pieces: try all of it */
    int stills;           /* wanted on the sheet */
    int pieces;
    Trial *trials; /* of the pieces with a picture */
    int tried;     /* finished trials; the current one follows */
    double begin;  /* of the current piece, in the film */
    int first;     /* stills on the sheet before this piece */
    Progress progress;
    int64_t steps; /* frames done */
    int code;      /* of the pieces so far */
    MediaError error;
} Sample;

/* ---- before the first piece ---- */

/* Checks that the sheet can be written. */
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

static int find_length(Sample *s)
{
    const Options *o = s->options;
    Source *source = NULL;
    Input *video = NULL;
    const InputOptions wanted = engine_video(o, NULL);
    int ret = engine_open_again(&source, o, o->input, s->stop, &s->error);
    if (ret >= 0)
        ret = input_open(&video, source, &wanted, &s->error);
    if (ret >= 0) {
        s->from = o->from_us > 0 ? (double)o->from_us / AV_TIME_BASE : 0;
        s->seconds = input_duration(video);
        const AVRational rate = source->video->avg_frame_rate;
        if (o->frames >= 0 && rate.num > 0 && rate.den > 0)
            s->seconds = fmin(s->seconds, (double)o->frames / av_q2d(rate));
        if (source_is_still(source))
            ret = media_fail(&s->error, MEDIA_USAGE, "--sample needs a film: %s is a picture",
                             source->name);
        else if (s->seconds <= 0 || !source_can_seek(source))
            ret =
                media_fail(&s->error, MEDIA_INPUT,
                           "--sample needs an input with a known length: %s has none, or the given "
                           "part is empty",
                           source->name);
    }
    input_close(&video);
    source_close(&source);
    return ret;
}

static int prepare(Sample *s)
{
    const Options *o = s->options;
    s->stills = o->sample > 0 ? (int)o->sample : DEFAULT_PIECES;
    int ret = check_sheet(s);
    if (ret >= 0)
        ret = find_length(s);
    if (ret < 0)
        return ret;
    s->is_whole = s->seconds <= s->stills * (PIECE_SECONDS + EXTRA_SECONDS);
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

/* Divides the piece into one section per still, and takes the frame in the middle of each. */
static void take_still(void *sample, const AVFrame *before, const AVFrame *after, double time)
{
    Sample *s = sample;
    const Trial *t = &s->trials[s->tried];
    const double length = s->is_whole ? s->seconds / s->stills : PIECE_SECONDS;
    const int taken = s->sheet->count - s->first;
    if (taken >= (s->is_whole ? s->stills : 1) || t->end - t->begin <= (taken + 0.5) * length)
        return;
    (void)sample_sheet_add(s->sheet, before, after, s->begin + time - t->begin, &s->error);
}

/* Start of piece `i`, at a different place in each section of the film, so that periodic content
 * does not appear at the same phase in all pieces. */
static double piece_begin(const Sample *s, int i)
{
    const double share = s->seconds / s->pieces, whole = PIECE_SECONDS + EXTRA_SECONDS;
    const double place = fmod((i + 1) * GOLDEN, 1);
    return fmax(fmin((i + place) * share - PIECE_SECONDS * place, s->seconds - whole), 0);
}

/* Skips a piece without a picture, as a slide show or a truncated film may have. */
static int skip_piece(Sample *s, int i, const char *why)
{
    Trial *trial = &s->trials[s->tried];
    const int is_last = i == s->pieces - 1 && !s->tried;
    const int code = is_last ? EXIT_INPUT : trial->damaged ? EXIT_DAMAGED : EXIT_DONE;
    if (is_last)
        say(SAY_ERRORS, "%s", why);
    else
        say(SAY_DETAILS, "piece %d is skipped: %s", i + 1, why);
    *trial = (Trial){0};
    return code;
}

static int try_piece(Sample *s, int i)
{
    Options options = *s->options;
    Trial *trial = &s->trials[s->tried];
    RunResult result = {.trial = trial};
    s->first = s->sheet->count;
    s->begin = s->from;
    if (!s->is_whole) {
        s->begin += piece_begin(s, i);
        options.from_us = llrint(s->begin * AV_TIME_BASE);
        options.to_us = options.from_us + llrint((PIECE_SECONDS + EXTRA_SECONDS) * AV_TIME_BASE);
        options.frames = -1; /* to_us ends the piece */
    }
    trial->length = s->is_whole ? INFINITY : PIECE_SECONDS;
    trial->frame = take_still;
    trial->step = note_step;
    trial->opaque = s;
    trial->began = run_now_us() * 1e-6;
    const int code = headless_run(&options, s->stop, &result);
    if (trial->no_frames)
        return skip_piece(s, i, result.why);
    if (code != EXIT_DONE && code != EXIT_DAMAGED && code != EXIT_INTERRUPTED)
        say(SAY_ERRORS, "%s", result.why);
    if (!s->tried++ && !s->is_whole) { /* the first piece: the others have as many frames */
        s->progress.frames = trial->frames * s->pieces;
        say_set_verbosity(SAY_ERRORS); /* choices are logged once */
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

/* ---- the result ---- */

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

static void say_estimate(const Sample *s, const SampleEstimate *e)
{
    char time[32], bytes[32], video[32], film[32];
    print_time(time, sizeof(time), e->seconds);
    print_size(bytes, sizeof(bytes), e->bytes);
    print_size(video, sizeof(video), e->video);
    say(SAY_NORMAL, "%s: about %s, at %.*f frames per second, and about %s, including %s of video",
        media_quote(s->options->output), time, e->frames_a_second < 10 ? 1 : 0, e->frames_a_second,
        bytes, video);
    osd_time((int64_t)(s->seconds * AV_TIME_BASE), film, sizeof(film));
    if (s->is_whole)
        say(SAY_NORMAL, "from all of it, which is not longer than a sample: %s", film);
    else
        say(SAY_NORMAL, "from %d piece%s of %.0f s, spread over %s", s->tried,
            s->tried == 1 ? "" : "s", PIECE_SECONDS + EXTRA_SECONDS, film);
    if (s->tried < s->pieces)
        say(SAY_NORMAL, "%d of %d pieces had no picture and were skipped", s->pieces - s->tried,
            s->pieces);
}

static int report(Sample *s)
{
    const Options *o = s->options;
    const SampleFilm film = {.seconds = s->seconds, .bitrate = o->bitrate};
    const SampleEstimate e = s->is_whole ? sample_estimate_whole(s->trials)
                                         : sample_estimate(&film, s->trials, s->tried);
    say_estimate(s, &e);
    char more[64] = "";
    if (2 * s->pieces <= OPTIONS_SAMPLE_MOST)
        snprintf(more, sizeof(more), "; --sample %d is more precise", 2 * s->pieces);
    if (e.seconds_error >= MIN_REPORTED_ERROR || e.bytes_error >= MIN_REPORTED_ERROR)
        say(SAY_NORMAL, "the pieces differ much: time may be off by %.0f %%, size by %.0f %%%s",
            100 * e.seconds_error, 100 * e.bytes_error, more);
    if (!s->error.fault && !s->sheet->count) {
        say(SAY_NORMAL, "no sheet was written: no piece has a picture in its middle");
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
    int ret = prepare(&s);
    s.progress = (Progress){.style = headless_progress(options), .passes = 1, .bytes = -1};
    s.progress.duration = s.is_whole ? s.seconds : s.pieces * (PIECE_SECONDS + EXTRA_SECONDS);
    if (ret >= 0) {
        progress_start(&s.progress);
        code = try_all(&s);
        const int done = code == EXIT_DONE || code == EXIT_DAMAGED;
        progress_end(&s.progress, code == EXIT_INTERRUPTED ? "interrupted"
                                  : done                   ? "done"
                                                           : "failed");
        ret = done ? report(&s) : 0;
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
