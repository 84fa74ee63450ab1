#include "equalizer/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equalizer/arguments.h"
#include "equalizer/measure.h"
#include "equalizer/settings.h"
#include "equalizer/tone_curve.h"

/* Copies and checks the caller's configuration; NULL: the defaults. */
static int take_config(LumeqConfig *to, const LumeqConfig *from)
{
    static const LumeqConfig defaults;
    const int ret = LUMEQ_TAKE(LumeqConfig, to, from ? from : &defaults);
    return ret < 0 ? ret : lumeq_check_config(to);
}

static void close_backend(LumeqWork *work)
{
    if (work->priv)
        work->backend->close(work->priv);
    free(work->priv);
    work->priv = NULL;
}

static int open_backend(LumeqWork *work, const LumeqBackend *backend, const LumeqConfig *config,
                        char *text, size_t text_size)
{
    work->backend = backend;
    work->priv = calloc(1, backend->priv_size);
    if (!work->priv)
        return lumeq_no_memory();
    const int ret = backend->open(work->priv, config, text, text_size);
    if (ret < 0)
        close_backend(work);
    return ret;
}

/* Opens the backend that the configuration requests; `text` gets the choice and its reason. */
static int choose_backend(LumeqWork *work, const LumeqConfig *config, char *text, size_t text_size)
{
    if (config->backend == LUMEQ_BACKEND_CPU)
        return open_backend(work, &lumeq_backend_cpu, config, text, text_size);
    int ret = open_backend(work, &lumeq_backend_cuda, config, text, text_size);
    if (ret == 0 || config->backend == LUMEQ_BACKEND_CUDA)
        return ret;

    char reason[LUMEQ_ERROR_SIZE], cpu[LUMEQ_ERROR_SIZE];
    snprintf(reason, sizeof(reason), "%s", lumeq_error_text());
    ret = open_backend(work, &lumeq_backend_cpu, config, cpu, sizeof(cpu));
    if (ret == 0)
        snprintf(text, text_size, "%.100s; the GPU is not used: %.130s", cpu, reason);
    return ret;
}

int lumeq_context_create(LumeqContext **context, const LumeqConfig *config, char *why,
                         size_t why_size)
{
    char text[LUMEQ_ERROR_SIZE];
    if (!context)
        return lumeq_refuse("`context` is NULL");
    int ret = lumeq_no_memory();
    LumeqContext *made = calloc(1, sizeof(*made));
    if (made && pthread_mutex_init(&made->lock, NULL) == 0) {
        ret = take_config(&made->config, config);
        if (ret == 0)
            ret = choose_backend(&made->first, &made->config, text, sizeof(text));
        if (ret < 0)
            pthread_mutex_destroy(&made->lock);
    }
    if (ret < 0) {
        free(made);
        made = NULL;
    }
    *context = made;
    if (why)
        snprintf(why, why_size, "%s", ret < 0 ? lumeq_error_text() : text);
    if (ret == 0 && made->config.log)
        made->config.log(made->config.log_user, LUMEQ_LOG_INFO, text);
    return ret;
}

void lumeq_context_destroy(LumeqContext **context)
{
    if (!context || !*context)
        return;
    LumeqContext *c = *context;
    close_backend(&c->cpu);
    close_backend(&c->first);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *context = NULL;
}

const char *lumeq_context_backend_name(const LumeqContext *c)
{
    if (!c)
        return "";
    return atomic_load(&c->lost) ? lumeq_backend_cpu.name : c->first.backend->name;
}

const LumeqWork *lumeq_context_cpu(LumeqContext *c)
{
    char text[LUMEQ_ERROR_SIZE];
    pthread_mutex_lock(&c->lock);
    if (!c->cpu.priv)
        (void)open_backend(&c->cpu, &lumeq_backend_cpu, &c->config, text, sizeof(text));
    pthread_mutex_unlock(&c->lock);
    return c->cpu.priv ? &c->cpu : NULL;
}

/* Returns the CPU if it may take over a call that failed on the GPU, else NULL. */
static const LumeqWork *replacement(LumeqContext *c, int ret, const LumeqSync *sync, int on_host)
{
    char line[LUMEQ_ERROR_SIZE];
    const int refused = ret == LUMEQ_ERR_MEMORY;
    if (c->first.backend == &lumeq_backend_cpu || (ret != LUMEQ_ERR_GPU && !refused))
        return NULL;
    const int may = !sync && on_host && (!refused || c->config.backend != LUMEQ_BACKEND_CUDA);
    if (!refused)
        atomic_store(&c->lost, 1);
    if ((may || !refused) && !atomic_exchange(&c->warned, 1) && c->config.log) {
        snprintf(line, sizeof(line), "the CPU goes on without the GPU: %.200s", lumeq_error_text());
        c->config.log(c->config.log_user, LUMEQ_LOG_WARNING, line);
    }
    return may ? lumeq_context_cpu(c) : NULL;
}

int lumeq_take_sync(LumeqSync *to, const LumeqSync **sync, const LumeqBackend *backend)
{
    if (!*sync)
        return 0;
    if (LUMEQ_TAKE(LumeqSync, to, *sync) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (!backend->alloc_device)
        return lumeq_refuse("a LumeqSync needs the cuda backend, not %s", backend->name);
    *sync = to;
    return 0;
}

static int open_measure(LumeqContext *c, LumeqMeasure *m, const LumeqParams *params,
                        const LumeqImage *in, const LumeqImage *previous, const LumeqSync *sync)
{
    const LumeqClock clock = {0};
    LumeqMeasureJob job = lumeq_measure_job(m, params, &clock, in, previous, sync);
    job.bars.ignore = 0;
    m->pending = NULL;
    m->work = &c->first;
    int ret = c->first.backend->measure(c->first.priv, &job, &m->pending);
    const int on_host =
        in->memory == LUMEQ_MEMORY_HOST && (!previous || previous->memory == LUMEQ_MEMORY_HOST);
    const LumeqWork *cpu = replacement(c, ret, sync, on_host);
    if (cpu)
        ret = cpu->backend->measure(cpu->priv, &job, &m->pending);
    m->valid = ret == 0;
    return ret;
}

int lumeq_measure(LumeqContext *context, LumeqMeasure **measure, const LumeqParams *params,
                  const LumeqImage *in, const LumeqImage *previous, const LumeqSync *sync)
{
    LumeqParams p;
    LumeqSync own;
    if (!context || !measure || !in)
        return lumeq_refuse("`context`, `measure` or `in` is NULL");
    int ret = lumeq_take_params(&p, params);
    if (ret == 0)
        ret = lumeq_check_input(in, &p, context->first.backend);
    if (ret == 0 && previous)
        ret = lumeq_check_previous(previous, in, context->first.backend);
    if (ret == 0)
        ret = lumeq_take_sync(&own, &sync, context->first.backend);
    if (ret < 0)
        return ret;

    LumeqMeasure *made = calloc(1, sizeof(*made));
    const MeasureShape shape = lumeq_measure_shape(&p, in);
    if (!made || lumeq_measure_prepare(made, &shape) < 0)
        ret = lumeq_no_memory();
    else
        ret = open_measure(context, made, &p, in, previous, sync);
    if (ret < 0) {
        lumeq_measure_free(&made);
        return ret;
    }
    lumeq_measure_free(measure);
    *measure = made;
    return 0;
}

int lumeq_apply(LumeqContext *context, const LumeqCurve *curve, const LumeqImage *in,
                const LumeqImage *previous, int count, const LumeqImage *out, const LumeqSync *sync)
{
    LumeqSync own;
    if (!context || !curve || !in || !out || count < 0 || (count && !previous))
        return lumeq_refuse(
            "`context`, `curve`, `in`, `out` or `previous` is NULL, or `count` is negative");
    int ret = lumeq_check_pair(in, out, context->first.backend);
    if (ret == 0)
        ret = lumeq_curve_fits(curve, in);
    if (ret == 0)
        ret = lumeq_take_sync(&own, &sync, context->first.backend);
    if (ret < 0)
        return ret;
    CurveTable table;
    LumeqApplyJob job = lumeq_curve_job(curve, in, out);
    job.sync = sync;
    int on_host = in->memory == LUMEQ_MEMORY_HOST && out->memory == LUMEQ_MEMORY_HOST;
    const int wanted = lumeq_curve_previous(curve);
    for (int i = 0; i < count && i < wanted; i++) {
        ret = lumeq_check_previous(&previous[i], in, context->first.backend);
        if (ret < 0)
            return ret;
        on_host &= previous[i].memory == LUMEQ_MEMORY_HOST;
        job.previous[job.previous_count++] = previous[i];
    }
    if (wanted)
        job.table = lumeq_curve_table(curve, job.previous_count, &table);
    ret = context->first.backend->apply(context->first.priv, &job);
    const LumeqWork *cpu = replacement(context, ret, sync, on_host);
    return cpu ? cpu->backend->apply(cpu->priv, &job) : ret;
}

/* ---- memory and CUDA ---- */

void *lumeq_alloc_host(LumeqContext *c, size_t size)
{
    return c ? c->first.backend->alloc_host(c->first.priv, size) : NULL;
}

void lumeq_free_host(LumeqContext *c, void *memory)
{
    if (c && memory)
        c->first.backend->free_host(c->first.priv, memory);
}

void *lumeq_alloc_device(LumeqContext *c, size_t size)
{
    return c && c->first.backend->alloc_device ? c->first.backend->alloc_device(c->first.priv, size)
                                               : NULL;
}

void lumeq_free_device(LumeqContext *c, void *memory)
{
    if (c && memory && c->first.backend->free_device)
        c->first.backend->free_device(c->first.priv, memory);
}

int lumeq_get_cuda(LumeqContext *c, void **cuda_context, void **stream)
{
    if (cuda_context)
        *cuda_context = NULL;
    if (stream)
        *stream = NULL;
    if (!c || !cuda_context || !stream)
        return lumeq_refuse("`context`, `cuda_context` or `stream` is NULL");
    const LumeqBackend *backend = c->first.backend;
    if (!backend->get_cuda)
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE, "the %s backend has no CUDA context",
                                 backend->name);
    const int ret = backend->get_cuda(c->first.priv, cuda_context, stream);
    if (ret < 0)
        *cuda_context = *stream = NULL;
    return ret;
}
