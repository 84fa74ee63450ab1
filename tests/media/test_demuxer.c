/* A player's packets: how many bytes of them wait. */
#include <unistd.h>

#include <libavutil/time.h>

#include "../check.h"
#include "../made_clip.h"
#include "media/input/demuxer.h"

#define SIDE 2048 /* a picture has 4 MB ... */
#define FRAMES 24
#define MOST 16 /* ... and so many of them 64 MB */
#define RATE 25
#define SOUND_RATE 8000
#define LIVENESS_US (CHECK_SLOWER * 20000000)
#define LONG_ENOUGH_US 300000 /* to read on, for one that does not mind */

/* Its sound ends at once: for more of it a player would read to the end. */
static int make_clip(const char *path)
{
    static uint8_t picture[SIDE * SIDE], sound[8];
    MadeClip clip = made_clip_begin(path, SIDE, RATE, SOUND_RATE);
    made_clip_write(&clip, 1, 0, sound, sizeof(sound));
    for (int n = 0; n < FRAMES; n++)
        made_clip_write(&clip, 0, n, picture, sizeof(picture));
    return made_clip_end(&clip);
}

static int wait_for(Demuxer *demuxer, int packets)
{
    const int64_t end = av_gettime_relative() + LIVENESS_US;
    while (demuxer_waiting(demuxer, DEMUX_VIDEO) < packets && av_gettime_relative() < end)
        av_usleep(1000);
    return demuxer_waiting(demuxer, DEMUX_VIDEO) >= packets;
}

/* It stops at so many bytes, and goes on when some are taken. */
static void check_bytes(Demuxer *demuxer)
{
    AVPacket *packet = av_packet_alloc();
    for (int taken = 0; taken < FRAMES && CHECK(packet, "out of memory"); taken++) {
        const int left = FRAMES - taken, most = left < MOST ? left : MOST;
        if (!CHECK(wait_for(demuxer, most), "after %d packets, %d wait and no more come", taken,
                   demuxer_waiting(demuxer, DEMUX_VIDEO)))
            break;
        if (taken < 2)
            av_usleep(LONG_ENOUGH_US);
        const int waiting = demuxer_waiting(demuxer, DEMUX_VIDEO);
        CHECK(waiting <= MOST, "after %d packets, %d wait", taken, waiting);
        const int ret = demuxer_read(demuxer, DEMUX_VIDEO, packet, 1);
        CHECK(ret == 0 && packet->size == SIDE * SIDE, "reading answers %d", ret);
        av_packet_unref(packet);
    }
    CHECK(demuxer_read(demuxer, DEMUX_VIDEO, packet, 1) == AVERROR_EOF, "there are more");
    av_packet_free(&packet);
}

static void test_bytes(void)
{
    static const atomic_int never;
    char path[] = "/tmp/lumeq-demuxer-XXXXXX";
    const SourceOptions options = {.path = path, .max_pixels = 8192 * 8192, .stop = &never};
    Source *source = NULL;
    Demuxer *demuxer = NULL;
    MediaError error = {0};
    const int file = mkstemp(path);
    if (!CHECK(file >= 0, "no temporary file"))
        return;
    close(file);
    if (make_clip(path) && CHECK(source_open(&source, &options, &error) == 0, "%s", error.text) &&
        CHECK(demuxer_create(&demuxer, source, &error) == 0, "%s", error.text)) {
        demuxer_select(demuxer, DEMUX_VIDEO, source->format->streams[0]);
        demuxer_select(demuxer, DEMUX_AUDIO, source->format->streams[1]);
        if (CHECK(demuxer_start(demuxer, AV_NOPTS_VALUE, &error) == 0, "%s", error.text))
            check_bytes(demuxer);
    }
    demuxer_free(&demuxer);
    source_close(&source);
    unlink(path);
}

static const CheckTest tests[] = {
    {"bytes", test_bytes},
};

CHECK_MAIN(tests)
