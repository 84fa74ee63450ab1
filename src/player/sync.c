#include "player/sync.h"

/* A frame is dropped only when the next one is overdue by this part of what lies between them, and
 * by no more than so long: where frames come as fast as the screen shows them, jitter would drop
 * one now and show another twice then. */
#define OVERDUE_PART 8
#define MAX_OVERDUE_US 5000

static int has_jumped(const Clock *clock, int64_t now, const SyncFrame *frame)
{
    const int64_t off = frame->position - clock_position(clock, now);
    return off > SYNC_JUMP_US + frame->duration || off < -SYNC_JUMP_US - frame->duration;
}

/* Whether the frame, due for `late` microseconds, comes too late as the next one is due as well. */
static int is_overdue(const Clock *clock, const SyncFrame *frame, int64_t late)
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
    *wait_us = 0;
    if (!by_sound && has_jumped(clock, now, frame)) {
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
