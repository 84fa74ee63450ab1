/*
 * Linked into the program, this gives it any number of fake GPUs. Environment variables:
 *   FAKE_GPU_LOST           each process loses its GPU after this number of frames
 *   FAKE_GPU_LOST_MEASURES  each process loses its GPU after this number of measured frames
 *   FAKE_GPU_ONLY           only the GPU with this number is lost
 *   FAKE_GPU_LOG            this file gets a line for each used GPU: its number and its frames
 *   FAKE_GPU_REFUSES        no GPU can be used, for this reason
 *   FAKE_GPU_LIMIT          bytes that the surfaces of decoders may occupy
 *   FAKE_GPU_HANGS          frames hang for half a minute; the first that hangs creates this file
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fake_gpu.h"

static void note_closed(int device, int frames)
{
    const char *path = getenv("FAKE_GPU_LOG");
    const int log = path && frames ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (log < 0)
        return;
    (void)dprintf(log, "%d %d\n", device, frames);
    close(log);
}

static void *report_hang(void *unused)
{
    if (gate_wait())
        (void)close(open(getenv("FAKE_GPU_HANGS"), O_WRONLY | O_CREAT, 0600));
    return unused;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *after = getenv("FAKE_GPU_LOST"), *only = getenv("FAKE_GPU_ONLY");
    const char *measures = getenv("FAKE_GPU_LOST_MEASURES"), *limit = getenv("FAKE_GPU_LIMIT");
    fake_gpu_closed = note_closed;
    fake_gpu_refuse(getenv("FAKE_GPU_REFUSES"));
    if (getenv("FAKE_GPU_HANGS")) {
        pthread_t thread;
        gate_set(1);
        (void)pthread_create(&thread, NULL, report_hang, NULL);
    }
    if (limit)
        fake_gpu_limit(atoll(limit));
    if (only)
        fake_gpu_lose_only(atoi(only));
    if (after)
        fake_gpu_lose_after(atoi(after));
    if (measures)
        fake_gpu_lose_after_measures(atoi(measures));
}
