/* A pipe that is shown with little delay: the newest frame wins, whoever is slow. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live_view.h"

#define WIDTH 320
#define HEIGHT 240
#define INTERVAL_US 33333
#define FRAMES 75

static char folder[] = "/tmp/lumeq-live-XXXXXX", path[64];
static atomic_int stop;

typedef struct Writer {
    pthread_t thread;
    int64_t written[FRAMES]; /* when */
} Writer;

static void draw(uint8_t *frame, int number)
{
    memset(frame, 128, WIDTH * HEIGHT * 3 / 2);
    for (int y = 0; y < HEIGHT / 8; y++)
        for (int x = 0; x < WIDTH; x++)
            frame[y * WIDTH + x] = number >> (15 - x * 16 / WIDTH) & 1 ? 235 : 16;
}

/* Frames in real time, without B-frames or anything that has to be waited for. */
static void *write_frames(void *arg)
{
    static uint8_t frame[WIDTH * HEIGHT * 3 / 2];
    Writer *w = arg;
    FILE *file = fopen(path, "w");
    if (!CHECK(file, "cannot open %s", path))
        return NULL;
    fprintf(file, "YUV4MPEG2 W%d H%d F30:1 Ip C420jpeg\n", WIDTH, HEIGHT);
    const int64_t begin = av_gettime_relative();
    for (int i = 0; i < FRAMES; i++) {
        const int64_t due = begin + i * (int64_t)INTERVAL_US, now = av_gettime_relative();
        if (due > now)
            av_usleep((unsigned)(due - now));
        draw(frame, i);
        w->written[i] = av_gettime_relative();
        CHECK(fprintf(file, "FRAME\n") > 0 && fwrite(frame, sizeof(frame), 1, file) == 1 &&
                  fflush(file) == 0,
              "cannot write frame %d", i);
    }
    fclose(file);
    return NULL;
}

static int open_pipe(Writer *w, LiveView *view)
{
    const SourceOptions options = {
        .path = path,
        .low_latency = 1,
        .max_pixels = WIDTH * HEIGHT,
        .stop = &stop,
    };
    if (!CHECK(pthread_create(&w->thread, NULL, write_frames, w) == 0, "no thread"))
        return 0;
    return live_view_open(view, &options);
}

/* The longer one looks away, the more frames are gone; those that are there are new, apart from
 * some on a busy machine, and from the last. */
TEST(newest_wins)
{
    Writer w;
    LiveView view;
    Decoded frame;
    int dropped = 0, seen = 0, old = 0;
    if (open_pipe(&w, &view)) {
        CHECK(view.source->live, "it is not live");
        for (;; seen++) {
            const int before = view.last_number;
            if (!live_view_next(&view, &frame, LIVENESS_US))
                break;
            const int64_t age = av_gettime_relative() - w.written[view.last_number];
            CHECK(!seen || frame.skipped == view.last_number - before - 1,
                  "%d said to be dropped between %d and %d", frame.skipped, before,
                  view.last_number);
            old += age > 4 * INTERVAL_US;
            CHECK(frame.captured_at == AV_NOPTS_VALUE, "a pipe says when it was captured");
            dropped += frame.skipped;
            av_frame_free(&frame.frame);
            av_usleep(5 * INTERVAL_US);
        }
        CHECK(seen >= 5 && seen < FRAMES / 3, "%d frames were seen", seen);
        CHECK(old <= seen / 2, "of %d frames %d were old", seen, old);
        CHECK(view.last_number == FRAMES - 1, "the last one was %d", view.last_number);
        printf("%d frames seen, %d dropped, %d old\n", seen, dropped, old);
    }
    live_view_close(&view);
    pthread_join(w.thread, NULL);
}

/* Whoever keeps up misses none of what comes. */
TEST(none_is_lost)
{
    Writer w;
    LiveView view;
    Decoded frame;
    int dropped = 0, last = -1;
    if (open_pipe(&w, &view)) {
        while (live_view_next(&view, &frame, LIVENESS_US)) {
            dropped += frame.skipped;
            last = view.last_number;
            av_frame_free(&frame.frame);
        }
        CHECK(last == FRAMES - 1, "the last one was %d", last);
        CHECK(dropped < FRAMES / 2, "%d frames were dropped", dropped);
        printf("%d of %d frames dropped\n", dropped, FRAMES);
    }
    live_view_close(&view);
    pthread_join(w.thread, NULL);
}

int main(int argc, char **argv)
{
    int ret = 1;
    if (mkdtemp(folder)) {
        snprintf(path, sizeof(path), "%s/pipe.y4m", folder);
        if (mkfifo(path, 0600) == 0)
            ret = check_file(argc, argv);
        unlink(path);
        rmdir(folder);
    }
    return ret;
}
