#include "player/view/view.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "player/view/view_shaders.h"
#include "player/view/view_target.h"

/* ---- conversion from frame codes to screen colours, as uniforms for the shader ---- */

typedef struct ViewColour {
    /* R'G'B' = matrix * texture values (Y, then chroma in frame order) + offset. Column-major. */
    float matrix[9], offset[3];
    /* Converts linear light of the stream to that of the screen. Column-major. */
    float gamut[9];
    /* Tone mapping in PQ codes: stream peak; screen peak / stream peak; knee / stream peak. */
    float tone[3];
} ViewColour;

/* Screen white in nits for HDR video: the reference white of BT.2408. */
#define SCREEN_NITS 203.0

/* SMPTE ST 2084: luminance to code, 0..1. */
static double pq_code(double nits)
{
    const double y = pow(nits / 10000, 2610.0 / 16384);
    return pow((3424.0 / 4096 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y), 2523.0 / 32);
}

static ViewColour view_colour(const PictureFormat *f)
{
    /* BT.2407, annex 1: BT.2020 to BT.709, with out-of-gamut colours clipped */
    static const float from_2020[9] = {1.6605f,  -0.1246f, -0.0182f, -0.5876f, 1.1329f,
                                       -0.1006f, -0.0728f, -0.0083f, 1.1187f};
    const double unit = 1 << (f->depth - 8); /* one 8-bit code at this depth */
    const double codes = (1 << f->depth) - 1;
    const double code = ((f->bytes == 1 ? 255 : 65535) / (double)(1 << f->shift));
    /* texture value to luma (0..1) and chroma (-0.5..0.5): value * scale - zero */
    const double luma_scale = code / (f->full_range ? codes : 219 * unit);
    const double luma_zero = f->full_range ? 0 : 16.0 / 219;
    const double chroma_scale = code / (f->full_range ? codes : 224 * unit);
    const double chroma_zero = f->full_range ? 128 * unit / codes : 128.0 / 224;
    const double kr = f->kr, kb = f->kb, kg = 1 - kr - kb;
    const double cb[3] = {0, -2 * kb * (1 - kb) / kg, 2 * (1 - kb)};
    const double cr[3] = {2 * (1 - kr), -2 * kr * (1 - kr) / kg, 0};
    ViewColour colour;
    for (int i = 0; i < 3; i++) {
        const double blue = f->planes > 1 ? cb[i] : 0, red = f->planes > 1 ? cr[i] : 0;
        colour.matrix[i] = (float)luma_scale;
        colour.matrix[3 + i] = (float)(chroma_scale * (f->cr_first ? red : blue));
        colour.matrix[6 + i] = (float)(chroma_scale * (f->cr_first ? blue : red));
        colour.offset[i] = (float)(-luma_zero - chroma_zero * (blue + red));
    }
    for (int i = 0; i < 9; i++)
        colour.gamut[i] = f->wide_gamut ? from_2020[i] : (float)(i % 4 == 0);
    /* knee of BT.2390's EETF, 5.4.1; streams no brighter than the screen are not compressed */
    const double source = pq_code(f->peak), screen = fmin(pq_code(SCREEN_NITS) / source, 1);
    colour.tone[0] = (float)source;
    colour.tone[1] = (float)screen;
    colour.tone[2] = (float)(1.5 * screen - 0.5);
    return colour;
}

/* ---- the view ---- */

/* Gap between two pictures: a fraction of the area's longer side, at least MIN_GAP pixels. */
#define GAP_PART 320
#define MIN_GAP 4

/* Intermediate RGB format: more precise than the screen, in as much memory as RGBA8. */
#define SCRATCH_FORMAT GL_RGB10_A2

/* From this zoom on, samples are shown as squares. */
#define BLOCK_ZOOM 3

/* Maximum samples averaged per direction; a shader with more would compile slowly. */
#define MAX_TAPS 8

/* The split line is bright with dark edges so that it is visible on any picture. Its edges are
 * about 1/EDGE_PART of the picture's shorter side wide, and its handle is 2/HANDLE_PART high. */
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
    GLuint vertices;                   /* empty vertex array; core profiles require one */
    GLuint nearest, linear, mipmapped; /* samplers */
    Programs programs;
    Planes planes;
    ViewPicture picture[VIEW_SIDES];
    int mirrored;
    Layer layer[VIEW_LAYERS];
    Scratch upright, across; /* the picture as RGB, and after scaling in one direction */
    Scratch memory;          /* target for reading back */
};

/* The picture's orientation on the screen, including the mirror. */
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
    places->picture[side] = rect_intersect(whole, area);
}

ViewPlaces view_layout(const View *view, const ViewScene *scene)
{
    ViewPlaces places = {0};
    int width, height;
    const int both = view->picture[VIEW_INPUT].shown && view->picture[VIEW_OUTPUT].shown;
    if (both && scene->compare == VIEW_COMPARE_SIDE) {
        Rect beside[2], above[2];
        halve(scene->area, 1, beside);
        halve(scene->area, 0, above);
        view_picture_size(view, VIEW_OUTPUT, &width, &height);
        const int is_wider =
            fit(width, height, beside[0]).width >= fit(width, height, above[0]).width;
        for (int side = 0; side < VIEW_SIDES; side++)
            lay_one(&places, side, width, height, (is_wider ? beside : above)[side], scene->zoom);
        return places;
    }
    for (int side = 0; side < VIEW_SIDES; side++)
        if (scene->compare != VIEW_COMPARE_OFF || side == (int)scene->shown) {
            view_picture_size(view, side, &width, &height);
            lay_one(&places, side, width, height, scene->area, scene->zoom);
        }
    return places;
}

/* x or y of the ViewZoom of a picture that begins at `from`, clamped. */
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

ViewZoom view_zoom(const View *view, const ViewScene *scene, double times, int x, int y,
                   double *pixels)
{
    const ViewPlaces places = view_layout(view, scene);
    const int side = rect_contains(places.area[VIEW_INPUT], x, y) ? VIEW_INPUT : VIEW_OUTPUT;
    ViewScene unzoomed = *scene;
    unzoomed.zoom = (ViewZoom){0};
    int width, height;
    view_picture_size(view, (ViewSide)side, &width, &height);
    const double fitted =
        width > 0 ? (double)view_layout(view, &unzoomed).whole[side].width / width : 0;
    const double now = fmax(scene->zoom.by, 1);
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

Rect view_to_samples(const View *view, const ViewScene *scene, Rect part)
{
    const ViewSide side = scene->compare == VIEW_COMPARE_OFF ? scene->shown : VIEW_OUTPUT;
    const Rect whole = view_layout(view, scene).whole[side];
    const PictureFormat *format = &view->picture[side].format;
    const PictureTurn turn = turn_of(view, side);
    int column[2], row[2];
    if (whole.width <= 0 || whole.height <= 0)
        return (Rect){0};
    for (int i = 0; i < 2; i++) { /* two corners, relative to the picture's centre */
        const double x = (double)(part.x + i * part.width - whole.x) / whole.width - 0.5;
        const double y = (double)(part.y + i * part.height - whole.y) / whole.height - 0.5;
        const double stored_x = turn.xx * x + turn.yx * y + 0.5;
        const double stored_y = turn.xy * x + turn.yy * y + 0.5;
        column[i] = (int)floor(fmin(fmax(stored_x, 0), 1) * format->width + 0.5);
        row[i] = (int)floor(fmin(fmax(stored_y, 0), 1) * format->height + 0.5);
    }
    const Rect found = {min_int(column[0], column[1]), min_int(row[0], row[1]),
                        abs(column[1] - column[0]), abs(row[1] - row[0])};
    return found.width > 0 && found.height > 0 ? found : (Rect){0};
}

int view_split_column(const ViewPlaces *places, double split)
{
    const Rect *place = &places->picture[VIEW_OUTPUT];
    const double inside = fmin(fmax(split, 0), 1);
    return place->x + (int)floor(inside * place->width + 0.5);
}

/* Chroma sample i lies `site` * (sub - 1) luma samples after luma sample i * sub. For an odd luma
 * size, the last chroma sample lies partly outside the picture. */
static void set_chroma(const Gl *gl, const Program *program, const PictureFormat *f)
{
    const int luma[2] = {f->width, f->height}, sub[2] = {f->sub_x, f->sub_y};
    const int chroma[2] = {f->plane[1].width, f->plane[1].height};
    const double site[2] = {f->chroma_x, f->chroma_y};
    float scale[2], shift[2];
    for (int i = 0; i < 2; i++) {
        scale[i] = (float)((double)luma[i] / ((double)sub[i] * chroma[i]));
        shift[i] = (float)((0.5 - (0.5 + site[i] * (sub[i] - 1)) / sub[i]) / chroma[i]);
    }
    gl->Uniform2f(program->at.chroma_scale, scale[0], scale[1]);
    gl->Uniform2f(program->at.chroma_shift, shift[0], shift[1]);
}

/* Number of samples to average for a screen pixel. */
static int taps(int from, int to)
{
    return (int)fmin(fmax(floor((double)from / to + 0.5), 1), MAX_TAPS);
}

/* The program variant for a picture. `across`: the picture is rotated by 90 degrees. */
static PictureKind kind_of(const PictureFormat *f, Rect place, int across)
{
    const PicturePlane *luma = &f->plane[0], *chroma = &f->plane[f->planes > 1];
    PictureKind kind = {
        .planes = f->planes,
        .light = f->wide_gamut ? LIGHT_GAMUT : LIGHT_AS_IS,
        .luma_taps = {taps(across ? luma->height : luma->width, place.width),
                      taps(across ? luma->width : luma->height, place.height)},
        .chroma_taps = {1, 1},
    };
    if (f->transfer == PICTURE_PQ || f->transfer == PICTURE_HLG)
        kind.light = f->transfer == PICTURE_PQ ? LIGHT_PQ : LIGHT_HLG;
    if (f->planes > 1) {
        kind.chroma_taps[0] = taps(across ? chroma->height : chroma->width, place.width);
        kind.chroma_taps[1] = taps(across ? chroma->width : chroma->height, place.height);
    }
    return kind;
}

/* Sets the place in the target and the rotation from the screen to the stored picture. The rotation
 * is the transpose of `turn`, column-major. */
static void set_place(const Gl *gl, const Program *program, const Target *target, Rect place,
                      PictureTurn turn)
{
    const float back[4] = {(float)turn.xx, (float)turn.xy, (float)turn.yx, (float)turn.yy};
    float clip_space[4];
    target_place(target, place, clip_space);
    gl->Uniform4f(program->at.place, clip_space[0], clip_space[1], clip_space[2], clip_space[3]);
    gl->UniformMatrix2fv(program->at.turn, 1, GL_FALSE, back);
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

/* Converts planes to R'G'B', turned and scaled linearly to `place`. Samples stay unfiltered at the
 * picture's own size and from BLOCK_ZOOM on. */
static int draw_planes(View *v, ViewSide side, const Target *target, Rect place, MediaError *error)
{
    const Gl *gl = &v->gl;
    const PictureFormat *f = &v->picture[side].format;
    const ViewColour *colour = &v->picture[side].colour;
    const PictureTurn turn = turn_of(v, side);
    const PictureKind kind = kind_of(f, place, turn.xx == 0);
    const Program *program = programs_use_picture(&v->programs, &kind, error);
    int width, height;
    if (!program)
        return -1;
    set_place(gl, program, target, place, turn);
    set_step(gl, program->at.luma_step, turn, place, kind.luma_taps);
    set_step(gl, program->at.chroma_step, turn, place, kind.chroma_taps);
    if (f->planes > 1)
        set_chroma(gl, program, f);
    gl->UniformMatrix3fv(program->at.matrix, 1, GL_FALSE, colour->matrix);
    gl->Uniform3fv(program->at.offset, 1, colour->offset);
    gl->UniformMatrix3fv(program->at.gamut, 1, GL_FALSE, colour->gamut);
    gl->Uniform3fv(program->at.tone, 1, colour->tone);
    planes_bind(&v->planes, side, f->planes);
    upright_size(v, side, &width, &height);
    const int unfiltered =
        (width == place.width && height == place.height) ||
        (place.width >= BLOCK_ZOOM * width && place.height >= BLOCK_ZOOM * height);
    gl->BindSampler(0, unfiltered ? v->nearest : v->linear);
    gl->Disable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return 0;
}

/* Scales along one axis. */
static int draw_scaled(View *v, const Scratch *from, const Target *target, Rect place, int axis,
                       MediaError *error)
{
    const Gl *gl = &v->gl;
    const Program *program = programs_use_scale(&v->programs, error);
    if (!program)
        return -1;
    const double ratio =
        axis ? (double)from->height / place.height : (double)from->width / place.width;
    set_place(gl, program, target, place, picture_upright());
    gl->Uniform1i(program->at.axis, axis);
    gl->Uniform1f(program->at.ratio, (float)ratio);
    gl->BindTexture(GL_TEXTURE_2D, from->texture);
    gl->BindSampler(0, v->nearest);
    gl->Disable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return 0;
}

/* The length after averaging groups of pixels, not reduced below `to`. Averaging before the cubic
 * filter is much cheaper than a very wide cubic filter. */
static int reduced(int length, int to)
{
    const int whole = length / to < MAX_TAPS ? length / to : MAX_TAPS;
    return whole > 1 ? (length + whole / 2) / whole : length;
}

/* Draws one side's picture into `place`, clipped to `clip`. `best`: bicubic (Catmull-Rom, widened
 * for downscaling) in three passes: conversion to R'G'B', horizontal scaling, vertical scaling.
 * Zoomed pictures take one pass without bicubic scaling, because three passes would also process
 * invisible parts. If memory is short, all pictures take one pass. */
static int draw_picture(View *v, ViewSide side, const Target *target, Rect place, Rect clip,
                        int best, MediaError *error)
{
    const Gl *gl = &v->gl;
    int width, height;
    upright_size(v, side, &width, &height);
    width = reduced(width, place.width);
    height = reduced(height, place.height);
    const int is_zoomed = place.width > target->width || place.height > target->height;
    MediaError ignored = {0};
    if (!best || is_zoomed || (width == place.width && height == place.height) ||
        scratch_make(gl, &v->upright, SCRATCH_FORMAT, width, height, &ignored) < 0 ||
        scratch_make(gl, &v->across, SCRATCH_FORMAT, place.width, height, &ignored) < 0) {
        target_use(gl, target, clip);
        return draw_planes(v, side, target, place, error);
    }
    const Rect upright = {0, 0, width, height}, across = {0, 0, place.width, height};
    const Target first = scratch_target(&v->upright), second = scratch_target(&v->across);
    target_use(gl, &first, upright);
    if (draw_planes(v, side, &first, upright, error) < 0)
        return -1;
    target_use(gl, &second, across);
    if (draw_scaled(v, &v->upright, &second, across, 0, error) < 0)
        return -1;
    target_use(gl, target, clip);
    return draw_scaled(v, &v->across, target, place, 1, error);
}

/* Draws the split line with a handle in its middle. */
static void draw_line(View *v, const Target *target, Rect place, Rect area, int column)
{
    const int shorter = min_int(place.width, place.height), edge = shorter / EDGE_PART + 1;
    const int side = max_int(MIN_HANDLE, min_int(shorter / HANDLE_PART, MAX_HANDLE));
    const Rect line = {column - edge, place.y, edge * 2, place.height};
    const Rect handle = {column - side / 4, place.y + place.height / 2 - side, side / 4 * 2,
                         side * 2};
    for (int bright = 0; bright < 2; bright++) {
        const int by = bright ? 0 : edge;
        const Rect parts[] = {
            {line.x - by, line.y, line.width + 2 * by, line.height},
            {handle.x - by, handle.y - by, handle.width + 2 * by, handle.height + 2 * by}};
        for (int i = 0; i < 2; i++)
            target_fill(&v->gl, target, rect_intersect(parts[i], area),
                        bright ? LINE_BRIGHT : LINE_DARK);
    }
}

/* Outlines a rectangle in the style of the split line. */
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

static int draw_pictures(View *v, const ViewScene *scene, const Target *target, MediaError *error)
{
    const ViewPlaces places = view_layout(v, scene);
    const int both = v->picture[VIEW_INPUT].shown && v->picture[VIEW_OUTPUT].shown;
    const int split = both && scene->compare == VIEW_COMPARE_SPLIT;
    const int column = view_split_column(&places, scene->split);
    for (int side = 0; side < VIEW_SIDES; side++) {
        const Rect seen = places.picture[side];
        Rect clip = seen;
        if (split && side == VIEW_INPUT) {
            clip.width = column - seen.x;
        } else if (split) {
            clip.x = column;
            clip.width = seen.x + seen.width - column;
        }
        if (clip.width > 0 && clip.height > 0 &&
            draw_picture(v, side, target, places.whole[side], clip, !v->software, error) < 0)
            return -1;
    }
    if (split)
        draw_line(v, target, places.picture[VIEW_OUTPUT], scene->area, column);
    return 0;
}

static int draw_scene(View *v, const ViewScene *scene, const Target *target, MediaError *error)
{
    const Rect all = {0, 0, target->width, target->height};
    target_use(&v->gl, target, all);
    target_fill(&v->gl, target, all, 0x000000);
    if (draw_pictures(v, scene, target, error) < 0)
        return -1;
    if (scene->mark.width > 0)
        draw_mark(v, target, scene->mark, scene->height / EDGE_PART + 1);
    const Program *program = programs_use_layer(&v->programs, error);
    if (!program)
        return -1;
    target_use(&v->gl, target, all);
    for (int i = 0; i < VIEW_LAYERS; i++)
        layer_draw(&v->gl, &v->layer[i], program, target,
                   v->layer[i].scaled ? v->mipmapped : v->nearest);
    return gl_check(&v->gl, "drawing", error);
}

int view_draw(View *v, const ViewScene *scene, MediaError *error)
{
    const Target window = {0, scene->width, scene->height, 0};
    if (window.width <= 0 || window.height <= 0)
        return 0; /* minimized */
    const int ret = draw_scene(v, scene, &window, error);
    v->gl.Flush(); /* not every swap flushes; drawing would then start only with the next upload */
    return ret;
}

static int make_memory(View *v, int width, int height, MediaError *error)
{
    if (width <= 0 || height <= 0 || width > v->max_size || height > v->max_size)
        return media_fail(error, MEDIA_INPUT, "a picture of %dx%d exceeds OpenGL's limit of %d",
                          width, height, v->max_size);
    return scratch_make(&v->gl, &v->memory, GL_RGBA8, width, height, error);
}

int view_read(View *v, const ViewScene *scene, const Canvas *canvas, MediaError *error)
{
    assert(canvas->width == scene->width && canvas->height == scene->height);
    if (make_memory(v, scene->width, scene->height, error) < 0)
        return -1;
    const Target target = scratch_target(&v->memory);
    if (draw_scene(v, scene, &target, error) < 0)
        return -1;
    return target_read(&v->gl, &target, canvas, error);
}

int view_render_picture(View *v, ViewSide side, const Canvas *canvas, MediaError *error)
{
    if (!v->picture[side].shown)
        return media_fail(error, MEDIA_INPUT, "there is no picture");
    if (make_memory(v, canvas->width, canvas->height, error) < 0)
        return -1;
    const Target target = scratch_target(&v->memory);
    const Rect all = {0, 0, canvas->width, canvas->height};
    if (draw_picture(v, side, &target, all, all, 1, error) < 0)
        return -1;
    return target_read(&v->gl, &target, canvas, error);
}

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
    gl->SamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER,
                          filter == GL_NEAREST ? GL_NEAREST : GL_LINEAR);
    gl->SamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl->SamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return sampler;
}

/* Sets OpenGL state that never changes, because nothing else draws in this context. */
static int prepare(View *v, MediaError *error)
{
    const Gl *gl = &v->gl;
    v->nearest = make_sampler(gl, GL_NEAREST);
    v->linear = make_sampler(gl, GL_LINEAR);
    v->mipmapped = make_sampler(gl, GL_LINEAR_MIPMAP_LINEAR);
    gl->BindSampler(1, v->linear);
    gl->BindSampler(2, v->linear);
    gl->GenVertexArrays(1, &v->vertices);
    gl->BindVertexArray(v->vertices);
    gl->Disable(GL_DITHER);
    return gl_check(gl, "preparing to draw", error);
}

int view_open(View **view, MediaError *error)
{
    *view = NULL;
    View *v = calloc(1, sizeof(*v));
    if (!v)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (gl_load(&v->gl, error) < 0) {
        free(v);
        return -1;
    }
    v->programs.gl = v->planes.gl = &v->gl;
    ask_driver(v);
    if (prepare(v, error) < 0) {
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

void view_set_uploader(View *view, const ViewUploader *uploader)
{
    planes_set_uploader(&view->planes, uploader);
}

int view_set_frame(View *view, ViewSide side, const AVFrame *frame, MediaError *error)
{
    ViewPicture *picture = &view->picture[side];
    char why[256];
    picture->shown = 0;
    if (!frame)
        return 0;
    if (picture_format(&picture->format, frame, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", why);
    if (frame->width <= 0 || frame->height <= 0 || frame->width > view->max_size ||
        frame->height > view->max_size)
        return media_fail(error, MEDIA_INPUT, "a frame of %dx%d exceeds OpenGL's limit of %d",
                          frame->width, frame->height, view->max_size);
    picture->colour = view_colour(&picture->format);
    const int ret = planes_set(&view->planes, side, &picture->format, frame, error);
    picture->shown = ret == 0;
    return ret;
}

void view_set_mirror(View *view, int mirrored)
{
    view->mirrored = mirrored;
}

int view_set_layer(View *view, ViewLayer layer, const Overlay *overlay, double opacity,
                   MediaError *error)
{
    const Canvas *canvas = &overlay->canvas;
    if (canvas->width > view->max_size || canvas->height > view->max_size)
        return media_fail(error, MEDIA_INPUT, "a layer of %dx%d exceeds OpenGL's limit of %d",
                          canvas->width, canvas->height, view->max_size);
    view_move_layer(view, layer, overlay->x, overlay->y, opacity);
    return layer_set(&view->gl, &view->layer[layer], overlay, error);
}

void view_move_layer(View *view, ViewLayer layer, int x, int y, double opacity)
{
    view->layer[layer].place.x = x;
    view->layer[layer].place.y = y;
    view->layer[layer].opacity = fmin(fmax(opacity, 0), 1);
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
    scratch_free(gl, &v->upright);
    scratch_free(gl, &v->across);
    scratch_free(gl, &v->memory);
    gl->DeleteSamplers(1, &v->nearest);
    gl->DeleteSamplers(1, &v->linear);
    gl->DeleteSamplers(1, &v->mipmapped);
    gl->DeleteVertexArrays(1, &v->vertices);
    free(v);
    *view = NULL;
}
