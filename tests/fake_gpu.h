/*
 * A fake CUDA backend that replaces the library's at link time. It computes on the CPU, in host
 * memory. Tests can block the fake GPU and lose it.
 */
#ifndef LUMEQ_TESTS_FAKE_GPU_H
#define LUMEQ_TESTS_FAKE_GPU_H

#include "check.h"

/* ---- a gate that blocks frames before they are measured; thread-safe ---- */

/* A frame that has waited this long passes the shut gate. */
#define GATE_LIVENESS_S (CHECK_SLOWER * 30)

void gate_set(int shut);

/* True if a frame waits at the gate. */
int gate_is_reached(void);

/* Waits for a frame at the gate; returns 0 if no frame comes. */
int gate_wait(void);

/* True if a frame has passed the shut gate. */
int gate_gave_up(void);

/* From now on, opening the GPU fails with this text (NULL: succeeds). The text must stay valid. */
void fake_gpu_refuse(const char *why);

/* Limits the memory for decoders' surfaces. Call before the GPU is opened. */
void fake_gpu_limit(int64_t bytes);

/* Restores a lost GPU. The GPU is lost again once it has written `frames` more frames. */
void fake_gpu_lose_after(int frames);

/* The GPU is lost once it has measured `frames` more frames. */
void fake_gpu_lose_after_measures(int frames);

int fake_gpu_is_lost(void);

/* Only the GPU with this number can be lost. Negative: any GPU. */
void fake_gpu_lose_only(int device);

/* Called when a GPU is closed. `frames`: number of frames that the GPU has written. */
extern void (*fake_gpu_closed)(int device, int frames);

/* Frees a lost GPU's memory. Call it after everything that uses the memory is closed. */
void fake_gpu_free(void);

#endif
