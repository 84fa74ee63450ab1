/* Stands in for device.c in builds without CUDA. */
#include <stdio.h>

#include "bench/bench.h"

int bench_device(BenchDevice *times, int number, const BenchPicture *picture, char *text,
                 size_t text_size)
{
    (void)times, (void)number, (void)picture;
    snprintf(text, text_size, "this build has no CUDA");
    return -1;
}

int bench_duplex(double *us, int number, void *const *up, void *const *down, int buffers,
                 size_t size, int count, char *text, size_t text_size)
{
    (void)us, (void)number, (void)up, (void)down, (void)buffers, (void)size, (void)count;
    snprintf(text, text_size, "this build has no CUDA");
    return -1;
}
