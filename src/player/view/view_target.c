#include "player/view/view_target.h"

#include <stdlib.h>

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
    const size_t row = (size_t)target->width * 4;
    uint8_t *pixels = malloc(row * (size_t)target->height);
    if (!pixels)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->ReadPixels(0, 0, target->width, target->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int y = 0; y < target->height; y++)
        memcpy(canvas->pixels + y * canvas->stride, pixels + (size_t)y * row, row);
    free(pixels);
    return gl_check(gl, "reading back a picture", error);
}

static uint8_t alpha_at(const Canvas *canvas, int x, int y)
{
    return canvas->pixels[y * canvas->stride + (ptrdiff_t)x * 4 + 3];
}

/* Most of a caption layer is empty; empty parts are neither uploaded nor blended. */
static Rect visible_part(const Canvas *canvas)
{
    int left = canvas->width, right = 0, top = -1, bottom = 0;
    for (int y = 0; y < canvas->height; y++) {
        int first = 0, last = canvas->width;
        while (first < canvas->width && !alpha_at(canvas, first, y))
            first++;
        if (first == canvas->width)
            continue;
        while (!alpha_at(canvas, last - 1, y))
            last--;
        left = min_int(left, first);
        right = max_int(right, last);
        top = top < 0 ? y : top;
        bottom = y + 1;
    }
    return top < 0 ? (Rect){0} : (Rect){left, top, right - left, bottom - top};
}

static int is_opaque(const Canvas *canvas, Rect part)
{
    for (int y = part.y; y < part.y + part.height; y++) {
        uint8_t all = 255; /* no early exit, so that compilers vectorize the loop */
        for (int x = part.x; x < part.x + part.width; x++)
            all &= alpha_at(canvas, x, y);
        if (all != 255)
            return 0;
    }
    return 1;
}

int layer_set(const Gl *gl, Layer *layer, const Canvas *canvas, MediaError *error)
{
    const Rect part = layer->visible = canvas ? visible_part(canvas) : (Rect){0};
    if (part.width == 0)
        return 0;
    layer->opaque = is_opaque(canvas, part);
    if (!layer->texture)
        gl->GenTextures(1, &layer->texture);
    gl->BindTexture(GL_TEXTURE_2D, layer->texture);
    if (layer->width != part.width || layer->height != part.height) {
        gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
        gl->TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, part.width, part.height, 0, GL_RGBA,
                       GL_UNSIGNED_BYTE, NULL);
        layer->width = part.width;
        layer->height = part.height;
    }
    const int in_one = canvas->stride > 0 && canvas->stride % 4 == 0;
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, in_one ? (GLint)(canvas->stride / 4) : 0);
    for (int y = 0; y < (in_one ? 1 : part.height); y++)
        gl->TexSubImage2D(GL_TEXTURE_2D, 0, 0, y, part.width, in_one ? part.height : 1, GL_RGBA,
                          GL_UNSIGNED_BYTE, canvas_pixel(canvas, part.x, part.y + y));
    gl->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    const int ret = gl_check(gl, "the upload of a layer", error);
    if (ret < 0)
        layer_free(gl, layer);
    return ret;
}

void layer_draw(const Gl *gl, const Layer *layer, const Program *program, const Target *target)
{
    static const float upright[4] = {1, 0, 0, 1};
    const Rect part = layer->visible;
    if (part.width == 0 || layer->opacity <= 0)
        return;
    float place[4];
    target_place(target, (Rect){layer->x + part.x, layer->y + part.y, part.width, part.height},
                 place);
    gl->BindTexture(GL_TEXTURE_2D, layer->texture);
    gl->Uniform4f(program->at.place, place[0], place[1], place[2], place[3]);
    gl->UniformMatrix2fv(program->at.turn, 1, GL_FALSE, upright);
    gl->Uniform1f(program->at.opacity, (float)layer->opacity);
    if (layer->opaque && layer->opacity >= 1)
        gl->Disable(GL_BLEND);
    else
        gl->Enable(GL_BLEND);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void layer_free(const Gl *gl, Layer *layer)
{
    if (layer->texture)
        gl->DeleteTextures(1, &layer->texture);
    *layer = (Layer){0};
}
