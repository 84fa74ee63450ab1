/* What lumeq-bench histogram counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/command_line.h"
#include "bench/content.h"
#include "bench/histogram/histogram.h"

static uint32_t element(const uint8_t *row, int x, int sample_size)
{
    uint16_t two;
    uint32_t four;
    if (sample_size == 1)
        return row[x];
    if (sample_size == 2) {
        memcpy(&two, row + 2 * (size_t)x, sizeof(two));
        return two;
    }
    memcpy(&four, row + 4 * (size_t)x, sizeof(four));
    return four;
}

static void set_element(uint8_t *row, int x, int sample_size, uint32_t value)
{
    const uint16_t two = (uint16_t)value;
    if (sample_size == 1)
        row[x] = (uint8_t)value;
    else if (sample_size == 2)
        memcpy(row + 2 * (size_t)x, &two, sizeof(two));
    else
        memcpy(row + 4 * (size_t)x, &value, sizeof(value));
}

/* The codes of 16 bits become as many levels as there are bins, or values. */
static int fill_made_up(HistogramJob *job, const char *name, uint64_t seed)
{
    const uint32_t levels = job->sample_size == 1 && job->bins > 256 ? 256 : (uint32_t)job->bins;
    BenchContent content = {name, job->width, job->height, seed};
    uint16_t *codes = malloc((size_t)job->width * sizeof(*codes));
    if (!codes) {
        fprintf(stderr, "lumeq-bench histogram: no memory for a row of %d elements\n", job->width);
        return -1;
    }
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
    fprintf(stderr,
            "lumeq-bench histogram: %s, which is none of %s, cannot be read as a file: %s\n", name,
            BENCH_CONTENTS, errno ? strerror(errno) : "it has not one whole element");
    return -1;
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

/* A row's bytes; after the file's end it begins again. 0, or -1. */
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

static int fill_from_file(HistogramJob *job, const char *name)
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
    return ret;
}

static int check_range(const HistogramJob *job)
{
    for (int y = 0; y < job->height; y++)
        for (int x = 0; x < job->width; x++) {
            const uint32_t value = element(job->data + (size_t)y * job->pitch, x, job->sample_size);
            if (value >= (uint32_t)job->bins) {
                fprintf(stderr,
                        "lumeq-bench histogram: element %lld is %u; with --bins %d it is 0 to %d\n",
                        (long long)y * job->width + x, value, job->bins, job->bins - 1);
                return -1;
            }
        }
    return 0;
}

int histogram_fill(HistogramJob *job, const char *content, uint64_t seed)
{
    const size_t size = job->pitch * (size_t)job->height;
    job->data = malloc(size);
    if (!job->data) {
        fprintf(stderr, "lumeq-bench histogram: no memory for %zu bytes of elements\n", size);
        return -1;
    }
    memset(job->data, 0xff, size);
    if (bench_read_choice(content, bench_contents) >= 0)
        return fill_made_up(job, content, seed);
    return fill_from_file(job, content) < 0 ? -1 : check_range(job);
}
