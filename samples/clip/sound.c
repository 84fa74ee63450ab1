// Wind and a far bell over the valley; a clock, mains hum and the wick in the room; surf and a
// fog horn at sea; under each scene a soft chord.
#include "sound.h"

#include <stdlib.h>

#include "noise.h"

enum { RATE = 48000, CHANNELS = 2 };
static const float turn = 6.2831853f;

typedef struct Track {
    float *samples;
    int count;
} Track;

// A band of filtered noise (a state variable filter).
typedef struct Band {
    Random random;
    float low, band;
} Band;

static float band_next(Band *b, float hertz, float narrow)
{
    const float f = 2 * sinf(0.5f * turn * hertz / RATE);
    const float high = random_in(&b->random, -1, 1) - b->low - narrow * b->band;
    b->band += f * high;
    b->low += f * b->band;
    return b->low;
}

// Rises after `from` and falls before `to`, each within `ramp` seconds.
static float span(float t, float from, float to, float ramp)
{
    return smoothstep(from - 0.5f * ramp, from + 0.5f * ramp, t) *
           smoothstep(to + 0.5f * ramp, to - 0.5f * ramp, t);
}

static void put(Track *track, int at, float left, float right)
{
    track->samples[CHANNELS * at] += left;
    track->samples[CHANNELS * at + 1] += right;
}

static void add_wind(Track *track, float from, float to, float level)
{
    Band left = {.random = {11}}, right = {.random = {23}};
    for (int i = 0; i < track->count; i++) {
        const float t = (float)i / RATE, gain = level * span(t, from, to, 0.12f);
        const float gust = fbm2(0.7f * t, 3, 4), other = fbm2(0.7f * t + 0.4f, 8, 4);
        const float l = band_next(&left, 180 + 620 * gust, 0.55f) * gust;
        const float r = band_next(&right, 180 + 620 * other, 0.55f) * other;
        put(track, i, gain * l, gain * r);
    }
}

static void add_surf(Track *track, float from, float to, float level)
{
    Band left = {.random = {31}}, right = {.random = {47}};
    for (int i = 0; i < track->count; i++) {
        const float t = (float)i / RATE, gain = level * span(t, from, to, 0.5f);
        const float swell = 0.5f + 0.5f * sinf(turn * (t - from) / 2.9f - 1.2f);
        const float late = 0.5f + 0.5f * sinf(turn * (t - from) / 2.9f - 1.9f);
        const float l =
            band_next(&left, 350 + 2300 * swell * swell, 1.2f) * (0.25f + swell * swell);
        const float r = band_next(&right, 350 + 2300 * late * late, 1.2f) * (0.25f + late * late);
        put(track, i, gain * l, gain * r);
    }
}

static void add_chord(Track *track, float from, float to, const float hertz[4], float level)
{
    for (int i = 0; i < track->count; i++) {
        const float t = (float)i / RATE, gain = level * span(t, from + 0.3f, to - 0.1f, 0.8f);
        float left = 0, right = 0;
        for (int k = 0; k < 4 && gain > 0; k++) {
            const float beat = 0.75f + 0.25f * sinf(turn * (0.21f + 0.07f * (float)k) * t);
            left += beat * sinf(turn * fmodf(hertz[k] * t, 1));
            right += beat * sinf(turn * fmodf(hertz[k] * 1.0024f * t + 0.2f, 1));
        }
        put(track, i, gain * left, gain * right);
    }
}

static void add_bell(Track *track, float at, float hertz, float level)
{
    static const float partials[5][3] = {{0.5f, 0.5f, 2.2f},
                                         {1, 1, 1.5f},
                                         {1.19f, 0.55f, 1.1f},
                                         {2, 0.4f, 0.8f},
                                         {2.74f, 0.2f, 0.5f}};
    for (int i = (int)(at * RATE); i < track->count; i++) {
        const float t = (float)i / RATE - at;
        float sum = 0;
        for (int k = 0; k < 5; k++) {
            sum += partials[k][1] * expf(-t / (0.5f * partials[k][2])) *
                   sinf(turn * fmodf(hertz * partials[k][0] * t, 1));
        }
        const float gain = level * smoothstep(0, 0.006f, t);
        put(track, i, 0.7f * gain * sum, gain * sum);
    }
}

static void add_clock(Track *track, float from, float to, float level)
{
    Random random = {5};
    for (int beat = 0; from + 0.25f + 0.5f * (float)beat < to; beat++) {
        const int start = (int)((from + 0.25f + 0.5f * (float)beat) * RATE);
        const float pitch = beat % 2 ? 1750 : 2150;
        for (int i = 0; i < RATE / 25 && start + i < track->count; i++) {
            const float t = (float)i / RATE;
            const float wood = sinf(turn * pitch * t) + 0.6f * random_in(&random, -1, 1);
            const float tick = level * wood * expf(-t / 0.004f);
            put(track, start + i, tick, 0.6f * tick);
        }
    }
}

static void add_hum(Track *track, float from, float to, float level)
{
    Band air = {.random = {71}};
    for (int i = 0; i < track->count; i++) {
        const float t = (float)i / RATE, gain = level * span(t, from, to, 0.1f);
        const float mains = sinf(turn * fmodf(50 * t, 1)) + 0.5f * sinf(turn * fmodf(100 * t, 1));
        const float both = 0.35f * mains + 0.8f * band_next(&air, 260, 1.4f);
        put(track, i, gain * both, gain * both);
    }
}

static void add_horn(Track *track, float from, float to, float level)
{
    for (int i = (int)((from - 0.4f) * RATE); i < track->count; i++) {
        const float t = (float)i / RATE, gain = level * span(t, from, to, 0.35f);
        const float tone = sinf(turn * fmodf(98 * t, 1)) + 0.4f * sinf(turn * fmodf(196 * t, 1)) +
                           0.15f * sinf(turn * fmodf(294 * t, 1));
        put(track, i, gain * tone, 0.6f * gain * tone);
    }
}

static void compose(Track *track, float end, float room, float sea)
{
    static const float morning[4] = {146.8f, 220, 329.6f, 370},
                       evening[4] = {98, 146.8f, 233.1f, 293.7f},
                       dusk[4] = {110, 164.8f, 246.9f, 329.6f};
    add_wind(track, 0, room, 0.55f);
    add_chord(track, 0, room, morning, 0.020f);
    add_bell(track, 0.9f, 392, 0.030f);
    add_bell(track, 2.5f, 392, 0.026f);
    add_hum(track, room, sea - 0.2f, 0.035f);
    add_clock(track, room, sea - 0.3f, 0.06f);
    add_chord(track, room, sea - 0.1f, evening, 0.020f);
    add_surf(track, sea, end, 0.16f);
    add_chord(track, sea, end, dusk, 0.020f);
    add_horn(track, sea + 1.0f, sea + 2.3f, 0.055f);
}

static void put_number(uint8_t *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static bool write_header(FILE *file, uint32_t bytes)
{
    uint8_t header[44] = "RIFF....WAVEfmt ....................data";
    put_number(header + 4, bytes + 36, 4);
    put_number(header + 16, 16, 4);
    put_number(header + 20, 1, 2);
    put_number(header + 22, CHANNELS, 2);
    put_number(header + 24, RATE, 4);
    put_number(header + 28, RATE * CHANNELS * 2, 4);
    put_number(header + 32, CHANNELS * 2, 2);
    put_number(header + 34, 16, 2);
    put_number(header + 40, bytes, 4);
    return fwrite(header, sizeof header, 1, file) == 1;
}

static bool write_samples(FILE *file, const Track *track, float seconds)
{
    for (int i = 0; i < track->count * CHANNELS; i++) {
        const float t = (float)(i / CHANNELS) / RATE;
        const float edge = smoothstep(0, 0.15f, t) * smoothstep(seconds, seconds - 0.4f, t);
        uint8_t bytes[2];
        const long value = lroundf(32767 * clampf(edge * track->samples[i], -1, 1));
        put_number(bytes, (uint32_t)value, 2);
        if (fwrite(bytes, 2, 1, file) != 1) {
            return false;
        }
    }
    return true;
}

bool sound_write(FILE *file, float seconds, float room, float sea)
{
    Track track = {.count = (int)lroundf(seconds * RATE)};
    track.samples = calloc((size_t)track.count * CHANNELS, sizeof *track.samples);
    if (!track.samples) {
        return false;
    }
    compose(&track, seconds, room, sea);
    const bool ok = write_header(file, (uint32_t)track.count * CHANNELS * 2) &&
                    write_samples(file, &track, seconds);
    free(track.samples);
    return ok;
}
