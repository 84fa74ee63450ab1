/* The player's demuxer: bounds on waiting packets, the end, live sources, and subtitles. */
#include <libavutil/time.h>

#include "../folder.h"
#include "../made_clip.h"
#include "media/input/demuxer.h"
#include "media/packet_set.h"

#define SIDE 2048 /* a picture has 4 MB */
#define FRAMES 24
#define MOST 16 /* pictures in 64 MB, the demuxer's limit */
#define RATE 25
#define SOUND_RATE 8000
/* Number of the sample's pictures, and index of the last key frame. */
#define CLIP_FRAMES 275
#define CLIP_LAST_KEY 246

#define LIVENESS_US (CHECK_SLOWER * 20000000)
#define LONG_ENOUGH_US 300000 /* a demuxer without a limit would read more in this time */

/* The sound ends at once. To find more sound, a demuxer without a limit would read to the end. */
static int make_clip(const char *path)
{
    static uint8_t picture[SIDE * SIDE], sound[8];
    MadeClip clip = made_clip_begin(path, SIDE, RATE, SOUND_RATE);
    made_clip_write(&clip, 1, 0, sound, sizeof(sound));
    for (int n = 0; n < FRAMES; n++)
        made_clip_write(&clip, 0, n, picture, sizeof(picture));
    return made_clip_end(&clip);
}

static atomic_int pictures; /* read so far */

static void count_picture(void *opaque, const AVPacket *packet)
{
    (void)opaque;
    (void)packet;
    atomic_fetch_add(&pictures, 1);
}

static int wait_for(int count)
{
    const int64_t end = av_gettime_relative() + LIVENESS_US;
    while (atomic_load(&pictures) < count && av_gettime_relative() < end)
        av_usleep(1000);
    return atomic_load(&pictures) >= count;
}

/* The demuxer stops at 64 MB of packets, and continues when some are taken. */
static void check_bytes(Demuxer *demuxer)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    for (int taken = 0; taken < FRAMES && CHECK(packet, "out of memory"); taken++) {
        const int most = taken + MOST < FRAMES ? taken + MOST : FRAMES;
        if (!CHECK(wait_for(most), "%d packets taken, only %d read", taken, pictures))
            break;
        if (taken < 2)
            av_usleep(LONG_ENOUGH_US);
        CHECK(pictures <= most, "%d packets taken, %d read", taken, pictures);
        const int ret = demuxer_read(demuxer, DEMUX_VIDEO, packet, 1);
        CHECK(ret == 0 && packet->size == SIDE * SIDE, "demuxer_read() returns %d", ret);
        av_packet_unref(packet);
    }
    CHECK(demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == AVERROR_EOF, "more pictures come");
}

/* Opens a demuxer of the file's pictures. Returns 0 on errors. */
static int open_demuxer(Source **source, Demuxer **demuxer, const char *path, DemuxOrder order)
{
    static const atomic_int never;
    const SourceOptions options = {.path = path, .max_pixels = 8192 * 8192, .stop = &never};
    MediaError error = {0};
    if (!CHECK(source_open(source, &options, &error) == 0 &&
                   demuxer_create(demuxer, *source, order, &error) == 0,
               "%s", error.text))
        return 0;
    demuxer_select(*demuxer, DEMUX_VIDEO, (*source)->video);
    atomic_store(&pictures, 0);
    demuxer_tap(*demuxer, count_picture, NULL);
    return 1;
}

/* Calls check() with a demuxer of the clip that make() writes. */
static void with_clip(DemuxOrder order, int (*make)(const char *path),
                      void (*check)(Demuxer *demuxer))
{
    FREED_BY(source_close) Source *source = NULL;
    FREED_BY(demuxer_free) Demuxer *demuxer = NULL;
    MediaError error = {0};
    if (make(in_folder("clip")) && open_demuxer(&source, &demuxer, in_folder("clip"), order)) {
        demuxer_select(demuxer, DEMUX_AUDIO, source->format->streams[1]);
        if (CHECK(demuxer_start(demuxer, AV_NOPTS_VALUE, &error) == 0, "%s", error.text))
            check(demuxer);
    }
}

TEST(bytes_that_wait_are_bounded)
{
    with_clip(DEMUX_BY_KIND, make_clip, check_bytes);
}

/* In file order, up to 64 MB of packets can be seen before they are taken. */
static void check_order(Demuxer *demuxer)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    const AVPacket *seen = NULL;
    CHECK(demuxer_peek(demuxer, MOST, &seen) == 0 && seen->size == SIDE * SIDE, "no picture");
    CHECK(demuxer_peek(demuxer, MOST + 1, &seen) == AVERROR(EAGAIN), "more than 64 MB are read");
    for (int i = 0; i <= FRAMES && CHECK(packet, "out of memory"); i++) {
        const int ret = demuxer_read(demuxer, DEMUX_VIDEO, packet, 1);
        CHECK(ret == 0 && packet->stream_index == !i, "packet %d is of another track", i);
        av_packet_unref(packet);
    }
    CHECK(demuxer_peek(demuxer, 0, &seen) == AVERROR_EOF, "more packets come");
}

TEST(tracks_in_order)
{
    with_clip(DEMUX_IN_ORDER, make_clip, check_order);
}

#define TINY 300000 /* packets of one byte */
#define TINY_MOST ((64 << 20) / (PACKET_OVERHEAD + 1) + 1)

/* All sound comes before the pictures. */
static int make_tiny_sound(const char *path)
{
    static uint8_t picture[16 * 16], sound[1];
    MadeClip clip = made_clip_begin(path, 16, RATE, SOUND_RATE);
    for (int n = 0; n < TINY; n++)
        made_clip_write(&clip, 1, n, sound, sizeof(sound));
    for (int n = 0; n < 5; n++)
        made_clip_write(&clip, 0, n, picture, sizeof(picture));
    return made_clip_end(&clip);
}

/* The demuxer stops before the pictures, and reaches them after the sound is taken. */
static void check_tiny(Demuxer *demuxer)
{
    av_usleep(2 * LONG_ENOUGH_US);
    CHECK(!pictures, "pictures are read before the sound is taken");
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    for (int i = 0; i < TINY && CHECK(packet, "out of memory"); i++) {
        if (!CHECK(demuxer_read(demuxer, DEMUX_AUDIO, packet, 1) == 0, "no packet %d", i))
            break;
        av_packet_unref(packet);
    }
    CHECK(demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == 0, "no picture comes");
}

/* If a picture is requested, the demuxer must reach it although nobody takes the sound. */
static void check_starved(Demuxer *demuxer)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    for (int i = 0; i < 5; i++) {
        CHECK(packet && demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == 0, "no picture %d", i);
        av_packet_unref(packet);
    }
    int sound = 0;
    while (demuxer_read(demuxer, DEMUX_AUDIO, packet, 0) == 0) {
        av_packet_unref(packet);
        sound++;
    }
    CHECK(sound == TINY_MOST, "%d packets of sound waited", sound);
}

/* The limit includes the overhead of tiny packets. */
TEST(tiny_packets)
{
    if (CHECK_SLOWER > 1) {
        check_skip("a sanitizer takes minutes for so many packets");
        return;
    }
    with_clip(DEMUX_BY_KIND, make_tiny_sound, check_starved);
    with_clip(DEMUX_BY_KIND, make_tiny_sound, check_tiny);
}

/* The sound comes first, and is longer than the video. */
static int make_short_video(const char *path)
{
    static uint8_t picture[16 * 16], sound[SOUND_RATE];
    MadeClip clip = made_clip_begin(path, 16, RATE, SOUND_RATE);
    made_clip_write(&clip, 1, 0, sound, sizeof(sound));
    for (int n = 0; n < 5; n++)
        made_clip_write(&clip, 0, n, picture, sizeof(picture));
    return made_clip_end(&clip);
}

static void check_end(Demuxer *demuxer)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    for (int i = 0; i < 5; i++) {
        CHECK(packet && demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == 0, "no packet %d", i);
        av_packet_unref(packet);
    }
    CHECK(demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == AVERROR_EOF, "more pictures come");
    demuxer_stop(demuxer);
    CHECK(demuxer_end(demuxer) == AV_TIME_BASE, "the end is at %lld us",
          (long long)demuxer_end(demuxer));
}

/* The end is that of the longest track, even if its packets are not the last in the file. */
TEST(end_is_that_of_the_longest_track)
{
    with_clip(DEMUX_BY_KIND, make_short_video, check_end);
}

TEST(live_keyframe_drops_older_packets)
{
    FREED_BY(source_close) Source *source = NULL;
    FREED_BY(demuxer_free) Demuxer *demuxer = NULL;
    MediaError error = {0};
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    if (open_demuxer(&source, &demuxer, LUMEQ_CLIP, DEMUX_BY_KIND)) {
        source->live = 1;
        CHECK(demuxer_start(demuxer, AV_NOPTS_VALUE, &error) == 0, "%s", error.text);
        CHECK(wait_for(CLIP_FRAMES), "%d pictures are read", pictures);
        CHECK(demuxer_dropped(demuxer) == CLIP_LAST_KEY, "%lld pictures are dropped",
              (long long)demuxer_dropped(demuxer));
        CHECK(demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == 0 &&
                  (packet->flags & AV_PKT_FLAG_KEY),
              "no keyframe comes");
    }
}

/* After a seek, the video begins with a keyframe, and earlier subtitles do not come. */
TEST(seek)
{
    static const int64_t times[] = {4200, 8200}; /* ms */
    FREED_BY(source_close) Source *source = NULL;
    FREED_BY(demuxer_free) Demuxer *demuxer = NULL;
    MediaError error = {0};
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    int count = 0, seen = 0;
    if (open_demuxer(&source, &demuxer, LUMEQ_CLIP, DEMUX_BY_KIND)) {
        CHECK(demuxer_start(demuxer, 3 * INT64_C(1000000), &error) == 0, "%s", error.text);
        while (demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == 0) {
            CHECK(seen++ || (packet->flags & AV_PKT_FLAG_KEY), "the first picture is no keyframe");
            av_packet_unref(packet);
        }
        CHECK(seen > 0 && seen < CLIP_FRAMES, "%d pictures from the middle", seen);
        while (demuxer_read(demuxer, DEMUX_SUBTITLE, packet, 0) == 0) {
            CHECK(count < 2 && packet->pts == times[count], "line %d at %lld ms", count,
                  (long long)packet->pts);
            av_packet_unref(packet);
            count++;
        }
        CHECK(count == 2, "%d lines", count);
    }
}

TEST_MAIN
