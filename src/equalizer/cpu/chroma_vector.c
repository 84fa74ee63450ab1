/*
 * Scales chroma in vectors. Shuffles look up the gain for a pixel's mean luma in byte tables.
 * Tiles, and blocks with limited gains, use loops that the compiler vectorizes. Without tiles,
 * gains are at most CURVE_GAIN_MOST, because the filter handles lifted pictures.
 */
#include <string.h>

#include "equalizer/cpu/gain_blocks.h"
#include "equalizer/cpu/gain_bytes.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/tile_rows.h"
#include "equalizer/cpu/vector.h"

/* ---- blocks: plain loops without branches ---- */

#define CHROMA_BLOCK GAIN_BLOCK

/* The tiles of a row in mode CLAHE. */
typedef struct ChromaTiles {
    const TileGrid *grid;
    int sub_x;
    TileRow row;
} ChromaTiles;

typedef struct ChromaRow {
    const ChromaTiles *tiles; /* NULL: a pixel's gain is `over` at the mean of luma */
    const CurveGain *over;
    CurveLegal legal;
    uint32_t unit;   /* size of a code in 256ths of an 8-bit code */
    int shift, down; /* shift of samples; shift from codes to cells of gains */
    int32_t last;    /* the last code */
    int32_t add[CHROMA_BLOCK];
} ChromaRow;

typedef uint16_t ChromaCodes[2][CHROMA_BLOCK];

static inline int32_t chroma_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t chroma_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline void chroma_look_up(GainBlock *restrict block, const ChromaRow *row,
                                  const uint16_t *mean)
{
    uint32_t over[CHROMA_BLOCK][2]; /* [0]: gain, and `from` in the upper half; [1]: `to` */
    for (int i = 0; i < CHROMA_BLOCK; i++)
        memcpy(over[i], &row->over[mean[i]], sizeof(over[i]));
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        block->gain[i] = over[i][0] & 0xffff;
        block->from[i] = over[i][0] >> 16;
        block->to[i] = over[i][1] & 0xffff;
    }
}

/* Like tile_column(): finds the outputs of the tiles to the left and to the right for the luma
 * means of a block of pixels, which begins at `x`. */
static inline void chroma_tile_columns(uint32_t *restrict left, uint32_t *restrict right,
                                       const ChromaTiles *tiles, const uint16_t *mean, int x)
{
    const TileGrid *grid = tiles->grid;
    const TileInside *in = &tiles->row.inside;
    const int fraction = grid->curve.fraction, at = in->x + (x << tiles->sub_x);
    uint32_t near[CHROMA_BLOCK][2], far[CHROMA_BLOCK][2]; /* a node and the next */
    int piece = tile_piece(&grid->x, at);
    for (int i = 0; i < CHROMA_BLOCK; piece++) {
        const uint32_t *before = tiles->row.nodes[tile_before(piece, in->first_x, in->last_x)];
        const uint32_t *after = tiles->row.nodes[tile_after(piece, in->first_x, in->last_x)];
        const int samples = (piece < grid->x.tiles ? grid->x.piece[piece + 1] : INT32_MAX / 2) - at;
        const int pixels = (samples + tiles->sub_x) >> tiles->sub_x;
        for (const int end = pixels < CHROMA_BLOCK ? pixels : CHROMA_BLOCK; i < end; i++) {
            memcpy(near[i], &before[mean[i] >> fraction], sizeof(near[i]));
            memcpy(far[i], &after[mean[i] >> fraction], sizeof(far[i]));
        }
    }
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const uint32_t part = mean[i] & ((1u << fraction) - 1);
        left[i] = tile_between(near[i][0], near[i][1], part, fraction);
        right[i] = tile_between(far[i][0], far[i][1], part, fraction);
    }
}

/* out / in, at most 4, times CURVE_GAIN_ONE. `out` and `in` are below 2^17, so they are exact in
 * float32. Subtracts 1 if the quotient was rounded up to the next integer. */
static inline int32_t chroma_ratio(int32_t in, int32_t out)
{
    const float most = 4 * CURVE_GAIN_ONE;
    const uint32_t over = (uint32_t)chroma_max(out, 0) << 12, under = (uint32_t)chroma_max(in, 1);
    const float ratio = (float)(int32_t)over / (float)(int32_t)under;
    const uint32_t q = (uint32_t)(int32_t)(ratio < most ? ratio : most);
    return (int32_t)(q - (q * under > over));
}

static inline uint32_t chroma_gain(int32_t in, int32_t out, CurveGainRule rule)
{
    const int32_t one = (int32_t)CURVE_GAIN_ONE, more = chroma_ratio(in, out) - one;
    const int32_t share = more > 0 ? rule.share : rule.loss;
    const int32_t light = chroma_max(chroma_min(in, rule.light) - rule.dark, 0);
    const int32_t gain = one + more * share / one * light / (rule.light - rule.dark);
    return (uint32_t)chroma_min(gain, (int32_t)rule.most);
}

static inline void chroma_tile_gains(GainBlock *restrict block, const ChromaTiles *tiles,
                                     const uint16_t *mean, int x)
{
    const CurveParams *p = &tiles->grid->curve;
    const CurveGainRule rule = curve_gain_rule(p->transfer);
    uint32_t left[CHROMA_BLOCK], right[CHROMA_BLOCK];
    const uint32_t phase = tile_phase(&tiles->grid->x, tiles->row.inside.x + (x << tiles->sub_x));
    const uint32_t step = 2 * tiles->grid->x.step << tiles->sub_x;
    chroma_tile_columns(left, right, tiles, mean, x);
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const uint32_t out = tile_lerp(left[i], right[i], tile_weight(phase + (uint32_t)i * step));
        const int32_t from = curve_above_black(p, (uint32_t)mean[i] << 16);
        const int32_t to = curve_above_black(p, out << 8);
        block->gain[i] = chroma_gain(from, to, rule);
        block->from[i] = (uint16_t)chroma_max(from, 0);
        block->to[i] = (uint16_t)chroma_max(to, 0);
    }
}

/* Gains are at most CURVE_GAIN_MOST, so products fit in 32 bits with `down` = 0. */
DEFINE_END_GAINS(chroma_end_gains, uint16_t)

static inline void chroma_scale(uint16_t *restrict codes, const GainBlock *block,
                                const ChromaRow *row)
{
    const int32_t middle = row->legal.middle;
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const int32_t code = codes[i];
        const int32_t scaled =
            middle + (((code - middle) * (int32_t)block->gain[i] + row->add[i]) >> 12);
        const int32_t high = chroma_max(code, row->legal.high);
        const int32_t low = chroma_min(code, row->legal.low);
        codes[i] = (uint16_t)chroma_max(chroma_min(scaled, high), low);
    }
}

/* Scales a block of pixels, which begins at `x`. */
static inline void chroma_block(ChromaCodes codes, const uint16_t *mean, const ChromaRow *row,
                                int x)
{
    GainBlock block;
    if (row->tiles)
        chroma_tile_gains(&block, row->tiles, mean, x);
    else
        chroma_look_up(&block, row, mean);
    if (chroma_end_gains_any(&block, row->legal.range, codes[0], codes[1], row->legal.middle,
                             row->unit, 0))
        chroma_end_gains(&block, row->legal.range, codes[0], codes[1], row->legal.middle, row->unit,
                         0);
    for (int i = 0; i < 2; i++)
        chroma_scale(codes[i], &block, row);
}

/* Input and output of a row: both components, and two rows of luma. */
typedef struct ChromaLines {
    void *to[2];
    const void *from[2], *luma[2];
} ChromaLines;

static inline ChromaLines chroma_lines(const LumeqChromaRows *r, int y)
{
    ChromaLines lines;
    for (int i = 0; i < 2; i++) {
        const int line = chroma_min((y << r->sub_y) + (i & r->sub_y), r->luma_height - 1);
        lines.to[i] = (uint8_t *)r->dst[i] + y * r->dst_stride[i];
        lines.from[i] = (const uint8_t *)r->src[i] + y * r->src_stride[i];
        lines.luma[i] = (const uint8_t *)r->luma + line * r->luma_stride;
    }
    return lines;
}

#define CHROMA_CODE_8(row, sample) ((void)(row), (sample))
#define CHROMA_CODE_16(row, sample) chroma_min((int32_t)(sample) >> (row)->shift, (row)->last)

/*
 * Functions for samples of `bits` bits. If a pixel covers only one row of luma, that row is used
 * twice, which gives the same mean. Interleaved components are read and written together.
 */
#define DEFINE_CHROMA_BLOCKS(bits)                                                                 \
    static inline void chroma_means##bits(uint16_t *restrict mean, const uint##bits##_t *a,        \
                                          const uint##bits##_t *b, int sub_x,                      \
                                          const ChromaRow *row)                                    \
    {                                                                                              \
        for (int i = 0; sub_x && i < CHROMA_BLOCK; i++)                                            \
            mean[i] = (uint16_t)((CHROMA_CODE_##bits(row, a[2 * i]) +                              \
                                  CHROMA_CODE_##bits(row, a[2 * i + 1]) +                          \
                                  CHROMA_CODE_##bits(row, b[2 * i]) +                              \
                                  CHROMA_CODE_##bits(row, b[2 * i + 1]) + 2) >>                    \
                                 (2 + row->down));                                                 \
        for (int i = 0; !sub_x && i < CHROMA_BLOCK; i++)                                           \
            mean[i] =                                                                              \
                (uint16_t)((CHROMA_CODE_##bits(row, a[i]) + CHROMA_CODE_##bits(row, b[i]) + 1) >>  \
                           (1 + row->down));                                                       \
    }                                                                                              \
    static inline void chroma_load##bits(ChromaCodes codes, const uint##bits##_t *const from[2],   \
                                         int step, const ChromaRow *row)                           \
    {                                                                                              \
        uint16_t *restrict even = codes[0], *restrict odd = codes[1];                              \
        for (int i = 0; step == 2 && i < CHROMA_BLOCK; i++) {                                      \
            even[i] = (uint16_t)CHROMA_CODE_##bits(row, from[0][2 * i]);                           \
            odd[i] = (uint16_t)CHROMA_CODE_##bits(row, from[0][2 * i + 1]);                        \
        }                                                                                          \
        for (int part = 0; step == 1 && part < 2; part++)                                          \
            for (int i = 0; i < CHROMA_BLOCK; i++)                                                 \
                codes[part][i] = (uint16_t)CHROMA_CODE_##bits(row, from[part][i]);                 \
    }                                                                                              \
    static inline void chroma_store##bits(uint##bits##_t *const to[2], ChromaCodes codes,          \
                                          int step, const ChromaRow *row)                          \
    {                                                                                              \
        uint##bits##_t *restrict both = to[0];                                                     \
        for (int i = 0; step == 2 && i < CHROMA_BLOCK; i++) {                                      \
            both[2 * i] = (uint##bits##_t)(codes[0][i] << row->shift);                             \
            both[2 * i + 1] = (uint##bits##_t)(codes[1][i] << row->shift);                         \
        }                                                                                          \
        for (int part = 0; step == 1 && part < 2; part++)                                          \
            for (int i = 0; i < CHROMA_BLOCK; i++)                                                 \
                to[part][i] = (uint##bits##_t)(codes[part][i] << row->shift);                      \
    }                                                                                              \
    /* Scales the last `count` pixels, fewer than a block, in a copy that repeats luma's last      \
     * column. */                                                                                  \
    static inline void chroma_last##bits(                                                          \
        uint##bits##_t *const to[2], const uint##bits##_t *const from[2],                          \
        const uint##bits##_t *const luma[2], int columns, int x, int count,                        \
        const LumeqChromaRows *r, const ChromaRow *row)                                            \
    {                                                                                              \
        uint##bits##_t rows[2][2 * CHROMA_BLOCK] = {{0}}, some[2][CHROMA_BLOCK] = {{0}};           \
        uint16_t mean[CHROMA_BLOCK];                                                               \
        ChromaCodes codes;                                                                         \
        for (int i = 0; i < 2; i++) {                                                              \
            memcpy(rows[i], luma[i], (size_t)columns * sizeof(rows[i][0]));                        \
            rows[i][columns] = rows[i][columns - 1];                                               \
            for (int k = 0; k < count; k++)                                                        \
                some[i][k] = from[i][k * r->step];                                                 \
        }                                                                                          \
        chroma_means##bits(mean, rows[0], rows[1], r->sub_x, row);                                 \
        chroma_load##bits(codes, (const uint##bits##_t *[2]){some[0], some[1]}, 1, row);           \
        chroma_block(codes, mean, row, x);                                                         \
        for (int i = 0; i < 2; i++)                                                                \
            for (int k = 0; k < count; k++)                                                        \
                to[i][k * r->out_step] = (uint##bits##_t)(codes[i][k] << row->shift);              \
    }                                                                                              \
    static inline void chroma_row##bits(                                                           \
        uint##bits##_t *const to[2], const uint##bits##_t *const from[2],                          \
        const uint##bits##_t *const luma[2], const LumeqChromaRows *r, const ChromaRow *row)       \
    {                                                                                              \
        const int width = (r->luma_width + r->sub_x) >> r->sub_x;                                  \
        for (int x = 0; x < width; x += CHROMA_BLOCK) {                                            \
            const int at = x * r->step, over = x << r->sub_x, columns = r->luma_width - over;      \
            uint##bits##_t *const dst[2] = {to[0] + x * r->out_step, to[1] + x * r->out_step};     \
            const uint##bits##_t *const src[2] = {from[0] + at, from[1] + at};                     \
            const uint##bits##_t *const under[2] = {luma[0] + over, luma[1] + over};               \
            uint16_t mean[CHROMA_BLOCK];                                                           \
            ChromaCodes codes;                                                                     \
            if (columns < CHROMA_BLOCK << r->sub_x) {                                              \
                chroma_last##bits(dst, src, under, columns, x, width - x, r, row);                 \
                return;                                                                            \
            }                                                                                      \
            chroma_means##bits(mean, under[0], under[1], r->sub_x, row);                           \
            chroma_load##bits(codes, src, r->step, row);                                           \
            chroma_block(codes, mean, row, x);                                                     \
            chroma_store##bits(dst, codes, r->out_step, row);                                      \
        }                                                                                          \
    }                                                                                              \
    static void chroma##bits##_in_blocks(const LumeqChromaRows *r, const CurveTable *table,        \
                                         const CurveParams *params)                                \
    {                                                                                              \
        ChromaTiles tiles;                                                                         \
        CurveGain same[CURVE_CELLS];                                                               \
        ChromaRow row = chroma_rows(r, table, params, &tiles, same);                               \
        for (int y = 0; y < r->height; y++) {                                                      \
            const ChromaLines lines = chroma_lines(r, y);                                          \
            uint##bits##_t *const to[2] = {lines.to[0], lines.to[1]};                              \
            const uint##bits##_t *const from[2] = {lines.from[0], lines.from[1]};                  \
            const uint##bits##_t *const luma[2] = {lines.luma[0], lines.luma[1]};                  \
            if (row.tiles)                                                                         \
                tile_row_weigh(&tiles.row, r->grid, r->tables,                                     \
                               r->tables->inside.y + ((r->y + y) << r->sub_y));                    \
            chroma_add(&row, params, r->y + y);                                                    \
            chroma_row##bits(to, from, luma, r, &row);                                             \
        }                                                                                          \
    }

/* Returns the parameters of rows. If tiles scale chroma, the parameters point to `tiles`. If tiles
 * keep chroma, they point to `same`, which is filled with gains of 1. */
static inline ChromaRow chroma_rows(const LumeqChromaRows *r, const CurveTable *table,
                                    const CurveParams *params, ChromaTiles *tiles,
                                    CurveGain same[CURVE_CELLS])
{
    ChromaRow row = {.over = table->gain,
                     .legal = curve_legal(params->depth, params->black != 0),
                     .unit = 65536u >> params->depth,
                     .shift = params->shift,
                     .down = params->depth - 8,
                     .last = (1 << params->depth) - 1};
    if (r->grid && r->grid->curve.chroma) {
        tiles->grid = r->grid;
        tiles->sub_x = r->sub_x;
        row.tiles = tiles;
        row.down = 0;
    } else if (r->grid) {
        for (int i = 0; i < CURVE_CELLS; i++)
            same[i] = (CurveGain){.gain = CURVE_GAIN_ONE};
        row.over = same;
    }
    return row;
}

static inline void chroma_add(ChromaRow *row, const CurveParams *params, int y)
{
    for (int i = 0; i < CHROMA_BLOCK; i++)
        row->add[i] =
            (int32_t)(params->dither ? curve_dither((uint32_t)i, (uint32_t)y, params->frame)
                                     : CURVE_ROUND)
            << 4;
}

/* True for subsampling that blocks support: one or two columns and rows of luma per pixel. */
static inline int chroma_has_blocks(const LumeqChromaRows *r)
{
    return r->sub_x <= 1 && r->sub_y <= 1;
}

DEFINE_CHROMA_BLOCKS(8)
DEFINE_CHROMA_BLOCKS(16)

/* ---- vectors ---- */

#define VECTORS (CHROMA_BLOCK / 16) /* vectors of 16-bit values in a block */

typedef struct ChromaGains {
    GainBytes bytes;
    __m256i add; /* 16 values of 16 bits */
} ChromaGains;

typedef struct ChromaMeans {
    uint8_t mean[SOME_BLOCKS * CHROMA_BLOCK];
    Window windows[SOME_BLOCKS];
} ChromaMeans;

/* Loads a block's codes of both components, planar or interleaved. In each vector, the first and
 * third group of eight codes are in the lower lane. */
static inline void load_codes8(__m256i code[2][HALVES], const uint8_t *const src[2], int step)
{
    const __m256i first = _mm256_set1_epi16(0xff);
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                code[k][i] = swap_middle(load_vector(src[k] + 32 * i));
            continue;
        }
        const __m256i a = load_vector(src[0] + 64 * i), b = load_vector(src[0] + 64 * i + 32);
        code[0][i] = _mm256_packus_epi16(_mm256_and_si256(a, first), _mm256_and_si256(b, first));
        code[1][i] = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
    }
}

static inline void store_codes8(uint8_t *const to[2], __m256i code[2][HALVES], int step)
{
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                store_vector(to[k] + 32 * i, swap_middle(code[k][i]));
            continue;
        }
        store_vector(to[0] + 64 * i, _mm256_unpacklo_epi8(code[0][i], code[1][i]));
        store_vector(to[0] + 64 * i + 32, _mm256_unpackhi_epi8(code[0][i], code[1][i]));
    }
}

/* Looks up the gains of a block's pixels as 16-bit values, in the order of the codes. Returns true
 * if any gain must be limited. */
static inline int look_up_gains8(__m256i gain[VECTORS], __m256i code[2][HALVES],
                                 const uint8_t *mean, Window window, const GainBytes *gains)
{
    __m256i cell[HALVES], found[3][HALVES], beyond = _mm256_setzero_si256();
    for (int i = 0; i < HALVES; i++)
        cell[i] = swap_middle(load_vector(mean + 32 * i));
    look_up_bytes(found, gains->gain, 3, window, cell);
    join_bytes(gain, found[0], found[1]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HALVES; i++) {
            const __m256i off = _mm256_xor_si256(code[k][i], _mm256_set1_epi8(-128));
            const __m256i far = _mm256_subs_epu8(_mm256_abs_epi8(off), found[2][i]);
            beyond = _mm256_or_si256(beyond, far);
        }
    return !_mm256_testz_si256(beyond, beyond);
}

static inline __m256i scale_bytes(__m256i code, __m256i gain, const ChromaGains *gains,
                                  const CurveLegal *legal)
{
    const __m256i middle = _mm256_set1_epi16((short)legal->middle), one = _mm256_set1_epi16(1);
    const __m256i off = _mm256_sub_epi16(code, middle);
    return _mm256_add_epi16(scale_within(off, off, gain, gains->add, one, 12, legal), middle);
}

/* Returns 0, and writes nothing, if a gain must be limited. `step`: distances between samples of a
 * component in input and output. */
static inline __attribute__((always_inline)) int
scale_block8(uint8_t *const to[2], const uint8_t *const from[2], const int step[2],
             const ChromaMeans *means, int block, const ChromaGains *gains, const ChromaRow *row)
{
    const uint8_t *const mean = means->mean + block * CHROMA_BLOCK;
    const Window window = means->windows[block];
    const __m256i zero = _mm256_setzero_si256();
    __m256i gain[VECTORS], code[2][HALVES];
    load_codes8(code, from, step[0]);
    if (look_up_gains8(gain, code, mean, window, &gains->bytes))
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HALVES; i++)
            code[k][i] = _mm256_packus_epi16(scale_bytes(_mm256_unpacklo_epi8(code[k][i], zero),
                                                         gain[2 * i], gains, &row->legal),
                                             scale_bytes(_mm256_unpackhi_epi8(code[k][i], zero),
                                                         gain[2 * i + 1], gains, &row->legal));
    store_codes8(to, code, step[1]);
    return 1;
}

static inline void find_means8(ChromaMeans *means, const uint8_t *a, const uint8_t *b, int sub_x,
                               int blocks, const ChromaRow *row)
{
    (void)row;
    for (int i = 0; i < blocks * CHROMA_BLOCK; i += 32)
        store_vector(means->mean + i,
                     sub_x ? means_of_4(a + 2 * i, b + 2 * i)
                           : _mm256_avg_epu8(load_vector(a + i), load_vector(b + i)));
    find_byte_windows(means->windows, means->mean, blocks);
}

/* Loads both components of a block, planar or interleaved, as distances from gray. */
static inline void load_offs(__m256i off[2][VECTORS], const uint16_t *const src[2], int step,
                             const ChromaRow *row)
{
    const __m256i last = _mm256_set1_epi16((short)row->last), zero = _mm256_setzero_si256();
    const __m256i middle = _mm256_set1_epi16((short)row->legal.middle);
    for (int i = 0; i < VECTORS; i++) {
        __m256i both[2];
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                both[k] = load_vector(src[k] + 16 * i);
        } else {
            const __m256i a = load_vector(src[0] + 32 * i), b = load_vector(src[0] + 32 * i + 16);
            both[0] = swap_middle(_mm256_packus_epi32(_mm256_blend_epi16(a, zero, 0xaa),
                                                      _mm256_blend_epi16(b, zero, 0xaa)));
            both[1] = swap_middle(
                _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)));
        }
        for (int k = 0; k < 2; k++)
            off[k][i] = _mm256_sub_epi16(
                _mm256_min_epu16(_mm256_srli_epi16(both[k], row->shift), last), middle);
    }
}

static inline void store_offs(uint16_t *const to[2], const __m256i off[2][VECTORS], int step,
                              const ChromaRow *row)
{
    const __m256i middle = _mm256_set1_epi16((short)row->legal.middle);
    for (int i = 0; i < VECTORS; i++) {
        __m256i both[2];
        for (int k = 0; k < 2; k++)
            both[k] = _mm256_slli_epi16(_mm256_add_epi16(off[k][i], middle), row->shift);
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                store_vector(to[k] + 16 * i, both[k]);
            continue;
        }
        const __m256i a = swap_middle(both[0]), b = swap_middle(both[1]);
        store_vector(to[0] + 32 * i, _mm256_unpacklo_epi16(a, b));
        store_vector(to[0] + 32 * i + 16, _mm256_unpackhi_epi16(a, b));
    }
}

static inline __attribute__((always_inline)) int
scale_block16(uint16_t *const to[2], const uint16_t *const from[2], const int step[2],
              const ChromaMeans *means, int block, const ChromaGains *gains, const ChromaRow *row)
{
    const uint8_t *const mean = means->mean + block * CHROMA_BLOCK;
    const Window window = means->windows[block];
    const __m256i one = _mm256_set1_epi16(1);
    __m256i gain[VECTORS], most[VECTORS], off[2][VECTORS], beyond = _mm256_setzero_si256();
    load_offs(off, from, step[0], row);
    look_up_gains(gain, most, mean, window, &gains->bytes);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++) {
            const __m256i far = _mm256_slli_epi16(_mm256_abs_epi16(off[k][i]), 8 - row->down);
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(far, most[i]));
        }
    if (!_mm256_testz_si256(beyond, beyond))
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++)
            off[k][i] =
                scale_within(off[k][i], off[k][i], gain[i], gains->add, one, 12, &row->legal);
    store_offs(to, (const __m256i(*)[VECTORS])off, step[1], row);
    return 1;
}

/* The luma means of 32 pixels, which cover a sample of row `a` and one of row `b` each. */
static inline __m256i deep_means_of_2(const uint16_t *a, const uint16_t *b, const ChromaRow *row)
{
    const __m256i last = _mm256_set1_epi16((short)row->last);
    __m256i mean[2];
    for (int i = 0; i < 2; i++) {
        const __m256i one = _mm256_srli_epi16(load_vector(a + 16 * i), row->shift);
        const __m256i other = _mm256_srli_epi16(load_vector(b + 16 * i), row->shift);
        mean[i] = _mm256_srli_epi16(
            _mm256_avg_epu16(_mm256_min_epu16(one, last), _mm256_min_epu16(other, last)),
            row->down);
    }
    return swap_middle(_mm256_packus_epi16(mean[0], mean[1]));
}

static inline void find_means16(ChromaMeans *means, const uint16_t *a, const uint16_t *b, int sub_x,
                                int blocks, const ChromaRow *row)
{
    for (int i = 0; i < blocks * CHROMA_BLOCK; i += 32)
        store_vector(means->mean + i,
                     sub_x ? deep_means_of_4(a + 2 * i, b + 2 * i, row->shift, row->down + 8)
                           : deep_means_of_2(a + i, b + i, row));
    find_byte_windows(means->windows, means->mean, blocks);
}

/* Scales a block in which gains must be limited. */
#define DEFINE_SCALE_ENDED(bits)                                                                   \
    static void scale_ended##bits(uint##bits##_t *const to[2],                                     \
                                  const uint##bits##_t *const from[2], const int step[2],          \
                                  const uint8_t *mean, const ChromaRow *row, int x)                \
    {                                                                                              \
        uint16_t means[CHROMA_BLOCK];                                                              \
        ChromaCodes codes;                                                                         \
        for (int i = 0; i < CHROMA_BLOCK; i++)                                                     \
            means[i] = mean[i];                                                                    \
        chroma_load##bits(codes, from, step[0], row);                                              \
        chroma_block(codes, means, row, x);                                                        \
        chroma_store##bits(to, codes, step[1], row);                                               \
    }

DEFINE_SCALE_ENDED(8)
DEFINE_SCALE_ENDED(16)

#define DEFINE_CHROMA(bits, name)                                                                  \
    /* Scales the whole blocks of a row and returns their number of pixels. */                     \
    static inline __attribute__((always_inline)) int scale_blocks##bits(                           \
        uint##bits##_t *const to[2], const uint##bits##_t *const from[2],                          \
        const uint##bits##_t *const luma[2], int in, int out, const LumeqChromaRows *r,            \
        const ChromaGains *gains, const ChromaRow *row)                                            \
    {                                                                                              \
        const int step[2] = {in, out};                                                             \
        const int sub_x = r->sub_x, whole = (r->luma_width >> sub_x) / CHROMA_BLOCK;               \
        int x = 0;                                                                                 \
        for (int first = 0; first < whole; first += SOME_BLOCKS) {                                 \
            const int blocks = chroma_min(whole - first, SOME_BLOCKS), over = x << sub_x;          \
            ChromaMeans means;                                                                     \
            find_means##bits(&means, luma[0] + over, luma[1] + over, sub_x, blocks, row);          \
            for (int i = 0; i < blocks; i++, x += CHROMA_BLOCK) {                                  \
                uint##bits##_t *const dst[2] = {to[0] + x * out, to[1] + x * out};                 \
                const uint##bits##_t *const src[2] = {from[0] + x * in, from[1] + x * in};         \
                if (!scale_block##bits(dst, src, step, &means, i, gains, row))                     \
                    scale_ended##bits(dst, src, step, means.mean + i * CHROMA_BLOCK, row, x);      \
            }                                                                                      \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    static void scale_chroma##bits(const LumeqChromaRows *r, const CurveTable *table,              \
                                   const CurveParams *params)                                      \
    {                                                                                              \
        const int sub_x = r->sub_x, width = (r->luma_width + sub_x) >> sub_x;                      \
        ChromaRow row = chroma_rows(r, table, params, NULL, NULL);                                 \
        ChromaGains gains;                                                                         \
        make_gain_bytes(&gains.bytes, table->gain, row.legal.range);                               \
        for (int y = 0; y < r->height; y++) {                                                      \
            const ChromaLines lines = chroma_lines(r, y);                                          \
            uint##bits##_t *const to[2] = {lines.to[0], lines.to[1]};                              \
            const uint##bits##_t *const from[2] = {lines.from[0], lines.from[1]};                  \
            const uint##bits##_t *const luma[2] = {lines.luma[0], lines.luma[1]};                  \
            chroma_add(&row, params, r->y + y);                                                    \
            gains.add =                                                                            \
                swap_middle(_mm256_packs_epi32(load_vector(row.add), load_vector(row.add + 8)));   \
            const int x =                                                                          \
                r->step != r->out_step                                                             \
                    ? scale_blocks##bits(to, from, luma, r->step, r->out_step, r, &gains, &row)    \
                : r->step == 1 ? scale_blocks##bits(to, from, luma, 1, 1, r, &gains, &row)         \
                               : scale_blocks##bits(to, from, luma, 2, 2, r, &gains, &row);        \
            if (x < width)                                                                         \
                chroma_last##bits(                                                                 \
                    (uint##bits##_t *[2]){to[0] + x * r->out_step, to[1] + x * r->out_step},       \
                    (const uint##bits##_t *[2]){from[0] + x * r->step, from[1] + x * r->step},     \
                    (const uint##bits##_t *[2]){luma[0] + (x << sub_x), luma[1] + (x << sub_x)},   \
                    r->luma_width - (x << sub_x), x, width - x, r, &row);                          \
        }                                                                                          \
    }                                                                                              \
    void name(const LumeqChromaRows *rows, const CurveTable *table, const CurveParams *params)     \
    {                                                                                              \
        LumeqKernels c;                                                                            \
        if (chroma_has_blocks(rows) && !rows->grid) {                                              \
            scale_chroma##bits(rows, table, params);                                               \
            return;                                                                                \
        }                                                                                          \
        lumeq_kernels_c(&c);                                                                       \
        (chroma_has_blocks(rows) ? chroma##bits##_in_blocks : c.chroma##bits)(rows, table,         \
                                                                              params);             \
    }

DEFINE_CHROMA(8, VECTOR_NAME(lumeq_chroma8))
DEFINE_CHROMA(16, VECTOR_NAME(lumeq_chroma16))
