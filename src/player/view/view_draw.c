#include <math.h>

#include "player/view/view_state.h"
#include "player/why.h"

/* The line of a split: bright between dark edges, so that it is seen on any picture. Parts of the
 * picture's shorter side are the width of an edge and the diameter of the handle. */
#define EDGE_PART 1440
#define HANDLE_PART 32
#define MIN_HANDLE 16
#define MAX_HANDLE 192
#define LINE_BRIGHT 0xF0F0F0
#define LINE_DARK 0x101010

static Rect intersect(Rect a, Rect b)
{
    const int left = a.x > b.x ? a.x : b.x, top = a.y > b.y ? a.y : b.y;
    const int right = a.x + a.width < b.x + b.width ? a.x + a.width : b.x + b.width;
    const int bottom = a.y + a.height < b.y + b.height ? a.y + a.height : b.y + b.height;
    if (right <= left || bottom <= top)
        return (Rect){0};
    return (Rect){left, top, right - left, bottom - top};
}

static ViewQuality quality_of(const View *v)
{
    if (v->quality == VIEW_QUALITY_AUTO)
        return v->software ? VIEW_QUALITY_FAST : VIEW_QUALITY_BEST;
    return v->quality;
}

/* ---- the split ---- */

/* How much of a pixel lies within `radius` of the centre, 0 to 255. */
static int disc_cover(double x, double y, double radius)
{
    const double distance = radius - sqrt(x * x + y * y) + 0.5;
    return distance <= 0 ? 0 : distance >= 1 ? 255 : (int)(distance * 255);
}

/* Two arrow heads, one to each side. */
static int is_arrow(double x, double y, double radius)
{
    const double across = fabs(x) / radius, down = fabs(y) / radius;
    return across >= 0.2 && across + down * 0.9 <= 0.68;
}

static void draw_handle(const Canvas *canvas)
{
    const double radius = canvas->width / 2.0;
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            const double dx = x + 0.5 - radius, dy = y + 0.5 - radius;
            canvas_blend(canvas, x, y, LINE_DARK, disc_cover(dx, dy, radius - 0.5));
            canvas_blend(canvas, x, y, LINE_BRIGHT, disc_cover(dx, dy, radius * 0.88));
            if (is_arrow(dx, dy, radius))
                canvas_blend(canvas, x, y, LINE_DARK, 255);
        }
}

static int set_handle(View *v, int side, char *why, size_t size)
{
    if (v->handle.width == side)
        return 0;
    static uint8_t pixels[MAX_HANDLE * MAX_HANDLE * 4];
    memset(pixels, 0, sizeof(pixels));
    const Canvas canvas = {pixels, side * (ptrdiff_t)4, side, side};
    draw_handle(&canvas);
    v->handle.opacity = 1;
    return layer_set(&v->gl, &v->handle, &canvas, why, size);
}

static int draw_line(View *v, const ViewScene *scene, const Target *target, Rect place, int column,
                     char *why, size_t size)
{
    const Gl *gl = &v->gl;
    const int shorter = place.width < place.height ? place.width : place.height;
    const int edge = shorter / EDGE_PART + 1, wanted = shorter / HANDLE_PART;
    const int side = wanted < MIN_HANDLE ? MIN_HANDLE : wanted > MAX_HANDLE ? MAX_HANDLE : wanted;
    const Rect line = {column - edge, place.y, edge * 2, place.height};
    const Rect dark = {line.x - edge, place.y, line.width + edge * 2, place.height};
    target_fill(gl, target, intersect(dark, scene->area), LINE_DARK);
    target_fill(gl, target, intersect(line, scene->area), LINE_BRIGHT);
    if (set_handle(v, side, why, size) < 0)
        return -1;
    const Program *program = programs_use_layer(&v->programs, why, size);
    if (!program)
        return -1;
    v->handle.x = column - side / 2;
    v->handle.y = place.y + place.height / 2 - side / 2;
    target_use(gl, target, scene->area);
    gl->BindSampler(0, v->nearest);
    layer_draw(gl, &v->handle, program, target);
    return 0;
}

/* ---- all of it ---- */

static Rect side_of_split(ViewSide side, Rect place, int column)
{
    if (side == VIEW_INPUT)
        return (Rect){place.x, place.y, column - place.x, place.height};
    return (Rect){column, place.y, place.x + place.width - column, place.height};
}

static int draw_pictures(View *v, const ViewScene *scene, const Target *target, char *why,
                         size_t size)
{
    const ViewPlaces places = view_layout(v, scene);
    const int both = v->picture[VIEW_INPUT].shown && v->picture[VIEW_OUTPUT].shown;
    const int split = both && scene->compare == VIEW_COMPARE_SPLIT;
    const int column = view_split_column(&places, scene->split);
    for (int side = 0; side < VIEW_SIDES; side++) {
        const Rect place = places.picture[side];
        const Rect clip = split ? side_of_split(side, place, column) : place;
        if (clip.width > 0 && clip.height > 0 &&
            view_draw_picture(v, side, target, place, clip, quality_of(v), why, size) < 0)
            return -1;
    }
    return split ? draw_line(v, scene, target, places.picture[VIEW_OUTPUT], column, why, size) : 0;
}

static int draw_layers(View *v, const Target *target, char *why, size_t size)
{
    const Gl *gl = &v->gl;
    const Program *program = programs_use_layer(&v->programs, why, size);
    if (!program)
        return -1;
    target_use(gl, target, (Rect){0, 0, target->width, target->height});
    gl->BindSampler(0, v->nearest);
    for (int i = 0; i < VIEW_LAYERS; i++)
        layer_draw(gl, &v->layer[i], program, target);
    return 0;
}

static int draw_scene(View *v, const ViewScene *scene, const Target *target, char *why, size_t size)
{
    const Rect all = {0, 0, target->width, target->height};
    target_use(&v->gl, target, all);
    target_fill(&v->gl, target, all, 0x000000);
    if (draw_pictures(v, scene, target, why, size) < 0 || draw_layers(v, target, why, size) < 0)
        return -1;
    return gl_check(&v->gl, "drawing", why, size);
}

int view_draw(View *v, const ViewScene *scene, char *why, size_t size)
{
    const Target window = {0, scene->width, scene->height, 0};
    if (window.width <= 0 || window.height <= 0)
        return 0; /* minimized */
    const int ret = draw_scene(v, scene, &window, why, size);
    v->gl.Flush(); /* not every swap does, and drawing would begin with the next upload only */
    return ret;
}

static int make_memory(View *v, int width, int height, char *why, size_t size)
{
    if (width <= 0 || height <= 0 || width > v->max_size || height > v->max_size)
        return why_fail(why, size, "a picture of %dx%d cannot be drawn (OpenGL's limit is %d)",
                        width, height, v->max_size);
    return scratch_make(&v->gl, &v->memory, GL_RGBA8, width, height, why, size);
}

int view_read(View *v, const ViewScene *scene, const Canvas *canvas, char *why, size_t size)
{
    if (canvas->width != scene->width || canvas->height != scene->height)
        return why_fail(why, size, "the canvas does not have the size of the scene");
    if (make_memory(v, scene->width, scene->height, why, size) < 0)
        return -1;
    const Target target = scratch_target(&v->memory);
    if (draw_scene(v, scene, &target, why, size) < 0)
        return -1;
    return target_read(&v->gl, &target, canvas, why, size);
}

int view_render_picture(View *v, ViewSide side, const Canvas *canvas, char *why, size_t size)
{
    if (!v->picture[side].shown)
        return why_fail(why, size, "there is no picture");
    if (make_memory(v, canvas->width, canvas->height, why, size) < 0)
        return -1;
    const Target target = scratch_target(&v->memory);
    const Rect all = {0, 0, canvas->width, canvas->height};
    if (view_draw_picture(v, side, &target, all, all, VIEW_QUALITY_BEST, why, size) < 0)
        return -1;
    return target_read(&v->gl, &target, canvas, why, size);
}
