/* Replaces the files that need CUDA in builds without it. */
#include <stdio.h>

#include "bench/copies.h"
#include "bench/equalize/equalize.h"
#include "bench/histogram/histogram.h"

#define NO_CUDA "this build has no CUDA"

int bench_copies(double *us, long *count, int device, BenchWay way, size_t size, double seconds,
                 char *text, size_t text_size)
{
    (void)us, (void)count, (void)device, (void)way, (void)size, (void)seconds;
    snprintf(text, text_size, NO_CUDA);
    return -1;
}

double bench_gpu_memory(int device)
{
    (void)device;
    return -1;
}

int equalize_device(const EqualizeCase *c, BenchValue *row)
{
    (void)c, (void)row;
    fprintf(stderr, "lumeq-bench: " NO_CUDA "\n");
    return -1;
}

int equalize_baseline(const EqualizeCase *c, BenchValue *row)
{
    return equalize_device(c, row);
}

HistogramGpus *histogram_gpus_open(const HistogramJob *job, const int *devices, int count,
                                   char *text, size_t text_size)
{
    (void)job, (void)devices, (void)count;
    snprintf(text, text_size, NO_CUDA);
    return NULL;
}

void histogram_gpus_run(HistogramGpus *gpus, const HistogramChoice *choice,
                        HistogramOutcome *outcomes)
{
    (void)gpus, (void)choice, (void)outcomes;
}

void histogram_gpus_close(HistogramGpus *gpus)
{
    (void)gpus;
}
