/*
 * Counts the histograms of tiles. Several blocks count a tile, in shared memory. For OpenCV's
 * CLAHE, the last block of a tile to finish also computes the tile's curve. The last block of the
 * frame stores sums over all tiles.
 */
#include <stdint.h>

#include "equalizer/cuda/block.cuh"

#define THREADS 512
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/count.cuh"
#include "equalizer/cuda/parts.cuh"

static_assert(GROUP_THREADS == TILE_CELLS, "a thread for each cell");

/* Tables of a block, shared by its warps; there is one more for the padding. */
#define WARP_TABLES 4
#define TABLES (WARP_TABLES + 1)

/* Blocks on a multiprocessor that holds 2048 threads; others hold 1536 or 1024. */
#define BLOCKS_A_PROCESSOR (2048 / THREADS)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BLOCKS_AT_LEAST 2
#elif defined(__CUDA_ARCH__) &&                                                                    \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10)
#define BLOCKS_AT_LEAST BLOCKS_A_PROCESSOR
#else
#define BLOCKS_AT_LEAST 3
#endif

static __device__ __forceinline__ uint32_t take(uint32_t *counter)
{
    const uint32_t value = __ldcg(counter);
    *counter = 0;
    return value;
}

template <typename Sample>
static __device__ __forceinline__ void count_chunk(uint32_t *tables, uint32_t own, const Part &part,
                                                   PartPosition at, uint4 values, Codes cells)
{
    const bool all = part_holds_all<Sample>(part, at);
#pragma unroll
    for (int i = 0; i < CHUNK_BYTES / (int)sizeof(Sample); i++)
        if (all || part_holds(part, at, i))
            count(tables, own | chunk_code<Sample, sizeof(uint32_t)>(values, i, cells));
}

/* Clears the tables, and counts the block's part of a tile. */
template <typename Sample>
static __device__ __forceinline__ void count_part(uint32_t *tables, const PartPlane &src,
                                                  const Part &part, Codes cells)
{
    /* Offset of the thread's table in bytes; opaque, so that it is not computed for each sample. */
    uint32_t own = threadIdx.x / 32 % WARP_TABLES * TILE_CELLS * (uint32_t)sizeof(*tables);
    asm volatile("" : "+r"(own));
    const PartStep step = part_step<Sample>(part);
    PartPosition next = part_first<Sample>(part);
    uint4 values = make_uint4(0, 0, 0, 0);
    if (part_has(part, next))
        values = part_load<Sample>(src, part, next);
    for (int i = (int)threadIdx.x; i < TABLES * TILE_CELLS; i += THREADS)
        tables[i] = 0;
    __syncthreads();
    while (part_has(part, next)) {
        const PartPosition at = next;
        const uint4 now = values;
        part_next(part, step, &next);
        if (part_has(part, next))
            values = part_load<Sample>(src, part, next);
        count_chunk<Sample>(tables, own, part, at, now, cells);
    }
}

/* Counts a rectangle of the padding of OpenCV's CLAHE. */
static __device__ void count_mirrored(uint32_t *table, const PartPlane &src, const TileGrid &grid,
                                      int left, int right, int top, int bottom)
{
    const int width = right - left, height = bottom - top;
    if (width <= 0 || height <= 0)
        return;
    for (int i = (int)threadIdx.x; i < width * height; i += THREADS) {
        const int y = tile_mirror(&grid.y, top + i / width);
        const int x = tile_mirror(&grid.x, left + i % width);
        atomicAdd(&table[src.data[(int64_t)y * src.stride + x]], 1u);
    }
}

/* The group adds the block's tables to the tile's. */
static __device__ __forceinline__ void add_up(const uint32_t *tables, int has_padding,
                                              uint32_t *hist, uint32_t *padding)
{
    const int i = (int)threadIdx.x;
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < WARP_TABLES; k++)
        sum += tables[k * TILE_CELLS + i];
    if (sum)
        atomicAdd(&hist[i], sum);
    const uint32_t mirrored = has_padding ? tables[WARP_TABLES * TILE_CELLS + i] : 0;
    if (mirrored)
        atomicAdd(&padding[i], mirrored);
}

/* Rounds a node to an output cell. */
static __device__ __forceinline__ uint32_t cell_out(uint32_t node)
{
    return min((node + 128) >> 8, TILE_CELLS - 1u);
}

/* The group computes the tile's curve and table, and its part of the sums. */
static __device__ __forceinline__ void finish_tile(const TileGrid &grid, int tile,
                                                   TileTables *tables, TileCounters *counters,
                                                   uint32_t sums[2][GROUP_WARPS])
{
    const uint32_t cell = threadIdx.x;
    const uint32_t inside = take(&counters->hist[tile][cell]);
    const uint32_t count = inside + take(&counters->padding[tile][cell]);
    const uint32_t excess = group_sum(count > grid.limit ? count - grid.limit : 0, sums[0]);
    const uint32_t sum = group_scan(reference_clipped(cell, count, grid.limit, excess), sums[1]);
    const int width = grid.x.padded / grid.x.tiles, height = grid.y.padded / grid.y.tiles;
    const float scale = 255.0f / (float)((uint32_t)width * (uint32_t)height);
    const uint32_t node = tile_node(reference_rounded(sum, scale) << 16);
    tables->nodes[tile][cell] = node;
    atomicAdd(&counters->curve_sum[cell], node);
    if (inside)
        atomicAdd(&counters->hist_out[cell_out(node)], inside);
    if (cell == 0)
        tables->nodes[tile][TILE_CELLS] = tile_last_node(grid.curve.depth);
}

static __device__ __forceinline__ void finish_all(const TileInside &inside, TileSums *sums,
                                                  TileTables *tables, TileCounters *counters)
{
    const int i = (int)threadIdx.x;
    sums->hist_out[i] = take(&counters->hist_out[i]);
    sums->curve_sum[i] = take(&counters->curve_sum[i]);
    if (i == 0)
        tables->inside = inside;
}

/* A block's part of its tile, and the number of parts. */
typedef struct Slice {
    int number, count;
} Slice;

/* Counts the block's part of its tile. Returns the tile's number. The grid's dimensions: columns
 * of tiles, rows of tiles, parts of each tile in all frames. */
template <typename Sample>
static __device__ __forceinline__ int count_tile(uint32_t *tables, const PartPlane &src,
                                                 const TileGrid &grid, Slice slice)
{
    const int x = (int)blockIdx.x, y = (int)blockIdx.y, tile = y * grid.x.tiles + x;
    const int left = tile_start(&grid.x, x), right = tile_start(&grid.x, x + 1);
    const int first = tile_start(&grid.y, y), rows = tile_start(&grid.y, y + 1) - first;
    const int top = first + (int)((int64_t)rows * slice.number / slice.count);
    const int bottom = first + (int)((int64_t)rows * (slice.number + 1) / slice.count);

    const Codes cells = {grid.curve.shift + grid.curve.fraction, TILE_CELLS - 1};
    const int width = grid.x.size, height = grid.y.size;
    const Part part = part_of<Sample>(src, left, min(right, width), top, min(bottom, height));
    count_part<Sample>(tables, src, part, cells);
    if (grid.curve.reference) {
        uint32_t *const padding = tables + WARP_TABLES * TILE_CELLS;
        count_mirrored(padding, src, grid, max(left, width), right, top, min(bottom, height));
        count_mirrored(padding, src, grid, left, right, max(top, height), bottom);
    }
    __syncthreads();
    return tile;
}

static __global__ void __launch_bounds__(THREADS, BLOCKS_AT_LEAST)
    clahe_reference(const __grid_constant__ PartPlane first, const __grid_constant__ TileGrid grid,
                    const TileInside inside, TileSums *host, TileTables *tables,
                    TileCounters *counters, const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) uint32_t counts[TABLES * TILE_CELLS];
    __shared__ uint32_t sums[2][GROUP_WARPS];
    const int number = (int)blockIdx.z % batch.count;
    const Slice slice = {(int)blockIdx.z / batch.count, (int)gridDim.z / batch.count};
    PartPlane src = first;
    src.data += batch.of[number].in[0];
    let_next_kernel_start();
    const int tile = count_tile<uint8_t>(counts, src, grid, slice);
    if (threadIdx.x >= GROUP_THREADS)
        return;
    TileCounters *const own = in_batch(counters, batch, number);
    TileTables *const nodes = in_batch(tables, batch, number);
    add_up(counts, 1, own->hist[tile], own->padding[tile]);
    if (!is_last_block<group_barrier>(&own->blocks_done[tile], (uint32_t)slice.count))
        return;
    wait_for_kernel_before();
    finish_tile(grid, tile, nodes, own, sums);
    if (is_last_block<group_barrier>(&own->tiles_done, gridDim.x * gridDim.y))
        finish_all(inside, host_in_batch(host, batch, number), nodes, own);
}

/* Counts only, without curves. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS, BLOCKS_AT_LEAST)
    clahe_counts(const PartPlane src, const __grid_constant__ TileGrid grid,
                 uint32_t (*hist)[TILE_CELLS], uint32_t (*padding)[TILE_CELLS])
{
    __shared__ __align__(16) uint32_t tables[TABLES * TILE_CELLS];
    const Slice slice = {(int)blockIdx.z, (int)gridDim.z};
    const int tile = count_tile<Sample>(tables, src, grid, slice);
    const int has_padding = grid.curve.reference;
    if (threadIdx.x < GROUP_THREADS)
        add_up(tables, has_padding, hist[tile], has_padding ? padding[tile] : NULL);
}

extern "C" cudaError_t lumeq_cuda_load_clahe_histogram(void)
{
    const cudaError_t error = load_with_shared(clahe_reference);
    return error ? error : load(clahe_counts<uint8_t>, clahe_counts<uint16_t>);
}

/* Blocks per tile. All run at once, and each has at least a row, and a chunk per thread. */
static unsigned parts_of_tile(const LumeqCudaDevice *device, const TileGrid *grid, int sample_size,
                              int frames)
{
    const int tiles = tile_count(grid) * frames, rows = grid->y.padded / grid->y.tiles;
    const int64_t chunks =
        (int64_t)(grid->x.padded / grid->x.tiles * sample_size / CHUNK_BYTES + 1) * rows;
    int64_t parts = device->processors * BLOCKS_A_PROCESSOR / tiles;
    if (parts > (chunks + THREADS - 1) / THREADS)
        parts = (chunks + THREADS - 1) / THREADS;
    if (parts > rows)
        parts = rows;
    return parts > 1 ? (unsigned)parts : 1;
}

extern "C" cudaError_t lumeq_cuda_clahe_reference(const LumeqCudaDevice *device,
                                                  const LumeqCudaPlane *src, const TileGrid *grid,
                                                  const TileInside *inside, TileSums *sums,
                                                  TileTables *tables, TileCounters *counters,
                                                  const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const unsigned parts = parts_of_tile(device, grid, 1, batch->count);
    const Launch how = {
        dim3((unsigned)grid->x.tiles, (unsigned)grid->y.tiles, parts * (unsigned)batch->count),
        THREADS, 0, device->early_launches, stream};
    return launch(how, clahe_reference, part_plane(src, src, 1), *grid, *inside, sums, tables,
                  counters, *batch);
}

template <typename Sample>
static cudaError_t launch_counts(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                 const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                                 uint32_t (*padding)[TILE_CELLS], cudaStream_t stream)
{
    const Launch how = {dim3((unsigned)grid->x.tiles, (unsigned)grid->y.tiles,
                             parts_of_tile(device, grid, (int)sizeof(Sample), 1)),
                        THREADS, 0, 0, stream};
    return launch(how, clahe_counts<Sample>, part_plane(src, src, (int)sizeof(Sample)), *grid, hist,
                  padding);
}

extern "C" cudaError_t lumeq_cuda_clahe_counts(const LumeqCudaDevice *device,
                                               const LumeqCudaPlane *src, const TileGrid *grid,
                                               uint32_t (*hist)[TILE_CELLS],
                                               uint32_t (*padding)[TILE_CELLS], cudaStream_t stream)
{
    return (grid->curve.depth > 8
                ? launch_counts<uint16_t>
                : launch_counts<uint8_t>)(device, src, grid, hist, padding, stream);
}
