/* Filters lifted pictures on the CPU: each call filters a band of a picture, row by row. */
#ifndef LUMEQ_LIFT_CPU_H
#define LUMEQ_LIFT_CPU_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/lift_kernels.h"

/* A lifted picture: the active picture of a frame, or one of its fields. */
typedef struct LiftedPicture {
    const LiftKernels *kernels;
    const CurveParams *params;
    const CurveTable *table;
    LumeqImage in, out, past[LIFT_PAST]; /* past: newest first */
    int past_count;                      /* number of past frames to use */
    int chroma_rows;                     /* of `in` */
    int frame_rows;                      /* luma rows of the whole frame's active picture */
} LiftedPicture;

/* Bytes of memory that each call of the following functions needs. */
size_t lumeq_lift_memory(const LiftedPicture *picture);

/* Write rows [y, end) of the output. Threads may work on different rows, each with memory of its
 * own. `memory` is aligned to 64 bytes, and its content does not matter. */
void lumeq_lift_luma(const LiftedPicture *picture, void *memory, int y, int end);
void lumeq_lift_chroma(const LiftedPicture *picture, void *memory, int y, int end);

#endif
