#include "bench/equalize/equalize_kernels.h"

#define THREADS TEXTBOOK_BINS

/* Thread numbers stay below 2^32: there are less than a block more than pixels. */
static unsigned blocks_for(uint32_t count, int pixels_a_thread)
{
    const uint32_t in_block = THREADS * (uint32_t)pixels_a_thread;
    return (count + in_block - 1) / in_block;
}

static cudaError_t clear(const TextbookFrame *f, cudaStream_t stream)
{
    return cudaMemsetAsync(f->hist, 0, TEXTBOOK_BINS * sizeof(*f->hist), stream);
}

static __device__ uint8_t level(uint32_t sum, uint32_t count)
{
    return (uint8_t)((uint64_t)sum * (TEXTBOOK_BINS - 1) / count);
}

/* ---- naive ---------------------------------------------------------------------------------- */

static __global__ void naive_histogram(const uint8_t *src, uint32_t count, uint32_t *hist)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        atomicAdd(&hist[src[i]], 1u);
}

static __global__ void naive_curve(const uint32_t *hist, uint32_t count, uint8_t *table)
{
    uint32_t sum = 0;
    for (int i = 0; i < TEXTBOOK_BINS; i++) {
        sum += hist[i];
        table[i] = level(sum, count);
    }
}

static __global__ void naive_apply(const uint8_t *src, uint32_t count, const uint8_t *table,
                                   uint8_t *dst)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        dst[i] = table[src[i]];
}

static cudaError_t start_naive_histogram(const TextbookFrame *f, cudaStream_t stream)
{
    const cudaError_t error = clear(f, stream);
    if (error)
        return error;
    naive_histogram<<<blocks_for(f->count, 1), THREADS, 0, stream>>>(f->src, f->count, f->hist);
    return cudaGetLastError();
}

static cudaError_t start_naive_curve(const TextbookFrame *f, cudaStream_t stream)
{
    naive_curve<<<1, 1, 0, stream>>>(f->hist, f->count, f->table);
    return cudaGetLastError();
}

static cudaError_t start_naive_apply(const TextbookFrame *f, cudaStream_t stream)
{
    naive_apply<<<blocks_for(f->count, 1), THREADS, 0, stream>>>(f->src, f->count, f->table,
                                                                 f->dst);
    return cudaGetLastError();
}

const TextbookSteps textbook_naive = {start_naive_histogram, start_naive_curve, start_naive_apply};

/* ---- improved ------------------------------------------------------------------------------- */

/* Neighbouring threads take neighbouring pixels. */
static __device__ uint32_t first_pixel(int load_factor)
{
    return blockIdx.x * THREADS * (uint32_t)load_factor + threadIdx.x;
}

static __global__ void improved_histogram(const uint8_t *src, uint32_t count, int load_factor,
                                          uint32_t *hist)
{
    __shared__ uint32_t own[TEXTBOOK_BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    uint32_t at = first_pixel(load_factor);
    for (int i = 0; i < load_factor && at < count; i++, at += THREADS)
        atomicAdd(&own[src[at]], 1u);
    __syncthreads();
    if (own[threadIdx.x])
        atomicAdd(&hist[threadIdx.x], own[threadIdx.x]);
}

/* One thread per bin; each step doubles the number of bins in a sum. */
static __global__ void improved_curve(const uint32_t *hist, uint32_t count, uint8_t *table)
{
    __shared__ uint32_t sums[TEXTBOOK_BINS];
    const int bin = (int)threadIdx.x;
    sums[bin] = hist[bin];
    __syncthreads();
    for (int reach = 1; reach < TEXTBOOK_BINS; reach *= 2) {
        const uint32_t below = bin >= reach ? sums[bin - reach] : 0;
        __syncthreads();
        sums[bin] += below;
        __syncthreads();
    }
    table[bin] = level(sums[bin], count);
}

static __global__ void improved_apply(const uint8_t *src, uint32_t count, int load_factor,
                                      const uint8_t *table, uint8_t *dst)
{
    __shared__ uint8_t own[TEXTBOOK_BINS];
    own[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    uint32_t at = first_pixel(load_factor);
    for (int i = 0; i < load_factor && at < count; i++, at += THREADS)
        dst[at] = own[src[at]];
}

static cudaError_t start_improved_histogram(const TextbookFrame *f, cudaStream_t stream)
{
    const cudaError_t error = clear(f, stream);
    if (error)
        return error;
    improved_histogram<<<blocks_for(f->count, f->load_factor), THREADS, 0, stream>>>(
        f->src, f->count, f->load_factor, f->hist);
    return cudaGetLastError();
}

static cudaError_t start_improved_curve(const TextbookFrame *f, cudaStream_t stream)
{
    improved_curve<<<1, THREADS, 0, stream>>>(f->hist, f->count, f->table);
    return cudaGetLastError();
}

static cudaError_t start_improved_apply(const TextbookFrame *f, cudaStream_t stream)
{
    improved_apply<<<blocks_for(f->count, f->load_factor), THREADS, 0, stream>>>(
        f->src, f->count, f->load_factor, f->table, f->dst);
    return cudaGetLastError();
}

const TextbookSteps textbook_improved = {start_improved_histogram, start_improved_curve,
                                         start_improved_apply};
