#include "bench/histogram/histogram_rows.h"

#include <math.h>
#include <string.h>

enum {
    STRATEGY,
    DEVICE,
    ELEMENTS,
    TYPE,
    BINS,
    CONTENT,
    LOAD_FACTOR,
    PARTITION,
    MEMORY,
    SATURATE,
    TIME,
    NOISE,
    ALONE,
    RATE,
    BANDWIDTH,
    SHARE_PEAK,
    SHARE_COPY,
    UP,
    DOWN,
    SPEEDUP,
    SPEEDUP_COPIES,
    RESULT,
    COLUMNS
};

static const BenchColumn columns[COLUMNS] = {
    [STRATEGY] = {"strategy", "strategy", 20, -1},
    [DEVICE] = {"device", "device", 6, -1},
    [ELEMENTS] = {"elements", "elements", 10, 0},
    [TYPE] = {"type", "type", 4, -1},
    [BINS] = {"bins", "bins", 4, 0},
    [CONTENT] = {"content", "content", 9, -1},
    [LOAD_FACTOR] = {"load_factor", NULL, 0, 0},
    [PARTITION] = {"partition", NULL, 0, -1},
    [MEMORY] = {"memory", NULL, 0, -1},
    [SATURATE] = {"saturate", NULL, 0, 0},
    [TIME] = {"time_us", "time us", 11, 2},
    [NOISE] = {"noise_percent", "noise %", 7, 1},
    [ALONE] = {"alone_us", "alone us", 9, 2},
    [RATE] = {"gelements_per_s", "Gelem/s", 8, 3},
    [BANDWIDTH] = {"gb_per_s", "GB/s", 8, 2},
    [SHARE_PEAK] = {"share_of_theoretical_percent", "theory%", 7, 1},
    [SHARE_COPY] = {"share_of_copy_percent", "copy%", 6, 1},
    [UP] = {"up_us", "up us", 9, 1},
    [DOWN] = {"down_us", "down us", 8, 1},
    [SPEEDUP] = {"speedup", "speedup", 8, 2},
    [SPEEDUP_COPIES] = {"speedup_with_copies", "+copies", 8, 2},
    [RESULT] = {"result", "result", 2, -1},
};

void histogram_report(BenchReport *report, BenchFormat format)
{
    *report = (BenchReport){format, columns, COLUMNS};
}

/* NAN where something is not known stays so. */
static void fill_times(BenchValue *values, const HistogramCase *c, int devices,
                       const HistogramOutcome *o)
{
    const double elements = (double)histogram_elements(c->job) * devices;
    const double gb_s = elements * c->job->sample_size / o->us / 1e3;
    const double copies = isfinite(o->up_us) ? o->up_us + o->down_us : 0;
    values[TIME].number = o->us;
    values[NOISE].number = 100 * o->spread_us / o->us;
    values[ALONE].number = o->alone_us;
    values[RATE].number = elements / o->us / 1e3;
    values[BANDWIDTH].number = gb_s;
    values[SHARE_PEAK].number = 100 * gb_s / o->peak_gb_s;
    values[SHARE_COPY].number = 100 * gb_s / o->copy_gb_s;
    values[UP].number = o->up_us;
    values[DOWN].number = o->down_us;
    values[SPEEDUP].number = devices * c->cpu_us / o->us;
    values[SPEEDUP_COPIES].number = devices * c->cpu_us / (o->us + copies);
}

void histogram_row(const BenchReport *report, const HistogramCase *c, const char *strategy,
                   const char *device, int devices, const HistogramOutcome *outcome,
                   const char *result)
{
    BenchValue values[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        values[i] = (BenchValue){NULL, NAN};
    values[STRATEGY].text = strategy;
    values[DEVICE].text = device;
    values[ELEMENTS].number = (double)histogram_elements(c->job) * devices;
    values[TYPE].text = c->type;
    values[BINS].number = c->job->bins;
    values[CONTENT].text = c->content;
    if (strcmp(device, "CPU")) {
        values[LOAD_FACTOR].number =
            outcome->load_factor ? (double)outcome->load_factor : (double)NAN;
        values[PARTITION].text = c->partition;
        values[MEMORY].text = c->memory;
    }
    values[SATURATE].number = c->job->saturate ? (double)c->job->saturate : (double)NAN;
    if (outcome->status == HISTOGRAM_DONE)
        fill_times(values, c, devices, outcome);
    values[RESULT].text = result;
    bench_report_row(report, values);
}

void histogram_sum_up(HistogramOutcome *all, const HistogramOutcome *outcomes, int count)
{
    double rate = 0;
    *all = outcomes[0];
    all->peak_gb_s = all->copy_gb_s = 0;
    for (int i = 0; i < count; i++) {
        const HistogramOutcome *o = &outcomes[i];
        if (o->status != HISTOGRAM_DONE) {
            *all = *o;
            return;
        }
        rate += 1 / o->us;
        all->peak_gb_s += o->peak_gb_s;
        all->copy_gb_s += o->copy_gb_s;
        all->spread_us = fmax(all->spread_us, o->spread_us);
        all->alone_us = fmax(all->alone_us, o->alone_us);
        all->up_us = fmax(all->up_us, o->up_us);
        all->down_us = fmax(all->down_us, o->down_us);
    }
    all->us = count / rate;
}
