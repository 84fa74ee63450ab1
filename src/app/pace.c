#include "app/pace.h"

#include <time.h>

#include "app/run_end.h"
#include "player/clock.h"

/* What is behind by more than this is not made up for. */
#define BEHIND_US 500000

/* What a wait may take after the end of the run. */
#define LONGEST_NAP_US 20000

void pace_wait(Pace *p, int64_t time_us, const atomic_int *stop)
{
    int64_t now = clock_now();
    if (!p->begun || now - (p->begin + time_us) > BEHIND_US)
        p->begin = now - time_us;
    p->begun = 1;
    for (; now < p->begin + time_us && atomic_load(stop) == RUN_ON; now = clock_now()) {
        const int64_t left = p->begin + time_us - now;
        const int64_t nap = left < LONGEST_NAP_US ? left : LONGEST_NAP_US;
        const struct timespec time = {.tv_nsec = nap * 1000};
        (void)nanosleep(&time, NULL);
    }
}
