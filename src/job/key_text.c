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

void key_text_add(KeyText *t, const char *key, const char *format, ...)
{
    char *value = NULL;
    va_list args;
    if (!t->file)
        t->file = open_memstream(&t->text, &t->size);
    va_start(args, format);
    t->failed |= !t->file || vasprintf(&value, format, args) < 0;
    va_end(args);
    if (t->failed)
        return;
    fprintf(t->file, "%s ", key);
    for (const char *c = value; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        const bool is_plain = byte >= ' ' && byte != '%' && byte != 0x7f;
        fprintf(t->file, is_plain ? "%c" : "%%%02x", byte);
    }
    putc('\n', t->file);
    free(value);
}

uint32_t key_text_end(KeyText *t)
{
    uint32_t sum = 0;
    if (t->failed || fflush(t->file) != 0) {
        t->failed = 1;
        return 0;
    }
    sum = checksum(0, t->text, t->size);
    fprintf(t->file, LAST_KEY "%08x\n", sum);
    t->failed |= fclose(t->file) != 0;
    t->file = NULL;
    return sum;
}

void key_text_free(KeyText *t)
{
    if (t->file)
        (void)fclose(t->file);
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
