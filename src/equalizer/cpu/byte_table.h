/* Tables of 256 bytes that AVX2 looks up in by shuffles, in as many of 16 parts as are needed. */
#ifndef LUMEQ_BYTE_TABLE_H
#define LUMEQ_BYTE_TABLE_H

#include <immintrin.h>
#include <stdint.h>

#define PARTS 16
#define HALF (PARTS / 2) /* that indices reach before they are negative */

/*
 * The parts, and what each differs from the one before in. A shuffle gives 0 where the index is
 * negative, so that an index that 16 is taken from again and again gathers the differences up to
 * its own part.
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

/* The parts that some samples are looked up in. */
typedef struct Window {
    int first, parts;
} Window;

#endif
