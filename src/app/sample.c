#include "app/sample.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/headless.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "media/compat.h"
#include "media/output/output_file.h"
#include "media/output/picture_file.h"
#include "media/small_picture.h"
#include "media/text_list.h"
#include "panel/scope_plot.h"
#include "panel/text.h"
#include "player/osd/osd_parts.h"

#define DEFAULT_PIECES 8

/* The golden ratio: the fractional parts of its multiples are spread evenly. */
#define GOLDEN 0.618033988749895

#define PIECE_SECONDS 6.0
#define DEFAULT_RATE 25.0 /* of a film whose packets have no duration */

#define SHEET_ENDING ".sample.png"

/* ---- the sheet: pairs of pictures, before above after ---- */

/* Layout in pixels. Pictures shrink to PICTURE_WIDTH x PICTURE_HEIGHT. */
#define PICTURE_WIDTH 480
#define PICTURE_HEIGHT 360
#define GAP 8
#define LINE_HEIGHT 32
#define LETTERS 20

#define COLUMNS 4 /* of pairs */

typedef struct Sheet {
    Converter converters[2];
    int count;
    struct {
        SmallPicture pictures[2]; /* before and after, upright, with square pixels */
        double position;          /* in seconds */
    } pairs[OPTIONS_SAMPLE_MAX];
} Sheet;

static void draw_sheet(const Sheet *s, const Canvas *canvas, int columns, Rect cell)
{
    Text *text;
    (void)text_open(&text);
    canvas_set(canvas, (Rect){0, 0, canvas->width, canvas->height}, PANEL_BACKGROUND, 255);
    for (int i = 0; i < s->count; i++) {
        const int x = GAP + i % columns * cell.width;
        int y = GAP + i / columns * cell.height;
        char line[64];
        osd_time((int64_t)(s->pairs[i].position * 1e6), line, sizeof(line));
        strcat(line, ", before and after");
        text_add(text, x, y + LINE_HEIGHT / 2, TEXT_LEFT, LETTERS, PANEL_BRIGHT, cell.width, line);
        y += LINE_HEIGHT;
        for (int k = 0; k < 2; k++, y += (cell.height - LINE_HEIGHT - GAP / 2) / 2) {
            const SmallPicture *picture = &s->pairs[i].pictures[k];
            const size_t size = (size_t)picture->width * 4;
            for (int row = 0; row < picture->height; row++)
                memcpy(canvas_pixel(canvas, x, y + row), picture->pixels + (size_t)row * size,
                       size);
        }
    }
    text_draw(text, canvas);
    text_close(&text);
}

/* Writes a sheet of at least one pair as a PNG. Cells fit the largest picture, since sizes may
 * differ within a film. */
static int write_sheet(const Sheet *s, const char *path, int overwrite, MediaError *error)
{
    Rect cell = {0};
    for (int i = 0; i < 2 * s->count; i++) {
        const SmallPicture *picture = &s->pairs[i / 2].pictures[i % 2];
        cell.width = FFMAX(cell.width, picture->width + GAP);
        cell.height = FFMAX(cell.height, LINE_HEIGHT + 2 * picture->height + GAP / 2 + GAP);
    }
    const int columns = s->count < COLUMNS ? s->count : COLUMNS;
    const int rows = (s->count + columns - 1) / columns;
    const Canvas canvas = canvas_alloc(columns * cell.width + GAP, rows * cell.height + GAP);
    if (!canvas.pixels)
        return media_no_memory(error, MEDIA_OUTPUT);
    draw_sheet(s, &canvas, columns, cell);
    const int ret = picture_file_name(path, overwrite, canvas.pixels, canvas.stride, canvas.width,
                                      canvas.height, error);
    free(canvas.pixels);
    return ret;
}

/* ---- the run ---- */

typedef struct Sample {
    const Options *options;
    atomic_int *stop;
    char *sheet_path;
    Sheet sheet;
    double from, seconds; /* start of the film in the input, and its length, in seconds */
    int pieces;
    double begin;         /* of the current piece, in seconds of the input */
    bool is_drawn;        /* the current piece is on the sheet */
    int tried;            /* number of pieces with a picture; the sums below are over them */
    double opening, work; /* seconds until the input is open, and after that */
    double frames, length, payload, written;
    Progress progress;
    MediaError error;
} Sample;

static int find_length(Sample *s)
{
    const Options *o = s->options;
    Source *source = NULL;
    Input *video = NULL;
    const InputOptions wanted = setup_video(o, NULL);
    int ret = setup_source_again(&source, o, NULL, NULL, s->stop, &s->error);
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

/* Shows the progress, and takes a frame of the piece for the sheet. */
static int take_frame(void *sample, Frame *f)
{
    Sample *s = sample;
    Progress *p = &s->progress;
    PictureFormat format;
    char why[256];
    const double base = av_q2d(f->out->time_base), time = (double)f->out->pts * base;
    const double end = time + (double)FRAME_DURATION(f->out) * base;
    p->frame++;
    if (p->frame <= p->frames)
        p->time = p->duration * (double)p->frame / (double)p->frames;
    progress_update(p);
    if (!s->is_drawn && end > fmin(PIECE_SECONDS, s->seconds) / 3) {
        s->is_drawn = true;
        const int pair = s->sheet.count++;
        s->sheet.pairs[pair].position = s->begin + time;
        for (int i = 0; i < 2; i++) {
            const AVFrame *frame = i ? f->out : f->decoded.frame;
            if (picture_format(&format, frame, why, sizeof(why)) < 0 ||
                small_picture_make(&s->sheet.converters[i], frame, format.turn, format.aspect,
                                   PICTURE_WIDTH, PICTURE_HEIGHT,
                                   &s->sheet.pairs[pair].pictures[i]) < 0)
                (void)media_fail(&s->error, MEDIA_OUTPUT, "cannot convert a frame for the sheet");
        }
    }
    return 0;
}

static int try_piece(Sample *s, int i)
{
    Options options = *s->options;
    Trial trial = {.sink = {.self = s, .frame = take_frame}};
    RunResult result = {.trial = &trial};
    /* Vary the place within each section of the film, so that periodic content differs in phase. */
    const double share = s->seconds / s->pieces;
    const double place = fmod((i + 1) * GOLDEN, 1);
    s->is_drawn = false;
    s->begin = s->from;
    if (s->seconds > PIECE_SECONDS) {
        const double begin = (i + place) * share - PIECE_SECONDS * place;
        s->begin += fmax(fmin(begin, s->seconds - PIECE_SECONDS), 0);
        options.from_us = llrint(s->begin * AV_TIME_BASE);
        options.to_us = options.from_us + llrint(PIECE_SECONDS * AV_TIME_BASE);
        options.frames = -1; /* to_us ends the piece */
    }
    const double began = run_now_us() * 1e-6;
    const int code = headless_run(&options, s->stop, &result);
    const int is_last = i == s->pieces - 1 && !s->tried;
    if (trial.no_frames && !is_last) { /* possible in a slide show or a truncated film */
        say(SAY_DETAILS, "piece %d is skipped: %s", i + 1, result.why);
        return trial.is_damaged ? EXIT_DAMAGED : EXIT_DONE;
    }
    if (code != EXIT_DONE && code != EXIT_DAMAGED && code != EXIT_INTERRUPTED)
        say(SAY_ERRORS, "%s", result.why);
    s->opening += trial.opened - began;
    s->work += trial.ended - trial.opened;
    s->frames += (double)result.frames;
    s->length += result.seconds > 0 ? result.seconds : (double)result.frames / DEFAULT_RATE;
    s->payload += (double)trial.payload;
    s->written += (double)trial.written;
    if (!s->tried++) { /* expect as many frames from each piece */
        s->progress.frames = result.frames * s->pieces;
        say_set_verbosity(SAY_ERRORS); /* log choices only once */
    }
    return code;
}

/* ---- the result ---- */

/* Prints "3.41 GB" or "820 KB". */
static void print_size(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
}

static void say_estimate(const Sample *s)
{
    /* How many times longer the film is than the pieces. */
    const double times = s->seconds > PIECE_SECONDS ? s->seconds / s->length : 1;
    const double seconds = s->opening / s->tried + s->work * times;
    const double pace = s->frames * times / seconds;
    const int64_t bitrate = s->options->bitrate; /* 0 or less: constant quality */
    const double size = bitrate > 0 ? s->seconds * (double)bitrate / 8 : s->payload * times;
    char time[32], bytes[32], video[32], film[32];
    osd_time(llrint(ceil(seconds) * AV_TIME_BASE), time, sizeof(time));
    osd_time((int64_t)(s->seconds * AV_TIME_BASE), film, sizeof(film));
    print_size(bytes, sizeof(bytes), size + (s->written - s->payload) * times);
    print_size(video, sizeof(video), size);
    say(SAY_NORMAL, "%s would take about %s, at %.*f fps, and have about %s, including %s of video",
        media_quote(s->options->output), time, pace < 10, pace, bytes, video);
    say(SAY_NORMAL, "estimated from %d piece%s of %.0f s, spread over %s", s->tried,
        s->tried == 1 ? "" : "s", fmin(PIECE_SECONDS, s->seconds), film);
    if (s->tried < s->pieces)
        say(SAY_NORMAL, "%d of %d pieces had no picture and were skipped", s->pieces - s->tried,
            s->pieces);
}

/* Returns the exit code. */
static int run_pieces(Sample *s)
{
    const Options *o = s->options;
    MediaError *error = &s->error;
    struct stat input;
    OutputFile file = {0};
    s->sheet_path = text_print("%s" SHEET_ENDING, o->output);
    if (!s->sheet_path)
        return -media_no_memory(error, MEDIA_OUTPUT);
    const int there = stat(o->input, &input) == 0;
    const int ret =
        output_file_check(&file, s->sheet_path, o->overwrite, there ? &input : NULL, error);
    output_file_close(&file);
    if (ret < 0 || find_length(s) < 0)
        return -error->fault;
    const double length = fmin(PIECE_SECONDS, s->seconds);
    s->pieces = FFMIN(s->pieces, (int)(s->seconds / length));
    s->progress.duration = s->pieces * length;
    progress_start(&s->progress);
    int code = EXIT_DONE;
    for (int i = 0; i < s->pieces && (code == EXIT_DONE || code == EXIT_DAMAGED); i++) {
        const int of_piece = try_piece(s, i);
        code = of_piece == EXIT_DONE ? code : of_piece;
    }
    say_set_verbosity(options_verbosity(o));
    progress_end(&s->progress, run_end_state(code));
    if (code != EXIT_DONE && code != EXIT_DAMAGED)
        return code;
    say_estimate(s);
    if (error->fault)
        return -error->fault;
    if (!s->sheet.count) {
        say(SAY_NORMAL, "no piece is long enough for a picture, so no sheet was written");
        return code;
    }
    if (write_sheet(&s->sheet, s->sheet_path, o->overwrite, error) < 0)
        return -error->fault;
    say(SAY_NORMAL, "before and after: %s; nothing else was written", media_quote(s->sheet_path));
    return code;
}

int sample_run(const Options *options, atomic_int *stop)
{
    Sample *s = calloc(1, sizeof(*s));
    if (!s)
        return EXIT_OUTPUT;
    s->options = options;
    s->stop = stop;
    s->pieces = options->sample > 0 ? (int)options->sample : DEFAULT_PIECES;
    s->progress = (Progress){.style = headless_progress(options), .bytes = -1};
    int code = run_pieces(s);
    if (atomic_load(stop) == RUN_INTERRUPTED)
        code = EXIT_INTERRUPTED;
    if (code == EXIT_INTERRUPTED)
        say(SAY_ERRORS, "interrupted; nothing was written");
    else if (s->error.fault)
        say(SAY_ERRORS, "%s", s->error.text);
    for (int i = 0; i < 2 * s->sheet.count; i++)
        free(s->sheet.pairs[i / 2].pictures[i % 2].pixels);
    convert_close(&s->sheet.converters[0]);
    convert_close(&s->sheet.converters[1]);
    free(s->sheet_path);
    free(s);
    return code;
}
