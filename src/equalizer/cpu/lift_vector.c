/* The filter of lifted pictures in vectors. Tables are split into byte tables (byte_table.h). */
#include <string.h>

#include "equalizer/cpu/gain_bytes.h"
#include "equalizer/cpu/lift_kernels.h"
#include "equalizer/cpu/vector.h"

#define LIFT_VECTORS

#define VECTORS (LIFT_BLOCK / 16) /* vectors in a block */

typedef struct Prepared {
    ByteTable nodes[4], tolerances[4]; /* one table per byte */
    ByteTable whole, chroma;           /* quarters of tolerances; in `whole`, at most 255 */
    GainBytes gains;
} Prepared;

_Static_assert(sizeof(Prepared) <= LIFT_PREPARED, "there is room for the tables");

/* Packs the codes of a block to bytes. Each 128-bit lane has 8 codes from one vector of samples,
 * then 8 from the next. */
static inline void codes_of(__m256i code[HALVES], const int16_t *samples)
{
    for (int i = 0; i < HALVES; i++)
        code[i] = _mm256_packus_epi16(_mm256_srli_epi16(load_vector(samples + 32 * i), 6),
                                      _mm256_srli_epi16(load_vector(samples + 32 * i + 16), 6));
}

static inline void find_windows(Window *windows, const int16_t *samples, int blocks)
{
    for (int i = 0; i < blocks; i++) {
        __m256i code[HALVES];
        codes_of(code, samples + i * LIFT_BLOCK);
        windows[i] = block_window(code);
    }
}

static inline void store_joined(int16_t *to, const __m256i low[HALVES], const __m256i high[HALVES])
{
    __m256i number[VECTORS];
    join_bytes(number, low, high);
    for (int i = 0; i < VECTORS; i++)
        store_vector(to + 16 * i, number[i]);
}

static void look_up(int16_t *quarter, int16_t *still, const int16_t *now, const LiftRow *row)
{
    const ByteTable *const tables = ((const Prepared *)row->prepared)->tolerances;
    for (int x = 0; x < row->width;) {
        Window windows[SOME_BLOCKS];
        const int blocks = some_blocks(row->width, x);
        find_windows(windows, now + x, blocks);
        for (int i = 0; i < blocks; i++, x += LIFT_BLOCK) {
            __m256i code[HALVES], found[4][HALVES];
            codes_of(code, now + x);
            if (still) {
                look_up_bytes(found, tables, 4, windows[i], code);
                store_joined(still + x, found[2], found[3]);
            } else {
                look_up_bytes(found, tables, 2, windows[i], code);
            }
            store_joined(quarter + x, found[0], found[1]);
        }
    }
}

#ifdef __AVX512VBMI__

typedef __m512i Wide;
#define WIDE(operation) _mm512_##operation
#define load_wide(from) _mm512_loadu_si512(from)
#define store_wide(to, vector) _mm512_storeu_si512(to, vector)
#define or_wide(a, b) _mm512_or_si512(a, b)

static inline int is_wide_zero(Wide vector)
{
    return !_mm512_test_epi32_mask(vector, vector);
}

/* Negates each number whose counterpart in `others` is negative. */
static inline Wide sign_of(Wide numbers, Wide others)
{
    return _mm512_mask_sub_epi16(numbers, _mm512_movepi16_mask(others), _mm512_setzero_si512(),
                                 numbers);
}

#else

typedef __m256i Wide;
#define WIDE(operation) _mm256_##operation
#define load_wide(from) load_vector(from)
#define store_wide(to, vector) store_vector(to, vector)
#define or_wide(a, b) _mm256_or_si256(a, b)
#define is_wide_zero(vector) _mm256_testz_si256(vector, vector)
#define sign_of(numbers, others) _mm256_sign_epi16(numbers, others)

#endif

#define WIDE_LANES ((int)sizeof(Wide) / 2)
#define WIDES (LIFT_BLOCK / WIDE_LANES) /* in a block */

/* 4 clamp(apart, -q, q) - clamp(apart, -4q, 4q). */
static inline Wide pull(Wide apart, Wide q)
{
    const Wide far = WIDE(abs_epi16)(apart);
    const Wide near = WIDE(slli_epi16)(WIDE(min_epu16)(far, q), 2);
    return sign_of(WIDE(subs_epu16)(near, far), apart);
}

static inline void pass_block(int16_t *to, const int16_t *before, const int16_t *here,
                              const int16_t *after, const int16_t *quarter)
{
    const Wide eighth = WIDE(set1_epi16)(INT16_MAX / 8 + 1);
    Wide q[WIDES], any = load_wide(quarter);
    for (int i = 0; i < WIDES; i++) {
        q[i] = load_wide(quarter + WIDE_LANES * i);
        any = or_wide(any, q[i]);
    }
    if (is_wide_zero(any)) {
        memcpy(to, here, LIFT_BLOCK * sizeof(*to));
        return;
    }
    for (int i = 0; i < LIFT_BLOCK; i += WIDE_LANES) {
        const Wide f = load_wide(here + i), at = q[i / WIDE_LANES];
        const Wide moves = WIDE(add_epi16)(pull(WIDE(sub_epi16)(load_wide(before + i), f), at),
                                           pull(WIDE(sub_epi16)(load_wide(after + i), f), at));
        store_wide(to + i, WIDE(add_epi16)(f, WIDE(mulhrs_epi16)(moves, eighth)));
    }
}

static LiftPrepare prepare;
static LiftWholeTolerance whole_tolerance;
static LiftFinish finish8, finish16;
static LiftUnderRow under8, under16;
static LiftScale scale8, scale16;

#define LIFT_KERNELS VECTOR_NAME(lumeq_lift)
#include "equalizer/cpu/lift_loops.h"

static void prepare(void *memory, const CurveTable *table, const CurveParams *params)
{
    Prepared *p = memory;
    uint8_t whole[LIFT_CODES];
    for (int i = 0; i < 4; i++) {
        p->nodes[i] = byte_of(table->lift.node, 4, i);
        p->tolerances[i] = byte_of(table->lift.tolerance, 4, i);
    }
    for (int i = 0; i < LIFT_CODES; i++) {
        const uint16_t tolerance = (uint16_t)table->lift.tolerance[i];
        whole[i] = (uint8_t)(tolerance < UINT8_MAX ? tolerance : UINT8_MAX);
    }
    p->whole = byte_table(whole);
    p->chroma = byte_of(table->lift.chroma, 2, 0);
    make_gain_bytes(&p->gains, table->gain, curve_legal(params->depth, params->black != 0).range);
}

static inline void find_byte_ends(uint8_t *high, uint8_t *low, const uint8_t *const from[5], int x)
{
    __m256i most = load_vector(from[0] + x), least = most;
    for (int i = 1; i < 5; i++) {
        const __m256i bytes = load_vector(from[i] + x);
        most = _mm256_max_epu8(most, bytes);
        least = _mm256_min_epu8(least, bytes);
    }
    store_vector(high + x, most);
    store_vector(low + x, least);
}

static void mirror_two(uint8_t *row, int width)
{
    for (int i = 1; i <= 2; i++) {
        row[-i] = row[lift_mirrored(-i, width - 1)];
        row[width - 1 + i] = row[lift_mirrored(width - 1 + i, width - 1)];
    }
}

/* The ranges of the 5x5 samples around 32 samples, from the maxima and minima of columns. */
static inline __m256i byte_range(const uint8_t *high, const uint8_t *low)
{
    __m256i most = load_vector(high), least = load_vector(low);
    for (int i = -2; i <= 2; i++) {
        most = _mm256_max_epu8(most, load_vector(high + i));
        least = _mm256_min_epu8(least, load_vector(low + i));
    }
    return _mm256_sub_epi8(most, least);
}

static inline void store_quarters(int16_t *quarter, const __m256i bytes[HALVES])
{
    for (int i = 0; i < HALVES; i++) {
        store_vector(quarter + 32 * i, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes[i])));
        store_vector(quarter + 32 * i + 16,
                     _mm256_cvtepu8_epi16(_mm256_extracti128_si256(bytes[i], 1)));
    }
}

/* Limits a quarter of the tolerance to (edge - 64 * range) / 4, with the range in whole codes. */
static inline void whole_block(int16_t *quarter, const uint8_t *high, const uint8_t *low,
                               const uint8_t *now, Window window, const LiftRow *row)
{
    const __m256i code[HALVES] = {load_vector(now), load_vector(now + 32)};
    const __m256i edge = _mm256_set1_epi8((char)(row->tables->edge / 4));
    __m256i found[1][HALVES];
    look_up_bytes(found, &((const Prepared *)row->prepared)->whole, 1, window, code);
    for (int i = 0; i < HALVES; i++) {
        __m256i taken = byte_range(high + 32 * i, low + 32 * i);
        for (int twice = 0; twice < 4; twice++)
            taken = _mm256_adds_epu8(taken, taken);
        found[0][i] = _mm256_min_epu8(found[0][i], _mm256_subs_epu8(edge, taken));
    }
    store_quarters(quarter, found[0]);
}

static void whole_tolerance(int16_t *quarter, const uint8_t *const from[5], const LiftRow *row)
{
    uint8_t *const high = (uint8_t *)row->scratch[0], *const low = (uint8_t *)row->scratch[1];
    const uint8_t *const now = from[2];
    const int width = row->width;
    int x = 0;
    for (; x + 32 <= width; x += 32)
        find_byte_ends(high, low, from, x);
    if (x < width) {
        uint8_t last[5][32] = {{0}};
        const uint8_t *rows[5];
        for (int i = 0; i < 5; i++)
            rows[i] = memcpy(last[i], from[i] + x, (size_t)(width - x));
        find_byte_ends(high + x, low + x, rows, 0);
    }
    mirror_two(high, width);
    mirror_two(low, width);
    for (x = 0; x + LIFT_BLOCK <= width;) {
        Window windows[SOME_BLOCKS];
        const int blocks = some_blocks(width - LIFT_BLOCK + 1, x);
        find_byte_windows(windows, now + x, blocks);
        for (int i = 0; i < blocks; i++, x += LIFT_BLOCK)
            whole_block(quarter + x, high + x, low + x, now + x, windows[i], row);
    }
    if (x < width) {
        uint8_t rest[LIFT_BLOCK];
        Window window;
        memset(rest, now[x], sizeof(rest));
        memcpy(rest, now + x, (size_t)(width - x));
        find_byte_windows(&window, rest, 1);
        whole_block(quarter + x, high + x, low + x, rest, window, row);
    }
}

/* Finds output values. A block of whole codes needs no interpolation. */
static inline __attribute__((always_inline)) void find_values(__m256i value[VECTORS],
                                                              const __m256i f[VECTORS],
                                                              const ByteTable *nodes, Window window,
                                                              const __m256i code[HALVES])
{
    const __m256i part = _mm256_set1_epi16(63);
    __m256i found[4][HALVES], rise[VECTORS];
    const __m256i any = _mm256_or_si256(_mm256_or_si256(f[0], f[1]), _mm256_or_si256(f[2], f[3]));
    if (_mm256_testz_si256(any, part)) {
        look_up_bytes(found, nodes, 2, window, code);
        join_bytes(value, found[0], found[1]);
        return;
    }
    look_up_bytes(found, nodes, 4, window, code);
    join_bytes(value, found[0], found[1]);
    join_bytes(rise, found[2], found[3]);
    for (int i = 0; i < VECTORS; i++) {
        const __m256i share = _mm256_slli_epi16(_mm256_and_si256(f[i], part), 9);
        value[i] = _mm256_add_epi16(value[i], _mm256_mulhrs_epi16(rise[i], share));
    }
}

typedef struct Finish {
    const ByteTable *nodes;
    __m256i add, floor, ceiling;
    int depth, in_shift, shift;
} Finish;

static Finish finish_of(const LiftRow *row, int y, int shift, int lanes)
{
    const CurveParams *const p = row->params;
    const int floor = lift_floor(p->black, p->depth), ceiling = lift_ceiling(p->white, p->depth);
    uint16_t dither[LIFT_BLOCK];
    find_dither(dither, y, p);
    return (Finish){
        .nodes = ((const Prepared *)row->prepared)->nodes,
        .add = _mm256_srli_epi16(load_vector(dither), p->depth - 8),
        .floor = lanes == 8 ? _mm256_set1_epi8((char)floor) : _mm256_set1_epi16((short)floor),
        .ceiling = lanes == 8 ? _mm256_set1_epi8((char)ceiling) : _mm256_set1_epi16((short)ceiling),
        .depth = p->depth,
        .in_shift = p->shift,
        .shift = shift,
    };
}

/* Finds the output codes of a block, of `depth` bits. */
static inline void find_codes(__m256i value[VECTORS], const int16_t *from, Window window,
                              const Finish *finish, int depth)
{
    __m256i code[HALVES], f[VECTORS];
    codes_of(code, from);
    for (int i = 0; i < VECTORS; i++)
        f[i] = load_vector(from + 16 * i);
    find_values(value, f, finish->nodes, window, code);
    for (int i = 0; i < VECTORS; i++)
        value[i] = _mm256_srli_epi16(_mm256_add_epi16(value[i], finish->add), 16 - depth);
}

static inline void finish_block8(uint8_t *to, const int16_t *from, const uint8_t *source,
                                 Window window, const Finish *finish)
{
    __m256i value[VECTORS];
    find_codes(value, from, window, finish, 8);
    for (int i = 0; i < HALVES; i++) {
        const __m256i packed = _mm256_packus_epi16(value[2 * i], value[2 * i + 1]);
        const __m256i found = swap_middle(packed);
        const __m256i before = load_vector(source + 32 * i);
        const __m256i low = _mm256_min_epu8(before, finish->floor);
        const __m256i high = _mm256_max_epu8(before, finish->ceiling);
        store_vector(to + 32 * i, _mm256_min_epu8(_mm256_max_epu8(found, low), high));
    }
}

static inline void finish_block16(uint16_t *to, const int16_t *from, const uint16_t *source,
                                  Window window, const Finish *finish)
{
    __m256i value[VECTORS];
    find_codes(value, from, window, finish, finish->depth);
    for (int i = 0; i < VECTORS; i++) {
        const __m256i before = _mm256_srli_epi16(load_vector(source + 16 * i), finish->in_shift);
        const __m256i low = _mm256_min_epu16(before, finish->floor);
        const __m256i high = _mm256_max_epu16(before, finish->ceiling);
        const __m256i bound = _mm256_min_epu16(_mm256_max_epu16(value[i], low), high);
        store_vector(to + 16 * i, _mm256_slli_epi16(bound, finish->shift));
    }
}

#define DEFINE_OWN_FINISH(bits)                                                                    \
    static void finish##bits(void *dst, const int16_t *from, const void *source, int y, int shift, \
                             const LiftRow *row)                                                   \
    {                                                                                              \
        const Finish finish = finish_of(row, y, shift, bits);                                      \
        for (int x = 0; x < row->width;) {                                                         \
            Window windows[SOME_BLOCKS];                                                           \
            const int blocks = some_blocks(row->width, x);                                         \
            find_windows(windows, from + x, blocks);                                               \
            for (int i = 0; i < blocks; i++, x += LIFT_BLOCK) {                                    \
                const int left = row->width - x;                                                   \
                uint##bits##_t rest[LIFT_BLOCK], *const to = (uint##bits##_t *)dst + x;            \
                const uint##bits##_t *const before = (const uint##bits##_t *)source + x;           \
                fetch_block(to, sizeof(rest));                                                     \
                if (left >= LIFT_BLOCK) {                                                          \
                    finish_block##bits(to, from + x, before, windows[i], &finish);                 \
                } else {                                                                           \
                    memset(rest, 0, sizeof(rest));                                                 \
                    memcpy(rest, before, (size_t)left * sizeof(*rest));                            \
                    finish_block##bits(rest, from + x, rest, windows[i], &finish);                 \
                    memcpy(to, rest, (size_t)left * sizeof(*rest));                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_OWN_FINISH(8)
DEFINE_OWN_FINISH(16)

/* Finds quarters of chroma's tolerances from a row's cells. */
static void find_quarters(int16_t *quarter, const uint8_t *cells, const LiftRow *row)
{
    const Prepared *const prepared = row->prepared;
    for (int x = 0; x < row->width;) {
        Window windows[SOME_BLOCKS];
        const int blocks = some_blocks(row->width, x);
        find_byte_windows(windows, cells + x, blocks);
        for (int i = 0; i < blocks; i++, x += LIFT_BLOCK) {
            const __m256i code[HALVES] = {load_vector(cells + x), load_vector(cells + x + 32)};
            __m256i found[1][HALVES];
            look_up_bytes(found, &prepared->chroma, 1, windows[i], code);
            store_quarters(quarter + x, found[0]);
        }
    }
}

#define DEFINE_OWN_UNDER(bits)                                                                     \
    static void under##bits(int16_t *quarter, uint8_t *cells, const LiftUnder *u,                  \
                            const LiftRow *row)                                                    \
    {                                                                                              \
        int x = own_cells##bits(cells, u, row);                                                    \
        for (; x < row->width; x++)                                                                \
            cells[x] = cell_over##bits(u, x, u->columns - 1, row->params);                         \
        for (; x % LIFT_BLOCK; x++)                                                                \
            cells[x] = cells[x - 1];                                                               \
        find_quarters(quarter, cells, row);                                                        \
    }

/* Computes the first cells of a row, in whole vectors, and returns their number. */
static int own_cells8(uint8_t *cells, const LiftUnder *u, const LiftRow *row)
{
    const uint8_t *const a = u->luma[0], *const b = u->luma[u->sub_y == 1];
    int x = 0;
    if (u->sub_x == 0 && u->sub_y == 0)
        memcpy(cells, a, (size_t)(x = row->width));
    if (u->sub_x == 1 && u->sub_y <= 1)
        for (; 2 * (x + 32) <= u->columns; x += 32)
            store_vector(cells + x, means_of_4(a + 2 * x, b + 2 * x));
    return x;
}

static int own_cells16(uint8_t *cells, const LiftUnder *u, const LiftRow *row)
{
    const uint16_t *const a = u->luma[0], *const b = u->luma[u->sub_y == 1];
    const int shift = row->params->shift, depth = row->params->depth;
    int x = 0;
    if (u->sub_x == 1 && u->sub_y <= 1)
        for (; 2 * (x + 32) <= u->columns; x += 32)
            store_vector(cells + x, deep_means_of_4(a + 2 * x, b + 2 * x, shift, depth));
    return x;
}

DEFINE_OWN_UNDER(8)
DEFINE_OWN_UNDER(16)

static inline void find_block_gains(__m256i gain[VECTORS], const LiftChroma *chroma, int x,
                                    Window window, const LiftRow *row, uint32_t range)
{
    const __m256i middle = _mm256_set1_epi16(8192);
    const Prepared *const prepared = row->prepared;
    GainBlock block;
    __m256i most[VECTORS], beyond = _mm256_setzero_si256();
    look_up_gains(gain, most, chroma->cells + x, window, &prepared->gains);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++) {
            const __m256i off = _mm256_sub_epi16(load_vector(chroma->from[k] + x + 16 * i), middle);
            const __m256i far = _mm256_slli_epi16(_mm256_abs_epi16(off), 2);
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(far, most[i]));
        }
    if (_mm256_testz_si256(beyond, beyond))
        return;
    find_gains(&block, chroma, x);
    end_gains(&block, range, chroma->from[0] + x, chroma->from[1] + x, 8192, 1, 2);
    for (int i = 0; i < VECTORS; i++)
        gain[i] = swap_middle(_mm256_packus_epi32(load_vector(block.gain + 16 * i),
                                                  load_vector(block.gain + 16 * i + 8)));
}

typedef struct Scale {
    CurveLegal legal;
    __m256i add;
    int depth, shift;
} Scale;

static Scale scale_of(const LiftChroma *chroma, const LiftRow *row)
{
    const CurveParams *const p = row->params;
    uint16_t dither[LIFT_BLOCK];
    find_dither(dither, chroma->y, p);
    return (Scale){
        .legal = curve_legal(p->depth, p->black != 0),
        .add = _mm256_add_epi16(_mm256_srli_epi16(load_vector(dither), 1), _mm256_set1_epi16(64)),
        .depth = p->depth,
        .shift = chroma->shift,
    };
}

/* Scales sixteen samples in Q6 to codes of `depth` bits. */
static inline __m256i scale_some(const int16_t *from, const int16_t *source, __m256i gain,
                                 const Scale *scale, int depth)
{
    const __m256i one = _mm256_set1_epi16((short)(1 << (18 - depth)));
    const __m256i middle = _mm256_set1_epi16((short)scale->legal.middle);
    const __m256i off = _mm256_sub_epi16(load_vector(from), _mm256_set1_epi16(8192));
    const __m256i code = depth > 14 ? _mm256_slli_epi16(load_vector(source), depth - 14)
                                    : _mm256_srli_epi16(load_vector(source), 14 - depth);
    const __m256i scaled = scale_within(off, _mm256_sub_epi16(code, middle), gain, scale->add, one,
                                        26 - depth, &scale->legal);
    return _mm256_add_epi16(scaled, middle);
}

static inline void scale_own_block8(uint8_t *to, const int16_t *from, const int16_t *source,
                                    const __m256i gain[VECTORS], const Scale *scale)
{
    for (int i = 0; i < HALVES; i++) {
        const __m256i packed = _mm256_packus_epi16(
            scale_some(from + 32 * i, source + 32 * i, gain[2 * i], scale, 8),
            scale_some(from + 32 * i + 16, source + 32 * i + 16, gain[2 * i + 1], scale, 8));
        store_vector(to + 32 * i, swap_middle(packed));
    }
}

static inline void scale_own_block16(uint16_t *to, const int16_t *from, const int16_t *source,
                                     const __m256i gain[VECTORS], const Scale *scale)
{
    for (int i = 0; i < VECTORS; i++)
        store_vector(to + 16 * i, _mm256_slli_epi16(scale_some(from + 16 * i, source + 16 * i,
                                                               gain[i], scale, scale->depth),
                                                    scale->shift));
}

#define DEFINE_OWN_SCALE(bits)                                                                     \
    static void scale##bits(const LiftChroma *chroma, const LiftRow *row)                          \
    {                                                                                              \
        const Scale scale = scale_of(chroma, row);                                                 \
        for (int x = 0; x < row->width;) {                                                         \
            Window windows[SOME_BLOCKS];                                                           \
            const int blocks = some_blocks(row->width, x);                                         \
            find_byte_windows(windows, chroma->cells + x, blocks);                                 \
            for (int i = 0; i < blocks; i++, x += LIFT_BLOCK) {                                    \
                const int left = row->width - x;                                                   \
                __m256i gain[VECTORS];                                                             \
                find_block_gains(gain, chroma, x, windows[i], row, scale.legal.range);             \
                for (int k = 0; k < 2; k++) {                                                      \
                    uint##bits##_t out[LIFT_BLOCK];                                                \
                    uint##bits##_t *const dst = (uint##bits##_t *)chroma->dst[k] + x;              \
                    scale_own_block##bits(left < LIFT_BLOCK ? out : dst, chroma->from[k] + x,      \
                                          chroma->source[k] + x, gain, &scale);                    \
                    if (left < LIFT_BLOCK)                                                         \
                        memcpy(dst, out, (size_t)left * sizeof(*out));                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_OWN_SCALE(8)
DEFINE_OWN_SCALE(16)
