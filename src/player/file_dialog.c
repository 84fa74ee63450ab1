#include "player/file_dialog.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The dialogs of GNOME and KDE. Both print the chosen path. */
static const char *const zenity[] = {"zenity", "--file-selection", "--title=lumeq", NULL};
static const char *const kdialog[] = {"kdialog",           "--title", "lumeq",
                                      "--getopenfilename", ".",       NULL};
static const char *const *const programs[] = {zenity, kdialog};

int file_dialog_show(FileDialog *d)
{
    d->length = d->process.pid ? d->length : 0;
    for (int i = 0; !d->process.pid && i < 2; i++) {
        const ProcessOptions options = {.argv = (char *const *)programs[i],
                                        .stream = STDOUT_FILENO};
        (void)process_start(&d->process, &options);
    }
    return d->process.pid ? 0 : -1;
}

/* Removes only the line break that the dialog appends. A file name may contain others. */
const char *file_dialog_take(FileDialog *d)
{
    if (!d->process.pid)
        return NULL;
    const ssize_t got =
        process_read(&d->process, d->path + d->length, sizeof(d->path) - 1 - d->length, 0);
    d->length += got > 0 ? (size_t)got : 0;
    if (got) /* more may follow */
        return NULL;
    const int status = process_wait(&d->process, -1);
    if (d->length && d->path[d->length - 1] == '\n')
        d->length--;
    d->path[d->length] = '\0';
    return d->length && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? d->path : NULL;
}

void file_dialog_close(FileDialog *d)
{
    if (!d->process.pid)
        return;
    kill(d->process.pid, SIGTERM);
    (void)process_wait(&d->process, -1);
}
