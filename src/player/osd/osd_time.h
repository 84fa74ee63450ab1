/* Formatting of positions. */
#ifndef LUMEQ_PLAYER_OSD_TIME_H
#define LUMEQ_PLAYER_OSD_TIME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Formats microseconds as "1:02:03" or "2:03". */
static inline void osd_time(int64_t us, char *text, size_t size)
{
    const int64_t s = us > 0 ? us / 1000000 : 0;
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

#endif
