/* The textbook's equalization on the GPU, in two variants. 8 bits; the table is the cumulative
 * histogram times 255 divided by the number of pixels, rounded down. */
#ifndef LUMEQ_BENCH_EQUALIZE_KERNELS_H
#define LUMEQ_BENCH_EQUALIZE_KERNELS_H

#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEXTBOOK_BINS 256

/* All pointers are to device memory; pixels have no gaps. */
typedef struct TextbookFrame {
    const uint8_t *src;
    uint8_t *dst;
    uint32_t count;  /* of pixels: up to 2^31 - 1 */
    uint32_t *hist;  /* [TEXTBOOK_BINS] */
    uint8_t *table;  /* [TEXTBOOK_BINS] */
    int load_factor; /* pixels per thread of textbook_improved: 1..256 */
} TextbookFrame;

/* The three steps, to be launched in order on a stream; the first one clears the histogram. The
 * first launch of a kernel loads it and must not be captured. */
typedef struct TextbookSteps {
    cudaError_t (*histogram)(const TextbookFrame *frame, cudaStream_t stream);
    cudaError_t (*curve)(const TextbookFrame *frame, cudaStream_t stream);
    cudaError_t (*apply)(const TextbookFrame *frame, cudaStream_t stream);
} TextbookSteps;

/* One pixel per thread, histogram and table in global memory; one thread makes the table. */
extern const TextbookSteps textbook_naive;

/* Several pixels per thread; histogram and table of each block in shared memory; a parallel scan
 * makes the table. */
extern const TextbookSteps textbook_improved;

#ifdef __cplusplus
}
#endif

#endif
