/* The calls that differ between operating systems. */
#ifndef LUMEQ_PLATFORM_H
#define LUMEQ_PLATFORM_H

#include <stddef.h>

#define ALIGNMENT 64 /* bytes: a cache line, and the widest vector */

static inline size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Allocates aligned memory; only lumeq_free() can free it. NULL: out of memory. */
void *lumeq_alloc(size_t size);
void lumeq_free(void *memory);

/* The number of cores that this process may use, at least 1. */
int lumeq_core_count(void);

#endif
