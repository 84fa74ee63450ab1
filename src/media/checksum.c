#include "media/checksum.h"

#include <pthread.h>

#include <libavutil/intreadwrite.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_FOLDING 1
#else
#define HAS_FOLDING 0
#endif

#define POLYNOMIAL UINT32_C(0xedb88320) /* the bits of zip's, the lowest power first */

/* Bytes that are taken at a time: their look-ups do not wait for each other. */
#define STEP 16

/* What a byte makes of a sum, with so many zeros behind it. */
static uint32_t table[STEP][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
        table[0][i] = sum;
    }
    for (int k = 1; k < STEP; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

/* Four bytes with `behind` ones behind them. */
static uint32_t take_word(uint32_t word, int behind)
{
    return table[behind + 3][word & 255] ^ table[behind + 2][word >> 8 & 255] ^
           table[behind + 1][word >> 16 & 255] ^ table[behind][word >> 24];
}

#if HAS_FOLDING

/* Bytes that are folded at a time; fewer are looked up. */
#define FOLDED 64

/*
 * Source: Gopal, Ozturk et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ",
 * Intel, 2009; its constants for zip's polynomial, in reversed bits: powers of x that 512 and 128
 * bits are folded by, then 64, and those of the reduction.
 */
static const uint64_t by_512[2] = {UINT64_C(0x154442bd4), UINT64_C(0x1c6e41596)};
static const uint64_t by_128[2] = {UINT64_C(0x1751997d0), UINT64_C(0x0ccaa009e)};
static const uint64_t by_64[2] = {UINT64_C(0x163cd6124), 0};
static const uint64_t reduce[2] = {UINT64_C(0x1db710641), UINT64_C(0x1f7011641)};

#define TARGET __attribute__((target("pclmul,sse4.1")))

TARGET static __m128i load(const void *at)
{
    return _mm_loadu_si128(at);
}

/* What comes so many bits further on, with those before. */
TARGET static __m128i fold(__m128i before, __m128i by, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(before, by, 0x00);
    const __m128i high = _mm_clmulepi64_si128(before, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

TARGET static uint32_t reduced(__m128i x)
{
    const __m128i word = _mm_setr_epi32(-1, 0, -1, 0), poly = load(reduce);
    x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, load(by_128), 0x10));
    x = _mm_xor_si128(_mm_srli_si128(x, 4),
                      _mm_clmulepi64_si128(_mm_and_si128(x, word), load(by_64), 0x00));
    __m128i part = _mm_clmulepi64_si128(_mm_and_si128(x, word), poly, 0x10);
    part = _mm_clmulepi64_si128(_mm_and_si128(part, word), poly, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, part), 1);
}

/* Of FOLDED bytes at least, whole steps alone; `sum` is inverted. */
TARGET static uint32_t folded(uint32_t sum, const uint8_t *at, size_t size)
{
    const __m128i four = load(by_512), one = load(by_128);
    __m128i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = load(at + 16 * i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)sum));
    for (at += FOLDED, size -= FOLDED; size >= FOLDED; at += FOLDED, size -= FOLDED)
        for (int i = 0; i < 4; i++)
            x[i] = fold(x[i], four, load(at + 16 * i));
    for (int i = 1; i < 4; i++)
        x[0] = fold(x[0], one, x[i]);
    for (; size >= STEP; at += STEP, size -= STEP)
        x[0] = fold(x[0], one, load(at));
    return reduced(x[0]);
}

static int can_fold(void)
{
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

#endif

uint32_t checksum(uint32_t sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    (void)pthread_once(&once, make_table);
    sum = ~sum;
#if HAS_FOLDING
    if (size >= FOLDED && can_fold()) {
        sum = folded(sum, at, size / STEP * STEP);
        at += size / STEP * STEP;
        size %= STEP;
    }
#endif
    for (; size >= STEP; at += STEP, size -= STEP)
        sum = take_word(AV_RL32(at) ^ sum, 12) ^ take_word(AV_RL32(at + 4), 8) ^
              take_word(AV_RL32(at + 8), 4) ^ take_word(AV_RL32(at + 12), 0);
    for (; size; size--)
        sum = sum >> 8 ^ table[0][(sum ^ *at++) & 255];
    return ~sum;
}
