#include "app/sample_estimate.h"

#include <math.h>

/* Of encoders that do not say after how many frames they make a key frame: as x264 and x265 do. */
#define USUAL_KEY_INTERVAL 250

/* Frames a second of a film whose packets have no duration. */
#define USUAL_RATE 25.0

/* All pieces together. */
typedef struct Sums {
    double packets, keys, first, rest, seconds; /* as in Trial; packets without the first ones */
    double frames, tried; /* frames, and seconds of video, with what follows */
    double other, header;
    double work, begin;
    int key_interval;
} Sums;

static Sums add_up(const Trial *trials, int count)
{
    Sums s = {.begin = INFINITY};
    for (int i = 0; i < count; i++) {
        const Trial *t = &trials[i];
        const double frames = (double)t->frames;
        s.packets += (double)t->packets;
        s.keys += (double)t->keys;
        s.first += (double)t->first;
        s.rest += (double)t->rest;
        s.seconds += t->seconds;
        s.frames += frames;
        s.tried += t->end - t->begin;
        s.other += (double)(t->written - t->header - t->payload);
        s.work += trial_pace(t) * frames;
        s.begin = fmin(s.begin, t->encoded - t->began);
        s.header = fmax(s.header, (double)t->header);
        s.key_interval = t->key_interval;
    }
    s.tried = s.tried > 0 ? s.tried : s.frames / USUAL_RATE;
    s.seconds = s.seconds > 0 ? s.seconds : s.tried;
    return s;
}

/*
 * Key frames in a film, per frame. Where a share `cuts` of frames are key frames because of what is
 * in the picture, and one is due `interval` frames after the last in any case, one comes after
 * (1 - (1 - cuts)^interval) / cuts frames: the mean of a geometric distribution that is cut off.
 */
static double key_rate(double cuts, double interval)
{
    return cuts > 0 ? cuts / (1 - pow(1 - cuts, interval)) : 1 / interval;
}

/* Each piece begins with a key frame, of which a film has fewer. */
static double bytes_a_frame(const Sums *s, int pieces)
{
    const double all = s->packets + pieces;
    const double length = all / pieces;
    const double interval = s->key_interval > 0 ? s->key_interval : USUAL_KEY_INTERVAL;
    if (interval <= length || !s->packets)
        return (s->first + s->rest) / all;
    const double other = s->rest / s->packets, key = s->first / pieces;
    const double cuts = s->keys / s->packets;
    return other + (key_rate(cuts, interval) - cuts) * (key - other);
}

typedef double (*OfPiece)(const Trial *);

static double bytes_of_frame(const Trial *t)
{
    return t->packets ? (double)t->rest / (double)t->packets : (double)t->first;
}

/* The standard error of the mean of the pieces, as a share of it. */
static double error_of(const Trial *trials, int count, OfPiece of)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += of(&trials[i]) / count;
    for (int i = 0; i < count; i++)
        squares += (of(&trials[i]) - mean) * (of(&trials[i]) - mean);
    return count > 1 && mean > 0 ? sqrt(squares / (count - 1) / count) / mean : 0;
}

SampleEstimate sample_estimate(const SampleFilm *film, const Trial *trials, int count)
{
    const Sums s = add_up(trials, count);
    const double frames = film->seconds * (s.packets + count) / s.seconds;
    SampleEstimate e = {
        .frames = frames,
        .begin = s.begin,
        .video = film->bitrate > 0 ? film->seconds * (double)film->bitrate / 8
                                   : frames * bytes_a_frame(&s, count),
    };
    e.seconds = e.begin + frames * s.work / s.frames;
    e.bytes = e.video + s.header + s.other * film->seconds / s.tried;
    e.frames_a_second = frames / e.seconds;
    e.seconds_error = error_of(trials, count, trial_pace);
    e.bytes_error = film->bitrate > 0 ? 0 : error_of(trials, count, bytes_of_frame);
    return e;
}

SampleEstimate sample_estimate_whole(const Trial *t)
{
    const double seconds = t->ended - t->began;
    return (SampleEstimate){
        .frames = (double)t->frames,
        .seconds = seconds,
        .begin = t->encoded - t->began,
        .bytes = (double)t->written,
        .video = (double)t->payload,
        .frames_a_second = (double)t->frames / seconds,
    };
}
