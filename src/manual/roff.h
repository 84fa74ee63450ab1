/* Manual pages in roff's "man" macros. All of it goes to `to`, errors are found when that closes.
 */
#ifndef LUMEQ_MANUAL_ROFF_H
#define LUMEQ_MANUAL_ROFF_H

#include <stdio.h>

/* The beginning: "lumeq", 1, when it is from, and one line of what it is. */
void roff_title(FILE *to, const char *name, int section, const char *date, const char *what);

void roff_section(FILE *to, const char *heading);
void roff_subsection(FILE *to, const char *heading);

/* Between paragraphs; nothing below a heading. */
void roff_break(FILE *to);

/* A paragraph, filled. */
void roff_paragraph(FILE *to, const char *text);

/* What is explained, as roff, and its explanation, indented. */
void roff_tagged(FILE *to, const char *roff_tag, const char *text);

/* Lines as they are, between these two. */
void roff_begin_example(FILE *to);
void roff_end_example(FILE *to);

/* One line of text, with all that roff would understand made harmless. */
void roff_line(FILE *to, const char *text);

/* The same into a string, for a tag. */
void roff_escape(char *roff, size_t size, const char *text);

#endif
