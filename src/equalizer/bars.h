/*
 * Black bars at the edges of video frames (letterbox, pillarbox or both). Backends count a profile
 * of each frame; rule/bars.c detects bars from it. For C and CUDA.
 *
 * A profile is the number of lit (not black) samples in each row and in each column. Only a subset
 * of the frame's samples is counted.
 */
#ifndef LUMEQ_BARS_H
#define LUMEQ_BARS_H

#include <stdint.h>

#include "equalizer/samples.h"
#include "lumeq/lumeq.h"

/* In each row, all samples are counted; in wide frames, only BARS_BLOCKS evenly spaced blocks. */
#define BARS_BLOCK 16
#define BARS_BLOCKS 15
#define BARS_ROW_SAMPLES (BARS_BLOCK * BARS_BLOCKS)

/* In each column, about this many evenly spaced samples are counted, at most 255. */
#define BARS_COLUMN_SAMPLES 128

#define BARS_BLACK_MARGIN 8 /* in codes of 8 bits; more than compression noise in bars */

#define BARS_ALIGNMENT 4 /* a multiple of any chroma subsampling */

enum { BARS_COLUMNS, BARS_ROWS, BARS_DIRECTIONS };

/* State of two opposite sides: left and right, or top and bottom. */
typedef struct BarsPair {
    int32_t known;    /* the picture's edges have been found on both sides */
    int32_t held[2];  /* size of the confirmed bars; 0: no bar */
    int32_t found[2]; /* candidate bars, not confirmed yet */
    int64_t since;    /* nanoseconds since the candidates appeared */
} BarsPair;

/* History for the next frame, and result of this one. Zero: empty history. */
typedef struct BarsState {
    int32_t width, height, depth, range;
    BarsPair pair[BARS_DIRECTIONS];
    LumeqRect active; /* the picture; its edges are multiples of 4, or edges of the frame */
    uint32_t area;    /* number of samples in bars */
    int32_t grew;     /* the bars grew with this frame */
} BarsState;

typedef struct BarsParams {
    int32_t width, height, depth, shift, range;
    int32_t ignore; /* ignore bars: the active picture is the whole frame; the history is kept */
    int64_t step;   /* nanoseconds since the previous frame */
} BarsParams;

/* The lowest sample value that counts as lit. */
CURVE_INLINE uint32_t bars_lit(const BarsParams *p)
{
    const uint32_t black = p->range == LUMEQ_RANGE_FULL ? 0 : 16;
    return (((black + BARS_BLACK_MARGIN) << (p->depth - 8)) + 1) << p->shift;
}

CURVE_INLINE int bars_blocks(int width)
{
    return width > BARS_ROW_SAMPLES ? BARS_BLOCKS : (width + BARS_BLOCK - 1) / BARS_BLOCK;
}

/* The first sample of a block. */
CURVE_INLINE int bars_block(int width, int block)
{
    return width > BARS_ROW_SAMPLES ? (width - BARS_BLOCK) * block / (BARS_BLOCKS - 1)
                                    : BARS_BLOCK * block;
}

CURVE_INLINE int bars_block_size(int width, int block)
{
    const int left = width - bars_block(width, block);
    return left < BARS_BLOCK ? left : BARS_BLOCK;
}

/* The step that samples about `wanted` of `size` lines. It is odd, so that patterns with an even
 * period, such as interlacing, are not sampled at one phase only. */
CURVE_INLINE int bars_one_in(int size, int wanted)
{
    return (size / wanted) | 1;
}

/* Columns are counted only in every n-th row. Returns n. */
CURVE_INLINE int bars_row_step(int height)
{
    return bars_one_in(height, BARS_COLUMN_SAMPLES);
}

/* The first row in which columns are counted. */
CURVE_INLINE int bars_first_row(int height)
{
    return bars_row_step(height) / 2;
}

/* Returns the next state. `before`: the history. `lit`: the frame's profile, by column and by row;
 * NULL if bars are ignored. */
BarsState bars_update(const BarsParams *p, const BarsState *before,
                      uint8_t *const lit[BARS_DIRECTIONS]);

#endif
