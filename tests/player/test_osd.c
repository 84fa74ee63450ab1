/* The on-screen display: its parts lie inside the window, do not overlap, and disappear in time. */
#include "check.h"
#include "player/controls.h"
#include "player/osd/osd.h"
#include "rects.h"

static const int sizes[][2] = {
    {640, 360},   {641, 383},   {720, 1280}, {800, 600},   {1024, 768},  {1280, 720},
    {1920, 1080}, {2560, 1080}, {360, 640},  {2560, 1440}, {3840, 2160}, {2160, 3840},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const OsdRow statistics[] = {
    {NULL, "Statistics"},
    {"file",
     "a name of a file that is so long that no window has room for it, be it as wide as the "
     "widest that can be bought, at least not beside a panel, \xff and {\\pos(1,1)} in it"},
    {"frames", "24.0 of 24.0 a second"},
    {"dropped, late", "0, 2"},
    {"decode", "1.42 ms"},
    {"upload", "0.00 ms"},
    {"equalize", "0.84 ms"},
    {"download", "0.00 ms"},
    {"draw", "2.10 ms"},
    {"sound", "+3 ms"},
    {"queues", "25, 46, 1"},
    {"backend", "CPU, 2 threads"},
    {"display", "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"},
};
#define STATISTICS (int)(sizeof(statistics) / sizeof(statistics[0]))

/* The first rows of the help. */
static OsdRow keys[OSD_MAX_ROWS];
static int key_count;

typedef struct Fixture {
    Text *text;
    Osd *osd;
    OsdPlace place;
    OsdLayer layer;
    int changed;
} Fixture;

static OsdPlace whole_window(int width, int height)
{
    const Rect window = {0, 0, width, height};
    return (OsdPlace){width, height, window, window, window, .density = 1, .scale = 1};
}

/* Without a font, skips the test and returns 0. */
static int start(Fixture *f)
{
    *f = (Fixture){.place = whole_window(1280, 720)};
    if (text_open(&f->text) < 0) {
        check_skip("no font on this machine");
        return 0;
    }
    if (osd_open(&f->osd) < 0)
        exit(1);
    osd_set_text(f->osd, f->text);
    key_count = controls_help(keys, 25);
    return 1;
}

static void stop(Fixture *f)
{
    osd_close(&f->osd);
    osd_close(&f->osd);
    text_close(&f->text);
}

#define OSD_TEST(name)                                                                             \
    static void draw_##name(Fixture *f);                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        Fixture f;                                                                                 \
        if (start(&f)) {                                                                           \
            draw_##name(&f);                                                                       \
            stop(&f);                                                                              \
        }                                                                                          \
    }                                                                                              \
    static void draw_##name(Fixture *f)

static Rect draw(Fixture *f, OsdPart part, int64_t now)
{
    f->changed = osd_draw(f->osd, part, &f->place, now, &f->layer);
    const Overlay *o = &f->layer.overlay;
    return (Rect){o->x, o->y, o->canvas.width, o->canvas.height};
}

/* Counts bright pixels. If `border` is not 0, counts only those in a border of this width. */
static int count_ink(const Canvas *canvas, int border)
{
    int count = 0;
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            const int at_side = x < border || y < border || x >= canvas->width - border ||
                                y >= canvas->height - border;
            count += canvas_pixel(canvas, x, y)[0] > 100 && (border == 0 || at_side);
        }
    return count;
}

static void check_ink(const Fixture *f, const char *name)
{
    const Canvas *canvas = &f->layer.overlay.canvas;
    CHECK(count_ink(canvas, 0) > 50, "%s at %dx%d: nothing is written", name, f->place.width,
          f->place.height);
    CHECK(count_ink(canvas, 3) == 0, "%s at %dx%d: no margin", name, f->place.width,
          f->place.height);
}

static void check_layout(Fixture *f)
{
    const int width = f->place.width, height = f->place.height;
    const Rect window = {0, 0, width, height};
    osd_message(f->osd, 0, "Volume: 80 %");
    const Rect brief = draw(f, OSD_MESSAGE, 1);
    check_ink(f, "message");
    osd_message(f->osd, 0,
                "A message that has much to say, more than any window has room for, and "
                "which goes on and on all the same, like the path of this screenshot");
    const Rect message = draw(f, OSD_MESSAGE, 1);
    check_ink(f, "long message");
    osd_set_rows(f->osd, OSD_STATISTICS, statistics, STATISTICS);
    const Rect page = draw(f, OSD_STATISTICS, 1);
    check_ink(f, "statistics");
    osd_set_rows(f->osd, OSD_HELP, keys, key_count);
    CHECK(!draw(f, OSD_STATISTICS, 1).width, "statistics together with the help page");
    const Rect help = draw(f, OSD_HELP, 1);
    check_ink(f, "help");
    CHECK(is_inside(brief, f->place.area) && is_inside(message, f->place.area) &&
              is_inside(page, f->place.area) && is_inside(help, window),
          "%dx%d: outside", width, height);
    CHECK(!overlap(message, page) && !overlap(message, help), "%dx%d: parts overlap", width,
          height);
    const Rect picture = f->place.picture;
    CHECK(abs(2 * help.x + help.width - 2 * picture.x - picture.width) <= 1,
          "%dx%d: help is not in the middle", width, height);
    CHECK(brief.height >= 26 && message.height == brief.height, "%dx%d: messages %d and %d high",
          width, height, brief.height, message.height);
    CHECK(help.height >= 14 * 11, "%dx%d: help is %d high", width, height, help.height);
    osd_set_rows(f->osd, OSD_HELP, NULL, 0);
}

OSD_TEST(osd_layout)
{
    for (size_t i = 0; i < SIZES; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        if (!check_drawn((int)i))
            continue;
        f->place = whole_window(width, height);
        check_layout(f);
        if (width < 640)
            continue;
        f->place.area.width = f->place.picture.width = width * 2 / 3; /* a panel beside it */
        check_layout(f);
        f->place.area = (Rect){width / 5, height / 7, width * 4 / 5, height * 6 / 7};
        check_layout(f);
        f->place.density = 1.5;
        if (width >= 1280 && height >= 720)
            check_layout(f);
    }
}

/* Sizes follow the scale; even a small window has room for a message and the help. */
OSD_TEST(osd_scale)
{
    static const double scales[] = {0.5, 1, 2, 4};
    osd_show(f->osd, OSD_BAR, 1000000);
    for (size_t i = 0; i < SIZES; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        if (!check_drawn((int)i))
            continue;
        const Rect window = {0, 0, width, height};
        int before[2] = {0};
        f->place = whole_window(width, height);
        for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
            f->place.scale = scales[k];
            osd_message(f->osd, 0, "Paused");
            const Rect message = draw(f, OSD_MESSAGE, 1), bar = draw(f, OSD_BAR, 1);
            CHECK(message.height >= before[0] && bar.height >= before[1], "%dx%d at %.1f: smaller",
                  width, height, scales[k]);
            CHECK(k != 1 || (message.height > before[0] && bar.height > before[1]),
                  "%dx%d: not smaller at 0.5", width, height);
            CHECK(k != 2 || width < 1920 || message.height > before[0] * 3 / 2,
                  "%dx%d: %d and %d high", width, height, before[0], message.height);
            before[0] = message.height;
            before[1] = bar.height;
            osd_set_rows(f->osd, OSD_HELP, keys, key_count);
            const Rect beside = draw(f, OSD_MESSAGE, 1), help = draw(f, OSD_HELP, 1);
            osd_set_rows(f->osd, OSD_HELP, NULL, 0);
            CHECK(is_inside(message, window) && is_inside(help, window) && !overlap(beside, help),
                  "%dx%d at %.1f: outside, or parts overlap", width, height, scales[k]);
            CHECK(k == 0 || help.height >= 14 * 8, "%dx%d at %.1f: help is %d high", width, height,
                  scales[k], help.height);
        }
    }
}

/* A message appears, fades and disappears. The next message replaces it. */
OSD_TEST(osd_message)
{
    const int64_t begin = 50000, end = begin + OSD_MESSAGE_US;
    CHECK(!draw(f, OSD_MESSAGE, 0).width && !f->changed, "there is a message at first");
    CHECK(osd_wait(f->osd, 0) == INT64_MAX, "a redraw without a message");
    osd_message(f->osd, begin, "first");
    CHECK(draw(f, OSD_MESSAGE, begin).width && f->changed && f->layer.opacity == 1, "no message");
    CHECK(draw(f, OSD_MESSAGE, end - 1).width && !f->changed, "drawn again, or gone");
    CHECK(osd_wait(f->osd, begin) == OSD_MESSAGE_US, "the wait does not end with it");
    CHECK(draw(f, OSD_MESSAGE, end + OSD_FADE_US / 2).width && !f->changed, "does not fade");
    CHECK(f->layer.opacity > 0.4 && f->layer.opacity < 0.6, "opacity %.3f", f->layer.opacity);
    CHECK(osd_wait(f->osd, end + 1) == 0, "no redraw while it fades");
    CHECK(!draw(f, OSD_MESSAGE, end + OSD_FADE_US).width && f->changed, "still there");
    CHECK(osd_wait(f->osd, end + OSD_FADE_US) == INT64_MAX, "a redraw after the message");
    osd_message(f->osd, begin, "first");
    const Rect brief = draw(f, OSD_MESSAGE, begin);
    osd_message(f->osd, end, "a second one, which is longer");
    CHECK(draw(f, OSD_MESSAGE, end + OSD_FADE_US).width > brief.width && f->changed,
          "not in the place of the first");
}

/* A notice stays. Messages are appended to it. */
OSD_TEST(osd_notice)
{
    const int64_t end = OSD_MESSAGE_US;
    osd_notice(f->osd, "camera gone, waiting");
    const Rect notice = draw(f, OSD_MESSAGE, 0);
    check_ink(f, "notice");
    CHECK(f->layer.opacity == 1 && osd_wait(f->osd, 0) == INT64_MAX, "the notice will end");
    CHECK(draw(f, OSD_MESSAGE, 100 * end).width == notice.width && !f->changed, "it has ended");
    osd_message(f->osd, 0, "brief");
    CHECK(draw(f, OSD_MESSAGE, 1).width > notice.width && f->changed, "no message after it");
    CHECK(f->layer.opacity == 1 && draw(f, OSD_MESSAGE, end - 1).x == notice.x, "it moves");
    CHECK(osd_wait(f->osd, 1) == end - 1, "the message does not end by itself");
    CHECK(draw(f, OSD_MESSAGE, end).width == notice.width && f->changed && f->layer.opacity == 1,
          "the message has not ended");
    CHECK(osd_wait(f->osd, end) == INT64_MAX, "the notice will end after the message");
    osd_notice(f->osd, NULL);
    CHECK(!draw(f, OSD_MESSAGE, 2 * end).width && f->changed, "still there");
}

/* While the mouse moves, each half of a comparison has a label in its middle. A label is hidden if
 * a page covers it or it does not fit. */
OSD_TEST(osd_labels)
{
    const Rect left = {0, 100, 500, 500}, right = {500, 100, 780, 500};
    osd_label(f->osd, OSD_BEFORE, left);
    osd_label(f->osd, OSD_AFTER, right);
    CHECK(!draw(f, OSD_BEFORE, OSD_FADE_US).width, "visible before the mouse moves");
    osd_show(f->osd, OSD_BEFORE, 1000000);
    osd_show(f->osd, OSD_BEFORE, 500000); /* must not end the label earlier */
    const Rect before = draw(f, OSD_BEFORE, 600000);
    check_ink(f, "before");
    CHECK(f->changed && f->layer.opacity == 1, "opacity %.2f", f->layer.opacity);
    const Rect after = draw(f, OSD_AFTER, 600000);
    check_ink(f, "after");
    CHECK(is_inside(before, left) && is_inside(after, right), "outside");
    CHECK(abs(2 * before.x + before.width - 500) <= 1 &&
              abs(2 * after.x + after.width - 1780) <= 1 && before.y == after.y,
          "not in the middle");
    CHECK(osd_wait(f->osd, 600000) == 400000, "the wait does not end with them");
    draw(f, OSD_AFTER, 1000000 + OSD_FADE_US / 2);
    CHECK(f->layer.opacity > 0.4 && f->layer.opacity < 0.6 && !f->changed, "does not fade");
    CHECK(osd_wait(f->osd, 1000001) == 0, "no redraw while they fade");
    CHECK(!draw(f, OSD_AFTER, 1000000 + OSD_FADE_US).width && f->changed, "still there");
    CHECK(osd_wait(f->osd, 1000000 + OSD_FADE_US) == INT64_MAX, "a redraw after the labels");
    osd_show(f->osd, OSD_BEFORE, 9000000);
    osd_set_rows(f->osd, OSD_HELP, keys, key_count);
    osd_label(f->osd, OSD_AFTER, draw(f, OSD_HELP, 2000000));
    CHECK(draw(f, OSD_AFTER, 2000000).width && f->layer.opacity == 0, "seen below the help");
    osd_set_rows(f->osd, OSD_HELP, NULL, 0);
    draw(f, OSD_HELP, 2000000);
    draw(f, OSD_AFTER, 2000000);
    CHECK(f->layer.opacity == 1, "gone with the help");
    osd_label(f->osd, OSD_AFTER, (Rect){1250, 100, 30, 500});
    CHECK(!draw(f, OSD_AFTER, 2000000).width && f->changed, "shown in a strip of 30 pixels");
    osd_label(f->osd, OSD_BEFORE, (Rect){0});
    CHECK(!draw(f, OSD_BEFORE, 2000000).width && f->changed, "shown without a picture");
}

static int count_red(const Canvas *canvas)
{
    int count = 0;
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            const uint8_t *p = canvas_pixel(canvas, x, y);
            count += p[0] > 180 && p[1] < 90 && p[2] < 90;
        }
    return count;
}

/* The recording light is at the right, and messages end before it. */
OSD_TEST(osd_recording)
{
    CHECK(!draw(f, OSD_RECORDING, 0).width, "there is a light at first");
    osd_recording(f->osd, "REC 0:11", -1);
    const Rect light = draw(f, OSD_RECORDING, 0);
    check_ink(f, "light");
    CHECK(count_red(&f->layer.overlay.canvas) > 50, "it is not red");
    CHECK(light.x > 640 && light.x + light.width <= 1280, "it is not at the right");
    osd_recording(f->osd, "REC 0:44", -1);
    CHECK(draw(f, OSD_RECORDING, 0).x == light.x && f->changed, "it moves with its digits");
    osd_recording(f->osd, "REC 0:44", -1);
    CHECK(draw(f, OSD_RECORDING, 0).x == light.x && !f->changed, "drawn again without a change");
    osd_message(f->osd, 0,
                "A message that is far too long for one line of the window, whose end is cut off "
                "where something else is, and which goes on and on and on and on and on and on");
    const Rect message = draw(f, OSD_MESSAGE, 1);
    CHECK(message.x + message.width <= light.x, "a message lies over it");
    osd_recording(f->osd, NULL, -1);
    CHECK(!draw(f, OSD_RECORDING, 2).width && f->changed, "still there");
    CHECK(draw(f, OSD_MESSAGE, 2).width > message.width, "messages do not get its room back");
}

/* Rows are copied. The page keeps its width when numbers get shorter. */
OSD_TEST(osd_rows)
{
    char value[32] = "1000000.0 ms";
    OsdRow rows[OSD_MAX_ROWS + 10];
    rows[0] = (OsdRow){"time", value};
    rows[1] = (OsdRow){"nothing", NULL};
    osd_set_rows(f->osd, OSD_STATISTICS, rows, 2);
    strcpy(value, "1 ms");
    const Rect wide = draw(f, OSD_STATISTICS, 0);
    CHECK(f->changed, "no page is drawn");
    draw(f, OSD_STATISTICS, 1);
    CHECK(!f->changed, "drawn twice");
    osd_set_rows(f->osd, OSD_STATISTICS, rows, 2);
    const Rect narrow = draw(f, OSD_STATISTICS, 2);
    CHECK(f->changed && narrow.width == wide.width, "%d wide, then %d", wide.width, narrow.width);
    osd_set_rows(f->osd, OSD_STATISTICS, rows, 0);
    CHECK(!draw(f, OSD_STATISTICS, 3).width && f->changed, "not hidden");
    osd_set_rows(f->osd, OSD_STATISTICS, rows, 2);
    CHECK(draw(f, OSD_STATISTICS, 4).width < wide.width, "as wide as it was before it was hidden");
    for (int i = 0; i < OSD_MAX_ROWS + 10; i++)
        rows[i] = (OsdRow){"n", "v"};
    osd_set_rows(f->osd, OSD_HELP, rows, OSD_MAX_ROWS + 10);
    CHECK(draw(f, OSD_HELP, 5).width, "too many rows hide the page");
    osd_set_rows(f->osd, OSD_MESSAGE, rows, 3);
    CHECK(!draw(f, OSD_MESSAGE, 6).width, "rows are shown as a message");
}

OSD_TEST(osd_tiny_windows)
{
    osd_set_rows(f->osd, OSD_STATISTICS, statistics, STATISTICS);
    for (int width = 1; width < 400; width += 13)
        for (int height = 1; height < 300; height += 17) {
            if (!check_drawn(width + height))
                continue;
            f->place = whole_window(width, height);
            osd_message(f->osd, 0, "message");
            osd_recording(f->osd, height % 2 ? "REC 1:00:00, 17 dropped" : NULL, height % 3 - 1);
            draw(f, OSD_RECORDING, 1);
            draw(f, OSD_MESSAGE, 1);
            draw(f, OSD_STATISTICS, 1);
            osd_set_rows(f->osd, OSD_HELP, keys, key_count);
            const Rect help = draw(f, OSD_HELP, 1);
            CHECK(!help.width || is_inside(help, (Rect){0, 0, width, height}), "%dx%d: outside",
                  width, height);
            osd_set_rows(f->osd, OSD_HELP, keys, 0);
        }
}

/* Click targets lie where they are drawn, do not overlap, and are large enough. */
OSD_TEST(osd_position_bar)
{
    const int64_t minute = 60000000;
    OsdBar bar;
    memset(&bar, 0, sizeof(bar));
    bar.position = 30 * minute;
    bar.duration = 90 * minute;
    bar.from = bar.to = -1;
    bar.volume = bar.most = 100;
    bar.mark[bar.marks++] = 60 * minute;
    osd_set_bar(f->osd, &bar);
    CHECK(!draw(f, OSD_BAR, OSD_FADE_US).width, "visible before the mouse moves");
    osd_show(f->osd, OSD_BAR, 1000000);
    for (size_t i = 0; i < SIZES; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        if (!check_drawn((int)i))
            continue;
        f->place = whole_window(width, height);
        const Rect all = draw(f, OSD_BAR, 10);
        check_ink(f, "bar");
        const OsdBarPlaces at = osd_bar_at(f->osd, &f->place);
        CHECK(at.all.x == all.x && at.all.y == all.y && at.all.width == all.width,
              "%dx%d: osd_bar_at() returns another place", width, height);
        CHECK(is_inside(all, f->place.area) && is_inside(at.button, all) &&
                  is_inside(at.track, all) && (!at.volume.width || is_inside(at.volume, all)),
              "%dx%d: outside", width, height);
        CHECK(!overlap(at.button, at.track) && !overlap(at.track, at.volume) &&
                  !overlap(at.track, at.settings) && !overlap(at.volume, at.settings) &&
                  !overlap(at.settings, at.fullscreen),
              "%dx%d: parts overlap", width, height);
        CHECK(!at.settings.width == !at.fullscreen.width && (width < 1000 || at.settings.width) &&
                  (!at.settings.width ||
                   (is_inside(at.settings, all) && is_inside(at.fullscreen, all))),
              "%dx%d: no room for the buttons", width, height);
        CHECK(at.track.width > width / 4 && at.track.height >= 22, "%dx%d: a track of %dx%d", width,
              height, at.track.width, at.track.height);
        const uint8_t *line =
            canvas_pixel(&f->layer.overlay.canvas, at.track.x - all.x, all.height / 2);
        const int third = at.track.width / 3 * 4;
        CHECK(line[third - 12] > line[third - 12 + 2] + 60, "%dx%d: the played part is not filled",
              width, height);
        CHECK(abs(line[third * 3 / 2] - line[third * 3 / 2 + 2]) < 60, "%dx%d: the rest is filled",
              width, height);
    }
    osd_set_bar(f->osd, &bar);
    draw(f, OSD_BAR, 11);
    CHECK(!f->changed, "drawn again without a change");
    bar.position += minute;
    osd_set_bar(f->osd, &bar);
    draw(f, OSD_BAR, 12);
    CHECK(f->changed && osd_wait(f->osd, 12) == 1000000 - 12,
          "the bar does not follow the position, or does not end");
    CHECK(!draw(f, OSD_BAR, 1000000 + OSD_FADE_US).width, "still there");
    bar.duration = bar.most = 0; /* a live picture without sound */
    osd_set_bar(f->osd, &bar);
    const OsdBarPlaces live = osd_bar_at(f->osd, &f->place);
    CHECK(live.button.width > 0 && !live.track.width && !live.volume.width,
          "wrong parts for live video");
}

/* The time is above the pointed position of the bar, but always inside the window. */
OSD_TEST(osd_pointed)
{
    OsdBar bar;
    memset(&bar, 0, sizeof(bar));
    bar.duration = 90000000;
    osd_set_bar(f->osd, &bar);
    osd_show(f->osd, OSD_BAR, 1000000);
    CHECK(!draw(f, OSD_POINTED, 1).width, "there is a time at first");
    osd_set_pointed(f->osd, 640, "0:42");
    const Rect line = draw(f, OSD_POINTED, 1), all = osd_bar_at(f->osd, &f->place).all;
    check_ink(f, "time");
    CHECK(f->changed && !overlap(line, all) && line.y + line.height <= all.y, "over the bar");
    CHECK(abs(2 * line.x + line.width - 1280) <= 1, "the time is not above the mouse");
    for (int x = 0; x <= 1280; x += 1280) {
        osd_set_pointed(f->osd, x, "a title of a chapter that is not short");
        CHECK(is_inside(draw(f, OSD_POINTED, 1), f->place.area), "outside");
    }
    char long_title[OSD_MAX_LINE];
    memset(long_title, 'm', sizeof(long_title));
    long_title[sizeof(long_title) - 1] = '\0';
    osd_set_pointed(f->osd, 640, long_title);
    const Rect widest = draw(f, OSD_POINTED, 1);
    CHECK(widest.width > all.width / 2 && widest.width <= all.width, "%d wide above a bar of %d",
          widest.width, all.width);
    osd_set_pointed(f->osd, 0, "");
    CHECK(!draw(f, OSD_POINTED, 1).width && f->changed, "still there");
}

static OsdSettings make_settings(void)
{
    OsdSettings s;
    memset(&s, 0, sizeof(s));
    s.count = 14;
    for (int i = 0; i < s.count; i++) {
        snprintf(s.rows[i].name, sizeof(s.rows[i].name), "setting %d", i);
        snprintf(s.rows[i].value, sizeof(s.rows[i].value), "%d", i);
        snprintf(s.rows[i].usual, sizeof(s.rows[i].usual), "auto");
    }
    return s;
}

/* Rows can be clicked where they are drawn. */
TEST(osd_settings)
{
    OsdSettings settings = make_settings();
    Fixture f;
    int acts, step;
    if (!start(&f))
        return;
    CHECK(!draw(&f, OSD_SETTINGS, 1).width, "there are settings at first");
    osd_set_rows(f.osd, OSD_STATISTICS, statistics, STATISTICS);
    for (size_t i = 0; i < SIZES; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        if (!check_drawn((int)i))
            continue;
        f.place = whole_window(width, height);
        osd_set_settings(f.osd, &settings);
        const Rect all = draw(&f, OSD_SETTINGS, 1);
        check_ink(&f, "settings");
        const OsdSettingsPlaces at = osd_settings_place(f.osd, &f.place);
        CHECK(memcmp(&at.all, &all, sizeof(all)) == 0 && is_inside(all, f.place.area),
              "%dx%d: osd_settings_place() returns another place", width, height);
        CHECK(at.size >= 9, "%dx%d: text of %d pixels", width, height, at.size);
        for (int row = 0; row < settings.count; row++) {
            const int y = at.top + row * at.row + at.row / 2;
            const int x[] = {at.value - 2, at.value + 2, at.end - 2, at.end + 2};
            static const int wanted[][2] = {{0, -1}, {1, -1}, {1, 1}, {1, 0}};
            for (int k = 0; k < 4; k++)
                CHECK(osd_settings_at(&at, x[k], y, &acts, &step) == row && acts == wanted[k][0] &&
                          (!acts || step == wanted[k][1]),
                      "%dx%d: row %d at %d: acts %d, step %d", width, height, row, x[k], acts,
                      step);
        }
        CHECK(osd_settings_at(&at, at.value, at.top - 1, &acts, &step) < 0 &&
                  osd_settings_at(&at, all.x - 1, at.top, &acts, &step) < 0 &&
                  osd_settings_at(&at, at.value, at.top + 14 * at.row, &acts, &step) < 0,
              "%dx%d: a row is found outside of the rows", width, height);
        const uint8_t *ground =
            canvas_pixel(&f.layer.overlay.canvas, all.width / 2, at.top - all.y + 1);
        CHECK(ground[0] > ground[at.row * f.layer.overlay.canvas.stride] + 20,
              "%dx%d: the chosen row is not highlighted", width, height);
        const Rect usual = draw(&f, OSD_SETTINGS, 1);
        f.place.scale = 2;
        const Rect large = draw(&f, OSD_SETTINGS, 1);
        CHECK(large.height >= usual.height && is_inside(large, f.place.area),
              "%dx%d: %d high, and %d as large text", width, height, usual.height, large.height);
        f.place.scale = 1;
    }
    osd_set_settings(f.osd, &settings);
    draw(&f, OSD_SETTINGS, 1);
    draw(&f, OSD_SETTINGS, 2);
    CHECK(!f.changed, "drawn again without a change");
    CHECK(!draw(&f, OSD_STATISTICS, 2).width, "statistics below it");
    settings.chosen = 3;
    settings.rows[3].changed = settings.rows[5].idle = 1;
    osd_set_settings(f.osd, &settings);
    draw(&f, OSD_SETTINGS, 3);
    CHECK(f.changed, "not drawn again after a change");
    osd_set_rows(f.osd, OSD_HELP, keys, key_count);
    CHECK(!draw(&f, OSD_SETTINGS, 4).width && !osd_settings_place(f.osd, &f.place).all.width,
          "settings together with the help");
    osd_set_rows(f.osd, OSD_HELP, keys, 0);
    CHECK(draw(&f, OSD_SETTINGS, 5).width, "the settings do not come back");
    for (int size = 1; size < 300; size += 7) {
        f.place = whole_window(size, size);
        const Rect small = draw(&f, OSD_SETTINGS, 6);
        CHECK(!small.width || is_inside(small, f.place.area), "%d: outside", size);
    }
    memset(&settings, 0, sizeof(settings));
    osd_set_settings(f.osd, &settings);
    CHECK(!draw(&f, OSD_SETTINGS, 7).width, "empty settings are shown");
    stop(&f);
}

TEST_MAIN
