/*
 * The ffmpeg program encodes beeps in many formats. Decoded by sound.c, they must keep their
 * positions and pitch at any speed, also after a seek, a hole, a jump and damage.
 */
#include "beeps.h"

#include <libavutil/avutil.h>

#include "media/sound/sound.h"

#define SECONDS 5
#define MAX_PACKETS 4096

/* A file's sound packets. Positions count from `origin`: the first picture, or else the start. */
typedef struct Clip {
    AVFormatContext *format;
    const AVStream *stream;
    int64_t origin;
    AVPacket *packets[MAX_PACKETS];
    int count;
} Clip;

typedef struct Played {
    BeepFinder beeps;
    int64_t first, last_end; /* position of the first sample, and after the last one */
    double length;           /* seconds */
    double worst_step;       /* largest gap or overlap between two blocks, in seconds */
    float *samples;          /* of the first channel */
    int count, room;
} Played;

static void close_clip(Clip *clip)
{
    for (int i = 0; i < clip->count; i++)
        av_packet_free(&clip->packets[i]);
    avformat_close_input(&clip->format);
    *clip = (Clip){0};
}

static int open_clip(Clip *clip, const char *name)
{
    int pictures = 0;
    av_log_set_level(AV_LOG_FATAL); /* tests damage packets on purpose */
    *clip = (Clip){0};
    if (avformat_open_input(&clip->format, in_folder(name), NULL, NULL) < 0 ||
        avformat_find_stream_info(clip->format, NULL) < 0)
        return CHECK(0, "%s cannot be opened", name);
    const int best = av_find_best_stream(clip->format, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
    clip->stream = clip->format->streams[best];
    clip->origin = clip->format->start_time == AV_NOPTS_VALUE ? 0 : clip->format->start_time;
    for (;;) {
        AVPacket *packet = av_packet_alloc();
        if (clip->count == MAX_PACKETS || av_read_frame(clip->format, packet) < 0) {
            av_packet_free(&packet);
            return 1;
        }
        if (packet->stream_index == best) {
            clip->packets[clip->count++] = packet;
            continue;
        }
        if (!pictures++)
            clip->origin =
                av_rescale_q(packet->pts, clip->format->streams[packet->stream_index]->time_base,
                             AV_TIME_BASE_Q);
        av_packet_free(&packet);
    }
}

static void take_block(Played *p, const SoundBlock *block, int channels, int rate)
{
    if (!p->count)
        p->first = block->position;
    else
        p->worst_step = fmax(p->worst_step, fabs((double)(block->position - p->last_end)) / 1e6);
    for (int i = 0; i < block->count; i++) {
        const float sample = block->samples[i * channels];
        const double position = ((double)block->position + i * block->worth) / 1e6;
        beep_find(&p->beeps, sample, position, 1.0 / rate);
        if (p->count < p->room)
            p->samples[p->count] = sample;
        p->count++;
    }
    p->last_end = block->position + llrint(block->count * block->worth);
    p->length += (double)block->count / rate;
}

typedef struct How {
    int rate, channels;
    int64_t from;
    double speed;
    int change_speed; /* packets from one change of speed to the next; 0: no change */
} How;

static const How usual = {48000, 2, AV_NOPTS_VALUE, 1, 0};

static void feed(Sound *sound, const AVPacket *packet, const How *how, Played *played)
{
    static float samples[8 * 192000];
    SoundBlock block = {.samples = samples};
    int ret;
    sound_send(sound, packet);
    while ((ret = sound_receive(sound, &block)) == 0) {
        CHECK(block.count > 0 && block.count <= sound_block_samples(how->rate),
              "a block of %d samples", block.count);
        take_block(played, &block, how->channels, how->rate);
    }
    CHECK(ret == (packet ? AVERROR(EAGAIN) : AVERROR_EOF), "sound_receive() returns %d", ret);
}

/* Decodes the whole clip. Returns the damage, or -1 on errors. */
static int64_t play(const Clip *clip, const How *how, Played *played)
{
    static const double speeds[] = {1, 2, 0.5, 1.1, 4, 0.25};
    Sound *sound;
    MediaError error = {0};
    if (!CHECK(sound_open(&sound, clip->stream, clip->origin, how->rate, how->channels, &error) ==
                   0,
               "%s", error.text))
        return -1;
    sound_start(sound, how->from);
    sound_set_speed(sound, how->speed);
    for (int i = 0; i < clip->count; i++) {
        if (how->change_speed && i % how->change_speed == 0)
            sound_set_speed(sound, speeds[i / how->change_speed % 6]);
        feed(sound, clip->packets[i], how, played);
    }
    feed(sound, NULL, how, played);
    const int64_t damage = sound_damage(sound);
    sound_close(&sound);
    return damage;
}

static void check_beeps(const char *what, const Played *p, int least, double tolerance)
{
    CHECK(p->beeps.count >= least, "%s: %d beeps, not %d", what, p->beeps.count, least);
    for (int i = 0; i < p->beeps.count; i++) {
        const double rise = p->beeps.rises[i], off = rise - beep_nearest(rise);
        CHECK(fabs(off) <= tolerance, "%s: the beep at %.4f s is off by %.1f ms", what, rise,
              off * 1e3);
    }
}

static void check_pitch(const char *what, const Played *p, double tolerance)
{
    for (int i = 0; i + 1 < p->beeps.count; i++)
        CHECK(fabs(p->beeps.hertz[i] / BEEP_HERTZ - 1) < tolerance, "%s: beep %d has %.1f Hz", what,
              i, p->beeps.hertz[i]);
}

/* Encodes beeps together with small pictures. */
static int make(int rate, int channels, const char *arguments)
{
    char line[512];
    snprintf(line, sizeof(line), "-f lavfi -i color=s=32x32:r=25:d=%d -i beeps.wav %s", SECONDS,
             arguments);
    beep_write_wav(in_folder("beeps.wav"), rate, channels, SECONDS);
    if (beep_ffmpeg(line))
        return 1;
    check_skip("the ffmpeg program cannot run: %s", line);
    return 0;
}

#define ALL_BEEPS 7 /* in SECONDS */

TEST(formats)
{
    static const struct {
        const char *name, *arguments;
    } kinds[] = {
        {"flac.mkv", "-c:a flac"},
        {"pcm.mov", "-c:a pcm_s24le"},
        {"aac.mp4", "-c:a aac"},
        {"aac.mkv", "-c:a aac"},
        {"aac.ts", "-c:a aac"},
        {"mp3.mp3", "-vn -c:a libmp3lame"},
        {"mp3.mkv", "-c:a libmp3lame"},
        {"pcm.avi", "-c:a pcm_s16le"},
        {"opus.opus", "-vn -c:a libopus"},
        {"vorbis.ogg", "-vn -c:a libvorbis"},
        {"ac3.mkv", "-c:a ac3"},
        {"mp2.mpg", "-c:a mp2"},
        {"aac.flv", "-c:a aac -ar 44100"},
        {"offset.mp4", "-c:a aac -output_ts_offset 3"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char arguments[256];
        FREED_BY(close_clip) Clip clip = {0};
        Played played = {0};
        if (!check_drawn((int)i))
            continue;
        snprintf(arguments, sizeof(arguments), "%s %s", kinds[i].arguments, kinds[i].name);
        if (!make(48000, 2, arguments))
            return;
        if (open_clip(&clip, kinds[i].name)) {
            const int64_t damage = play(&clip, &usual, &played);
            CHECK(damage == 0, "%s: damage %lld", kinds[i].name, (long long)damage);
        }
        check_beeps(kinds[i].name, &played, ALL_BEEPS, 0.005);
        check_pitch(kinds[i].name, &played, 0.005);
        CHECK(played.worst_step < 0.001, "%s: a step of %.2f ms", kinds[i].name,
              played.worst_step * 1e3);
        CHECK(fabs(played.length - SECONDS) < 0.1, "%s: %.3f s", kinds[i].name, played.length);
    }
}

TEST(rates_and_channels)
{
    static const struct {
        int rate, channels, to_rate, to_channels;
    } cases[] = {{8000, 1, 48000, 2},  {96000, 2, 48000, 2}, {44100, 6, 48000, 2},
                 {48000, 6, 44100, 6}, {48000, 8, 48000, 2}, {48000, 1, 8000, 1},
                 {22050, 2, 96000, 8}, {48000, 6, 48000, 1}, {48000, 3, 48000, 2},
                 {48000, 12, 48000, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[64];
        FREED_BY(close_clip) Clip clip = {0};
        Played played = {0};
        const How how = {cases[i].to_rate, cases[i].to_channels, AV_NOPTS_VALUE, 1, 0};
        snprintf(name, sizeof(name), "%d Hz of %d to %d of %d", cases[i].rate, cases[i].channels,
                 how.rate, how.channels);
        beep_write_wav(in_folder("beeps.wav"), cases[i].rate, cases[i].channels, SECONDS);
        if (open_clip(&clip, "beeps.wav"))
            CHECK(play(&clip, &how, &played) == 0, "%s: damage", name);
        check_beeps(name, &played, ALL_BEEPS, 0.002);
        check_pitch(name, &played, 0.003);
        CHECK(fabs(played.length - SECONDS) < 0.002, "%s: length %.4f s", name, played.length);
    }
}

TEST(speeds)
{
    static const double list[] = {0.25, 0.5, 0.9, 1.1, 1.5, 2, 3, 4};
    Clip clip;
    beep_write_wav(in_folder("beeps.wav"), 44100, 2, SECONDS);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && open_clip(&clip, "beeps.wav"); i++) {
        char name[64];
        Played played = {0};
        const How how = {48000, 2, AV_NOPTS_VALUE, list[i], 0};
        snprintf(name, sizeof(name), "speed %g", list[i]);
        play(&clip, &how, &played);
        check_beeps(name, &played, ALL_BEEPS, 0.02 * fmax(1, list[i]));
        check_pitch(name, &played, 0.02);
        CHECK(fabs(played.length * list[i] - SECONDS) < 0.1, "%s: %.3f s", name, played.length);
        close_clip(&clip);
    }
}

TEST(speed_changes_while_playing)
{
    FREED_BY(close_clip) Clip clip = {0};
    Played played = {0};
    beep_write_wav(in_folder("beeps.wav"), 48000, 2, SECONDS);
    if (!open_clip(&clip, "beeps.wav"))
        return;
    const How how = {48000, 2, AV_NOPTS_VALUE, 1, 11};
    play(&clip, &how, &played);
    check_beeps("changing speed", &played, ALL_BEEPS, 0.03);
    CHECK(llabs(played.last_end - SECONDS * 1000000) < 50000, "ends at %lld us",
          (long long)played.last_end);
}

/* A start at any position gives exactly the samples from this position on. */
TEST(starts_to_the_sample)
{
    static const int64_t starts[] = {0, 1, 20000, 1234567, 2999999, 4990000};
    Clip clip;
    beep_write_wav(in_folder("beeps.wav"), 48000, 1, SECONDS);
    for (int i = 0; i < 6 && open_clip(&clip, "beeps.wav"); i++) {
        const How how = {48000, 1, starts[i], 1, 0};
        Played played = {.samples = calloc(SECONDS * 48000, sizeof(float)),
                         .room = SECONDS * 48000};
        play(&clip, &how, &played);
        const int first = (int)((starts[i] * 48 + 999) / 1000);
        CHECK(llabs(played.first - first * 1000000LL / 48000) <= 1, "first at %lld, not %lld",
              (long long)played.first, (long long)starts[i]);
        CHECK(played.count == SECONDS * 48000 - first, "%d samples", played.count);
        double worst = 0;
        for (int n = 0; n < played.count; n++)
            worst = fmax(worst, fabs(played.samples[n] - beep_sample((first + n) / 48000.0)));
        CHECK(worst < 1e-4, "from %lld us samples differ by %g", (long long)starts[i], worst);
        free(played.samples);
        close_clip(&clip);
    }
}

/* A start in compressed sound decodes earlier packets, as after a seek. */
TEST(starts_in_coded_sound)
{
    static const char *const names[] = {"s.mp4", "s.mp3", "s.opus"};
    static const char *const codecs[] = {"aac", "libmp3lame", "libopus"};
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        FREED_BY(close_clip) Clip clip = {0};
        Played played = {0};
        const How how = {48000, 2, 1600000, 1, 0};
        snprintf(arguments, sizeof(arguments), "-vn -c:a %s %s", codecs[i], names[i]);
        if (!make(48000, 2, arguments) || !open_clip(&clip, names[i]))
            return;
        play(&clip, &how, &played);
        CHECK(llabs(played.first - how.from) <= 21, "%s: first at %lld", names[i],
              (long long)played.first);
        check_beeps(names[i], &played, ALL_BEEPS - 2, 0.005);
    }
}

/* Drops the packets between two times, and moves later packets. */
static void edit(Clip *clip, double from, double to, double move)
{
    int left = 0;
    for (int i = 0; i < clip->count; i++) {
        AVPacket *p = clip->packets[i];
        const double time = (double)p->pts * av_q2d(clip->stream->time_base);
        if (time >= from && time < to) {
            av_packet_free(&p);
            continue;
        }
        const int64_t by = time >= to ? llrint(move / av_q2d(clip->stream->time_base)) : 0;
        p->pts += by;
        p->dts += by;
        clip->packets[left++] = p;
    }
    clip->count = left;
}

/* A test with a FLAC clip in packets of 20 ms. */
#define FLAC_TEST(name)                                                                            \
    static void name##_of(Clip *clip, Played *played);                                             \
    TEST(name)                                                                                     \
    {                                                                                              \
        FREED_BY(close_clip) Clip clip = {0};                                                      \
        Played played = {0};                                                                       \
        if (make(48000, 2, "-c:a flac -frame_size 960 -c:v mpeg4 flac.mkv") &&                     \
            open_clip(&clip, "flac.mkv"))                                                          \
            name##_of(&clip, &played);                                                             \
    }                                                                                              \
    static void name##_of(Clip *clip, Played *played)

FLAC_TEST(holes_are_silent)
{
    edit(clip, 1.25, 2.2, 0); /* only the beep at 1.7-1.9 s is lost */
    play(clip, &usual, played);
    check_beeps("a hole", played, ALL_BEEPS - 1, 0.002);
    CHECK(played->beeps.count == ALL_BEEPS - 1, "%d beeps", played->beeps.count);
    CHECK(fabs(played->length - SECONDS) < 0.001, "length %.4f s", played->length);
    CHECK(played->worst_step < 1e-4, "a step of %g s", played->worst_step);
}

FLAC_TEST(starts_in_a_hole)
{
    edit(clip, 0, 2.2, 0);
    const How how = {48000, 2, 1500000, 1, 0};
    play(clip, &how, played);
    CHECK(played->first == how.from, "first at %lld", (long long)played->first);
    CHECK(fabs(played->length - 3.5) < 0.001, "length %.4f s", played->length);
    check_beeps("a start in a hole", played, ALL_BEEPS - 3, 0.002);
}

FLAC_TEST(overlaps_are_cut)
{
    edit(clip, 2.1, 2.1, -0.15); /* in the pause from 1.9 to 2.4 */
    play(clip, &usual, played);
    CHECK(played->worst_step < 1e-4, "a step of %g s", played->worst_step);
    CHECK(fabs(played->length - (SECONDS - 0.15)) < 0.001, "length %.4f s", played->length);
    CHECK(played->beeps.count == ALL_BEEPS, "%d beeps", played->beeps.count);
    for (int i = 3; i < played->beeps.count; i++) {
        const double rise = played->beeps.rises[i] + 0.15;
        CHECK(fabs(rise - beep_nearest(rise)) < 0.002, "a beep at %.4f", rise - 0.15);
    }
}

static void check_jump(Clip *clip, Played *played, double jump)
{
    edit(clip, 2.1, 2.1, jump);
    play(clip, &usual, played);
    CHECK(fabs(played->worst_step - fabs(jump)) < 0.03, "a step of %g s", played->worst_step);
    CHECK(fabs(played->length - SECONDS) < 0.03, "length %.4f s", played->length);
    for (int n = 3; n < played->beeps.count; n++) {
        const double rise = played->beeps.rises[n] - jump;
        CHECK(fabs(rise - beep_nearest(rise)) < 0.002, "a beep at %.4f", rise);
    }
}

FLAC_TEST(a_jump_ahead_is_followed)
{
    check_jump(clip, played, 7200);
}

FLAC_TEST(a_jump_back_is_followed)
{
    check_jump(clip, played, -1.5);
}

FLAC_TEST(jitter_is_smoothed)
{
    CheckRandom random = check_random(1);
    for (int i = 0; i < clip->count; i++)
        clip->packets[i]->pts += check_below(&random, 21) - 10; /* milliseconds */
    play(clip, &usual, played);
    check_beeps("jitter", played, ALL_BEEPS, 0.012);
    CHECK(played->worst_step < 0.001, "a step of %g s", played->worst_step);
    CHECK(fabs(played->length - SECONDS) < 0.001, "length %.4f s", played->length);
}

/* If timestamps advance slightly faster than samples, no hole and no growing delay appear. */
FLAC_TEST(drift_is_smoothed)
{
    for (int i = 0; i < clip->count; i++)
        clip->packets[i]->pts += clip->packets[i]->pts / 100;
    play(clip, &usual, played);
    for (int n = 0; n < played->beeps.count; n++) {
        const double rise = played->beeps.rises[n] / 1.01;
        CHECK(fabs(rise - beep_nearest(rise)) < 0.016, "a beep at %.4f", rise);
    }
    CHECK(fabs(played->length - SECONDS) < 0.001, "length %.4f s", played->length);
}

/* The rate and the number of channels change within a track. */
TEST(format_changes)
{
    Clip one, other;
    Played played = {0};
    MediaError error = {0};
    Sound *sound;
    if (!make(44100, 2, "-c:a libmp3lame -vn -write_xing 0 one.mp3") ||
        !make(48000, 1, "-c:a libmp3lame -vn -write_xing 0 other.mp3"))
        return;
    if (!open_clip(&one, "one.mp3") || !open_clip(&other, "other.mp3"))
        return;
    CHECK(sound_open(&sound, one.stream, 0, 48000, 2, &error) == 0, "%s", error.text);
    for (int i = 0; i < one.count; i++)
        feed(sound, one.packets[i], &usual, &played);
    const int64_t end =
        av_rescale_q(one.packets[one.count - 1]->pts + one.packets[one.count - 1]->duration,
                     one.stream->time_base, AV_TIME_BASE_Q);
    for (int i = 0; i < other.count; i++) {
        AVPacket *p = other.packets[i];
        p->pts += av_rescale_q(end, AV_TIME_BASE_Q, other.stream->time_base);
        feed(sound, p, &usual, &played);
    }
    feed(sound, NULL, &usual, &played);
    sound_close(&sound);
    CHECK(played.beeps.count == 2 * ALL_BEEPS, "%d beeps", played.beeps.count);
    for (int n = ALL_BEEPS; n < played.beeps.count; n++) {
        /* without a Xing header, the encoder's delay is unknown */
        const double rise = played.beeps.rises[n] - (double)end / 1e6 - 1105 / 48000.0;
        CHECK(fabs(rise - beep_nearest(rise)) < 0.005, "a beep at %.4f", rise);
    }
    CHECK(played.worst_step < 0.03, "a step of %g s", played.worst_step);
    close_clip(&one);
    close_clip(&other);
}

TEST(damage_is_skipped)
{
    static const char *const names[] = {"d.mkv", "d.mp3", "d.mp4", "d.opus"};
    static const char *const codecs[] = {"flac", "libmp3lame", "aac", "libopus"};
    CheckRandom random = check_random(2);
    for (int i = 0; i < 4; i++) {
        char arguments[128];
        FREED_BY(close_clip) Clip clip = {0};
        Played played = {0};
        snprintf(arguments, sizeof(arguments), "-vn -c:a %s %s", codecs[i], names[i]);
        if (!make(48000, 2, arguments) || !open_clip(&clip, names[i]))
            return;
        for (int n = 0; n < clip.count; n++) {
            AVPacket *p = clip.packets[n];
            const double time = (double)p->pts * av_q2d(clip.stream->time_base);
            if (time < 1.25 || time > 2.1 || av_packet_make_writable(p) < 0)
                continue;
            for (int flips = 0; flips < 20; flips++)
                p->data[check_below(&random, p->size)] ^= (uint8_t)(1 << check_below(&random, 8));
        }
        const int64_t damage = play(&clip, &usual, &played);
        /* MP3 and Opus may decode any bits without an error */
        CHECK(damage > 0 || i == 1 || i == 3, "%s: no damage is reported", names[i]);
        CHECK(fabs(played.length - SECONDS) < 0.2, "%s: length %.3f s", names[i], played.length);
        int right = 0;
        for (int n = 0; n < played.beeps.count; n++) {
            const double rise = played.beeps.rises[n];
            right += (rise < 1.2 || rise > 2.2) && fabs(rise - beep_nearest(rise)) < 0.05;
        }
        CHECK(right >= ALL_BEEPS - 1, "%s: %d beeps at their positions", names[i], right);
    }
}

/* A codec without a decoder is refused with a message. */
TEST(no_decoder)
{
    FREED_BY(close_clip) Clip clip = {0};
    MediaError error = {0};
    Sound *sound = NULL;
    beep_write_wav(in_folder("beeps.wav"), 48000, 2, SECONDS);
    if (!open_clip(&clip, "beeps.wav"))
        return;
    clip.stream->codecpar->codec_id = AV_CODEC_ID_PROBE;
    CHECK(sound_open(&sound, clip.stream, 0, 48000, 2, &error) == MEDIA_INPUT,
          "the codec is accepted");
    CHECK(!sound && error.text[0], "no message");
}

TEST_MAIN
