/* A process of this program that does a part of the work, and whose lines are read. It ends with
 * the process that started it. For one thread, which has to last as long as the process. */
#ifndef LUMEQ_JOB_CHILD_PROCESS_H
#define LUMEQ_JOB_CHILD_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "media/error.h"

#define CHILD_LINE_BYTES 1200

/* {0} is none. */
typedef struct ChildProcess {
    pid_t pid;
    int lines;                   /* the end of a pipe that its standard error comes from */
    char line[CHILD_LINE_BYTES]; /* that is not whole yet */
    size_t used;
} ChildProcess;

/* `argv`: its arguments, the first the program's name, NULL at the end. `aside`: it gives way to
 * others, and signals of a terminal are not for it. MEDIA_OUTPUT. */
int child_process_start(ChildProcess *child, char *const argv[], int aside, MediaError *error);

/* Reads what there is without waiting, and hands on each whole line. 0: it has ended. */
int child_process_read(ChildProcess *child, void (*take)(void *opaque, const char *line),
                       void *opaque);

/* A line without the program's name before it. */
const char *child_process_words(const char *line);

/* Waits for its end; answers its status, as of waitpid(). */
int child_process_end(ChildProcess *child);

#endif
