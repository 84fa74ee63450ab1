#include "app/cpu_mask.h"

#include <stdlib.h>

unsigned cpu_mask_without(void)
{
    const char *mask = getenv("LUMEQ_CPU_MASK");
    return mask && *mask ? ~(unsigned)strtoul(mask, NULL, 0) : 0;
}
