#include "player/view/view_planes.h"

#include <string.h>

#include "player/why.h"

/* Row alignment in pixel buffers; drivers copy these fastest. */
#define ROW_ALIGNMENT 64

static ptrdiff_t texel_bytes(const PlaneTexture *t)
{
    return (ptrdiff_t)t->bytes * t->size.components;
}

static GLenum format_of(const PlaneTexture *t)
{
    return t->size.components == 2 ? GL_RG : GL_RED;
}

static GLenum type_of(const PlaneTexture *t)
{
    return t->bytes == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE;
}

static GLint internal_format_of(const PlaneTexture *t)
{
    if (t->bytes == 2)
        return t->size.components == 2 ? GL_RG16 : GL_R16;
    return t->size.components == 2 ? GL_RG8 : GL_R8;
}

/* ---- textures ---- */

static void release_frame(PlaneTexture *t)
{
    av_buffer_unref(&t->held);
    t->data = NULL;
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
    for (int i = 0; i < PLANES_MAX; i++)
        for (int j = 0; j < 2; j++)
            make_forget(planes, &planes->texture[i][j]);
    planes->uploader = uploader ? *uploader : (ViewUploader){0};
}

static void delete_texture(Planes *planes, PlaneTexture *t)
{
    const Gl *gl = planes->gl;
    release_frame(t);
    make_forget(planes, t);
    if (t->texture)
        gl->DeleteTextures(1, &t->texture);
    if (t->buffer)
        gl->DeleteBuffers(1, &t->buffer);
    *t = (PlaneTexture){0};
}

static int is_made_for(const PlaneTexture *t, PicturePlane size, int bytes)
{
    return t->texture && t->bytes == bytes && t->size.width == size.width &&
           t->size.height == size.height && t->size.components == size.components;
}

static int make_texture(Planes *planes, PlaneTexture *t, PicturePlane size, int bytes, char *why,
                        size_t why_size)
{
    const Gl *gl = planes->gl;
    if (is_made_for(t, size, bytes))
        return 0;
    delete_texture(planes, t);
    t->size = size;
    t->bytes = bytes;
    gl->GenBuffers(1, &t->buffer);
    gl->GenTextures(1, &t->texture);
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    gl->TexImage2D(GL_TEXTURE_2D, 0, internal_format_of(t), size.width, size.height, 0,
                   format_of(t), type_of(t), NULL);
    return gl_check(gl, "making a texture for a frame", why, why_size);
}

/* ---- filling them ---- */

static void fill_texture(const Gl *gl, const PlaneTexture *t, ptrdiff_t stride, const void *data)
{
    gl->BindTexture(GL_TEXTURE_2D, t->texture);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(stride / texel_bytes(t)));
    gl->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, t->size.width, t->size.height, format_of(t),
                      type_of(t), data);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

/* Uploads through a pixel buffer: returns once the rows are copied, and the driver transfers them
 * asynchronously. New storage for the buffer leaves the old one to pending transfers. */
static int fill_through_buffer(const Gl *gl, const PlaneTexture *t, const ViewPlane *plane,
                               char *why, size_t size)
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
            ret = why_fail(why, size, "the upload of a frame failed: its buffer was lost");
        else
            fill_texture(gl, t, stride, NULL);
    } else if (gl_check(gl, "the upload of a frame", why, size) == 0) {
        ret = why_fail(why, size, "the upload of a frame failed: no buffer for it");
    } else {
        ret = -1;
    }
    gl->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return ret;
}

static ViewPlane plane_of(const PlaneTexture *t, int index, const AVFrame *frame)
{
    return (ViewPlane){
        .texture = t->texture,
        .plane = index,
        .width = t->size.width,
        .height = t->size.height,
        .bytes_per_row = t->size.width * (int)texel_bytes(t),
        .data = frame->data[index],
        .stride = frame->linesize[index],
        .frame = frame,
    };
}

static int upload_one(Planes *planes, const PlaneTexture *t, const ViewPlane *plane, char *why,
                      size_t size)
{
    if (planes->direct && plane->stride > 0 && plane->stride % texel_bytes(t) == 0)
        fill_texture(planes->gl, t, plane->stride, plane->data);
    else if (fill_through_buffer(planes->gl, t, plane, why, size) < 0)
        return -1;
    return gl_check(planes->gl, "the upload of a frame", why, size);
}

/* Uploads `count` planes of one frame. */
static int upload(Planes *planes, PlaneTexture *const *to, const ViewPlane *from, int count,
                  char *why, size_t size)
{
    const ViewUploader *other = &planes->uploader;
    int ret = other->upload && count ? other->upload(other->opaque, from, count, why, size) : 1;
    if (ret <= 0)
        return ret;
    ret = 0;
    for (int i = 0; i < count && ret == 0; i++) {
        make_forget(planes, to[i]);
        ret = make_texture(planes, to[i], to[i]->size, to[i]->bytes, why, size);
        if (ret == 0)
            ret = upload_one(planes, to[i], &from[i], why, size);
    }
    return ret;
}

/* ---- which texture ---- */

/* The chroma plane's buffer, to recognise shared chroma; luma is never shared. */
static AVBufferRef *plane_buffer(const AVFrame *frame, int index)
{
    return index > 0 ? av_frame_get_plane_buffer((AVFrame *)frame, index) : NULL;
}

static void drop_use(Planes *planes, ViewSide side, int index)
{
    PlaneTexture *const t = planes->used[side][index];
    planes->used[side][index] = NULL;
    if (t && t != planes->used[!side][index])
        release_frame(t);
}

/* The texture holds a reference, so the buffer cannot have been reused. */
static int holds(const PlaneTexture *t, const AVBufferRef *buffer, const AVFrame *frame, int index)
{
    return t && t->held && buffer && t->held->buffer == buffer->buffer &&
           t->data == frame->data[index] && t->stride == frame->linesize[index];
}

/* Chooses the texture for a plane. Returns 0 if it already holds it, 1 if it must be filled, or -1.
 * */
static int choose_texture(Planes *planes, ViewSide side, int index, const PictureFormat *format,
                          const AVFrame *frame, char *why, size_t size)
{
    PlaneTexture *const other = planes->used[!side][index];
    PlaneTexture **const used = &planes->used[side][index];
    AVBufferRef *buffer = plane_buffer(frame, index);
    if (!frame->data[index])
        return why_fail(why, size, "a frame lacks one of its planes");
    if (holds(other, buffer, frame, index) &&
        is_made_for(other, format->plane[index], format->bytes)) {
        drop_use(planes, side, index);
        *used = other;
        return 0;
    }
    if (!*used || *used == other)
        *used = &planes->texture[index][other == &planes->texture[index][0]];
    release_frame(*used);
    return make_texture(planes, *used, format->plane[index], format->bytes, why, size) < 0 ? -1 : 1;
}

static void remember(PlaneTexture *t, const ViewPlane *plane)
{
    AVBufferRef *buffer = plane_buffer(plane->frame, plane->plane);
    t->held = buffer ? av_buffer_ref(buffer) : NULL; /* if out of memory, not shared */
    t->data = plane->data;
    t->stride = plane->stride;
}

int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               char *why, size_t size)
{
    PlaneTexture *to[PLANES_MAX];
    ViewPlane from[PLANES_MAX];
    int count = 0, ret = 0;
    for (int i = 0; i < format->planes && ret >= 0; i++) {
        ret = choose_texture(planes, side, i, format, frame, why, size);
        if (ret > 0) {
            to[count] = planes->used[side][i];
            from[count] = plane_of(to[count], i, frame);
            count++;
        }
    }
    if (ret < 0 || upload(planes, to, from, count, why, size) < 0) {
        planes_unset(planes, side);
        return -1;
    }
    for (int i = 0; i < count; i++)
        remember(to[i], &from[i]);
    for (int i = format->planes; i < PLANES_MAX; i++)
        drop_use(planes, side, i);
    return 0;
}

void planes_unset(Planes *planes, ViewSide side)
{
    for (int i = 0; i < PLANES_MAX; i++)
        drop_use(planes, side, i);
}

void planes_bind(const Planes *planes, ViewSide side, int count)
{
    for (int i = 0; i < count; i++) {
        planes->gl->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        planes->gl->BindTexture(GL_TEXTURE_2D, planes->used[side][i]->texture);
    }
    planes->gl->ActiveTexture(GL_TEXTURE0);
}

void planes_close(Planes *planes)
{
    for (int i = 0; i < PLANES_MAX; i++)
        for (int j = 0; j < 2; j++)
            delete_texture(planes, &planes->texture[i][j]);
    memset(planes->used, 0, sizeof(planes->used));
}
