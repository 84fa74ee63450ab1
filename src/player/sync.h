/*
 * When a decoded frame is to be shown, by the clock. Plain data and pure functions, for one thread.
 */
#ifndef LUMEQ_PLAYER_SYNC_H
#define LUMEQ_PLAYER_SYNC_H

#include "player/clock.h"

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

#endif
