#include "player/view/view_target.h"

#include <stdlib.h>

#include "player/why.h"

int scratch_make(const Gl *gl, Scratch *s, GLint format, int width, int height, char *why,
                 size_t size)
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
    int ret = gl_check(gl, "making a texture to draw into", why, size);
    if (ret == 0 && status != GL_FRAMEBUFFER_COMPLETE)
        ret = why_fail(why, size, "OpenGL cannot draw into a texture of %dx%d (0x%04X)", width,
                       height, status);
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

/* OpenGL counts rows from the bottom of a window. */
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

int target_read(const Gl *gl, const Target *target, const Canvas *canvas, char *why, size_t size)
{
    const size_t row = (size_t)target->width * 4;
    uint8_t *pixels = malloc(row * (size_t)target->height);
    if (!pixels)
        return why_fail(why, size, "out of memory");
    gl->BindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->ReadPixels(0, 0, target->width, target->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int y = 0; y < target->height; y++)
        memcpy(canvas->pixels + y * canvas->stride, pixels + (size_t)y * row, row);
    free(pixels);
    return gl_check(gl, "reading back a picture", why, size);
}
