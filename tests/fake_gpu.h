/*
 * A made-up CUDA backend in the place of the library's, which a static library leaves to it. It
 * computes on the CPU, has several frames at a time, and gives them back only to those who wait.
 * Tests can hold it up and lose it. Its memory is the host's.
 */
#ifndef LUMEQ_TESTS_FAKE_GPU_H
#define LUMEQ_TESTS_FAKE_GPU_H

#include "check.h"

/* ---- a gate that each frame passes before it is computed; any thread may call these ---- */

/* A gate that is shut for so long opens by itself. */
#define GATE_LIVENESS_S (CHECK_SLOWER * 30)

void gate_set(int shut);

/* Whether a frame waits there. The second waits until one does; 0: none comes. */
int gate_is_reached(void);
int gate_wait(void);

/* Not 0: it has opened by itself. */
int gate_gave_up(void);

/* The most frames that it had at a time since the last call. Any thread. */
int fake_gpu_most(void);

/* It cannot be opened, and says why: a text that stays; NULL: it can. Before it is opened. */
void fake_gpu_refuse(const char *why);

/* Surfaces of decoders may have so many bytes of it. Before it is opened. */
void fake_gpu_limit(int64_t bytes);

/* ---- the loss ---- */

/* It makes no progress once so many frames have come back. Without this call it is never lost. */
void fake_gpu_lose_after(int frames);

/* The same of frames that were measured; what else it has to do it goes on with. */
void fake_gpu_lose_after_measures(int frames);

int fake_gpu_is_lost(void);

/* Of the GPUs, by their number, this one alone is the one that is lost. */
void fake_gpu_lose_only(int device);

/* Called with the number of a GPU that is closed, and how many frames came back from it. */
extern void (*fake_gpu_closed)(int device, int frames);

/* Writes into what it had to write when it was lost. Any time, from any thread. */
void fake_gpu_wake(void);

/* Frees what a lost GPU keeps, once nobody has any of it. */
void fake_gpu_free(void);

#endif
