/* The view: places, turns, comparisons, layers, scaling, and uploads to textures. */
#include <libavutil/display.h>

#include "view_fixture.h"

/* The displayed level of 8-bit limited-range luma. */
static int shown_level(int luma)
{
    return (int)((luma - 16) * 255 / 219.0 + 0.5);
}

static int is_rect(Rect rect, int x, int y, int width, int height)
{
    return rect.x == x && rect.y == y && rect.width == width && rect.height == height;
}

/* True if every pixel of the rectangle has this gray. */
static int is_all(Rect rect, int level, int tolerance)
{
    for (int y = rect.y; y < rect.y + rect.height; y++)
        for (int x = rect.x; x < rect.x + rect.width; x++)
            if (!is_gray(pixel_at(x, y), level, tolerance))
                return 0;
    return 1;
}

/* Draws the scene. True if the whole rectangle shows 8-bit `luma`. */
static int shows(const ViewScene *scene, Rect rect, int luma)
{
    return draw(scene) && is_all(rect, shown_level(luma), 1);
}

static void show_gray(ViewSide side, int luma)
{
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(64, 36, luma);
    show(side, frame);
}

/* Shows the frame with this display matrix. */
static void turn_frame(AVFrame *frame, const int32_t matrix[9])
{
    av_frame_remove_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    AVFrameSideData *data =
        av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    if (!data)
        abort();
    memcpy(data->data, matrix, 9 * sizeof(int32_t));
    show(VIEW_OUTPUT, frame);
}

/* ---- places ---- */

VIEW_TEST(aspect_ratio)
{
    static const struct {
        int width, height, sar_num, sar_den;
        Rect place; /* in an area of 600 x 300 at 20, 10 */
    } cases[] = {
        {64, 32, 1, 1, {20, 10, 600, 300}},    {64, 64, 1, 1, {170, 10, 300, 300}},
        {64, 16, 1, 1, {20, 85, 600, 150}},    {720, 576, 64, 45, {53, 10, 533, 300}},
        {64, 32, 1, 2, {170, 10, 300, 300}},   {64, 32, 0, 1, {20, 10, 600, 300}},
        {64, 32, 1, 1000, {20, 10, 600, 300}}, {8, 8, 1, 1, {170, 10, 300, 300}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        FREED_BY(av_frame_free) AVFrame *frame = gray_frame(cases[i].width, cases[i].height, 200);
        frame->sample_aspect_ratio = (AVRational){cases[i].sar_num, cases[i].sar_den};
        ViewScene scene = whole_scene(640, 360);
        scene.area = (Rect){20, 10, 600, 300};
        if (show(VIEW_OUTPUT, frame) && draw(&scene)) {
            const Rect at = view_layout(view, &scene).picture[VIEW_OUTPUT], is = cases[i].place;
            CHECK(is_rect(at, is.x, is.y, is.width, is.height), "%d: at %d, %d: %d x %d", (int)i,
                  at.x, at.y, at.width, at.height);
            CHECK(is_all(at, shown_level(200), 1),
                  "%d: the picture is not where view_layout() says", (int)i);
            CHECK(is_all((Rect){0, 0, 640, at.y}, 0, 0) && is_all((Rect){0, 0, at.x, 360}, 0, 0) &&
                      is_all((Rect){at.x + at.width, 0, 640 - at.x - at.width, 360}, 0, 0) &&
                      is_all((Rect){0, at.y + at.height, 640, 360 - at.y - at.height}, 0, 0),
                  "%d: not black around it", (int)i);
        }
    }
}

VIEW_TEST(side_by_side_places)
{
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(160, 90, 100);
    ViewScene scene = whole_scene(640, 180);
    scene.compare = VIEW_COMPARE_SIDE;
    show(VIEW_INPUT, frame);
    show(VIEW_OUTPUT, frame);
    ViewPlaces at = view_layout(view, &scene);
    CHECK(at.picture[0].x == 0 && at.picture[1].x + at.picture[1].width == 640 &&
              at.picture[0].width == 318 && at.picture[1].width == 318 &&
              at.picture[0].y == at.picture[1].y,
          "not beside each other in a wide window");
    scene = whole_scene(320, 360);
    scene.compare = VIEW_COMPARE_SIDE;
    at = view_layout(view, &scene);
    CHECK(at.picture[0].y == 0 && at.picture[1].y + at.picture[1].height == 360 &&
              at.picture[0].height == 178 && at.picture[0].x == at.picture[1].x,
          "not above each other in a high window");
    scene.compare = VIEW_COMPARE_OFF;
    at = view_layout(view, &scene);
    CHECK(at.picture[VIEW_INPUT].width == 0, "the input has a place, but is not shown");
    CHECK(is_rect(at.picture[VIEW_OUTPUT], 0, 90, 320, 180), "the output is elsewhere");
    show(VIEW_INPUT, NULL);
    scene.compare = VIEW_COMPARE_SIDE;
    CHECK(is_rect(view_layout(view, &scene).picture[VIEW_OUTPUT], 0, 90, 320, 180),
          "a single picture is not whole");
}

/* ---- zoom ---- */

/* Converts a column of the window to one of the picture. */
static double column_in(const ViewScene *scene, int width, int x)
{
    const Rect whole = view_layout(view, scene).whole[VIEW_OUTPUT];
    return (double)(x - whole.x) / whole.width * width;
}

VIEW_TEST(zooms_at_a_point)
{
    double pixels;
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(1280, 720, 100);
    ViewScene scene = whole_scene(640, 480);
    show(VIEW_OUTPUT, frame);
    const double at = column_in(&scene, 1280, 500);
    for (int i = 0; i < 20; i++) {
        scene.zoom = view_zoom(view, &scene, 1.25, 500, 200, &pixels);
        const double now = column_in(&scene, 1280, 500);
        CHECK(fabs(now - at) < 2, "step %d: column %.1f, not %.1f", i, now, at);
        const Rect seen = view_layout(view, &scene).picture[VIEW_OUTPUT];
        CHECK(seen.x == 0 && seen.width == 640, "step %d: the window is not filled", i);
        if (i == 3) /* after 0.625, 0.78 and 0.98 times the original size */
            CHECK(pixels == 1 && view_layout(view, &scene).whole[VIEW_OUTPUT].width == 1280,
                  "the original size is skipped: %.3f", pixels);
    }
    for (int i = 0; i < 40; i++)
        scene.zoom = view_zoom(view, &scene, 1.25, 500, 200, &pixels);
    CHECK(pixels == VIEW_MAX_PIXELS, "%.1f pixels per sample", pixels);
    scene.zoom = view_zoom(view, &scene, 0, 500, 200, &pixels);
    CHECK(is_rect(view_layout(view, &scene).whole[VIEW_OUTPUT], 0, 60, 640, 360) && pixels == 0.5,
          "the whole picture does not show again");
    scene.zoom = view_zoom(view, &scene, 0.5, 500, 200, &pixels);
    CHECK(scene.zoom.by == 1, "smaller than the window: %.2f", scene.zoom.by);
}

/* Panning stops where the picture would no longer cover the window. */
VIEW_TEST(pans)
{
    double pixels;
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(640, 360, 100);
    ViewScene scene = whole_scene(640, 360);
    static const struct {
        int x, y; /* 0, 0: zooms in by 2 instead */
        Rect whole;
    } steps[] = {{50, 50, {0, 0, 640, 360}},
                 {0, 0, {-320, -180, 1280, 720}},
                 {100, -30, {-220, -210, 1280, 720}},
                 {5000, -5000, {0, -360, 1280, 720}},
                 {-10, 0, {-10, -360, 1280, 720}}}; /* leaves the side at once */
    show(VIEW_OUTPUT, frame);
    for (int i = 0; i < 5; i++) {
        const int x = steps[i].x, y = steps[i].y;
        scene.zoom =
            x || y ? view_pan(view, &scene, x, y) : view_zoom(view, &scene, 2, 320, 180, &pixels);
        const Rect whole = view_layout(view, &scene).whole[VIEW_OUTPUT];
        CHECK(rect_same(whole, steps[i].whole), "step %d: at %d, %d", i, whole.x, whole.y);
    }
}

/* Only the lower right quarter shows; in a comparison, it shows in both halves. */
VIEW_TEST(shows_a_part)
{
    double pixels;
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(320, 180, 60);
    for (int y = 90; y < 180; y++)
        memset(frame->data[0] + y * frame->linesize[0] + 160, 180, 160);
    ViewScene scene = whole_scene(640, 360);
    show(VIEW_INPUT, frame);
    show(VIEW_OUTPUT, frame);
    scene.zoom = view_zoom(view, &scene, 4, 639, 359, &pixels);
    CHECK(shows(&scene, (Rect){0, 0, 640, 360}, 180), "another part is seen");
    scene.zoom = view_zoom(view, &scene, 0, 0, 0, &pixels);
    scene.compare = VIEW_COMPARE_SIDE;
    for (int i = 0; i < 2; i++) /* to the original size, then further */
        scene.zoom = view_zoom(view, &scene, 5, 639, 359, &pixels);
    const ViewPlaces at = view_layout(view, &scene);
    CHECK(at.whole[0].width == at.whole[1].width &&
              at.whole[0].x - at.area[0].x == at.whole[1].x - at.area[1].x,
          "they show different parts");
    if (draw(&scene)) {
        CHECK(is_all(at.picture[0], shown_level(180), 1) &&
                  is_all(at.picture[1], shown_level(180), 1),
              "side by side, another part is seen");
        const int end = at.area[0].y == at.area[1].y;
        const Rect gap = end ? (Rect){at.area[0].x + at.area[0].width, 0,
                                      at.area[1].x - at.area[0].x - at.area[0].width, 360}
                             : (Rect){0, at.area[0].y + at.area[0].height, 640,
                                      at.area[1].y - at.area[0].y - at.area[0].height};
        CHECK(is_all(gap, 0, 0), "a picture reaches out of its half");
    }
}

static void check_samples(const ViewScene *scene, Rect window, Rect samples)
{
    const Rect at = view_to_samples(view, scene, window);
    CHECK(memcmp(&at, &samples, sizeof(at)) == 0, "%d,%d %dx%d instead of %d,%d %dx%d", at.x, at.y,
          at.width, at.height, samples.x, samples.y, samples.width, samples.height);
}

/* Converts rectangles of the window to samples of a zoomed, mirrored or turned picture. */
VIEW_TEST(finds_a_part)
{
    int32_t matrix[9];
    double pixels;
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(1280, 720, 60);
    ViewScene scene = whole_scene(640, 400); /* 20 rows are free above and below */
    show(VIEW_OUTPUT, frame);
    check_samples(&scene, (Rect){100, 70, 50, 60}, (Rect){200, 100, 100, 120});
    check_samples(&scene, (Rect){600, 0, 100, 50}, (Rect){1200, 0, 80, 60}); /* partly outside */
    CHECK(!view_to_samples(view, &scene, (Rect){0, 0, 640, 10}).width, "samples in the border");
    view_set_mirror(view, 1);
    check_samples(&scene, (Rect){100, 70, 50, 60}, (Rect){980, 100, 100, 120});
    view_set_mirror(view, 0);
    scene = whole_scene(1280, 720);
    scene.zoom = view_zoom(view, &scene, 2, 1279, 719, &pixels);
    check_samples(&scene, (Rect){640, 360, 640, 360}, (Rect){960, 540, 320, 180});
    av_display_rotation_set(matrix, 90);
    turn_frame(frame, matrix);
    scene = whole_scene(360, 640); /* the stored upper left corner is now the upper right one */
    check_samples(&scene, (Rect){360 - 10, 0, 10, 20}, (Rect){0, 0, 40, 20});
}

/* From three times the original size on, samples are drawn as squares. */
VIEW_TEST(shows_samples)
{
    double pixels;
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(64, 36, 60);
    for (int x = 1; x < 64; x += 2)
        for (int y = 0; y < 36; y++)
            frame->data[0][y * frame->linesize[0] + x] = 180;
    ViewScene scene = whole_scene(640, 360);
    show(VIEW_OUTPUT, frame);
    scene.zoom = view_zoom(view, &scene, 2, 0, 0, &pixels);
    if (draw(&scene))
        CHECK(is_all((Rect){0, 0, 20, 360}, shown_level(60), 1) &&
                  is_all((Rect){20, 0, 20, 360}, shown_level(180), 1),
              "samples are smoothed");
}

/* ---- turns ---- */

/* Codes of the picture's quarters: upper left, upper right, lower left, lower right. */
static const int quarters[4] = {50, 95, 140, 185};

static AVFrame *quarter_frame(void)
{
    AVFrame *frame = gray_frame(48, 32, 0);
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 48; x++)
            put_code(frame, 0, x, y, quarters[y / 16 * 2 + x / 24]);
    return frame;
}

/* Display matrices without their scale: (x, y) goes to (a * x + c * y, b * x + d * y). `quarter`:
 * the stored quarter that each quarter of the window shows. */
static const struct Turn {
    int a, b, c, d;
    int quarter[4];
    const char *name;
} turns[] = {
    {1, 0, 0, 1, {0, 1, 2, 3}, "upright"},
    {-1, 0, 0, 1, {1, 0, 3, 2}, "flipped across"},
    {1, 0, 0, -1, {2, 3, 0, 1}, "flipped down"},
    {-1, 0, 0, -1, {3, 2, 1, 0}, "turned by 180"},
    {0, 1, -1, 0, {2, 0, 3, 1}, "turned by 90 clockwise"},
    {0, -1, 1, 0, {1, 3, 0, 2}, "turned by 90 the other way"},
    {0, 1, 1, 0, {0, 2, 1, 3}, "transposed"},
    {0, -1, -1, 0, {3, 1, 2, 0}, "transposed along the other diagonal"},
};

#define TURNS ((int)(sizeof(turns) / sizeof(turns[0])))

static void display_matrix(const struct Turn *turn, int32_t matrix[9])
{
    const int32_t numbers[9] = {turn->a, turn->b, 0, turn->c, turn->d, 0, 0, 0, 0};
    for (int i = 0; i < 9; i++)
        matrix[i] = numbers[i] * 65536;
    matrix[8] = 1 << 30;
}

/* Checks that the picture, at its own size, shows these quarters. */
static void check_quarters(const int quarter[4], int mirrored, const char *name)
{
    int width, height;
    view_picture_size(view, VIEW_OUTPUT, &width, &height);
    const ViewScene scene = whole_scene(width, height);
    if (!draw(&scene))
        return;
    for (int i = 0; i < 4; i++) {
        const int column = mirrored ? 1 - i % 2 : i % 2;
        const Rect part = {column * width / 2, i / 2 * height / 2, width / 2, height / 2};
        CHECK(is_all(part, shown_level(quarters[quarter[i]]), 1), "%s%s: quarter %d is %d", name,
              mirrored ? ", mirrored" : "", i, pixel_at(part.x + 2, part.y + 2)[0]);
    }
}

VIEW_TEST(turns_and_mirrors)
{
    FREED_BY(av_frame_free) AVFrame *frame = quarter_frame();
    show(VIEW_OUTPUT, frame);
    for (int i = 0; i < TURNS; i++)
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            int32_t matrix[9];
            int width, height;
            display_matrix(&turns[i], matrix);
            turn_frame(frame, matrix);
            view_set_mirror(view, mirrored);
            view_picture_size(view, VIEW_OUTPUT, &width, &height);
            CHECK(width == (turns[i].a ? 48 : 32) && height == (turns[i].a ? 32 : 48),
                  "%s: %d x %d", turns[i].name, width, height);
            check_quarters(turns[i].quarter, mirrored, turns[i].name);
        }
    view_set_mirror(view, 0);
    turn_frame(frame, (int32_t[9]){0});
    check_quarters(turns[0].quarter, 0, "a matrix of zeros");
    int32_t oblique[9];
    av_display_rotation_set(oblique, 80); /* clockwise in FFmpeg */
    turn_frame(frame, oblique);
    check_quarters(turns[4].quarter, 0, "80 degrees");
}

/* A turned picture has the same pixels as the upright one, chroma included. */
VIEW_TEST(turned_pixels)
{
    static uint8_t upright[48 * 32 * 4];
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 48, 32);
    CheckRandom random = check_random(7);
    for (int comp = 0; comp < 3; comp++)
        for (int y = 0; y < (comp ? 16 : 32); y++)
            for (int x = 0; x < (comp ? 24 : 48); x++)
                put_code(frame, comp, x, y, 80 + check_below(&random, 80));
    if (draw_frame(frame, 48, 32))
        memcpy(upright, drawn, sizeof(upright));
    for (int i = 0; i < TURNS; i++) {
        const struct Turn *t = &turns[i];
        int32_t matrix[9];
        int wrong = 0;
        display_matrix(t, matrix);
        turn_frame(frame, matrix);
        const ViewScene scene = whole_scene(t->a ? 48 : 32, t->a ? 32 : 48);
        draw(&scene);
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 48; x++) {
                const int right = t->a * x + t->c * y, down = t->b * x + t->d * y;
                const int to_x = t->a + t->c < 0 ? scene.width - 1 + right : right;
                const int to_y = t->b + t->d < 0 ? scene.height - 1 + down : down;
                for (int c = 0; c < 3; c++)
                    wrong += abs(pixel_at(to_x, to_y)[c] - upright[(y * 48 + x) * 4 + c]) > 1;
            }
        CHECK(!wrong, "%s: %d components are wrong", t->name, wrong);
    }
}

/* ---- comparisons ---- */

VIEW_TEST(split)
{
    show_gray(VIEW_INPUT, 60);
    show_gray(VIEW_OUTPUT, 190);
    ViewScene scene = whole_scene(640, 400);
    scene.compare = VIEW_COMPARE_SPLIT;
    for (int i = 0; i <= 4; i++) {
        scene.split = i / 4.0;
        if (!draw(&scene))
            break;
        const ViewPlaces at = view_layout(view, &scene);
        const int column = view_split_column(&at, scene.split);
        CHECK(column == 160 * i, "split %d: column %d", i, column);
        CHECK(is_all((Rect){0, 20, column > 40 ? column - 40 : 0, 360}, shown_level(60), 1),
              "split %d: the left is not the input", i);
        CHECK(is_all((Rect){column + 40, 20, 640 - column - 40, 360}, shown_level(190), 1),
              "split %d: the right is not the output", i);
        CHECK(is_all((Rect){0, 0, 640, 20}, 0, 0) && is_all((Rect){0, 380, 640, 20}, 0, 0),
              "split %d: the line leaves the picture", i);
        if (i > 0 && i < 4)
            CHECK(pixel_at(column, 60)[0] > 230 && pixel_at(column - 2, 60)[0] < 30 &&
                      pixel_at(column + 1, 60)[0] < 30,
                  "split %d: the line cannot be seen", i);
    }
    scene.split = -3;
    CHECK(shows(&scene, (Rect){40, 20, 600, 360}, 190), "a split outside of the picture");
}

VIEW_TEST(shown_sides)
{
    show_gray(VIEW_INPUT, 60);
    show_gray(VIEW_OUTPUT, 190);
    ViewScene scene = whole_scene(320, 180);
    CHECK(shows(&scene, (Rect){0, 0, 320, 180}, 190), "not the output");
    scene.shown = VIEW_INPUT;
    CHECK(shows(&scene, (Rect){0, 0, 320, 180}, 60), "not the input");
    scene.compare = VIEW_COMPARE_SIDE;
    if (draw(&scene)) {
        const ViewPlaces at = view_layout(view, &scene);
        CHECK(is_all(at.picture[0], shown_level(60), 1), "the first is not the input");
        CHECK(is_all(at.picture[1], shown_level(190), 1), "the second is not the output");
    }
    show(VIEW_INPUT, NULL);
    scene.compare = VIEW_COMPARE_SPLIT;
    scene.split = 0.5;
    CHECK(shows(&scene, (Rect){0, 0, 320, 180}, 190), "the output alone is not whole");
    show(VIEW_OUTPUT, NULL);
    if (draw(&scene))
        CHECK(is_all((Rect){0, 0, 320, 180}, 0, 0), "not black without frames");
}

/* ---- layers ---- */

static int set_layer(ViewLayer layer, const Canvas *canvas, int x, int y, double opacity)
{
    const Overlay overlay = {canvas ? *canvas : (Canvas){0}, x, y, 0, 0};
    return CHECK(view_set_layer(view, layer, &overlay, opacity, fresh_error()) == 0, "%s",
                 fixture_error.text);
}

static void fill_canvas(const Canvas *canvas, uint8_t level, uint8_t alpha)
{
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            uint8_t *pixel = canvas->pixels + y * canvas->stride + (ptrdiff_t)x * 4;
            pixel[0] = pixel[1] = pixel[2] = level;
            pixel[3] = alpha;
        }
}

VIEW_TEST(layer_blending)
{
    static uint8_t pixels[64 * 40 * 4];
    const Canvas canvas = {pixels, 64 * 4, 60, 40};
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(64, 36, 16 + 100 * 219 / 255);
    const ViewScene scene = whole_scene(320, 180);
    show(VIEW_OUTPUT, frame);
    draw(&scene);
    const int below = pixel_at(0, 0)[0];

    fill_canvas(&canvas, 240, 128);
    set_layer(VIEW_LAYER_PANEL, &canvas, 100, 50, 1);
    if (draw(&scene)) {
        const int level = (int)((240 * 128 + below * 127) / 255.0 + 0.5);
        CHECK(is_all((Rect){100, 50, 60, 40}, level, 1), "translucent: %d", pixel_at(110, 60)[0]);
        CHECK(is_gray(pixel_at(99, 60), below, 0) && is_gray(pixel_at(160, 60), below, 0) &&
                  is_gray(pixel_at(110, 49), below, 0) && is_gray(pixel_at(110, 90), below, 0),
              "the layer reaches beyond its place");
        CHECK(pixel_at(110, 60)[3] == 255, "the window becomes translucent");
    }
    view_move_layer(view, VIEW_LAYER_PANEL, 300, -20, 0.5);
    if (draw(&scene)) {
        const int level = (int)((240 * 64 + below * 191) / 255.0 + 0.5);
        CHECK(is_all((Rect){300, 0, 20, 20}, level, 1), "moved and faded: %d", pixel_at(310, 5)[0]);
        CHECK(is_all((Rect){0, 0, 300, 180}, below, 0), "the layer is still where it was");
    }
    fill_canvas(&canvas, 20, 255); /* the display is above the panel, in any order of calls */
    set_layer(VIEW_LAYER_OSD, &canvas, 290, 0, 1);
    view_move_layer(view, VIEW_LAYER_PANEL, 280, 0, 1);
    if (draw(&scene))
        CHECK(is_all((Rect){290, 0, 30, 40}, 20, 0), "layers are in the wrong order");
    set_layer(VIEW_LAYER_OSD, NULL, 0, 0, 1);
    view_move_layer(view, VIEW_LAYER_PANEL, 0, 0, 0);
    if (draw(&scene))
        CHECK(is_all((Rect){0, 0, 320, 180}, below, 0), "hidden layers are visible");
}

VIEW_TEST(layer_content)
{
    static uint8_t pixels[50 * 30 * 4];
    const ViewScene scene = whole_scene(200, 100);
    const Canvas canvas = {pixels, 50 * 4, 50, 30};
    CheckRandom random = check_random(1);
    int wrong = 0;
    for (int i = 0; i < 60; i++) {
        uint8_t *pixel = canvas_pixel(&canvas, check_below(&random, 50), check_below(&random, 30));
        pixel[0] = pixel[1] = pixel[2] = (uint8_t)(1 + check_below(&random, 255));
        pixel[3] = 255;
    }
    set_layer(VIEW_LAYER_SUBTITLES, &canvas, 31, 17, 1);
    draw(&scene);
    for (int y = 0; y < 100; y++)
        for (int x = 0; x < 200; x++) {
            const int inside = x >= 31 && x < 81 && y >= 17 && y < 47;
            wrong +=
                !is_gray(pixel_at(x, y), inside ? canvas_pixel(&canvas, x - 31, y - 17)[0] : 0, 0);
        }
    CHECK(!wrong, "%d pixels are wrong", wrong);
}

/* A layer of premultiplied, translucent white looks the same at any size. */
VIEW_TEST(scaled_layer)
{
    static uint8_t pixels[40 * 20 * 4];
    const ViewScene scene = whole_scene(400, 200);
    const Canvas canvas = {pixels, 40 * 4, 40, 20};
    fill_canvas(&canvas, 100, 100);
    for (int size = 5; size <= 160; size *= 2) {
        const Overlay overlay = {canvas, 31, 17, 2 * size, size};
        CHECK(view_set_layer(view, VIEW_LAYER_SUBTITLES, &overlay, 1, fresh_error()) == 0, "%s",
              fixture_error.text);
        draw(&scene);
        CHECK(is_all((Rect){31, 17, 2 * size, size}, 100, 1), "%d rows: not all of it", size);
        CHECK(is_all((Rect){0, 0, 31, 200}, 0, 0) &&
                  is_all((Rect){31 + 2 * size, 0, 400 - 31 - 2 * size, 200}, 0, 0),
              "%d rows: beyond its place", size);
    }
}

/* ---- scaling ---- */

/* FAST: scaling of software renderers; BEST: of GPUs. */
enum { FAST, BEST };
static int opens_as = -1; /* -1: by the actual renderer */

bool __real_gl_is_software(const char *renderer);
bool __wrap_gl_is_software(const char *renderer);

bool __wrap_gl_is_software(const char *renderer)
{
    return opens_as < 0 ? __real_gl_is_software(renderer) : opens_as == FAST;
}

static void open_as(int quality)
{
    opens_as = quality;
    view_close(&view);
    CHECK(view_open(&view, fresh_error()) == 0, "%s", fixture_error.text);
    opens_as = -1;
}

static const char *quality_name(int quality)
{
    return quality == FAST ? "fast" : "best";
}

VIEW_TEST(flat_stays_flat)
{
    static const int sizes[][2] = {{8, 8},    {33, 47},   {64, 36},   {65, 36},
                                   {300, 20}, {640, 360}, {1024, 700}};
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(64, 36, 117);
    fill_component(frame, 1, 90);
    fill_component(frame, 2, 170);
    frame->sample_aspect_ratio = (AVRational){1, 1};
    for (int quality = FAST; quality <= BEST; quality++) {
        open_as(quality);
        show(VIEW_OUTPUT, frame);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            const ViewScene scene = whole_scene(sizes[i][0], sizes[i][1]);
            if (!draw(&scene))
                continue;
            const Rect at = view_layout(view, &scene).picture[VIEW_OUTPUT];
            int wrong = 0;
            for (int y = at.y; y < at.y + at.height; y++)
                for (int x = at.x; x < at.x + at.width; x++)
                    wrong += memcmp(pixel_at(x, y), pixel_at(at.x, at.y), 4) != 0;
            CHECK(!wrong, "%s, %d x %d: %d pixels differ", quality_name(quality), sizes[i][0],
                  sizes[i][1], wrong);
        }
    }
}

/* A checkerboard of black and white becomes an even gray. */
VIEW_TEST(fine_pattern_made_smaller)
{
    /* Allowed deviation. Near the original size, a linear filter cannot do better. */
    static const struct {
        int side, fast, best;
    } cases[] = {{160, 40, 8}, {128, 2, 2}, {100, 20, 2}, {64, 2, 2}, {37, 10, 2}};
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(256, 256, 16);
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < 256; x++)
            put_code(frame, 0, x, y, (x + y) % 2 ? 235 : 16);
    for (int quality = FAST; quality <= BEST; quality++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const int side = cases[i].side;
            open_as(quality);
            if (!draw_frame(frame, side, side))
                continue;
            int low = 255, high = 0;
            for (int y = 2; y < side - 2; y++) /* the border lacks neighbours on one side */
                for (int x = 2; x < side - 2; x++) {
                    low = pixel_at(x, y)[1] < low ? pixel_at(x, y)[1] : low;
                    high = pixel_at(x, y)[1] > high ? pixel_at(x, y)[1] : high;
                }
            const int may = quality == FAST ? cases[i].fast : cases[i].best;
            CHECK(low >= 127 - may && high <= 128 + may, "%s, %d x %d: %d to %d",
                  quality_name(quality), side, side, low, high);
        }
}

VIEW_TEST(edge_made_larger)
{
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(32, 32, 60);
    for (int y = 0; y < 32; y++)
        for (int x = 16; x < 32; x++)
            put_code(frame, 0, x, y, 190);
    const int low = shown_level(60), high = shown_level(190), may = (high - low) / 10;
    for (int quality = FAST; quality <= BEST; quality++) {
        open_as(quality);
        if (!draw_frame(frame, 320, 320))
            continue;
        int falls = 0, outside = 0, blurred = 0;
        for (int x = 1; x < 320; x++) {
            const int level = pixel_at(x, 160)[1], before = pixel_at(x - 1, 160)[1];
            falls += level < before - (quality == BEST ? may : 0);
            outside += level < low - may || level > high + may;
            blurred += level > low + may && level < high - may;
        }
        CHECK(!falls && !outside, "%s: falls %d times, %d pixels outside", quality_name(quality),
              falls, outside);
        CHECK(blurred <= 10, "%s: %d pixels are blurred", quality_name(quality), blurred);
    }
}

/* At its own size a picture is the same in both qualities, even after it had other sizes. */
VIEW_TEST(same_size_is_exact)
{
    static uint8_t first[99 * 55 * 4];
    static const int others[][2] = {{99, 55}, {640, 360}, {99, 55}, {50, 30}, {99, 55}};
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV444P, 99, 55);
    CheckRandom random = check_random(3);
    for (int comp = 0; comp < 3; comp++)
        for (int y = 0; y < 55; y++)
            for (int x = 0; x < 99; x++)
                put_code(frame, comp, x, y, 60 + check_below(&random, 120));
    for (int quality = FAST; quality <= BEST; quality++) {
        open_as(quality);
        for (int i = 0; i < 5; i++) {
            if (!draw_frame(frame, others[i][0], others[i][1]) || others[i][0] != 99)
                continue;
            if (quality == FAST && i == 0)
                memcpy(first, drawn, sizeof(first));
            CHECK(!memcmp(first, drawn, sizeof(first)), "%s, draw %d differs",
                  quality_name(quality), i);
        }
    }
}

/* ---- pictures without a window ---- */

VIEW_TEST(picture_alone)
{
    static uint8_t pixels[400 * 400 * 4];
    FREED_BY(av_frame_free) AVFrame *frame = quarter_frame();
    int32_t matrix[9];
    int width, height;
    display_matrix(&turns[4], matrix);
    frame->sample_aspect_ratio = (AVRational){2, 1};
    CHECK(view_render_picture(view, VIEW_OUTPUT, &(Canvas){pixels, 16, 4, 4}, fresh_error()) < 0,
          "a picture is rendered without a frame");
    turn_frame(frame, matrix);
    show(VIEW_OUTPUT, frame);
    view_picture_size(view, VIEW_OUTPUT, &width, &height);
    CHECK(width == 32 && height == 96, "%d x %d", width, height);
    view_picture_size(view, VIEW_INPUT, &width, &height);
    CHECK(width == 0 && height == 0, "no picture is %d x %d", width, height);

    const Canvas canvas = {pixels, 40 * 4, 32, 96};
    memset(pixels, 0x55, sizeof(pixels));
    CHECK(view_render_picture(view, VIEW_OUTPUT, &canvas, fresh_error()) == 0, "%s",
          fixture_error.text);
    for (int i = 0; i < 4; i++) {
        const uint8_t *pixel = pixels + (24 + i / 2 * 48) * 160 + (8 + i % 2 * 16) * 4;
        CHECK(is_gray(pixel, shown_level(quarters[turns[4].quarter[i]]), 1) && pixel[3] == 255,
              "quarter %d is %d, alpha %d", i, pixel[0], pixel[3]);
    }
    CHECK(pixels[32 * 4] == 0x55, "it writes beyond its rows");
}

VIEW_TEST(sizes)
{
    enum { MAX_TEXTURE_SIZE = 0x0D33 };
    int limit;
    void (*get)(unsigned name, int *value);
    void *function = SDL_GL_GetProcAddress("glGetIntegerv");
    memcpy(&get, &function, sizeof(get));
    get(MAX_TEXTURE_SIZE, &limit);
    AVFrame *frame = gray_frame(8, 8, 150);
    if (draw_frame(frame, 640, 360))
        CHECK(is_all((Rect){140, 0, 360, 360}, shown_level(150), 1), "8 x 8 is not whole");
    av_frame_free(&frame);

    frame = gray_frame(limit, 8, 150);
    const ViewScene scene = whole_scene(128, 72);
    for (int quality = FAST; quality <= BEST; quality++) {
        open_as(quality);
        if (show(VIEW_OUTPUT, frame) && draw(&scene))
            CHECK(is_all(view_layout(view, &scene).picture[VIEW_OUTPUT], shown_level(150), 1),
                  "the widest frame");
    }
    av_frame_free(&frame);

    char number[16];
    snprintf(number, sizeof(number), "%d", limit);
    frame = gray_frame(limit + 2, 8, 150);
    CHECK(view_set_frame(view, VIEW_OUTPUT, frame, fresh_error()) < 0 &&
              strstr(fixture_error.text, number),
          "too wide a frame: %s", fixture_error.text);
    if (draw(&scene))
        CHECK(is_all((Rect){0, 0, 128, 72}, 0, 0), "the previous frame is still shown");
    av_frame_free(&frame);
}

/* ---- uploads to textures ---- */

static int uploads; /* planes that the uploader saw */

static int refuse_planes(void *opaque, const ViewPlane *planes, int count, MediaError *error)
{
    for (int i = 0; i < count; i++)
        CHECK(planes[i].bytes_per_row >= planes[i].width && planes[i].texture && planes[i].data,
              "an empty plane");
    uploads += count;
    if (*(const int *)opaque < 0)
        media_fail(error, MEDIA_INPUT, "no way");
    return *(const int *)opaque;
}

/* An uploader that fails, or leaves the planes to the ordinary path. */
VIEW_TEST(refusing_uploader)
{
    int answer = -1;
    const ViewUploader uploader = {refuse_planes, NULL, &answer};
    view_set_uploader(view, &uploader);
    FREED_BY(av_frame_free) AVFrame *frame = gray_frame(64, 36, 120);
    CHECK(view_set_frame(view, VIEW_OUTPUT, frame, fresh_error()) < 0 &&
              !strcmp(fixture_error.text, "no way"),
          "%s", fixture_error.text);
    answer = 1;
    if (draw_frame(frame, 64, 36))
        CHECK(is_all((Rect){0, 0, 64, 36}, shown_level(120), 1), "refused planes are not shown");
    CHECK(uploads == 6, "%d planes were seen", uploads);
    view_set_uploader(view, NULL);
    if (draw_frame(frame, 64, 36))
        CHECK(uploads == 6 && is_all((Rect){0, 0, 64, 36}, shown_level(120), 1),
              "an uploader that was removed is used");
}

/* ---- the window itself ---- */

typedef void (*ReadPixels)(int x, int y, int width, int height, unsigned format, unsigned type,
                           void *pixels);

/* The window shows what view_read() returns, the right way up. */
VIEW_TEST(window_is_what_is_read)
{
    static uint8_t pixels[640 * 360 * 4];
    int width, height;
    ReadPixels read_pixels;
    void *function = SDL_GL_GetProcAddress("glReadPixels");
    memcpy(&read_pixels, &function, sizeof(function));
    window_size(fixture_window, &width, &height);
    if (!CHECK(width == 640 && height == 360, "%d x %d", width, height))
        return;
    FREED_BY(av_frame_free) AVFrame *in = quarter_frame();
    show(VIEW_INPUT, in);
    show_gray(VIEW_OUTPUT, 120);
    ViewScene scene = whole_scene(640, 360);
    scene.area = (Rect){10, 0, 600, 340};
    scene.compare = VIEW_COMPARE_SPLIT;
    scene.split = 0.7;
    draw(&scene);
    CHECK(view_draw(view, &scene, fresh_error()) == 0, "%s", fixture_error.text);
    read_pixels(0, 0, 640, 360, 0x1908, 0x1401, pixels); /* GL_RGBA, GL_UNSIGNED_BYTE */
    int wrong = 0;
    for (int y = 0; y < 360; y++)
        for (int x = 0; x < 640; x++)
            for (int c = 0; c < 3; c++)
                wrong += abs(pixel_at(x, y)[c] - pixels[((359 - y) * 640 + x) * 4 + c]) > 1;
    CHECK(!wrong, "%d components differ", wrong);
    window_swap(fixture_window);
}

VIEW_TEST(window_state)
{
    CHECK(strstr(view_renderer(view), ", OpenGL "), "renderer '%s'", view_renderer(view));
    CHECK(window_density(fixture_window) >= 1, "density %f", window_density(fixture_window));
    window_set_title(fixture_window, "\xC3\xA4");
    window_show(fixture_window);
    window_keep_awake(fixture_window, 1);
    CHECK(!SDL_IsScreenSaverEnabled(), "the screen may sleep");
    window_keep_awake(fixture_window, 0);
    CHECK(SDL_IsScreenSaverEnabled(), "the screen may not sleep");
}

int main(int argc, char **argv)
{
    return check_and_close(argc, argv);
}
