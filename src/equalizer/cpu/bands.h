/* Divides the work on a picture among threads, in bands of rows. */
#ifndef LUMEQ_BANDS_H
#define LUMEQ_BANDS_H

#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/workers.h"

/* Bytes of luma to measure at once: they fit the caches, and the overhead is small. */
#define CPU_STRIP_BYTES (1024 * 1024)

typedef struct BandCounts {
    _Alignas(64) uint32_t hist[LUMEQ_MAX_BINS]; /* no two threads share a cache line */
    uint64_t cells[MEASURE_CELLS];
    NoiseProfile noise;
} BandCounts;

/* The threads, their kernels and memory; one caller at a time. */
typedef struct CpuTeam {
    LumeqKernels kernels;
    LumeqWorkers *workers;
    int threads;
    BandCounts *counts;   /* one per thread */
    uint8_t *lift_memory; /* memory of the filter; NULL until the first lifted picture */
    size_t lift_size;
} CpuTeam;

/* The number of bands for a picture of this size: 1..threads. */
int lumeq_count_bands(const CpuTeam *team, const LumeqImage *image);

/* The first row of a band, if `rows` rows are divided into `bands`. */
static inline int lumeq_band_start(int rows, int band, int bands)
{
    return (int)((int64_t)rows * band / bands);
}

static inline void *lumeq_row(const LumeqImage *image, int plane, int y)
{
    return (uint8_t *)image->plane[plane] + y * image->stride[plane];
}

/* A row of chroma component i, planar or interleaved (see lumeq_step()). */
static inline void *lumeq_component(const LumeqImage *image, int i, int y)
{
    if (lumeq_step(image, 1) == 1)
        return lumeq_row(image, 1 + i, y);
    return (uint8_t *)lumeq_row(image, 1, y) + i * (image->depth > 8 ? 2 : 1);
}

/* Adds the metered samples of rows [from, to) to `hist`. */
static inline void lumeq_count_rows(const CpuTeam *team, uint32_t *hist, const LumeqImage *in,
                                    const CurveParams *params, int from, int to)
{
    const LumeqImage metered = lumeq_metered(in, params);
    const int top = params->meter.y; /* 0 if everything is metered */
    const int first = from > top ? from - top : 0;
    const int end = to - top < metered.height ? to - top : metered.height;
    if (first < end)
        (in->depth > 8 ? team->kernels.histogram16 : team->kernels.histogram8)(
            hist, lumeq_row(&metered, 0, first), in->stride[0], metered.width, end - first, params);
}

/* Fills the job's counts. Counts cells and tiles only if they are not NULL, and lit samples only if
 * the job does not ignore bars. */
void lumeq_cpu_measure(const CpuTeam *team, const LumeqMeasureJob *job);

/* Converts pixels to planes, or back; in the calling thread if the team has no workers. */
void lumeq_cpu_convert(const CpuTeam *team, const LumeqPixelsJob *job);

/* Writes the job's output. Returns 0 or, only if the picture is lifted, LUMEQ_ERR_MEMORY. */
int lumeq_cpu_apply(CpuTeam *team, const LumeqApplyJob *job);

/* Copies `count` samples, which are `from_step` apart at `from` and `to_step` apart at `to`. */
#define DEFINE_TAKE(bits)                                                                          \
    static inline void take##bits(uint##bits##_t *to, int to_step, const uint##bits##_t *from,     \
                                  int from_step, int count)                                        \
    {                                                                                              \
        for (int x = 0; x < count; x++)                                                            \
            to[x * to_step] = from[x * from_step];                                                 \
    }

DEFINE_TAKE(8)
DEFINE_TAKE(16)

#endif
