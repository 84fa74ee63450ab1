#include <math.h>

#include "player/view/view_state.h"

/* Of the picture as RGB between two passes: more bits than the screen has, in as much memory. */
#define SCRATCH_FORMAT GL_RGB10_A2

/* More would take long to compile, for pictures the size of a stamp. */
#define MAX_TAPS 8

static int is_as_it_is(const View *view, ViewSide side, Rect place)
{
    int width, height;
    view_upright_size(view, side, &width, &height);
    return width == place.width && height == place.height;
}

static void set_place(const Gl *gl, const Program *program, const Target *target, Rect place)
{
    float clip_space[4];
    target_place(target, place, clip_space);
    gl->Uniform4f(program->at.place, clip_space[0], clip_space[1], clip_space[2], clip_space[3]);
}

/* From the screen back to the stored picture: the inverse of a turn is its transpose. Columns. */
static void set_turn(const Gl *gl, const Program *program, PictureTurn turn)
{
    const float back[4] = {(float)turn.xx, (float)turn.xy, (float)turn.yx, (float)turn.yy};
    gl->UniformMatrix2fv(program->at.turn, 1, GL_FALSE, back);
}

/* Chroma sample i lies `site` * (sub - 1) luma samples right of luma sample i * sub; a plane of odd
 * luma size has a last chroma sample that is only partly covered. */
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

/* Samples that average about as many pixels of a plane as one of the screen covers. */
static int taps(int from, int to)
{
    return (int)fmin(fmax(floor((double)from / to + 0.5), 1), MAX_TAPS);
}

/* The taps of one plane, for a picture that is `across` (its rows become columns) or not. */
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

/* How far one tap lies from the next, in texture coordinates; columns. */
static void set_step(const Gl *gl, GLint uniform, PictureTurn turn, Rect place, const int count[2])
{
    const float across = 1 / ((float)place.width * (float)count[0]);
    const float down = 1 / ((float)place.height * (float)count[1]);
    const float step[4] = {(float)turn.xx * across, (float)turn.xy * across, (float)turn.yx * down,
                           (float)turn.yy * down};
    gl->UniformMatrix2fv(uniform, 1, GL_FALSE, step);
}

/* Planes to R'G'B', turned, and scaled linearly where `place` has another size. */
static int draw_planes(View *v, ViewSide side, const Target *target, Rect place, char *why,
                       size_t size)
{
    const Gl *gl = &v->gl;
    const PictureFormat *f = &v->picture[side].format;
    const PictureTurn turn = view_turn(v, side);
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

/* Scales along one axis, which the two sizes differ in. */
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

/* In three passes: to R'G'B' in the size of the scratch, then scaled across, then down into its
 * place. */
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

/* Whether there is memory for the passes: 16384 x 16384 pixels take a gigabyte. */
static int make_scratches(View *v, int width, int height, int scaled_width)
{
    char ignored[1];
    return scratch_make(&v->gl, &v->upright, SCRATCH_FORMAT, width, height, ignored,
                        sizeof(ignored)) == 0 &&
           scratch_make(&v->gl, &v->across, SCRATCH_FORMAT, scaled_width, height, ignored,
                        sizeof(ignored)) == 0;
}

/* Whole pixels are averaged on the way to R'G'B' as far as the picture stays larger than its place:
 * far cheaper than a cubic that wide, and hardly worse. */
static int reduced(int length, int to)
{
    const int whole = length / to < MAX_TAPS ? length / to : MAX_TAPS;
    return whole > 1 ? (length + whole / 2) / whole : length;
}

int view_draw_picture(View *v, ViewSide side, const Target *target, Rect place, Rect clip,
                      ViewQuality quality, char *why, size_t size)
{
    int width, height;
    view_upright_size(v, side, &width, &height);
    width = reduced(width, place.width);
    height = reduced(height, place.height);
    if (quality == VIEW_QUALITY_BEST && (width != place.width || height != place.height) &&
        make_scratches(v, width, height, place.width))
        return draw_in_passes(v, side, target, place, clip, why, size);
    target_use(&v->gl, target, clip);
    return draw_planes(v, side, target, place, why, size);
}
