/*
 * lumeq-contact-sheet BEFORE AFTER STATS.jsonl OUT.png [--at SECONDS,SECONDS,...]
 *
 * Draws a contact sheet of an equalized video: a row for each still with the frame before and
 * after, its histograms and its curve. Prints a table of means over the video and its chapters.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/convert.h"
#include "media/log.h"
#include "media/output/picture_file.h"
#include "panel/panel.h"
#include "stats_rows.h"
#include "stills.h"
#include "summary.h"

enum {
    SHEET_WIDTH = 1920,
    MARGIN = 40,
    GAP = 20,
    CELL_WIDTH = (SHEET_WIDTH - 2 * MARGIN - 2 * GAP) / 3,
    MIN_CELL_HEIGHT = 240,
    MAX_CELL_HEIGHT = 600,
    TITLE_SIZE = 36,
    TEXT_SIZE = 21,
    HEAD_HEIGHT = 132,
    CAPTION_HEIGHT = 34,
    ROW_GAP = 26,
    MAX_STILLS = 12,
    DEFAULT_STILLS = 4,
    MAX_CHAPTER_STILLS = 5,
};

enum {
    BACKGROUND = 0x0D0F13,
    LETTERBOX = 0x000000,
    BRIGHT = 0xE6E9EE,
    DIM = 0x98A2B0,
    BEFORE = 0x74A7DC,
    AFTER = 0xF2B45C,
};

typedef struct Sheet {
    const char *before_path, *after_path, *stats_path, *out_path;
    double times[MAX_STILLS];
    int stills;

    Stills before, after;
    StatsRows rows;
    StatsArrays arrays;
    Text *text;
    Canvas canvas;
    int cell_height;
} Sheet;

/* ---- choice of stills ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const AVFormatContext *container(const Sheet *s)
{
    return s->before.source->format;
}

static double chapter_time(const AVChapter *chapter, int64_t ticks)
{
    return ticks * av_q2d(chapter->time_base);
}

static const char *chapter_title(const AVChapter *chapter)
{
    const AVDictionaryEntry *title = av_dict_get(chapter->metadata, "title", NULL, 0);
    return title ? title->value : "";
}

static const AVChapter *chapter_at(const Sheet *s, double time)
{
    for (unsigned i = 0; i < container(s)->nb_chapters; i++) {
        const AVChapter *chapter = container(s)->chapters[i];
        if (time >= chapter_time(chapter, chapter->start) &&
            time < chapter_time(chapter, chapter->end))
            return chapter;
    }
    return NULL;
}

/* Takes the middle of each chapter, or of evenly spread chapters if there are too many. Divides a
 * video with fewer than two chapters into equal parts. */
static void choose_times(Sheet *s)
{
    const int chapters = (int)container(s)->nb_chapters;
    const double start = s->rows.rows[0].time, end = s->rows.rows[s->rows.count - 1].time;
    s->stills = chapters < 2                    ? DEFAULT_STILLS
                : chapters < MAX_CHAPTER_STILLS ? chapters
                                                : MAX_CHAPTER_STILLS;
    for (int i = 0; i < s->stills; i++) {
        s->times[i] = start + (end - start) * (2 * i + 1) / (2 * s->stills);
        if (chapters >= 2) {
            const AVChapter *chapter =
                container(s)->chapters[(2 * i + 1) * chapters / (2 * s->stills)];
            s->times[i] =
                0.5 * (chapter_time(chapter, chapter->start) + chapter_time(chapter, chapter->end));
        }
    }
}

static int parse_times(Sheet *s, const char *list)
{
    char *end = NULL;
    for (; s->stills < MAX_STILLS; list = end + 1) {
        const double time = strtod(list, &end);
        if (end == list || !isfinite(time) || (*end && *end != ','))
            break;
        s->times[s->stills++] = time;
        if (!*end)
            return 0;
    }
    fprintf(stderr, "--at: cannot use \"%s\"; give 1 to %d times in seconds, separated by commas\n",
            list, MAX_STILLS);
    return -1;
}

/* ---- the table ---- */

static void print_table(const Sheet *s)
{
    Summary summary = summarize(&s->rows, -INFINITY, INFINITY);
    summary_print_head();
    summary_print("whole video", &summary);
    for (unsigned i = 0; i < container(s)->nb_chapters; i++) {
        const AVChapter *chapter = container(s)->chapters[i];
        summary = summarize(&s->rows, chapter_time(chapter, chapter->start),
                            chapter_time(chapter, chapter->end));
        if (summary.frames)
            summary_print(media_quote(chapter_title(chapter)), &summary);
    }
}

/* ---- the picture ---- */

static Rect cell(const Sheet *s, int row, int column)
{
    const int step = CAPTION_HEIGHT + s->cell_height + ROW_GAP;
    return (Rect){MARGIN + column * (CELL_WIDTH + GAP), HEAD_HEIGHT + row * step + CAPTION_HEIGHT,
                  CELL_WIDTH, s->cell_height};
}

static int open_canvas(Sheet *s)
{
    const double height = CELL_WIDTH / stills_aspect(&s->before);
    s->cell_height = (int)fmin(fmax(height, MIN_CELL_HEIGHT), MAX_CELL_HEIGHT);
    const Rect end = cell(s, s->stills, 0);
    s->canvas.width = SHEET_WIDTH;
    s->canvas.height = end.y - CAPTION_HEIGHT - ROW_GAP + MARGIN;
    s->canvas.stride = SHEET_WIDTH * 4;
    s->canvas.pixels = calloc((size_t)s->canvas.height, (size_t)s->canvas.stride);
    if (!s->canvas.pixels) {
        fputs("out of memory\n", stderr);
        return -1;
    }
    canvas_fill(&s->canvas, (Rect){0, 0, SHEET_WIDTH, s->canvas.height}, BACKGROUND, 255);
    return 0;
}

static void text_addf(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour,
                      int room, const char *format, ...) __attribute__((format(printf, 8, 9)));

static void text_addf(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour,
                      int room, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    text_add(text, x, y, anchor, size, colour, room, line);
}

static void draw_head(Sheet *s)
{
    const Summary all = summarize(&s->rows, -INFINITY, INFINITY);
    const int room = SHEET_WIDTH - 2 * MARGIN;
    text_addf(s->text, MARGIN, 46, TEXT_LEFT, TITLE_SIZE, BRIGHT, room, "%s, equalized by lumeq",
              base_name(s->before_path));
    text_addf(s->text, MARGIN, 88, TEXT_LEFT, TEXT_SIZE, DIM, room,
              "%d frames of %d×%d.  Means over all frames, before → after:  luma %.0f → %.0f,  "
              "contrast (standard deviation) %.1f → %.1f,  entropy %.2f → %.2f bits",
              all.frames, s->before.frame->width, s->before.frame->height, all.mean_in,
              all.mean_out, all.contrast_in, all.contrast_out, all.entropy_in, all.entropy_out);
    text_draw(s->text, &s->canvas);
}

static void draw_captions(Sheet *s, int row, const StatsRow *stats)
{
    const AVChapter *chapter = chapter_at(s, stats->time);
    const Rect before = cell(s, row, 0), after = cell(s, row, 1), panel = cell(s, row, 2);
    const int y = before.y - CAPTION_HEIGHT / 2 - 2, half = CELL_WIDTH / 2;
    const int right = CELL_WIDTH * 2 / 3;
    text_add(s->text, before.x, y, TEXT_LEFT, TEXT_SIZE, BEFORE, half, "before");
    text_addf(s->text, before.x + CELL_WIDTH, y, TEXT_RIGHT, TEXT_SIZE, DIM, right,
              "mean %.0f, contrast %.0f", stats->mean_in, stats->contrast_in);
    text_add(s->text, after.x, y, TEXT_LEFT, TEXT_SIZE, AFTER, half, "after");
    text_addf(s->text, after.x + CELL_WIDTH, y, TEXT_RIGHT, TEXT_SIZE, DIM, right,
              "mean %.0f, contrast %.0f", stats->mean_out, stats->contrast_out);
    text_addf(s->text, panel.x, y, TEXT_LEFT, TEXT_SIZE, BRIGHT, CELL_WIDTH, "at %.2f s%s%s",
              stats->time, chapter ? ":  " : "", chapter ? chapter_title(chapter) : "");
}

/* Draws the still centred in its cell, as large as possible. */
static int draw_still(Sheet *s, Stills *stills, Rect place, MediaError *error)
{
    const double aspect = stills_aspect(stills);
    const int width = (int)fmax(1, fmin(place.width, lrint(place.height * aspect)));
    const int height = (int)fmax(1, fmin(place.height, lrint(place.width / aspect)));
    AVFrame *picture = NULL;
    const int ret = stills_convert(stills, width, height, &picture, error);
    if (ret >= 0) {
        canvas_fill(&s->canvas, place, LETTERBOX, 255);
        const int x = place.x + (place.width - width) / 2;
        const int y = place.y + (place.height - height) / 2;
        for (int row = 0; row < height; row++)
            memcpy(s->canvas.pixels + (y + row) * s->canvas.stride + (ptrdiff_t)x * 4,
                   picture->data[0] + (ptrdiff_t)row * picture->linesize[0], (size_t)width * 4);
    }
    av_frame_free(&picture);
    return ret;
}

static void draw_panel(Sheet *s, Rect place)
{
    const PanelData data = {
        .bins = s->arrays.bins,
        .depth = convert_depth(s->before.frame->format),
        .hist_in = s->arrays.hist_in,
        .hist_out = s->arrays.hist_out,
        .curve = s->arrays.curve,
        .full_range = s->before.frame->color_range == AVCOL_RANGE_JPEG,
    };
    const Canvas part = {s->canvas.pixels + place.y * s->canvas.stride + (ptrdiff_t)place.x * 4,
                         s->canvas.stride, place.width, place.height};
    panel_draw(&data, &part, s->text);
}

static int draw_row(Sheet *s, int row, MediaError *error)
{
    const StatsRow *stats = stats_rows_at(&s->rows, s->times[row]);
    if (stats_rows_arrays(s->stats_path, stats, &s->arrays) < 0)
        return -1;
    int ret = stills_take(&s->before, stats->time, error);
    if (ret >= 0)
        ret = stills_take(&s->after, stats->time, error);
    if (ret >= 0)
        ret = draw_still(s, &s->before, cell(s, row, 0), error);
    if (ret >= 0)
        ret = draw_still(s, &s->after, cell(s, row, 1), error);
    if (ret < 0)
        return ret;
    draw_panel(s, cell(s, row, 2));
    draw_captions(s, row, stats);
    text_draw(s->text, &s->canvas);
    return 0;
}

/* ---- the program ---- */

static int make_sheet(Sheet *s, MediaError *error)
{
    if (stats_rows_read(&s->rows, s->stats_path) < 0 ||
        stills_open(&s->before, s->before_path, error) < 0 ||
        stills_open(&s->after, s->after_path, error) < 0)
        return -1;
    if (!s->stills)
        choose_times(s);
    if (text_open(&s->text) < 0)
        fputs("no font was found: the contact sheet has no text\n", stderr);
    /* The first still gives the shape of all cells. */
    if (stills_take(&s->before, s->times[0], error) < 0 || open_canvas(s) < 0)
        return -1;
    draw_head(s);
    for (int row = 0; row < s->stills; row++)
        if (draw_row(s, row, error) < 0)
            return -1;
    return picture_file_name(s->out_path, 1, s->canvas.pixels, s->canvas.stride, s->canvas.width,
                             s->canvas.height, error);
}

static void close_sheet(Sheet *s)
{
    text_close(&s->text);
    free(s->canvas.pixels);
    stills_close(&s->after);
    stills_close(&s->before);
    stats_rows_free(&s->rows);
}

static void print_line(const char *line)
{
    fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv)
{
    static Sheet sheet; /* too large for the stack */
    MediaError error = {0};
    const int with_times = argc == 7 && strcmp(argv[5], "--at") == 0;
    if (argc != 5 && !with_times) {
        fputs("usage: lumeq-contact-sheet BEFORE AFTER STATS.jsonl OUT.png [--at T,T,...]\n",
              stderr);
        return 1;
    }
    sheet.before_path = argv[1];
    sheet.after_path = argv[2];
    sheet.stats_path = argv[3];
    sheet.out_path = argv[4];
    if (with_times && parse_times(&sheet, argv[6]) < 0)
        return 1;
    media_log_install(AV_LOG_ERROR, print_line, NULL);
    const int ret = make_sheet(&sheet, &error);
    if (ret < 0 && error.text[0])
        fprintf(stderr, "%s\n", error.text);
    if (ret >= 0)
        print_table(&sheet);
    close_sheet(&sheet);
    return ret < 0;
}
