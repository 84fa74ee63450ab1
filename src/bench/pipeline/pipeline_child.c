#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/pipeline/pipeline_run.h"

static double cpu_us(void)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void pipeline_meter_begin(PipelineMeter *meter)
{
    *meter = (PipelineMeter){.wall_us = bench_now_us(), .cpu_us = cpu_us()};
}

void pipeline_meter_end(const PipelineMeter *meter, PipelineResult *result)
{
    result->wall_us = bench_now_us() - meter->wall_us;
    result->cpu_us = cpu_us() - meter->cpu_us;
}

static void clear(PipelineResult *result)
{
    *result = (PipelineResult){.wall_us = NAN,
                               .cpu_us = NAN,
                               .memory_mib = NAN,
                               .gpu_memory_mib = NAN,
                               .gpu_busy = NAN,
                               .decode_busy = NAN,
                               .upload_busy = NAN,
                               .equalize_busy = NAN,
                               .download_busy = NAN,
                               .sink_busy = NAN};
}

/* The whole of it, though signals come between: 0 or -1. */
static int transfer(ssize_t (*move)(int fd, void *data, size_t size), int fd, void *data,
                    size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t moved = move(fd, (char *)data + done, size - done);
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0 || errno != EINTR)
            return -1;
    }
    return 0;
}

static ssize_t write_some(int fd, void *data, size_t size)
{
    return write(fd, data, size);
}

static void child_main(PipelineWork *work, const void *job, PipelineResult *result, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would take the result */
    const int failed = work(job, result) < 0;
    const int unwritten = transfer(write_some, fd, result, sizeof(*result)) < 0;
    _exit(failed || unwritten); /* what the parent has buffered for stdout is the parent's */
}

static int fail(PipelineResult *result, const char *what)
{
    snprintf(result->error, sizeof(result->error), "%s: %s", what, strerror(errno));
    return -1;
}

int pipeline_child(PipelineWork *work, const void *job, PipelineResult *result)
{
    int ends[2], status = 0;
    struct rusage used = {0};
    clear(result);
    if (pipe(ends) < 0)
        return fail(result, "no pipe");
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(work, job, result, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return fail(result, "no process");
    }
    const int whole = transfer(read, ends[0], result, sizeof(*result)) == 0;
    close(ends[0]);
    while (wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR)
            return fail(result, "the run's process is lost");
    result->memory_mib = (double)used.ru_maxrss / 1024;
    if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!whole || !result->error[0])
        snprintf(result->error, sizeof(result->error), "a run's process ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return -1;
}
