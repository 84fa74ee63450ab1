/* The manual pages. `date` is that of the version. */
#ifndef LUMEQ_MANUAL_PAGES_H
#define LUMEQ_MANUAL_PAGES_H

#include <stdio.h>

void page_program(FILE *to, const char *date);
void page_settings(FILE *to, const char *date);
void page_bench(FILE *to, const char *date);

/* 0, or -1: the public header is not as it is expected. */
int page_library(FILE *to, const char *date, FILE *header);

#endif
