/*
 * Hours of playback in virtual time, with the player's clock, and a simulated sound device and
 * screen. When a frame becomes visible, the speaker must play sound of the same position, within
 * 40 ms. Samples carry their number, so the device knows the position of the sound that it plays.
 */
#include "check.h"

#include "player/clock.h"
#include "player/sound/audio_queue.h"

#include <math.h>

#define RATE 8000
#define BUFFER 170 /* 21 ms */
#define BLOCK 160
#define REFRESH_US (1e6 / 60)
#define DRAW_US 3000
#define AHEAD 4 /* frames to decode ahead */

#define MOST_OFF_MS 40.0
#define GRACE_US 100000 /* after an interruption, until frames must be in sync */

#define PLAYED 8          /* number of buffers that the device keeps */
#define NUMBERS (1 << 16) /* block numbers repeat from 1; 0 is silence */

typedef struct Case {
    const char *name;
    double seconds, fps, drift, speed;
    int jitter_us, decode_us, slow_decode_us;
    int pauses, underruns, seeks, stalls, speeds; /* not 0: such events happen */
} Case;

typedef struct World {
    const Case *how;
    CheckRandom random;
    int64_t now;

    /* the device */
    AudioQueue *queue;
    float buffers[PLAYED][BUFFER * 2];
    double heard_from[PLAYED], period;
    int64_t asked;      /* buffers requested so far */
    double next_call;   /* time of the next request */
    double stalled_for; /* total time of stalls */
    int64_t silent_until;

    /* the sound */
    double sound_next, sound_speed; /* position and speed of the next block */
    int64_t positions[NUMBERS];     /* of each block's first sample */
    double worths[NUMBERS];         /* us of the film in each sample of the block */
    int running;
    int64_t pushed; /* blocks */
    int64_t starved_until;

    /* the pictures */
    Clock clock;
    Sync sync;
    int64_t first_frame, next_frame, decoded; /* frame numbers */
    double decoder_free;
    double speed;
    int arriving; /* no picture has been shown since the start */
    int64_t start;

    double worst_ms, sum_ms, lead;
    int64_t compared;
} World;

static World world;

static double frame_position(const World *w, int64_t number)
{
    return (double)number * 1e6 / w->how->fps;
}

/* ---- the device ---- */

/* Fills the queue as the decoding thread does. */
static void decode_sound(World *w)
{
    while (w->running && w->now >= w->starved_until &&
           audio_queue_waiting(w->queue) < AUDIO_QUEUE_BLOCKS) {
        SoundBlock *block = audio_queue_room(w->queue);
        const int number = (int)(w->pushed++ % (NUMBERS - 1)) + 1;
        block->count = BLOCK;
        block->position = llrint(w->sound_next);
        block->worth = w->sound_speed * 1e6 / RATE;
        w->positions[number] = block->position;
        w->worths[number] = block->worth;
        for (int i = 0; i < BLOCK; i++) {
            block->samples[2 * i] = (float)number / NUMBERS;
            block->samples[2 * i + 1] = (float)i / NUMBERS;
        }
        audio_queue_push(w->queue);
        w->sound_next += BLOCK * block->worth;
    }
}

/* The device requests a buffer, which it plays one period after the request was due. */
static void ask(World *w)
{
    float *samples = w->buffers[w->asked % PLAYED];
    decode_sound(w);
    audio_queue_take(w->queue, samples, BUFFER, w->now);
    decode_sound(w);
    const double due = (double)w->asked * w->period + w->stalled_for;
    w->heard_from[w->asked % PLAYED] = due + w->period;
    w->asked++;
    w->next_call = due + w->period + check_below(&w->random, w->how->jitter_us + 1);
}

/* Finds the position of the sample that leaves the speaker at this time. Returns 0 in silence. */
static int speaker(const World *w, double time, double *position)
{
    for (int64_t n = w->asked - 1; n >= 0 && n > w->asked - PLAYED; n--) {
        const double into = time - w->heard_from[n % PLAYED];
        const int sample = (int)(into * BUFFER / w->period);
        if (into < 0 || sample >= BUFFER)
            continue;
        const float *values = &w->buffers[n % PLAYED][2 * sample];
        const int number = (int)lrintf(values[0] * NUMBERS);
        *position = (double)w->positions[number] + lrintf(values[1] * NUMBERS) * w->worths[number];
        return number != 0;
    }
    return 0;
}

/* Advances the time and runs the device. */
static void pass(World *w, double until)
{
    while (w->next_call <= until) {
        w->now = (int64_t)w->next_call;
        ask(w);
        double position;
        if (!speaker(w, (double)w->now, &position))
            w->silent_until = w->now;
    }
    w->now = (int64_t)until;
}

/* ---- the player ---- */

static void start_at(World *w, double position)
{
    audio_queue_stop(w->queue);
    audio_queue_start(w->queue);
    w->pushed = 0;
    w->running = 1;
    w->sound_next = position;
    w->sound_speed = w->speed;
    w->next_frame = w->decoded = (int64_t)floor(position * w->how->fps / 1e6);
    w->start = llrint(position);
    w->decoder_free = (double)w->now + 40000;
    w->arriving = 1;
    audio_queue_pause(w->queue, 1, w->now);
    clock_pause(&w->clock, w->now, 1);
    w->silent_until = w->now;
}

/* The first picture after a start starts the clock. */
static void arrive(World *w)
{
    w->arriving = 0;
    clock_set(&w->clock, w->now, w->start, 1);
    clock_pause(&w->clock, w->now, 0);
    audio_queue_pause(w->queue, 0, w->now);
}

/* Decodes pictures while there is room for them. */
static void decode_pictures(World *w)
{
    while (w->decoded < w->next_frame + AHEAD && w->decoder_free <= (double)w->now) {
        const int slow = check_below(&w->random, 100) == 0;
        const int most = slow ? w->how->slow_decode_us : w->how->decode_us;
        w->decoded++;
        w->decoder_free = fmax(w->decoder_free, (double)w->now - w->how->decode_us) +
                          check_below(&w->random, most + 1);
    }
}

static void compare(World *w, int64_t number, double time)
{
    double heard;
    if (!speaker(w, time, &heard) || time < (double)w->silent_until + GRACE_US)
        return;
    /* a seek may start in the middle of a frame */
    const double position = fmax(frame_position(w, number), (double)w->start);
    const double off = (position - heard) / w->speed / 1e3;
    w->compared++;
    w->sum_ms += off;
    if (fabs(off) > fabs(w->worst_ms))
        w->worst_ms = off;
    CHECK(fabs(off) <= MOST_OFF_MS, "%s: at %.3f s the frame is off by %.1f ms", w->how->name,
          time / 1e6, off);
}

/* Draws, and waits for the screen's refresh. */
static void show(World *w)
{
    const int64_t number = w->next_frame++;
    const double drawn = (double)w->now + DRAW_US;
    const double seen = ceil(drawn / REFRESH_US) * REFRESH_US;
    pass(w, seen);
    compare(w, number, seen);
}

static void step(World *w)
{
    int64_t heard, wait = 1000;
    decode_pictures(w);
    const int by_sound = audio_queue_position(w->queue, w->now, &heard);
    if (by_sound)
        clock_follow(&w->clock, w->now, heard);
    if (w->next_frame == w->decoded) {
        pass(w, fmax(w->decoder_free, (double)w->now + 1));
        return;
    }
    if (w->arriving)
        arrive(w);
    const SyncFrame frame = {
        .position = llrint(frame_position(w, w->next_frame)),
        .duration = llrint(1e6 / w->how->fps),
        .next = w->next_frame + 1 < w->decoded ? llrint(frame_position(w, w->next_frame + 1))
                                               : SYNC_NO_FRAME,
    };
    switch (sync_decide(&w->sync, &w->clock, w->now, by_sound, &frame, &wait)) {
    case SYNC_WAIT: pass(w, (double)w->now + (double)wait); break;
    case SYNC_DROP: w->next_frame++; break;
    case SYNC_JUMP: CHECK(0, "%s: the clock jumps", w->how->name); break;
    case SYNC_SHOW: show(w); break;
    }
}

/* ---- events ---- */

static void pause_for_a_while(World *w)
{
    audio_queue_pause(w->queue, 1, w->now);
    clock_pause(&w->clock, w->now, 1);
    pass(w, (double)w->now + 20000 + check_below(&w->random, 3000000));
    audio_queue_pause(w->queue, 0, w->now);
    clock_pause(&w->clock, w->now, 0);
}

/* The device neither requests nor plays for a while; pictures continue. */
static void stall(World *w)
{
    const double length = 700000 + check_below(&w->random, 3000000);
    w->next_call += length;
    w->stalled_for += length;
    w->silent_until = w->now + (int64_t)length + GRACE_US;
}

static void change_speed(World *w)
{
    static const double speeds[] = {0.25, 0.5, 1, 1.5, 2, 4};
    w->speed = w->sound_speed = speeds[check_below(&w->random, 6)];
    clock_set_speed(&w->clock, w->now, w->speed);
    w->silent_until = w->now + 300000; /* blocks that are already decoded have the old speed */
}

static void make_event(World *w)
{
    const Case *c = w->how;
    const int what = check_below(&w->random, 5);
    if (what == 0 && c->pauses)
        pause_for_a_while(w);
    else if (what == 1 && c->underruns)
        w->starved_until = w->now + 220000 + check_below(&w->random, 400000);
    else if (what == 2 && c->seeks)
        start_at(w, check_below(&w->random, 7200) * 1e6 + check_below(&w->random, 1000000));
    else if (what == 3 && c->stalls)
        stall(w);
    else if (what == 4 && c->speeds && w->next_call < (double)w->now + w->period)
        change_speed(w);
}

static void play(const Case *how)
{
    World *w = &world;
    memset(w, 0, sizeof(*w));
    w->how = how;
    w->random = check_random(3);
    w->queue = audio_queue_create(RATE, 2, BUFFER, BLOCK);
    w->period = 1e6 * BUFFER / (RATE * (1 + how->drift));
    w->speed = w->clock.speed = how->speed;
    w->sync.lead_us = DRAW_US + (int64_t)(REFRESH_US / 2);
    pass(w, 1e6);
    start_at(w, 0);
    double next_event = 5e6;
    while ((double)w->now < how->seconds * 1e6 / check_share()) {
        step(w);
        if ((double)w->now > next_event) {
            make_event(w);
            next_event = (double)w->now + 1e6 + check_below(&w->random, 8000000);
        }
    }
    printf("%s: off by %.1f ms at most, %.1f on average; %lld of %lld frames compared; "
           "%lld dropped, %lld late, %lld underruns\n",
           how->name, w->worst_ms, w->sum_ms / (double)w->compared, (long long)w->compared,
           (long long)w->sync.shown, (long long)w->sync.dropped, (long long)w->sync.late,
           (long long)audio_queue_underruns(w->queue));
    CHECK(w->compared > w->sync.shown / 2, "%s: only %lld of %lld frames were compared", how->name,
          (long long)w->compared, (long long)w->sync.shown);
    audio_queue_free(&w->queue);
}

static const Case usual = {.seconds = 1200,
                           .fps = 24000 / 1001.0,
                           .drift = -1e-3,
                           .speed = 1,
                           .jitter_us = 8000,
                           .decode_us = 12000,
                           .slow_decode_us = 25000};

TEST(two_hours)
{
    static const double rates[] = {24000 / 1001.0, 30000 / 1001.0, 60};
    for (int i = 0; i < 3; i++) {
        char name[64];
        Case c = usual;
        c.name = name;
        c.seconds = 7200;
        c.fps = rates[i];
        c.drift = i ? 1e-3 : -1e-3;
        snprintf(name, sizeof(name), "%.3f frames/s, device %+.1f %%", c.fps, c.drift * 100);
        play(&c);
        CHECK(world.sync.dropped < world.sync.shown / 100, "%s: %lld frames dropped", name,
              (long long)world.sync.dropped);
    }
}

TEST(other_speeds)
{
    static const double list[] = {0.25, 0.5, 2, 4};
    for (int i = 0; i < 4; i++) {
        char name[64];
        Case c = usual;
        c.name = name;
        c.fps = 30000 / 1001.0;
        c.drift = 1e-3;
        c.speed = list[i];
        c.decode_us = 5000;
        c.slow_decode_us = 20000;
        snprintf(name, sizeof(name), "speed %g", list[i]);
        play(&c);
    }
}

TEST(interrupted)
{
    static const char *const names[] = {
        "pauses", "running dry", "seeks", "a device that stalls", "changing speed", "all of it"};
    for (int i = 0; i < 6; i++) {
        Case c = usual;
        c.name = names[i];
        c.pauses = i == 0 || i == 5;
        c.underruns = i == 1 || i == 5;
        c.seeks = i == 2 || i == 5;
        c.stalls = i == 3 || i == 5;
        c.speeds = i >= 4;
        play(&c);
    }
}

TEST_MAIN
