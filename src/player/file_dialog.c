#include "player/file_dialog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct FileDialog {
    void (*wake)(void *opaque);
    void *opaque;
    pthread_t thread;
    int running;
    atomic_int done;

    /* Of the thread while it runs. */
    pid_t child;
    int answer; /* what the program writes */
    char path[PATH_MAX];
};

/* Each writes the name of the file to its standard output; which of them there is depends on the
 * desktop. */
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

/* 0 or an errno. What the program itself has to say is nobody's. */
static int spawn(FileDialog *d, const char *const *program, int to)
{
    posix_spawn_file_actions_t actions;
    int ret = posix_spawn_file_actions_init(&actions);
    if (ret)
        return ret;
    ret = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (!ret)
        ret = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!ret)
        ret = posix_spawnp(&d->child, program[0], &actions, NULL, (char *const *)program, environ);
    posix_spawn_file_actions_destroy(&actions);
    return ret;
}

static int spawn_any(FileDialog *d)
{
    int ends[2], ret = ENOENT;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    for (size_t i = 0; ret && i < PROGRAMS; i++)
        ret = spawn(d, programs[i], ends[1]);
    close(ends[1]);
    d->answer = ends[0];
    if (ret)
        close(ends[0]);
    return ret;
}

/* A name may have any bytes; the line break behind it is the program's. */
static void *dialog_main(void *arg)
{
    FileDialog *d = arg;
    size_t length = 0;
    ssize_t got;
    int status = 0;
    while (length < sizeof(d->path) - 1 &&
           ((got = read(d->answer, d->path + length, sizeof(d->path) - 1 - length)) > 0 ||
            (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    close(d->answer);
    while (waitpid(d->child, &status, 0) < 0 && errno == EINTR)
        ;
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
    if (spawn_any(d))
        return -1;
    atomic_store(&d->done, 0);
    d->running = pthread_create(&d->thread, NULL, dialog_main, d) == 0;
    if (d->running)
        return 0;
    kill(d->child, SIGTERM);
    close(d->answer);
    (void)waitpid(d->child, NULL, 0);
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
