/* The view's programs for the GPU, built when first needed from the sources in shaders/. */
#ifndef LUMEQ_PLAYER_VIEW_SHADERS_H
#define LUMEQ_PLAYER_VIEW_SHADERS_H

#include <stddef.h>

#include "player/view/gl.h"

/* The embedded sources; {0} ends them. */
typedef struct ViewShader {
    const char *name; /* of the file */
    const char *text;
} ViewShader;

extern const ViewShader view_shaders[];

#define UNIFORM_EACH(uniform)                                                                      \
    uniform(place) uniform(turn) uniform(chroma_scale) uniform(chroma_shift) uniform(plane0)       \
        uniform(plane1) uniform(plane2) uniform(matrix) uniform(offset) uniform(luma_step)         \
            uniform(chroma_step) uniform(gamut) uniform(tone) uniform(axis) uniform(ratio)         \
                uniform(opacity)

typedef struct Program {
    GLuint id; /* 0: not built */
    struct {
#define UNIFORM_MEMBER(name) GLint name;
        UNIFORM_EACH(UNIFORM_MEMBER)
#undef UNIFORM_MEMBER
    } at; /* -1 where it has none */
} Program;

typedef enum ProgramLight {
    LIGHT_AS_IS = 0,
    LIGHT_GAMUT,
    LIGHT_PQ,
    LIGHT_HLG,
    LIGHTS,
} ProgramLight;

#define PROGRAM_PLANES 3

/* What one program that draws planes is made for. */
typedef struct PictureKind {
    int planes; /* 1 to PROGRAM_PLANES */
    ProgramLight light;
    int luma_taps[2], chroma_taps[2]; /* samples averaged for a pixel, across and down */
} PictureKind;

typedef struct Programs {
    const Gl *gl;
    Program picture[PROGRAM_PLANES][LIGHTS]; /* by planes - 1 and light, with 1 x 1 taps */
    Program smaller;                         /* the last one with more taps */
    PictureKind smaller_kind;
    Program scale, layer;
} Programs;

/* Each answers a program that has been made current, or NULL with a sentence in `why`. */
const Program *programs_use_picture(Programs *programs, const PictureKind *kind, char *why,
                                    size_t size);
const Program *programs_use_scale(Programs *programs, char *why, size_t size);
const Program *programs_use_layer(Programs *programs, char *why, size_t size);

/* Takes {0} as well. */
void programs_close(Programs *programs);

#endif
