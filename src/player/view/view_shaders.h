/* The view's shader programs, built on first use from the sources in shaders/. */
#ifndef LUMEQ_PLAYER_VIEW_SHADERS_H
#define LUMEQ_PLAYER_VIEW_SHADERS_H

#include <stddef.h>

#include "player/view/gl.h"

/* The embedded sources; ends with {0}. */
typedef struct ViewShader {
    const char *name; /* file name */
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
    } at; /* locations; -1: not used */
} Program;

/* The conversion of the stream's light to the screen's; see light.glsl. */
typedef enum ProgramLight {
    LIGHT_AS_IS = 0,
    LIGHT_GAMUT,
    LIGHT_PQ,
    LIGHT_HLG,
    LIGHTS,
} ProgramLight;

#define PROGRAM_PLANES 3

/* A variant of the program that draws planes. */
typedef struct PictureKind {
    int planes; /* 1 to PROGRAM_PLANES */
    ProgramLight light;
    int luma_taps[2], chroma_taps[2]; /* samples averaged per pixel, horizontally and vertically */
} PictureKind;

typedef struct Programs {
    const Gl *gl;
    Program picture[PROGRAM_PLANES][LIGHTS]; /* by planes - 1 and light, with 1 x 1 taps */
    Program smaller;                         /* the variant with more taps that was used last */
    PictureKind smaller_kind;
    Program scale, layer;
} Programs;

/* Make a program current and return it, or NULL with an error. */
const Program *programs_use_picture(Programs *programs, const PictureKind *kind, MediaError *error);
const Program *programs_use_scale(Programs *programs, MediaError *error);
const Program *programs_use_layer(Programs *programs, MediaError *error);

/* {0} is allowed. */
void programs_close(Programs *programs);

#endif
