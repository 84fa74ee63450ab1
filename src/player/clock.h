/*
 * The time of the player: where in the input it is, when a frame is to be shown by that, and how
 * long things took. Plain data and pure functions, for one thread; times are microseconds of
 * clock_now(), positions microseconds from the start of the input.
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

/* No frame follows yet. */
#define SYNC_NO_FRAME INT64_MIN

/* A frame this far from where the clock is does not wait for its time: timestamps have jumped. */
#define SYNC_JUMP_US 60000000

typedef enum SyncAction {
    SYNC_WAIT, /* it is not due yet */
    SYNC_SHOW,
    SYNC_DROP, /* the next one is due already: leave it out and ask again about that one */
    SYNC_JUMP, /* clock_set() to its position, then show it */
} SyncAction;

/* {0} to begin with. */
typedef struct Sync {
    int64_t lead_us; /* the caller's: how long it takes from the answer until a frame is seen */
    int64_t shown, dropped;
    int64_t late; /* of those shown: by more than their own duration */
} Sync;

typedef struct SyncFrame {
    int64_t position, duration; /* microseconds; the duration is 0 where it is not known */
    int64_t next;               /* position of the frame after it in the queue, SYNC_NO_FRAME */
} SyncFrame;

/*
 * What to do with the first frame in the queue, now. The only frame there is is never dropped. What
 * it answers is counted: a frame is to be shown or dropped then. With SYNC_WAIT, *wait_us (else 0)
 * is how long that is, at most SYNC_MAX_WAIT_US: ask again then, or when a frame, the clock or the
 * sound has changed. `by_sound`: the clock follows sound, which knows the time better than jumping
 * timestamps of frames do.
 */
SyncAction sync_decide(Sync *sync, const Clock *clock, int64_t now_us, int by_sound,
                       const SyncFrame *frame, int64_t *wait_us);

#define SYNC_MAX_WAIT_US 100000

/* {0} is none yet. */
#define DELAY_MOST_MS 999 /* and more */
typedef struct Delay {
    int64_t count, sum, most;         /* microseconds */
    int64_t by_ms[DELAY_MOST_MS + 1]; /* how many took so long */
} Delay;

void delay_note(Delay *delay, int64_t us);

/* Milliseconds; 0: there were none. */
double delay_mean(const Delay *delay);

/* What this share of them has not exceeded. */
double delay_share(const Delay *delay, double share);

#endif
