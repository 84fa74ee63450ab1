#include "player/file_dialog.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "media/process.h"

struct FileDialog {
    void (*wake)(void *opaque);
    void *opaque;
    pthread_t thread;
    int running;
    atomic_int done;

    /* Used by the thread while it runs. */
    Process process;
    pid_t child; /* its process id, to end it */
    char path[PATH_MAX];
};

/* Both print the chosen name. Which one is installed depends on the desktop. */
static const char *const zenity[] = {"zenity", "--file-selection", "--title=lumeq", NULL};
static const char *const kdialog[] = {"kdialog",           "--title", "lumeq",
                                      "--getopenfilename", ".",       NULL};
static const char *const *const programs[] = {zenity, kdialog};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

FileDialog *file_dialog_create(void (*wake)(void *opaque), void *opaque)
{
    FileDialog *d = calloc(1, sizeof(*d));
    if (d) {
        d->wake = wake;
        d->opaque = opaque;
    }
    return d;
}

/* A file name may contain any bytes; the program adds only the final line break. */
static void *dialog_main(void *arg)
{
    FileDialog *d = arg;
    size_t length = 0;
    ssize_t got;
    while (length < sizeof(d->path) - 1 &&
           (got = process_read(&d->process, d->path + length, sizeof(d->path) - 1 - length, -1)) >
               0)
        length += (size_t)got;
    const int status = process_wait(&d->process, -1);
    if (length && d->path[length - 1] == '\n')
        length--;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        length = 0;
    d->path[length] = '\0';
    atomic_store(&d->done, 1);
    d->wake(d->opaque);
    return NULL;
}

int file_dialog_show(FileDialog *d)
{
    if (d->running)
        return 0;
    int reason = 1;
    for (size_t i = 0; reason && i < PROGRAMS; i++) {
        const ProcessOptions options = {.argv = (char *const *)programs[i],
                                        .stream = STDOUT_FILENO};
        reason = process_start(&d->process, &options);
    }
    if (reason)
        return -1;
    d->child = d->process.pid;
    atomic_store(&d->done, 0);
    d->running = pthread_create(&d->thread, NULL, dialog_main, d) == 0;
    if (d->running)
        return 0;
    kill(d->child, SIGTERM);
    (void)process_wait(&d->process, -1);
    return -1;
}

int file_dialog_take(FileDialog *d, char *path, size_t size)
{
    if (!d->running || !atomic_load(&d->done))
        return 0;
    pthread_join(d->thread, NULL);
    d->running = 0;
    snprintf(path, size, "%s", d->path);
    return path[0] != '\0';
}

void file_dialog_free(FileDialog **dialog)
{
    FileDialog *d = *dialog;
    if (!d)
        return;
    if (d->running) {
        if (!atomic_load(&d->done))
            kill(d->child, SIGTERM);
        pthread_join(d->thread, NULL);
    }
    free(d);
    *dialog = NULL;
}
