/* Frames through the library, beside the copies that bound them. */
#include <pthread.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/equalize/equalize_feed.h"

/* The frames and the copies alone take turns this often; the median of each counts. */
#define ROUNDS 5

/* One of the GPUs that work at the same time. */
typedef struct Worker {
    const EqualizeCase *of;
    Feed feed;
    double frame_us[ROUNDS], duplex_us[ROUNDS]; /* of each round */
    int device, round, ret;
    pthread_t thread;
} Worker;

static double rate(double us)
{
    return 1e6 / us;
}

static int measure_cpu(const EqualizeCase *c, Feed *feed, EqualizeRow *row)
{
    double us = 0, alone = 0;
    int ret = feed_time_alone(feed, c->seconds, &alone);
    if (ret == 0)
        ret = feed_time(feed, c->seconds, &us);
    row->value[EQ_CPU_TOTAL_US].number = alone;
    row->value[EQ_FRAMES_PER_S].number = rate(us);
    return ret;
}

static int measure_gpu(const EqualizeCase *c, Feed *feed, EqualizeRow *row)
{
    double frame[ROUNDS], duplex[ROUNDS], alone = 0, resident = 0;
    int ret = feed_time_resident(feed, c->device, c->seconds / ROUNDS, &resident);
    for (int i = 0; i < ROUNDS && ret == 0; i++) {
        ret = feed_time_duplex(feed, c->device, c->seconds / ROUNDS, &duplex[i]);
        if (ret == 0)
            ret = feed_time(feed, c->seconds / ROUNDS, &frame[i]);
    }
    if (ret == 0)
        ret = feed_time_alone(feed, c->seconds / ROUNDS, &alone);
    if (ret < 0)
        return ret;
    row->value[EQ_FRAMES_PER_S].number = rate(bench_median(frame, ROUNDS));
    row->value[EQ_DUPLEX_FRAMES_PER_S].number = rate(bench_median(duplex, ROUNDS));
    row->value[EQ_HOST_TOTAL_US].number = alone;
    row->value[EQ_RESIDENT_US].number = resident;
    return 0;
}

int equalize_library(const EqualizeCase *c, EqualizeRow *row)
{
    Feed feed = {0};
    int ret = feed_open(&feed, c, c->device);
    if (ret == 0)
        ret = feed_check(&feed);
    if (ret == 0)
        ret = (c->backend == EQUALIZE_CUDA ? measure_gpu : measure_cpu)(c, &feed, row);
    feed_close(&feed);
    row->value[EQ_CHECKED].text = ret == 0 ? "yes" : NULL;
    return ret;
}

static void *work_open(void *data)
{
    Worker *const w = data;
    w->ret = feed_open(&w->feed, w->of, w->device);
    return NULL;
}

static void *work_copy(void *data)
{
    Worker *const w = data;
    w->ret =
        feed_time_duplex(&w->feed, w->device, w->of->seconds / ROUNDS, &w->duplex_us[w->round]);
    return NULL;
}

static void *work_equalize(void *data)
{
    Worker *const w = data;
    w->ret = feed_time(&w->feed, w->of->seconds / ROUNDS, &w->frame_us[w->round]);
    return NULL;
}

/* Each in a thread of its own, all at the same time. */
static int all_do(Worker *workers, int count, void *(*work)(void *))
{
    int started = 0, ret = 0;
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    if (started < count) {
        fprintf(stderr, "lumeq-bench: there is no thread left for GPU %d\n", started);
        ret = -1;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].ret < 0)
            ret = -1;
    }
    return ret;
}

static int measure_together(Worker *workers, int count)
{
    int ret = all_do(workers, count, work_open);
    for (int i = 0; i < count && ret == 0; i++)
        ret = feed_check(&workers[i].feed);
    for (int round = 0; round < ROUNDS && ret == 0; round++) {
        for (int i = 0; i < count; i++)
            workers[i].round = round;
        ret = all_do(workers, count, work_copy);
        if (ret == 0)
            ret = all_do(workers, count, work_equalize);
    }
    return ret;
}

static void report_together(Worker *workers, int count, double alone, BenchFormat format)
{
    EqualizeRow all = equalize_row();
    double frames = 0, copies = 0;
    for (int i = 0; i < count; i++) {
        EqualizeRow row = equalize_row();
        char device[32];
        snprintf(device, sizeof(device), "%d/%d", i, count);
        frames += row.value[EQ_FRAMES_PER_S].number =
            rate(bench_median(workers[i].frame_us, ROUNDS));
        copies += row.value[EQ_DUPLEX_FRAMES_PER_S].number =
            rate(bench_median(workers[i].duplex_us, ROUNDS));
        row.value[EQ_CHECKED].text = "yes";
        equalize_report_row(format, workers[i].of, device, &row);
    }
    all.value[EQ_FRAMES_PER_S].number = frames;
    all.value[EQ_DUPLEX_FRAMES_PER_S].number = copies;
    all.value[EQ_LINEARITY].number = frames / alone;
    all.value[EQ_CHECKED].text = "yes";
    equalize_report_row(format, workers[0].of, "all", &all);
}

int equalize_together(const EqualizeCase *c, int count, double alone, BenchFormat format)
{
    static Worker workers[EQUALIZE_DEVICES];
    for (int i = 0; i < count; i++)
        workers[i] = (Worker){.of = c, .device = i};
    const int ret = measure_together(workers, count);
    if (ret == 0)
        report_together(workers, count, alone, format);
    for (int i = 0; i < count; i++)
        feed_close(&workers[i].feed);
    return ret;
}
