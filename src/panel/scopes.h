/* Counts samples for the waveform (luma by column) and the vectorscope (chroma). */
#ifndef LUMEQ_PANEL_SCOPES_H
#define LUMEQ_PANEL_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#define SCOPES_LEVELS 256  /* a level is the upper 8 bits of a luma, Cb or Cr code */
#define SCOPES_COLUMNS 320 /* maximum columns of the waveform */

/* One component in display orientation: sample (x, y) is at first + x * column + y * row bytes.
 * Borrowed. */
typedef struct ScopesPlane {
    const uint8_t *first; /* NULL: none */
    ptrdiff_t column, row;
    int width, height;
    int bytes;        /* bytes per sample, 1 or 2 (little-endian) */
    int depth, shift; /* a sample is code << shift */
} ScopesPlane;

typedef struct ScopesPicture {
    ScopesPlane luma, cb, cr; /* cb and cr have the same size */
    double kr, kb;            /* luma weights of red and blue */
    int full_range;           /* else 8-bit luma is 16..235 and chroma 16..240 */
} ScopesPicture;

typedef struct Scopes {
    int columns;    /* columns of the waveform: the picture's width, at most SCOPES_COLUMNS */
    int has_chroma; /* 0: gray, no vectors */
    double kr, kb;
    int full_range;
    uint32_t waveform[SCOPES_COLUMNS][SCOPES_LEVELS]; /* by column, level */
    uint32_t vectors[SCOPES_LEVELS][SCOPES_LEVELS];   /* by Cr, Cb */
    uint32_t column_samples;                          /* most samples that a column can have */
    uint32_t most_vectors;                            /* highest count in `vectors` */
} Scopes;

/* Larger pictures are subsampled in equal steps to at most this size. */
#define SCOPES_MOST_COLUMNS 960
#define SCOPES_MOST_ROWS 270

/* The smallest sampling step that takes at most `most` of `length` samples. */
int scopes_step(int length, int most);

/* Clears all counts and counts a picture's samples. */
void scopes_count(Scopes *scopes, const ScopesPicture *picture);

#endif
