/* Resident memory of this process. */
#ifndef LUMEQ_TESTS_RESIDENT_H
#define LUMEQ_TESTS_RESIDENT_H

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Resident memory in bytes, after returning freed memory to the system; 0 if unknown. */
static inline int64_t resident_bytes(void)
{
    long pages = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

#endif
