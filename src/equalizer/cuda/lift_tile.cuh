/*
 * The filter of lifted pictures, for a tile in shared memory. The memory holds the tile's samples
 * and a margin around them, as wide as the reach of all passes. Samples are 8-bit codes with 6
 * fraction bits (Q6). A word holds two samples: neighbours in luma, or both components of a chroma
 * pixel. tests/lift/README.md describes the computation.
 *
 * Outside of the picture, the margin holds mirrored samples. All passes are symmetric, so their
 * results there are mirrored too, and passes need not know the picture's edges. If a picture is
 * smaller than the reach, its mirror image is too short: the margin is mirrored after each pass.
 *
 * Before including this file, a .cu file defines THREADS, the size of its blocks.
 */
#ifndef LUMEQ_CUDA_LIFT_TILE_CUH
#define LUMEQ_CUDA_LIFT_TILE_CUH

#include <stdint.h>

#include "equalizer/cuda/active.cuh"
#include "equalizer/cuda/kernels.h"
#include "equalizer/lift_filter.h"

#define LIFT_FN static __device__ __forceinline__

/* A word with this value in both halves. */
LIFT_FN uint32_t lift_both(int32_t value)
{
    return (uint32_t)value * 0x10001u;
}

/* Allows each block of a kernel `memory` bytes of shared memory, and as many blocks as fit. */
template <typename Kernel> static inline cudaError_t lift_allow(Kernel *kernel, size_t memory)
{
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)memory);
    return error ? error
                 : cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

/* ---- the layout --------------------------------------------------------------------------- */

/*
 * Returns the chain length that takes the least time. A pass works on `places` lines (columns or
 * rows) of `count` entries. Each line is split into chains of equal length. For each chain, a
 * thread reads `ends` entries beyond each end, which costs as much as `ends` / 2 entries. The
 * last chain may exceed the line, but a line's chains add up to at most `most` entries.
 */
static __host__ __device__ constexpr int lift_chain(int count, int most, int places, int ends)
{
    int best = 0, least = 0;
    for (int length = 1; length <= 12; length++) {
        const int groups = (count + length - 1) / length;
        const int turns = (places * groups + THREADS - 1) / THREADS;
        const int cost = turns * (4 * length + 2 * ends + 2); /* quarters of an entry's work */
        if (length * groups <= most && (!best || cost < least)) {
            best = length;
            least = cost;
        }
    }
    return best;
}

static __host__ __device__ constexpr int lift_groups(int count, int length)
{
    return (count + length - 1) / length;
}

/* The rows and words that a pass computes: the tile without its margin, plus reach_x samples
 * left and right, and reach_y above and below. */
template <typename Shape, int reach_x, int reach_y> struct LiftRegion {
    static constexpr int in_word = Shape::in_word;
    static constexpr int column = (Shape::halo_x - reach_x) / in_word;
    static constexpr int columns =
        (Shape::halo_x + Shape::width + reach_x + in_word - 1) / in_word - column;
    static constexpr int row = Shape::halo_y - reach_y;
    static constexpr int rows = Shape::height + 2 * reach_y;
};

/* ---- the picture --------------------------------------------------------------------------- */

/* Returns the active picture of a plane, or one of its fields if `fields` is 1. `active` is in rows
 * and columns of samples. */
LIFT_FN LumeqCudaPlane lift_picture(const LumeqCudaPlane &plane, const Active &active,
                                    int sample_size, int fields, int field)
{
    const LumeqCudaPlane picture = {plane.data + (active.top + field) * (int64_t)plane.stride +
                                        active.left * sample_size,
                                    plane.stride << fields, active.right - active.left,
                                    (active.bottom - active.top + fields - field) >> fields};
    return picture;
}

/* Like find_active(), limited to the plane. Runs in one thread. */
LIFT_FN void lift_find_active(Active *active, const BarsState *bars, int width, int height)
{
    find_active(active, bars);
    active->right = min(active->right, width);
    active->bottom = min(active->bottom, height);
}

/* Copies a rectangle of a plane, with all threads of all blocks. */
template <typename Sample>
LIFT_FN void lift_copy(const LumeqCudaPlane &out, const LumeqCudaPlane &in, int left, int right,
                       int top, int bottom)
{
    const int width = right - left;
    if (width <= 0)
        return;
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x);
    const int rows = (int)(gridDim.x * THREADS) / width,
              columns = (int)(gridDim.x * THREADS) % width;
    int x = first % width, y = top + first / width;
    while (y < bottom) {
        const int64_t at = (left + x) * (int64_t)sizeof(Sample);
        *(Sample *)(out.data + y * (int64_t)out.stride + at) =
            *(const Sample *)(in.data + y * (int64_t)in.stride + at);
        x += columns;
        y += rows + (x >= width);
        x -= x >= width ? width : 0;
    }
}

template <typename Sample>
LIFT_FN void lift_copy_bars(const LumeqCudaPlane &out, const LumeqCudaPlane &in, const Active &a,
                            int width, int height)
{
    lift_copy<Sample>(out, in, 0, width, 0, a.top);
    lift_copy<Sample>(out, in, 0, width, a.bottom, height);
    lift_copy<Sample>(out, in, 0, a.left, a.top, a.bottom);
    lift_copy<Sample>(out, in, a.right, width, a.top, a.bottom);
}

/* ---- beyond the picture ------------------------------------------------------------------- */

/* Mirrors a position into 0..count - 1. */
LIFT_FN int lift_mirror(int i, int count)
{
    const int last = count - 1, up = abs(i);
    return max(min(up, 2 * last - up), 0);
}

/* Position of a tile in its picture. */
typedef struct LiftPlace {
    int x, y;              /* of the first sample of its margin */
    int width, height;     /* of the picture */
    bool short_x, short_y; /* the picture's width, or height, is at most the reach (halo_y) */
} LiftPlace;

template <typename Shape> LIFT_FN LiftPlace lift_place(int width, int height, int i)
{
    const int columns = (width + Shape::width - 1) / Shape::width;
    const LiftPlace place = {i % columns * Shape::width - Shape::halo_x,
                             i / columns * Shape::height - Shape::halo_y,
                             width,
                             height,
                             width <= Shape::halo_y,
                             height <= Shape::halo_y};
    return place;
}

template <typename Shape> LIFT_FN int lift_tiles(int width, int height)
{
    return (width + Shape::width - 1) / Shape::width *
           ((height + Shape::height - 1) / Shape::height);
}

/* Mirrors the margin again, for a short picture. */
template <typename Shape, typename Element>
static __device__ void lift_extend(const LiftPlace &place, uint32_t *tile)
{
    if (!place.short_x && !place.short_y)
        return;
    const int in_word = 4 / (int)sizeof(Element), pitch = Shape::pitch * in_word;
    const int columns = Shape::words * in_word;
    Element *const samples = (Element *)tile;
    for (int i = (int)threadIdx.x; i < columns * Shape::rows; i += THREADS) {
        const int x = place.x + i % columns, y = place.y + i / columns;
        const int from_x = place.short_x ? lift_mirror(x, place.width) : x;
        const int from_y = place.short_y ? lift_mirror(y, place.height) : y;
        if (from_x != x || from_y != y)
            samples[i / columns * pitch + i % columns] =
                samples[(from_y - place.y) * pitch + from_x - place.x];
    }
    __syncthreads();
}

/* ---- a_trous ------------------------------------------------------------------------------ */

/*
 * Samples are stored with LIFT_BASE(number of remaining passes) added. As 16-bit numbers, they are
 * negative and never 0. So the borrow from the lower half is always 1, and one subtraction of words
 * handles both halves. Each pass adds LIFT_RISE to all samples, so that it adds only positive sums.
 */
#define LIFT_RISE 1024
#define LIFT_BASE(passes) (0x10000 - 16384 - (passes)*LIFT_RISE)

/* Smooths a word with `before` and `after`, a step away. `quarter`: a quarter of the samples'
 * tolerance. Clamps differences from `now` to -bound..bound, and adds the bound to make them
 * positive. In 4 a - b the added bounds cancel out. */
LIFT_FN uint32_t lift_smooth(uint32_t now, uint32_t before, uint32_t after, uint32_t quarter)
{
    const uint32_t less = 0x10000u - now; /* 0x10000 - sample, in both halves */
    const uint32_t near = quarter + less, far = 4 * quarter + less;
    const uint32_t near_most = 2 * quarter, far_most = 8 * quarter;
    const uint32_t a = __viaddmin_s16x2_relu(before, near, near_most) +
                       __viaddmin_s16x2_relu(after, near, near_most);
    const uint32_t b =
        __viaddmin_s16x2_relu(before, far, far_most) + __viaddmin_s16x2_relu(after, far, far_most);
    const uint32_t sum = 4 * a + (0x10001u * (8 * LIFT_RISE + 4) - b);
    return now + ((sum & 0xfff8fff8u) >> 3);
}

/* The upper sample of a word and the lower sample of the next. */
LIFT_FN uint32_t lift_between(uint32_t word, uint32_t next)
{
    return __byte_perm(word, next, 0x5432);
}

/*
 * Smooths a chain of words that are `hop` apart, and reads `ends` more words before and after it.
 * Loads each word once, and stores only after the last load, because the compiler must assume that
 * a store changes later loads. `odd`: the step is an odd number of samples, so the neighbours of a
 * word's samples lie in two adjacent words.
 */
template <int length, int hop, int ends, bool odd, typename Weight>
LIFT_FN void lift_smooth_chain(uint32_t *to, const uint32_t *from, const uint32_t *quarters,
                               Weight weight)
{
    uint32_t word[length + 2 * ends], quarter[length];
#pragma unroll
    for (int i = 0; i < length + 2 * ends; i++)
        word[i] = from[(i - ends) * hop];
#pragma unroll
    for (int i = 0; i < length; i++)
        quarter[i] = quarters[i * hop];
#pragma unroll
    for (int i = 0; i < length; i++) {
        const uint32_t before = odd ? lift_between(word[i], word[i + 1]) : word[i];
        const uint32_t after =
            odd ? lift_between(word[i + 2 * ends - 1], word[i + 2 * ends]) : word[i + 2 * ends];
        to[i * hop] = lift_smooth(word[i + ends], before, after, weight(quarter[i]));
    }
}

/* Lanes of a warp work on successive rows. Rows are an odd number of words apart, so the lanes use
 * different banks. */
template <typename Shape, int step, typename Region, typename Weight>
LIFT_FN void lift_smooth_across(uint32_t *to, const uint32_t *from, const uint32_t *quarters,
                                Weight weight)
{
    constexpr bool odd = step % Shape::in_word != 0;
    constexpr int hop = odd ? 1 : step / Shape::in_word;
    constexpr int ends = odd ? (step + 1) / 2 : 1;
    constexpr int length =
        lift_chain(lift_groups(Region::columns, hop), (Shape::pitch - Region::column) / hop - ends,
                   Region::rows * hop, ends);
    constexpr int groups = lift_groups(Region::columns, hop * length);
    static_assert(Region::column >= hop * ends, "chains read inside the row, on the left");
    static_assert(Region::column + hop * (length * groups + ends) <= Shape::pitch,
                  "chains read inside the row, on the right");
    for (int i = (int)threadIdx.x; i < Region::rows * hop * groups; i += THREADS) {
        const int chain = i / Region::rows, row = Region::row + i % Region::rows;
        const int at =
            row * Shape::pitch + Region::column + chain / hop * hop * length + chain % hop;
        lift_smooth_chain<length, hop, ends, odd>(to + at, from + at, quarters + at, weight);
    }
    __syncthreads();
}

template <typename Shape, int step, typename Region, typename Weight>
LIFT_FN void lift_smooth_down(uint32_t *to, const uint32_t *from, const uint32_t *quarters,
                              Weight weight)
{
    constexpr int length = lift_chain(lift_groups(Region::rows, step),
                                      (Shape::rows + Shape::spare - Region::row) / step - 1,
                                      Region::columns * step, 1);
    constexpr int groups = lift_groups(Region::rows, step * length);
    static_assert(Region::row >= step, "chains read inside the memory, above");
    static_assert(Region::row + step * (length * groups + 1) <= Shape::rows + Shape::spare,
                  "chains read inside the memory, below");
    for (int i = (int)threadIdx.x; i < Region::columns * step * groups; i += THREADS) {
        const int chain = i / Region::columns, column = Region::column + i % Region::columns;
        const int row = Region::row + chain / step * step * length + chain % step;
        const int at = row * Shape::pitch + column;
        lift_smooth_chain<length, step * Shape::pitch, 1, false>(to + at, from + at, quarters + at,
                                                                 weight);
    }
    __syncthreads();
}

/* Smooths with one step: horizontally into `other`, then vertically back into `tile`. `rest`: the
 * reach of all later steps. */
template <typename Shape, typename Element, int step, int rest, typename Weight>
LIFT_FN void lift_step(const LiftPlace &place, uint32_t *tile, uint32_t *other,
                       const uint32_t *quarters, Weight weight)
{
    lift_smooth_across<Shape, step, LiftRegion<Shape, rest, rest + step>>(other, tile, quarters,
                                                                          weight);
    lift_extend<Shape, Element>(place, other);
    lift_smooth_down<Shape, step, LiftRegion<Shape, rest, rest>>(tile, other, quarters, weight);
    lift_extend<Shape, Element>(place, tile);
}

/* ---- samples ------------------------------------------------------------------------------ */

/* Position of codes in samples, for the conversion to Q6. */
typedef struct LiftCodes {
    int shift, depth;
} LiftCodes;

/* The codes of two 16-bit samples. */
LIFT_FN uint32_t lift_codes(uint32_t samples, LiftCodes c)
{
    const uint32_t codes = (samples >> c.shift) & lift_both(0xffff >> c.shift);
    return __vminu2(codes, lift_both((1 << c.depth) - 1));
}

LIFT_FN uint32_t lift_q6(uint32_t codes, LiftCodes c)
{
    return c.depth <= 14 ? codes << (14 - c.depth) : (codes >> (c.depth - 14)) & 0x3fff3fffu;
}

/* Fills the dither's thresholds, by row and column modulo 8. */
LIFT_FN void lift_fill_dither(uint8_t dither[64], uint32_t frame)
{
    if (threadIdx.x < 64)
        dither[threadIdx.x] = (uint8_t)curve_dither(threadIdx.x % 8, threadIdx.x / 8, frame);
}

#endif
