/* Rows of 8-bit samples with mode CLAHE in vectors. */
#include <string.h>

#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/tile_rows.h"
#include "equalizer/cpu/vector.h"

/*
 * Values are 8-bit codes with 8 fraction bits. The values of the left and the right tile are
 * adjacent, so that one load and one multiplication handle both. The multiplication needs signed
 * numbers, so the highest bit of each value is inverted.
 */
#define HIGHEST 0x8000
#define BLOCK 32    /* samples */
#define TILE_TURN 8 /* period of the dither in samples */

typedef struct TileColumn {
    _Alignas(32) uint16_t of[TILE_CELLS]; /* HIGHEST is inverted */
} TileColumn;

typedef struct NodePairs {
    _Alignas(32) uint32_t of[TILE_CELLS]; /* left; right in the upper half */
} NodePairs;

/* tile_lerp() of pairs, with weights from pair_weights(). */
static inline __m256i lerp_pairs(__m256i pairs, __m256i weights)
{
    const __m256i rounded = _mm256_set1_epi32((HIGHEST << 8) + 128);
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_madd_epi16(pairs, weights), rounded), 8);
}

/* 256 - weight, with the weight in the upper half. */
static inline __m256i pair_weights(__m256i weights)
{
    const __m256i upper = _mm256_slli_epi32(weights, 16);
    return _mm256_sub_epi32(_mm256_add_epi32(upper, _mm256_set1_epi32(256)), weights);
}

static inline __m256i eight_nodes(const uint32_t *above, const uint32_t *below, __m256i weights)
{
    const __m256i a = _mm256_loadu_si256((const void *)above);
    const __m256i b = _mm256_loadu_si256((const void *)below);
    const __m256i both = _mm256_or_si256(a, _mm256_slli_epi32(b, 16));
    return lerp_pairs(_mm256_xor_si256(both, _mm256_set1_epi16((short)HIGHEST)), weights);
}

/* tile_row_weigh() for one column of tiles. */
static void weigh_column(TileColumn *nodes, const uint32_t *above, const uint32_t *below,
                         uint32_t weight)
{
    const __m256i weights = pair_weights(_mm256_set1_epi32((int)weight));
    for (int i = 0; i < TILE_CELLS; i += 16) {
        const __m256i packed =
            _mm256_packus_epi32(eight_nodes(above + i, below + i, weights),
                                eight_nodes(above + i + 8, below + i + 8, weights));
        const __m256i values = swap_middle(packed);
        _mm256_store_si256((void *)(nodes->of + i),
                           _mm256_xor_si256(values, _mm256_set1_epi16((short)HIGHEST)));
    }
}

static void pair_nodes(NodePairs *pairs, const TileColumn *left, const TileColumn *right)
{
    for (int i = 0; i < TILE_CELLS; i += 16) {
        const __m256i a = _mm256_load_si256((const void *)(left->of + i));
        const __m256i b = _mm256_load_si256((const void *)(right->of + i));
        const __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
        _mm256_store_si256((void *)(pairs->of + i), _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_store_si256((void *)(pairs->of + i + 8), _mm256_permute2x128_si256(low, high, 0x31));
    }
}

/* Samples are packed, because separate loads and stores would take longer. */
static inline __m256i look_up_eight(const NodePairs *pairs, const uint8_t *samples)
{
    uint64_t s;
    memcpy(&s, samples, sizeof(s));
    const uint32_t *of = pairs->of;
    __m128i low = _mm_cvtsi32_si128((int)of[s & 255]);
    __m128i high = _mm_cvtsi32_si128((int)of[s >> 32 & 255]);
    low = _mm_insert_epi32(low, (int)of[s >> 8 & 255], 1);
    high = _mm_insert_epi32(high, (int)of[s >> 40 & 255], 1);
    low = _mm_insert_epi32(low, (int)of[s >> 16 & 255], 2);
    high = _mm_insert_epi32(high, (int)of[s >> 48 & 255], 2);
    low = _mm_insert_epi32(low, (int)of[s >> 24 & 255], 3);
    high = _mm_insert_epi32(high, (int)of[s >> 56], 3);
    return _mm256_set_m128i(high, low);
}

/* A vector's position between two tiles, and the dither or rounding to add. */
typedef struct Place {
    __m256i phase, step, add;
} Place;

static inline __m256i eight_codes(const NodePairs *pairs, const uint8_t *samples, Place *at)
{
    const __m256i weights = pair_weights(_mm256_srli_epi32(at->phase, 24));
    const __m256i value = lerp_pairs(look_up_eight(pairs, samples), weights);
    at->phase = _mm256_add_epi32(at->phase, at->step);
    return _mm256_srli_epi32(_mm256_add_epi32(value, at->add), 8);
}

static inline void tile_block(uint8_t *out, const uint8_t *in, const NodePairs *pairs, Place *at)
{
    __m256i codes[BLOCK / 8];
#pragma GCC unroll 4
    for (int i = 0; i < BLOCK / 8; i++)
        codes[i] = eight_codes(pairs, in + 8 * i, at);
    const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(codes[0], codes[1]),
                                               _mm256_packus_epi32(codes[2], codes[3]));
    _mm256_storeu_si256((void *)out, alternate_halves(packed));
}

static Place place_of(const TilePiece *piece, const uint32_t *added)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i step = _mm256_set1_epi32((int)piece->step);
    return (Place){.phase = _mm256_add_epi32(_mm256_set1_epi32((int)piece->phase),
                                             _mm256_mullo_epi32(lanes, step)),
                   .step = _mm256_slli_epi32(step, 3),
                   .add = _mm256_loadu_si256((const void *)added)};
}

static void tile_samples(uint8_t *out, const uint8_t *in, const TilePiece *piece,
                         const TileColumn *left, const TileColumn *right, const uint32_t *added)
{
    Place at = place_of(piece, added);
    NodePairs pairs;
    int x = piece->start;
    pair_nodes(&pairs, left, right);
    for (; x + BLOCK <= piece->end; x += BLOCK)
        tile_block(out + x, in + x, &pairs, &at);
    if (x < piece->end) {
        uint8_t some[BLOCK] = {0}, done[BLOCK];
        memcpy(some, in + x, (size_t)(piece->end - x));
        tile_block(done, some, &pairs, &at);
        memcpy(out + x, done, (size_t)(piece->end - x));
    }
}

void VECTOR_NAME(lumeq_tile_row8)(const TileGrid *grid, const TileTables *tables, void *dst,
                                  const void *src, int left, int right, int y)
{
    const TileInside *in = &tables->inside;
    const int row = tile_piece(&grid->y, y), tiles = grid->x.tiles;
    const int upper = tile_before(row, in->first_y, in->last_y) * tiles;
    const int lower = tile_after(row, in->first_y, in->last_y) * tiles;
    TileColumn columns[LUMEQ_MAX_TILES];
    uint32_t added[2 * TILE_TURN];
    tile_added(added, 2 * TILE_TURN, &grid->curve, y - in->y);
    for (int x = in->first_x; x <= in->last_x; x++)
        weigh_column(&columns[x], tables->nodes[upper + x], tables->nodes[lower + x],
                     tile_weight(tile_phase(&grid->y, y)));
    for (int i = 0; i <= tiles; i++) {
        const TilePiece piece = tile_piece_at(grid, i, left, right);
        if (piece.start < piece.end)
            tile_samples(dst, src, &piece, &columns[tile_before(i, in->first_x, in->last_x)],
                         &columns[tile_after(i, in->first_x, in->last_x)],
                         added + ((piece.start - in->x) & (TILE_TURN - 1)));
    }
}
