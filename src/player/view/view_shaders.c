#include "player/view/view_shaders.h"

#include <stdio.h>
#include <string.h>

#define VERSION "#version 330 core\n"

#define MAX_LOG 512

static const char *source_of(const char *name)
{
    const ViewShader *shader = view_shaders;
    while (strcmp(shader->name, name) != 0)
        shader++;
    return shader->text;
}

/* Returns 0, or -1 with the compiler's message. */
static int compile(const Gl *gl, GLuint shader, const char *name, const char *const *texts,
                   int count, MediaError *error)
{
    GLint ok = 0;
    gl->ShaderSource(shader, count, texts, NULL);
    gl->CompileShader(shader);
    gl->GetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return 0;
    char log[MAX_LOG] = "";
    gl->GetShaderInfoLog(shader, sizeof(log), NULL, log);
    return media_fail(error, MEDIA_INPUT, "the OpenGL driver cannot compile %s: %s", name, log);
}

/* Compiles and attaches one stage. `before`: a source to put before the stage's source, or NULL. */
static int add_stage(const Gl *gl, GLuint program, GLenum stage, const char *name,
                     const char *defines, const char *before, MediaError *error)
{
    const char *texts[] = {VERSION, defines, before ? source_of(before) : "", source_of(name)};
    const GLuint shader = gl->CreateShader(stage);
    const int ret = compile(gl, shader, name, texts, 4, error);
    gl->AttachShader(program, shader);
    gl->DeleteShader(shader);
    return ret;
}

static int build(const Gl *gl, Program *program, const char *name, const char *defines,
                 const char *before, MediaError *error)
{
    const GLuint id = gl->CreateProgram();
    GLint linked = 0;
    int ret = add_stage(gl, id, GL_VERTEX_SHADER, "quad.vert", "", NULL, error);
    if (ret >= 0)
        ret = add_stage(gl, id, GL_FRAGMENT_SHADER, name, defines, before, error);
    if (ret >= 0) {
        gl->LinkProgram(id);
        gl->GetProgramiv(id, GL_LINK_STATUS, &linked);
    }
    if (ret >= 0 && !linked) {
        char log[MAX_LOG] = "";
        gl->GetProgramInfoLog(id, sizeof(log), NULL, log);
        ret = media_fail(error, MEDIA_INPUT, "the OpenGL driver cannot link %s: %s", name, log);
    }
    if (ret < 0) {
        gl->DeleteProgram(id);
        return ret;
    }
    program->id = id;
#define UNIFORM_FIND(name) program->at.name = gl->GetUniformLocation(program->id, #name);
    UNIFORM_EACH(UNIFORM_FIND)
#undef UNIFORM_FIND
    gl->UseProgram(program->id);
    gl->Uniform1i(program->at.plane0, 0);
    gl->Uniform1i(program->at.plane1, 1);
    gl->Uniform1i(program->at.plane2, 2);
    return gl_check(gl, "building a shader", error);
}

static const Program *use(const Gl *gl, Program *program, const char *name, const char *defines,
                          const char *before, MediaError *error)
{
    if (!program->id && build(gl, program, name, defines, before, error) < 0)
        return NULL;
    gl->UseProgram(program->id);
    return program;
}

static void forget(const Gl *gl, Program *program)
{
    if (program->id)
        gl->DeleteProgram(program->id);
    *program = (Program){0};
}

const Program *programs_use_picture(Programs *programs, const PictureKind *kind, MediaError *error)
{
    Program *program = &programs->picture[kind->planes - 1][kind->light];
    if (kind->luma_taps[0] * kind->luma_taps[1] * kind->chroma_taps[0] * kind->chroma_taps[1] > 1) {
        program = &programs->smaller;
        if (memcmp(kind, &programs->smaller_kind, sizeof(*kind)) != 0)
            forget(programs->gl, program);
        programs->smaller_kind = *kind;
    }
    char defines[192];
    snprintf(defines, sizeof(defines),
             "#define PLANES %d\n#define LIGHT %d\n#define LUMA_TAPS ivec2(%d, %d)\n"
             "#define CHROMA_TAPS ivec2(%d, %d)\n",
             kind->planes, (int)kind->light, kind->luma_taps[0], kind->luma_taps[1],
             kind->chroma_taps[0], kind->chroma_taps[1]);
    return use(programs->gl, program, "picture.frag", defines,
               kind->light != LIGHT_AS_IS ? "light.glsl" : NULL, error);
}

const Program *programs_use_scale(Programs *programs, MediaError *error)
{
    return use(programs->gl, &programs->scale, "scale.frag", "", NULL, error);
}

const Program *programs_use_layer(Programs *programs, MediaError *error)
{
    return use(programs->gl, &programs->layer, "layer.frag", "", NULL, error);
}

void programs_close(Programs *programs)
{
    Program *pictures = &programs->picture[0][0];
    for (size_t i = 0; i < sizeof(programs->picture) / sizeof(Program); i++)
        forget(programs->gl, &pictures[i]);
    forget(programs->gl, &programs->smaller);
    forget(programs->gl, &programs->scale);
    forget(programs->gl, &programs->layer);
}
