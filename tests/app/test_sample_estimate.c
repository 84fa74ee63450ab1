/* The time and size of a film, estimated from invented trials: answers computed by hand. */
#include "../check.h"

#include <math.h>

#include "app/sample.h"

static void is(const char *what, double value, double due)
{
    CHECK(fabs(value - due) < 1e-9 * fmax(fabs(due), 1), "%s: %.12g, not %.12g", what, value, due);
}

/* Six seconds at ten frames per second; four seconds count: a key frame of 1000 bytes, and 39
 * packets of 100. 0.1 s per frame, and half a second before the first one. */
static const Trial one_pass = {
    .began = 2,
    .ended = 8.4,
    .opened = 2.4,
    .encoded = 2.5,
    .frames = 60,
    .begin = 0,
    .end = 6,
    .packets = 39,
    .seconds = 4,
    .first = 1000,
    .rest = 3900,
    .payload = 6900,
    .header = 200,
    .written = 7700,
    .key_interval = 10,
};

/* 100 s are 1000 frames. Pieces longer than an interval have as many key frames as the film: 4900
 * bytes in 40 frames. The sound has 600 bytes in 6 s. */
TEST(one_piece)
{
    const SampleEstimate e = sample_estimate(&(SampleFilm){.seconds = 100}, &one_pass, 1);
    is("frames", e.frames, 1000);
    is("seconds", e.seconds, 100.5);
    is("video", e.video, 122500);
    is("bytes", e.bytes, 122500 + 200 + 10000);
}

/* 250 is also the default interval of key frames. 1000 frames have 4 key frames, each 900 bytes
 * larger than other frames. */
TEST(rare_key_frames)
{
    for (int interval = 0; interval <= 250; interval += 250) {
        Trial trial = one_pass;
        trial.key_interval = interval;
        const SampleEstimate e = sample_estimate(&(SampleFilm){.seconds = 100}, &trial, 1);
        is("video", e.video, 100 * 1000 + 900 * 4);
        is("seconds", e.seconds, 100.5);
    }
}

/* The longer piece takes twice as much time per frame. The bitrate is given. */
TEST(two_pieces)
{
    const Trial pieces[] = {
        {.began = 0,
         .ended = 5,
         .opened = 1,
         .encoded = 3,
         .frames = 11,
         .begin = 0,
         .end = 1.1,
         .packets = 9,
         .seconds = 1,
         .first = 400,
         .rest = 900,
         .payload = 1500,
         .header = 50,
         .written = 1650},
        {.began = 10.5,
         .ended = 32,
         .opened = 11,
         .encoded = 20,
         .frames = 31,
         .begin = 5,
         .end = 8.1,
         .packets = 29,
         .seconds = 3,
         .first = 400,
         .rest = 2900,
         .payload = 3500,
         .header = 70,
         .written = 3680},
    };
    const SampleFilm film = {.seconds = 84, .bitrate = 8000};
    const SampleEstimate e = sample_estimate(&film, pieces, 2);
    is("frames", e.frames, 840);
    is("seconds", e.seconds, 3 + 20 * (11 * 0.2 + 31 * 0.4));
    is("video", e.video, 84000);
    is("bytes", e.bytes, 84000 + 70 + 210 * 20);
}

/* A packet without a duration counts as 1/25 s. */
TEST(no_durations)
{
    Trial trial = one_pass;
    trial.seconds = 0;
    trial.end = trial.begin;
    const SampleEstimate e = sample_estimate(&(SampleFilm){.seconds = 100}, &trial, 1);
    is("frames", e.frames, 100 * 40 / (60 / 25.0));
    is("bytes", e.bytes, e.video + 200 + 600 * 100 / (60 / 25.0));
}

/* 40 frames, which begin with the only key frame. */
TEST(a_short_film)
{
    Trial trial = one_pass;
    trial.key_interval = 250;
    const SampleEstimate e = sample_estimate(&(SampleFilm){.seconds = 4}, &trial, 1);
    is("frames", e.frames, 40);
    is("video", e.video, 4900);
}

/* The slowest part counts: measuring ahead (until the first frame is encoded), encoding, or the
 * cores' work for both. */
TEST(the_slower_one_counts)
{
    Trial trial = one_pass;
    is("encode", trial_pace(&trial), 0.1);
    trial.opened = trial.encoded - 60 * 0.3;
    is("ahead", trial_pace(&trial), 0.3);
    trial.cpu = 60 * 0.35;
    is("cores", trial_pace(&trial), 0.35);
}

TEST_MAIN
