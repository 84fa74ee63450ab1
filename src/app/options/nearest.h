/* Which of several names somebody may have meant. */
#ifndef LUMEQ_APP_NEAREST_H
#define LUMEQ_APP_NEAREST_H

#include <stddef.h>

typedef struct Nearest {
    const char *typed;
    size_t n;
    int distance; /* of the best so far, or the first that is too far */
    int index;    /* of the best so far; -1: none is near */
} Nearest;

void nearest_start(Nearest *nearest, const char *typed, size_t n);

/* Notes `index` if this name is near, and nearer than those before it. */
void nearest_try(Nearest *nearest, const char *name, size_t n, int index);

#endif
