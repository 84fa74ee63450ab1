/* Equalization as the textbook has it: 8 bits, the table is the histogram's sums, times 255, by the
 * number of pixels, rounded down. On the GPU, in two ways. */
#ifndef LUMEQ_BENCH_EQUALIZE_KERNELS_H
#define LUMEQ_BENCH_EQUALIZE_KERNELS_H

#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEXTBOOK_BINS 256

/* All in device memory; pixels have no gaps. */
typedef struct TextbookFrame {
    const uint8_t *src;
    uint8_t *dst;
    uint32_t count; /* of pixels: up to 2^31 - 1 */
    uint32_t *hist; /* TEXTBOOK_BINS of each */
    uint8_t *table;
    int load_factor; /* pixels a thread takes, of `textbook_improved`: 1..256 */
} TextbookFrame;

/* The three steps, to be started one after the other on a stream; the first one clears. Every
 * kernel is loaded at its first launch, which must not be captured. */
typedef struct TextbookSteps {
    cudaError_t (*histogram)(const TextbookFrame *frame, cudaStream_t stream);
    cudaError_t (*curve)(const TextbookFrame *frame, cudaStream_t stream);
    cudaError_t (*apply)(const TextbookFrame *frame, cudaStream_t stream);
} TextbookSteps;

/* A pixel a thread, counted in global memory and looked up there; one thread makes the table. */
extern const TextbookSteps textbook_naive;

/* Several pixels a thread; a block counts into a histogram of its own in shared memory and looks up
 * in a table there; the sums are a parallel scan. */
extern const TextbookSteps textbook_improved;

#ifdef __cplusplus
}
#endif

#endif
