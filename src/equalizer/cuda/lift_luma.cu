/* Luma of lifted frames: filters it, maps it through the curve, and copies bars. A block takes one
 * tile after another through all passes. */
#include <stdint.h>

#define THREADS 768
#include "equalizer/cuda/launch.cuh"
#include "equalizer/cuda/lift_tile.cuh"
#include "equalizer/samples.h"

#define GROUP 4 /* samples of a vector that is loaded or stored */

/* Reach of all passes before a_trous: previous frames, mean, range. */
#define REACH_BEFORE 5

/* Tile buffers of a block. In turn they hold the picture, a previous picture, the filtered samples
 * and the tolerance. More than one previous frame needs two more, for `bound` and `moves`. */
#define TILES 3
#define TILES_OF_MORE 5

/* The steps of a_trous and the size of a tile. */
template <int a, int b, int c, int width_, int height_> struct Shape {
    static constexpr int first = a, second = b, third = c, reach = a + b + c;
    static constexpr int width = width_, height = height_, in_word = 2;
    static constexpr int halo_y = reach + REACH_BEFORE;
    static constexpr int halo_x = (halo_y + GROUP - 1) / GROUP * GROUP;
    static constexpr int words = (width + 2 * halo_x) / in_word, pitch = words | 1;
    static constexpr int rows = height + 2 * halo_y;
    static constexpr int spare = a == 12 ? 0 : 12; /* rows below the tile, for its last chains */
    static constexpr int size = pitch * (rows + spare);
};

typedef struct LumaWork {
    LumeqCudaLift luma;
    int aligned; /* groups are aligned vectors */
    LiftCodes codes;
    uint32_t floor, ceiling; /* lift_floor(), lift_ceiling() */
    const LiftTables *tables;
    const BarsState *bars;
} LumaWork;

/* A picture that is filtered separately: the active picture, or one of its fields. */
typedef struct LumaPicture {
    LumeqCudaPlane in, out, past[LIFT_PAST];
} LumaPicture;

/* Shared memory of a block besides tiles. */
typedef struct LumaShared {
    uint32_t node[LIFT_CODES], tolerance[LIFT_CODES];
    ushort4 dither[8][2]; /* 8x8 thresholds, 4 in an element, with the rounding constant */
    Active active;
    int pictures;
    LumaPicture picture[2];
} LumaShared;

/* Parameters of the frame, in a thread's registers. */
typedef struct LumaRule {
    const uint32_t *node, *tolerance;
    const ushort4 *dither;
    bool noisy;
    int past;
    uint32_t near, speck, edge; /* the same number in both halves of the word */
} LumaRule;

/* ---- loading ------------------------------------------------------------------------------- */

/* The type of a group in memory. */
template <typename Sample> struct RawOf {
    typedef uint32_t Type;
};
template <> struct RawOf<uint16_t> {
    typedef uint2 Type;
};

/* Spreads four samples over two words, with 16 bits per sample. */
LIFT_FN uint2 spread(uint32_t v)
{
    return make_uint2(__byte_perm(v, 0, 0x4140), __byte_perm(v, 0, 0x4342));
}

LIFT_FN uint2 spread(uint2 v)
{
    return v;
}

LIFT_FN uint32_t pack(const uint8_t s[GROUP])
{
    return s[0] | s[1] << 8 | s[2] << 16 | (uint32_t)s[3] << 24;
}

LIFT_FN uint2 pack(const uint16_t s[GROUP])
{
    return make_uint2(s[0] | (uint32_t)s[1] << 16, s[2] | (uint32_t)s[3] << 16);
}

/* Converts spread samples to Q6. */
template <typename Sample> LIFT_FN uint2 to_q6(uint2 v, LiftCodes codes)
{
    if (sizeof(Sample) == 1)
        return make_uint2(v.x * 64, v.y * 64);
    return make_uint2(lift_q6(lift_codes(v.x, codes), codes),
                      lift_q6(lift_codes(v.y, codes), codes));
}

/* These functions store and load a group's two words. Half of the lanes access the second word
 * first, so that all lanes use different banks. */
LIFT_FN void store_pair(uint32_t *tile, int at, uint2 v)
{
    const int swap = threadIdx.x >> 4 & 1;
    tile[at + swap] = swap ? v.y : v.x;
    tile[at + 1 - swap] = swap ? v.x : v.y;
}

LIFT_FN uint2 load_pair(const uint32_t *tile, int at)
{
    const int swap = threadIdx.x >> 4 & 1;
    const uint32_t a = tile[at + swap], b = tile[at + 1 - swap];
    return swap ? make_uint2(b, a) : make_uint2(a, b);
}

/* Loads a group of a row; if it is not whole, samples are mirrored at the row's ends. */
template <typename Sample>
LIFT_FN typename RawOf<Sample>::Type load_raw(const LumeqCudaPlane &plane, int x, int y, bool whole)
{
    typedef typename RawOf<Sample>::Type Raw;
    const Sample *const row =
        (const Sample *)(plane.data + lift_mirror(y, plane.height) * (int64_t)plane.stride);
    if (whole)
        return __ldg((const Raw *)(row + x));
    Sample s[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        s[i] = __ldg(row + lift_mirror(x + i, plane.width));
    return pack(s);
}

/*
 * Loads a group of each of `rows` rows, `apart` rows apart. Issues all loads before the first
 * store, because waiting for each load would take most of a tile's time.
 */
template <typename Sample, typename S, int count, int rows, int apart, typename Store>
LIFT_FN void load_rows(const LumaWork &work, const LumeqCudaPlane *const *planes,
                       const LiftPlace &place, int row, int group, bool whole, Store store)
{
    typename RawOf<Sample>::Type raw[rows][count];
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int k = 0; k < count; k++)
            raw[i][k] = load_raw<Sample>(*planes[k], place.x + group * GROUP,
                                         place.y + row + i * apart, whole);
#pragma unroll
    for (int i = 0; i < rows; i++) {
        uint2 v[count];
#pragma unroll
        for (int k = 0; k < count; k++)
            v[k] = to_q6<Sample>(spread(raw[i][k]), work.codes);
        if (row + i * apart < S::rows)
            store((row + i * apart) * S::pitch + group * GROUP / S::in_word, v);
    }
}

/* Calls store(index of a word in the tile, the two words of each plane) for each group. A thread
 * loads a column of groups. */
template <typename Sample, typename S, int count, typename Store>
LIFT_FN void load_tile(const LumaWork &work, const LumeqCudaPlane *const *planes,
                       const LiftPlace &place, Store store)
{
    constexpr int groups = S::words * S::in_word / GROUP, apart = THREADS / groups;
    constexpr int turns = lift_groups(S::rows, apart), most = 32 / (count * (int)sizeof(Sample));
    constexpr int rows = lift_groups(turns, lift_groups(turns, most < 14 ? most : 14));
    const int row = (int)threadIdx.x / groups, group = (int)threadIdx.x % groups;
    const int x = place.x + group * GROUP;
    const bool whole = work.aligned && x >= 0 && x + GROUP <= planes[0]->width;
    if (row < apart)
        for (int i = row; i < S::rows; i += rows * apart) {
            if (whole)
                load_rows<Sample, S, count, rows, apart>(work, planes, place, i, group, true,
                                                         store);
            else
                load_rows<Sample, S, count, rows, apart>(work, planes, place, i, group, false,
                                                         store);
        }
    __syncthreads();
}

/* ---- before a_trous ------------------------------------------------------------------------ */

/*
 * Each thread walks down parts of columns of a region. across(index of a word) computes a row's
 * value. finish(index, values of the `window` rows around it) computes the resulting word. Stores
 * the results after all loads, because the compiler must assume that stores change later loads.
 */
template <typename S, typename Region, int window, typename Across, typename Finish>
LIFT_FN void walk_down(uint32_t *to, Across across, Finish finish)
{
    typedef decltype(across(0)) Told;
    constexpr int reach = window / 2;
    constexpr int length = lift_chain(Region::rows, S::rows + S::spare - reach - Region::row,
                                      Region::columns, 2 * reach);
    constexpr int groups = lift_groups(Region::rows, length);
    static_assert(Region::row >= reach, "chains read inside the memory, above");
    static_assert(Region::row + length * groups + reach <= S::rows + S::spare,
                  "chains read inside the memory, below");
    for (int i = (int)threadIdx.x; i < Region::columns * groups; i += THREADS) {
        const int row = Region::row + i / Region::columns * length;
        const int at = row * S::pitch + Region::column + i % Region::columns;
        Told told[length + 2 * reach];
        uint32_t result[length];
#pragma unroll
        for (int k = 0; k < 2 * reach; k++)
            told[k] = across(at + (k - reach) * S::pitch);
#pragma unroll
        for (int k = 0; k < length; k++) {
            told[k + 2 * reach] = across(at + (k + reach) * S::pitch);
            result[k] = finish(at + k * S::pitch, &told[k]);
        }
#pragma unroll
        for (int k = 0; k < length; k++)
            to[at + k * S::pitch] = result[k];
    }
}

LIFT_FN uint32_t look_up(const uint32_t *table, uint32_t words, int shift)
{
    return *(const uint32_t *)((const char *)table + ((words >> shift) & 0x3fc));
}

/* Looks up both samples of a word. Returns the entries' lower halves in x, upper halves in y. */
LIFT_FN uint2 tolerances(const LumaRule &rule, uint32_t now)
{
    const uint32_t low = look_up(rule.tolerance, now, 4), high = look_up(rule.tolerance, now, 20);
    return make_uint2(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632));
}

/* max(whole - part, 0) in both halves. */
LIFT_FN uint32_t left_of(uint32_t whole, uint32_t part)
{
    return __vmaxu2(whole, part) - part;
}

/* Offsets that keep differences to a previous frame, and sums of moves, positive. */
#define DIFFERENCE_ZERO 1024
#define MOVES_ZERO 32768

/* Difference of two words in Q6, as Q2. For 8 bits this is exact. */
template <typename Sample> LIFT_FN uint32_t difference(uint32_t past, uint32_t now)
{
    if (sizeof(Sample) == 1)
        return (past + lift_both(16 * DIFFERENCE_ZERO) - now) >> 4;
    return ((past >> 4) & 0x03ff03ffu) + lift_both(DIFFERENCE_ZERO) - ((now >> 4) & 0x03ff03ffu);
}

template <typename Sample> LIFT_FN uint2 differences(uint2 past, uint2 now)
{
    return make_uint2(difference<Sample>(past.x, now.x), difference<Sample>(past.y, now.y));
}

/* Sum of five differences in a row, and the middle difference. */
typedef struct Differences {
    uint32_t sum, middle;
} Differences;

LIFT_FN Differences differences_across(const uint32_t *tile, int at)
{
    const uint32_t before = tile[at - 1], now = tile[at], after = tile[at + 1];
    const Differences result = {
        before + now + after + lift_between(before, now) + lift_between(now, after), now};
    return result;
}

/* Lowers `bound`, the distance that a previous frame may move `now`, if the 5x5 differences are
 * large. Adds the move to `moves`. `past`: the frame's word, read if differences are not exact. */
template <typename Sample>
LIFT_FN void add_moves(const LumaRule &rule, uint32_t now, const uint32_t *past,
                       const Differences *rows, uint32_t *bound, uint32_t *moves)
{
    const uint32_t zero = lift_both(25 * DIFFERENCE_ZERO);
    const uint32_t sum = rows[0].sum + rows[1].sum + rows[2].sum + rows[3].sum + rows[4].sum;
    const uint32_t off = __vmaxu2(sum, zero) - __vminu2(sum, zero);
    *bound = __vminu2(*bound, left_of(rule.near, off) * 4);
    /* Adding the bound makes clamped moves positive, as in lift_smooth(). */
    *moves -= *bound;
    if (sizeof(Sample) == 1)
        *moves += __viaddmin_s16x2_relu(rows[2].middle * 16, *bound | 0xc000c000u, 2 * *bound);
    else
        *moves +=
            __viaddmin_s16x2_relu(*past | 0xc000c000u, 0x40004000u - now + *bound, 2 * *bound);
}

LIFT_FN uint32_t move(uint32_t now, uint32_t moves, int past)
{
    const int shift = past == 1 ? 1 : 2;
    const uint32_t half = lift_both(shift), rest = lift_both(0xffff >> shift);
    return now + (((moves + half) >> shift) & rest) - lift_both(MOVES_ZERO >> shift);
}

template <typename S> struct Tiles {
    uint32_t *a, *b, *c, *bound, *moves; /* the last two only with several previous frames */
};

/* Loads the picture into tile a, and its differences from the previous frame into c. If the
 * differences are not exact, also loads the previous frame into b. */
template <typename Sample, typename S>
LIFT_FN void load_both(const LumaWork &work, const LumaPicture &picture, const LiftPlace &place,
                       const Tiles<S> &t)
{
    const LumeqCudaPlane *const planes[2] = {&picture.in, &picture.past[0]};
    load_tile<Sample, S, 2>(work, planes, place, [&](int at, const uint2 *v) {
        store_pair(t.a, at, v[0]);
        if (sizeof(Sample) > 1)
            store_pair(t.b, at, v[1]);
        store_pair(t.c, at, differences<Sample>(v[1], v[0]));
    });
}

/* Like load_both(), for an earlier frame; tile a is already loaded. */
template <typename Sample, typename S>
LIFT_FN void load_before(const LumaWork &work, const LumeqCudaPlane &past, const LiftPlace &place,
                         const Tiles<S> &t)
{
    const LumeqCudaPlane *const plane = &past;
    load_tile<Sample, S, 1>(work, &plane, place, [&](int at, const uint2 *v) {
        if (sizeof(Sample) > 1)
            store_pair(t.b, at, v[0]);
        store_pair(t.c, at, differences<Sample>(v[0], load_pair(t.a, at)));
    });
}

/* Loads the picture into tile a, and its temporal mean with previous frames into b. */
template <typename Sample, typename S>
LIFT_FN void temporal_mean(const LumaWork &work, const LumaRule &rule, const LumaPicture &picture,
                           const LiftPlace &place, const Tiles<S> &t)
{
    typedef LiftRegion<S, S::reach + 3, S::reach + 3> Region;
    for (int i = 0; i < rule.past; i++) {
        const bool first = i == 0;
        if (first)
            load_both<Sample, S>(work, picture, place, t);
        else
            load_before<Sample, S>(work, picture.past[i], place, t);
        const auto across = [&](int at) { return differences_across(t.c, at); };
        if (rule.past == 1) /* `bound` and `moves` stay in registers */
            walk_down<S, Region, 5>(t.b, across, [&](int at, const Differences *rows) {
                const uint32_t now = t.a[at];
                uint32_t bound = tolerances(rule, now).y, moves = lift_both(MOVES_ZERO);
                add_moves<Sample>(rule, now, t.b + at, rows, &bound, &moves);
                return move(now, moves, 1);
            });
        else
            walk_down<S, Region, 5>(t.b, across, [&](int at, const Differences *rows) {
                const uint32_t now = t.a[at];
                uint32_t bound = first ? tolerances(rule, now).y : t.bound[at];
                uint32_t moves = first ? lift_both(MOVES_ZERO) : t.moves[at];
                add_moves<Sample>(rule, now, t.b + at, rows, &bound, &moves);
                t.bound[at] = bound;
                t.moves[at] = moves;
                return move(now, moves, rule.past);
            });
        __syncthreads();
    }
    lift_extend<S, uint16_t>(place, t.b);
}

/* 3x3 mean with weights 1 2 1 in both directions. */
template <typename S> LIFT_FN void mean(uint32_t *to, const uint32_t *from)
{
    typedef LiftRegion<S, S::reach + 2, S::reach + 2> Region;
    walk_down<S, Region, 3>(
        to,
        [&](int at) {
            const uint32_t before = (from[at - 1] >> 4) & 0x03ff03ffu;
            const uint32_t now = (from[at] >> 4) & 0x03ff03ffu;
            const uint32_t after = (from[at + 1] >> 4) & 0x03ff03ffu;
            return lift_between(before, now) + 2 * now + lift_between(now, after);
        },
        [&](int at, const uint32_t *rows) { return rows[0] + 2 * rows[1] + rows[2]; });
    __syncthreads();
}

typedef struct Range {
    uint32_t low, high;
} Range;

LIFT_FN Range range_across(const uint32_t *tile, int at)
{
    const uint32_t before = tile[at - 1], now = tile[at], after = tile[at + 1];
    const uint32_t left = lift_between(before, now), right = lift_between(now, after);
    const Range range = {__vimin3_s16x2(__vimin3_s16x2(before, now, after), left, right),
                         __vimax3_s16x2(__vimax3_s16x2(before, now, after), left, right)};
    return range;
}

/* Computes a quarter of the tolerance from the source `now` and the range of `from`. Returns true
 * if this thread found a tolerance above 0. `bias`: constant that was added to the source. */
template <typename S, typename Region>
LIFT_FN bool find_tolerance(const LumaRule &rule, uint32_t *to, const uint32_t *from,
                            const uint32_t *now, uint32_t bias)
{
    uint32_t any = 0;
    walk_down<S, Region, 5>(
        to, [&](int at) { return range_across(from, at); },
        [&](int at, const Range *r) {
            const uint32_t high = __vimax3_s16x2(__vimax3_s16x2(r[0].high, r[1].high, r[2].high),
                                                 r[3].high, r[4].high);
            const uint32_t low =
                __vimin3_s16x2(__vimin3_s16x2(r[0].low, r[1].low, r[2].low), r[3].low, r[4].low);
            const uint32_t rest = (left_of(rule.edge, high - low) >> 2) & 0x3fff3fffu;
            const uint32_t quarter = __vminu2(tolerances(rule, now[at] - bias).x, rest);
            any |= quarter;
            return quarter;
        });
    return any != 0;
}

/* Minimum and maximum in a row: of a sample's two neighbours, and of all three samples. */
typedef struct Beside {
    Range beside, all;
} Beside;

LIFT_FN Beside beside(const uint32_t *tile, int at)
{
    const uint32_t now = tile[at];
    const uint32_t left = lift_between(tile[at - 1], now), right = lift_between(now, tile[at + 1]);
    const Range range = {__vminu2(left, right), __vmaxu2(left, right)};
    const Beside result = {range, {__vminu2(range.low, now), __vmaxu2(range.high, now)}};
    return result;
}

/* Clamps samples that stand out from all their neighbours; adds `bias` to the result. */
template <typename S>
LIFT_FN void clamp_specks(const LumaRule &rule, uint32_t *to, const uint32_t *from,
                          const uint32_t *quarters, uint32_t bias)
{
    typedef LiftRegion<S, S::reach, S::reach> Region;
    walk_down<S, Region, 3>(
        to, [&](int at) { return beside(from, at); },
        [&](int at, const Beside *rows) {
            const uint32_t low =
                __vimin3_s16x2(rows[0].all.low, rows[1].beside.low, rows[2].all.low);
            const uint32_t high =
                __vimax3_s16x2(rows[0].all.high, rows[1].beside.high, rows[2].all.high);
            const uint32_t now = from[at], most = __vminu2(8 * quarters[at], rule.speck);
            const uint32_t wanted = __vmaxu2(__vminu2(now, high), low);
            return __vmaxu2(__vminu2(wanted, now + most), left_of(now, most)) + bias;
        });
    __syncthreads();
}

/* ---- the result ---------------------------------------------------------------------------- */

/* Fraction bits of interpolated values, and the constant that rounds them to a node's precision. */
#define VALUE_BITS 14
#define VALUE_HALF 32

/* Returns the output code of sample `index` (0 or 1) of a word in Q6. */
template <typename Sample>
LIFT_FN uint32_t look_up_q6(const LumaRule &rule, LiftCodes codes, uint32_t word, int index,
                            uint32_t dither)
{
    const uint32_t entry = look_up(rule.node, word, index * 16 + 4);
    const int32_t more = ((int32_t)entry >> 16) * (int32_t)(word >> (index * 16) & 63);
    const uint32_t value = (entry & 0xffff) * 64 + dither + (uint32_t)more;
    return value >> (sizeof(Sample) == 1 ? VALUE_BITS : VALUE_BITS + 8 - codes.depth);
}

/* Keeps the darkest codes from getting darker than the source, and the lightest from getting
 * lighter. Only the few groups with such codes load their source again. */
template <typename Sample>
LIFT_FN void keep_between(const LumaWork &work, const LumeqCudaPlane &in, uint32_t s[GROUP], int x,
                          int y)
{
    if (min(min(s[0], s[1]), min(s[2], s[3])) >= work.floor &&
        max(max(s[0], s[1]), max(s[2], s[3])) <= work.ceiling)
        return;
    const uint2 v = spread(load_raw<Sample>(in, x, y, work.aligned && x + GROUP <= in.width));
    const uint32_t before[GROUP] = {v.x & 0xffff, v.x >> 16, v.y & 0xffff, v.y >> 16};
    const int shift = sizeof(Sample) == 1 ? 0 : work.codes.shift;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        const uint32_t code = before[i] >> shift;
        s[i] = min(max(s[i], min(code, work.floor)), max(code, work.ceiling));
    }
}

LIFT_FN void store_group(uint8_t *to, const uint32_t s[GROUP])
{
    *(uint32_t *)to =
        __byte_perm(__byte_perm(s[0], s[1], 0x0040), __byte_perm(s[2], s[3], 0x0040), 0x5410);
}

LIFT_FN void store_group(uint16_t *to, const uint32_t s[GROUP])
{
    *(uint2 *)to = make_uint2(s[0] | s[1] << 16, s[2] | s[3] << 16);
}

/* Writes a group of the result from the two words `f` in Q6. */
template <typename Sample>
LIFT_FN void write_group(const LumaWork &work, const LumaRule &rule, const LumaPicture &picture,
                         uint2 f, int x, int y)
{
    const LumeqCudaPlane &out = picture.out;
    const ushort4 dither = rule.dither[y % 8 * 2 + x / GROUP % 2];
    uint32_t s[GROUP] = {look_up_q6<Sample>(rule, work.codes, f.x, 0, dither.x),
                         look_up_q6<Sample>(rule, work.codes, f.x, 1, dither.y),
                         look_up_q6<Sample>(rule, work.codes, f.y, 0, dither.z),
                         look_up_q6<Sample>(rule, work.codes, f.y, 1, dither.w)};
    keep_between<Sample>(work, picture.in, s, x, y);
    if (sizeof(Sample) > 1)
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            s[i] <<= work.codes.shift;
    Sample *const to = (Sample *)(out.data + (int64_t)y * out.stride) + x;
    if (work.aligned && x + GROUP <= out.width) {
        store_group(to, s);
        return;
    }
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        if (x + i < out.width)
            to[i] = (Sample)s[i];
}

/* Writes a tile of the result. `bias`: constant that was added to its samples. */
template <typename Sample, typename S>
LIFT_FN void write_tile(const LumaWork &work, const LumaRule &rule, const LumaPicture &picture,
                        const LiftPlace &place, const uint32_t *tile, uint32_t bias)
{
    constexpr int groups = S::width / GROUP;
    for (int i = (int)threadIdx.x; i < groups * S::height; i += THREADS) {
        const int row = S::halo_y + i / groups, column = S::halo_x + i % groups * GROUP;
        const int at = row * S::pitch + column / S::in_word;
        const int x = place.x + column, y = place.y + row;
        if (x < picture.out.width && y < picture.out.height) {
            const uint2 f = load_pair(tile, at);
            write_group<Sample>(work, rule, picture, make_uint2(f.x - bias, f.y - bias), x, y);
        }
    }
    __syncthreads();
}

/* ---- the kernel ---------------------------------------------------------------------------- */

struct LumaWeight {
    __device__ __forceinline__ uint32_t operator()(uint32_t quarter) const
    {
        return quarter;
    }
};

/* Runs all steps of a_trous, in `tile`. */
template <typename S>
LIFT_FN void smooth(const LiftPlace &place, uint32_t *tile, uint32_t *other,
                    const uint32_t *quarters)
{
    const LumaWeight weight;
    lift_step<S, uint16_t, S::first, S::second + S::third>(place, tile, other, quarters, weight);
    lift_step<S, uint16_t, S::second, S::third>(place, tile, other, quarters, weight);
    lift_step<S, uint16_t, S::third, 0>(place, tile, other, quarters, weight);
}

template <typename Sample, typename S>
LIFT_FN void filter_tile(const LumaWork &work, const LumaRule &rule, const LumaPicture &picture,
                         const LiftPlace &place, const Tiles<S> &t)
{
    const uint32_t base = lift_both(LIFT_BASE(6)), end = lift_both(LIFT_BASE(0));
    const bool noisy = rule.noisy, past = rule.past > 0;
    if (past) {
        temporal_mean<Sample, S>(work, rule, picture, place, t);
    } else {
        const LumeqCudaPlane *const plane = &picture.in;
        const uint32_t more = noisy ? 0 : base;
        load_tile<Sample, S, 1>(work, &plane, place, [&](int at, const uint2 *v) {
            store_pair(t.a, at, make_uint2(v->x + more, v->y + more));
        });
    }
    uint32_t *tile = t.a, *other = t.b, *const quarters = past ? t.a : t.c;
    bool any;
    if (noisy) {
        uint32_t *const f = past ? t.b : t.a, *const g = past ? t.c : t.b;
        mean<S>(g, f);
        lift_extend<S, uint16_t>(place, g);
        any = find_tolerance<S, LiftRegion<S, S::reach, S::reach>>(rule, quarters, g, t.a, 0);
        tile = g;
        other = f;
    } else {
        typedef LiftRegion<S, S::second + S::third, S::reach> Region;
        any = find_tolerance<S, Region>(rule, quarters, t.a, t.a, base);
    }
    any = __syncthreads_or(any);
    lift_extend<S, uint16_t>(place, quarters);
    if (noisy) {
        clamp_specks<S>(rule, tile, other, quarters, base);
        lift_extend<S, uint16_t>(place, tile);
    }
    if (any)
        smooth<S>(place, tile, other, quarters);
    write_tile<Sample, S>(work, rule, picture, place, tile, any ? end : base);
}

/* Runs in one thread. Not inlined, because its loops would move all planes out of registers. */
static __device__ __noinline__ void find_pictures(const LumaWork &first,
                                                  const LumeqCudaBatch &batch, int frame,
                                                  int sample_size, LumaShared *shared)
{
    LumeqCudaLift luma = first.luma;
    Active *const active = &shared->active;
    luma.in.data += batch.of[frame].in[0];
    luma.out.data += batch.of[frame].out[0];
    lift_find_active(active, in_batch(first.bars, batch, frame), luma.in.width, luma.in.height);
    const int fields = luma.fields && active->bottom - active->top > 1;
    shared->pictures = 1 + fields;
    for (int i = 0; i < shared->pictures; i++) {
        LumaPicture *const picture = &shared->picture[i];
        picture->in = lift_picture(luma.in, *active, sample_size, fields, i);
        picture->out = lift_picture(luma.out, *active, sample_size, fields, i);
        for (int k = 0; k < luma.previous_count; k++)
            picture->past[k] = lift_picture(luma.previous[k], *active, sample_size, fields, i);
    }
}

LIFT_FN LumaRule prepare(const LumaWork &work, const LumeqCudaBatch &batch, int frame,
                         int sample_size, LumaShared *shared)
{
    const LiftTables *const tables = in_batch(work.tables, batch, frame);
    for (int i = (int)threadIdx.x; i < LIFT_CODES; i += THREADS) {
        shared->node[i] = __ldcg(&tables->node[i]);
        shared->tolerance[i] = __ldcg(&tables->tolerance[i]);
    }
    for (int i = (int)threadIdx.x; i < 64; i += THREADS)
        ((uint16_t *)shared->dither)[i] =
            (uint16_t)((curve_dither((uint32_t)i % 8, (uint32_t)i / 8, batch.of[frame].frame) >>
                        (work.codes.depth - 8))
                           << (VALUE_BITS - 8) |
                       VALUE_HALF);
    if (threadIdx.x == 0)
        find_pictures(work, batch, frame, sample_size, shared);
    const LumaRule rule = {shared->node,
                           shared->tolerance,
                           &shared->dither[0][0],
                           __ldcg(&tables->noisy) != 0,
                           min(__ldcg(&tables->past), work.luma.previous_count),
                           lift_both(__ldcg(&tables->near)),
                           lift_both(__ldcg(&tables->speck)),
                           lift_both(__ldcg(&tables->edge))};
    __syncthreads();
    return rule;
}

template <typename Sample, typename S>
LIFT_FN void filter_pictures(const LumaWork &work, const LumaRule &rule, const LumaShared &shared,
                             uint32_t *memory)
{
    const Tiles<S> tiles = {memory, memory + S::size, memory + 2 * S::size, memory + 3 * S::size,
                            memory + 4 * S::size};
    int i = (int)blockIdx.x;
    for (int k = 0; k < shared.pictures; k++) {
        const LumaPicture &picture = shared.picture[k];
        const int width = picture.in.width, height = picture.in.height;
        const int count = lift_tiles<S>(width, height);
        for (; i < count; i += (int)gridDim.x)
            filter_tile<Sample, S>(work, rule, picture, lift_place<S>(width, height, i), tiles);
        i -= count;
    }
}

/* The frames of a batch are side by side in the grid's second dimension. */
template <typename Sample, int width, int height>
static __global__ void __launch_bounds__(THREADS, 1)
    lift_luma(const __grid_constant__ LumaWork work, const __grid_constant__ LumeqCudaBatch batch)
{
    extern __shared__ __align__(16) uint32_t memory[];
    __shared__ LumaShared shared;
    const int frame = (int)blockIdx.y;
    let_next_kernel_start(); /* the next one is for chroma, and at first needs only the table */
    const LumaRule rule = prepare(work, batch, frame, sizeof(Sample), &shared);
    const int rows = shared.active.bottom - shared.active.top;
    if (__ldcg(&in_batch(work.tables, batch, frame)->alone))
        filter_pictures<Sample, Shape<2, 1, 1, width, height>>(work, rule, shared, memory);
    else if (rows >= 900)
        filter_pictures<Sample, Shape<12, 4, 1, width, height>>(work, rule, shared, memory);
    else if (rows >= 600)
        filter_pictures<Sample, Shape<8, 3, 1, width, height>>(work, rule, shared, memory);
    else
        filter_pictures<Sample, Shape<4, 2, 1, width, height>>(work, rule, shared, memory);
    LumeqCudaPlane in = work.luma.in, out = work.luma.out;
    in.data += batch.of[frame].in[0];
    out.data += batch.of[frame].out[0];
    lift_copy_bars<Sample>(out, in, shared.active, in.width, in.height);
}

/* ---- choice of kernels --------------------------------------------------------------------- */

/* A kernel, the size of its tiles, and a tile's memory in bytes with the longest steps. */
typedef struct LumaKernel {
    void (*start)(const LumaWork, const LumeqCudaBatch);
    int width, height;
    size_t tile;
} LumaKernel;

template <typename Sample, int width, int height> static LumaKernel kernel_of(void)
{
    const LumaKernel kernel = {lift_luma<Sample, width, height>, width, height,
                               Shape<12, 4, 1, width, height>::size * sizeof(uint32_t)};
    return kernel;
}

/* Large tiles overlap less, so the first size (the largest) that fits in shared memory is used. */
#define SIZES 3

template <typename Sample> static LumaKernel kernel_of_size(int size)
{
    switch (size) {
    case 0: return kernel_of<Sample, 180, 122>();
    case 1: return kernel_of<Sample, 128, 62>();
    default: return kernel_of<Sample, 32, 24>();
    }
}

static size_t memory_of(const LumaKernel *kernel, int previous)
{
    return kernel->tile * (previous > 1 ? TILES_OF_MORE : TILES);
}

/* `most`: shared memory of a block, in bytes. */
static int fits(const LumaKernel *kernel, int previous, int most)
{
    return memory_of(kernel, previous) + sizeof(LumaShared) <= (size_t)most;
}

static LumaKernel choose(const LumeqCudaDevice *device, int depth, int previous)
{
    LumaKernel kernel = {};
    for (int i = 0; i < SIZES; i++) {
        kernel = depth > 8 ? kernel_of_size<uint16_t>(i) : kernel_of_size<uint8_t>(i);
        if (fits(&kernel, previous, device->shared))
            break;
    }
    return kernel;
}

extern "C" cudaError_t lumeq_cuda_load_lift_luma(const LumeqCudaDevice *device)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 4 && !error; i++) {
        const int previous = i / 2 ? LIFT_PAST : 1;
        const LumaKernel kernel = choose(device, i % 2 ? 16 : 8, previous);
        error = lift_allow(kernel.start, memory_of(&kernel, previous));
    }
    return error;
}

static int is_aligned(const LumeqCudaPlane *plane, int depth)
{
    const uintptr_t bytes = GROUP * (depth > 8 ? 2 : 1);
    return (uintptr_t)plane->data % bytes == 0 && plane->stride % (ptrdiff_t)bytes == 0;
}

static int all_aligned(const LumeqCudaLift *luma, int depth)
{
    int aligned = is_aligned(&luma->in, depth) && is_aligned(&luma->out, depth);
    for (int i = 0; i < luma->previous_count; i++)
        aligned = aligned && is_aligned(&luma->previous[i], depth);
    return aligned;
}

/* Blocks per frame. All frames together have at most one per multiprocessor. */
static unsigned tile_blocks(const LumeqCudaDevice *device, const LumaKernel *kernel,
                            const LumeqCudaLift *luma, int count)
{
    const int64_t most = device->processors > count ? device->processors / count : 1;
    const int64_t columns = (luma->in.width + kernel->width - 1) / kernel->width;
    const int64_t rows = (luma->in.height + kernel->height - 1) / kernel->height + 1;
    return (unsigned)(columns * rows < most ? columns * rows : most);
}

extern "C" cudaError_t lumeq_cuda_lift_luma(const LumeqCudaDevice *device,
                                            const LumeqCudaLift *luma, const CurveTable *table,
                                            const BarsState *bars, const CurveParams *params,
                                            const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const LumaKernel kernel = choose(device, params->depth, luma->previous_count);
    LumaWork work = {};
    work.luma = *luma;
    work.aligned = all_aligned(luma, params->depth);
    work.codes = {params->shift, params->depth};
    work.floor = lift_floor(params->black, params->depth);
    work.ceiling = lift_ceiling(params->white, params->depth);
    work.tables = &table->lift;
    work.bars = bars;
    const Launch how = {
        dim3(tile_blocks(device, &kernel, luma, batch->count), (unsigned)batch->count), THREADS,
        memory_of(&kernel, luma->previous_count), 0, stream};
    return launch(how, kernel.start, work, *batch);
}
