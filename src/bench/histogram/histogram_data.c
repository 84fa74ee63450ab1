/* The elements that lumeq-bench histogram counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/content.h"
#include "bench/histogram/histogram.h"

/* Rows are aligned to elements. */
static uint32_t element(const void *row, int x, int sample_size)
{
    return sample_size == 1   ? ((const uint8_t *)row)[x]
           : sample_size == 2 ? ((const uint16_t *)row)[x]
                              : ((const uint32_t *)row)[x];
}

static void set_element(void *row, int x, int sample_size, uint32_t value)
{
    if (sample_size == 1)
        ((uint8_t *)row)[x] = (uint8_t)value;
    else if (sample_size == 2)
        ((uint16_t *)row)[x] = (uint16_t)value;
    else
        ((uint32_t *)row)[x] = value;
}

/* Scales 16-bit codes to the number of bins, or of values if that is smaller. */
static int generate(HistogramJob *job, const char *name, uint64_t seed)
{
    const uint32_t levels = job->sample_size == 1 && job->bins > 256 ? 256 : (uint32_t)job->bins;
    BenchContent content = {name, job->width, job->height, seed};
    uint16_t *codes = malloc((size_t)job->width * sizeof(*codes));
    if (!codes)
        return bench_refuse("histogram", "no memory for a row of %d elements", job->width);
    for (int y = 0; y < job->height; y++) {
        bench_content_row(&content, y, codes);
        for (int x = 0; x < job->width; x++)
            set_element(job->data + (size_t)y * job->pitch, x, job->sample_size,
                        codes[x] * levels >> 16);
    }
    free(codes);
    return 0;
}

static int cannot_read(const char *name)
{
    return bench_refuse("histogram", "%s is not one of %s, and cannot be read as a file: %s", name,
                        BENCH_CONTENTS, errno ? strerror(errno) : "it has no whole element");
}

int histogram_file_elements(const char *name, int sample_size, int64_t *elements)
{
    errno = 0;
    FILE *file = fopen(name, "rb");
    const int failed = !file || fseek(file, 0, SEEK_END) < 0;
    const long size = failed ? 0 : ftell(file);
    *elements = size / sample_size;
    if (file)
        fclose(file);
    return size < sample_size ? cannot_read(name) : 0;
}

/* Reads whole elements; starts again at the end of the file. Returns 0, or -1. */
static int read_row(FILE *file, uint8_t *row, size_t size, size_t sample_size)
{
    for (size_t done = 0; done < size;) {
        const size_t got = fread(row + done, sample_size, (size - done) / sample_size, file);
        if (!got && (ftell(file) < (long)sample_size || fseek(file, 0, SEEK_SET) < 0))
            return -1;
        done += got * sample_size;
    }
    return 0;
}

static int read_file(HistogramJob *job, const char *name)
{
    const size_t sample_size = (size_t)job->sample_size;
    int ret = 0;
    errno = 0;
    FILE *file = fopen(name, "rb");
    if (!file)
        return cannot_read(name);
    for (int y = 0; y < job->height && ret == 0; y++)
        ret = read_row(file, job->data + (size_t)y * job->pitch, (size_t)job->width * sample_size,
                       sample_size);
    if (ret < 0)
        cannot_read(name);
    fclose(file);
    for (int y = 0; y < job->height && ret == 0; y++)
        for (int x = 0; x < job->width && ret == 0; x++) {
            const uint32_t value = element(job->data + (size_t)y * job->pitch, x, job->sample_size);
            if (value >= (uint32_t)job->bins)
                ret = bench_refuse("histogram", "element %lld is %u; with --bins %d it is 0 to %d",
                                   (long long)y * job->width + x, value, job->bins, job->bins - 1);
        }
    return ret;
}

int histogram_fill(HistogramJob *job, const char *content, uint64_t seed)
{
    const size_t size = job->pitch * (size_t)job->height;
    job->data = malloc(size);
    if (!job->data)
        return bench_refuse("histogram", "no memory for %zu bytes of elements", size);
    memset(job->data, 0xff, size);
    return bench_content_index(content) < 0 ? read_file(job, content)
                                            : generate(job, content, seed);
}
