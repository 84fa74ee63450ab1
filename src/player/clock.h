/*
 * The player's time: the current position, when a frame is due, and delay statistics.
 *
 * Plain data and pure functions, for one thread. Times are microseconds of clock_now(); positions
 * are microseconds from the start of the input.
 */
#ifndef LUMEQ_PLAYER_CLOCK_H
#define LUMEQ_PLAYER_CLOCK_H

#include <stdint.h>

/* The clock corrects larger offsets from the sound at once, smaller ones gradually. */
#define CLOCK_JUMP_US 25000

/* Maximum wait for the sound to begin. */
#define CLOCK_HOLD_US 500000

/* {.speed = 1} is a paused clock at 0. */
typedef struct Clock {
    int64_t time, position; /* the clock stands at `position` until `time`, then runs */
    double speed;           /* 1 = real time */
    int running;
} Clock;

/* Monotonic system time in microseconds. Thread-safe. */
int64_t clock_now(void);

/* Sets the position. `wait_for_sound`: the clock stands until clock_follow() is called, but at most
 * for CLOCK_HOLD_US. A paused clock stays paused. */
void clock_set(Clock *clock, int64_t now_us, int64_t position_us, int wait_for_sound);

void clock_set_speed(Clock *clock, int64_t now_us, double speed);

void clock_pause(Clock *clock, int64_t now_us, int paused);

/* Moves the clock towards the position of the audible sound. Call it repeatedly. */
void clock_follow(Clock *clock, int64_t now_us, int64_t sound_us);

int64_t clock_position(const Clock *clock, int64_t now_us);

/* Returns the real time until the clock reaches `position_us`; negative if it has passed. Assumes
 * that the clock runs. */
int64_t clock_until(const Clock *clock, int64_t now_us, int64_t position_us);

/* Value of SyncFrame.next: the next frame is not known yet. */
#define SYNC_NO_FRAME INT64_MIN

/* Without sound, a frame this far from the clock is shown at once. Its timestamps have jumped. */
#define SYNC_JUMP_US 60000000

typedef enum SyncAction {
    SYNC_WAIT, /* not due yet */
    SYNC_SHOW,
    SYNC_DROP, /* the next frame is already due: drop this one and ask about the next */
    SYNC_JUMP, /* call clock_set() with the frame's position, then show the frame */
} SyncAction;

/* Starts as {0}. */
typedef struct Sync {
    int64_t lead_us; /* set by the caller: time from the decision to the visible frame */
    int64_t shown, dropped;
    int64_t late; /* shown frames that were late by more than their duration */
} Sync;

typedef struct SyncFrame {
    int64_t position, duration; /* microseconds; duration 0: unknown */
    int64_t next;               /* position of the next queued frame, or SYNC_NO_FRAME */
} SyncFrame;

/* Decides what to do with the first queued frame and counts the decision. The only frame in the
 * queue is never dropped. After SYNC_WAIT, ask again in *wait_us (at most SYNC_MAX_WAIT_US), or
 * earlier if a frame, the clock or the sound changes. `by_sound`: the clock follows the sound, so
 * SYNC_JUMP is never returned. */
SyncAction sync_decide(Sync *sync, const Clock *clock, int64_t now_us, int by_sound,
                       const SyncFrame *frame, int64_t *wait_us);

#define SYNC_MAX_WAIT_US 100000

#define DELAY_MOST_MS 999 /* the last bucket counts delays of this or more */

/* Delay statistics. Starts as {0}. */
typedef struct Delay {
    int64_t count, sum, most;         /* sum and maximum in microseconds */
    int64_t by_ms[DELAY_MOST_MS + 1]; /* histogram in milliseconds */
} Delay;

void delay_note(Delay *delay, int64_t us);

/* Mean in milliseconds; 0 if no delay was noted. */
double delay_mean(const Delay *delay);

/* The quantile `share` (0..1) of the delays, in milliseconds: 0.95 is the 95th percentile. Rounded
 * up, at most DELAY_MOST_MS + 1; 0 if no delay was noted. */
double delay_share(const Delay *delay, double share);

#endif
