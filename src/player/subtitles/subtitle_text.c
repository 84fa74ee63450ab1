#include "player/subtitles/subtitle_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "panel/ass_image.h"
#include "player/subtitles/subtitle_budget.h"

#define FAMILY "sans-serif"

/* How long text is seen whose end is not known. */
#define UNKNOWN_MS 5000

/* Tags can ask for pictures that take libass seconds; usual ones take milliseconds, of a
 * processor's time. When half of this is over, lines that are new wait for the next frame; where
 * lines that change take as long, or a few frames on end take more than all of it, the most
 * expensive ones are left out. After a frame that takes much longer, subtitles are given up rather
 * than the player. */
#define ENOUGH_MS 100
#define SLOW_FRAMES 3
#define MAX_RENDER_MS 2000

/* Lines can take more together than alone, and in a larger window: at so many bytes what costs most
 * is left out, until they take less. Where that does not help, they are given up. */
#define MAX_RENDER_BYTES (2 * SUBTITLE_BUDGET)
#define LARGE_FRAMES 10

/* The look of plain text, in shares of the picture's height. */
#define PLAIN_SIZE (1 / 18.0)
#define PLAIN_OUTLINE (1 / 260.0)
#define PLAIN_SHADOW (1 / 720.0)
#define PLAIN_MARGIN (1 / 28.0)
#define PLAIN_RESOLUTION 288 /* of the picture, where the header tells none */

struct SubtitleText {
    ASS_Library *library;
    ASS_Track *track;
    int plain;
    ASS_Renderer *renderer;
    int lacks_font;

    SubtitleBudget budget;   /* has what is not in the track yet */
    long long begun;         /* to draw, by the processor's time */
    long long enough_ms;     /* of it for this frame */
    int unfinished;          /* lines that are new wait for the next frame */
    int slow, large;         /* frames on end that were; slow: -1 where that does not count */
    int too_slow, too_large; /* it has been given up */
    SubtitlesPlace place;
    Overlay overlay; /* owned */
};

static void ignore_message(int level, const char *format, va_list args, void *data)
{
    (void)level;
    (void)format;
    (void)args;
    (void)data;
}

/* ---- fonts ---- */

/* Without any font libass says so, but goes on: whether a letter leaves ink tells. */
static int can_draw(ASS_Library *library, ASS_Renderer *renderer)
{
    static char nothing[] = "", event[] = "0,0,Default,,0,0,0,,A";
    ASS_Track *track = ass_new_track(library);
    if (!track)
        return 0;
    ass_set_frame_size(renderer, 64, 64);
    ass_set_storage_size(renderer, 64, 64);
    ass_process_codec_private(track, nothing, 0); /* the usual fields of an event */
    ass_process_chunk(track, event, (int)strlen(event), 0, 1);
    const int drawn = ass_render_frame(renderer, track, 0, NULL) != NULL;
    ass_free_track(track);
    return drawn;
}

/* Those that the source brings along, and those of the system. */
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

/* ---- the track ---- */

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
        ass_set_check_readorder(track, 0); /* the decoder tells what comes again */
        if (t->plain)
            make_plain(track);
    } else if (track) {
        ass_free_track(track);
        track = NULL;
    }
    free(copy);
    return track;
}

static int open_tracks(SubtitleText *t, const char *header)
{
    t->library = ass_library_init();
    if (!t->library)
        return -1;
    ass_set_message_cb(t->library, ignore_message, NULL);
    t->track = make_track(t, header);
    t->budget.probe = make_track(t, header);
    return t->track && t->budget.probe ? 0 : -1;
}

int subtitle_text_open(SubtitleText **text, const Source *source, const char *header, int plain)
{
    SubtitleText *t = calloc(1, sizeof(*t));
    *text = t;
    if (!t)
        return -1;
    t->plain = plain;
    if (open_tracks(t, header) == 0 && find_fonts(t, source) == 0)
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
    for (int i = 0; i < event->line_count; i++)
        subtitle_budget_add(&t->budget, event->lines[i], start, duration);
}

/* ---- drawing ---- */

/* Positions are relative to the picture. */
static void set_place(SubtitleText *t, const SubtitlesPlace *place)
{
    ass_set_frame_size(t->renderer, place->picture.width, place->picture.height);
    ass_set_storage_size(t->renderer, place->video_width, place->video_height);
    /* ASS is stretched like the picture it was made for, plain text is not. */
    ass_set_pixel_aspect(t->renderer, t->plain ? 1 : 0);
    /* Lines with a place of their own keep it: they belong to what is in the picture there. */
    ass_set_line_position(t->renderer, 100.0 * place->covered / place->picture.height);
}

static void draw_images(SubtitleText *t, const ASS_Image *images, Rect picture)
{
    const Rect box = ass_images_ink(images);
    Canvas *canvas = &t->overlay.canvas;
    free(canvas->pixels);
    *canvas = (Canvas){calloc((size_t)box.width * (size_t)box.height, 4), (ptrdiff_t)box.width * 4,
                       box.width, box.height};
    if (!canvas->pixels)
        canvas->width = canvas->height = 0;
    t->overlay.x = picture.x + box.x;
    t->overlay.y = picture.y + box.y;
    if (canvas->pixels)
        ass_images_blend(canvas, box.x, box.y, images);
}

static long long processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int in_time(void *opaque)
{
    const SubtitleText *t = opaque;
    return processor_ms() - t->begun <= t->enough_ms;
}

static const ASS_Image *render(SubtitleText *t, long long now, int *changed)
{
    const int waiting = t->budget.line_count;
    const int probed = subtitle_budget_take(&t->budget, t->renderer, t->track, now, in_time, t);
    if (waiting != t->budget.line_count)
        t->slow = -1; /* that was their first time */
    t->unfinished = subtitle_budget_waits(&t->budget, now);
    const ASS_Image *images = ass_render_frame(t->renderer, t->track, now, changed);
    t->large = subtitle_budget_bytes(images) > MAX_RENDER_BYTES ? t->large + 1 : 0;
    t->too_large = t->large > LARGE_FRAMES;
    t->too_slow = processor_ms() - t->begun > MAX_RENDER_MS;
    const int given_up = t->too_slow || t->too_large;
    *changed |= given_up || probed;
    return given_up ? NULL : images;
}

/* After a frame has been drawn. */
static void lighten(SubtitleText *t, long long now)
{
    t->slow = t->slow < 0 || processor_ms() - t->begun <= ENOUGH_MS ? 0 : t->slow + 1;
    if (!t->large && t->slow < SLOW_FRAMES)
        return;
    if (t->large)
        subtitle_budget_halve(&t->budget, t->track, now);
    else
        subtitle_budget_halve_changing(&t->budget, t->track, now);
    t->slow = 0;
}

/* libass need not draw all anew. */
static int same_layout(const SubtitlesPlace *a, const SubtitlesPlace *b)
{
    return a->picture.width == b->picture.width && a->picture.height == b->picture.height &&
           a->video_width == b->video_width && a->video_height == b->video_height &&
           a->covered == b->covered;
}

int subtitle_text_draw(SubtitleText *t, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay)
{
    *overlay = t->overlay;
    if (t->too_slow || t->too_large)
        return 0;
    const int laid_out = !same_layout(&t->place, place);
    const int moved =
        place->picture.x != t->place.picture.x || place->picture.y != t->place.picture.y;
    if (laid_out) {
        set_place(t, place);
        t->slow = -1; /* all is drawn anew, once */
    }
    t->place = *place;
    int changed = 0;
    const long long now = milliseconds(position);
    t->begun = processor_ms();
    t->enough_ms = laid_out ? MAX_RENDER_MS : ENOUGH_MS / 2;
    const ASS_Image *images = render(t, now, &changed);
    changed = changed || ((laid_out || moved) && images);
    if (changed)
        draw_images(t, images, place->picture);
    lighten(t, now);
    *overlay = t->overlay;
    return changed;
}

const char *subtitle_text_trouble(const SubtitleText *t)
{
    if (t->too_slow)
        return "these subtitles take too long to be drawn: they are not shown any more";
    if (t->too_large)
        return "these subtitles take too much memory to be drawn: they are not shown any more";
    if (t->budget.left_out)
        return SUBTITLE_LEFT_OUT;
    return t->lacks_font ? "no font was found: subtitles that are text are not shown" : NULL;
}

int subtitle_text_is_unfinished(const SubtitleText *t)
{
    const int given_up = t->too_slow || t->too_large;
    return !given_up && (t->unfinished || t->slow > 0 || t->large);
}

void subtitle_text_close(SubtitleText **text)
{
    SubtitleText *t = *text;
    if (!t)
        return;
    subtitle_budget_close(&t->budget);
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
