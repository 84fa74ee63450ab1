#include "player/subtitles/subtitles.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ass/ass.h>

#include "panel/text.h"

#define FAMILY "sans-serif"

/* Duration of text without a known end. */
#define UNKNOWN_MS 5000

/* If a picture takes more CPU time or memory than this, the track is turned off. Pictures are built
 * STEP lines at a time, so that the limits are checked early. */
#define MAX_RENDER_MS 2000
#define MAX_PICTURE_BYTES (2 * SUBTITLE_BUDGET)
#define STEP 16

/* Limit of the text of all events, in bytes. */
#define TEXT_BYTES (SUBTITLE_BUDGET / 2)

/* Style of plain text, at libav's resolution of 288 lines. */
static char *const plain_style[] = {("FontName=" FAMILY),
                                    "FontSize=16",
                                    "PrimaryColour=&H00FFFFFF",
                                    "OutlineColour=&H00000000",
                                    "BackColour=&H60000000",
                                    "BorderStyle=1",
                                    "Outline=1.1",
                                    "Shadow=0.4",
                                    "MarginV=10",
                                    "ScaledBorderAndShadow=yes",
                                    NULL};

struct SubtitleText {
    ASS_Library *library;
    ASS_Track *track;
    int plain;
    ASS_Renderer *renderer;
    int lacks_font;

    int64_t text_bytes; /* text of all events */
    int left_out;       /* an event was dropped */
    int visible;        /* number of lines in the last picture */
    int ended;          /* a picture took too much time or memory */
    SubtitlesPlace place;
    Overlay overlay; /* owned */
};

/* Adds the fonts attached to the source and searches for system fonts. */
static int find_fonts(SubtitleText *t, const Source *source)
{
    SubtitleFont font;
    int count = 0;
    for (; subtitle_font(source, count, &font); count++)
        ass_add_font(t->library, font.name, (const char *)font.data, font.size);
    t->renderer = ass_renderer_init(t->library);
    if (!t->renderer)
        return -1;
    ass_set_fonts(t->renderer, NULL, FAMILY, ASS_FONTPROVIDER_AUTODETECT, NULL, 1);
    ass_set_cache_limits(t->renderer, 0, (int)(SUBTITLE_BUDGET >> 20));
    t->lacks_font = !count && !ass_can_draw(t->library, t->renderer);
    return 0;
}

static ASS_Track *make_track(SubtitleText *t, const char *header)
{
    ASS_Track *track = ass_new_track(t->library);
    char *copy = strdup(header);
    if (track && copy) {
        ass_process_codec_private(track, copy, (int)strlen(copy));
        ass_set_check_readorder(track, 0); /* the decoder removes repeats */
    } else if (track) {
        ass_free_track(track);
        track = NULL;
    }
    free(copy);
    return track;
}

int subtitle_text_open(SubtitleText **text, const Source *source, const char *header, int plain)
{
    SubtitleText *t = calloc(1, sizeof(*t));
    *text = t;
    if (!t)
        return -1;
    t->plain = plain;
    t->library = ass_library_open();
    if (t->library && plain)
        ass_set_style_overrides(t->library, (char **)plain_style);
    if (t->library)
        t->track = make_track(t, header);
    if (t->track && find_fonts(t, source) == 0)
        return 0;
    subtitle_text_close(text);
    return -1;
}

static long long milliseconds(int64_t us)
{
    return us >= 0 ? us / 1000 : -((999 - us) / 1000);
}

void subtitle_text_add(SubtitleText *t, const SubtitleEvent *event)
{
    const long long start = milliseconds(event->start);
    const long long duration =
        event->end == SUBTITLE_UNTIL_NEXT ? UNKNOWN_MS : milliseconds(event->end) - start;
    for (int i = 0; i < event->line_count; i++) {
        const size_t length = strlen(event->lines[i]);
        const int64_t bytes = t->text_bytes + (int64_t)(length + 1 + sizeof(ASS_Event));
        if (bytes > TEXT_BYTES) {
            t->left_out = 1;
            continue;
        }
        t->text_bytes = bytes;
        ass_process_chunk(t->track, event->lines[i], (int)length, start, duration);
    }
}

static long long processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Shortens the list to at most `most` visible events. Returns the number of visible events. */
static int limit_events(ASS_Track *track, int all, long long now, int most)
{
    int visible = 0, i = 0;
    for (; i < all; i++) {
        const ASS_Event *event = &track->events[i];
        const int seen = event->Start <= now && now < event->Start + event->Duration;
        if (seen && visible == most)
            break;
        visible += seen;
    }
    track->n_events = i;
    return visible;
}

/* Draws a picture: first as many lines as the last picture plus STEP, then STEP more at a time.
 * `laid_out`: the layout is new, so the first attempt has STEP lines. */
static const ASS_Image *render(SubtitleText *t, long long now, int laid_out, int *changed)
{
    const long long begun = processor_ms();
    const int all = t->track->n_events;
    int most = laid_out ? 0 : t->visible, renders = 0;
    const ASS_Image *images;
    do {
        int64_t bytes = t->text_bytes;
        most += STEP;
        t->visible = limit_events(t->track, all, now, most);
        images = ass_render_frame(t->renderer, t->track, now, changed);
        renders++;
        for (const ASS_Image *image = images; image; image = image->next)
            bytes += (int64_t)image->stride * image->h;
        t->ended = bytes > MAX_PICTURE_BYTES || processor_ms() - begun > MAX_RENDER_MS;
    } while (t->track->n_events < all && !t->ended);
    t->track->n_events = all;
    *changed |= renders > 1 || t->ended; /* libass compares only with the previous render */
    return t->ended ? NULL : images;
}

int subtitle_text_draw(SubtitleText *t, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay)
{
    *overlay = t->overlay;
    if (t->ended)
        return 0;
    const Rect before = t->place.picture, picture = place->picture;
    const int laid_out = before.width != picture.width || before.height != picture.height ||
                         t->place.video_width != place->video_width ||
                         t->place.video_height != place->video_height ||
                         t->place.covered != place->covered;
    const int moved = picture.x != before.x || picture.y != before.y;
    if (laid_out) {
        ass_set_frame_size(t->renderer, picture.width, picture.height);
        ass_set_storage_size(t->renderer, place->video_width, place->video_height);
        /* ASS is stretched with the picture, plain text is not */
        ass_set_pixel_aspect(t->renderer, t->plain ? 1 : 0);
        /* lines with explicit positions do not move */
        ass_set_line_position(t->renderer, 100.0 * place->covered / picture.height);
    }
    t->place = *place;
    int changed = 0;
    const long long now = milliseconds(position);
    const ASS_Image *images = render(t, now, laid_out, &changed);
    /* libass does not report a change after an empty picture */
    const int was_empty = t->overlay.canvas.width <= 0;
    changed = changed || ((laid_out || moved || was_empty) && images);
    if (changed) {
        const Rect box = ass_images_ink(images);
        Canvas *canvas = &t->overlay.canvas;
        free(canvas->pixels);
        *canvas = canvas_alloc(box.width, box.height);
        t->overlay.x = place->picture.x + box.x;
        t->overlay.y = place->picture.y + box.y;
        if (canvas->pixels)
            ass_images_blend(canvas, box.x, box.y, images);
    }
    *overlay = t->overlay;
    return changed;
}

const char *subtitle_text_trouble(const SubtitleText *t)
{
    if (t->ended)
        return "these subtitles take too much time or memory to draw: they are turned off";
    if (t->left_out)
        return "too many subtitles for the memory limit: some are left out";
    return t->lacks_font ? "no font found: text subtitles are not shown" : NULL;
}

void subtitle_text_close(SubtitleText **text)
{
    SubtitleText *t = *text;
    if (!t)
        return;
    if (t->track)
        ass_free_track(t->track);
    if (t->renderer)
        ass_renderer_done(t->renderer);
    if (t->library)
        ass_library_done(t->library);
    free(t->overlay.canvas.pixels);
    free(t);
    *text = NULL;
}
