/* Escapes text from files and the network, so that it cannot control a terminal. */
#ifndef LUMEQ_MEDIA_PRINTABLE_H
#define LUMEQ_MEDIA_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffer size for one character or its escape, such as \n, \x1b or \u202e, and the final 0. */
#define PRINTABLE_BYTES 8

/* Reads the first UTF-8 character of `text`. Returns its length in bytes, or 0 if it is invalid. */
int utf8_read(const char *text, uint32_t *character);

/* True for characters that control a terminal (C0, DEL, C1) or change the direction or line breaks
 * of surrounding text. */
bool is_control_character(uint32_t character);

/* Writes the first character of `text`, escaped if it is a control character or invalid UTF-8.
 * Returns the number of bytes read from `text`. */
int printable_character(const char *text, char out[PRINTABLE_BYTES]);

/* Copies and escapes `text`, truncating between characters if it does not fit. */
void printable(char *to, size_t size, const char *text);

#endif
