#include "media/printable.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>

int utf8_read(const char *text, uint32_t *character)
{
    const uint8_t *at = (const uint8_t *)text;
    int32_t c; /* at + 4 is safe, because the final 0 ends an incomplete character */
    if (av_utf8_decode(&c, &at, at + 4, AV_UTF8_FLAG_ACCEPT_NON_CHARACTERS) < 0)
        return 0;
    *character = (uint32_t)c;
    return (int)(at - (const uint8_t *)text);
}

bool is_control_character(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

int printable_character(const char *text, char out[PRINTABLE_BYTES])
{
    uint32_t c = 0;
    const int n = utf8_read(text, &c);
    if (n && !is_control_character(c))
        snprintf(out, PRINTABLE_BYTES, "%.*s", n, text);
    else if (n > 1)
        snprintf(out, PRINTABLE_BYTES, "\\u%04x", c & 0xffff);
    else
        snprintf(out, PRINTABLE_BYTES, *text == '\n' ? "\\n" : "\\x%02x", (unsigned char)*text);
    return n ? n : 1;
}

void printable(char *to, size_t size, const char *text)
{
    char one[PRINTABLE_BYTES];
    while (*text) {
        text += printable_character(text, one);
        const size_t n = strlen(one);
        if (n >= size)
            break;
        memcpy(to, one, n);
        to += n;
        size -= n;
    }
    *to = '\0';
}
