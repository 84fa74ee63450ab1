#include "player/screenshot.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/file_name.h"
#include "media/output/picture_file.h"
#include "player/window.h"

/* leaves room for "-123.45.67.890-1234.png" */
#define MAX_STEM (NAME_MAX - 32)

struct Screenshot {
    pthread_t thread;
    int running;     /* the thread must be joined */
    atomic_int done; /* joining will not block */

    /* Used by the thread while it runs. */
    const char *folder; /* borrowed; NULL: the video's folder, or the current one */
    char path[PATH_MAX];
    int64_t position;
    uint8_t *pixels;
    int width, height;
    int written;
    char text[PATH_MAX + 64];
};

Screenshot *screenshot_create(void)
{
    return calloc(1, sizeof(Screenshot));
}

bool screenshot_is_busy(Screenshot *s)
{
    return s->running;
}

/* "FOLDER/NAME-0.01.23.456"; some systems forbid colons in names. */
static void base_name(const Screenshot *s, int beside, char *base, size_t size)
{
    const char *slash = strrchr(s->path, '/');
    const char *name = strcmp(s->path, "-") == 0 ? "lumeq" : file_name_base(s->path);
    const char *folder = s->folder ? s->folder : "";
    int length = (int)strlen(folder);
    if (!s->folder && beside && slash) {
        folder = s->path;
        length = (int)(slash - s->path);
    }
    while (length > 0 && folder[length - 1] == '/') /* "DIR/" is DIR */
        length--;
    const char *dot = strrchr(name, '.');
    const size_t whole = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    const int stem = (int)(whole > MAX_STEM ? file_name_cut(name, MAX_STEM) : whole);
    const int64_t ms = s->position > 0 ? s->position / 1000 : 0;
    snprintf(base, size, "%.*s%s%.*s-%d.%02d.%02d.%03d", length, folder, *folder ? "/" : "", stem,
             name, (int)(ms / 3600000), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60),
             (int)(ms % 1000));
}

static int write_at(Screenshot *s, int beside, char *name, size_t size, MediaError *error)
{
    char base[PATH_MAX + NAME_MAX];
    base_name(s, beside, base, sizeof(base));
    return picture_file_write(base, s->pixels, (ptrdiff_t)s->width * 4, s->width, s->height, name,
                              size, error);
}

static void *screenshot_main(void *arg)
{
    Screenshot *s = arg;
    char name[PATH_MAX];
    MediaError error = {0};
    s->written = (!s->folder && write_at(s, 1, name, sizeof(name), &(MediaError){0}) >= 0) ||
                 write_at(s, 0, name, sizeof(name), &error) >= 0;
    if (s->written)
        snprintf(s->text, sizeof(s->text), "Screenshot: %s", name);
    else
        snprintf(s->text, sizeof(s->text), "No screenshot: %s", error.text);
    free(s->pixels);
    s->pixels = NULL;
    atomic_store(&s->done, 1);
    window_wake(NULL);
    return NULL;
}

int screenshot_start(Screenshot *s, const char *folder, const char *path, int64_t position,
                     uint8_t *pixels, int width, int height)
{
    s->folder = folder;
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->position = position;
    s->pixels = pixels;
    s->width = width;
    s->height = height;
    atomic_store(&s->done, 0);
    s->running = pthread_create(&s->thread, NULL, screenshot_main, s) == 0;
    if (s->running)
        return 0;
    free(pixels);
    s->pixels = NULL;
    return -1;
}

int screenshot_result(Screenshot *s, char *text, size_t size)
{
    if (!s->running || !atomic_load(&s->done))
        return 0;
    pthread_join(s->thread, NULL);
    s->running = 0;
    snprintf(text, size, "%s", s->text);
    return s->written ? 1 : -1;
}

void screenshot_free(Screenshot **screenshot)
{
    Screenshot *s = *screenshot;
    if (s && s->running)
        pthread_join(s->thread, NULL);
    free(s);
    *screenshot = NULL;
}
