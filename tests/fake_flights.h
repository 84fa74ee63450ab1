/* A made-up device, for fake CUDA backends: its frames in flight, which it computes on the CPU when
 * the library waits for them. A backend's own state begins with it. */
#ifndef LUMEQ_TESTS_FAKE_FLIGHTS_H
#define LUMEQ_TESTS_FAKE_FLIGHTS_H

#include <stdlib.h>

#include "equalizer/backend.h"

#define FLIGHTS 4 /* frames in flight of an equalizer */

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

static inline int fake_begin(FakeDevice *fake, const LumeqMeasureJob *job, void **pending)
{
    Flight *made = malloc(sizeof(*made));
    if (!made)
        return LUMEQ_ERR_MEMORY;
    *made = (Flight){.next = fake->flights, .job = *job, .to = *job->flight};
    *pending = fake->flights = made;
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
static inline int fake_measure(FakeDevice *fake, void *pending, const LumeqCounts *counts,
                               char *text, size_t size)
{
    LumeqMeasureJob *job = &((Flight *)pending)->job;
    void *none;
    job->counts = *counts;
    return lumeq_backend_cpu.measure(fake->cpu, job, &none, text, size);
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
