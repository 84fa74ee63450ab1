/* Tables of 256 bytes in vectors. A table has 16 parts, each looked up by a shuffle; a block looks
 * up only the parts that its codes need. */
#ifndef LUMEQ_BYTE_TABLE_H
#define LUMEQ_BYTE_TABLE_H

#include <stdint.h>

#include "equalizer/cpu/vector.h"

#define PARTS 16
#define HALF (PARTS / 2) /* number of parts that a signed byte can index */

/*
 * `differs`: each part XOR the part before. A lookup shuffles the first part, and then `differs` of
 * each later part, with 16 subtracted from the index each time. The XOR of the results is the
 * entry, because a shuffle gives 0 for a negative index.
 */
typedef struct ByteTable {
    __m128i part[PARTS], differs[PARTS];
} ByteTable;

static inline ByteTable byte_table(const uint8_t *bytes)
{
    ByteTable table;
    for (int i = 0; i < PARTS; i++) {
        table.part[i] = _mm_loadu_si128((const void *)(bytes + 16 * i));
        table.differs[i] = _mm_xor_si128(table.part[i], table.part[i ? i - 1 : 0]);
    }
    return table;
}

/* Makes a table from byte `at` of each of 256 values, which are `step` bytes apart. */
static inline ByteTable byte_of(const void *numbers, int step, int at)
{
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = ((const uint8_t *)numbers)[i * step + at];
    return byte_table(bytes);
}

/* The parts of a table to look up. */
typedef struct Window {
    int first, parts;
} Window;

#define BYTE_BLOCK 64
#define HALVES (BYTE_BLOCK / 32)
#define HALVES_AT_ONCE (VECTOR_REGISTERS / 8) /* limited by the number of registers */

static inline __m256i load_vector(const void *from)
{
    return _mm256_loadu_si256(from);
}

static inline void store_vector(void *to, __m256i vector)
{
    _mm256_storeu_si256(to, vector);
}

/* The parts of a table that the codes of a block need. AVX-512 looks up whole tables. */
static inline Window block_window(const __m256i code[HALVES])
{
#ifdef __AVX512VBMI__
    (void)code;
    return (Window){0, PARTS};
#else
    ByteRange range = empty_range();
    for (int i = 0; i < HALVES; i++)
        add_to_range(&range, code[i]);
    const int first = range_first(&range) / PARTS;
    return (Window){first, range_last(&range) / PARTS - first + 1};
#endif
}

/* Number of blocks whose windows are found before the lookup, so that the loop over parts does not
 * stall until it knows the number of parts. */
#define SOME_BLOCKS 16

static inline int some_blocks(int width, int x)
{
    const int blocks = (width - x + BYTE_BLOCK - 1) / BYTE_BLOCK;
    return blocks < SOME_BLOCKS ? blocks : SOME_BLOCKS;
}

static inline void find_byte_windows(Window *windows, const uint8_t *bytes, int blocks)
{
    for (int i = 0; i < blocks; i++)
        windows[i] = block_window((__m256i[]){load_vector(bytes + i * BYTE_BLOCK),
                                              load_vector(bytes + i * BYTE_BLOCK + 32)});
}

#ifdef __AVX512VBMI__

/* One instruction looks up half of a table. */
static inline __m512i look_up_byte(const ByteTable *table, __m512i index)
{
    __m512i part[4];
    for (int i = 0; i < 4; i++)
        part[i] = _mm512_loadu_si512(&table->part[4 * i]);
    const __m512i lower = _mm512_permutex2var_epi8(part[0], index, part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(part[2], index, part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper);
}

static inline void look_up_bytes(__m256i (*found)[HALVES], const ByteTable *tables, int count,
                                 Window w, const __m256i code[HALVES])
{
    const __m512i index = _mm512_inserti64x4(_mm512_castsi256_si512(code[0]), code[1], 1);
    (void)w;
    for (int t = 0; t < count; t++) {
        const __m512i bytes = look_up_byte(&tables[t], index);
        found[t][0] = _mm512_castsi512_si256(bytes);
        found[t][1] = _mm512_extracti64x4_epi64(bytes, 1);
    }
}

#else

/* Looks up HALVES_AT_ONCE halves of a block, from `half` on, in the parts of `count` tables from
 * `first` on. XORs the entries into `found`. `count` and `half` are constants. */
static inline __attribute__((always_inline)) void
look_up_parts(__m256i (*found)[HALVES], const ByteTable *tables, int count, int first, int parts,
              const __m256i code[HALVES], int half)
{
    const __m256i before = _mm256_set1_epi8((char)(PARTS * first));
    const __m256i sixteen = _mm256_set1_epi8(PARTS);
    const int end = half + HALVES_AT_ONCE;
    __m256i at[HALVES];
    for (int i = half; i < end; i++)
        at[i] = _mm256_sub_epi8(code[i], before);
    for (int t = 0; t < count; t++) {
        const __m256i start = _mm256_broadcastsi128_si256(tables[t].part[first]);
        for (int i = half; i < end; i++)
            found[t][i] = _mm256_xor_si256(found[t][i], _mm256_shuffle_epi8(start, at[i]));
    }
#pragma GCC unroll 1
    for (int part = first + 1; part < first + parts; part++) {
        for (int i = half; i < end; i++)
            at[i] = _mm256_subs_epi8(at[i], sixteen);
        for (int t = 0; t < count; t++) {
            const __m256i more = _mm256_broadcastsi128_si256(tables[t].differs[part]);
            for (int i = half; i < end; i++)
                found[t][i] = _mm256_xor_si256(found[t][i], _mm256_shuffle_epi8(more, at[i]));
        }
    }
}

static inline __attribute__((always_inline)) void look_up_bytes(__m256i (*found)[HALVES],
                                                                const ByteTable *tables, int count,
                                                                Window w,
                                                                const __m256i code[HALVES])
{
    for (int t = 0; t < count; t++)
        for (int i = 0; i < HALVES; i++)
            found[t][i] = _mm256_setzero_si256();
#pragma GCC unroll 2
    for (int half = 0; half < HALVES; half += HALVES_AT_ONCE) {
        look_up_parts(found, tables, count, w.first, w.parts < HALF ? w.parts : HALF, code, half);
        if (w.parts > HALF)
            look_up_parts(found, tables, count, w.first + HALF, w.parts - HALF, code, half);
    }
}

#endif

/* Joins bytes to values of 16 bits, within each lane. Restores the order of 16-bit samples, which
 * packing them to codes had changed. */
static inline void join_bytes(__m256i number[2 * HALVES], const __m256i low[HALVES],
                              const __m256i high[HALVES])
{
    for (int i = 0; i < HALVES; i++) {
        number[2 * i] = _mm256_unpacklo_epi8(low[i], high[i]);
        number[2 * i + 1] = _mm256_unpackhi_epi8(low[i], high[i]);
    }
}

#endif
