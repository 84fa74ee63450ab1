/* Finds the known name that is most similar to a typed one. */
#ifndef LUMEQ_APP_NEAREST_H
#define LUMEQ_APP_NEAREST_H

#include <stddef.h>

typedef struct Nearest {
    const char *typed;
    size_t n;
    int distance; /* of the best name so far; initially the first distance that is too large */
    int index;    /* of the best name so far, or -1 */
} Nearest;

void nearest_start(Nearest *nearest, const char *typed, size_t n);

/* Stores `index` if this name is similar enough, and more so than earlier ones. */
void nearest_try(Nearest *nearest, const char *name, size_t n, int index);

#endif
