/* Rows in mode CLAHE for AVX-512 with VBMI: 8 bits by byte tables, deeper samples in blocks that
 * the compiler vectorizes. */
#include <immintrin.h>

#include "equalizer/cpu/byte_table512.h"
#include "equalizer/cpu/tile_blocks.h"
#include "equalizer/cpu/tile_row8.h"

/*
 * Values of 8-bit codes have 16 bits including fractions: a column of tiles has one table per byte.
 * Without their highest bit the values are signed, as the multiplication with the weights of both
 * sides requires.
 */
#define HIGHEST 0x8000
#define BLOCK 64   /* samples */
#define QUARTERS 4 /* per block, in lanes of 32 bits */

typedef struct TileColumn {
    _Alignas(64) uint8_t low[TILE_CELLS], high[TILE_CELLS]; /* without HIGHEST */
} TileColumn;

/* tile_lerp() of pairs, with weights from pair_weights(). */
static inline __m512i lerp_pairs(__m512i pairs, __m512i weights)
{
    const __m512i rounded = _mm512_set1_epi32((HIGHEST << 8) + 128);
    return _mm512_srli_epi32(_mm512_add_epi32(_mm512_madd_epi16(pairs, weights), rounded), 8);
}

/* 256 - weight, with the weight in the upper half. */
static inline __m512i pair_weights(__m512i weights)
{
    const __m512i upper = _mm512_slli_epi32(weights, 16);
    return _mm512_sub_epi32(_mm512_add_epi32(upper, _mm512_set1_epi32(256)), weights);
}

/* tile_row_weigh() for one column of tiles. */
static void weigh_column(TileColumn *bytes, const uint32_t *above, const uint32_t *below,
                         uint32_t weight)
{
    const __m512i weights = pair_weights(_mm512_set1_epi32((int)weight));
    const __m512i highest = _mm512_set1_epi16((short)HIGHEST);
    for (int i = 0; i < TILE_CELLS; i += 16) {
        const __m512i a = _mm512_loadu_si512(above + i), b = _mm512_loadu_si512(below + i);
        const __m512i both = _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
        const __m512i values =
            _mm512_xor_si512(lerp_pairs(_mm512_xor_si512(both, highest), weights), highest);
        _mm_store_si128((void *)(bytes->low + i), _mm512_cvtepi32_epi8(values));
        _mm_store_si128((void *)(bytes->high + i),
                        _mm512_cvtepi32_epi8(_mm512_srli_epi32(values, 8)));
    }
}

typedef struct PieceTables {
    ByteTable512 low[2], high[2];
} PieceTables;

static inline PieceTables piece_tables(const TileColumn *left, const TileColumn *right)
{
    PieceTables tables;
    for (int i = 0; i < 2; i++) {
        tables.low[i] = byte_table512(i ? right->low : left->low);
        tables.high[i] = byte_table512(i ? right->high : left->high);
    }
    return tables;
}

/* The position of a block's quarters between two tiles, and what to add to their values: sample 8 k
 * + i of a half, with i up to 3, is in lane 4 k + i of a quarter, and the next four are in the next
 * quarter. */
typedef struct Place {
    __m512i phase[QUARTERS], step, add[2];
} Place;

static Place place_of(const TilePiece *piece, const uint32_t *added)
{
    const __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    const __m512i ways = _mm512_mullo_epi32(at, _mm512_set1_epi32((int)piece->step));
    Place place = {.step = _mm512_set1_epi32((int)(BLOCK * piece->step))};
    for (int i = 0; i < QUARTERS; i++) {
        const uint32_t first = piece->phase + (uint32_t)(i / 2 * 32 + i % 2 * 4) * piece->step;
        place.phase[i] = _mm512_add_epi32(_mm512_set1_epi32((int)first), ways);
    }
    for (int i = 0; i < 2; i++)
        place.add[i] = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(added + 4 * i)));
    return place;
}

static inline __m512i quarter_codes(__m512i pairs, __m512i phase, __m512i add)
{
    const __m512i value = lerp_pairs(pairs, pair_weights(_mm512_srli_epi32(phase, 24)));
    return _mm512_srli_epi32(_mm512_add_epi32(value, add), 8);
}

static inline __m512i block_codes(__m512i samples, const PieceTables *tables, Place *at)
{
    /* Groups of eight, alternately from the first and the second half of the block. */
    const __m512i index =
        _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), samples);
    __m512i value[2][2], code[QUARTERS];
    for (int i = 0; i < 2; i++) {
        const __m512i low = look_up_byte(&tables->low[i], index);
        const __m512i high = look_up_byte(&tables->high[i], index);
        value[i][0] = _mm512_unpacklo_epi8(low, high);
        value[i][1] = _mm512_unpackhi_epi8(low, high);
    }
    for (int i = 0; i < QUARTERS; i++) {
        const __m512i left = value[0][i / 2], right = value[1][i / 2];
        const __m512i pairs =
            i % 2 ? _mm512_unpackhi_epi16(left, right) : _mm512_unpacklo_epi16(left, right);
        code[i] = quarter_codes(pairs, at->phase[i], at->add[i % 2]);
        at->phase[i] = _mm512_add_epi32(at->phase[i], at->step);
    }
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                    _mm512_packus_epi16(_mm512_packus_epi32(code[0], code[1]),
                                                        _mm512_packus_epi32(code[2], code[3])));
}

static void tile_samples(uint8_t *out, const uint8_t *in, const TilePiece *piece,
                         const TileColumn *left, const TileColumn *right, const uint32_t *added)
{
    const PieceTables tables = piece_tables(left, right);
    Place at = place_of(piece, added);
    for (int x = piece->start; x < piece->end; x += BLOCK) {
        const __mmask64 there = samples_left(piece->end - x);
        const __m512i samples = _mm512_maskz_loadu_epi8(there, in + x);
        _mm512_mask_storeu_epi8(out + x, there, block_codes(samples, &tables, &at));
    }
}

DEFINE_TILE_ROW8(lumeq_tile_row8_avx512)

void lumeq_tile_row16_avx512(const TileGrid *grid, const TileTables *tables, void *dst,
                             const void *src, int left, int right, int y)
{
    tile_row16(grid, tables, dst, src, left, right, y);
}
