#include "player/subtitles/subtitle_kinds.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ass/ass.h>

#include "panel/text.h"

#define FAMILY "sans-serif"

/* Duration of text without a known end. */
#define UNKNOWN_MS 5000

/* Some lines cost libass seconds of CPU time; ordinary ones cost milliseconds. A frame that takes
 * longer ends the subtitles. */
#define MAX_RENDER_MS 2000

/* ass_set_cache_limits() limits neither the visible lines nor the text of all events. So new lines
 * are added to a picture a few at a time, and its memory is checked. */
#define TEXT_BYTES (SUBTITLE_BUDGET / 2)
#define STEP 16

/* Style of plain text, relative to the picture's height. */
#define PLAIN_SIZE (1 / 18.0)
#define PLAIN_OUTLINE (1 / 260.0)
#define PLAIN_SHADOW (1 / 720.0)
#define PLAIN_MARGIN (1 / 28.0)
#define PLAIN_RESOLUTION 288 /* default resolution */

struct SubtitleText {
    ASS_Library *library;
    ASS_Track *track;   /* visible events */
    ASS_Track *waiting; /* all other events */
    int plain;
    ASS_Renderer *renderer;
    int lacks_font;

    int64_t text_bytes; /* text of all events */
    int left_out;       /* true if an event was dropped */
    int too_slow;       /* subtitles have ended */
    SubtitlesPlace place;
    Overlay overlay; /* owned */
};

/* Checks that a glyph produces ink: without fonts libass does not fail. */
static bool can_draw(ASS_Library *library, ASS_Renderer *renderer)
{
    static char nothing[] = "", event[] = "0,0,Default,,0,0,0,,A";
    ASS_Track *track = ass_new_track(library);
    if (!track)
        return 0;
    ass_set_frame_size(renderer, 64, 64);
    ass_set_storage_size(renderer, 64, 64);
    ass_process_codec_private(track, nothing, 0); /* default event fields */
    ass_process_chunk(track, event, (int)strlen(event), 0, 1);
    const int drawn = ass_render_frame(renderer, track, 0, NULL) != NULL;
    ass_free_track(track);
    return drawn;
}

/* Fonts attached to the source, then those of the system. */
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
    t->lacks_font = !count && !can_draw(t->library, t->renderer);
    return 0;
}

static void make_plain(ASS_Track *track)
{
    if (track->PlayResY <= 0)
        track->PlayResY = PLAIN_RESOLUTION;
    const double height = track->PlayResY;
    for (int i = 0; i < track->n_styles; i++) {
        ASS_Style *style = &track->styles[i];
        char *family = strdup(FAMILY);
        if (family) {
            free(style->FontName);
            style->FontName = family;
        }
        style->FontSize = PLAIN_SIZE * height;
        style->PrimaryColour = 0xFFFFFF00;
        style->OutlineColour = 0x00000000;
        style->BackColour = 0x00000060;
        style->BorderStyle = 1;
        style->Outline = PLAIN_OUTLINE * height;
        style->Shadow = PLAIN_SHADOW * height;
        style->ScaleX = style->ScaleY = 1;
        style->MarginV = (int)(PLAIN_MARGIN * height);
    }
    track->ScaledBorderAndShadow = 1;
}

static ASS_Track *make_track(SubtitleText *t, const char *header)
{
    ASS_Track *track = ass_new_track(t->library);
    char *copy = strdup(header);
    if (track && copy) {
        ass_process_codec_private(track, copy, (int)strlen(copy));
        ass_set_check_readorder(track, 0); /* the decoder removes repeats */
        if (t->plain)
            make_plain(track);
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
    if (t->library) {
        t->track = make_track(t, header);
        t->waiting = make_track(t, header);
    }
    if (t->track && t->waiting && find_fonts(t, source) == 0)
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
        ass_process_chunk(t->waiting, event->lines[i], (int)length, start, duration);
    }
}

static long long processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static bool is_seen(const ASS_Event *event, long long now)
{
    return event->Start <= now && now < event->Start + event->Duration;
}

/* Takes ownership of the event. Returns -1 if out of memory. */
static int append(ASS_Track *track, const ASS_Event *event)
{
    const int i = ass_alloc_event(track);
    if (i < 0)
        return -1;
    track->events[i] = *event;
    return 0;
}

/* Moves the events that are shown at `now`, or the others, to the end of another track. */
static void move_events(ASS_Track *from, ASS_Track *to, long long now, int seen)
{
    int left = 0;
    for (int i = 0; i < from->n_events; i++) {
        const ASS_Event *event = &from->events[i];
        if (is_seen(event, now) != seen || append(to, event) < 0)
            from->events[left++] = *event;
    }
    from->n_events = left;
}

static void leave_out(SubtitleText *t, int begin, int end)
{
    for (int i = begin; i < end; i++)
        ass_free_event(t->track, i);
    t->left_out |= begin < end;
}

/* Draws the track's events. The first `fits` were in the last frame, and may have grown. The others
 * are added in steps until the memory is used up; lines that do not fit are dropped. */
static const ASS_Image *render_steps(SubtitleText *t, long long now, int fits, int *changed)
{
    const long long begun = processor_ms();
    int step = STEP, count = t->track->n_events, renders = 0, too_large;
    const ASS_Image *images;
    do {
        t->track->n_events = count - fits > step ? fits + step : count;
        images = ass_render_frame(t->renderer, t->track, now, changed);
        renders++;
        int64_t bytes = t->text_bytes;
        for (const ASS_Image *image = images; image; image = image->next)
            bytes += (int64_t)image->stride * image->h;
        too_large = bytes > SUBTITLE_BUDGET;
        const int added = t->track->n_events - fits;
        if (!too_large) {
            fits += added;
        } else if (!added) { /* they have grown: find those that fit */
            fits = 0;
            step = STEP;
        } else if (added > 1) {
            step = added / 2;
        } else {
            leave_out(t, fits, count);
            count = fits;
        }
        t->too_slow = processor_ms() - begun > MAX_RENDER_MS;
    } while (fits < count && !t->too_slow);
    t->track->n_events = count;
    if (too_large && !t->too_slow) {
        images = ass_render_frame(t->renderer, t->track, now, changed);
        renders++;
    }
    *changed |= renders > 1 || t->too_slow; /* libass compares with the previous call */
    return t->too_slow ? NULL : images;
}

static const ASS_Image *render(SubtitleText *t, long long now, int laid_out, int *changed)
{
    move_events(t->track, t->waiting, now, 0);
    const int shown = laid_out ? 0 : t->track->n_events;
    move_events(t->waiting, t->track, now, 1);
    return render_steps(t, now, shown, changed);
}

int subtitle_text_draw(SubtitleText *t, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay)
{
    *overlay = t->overlay;
    if (t->too_slow)
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
        /* ASS is stretched with its picture, plain text is not. */
        ass_set_pixel_aspect(t->renderer, t->plain ? 1 : 0);
        /* Lines with explicit positions keep them: they belong to something in the picture. */
        ass_set_line_position(t->renderer, 100.0 * place->covered / picture.height);
    }
    t->place = *place;
    int changed = 0;
    const long long now = milliseconds(position);
    const ASS_Image *images = render(t, now, laid_out, &changed);
    /* libass does not notice that a track was empty. */
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
    if (t->too_slow)
        return "these subtitles take too long to draw: they are turned off";
    if (t->left_out)
        return SUBTITLE_LEFT_OUT;
    return t->lacks_font ? "no font found: text subtitles are not shown" : NULL;
}

void subtitle_text_close(SubtitleText **text)
{
    SubtitleText *t = *text;
    if (!t)
        return;
    if (t->track)
        ass_free_track(t->track);
    if (t->waiting)
        ass_free_track(t->waiting);
    if (t->renderer)
        ass_renderer_done(t->renderer);
    if (t->library)
        ass_library_done(t->library);
    free(t->overlay.canvas.pixels);
    free(t);
    *text = NULL;
}
