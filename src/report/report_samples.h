/* Measures local contrast in luma blocks that are spread over the picture, and noise in the same
 * blocks of two consecutive frames. The cost does not depend on the picture's size. */
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

/* Blocks of one frame, before or after equalizing. */
typedef struct BlockSamples {
    int count;
    int depth;
    LumeqRect active;
    uint16_t code[BLOCKS_MOST][BLOCK_SIDE * BLOCK_SIDE];
} BlockSamples;

/* Takes blocks of a frame in a direct format (convert.h); none if `active` is too small. */
void block_samples_take(BlockSamples *samples, const AVFrame *frame, LumeqRect active);

/* Mean of the blocks' standard deviations in 8-bit codes; NAN without blocks. */
double block_samples_contrast(const BlockSamples *samples);

/* The blocks of a source frame and of its output. */
typedef struct ReportSamples {
    int black; /* the source's code of black, in 8 bits */
    BlockSamples of[REPORT_SIDES];
} ReportSamples;

#define BLOCK_STILL 8 /* minimum number of still blocks to measure noise */

/* Measures noise in 8-bit codes, before and after, from the difference to the previous frame. Uses
 * still blocks in the darker half of the source's blocks, not counting black ones. Returns 0, or -1
 * if fewer than BLOCK_STILL blocks or a quarter of that half are still, the source repeats the
 * previous frame, or the depth or active area changed. */
int block_samples_noise(const ReportSamples *now, const ReportSamples *then,
                        double noise[REPORT_SIDES]);

#endif
