#include "player/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "player/view/view_colour.h"
#include "player/view/view_target.h"
#include "player/view/view_planes.h"
#include "player/view/view_shaders.h"
#include "player/why.h"

/* Gap between two pictures: a fraction of the area's longer side, at least MIN_GAP pixels. */
#define GAP_PART 320
#define MIN_GAP 4

/* Intermediate RGB format: more precise than the screen, same memory as RGBA8. */
#define SCRATCH_FORMAT GL_RGB10_A2

/* From this zoom on samples are shown as squares. */
#define BLOCK_ZOOM 3

/* Maximum samples averaged per direction; more would compile slowly. */
#define MAX_TAPS 8

/* The split line is bright with dark edges so that it is visible on any picture. Edge width and
 * handle diameter are fractions of the picture's shorter side. */
#define EDGE_PART 1440
#define HANDLE_PART 32
#define MIN_HANDLE 16
#define MAX_HANDLE 192
#define LINE_BRIGHT 0xF0F0F0
#define LINE_DARK 0x101010

typedef struct ViewPicture {
    int shown; /* a frame is set */
    PictureFormat format;
    ViewColour colour;
} ViewPicture;

struct View {
    Gl gl;
    char renderer[256];
    int software;
    int max_size;
    GLuint vertices;        /* empty vertex array; core profiles require one */
    GLuint nearest, linear; /* samplers */
    Programs programs;
    Planes planes;
    ViewPicture picture[VIEW_SIDES];
    int mirrored;
    Layer layer[VIEW_LAYERS], handle;
    Scratch upright, across; /* the picture as RGB, and after scaling in one direction */
    Scratch memory;          /* target for reading back */
};

/* ---- picture layout ---- */

/* The picture's orientation on the screen, mirror included. */
static PictureTurn turn_of(const View *view, ViewSide side)
{
    const PictureFormat *format = &view->picture[side].format;
    PictureTurn turn = format->has_turn ? format->turn : picture_upright();
    if (view->mirrored) {
        turn.xx = -turn.xx;
        turn.xy = -turn.xy;
    }
    return turn;
}

/* The picture's stored size after rotation. */
static void upright_size(const View *view, ViewSide side, int *width, int *height)
{
    const PictureFormat *format = &view->picture[side].format;
    const int across = turn_of(view, side).xx == 0;
    *width = across ? format->height : format->width;
    *height = across ? format->width : format->height;
}

static int stretched(int length, double by, int limit)
{
    return (int)fmin(fmax(floor(length * by + 0.5), 1), limit);
}

void view_picture_size(const View *view, ViewSide side, int *width, int *height)
{
    *width = *height = 0;
    if (!view->picture[side].shown)
        return;
    upright_size(view, side, width, height);
    const double pixel = view->picture[side].format.aspect;
    const double aspect = turn_of(view, side).xx == 0 ? 1 / pixel : pixel;
    if (aspect > 1)
        *width = stretched(*width, aspect, view->max_size);
    else
        *height = stretched(*height, 1 / aspect, view->max_size);
}

static Rect fit(int width, int height, Rect area)
{
    if (width <= 0 || height <= 0 || area.width <= 0 || area.height <= 0)
        return (Rect){0};
    const double share = fmin((double)area.width / width, (double)area.height / height);
    const int across = stretched(width, share, area.width);
    const int down = stretched(height, share, area.height);
    return (Rect){area.x + (area.width - across) / 2, area.y + (area.height - down) / 2, across,
                  down};
}

/* Splits the area into two halves. */
static void halve(Rect area, int across, Rect half[2])
{
    const int longer = area.width > area.height ? area.width : area.height;
    const int gap = longer / GAP_PART > MIN_GAP ? longer / GAP_PART : MIN_GAP;
    half[0] = half[1] = area;
    if (across) {
        half[0].width = half[1].width = (area.width - gap) / 2;
        half[1].x = area.x + area.width - half[1].width;
    } else {
        half[0].height = half[1].height = (area.height - gap) / 2;
        half[1].y = area.y + area.height - half[1].height;
    }
}

/* Start of a picture of this length in an area; see ViewZoom for `middle`. */
static int zoomed(int begin, int size, int length, double middle)
{
    const double from = begin + size / 2.0 - (middle + 0.5) * length;
    if (length <= size)
        return begin + (size - length) / 2;
    return (int)fmin(fmax(floor(from + 0.5), begin + size - length), begin);
}

static Rect intersect(Rect a, Rect b)
{
    const int left = a.x > b.x ? a.x : b.x, top = a.y > b.y ? a.y : b.y;
    const int right = a.x + a.width < b.x + b.width ? a.x + a.width : b.x + b.width;
    const int bottom = a.y + a.height < b.y + b.height ? a.y + a.height : b.y + b.height;
    if (right <= left || bottom <= top)
        return (Rect){0};
    return (Rect){left, top, right - left, bottom - top};
}

static void lay_one(ViewPlaces *places, int side, int width, int height, Rect area, ViewZoom zoom)
{
    Rect whole = fit(width, height, area);
    if (zoom.by > 1 && whole.width > 0) {
        const double by = fmin(zoom.by, VIEW_MAX_ZOOM);
        whole.width = (int)floor(whole.width * by + 0.5);
        whole.height = (int)floor(whole.height * by + 0.5);
        whole.x = zoomed(area.x, area.width, whole.width, zoom.x);
        whole.y = zoomed(area.y, area.height, whole.height, zoom.y);
    }
    places->area[side] = area;
    places->whole[side] = whole;
    places->picture[side] = intersect(whole, area);
}

static void lay_both(ViewPlaces *places, int width, int height, const ViewScene *scene)
{
    Rect beside[2], above[2];
    halve(scene->area, 1, beside);
    halve(scene->area, 0, above);
    const int is_wider = fit(width, height, beside[0]).width >= fit(width, height, above[0]).width;
    const Rect *half = is_wider ? beside : above;
    for (int side = 0; side < VIEW_SIDES; side++)
        lay_one(places, side, width, height, half[side], scene->zoom);
}

ViewPlaces view_layout(const View *view, const ViewScene *scene)
{
    ViewPlaces places = {0};
    int width, height;
    const int both = view->picture[VIEW_INPUT].shown && view->picture[VIEW_OUTPUT].shown;
    if (both && scene->compare == VIEW_COMPARE_SIDE) {
        view_picture_size(view, VIEW_OUTPUT, &width, &height);
        lay_both(&places, width, height, scene);
        return places;
    }
    for (int side = 0; side < VIEW_SIDES; side++)
        if (scene->compare != VIEW_COMPARE_OFF || side == (int)scene->shown) {
            view_picture_size(view, side, &width, &height);
            lay_one(&places, side, width, height, scene->area, scene->zoom);
        }
    return places;
}

/* The zoom centre for a picture that begins at `from`, clamped. */
static double middle_of(int begin, int size, double from, double length)
{
    const double most = length > size ? 0.5 - size / (2 * length) : 0;
    const double middle = length > 0 ? (begin + size / 2.0 - from) / length - 0.5 : 0;
    return fmin(fmax(middle, -most), most);
}

static ViewZoom zoom_to(Rect area, double x, double y, double by, double width, double height)
{
    return (ViewZoom){by, middle_of(area.x, area.width, x, width),
                      middle_of(area.y, area.height, y, height)};
}

static int is_inside(Rect area, int x, int y)
{
    return x >= area.x && y >= area.y && x < area.x + area.width && y < area.y + area.height;
}

/* Window pixels per picture pixel at the fitted size. */
static double fitted_pixels(const View *view, const ViewScene *scene, int side)
{
    int width, height;
    ViewScene whole = *scene;
    whole.zoom = (ViewZoom){0};
    view_picture_size(view, (ViewSide)side, &width, &height);
    return width > 0 ? (double)view_layout(view, &whole).whole[side].width / width : 0;
}

ViewZoom view_zoom(const View *view, const ViewScene *scene, double times, int x, int y,
                   double *pixels)
{
    const ViewPlaces places = view_layout(view, scene);
    const int side = is_inside(places.area[VIEW_INPUT], x, y) ? VIEW_INPUT : VIEW_OUTPUT;
    const double fitted = fitted_pixels(view, scene, side), now = fmax(scene->zoom.by, 1);
    const double before = fitted * now, after = fmin(before * times, VIEW_MAX_PIXELS);
    const Rect whole = places.whole[side];
    const int passes = (before < 1 && after > 1) || (before > 1 && after < 1 && after > 0);
    *pixels = 1;
    if (fitted <= 0)
        return scene->zoom;
    const double by = fmin(fmax((passes ? 1 : after) / fitted, 1), VIEW_MAX_ZOOM);
    *pixels = fitted * by;
    return zoom_to(places.area[side], x - (x - whole.x) * by / now, y - (y - whole.y) * by / now,
                   by, whole.width * by / now, whole.height * by / now);
}

ViewZoom view_pan(const View *view, const ViewScene *scene, int x, int y)
{
    const ViewPlaces places = view_layout(view, scene);
    const Rect whole = places.whole[VIEW_OUTPUT];
    return zoom_to(places.area[VIEW_OUTPUT], whole.x + x, whole.y + y, fmax(scene->zoom.by, 1),
                   whole.width, whole.height);
}

/* Converts a position relative to the picture's centre to stored coordinates, 0..1. */
static void find_stored(PictureTurn turn, double x, double y, double *column, double *row)
{
    *column = turn.xx * x + turn.yx * y + 0.5;
    *row = turn.xy * x + turn.yy * y + 0.5;
}

static void find_range(double a, double b, int count, int *from, int *size)
{
    const double begin = fmin(fmax(fmin(a, b), 0), 1) * count;
    const double end = fmin(fmax(fmax(a, b), 0), 1) * count;
    *from = (int)floor(begin + 0.5);
    *size = (int)floor(end + 0.5) - *from;
}

Rect view_find(const View *view, const ViewScene *scene, Rect part)
{
    const ViewSide side = scene->compare == VIEW_COMPARE_OFF ? scene->shown : VIEW_OUTPUT;
    const Rect whole = view_layout(view, scene).whole[side];
    const PictureFormat *format = &view->picture[side].format;
    const PictureTurn turn = turn_of(view, side);
    double left, top, right, bottom;
    Rect found = {0};
    if (whole.width <= 0 || whole.height <= 0)
        return found;
    find_stored(turn, (double)(part.x - whole.x) / whole.width - 0.5,
                (double)(part.y - whole.y) / whole.height - 0.5, &left, &top);
    find_stored(turn, (double)(part.x + part.width - whole.x) / whole.width - 0.5,
                (double)(part.y + part.height - whole.y) / whole.height - 0.5, &right, &bottom);
    find_range(left, right, format->width, &found.x, &found.width);
    find_range(top, bottom, format->height, &found.y, &found.height);
    return found.width > 0 && found.height > 0 ? found : (Rect){0};
}

int view_split_column(const ViewPlaces *places, double split)
{
    const Rect *place = &places->picture[VIEW_OUTPUT];
    const double inside = fmin(fmax(split, 0), 1);
    return place->x + (int)floor(inside * place->width + 0.5);
}

/* ---- one picture ---- */

/* True if samples are shown unfiltered: at the picture's own size, or at a high zoom. */
static int is_as_it_is(const View *view, ViewSide side, Rect place)
{
    int width, height;
    upright_size(view, side, &width, &height);
    return (width == place.width && height == place.height) ||
           (place.width >= BLOCK_ZOOM * width && place.height >= BLOCK_ZOOM * height);
}

static void set_place(const Gl *gl, const Program *program, const Target *target, Rect place)
{
    float clip_space[4];
    target_place(target, place, clip_space);
    gl->Uniform4f(program->at.place, clip_space[0], clip_space[1], clip_space[2], clip_space[3]);
}

/* Screen to stored orientation: the inverse of a rotation is its transpose. Column-major. */
static void set_turn(const Gl *gl, const Program *program, PictureTurn turn)
{
    const float back[4] = {(float)turn.xx, (float)turn.xy, (float)turn.yx, (float)turn.yy};
    gl->UniformMatrix2fv(program->at.turn, 1, GL_FALSE, back);
}

/* Chroma sample i lies `site` * (sub - 1) luma samples right of luma sample i * sub; for an odd
 * luma size the last chroma sample is only partly covered. */
static void chroma_axis(int luma, int chroma, int sub, double site, float *scale, float *shift)
{
    *scale = (float)((double)luma / ((double)sub * chroma));
    *shift = (float)((0.5 - (0.5 + site * (sub - 1)) / sub) / chroma);
}

static void set_chroma(const Gl *gl, const Program *program, const PictureFormat *f)
{
    float scale[2], shift[2];
    chroma_axis(f->width, f->plane[1].width, f->sub_x, f->chroma_x, &scale[0], &shift[0]);
    chroma_axis(f->height, f->plane[1].height, f->sub_y, f->chroma_y, &scale[1], &shift[1]);
    gl->Uniform2f(program->at.chroma_scale, scale[0], scale[1]);
    gl->Uniform2f(program->at.chroma_shift, shift[0], shift[1]);
}

static void set_colour(const Gl *gl, const Program *program, const ViewColour *colour)
{
    gl->UniformMatrix3fv(program->at.matrix, 1, GL_FALSE, colour->matrix);
    gl->Uniform3fv(program->at.offset, 1, colour->offset);
    gl->UniformMatrix3fv(program->at.gamut, 1, GL_FALSE, colour->gamut);
    gl->Uniform3fv(program->at.tone, 1, colour->tone);
}

static ProgramLight light_of(const PictureFormat *f)
{
    switch (f->transfer) {
    case PICTURE_PQ: return LIGHT_PQ;
    case PICTURE_HLG: return LIGHT_HLG;
    default: return f->wide_gamut ? LIGHT_GAMUT : LIGHT_AS_IS;
    }
}

/* Samples to average so that they cover one screen pixel. */
static int taps(int from, int to)
{
    return (int)fmin(fmax(floor((double)from / to + 0.5), 1), MAX_TAPS);
}

/* The taps of one plane; `across`: rotated by 90 degrees. */
static void set_taps(PicturePlane plane, Rect place, int across, int count[2])
{
    count[0] = taps(across ? plane.height : plane.width, place.width);
    count[1] = taps(across ? plane.width : plane.height, place.height);
}

static PictureKind kind_of(const PictureFormat *f, Rect place, int across)
{
    PictureKind kind = {
        .planes = f->planes, .light = light_of(f), .luma_taps = {1, 1}, .chroma_taps = {1, 1}};
    set_taps(f->plane[0], place, across, kind.luma_taps);
    if (f->planes > 1)
        set_taps(f->plane[1], place, across, kind.chroma_taps);
    return kind;
}

/* Distance between taps in texture coordinates; column-major. */
static void set_step(const Gl *gl, GLint uniform, PictureTurn turn, Rect place, const int count[2])
{
    const float across = 1 / ((float)place.width * (float)count[0]);
    const float down = 1 / ((float)place.height * (float)count[1]);
    const float step[4] = {(float)turn.xx * across, (float)turn.xy * across, (float)turn.yx * down,
                           (float)turn.yy * down};
    gl->UniformMatrix2fv(uniform, 1, GL_FALSE, step);
}

/* Converts planes to R'G'B' in their orientation, scaled linearly to `place`. */
static int draw_planes(View *v, ViewSide side, const Target *target, Rect place, char *why,
                       size_t size)
{
    const Gl *gl = &v->gl;
    const PictureFormat *f = &v->picture[side].format;
    const PictureTurn turn = turn_of(v, side);
    const PictureKind kind = kind_of(f, place, turn.xx == 0);
    const Program *program = programs_use_picture(&v->programs, &kind, why, size);
    if (!program)
        return -1;
    set_place(gl, program, target, place);
    set_turn(gl, program, turn);
    set_step(gl, program->at.luma_step, turn, place, kind.luma_taps);
    set_step(gl, program->at.chroma_step, turn, place, kind.chroma_taps);
    if (f->planes > 1)
        set_chroma(gl, program, f);
    set_colour(gl, program, &v->picture[side].colour);
    planes_bind(&v->planes, side, f->planes);
    gl->BindSampler(0, is_as_it_is(v, side, place) ? v->nearest : v->linear);
    gl->Disable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return 0;
}

/* Scales along one axis. */
static int draw_scaled(View *v, const Scratch *from, const Target *target, Rect place, int axis,
                       char *why, size_t size)
{
    const Gl *gl = &v->gl;
    const Program *program = programs_use_scale(&v->programs, why, size);
    if (!program)
        return -1;
    const double ratio =
        axis ? (double)from->height / place.height : (double)from->width / place.width;
    set_place(gl, program, target, place);
    set_turn(gl, program, picture_upright());
    gl->Uniform1i(program->at.axis, axis);
    gl->Uniform1f(program->at.ratio, (float)ratio);
    gl->BindTexture(GL_TEXTURE_2D, from->texture);
    gl->BindSampler(0, v->nearest);
    gl->Disable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return 0;
}

/* Three passes: to R'G'B' in the scratch's size, then horizontal scaling, then vertical scaling
 * into place. */
static int draw_in_passes(View *v, ViewSide side, const Target *target, Rect place, Rect clip,
                          char *why, size_t size)
{
    const Gl *gl = &v->gl;
    const Rect upright = {0, 0, v->upright.width, v->upright.height};
    const Rect across = {0, 0, v->across.width, v->across.height};
    const Target first = scratch_target(&v->upright), second = scratch_target(&v->across);
    target_use(gl, &first, upright);
    if (draw_planes(v, side, &first, upright, why, size) < 0)
        return -1;
    target_use(gl, &second, across);
    if (draw_scaled(v, &v->upright, &second, across, 0, why, size) < 0)
        return -1;
    target_use(gl, target, clip);
    return draw_scaled(v, &v->across, target, place, 1, why, size);
}

/* Returns 0 if the textures do not fit into memory: 16384 x 16384 pixels take 1 GiB. */
static int make_scratches(View *v, int width, int height, int scaled_width)
{
    char ignored[1];
    return scratch_make(&v->gl, &v->upright, SCRATCH_FORMAT, width, height, ignored,
                        sizeof(ignored)) == 0 &&
           scratch_make(&v->gl, &v->across, SCRATCH_FORMAT, scaled_width, height, ignored,
                        sizeof(ignored)) == 0;
}

/* Averages whole pixels during conversion while the picture stays larger than its place: much
 * cheaper than a very wide cubic filter, and hardly worse. */
static int reduced(int length, int to)
{
    const int whole = length / to < MAX_TAPS ? length / to : MAX_TAPS;
    return whole > 1 ? (length + whole / 2) / whole : length;
}

/* Draws one side's picture into `place`, clipped to `clip`. `best`: bicubic (Catmull-Rom), widened
 * for downscaling; else one pass with linear filtering or averaging. Zoomed pictures take one pass
 * because the others would also process invisible parts. */
static int draw_picture(View *v, ViewSide side, const Target *target, Rect place, Rect clip,
                        int best, char *why, size_t size)
{
    int width, height;
    upright_size(v, side, &width, &height);
    width = reduced(width, place.width);
    height = reduced(height, place.height);
    const int is_zoomed = place.width > target->width || place.height > target->height;
    if (best && !is_zoomed && (width != place.width || height != place.height) &&
        make_scratches(v, width, height, place.width))
        return draw_in_passes(v, side, target, place, clip, why, size);
    target_use(&v->gl, target, clip);
    return draw_planes(v, side, target, place, why, size);
}

/* ---- the split ---- */

/* Coverage of a pixel by a disc, 0 to 255. */
static int disc_cover(double x, double y, double radius)
{
    const double distance = radius - sqrt(x * x + y * y) + 0.5;
    return distance <= 0 ? 0 : distance >= 1 ? 255 : (int)(distance * 255);
}

/* True inside the handle's two arrow heads. */
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

/* Bright with dark edges, like the split line. */
static void draw_mark(View *v, const Target *target, Rect mark, int side)
{
    const Rect sides[] = {{mark.x - side, mark.y - side, mark.width + 2 * side, side},
                          {mark.x - side, mark.y + mark.height, mark.width + 2 * side, side},
                          {mark.x - side, mark.y, side, mark.height},
                          {mark.x + mark.width, mark.y, side, mark.height}};
    for (int bright = 0; bright < 2; bright++)
        for (int i = 0; i < 4; i++) {
            const int edge = bright ? 0 : side;
            const Rect s = {sides[i].x - edge, sides[i].y - edge, sides[i].width + 2 * edge,
                            sides[i].height + 2 * edge};
            target_fill(&v->gl, target, s, bright ? LINE_BRIGHT : LINE_DARK);
        }
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
        const Rect seen = places.picture[side];
        const Rect clip = split ? side_of_split(side, seen, column) : seen;
        if (clip.width > 0 && clip.height > 0 &&
            draw_picture(v, side, target, places.whole[side], clip, !v->software, why, size) < 0)
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
    if (draw_pictures(v, scene, target, why, size) < 0)
        return -1;
    if (scene->mark.width > 0)
        draw_mark(v, target, scene->mark, scene->height / EDGE_PART + 1);
    if (draw_layers(v, target, why, size) < 0)
        return -1;
    return gl_check(&v->gl, "drawing", why, size);
}

int view_draw(View *v, const ViewScene *scene, char *why, size_t size)
{
    const Target window = {0, scene->width, scene->height, 0};
    if (window.width <= 0 || window.height <= 0)
        return 0; /* minimized */
    const int ret = draw_scene(v, scene, &window, why, size);
    v->gl.Flush(); /* not every swap flushes; without it drawing starts only with the next upload */
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
    if (draw_picture(v, side, &target, all, all, 1, why, size) < 0)
        return -1;
    return target_read(&v->gl, &target, canvas, why, size);
}

/* ---- opening and closing ---- */

static void ask_driver(View *v)
{
    const Gl *gl = &v->gl;
    GLint major = 0, minor = 0, texture = 0, viewport[2] = {0};
    gl->GetIntegerv(GL_MAJOR_VERSION, &major);
    gl->GetIntegerv(GL_MINOR_VERSION, &minor);
    gl->GetIntegerv(GL_MAX_TEXTURE_SIZE, &texture);
    gl->GetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    const char *name = (const char *)gl->GetString(GL_RENDERER);
    snprintf(v->renderer, sizeof(v->renderer), "%s, OpenGL %d.%d", name ? name : "unknown", major,
             minor);
    v->software = gl_is_software(v->renderer);
    v->max_size = texture < viewport[0] ? texture : viewport[0];
    v->max_size = v->max_size < viewport[1] ? v->max_size : viewport[1];
}

static GLuint make_sampler(const Gl *gl, GLint filter)
{
    GLuint sampler;
    gl->GenSamplers(1, &sampler);
    gl->SamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, filter);
    gl->SamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, filter);
    gl->SamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl->SamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return sampler;
}

/* Sets OpenGL state that never changes: nothing else draws in this context. */
static int prepare(View *v, char *why, size_t size)
{
    const Gl *gl = &v->gl;
    v->nearest = make_sampler(gl, GL_NEAREST);
    v->linear = make_sampler(gl, GL_LINEAR);
    gl->BindSampler(1, v->linear);
    gl->BindSampler(2, v->linear);
    gl->GenVertexArrays(1, &v->vertices);
    gl->BindVertexArray(v->vertices);
    gl->BlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    gl->Disable(GL_DITHER);
    return gl_check(gl, "preparing to draw", why, size);
}

int view_open(View **view, char *why, size_t size)
{
    *view = NULL;
    View *v = calloc(1, sizeof(*v));
    if (!v)
        return why_fail(why, size, "out of memory");
    if (gl_load(&v->gl, why, size) < 0) {
        free(v);
        return -1;
    }
    v->programs.gl = v->planes.gl = &v->gl;
    ask_driver(v);
    v->planes.direct = v->software;
    if (prepare(v, why, size) < 0) {
        view_close(&v);
        return -1;
    }
    *view = v;
    return 0;
}

const char *view_renderer(const View *view)
{
    return view->renderer;
}

int view_max_size(const View *view)
{
    return view->max_size;
}

void view_set_uploader(View *view, const ViewUploader *uploader)
{
    planes_set_uploader(&view->planes, uploader);
}

static int set_frame(View *v, ViewSide side, const AVFrame *frame, char *why, size_t size)
{
    ViewPicture *picture = &v->picture[side];
    if (picture_format(&picture->format, frame, why, size) < 0)
        return -1;
    if (frame->width <= 0 || frame->height <= 0 || frame->width > v->max_size ||
        frame->height > v->max_size)
        return why_fail(why, size, "a frame of %dx%d cannot be shown: OpenGL's limit here is %d",
                        frame->width, frame->height, v->max_size);
    picture->colour = view_colour(&picture->format);
    return planes_set(&v->planes, side, &picture->format, frame, why, size);
}

int view_set_frame(View *view, ViewSide side, const AVFrame *frame, char *why, size_t size)
{
    const int ret = frame ? set_frame(view, side, frame, why, size) : 0;
    view->picture[side].shown = frame && ret == 0;
    if (!view->picture[side].shown)
        planes_unset(&view->planes, side);
    return ret;
}

void view_set_mirror(View *view, int mirrored)
{
    view->mirrored = mirrored;
}

int view_set_layer(View *view, ViewLayer layer, const Canvas *canvas, int x, int y, double opacity,
                   char *why, size_t size)
{
    if (canvas && (canvas->width > view->max_size || canvas->height > view->max_size))
        return why_fail(why, size, "a layer of %dx%d cannot be shown: OpenGL's limit here is %d",
                        canvas->width, canvas->height, view->max_size);
    view_move_layer(view, layer, x, y, opacity);
    return layer_set(&view->gl, &view->layer[layer], canvas, why, size);
}

void view_move_layer(View *view, ViewLayer layer, int x, int y, double opacity)
{
    view->layer[layer].x = x;
    view->layer[layer].y = y;
    view->layer[layer].opacity = opacity > 0 ? opacity < 1 ? opacity : 1 : 0;
}

void view_close(View **view)
{
    View *v = *view;
    if (!v)
        return;
    const Gl *gl = &v->gl;
    planes_close(&v->planes);
    programs_close(&v->programs);
    for (int i = 0; i < VIEW_LAYERS; i++)
        layer_free(gl, &v->layer[i]);
    layer_free(gl, &v->handle);
    scratch_free(gl, &v->upright);
    scratch_free(gl, &v->across);
    scratch_free(gl, &v->memory);
    gl->DeleteSamplers(1, &v->nearest);
    gl->DeleteSamplers(1, &v->linear);
    gl->DeleteVertexArrays(1, &v->vertices);
    free(v);
    *view = NULL;
}
