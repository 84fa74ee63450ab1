/* The queue between sound decoder and device: which samples the device gets, and the position
 * heard. */
#include "check.h"

#include "player/sound/audio_queue.h"

#include <math.h>

#define RATE 48000
#define BUFFER 960 /* 20 ms */
#define BLOCK 960
#define MS 1000LL

static float out[BUFFER];

static AudioQueue *create(void)
{
    AudioQueue *q = audio_queue_create(RATE, 1, BUFFER, BLOCK);
    if (!q)
        exit(1);
    return q;
}

/* Pushes a block with one value in all samples. */
static void push(AudioQueue *q, int64_t position, float value)
{
    SoundBlock *block = audio_queue_room(q);
    block->count = BLOCK;
    block->position = position;
    block->worth = 1e6 / RATE;
    for (int i = 0; i < BLOCK; i++)
        block->samples[i] = value;
    audio_queue_push(q);
}

static void push_some(AudioQueue *q, int64_t position, float value, int count)
{
    for (int i = 0; i < count; i++)
        push(q, position + i * 20 * MS, value);
}

/* Takes a buffer. Returns its last sample, or NAN if a sample is invalid. */
static double take(AudioQueue *q, int64_t now)
{
    for (int i = 0; i < BUFFER; i++)
        out[i] = NAN;
    audio_queue_take(q, out, BUFFER, now);
    for (int i = 0; i < BUFFER; i++)
        if (!(out[i] >= -1 && out[i] <= 1))
            return NAN;
    return out[BUFFER - 1];
}

static int is_at(AudioQueue *q, int64_t now, int64_t expected)
{
    int64_t position = -1;
    const int known = audio_queue_position(q, now, &position);
    return CHECK(known && llabs(position - expected) <= 30,
                 "at %lld us: position %s %lld, not %lld", (long long)now,
                 known ? "known" : "not known", (long long)position, (long long)expected);
}

static int is_unknown(AudioQueue *q, int64_t now)
{
    int64_t position = -1;
    return CHECK(!audio_queue_position(q, now, &position), "at %lld us: known, %lld",
                 (long long)now, (long long)position);
}

TEST(positions)
{
    FREED_BY(audio_queue_free) AudioQueue *q = create();
    is_unknown(q, 0);
    take(q, 0);
    is_unknown(q, 10 * MS);
    audio_queue_start(q);
    push_some(q, 5000 * MS, 0.5f, 5);
    take(q, 20 * MS); /* heard from 40 ms on */
    is_unknown(q, 30 * MS);
    take(q, 40 * MS);
    is_at(q, 41 * MS, 5001 * MS);
    is_at(q, 50 * MS, 5010 * MS);
    take(q, 60 * MS);
    take(q, 80 * MS);
    take(q, 100 * MS);
    is_at(q, 110 * MS, 5070 * MS);
    CHECK(audio_queue_underruns(q) == 0, "the queue has run dry");
    CHECK(!audio_queue_is_over(q, 110 * MS), "the sound is over");
    CHECK(take(q, 120 * MS) == 0, "samples are left");
    CHECK(audio_queue_underruns(q) == 1, "the queue has not run dry");
    take(q, 140 * MS);
    is_unknown(q, 145 * MS);
    push_some(q, 5100 * MS, 0.5f, 3);
    take(q, 160 * MS);
    is_unknown(q, 165 * MS);
    is_at(q, 181 * MS, 5101 * MS);
    audio_queue_end(q);
    take(q, 180 * MS);
    take(q, 200 * MS);
    CHECK(!audio_queue_is_over(q, 230 * MS), "the sound is over before all was heard");
    take(q, 220 * MS);
    take(q, 240 * MS);
    CHECK(audio_queue_is_over(q, 250 * MS), "the sound is not over after all was heard");
    CHECK(audio_queue_underruns(q) == 1, "the end counts as running dry");
}

TEST(nothing_stale_is_heard)
{
    FREED_BY(audio_queue_free) AudioQueue *q = create();
    audio_queue_start(q);
    push_some(q, 0, 0.5f, 10);
    CHECK(fabs(take(q, 0) - 0.5) < 1e-6, "no sound is played");
    audio_queue_stop(q);
    CHECK(audio_queue_room(q) == NULL, "the queue has room after a stop");
    CHECK(take(q, 20 * MS) == 0, "sound is played after a stop");
    is_unknown(q, 25 * MS);
    is_unknown(q, 400 * MS);
    audio_queue_start(q);
    is_unknown(q, 400 * MS);
    CHECK(take(q, 40 * MS) == 0, "old samples are played");
    push_some(q, 9000 * MS, 0.25f, 3);
    CHECK(fabs(take(q, 60 * MS) - 0.25) < 1e-6 && fabs(out[0] - 0.25) < 1e-6,
          "the new sound is not played");
    is_unknown(q, 70 * MS);
    is_at(q, 85 * MS, 9005 * MS);
}

TEST(pause_and_volume)
{
    FREED_BY(audio_queue_free) AudioQueue *q = create();
    audio_queue_start(q);
    push_some(q, 0, 0.5f, 10);
    take(q, 0);
    audio_queue_pause(q, 1, 10 * MS);
    CHECK(take(q, 20 * MS) == 0 && out[0] == 0, "sound is played while paused");
    take(q, 40 * MS);
    is_unknown(q, 50 * MS);
    audio_queue_pause(q, 0, 50 * MS);
    CHECK(fabs(take(q, 60 * MS) - 0.5) < 1e-6, "the sound does not continue");
    is_at(q, 85 * MS, 25 * MS); /* the second block */
    audio_queue_gain(q, 0);
    CHECK(take(q, 80 * MS) == 0 && out[0] > 0.49, "the volume jumps");
    CHECK(take(q, 100 * MS) == 0 && out[0] == 0, "the sound is not silent");
    is_at(q, 110 * MS, 50 * MS); /* silent sound advances */
    audio_queue_gain(q, 0.5);
    take(q, 120 * MS);
    CHECK(fabs(take(q, 140 * MS) - 0.25) < 1e-6 && fabs(out[0] - 0.25) < 1e-6,
          "the volume is not half");
}

TEST(position_after_device_stall)
{
    FREED_BY(audio_queue_free) AudioQueue *q = create();
    audio_queue_start(q);
    push_some(q, 0, 0.5f, 10);
    take(q, 0);
    take(q, 20 * MS); /* the device's last request: 40 ms of sound, heard until 60 ms */
    is_at(q, 50 * MS, 30 * MS);
    is_at(q, 400 * MS, 40 * MS);
    is_unknown(q, 20 * MS + AUDIO_GONE_US + 1 * MS);
    is_unknown(q, 2000 * MS);
    /* At 520 ms, the position is 40 ms. Then it advances without the device: to 1540 ms at 2020 ms,
     * and to 1580 ms two buffers later. */
    CHECK(take(q, 2020 * MS) == 0, "samples for the time of the stall are played");
    for (int i = 10; i < 100; i++)
        if (audio_queue_waiting(q) < AUDIO_QUEUE_BLOCKS)
            push(q, i * 20 * MS, i < 79 ? 0.25f : 0.125f);
    CHECK(fabs(take(q, 2040 * MS) - 0.125) < 1e-6, "the sound continues at another position");
    is_at(q, 2061 * MS, 1581 * MS);
}

TEST(device_stall_while_paused_skips_nothing)
{
    FREED_BY(audio_queue_free) AudioQueue *q = create();
    audio_queue_start(q);
    push_some(q, 0, 0.5f, 10);
    take(q, 0);
    take(q, 20 * MS);
    audio_queue_pause(q, 1, 720 * MS); /* position 240 ms: 200 ms without the device */
    audio_queue_pause(q, 0, 60000 * MS);
    take(q, 60100 * MS); /* another 100 ms without the device */
    for (int i = 10; i < 30; i++)
        if (audio_queue_waiting(q) < AUDIO_QUEUE_BLOCKS)
            push(q, i * 20 * MS, 0.25f);
    take(q, 60120 * MS);
    is_at(q, 60141 * MS, 381 * MS);
}

TEST_MAIN
