/* From the codes of a frame to those of the screen: the numbers that the shader works with. */
#ifndef LUMEQ_PLAYER_VIEW_COLOUR_H
#define LUMEQ_PLAYER_VIEW_COLOUR_H

#include "media/picture_format.h"

typedef struct ViewColour {
    /* R'G'B' = matrix * texture values (Y, then chroma in the order of the frame) + offset. By
     * columns. */
    float matrix[9], offset[3];
    /* Linear light of the stream to that of the screen, by columns. */
    float gamut[9];
    /* Tone mapping, all as codes of PQ: the stream's peak, then, as shares of it, the screen's peak
     * and the knee above which tones are compressed. */
    float tone[3];
} ViewColour;

ViewColour view_colour(const PictureFormat *format);

#endif
