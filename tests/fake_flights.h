/* A made-up device, for fake CUDA backends: its frames in flight, which it computes on the CPU when
 * the library waits for them. A backend's own state begins with it. */
#ifndef LUMEQ_TESTS_FAKE_FLIGHTS_H
#define LUMEQ_TESTS_FAKE_FLIGHTS_H

#include <stdlib.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"
#include "equalizer/rule/curve.h"

#define FLIGHTS LUMEQ_FLIGHTS

typedef struct Flight {
    struct Flight *next;
    LumeqMeasureJob job;
    LumeqFlight to;
    int written, landed; /* the copy to the output is queued; the library has received it */
} Flight;

typedef struct FakeDevice {
    _Alignas(max_align_t) char cpu[1 << 20];
    Flight *flights; /* newest first */
} FakeDevice;

static inline int fake_open(FakeDevice *fake, const LumeqConfig *config, char *text, size_t size)
{
    return lumeq_backend_cpu.priv_size > sizeof(fake->cpu)
               ? LUMEQ_ERR_MEMORY
               : lumeq_backend_cpu.open(fake->cpu, config, text, size);
}

static inline int fake_place(FakeDevice *fake, const LumeqMeasureJob *job,
                             const LumeqFlight *flight, void **pending)
{
    Flight *made = calloc(1, sizeof(*made));
    *pending = NULL;
    if (!made)
        return LUMEQ_ERR_MEMORY;
    made->next = fake->flights;
    made->job = *job;
    made->to = *flight;
    *pending = fake->flights = made;
    return 0;
}

/* Histogram and curve of a frame of the reference, as a GPU makes them by itself. */
static inline int fake_curve(void *cpu, const LumeqMeasureJob *of, uint32_t *hist, TileSums *sums,
                             CurveTable *table, TileTables *tables)
{
    static _Thread_local uint32_t counts[2][TILES_MAX][TILE_CELLS];
    static _Thread_local BarsProfile lines;
    static _Thread_local NoiseProfile noise;
    static _Thread_local HazeCell haze[MEASURE_CELLS];
    static _Thread_local CurveWork work;
    static _Thread_local LumeqState state;
    static const LumeqState none;
    LumeqMeasureJob job = *of;
    void *pending;
    job.sync = NULL;
    job.counts = (LumeqCounts){.hist = hist,
                               .noise = &noise,
                               .haze = haze,
                               .lit = {lines.lit[BARS_COLUMNS], lines.lit[BARS_ROWS]},
                               .tiles = job.clahe ? counts[0] : NULL,
                               .padding = job.clahe ? counts[1] : NULL};
    const int ret = lumeq_backend_cpu.measure(cpu, &job, &pending);
    if (ret < 0)
        return ret;
    memset(&state.curve, 0, offsetof(CurveResult, bin));
    curve_compute(&job.curve, hist, &none.curve, &state.curve, table, &work);
    if (job.clahe)
        lumeq_tile_curves(&job.grid, counts[0], counts[1], &state.curve, &none.tiles, &state.tiles,
                          tables);
    *sums = state.tiles.sums;
    return 0;
}

static inline int fake_in_flight(const FakeDevice *fake)
{
    int count = 0;
    for (const Flight *f = fake->flights; f; f = f->next)
        count += !f->landed;
    return count;
}

/* Only now, so that a device that is lost before has not done it. */
static inline int fake_measure(FakeDevice *fake, void *pending, const LumeqCounts *counts)
{
    LumeqMeasureJob *job = &((Flight *)pending)->job;
    void *none;
    job->counts = *counts;
    return lumeq_backend_cpu.measure(fake->cpu, job, &none);
}

static inline void fake_leave(void *fake, void *pending)
{
    Flight **at = &((FakeDevice *)fake)->flights;
    while (*at != pending)
        at = &(*at)->next;
    *at = ((Flight *)pending)->next;
    free(pending);
}

static inline void fake_close(FakeDevice *fake)
{
    while (fake->flights)
        fake_leave(fake, fake->flights);
    lumeq_backend_cpu.close(fake->cpu);
}

#endif
