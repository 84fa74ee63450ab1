/* Luma of blocks spread over a picture, before and after: local contrast, and noise by two frames
 * that follow each other. What they cost does not grow with the picture. */
#ifndef LUMEQ_REPORT_SAMPLES_H
#define LUMEQ_REPORT_SAMPLES_H

#include <stdint.h>

#include "lumeq/lumeq.h"
#include "media/convert.h"
#include "report/report_figures.h"

#define BLOCK_SIDE 8
#define BLOCK_COLUMNS 40
#define BLOCK_ROWS 25
#define BLOCKS_MOST (BLOCK_COLUMNS * BLOCK_ROWS)

/* Codes of one frame, before or after. */
typedef struct BlockSamples {
    int count; /* of blocks */
    int depth;
    LumeqRect active; /* of the picture they were taken in */
    uint16_t code[BLOCKS_MOST][BLOCK_SIDE * BLOCK_SIDE];
} BlockSamples;

/* Of a frame in a direct format; none where the active picture has no room for one. */
void block_samples_take(BlockSamples *samples, const AVFrame *frame, LumeqRect active);

/* The mean of the blocks' standard deviations, in codes of 8 bits; NAN without blocks. */
double block_samples_contrast(const BlockSamples *samples);

/* Two frames, the source and what became of it. */
typedef struct BlockPair {
    const BlockSamples *before, *after;
} BlockPair;

/*
 * Noise in codes of 8 bits, before and after, by the frame that was shown before this one. It is
 * told by the darker half of the blocks that are not black, by those of them that stand still in
 * the source: a quarter of them at least, or it is light that moves, and BLOCK_STILL at least. 0,
 * or -1 where there are fewer, where the frame is the same as before, or where frames are of
 * different kinds.
 */
int block_samples_noise(const BlockPair *now, const BlockPair *then, double black, double noise[2]);

#define BLOCK_STILL 8

typedef struct ReportSamples {
    int black; /* of the source, a code of 8 bits */
    BlockSamples of[REPORT_SIDES];
} ReportSamples;

/* Of a frame as it came and as it became, both in direct formats. */
void report_samples_take(ReportSamples *samples, const AVFrame *in, const AVFrame *out,
                         LumeqRect active);

/* Without blocks, as of a frame that is not there. */
void report_samples_clear(ReportSamples *samples);

/* Sets the frame's noise by its samples and those of the frame before it; REPORT_UNKNOWN where it
 * is not known, as at a cut. */
void report_samples_noise(const ReportSamples *now, const ReportSamples *then, ReportFrame *frame);

#endif
