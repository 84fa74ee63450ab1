#include "player/clock.h"

#include <math.h>
#include <time.h>

/* What the clock is off the sound shrinks with this time constant, ... */
#define CATCH_UP_US 500000.0
/* ... but it runs faster or slower by no more than this part. */
#define MAX_CATCH_UP 0.05
/* After a longer time than this without sound, only so much is made up for at once. */
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

/* From here on it goes from where it is. A clock that waits goes on waiting. */
static void settle(Clock *c, int64_t now)
{
    if (now < c->time)
        return;
    c->position = clock_position(c, now);
    c->time = now;
}

/* Paused, there is no sound to come. */
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
