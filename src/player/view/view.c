#include "player/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "player/view/view_state.h"
#include "player/why.h"

/* Renderers that are a CPU, as they call themselves. */
static int is_software(const char *renderer)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "SWR", "Software"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(renderer, names[i]))
            return 1;
    return 0;
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
    v->software = is_software(v->renderer);
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

/* State that stays as it is from here on: nobody else draws in this context. */
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
    v->turn = picture_upright();
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

int view_is_software(const View *view)
{
    return view->software;
}

int view_max_size(const View *view)
{
    return view->max_size;
}

void view_set_quality(View *view, ViewQuality quality)
{
    view->quality = quality;
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

void view_set_rotation(View *view, const int32_t matrix[9])
{
    view->turn = matrix ? picture_turn(matrix) : picture_upright();
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
