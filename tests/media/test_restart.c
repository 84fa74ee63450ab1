/*
 * reader_restart() at random frames: the frames from there on, and all packets, are those of a
 * straight run, bit by bit. Arguments: a file; optionally where the part begins and ends (us), and
 * the maximum number of frames, or -1. CHECK_SEED: as in check.h.
 */
#include <pthread.h>

#include "check.h"
#include "media/compat.h"
#include "media/input/reader.h"
#include "media/input/track_choice.h"
#include "media/log.h"
#include "run/video_feed.h"

#define MOST_FRAMES 1000
#define MOST_PACKETS 8000
#define TRACKS 8
#define RESTARTS 8

typedef struct Seen {
    struct {
        int64_t pts, duration;
        uint32_t sum;
    } frames[MOST_FRAMES];
    struct {
        int64_t pts, dts;
        uint32_t sum;
    } packets[TRACKS][MOST_PACKETS];
    int frame_count, packet_counts[TRACKS], damaged;
    char damage[256];
} Seen;

static const atomic_int never;
static const char *path;
static int64_t from_us = -1, to_us = -1, most_frames = -1;

static uint32_t sum_of(uint32_t sum, const uint8_t *data, int size)
{
    for (int i = 0; i < size; i++)
        sum = sum * 16777619U ^ data[i];
    return sum;
}

static uint32_t sum_of_frame(const AVFrame *frame)
{
    uint32_t sum = (uint32_t)frame->color_range;
    for (int plane = 0; plane < 3 && frame->data[plane]; plane++) {
        const int rows = plane ? (frame->height + 1) / 2 : frame->height;
        for (int y = 0; y < rows; y++)
            sum = sum_of(sum, frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane],
                         plane ? frame->width / 2 : frame->width);
    }
    return sum;
}

static void note_packet(Seen *seen, const AVPacket *p)
{
    int *count = &seen->packet_counts[p->stream_index % TRACKS];
    if (!CHECK(*count < MOST_PACKETS, "too many packets"))
        return;
    seen->packets[p->stream_index % TRACKS][*count].pts = p->pts;
    seen->packets[p->stream_index % TRACKS][*count].dts = p->dts;
    seen->packets[p->stream_index % TRACKS][*count].sum = sum_of(1, p->data, p->size);
    ++*count;
}

static void note_decoded(Seen *seen, const Decoded *m)
{
    for (int i = 0; i < m->packet_count; i++)
        note_packet(seen, m->packets[i]);
    if (!m->frame || !CHECK(m->number < MOST_FRAMES, "too many frames"))
        return;
    CHECK(m->number == seen->frame_count, "frame %d has the number %d", seen->frame_count,
          (int)m->number);
    seen->frames[m->number].pts = m->frame->pts;
    seen->frames[m->number].duration = FRAME_DURATION(m->frame);
    seen->frames[m->number].sum = sum_of_frame(m->frame);
    seen->frame_count++;
}

/* Reads `count` frames; -1: to the end. */
static void read_frames(Reader *reader, int count, Seen *seen)
{
    MediaError error = {0};
    for (int ret = 0; ret >= 0 && (count < 0 || seen->frame_count < count);) {
        Decoded decoded = {0};
        ret = reader_next(reader, &decoded, &error);
        if (ret >= 0)
            note_decoded(seen, &decoded);
        decoded_clear(&decoded);
    }
    CHECK(!error.fault, "%s", error.text);
}

/* Restarts at frame `number` after `count` frames; count -1: a straight run. */
static void read_file(int count, int number, int threads, Seen *seen)
{
    const SourceOptions options = {.path = path, .max_pixels = 1 << 26, .stop = &never};
    const ReaderOptions wanted = {.from_us = from_us,
                                  .to_us = to_us,
                                  .frames = most_frames,
                                  .copy = 1,
                                  .decoder = {.threads = threads}};
    MediaError error = {0};
    FREED_BY(source_close) Source *source = NULL;
    Reader *reader = NULL;
    memset(seen, 0, sizeof(*seen));
    if (source_open(&source, &options, &error) >= 0)
        reader_open(&reader, source, &wanted, &error);
    if (CHECK(reader != NULL, "%s", error.text)) {
        CHECK(reader_can_restart(reader), "it cannot restart");
        if (count >= 0) {
            read_frames(reader, count, seen);
            CHECK(reader_restart(reader, number, &error) == 0, "%s", error.text);
            seen->frame_count = number;
        }
        read_frames(reader, -1, seen);
        seen->damaged = reader_damage(reader, seen->damage, sizeof(seen->damage));
    }
    reader_close(&reader);
}

static void compare(const Seen *seen, const Seen *expected)
{
    int other_frames = 0, other_packets = 0;
    CHECK(seen->frame_count == expected->frame_count, "%d frames, not %d", seen->frame_count,
          expected->frame_count);
    for (int i = 0; i < seen->frame_count && i < expected->frame_count; i++)
        other_frames +=
            memcmp(&seen->frames[i], &expected->frames[i], sizeof(seen->frames[i])) != 0;
    CHECK(!other_frames, "%d frames are others", other_frames);
    for (int t = 0; t < TRACKS; t++) {
        CHECK(seen->packet_counts[t] == expected->packet_counts[t], "track %d: %d packets, not %d",
              t, seen->packet_counts[t], expected->packet_counts[t]);
        for (int i = 0; i < seen->packet_counts[t] && i < expected->packet_counts[t]; i++)
            other_packets += memcmp(&seen->packets[t][i], &expected->packets[t][i],
                                    sizeof(seen->packets[t][i])) != 0;
    }
    CHECK(!other_packets, "%d packets are others", other_packets);
    CHECK(seen->damaged == expected->damaged && !strcmp(seen->damage, expected->damage),
          "\"%s\", not \"%s\"", seen->damage, expected->damage);
}

/* Mostly by a few frames, as many as are in flight when a GPU is lost. */
static void restarts_at_any_frame(void)
{
    static Seen expected, seen;
    CheckRandom random = check_random(0);
    read_file(-1, 0, 1, &expected);
    CHECK(expected.frame_count > 4, "%d frames", expected.frame_count);
    for (int i = 0; i < RESTARTS; i++) {
        const int count = check_below(&random, expected.frame_count + 1);
        const int most = i % 4 ? (count < 40 ? count : 40) : count;
        const int number = count - check_below(&random, most + 1);
        const int failed = check_state.failed;
        /* With threads, FFmpeg conceals damage differently from run to run. */
        read_file(count, number, expected.damaged ? 1 : 1 + i % 2, &seen);
        compare(&seen, &expected);
        if (check_state.failed != failed)
            fprintf(stderr, "%s: at frame %d, once %d had come\n", path, number, count);
    }
    printf("%d frames, damage: %s\n", expected.frame_count, expected.damage);
}

/* ---- the same for a window ---- */

typedef struct Played {
    Source *source;
    Demuxer *demuxer;
    VideoFeed *feed;
    MediaError error;
} Played;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int events;

static void wake(void *opaque)
{
    (void)opaque;
    pthread_mutex_lock(&lock);
    events++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int receive(Played *p, Decoded *frame)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        const int known = events;
        pthread_mutex_unlock(&lock);
        Frame *received = NULL;
        const int ret = video_feed_receive(p->feed, &received, &p->error);
        if (ret >= 0) {
            *frame = received->decoded;
            received->decoded = (Decoded){0};
            frame_free(&received);
        }
        if (ret != AVERROR(EAGAIN))
            return ret;
        pthread_mutex_lock(&lock);
        while (events == known)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
}

/* The sound is read by another thread, which goes on meanwhile. */
static void *read_sound(void *arg)
{
    Played *p = ((void **)arg)[0];
    Seen *seen = ((void **)arg)[1];
    AVPacket *packet = av_packet_alloc();
    while (demuxer_read(p->demuxer, DEMUX_AUDIO, packet, 1) >= 0) {
        note_packet(seen, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return NULL;
}

/* Until `count` frames are there, -1: to the end. Answers the number of the last one. */
static int play(Played *p, int count, FeedPlace *places, Seen *seen)
{
    Decoded frame;
    while ((count < 0 || seen->frame_count < count) && receive(p, &frame) >= 0) {
        const int at = (int)frame.number - 1;
        if (CHECK(at == seen->frame_count && at < MOST_FRAMES, "frame %d has the number %d",
                  seen->frame_count, at)) {
            places[at] = (FeedPlace){frame.position, frame.number};
            seen->frames[at].pts = frame.frame->pts;
            seen->frames[at].sum = sum_of_frame(frame.frame);
        }
        seen->frame_count++;
        av_frame_free(&frame.frame);
    }
    return seen->frame_count;
}

static int open_played(Played *p)
{
    const SourceOptions options = {.path = path, .max_pixels = 1 << 26, .stop = &never};
    const VideoFeedOptions feed = {.end = AV_NOPTS_VALUE,
                                   .frames = -1,
                                   .range = AVCOL_RANGE_UNSPECIFIED,
                                   .decoder = {.threads = 1},
                                   .wake = wake};
    memset(p, 0, sizeof(*p));
    if (source_open(&p->source, &options, &p->error) < 0 ||
        demuxer_create(&p->demuxer, p->source, &p->error) < 0)
        return 0;
    demuxer_select(p->demuxer, DEMUX_VIDEO, p->source->video);
    demuxer_select(p->demuxer, DEMUX_AUDIO, track_best(p->source, AVMEDIA_TYPE_AUDIO));
    return video_feed_open(&p->feed, p->source, p->demuxer, &feed, &p->error) == 0;
}

/* As read_file(), from `position` on. */
static void play_file(int64_t position, int count, int number, Seen *seen)
{
    static FeedPlace places[MOST_FRAMES];
    const FeedStart start = {.position = position};
    Played p;
    pthread_t sound;
    void *of_sound[] = {&p, seen};
    memset(seen, 0, sizeof(*seen));
    if (CHECK(open_played(&p) && demuxer_start(p.demuxer, position, &p.error) == 0 &&
                  video_feed_start(p.feed, &start, &p.error) == 0 &&
                  pthread_create(&sound, NULL, read_sound, of_sound) == 0,
              "%s", p.error.text)) {
        if (count >= 0) {
            play(&p, count, places, seen);
            demuxer_pause(p.demuxer);
            const FeedPlace first = {0, 1};
            CHECK(video_feed_restart(p.feed, number ? &places[number] : &first, &p.error) == 0,
                  "%s", p.error.text);
            seen->frame_count = number;
        }
        play(&p, -1, places, seen);
        pthread_join(sound, NULL);
        demuxer_stop(p.demuxer);
    }
    video_feed_close(&p.feed);
    demuxer_free(&p.demuxer);
    source_close(&p.source);
}

static void a_window_restarts_at_any_frame(void)
{
    static Seen expected, seen;
    CheckRandom random = check_random(1);
    for (int i = 0; i < RESTARTS; i++) {
        const int64_t position = i % 2 ? 1500000 : AV_NOPTS_VALUE;
        play_file(position, -1, 0, &expected);
        const int count = 1 + check_below(&random, expected.frame_count);
        const int number = count - 1 - check_below(&random, count < 20 ? count : 20);
        const int failed = check_state.failed;
        play_file(position, count, number, &seen);
        compare(&seen, &expected);
        if (check_state.failed != failed)
            fprintf(stderr, "%s: a window at frame %d, once %d had come\n", path, number, count);
    }
}

static void ignore(const char *line)
{
    (void)line;
}

int main(int argc, char **argv)
{
    static const CheckTest tests[] = {
        {"restarts_at_any_frame", restarts_at_any_frame},
        {"a_window_restarts_at_any_frame", a_window_restarts_at_any_frame},
    };
    if (argc < 2)
        return CHECK_SKIPPED;
    path = argv[1];
    from_us = argc > 2 ? atoll(argv[2]) : -1;
    to_us = argc > 3 ? atoll(argv[3]) : -1;
    most_frames = argc > 4 ? atoll(argv[4]) : -1;
    media_log_install(0, ignore, NULL);
    argv[1] = argv[0];
    return check_main(tests, argc > 2 ? 1 : 2, 1, argv + 1);
}
