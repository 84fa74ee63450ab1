// Draws lumeq's sample clip: 275 frames, 11.00 s, 1280x720, 25 fps, 4:2:0, limited range, BT.709.
//
//   frames    seconds       picture
//     0- 99   0.00- 4.00    fog over a lake: low contrast, camera moves right (hard cut at the end)
//   100-174   4.00- 7.00    a dark room by lamp and candle; the lamp dips at 5.24 and 5.40 s
//   175-187   7.00- 7.52    the room fades to black
//   188-192   7.52- 7.72    black: luma 16, chroma 128 in every pixel
//   193-205   7.72- 8.24    the sea fades in
//   206-274   8.24-11.00    the sea at dusk
//
// The sea is letterboxed: 96 rows of luma 16 above and below, from frame 193 to the end. Beside the
// picture goes a sound of the same length, 48 kHz stereo. Everything follows from fixed seeds.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenes.h"
#include "sound.h"

enum { FRAMES = 275, CUT = 100, FADE_OUT = 175, BLACK = 188, FADE_IN = 193, FADE_FRAMES = 13 };
enum { MAX_THREADS = 16 };

typedef struct Scene {
    int first;
    bool (*prepare)(int threads);
    bool (*draw)(Picture *picture, float seconds);
    void (*release)(void);
    float grain;
    int bar;
} Scene;

static const Scene scenes[] = {
    {0, valley_prepare, valley_draw, valley_release, 0.9f, 0},
    {CUT, room_prepare, room_draw, room_release, 1.0f, 0},
    {FADE_IN, sea_prepare, sea_draw, sea_release, 1.0f, 96},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct Rows {
    pthread_mutex_t lock;
    int next, count;
    void (*task)(void *context, int row);
    void *context;
} Rows;

static void *work_rows(void *argument)
{
    Rows *rows = argument;
    for (;;) {
        pthread_mutex_lock(&rows->lock);
        const int row = rows->next++;
        pthread_mutex_unlock(&rows->lock);
        if (row >= rows->count) {
            return NULL;
        }
        rows->task(rows->context, row);
    }
}

// Runs `work` on up to `threads` threads, this one among them, until all have returned.
static void run_threads(int threads, void *(*work)(void *), void *argument)
{
    pthread_t helpers[MAX_THREADS];
    int started = 0;
    while (started + 1 < threads && pthread_create(&helpers[started], NULL, work, argument) == 0) {
        started++;
    }
    work(argument);
    for (int i = 0; i < started; i++) {
        pthread_join(helpers[i], NULL);
    }
}

void parallel_rows(int threads, int count, void (*task)(void *context, int row), void *context)
{
    Rows rows = {PTHREAD_MUTEX_INITIALIZER, 0, count, task, context};
    run_threads(threads, work_rows, &rows);
    pthread_mutex_destroy(&rows.lock);
}

// Frames are drawn side by side and written in order.
typedef struct Film {
    pthread_mutex_t lock;
    pthread_cond_t written_one;
    int next, written;
    const char *failure;
    FILE *file;
} Film;

static float fade_of(int frame)
{
    const float out = (float)(BLACK - frame) / (FADE_FRAMES + 1);
    const float in = (float)(frame - FADE_IN + 1) / (FADE_FRAMES + 1);
    return frame < BLACK ? clampf(out, 0, 1) : clampf(in, 0, 1);
}

static bool draw_frame(Picture *picture, uint8_t *yuv, int frame)
{
    const Scene *scene = scenes;
    for (int i = 1; i < SCENES && frame >= scenes[i].first; i++) {
        scene = &scenes[i];
    }
    const Develop how = {fade_of(frame), scene->grain, scene->bar, frame};
    if (how.fade > 0 && !scene->draw(picture, (float)(frame - scene->first) / VIDEO_RATE)) {
        return false;
    }
    develop(yuv, picture, &how);
    return true;
}

static bool write_frame(Film *film, const uint8_t *yuv)
{
    return fputs("FRAME\n", film->file) >= 0 && fwrite(yuv, VIDEO_BYTES, 1, film->file) == 1;
}

// Takes the next frame to draw; FRAMES when none is left.
static int take_frame(Film *film)
{
    pthread_mutex_lock(&film->lock);
    const int frame = film->failure ? FRAMES : film->next++;
    pthread_mutex_unlock(&film->lock);
    return frame;
}

// Waits for its turn and writes; `failure` instead tells why there is nothing to write.
static void deliver(Film *film, int frame, const uint8_t *yuv, const char *failure)
{
    pthread_mutex_lock(&film->lock);
    while (film->written != frame && !film->failure) {
        pthread_cond_wait(&film->written_one, &film->lock);
    }
    if (!film->failure) {
        film->failure = failure ? failure : write_frame(film, yuv) ? NULL : strerror(errno);
    }
    film->written++;
    pthread_cond_broadcast(&film->written_one);
    pthread_mutex_unlock(&film->lock);
}

static void *work_frames(void *argument)
{
    Film *film = argument;
    Picture picture = {0};
    uint8_t *yuv = malloc(VIDEO_BYTES);
    const bool ready = picture_alloc(&picture, VIDEO_WIDTH, VIDEO_HEIGHT, false) && yuv;
    int frame;
    while ((frame = take_frame(film)) < FRAMES) {
        const bool drawn = ready && draw_frame(&picture, yuv, frame);
        deliver(film, frame, yuv, drawn ? NULL : "out of memory");
    }
    free(yuv);
    picture_free(&picture);
    return NULL;
}

static int thread_count(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores;
}

// Returns NULL, or what went wrong.
static const char *draw_film(FILE *file)
{
    Film film = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, file};
    const int threads = thread_count();
    noise_init();
    develop_init();
    for (int i = 0; i < SCENES && !film.failure; i++) {
        film.failure = scenes[i].prepare(threads) ? NULL : "out of memory";
    }
    if (!film.failure &&
        fprintf(file, "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n",
                VIDEO_WIDTH, VIDEO_HEIGHT, VIDEO_RATE) < 0) {
        film.failure = strerror(errno);
    }
    if (!film.failure) {
        run_threads(threads, work_frames, &film);
    }
    for (int i = 0; i < SCENES; i++) {
        scenes[i].release();
    }
    return film.failure;
}

static const char *draw_sound(FILE *file)
{
    const float rate = VIDEO_RATE;
    const bool ok = sound_write(file, FRAMES / rate, CUT / rate, BLACK / rate);
    return ok ? NULL : strerror(errno);
}

static bool make_file(const char *path, const char *(*fill)(FILE *))
{
    FILE *file = fopen(path, "wb");
    const char *failure = file ? fill(file) : strerror(errno);
    if (file && fclose(file) != 0 && !failure) {
        failure = strerror(errno);
    }
    if (failure) {
        fprintf(stderr, "draw: cannot write %s: %s\n", path, failure);
    }
    return !failure;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: draw VIDEO.y4m SOUND.wav\n");
        return 1;
    }
    return make_file(argv[2], draw_sound) && make_file(argv[1], draw_film) ? 0 : 1;
}
