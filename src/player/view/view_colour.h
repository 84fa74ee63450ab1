/* Conversion from frame codes to screen colours, as uniforms for the shader. */
#ifndef LUMEQ_PLAYER_VIEW_COLOUR_H
#define LUMEQ_PLAYER_VIEW_COLOUR_H

#include "media/picture_format.h"

typedef struct ViewColour {
    /* R'G'B' = matrix * texture values (Y, then chroma in frame order) + offset. Column-major. */
    float matrix[9], offset[3];
    /* Linear light of the stream to that of the screen. Column-major. */
    float gamut[9];
    /* Tone mapping in PQ codes: the stream's peak; then, relative to it, the screen's peak and the
     * knee. */
    float tone[3];
} ViewColour;

ViewColour view_colour(const PictureFormat *format);

#endif
