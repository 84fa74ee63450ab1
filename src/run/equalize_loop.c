#include "run/equalize_loop.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>

#include "media/gpu_frame.h"

/* Frames in flight at most: those that can be taken back. An equalizer has fewer slots. */
#define MOST LUMEQ_MAX_REWIND

struct EqualizeLoop {
    EqualizeLoopOptions options;
    const char *backend; /* at the start; the CPU takes over from a GPU that is lost */
    atomic_int lost;
    FrameMemory *memory;        /* NULL: nothing is written */
    FrameMemory *device_memory; /* of the GPU, or NULL */
    int chroma;                 /* is written, too */
    EqualizeTask tasks[MOST];   /* in flight, a ring */
    int first, count;
    int slots;      /* of the equalizer, as far as that is known */
    int gives_back; /* since the last next(), frames were given back that are to come again */
};

/* ---- what a frame is equalized into ---- */

static void *alloc_device(void *equalizer, size_t size)
{
    return lumeq_alloc_device(equalizer, size);
}

static void free_device(void *equalizer, void *memory)
{
    lumeq_free_device(equalizer, memory);
}

/* Whether what is written of a frame lies on the GPU, all of it. */
static int is_on_device(const EqualizeLoop *l, const AVFrame *frame, int chroma)
{
    for (int i = 0; i < (chroma ? 3 : 1); i++)
        if (frame->data[i] && !frame_memory_owns(l->device_memory, frame->data[i]))
            return 0;
    return 1;
}

/* NULL: the GPU has no room for it. */
static AVFrame *make_on_device(EqualizeLoop *l, const AVFrame *in)
{
    if (!l->device_memory) {
        const FrameAllocator device = {alloc_device, free_device, l->options.equalizer, 1};
        l->device_memory = frame_memory_create(&device);
    }
    AVFrame *out = l->device_memory ? frame_memory_output(l->device_memory, in, l->chroma) : NULL;
    if (out && !is_on_device(l, out, l->chroma || gpu_frame_is(in)))
        av_frame_free(&out);
    return out;
}

static int make_output(EqualizeLoop *l, const EqualizeTask *task, MediaError *error)
{
    int on_device = task->on_device && *task->on_device && l->memory &&
                    strcmp(lumeq_backend_name(l->options.equalizer), "cuda") == 0;
    AVFrame *out = on_device ? make_on_device(l, task->in) : NULL;
    on_device = out != NULL;
    if (!out)
        out = equalizer_output(l->memory, task->in, l->chroma, error);
    if (task->on_device)
        *task->on_device = on_device;
    *task->out = out;
    return out ? 0 : error->fault;
}

/* ---- frames in flight ---- */

static int failed(EqualizeLoop *l, int ret, MediaError *error)
{
    return equalizer_failed(l->options.equalizer, ret, error);
}

static EqualizeTask *task_at(EqualizeLoop *l, int index)
{
    return &l->tasks[(l->first + index) % MOST];
}

/* Nothing is decoded on it from here on, nor given back to it. */
static void note_loss(EqualizeLoop *l)
{
    if (lumeq_backend_name(l->options.equalizer) == l->backend || atomic_load(&l->lost))
        return;
    gpu_device_lose(l->options.gpu);
    l->options.note(lumeq_last_error(l->options.equalizer));
    if (l->memory)
        frame_memory_encode_on(l->memory, NULL);
    atomic_store(&l->lost, 1);
}

static int hand_in(EqualizeLoop *l, const EqualizeTask *task)
{
    LumeqFrame frame = equalizer_frame(task->in, l->memory ? *task->out : NULL);
    const LumeqImage before = equalizer_before(task->before, task->in);
    const LumeqSync sync = equalizer_after(task->in);
    if (sync.after)
        frame.sync = &sync;
    if (task->on_device && *task->on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    if (before.plane[0])
        frame.previous = &before;
    frame.number = task->number;
    const int ret = lumeq_submit(l->options.equalizer, &frame);
    if (ret == 0)
        *task_at(l, l->count++) = *task;
    return ret;
}

static int submit(EqualizeLoop *l, const EqualizeTask *task, MediaError *error);

static int is_on_lost_gpu(const EqualizeLoop *l, const EqualizeTask *task)
{
    return lumeq_backend_name(l->options.equalizer) != l->backend &&
           (gpu_frame_is(task->in) || (task->before && gpu_frame_is(task->before)));
}

/* The item is the loop's. */
static int submit_item(EqualizeLoop *l, const EqualizeTask *task, MediaError *error)
{
    const int ret = submit(l, task, error);
    if (ret > 0)
        return l->options.lost(l->options.opaque, task->item, error);
    if (ret < 0)
        l->options.free(task->item);
    return ret;
}

/* What was in flight, the oldest first, once more. */
static int submit_all(EqualizeLoop *l, EqualizeTask *tasks, int count, MediaError *error)
{
    int ret = 0;
    l->count = 0;
    for (int i = 0; i < count; i++) {
        if (ret >= 0)
            ret = submit_item(l, &tasks[i], error);
        else
            l->options.free(tasks[i].item);
    }
    return ret;
}

static int copy_tasks(EqualizeLoop *l, EqualizeTask tasks[MOST])
{
    for (int i = 0; i < l->count; i++)
        tasks[i] = *task_at(l, i);
    return l->count;
}

/* What it may still write to is left alone. */
static void leave_output(const EqualizeTask *task)
{
    if (*task->out)
        gpu_frame_leave(*task->out);
    av_frame_free(task->out);
}

/* The oldest frame in flight is lost with the GPU: gives all in flight back, so that they come
 * again. `finished`: 1 if the oldest was received. */
static int give_back(EqualizeLoop *l, int finished, MediaError *error)
{
    EqualizeTask tasks[MOST];
    const int count = copy_tasks(l, tasks), first = finished;
    lumeq_flush(l->options.equalizer);
    for (int i = 1; i < count; i++)
        finished += lumeq_receive(l->options.equalizer, NULL, NULL) == 0;
    int ret = lumeq_rewind(l->options.equalizer, finished);
    if (ret < 0)
        return failed(l, ret, error);
    l->count = 0;
    l->gives_back = 1;
    for (int i = 0; i < count; i++) {
        if (i >= first)
            leave_output(&tasks[i]);
        const int lost = l->options.lost(l->options.opaque, tasks[i].item, error);
        ret = lost < 0 ? lost : ret;
    }
    return ret;
}

/* Pictures that were to lie on a GPU that was lost: all that is in flight, once more. */
static int submit_anew(EqualizeLoop *l, MediaError *error)
{
    EqualizeTask tasks[MOST];
    const int count = copy_tasks(l, tasks);
    int ret = 0;
    for (int i = 1; i < count && ret == 0; i++) /* the first one was received */
        ret = lumeq_receive(l->options.equalizer, NULL, NULL);
    if (ret == 0)
        ret = lumeq_rewind(l->options.equalizer, count);
    if (ret < 0)
        return failed(l, ret, error);
    for (int i = 0; i < count; i++)
        av_frame_free(tasks[i].out);
    return submit_all(l, tasks, count, error);
}

/* The oldest frame is in flight no more. */
static void *pop(EqualizeLoop *l)
{
    void *item = task_at(l, 0)->item;
    l->first = (l->first + 1) % MOST;
    l->count--;
    return item;
}

/* 1: the oldest frame is finished, and is in *item, where it is the caller's; 0: it is not, or
 * there is none. */
static int receive(EqualizeLoop *l, int wait, void **item, MediaError *error)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    const EqualizeTask *task = task_at(l, 0);
    if (!l->count)
        return 0;
    if (wait)
        lumeq_flush(l->options.equalizer);
    int ret = lumeq_receive(l->options.equalizer, &frame, task->stats);
    if (ret == LUMEQ_ERR_AGAIN)
        return 0;
    note_loss(l);
    if (ret == LUMEQ_ERR_GPU && is_on_lost_gpu(l, task))
        return give_back(l, 0, error);
    if (ret == LUMEQ_ERR_GPU) /* its input is lost with the GPU, and it was given back */
        l->options.free(pop(l));
    if (ret < 0)
        return failed(l, ret, error);
    if (l->memory && !frame.out.plane[0])
        return submit_anew(l, error);
    if (task->stats)
        equalizer_place(task->stats, task->in);
    ret = equalizer_take_output(l->memory, *task->out, &frame, error);
    if (ret >= 0 && l->options.ready)
        ret = l->options.ready(l->options.opaque, task->item, error);
    if (ret == EQUALIZE_LOST)
        return give_back(l, 1, error);
    *item = pop(l);
    if (ret < 0)
        l->options.free(*item);
    return ret < 0 ? ret : 1;
}

/* As receive(). */
static int pass_on(EqualizeLoop *l, int wait, MediaError *error)
{
    void *item;
    int ret = receive(l, wait, &item, error);
    if (ret <= 0)
        return ret;
    ret = l->options.done(l->options.opaque, item, error);
    return ret < 0 ? ret : 1;
}

/* Until no more than so many frames are in flight. */
static int pass_on_until(EqualizeLoop *l, int count, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && l->count > count)
        ret = pass_on(l, 1, error);
    return ret < 0 ? ret : 0;
}

/* 1: the frame is lost with the GPU, or one before it that is to come again. All before are done.
 */
static int submit(EqualizeLoop *l, const EqualizeTask *wanted, MediaError *error)
{
    EqualizeTask task = *wanted;
    int ret = pass_on_until(l, l->slots - 1, error);
    if (ret >= 0 && is_on_lost_gpu(l, &task))
        ret = pass_on_until(l, 0, error);
    if (ret >= 0 && (l->gives_back || is_on_lost_gpu(l, &task)))
        return 1;
    if (ret >= 0)
        ret = make_output(l, &task, error);
    if (ret < 0)
        return ret;
    ret = hand_in(l, &task);
    if (ret == LUMEQ_ERR_AGAIN && l->count) {
        av_frame_free(task.out);
        l->slots = l->count;
        return submit(l, &task, error);
    }
    if (ret < 0 && is_on_lost_gpu(l, &task)) {
        note_loss(l);
        leave_output(&task);
        return submit(l, &task, error);
    }
    return ret < 0 ? failed(l, ret, error) : 0;
}

/* The item is the loop's. */
static int equalize(EqualizeLoop *l, const EqualizeTask *task, MediaError *error)
{
    int ret = 0;
    if (task->first) {
        ret = pass_on_until(l, 0, error); /* no more than since a reset can be taken back */
        lumeq_reset(l->options.equalizer);
    }
    if (ret < 0)
        l->options.free(task->item);
    else
        ret = submit_item(l, task, error);
    if (ret < 0)
        return ret;
    do
        ret = pass_on(l, 0, error);
    while (ret > 0);
    return ret;
}

/* What cannot be had back is never freed: the equalizer may still use it. */
static void take_back(EqualizeLoop *l)
{
    for (int left = MOST + 1; l->count && l->count < left;) {
        MediaError error = {0};
        void *item = NULL;
        left = l->count;
        if (receive(l, 1, &item, &error) > 0)
            l->options.free(item);
    }
    l->count = 0;
}

/* ---- */

EqualizeLoop *equalize_loop_create(const EqualizeLoopOptions *options)
{
    EqualizeLoop *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->options = *options;
    l->backend = lumeq_backend_name(options->equalizer);
    l->slots = MOST;
    return l;
}

void equalize_loop_write(EqualizeLoop *l, FrameMemory *memory, int chroma)
{
    l->memory = memory;
    l->chroma = chroma;
}

int equalize_loop_run(EqualizeLoop *l, MediaError *error)
{
    int ret;
    do {
        EqualizeTask task = {0};
        l->gives_back = 0;
        ret = l->options.next(l->options.opaque, &task, !l->count, error);
        if (ret >= 0)
            ret = equalize(l, &task, error);
        else if (ret == AVERROR(EAGAIN))
            ret = pass_on(l, 1, error);
    } while (ret >= 0);
    take_back(l);
    return ret;
}

int equalize_loop_is_lost(const EqualizeLoop *l)
{
    return atomic_load(&l->lost);
}

void equalize_loop_free(EqualizeLoop **loop)
{
    if (*loop)
        frame_memory_close(&(*loop)->device_memory);
    free(*loop);
    *loop = NULL;
}
