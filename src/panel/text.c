#include "panel/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ass/ass.h>

/* libass keeps what it has drawn; texts with the time in them are drawn once. */
#define CACHE_GLYPHS 1000
#define CACHE_MB 2

#define FONT "DejaVu Sans"
#define FAMILY "sans-serif" /* fallback */

/* Maximum length of an escaped byte: an escape sequence or U+FFFD. */
#define MAX_ESCAPED 7

/* Resizing the frame empties libass's caches, so it grows in steps of this size. */
#define FRAME_STEP 4096

struct Text {
    ASS_Library *library;
    ASS_Renderer *renderer;
    ASS_Track *track; /* one event per queued line, or NULL */
    int frame;        /* side of libass's frame in pixels */
};

static void ignore_message(int level, const char *format, va_list args, void *data)
{
    (void)level;
    (void)format;
    (void)args;
    (void)data;
}

ASS_Library *ass_library_open(void)
{
    ASS_Library *library = ass_library_init();
    if (library)
        ass_set_message_cb(library, ignore_message, NULL);
    return library;
}

/* Plain text without the outline and shadow of subtitles. */
static ASS_Track *new_track(ASS_Library *library)
{
    ASS_Track *track = ass_new_track(library);
    const int id = track ? ass_alloc_style(track) : -1;
    if (id >= 0) {
        ASS_Style *style = &track->styles[id];
        track->track_type = TRACK_TYPE_ASS;
        track->WrapStyle = 2; /* never break lines */
        track->default_style = id;
        style->Name = strdup("Plain");
        style->FontName = strdup(FONT);
        style->FontSize = 16;
        style->ScaleX = style->ScaleY = 1;
        style->BorderStyle = 1;
        style->Alignment = VALIGN_CENTER | HALIGN_CENTER;
        if (style->Name && style->FontName)
            return track;
    }
    if (track)
        ass_free_track(track);
    return NULL;
}

/* Checks that a digit produces ink: without fonts libass does not fail. */
static bool can_draw(Text *t)
{
    uint8_t pixels[32 * 32 * 4] = {0};
    const Canvas canvas = {pixels, 32 * 4, 32, 32};
    text_add(t, 16, 16, TEXT_CENTRE, 24, 0xFFFFFF, 32, "0");
    text_draw(t, &canvas);
    for (size_t i = 3; i < sizeof(pixels); i += 4)
        if (pixels[i])
            return 1;
    return 0;
}

int text_open(Text **text)
{
    *text = NULL;
    Text *t = calloc(1, sizeof(*t));
    if (!t)
        return -1;
    t->library = ass_library_open();
    if (t->library)
        t->renderer = ass_renderer_init(t->library);
    if (t->renderer) {
        ass_set_cache_limits(t->renderer, CACHE_GLYPHS, CACHE_MB);
        ass_set_fonts(t->renderer, NULL, FAMILY, ASS_FONTPROVIDER_AUTODETECT, NULL, 1);
    }
    if (!t->renderer || !can_draw(t)) {
        text_close(&t);
        return -1;
    }
    *text = t;
    return 0;
}

/* Length of the UTF-8 sequence at `s`, or 0 if invalid. */
static int utf8_length(const unsigned char *s)
{
    const int length = 1 + (s[0] >= 0x80) + (s[0] >= 0xE0) + (s[0] >= 0xF0);
    if (length > 1 && (s[0] < 0xC2 || s[0] > 0xF4))
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    const int overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    const int no_character = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || no_character ? 0 : length;
}

/* C1 controls and marks that change text direction. `s` must be valid UTF-8. */
static bool is_control(const unsigned char *s)
{
    const int c = s[0] < 0xE0 ? (s[0] & 0x1F) << 6 | (s[1] & 0x3F)
                              : (s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    return (c >= 0x80 && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* Escapes one character so that libass draws it literally. Returns the bytes read; `out` has room
 * for MAX_ESCAPED bytes. */
static int escape_one(const unsigned char *s, char *out)
{
    static const char backslash[] = "\\\xE2\x81\xA0"; /* with a word joiner */
    const int length = utf8_length(s);
    if (length == 0 || ((length == 2 || length == 3) && is_control(s)))
        strcpy(out, "\xEF\xBF\xBD");
    else if (s[0] == '\n')
        sprintf(out, "%sn", backslash);
    else if (s[0] < 0x20 || s[0] == 0x7F)
        sprintf(out, "%sx%02x", backslash, s[0]);
    else if (s[0] == '\\')
        strcpy(out, backslash);
    else if (s[0] == '{' || s[0] == '}')
        sprintf(out, "\\%c", s[0]);
    else
        sprintf(out, "%.*s", length, (const char *)s);
    return length ? length : 1;
}

/* `head`: the line's override tags. */
static void add_event(ASS_Track *track, const char *head, const char *line)
{
    const size_t start = strlen(head);
    char *full = malloc(start + strlen(line) * MAX_ESCAPED + 1); /* libass frees it */
    const int id = full ? ass_alloc_event(track) : -1;
    if (id < 0) {
        free(full);
        return;
    }
    memcpy(full, head, start + 1);
    const unsigned char *next = (const unsigned char *)line;
    for (char *end = full + start; *next; end += strlen(end))
        next += escape_one(next, end);
    ASS_Event *event = &track->events[id];
    event->Duration = 1;
    event->ReadOrder = id;
    event->Style = track->default_style;
    event->Text = full;
}

void text_add(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
              const char *line)
{
    if (!text || (!text->track && !(text->track = new_track(text->library))))
        return;
    const int left = x - room * (anchor - TEXT_LEFT) / 2;
    char head[256];
    snprintf(head, sizeof(head), "{\\an%d\\pos(%d,%d)\\fs%d\\1c&H%02X%02X%02X&\\clip(%d,%d,%d,%d)}",
             anchor, x, y, size, (unsigned)(colour & 0xFF), (unsigned)(colour >> 8 & 0xFF),
             (unsigned)(colour >> 16 & 0xFF), left, y - size, left + room, y + size);
    add_event(text->track, head, line);
}

void text_addf(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
               const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    text_add(text, x, y, anchor, size, colour, room, line);
}

/* Renders a track in a frame of at least `side` pixels each way. */
static const ASS_Image *render(Text *text, ASS_Track *track, int side)
{
    if (side > text->frame) {
        text->frame = (side + FRAME_STEP - 1) / FRAME_STEP * FRAME_STEP;
        ass_set_frame_size(text->renderer, text->frame, text->frame);
        ass_set_storage_size(text->renderer, text->frame, text->frame);
    }
    track->PlayResX = track->PlayResY = text->frame;
    return ass_render_frame(text->renderer, track, 0, NULL);
}

int text_width(Text *text, int size, const char *line)
{
    ASS_Track *track = text ? new_track(text->library) : NULL;
    if (!track)
        return 0;
    char head[64];
    snprintf(head, sizeof(head), "{\\an%d\\pos(0,%d)\\fs%d}", TEXT_LEFT, size, size);
    add_event(track, head, line);
    const Rect ink = ass_images_ink(render(text, track, 1));
    ass_free_track(track);
    return ink.x + ink.width;
}

void text_draw(Text *text, const Canvas *canvas)
{
    if (!text || !text->track)
        return;
    const int side = canvas->width > canvas->height ? canvas->width : canvas->height;
    ass_images_blend(canvas, 0, 0, render(text, text->track, side));
    ass_free_track(text->track);
    text->track = NULL;
}

void text_close(Text **text)
{
    Text *t = *text;
    if (!t)
        return;
    if (t->track)
        ass_free_track(t->track);
    if (t->renderer)
        ass_renderer_done(t->renderer);
    if (t->library)
        ass_library_done(t->library);
    free(t);
    *text = NULL;
}

void text_library_version(char version[32])
{
    const int v = ass_library_version(); /* in hexadecimal digits */
    snprintf(version, 32, "%x.%x.%x", v >> 28 & 0xf, v >> 20 & 0xff, v >> 12 & 0xff);
}

/* The bounding box of an image's visible pixels; {0}: none. */
static Rect ink_of(const ASS_Image *image)
{
    int left = image->w, top = image->h, right = -1, bottom = -1;
    if ((image->color & 0xFF) == 0xFF) /* transparent */
        return (Rect){0};
    for (int y = 0; y < image->h; y++) {
        const uint8_t *row = image->bitmap + (ptrdiff_t)y * image->stride;
        int first = 0, last = image->w - 1;
        while (first < image->w && !row[first])
            first++;
        if (first == image->w)
            continue;
        while (!row[last])
            last--;
        left = first < left ? first : left;
        right = last > right ? last : right;
        top = y < top ? y : top;
        bottom = y;
    }
    return right < 0 ? (Rect){0}
                     : (Rect){image->dst_x + left, image->dst_y + top, right - left + 1,
                              bottom - top + 1};
}

Rect ass_images_ink(const ASS_Image *image)
{
    Rect all = {0};
    for (; image; image = image->next) {
        const Rect ink = ink_of(image);
        if (ink.width)
            all = all.width ? rect_around(all, ink) : ink;
    }
    return all;
}

void ass_images_blend(const Canvas *canvas, int left, int top, const ASS_Image *image)
{
    for (; image; image = image->next) {
        const int opacity = 255 - (int)(image->color & 0xFF);
        for (int y = 0; y < image->h; y++) {
            const uint8_t *row = image->bitmap + (ptrdiff_t)y * image->stride;
            for (int x = 0; x < image->w; x++)
                canvas_blend(canvas, image->dst_x - left + x, image->dst_y - top + y,
                             image->color >> 8, row[x] * opacity / 255);
        }
    }
}
