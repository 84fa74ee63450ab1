#include "player/view/view_shaders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "player/why.h"

#define VERSION "#version 330 core\n"

/* Environment variable: load shaders from this folder, for development. */
#define FOLDER_VARIABLE "LUMEQ_SHADER_DIR"

#define MAX_SOURCE 65536
#define MAX_LOG 512

static char *read_source(const char *folder, const char *name, char *why, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, MAX_SOURCE) : NULL;
    const size_t read = text ? fread(text, 1, MAX_SOURCE - 1, file) : 0;
    if (!read || ferror(file)) {
        why_fail(why, size, "the shader %s cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Returns the source of a shader; free it with free(). NULL with `why` set on error. */
static char *source_of(const char *name, char *why, size_t size)
{
    const char *folder = getenv(FOLDER_VARIABLE);
    if (folder && folder[0])
        return read_source(folder, name, why, size);
    for (const ViewShader *shader = view_shaders; shader->name; shader++)
        if (!strcmp(shader->name, name)) {
            char *text = strdup(shader->text);
            if (!text)
                why_fail(why, size, "out of memory");
            return text;
        }
    why_fail(why, size, "there is no shader %s", name);
    return NULL;
}

/* Returns 0, or -1 with the compiler's message. */
static int compile(const Gl *gl, GLuint shader, const char *name, const char *const *texts,
                   int count, char *why, size_t size)
{
    GLint ok = 0;
    gl->ShaderSource(shader, count, texts, NULL);
    gl->CompileShader(shader);
    gl->GetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return 0;
    char log[MAX_LOG] = "";
    gl->GetShaderInfoLog(shader, sizeof(log), NULL, log);
    return why_fail(why, size, "the OpenGL driver cannot compile %s: %s", name, log);
}

/* Compiles and attaches one stage; the program keeps the shader object alive. */
static int add_stage(const Gl *gl, GLuint program, GLenum stage, const char *name,
                     const char *defines, const char *before, char *why, size_t size)
{
    char *first = before ? source_of(before, why, size) : NULL;
    char *text = !before || first ? source_of(name, why, size) : NULL;
    int ret = -1;
    if (text) {
        const char *texts[] = {VERSION, defines, first ? first : "", text};
        const GLuint shader = gl->CreateShader(stage);
        ret = compile(gl, shader, name, texts, 4, why, size);
        gl->AttachShader(program, shader);
        gl->DeleteShader(shader);
    }
    free(first);
    free(text);
    return ret;
}

static int link(const Gl *gl, GLuint program, const char *name, char *why, size_t size)
{
    GLint ok = 0;
    gl->LinkProgram(program);
    gl->GetProgramiv(program, GL_LINK_STATUS, &ok);
    if (ok)
        return 0;
    char log[MAX_LOG] = "";
    gl->GetProgramInfoLog(program, sizeof(log), NULL, log);
    return why_fail(why, size, "the OpenGL driver cannot link %s: %s", name, log);
}

static void find_uniforms(const Gl *gl, Program *program)
{
#define UNIFORM_FIND(name) program->at.name = gl->GetUniformLocation(program->id, #name);
    UNIFORM_EACH(UNIFORM_FIND)
#undef UNIFORM_FIND
    gl->UseProgram(program->id);
    gl->Uniform1i(program->at.plane0, 0);
    gl->Uniform1i(program->at.plane1, 1);
    gl->Uniform1i(program->at.plane2, 2);
}

static int build(const Gl *gl, Program *program, const char *name, const char *defines,
                 const char *before, char *why, size_t size)
{
    const GLuint id = gl->CreateProgram();
    if (add_stage(gl, id, GL_VERTEX_SHADER, "quad.vert", "", NULL, why, size) < 0 ||
        add_stage(gl, id, GL_FRAGMENT_SHADER, name, defines, before, why, size) < 0 ||
        link(gl, id, name, why, size) < 0) {
        gl->DeleteProgram(id);
        return -1;
    }
    program->id = id;
    find_uniforms(gl, program);
    return gl_check(gl, "the building of a shader", why, size);
}

static const Program *use(const Gl *gl, Program *program, const char *name, const char *defines,
                          const char *before, char *why, size_t size)
{
    if (!program->id && build(gl, program, name, defines, before, why, size) < 0)
        return NULL;
    gl->UseProgram(program->id);
    return program;
}

static int has_one_tap(const PictureKind *kind)
{
    return kind->luma_taps[0] * kind->luma_taps[1] * kind->chroma_taps[0] * kind->chroma_taps[1] ==
           1;
}

static void forget(const Gl *gl, Program *program)
{
    if (program->id)
        gl->DeleteProgram(program->id);
    *program = (Program){0};
}

const Program *programs_use_picture(Programs *programs, const PictureKind *kind, char *why,
                                    size_t size)
{
    Program *program = &programs->picture[kind->planes - 1][kind->light];
    if (!has_one_tap(kind)) {
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
               kind->light != LIGHT_AS_IS ? "light.glsl" : NULL, why, size);
}

const Program *programs_use_scale(Programs *programs, char *why, size_t size)
{
    return use(programs->gl, &programs->scale, "scale.frag", "", NULL, why, size);
}

const Program *programs_use_layer(Programs *programs, char *why, size_t size)
{
    return use(programs->gl, &programs->layer, "layer.frag", "", NULL, why, size);
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
