/* Records ten minutes from a simulated microphone, which hears a beep at each flash of a camera.
 * The sound device's clock drifts, and its blocks come late, in bursts, or not at all. */
#include "media/output/live_sound.h"

#include <math.h>

#include <libavutil/avutil.h>

#include "check.h"

#define BLOCK 1024
#define EVERY_US 5000000 /* from one flash to the next */
#define BEEP_US 50000
#define FRAME_US 33367
#define BEGIN INT64_C(7000000000) /* time of the clock when the recording starts */
#define MAX_BEEPS 256
#define IN_SYNC_US 40000 /* people notice only larger offsets */

/* How a microphone behaves. */
typedef struct Device {
    double drift;              /* relative error of the clock */
    int jitter_us;             /* maximum lateness of a block */
    int64_t burst_every_us;    /* time from one burst to the next; 0: no bursts */
    int64_t burst_us;          /* duration of the blocks that come in a burst */
    int64_t starts_us;         /* from the start of the recording */
    int64_t gap_us, gap_until; /* nothing is captured between these times; 0: no gap */
} Device;

/* Beeps found in the recording. */
typedef struct Found {
    int64_t samples, beeps[MAX_BEEPS], quiet_since;
    int count;
} Found;

static int64_t jitter(int64_t block, int most)
{
    return most ? (int64_t)((uint64_t)block * UINT64_C(2654435761) >> 7) % most : 0;
}

static void search(Found *f, const AVPacket *packet)
{
    const float *samples = (const float *)(const void *)packet->data;
    CHECK(packet->pts == f->samples, "the packet begins at sample %lld, not %lld",
          (long long)packet->pts, (long long)f->samples);
    for (int64_t i = 0; i < packet->duration; i++, f->samples++) {
        if (fabsf(samples[i]) < 0.1F)
            continue;
        if (f->samples - f->quiet_since > LIVE_SOUND_RATE && f->count < MAX_BEEPS)
            f->beeps[f->count++] = av_rescale(f->samples, 1000000, LIVE_SOUND_RATE);
        f->quiet_since = f->samples;
    }
}

static void read_all(LiveSound *s, int64_t until, int end, AVPacket *packet, Found *f)
{
    while (live_sound_read(s, until, end, packet) >= 0) {
        search(f, packet);
        av_packet_unref(packet);
    }
}

/* The time of the device's sample, in microseconds from the start of the recording. */
static double time_of(const Device *d, int64_t sample)
{
    return (double)d->starts_us + (double)sample * 1e6 / (LIVE_SOUND_RATE * (1 + d->drift));
}

static int is_missing(const Device *d, double time)
{
    return d->gap_us && time >= (double)d->gap_us && time < (double)d->gap_until;
}

/* Adds the block that begins with sample `first`. `came`: the time at which the block came. */
static void add_block(LiveSound *s, const Device *d, int64_t first, int64_t came)
{
    float samples[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        const double beep = fmod(time_of(d, first + i), EVERY_US);
        samples[i] = beep >= 0 && beep < BEEP_US ? (float)(0.5 * cos(beep * 2e-3 * M_PI)) : 0;
    }
    live_sound_add(s, samples, BLOCK, BEGIN + came);
}

/* The time at which a block comes: its last sample's, delayed by jitter and bursts. */
static int64_t comes(const Device *d, int64_t first)
{
    const int64_t end = (int64_t)time_of(d, first + BLOCK), phase = FFABS(end);
    int64_t late = jitter(first / BLOCK, d->jitter_us);
    if (d->burst_every_us && phase % d->burst_every_us < d->burst_us)
        late = FFMAX(late, d->burst_us - phase % d->burst_every_us);
    return end + late;
}

static Found record(const Device *d, int64_t length_us)
{
    LiveSound *s = live_sound_create(1);
    AVPacket *packet = av_packet_alloc();
    Found f = {.quiet_since = -2 * LIVE_SOUND_RATE};
    int64_t first = 0, now = 0;
    live_sound_start(s, BEGIN);
    for (now = 0; now <= length_us; now += FRAME_US) {
        for (; comes(d, first) <= now; first += BLOCK)
            if (!is_missing(d, time_of(d, first)))
                add_block(s, d, first, comes(d, first));
        read_all(s, BEGIN + now, 0, packet, &f);
    }
    read_all(s, BEGIN + now, 1, packet, &f);
    const int64_t due = av_rescale(now, LIVE_SOUND_RATE, 1000000);
    CHECK(FFABS(f.samples - due) <= BLOCK, "%lld samples recorded, not %lld", (long long)f.samples,
          (long long)due);
    av_packet_free(&packet);
    live_sound_close(&s);
    return f;
}

/* Checks that each flash has its beep, except from `from` to `to`. */
static void is_in_sync(const Found *f, int64_t from, int64_t to, int64_t length, int64_t limit)
{
    int at = 0;
    int64_t worst = 0;
    for (int64_t flash = 0; flash < length - BEEP_US; flash += EVERY_US) {
        if (flash >= from && flash < to)
            continue;
        while (at < f->count && f->beeps[at] < flash - EVERY_US / 2)
            at++;
        const int64_t off = at < f->count ? f->beeps[at] - flash : EVERY_US;
        worst = FFMAX(worst, FFABS(off));
        CHECK(FFABS(off) <= limit, "the beep of %lld s is off by %lld ms",
              (long long)flash / 1000000, (long long)off / 1000);
    }
    printf("    %d beeps, off by %.1f ms at most\n", f->count, (double)worst * 1e-3);
}

static const int64_t ten_minutes = 600000000;

TEST(drifting_clocks)
{
    for (int sign = -1; sign <= 1; sign++) {
        const Device d = {.drift = sign * 100e-6, .jitter_us = 15000, .starts_us = -300000};
        const Found f = record(&d, ten_minutes);
        is_in_sync(&f, 0, 0, ten_minutes, 10000);
    }
}

TEST(bursts)
{
    const Device d = {.drift = -100e-6,
                      .jitter_us = 5000,
                      .burst_every_us = 7000000,
                      .burst_us = 600000,
                      .starts_us = -100000};
    const Found f = record(&d, ten_minutes);
    is_in_sync(&f, 0, 0, ten_minutes, IN_SYNC_US);
}

static Found record_losing(int64_t lost_us, int64_t at_us, int64_t length)
{
    Device d = {.drift = 50e-6, .jitter_us = 10000, .starts_us = -100000, .gap_us = at_us};
    d.gap_until = at_us + lost_us;
    return record(&d, length);
}

TEST(gaps_become_silence)
{
    static const int64_t lost[] = {30000, 200000, 3000000, 70000000};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        const int64_t from = 61000000, to = from + lost[i];
        const Found f = record_losing(lost[i], from, 180000000);
        is_in_sync(&f, from, to, 180000000, IN_SYNC_US);
    }
}

TEST(a_late_start_and_an_early_end)
{
    const Device late = {.jitter_us = 10000, .starts_us = 3200000};
    const Found f = record(&late, 60000000);
    is_in_sync(&f, 0, late.starts_us, 60000000, IN_SYNC_US);
    const Device gone = {.jitter_us = 10000, .gap_us = 20100000, .gap_until = INT64_MAX};
    const Found g = record(&gone, 60000000);
    is_in_sync(&g, gone.gap_us, INT64_MAX, 60000000, IN_SYNC_US);
    const Device never = {.starts_us = INT64_C(1) << 40};
    CHECK(record(&never, 10000000).count == 0, "a device that never starts has sound");
}

TEST(level)
{
    LiveSound *s = live_sound_create(2);
    const float loud[] = {0, 0.5F, -0.25F, 0};
    CHECK(live_sound_level(s) == 0 && live_sound_time(s) == AV_NOPTS_VALUE, "sound at first");
    live_sound_add(s, loud, 2, 1000);
    CHECK(live_sound_level(s) == 0.5 && live_sound_time(s) == 1000, "wrong time, or level %g",
          live_sound_level(s));
    live_sound_close(&s);
}

TEST_MAIN
