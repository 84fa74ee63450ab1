/* Writes and reads text whose lines are a key and a value. The last line is the checksum of the
 * lines above it. In values, % and two hexadecimal digits encode a control character or a %. */
#ifndef LUMEQ_JOB_KEY_TEXT_H
#define LUMEQ_JOB_KEY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* {0} is empty. */
typedef struct KeyText {
    FILE *file; /* writes the text; NULL before the first line and after the last */
    char *text;
    size_t size;
    int failed; /* out of memory */
} KeyText;

/* Adds a line. `format`: format of the value, as for printf(). */
void key_text_add(KeyText *text, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the last line. Returns the checksum in it. */
uint32_t key_text_end(KeyText *text);

void key_text_free(KeyText *text);

/* True if the text's checksum is valid. Sets *sum to the checksum. */
bool key_text_is_whole(const char *text, uint32_t *sum);

/* Splits the next line off the text and decodes its value, in place. Returns 1, or 0 at the end. */
int key_text_next(char **at, char **key, char **value);

#endif
