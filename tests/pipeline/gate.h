/*
 * A made-up CUDA backend in the place of the library's, which a static library leaves to it. It
 * computes on the CPU, and each frame has to pass a gate before: a test can hold up the equalizer.
 */
#ifndef LUMEQ_TESTS_GATE_H
#define LUMEQ_TESTS_GATE_H

#include "check.h"

/* A gate that is shut for so long opens by itself. */
#define GATE_LIVENESS_S (CHECK_SLOWER * 30)

/* Any thread may call these. */
void gate_set(int shut);

/* Whether a frame waits there; waits until one does. */
int gate_is_reached(void);
void gate_wait(void);

/* Not 0: it has opened by itself. */
int gate_gave_up(void);

#endif
