/* Black bars at the edges of a video's pictures: letterbox, pillarbox or both. */
#ifndef LUMEQ_BARS_H
#define LUMEQ_BARS_H

#include "lumeq/lumeq.h"

/* The two sides that face each other: top and bottom, or left and right. */
typedef struct LumeqBarsPair {
    int known;     /* a frame has told where the picture begins on both sides */
    int held[2];   /* size of the bars, 0: none */
    int found[2];  /* bars that are not held yet */
    int64_t since; /* nanoseconds for which they have been found */
} LumeqBarsPair;

/* What the frames before have told; zero: nothing. Plain data. */
typedef struct LumeqBarsState {
    int width, height, depth;
    LumeqRange range;
    LumeqBarsPair pair[2]; /* left and right, top and bottom */
} LumeqBarsState;

/*
 * Looks at the next frame, `step` nanoseconds after the one before, and answers its active picture:
 * the whole frame when there are no bars. Its edges are multiples of 4 or those of the frame. `in`
 * is in host memory; another size, depth or range than before starts anew.
 */
LumeqRect lumeq_bars_update(LumeqBarsState *state, const LumeqImage *in, int64_t step);

#endif
