/*
 * Where in the input the player is: where the sound is, as long as that is known, else where the
 * system's clock has come to since.
 *
 * Plain data and pure functions, for one thread; times are microseconds of clock_now(), positions
 * microseconds from the start of the input.
 */
#ifndef LUMEQ_PLAYER_CLOCK_H
#define LUMEQ_PLAYER_CLOCK_H

#include <stdint.h>

/* A clock that is further off the sound than this is put right at once: pictures that are shown
 * by it then stay within 40 ms of the sound. What is less is made up for, unseen. */
#define CLOCK_JUMP_US 25000

/* How long it waits at most for the sound to begin. */
#define CLOCK_HOLD_US 500000

/* {.speed = 1} is one that stands at 0, paused. */
typedef struct Clock {
    int64_t time, position; /* it was there then; a time to come: it waits there for the sound */
    double speed;           /* of the position, 1 = as fast as time passes */
    int running;
} Clock;

/* The time of the system, which never jumps. Any thread. */
int64_t clock_now(void);

/* Puts it to a position. `wait_for_sound`: it stands there until clock_follow() is called, or
 * CLOCK_HOLD_US have passed. It stays paused if it was. */
void clock_set(Clock *clock, int64_t now_us, int64_t position_us, int wait_for_sound);

void clock_set_speed(Clock *clock, int64_t now_us, double speed);

void clock_pause(Clock *clock, int64_t now_us, int paused);

/* The sound that is heard now has this position: to be called again and again as long as that is
 * known. */
void clock_follow(Clock *clock, int64_t now_us, int64_t sound_us);

int64_t clock_position(const Clock *clock, int64_t now_us);

/* How long it takes to a position, in microseconds of time; negative: it is past. As if it ran,
 * also when it is paused or waits for the sound, which may begin any moment. */
int64_t clock_until(const Clock *clock, int64_t now_us, int64_t position_us);

#endif
