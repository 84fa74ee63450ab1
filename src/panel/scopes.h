/* What scopes count of a picture: luma by column, and chroma by its two components. Plain numbers:
 * it knows neither where the samples come from nor what they are shown on. */
#ifndef LUMEQ_PANEL_SCOPES_H
#define LUMEQ_PANEL_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#define SCOPES_LEVELS 256  /* of luma, Cb and Cr: the upper 8 bits of a code */
#define SCOPES_COLUMNS 320 /* at most, beside each other */

/* Samples of one component as they are watched: the one at (x, y) is x * column + y * row bytes
 * from the first. Borrowed. */
typedef struct ScopesPlane {
    const uint8_t *first; /* NULL: there is none */
    ptrdiff_t column, row;
    int width, height;
    int bytes;        /* of a sample, 1 or 2 (little-endian) */
    int depth, shift; /* it holds code << shift */
} ScopesPlane;

typedef struct ScopesPicture {
    ScopesPlane luma, cb, cr; /* the last two are of one size */
    double kr, kb;            /* weights of red and blue in luma */
    int full_range;           /* else luma is 16..235 and chroma 16..240, of 8 bits */
} ScopesPicture;

typedef struct Scopes {
    int columns;    /* of the waveform: the picture's, SCOPES_COLUMNS at most */
    int has_chroma; /* 0: a gray picture, of which no vectors are counted */
    double kr, kb;
    int full_range;
    uint32_t waveform[SCOPES_COLUMNS][SCOPES_LEVELS]; /* by column, level */
    uint32_t vectors[SCOPES_LEVELS][SCOPES_LEVELS];   /* by Cr, Cb */
    uint32_t column_samples; /* counted in one column of the waveform, at most */
    uint32_t most_vectors;   /* the greatest count of `vectors` */
} Scopes;

/* Of a side that is longer, samples in even steps are enough: every second, third one and so on. */
#define SCOPES_MOST_COLUMNS 960
#define SCOPES_MOST_ROWS 270

/* The step that takes `most` of them at most. Those that are taken are all taken of a picture that
 * has only those. */
int scopes_step(int length, int most);

/* Counts anew. */
void scopes_count(Scopes *scopes, const ScopesPicture *picture);

#endif
