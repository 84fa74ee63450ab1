#include "equalizer/platform.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
#include <windows.h>
#else
#include <sched.h>
#include <unistd.h>
#endif

void *lumeq_alloc(size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
#ifdef _WIN32
    return _aligned_malloc(padded(size), ALIGNMENT);
#else
    return aligned_alloc(ALIGNMENT, padded(size));
#endif
}

void lumeq_free(void *memory)
{
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

int lumeq_core_count(void)
{
#ifdef _WIN32
    DWORD_PTR own = 0, all;
    const int cores =
        GetProcessAffinityMask(GetCurrentProcess(), &own, &all) ? __builtin_popcountll(own) : 0;
#else
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        cores = CPU_COUNT(&set);
#endif
#endif
    return cores < 1 ? 1 : cores;
}
