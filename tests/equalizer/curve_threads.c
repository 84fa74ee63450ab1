/*
 * The group of curve_types.h as POSIX threads. They share the work like a block of CUDA threads
 * (curve_group.cuh), with the same barriers and no others: ThreadSanitizer then reports a missing
 * barrier without a GPU.
 */
#include "curve_threads.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

#define THREADS 8

static _Thread_local int own_thread, own_turn;
static pthread_barrier_t group;
static uint32_t lanes[LUMEQ_MAX_BINS]; /* data of a warp's shuffles */

#define CURVE_FN static inline
/* The largest error that a GPU may have. */
#define CURVE_INVERSE(d) nextafterf(1 / (d), 2)
#define CURVE_ROLLED
#define CURVE_EACH(i, n) for (int i = own_thread; i < (n); i += THREADS)
/* Each thread has its own arrays, and uses its bins of them. */
#define CURVE_OWN(bins, i) ((bins)[i])
#define CURVE_OWNED(n) (n)

CURVE_FN void curve_barrier(void)
{
    pthread_barrier_wait(&group);
}

CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
    uint32_t sum = 0;
    scratch[own_thread] = value;
    curve_barrier();
    for (int i = 0; i < THREADS; i++)
        sum += scratch[i];
    return sum;
}

CURVE_FN void curve_sum2(uint32_t values[2], uint32_t *scratch)
{
    scratch[own_thread] = values[0];
    scratch[32 + own_thread] = values[1];
    curve_barrier();
    values[0] = values[1] = 0;
    for (int i = 0; i < THREADS; i++) {
        values[0] += scratch[i];
        values[1] += scratch[32 + i];
    }
}

CURVE_FN uint32_t curve_max(uint32_t value, uint32_t *scratch)
{
    scratch[own_thread] = value;
    curve_barrier();
    for (int i = 0; i < THREADS; i++)
        value = scratch[i] > value ? scratch[i] : value;
    return value;
}

/* One barrier, like the hardware's: the conditions of two consecutive calls are adjacent. */
CURVE_FN uint32_t curve_any(uint32_t condition)
{
    static uint32_t conditions[2][THREADS];
    uint32_t any = 0, *all = conditions[own_turn];
    own_turn = !own_turn;
    all[own_thread] = condition;
    curve_barrier();
    for (int i = 0; i < THREADS; i++)
        any |= all[i] != 0;
    return any;
}

/* Neighbouring lanes run in step. */
CURVE_FN uint32_t curve_cell(const uint32_t *values, int i, int width)
{
    uint32_t sum = 0;
    lanes[i] = values[i];
    curve_barrier();
    for (int lane = i / width * width; lane < (i / width + 1) * width; lane++)
        sum += lanes[lane];
    return sum;
}

CURVE_FN void curve_scan(uint32_t *values, int n, uint32_t *scratch)
{
    scratch[own_thread] = 0;
    CURVE_EACH (i, n)
        lanes[i] = values[i];
    curve_barrier();
    uint32_t sum = 0;
    int next = 0;
    CURVE_EACH (i, n) {
        while (next <= i)
            sum += lanes[next++];
        values[i] = sum;
    }
    curve_barrier();
}

#include "equalizer/curve.h"

typedef struct Task {
    pthread_t thread;
    int number;
    const CurveParams *params;
    const uint32_t *counts;
    const CurveResult *before;
    CurveResult *result;
    CurveTable *table;
    CurveBin was[CURVE_BINS], now[CURVE_BINS];
} Task;

static CurveWork work;

static void *compute(void *opaque)
{
    Task *t = opaque;
    own_thread = t->number;
    own_turn = 0;
    CURVE_EACH (i, t->params->bins)
        t->now[i].hist = t->counts[i];
    CURVE_EACH (i, t->params->bins)
        t->was[i] = t->before->bin[i];
    curve_compute(t->params, t->before, t->was, t->result, t->now, t->table, &work);
    CURVE_EACH (i, t->params->bins)
        t->result->bin[i] = t->now[i];
    return NULL;
}

int curve_by_threads(const void *params, const uint32_t *counts, const void *before, void *result,
                     void *table)
{
    static Task tasks[THREADS];
    int error = pthread_barrier_init(&group, NULL, THREADS);
    if (error)
        return error;
    for (int i = 0; i < THREADS; i++) {
        tasks[i].number = i;
        tasks[i].params = params;
        tasks[i].counts = counts;
        tasks[i].before = before;
        tasks[i].result = result;
        tasks[i].table = table;
    }
    for (int i = 1; i < THREADS; i++) {
        error = pthread_create(&tasks[i].thread, NULL, compute, &tasks[i]);
        if (error)
            return error; /* threads at the barrier end with the program */
    }
    compute(&tasks[0]);
    for (int i = 1; i < THREADS; i++)
        pthread_join(tasks[i].thread, NULL);
    pthread_barrier_destroy(&group);
    return 0;
}
