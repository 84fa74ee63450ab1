/*
 * The filter of lifted pictures for AVX2. Tables are split into tables of bytes, in which a block's
 * codes are looked up by shuffles: mostly they are few, and neighbours of each other.
 */
#include <immintrin.h>
#include <string.h>

#include "equalizer/cpu/byte_range.h"
#include "equalizer/cpu/byte_table.h"
#include "equalizer/cpu/lift_kernels.h"

#define LIFT_LOOKS_UP
#define LIFT_PASSES
#define LIFT_BYTES

#define VECTORS (LIFT_BLOCK / 16) /* of samples in a block */
#define HALVES (LIFT_BLOCK / 32)  /* of its bytes */

typedef struct Prepared {
    ByteTable entries[2][4]; /* LiftEntries by their bytes */
    ByteTable whole, chroma; /* tolerances: 255 for what is more */
    /* Of the gains their bytes, and up to how many codes from gray nothing ends them, at least. */
    ByteTable gain[2], free;
} Prepared;

_Static_assert(sizeof(Prepared) <= LIFT_PREPARED, "there is room for the tables");

static inline __m256i load(const void *from)
{
    return _mm256_loadu_si256(from);
}

static inline void store(void *to, __m256i vector)
{
    _mm256_storeu_si256(to, vector);
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* The codes of a block, and the parts of a table that they are in. */
typedef struct Codes {
    __m256i code[HALVES];
    Window window;
} Codes;

static inline Codes codes_in(const __m256i code[HALVES])
{
    Codes codes;
    ByteRange range = empty_range();
    for (int i = 0; i < HALVES; i++) {
        codes.code[i] = code[i];
        add_to_range(&range, code[i]);
    }
    const int first = range_first(&range) / PARTS;
    codes.window = (Window){first, range_last(&range) / PARTS - first + 1};
    return codes;
}

/* Each lane has the codes of 8 samples of one vector before 8 of the next. */
static inline Codes codes_of(const int16_t *samples)
{
    __m256i code[HALVES];
    for (int i = 0; i < HALVES; i++)
        code[i] = _mm256_packus_epi16(_mm256_srli_epi16(load(samples + 32 * i), 6),
                                      _mm256_srli_epi16(load(samples + 32 * i + 16), 6));
    return codes_in(code);
}

/* Adds what is in some parts of `count` tables, which is a constant. */
static inline __attribute__((always_inline)) void look_up_parts(__m256i (*found)[HALVES],
                                                                const ByteTable *tables, int count,
                                                                int first, int parts,
                                                                const Codes *codes)
{
    const __m256i before = _mm256_set1_epi8((char)(PARTS * first));
    const __m256i sixteen = _mm256_set1_epi8(PARTS);
    __m256i at[HALVES];
    for (int i = 0; i < HALVES; i++)
        at[i] = _mm256_sub_epi8(codes->code[i], before);
    for (int t = 0; t < count; t++) {
        const __m256i start = _mm256_broadcastsi128_si256(tables[t].part[first]);
        for (int i = 0; i < HALVES; i++)
            found[t][i] = _mm256_xor_si256(found[t][i], _mm256_shuffle_epi8(start, at[i]));
    }
#pragma GCC unroll 1
    for (int part = first + 1; part < first + parts; part++) {
        for (int i = 0; i < HALVES; i++)
            at[i] = _mm256_subs_epi8(at[i], sixteen);
        for (int t = 0; t < count; t++) {
            const __m256i more = _mm256_broadcastsi128_si256(tables[t].differs[part]);
            for (int i = 0; i < HALVES; i++)
                found[t][i] = _mm256_xor_si256(found[t][i], _mm256_shuffle_epi8(more, at[i]));
        }
    }
}

static inline __attribute__((always_inline)) void
look_up(__m256i (*found)[HALVES], const ByteTable *tables, int count, const Codes *codes)
{
    const Window w = codes->window;
    for (int t = 0; t < count; t++)
        for (int i = 0; i < HALVES; i++)
            found[t][i] = _mm256_setzero_si256();
    look_up_parts(found, tables, count, w.first, w.parts < HALF ? w.parts : HALF, codes);
    if (w.parts > HALF)
        look_up_parts(found, tables, count, w.first + HALF, w.parts - HALF, codes);
}

/* Numbers of 16 bits in the order that codes_of() has found samples in. */
static inline void join_bytes(__m256i number[VECTORS], const __m256i low[HALVES],
                              const __m256i high[HALVES])
{
    for (int i = 0; i < HALVES; i++) {
        number[2 * i] = _mm256_unpacklo_epi8(low[i], high[i]);
        number[2 * i + 1] = _mm256_unpackhi_epi8(low[i], high[i]);
    }
}

typedef const ByteTable *LiftTable;

static inline LiftTable lift_table(const LiftRow *row, LiftEntries which)
{
    return ((const Prepared *)row->prepared)->entries[which];
}

static inline void lift_look_up(uint16_t *low, uint16_t *high, const LiftTable *table,
                                const int16_t *samples)
{
    const Codes codes = codes_of(samples);
    uint16_t *const to[2] = {low, high};
    for (int upper = 0; upper < 2; upper++) {
        __m256i found[2][HALVES], number[VECTORS];
        if (!to[upper])
            continue;
        look_up(found, *table + 2 * upper, 2, &codes);
        join_bytes(number, found[0], found[1]);
        for (int i = 0; i < VECTORS; i++)
            store(to[upper] + 16 * i, number[i]);
    }
}

static inline void lift_look_up_gains(uint32_t *gain, uint32_t *to, const CurveGain *table,
                                      const uint8_t *cells)
{
    const int *first = (const int *)(const void *)table;
    for (int i = 0; i < LIFT_BLOCK; i += 8) {
        const __m256i at = _mm256_cvtepu8_epi32(_mm_loadu_si64(cells + i));
        store(gain + i, _mm256_i32gather_epi32(first, at, 8));
        store(to + i, _mm256_i32gather_epi32(first + 1, at, 8));
    }
}

/* ---- the mean with holes ------------------------------------------------------------------- */

/* 4 clamp(apart, -q, q) - clamp(apart, -4q, 4q). */
static inline __m256i pull(__m256i apart, __m256i q)
{
    const __m256i far = _mm256_abs_epi16(apart);
    const __m256i near = _mm256_slli_epi16(_mm256_min_epu16(far, q), 2);
    return _mm256_sign_epi16(_mm256_subs_epu16(near, far), apart);
}

static inline int is_zero(const __m256i vector[VECTORS], __m256i bits)
{
    __m256i any = vector[0];
    for (int i = 1; i < VECTORS; i++)
        any = _mm256_or_si256(any, vector[i]);
    return _mm256_testz_si256(any, bits);
}

static inline void pass_block(int16_t *to, const int16_t *before, const int16_t *here,
                              const int16_t *after, const int16_t *quarter)
{
    const __m256i eighth = _mm256_set1_epi16(INT16_MAX / 8 + 1);
    __m256i q[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        q[i] = load(quarter + 16 * i);
    if (is_zero(q, _mm256_set1_epi8(-1))) {
        memcpy(to, here, LIFT_BLOCK * sizeof(*to));
        return;
    }
    for (int i = 0; i < VECTORS; i++) {
        const __m256i f = load(here + 16 * i);
        const __m256i moves =
            _mm256_add_epi16(pull(_mm256_sub_epi16(load(before + 16 * i), f), q[i]),
                             pull(_mm256_sub_epi16(load(after + 16 * i), f), q[i]));
        store(to + 16 * i, _mm256_add_epi16(f, _mm256_mulhrs_epi16(moves, eighth)));
    }
}

/* ---- the rest of the kernels --------------------------------------------------------------- */

static LiftPrepare prepare;
static LiftWholeTolerance whole_tolerance;
static LiftFinish finish8;
static LiftUnderRow under8;
static LiftScale scale8;

#define LIFT_KERNELS lumeq_lift_avx2
#include "equalizer/cpu/lift_loops.h"

/* Bytes `at` of numbers, of which each takes `step` bytes. */
static ByteTable byte_of(const void *numbers, int step, int at)
{
    uint8_t bytes[LIFT_CODES];
    for (int i = 0; i < LIFT_CODES; i++)
        bytes[i] = ((const uint8_t *)numbers)[i * step + at];
    return byte_table(bytes);
}

/* As many codes from gray as no gain ends at, whichever the range is: what curve_within() divides
 * by, rounded so that fewer are told. */
static uint8_t free_codes(CurveGain over, uint32_t range)
{
    const uint32_t to = over.to < range ? over.to : range;
    if (over.gain <= CURVE_GAIN_ONE || over.from > range)
        return UINT8_MAX;
    uint64_t codes = UINT8_MAX;
    for (int side = 0; side < 2; side++) {
        const uint32_t room = 8 * (side ? range - over.from : over.from);
        const uint64_t most = (uint64_t)(side ? range - to : to) << 15;
        const uint64_t reach = most / (15 * 256 * (uint64_t)over.gain);
        if ((uint64_t)room * over.gain > most && reach < codes)
            codes = reach;
    }
    return (uint8_t)codes;
}

static void prepare(void *memory, const CurveTable *table, const CurveParams *params)
{
    Prepared *p = memory;
    uint8_t whole[LIFT_CODES], ends[CURVE_CELLS];
    const uint32_t range = curve_legal(params->depth, params->black != 0).range;
    for (int i = 0; i < 4; i++) {
        p->entries[LIFT_NODES][i] = byte_of(table->lift.node, 4, i);
        p->entries[LIFT_TOLERANCES][i] = byte_of(table->lift.tolerance, 4, i);
    }
    for (int i = 0; i < LIFT_CODES; i++) {
        const uint16_t tolerance = (uint16_t)table->lift.tolerance[i];
        whole[i] = (uint8_t)(tolerance < UINT8_MAX ? tolerance : UINT8_MAX);
    }
    p->whole = byte_table(whole);
    p->chroma = byte_of(table->lift.chroma, 2, 0);
    for (int i = 0; i < 2; i++)
        p->gain[i] = byte_of(table->gain, sizeof(CurveGain), i);
    for (int i = 0; i < CURVE_CELLS; i++)
        ends[i] = free_codes(table->gain[i], range);
    p->free = byte_table(ends);
}

/* ---- tolerance ----------------------------------------------------------------------------- */

static inline void find_byte_ends(uint8_t *high, uint8_t *low, const uint8_t *const from[5], int x)
{
    __m256i most = load(from[0] + x), least = most;
    for (int i = 1; i < 5; i++) {
        const __m256i bytes = load(from[i] + x);
        most = _mm256_max_epu8(most, bytes);
        least = _mm256_min_epu8(least, bytes);
    }
    store(high + x, most);
    store(low + x, least);
}

static void mirror_two(uint8_t *row, int width)
{
    for (int i = 1; i <= 2; i++) {
        row[-i] = row[lift_mirrored(-i, width - 1)];
        row[width - 1 + i] = row[lift_mirrored(width - 1 + i, width - 1)];
    }
}

/* How far the 5 samples around each of 32 are apart. */
static inline __m256i byte_range(const uint8_t *high, const uint8_t *low)
{
    __m256i most = load(high), least = load(low);
    for (int i = -2; i <= 2; i++) {
        most = _mm256_max_epu8(most, load(high + i));
        least = _mm256_min_epu8(least, load(low + i));
    }
    return _mm256_sub_epi8(most, least);
}

/* A range of whole codes leaves (edge - 64 range) / 4, which is nothing from 8 codes on. */
static inline void whole_block(int16_t *quarter, const uint8_t *high, const uint8_t *low,
                               const uint8_t *now, const LiftRow *row)
{
    const __m256i code[HALVES] = {load(now), load(now + 32)};
    const __m256i edge = _mm256_set1_epi8((char)(row->tables->edge / 4));
    const Codes codes = codes_in(code);
    __m256i found[1][HALVES];
    look_up(found, &((const Prepared *)row->prepared)->whole, 1, &codes);
    for (int i = 0; i < HALVES; i++) {
        __m256i taken = byte_range(high + 32 * i, low + 32 * i);
        for (int twice = 0; twice < 4; twice++)
            taken = _mm256_adds_epu8(taken, taken);
        const __m256i q = _mm256_min_epu8(found[0][i], _mm256_subs_epu8(edge, taken));
        store(quarter + 32 * i, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(q)));
        store(quarter + 32 * i + 16, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(q, 1)));
    }
}

/* The last samples, fewer than a vector has or again some of those before them. */
static inline void find_last_ends(uint8_t *high, uint8_t *low, const uint8_t *const from[5],
                                  int width)
{
    uint8_t some[5][32] = {{0}};
    const uint8_t *rows[5];
    if (width >= 32) {
        find_byte_ends(high, low, from, width - 32);
        return;
    }
    for (int i = 0; i < 5; i++)
        rows[i] = memcpy(some[i], from[i], (size_t)width);
    find_byte_ends(high, low, rows, 0);
}

static void whole_tolerance(int16_t *quarter, const uint8_t *const from[5], const LiftRow *row)
{
    uint8_t *const high = (uint8_t *)row->scratch[0], *const low = (uint8_t *)row->scratch[1];
    const uint8_t *const now = from[2];
    const int width = row->width;
    int x = 0;
    for (; x + 32 <= width; x += 32)
        find_byte_ends(high, low, from, x);
    if (x < width)
        find_last_ends(high, low, from, width);
    mirror_two(high, width);
    mirror_two(low, width);
    for (x = 0; x + LIFT_BLOCK <= width; x += LIFT_BLOCK)
        whole_block(quarter + x, high + x, low + x, now + x, row);
    if (x < width) {
        uint8_t rest[LIFT_BLOCK];
        memset(rest, now[x], sizeof(rest));
        memcpy(rest, now + x, (size_t)(width - x));
        whole_block(quarter + x, high + x, low + x, rest, row);
    }
}

/* ---- the curve ----------------------------------------------------------------------------- */

/* Whole codes have no fractions: their outputs are nodes. */
static inline void find_values(__m256i value[VECTORS], const __m256i f[VECTORS],
                               const ByteTable *nodes, const Codes *codes)
{
    const __m256i part = _mm256_set1_epi16(63);
    __m256i found[4][HALVES], rise[VECTORS];
    if (is_zero(f, part)) {
        look_up(found, nodes, 2, codes);
        join_bytes(value, found[0], found[1]);
        return;
    }
    look_up(found, nodes, 4, codes);
    join_bytes(value, found[0], found[1]);
    join_bytes(rise, found[2], found[3]);
    for (int i = 0; i < VECTORS; i++) {
        const __m256i share = _mm256_slli_epi16(_mm256_and_si256(f[i], part), 9);
        value[i] = _mm256_add_epi16(value[i], _mm256_mulhrs_epi16(rise[i], share));
    }
}

static void finish8(void *dst, const int16_t *from, int y, int shift, const LiftRow *row)
{
    const ByteTable *const nodes = lift_table(row, LIFT_NODES);
    uint16_t dither[LIFT_BLOCK];
    (void)shift;
    find_dither(dither, y, row->params);
    const __m256i add = load(dither);
    for (int x = 0; x < row->width; x += LIFT_BLOCK) {
        const int left = row->width - x;
        const Codes codes = codes_of(from + x);
        __m256i f[VECTORS], value[VECTORS];
        uint8_t out[LIFT_BLOCK], *const to = left < LIFT_BLOCK ? out : (uint8_t *)dst + x;
        for (int i = 0; i < VECTORS; i++)
            f[i] = load(from + x + 16 * i);
        find_values(value, f, nodes, &codes);
        for (int i = 0; i < VECTORS; i++)
            value[i] = _mm256_srli_epi16(_mm256_add_epi16(value[i], add), 8);
        for (int i = 0; i < HALVES; i++) {
            const __m256i packed = _mm256_packus_epi16(value[2 * i], value[2 * i + 1]);
            store(to + 32 * i, _mm256_permute4x64_epi64(packed, 0xd8));
        }
        if (left < LIFT_BLOCK)
            memcpy((uint8_t *)dst + x, out, (size_t)left);
    }
}

/* ---- chroma -------------------------------------------------------------------------------- */

/* Rounded means of 2x2 samples, or of two and two again. */
static inline __m256i means_of(const uint8_t *a, const uint8_t *b)
{
    const __m256i ones = _mm256_set1_epi8(1), two = _mm256_set1_epi16(2);
    __m256i half[2];
    for (int i = 0; i < 2; i++) {
        const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load(a + 32 * i), ones),
                                             _mm256_maddubs_epi16(load(b + 32 * i), ones));
        half[i] = _mm256_srli_epi16(_mm256_add_epi16(sum, two), 2);
    }
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(half[0], half[1]), 0xd8);
}

static uint8_t mean_over(const LiftUnder *u, int x)
{
    const int area = u->sub_x + u->sub_y, last = u->columns - 1;
    unsigned sum = (1u << area) >> 1;
    for (int v = 0; v < 1 << u->sub_y; v++)
        for (int c = x << u->sub_x; c < (x + 1) << u->sub_x; c++)
            sum += ((const uint8_t *)u->luma[v])[c < last ? c : last];
    return (uint8_t)(sum >> area);
}

static void under8(int16_t *quarter, uint8_t *cells, const LiftUnder *u, const LiftRow *row)
{
    const uint8_t *const a = u->luma[0], *const b = u->luma[u->sub_y == 1];
    const Prepared *const prepared = row->prepared;
    int x = 0;
    if (u->sub_x == 0 && u->sub_y == 0)
        memcpy(cells, a, (size_t)(x = row->width));
    if (u->sub_x == 1 && u->sub_y <= 1)
        for (; 2 * (x + 32) <= u->columns; x += 32)
            store(cells + x, means_of(a + 2 * x, b + 2 * x));
    for (; x < row->width; x++)
        cells[x] = mean_over(u, x);
    for (; x % LIFT_BLOCK; x++)
        cells[x] = cells[x - 1];
    for (x = 0; x < row->width; x += LIFT_BLOCK) {
        const __m256i code[HALVES] = {load(cells + x), load(cells + x + 32)};
        const Codes codes = codes_in(code);
        __m256i found[1][HALVES];
        look_up(found, &prepared->chroma, 1, &codes);
        for (int i = 0; i < HALVES; i++) {
            const __m256i q = found[0][i];
            store(quarter + x + 32 * i, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(q)));
            store(quarter + x + 32 * i + 16, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(q, 1)));
        }
    }
}

/* The gains of a block and whether something ends one of them. */
static inline int look_up_block_gains(__m256i gain[VECTORS], const LiftChroma *chroma, int x,
                                      const Prepared *prepared)
{
    const __m256i zero = _mm256_setzero_si256(), middle = _mm256_set1_epi16(8192);
    __m256i code[HALVES], found[3][HALVES], none[HALVES] = {zero, zero}, most[VECTORS];
    for (int i = 0; i < HALVES; i++)
        code[i] = _mm256_permute4x64_epi64(load(chroma->cells + x + 32 * i), 0xd8);
    const Codes codes = codes_in(code);
    look_up(found, prepared->gain, 3, &codes);
    join_bytes(gain, found[0], found[1]);
    join_bytes(most, none, found[2]);
    __m256i beyond = zero;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++) {
            const __m256i off = _mm256_sub_epi16(load(chroma->from[k] + x + 16 * i), middle);
            const __m256i far = _mm256_slli_epi16(_mm256_abs_epi16(off), 2); /* as `most`, Q8 */
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(far, most[i]));
        }
    return !_mm256_testz_si256(beyond, beyond);
}

static inline void find_block_gains(__m256i gain[VECTORS], const LiftChroma *chroma, int x,
                                    const LiftRow *row, uint32_t range)
{
    ScaleBlock block;
    if (!look_up_block_gains(gain, chroma, x, row->prepared))
        return;
    find_gains(&block, chroma, x, range);
    for (int k = 0; k < 2; k++)
        end_gains(&block, range, chroma->from[k] + x);
    for (int i = 0; i < VECTORS; i++)
        gain[i] = _mm256_permute4x64_epi64(
            _mm256_packus_epi32(load(block.gain + 16 * i), load(block.gain + 16 * i + 8)), 0xd8);
}

/* Sixteen samples, in 16 bits: middle + ((from - 8192) gain + (add << 10) >> 18), within what is
 * legal. */
static inline __m256i scale_16(const int16_t *from, const int16_t *source, __m256i gain,
                               __m256i add, const CurveLegal *legal)
{
    const __m256i one = _mm256_set1_epi16(1 << 10);
    const __m256i off = _mm256_sub_epi16(load(from), _mm256_set1_epi16(8192));
    const __m256i low =
        _mm256_madd_epi16(_mm256_unpacklo_epi16(off, add), _mm256_unpacklo_epi16(gain, one));
    const __m256i high =
        _mm256_madd_epi16(_mm256_unpackhi_epi16(off, add), _mm256_unpackhi_epi16(gain, one));
    const __m256i scaled = _mm256_add_epi16(
        _mm256_packs_epi32(_mm256_srai_epi32(low, 18), _mm256_srai_epi32(high, 18)),
        _mm256_set1_epi16((short)legal->middle));
    const __m256i code = _mm256_srai_epi16(load(source), 6);
    const __m256i most = _mm256_max_epi16(code, _mm256_set1_epi16((short)legal->high));
    const __m256i least = _mm256_min_epi16(code, _mm256_set1_epi16((short)legal->low));
    return _mm256_max_epi16(_mm256_min_epi16(scaled, most), least);
}

static void scale8(const LiftChroma *chroma, const LiftRow *row)
{
    const CurveLegal legal = curve_legal(8, row->params->black != 0);
    uint16_t dither[LIFT_BLOCK];
    find_dither(dither, chroma->y, row->params);
    const __m256i add = _mm256_add_epi16(_mm256_srli_epi16(load(dither), 1), _mm256_set1_epi16(64));
    for (int x = 0; x < row->width; x += LIFT_BLOCK) {
        const int left = row->width - x;
        __m256i gain[VECTORS];
        find_block_gains(gain, chroma, x, row, legal.range);
        for (int k = 0; k < 2; k++) {
            const int16_t *const from = chroma->from[k] + x, *const source = chroma->source[k] + x;
            uint8_t out[LIFT_BLOCK], *const dst = (uint8_t *)chroma->dst[k] + x;
            uint8_t *const to = left < LIFT_BLOCK ? out : dst;
            for (int i = 0; i < HALVES; i++) {
                const __m256i packed = _mm256_packus_epi16(
                    scale_16(from + 32 * i, source + 32 * i, gain[2 * i], add, &legal),
                    scale_16(from + 32 * i + 16, source + 32 * i + 16, gain[2 * i + 1], add,
                             &legal));
                store(to + 32 * i, _mm256_permute4x64_epi64(packed, 0xd8));
            }
            if (left < LIFT_BLOCK)
                memcpy(dst, out, (size_t)left);
        }
    }
}
