/* Stands in for histogram_device.c in builds without CUDA. */
#include <stdio.h>

#include "bench/histogram/histogram.h"

HistogramGpus *histogram_gpus_open(const HistogramJob *job, const int *devices, int count,
                                   char *text, size_t text_size)
{
    (void)job, (void)devices, (void)count;
    snprintf(text, text_size, "this build has no CUDA");
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
