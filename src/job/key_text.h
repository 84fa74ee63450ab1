/* Text in lines of a key and a value; the last line has a checksum of all before. In values, %
 * precedes the two hexadecimal digits of a byte that does not fit into a line. */
#ifndef LUMEQ_JOB_KEY_TEXT_H
#define LUMEQ_JOB_KEY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* {0} is an empty one. */
typedef struct KeyText {
    FILE *file; /* that writes the text; NULL before and after */
    char *text;
    size_t size;
    int failed; /* out of memory */
} KeyText;

void key_text_add(KeyText *text, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the last line. Returns the checksum in it. */
uint32_t key_text_end(KeyText *text);

void key_text_free(KeyText *text);

/* True if the text, which ends with a NUL, has a valid checksum, which is put into *sum. */
bool key_text_is_whole(const char *text, uint32_t *sum);

/* Splits the next line off the text, in place. Returns 1, or 0 at the end. */
int key_text_next(char **at, char **key, char **value);

#endif
