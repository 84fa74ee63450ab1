/*
 * A made-up CUDA backend in the place of the library's, which a static library leaves to it. It
 * computes on the CPU, and is lost after some frames. Its memory is the host's.
 */
#ifndef LUMEQ_TESTS_FAKE_GPU_H
#define LUMEQ_TESTS_FAKE_GPU_H

/* It makes no progress once so many frames have come back. */
void fake_gpu_lose_after(int frames);

int fake_gpu_is_lost(void);

/* Writes into what it had to write when it was lost. Any time, from any thread. */
void fake_gpu_wake(void);

/* Frees what a lost GPU keeps, once nobody has any of it. */
void fake_gpu_free(void);

#endif
