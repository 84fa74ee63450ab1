#include "media/activity.h"

#include <stdatomic.h>

static atomic_uint count;

void activity_note(void)
{
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

unsigned activity_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}
