/* Writes manual pages with roff's "man" macros. Callers check `to` for errors when they close it.
 */
#ifndef LUMEQ_MANUAL_ROFF_H
#define LUMEQ_MANUAL_ROFF_H

#include <stdio.h>

/* Starts a page: "lumeq", 1, its date, and a one-line description. */
void roff_title(FILE *to, const char *name, int section, const char *date, const char *what);

void roff_section(FILE *to, const char *heading);
void roff_subsection(FILE *to, const char *heading);

/* Separates paragraphs; does nothing below a heading. */
void roff_break(FILE *to);

/* Prints a filled paragraph. */
void roff_paragraph(FILE *to, const char *text);

/* Prints a term, in roff, and its indented explanation. */
void roff_tagged(FILE *to, const char *roff_tag, const char *text);

/* Enclose lines that are not filled. */
void roff_begin_example(FILE *to);
void roff_end_example(FILE *to);

/* Prints one line of text, escaped. */
void roff_line(FILE *to, const char *text);

/* Escapes text into a string, for a term. */
void roff_escape(char *roff, size_t size, const char *text);

#endif
