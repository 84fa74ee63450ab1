#include "player/view/view_target.h"

int scratch_make(const Gl *gl, Scratch *s, GLint format, int width, int height, MediaError *error)
{
    if (s->texture && s->width == width && s->height == height)
        return 0;
    scratch_free(gl, s);
    gl->GenTextures(1, &s->texture);
    gl->BindTexture(GL_TEXTURE_2D, s->texture);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    gl->TexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    gl->GenFramebuffers(1, &s->framebuffer);
    gl->BindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    gl->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, s->texture, 0);
    const GLenum status = gl->CheckFramebufferStatus(GL_FRAMEBUFFER);
    int ret = gl_check(gl, "making a texture to draw into", error);
    if (ret == 0 && status != GL_FRAMEBUFFER_COMPLETE)
        ret = media_fail(error, MEDIA_INPUT, "OpenGL cannot draw into a texture of %dx%d (0x%04X)",
                         width, height, status);
    s->width = width;
    s->height = height;
    if (ret < 0)
        scratch_free(gl, s);
    return ret;
}

Target scratch_target(const Scratch *s)
{
    return (Target){s->framebuffer, s->width, s->height, 1};
}

void scratch_free(const Gl *gl, Scratch *s)
{
    if (s->framebuffer)
        gl->DeleteFramebuffers(1, &s->framebuffer);
    if (s->texture)
        gl->DeleteTextures(1, &s->texture);
    *s = (Scratch){0};
}

/* OpenGL counts window rows from the bottom. */
static void set_scissor(const Gl *gl, const Target *target, Rect rect)
{
    const int y = target->top_down ? rect.y : target->height - rect.y - rect.height;
    gl->Scissor(rect.x, y, rect.width > 0 ? rect.width : 0, rect.height > 0 ? rect.height : 0);
}

void target_use(const Gl *gl, const Target *target, Rect clip)
{
    gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    gl->Viewport(0, 0, target->width, target->height);
    gl->Enable(GL_SCISSOR_TEST);
    set_scissor(gl, target, clip);
}

void target_fill(const Gl *gl, const Target *target, Rect rect, Colour colour)
{
    set_scissor(gl, target, rect);
    gl->ClearColor((float)(colour >> 16 & 0xFF) / 255, (float)(colour >> 8 & 0xFF) / 255,
                   (float)(colour & 0xFF) / 255, 1);
    gl->Clear(GL_COLOR_BUFFER_BIT);
}

void target_place(const Target *target, Rect rect, float place[4])
{
    const float sign = target->top_down ? 1 : -1;
    place[0] = 2 * (float)rect.x / (float)target->width - 1;
    place[1] = sign * (2 * (float)rect.y / (float)target->height - 1);
    place[2] = 2 * (float)rect.width / (float)target->width;
    place[3] = sign * 2 * (float)rect.height / (float)target->height;
}

int target_read(const Gl *gl, const Target *target, const Canvas *canvas, MediaError *error)
{
    gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_PACK_ROW_LENGTH, (GLint)(canvas->stride / 4));
    gl->ReadPixels(0, 0, target->width, target->height, GL_RGBA, GL_UNSIGNED_BYTE, canvas->pixels);
    return gl_check(gl, "reading back a picture", error);
}

/* Smallest mipmap of a scaled layer: an eighth of its size. */
#define MAX_LEVEL 3

int layer_set(const Gl *gl, Layer *layer, const Overlay *overlay, MediaError *error)
{
    const Canvas *canvas = &overlay->canvas;
    layer->shown = canvas->width > 0;
    layer->scaled = overlay->width > 0;
    layer->place = overlay_place(overlay);
    if (!layer->shown)
        return 0;
    if (!layer->texture)
        gl->GenTextures(1, &layer->texture);
    gl->BindTexture(GL_TEXTURE_2D, layer->texture);
    if (layer->width != canvas->width || layer->height != canvas->height) {
        gl->TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, canvas->width, canvas->height, 0, GL_RGBA,
                       GL_UNSIGNED_BYTE, NULL);
        layer->width = canvas->width;
        layer->height = canvas->height;
    }
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(canvas->stride / 4));
    gl->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, canvas->width, canvas->height, GL_RGBA,
                      GL_UNSIGNED_BYTE, canvas->pixels);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, layer->scaled ? MAX_LEVEL : 0);
    if (layer->scaled)
        gl->GenerateMipmap(GL_TEXTURE_2D);
    const int ret = gl_check(gl, "the upload of a layer", error);
    if (ret < 0)
        layer_free(gl, layer);
    return ret;
}

void layer_draw(const Gl *gl, const Layer *layer, const Program *program, const Target *target,
                GLuint sampler)
{
    static const float upright[4] = {1, 0, 0, 1};
    float place[4];
    if (!layer->shown || layer->opacity <= 0)
        return;
    target_place(target, layer->place, place);
    gl->BindTexture(GL_TEXTURE_2D, layer->texture);
    gl->BindSampler(0, sampler);
    gl->BlendFuncSeparate(layer->scaled ? GL_ONE : GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE,
                          GL_ONE_MINUS_SRC_ALPHA);
    gl->Uniform4f(program->at.place, place[0], place[1], place[2], place[3]);
    gl->UniformMatrix2fv(program->at.turn, 1, GL_FALSE, upright);
    gl->Uniform1f(program->at.opacity, (float)layer->opacity);
    gl->Enable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void layer_free(const Gl *gl, Layer *layer)
{
    if (layer->texture)
        gl->DeleteTextures(1, &layer->texture);
    *layer = (Layer){0};
}

/* ---- view planes ---- */

typedef struct TextureFormat {
    GLint internal;
    GLenum format, type;
} TextureFormat;

static TextureFormat format_of(const PlaneTexture *t)
{
    static const TextureFormat formats[2][2] = {
        {{GL_R8, GL_RED, GL_UNSIGNED_BYTE}, {GL_RG8, GL_RG, GL_UNSIGNED_BYTE}},
        {{GL_R16, GL_RED, GL_UNSIGNED_SHORT}, {GL_RG16, GL_RG, GL_UNSIGNED_SHORT}},
    };
    return formats[t->bytes == 2][t->size.components == 2];
}

static ptrdiff_t texel_bytes(const PlaneTexture *t)
{
    return (ptrdiff_t)t->bytes * t->size.components;
}

static void make_forget(const Planes *planes, const PlaneTexture *t)
{
    const ViewUploader *other = &planes->uploader;
    if (t->texture && other->forget)
        other->forget(other->opaque, t->texture);
}

void planes_set_uploader(Planes *planes, const ViewUploader *uploader)
{
    for (int side = 0; side < VIEW_SIDES; side++)
        for (int i = 0; i < PLANES_MAX; i++)
            make_forget(planes, &planes->texture[side][i]);
    planes->uploader = uploader ? *uploader : (ViewUploader){0};
}

static void delete_texture(Planes *planes, PlaneTexture *t)
{
    const Gl *gl = planes->gl;
    make_forget(planes, t);
    if (t->texture)
        gl->DeleteTextures(1, &t->texture);
    *t = (PlaneTexture){0};
}

static int make_texture(Planes *planes, PlaneTexture *t, PicturePlane size, int bytes,
                        MediaError *error)
{
    const Gl *gl = planes->gl;
    if (t->texture && t->bytes == bytes && t->size.width == size.width &&
        t->size.height == size.height && t->size.components == size.components)
        return 0;
    delete_texture(planes, t);
    t->size = size;
    t->bytes = bytes;
    gl->GenTextures(1, &t->texture);
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    const TextureFormat format = format_of(t);
    gl->TexImage2D(GL_TEXTURE_2D, 0, format.internal, size.width, size.height, 0, format.format,
                   format.type, NULL);
    return gl_check(gl, "making a texture for a frame", error);
}

/* Like mpv, uses no pixel buffer objects, because drivers copy or transfer the rows at once. */
static int upload_plane(const Gl *gl, const PlaneTexture *t, const ViewPlane *plane,
                        MediaError *error)
{
    const TextureFormat format = format_of(t);
    const uint8_t *from = plane->data;
    const int whole = plane->stride > 0 && plane->stride % texel_bytes(t) == 0;
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, whole ? (GLint)(plane->stride / texel_bytes(t)) : 0);
    const int rows = whole ? plane->height : 1; /* OpenGL takes only strides of whole texels */
    for (int y = 0; y < plane->height; y += rows)
        gl->TexSubImage2D(GL_TEXTURE_2D, 0, 0, y, plane->width, rows, format.format, format.type,
                          from + y * plane->stride);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    return gl_check(gl, "the upload of a frame", error);
}

int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               MediaError *error)
{
    PlaneTexture *to = planes->texture[side];
    ViewPlane from[PLANES_MAX];
    for (int i = 0; i < format->planes; i++) {
        if (!frame->data[i])
            return media_fail(error, MEDIA_INPUT, "a plane of the frame is missing");
        if (make_texture(planes, &to[i], format->plane[i], format->bytes, error) < 0)
            return -1;
        from[i] = (ViewPlane){
            .texture = to[i].texture,
            .width = to[i].size.width,
            .height = to[i].size.height,
            .bytes_per_row = to[i].size.width * (int)texel_bytes(&to[i]),
            .data = frame->data[i],
            .stride = frame->linesize[i],
        };
    }
    const ViewUploader *other = &planes->uploader;
    int ret = other->upload ? other->upload(other->opaque, from, format->planes, error) : 1;
    if (ret <= 0)
        return ret;
    ret = 0;
    for (int i = 0; i < format->planes && ret == 0; i++) {
        make_forget(planes, &to[i]);
        ret = upload_plane(planes->gl, &to[i], &from[i], error);
    }
    return ret;
}

void planes_bind(const Planes *planes, ViewSide side, int count)
{
    for (int i = 0; i < count; i++) {
        planes->gl->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        planes->gl->BindTexture(GL_TEXTURE_2D, planes->texture[side][i].texture);
    }
    planes->gl->ActiveTexture(GL_TEXTURE0);
}

void planes_close(Planes *planes)
{
    for (int side = 0; side < VIEW_SIDES; side++)
        for (int i = 0; i < PLANES_MAX; i++)
            delete_texture(planes, &planes->texture[side][i]);
}
