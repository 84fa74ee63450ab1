/* Text of the panel: ASS tags are drawn literally, and without fonts no text is drawn. */
#include <stddef.h>

#include "folder.h"
#include "panel/panel.h"

#define WIDTH 640
#define HEIGHT 80
#define SIZE 20

/* Draws one line at the left of a black picture. */
static CheckRect draw(Text *text, int room, const char *line)
{
    CheckRect rect = check_rect(WIDTH * 4, HEIGHT, (ptrdiff_t)WIDTH * 4, 0, CHECK_ALIGNMENT);
    const Canvas canvas = {check_row(&rect, 0), rect.stride, WIDTH, HEIGHT};
    canvas_fill(&canvas, (Rect){0, 0, WIDTH, HEIGHT}, 0, 255);
    text_add(text, 10, HEIGHT / 2, TEXT_LEFT, SIZE, 0xFFFFFF, room, line);
    text_draw(text, &canvas);
    CHECK(check_rect_intact(&rect), "wrote outside");
    return rect;
}

/* Bounds of the drawn pixels. */
static Rect ink(const CheckRect *rect)
{
    int left = WIDTH, right = -1, top = HEIGHT, bottom = -1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (check_row(rect, y)[(ptrdiff_t)x * 4] > 64) {
                left = x < left ? x : left;
                right = x > right ? x : right;
                top = y < top ? y : top;
                bottom = y > bottom ? y : bottom;
            }
    return (Rect){left, top, right - left + 1, bottom - top + 1};
}

static Rect ink_of(Text *text, int room, const char *line)
{
    CheckRect rect = draw(text, room, line);
    const Rect where = ink(&rect);
    check_rect_free(&rect);
    return where;
}

/* A test that needs a font. */
#define FONT_TEST(name)                                                                            \
    static void name##_with(Text *text);                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        FREED_BY(text_close) Text *text = NULL;                                                    \
        if (text_open(&text) == 0)                                                                 \
            name##_with(text);                                                                     \
        else                                                                                       \
            check_skip("no font on this machine");                                                 \
    }                                                                                              \
    static void name##_with(Text *text)

/* ASS syntax in a line changes neither place nor size, and does not break the line. */
static void check_plain(Text *text, const char *line)
{
    const Rect plain = ink_of(text, WIDTH, "plain"), where = ink_of(text, WIDTH, line);
    CHECK(where.width > plain.width, "'%s' is only %d pixels wide", line, where.width);
    CHECK(abs(where.x - plain.x) <= 4, "'%s' begins at %d", line, where.x);
    CHECK(where.y > HEIGHT / 2 - SIZE && where.y + where.height < HEIGHT / 2 + SIZE,
          "'%s' is not on one line: %d to %d", line, where.y, where.y + where.height);
}

FONT_TEST(text_escapes)
{
    static const char *const lines[] = {
        "{\\pos(300,10)}", "{\\fs60}large?",   "first\\Nsecond",   "first\\nsecond",
        "C:\\new\\home",   "{not closed",      "not open} at all", "\\{\\b1\\}",
        "{comment}",       "%s %n %d percent",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check_plain(text, lines[i]);
}

FONT_TEST(text_room)
{
    const Rect whole = ink_of(text, WIDTH, "a long line of text"),
               cut = ink_of(text, 50, "a long line");
    CHECK(whole.width > 100, "only %d wide", whole.width);
    CHECK(cut.x + cut.width <= 10 + 50, "a cut line ends at %d", cut.x + cut.width);
    const Rect digits = ink_of(text, WIDTH, "8888888888");
    CHECK(digits.width <= text_room(SIZE, 10), "ten digits need %d", digits.width);
}

/* Measured widths equal drawn widths. */
FONT_TEST(text_width)
{
    static const char *const lines[] = {"0", "a long line of text", "{\\fs60}", "\xC3\xA4\\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const int width = text_width(text, SIZE, lines[i]);
        const Rect where = ink_of(text, WIDTH, lines[i]);
        CHECK(abs(where.x + where.width - 10 - width) <= 1, "'%s': measured %d, drawn to %d",
              lines[i], width, where.x + where.width - 10);
    }
    CHECK(text_width(text, SIZE, "") == 0, "an empty line has a width");
    CHECK(text_width(NULL, SIZE, "0") == 0, "a width without a font");
}

/* The configuration of fontconfig has no font folders. */
TEST(text_without_fonts)
{
    static const char config[] = "<fontconfig></fontconfig>\n";
    setenv("FONTCONFIG_FILE", write_file("fonts", config, sizeof(config) - 1), 1);
    Text *text;
    CHECK(text_open(&text) < 0, "opened without a font");
    CHECK(text == NULL, "the text is not NULL");
    CHECK(ink_of(text, WIDTH, "nothing").width <= 0, "text is drawn without a font");
    text_close(&text);
    unsetenv("FONTCONFIG_FILE");
}

TEST_MAIN
