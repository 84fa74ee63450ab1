#include "player/clock.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

/* Time constant for removing the clock's offset from the sound. */
#define CATCH_UP_US 500000.0
/* Maximum change of the clock's speed while it removes the offset, as a fraction. */
#define MAX_CATCH_UP 0.05
/* Longer gaps between two corrections count as this long. */
#define MAX_STEP_US 100000

int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

int64_t clock_position(const Clock *c, int64_t now)
{
    if (!c->running || now < c->time)
        return c->position;
    return c->position + llrint((double)(now - c->time) * c->speed);
}

/* Moves the clock's reference point to `now`. A clock waiting for sound keeps waiting. */
static void settle(Clock *c, int64_t now)
{
    if (now < c->time)
        return;
    c->position = clock_position(c, now);
    c->time = now;
}

/* The time until which a clock waits for sound. A paused clock waits without limit. */
static int64_t hold_until(int running, int64_t now)
{
    return running ? now + CLOCK_HOLD_US : INT64_MAX;
}

void clock_set(Clock *c, int64_t now, int64_t position, int wait_for_sound)
{
    c->position = position;
    c->time = wait_for_sound ? hold_until(c->running, now) : now;
}

void clock_set_speed(Clock *c, int64_t now, double speed)
{
    settle(c, now);
    c->speed = speed;
}

void clock_pause(Clock *c, int64_t now, int paused)
{
    const int waits = now < c->time;
    settle(c, now);
    if (waits)
        c->time = hold_until(!paused, now);
    c->running = !paused;
}

void clock_follow(Clock *c, int64_t now, int64_t sound)
{
    if (!c->running)
        return;
    const int64_t here = clock_position(c, now);
    const double off = (double)(sound - here), passed = (double)(now - c->time);
    const double step = passed < MAX_STEP_US ? passed : MAX_STEP_US;
    const double most = step * c->speed * MAX_CATCH_UP;
    c->position = sound;
    if (now >= c->time && fabs(off) <= CLOCK_JUMP_US * c->speed)
        c->position = here + llrint(fmax(-most, fmin(most, off * step / CATCH_UP_US)));
    c->time = now;
}

int64_t clock_until(const Clock *c, int64_t now, int64_t position)
{
    return llrint((double)(position - clock_position(c, now)) / c->speed);
}

/* A frame is dropped only if the next frame is overdue by the smaller of MAX_OVERDUE_US and
 * 1/OVERDUE_PART of the frames' distance. Without this margin, jitter would alternately drop and
 * repeat frames at frame rates close to the refresh rate. */
#define OVERDUE_PART 8
#define MAX_OVERDUE_US 5000

static bool is_overdue(const Clock *clock, const SyncFrame *frame, int64_t late)
{
    if (frame->next == SYNC_NO_FRAME)
        return 0;
    const double apart = (double)(frame->next - frame->position) / clock->speed;
    if (apart <= 0)
        return 1;
    const double part = apart / OVERDUE_PART;
    return (double)late - apart >= (part < MAX_OVERDUE_US ? part : MAX_OVERDUE_US);
}

SyncAction sync_decide(Sync *sync, const Clock *clock, int64_t now, int by_sound,
                       const SyncFrame *frame, int64_t *wait_us)
{
    const int64_t late = sync->lead_us - clock_until(clock, now, frame->position);
    const int64_t off = frame->position - clock_position(clock, now);
    const int64_t jump = SYNC_JUMP_US + frame->duration;
    *wait_us = 0;
    if (!by_sound && (off > jump || off < -jump)) {
        sync->shown++;
        return SYNC_JUMP;
    }
    if (late < 0) {
        *wait_us = -late < SYNC_MAX_WAIT_US ? -late : SYNC_MAX_WAIT_US;
        return SYNC_WAIT;
    }
    if (is_overdue(clock, frame, late)) {
        sync->dropped++;
        return SYNC_DROP;
    }
    sync->shown++;
    sync->late += frame->duration > 0 && (double)late * clock->speed > (double)frame->duration;
    return SYNC_SHOW;
}

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
