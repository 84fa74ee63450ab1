/* lumeq-bench equalize: whole pictures, step by step, beside what bounds them. */
#include "bench/equalize/equalize.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

/* What there is to run on. */
typedef struct Machine {
    LumeqGpu gpu[EQUALIZE_DEVICES];
    int gpus;
    char why[256]; /* there are none */
    char names[160];
} Machine;

typedef struct Run {
    EqualizeOptions options;
    Machine machine;
    int failed;
} Run;

static void look_around(Machine *machine)
{
    machine->gpu[0].size = sizeof(machine->gpu[0]);
    const int gpus =
        lumeq_list_gpus(machine->gpu, EQUALIZE_DEVICES, machine->why, sizeof(machine->why));
    machine->gpus = gpus < 0 ? 0 : gpus < EQUALIZE_DEVICES ? gpus : EQUALIZE_DEVICES;
    if (machine->gpus)
        snprintf(machine->names, sizeof(machine->names), "%d x %s", machine->gpus,
                 machine->gpu[0].name);
    else if (gpus == 0)
        snprintf(machine->why, sizeof(machine->why), "there is no GPU");
}

static int on_gpu(int backend)
{
    return backend != EQUALIZE_CPU;
}

/* All there are, or those that were asked for, without which there is nothing to do. */
static int choose_backends(EqualizeOptions *options, const Machine *machine)
{
    const int all = options->backends == 0;
    for (int i = 0; i < EQUALIZE_BACKENDS; i++) {
        options->backend[i] = all || options->backend[i];
        if (!options->backend[i] || !on_gpu(i) || machine->gpus)
            continue;
        if (!all) {
            fprintf(stderr, "lumeq-bench equalize: backend %s: %s\n", equalize_backends[i],
                    machine->why);
            return -1;
        }
        options->backend[i] = 0;
    }
    if (all && !machine->gpus)
        fprintf(stderr, "lumeq-bench equalize: naive, improved and cuda are left out: %s\n",
                machine->why);
    if (options->depth != 8 &&
        (options->backend[EQUALIZE_NAIVE] || options->backend[EQUALIZE_IMPROVED])) {
        fprintf(stderr, "lumeq-bench equalize: naive and improved are left out: they are for "
                        "--depth 8\n");
        options->backend[EQUALIZE_NAIVE] = options->backend[EQUALIZE_IMPROVED] = 0;
    }
    return 0;
}

static int check_device(const EqualizeOptions *options, const Machine *machine)
{
    if (!machine->gpus || options->device < machine->gpus)
        return 0;
    fprintf(stderr, "lumeq-bench equalize: there is no GPU %d; there %s %d, from number 0\n",
            options->device, machine->gpus == 1 ? "is" : "are", machine->gpus);
    return -1;
}

static void run_cpu(Run *run, EqualizeCase *c)
{
    for (int i = 0; i < run->options.thread_counts; i++) {
        EqualizeRow row = equalize_row();
        c->threads = run->options.threads[i];
        if (equalize_library(c, &row) < 0)
            run->failed = 1;
        else
            equalize_report_row(bench_format(&run->options.common), c, NULL, &row);
    }
}

static void run_gpu(Run *run, const EqualizeCase *c)
{
    const EqualizeOptions *const options = &run->options;
    EqualizeRow row = equalize_row();
    char device[16];
    snprintf(device, sizeof(device), "%d", c->device);
    int ret = c->mode ? equalize_device(c, &row) : equalize_baseline(c, &row);
    if (ret == 0 && c->mode)
        ret = equalize_library(c, &row);
    if (ret == 0)
        equalize_report_row(bench_format(&options->common), c, device, &row);
    if (ret == 0 && c->mode && options->device == EQUALIZE_ALL_DEVICES)
        ret = equalize_together(c, run->machine.gpus, row.value[EQ_FRAMES_PER_S].number,
                                bench_format(&options->common));
    if (ret < 0)
        run->failed = 1;
}

/* The textbook has one mode. */
static void run_backend(Run *run, EqualizeCase *c)
{
    const int ours = c->backend == EQUALIZE_CPU || c->backend == EQUALIZE_CUDA;
    for (int i = 0; i < (ours ? run->options.modes : 1); i++) {
        c->mode = ours ? run->options.mode[i] : NULL;
        if (c->backend == EQUALIZE_CPU)
            run_cpu(run, c);
        else
            run_gpu(run, c);
    }
}

/* 0, or -1 where there is no such picture. */
static int run_picture(Run *run, int size, const char *content)
{
    const EqualizeOptions *const options = &run->options;
    EqualizeCase c = {.content = content,
                      .load_factor = options->load_factor,
                      .device = options->device == EQUALIZE_ALL_DEVICES ? 0 : options->device,
                      .seconds = options->seconds,
                      .picture = {.width = options->widths[size],
                                  .height = options->heights[size],
                                  .depth = options->depth}};
    c.picture.luma = malloc(bench_row_size(&c.picture) * (size_t)c.picture.height);
    if (!c.picture.luma)
        fprintf(stderr, "lumeq-bench: out of memory\n");
    const int ret =
        c.picture.luma ? bench_fill(&c.picture, content, (uint64_t)options->common.seed) : -1;
    for (c.backend = 0; c.backend < EQUALIZE_BACKENDS && ret == 0; c.backend++)
        if (options->backend[c.backend])
            run_backend(run, &c);
    free(c.picture.luma);
    return ret;
}

int bench_equalize(int argc, char **argv)
{
    static Run run;
    EqualizeOptions *const options = &run.options;
    const int ret = equalize_options(options, argc, argv);
    if (ret)
        return ret < 0;
    look_around(&run.machine);
    if (choose_backends(options, &run.machine) < 0 || check_device(options, &run.machine) < 0)
        return 1;
    equalize_report_begin(bench_format(&options->common), bench_command_line(argc, argv),
                          run.machine.gpus ? run.machine.names : NULL);
    for (int i = 0; i < options->sizes; i++)
        for (int k = 0; k < options->contents; k++)
            if (run_picture(&run, i, options->content[k]) < 0)
                return 1;
    return run.failed;
}
