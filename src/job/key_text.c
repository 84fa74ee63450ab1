#include "job/key_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/checksum.h"

#define LAST_KEY "end "
#define LAST_LINE 13 /* bytes: "end 01234567\n" */

static void append(KeyText *t, const char *bytes, size_t size)
{
    if (t->size + size + 1 > t->room) {
        const size_t room = 2 * (t->size + size + 1);
        char *larger = realloc(t->text, room);
        t->failed |= !larger;
        if (!larger)
            return;
        t->text = larger;
        t->room = room;
    }
    memcpy(t->text + t->size, bytes, size);
    t->size += size;
    t->text[t->size] = '\0';
}

void key_text_add(KeyText *t, const char *key, const char *format, ...)
{
    char *value = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&value, format, args);
    va_end(args);
    t->failed |= length < 0;
    if (length < 0)
        return;
    append(t, key, strlen(key));
    append(t, " ", 1);
    for (const char *c = value; *c; c++) {
        char escaped[4];
        const unsigned char byte = (unsigned char)*c;
        const int plain = byte >= ' ' && byte != '%' && byte != 0x7f;
        snprintf(escaped, sizeof(escaped), plain ? "%c" : "%%%02x", byte);
        append(t, escaped, plain ? 1 : 3);
    }
    append(t, "\n", 1);
    free(value);
}

uint32_t key_text_end(KeyText *t)
{
    const uint32_t sum = checksum(0, t->text, t->size);
    char line[LAST_LINE + 1];
    snprintf(line, sizeof(line), LAST_KEY "%08x\n", sum);
    append(t, line, LAST_LINE);
    return sum;
}

void key_text_free(KeyText *t)
{
    free(t->text);
    *t = (KeyText){0};
}

bool key_text_is_whole(const char *text, uint32_t *sum)
{
    char line[LAST_LINE + 1];
    const size_t size = strlen(text);
    if (size < LAST_LINE)
        return 0;
    *sum = checksum(0, text, size - LAST_LINE);
    snprintf(line, sizeof(line), LAST_KEY "%08x\n", *sum);
    return strcmp(text + size - LAST_LINE, line) == 0;
}

int key_text_next(char **at, char **key, char **value)
{
    char *end = strchr(*at, '\n');
    if (!end)
        return 0;
    *end = '\0';
    *key = *at;
    *at = end + 1;
    *value = *key + strcspn(*key, " ");
    if (**value)
        *(*value)++ = '\0';
    char *to = *value;
    for (const char *c = *value; *c; c++) {
        unsigned byte = (unsigned char)*c;
        if (*c == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2])) {
            (void)sscanf(c + 1, "%2x", &byte);
            c += 2;
        }
        *to++ = (char)byte;
    }
    *to = '\0';
    return 1;
}
