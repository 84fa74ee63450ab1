#include "player/osd/osd_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/printable.h"

/* Text size for measuring widths. */
#define MEASURE_SIZE 32

/* In multiples of the text height. */
#define LINE 1.36
#define PADDING 0.8
#define BETWEEN_CELLS 1.0
#define BETWEEN_COLUMNS 2.0
#define CORNER 0.5

/* Extra pixels per column for rounding. */
#define SPARE 2

#define ELLIPSIS "\xE2\x80\xA6"

void osd_page_set(OsdPage *page, const OsdRow *rows, int count)
{
    page->count = min_int(count, OSD_MAX_ROWS);
    for (int i = 0; i < page->count; i++) {
        printable(page->cells[i][0], OSD_CELL, rows[i].name ? rows[i].name : "");
        printable(page->cells[i][1], OSD_CELL, rows[i].value ? rows[i].value : "");
    }
}

Overlay osd_box(Rect rect, int radius, int alpha)
{
    if (rect.width <= 0 || rect.height <= 0)
        return (Overlay){0};
    const Canvas canvas = canvas_alloc(rect.width, rect.height);
    if (!canvas.pixels)
        return (Overlay){0};
    canvas_set(&canvas, (Rect){0, 0, rect.width, rect.height}, OSD_GROUND, alpha);
    canvas_round(&canvas, min_int(radius, min_int(rect.width, rect.height) / 2));
    return (Overlay){.canvas = canvas, .x = rect.x, .y = rect.y};
}

/* Rounds `count` bytes down to whole characters of the line. */
static size_t whole_characters(const char *line, size_t count)
{
    while (count > 0 && ((unsigned char)line[count] & 0xC0) == 0x80)
        count--;
    return count;
}

void osd_fit(Text *text, int size, const char *line, int room, char *fitted)
{
    const size_t length = strlen(line);
    size_t fits = length;
    for (;;) {
        snprintf(fitted, OSD_MAX_LINE, "%.*s%s", (int)fits, line, fits < length ? ELLIPSIS : "");
        const int width = text_width(text, size, fitted);
        if (width <= room || !fits)
            return;
        const size_t about = fits * (size_t)max_int(room, 0) / (size_t)width;
        fits = whole_characters(line, about < fits ? about : fits - 1);
    }
}

/* Widths in multiples of the text height. */
typedef struct Column {
    double name, value;
} Column;

typedef struct PageLayout {
    int columns, rows;           /* number of columns; rows of the longest column */
    int start[OSD_MAX_ROWS + 1]; /* first row of each column, then the number of all rows */
    Column column[OSD_MAX_ROWS];
    double width, height; /* of the page, in multiples of the text height */
    double size;          /* text height at which the page fits, in pixels */
} PageLayout;

/* Cell widths in multiples of the text height. */
typedef struct Widths {
    double cells[OSD_MAX_ROWS][2];
} Widths;

/* Measures rows `first` to `last` - 1. A heading, which has no name, spans both cells. */
static Column measure_column(const OsdPage *page, const Widths *widths, int first, int last)
{
    Column column = {0};
    double heading = 0;
    for (int row = first; row < last; row++) {
        if (!page->cells[row][0][0]) {
            heading = fmax(heading, widths->cells[row][1]);
            continue;
        }
        column.name = fmax(column.name, widths->cells[row][0]);
        column.value = fmax(column.value, widths->cells[row][1]);
    }
    column.value = fmax(column.value, heading - column.name - BETWEEN_CELLS);
    return column;
}

/* The first row of a column: a heading near the even split or, if none is near, the even split. */
static int column_start(const OsdPage *page, int column, int columns)
{
    const int even = (int)((int64_t)page->count * column / columns);
    const int reach = column ? page->count / columns / 4 : 0;
    for (int off = 0; off <= reach; off++)
        for (int row = even - off; row <= even + off; row += max_int(2 * off, 1))
            if (row > 0 && row < page->count && !page->cells[row][0][0])
                return row;
    return (page->count + columns - 1) / columns * column;
}

static PageLayout lay_columns(const OsdPage *page, const Widths *widths, const OsdPageStyle *style,
                              int columns)
{
    PageLayout layout = {.columns = columns};
    layout.width = 2 * PADDING + (columns - 1) * BETWEEN_COLUMNS;
    for (int i = 0; i <= columns; i++)
        layout.start[i] =
            i < columns ? min_int(column_start(page, i, columns), page->count) : page->count;
    for (int i = 0; i < columns; i++) {
        layout.column[i] = measure_column(page, widths, layout.start[i], layout.start[i + 1]);
        layout.width += layout.column[i].name + BETWEEN_CELLS + layout.column[i].value;
        layout.rows = max_int(layout.rows, layout.start[i + 1] - layout.start[i]);
    }
    layout.height = layout.rows * LINE + 2 * PADDING;
    /* to fit the width, text shrinks only to `smallest`; lines that are still too long are cut */
    const double across = (style->limit.width - SPARE * columns) / layout.width;
    layout.size = fmin(fmax(across, style->smallest), style->limit.height / layout.height);
    return layout;
}

/* Chooses the number of columns that allows the largest text. */
static PageLayout lay_out(const OsdPage *page, const Widths *widths, const OsdPageStyle *style)
{
    PageLayout best = lay_columns(page, widths, style, 1);
    for (int columns = 2; columns <= style->max_columns && columns <= page->count; columns++) {
        const PageLayout layout = lay_columns(page, widths, style, columns);
        if (layout.size > best.size)
            best = layout;
    }
    best.size = fmax(floor(fmin(style->size, best.size)), 1);
    return best;
}

static void draw_cell(Text *text, int x, int y, int size, Colour colour, int room, const char *cell)
{
    char fitted[OSD_MAX_LINE];
    if (room <= 0)
        return;
    osd_fit(text, size, cell, room, fitted);
    text_add(text, x, y, TEXT_LEFT, size, colour, room, fitted);
}

static void draw_rows(const OsdPage *page, const PageLayout *layout, const OsdPageStyle *style,
                      Text *text, const Canvas *canvas)
{
    const double size = layout->size;
    double left = PADDING * size;
    const int right = canvas->width - (int)(PADDING * size), height = (int)size;
    for (int k = 0; k < layout->columns; k++) {
        const Column *column = &layout->column[k];
        const int value = (int)(left + (column->name + BETWEEN_CELLS) * size);
        for (int i = layout->start[k]; i < layout->start[k + 1]; i++) {
            const char(*cells)[OSD_CELL] = page->cells[i];
            const int y = (int)((PADDING + (i - layout->start[k] + 0.5) * LINE) * size);
            const int name_room =
                min_int((int)ceil(column->name * size) + SPARE, right - (int)left);
            draw_cell(text, (int)left, y, height, style->name, name_room, cells[0]);
            const int x = cells[0][0] ? value : (int)left;
            draw_cell(text, x, y, height, cells[0][0] ? style->value : OSD_HEADING, right - x,
                      cells[1]);
        }
        left += (column->name + BETWEEN_CELLS + column->value + BETWEEN_COLUMNS) * size + SPARE;
    }
    text_draw(text, canvas);
}

/* Start of a box of this length. The box is centred in from..from + span, then moved into
 * least..least + room. */
static int middle(int from, int span, int length, int least, int room)
{
    return max_int(min_int(from + (span - length) / 2, least + room - length), least);
}

Overlay osd_page_draw(const OsdPage *page, const OsdPageStyle *style, Text *text)
{
    Widths widths = {0};
    for (int row = 0; row < page->count; row++)
        for (int i = 0; i < 2; i++)
            widths.cells[row][i] =
                (double)text_width(text, MEASURE_SIZE, page->cells[row][i]) / MEASURE_SIZE;
    const PageLayout layout = lay_out(page, &widths, style);
    const Rect limit = style->limit;
    const int wanted =
        max_int((int)ceil(layout.width * layout.size) + SPARE * layout.columns, style->min_width);
    const int width = min_int(limit.width, wanted);
    const int height = min_int(limit.height, (int)ceil(layout.height * layout.size));
    Rect box = {limit.x, limit.y, width, height};
    if (style->around.width > 0) {
        box.x = middle(style->around.x, style->around.width, width, limit.x, limit.width);
        box.y = middle(style->around.y, style->around.height, height, limit.y, limit.height);
    }
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * layout.size), style->alpha);
    if (overlay.canvas.pixels)
        draw_rows(page, &layout, style, text, &overlay.canvas);
    return overlay;
}
