/* The functions of OpenGL 3.3 that the view calls, found at run time: no library is linked. */
#ifndef LUMEQ_PLAYER_GL_H
#define LUMEQ_PLAYER_GL_H

#include <stddef.h>

#define GL_GLEXT_PROTOTYPES /* for the types alone: the functions are called through the table */
#include <SDL_opengl.h>

#define GL_EACH(function)                                                                          \
    function(ActiveTexture) function(AttachShader) function(BindBuffer) function(                  \
        BindFramebuffer) function(BindSampler) function(BindTexture) function(BindVertexArray)     \
        function(BlendFuncSeparate) function(BufferData) function(                                 \
            CheckFramebufferStatus) function(Clear) function(ClearColor) function(CompileShader)   \
            function(CreateProgram) function(CreateShader) function(DeleteBuffers) function(       \
                DeleteFramebuffers) function(DeleteProgram) function(DeleteSamplers)               \
                function(DeleteShader) function(DeleteTextures) function(DeleteVertexArrays)       \
                    function(Disable) function(DrawArrays) function(Enable) function(              \
                        FramebufferTexture2D) function(GenBuffers) function(GenFramebuffers)       \
                        function(GenSamplers) function(GenTextures) function(GenVertexArrays)      \
                            function(GetError) function(GetIntegerv) function(GetProgramInfoLog)   \
                                function(GetProgramiv) function(GetShaderInfoLog) function(        \
                                    GetShaderiv) function(GetString) function(GetUniformLocation)  \
                                    function(LinkProgram) function(MapBufferRange)                 \
                                        function(PixelStorei) function(ReadPixels) function(       \
                                            SamplerParameteri) function(Scissor)                   \
                                            function(ShaderSource) function(TexImage2D)            \
                                                function(TexParameteri) function(TexSubImage2D)    \
                                                    function(Uniform1f) function(Uniform1i)        \
                                                        function(Uniform2f) function(Uniform3fv)   \
                                                            function(Uniform4f)                    \
                                                                function(UniformMatrix2fv)         \
                                                                    function(UniformMatrix3fv)     \
                                                                        function(UnmapBuffer)      \
                                                                            function(UseProgram)   \
                                                                                function(Viewport)

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

#endif
