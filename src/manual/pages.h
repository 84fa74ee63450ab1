/* The manual pages. `date`: of the version. */
#ifndef LUMEQ_MANUAL_PAGES_H
#define LUMEQ_MANUAL_PAGES_H

#include <stdio.h>

void page_program(FILE *to, const char *date);
void page_settings(FILE *to, const char *date);
void page_bench(FILE *to, const char *date);

/* Returns -1 if the public header has an unexpected form. */
int page_library(FILE *to, const char *date, FILE *header);

#endif
