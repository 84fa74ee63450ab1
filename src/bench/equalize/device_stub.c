/* Stands in for what measures on the GPU in builds without CUDA, where nothing of it is called. */
#include <stdio.h>

#include "bench/bench.h"
#include "bench/equalize/equalize.h"

#define NO_CUDA "this build has no CUDA"

int bench_duplex(double *us, int number, void *const *up, void *const *down, int buffers,
                 size_t size, int count, char *text, size_t text_size)
{
    (void)us, (void)number, (void)up, (void)down, (void)buffers, (void)size, (void)count;
    snprintf(text, text_size, NO_CUDA);
    return -1;
}

static int refuse(void)
{
    fprintf(stderr, "lumeq-bench: " NO_CUDA "\n");
    return -1;
}

int equalize_device(const EqualizeCase *c, EqualizeRow *row)
{
    (void)c, (void)row;
    return refuse();
}

int equalize_baseline(const EqualizeCase *c, EqualizeRow *row)
{
    (void)c, (void)row;
    return refuse();
}
