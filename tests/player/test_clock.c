/* Compares the clock, and which frames are shown, dropped or delayed, with values found by hand. */
#include "check.h"

#include "player/clock.h"

#define S 1000000LL

static const Clock new_clock = {.speed = 1};

static void at(const Clock *clock, int64_t now, int64_t expected, const char *what)
{
    const int64_t position = clock_position(clock, now);
    CHECK(llabs(position - expected) <= 1, "%s: at %lld, the position is %lld, not %lld", what,
          (long long)now, (long long)position, (long long)expected);
}

TEST(runs_and_pauses)
{
    Clock c = new_clock;
    clock_set(&c, 10 * S, 3 * S, 0);
    at(&c, 20 * S, 3 * S, "paused");
    clock_pause(&c, 20 * S, 0);
    at(&c, 20 * S, 3 * S, "begins");
    at(&c, 25 * S, 8 * S, "runs");
    clock_set_speed(&c, 25 * S, 0.25);
    at(&c, 25 * S, 8 * S, "slower");
    at(&c, 29 * S, 9 * S, "slow");
    clock_set_speed(&c, 29 * S, 4);
    at(&c, 30 * S, 13 * S, "fast");
    clock_pause(&c, 30 * S, 1);
    at(&c, 99 * S, 13 * S, "paused again");
    clock_pause(&c, 99 * S, 1);
    at(&c, 99 * S, 13 * S, "paused twice");
    clock_pause(&c, 100 * S, 0);
    clock_pause(&c, 101 * S, 0);
    at(&c, 102 * S, 21 * S, "runs on");
    clock_set(&c, 102 * S, 50 * S, 0);
    at(&c, 103 * S, 54 * S, "elsewhere");
}

TEST(waits_for_sound)
{
    Clock c = new_clock;
    clock_pause(&c, 0, 0);
    clock_set(&c, 0, 7 * S, 1);
    at(&c, S / 10, 7 * S, "waits");
    CHECK(clock_until(&c, S / 10, 7 * S) == 0, "the current frame is not due");
    CHECK(clock_until(&c, S / 10, 8 * S) == S, "the next frame is not due in 1 s");
    clock_follow(&c, S / 10, 7 * S + 100);
    at(&c, S / 10, 7 * S + 100, "the sound begins");
    at(&c, S / 10 + 5000, 7 * S + 5100, "runs with it");

    clock_set(&c, S, 7 * S, 1);
    at(&c, S + CLOCK_HOLD_US, 7 * S, "waits");
    at(&c, 2 * S + CLOCK_HOLD_US, 8 * S, "runs without sound");
    clock_set_speed(&c, 2 * S + CLOCK_HOLD_US, 2);
    at(&c, 3 * S + CLOCK_HOLD_US, 10 * S, "runs faster without sound");
}

TEST(waits_while_paused)
{
    Clock c = new_clock;
    clock_set(&c, 0, 7 * S, 1);
    clock_pause(&c, 100 * S, 0);
    at(&c, 100 * S + CLOCK_HOLD_US / 2, 7 * S, "waits after the pause");
    clock_pause(&c, 100 * S + CLOCK_HOLD_US / 2, 1);
    clock_set_speed(&c, 150 * S, 2);
    clock_pause(&c, 200 * S, 0);
    at(&c, 200 * S + CLOCK_HOLD_US, 7 * S, "waits again");
    at(&c, 201 * S + CLOCK_HOLD_US, 9 * S, "stops waiting");
}

TEST(large_steps_are_taken_at_once)
{
    Clock c = new_clock;
    clock_pause(&c, 0, 0);
    clock_follow(&c, S, S + CLOCK_JUMP_US + 1000);
    at(&c, S, S + CLOCK_JUMP_US + 1000, "ahead");
    clock_follow(&c, 2 * S, 5);
    at(&c, 2 * S, 5, "back");
    clock_set_speed(&c, 2 * S, 4);
    clock_follow(&c, 3 * S, 5 + 4 * S + 2 * CLOCK_JUMP_US); /* CLOCK_JUMP_US / 2 at speed 4 */
    CHECK(clock_position(&c, 3 * S) < 5 + 4 * S + CLOCK_JUMP_US, "a small step is taken at once");
    Clock paused = new_clock;
    clock_follow(&paused, S, S);
    at(&paused, S, 0, "does not follow while paused");
}

static SyncAction decide(Sync *sync, const Clock *clock, int64_t position, int64_t next,
                         int64_t *wait)
{
    const SyncFrame frame = {position, 40000, next};
    return sync_decide(sync, clock, 0, 1, &frame, wait);
}

/* A clock that is at 1 s at time 0. */
static Clock clock_at_one(double speed)
{
    Clock c = {.speed = speed};
    clock_set(&c, 0, S, 0);
    clock_pause(&c, 0, 0);
    return c;
}

TEST(frames_in_time)
{
    Clock c = clock_at_one(1);
    Sync sync = {0};
    int64_t wait = -1;
    CHECK(decide(&sync, &c, S + 30000, SYNC_NO_FRAME, &wait) == SYNC_WAIT && wait == 30000,
          "an early frame waits %lld us", (long long)wait);
    CHECK(decide(&sync, &c, S + 30 * S, SYNC_NO_FRAME, &wait) == SYNC_WAIT &&
              wait == SYNC_MAX_WAIT_US,
          "a very early frame waits %lld us", (long long)wait);
    CHECK(decide(&sync, &c, S, S + 40000, &wait) == SYNC_SHOW && wait == 0, "a due frame waits");
    CHECK(decide(&sync, &c, S - 39000, S + 1000, &wait) == SYNC_SHOW, "a late frame is not shown");
    CHECK(decide(&sync, &c, S - 44900, S - 4900, &wait) == SYNC_SHOW, "dropped too early");
    CHECK(sync.shown == 3 && sync.dropped == 0 && sync.late == 1, "%d shown, %d dropped, %d late",
          (int)sync.shown, (int)sync.dropped, (int)sync.late);
    CHECK(decide(&sync, &c, S - 45000, S - 5000, &wait) == SYNC_DROP, "not dropped in time");
    CHECK(decide(&sync, &c, S - 5 * S, SYNC_NO_FRAME, &wait) == SYNC_SHOW, "last one dropped");
    CHECK(decide(&sync, &c, S, S, &wait) == SYNC_DROP, "a frame with the next one's time is shown");
    CHECK(sync.shown == 4 && sync.dropped == 2 && sync.late == 2, "%d shown, %d dropped, %d late",
          (int)sync.shown, (int)sync.dropped, (int)sync.late);

    sync.lead_us = 8000;
    CHECK(decide(&sync, &c, S + 30000, SYNC_NO_FRAME, &wait) == SYNC_WAIT && wait == 22000,
          "with a lead of 8 ms, an early frame waits %lld us", (long long)wait);
    CHECK(decide(&sync, &c, S + 8000, SYNC_NO_FRAME, &wait) == SYNC_SHOW, "the lead is ignored");
}

TEST(jumping_frames)
{
    Clock c = clock_at_one(1);
    Sync sync = {0};
    int64_t wait = 0;
    const int64_t far = SYNC_JUMP_US + 2 * S;
    const SyncFrame ahead = {far, 40000, SYNC_NO_FRAME}, back = {-far, 40000, -far + 40000};
    const SyncFrame slide = {far, 60 * S, SYNC_NO_FRAME};
    CHECK(sync_decide(&sync, &c, 0, 0, &ahead, &wait) == SYNC_JUMP, "no jump ahead");
    CHECK(sync_decide(&sync, &c, 0, 0, &back, &wait) == SYNC_JUMP, "no jump back");
    CHECK(sync_decide(&sync, &c, 0, 0, &slide, &wait) == SYNC_WAIT, "a long slide is not awaited");
    CHECK(sync_decide(&sync, &c, 0, 1, &ahead, &wait) == SYNC_WAIT, "the sound is not awaited");
    CHECK(sync_decide(&sync, &c, 0, 1, &back, &wait) == SYNC_DROP, "not dropped for the sound");
    CHECK(sync.shown == 2, "%d shown", (int)sync.shown);
}

TEST_MAIN
