/* Text from others, made safe to show: no byte of it gets a terminal to do anything. */
#ifndef LUMEQ_MEDIA_PRINTABLE_H
#define LUMEQ_MEDIA_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/* Room for what one character becomes: itself, \n, \x1b or \u202e, and the final 0. */
#define PRINTABLE_BYTES 8

/* The UTF-8 character that `text` begins with. Returns its length in bytes, or 0 if `text` does not
 * begin with one. */
int utf8_read(const char *text, uint32_t *character);

/* True for characters that control a terminal (C0, DEL, C1) or change the order or the lines in
 * which the text around them is shown. */
int is_control_character(uint32_t character);

/* Writes the first character of `text`, escaped if it is a control character or invalid UTF-8.
 * Returns the number of bytes it had in `text`. */
int printable_character(const char *text, char out[PRINTABLE_BYTES]);

/* Copies `text` and escapes it as above. Cuts it, between two characters, if it does not fit. */
void printable(char *to, size_t size, const char *text);

#endif
