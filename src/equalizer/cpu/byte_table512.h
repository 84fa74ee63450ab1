/* Tables of 256 bytes for AVX-512 with VBMI. */
#ifndef LUMEQ_BYTE_TABLE512_H
#define LUMEQ_BYTE_TABLE512_H

#include <immintrin.h>
#include <stdint.h>

/* Two halves: an instruction looks up 128 bytes. */
typedef struct ByteTable512 {
    __m512i part[4];
} ByteTable512;

static inline ByteTable512 byte_table512(const uint8_t *bytes)
{
    ByteTable512 table;
    for (int i = 0; i < 4; i++)
        table.part[i] = _mm512_loadu_si512(bytes + 64 * i);
    return table;
}

static inline __m512i look_up_byte(const ByteTable512 *table, __m512i index)
{
    const __m512i lower = _mm512_permutex2var_epi8(table->part[0], index, table->part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(table->part[2], index, table->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper);
}

/* A mask of up to a vector of remaining samples. */
static inline __mmask64 samples_left(int left)
{
    return left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

#endif
