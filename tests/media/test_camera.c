/* A running (fake) camera: timestamps, damaged frames, unplugging, return, and closing. */
#include <sys/resource.h>

#include <libavutil/time.h>

#include "fake_camera.h"
#include "run/input.h"

#define RATE 30
#define INTERVAL_US (1000000 / RATE)
#define LIVENESS_US (CHECK_SLOWER * 10000000)

static const CameraOptions small = {.width = 640, .height = 480, .format = "mjpeg"};

/* Maximum lateness on a busy machine: of any frame, and of the least late of many frames. */
#define LATE_US (CHECK_SLOWER * INT64_C(2500000))
#define LATE_AT_BEST_US (CHECK_SLOWER * 500000)

/* Attempts on a busy machine; one attempt must be in time. */
#define TRIALS 10

/* ---- packets ---- */

#define MOST_FRAMES 300 /* frames to wait for at most on a busy machine */

/* A camera's state, its state after some frames, and the expected intervals. */
typedef struct Times {
    const char *words, *then; /* `then` NULL: no change */
    int64_t interval, tolerance;
    int settled;  /* first frame whose interval is checked */
    int in_a_row; /* consecutive correct intervals that are needed */
} Times;

/* Checks a frame's times. Returns 1 if the interval is as expected. */
static int check_frame(const Times *t, int i, const AVPacket *packet, int64_t captured,
                       int64_t last)
{
    const int64_t now = av_gettime_relative(), apart = packet->pts - last;
    const char *words = t->then ? t->then : t->words;
    CHECK(i || packet->pts == 0, "the first frame is at %lld", (long long)packet->pts);
    CHECK(packet->dts == packet->pts, "pts %lld, dts %lld", (long long)packet->pts,
          (long long)packet->dts);
    CHECK(!i || (apart > 0 && apart < LATE_US), "'%s': %lld us between two frames", words,
          (long long)apart);
    CHECK(captured <= now && captured > now - LATE_US, "'%s': captured %lld us ago", words,
          (long long)(now - captured));
    CHECK(llabs(packet->duration - t->interval) <= 1, "duration %lld", (long long)packet->duration);
    if (i < t->settled || llabs(apart - t->interval) <= t->tolerance)
        return 1;
    printf("'%s': %lld us between two frames, not %lld\n", words, (long long)apart,
           (long long)t->interval);
    return 0;
}

/* A busy machine loses frames, so the interval may take some frames to settle. */
static void check_times(const Times *t)
{
    Source *source;
    MediaError error;
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    int64_t last = -1;
    int held = 0;
    fake_camera_is(t->words);
    if (CHECK(fake_camera_open(&source, &small, &error) == 0, "%s", error.text)) {
        for (int i = 0; i < MOST_FRAMES && held < t->in_a_row; i++) {
            if (!CHECK(source_read(source, packet) == 0, "reading fails"))
                break;
            const int64_t captured = camera_captured_at(source->camera, packet->pts);
            const int holds = check_frame(t, i, packet, captured, last);
            held = holds && i >= t->settled ? held + 1 : 0;
            last = packet->pts;
            av_packet_unref(packet);
            if (i == 5 && t->then)
                av_usleep(5 * INTERVAL_US);
            if (i == 6 && t->then)
                fake_camera_is(t->then);
        }
        CHECK(held == t->in_a_row, "'%s': frames are not as far apart as the camera says",
              t->then ? t->then : t->words);
        source_close(&source);
    }
}

TEST(timestamps_have_even_intervals)
{
    static const Times times[] = {
        {"", NULL, INTERVAL_US, 2, 1, 19},
        {"rate=15", NULL, 1000000 / 15, 2, 1, 19},
        {"noclock", NULL, INTERVAL_US, LATE_US, 1, 19}, /* frames are timed by arrival */
    };
    for (int i = 0; i < 3 && fake_camera_ready(); i++)
        check_times(&times[i]);
}

static int read_and_drop(Source *source, AVPacket *packet)
{
    const int ret = source_read(source, packet);
    av_packet_unref(packet);
    return ret;
}

TEST(unplugging_ends_a_recording)
{
    Source *source;
    MediaError error;
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    if (!fake_camera_ready())
        return;
    if (CHECK(fake_camera_open(&source, &small, &error) == 0, "%s", error.text)) {
        int ret = 0;
        for (int i = 0; i < 5 && ret == 0; i++)
            ret = read_and_drop(source, packet);
        fake_camera_is("gone");
        for (int i = 0; i < 100 && ret == 0; i++) /* frames captured before still come */
            ret = read_and_drop(source, packet);
        const CameraStatus status = camera_status(source->camera);
        CHECK(ret == AVERROR_EOF, "source_read() returns %d", ret);
        CHECK(status.state == CAMERA_GONE && strstr(status.why, "unplugged"), "state %d, '%s'",
              status.state, status.why);
        source_close(&source);
    }
}

static long count_waits(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/* Reading from a stalled camera does not poll in a busy loop. */
static void check_idle(const char *words, const char *then)
{
    Source *source;
    MediaError error;
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    fake_camera_is(words);
    if (CHECK(fake_camera_open(&source, &small, &error) == 0, "%s", error.text)) {
        int ret = 0;
        for (int i = 0; i < 5 && ret == 0; i++)
            ret = read_and_drop(source, packet);
        fake_camera_is(then);
        const int64_t begin = av_gettime_relative();
        const long before = count_waits();
        while (ret == 0)
            ret = read_and_drop(source, packet);
        const long waits = count_waits() - before;
        const int64_t took = av_gettime_relative() - begin;
        printf("'%s': waited %ld times in %lld us\n", then, waits, (long long)took);
        CHECK(ret == AVERROR_EOF && waits * 5000 < took, "returns %d after %ld waits in %lld us",
              ret, waits, (long long)took);
        source_close(&source);
    }
}

TEST_IF(stalled_camera_is_not_polled_busily, fake_camera_ready())
{
    check_idle("", "stall");
    check_idle("norate", "norate stall");
}

/* ---- frames ---- */

/* A camera that is read and decoded as in the player. */
typedef struct LiveView {
    Source *source;
    Input *input;
    MediaError error;
    int64_t last;    /* position of the last frame */
    int last_number; /* number that this frame shows */
} LiveView;

/* The number that a frame shows: 16 fields in its top eighth, one for each bit. */
static int live_view_number(const AVFrame *frame)
{
    const uint8_t *row = frame->data[0] + (ptrdiff_t)(frame->height / 16) * frame->linesize[0];
    int number = 0;
    for (int i = 0; i < 16; i++)
        number = number << 1 | (row[(2 * i + 1) * frame->width / 32] >= 128);
    return number;
}

static int open_view(LiveView *v)
{
    CameraOptions waiting = small;
    waiting.wait = 1;
    const SourceOptions from = {.camera = &waiting, .max_pixels = 8192 * 8192, .stop = &fake_stop};
    const InputOptions options = {.to_us = -1, .frames = -1, .shown = 1};
    const InputStart start = {.position = AV_NOPTS_VALUE};
    *v = (LiveView){.last = -1};
    return CHECK(source_open(&v->source, &from, &v->error) == 0 &&
                     input_open(&v->input, v->source, &options, &v->error) == 0 &&
                     input_start(v->input, &start, &v->error) == 0,
                 "%s", v->error.text);
}

/* Returns the duration of closing, in us. */
static int64_t live_view_close(LiveView *v)
{
    const int64_t begin = av_gettime_relative();
    input_close(&v->input);
    source_close(&v->source);
    return av_gettime_relative() - begin;
}

/* Waits for the next frame; returns 0 if none comes within `patience`. */
static int live_view_next(LiveView *v, Decoded *frame, int64_t patience)
{
    const int64_t end = av_gettime_relative() + patience;
    Frame *received = NULL;
    int ret;
    while ((ret = input_take(v->input, &received, QUEUE_TRY, &v->error)) == AVERROR(EAGAIN) &&
           av_gettime_relative() < end)
        av_usleep(500);
    if (ret < 0)
        return 0;
    *frame = received->decoded;
    received->decoded = (Decoded){0};
    frame_free(&received);
    CHECK(frame->position > v->last, "position %lld after %lld", (long long)frame->position,
          (long long)v->last);
    v->last = frame->position;
    v->last_number = live_view_number(frame->frame);
    return 1;
}

static int live_view_skip(LiveView *v, int count)
{
    for (int i = 0; i < count; i++) {
        Decoded frame;
        if (!CHECK(live_view_next(v, &frame, LIVENESS_US), "no frame comes: %s", v->error.text))
            return 0;
        av_frame_free(&frame.frame);
    }
    return 1;
}

static void check_damage(const char *words)
{
    LiveView view;
    Decoded frame;
    if (open_view(&view) && live_view_skip(&view, 3)) {
        const int before = view.last_number;
        fake_camera_is(words);
        av_usleep(6 * INTERVAL_US);
        while (live_view_next(&view, &frame, 0)) /* cut pictures may be shown in part */
            av_frame_free(&frame.frame);
        fake_camera_is("");
        CHECK(camera_status(view.source->camera).state == CAMERA_RUNNING,
              "'%s': the camera is gone", words);
        for (int i = 0; i < MOST_FRAMES && view.last_number <= before + 6; i++)
            if (!live_view_skip(&view, 1)) /* on a slow machine, earlier frames come first */
                break;
        CHECK(view.last_number > before + 6, "'%s': frame %d after %d", words, view.last_number,
              before);
    }
    live_view_close(&view);
}

TEST_IF(damaged_pictures_are_skipped, fake_camera_ready())
{
    check_damage("malformed");
    check_damage("flagged");
    check_damage("cut");
}

/* ---- unplugging and return ---- */

static int wait_for(LiveView *v, CameraState state, const char *why, int64_t patience)
{
    const int64_t end = av_gettime_relative() + patience;
    Decoded frame;
    do {
        const CameraStatus status = camera_status(v->source->camera);
        if (status.state == state && strstr(status.why, why))
            return 1;
        if (live_view_next(v, &frame, 0))
            av_frame_free(&frame.frame);
        av_usleep(1000);
    } while (av_gettime_relative() < end);
    return 0;
}

static int wait_for_state(LiveView *v, CameraState state, int64_t patience)
{
    return wait_for(v, state, "", patience);
}

/* Checks that the camera is gone in the state `words`, and back in the state `then`. */
static void check_return(const char *words, const char *why, const char *then)
{
    LiveView view;
    if (open_view(&view) && live_view_skip(&view, 5)) {
        const int64_t zero = camera_captured_at(view.source->camera, 0);
        int64_t late = INT64_MAX;
        fake_camera_is(words);
        CHECK(wait_for_state(&view, CAMERA_GONE, LIVENESS_US), "'%s': the camera still runs",
              words);
        const CameraStatus gone = camera_status(view.source->camera);
        CHECK(strstr(gone.why, why), "'%s': the reason is '%s'", words, gone.why);
        av_usleep(300000);
        fake_camera_is(then);
        CHECK(wait_for_state(&view, CAMERA_RUNNING, LIVENESS_US), "'%s': the camera stays away",
              words);
        const CameraStatus back = camera_status(view.source->camera);
        CHECK(back.returns == 1 && !back.why[0], "the camera came back %d times, '%s'",
              (int)back.returns, back.why);
        live_view_skip(&view, 4);
        for (int i = 0; i < MOST_FRAMES && late >= LATE_AT_BEST_US && live_view_skip(&view, 1); i++)
            late = llabs(av_gettime_relative() - zero - view.last);
        CHECK(late < LATE_AT_BEST_US, "'%s': frames are %lld us late", words, (long long)late);
    }
    live_view_close(&view);
    fake_camera_is("");
}

TEST(camera_comes_back)
{
    if (!fake_camera_ready())
        return;
    check_return("gone", "unplugged (No such device)", "");
    check_return("eio", "unplugged (Input/output error)", "");
    check_return("stall", "no picture for 2 s", "");
    check_return("gone", "unplugged", "at=/dev/video4");
}

/* A camera may come back in steps: first without permission, or in use by another program. */
TEST(camera_comes_back_in_steps)
{
    static const char *const words[][2] = {{"gone", "unplugged"}, {"denied", "no permission"},
                                           {"gone", "unplugged"}, {"busy", "another program"},
                                           {"full", "no room"},   {"stall", "no picture"}};
    LiveView view;
    if (!fake_camera_ready())
        return;
    if (open_view(&view) && live_view_skip(&view, 3)) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            fake_camera_is(words[i][0]);
            CHECK(wait_for_state(&view, CAMERA_GONE, LIVENESS_US), "the camera still runs");
            CHECK(!wait_for_state(&view, CAMERA_RUNNING, 600000), "'%s': the camera is back",
                  words[i][0]);
            CHECK(wait_for(&view, CAMERA_GONE, words[i][1], LIVENESS_US), "'%s': reason '%s'",
                  words[i][0], camera_status(view.source->camera).why);
            const int unusable = camera_status(view.source->camera).unusable;
            CHECK(unusable == (words[i][1][0] != 'u' && strcmp(words[i][0], "stall") != 0),
                  "'%s': unusable: %d", words[i][0], unusable);
        }
        fake_camera_is("");
        CHECK(wait_for_state(&view, CAMERA_RUNNING, 2 * LIVENESS_US), "the camera stays away");
        live_view_skip(&view, 5);
    }
    live_view_close(&view);
}

/* Closing a camera that is gone does not wait for the next attempt to open it. */
static void check_close(const char *words, int64_t after)
{
    int64_t took = INT64_MAX;
    for (int i = 0; i < TRIALS && took >= CHECK_SLOWER * 250000; i++) {
        LiveView view;
        if (open_view(&view) && live_view_skip(&view, 3)) {
            fake_camera_is(words);
            av_usleep((unsigned)after);
        }
        took = live_view_close(&view);
        fake_camera_is("");
    }
    CHECK(took < CHECK_SLOWER * 250000, "'%s': closing took %lld us", words, (long long)took);
}

TEST_IF(closing_is_quick, fake_camera_ready())
{
    check_close("", 0);
    check_close("gone", 100000);
    check_close("gone", 900000);
    check_close("stall", 300000);
    check_close("stall", 2500000);
    check_close("gone denied", 900000);
    check_close("gone busy", 900000);
}

TEST(another_camera_is_not_shown)
{
    LiveView view;
    if (!fake_camera_ready())
        return;
    if (open_view(&view) && live_view_skip(&view, 3)) {
        fake_camera_is("gone");
        CHECK(wait_for_state(&view, CAMERA_GONE, LIVENESS_US), "the camera still runs");
        fake_camera_is("name=Other");
        CHECK(!wait_for_state(&view, CAMERA_RUNNING, 1500000), "another camera is shown");
        fake_camera_is("at=/dev/video2 bus=usb-fake-2"); /* another camera of this model */
        CHECK(!wait_for_state(&view, CAMERA_RUNNING, 1500000), "the same model is shown");
        fake_camera_is("");
        CHECK(wait_for_state(&view, CAMERA_RUNNING, LIVENESS_US), "the camera stays away");
    }
    live_view_close(&view);
}

TEST_MAIN
