/* Lines of a key and a value, which end with a checksum of all before: what a plan is written in.
 * In values, % stands before the two digits of what would not fit into a line. */
#ifndef LUMEQ_JOB_KEY_TEXT_H
#define LUMEQ_JOB_KEY_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* {0} is an empty one. */
typedef struct KeyText {
    char *text;
    size_t size, room;
    int failed; /* out of memory */
} KeyText;

void key_text_add(KeyText *text, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The last line. Answers the checksum that is in it. */
uint32_t key_text_end(KeyText *text);

void key_text_free(KeyText *text);

/* Whether a text, which ends with a NUL, is whole; its checksum. */
int key_text_is_whole(const char *text, uint32_t *sum);

/* The next line, which is cut out of the text: 1, or 0 at the end. */
int key_text_next(char **at, char **key, char **value);

#endif
