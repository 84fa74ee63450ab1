/*
 * Child processes: other programs, this program again, or a function in a fork of this process.
 * Callers can read the output of a child. A child has a process group of its own, and gets SIGTERM
 * when the thread that started it ends.
 */
#ifndef LUMEQ_MEDIA_PROCESS_H
#define LUMEQ_MEDIA_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* {0}: none. */
typedef struct Process {
    pid_t pid;
    int output;      /* the pipe of what it writes */
    char line[1200]; /* the beginning of a line that is not whole yet */
    size_t used;
} Process;

typedef struct ProcessOptions {
    /* The program and its arguments, NULL at the end. Its other standard streams are /dev/null. */
    char *const *argv; /* argv[0] is looked for in PATH; PROCESS_SELF is this program */
    int stream;        /* STDOUT_FILENO or STDERR_FILENO goes to the pipe */
    /* If argv is NULL: returns the exit code, and writes to `output`. */
    int (*body)(void *opaque, int output);
    void *opaque;
} ProcessOptions;

#define PROCESS_SELF "lumeq"

/* Returns 0 or an errno, also if there is no such program. */
int process_start(Process *process, const ProcessOptions *options);

/* Sends a signal to all children and their groups, as a terminal does not. Async-signal-safe. */
void process_signal_all(int number);

/* Reads the bytes that have arrived; waits at most `ms` for some, -1: until there are. Returns
 * their number; 0: the child has closed its end; -1: nothing yet. */
ssize_t process_read(Process *process, void *bytes, size_t size, int ms);

/* Reads until the child closes its end or the bytes are full, for at most `ms`. Returns 0 if time
 * is up, after killing it. *used: bytes that arrived. */
int process_read_all(Process *process, void *bytes, size_t size, size_t *used, int ms);

/* Hands on the lines that have arrived, each without its end. Returns 0 if the child has closed its
 * end. */
int process_read_lines(Process *process, void (*take)(void *opaque, const char *line),
                       void *opaque);

/* A line that this program wrote, without the program's name before it. */
const char *process_words(const char *line);

/* Waits at most `ms`, -1: until the child ends. Returns the status as of waitpid(), or -1: it still
 * runs, or its status is unknown. Clears *process. */
int process_wait(Process *process, int ms);

/* Cores that this process may use: at least 1. */
int process_cores(void);

#endif
