/*
 * Maps luma and scales its 4:2:0 chroma at the same time, so that luma is read only once. A thread
 * works on units: a vector of luma in each of two rows, and their chroma. The first Both.blocks
 * blocks of a grid do it.
 *
 * Before including it, a .cu file defines THREADS, the size of its blocks.
 */
#ifndef LUMEQ_CUDA_LOOKUP_BOTH_CUH
#define LUMEQ_CUDA_LOOKUP_BOTH_CUH

#include "equalizer/cuda/chroma_scale.cuh"
#include "equalizer/cuda/lookup.cuh"

typedef struct Both {
    LumeqCudaChroma chroma;
    CurveLegal legal;
    int columns, rows; /* units */
    int blocks;        /* 0: chroma is not scaled here */
} Both;

/* A unit as in memory; chroma: 8 bytes of each component, or 16 interleaved ones. */
typedef struct Unit {
    uint4 luma[2];
    uint32_t chroma[4];
} Unit;

/* A thread's walk over the units. */
typedef struct BothWalk {
    int column, row;
    Unit unit; /* valid if the unit is whole */
} BothWalk;

static __device__ __forceinline__ const uint4 *unit_luma(const LumeqCudaPlane &plane, int column,
                                                         int y)
{
    return (const uint4 *)plane_row(plane, y) + column;
}

static __device__ __forceinline__ bool unit_is_there(const Both &both, const BothWalk &walk)
{
    return walk.row < both.rows;
}

template <typename Sample>
static __device__ __forceinline__ bool unit_is_whole(const Both &both, const BothWalk &walk)
{
    return (walk.column + 1) * CHUNK_BYTES <= both.chroma.luma.width * (int)sizeof(Sample);
}

static __device__ __forceinline__ void unit_load(const Both &both, BothWalk *walk)
{
    const LumeqCudaChroma &c = both.chroma;
    uint32_t *const words = walk->unit.chroma;
#pragma unroll
    for (int i = 0; i < 2; i++)
        walk->unit.luma[i] =
            __ldg(unit_luma(c.luma, walk->column, min(2 * walk->row + i, c.luma.height - 1)));
    if (c.step == 2) {
        const uint4 v = __ldg((const uint4 *)plane_row(c.in[0], walk->row) + walk->column);
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint2 v = __ldg((const uint2 *)plane_row(c.in[i], walk->row) + walk->column);
        words[2 * i] = v.x, words[2 * i + 1] = v.y;
    }
}

/* Loads the thread's first unit, before the table is ready. */
template <typename Sample>
static __device__ __forceinline__ void both_start(const Both &both, BothWalk *walk)
{
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x);
    walk->row = first / both.columns;
    walk->column = first % both.columns;
    if (unit_is_there(both, *walk) && unit_is_whole<Sample>(both, *walk))
        unit_load(both, walk);
}

static __device__ __forceinline__ void both_next(const Both &both, BothWalk *walk)
{
    const int all = both.blocks * THREADS;
    walk->row += all / both.columns;
    walk->column += all % both.columns;
    if (walk->column >= both.columns) {
        walk->column -= both.columns;
        walk->row++;
    }
}

/* Group `g` of a unit's chroma. */
template <typename Sample, int step>
static __device__ __forceinline__ ChromaGroup<Sample, step> unit_group(const Unit &unit, int g)
{
    constexpr int words = step * (int)sizeof(Sample);
    ChromaGroup<Sample, step> group;
#pragma unroll
    for (int i = 0; i < 3 - step; i++)
#pragma unroll
        for (int k = 0; k < words; k++)
            ((uint32_t *)group.samples[i].v)[k] = unit.chroma[2 * i + g * words + k];
    return group;
}

template <typename Sample, int step>
static __device__ __forceinline__ void put_group(Unit *unit, int g,
                                                 const ChromaGroup<Sample, step> &group)
{
    constexpr int words = step * (int)sizeof(Sample);
#pragma unroll
    for (int i = 0; i < 3 - step; i++)
#pragma unroll
        for (int k = 0; k < words; k++)
            unit->chroma[2 * i + g * words + k] = ((const uint32_t *)group.samples[i].v)[k];
}

/* Computes the sum of luma for each chroma pixel of a group of the unit. */
template <typename Sample>
static __device__ __forceinline__ void unit_sums(ChromaCodes codes, const Unit &unit, int g,
                                                 uint32_t sum[GROUP])
{
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        sum[i] = 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        add_luma<Sample, 1>(codes, ((const Run<Sample, GROUP << 1> *)&unit.luma[i])[g], sum);
}

template <typename Table, int step>
static __device__ __forceinline__ void write_unit(const Table &table, const Both &both,
                                                  const LumeqCudaPlane &out, const Active &active,
                                                  const ChromaRule &rule, BothWalk *walk)
{
    typedef typename Table::Sample Sample;
    constexpr int samples = CHUNK_BYTES / (int)sizeof(Sample), groups = samples / 2 / GROUP;
    const LumeqCudaChroma &c = both.chroma;
    Unit *const unit = &walk->unit;
    const int x = walk->column * samples;
#pragma unroll
    for (int g = 0; g < groups; g++) {
        ChromaGroup<Sample, step> group = unit_group<Sample, step>(*unit, g);
        uint32_t sum[GROUP];
        GroupGains gains;
        unit_sums<Sample>(codes_of<Sample>(rule), *unit, g, sum);
        find_gains<Sample, 1, 1, false>(rule, sum, x / 2 + g * GROUP, walk->row, &gains);
        scale_group(rule, gains, x / 2 + g * GROUP, walk->row, &group);
        put_group(unit, g, group);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = 2 * walk->row + i;
        const Place place = {(uint32_t)(x - active.left), (uint32_t)(y - active.top)};
        if (y < c.luma.height)
            *(uint4 *)unit_luma(out, walk->column, y) = keep_bars<Sample>(
                active, x, y, unit->luma[i], look_up_chunk(table, unit->luma[i], place));
    }
    const uint32_t *const words = unit->chroma;
    if (step == 2)
        ((uint4 *)plane_row(c.out[0], walk->row))[walk->column] =
            make_uint4(words[0], words[1], words[2], words[3]);
    else
#pragma unroll
        for (int i = 0; i < 2; i++)
            ((uint2 *)plane_row(c.out[i], walk->row))[walk->column] =
                make_uint2(words[2 * i], words[2 * i + 1]);
}

/* Processes a unit that is cut by the picture's right edge. */
template <typename Table>
static __device__ __forceinline__ void write_part(const Table &table, const Both &both,
                                                  const LumeqCudaPlane &out, const Active &active,
                                                  const ChromaRule &rule, const BothWalk &walk)
{
    typedef typename Table::Sample Sample;
    const LumeqCudaChroma &c = both.chroma;
    const int first = walk.column * (CHUNK_BYTES / (int)sizeof(Sample));
    for (int y = 2 * walk.row; y < min(2 * walk.row + 2, c.luma.height); y++)
        for (int x = first; x < c.luma.width; x++) {
            const Sample sample = ((const Sample *)plane_row(c.luma, y))[x];
            const Place place = {(uint32_t)(x - active.left), (uint32_t)(y - active.top)};
            ((Sample *)plane_row(out, y))[x] =
                is_active(active, x, y) ? (Sample)look_up_one(table, sample, place) : sample;
        }
    for (int x = first / 2; x < c.width; x++)
        scale_pixel<Sample, false>(rule, c, x, walk.row);
}

/* Call it in all threads of the block. It fills `gains`, and synchronizes the block before it reads
 * `active` and `gains`. */
template <typename Table, int step>
static __device__ __forceinline__ void
look_up_both(typename Table::Memory *memory, const Both &both, const LumeqCudaPlane &out,
             const CurveTable *from, const CurveParams &params, uint32_t frame,
             const Active &active, CurveGain gains[CURVE_CELLS], BothWalk *walk)
{
    typedef typename Table::Sample Sample;
    Table table;
    table.memory = memory;
    prepare(&table, params, frame);
    load_gains(gains, from->gain, params.depth, both.legal);
    fill(memory, from, params); /* synchronizes the block */
    const ChromaRule rule = {gains, both.legal, (1u << params.depth) - 1,    &params,
                             NULL,  NULL,       active_chroma(active, 1, 1), frame};
    while (unit_is_there(both, *walk)) {
        BothWalk next = *walk;
        both_next(both, &next);
        if (unit_is_there(both, next) && unit_is_whole<Sample>(both, next))
            unit_load(both, &next); /* loads while this unit is written */
        if (unit_is_whole<Sample>(both, *walk))
            write_unit<Table, step>(table, both, out, active, rule, walk);
        else
            write_part(table, both, out, active, rule, *walk);
        *walk = next;
    }
}

/* Splits the units among at most `most` blocks. */
static inline void both_share(Both *both, const LumeqCudaChroma *chroma, const CurveParams *params,
                              int most)
{
    const int samples = CHUNK_BYTES / (params->depth > 8 ? 2 : 1);
    both->chroma = *chroma;
    both->legal = curve_legal(params->depth, params->black != 0);
    both->columns = (chroma->luma.width + samples - 1) / samples;
    both->rows = (chroma->luma.height + 1) / 2;
    const int64_t wanted = ((int64_t)both->columns * both->rows + THREADS - 1) / THREADS;
    both->blocks = (int)(wanted < most ? wanted : most);
}

/* True for 4:2:0 with aligned vectors in all planes. */
static inline int both_fit(const LumeqCudaChroma *c, const LumeqCudaPlane *out, int depth)
{
    const int samples = CHUNK_BYTES / (depth > 8 ? 2 : 1);
    int fit = c->sub_x == 1 && c->sub_y == 1 && c->planes == 3 - c->step &&
              is_aligned(&c->luma, samples, depth) && is_aligned(out, samples, depth);
    for (int i = 0; i < c->planes; i++)
        fit = fit && is_aligned(&c->in[i], samples / 2 * c->step, depth) &&
              is_aligned(&c->out[i], samples / 2 * c->step, depth);
    return fit;
}

#endif
