#include "media/output/encoder_version.h"

#include <string.h>

/* The beginnings of version texts, and what follows the version. */
static const char *const begins[] = {"x264 - core ", "x265 (build "};
static const char end[] = " - H.26";

static size_t find(const uint8_t *bytes, size_t size, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= size; i++)
        if (bytes[i] == (uint8_t)*text && memcmp(bytes + i, text, n) == 0)
            return i;
    return size;
}

int encoder_version_find(const uint8_t *bytes, size_t size, char text[ENCODER_VERSION_BYTES])
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        const size_t at = find(bytes, size, begins[i]);
        const size_t length = find(bytes + at, size - at, end);
        if (at == size || at + length == size || length >= ENCODER_VERSION_BYTES)
            continue;
        memcpy(text, bytes + at, length);
        text[length] = '\0';
        return 1;
    }
    return 0;
}
