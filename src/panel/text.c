#include "panel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ass/ass.h>

/* libass's caches are kept small, because texts that contain a time are drawn only once. */
#define CACHE_GLYPHS 1000
#define CACHE_MB 2

#define FONT "DejaVu Sans"
#define FAMILY "sans-serif" /* fallback */

/* The word joiner keeps the backslash from starting a tag. */
#define LITERAL_BACKSLASH "\\\xE2\x81\xA0"
#define MAX_ESCAPED 4 /* maximum bytes of an escaped character */
#define MAX_TAGS 256

/* Resizing libass's frame empties its caches, so the frame grows in steps of this many pixels. */
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

/* A track for plain text, without the outline and shadow of subtitles. */
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

bool ass_can_draw(ASS_Library *library, ASS_Renderer *renderer)
{
    static char nothing[] = "", event[] = "0,0,Default,,0,0,0,,A";
    ASS_Track *track = ass_new_track(library);
    if (!track)
        return false;
    ass_set_frame_size(renderer, 64, 64);
    ass_set_storage_size(renderer, 64, 64);
    ass_process_codec_private(track, nothing, 0); /* default event fields */
    ass_process_chunk(track, event, (int)strlen(event), 0, 1);
    const bool drawn = ass_render_frame(renderer, track, 0, NULL) != NULL;
    ass_free_track(track);
    return drawn;
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
    if (!t->renderer || !ass_can_draw(t->library, t->renderer)) {
        text_close(&t);
        return -1;
    }
    *text = t;
    return 0;
}

/* `place`: override tags for place and size. `raw`: the line is a drawing; other lines are escaped,
 * so that libass draws them literally. */
static ASS_Event *add(Text *text, const char *place, Colour colour, Rect clip, const char *line,
                      int raw)
{
    if (!text || (!text->track && !(text->track = new_track(text->library))))
        return NULL;
    char *full = malloc(MAX_TAGS + strlen(line) * MAX_ESCAPED + 1); /* libass frees it */
    const int id = full ? ass_alloc_event(text->track) : -1;
    if (id < 0) {
        free(full);
        return NULL;
    }
    char *end = full + snprintf(full, MAX_TAGS, "{%s\\1c&H%02X%02X%02X&\\clip(%d,%d,%d,%d)}", place,
                                (unsigned)(colour & 0xFF), (unsigned)(colour >> 8 & 0xFF),
                                (unsigned)(colour >> 16 & 0xFF), clip.x, clip.y,
                                clip.x + clip.width, clip.y + clip.height);
    for (; *line; line++) {
        if (*line == '\\' && !raw)
            end = stpcpy(end, LITERAL_BACKSLASH);
        else if ((*line == '{' || *line == '}') && !raw)
            end += sprintf(end, "\\%c", *line);
        else
            *end++ = *line;
    }
    *end = '\0';
    ASS_Event *event = &text->track->events[id];
    event->Duration = 1;
    event->ReadOrder = id;
    event->Style = text->track->default_style;
    event->Text = full;
    return event;
}

void text_add(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
              const char *line)
{
    char place[96];
    const Rect clip = {x - room * (anchor - TEXT_LEFT) / 2, y - size, room, 2 * size};
    snprintf(place, sizeof(place), "\\an%d\\pos(%d,%d)\\fs%d", anchor, x, y, size);
    (void)add(text, place, colour, clip, line, 0);
}

void text_add_wrapped(Text *text, Rect box, int size, Colour colour, const char *line)
{
    char place[96];
    snprintf(place, sizeof(place), "\\an7\\q1\\fs%d", size);
    ASS_Event *event = add(text, place, colour, box, line, 0);
    if (!event)
        return;
    event->MarginL = box.x;
    event->MarginV = box.y;
    event->MarginR = box.width; /* the width, which render() turns into the right margin */
}

void text_add_shape(Text *text, int x, int y, int size, Colour colour, const char *commands)
{
    char place[96];
    snprintf(place, sizeof(place), "\\an7\\pos(%d,%d)\\fscx%d\\fscy%d\\p1", x, y, size, size);
    (void)add(text, place, colour, (Rect){x, y, size, size}, commands, 1);
}

/* Renders the queued events in a frame of at least `side` pixels each way. */
static const ASS_Image *render(Text *text, int side)
{
    ASS_Track *track = text->track;
    if (side > text->frame) {
        text->frame = (side + FRAME_STEP - 1) / FRAME_STEP * FRAME_STEP;
        ass_set_frame_size(text->renderer, text->frame, text->frame);
        ass_set_storage_size(text->renderer, text->frame, text->frame);
    }
    track->PlayResX = track->PlayResY = text->frame;
    for (int i = 0; i < track->n_events; i++) {
        ASS_Event *event = &track->events[i];
        if (event->MarginR)
            event->MarginR = text->frame - event->MarginL - event->MarginR;
    }
    return ass_render_frame(text->renderer, track, 0, NULL);
}

int text_width(Text *text, int size, const char *line)
{
    if (!text)
        return 0;
    ASS_Track *queued = text->track;
    text->track = NULL;
    text_add(text, 0, size, TEXT_LEFT, size, 0, FRAME_STEP, line);
    const Rect ink = text->track ? ass_images_ink(render(text, 1)) : (Rect){0};
    if (text->track)
        ass_free_track(text->track);
    text->track = queued;
    return ink.x + ink.width;
}

void text_draw(Text *text, const Canvas *canvas)
{
    if (!text || !text->track)
        return;
    const int side = canvas->width > canvas->height ? canvas->width : canvas->height;
    ass_images_blend(canvas, 0, 0, render(text, side));
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
    const int v = ass_library_version(); /* 0x01701000: 0.17.1 */
    snprintf(version, 32, "%x.%x.%x", v >> 28 & 0xf, v >> 20 & 0xff, v >> 12 & 0xff);
}

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
            all = all.width ? rect_union(all, ink) : ink;
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
