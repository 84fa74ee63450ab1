/*
 * A fake CUDA backend that replaces the library's at link time. It computes on the CPU, in host
 * memory. Tests can block the fake GPU and lose it.
 */
#ifndef LUMEQ_TESTS_FAKE_GPU_H
#define LUMEQ_TESTS_FAKE_GPU_H

#include "check.h"

/* ---- a gate that blocks frames before they are measured; thread-safe ---- */

/* A gate that stays shut this long opens by itself. */
#define GATE_LIVENESS_S (CHECK_SLOWER * 30)

void gate_set(int shut);

/* True if a frame waits at the gate. */
int gate_is_reached(void);

/* Waits for a frame at the gate; returns 0 if no frame comes. */
int gate_wait(void);

/* True if the gate has opened by itself. */
int gate_gave_up(void);

/* Makes the next openings fail with this text (NULL: succeed). The text must stay valid. */
void fake_gpu_refuse(const char *why);

/* Limits the memory for decoders' surfaces. Call before opening. */
void fake_gpu_limit(int64_t bytes);

/* Restores a lost GPU, and loses it after it has written `frames` more frames. */
void fake_gpu_lose_after(int frames);

/* The GPU is lost after it has measured `frames` more frames. */
void fake_gpu_lose_after_measures(int frames);

int fake_gpu_is_lost(void);

/* Limits losses to the GPU with this number. Negative: all GPUs can be lost. */
void fake_gpu_lose_only(int device);

/* Called when a GPU is closed, with its number and the frames that it wrote. */
extern void (*fake_gpu_closed)(int device, int frames);

/* Frees a lost GPU's memory. Call it after everything that uses the memory is closed. */
void fake_gpu_free(void);

#endif
