/* The functions of OpenGL 3.3 that the view calls, found at run time: no library is linked. */
#ifndef LUMEQ_PLAYER_GL_H
#define LUMEQ_PLAYER_GL_H

#include <stddef.h>

#define GL_GLEXT_PROTOTYPES /* for the types alone: the functions are called through the table */
#include <SDL_opengl.h>

/* clang-format off */
#define GL_EACH(F)                                                                              \
    F(ActiveTexture) F(AttachShader) F(BindBuffer) F(BindFramebuffer) F(BindSampler)            \
    F(BindTexture) F(BindVertexArray) F(BlendFuncSeparate) F(BufferData)                        \
    F(CheckFramebufferStatus) F(Clear) F(ClearColor) F(CompileShader) F(CreateProgram)          \
    F(CreateShader) F(DeleteBuffers) F(DeleteFramebuffers) F(DeleteProgram)                     \
    F(DeleteSamplers) F(DeleteShader) F(DeleteTextures) F(DeleteVertexArrays) F(Disable)        \
    F(DrawArrays) F(Enable) F(Flush) F(FramebufferTexture2D) F(GenBuffers)                      \
    F(GenFramebuffers) F(GenSamplers) F(GenTextures) F(GenVertexArrays) F(GetError)             \
    F(GetIntegerv) F(GetProgramInfoLog) F(GetProgramiv) F(GetShaderInfoLog) F(GetShaderiv)      \
    F(GetString) F(GetUniformLocation) F(LinkProgram) F(MapBufferRange) F(PixelStorei)          \
    F(ReadPixels) F(SamplerParameteri) F(Scissor) F(ShaderSource) F(TexImage2D)                 \
    F(TexParameteri) F(TexSubImage2D) F(Uniform1f) F(Uniform1i) F(Uniform2f) F(Uniform3fv)      \
    F(Uniform4f) F(UniformMatrix2fv) F(UniformMatrix3fv) F(UnmapBuffer) F(UseProgram)           \
    F(Viewport)
/* clang-format on */

typedef struct Gl {
#define GL_MEMBER(name) __typeof__(&gl##name) name;
    GL_EACH(GL_MEMBER)
#undef GL_MEMBER
} Gl;

/* A context must be current on the calling thread, and is for all uses of the table. 0, or -1 with
 * the name of the function that is missing in `why`. */
int gl_load(Gl *gl, char *why, size_t size);

/* Takes all errors noted since the last call: 0 when there were none, or -1 with a sentence that
 * says what they came from, `doing` ("the upload of a frame"). */
int gl_check(const Gl *gl, const char *doing, char *why, size_t size);

/* Whether the driver that has called itself that is a CPU's. */
int gl_is_software(const char *renderer);

#endif
