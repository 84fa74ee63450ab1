/* Plays sound through SDL's drivers without hardware: "dummy" discards it, "disk" writes it to a
 * file. */
#include "beeps.h"

#include "player/clock.h"
#include "player/sound/audio.h"

#include <sys/stat.h>

#define SECONDS 4
#define PATIENCE_US (CHECK_SLOWER * 20000000)
#define MOST_BACK_US 100000 /* late requests on a busy machine may move the position back */

static atomic_int never;

typedef struct Playing {
    Source *source;
    Demuxer *demuxer;
    Audio *audio;
} Playing;

static void stop(Playing *p)
{
    demuxer_stop(p->demuxer);
    audio_stop(p->audio);
}

static void finish(Playing *p)
{
    if (p->demuxer)
        demuxer_stop(p->demuxer);
    audio_close(&p->audio);
    demuxer_free(&p->demuxer);
    source_close(&p->source);
}

static int start(Playing *p, int64_t position, double speed)
{
    MediaError error = {0};
    return CHECK(demuxer_start(p->demuxer, position, &error) == 0, "%s", error.text) &&
           CHECK(audio_start(p->audio, p->demuxer, source_start(p->source), position, speed,
                             &error) == 0,
                 "%s", error.text);
}

/* Opens the clip and the driver's device. */
static int prepare(Playing *p, const char *driver)
{
    static int made;
    MediaError error = {0};
    *p = (Playing){0};
    if (!made) {
        beep_write_wav(in_folder("beeps.wav"), 48000, 2, SECONDS);
        made = beep_ffmpeg("-f lavfi -i color=s=32x32:r=25:d=4 -i beeps.wav -c:v mpeg4 "
                           "-c:a flac clip.mkv");
    }
    if (!made) {
        check_skip("the ffmpeg program cannot make a clip");
        return 0;
    }
    setenv("SDL_AUDIODRIVER", driver, 1);
    setenv("SDL_DISKAUDIOFILE", in_folder("heard.raw"), 1);
    const SourceOptions options = {
        .path = in_folder("clip.mkv"), .max_pixels = 1 << 26, .stop = &never};
    if (!CHECK(source_open(&p->source, &options, &error) == 0 &&
                   demuxer_create(&p->demuxer, p->source, DEMUX_BY_KIND, &error) == 0,
               "%s", error.text))
        return 0;
    const AVStream *stream = p->source->format->streams[1];
    demuxer_select(p->demuxer, DEMUX_AUDIO, stream);
    return CHECK(audio_open(&p->audio, stream, &error) == 0, "%s", error.text);
}

/* Waits until the playback position is known. */
static int64_t wait_for_position(Playing *p)
{
    int64_t position = -1;
    const int64_t until = clock_now() + PATIENCE_US;
    while (!audio_queue_position(audio_queue(p->audio), clock_now(), &position) &&
           clock_now() < until)
        usleep(1000);
    return position;
}

TEST(plays_to_the_end)
{
    Playing p;
    if (!prepare(&p, "dummy"))
        return;
    const int64_t begin = clock_now();
    int64_t last = 0, position = 0;
    audio_queue_pause(audio_queue(p.audio), 1, begin);
    start(&p, 500000, 2);
    usleep(100000);
    CHECK(!audio_queue_position(audio_queue(p.audio), clock_now(), &position),
          "sound plays while paused");
    audio_queue_pause(audio_queue(p.audio), 0, clock_now());
    CHECK(wait_for_position(&p) >= 500000, "nothing is heard");
    while (!audio_queue_is_over(audio_queue(p.audio), clock_now()) &&
           clock_now() < begin + PATIENCE_US) {
        if (audio_queue_position(audio_queue(p.audio), clock_now(), &position)) {
            CHECK(position >= last - MOST_BACK_US, "back from %lld to %lld", (long long)last,
                  (long long)position);
            last = position;
        }
        usleep(1000);
    }
    CHECK(audio_queue_is_over(audio_queue(p.audio), clock_now()), "the sound does not end");
    CHECK(llabs(last - SECONDS * 1000000) < CHECK_SLOWER * 200000, "the last position was %lld",
          (long long)last);
    CHECK(clock_now() - begin > 1500000, "3.5 s at speed 2 took %lld us",
          (long long)(clock_now() - begin));
    CHECK(audio_damage(p.audio) == 0, "damage is reported");
    finish(&p);
}

/* Reads the disk driver's output: interleaved floats of two channels. */
static float *heard(int *count)
{
    struct stat info;
    const char *path = in_folder("heard.raw");
    FILE *f = fopen(path, "rb");
    if (!CHECK(f && stat(path, &info) == 0, "nothing was written"))
        exit(1);
    float *samples = malloc((size_t)info.st_size + 1);
    *count = (int)(fread(samples, 2 * sizeof(float), (size_t)info.st_size / 8, f));
    fclose(f);
    return samples;
}

static double play_to_disk(int volume, BeepFinder *beeps, int64_t *underruns)
{
    Playing p;
    int count;
    double peak = 0;
    if (!prepare(&p, "disk"))
        return -1;
    audio_set_volume(p.audio, volume, 0);
    start(&p, 0, 1);
    const int64_t until = clock_now() + PATIENCE_US;
    while (!audio_queue_is_over(audio_queue(p.audio), clock_now()) && clock_now() < until)
        usleep(1000);
    *underruns = audio_queue_underruns(audio_queue(p.audio));
    finish(&p);
    float *samples = heard(&count);
    for (int i = 0; i < count; i++) {
        beep_find(beeps, samples[2 * i], i / 48000.0, 1 / 48000.0);
        peak = fmax(peak, fmax(fabs(samples[2 * i]), fabs(samples[2 * i + 1])));
    }
    free(samples);
    return peak;
}

TEST(device_gets_the_beeps)
{
    BeepFinder beeps = {0};
    int64_t underruns = 0;
    const double peak = play_to_disk(80, &beeps, &underruns);
    if (peak < 0)
        return;
    CHECK(fabs(peak - 0.512 * BEEP_LEVEL) < 0.01, "the peak is %g", peak);
    CHECK(beeps.count >= 6, "%d beeps", beeps.count);
    for (int i = 1; i < beeps.count && !underruns; i++)
        CHECK(fabs(beeps.rises[i] - beeps.rises[i - 1] - BEEP_EVERY) < 0.001,
              "beeps are %g s apart", beeps.rises[i] - beeps.rises[i - 1]);
}

/* Positions are never before the start, and unknown after a stop. */
TEST(restarts)
{
    Playing p;
    CheckRandom random = check_random(1);
    if (!prepare(&p, "dummy"))
        return;
    for (int i = 0; i < 50; i++) {
        const int64_t from = check_below(&random, 3000) * 1000;
        const int64_t begin = clock_now();
        int64_t position;
        if (!start(&p, from, i % 5 ? 1 : 2))
            break;
        audio_set_volume(p.audio, i, i % 3 == 0);
        audio_set_speed(p.audio, i % 4 ? 1 : 0.5);
        if (i % 10 == 0) {
            CHECK(wait_for_position(&p) >= from, "the sound does not begin");
        } else {
            usleep((unsigned)check_below(&random, 80000));
        }
        const int64_t now = clock_now();
        if (audio_queue_position(audio_queue(p.audio), now, &position)) {
            const int64_t passed = clock_now() - begin; /* the device may have asked since `now` */
            CHECK(position >= from && position <= from + 2 * passed + 20000,
                  "position %lld after a start at %lld", (long long)position, (long long)from);
        }
        stop(&p);
        CHECK(!audio_queue_position(audio_queue(p.audio), clock_now(), &position),
              "position %lld after a stop", (long long)position);
        CHECK(audio_queue_is_over(audio_queue(p.audio), clock_now()), "not over after a stop");
    }
    finish(&p);
}

TEST_MAIN
