/* The histogram of 8-bit samples for AVX-512 with BITALG and GFNI. */
#include <immintrin.h>

#include "equalizer/cpu/counters8.h"
#include "equalizer/cpu/kernels.h"

/*
 * A picture is counted in blocks. Eight neighbouring codes form a group; most blocks have codes of
 * few groups. Bytes describe eight adjacent samples, one bit per sample. Each group has a byte, in
 * which samples of the group have a 1. In byte i of eight more bytes, samples with code i of any
 * group have a 1. The number of ones in (the group's byte AND byte i) is the count of the group's
 * code i. A register has such bytes for 64 samples. Blocks with more groups use counters in memory,
 * which need a store per sample or pair.
 */
#define BLOCK_VECTORS 3                 /* vectors of 64 samples, side by side */
#define BLOCK_ROWS (31 / BLOCK_VECTORS) /* a lane of 8 bits counts 8 samples per vector */
#define MOST_GROUPS 8
#define ALL_GROUPS 32

typedef struct Block {
    const uint8_t *samples;
    ptrdiff_t stride;
    int vectors, rows;
} Block;

typedef struct CodeRange {
    int first, last;
} CodeRange;

static inline int least_of_64(__m512i bytes)
{
    return least_of(
        _mm256_min_epu8(_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64(bytes, 1)));
}

static inline CodeRange code_range(const Block *block, int rows)
{
    __m512i least = _mm512_set1_epi8(-1), most = _mm512_setzero_si512();
    for (int y = 0; y < rows; y++)
        for (int v = 0; v < block->vectors; v++) {
            const uint8_t *at = block->samples + y * block->stride + 64 * v;
            const __m512i samples = _mm512_loadu_si512(at);
            fetch_ahead(at);
            least = _mm512_min_epu8(least, samples);
            most = _mm512_max_epu8(most, samples);
        }
    const __m512i inverted = _mm512_xor_si512(most, _mm512_set1_epi8(-1));
    return (CodeRange){least_of_64(least), 255 - least_of_64(inverted)};
}

static inline int groups_in(CodeRange range)
{
    return range.last / 8 - range.first / 8 + 1;
}

/* For each group, the counts of its even and of its odd codes, each in eight lanes. */
typedef struct GroupCounts {
    uint16_t even[ALL_GROUPS][32], odd[ALL_GROUPS][32];
    int blocks; /* blocks counted so far */
} GroupCounts;

#define MOST_BLOCKS (65535 / (8 * BLOCK_VECTORS * BLOCK_ROWS))

static inline void add_bytes(GroupCounts *counts, int group, __m512i bytes)
{
    uint16_t *even = counts->even[group], *odd = counts->odd[group];
    const __m512i new_even = _mm512_and_si512(bytes, _mm512_set1_epi16(255));
    const __m512i new_odd = _mm512_srli_epi16(bytes, 8);
    _mm512_storeu_si512(even, _mm512_add_epi16(_mm512_loadu_si512(even), new_even));
    _mm512_storeu_si512(odd, _mm512_add_epi16(_mm512_loadu_si512(odd), new_odd));
}

/* Counts a block whose codes lie in `groups` groups (a constant) from `first_group` on. gf2p8affine
 * multiplies bytes by a matrix of 8x8 bits. If the bytes are the eight powers of two, the product
 * is the transposed matrix. With 2^g in all bytes, each byte has bit g of all rows. */
static inline __attribute__((always_inline)) void
count_groups(GroupCounts *counts, const Block *block, int first_group, int groups)
{
    const __m512i bit_of = _mm512_set1_epi64((int64_t)0x8040201008040201); /* bit i in byte i */
    const __m512i divide_by_8 = _mm512_set1_epi64(0x0810204080000000);
    const __m512i first = _mm512_set1_epi8((char)(8 * first_group));
    __m512i sums[MOST_GROUPS];
    for (int g = 0; g < groups; g++)
        sums[g] = _mm512_setzero_si512();
    for (int y = 0; y < block->rows; y++)
        for (int v = 0; v < block->vectors; v++) {
            const __m512i samples = _mm512_loadu_si512(block->samples + y * block->stride + 64 * v);
            const __m512i code = _mm512_sub_epi8(samples, first);
            const __m512i group = _mm512_gf2p8affine_epi64_epi8(code, divide_by_8, 0);
            const __m512i group_bit = _mm512_shuffle_epi8(bit_of, group);
            const __m512i code_bit = _mm512_shuffle_epi8(bit_of, code);
            const __m512i by_code = _mm512_gf2p8affine_epi64_epi8(bit_of, code_bit, 0);
#pragma GCC unroll 8
            for (int g = 0; g < groups; g++) {
                const __m512i one = _mm512_set1_epi8((char)(1 << g));
                const __m512i in_group = _mm512_gf2p8affine_epi64_epi8(one, group_bit, 0);
                const __m512i both = _mm512_and_si512(by_code, in_group);
                sums[g] = _mm512_add_epi8(sums[g], _mm512_popcnt_epi8(both));
            }
        }
    for (int g = 0; g < groups; g++)
        add_bytes(counts, first_group + g, sums[g]);
}

static void add_groups(uint32_t *hist, GroupCounts *counts)
{
    for (int group = 0; group < ALL_GROUPS; group++)
        for (int i = 0; i < 32; i++) {
            hist[8 * group + 2 * (i % 4)] += counts->even[group][i];
            hist[8 * group + 2 * (i % 4) + 1] += counts->odd[group][i];
        }
    *counts = (GroupCounts){0};
}

/* Counts a block whose `range` has at most MOST_GROUPS groups. */
static inline void count_few_codes(uint32_t *hist, GroupCounts *counts, const Block *block,
                                   CodeRange range)
{
    const int groups = groups_in(range), first = range.first / 8;
    if (counts->blocks++ == MOST_BLOCKS) {
        add_groups(hist, counts);
        counts->blocks = 1;
    }
    switch (groups) {
    case 1: count_groups(counts, block, first, 1); break;
    case 2: count_groups(counts, block, first, 2); break;
    case 3: count_groups(counts, block, first, 3); break;
    case 4: count_groups(counts, block, first, 4); break;
    case 5: count_groups(counts, block, first, 5); break;
    case 6: count_groups(counts, block, first, 6); break;
    case 7: count_groups(counts, block, first, 7); break;
    default: count_groups(counts, block, first, MOST_GROUPS); break;
    }
}

/* Returns the block at vector `vector` of a strip, which is a block as wide as the picture. */
static inline Block block_at(const Block *strip, int vector)
{
    const int left = strip->vectors - vector;
    return (Block){strip->samples + 64 * vector, strip->stride,
                   left < BLOCK_VECTORS ? left : BLOCK_VECTORS, strip->rows};
}

#define BLOCKS_LOOKED_AT 4 /* has_many_codes() checks one block of this many */

/* True if more than half of the checked blocks have many groups in their first row. Then counting
 * along whole rows is faster. */
static inline int has_many_codes(const Block *strip)
{
    int blocks = 0, wide = 0;
    for (int v = 0; v < strip->vectors; v += BLOCKS_LOOKED_AT * BLOCK_VECTORS) {
        const Block block = block_at(strip, v);
        blocks++;
        wide += groups_in(code_range(&block, 1)) > MOST_GROUPS;
    }
    return 2 * wide > blocks;
}

static inline void count_rows(Counters *counters, const Block *block)
{
    for (int y = 0; y < block->rows; y++)
        count_row(counters, block->samples + y * block->stride, 64 * block->vectors);
}

static inline void count_block(uint32_t *hist, GroupCounts *counts, Counters *counters,
                               const Block *block)
{
    const CodeRange range = code_range(block, block->rows);
    if (range.first == range.last)
        hist[range.first] += (uint32_t)(64 * block->vectors * block->rows);
    else if (groups_in(range) <= MOST_GROUPS)
        count_few_codes(hist, counts, block, range);
    else
        count_rows(counters, block);
}

void lumeq_histogram8_avx512(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                             int height, const CurveParams *params)
{
    (void)params;
    _Alignas(64) GroupCounts counts = {0};
    Counters counters;
    start_counting(&counters, (int64_t)width * height);
    for (int y = 0; y < height; y += BLOCK_ROWS) {
        const Block strip = {(const uint8_t *)src + y * stride, stride, width / 64,
                             height - y < BLOCK_ROWS ? height - y : BLOCK_ROWS};
        if (has_many_codes(&strip)) {
            count_rows(&counters, &strip);
        } else {
            for (int v = 0; v < strip.vectors; v += BLOCK_VECTORS) {
                const Block block = block_at(&strip, v);
                count_block(hist, &counts, &counters, &block);
            }
        }
        for (int i = 0; i < strip.rows; i++)
            count_row(&counters, strip.samples + i * stride + 64 * strip.vectors, width % 64);
    }
    add_groups(hist, &counts);
    add_counters(hist, &counters);
}
