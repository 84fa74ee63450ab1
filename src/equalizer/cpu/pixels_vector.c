/* Colours of 8 bits to planes and back, 16 pixels at a time. */
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/vector.h"

#define STEP 16 /* pixels */
#define LAST 1023

/* A pair of coefficients, for _mm256_madd_epi16(). */
static inline __m256i pair_of(int32_t first, int32_t second)
{
    return _mm256_set1_epi32((int32_t)((uint32_t)second << 16 | (uint16_t)first));
}

/* Loads 16 bytes from pixel 0 on into the lower half, and from pixel 8 on into the upper half. */
static inline __m256i load_pixels(const uint8_t *from, int channels)
{
    return _mm256_set_m128i(_mm_loadu_si128((const void *)(from + 8 * channels)),
                            _mm_loadu_si128((const void *)from));
}

/* Selects two channels of four pixels as pairs of 16 bits; channel -1 gives 0. */
static inline __m256i pairs_of(int channels, int first, int second)
{
    uint8_t index[16];
    for (int i = 0; i < 16; i++) {
        const int channel = i % 4 == 0 ? first : second;
        index[i] = (uint8_t)(i % 2 || channel < 0 ? 0x80 : i / 4 * channels + channel);
    }
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)index));
}

static inline __m256i sum_of(__m256i blue_green, __m256i red, const __m256i k[2], __m256i half)
{
    return _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(_mm256_madd_epi16(blue_green, k[0]),
                                                               _mm256_madd_epi16(red, k[1])),
                                              half),
                             PIXELS_BITS_8);
}

void VECTOR_NAME(lumeq_pixels_to_planes8)(uint16_t *const to[3], const void *from, int channels,
                                          int rgb, int width)
{
    const uint8_t *pixel = from;
    const __m256i blue_green = pairs_of(channels, rgb ? 2 : 0, 1);
    const __m256i red = pairs_of(channels, rgb ? 0 : 2, -1);
    const __m256i half = _mm256_set1_epi32(1 << (PIXELS_BITS_8 - 1));
    const __m256i middle = _mm256_set1_epi16((LAST + 1) / 2), last = _mm256_set1_epi16(LAST);
    __m256i k[3][2];
    for (int i = 0; i < 3; i++) {
        k[i][0] = pair_of(lumeq_to_planes8[i][0], lumeq_to_planes8[i][1]);
        k[i][1] = pair_of(lumeq_to_planes8[i][2], 0);
    }
    int x = 0;
    /* The last load ends at most two pixels after the step. */
    for (; x + STEP + 2 <= width; x += STEP, pixel += STEP * channels) {
        const __m256i a = load_pixels(pixel, channels);
        const __m256i b = load_pixels(pixel + 4 * channels, channels);
        const __m256i bg[2] = {_mm256_shuffle_epi8(a, blue_green),
                               _mm256_shuffle_epi8(b, blue_green)};
        const __m256i r[2] = {_mm256_shuffle_epi8(a, red), _mm256_shuffle_epi8(b, red)};
        for (int i = 0; i < 3; i++) {
            const __m256i code = _mm256_packs_epi32(sum_of(bg[0], r[0], k[i], half),
                                                    sum_of(bg[1], r[1], k[i], half));
            _mm256_storeu_si256((void *)(to[i] + x),
                                i ? _mm256_min_epi16(_mm256_add_epi16(code, middle), last) : code);
        }
    }
    uint16_t *const rest[3] = {to[0] + x, to[1] + x, to[2] + x};
    lumeq_pixels_to_planes8(rest, pixel, channels, rgb, width - x);
}

static inline __m256i pack_sums(const __m256i sum[2])
{
    return _mm256_packs_epi32(_mm256_srai_epi32(sum[0], PLANES_BITS),
                              _mm256_srai_epi32(sum[1], PLANES_BITS));
}

/* Shuffle indices for 16 bytes of pixels, from `first_byte` on. If `third`, they select from the
 * vector of the third channel, else from the vector of the first two. 0x80 gives 0. */
static inline __m128i places_of(int first_byte, int third)
{
    uint8_t index[16];
    for (int i = 0; i < 16; i++) {
        const int pixel = (first_byte + i) / 3, channel = (first_byte + i) % 3;
        const int place = channel == 1 ? pixel + 8 : pixel;
        index[i] = (uint8_t)((channel == 2) == third ? place : 0x80);
    }
    return _mm_loadu_si128((const void *)index);
}

/* The constant part of a sum: for rounding, and for the middle of the chroma codes. */
static inline __m256i offset_of(const int32_t k[3])
{
    return _mm256_set1_epi32((1 << (PLANES_BITS - 1)) - (k[1] + k[2]) * ((LAST + 1) / 2));
}

void VECTOR_NAME(lumeq_planes_to_pixels8)(void *to, const uint16_t *const from[3], int channels,
                                          int rgb, int width)
{
    const int32_t(*m)[3] = lumeq_to_pixels8;
    uint8_t *pixel = to;
    const __m256i blue = pair_of(m[0][0], m[0][1]), red = pair_of(m[2][0], m[2][2]);
    const __m256i green = pair_of(m[1][0], m[1][1]), green_red = pair_of(0, m[1][2]);
    const __m256i add[3] = {offset_of(m[0]), offset_of(m[1]), offset_of(m[2])};
    __m256i place[2][2];
    for (int i = 0; i < 4; i++)
        place[i / 2][i % 2] = _mm256_broadcastsi128_si256(places_of(16 * (i / 2), i % 2));
    int x = 0;
    for (; x + STEP <= width && channels == 3; x += STEP, pixel += 3 * STEP) {
        const __m256i y = _mm256_loadu_si256((const void *)(from[0] + x));
        const __m256i cb = _mm256_loadu_si256((const void *)(from[1] + x));
        const __m256i cr = _mm256_loadu_si256((const void *)(from[2] + x));
        const __m256i yb[2] = {_mm256_unpacklo_epi16(y, cb), _mm256_unpackhi_epi16(y, cb)};
        const __m256i yr[2] = {_mm256_unpacklo_epi16(y, cr), _mm256_unpackhi_epi16(y, cr)};
        __m256i b[2], g[2], r[2];
        for (int i = 0; i < 2; i++) {
            b[i] = _mm256_add_epi32(_mm256_madd_epi16(yb[i], blue), add[0]);
            g[i] = _mm256_add_epi32(_mm256_add_epi32(_mm256_madd_epi16(yb[i], green),
                                                     _mm256_madd_epi16(yr[i], green_red)),
                                    add[1]);
            r[i] = _mm256_add_epi32(_mm256_madd_epi16(yr[i], red), add[2]);
        }
        const __m256i outer[2] = {pack_sums(rgb ? r : b), pack_sums(rgb ? b : r)};
        const __m256i first = _mm256_packus_epi16(outer[0], pack_sums(g));
        const __m256i second = _mm256_packus_epi16(outer[1], outer[1]);
        for (int i = 0; i < 2; i++) {
            const __m256i bytes = _mm256_or_si256(_mm256_shuffle_epi8(first, place[i][0]),
                                                  _mm256_shuffle_epi8(second, place[i][1]));
            const __m128i half[2] = {_mm256_castsi256_si128(bytes),
                                     _mm256_extracti128_si256(bytes, 1)};
            for (int k = 0; k < 2; k++) {
                if (i)
                    _mm_storel_epi64((void *)(pixel + 24 * k + 16), half[k]);
                else
                    _mm_storeu_si128((void *)(pixel + 24 * k), half[k]);
            }
        }
    }
    const uint16_t *const rest[3] = {from[0] + x, from[1] + x, from[2] + x};
    lumeq_planes_to_pixels8(pixel, rest, channels, rgb, width - x);
}
