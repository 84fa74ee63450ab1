/* Child processes: other programs, this program again, or a function in a fork of this process. A
 * child has its own process group. It gets SIGTERM when the thread that started it ends. */
#ifndef LUMEQ_MEDIA_PROCESS_H
#define LUMEQ_MEDIA_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* {0}: no process. */
typedef struct Process {
    pid_t pid;
    int output;      /* read end of the pipe that the child writes to */
    char line[1200]; /* the beginning of an incomplete line, `used` bytes */
    size_t used;
} Process;

typedef struct ProcessOptions {
    /* The program and its arguments, NULL-terminated. argv[0] is PROCESS_SELF for this program, or
     * is searched for in PATH. */
    char *const *argv;
    int stream; /* STDOUT_FILENO or STDERR_FILENO: goes to the pipe; the others to /dev/null */
    /* Called in the child if argv is NULL: writes to `output` and returns the exit code. */
    int (*body)(void *opaque, int output);
    void *opaque;
} ProcessOptions;

#define PROCESS_SELF "lumeq"

/* Returns 0 or an errno, such as ENOENT for an unknown program. */
int process_start(Process *process, const ProcessOptions *options);

/* Sends a signal to all children; the terminal's Ctrl+C does not reach them. Async-signal-safe. */
void process_signal_all(int number);

/* Waits at most `ms` milliseconds (-1: no limit) for bytes and reads them. Returns the number of
 * bytes; 0 if the child has closed its end; -1 if nothing has arrived. */
ssize_t process_read(Process *process, void *bytes, size_t size, int ms);

/* Reads until the child closes its end or `bytes` is full; then returns 1. If that takes longer
 * than `ms` milliseconds, kills the child and returns 0. *used: number of bytes read. */
int process_read_all(Process *process, void *bytes, size_t size, size_t *used, int ms);

/* Calls `take` with each line that has arrived, without its newline. Returns 0 if the child has
 * closed its end. Cuts off what does not fit into Process.line. */
int process_read_lines(Process *process, void (*take)(void *opaque, const char *line),
                       void *opaque);

/* Returns the text after "lumeq: " if the line begins with it, else the line. */
const char *process_words(const char *line);

/* Waits at most `ms` milliseconds (-1: no limit) for the child to end. Returns its status as
 * waitpid() does; -1 if it still runs or its status is unknown. Always clears *process. */
int process_wait(Process *process, int ms);

/* Cores that this process may use: at least 1. */
int process_cores(void);

#endif
