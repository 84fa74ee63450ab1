#include "player/osd/osd_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void osd_page_free(OsdPage *page)
{
    for (int i = 0; i < page->count; i++) {
        free(page->cells[i][0]);
        free(page->cells[i][1]);
    }
    *page = (OsdPage){0};
}

void osd_page_set(OsdPage *page, const OsdRow *rows, int count)
{
    osd_page_free(page);
    for (int i = 0; i < count && i < OSD_MAX_ROWS; i++) {
        page->cells[i][0] = rows[i].name ? strndup(rows[i].name, OSD_MAX_LINE - 1) : NULL;
        page->cells[i][1] = rows[i].value ? strndup(rows[i].value, OSD_MAX_LINE - 1) : NULL;
        page->count++;
    }
}

void osd_disc(const Canvas *canvas, double x, double y, double radius, Colour colour)
{
    for (int row = (int)(y - radius) - 1; row <= (int)(y + radius) + 1; row++)
        for (int column = (int)(x - radius) - 1; column <= (int)(x + radius) + 1; column++) {
            const double share = radius + 0.5 - hypot(column + 0.5 - x, row + 0.5 - y);
            canvas_blend(canvas, column, row, colour, (int)lrint(255 * fmin(fmax(share, 0), 1)));
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
    return (Overlay){canvas, rect.x, rect.y};
}

/* The largest count of bytes up to `count` that ends at a character boundary. */
static size_t whole_characters(const char *line, size_t count)
{
    while (count > 0 && ((unsigned char)line[count] & 0xC0) == 0x80)
        count--;
    return count;
}

void osd_fit(Text *text, int size, const char *line, int room, char *fitted)
{
    const size_t length = strnlen(line, OSD_MAX_LINE - sizeof(ELLIPSIS));
    const int whole = line[length] == '\0';
    memcpy(fitted, line, length);
    strcpy(fitted + length, whole ? "" : ELLIPSIS);
    if (text_width(text, size, fitted) <= room)
        return;
    size_t fits = 0, beyond = length;
    while (fits + 1 < beyond) {
        const size_t middle = fits + (beyond - fits) / 2;
        memcpy(fitted, line, middle);
        strcpy(fitted + whole_characters(line, middle), ELLIPSIS);
        if (text_width(text, size, fitted) <= room)
            fits = middle;
        else
            beyond = middle;
    }
    memcpy(fitted, line, fits);
    strcpy(fitted + whole_characters(line, fits), ELLIPSIS);
}

/* Widths in multiples of the text height. */
typedef struct Column {
    double name, value;
} Column;

typedef struct PageLayout {
    int columns, rows;           /* number of columns, rows of the longest one */
    int start[OSD_MAX_ROWS + 1]; /* first row of each column, and the end */
    Column column[OSD_MAX_ROWS];
    double width, height; /* of the page */
    double size;          /* text height at which the page fits */
    int is_whole;         /* everything is readable */
} PageLayout;

/* Cell widths in multiples of the text height. */
typedef struct Widths {
    double cells[OSD_MAX_ROWS][2];
} Widths;

double osd_width(Text *text, const char *line)
{
    return (double)text_width(text, MEASURE_SIZE, line) / MEASURE_SIZE;
}

/* A heading (no name) spans both cells. */
static Column measure_column(const OsdPage *page, const Widths *widths, int first, int last)
{
    Column column = {0};
    double heading = 0;
    for (int row = first; row < last; row++) {
        if (!page->cells[row][0]) {
            heading = fmax(heading, widths->cells[row][1]);
            continue;
        }
        column.name = fmax(column.name, widths->cells[row][0]);
        column.value = fmax(column.value, widths->cells[row][1]);
    }
    column.value = fmax(column.value, heading - column.name - BETWEEN_CELLS);
    return column;
}

/* The first row of a column: an even share of the rows, or a heading near there. */
static int column_start(const OsdPage *page, int column, int columns)
{
    const int even = (int)((int64_t)page->count * column / columns);
    const int reach = column ? page->count / columns / 4 : 0;
    for (int off = 0; off <= reach; off++)
        for (int row = even - off; row <= even + off; row += max_int(2 * off, 1))
            if (row > 0 && row < page->count && !page->cells[row][0])
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
    /* cut lines rather than use tiny text */
    const double across = (style->limit.width - SPARE * columns) / layout.width;
    layout.size = fmin(fmax(across, style->smallest), style->limit.height / layout.height);
    layout.is_whole = fmin(across, layout.size) >= style->smallest;
    if (style->usual_height)
        layout.size = fmin(layout.size, fmax(style->usual_height / layout.height, style->easy));
    return layout;
}

/* Chooses the number of columns with the largest text. */
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

/* One page of several; the cells are borrowed. */
typedef struct Part {
    OsdPage page;
    Widths widths;
    char name[OSD_MAX_LINE];
} Part;

/* Copies the rows of one page, below its heading if there are several. `name_width` is in the unit
 * of the widths. */
static void take_part(Part *cut, const Part *whole, int parts, int part, double name_width)
{
    int count = 0;
    *cut = *whole;
    if (parts < 2)
        return;
    const int rows = (whole->page.count + parts - 1) / parts, first = part * rows;
    cut->page.cells[0][0] = NULL;
    cut->page.cells[0][1] = cut->name;
    cut->widths.cells[0][0] = 0;
    cut->widths.cells[0][1] = name_width;
    for (int i = first; i < whole->page.count && i < first + rows && ++count < OSD_MAX_ROWS; i++)
        for (int k = 0; k < 2; k++) {
            cut->page.cells[count][k] = whole->page.cells[i][k];
            cut->widths.cells[count][k] = whole->widths.cells[i][k];
        }
    cut->page.count = count + 1;
}

static void open_part(Part *whole, const OsdPage *page, const OsdPageStyle *style, Text *text)
{
    *whole = (Part){.page = *page};
    snprintf(whole->name, sizeof(whole->name), "%s", style->part_name ? style->part_name : "");
    for (int row = 0; row < page->count; row++)
        for (int i = 0; i < 2; i++) {
            const char *cell = page->cells[row][i];
            whole->widths.cells[row][i] = cell ? osd_width(text, cell) : 0;
        }
}

static int can_be_read(const Part *whole, const OsdPageStyle *style, int parts, double name_width)
{
    int is_whole = 1;
    for (int i = 0; i < parts && is_whole; i++) {
        Part cut;
        take_part(&cut, whole, parts, i, name_width);
        is_whole = lay_out(&cut.page, &cut.widths, style).is_whole;
    }
    return is_whole;
}

int osd_page_parts(const OsdPage *page, const OsdPageStyle *style, Text *text)
{
    Part whole;
    int parts = 1;
    open_part(&whole, page, style, text);
    const double name_width = osd_width(text, whole.name);
    while (parts < page->count && !can_be_read(&whole, style, parts, name_width))
        parts++;
    return parts < page->count ? parts : 1;
}

static void draw_cell(Text *text, int x, int y, int size, Colour colour, int room, const char *cell)
{
    char fitted[OSD_MAX_LINE];
    if (!cell || room <= 0)
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
            const char *const *cells = (const char *const *)page->cells[i];
            const int y = (int)((PADDING + (i - layout->start[k] + 0.5) * LINE) * size);
            const int name_room =
                min_int((int)ceil(column->name * size) + SPARE, right - (int)left);
            draw_cell(text, (int)left, y, height, style->name, name_room, cells[0]);
            draw_cell(text, cells[0] ? value : (int)left, y, height,
                      cells[0] ? style->value : OSD_HEADING, right - (cells[0] ? value : (int)left),
                      cells[1]);
        }
        left += (column->name + BETWEEN_CELLS + column->value + BETWEEN_COLUMNS) * size + SPARE;
    }
    text_draw(text, canvas);
}

/* Start of a box centred in a span but kept within another. */
static int middle(int from, int span, int length, int least, int room)
{
    return max_int(min_int(from + (span - length) / 2, least + room - length), least);
}

Overlay osd_page_draw(const OsdPage *whole, const OsdPageStyle *style, Text *text)
{
    Part all, part;
    open_part(&all, whole, style, text);
    take_part(&part, &all, style->parts, style->part, osd_width(text, all.name));
    const OsdPage *page = &part.page;
    const PageLayout layout = lay_out(page, &part.widths, style);
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
