#include "player/osd/osd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/printable.h"

/* Text height: SHARE of the window's shorter side, but at least UNITS desktop units. */
#define MESSAGE_SHARE (1 / 26.0)
#define MESSAGE_UNITS 16
#define STATISTICS_SHARE (1 / 48.0)
#define STATISTICS_UNITS 13
#define HELP_SHARE (1 / 36.0)
#define HELP_UNITS 15
#define SETTINGS_SHARE (1 / 44.0)
#define SETTINGS_UNITS 14
#define EASY_UNITS 11    /* smallest text of the bar */
#define SMALLEST_UNITS 9 /* smallest text of pages; lines that are still too long are cut */

/* Maximum text height as a share of the window's shorter side. */
#define LARGEST_SHARE (1 / 10.0)

/* Background opacity, 0 to 255. Pages must stay readable over any picture. */
#define MESSAGE_ALPHA 185
#define STATISTICS_ALPHA 210
#define HELP_ALPHA 250
#define POINTED_ALPHA 255 /* opaque, because the text may lie over subtitles */

#define MARGIN_SHARE (1 / 45.0)
#define MARGIN_UNITS 10

/* Message layout in multiples of its text height. BAR: height of the sound level's bar. */
#define LINE 1.25
#define PADDING_ACROSS 0.65
#define PADDING 0.4
#define BAR 0.2
#define BAR_ROOM 0.5
#define CORNER 0.45

/* Steps of the sound level; more steps would redraw it more often. */
#define LEVEL_STEPS 30

/* Radius of the recording light, and the light's width with a gap, in multiples of text height. */
#define LIGHT 0.32
#define LIGHT_ROOM 1.0

/* Text height of the bar relative to a message. */
#define BAR_TEXT 0.7

#define HELP_COLUMNS 3

typedef struct Part {
    Overlay overlay; /* owned */
    OsdPlace place;  /* place that the overlay was drawn for */
    bool valid;      /* the overlay is up to date */
    int64_t end;     /* when the part begins to fade; see osd_show() */
} Part;

struct Osd {
    Text *text;
    Part parts[OSD_PARTS];
    OsdPage pages[OSD_PARTS]; /* of statistics and help */
    bool has_message;
    char message[OSD_MAX_LINE];
    bool message_drawn;                                 /* the canvas shows `message` */
    char notice[OSD_MAX_LINE], recording[OSD_MAX_LINE]; /* "": none */
    int level;                    /* of the recorded sound, 0 to LEVEL_STEPS; -1: none */
    Rect labelled[OSD_AFTER + 1]; /* {0}: no label */
    OsdSettings settings;
    OsdBar bar;
    char pointed[OSD_MAX_LINE]; /* line above the bar; "": none */
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
        o->parts[i].valid = false;
}

void osd_message(Osd *o, int64_t now_us, const char *line)
{
    printable(o->message, sizeof(o->message), line);
    o->has_message = true;
    o->parts[OSD_MESSAGE].end = now_us + OSD_MESSAGE_US;
    o->parts[OSD_MESSAGE].valid = false;
}

void osd_show(Osd *o, OsdPart part, int64_t until_us)
{
    if (until_us > o->parts[part].end)
        o->parts[part].end = until_us;
}

/* Copies a line; NULL becomes "". Returns true if the line has changed. */
static bool replace(char to[OSD_MAX_LINE], const char *line)
{
    char text[OSD_MAX_LINE];
    printable(text, sizeof(text), line ? line : "");
    const bool changes = strcmp(text, to) != 0;
    memcpy(to, text, sizeof(text));
    return changes;
}

void osd_notice(Osd *o, const char *line)
{
    if (replace(o->notice, line))
        o->parts[OSD_MESSAGE].valid = false;
}

void osd_recording(Osd *o, const char *line, double level)
{
    const int steps = level < 0 ? -1 : (int)lrint(fmin(level, 1) * LEVEL_STEPS);
    const bool had_room = o->recording[0] != '\0';
    if (replace(o->recording, line) || steps != o->level)
        o->parts[OSD_RECORDING].valid = false;
    if (had_room != (o->recording[0] != '\0'))
        o->parts[OSD_MESSAGE].valid = false;
    o->level = steps;
}

void osd_label(Osd *o, OsdPart part, Rect within)
{
    if (!rect_same(within, o->labelled[part]))
        o->parts[part].valid = false;
    o->labelled[part] = within;
}

void osd_set_settings(Osd *o, const OsdSettings *settings)
{
    if (memcmp(&o->settings, settings, sizeof(*settings)) != 0)
        o->parts[OSD_SETTINGS].valid = false;
    o->settings = *settings;
}

void osd_set_bar(Osd *o, const OsdBar *bar)
{
    if (memcmp(&o->bar, bar, sizeof(*bar)) != 0)
        o->parts[OSD_BAR].valid = false;
    o->bar = *bar;
}

void osd_set_pointed(Osd *o, int column, const char *line)
{
    replace(o->pointed, line);
    o->pointed_column = column;
    o->parts[OSD_POINTED].valid = false;
}

void osd_set_rows(Osd *o, OsdPart part, const OsdRow *rows, int count)
{
    osd_page_set(&o->pages[part], rows, count);
    o->parts[part].valid = false;
}

static int side_of(const OsdPlace *place)
{
    return place->width < place->height ? place->width : place->height;
}

static double usual(const OsdPlace *place, double share, double units)
{
    return fmax(side_of(place) * share, units * place->density);
}

/* The size with the user's factor, limited by LARGEST_SHARE to leave room for other lines. */
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

/* While the help or settings are open, messages are not enlarged. */
static OsdPlace place_of(const Osd *o, OsdPart part, const OsdPlace *window)
{
    OsdPlace place = *window;
    if (part == OSD_MESSAGE && (o->pages[OSD_HELP].count || o->settings.count))
        place.scale = fmin(place.scale, 1);
    return place;
}

static Rect below_message(const OsdPlace *place, Rect rect)
{
    const int m = margin(place);
    const int top = place->area.y + 2 * m + message_height(place, 1);
    return (Rect){rect.x + m, top, rect.width - 2 * m, rect.y + rect.height - m - top};
}

/* Digits are measured as zeros, so that the light does not move when digits change. */
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

static void fill_bar(const Overlay *overlay, int size, double share)
{
    const int padding = (int)(PADDING_ACROSS * size), height = (int)fmax(2, BAR * size);
    const int length = overlay->canvas.width - 2 * padding;
    const int y = overlay->canvas.height - (int)((PADDING + 0.15) * size) - height;
    const int filled = (int)lrint(fmin(share, 1) * length);
    canvas_fill(&overlay->canvas, (Rect){padding, y, length, height}, OSD_BRIGHT, 60);
    canvas_fill(&overlay->canvas, (Rect){padding, y, filled, height}, OSD_ACCENT, 255);
}

/* Draws a box with a line of text in columns `left` to `right` - 1. */
static Overlay draw_line(const Osd *o, Rect box, int size, int alpha, int left, int right,
                         const char *line)
{
    const Overlay overlay = osd_box(box, (int)lrint(CORNER * size), alpha);
    text_add(o->text, left, (int)((PADDING + LINE / 2) * size), TEXT_LEFT, size, OSD_BRIGHT,
             right - left, line);
    text_draw(o->text, &overlay.canvas);
    return overlay;
}

static Overlay draw_message(const Osd *o, const OsdPlace *place)
{
    const int size = message_size(place), m = margin(place);
    const int padding = (int)(PADDING_ACROSS * size);
    const int taken = o->recording[0] ? recording_width(o, place) + m : 0;
    const int room = place->area.width - 2 * m - 2 * padding - taken;
    char whole[2 * OSD_MAX_LINE + 8], line[OSD_MAX_LINE];
    if (room <= 0)
        return (Overlay){0};
    snprintf(whole, sizeof(whole), "%s%s%s", o->notice,
             o->notice[0] && o->message_drawn ? " · " : "", o->message_drawn ? o->message : "");
    osd_fit(o->text, size, whole, room, line);
    const int width = min_int(room, text_width(o->text, size, line) + 1);
    const Rect box = {place->area.x + m, place->area.y + m, width + 2 * padding,
                      message_height(place, 0)};
    return draw_line(o, box, size, MESSAGE_ALPHA, padding, padding + width, line);
}

static Overlay draw_recording(const Osd *o, const OsdPlace *place)
{
    const int size = message_size(place), m = margin(place), width = recording_width(o, place);
    const double left = PADDING_ACROSS * size;
    const Rect box = {place->area.x + place->area.width - m - width, place->area.y + m, width,
                      message_height(place, o->level >= 0)};
    if (box.x < place->area.x)
        return (Overlay){0};
    const Overlay overlay = draw_line(o, box, size, MESSAGE_ALPHA, (int)(left + LIGHT_ROOM * size),
                                      box.width, o->recording);
    text_add_disc(o->text, (int)(left + LIGHT * size), message_height(place, 0) / 2,
                  (int)(2 * LIGHT * size), OSD_RED);
    text_draw(o->text, &overlay.canvas);
    if (o->level >= 0)
        fill_bar(&overlay, size, (double)o->level / LEVEL_STEPS);
    return overlay;
}

static Overlay draw_label(const Osd *o, OsdPart part, const OsdPlace *place)
{
    const char *line = part == OSD_BEFORE ? "before" : "after";
    const Rect within = o->labelled[part];
    const int size = message_size(place), padding = (int)(PADDING_ACROSS * size);
    const int width = text_width(o->text, size, line) + 1 + 2 * padding;
    const int top = max_int(below_message(place, within).y, within.y + margin(place));
    const Rect box = {within.x + (within.width - width) / 2, top, width, message_height(place, 0)};
    if (width > within.width || box.y + box.height > within.y + within.height)
        return (Overlay){0};
    return draw_line(o, box, size, MESSAGE_ALPHA, padding, width, line);
}

static int bar_size(const OsdPlace *place)
{
    return scaled(place, BAR_TEXT * MESSAGE_SHARE, fmax(BAR_TEXT * MESSAGE_UNITS, EASY_UNITS));
}

OsdBarPlaces osd_bar_at(const Osd *o, const OsdPlace *place)
{
    return osd_bar_places(&o->bar, place->bar, margin(place), bar_size(place));
}

static Overlay draw_pointed(const Osd *o, const OsdPlace *place)
{
    char line[OSD_MAX_LINE];
    const Rect bar = osd_bar_at(o, place).all;
    const int size = bar_size(place), padding = (int)(PADDING * size);
    osd_fit(o->text, size, o->pointed, bar.width - 2 * padding - 1, line);
    const int width = text_width(o->text, size, line) + 1 + 2 * padding;
    const int height = (int)((LINE + 2 * PADDING) * size);
    const int x = min_int(o->pointed_column - width / 2, bar.x + bar.width - width);
    const Rect box = {max_int(x, bar.x), bar.y - margin(place) / 2 - height, width, height};
    if (bar.width <= 0 || width > bar.width || box.y < place->bar.y)
        return (Overlay){0};
    return draw_line(o, box, size, POINTED_ALPHA, padding, width, line);
}

static Overlay draw_page(const Osd *o, OsdPart part, const OsdPlace *place)
{
    const bool is_help = part == OSD_HELP;
    const OsdPlace message = place_of(o, OSD_MESSAGE, place);
    const Part *before = &o->parts[OSD_STATISTICS];
    const OsdPageStyle style = {
        .limit = below_message(&message, is_help ? place->picture : place->area),
        .around = is_help ? place->picture : (Rect){0},
        .size = is_help ? scaled(place, HELP_SHARE, HELP_UNITS)
                        : scaled(place, STATISTICS_SHARE, STATISTICS_UNITS),
        .smallest = (int)(SMALLEST_UNITS * place->density),
        .max_columns = is_help ? HELP_COLUMNS : 1,
        .alpha = is_help ? HELP_ALPHA : STATISTICS_ALPHA,
        .name = is_help ? OSD_ACCENT : OSD_DIM,
        .value = OSD_BRIGHT,
        .min_width = is_help ? 0 : before->overlay.canvas.width, /* the width must not flicker */
    };
    return osd_page_draw(&o->pages[part], &style, o->text);
}

/* When the part begins to fade; INT64_MAX: never. */
static int64_t end_of(const Osd *o, OsdPart part)
{
    switch (part) {
    case OSD_BEFORE:
    case OSD_AFTER: return o->parts[OSD_BEFORE].end;
    case OSD_BAR:
    case OSD_POINTED: return o->parts[OSD_BAR].end;
    case OSD_MESSAGE: return o->parts[part].end;
    default: return INT64_MAX;
    }
}

/* Beside a permanent notice, the message disappears without fading. */
static bool has_message(const Osd *o, int64_t now_us)
{
    return o->has_message && now_us < end_of(o, OSD_MESSAGE) + (o->notice[0] ? 0 : OSD_FADE_US);
}

static bool is_visible(const Osd *o, OsdPart part, int64_t now_us)
{
    const bool is_in_time = end_of(o, part) == INT64_MAX || now_us < end_of(o, part) + OSD_FADE_US;
    const bool has_help = o->pages[OSD_HELP].count > 0;
    if (!o->text)
        return false;
    switch (part) {
    case OSD_BEFORE:
    case OSD_AFTER: return is_in_time && o->labelled[part].width > 0;
    case OSD_BAR: return is_in_time && o->parts[OSD_BAR].end;
    case OSD_POINTED: return is_in_time && o->parts[OSD_BAR].end && o->pointed[0];
    case OSD_STATISTICS: return o->pages[part].count && !has_help && !o->settings.count;
    case OSD_SETTINGS: return o->settings.count && !has_help;
    case OSD_MESSAGE: return o->notice[0] || has_message(o, now_us);
    case OSD_RECORDING: return o->recording[0] != '\0';
    default: return has_help;
    }
}

/* Labels and the bar are hidden if an open page would overlap them. */
static double opacity(const Osd *o, OsdPart part, int64_t now_us)
{
    static const OsdPart pages[] = {OSD_STATISTICS, OSD_SETTINGS, OSD_HELP};
    for (int i = 0; part <= OSD_POINTED && i < 3; i++)
        if (rect_intersect(overlay_place(&o->parts[part].overlay),
                           overlay_place(&o->parts[pages[i]].overlay))
                .width > 0)
            return 0;
    if (end_of(o, part) == INT64_MAX || (part == OSD_MESSAGE && o->notice[0]))
        return 1;
    return fmin(fmax(1 - (double)(now_us - end_of(o, part)) / OSD_FADE_US, 0), 1);
}

static OsdSettingsPlaces settings_places(const Osd *o, const OsdPlace *place)
{
    const OsdPlace message = place_of(o, OSD_MESSAGE, place);
    return osd_settings_places(o->settings.count, below_message(&message, place->area),
                               scaled(place, SETTINGS_SHARE, SETTINGS_UNITS));
}

static Overlay draw(const Osd *o, OsdPart part, const OsdPlace *place)
{
    switch (part) {
    case OSD_BEFORE:
    case OSD_AFTER: return draw_label(o, part, place);
    case OSD_BAR: {
        const OsdBarPlaces at = osd_bar_at(o, place);
        return osd_bar_draw(&o->bar, &at, bar_size(place), o->text);
    }
    case OSD_POINTED: return draw_pointed(o, place);
    case OSD_SETTINGS: {
        const OsdSettingsPlaces at = settings_places(o, place);
        return osd_settings_draw(&o->settings, &at, o->text);
    }
    case OSD_MESSAGE: return draw_message(o, place);
    case OSD_RECORDING: return draw_recording(o, place);
    default: return draw_page(o, part, place);
    }
}

static bool same_place(const OsdPlace *a, const OsdPlace *b)
{
    return a->width == b->width && a->height == b->height && a->density == b->density &&
           a->scale == b->scale && rect_same(a->area, b->area) && rect_same(a->bar, b->bar);
}

static void clear(Part *p)
{
    free(p->overlay.canvas.pixels);
    p->overlay = (Overlay){0};
    p->valid = false;
}

bool osd_draw(Osd *o, OsdPart part, const OsdPlace *window, int64_t now_us, OsdLayer *layer)
{
    Part *p = &o->parts[part];
    const OsdPlace place = place_of(o, part, window);
    bool changed = false;
    if (part == OSD_MESSAGE && has_message(o, now_us) != o->message_drawn) {
        o->message_drawn = !o->message_drawn;
        p->valid = false;
    }
    if (!is_visible(o, part, now_us)) {
        changed = p->overlay.canvas.width > 0;
        clear(p);
    } else if (!p->valid || !same_place(&p->place, &place)) {
        if (!same_place(&p->place, &place)) /* otherwise draw_page() would keep the old width */
            clear(p);
        const Overlay drawn = draw(o, part, &place);
        clear(p);
        p->overlay = drawn;
        p->place = place;
        p->valid = changed = true;
    }
    *layer = (OsdLayer){p->overlay, opacity(o, part, now_us)};
    return changed;
}

OsdSettingsPlaces osd_settings_place(const Osd *o, const OsdPlace *place)
{
    return is_visible(o, OSD_SETTINGS, 0) ? settings_places(o, place) : (OsdSettingsPlaces){0};
}

int64_t osd_wait(const Osd *o, int64_t now_us)
{
    int64_t end = INT64_MAX;
    for (int part = 0; part < OSD_PARTS; part++) {
        const bool ends = part == OSD_MESSAGE ? o->text && has_message(o, now_us)
                                              : is_visible(o, (OsdPart)part, now_us);
        if (ends && end_of(o, (OsdPart)part) < end)
            end = end_of(o, (OsdPart)part);
    }
    if (end == INT64_MAX)
        return end;
    return end > now_us ? end - now_us : 0;
}

void osd_close(Osd **osd)
{
    Osd *o = *osd;
    if (!o)
        return;
    for (int i = 0; i < OSD_PARTS; i++)
        clear(&o->parts[i]);
    free(o);
    *osd = NULL;
}
