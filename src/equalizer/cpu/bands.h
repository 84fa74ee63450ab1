/* Work on a picture that is shared among threads: in bands of rows. */
#ifndef LUMEQ_BANDS_H
#define LUMEQ_BANDS_H

#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/workers.h"

/* Rows that are measured at once: they stay in a core's second cache. */
#define CPU_STRIP_BYTES (256 * 1024)

/* What computes: one caller at a time. */
typedef struct CpuTeam {
    LumeqKernels kernels;
    LumeqWorkers *workers;
    int threads;
} CpuTeam;

/* How many bands such a picture is worth: 1..threads. */
int lumeq_count_bands(const CpuTeam *team, const LumeqImage *image);

/* First of a band's rows, of `rows` in all. */
static inline int lumeq_band_start(int rows, int band, int bands)
{
    return (int)((int64_t)rows * band / bands);
}

static inline void *lumeq_row(const LumeqImage *image, int plane, int y)
{
    return (uint8_t *)image->plane[plane] + y * image->stride[plane];
}

/* Fills the job's counts. MEMORY. */
int lumeq_cpu_measure(const CpuTeam *team, const LumeqMeasureJob *job);

/* Writes the job's output. MEMORY: only where it is laid out in another way than the input. */
int lumeq_cpu_apply(const CpuTeam *team, const LumeqApplyJob *job);

#endif
