#include "media/printable.h"

#include <stdio.h>
#include <string.h>

int utf8_read(const char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length */
    const unsigned char *s = (const unsigned char *)text;
    const int n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (n == 0 || s[0] >= 0xf8)
        return 0;
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fU >> n);
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    *character = c;
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

int is_control_character(uint32_t c)
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
