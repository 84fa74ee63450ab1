#include "player/view/view_planes.h"

#include <string.h>

/* Row alignment in pixel buffers; drivers copy these fastest. */
#define ROW_ALIGNMENT 64

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

/* Takes a texture from the uploader. A texture that the uploader may still write to is abandoned.
 * */
static void make_forget(const Planes *planes, PlaneTexture *t)
{
    const ViewUploader *other = &planes->uploader;
    if (t->texture && other->forget && other->forget(other->opaque, t->texture))
        t->texture = 0;
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
    if (t->buffer)
        gl->DeleteBuffers(1, &t->buffer);
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
    gl->GenBuffers(1, &t->buffer);
    gl->GenTextures(1, &t->texture);
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    const TextureFormat format = format_of(t);
    gl->TexImage2D(GL_TEXTURE_2D, 0, format.internal, size.width, size.height, 0, format.format,
                   format.type, NULL);
    return gl_check(gl, "making a texture for a frame", error);
}

static void fill_texture(const Gl *gl, const PlaneTexture *t, ptrdiff_t stride, const void *data)
{
    const TextureFormat format = format_of(t);
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(stride / texel_bytes(t)));
    gl->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, t->size.width, t->size.height, format.format,
                      format.type, data);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

/* Uploads through a pixel buffer: returns once the rows are copied, and the driver transfers them
 * asynchronously. New storage for the buffer leaves the old one to pending transfers. */
static int fill_through_buffer(const Gl *gl, const PlaneTexture *t, const ViewPlane *plane,
                               MediaError *error)
{
    const ptrdiff_t row = plane->bytes_per_row;
    const ptrdiff_t stride = (row + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    const ptrdiff_t bytes = stride * plane->height;
    gl->BindBuffer(GL_PIXEL_UNPACK_BUFFER, t->buffer);
    gl->BufferData(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, GL_STREAM_DRAW);
    uint8_t *to = gl->MapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, bytes,
                                     GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    int ret = 0;
    if (to) {
        for (int y = 0; y < plane->height; y++)
            memcpy(to + y * stride, (const uint8_t *)plane->data + y * plane->stride, (size_t)row);
        if (!gl->UnmapBuffer(GL_PIXEL_UNPACK_BUFFER))
            ret =
                media_fail(error, MEDIA_INPUT, "the upload of a frame failed: its buffer was lost");
        else
            fill_texture(gl, t, stride, NULL);
    } else if (gl_check(gl, "the upload of a frame", error) == 0) {
        ret = media_fail(error, MEDIA_INPUT, "the upload of a frame failed: no buffer for it");
    } else {
        ret = -1;
    }
    gl->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return ret;
}

static int upload_one(Planes *planes, const PlaneTexture *t, const ViewPlane *plane,
                      MediaError *error)
{
    if (planes->direct && plane->stride > 0 && plane->stride % texel_bytes(t) == 0)
        fill_texture(planes->gl, t, plane->stride, plane->data);
    else if (fill_through_buffer(planes->gl, t, plane, error) < 0)
        return -1;
    return gl_check(planes->gl, "the upload of a frame", error);
}

int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               MediaError *error)
{
    PlaneTexture *to = planes->texture[side];
    ViewPlane from[PLANES_MAX];
    for (int i = 0; i < format->planes; i++) {
        if (!frame->data[i])
            return media_fail(error, MEDIA_INPUT, "a frame lacks one of its planes");
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
        ret = make_texture(planes, &to[i], format->plane[i], format->bytes, error);
        if (ret == 0)
            ret = upload_one(planes, &to[i], &from[i], error);
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
