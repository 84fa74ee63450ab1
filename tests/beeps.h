/* Makes sound with beeps at known positions: writes WAV files, encodes them with the ffmpeg
 * program, and finds the beeps in decoded samples. */
#ifndef LUMEQ_TESTS_BEEPS_H
#define LUMEQ_TESTS_BEEPS_H

#include <math.h>

#include "folder.h"

/* One beep each BEEP_EVERY seconds, the first one after BEEP_FIRST. */
#define BEEP_FIRST 0.3
#define BEEP_EVERY 0.7
#define BEEP_LENGTH 0.2
#define BEEP_HERTZ 1000.0
#define BEEP_LEVEL 0.5
#define BEEP_MAX 64

#define BEEP_PI 3.14159265358979323846

/* The sample at `time` seconds: in a beep, a sine that fades in and out for 2 ms each; else 0. */
static inline double beep_sample(double time)
{
    const double in = fmod(time - BEEP_FIRST, BEEP_EVERY);
    if (time < BEEP_FIRST || in >= BEEP_LENGTH)
        return 0;
    const double edge = fmin(1, fmin(in, BEEP_LENGTH - in) / 0.002);
    return BEEP_LEVEL * edge * sin(2 * BEEP_PI * BEEP_HERTZ * in);
}

static inline void beep_put(FILE *f, unsigned value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(value >> (8 * i) & 255), f);
}

/* Writes 16-bit PCM with the beeps in all channels. */
static inline void beep_write_wav(const char *path, int rate, int channels, double seconds)
{
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    const unsigned samples = (unsigned)(seconds * rate), size = samples * (unsigned)channels * 2;
    fwrite("RIFF", 1, 4, f);
    beep_put(f, size + 36, 4);
    fwrite("WAVEfmt ", 1, 8, f);
    beep_put(f, 16, 4);
    beep_put(f, 1, 2);
    beep_put(f, (unsigned)channels, 2);
    beep_put(f, (unsigned)rate, 4);
    beep_put(f, (unsigned)(rate * channels * 2), 4);
    beep_put(f, (unsigned)channels * 2, 2);
    beep_put(f, 16, 2);
    fwrite("data", 1, 4, f);
    beep_put(f, size, 4);
    for (unsigned i = 0; i < samples; i++)
        for (int c = 0; c < channels; c++)
            beep_put(f, (unsigned)(int)lrint(beep_sample((double)i / rate) * 32767) & 0xffff, 2);
    fclose(f);
}

/* Runs the ffmpeg program in the folder. Returns 0 if it fails or is missing. */
static inline int beep_ffmpeg(const char *arguments)
{
    char command[1024];
    in_folder("");
    snprintf(command, sizeof(command), "cd '%s' && ffmpeg -nostdin -v error -y %s", folder,
             arguments);
    return system(command) == 0;
}

/* Finds the start and the pitch of each beep in a stream of samples. */
typedef struct BeepFinder {
    double rises[BEEP_MAX], hertz[BEEP_MAX];
    int count;

    double quiet, time; /* seconds since the last loud sample, and since the beep began */
    double last;
    int was_low, waves;
    double first_wave; /* time of the first counted wave, in seconds from the beep's start */
} BeepFinder;

/* Takes the next sample. Positions are in seconds; `step` is the time until the next sample. */
static inline void beep_find(BeepFinder *b, double sample, double position, double step)
{
    const double threshold = BEEP_LEVEL / 4;
    const int loud = fabs(sample) > threshold;
    if (loud && b->quiet > 0.02 && b->count < BEEP_MAX) {
        b->rises[b->count++] = position;
        b->time = b->waves = b->was_low = 0;
    }
    b->quiet = loud ? 0 : b->quiet + step;
    b->time += step;
    b->was_low |= sample < -threshold;
    if (b->count && b->was_low && sample >= threshold) {
        const double at = b->time - step * (sample - threshold) / (sample - b->last);
        if (b->waves++ == 0)
            b->first_wave = at;
        else
            b->hertz[b->count - 1] = (b->waves - 1) / (at - b->first_wave);
        b->was_low = 0;
    }
    b->last = sample;
}

/* Start of the beep nearest to a position. */
static inline double beep_nearest(double position)
{
    const double n = rint((position - BEEP_FIRST) / BEEP_EVERY);
    return BEEP_FIRST + (n > 0 ? n : 0) * BEEP_EVERY;
}

#endif
