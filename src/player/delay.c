#include "player/delay.h"

void delay_note(Delay *d, int64_t us)
{
    const int64_t ms = us > 0 ? us / 1000 : 0;
    d->count++;
    d->sum += us;
    d->most = us > d->most ? us : d->most;
    d->by_ms[ms < DELAY_MOST_MS ? ms : DELAY_MOST_MS]++;
}

double delay_mean(const Delay *d)
{
    return d->count ? (double)d->sum * 1e-3 / (double)d->count : 0;
}

double delay_share(const Delay *d, double share)
{
    int64_t seen = 0;
    int ms = 0;
    if (!d->count)
        return 0;
    while (ms < DELAY_MOST_MS && (double)(seen += d->by_ms[ms]) < share * (double)d->count)
        ms++;
    return ms + 1;
}
