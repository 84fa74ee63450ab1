/* The filter of lifted pictures on the CPU: a band of a picture, row by row. */
#ifndef LUMEQ_LIFT_CPU_H
#define LUMEQ_LIFT_CPU_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/lift_kernels.h"

/* A picture that is lifted: the active one of a frame, or one of its fields. */
typedef struct LiftedPicture {
    const LiftKernels *kernels;
    const CurveParams *params;
    const CurveTable *table;
    LumeqImage in, out, past[LIFT_PAST]; /* past: newest first */
    int past_count;                      /* of them, as many as are used */
    int chroma_rows;
    int frame_rows; /* of the whole frame's active picture */
} LiftedPicture;

/* Bytes that one band works in. */
size_t lumeq_lift_memory(const LiftedPicture *picture);

/* Writes rows of the output, from `y` to before `end`. Several threads may work on rows of their
 * own, each in memory of its own, at a multiple of 64, whose bytes may be any. */
void lumeq_lift_luma(const LiftedPicture *picture, void *memory, int y, int end);
void lumeq_lift_chroma(const LiftedPicture *picture, void *memory, int y, int end);

#endif
