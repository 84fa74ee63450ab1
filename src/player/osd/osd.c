#include "player/osd/osd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "player/osd/osd_page.h"

/* Text height: a share of the window's shorter side, at least this many desktop units. */
#define MESSAGE_SHARE (1 / 26.0)
#define MESSAGE_UNITS 16
#define STATISTICS_SHARE (1 / 48.0)
#define STATISTICS_UNITS 13
#define HELP_SHARE (1 / 36.0)
#define HELP_UNITS 15
#define SETTINGS_SHARE (1 / 44.0)
#define SETTINGS_UNITS 14
#define EASY_UNITS 11    /* smallest comfortable size */
#define SMALLEST_UNITS 9 /* smallest size; longer lines are cut */

/* Maximum text height as a share of the window. */
#define LARGEST_SHARE (1 / 10.0)

/* Share of the height kept free for subtitles if possible. */
#define SUBTITLES_SHARE 0.2

/* Background opacity: pages must stay readable over anything. */
#define MESSAGE_ALPHA 185
#define STATISTICS_ALPHA 210
#define HELP_ALPHA 250
#define POINTED_ALPHA 255 /* may lie over subtitles */

#define MARGIN_SHARE (1 / 45.0)
#define MARGIN_UNITS 10

/* Message layout in multiples of its text height. */
#define LINE 1.25
#define PADDING_ACROSS 0.65
#define PADDING 0.4
#define BAR 0.2
#define BAR_ROOM 0.5
#define BAR_LENGTH 16.0
#define CORNER 0.45

/* Resolution of the level: a finer one would draw it more often. */
#define LEVEL_STEPS 30

/* Radius and width of the recording light. */
#define LIGHT 0.32
#define LIGHT_ROOM 1.0

/* Text height of the bar relative to a message. */
#define BAR_TEXT 0.7

/* Maximum columns of the help. */
#define HELP_COLUMNS 3

typedef struct Part {
    Overlay overlay; /* owned */
    OsdPlace place;  /* it was drawn for this place */
    int valid;       /* the canvas is up to date */
} Part;

struct Osd {
    Text *text;
    Part parts[OSD_PARTS];
    OsdPage pages[OSD_PARTS]; /* empty for messages */
    char message[OSD_MAX_LINE];
    double share;
    int64_t message_end; /* when it begins to fade */
    int has_message;
    char notice[OSD_MAX_LINE], recording[OSD_MAX_LINE]; /* "": none */
    int level;                /* of the recorded sound, 0 to LEVEL_STEPS; -1: none */
    int message_drawn;        /* whether the canvas includes the message */
    Rect labelled[OSD_PARTS]; /* {0}: no label */
    int64_t labels_end;       /* when they begin to fade */
    OsdSettings settings;
    OsdSettingsPlaces settings_at; /* as drawn */
    OsdBar bar;
    int64_t bar_end;            /* when it begins to fade */
    char pointed[OSD_MAX_LINE]; /* "": nothing */
    int pointed_column;
};

int osd_open(Osd **osd)
{
    *osd = calloc(1, sizeof(**osd));
    return *osd ? 0 : -1;
}

void osd_set_text(Osd *o, Text *text)
{
    o->text = text;
    for (int i = 0; i < OSD_PARTS; i++)
        o->parts[i].valid = 0;
}

void osd_message(Osd *o, int64_t now_us, const char *line, double share)
{
    snprintf(o->message, sizeof(o->message), "%s", line);
    o->share = share;
    o->message_end = now_us + OSD_MESSAGE_US;
    o->has_message = 1;
    o->parts[OSD_MESSAGE].valid = 0;
}

void osd_hold_message(Osd *o, int64_t until_us)
{
    if (until_us > o->message_end)
        o->message_end = until_us;
}

void osd_notice(Osd *o, const char *line)
{
    const char *text = line ? line : "";
    if (strcmp(text, o->notice) == 0)
        return;
    snprintf(o->notice, sizeof(o->notice), "%s", text);
    o->parts[OSD_MESSAGE].valid = 0;
}

void osd_recording(Osd *o, const char *line, double level)
{
    const char *text = line ? line : "";
    const int changes_room = !text[0] != !o->recording[0];
    const int steps = level < 0 ? -1 : (int)lrint(fmin(level, 1) * LEVEL_STEPS);
    if (strcmp(text, o->recording) == 0 && steps == o->level)
        return;
    o->level = steps;
    snprintf(o->recording, sizeof(o->recording), "%s", text);
    o->parts[OSD_RECORDING].valid = 0;
    if (changes_room)
        o->parts[OSD_MESSAGE].valid = 0;
}

void osd_label(Osd *o, OsdPart part, Rect within)
{
    const Rect *before = &o->labelled[part];
    if (rect_same(within, *before))
        return;
    o->labelled[part] = within;
    o->parts[part].valid = 0;
}

void osd_show_labels(Osd *o, int64_t until_us)
{
    if (until_us > o->labels_end)
        o->labels_end = until_us;
}

void osd_set_settings(Osd *o, const OsdSettings *settings)
{
    if (memcmp(&o->settings, settings, sizeof(*settings)) == 0)
        return;
    o->settings = *settings;
    o->parts[OSD_SETTINGS].valid = 0;
}

void osd_set_bar(Osd *o, const OsdBar *bar)
{
    if (memcmp(&o->bar, bar, sizeof(*bar)) == 0)
        return;
    o->bar = *bar;
    o->parts[OSD_BAR].valid = 0;
}

void osd_show_bar(Osd *o, int64_t until_us)
{
    if (until_us > o->bar_end)
        o->bar_end = until_us;
}

void osd_set_pointed(Osd *o, int column, const char *line)
{
    snprintf(o->pointed, sizeof(o->pointed), "%s", line);
    o->pointed_column = column;
    o->parts[OSD_POINTED].valid = 0;
}

void osd_set_rows(Osd *o, OsdPart part, const OsdRow *rows, int count)
{
    if (part != OSD_STATISTICS && part != OSD_HELP)
        return;
    osd_page_set(&o->pages[part], rows, count);
    o->parts[part].valid = 0;
}

static int side_of(const OsdPlace *place)
{
    return place->width < place->height ? place->width : place->height;
}

static double usual(const OsdPlace *place, double share, double units)
{
    return fmax(side_of(place) * share, units * place->density);
}

/* Applies the user's factor but leaves room for other lines. */
static int scaled(const OsdPlace *place, double share, double units)
{
    const double size = usual(place, share, units);
    return (int)fmin(size * place->scale, fmax(size, LARGEST_SHARE * side_of(place)));
}

static int margin(const OsdPlace *place)
{
    return (int)usual(place, MARGIN_SHARE, MARGIN_UNITS);
}

static int message_size(const OsdPlace *place)
{
    return scaled(place, MESSAGE_SHARE, MESSAGE_UNITS);
}

static int message_height(const OsdPlace *place, int with_bar)
{
    return (int)ceil((LINE + 2 * PADDING + (with_bar ? BAR_ROOM : 0)) * message_size(place));
}

/* While the help or settings are open, messages are not enlarged, to leave room. */
static OsdPlace place_of(const Osd *o, OsdPart part, const OsdPlace *window)
{
    OsdPlace place = *window;
    if (part == OSD_MESSAGE && (o->pages[OSD_HELP].count || o->settings.count))
        place.scale = fmin(place.scale, 1);
    return place;
}

/* The area below the message line, which is always reserved. */
static Rect below_message(const OsdPlace *place, Rect rect)
{
    const int m = margin(place);
    const int top = place->area.y + 2 * m + message_height(place, 1);
    return (Rect){rect.x + m, top, rect.width - 2 * m, rect.y + rect.height - m - top};
}

/* Measured with zeros so that the light does not move when digits change. */
static int recording_width(const Osd *o, const OsdPlace *place)
{
    const int size = message_size(place);
    char widest[OSD_MAX_LINE];
    if (!o->recording[0])
        return 0;
    for (int i = 0; i < OSD_MAX_LINE; i++)
        widest[i] = o->recording[i] >= '0' && o->recording[i] <= '9' ? '0' : o->recording[i];
    return text_width(o->text, size, widest) + 1 + (int)((LIGHT_ROOM + 2 * PADDING_ACROSS) * size);
}

/* A bar below a line of text. */
static void fill_bar(const Overlay *overlay, int size, double share)
{
    const int padding = (int)(PADDING_ACROSS * size), height = (int)fmax(2, BAR * size);
    const int length = overlay->canvas.width - 2 * padding;
    const int y = overlay->canvas.height - (int)((PADDING + 0.15) * size) - height;
    const int filled = (int)lrint(fmin(share, 1) * length);
    canvas_fill(&overlay->canvas, (Rect){padding, y, length, height}, OSD_BRIGHT, 60);
    canvas_fill(&overlay->canvas, (Rect){padding, y, filled, height}, OSD_ACCENT, 255);
}

/* Draws a notice, a message, or both. */
static Overlay draw_message(const Osd *o, const OsdPlace *place)
{
    const int size = message_size(place), m = margin(place);
    const int padding = (int)(PADDING_ACROSS * size);
    const int has_bar = o->message_drawn && o->share >= 0;
    const int taken = o->recording[0] ? recording_width(o, place) + m : 0;
    const int room = place->area.width - 2 * m - 2 * padding - taken;
    char whole[2 * OSD_MAX_LINE + 8], line[OSD_MAX_LINE];
    if (room <= 0)
        return (Overlay){0};
    snprintf(whole, sizeof(whole), "%s%s%s", o->notice,
             o->notice[0] && o->message_drawn ? " · " : "", o->message_drawn ? o->message : "");
    osd_fit(o->text, size, whole, room, line);
    const int bar = has_bar ? (int)fmin(room, BAR_LENGTH * size) : 0;
    const int width = (int)fmax(bar, fmin(room, text_width(o->text, size, line) + 1));
    const Rect box = {place->area.x + m, place->area.y + m, width + 2 * padding,
                      message_height(place, has_bar)};
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * size), MESSAGE_ALPHA);
    text_add(o->text, padding, (int)((PADDING + LINE / 2) * size), TEXT_LEFT, size, OSD_BRIGHT,
             width, line);
    text_draw(o->text, &overlay.canvas);
    if (has_bar)
        fill_bar(&overlay, size, o->share);
    return overlay;
}

static Overlay draw_recording(const Osd *o, const OsdPlace *place)
{
    const int size = message_size(place), m = margin(place);
    const int width = recording_width(o, place), height = message_height(place, o->level >= 0);
    const Rect box = {place->area.x + place->area.width - m - width, place->area.y + m, width,
                      height};
    if (box.x < place->area.x)
        return (Overlay){0};
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * size), MESSAGE_ALPHA);
    if (!overlay.canvas.pixels)
        return overlay;
    const double left = PADDING_ACROSS * size;
    text_add(o->text, (int)(left + LIGHT_ROOM * size), (int)((PADDING + LINE / 2) * size),
             TEXT_LEFT, size, OSD_BRIGHT, width, o->recording);
    text_draw(o->text, &overlay.canvas);
    osd_disc(&overlay.canvas, left + LIGHT * size, message_height(place, 0) / 2.0, LIGHT * size,
             OSD_RED);
    if (o->level >= 0)
        fill_bar(&overlay, size, (double)o->level / LEVEL_STEPS);
    return overlay;
}

/* Next to a permanent notice the message does not fade. */
static int has_message(const Osd *o, int64_t now_us)
{
    return o->has_message && now_us < o->message_end + (o->notice[0] ? 0 : OSD_FADE_US);
}

static int is_label(OsdPart part)
{
    return part == OSD_BEFORE || part == OSD_AFTER;
}

static int is_bar(OsdPart part)
{
    return part == OSD_BAR || part == OSD_POINTED;
}

/* Labels and the bar are hidden where an open page covers them. */
static double opacity(const Osd *o, OsdPart part, int64_t now_us)
{
    static const OsdPart pages[] = {OSD_STATISTICS, OSD_SETTINGS, OSD_HELP};
    const Overlay *own = &o->parts[part].overlay;
    const Rect place = {own->x, own->y, own->canvas.width, own->canvas.height};
    for (int i = 0; (is_label(part) || is_bar(part)) && i < 3; i++) {
        const Overlay *page = &o->parts[pages[i]].overlay;
        const Rect rect = {page->x, page->y, page->canvas.width, page->canvas.height};
        if (rect_intersect(place, rect).width > 0)
            return 0;
    }
    const int fades = is_label(part) || is_bar(part) || (part == OSD_MESSAGE && !o->notice[0]);
    const int64_t end = is_label(part) ? o->labels_end : is_bar(part) ? o->bar_end : o->message_end;
    return fades ? fmin(fmax(1 - (double)(now_us - end) / OSD_FADE_US, 0), 1) : 1;
}

static int bar_size(const OsdPlace *place)
{
    return scaled(place, BAR_TEXT * MESSAGE_SHARE, fmax(BAR_TEXT * MESSAGE_UNITS, EASY_UNITS));
}

OsdBarPlaces osd_bar_at(const Osd *o, const OsdPlace *place)
{
    return osd_bar_places(&o->bar, place->bar, margin(place), bar_size(place));
}

/* The line stays within the bar's width. */
static Overlay draw_pointed(const Osd *o, const OsdPlace *place)
{
    char line[OSD_MAX_LINE];
    const Rect bar = osd_bar_at(o, place).all;
    const int size = bar_size(place), padding = (int)(PADDING * size);
    osd_fit(o->text, size, o->pointed, bar.width - 2 * padding - 1, line);
    const int width = text_width(o->text, size, line) + 1;
    Rect box = {0, 0, width + 2 * padding, (int)(LINE * size) + 2 * padding};
    box.x = o->pointed_column - box.width / 2;
    box.x = box.x + box.width > bar.x + bar.width ? bar.x + bar.width - box.width : box.x;
    box.x = box.x < bar.x ? bar.x : box.x;
    box.y = bar.y - margin(place) / 2 - box.height;
    if (bar.width <= 0 || box.width > bar.width || box.y < place->bar.y)
        return (Overlay){0};
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * size), POINTED_ALPHA);
    text_add(o->text, box.width / 2, box.height / 2, TEXT_CENTRE, size, OSD_BRIGHT, width, line);
    text_draw(o->text, &overlay.canvas);
    return overlay;
}

static Overlay draw_label(const Osd *o, OsdPart part, const OsdPlace *place)
{
    const char *line = part == OSD_BEFORE ? "before" : "after";
    const Rect within = o->labelled[part];
    const int size = message_size(place), m = margin(place);
    const int padding = (int)(PADDING_ACROSS * size);
    const int width = text_width(o->text, size, line) + 1 + 2 * padding;
    const int top = below_message(place, within).y;
    const Rect box = {within.x + (within.width - width) / 2,
                      top > within.y + m ? top : within.y + m, width, message_height(place, 0)};
    if (width > within.width || box.y + box.height > within.y + within.height)
        return (Overlay){0};
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * size), MESSAGE_ALPHA);
    text_add(o->text, padding, box.height / 2, TEXT_LEFT, size, OSD_BRIGHT, width, line);
    text_draw(o->text, &overlay.canvas);
    return overlay;
}

static Overlay draw_statistics(const Osd *o, const OsdPlace *place)
{
    const Part *before = &o->parts[OSD_STATISTICS];
    const Rect limit = below_message(place, place->area);
    const OsdPageStyle style = {
        .limit = limit,
        .usual_height = (int)(limit.height + margin(place) - SUBTITLES_SHARE * place->area.height),
        .easy = scaled(place, 0, EASY_UNITS),
        .size = scaled(place, STATISTICS_SHARE, STATISTICS_UNITS),
        .smallest = (int)(SMALLEST_UNITS * place->density),
        .max_columns = 1,
        .alpha = STATISTICS_ALPHA,
        .name = OSD_DIM,
        .value = OSD_BRIGHT,
        .min_width = before->overlay.canvas.width, /* so the width does not flicker */
    };
    return osd_page_draw(&o->pages[OSD_STATISTICS], &style, o->text);
}

static int is_visible(const Osd *o, OsdPart part, int64_t now_us)
{
    if (!o->text)
        return 0;
    if (part == OSD_MESSAGE)
        return o->notice[0] || has_message(o, now_us);
    if (part == OSD_RECORDING)
        return o->recording[0] != '\0';
    if (is_label(part))
        return o->labelled[part].width > 0 && now_us < o->labels_end + OSD_FADE_US;
    if (is_bar(part))
        return o->bar_end && now_us < o->bar_end + OSD_FADE_US &&
               (part == OSD_BAR || o->pointed[0]);
    if (part == OSD_SETTINGS)
        return o->settings.count && !o->pages[OSD_HELP].count;
    return o->pages[part].count &&
           (part == OSD_HELP || (!o->pages[OSD_HELP].count && !o->settings.count));
}

/* Centred over the picture. */
static Overlay draw_help(const Osd *o, const OsdPlace *place)
{
    const OsdPlace message = place_of(o, OSD_MESSAGE, place);
    const OsdPageStyle style = {
        .limit = below_message(&message, place->picture),
        .around = place->picture,
        .size = scaled(place, HELP_SHARE, HELP_UNITS),
        .smallest = (int)(SMALLEST_UNITS * place->density),
        .max_columns = HELP_COLUMNS,
        .alpha = HELP_ALPHA,
        .name = OSD_ACCENT,
        .value = OSD_BRIGHT,
    };
    return osd_page_draw(&o->pages[OSD_HELP], &style, o->text);
}

static int same_place(const OsdPlace *a, const OsdPlace *b)
{
    return a->width == b->width && a->height == b->height && a->density == b->density &&
           a->scale == b->scale && rect_same(a->area, b->area) && rect_same(a->bar, b->bar);
}

static void clear(Part *p)
{
    free(p->overlay.canvas.pixels);
    p->overlay = (Overlay){0};
    p->valid = 0;
}

int osd_draw(Osd *o, OsdPart part, const OsdPlace *window, int64_t now_us, OsdLayer *layer)
{
    Part *p = &o->parts[part];
    const OsdPlace place = place_of(o, part, window);
    const int was_there = p->overlay.canvas.width > 0, moved = !same_place(&p->place, &place);
    int changed = 0;
    if (part == OSD_MESSAGE && has_message(o, now_us) != o->message_drawn) {
        o->message_drawn = !o->message_drawn;
        p->valid = 0;
    }
    if (!is_visible(o, part, now_us)) {
        clear(p);
        changed = was_there;
    } else if (!p->valid || moved) {
        OsdBarPlaces bar;
        Overlay drawn;
        if (moved) /* the statistics keep their width only in the same place */
            clear(p);
        switch (part) {
        case OSD_MESSAGE: drawn = draw_message(o, &place); break;
        case OSD_RECORDING: drawn = draw_recording(o, &place); break;
        case OSD_STATISTICS: drawn = draw_statistics(o, &place); break;
        case OSD_BEFORE:
        case OSD_AFTER: drawn = draw_label(o, part, &place); break;
        case OSD_POINTED: drawn = draw_pointed(o, &place); break;
        case OSD_BAR:
            bar = osd_bar_at(o, &place);
            drawn = osd_bar_draw(&o->bar, &bar, bar_size(&place), o->text);
            break;
        case OSD_SETTINGS: {
            const OsdPlace message = place_of(o, OSD_MESSAGE, &place);
            o->settings_at =
                osd_settings_places(&o->settings, below_message(&message, place.area),
                                    scaled(&place, SETTINGS_SHARE, SETTINGS_UNITS), o->text);
            drawn = osd_settings_draw(&o->settings, &o->settings_at, o->text);
            break;
        }
        default: drawn = draw_help(o, &place);
        }
        clear(p);
        *p = (Part){drawn, place, 1};
        changed = 1;
    }
    *layer = (OsdLayer){p->overlay, opacity(o, part, now_us)};
    return changed;
}

OsdSettingsPlaces osd_settings_place(const Osd *o, const OsdPlace *place)
{
    const Part *p = &o->parts[OSD_SETTINGS];
    const int there = is_visible(o, OSD_SETTINGS, 0) && p->overlay.canvas.width > 0;
    return there && same_place(&p->place, place) ? o->settings_at : (OsdSettingsPlaces){0};
}

int64_t osd_wait(const Osd *o, int64_t now_us)
{
    int64_t end = INT64_MAX;
    if (o->text && has_message(o, now_us))
        end = o->message_end;
    if (is_visible(o, OSD_BEFORE, now_us) || is_visible(o, OSD_AFTER, now_us))
        end = o->labels_end < end ? o->labels_end : end;
    if (is_visible(o, OSD_BAR, now_us))
        end = o->bar_end < end ? o->bar_end : end;
    return end == INT64_MAX ? end : end > now_us ? end - now_us : 0;
}

void osd_close(Osd **osd)
{
    Osd *o = *osd;
    if (!o)
        return;
    for (int i = 0; i < OSD_PARTS; i++) {
        clear(&o->parts[i]);
        osd_page_free(&o->pages[i]);
    }
    free(o);
    *osd = NULL;
}
