/*
 * Clips in several containers, made by the ffmpeg program, flash and beep at the same instants. The
 * player's demuxer, video feed and sound decoder must find flashes and beeps at the same positions,
 * from the start and after a seek.
 */
#include "media/sound/sound.h"
#include "run/input.h"

#include "beeps.h"

#define SECONDS 6
#define RATE 48000
#define MOST 16

/* Seconds; includes Opus's pre-skip of 6.5 ms, which ffmpeg's WebM muxer shifts the sound by. */
#define TOLERANCE 0.008

typedef struct Instants {
    double flashes[MOST], beeps[MOST];
    int flash_count, beep_count;
} Instants;

/* The first frame of each flash. */
static void see(Instants *seen, Input *input)
{
    Frame *frame;
    MediaError error = {0};
    int ret, white = 0;
    while ((ret = input_take(input, &frame, QUEUE_TRY, &error)) >= 0 || ret == AVERROR(EAGAIN)) {
        if (ret < 0) {
            usleep(1000);
            continue;
        }
        const int now = frame->decoded.frame->data[0][0] > 128;
        if (now && !white && seen->flash_count < MOST)
            seen->flashes[seen->flash_count++] = (double)frame->decoded.position / 1e6;
        white = now;
        frame_free(&frame);
    }
    CHECK(ret == AVERROR_EOF, "%s", error.text);
}

static void hear_blocks(BeepFinder *beeps, Sound *sound, const AVPacket *packet)
{
    static float samples[2 * RATE];
    SoundBlock block = {.samples = samples};
    sound_send(sound, packet);
    while (sound_receive(sound, &block) == 0)
        for (int i = 0; i < block.count; i++)
            beep_find(beeps, samples[2 * i], ((double)block.position + i * block.worth) / 1e6,
                      1.0 / RATE);
}

static void hear(Instants *heard, Demuxer *demuxer, Sound *sound)
{
    BeepFinder beeps = {.quiet = 1};
    AVPacket *packet = av_packet_alloc();
    while (demuxer_read(demuxer, DEMUX_AUDIO, packet, 1) == 0) {
        hear_blocks(&beeps, sound, packet);
        av_packet_unref(packet);
    }
    hear_blocks(&beeps, sound, NULL);
    av_packet_free(&packet);
    heard->beep_count = beeps.count < MOST ? beeps.count : MOST;
    memcpy(heard->beeps, beeps.rises, (size_t)heard->beep_count * sizeof(double));
}

/* Reads all pictures, then all sound: the queues hold a whole clip this short. */
static int run(Instants *found, Input *input, Sound *sound, int64_t from)
{
    MediaError error = {0};
    const InputStart start = {.position = from};
    if (!CHECK(input_start(input, &start, &error) >= 0, "%s", error.text))
        return -1;
    sound_start(sound, from);
    see(found, input);
    hear(found, input_demuxer(input), sound);
    input_stop(input);
    return 0;
}

static void check_pairs(const char *what, const Instants *found, int least)
{
    CHECK(found->flash_count >= least && found->beep_count == found->flash_count,
          "%s: %d flashes, %d beeps", what, found->flash_count, found->beep_count);
    for (int i = 0; i < found->flash_count && i < found->beep_count; i++)
        CHECK(fabs(found->flashes[i] - found->beeps[i]) < TOLERANCE,
              "%s: the flash is at %.4f s, the beep at %.4f s", what, found->flashes[i],
              found->beeps[i]);
}

static void check_source(const char *name, Source *source, const AVStream *audio)
{
    MediaError error = {0};
    FREED_BY(input_close) Input *input = NULL;
    FREED_BY(sound_close) Sound *sound = NULL;
    const InputOptions options = {.to_us = -1, .frames = -1, .shown = 1};
    int ret = input_open(&input, source, &options, &error);
    if (ret >= 0) {
        demuxer_select(input_demuxer(input), DEMUX_AUDIO, audio);
        ret = sound_open(&sound, audio, source_start(source), RATE, 2, &error);
    }
    if (CHECK(ret >= 0, "%s: %s", name, error.text)) {
        Instants all = {0}, part = {0};
        if (run(&all, input, sound, AV_NOPTS_VALUE) == 0)
            check_pairs(name, &all, 8);
        if (run(&part, input, sound, 2750000) == 0)
            check_pairs("after a seek", &part, 4);
    }
}

/* A frame each 20 ms, so that flashes begin exactly with the beeps. */
static int make(const char *output)
{
    char line[768];
    snprintf(line, sizeof(line),
             "-f lavfi -i \"color=black:s=64x64:r=50:d=%d,drawbox=color=white:t=fill:"
             "enable='gte(t,%g)*lt(mod(t-%g+0.001,%g),%g)'\" -i beeps.wav -shortest %s",
             SECONDS, BEEP_FIRST - 0.001, BEEP_FIRST, BEEP_EVERY, BEEP_LENGTH, output);
    return beep_ffmpeg(line);
}

TEST(flashes_and_beeps)
{
    static const struct {
        const char *name, *options;
    } kinds[] = {
        {"a.mkv", "-c:v libx264 -preset veryfast -g 60 -c:a aac -b:a 128k"},
        {"a.mp4", "-c:v libx264 -preset veryfast -g 60 -c:a aac -b:a 128k"},
        {"late.mp4", "-c:v libx264 -preset veryfast -g 60 -c:a aac -output_ts_offset 3"},
        {"a.ts", "-c:v libx264 -preset veryfast -g 60 -c:a mp2 -muxdelay 1"},
        {"wraps.ts", /* its clock wraps after 1.7 s */
         "-c:v libx264 -preset veryfast -g 60 -c:a mp2 -muxdelay 0 -output_ts_offset 95442"},
        {"a.avi", "-c:v mpeg4 -g 60 -c:a pcm_s16le"},
        {"a.webm", "-c:v libvpx -deadline realtime -g 60 -c:a libopus"},
    };
    atomic_int stop = 0;
    beep_write_wav(in_folder("beeps.wav"), RATE, 2, SECONDS);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char output[256];
        snprintf(output, sizeof(output), "%s %s", kinds[i].options, kinds[i].name);
        if (!make(output)) {
            check_skip("ffmpeg cannot make %s", kinds[i].name);
            return;
        }
        FREED_BY(source_close) Source *source = NULL;
        MediaError error = {0};
        const SourceOptions options = {
            .path = in_folder(kinds[i].name), .max_pixels = 1 << 20, .stop = &stop};
        if (!CHECK(source_open(&source, &options, &error) >= 0, "%s", error.text))
            continue;
        const int best = av_find_best_stream(source->format, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
        if (CHECK(best >= 0, "%s has no sound", kinds[i].name))
            check_source(kinds[i].name, source, source->format->streams[best]);
    }
}

TEST_MAIN
