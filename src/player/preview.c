#include "player/preview.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Request {
    int64_t position; /* AV_NOPTS_VALUE: none */
    int width, height;
} Request;

struct Preview {
    const PlayerHost *host;
    void (*wake)(void *opaque);
    void *opaque;
    pthread_t thread;
    int running;
    Thumbnail taken; /* used by the loop */

    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    int ends;
    char path[PATH_MAX]; /* "": none */
    int file;            /* incremented for each file */
    Request wanted;
    Thumbnail made; /* pixels NULL: nothing to take */
};

/* Waits for a request or a new file. Returns 0 when the thread should end. */
static int wait_for_request(Preview *p, Request *request, char *path, int *file)
{
    pthread_mutex_lock(&p->lock);
    while (!p->ends && p->wanted.position == AV_NOPTS_VALUE && p->file == *file)
        pthread_cond_wait(&p->changed, &p->lock);
    *request = p->wanted;
    p->wanted.position = AV_NOPTS_VALUE;
    *file = p->file;
    snprintf(path, PATH_MAX, "%s", p->path);
    const int goes_on = !p->ends;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void give(Preview *p, Thumbnail thumbnail, int file)
{
    pthread_mutex_lock(&p->lock);
    const int is_wanted = file == p->file;
    free(is_wanted ? p->made.pixels : thumbnail.pixels);
    if (is_wanted)
        p->made = thumbnail;
    pthread_mutex_unlock(&p->lock);
    if (is_wanted)
        p->wake(p->opaque);
}

static void *preview_main(void *arg)
{
    Preview *p = arg;
    Thumbnails *thumbnails = NULL;
    Request request;
    char path[PATH_MAX];
    int file = 0, of = 0, tried = 0;
    while (wait_for_request(p, &request, path, &file)) {
        Thumbnail made;
        MediaError error = {0};
        if (file != of) {
            thumbnails_close(&thumbnails);
            of = file;
            tried = 0;
        }
        if (request.position == AV_NOPTS_VALUE || !path[0])
            continue;
        Source *source = NULL;
        if (!tried && (p->host->open_again(p->host->opaque, path, &source, &error) < 0 ||
                       thumbnails_open(&thumbnails, source, &error) < 0))
            thumbnails = NULL; /* no previews of this file */
        tried = 1;
        if (thumbnails && thumbnails_make(thumbnails, request.position, request.width,
                                          request.height, &made, &error) >= 0)
            give(p, made, file);
    }
    thumbnails_close(&thumbnails);
    return NULL;
}

Preview *preview_create(const PlayerHost *host, void (*wake)(void *opaque), void *opaque)
{
    Preview *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->host = host;
    p->wake = wake;
    p->opaque = opaque;
    p->wanted.position = AV_NOPTS_VALUE;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

void preview_of(Preview *p, const char *path)
{
    pthread_mutex_lock(&p->lock);
    snprintf(p->path, sizeof(p->path), "%s", path ? path : "");
    p->file++;
    p->wanted.position = AV_NOPTS_VALUE;
    free(p->made.pixels);
    p->made = (Thumbnail){0};
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void preview_ask(Preview *p, int64_t position, int width, int height)
{
    if (!p->path[0])
        return;
    if (!p->running)
        p->running = pthread_create(&p->thread, NULL, preview_main, p) == 0;
    pthread_mutex_lock(&p->lock);
    p->wanted = (Request){position, width, height};
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

int preview_take(Preview *p, Canvas *canvas)
{
    pthread_mutex_lock(&p->lock);
    const Thumbnail made = p->made;
    p->made = (Thumbnail){0};
    pthread_mutex_unlock(&p->lock);
    if (!made.pixels)
        return 0;
    free(p->taken.pixels);
    p->taken = made;
    *canvas = (Canvas){made.pixels, (ptrdiff_t)made.width * 4, made.width, made.height};
    return 1;
}

void preview_free(Preview **preview)
{
    Preview *p = *preview;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ends = 1;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->running)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->taken.pixels);
    free(p->made.pixels);
    free(p);
    *preview = NULL;
}
