/* Error text for functions that report it as one sentence in a buffer. */
#ifndef LUMEQ_PLAYER_WHY_H
#define LUMEQ_PLAYER_WHY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the sentence to `why` and returns -1. */
__attribute__((format(printf, 3, 4))) static inline int why_fail(char *why, size_t size,
                                                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -1;
}

#endif
