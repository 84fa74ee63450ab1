/* How kernels read chroma pixels and their luma. */
#ifndef LUMEQ_CUDA_CHROMA_PARTS_CUH
#define LUMEQ_CUDA_CHROMA_PARTS_CUH

#include <stdint.h>

#include "equalizer/cuda/active.cuh"
#include "equalizer/cuda/kernels.h"

/* Chroma pixels that a thread processes at once. */
#define GROUP 4

/* Samples that are loaded and stored as a vector. */
template <typename Sample, int count> struct __align__(count * sizeof(Sample)) Run
{
    Sample v[count];
};

/* Loads a vector that does not change while the kernel runs. Several loads can be in flight. */
template <typename Vector> static __device__ __forceinline__ Vector load_vector(const Vector *from)
{
    static_assert(sizeof(Vector) == 4 || sizeof(Vector) == 8 || sizeof(Vector) == 16,
                  "vectors have 4, 8 or 16 bytes");
    Vector vector;
    if (sizeof(Vector) == 4)
        *(uint32_t *)&vector = __ldg((const uint32_t *)from);
    else if (sizeof(Vector) == 8)
        *(uint2 *)&vector = __ldg((const uint2 *)from);
    else
        *(uint4 *)&vector = __ldg((const uint4 *)from);
    return vector;
}

/* Strides fit in 32 bits. */
static __device__ __forceinline__ uint8_t *plane_row(const LumeqCudaPlane &plane, int y)
{
    return plane.data + (int64_t)y * (int)plane.stride;
}

/* A sample's code is sample >> shift, at most `last`. */
typedef struct ChromaCodes {
    int shift;
    uint32_t last;
} ChromaCodes;

static __device__ __forceinline__ uint32_t code_of(ChromaCodes codes, uint32_t sample)
{
    return min(sample >> codes.shift, codes.last);
}

/* Mean luma of a pixel from the sum of its 1 << area luma codes. */
static __device__ __forceinline__ uint32_t mean_of(uint32_t sum, int area)
{
    return (sum + ((1u << area) >> 1)) >> area;
}

/* Sum of the luma codes of a chroma pixel; beyond the edges, the last codes count again. */
template <typename Sample>
static __device__ __forceinline__ uint32_t sum_luma(ChromaCodes codes, const LumeqCudaChroma &c,
                                                    int x, int y)
{
    uint32_t sum = 0;
    for (int v = 0; v < 1 << c.sub_y; v++) {
        const int row = min((y << c.sub_y) + v, c.luma.height - 1);
        const Sample *luma = (const Sample *)(c.luma.data + (int64_t)row * c.luma.stride);
        for (int u = 0; u < 1 << c.sub_x; u++)
            sum += code_of(codes, luma[min((x << c.sub_x) + u, c.luma.width - 1)]);
    }
    return sum;
}

/* Adds a row of luma to the sums of a group. */
template <typename Sample, int sub_x>
static __device__ __forceinline__ void
add_luma(ChromaCodes codes, const Run<Sample, (GROUP << sub_x)> &luma, uint32_t sum[GROUP])
{
#pragma unroll
    for (int u = 0; u < GROUP << sub_x; u++)
        sum[u >> sub_x] += code_of(codes, luma.v[u]);
}

/* Luma sums of a whole group, from vectors. */
template <typename Sample, int sub_x, int sub_y>
static __device__ __forceinline__ void sum_luma_group(ChromaCodes codes, const LumeqCudaPlane &l,
                                                      int x, int y, uint32_t sum[GROUP])
{
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        sum[i] = 0;
#pragma unroll
    for (int v = 0; v < 1 << sub_y; v++) {
        typedef const Run<Sample, (GROUP << sub_x)> Luma;
        const int row = min((y << sub_y) + v, l.height - 1);
        add_luma<Sample, sub_x>(codes, load_vector((Luma *)plane_row(l, row) + x / GROUP), sum);
    }
}

/* Address of component i of a pixel: in plane i, or in plane 0 if interleaved. */
template <typename Sample>
static __device__ __forceinline__ Sample *component(const LumeqCudaPlane planes[2],
                                                    const LumeqCudaChroma &c, int i, int x, int y)
{
    if (c.step == 2) /* planes[0]: a variable index would move the planes out of registers */
        return (Sample *)plane_row(planes[0], y) + 2 * x + i;
    return (Sample *)plane_row(planes[i], y) + x * c.step;
}

/* Samples of a group: interleaved, or one vector per component. */
template <typename Sample, int step> struct ChromaGroup {
    static constexpr int planes = step == 2 ? 1 : 2;
    Run<Sample, GROUP * step> samples[planes];

    __device__ __forceinline__ Sample *first(int i)
    {
        return &samples[0].v[i * step];
    }

    __device__ __forceinline__ Sample *second(int i)
    {
        return step == 2 ? first(i) + 1 : &samples[planes - 1].v[i];
    }

    __device__ __forceinline__ void load(const LumeqCudaPlane from[2], int x, int y)
    {
#pragma unroll
        for (int i = 0; i < planes; i++)
            samples[i] = load_vector(&at(from[i], x, y));
    }

    __device__ __forceinline__ void store(const LumeqCudaPlane to[2], int x, int y) const
    {
#pragma unroll
        for (int i = 0; i < planes; i++)
            at(to[i], x, y) = samples[i];
    }

    static __device__ __forceinline__ Run<Sample, GROUP * step> &at(const LumeqCudaPlane &plane,
                                                                    int x, int y)
    {
        uint8_t *const line = plane_row(plane, y);
        return ((Run<Sample, GROUP * step> *)line)[x / GROUP];
    }
};

/* The active picture in chroma pixels. */
static __device__ __forceinline__ Active active_chroma(const Active &luma, int sub_x, int sub_y)
{
    const Active active = {luma.left >> sub_x, luma.top >> sub_y,
                           (int)(((unsigned)luma.right + (1u << sub_x) - 1) >> sub_x),
                           (int)(((unsigned)luma.bottom + (1u << sub_y) - 1) >> sub_y)};
    return active;
}

/* Number of layouts whose groups can be vectors. layout_of() returns it for any other layout. */
#define CHROMA_LAYOUTS 5

template <int x, int y, int step_> struct ChromaLayout {
    static constexpr int sub_x = x, sub_y = y, step = step_;
};

static inline int layout_of(const LumeqCudaChroma *c)
{
    const int is_420 = c->sub_x == 1 && c->sub_y == 1, is_422 = c->sub_x == 1 && c->sub_y == 0;
    return is_420                                           ? c->step - 1
           : is_422                                         ? c->step + 1
           : c->sub_x == 0 && c->sub_y == 0 && c->step == 1 ? 4
                                                            : CHROMA_LAYOUTS;
}

/* Returns kernel_of(layout), with the layout as a ChromaLayout. */
template <typename KernelOf> static auto choose_layout(int layout, KernelOf kernel_of)
{
    switch (layout) {
    case 0: return kernel_of(ChromaLayout<1, 1, 1>());
    case 1: return kernel_of(ChromaLayout<1, 1, 2>());
    case 2: return kernel_of(ChromaLayout<1, 0, 1>());
    case 3: return kernel_of(ChromaLayout<1, 0, 2>());
    default: return kernel_of(ChromaLayout<0, 0, 1>());
    }
}

/* True if each group of `samples` samples is an aligned vector. */
static inline int is_aligned(const LumeqCudaPlane *plane, int samples, int depth)
{
    const uintptr_t bytes = (uintptr_t)samples * (depth > 8 ? 2 : 1);
    return (uintptr_t)plane->data % bytes == 0 && plane->stride % (ptrdiff_t)bytes == 0;
}

static inline int all_aligned(const LumeqCudaChroma *c, int depth)
{
    int aligned = is_aligned(&c->luma, GROUP << c->sub_x, depth);
    for (int i = 0; i < c->planes; i++)
        aligned = aligned && is_aligned(&c->in[i], GROUP * c->step, depth) &&
                  is_aligned(&c->out[i], GROUP * c->step, depth);
    return aligned;
}

#endif
