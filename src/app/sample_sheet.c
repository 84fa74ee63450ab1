#include "app/sample_sheet.h"

#include <stdio.h>
#include <stdlib.h>

#include "media/output/picture_file.h"
#include "media/small_picture.h"
#include "panel/scope_plot.h"
#include "panel/text.h"
#include "player/osd/osd_bar.h"

/* Pixels of a picture, at most; of the gap around it; of the line above, and of its letters. */
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
    Pair *pairs;
    int count, room;
};

SampleSheet *sample_sheet_create(int room)
{
    SampleSheet *s = calloc(1, sizeof(*s));
    if (s)
        s->pairs = calloc((size_t)room, sizeof(*s->pairs));
    if (s && !s->pairs) {
        free(s);
        return NULL;
    }
    if (s)
        s->room = room;
    return s;
}

/* As it is watched. */
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
        return media_fail(error, MEDIA_OUTPUT, "no picture can be made of a frame");
    return 0;
}

int sample_sheet_count(const SampleSheet *s)
{
    return s->count;
}

static void lay(const Canvas *canvas, const SmallPicture *picture, int x, int y)
{
    for (int row = 0; row < picture->height; row++)
        memcpy(canvas_pixel(canvas, x, y + row),
               picture->pixels + (ptrdiff_t)row * picture->width * 4, (size_t)picture->width * 4);
}

/* In the picture's corner, on a patch that keeps it legible. */
static void label(const Canvas *canvas, Text *text, int x, int y, const char *word)
{
    const int width = text_width(text, LETTERS, word);
    if (width)
        canvas_fill(canvas, (Rect){x, y, width + 2 * GAP, LABEL_HEIGHT}, PANEL_BACKGROUND,
                    LABEL_COVER);
    text_add(text, x + GAP, y + LABEL_HEIGHT / 2, TEXT_LEFT, LETTERS, PANEL_BRIGHT, width + GAP,
             word);
}

/* A pair, below the line with its time. `cell`: its place, and the size of each of its pictures. */
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

/* The picture size may change within a film. */
static Rect largest_cell(const SampleSheet *s)
{
    Rect cell = {0};
    for (int i = 0; i < s->count; i++) {
        const SmallPicture *before = &s->pairs[i].before, *after = &s->pairs[i].after;
        cell.width = FFMAX3(cell.width, before->width, after->width);
        cell.height = FFMAX3(cell.height, before->height, after->height);
    }
    return cell;
}

int sample_sheet_write(const SampleSheet *s, const char *path, int overwrite, MediaError *error)
{
    Rect cell = largest_cell(s);
    const int columns = s->count < COLUMNS ? s->count : COLUMNS;
    const int rows = (s->count + columns - 1) / columns;
    const int across = cell.width + GAP, down = LINE_HEIGHT + 2 * cell.height + GAP / 2 + GAP;
    Canvas canvas = {.width = columns * across + GAP, .height = rows * down + GAP};
    canvas.stride = (ptrdiff_t)canvas.width * 4;
    canvas.pixels = malloc((size_t)canvas.stride * (size_t)canvas.height);
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
    free(s->pairs);
    free(s);
    *sheet = NULL;
}
