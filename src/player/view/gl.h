/* The OpenGL 3.3 functions that the view uses, loaded at run time. */
#ifndef LUMEQ_PLAYER_GL_H
#define LUMEQ_PLAYER_GL_H

#define GL_GLEXT_PROTOTYPES /* only for the types; calls use struct Gl */
#include <stdbool.h>

#include <SDL_opengl.h>

#include "media/error.h"

/* clang-format off */
#define GL_EACH(F)                                                                              \
    F(ActiveTexture) F(AttachShader) F(BindFramebuffer) F(BindSampler) F(BindTexture)           \
    F(BindVertexArray) F(BlendFuncSeparate) F(CheckFramebufferStatus) F(Clear) F(ClearColor)    \
    F(CompileShader) F(CreateProgram) F(CreateShader) F(DeleteFramebuffers) F(DeleteProgram)    \
    F(DeleteSamplers) F(DeleteShader) F(DeleteTextures) F(DeleteVertexArrays) F(Disable)        \
    F(DrawArrays) F(Enable) F(Flush) F(FramebufferTexture2D) F(GenFramebuffers) F(GenSamplers)  \
    F(GenTextures) F(GenVertexArrays) F(GenerateMipmap) F(GetError) F(GetIntegerv)              \
    F(GetProgramInfoLog) F(GetProgramiv) F(GetShaderInfoLog) F(GetShaderiv) F(GetString)        \
    F(GetUniformLocation) F(LinkProgram) F(PixelStorei) F(ReadPixels) F(SamplerParameteri)      \
    F(Scissor) F(ShaderSource) F(TexImage2D) F(TexParameteri) F(TexSubImage2D) F(Uniform1f)     \
    F(Uniform1i) F(Uniform2f) F(Uniform3fv) F(Uniform4f) F(UniformMatrix2fv)                    \
    F(UniformMatrix3fv) F(UseProgram) F(Viewport)
/* clang-format on */

typedef struct Gl {
#define GL_MEMBER(name) __typeof__(&gl##name) name;
    GL_EACH(GL_MEMBER)
#undef GL_MEMBER
} Gl;

/* Loads the functions. An OpenGL context must be current now and for calls of these functions.
 * Returns 0, or -1 with an error that names the missing function. */
int gl_load(Gl *gl, MediaError *error);

/* Clears OpenGL's errors. Returns 0 if there were none, or -1 with a sentence about the first
 * error. `doing`: the operation that may have failed, such as "the upload of a frame". */
int gl_check(const Gl *gl, const char *doing, MediaError *error);

/* True if this renderer runs on the CPU. */
bool gl_is_software(const char *renderer);

#endif
