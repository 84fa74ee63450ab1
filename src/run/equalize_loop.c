#include "run/equalize_loop.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>

#include "media/gpu_frame.h"

/* Frames in flight at most: those that lumeq_rewind() can take back. Equalizers have fewer slots.
 */
#define MOST LUMEQ_MAX_REWIND

struct EqualizeLoop {
    EqualizeLoopOptions options;
    const char *backend; /* at the start; the CPU takes over from a lost GPU */
    atomic_int lost;
    FrameMemory *memory;        /* NULL: frames are only measured */
    FrameMemory *device_memory; /* of the GPU, or NULL */
    int chroma;                 /* true if chroma is written */
    Frame *frames[MOST];        /* in flight, a ring */
    int first, count;
    int slots; /* upper bound of the equalizer's slots; lowered when it accepts no more */
};

/* ---- outputs ---- */

static void *alloc_device(void *equalizer, size_t size)
{
    return lumeq_alloc_device(equalizer, size);
}

static void free_device(void *equalizer, void *memory)
{
    lumeq_free_device(equalizer, memory);
}

/* True if all written planes are on the GPU. */
static int is_on_device(const EqualizeLoop *l, const AVFrame *frame, int chroma)
{
    for (int i = 0; i < (chroma ? 3 : 1); i++)
        if (frame->data[i] && !frame_memory_owns(l->device_memory, frame->data[i]))
            return 0;
    return 1;
}

/* NULL: the GPU is out of memory. */
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

static int make_output(EqualizeLoop *l, Frame *f, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    const int on_device =
        f->on_device && l->memory && strcmp(lumeq_backend_name(l->options.equalizer), "cuda") == 0;
    f->out = on_device ? make_on_device(l, in) : NULL;
    f->on_device = f->out != NULL;
    if (!f->out)
        f->out = equalizer_output(l->memory, in, l->chroma, error);
    return f->out ? 0 : error->fault;
}

/* ---- frames in flight ---- */

static int failed(EqualizeLoop *l, int ret, MediaError *error)
{
    return equalizer_failed(l->options.equalizer, ret, error);
}

static Frame **frame_at(EqualizeLoop *l, int index)
{
    return &l->frames[(l->first + index) % MOST];
}

/* After a loss nothing is decoded on the GPU, and no memory is given back to it. */
static void note_loss(EqualizeLoop *l)
{
    if (lumeq_backend_name(l->options.equalizer) == l->backend || atomic_load(&l->lost))
        return;
    gpu_device_mark_lost(l->options.gpu);
    l->options.note(lumeq_last_error(l->options.equalizer));
    if (l->memory)
        frame_memory_encode_on(l->memory, NULL);
    atomic_store(&l->lost, 1);
}

static int hand_in(EqualizeLoop *l, Frame *f)
{
    const AVFrame *in = f->decoded.frame;
    LumeqFrame frame = equalizer_frame(in, l->memory ? f->out : NULL);
    const LumeqImage previous = equalizer_previous(f->previous[0], in);
    const LumeqSync sync = equalizer_sync(in);
    if (sync.after)
        frame.sync = &sync;
    if (f->on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    if (previous.plane[0])
        frame.previous = &previous;
    frame.number = f->sequence;
    const int ret = lumeq_submit(l->options.equalizer, &frame);
    if (ret == 0)
        *frame_at(l, l->count++) = f;
    return ret;
}

static int submit(EqualizeLoop *l, Frame *frame, MediaError *error);

static int is_lost(const EqualizeLoop *l, const AVFrame *frame)
{
    return frame && gpu_frame_is(frame) &&
           (gpu_frame_is_lost(frame) || lumeq_backend_name(l->options.equalizer) != l->backend);
}

/* True if the frame or the one before it is. */
static int is_on_lost_gpu(const EqualizeLoop *l, const Frame *f)
{
    return is_lost(l, f->decoded.frame) || is_lost(l, f->previous[0]);
}

/* Takes ownership of the frame. */
static int submit_or_free(EqualizeLoop *l, Frame *frame, MediaError *error)
{
    const int ret = submit(l, frame, error);
    if (ret > 0)
        return l->options.lost(l->options.opaque, frame, error);
    if (ret < 0)
        frame_free(&frame);
    return ret;
}

/* The GPU is lost: submits the frames in flight again, the oldest first. `finished`: 1 if the
 * oldest was received. */
static int submit_again(EqualizeLoop *l, int finished, MediaError *error)
{
    Frame *frames[MOST];
    const int count = l->count;
    lumeq_flush(l->options.equalizer);
    for (int i = 1; i < count; i++)
        finished += lumeq_receive(l->options.equalizer, NULL, NULL) == 0;
    int ret = lumeq_rewind(l->options.equalizer, finished);
    if (ret < 0)
        return failed(l, ret, error);
    for (int i = 0; i < count; i++)
        frames[i] = *frame_at(l, i);
    l->count = 0;
    for (int i = 0; i < count; i++) {
        gpu_frame_abandon(frames[i]->out); /* the GPU may still write to it */
        av_frame_free(&frames[i]->out);
        if (ret >= 0)
            ret = submit_or_free(l, frames[i], error);
        else
            frame_free(&frames[i]);
    }
    return ret;
}

static void pop(EqualizeLoop *l)
{
    l->first = (l->first + 1) % MOST;
    l->count--;
}

/* Receives the oldest frame in flight and hands it on; `drop`: frees it. 1: it was finished; 0: it
 * is not, or no frame is in flight. */
static int receive(EqualizeLoop *l, int wait, int drop, MediaError *error)
{
    LumeqFrame result = {.size = sizeof(result)};
    Frame *f = *frame_at(l, 0);
    if (!l->count)
        return 0;
    if (wait)
        lumeq_flush(l->options.equalizer);
    int ret = lumeq_receive(l->options.equalizer, &result, &f->stats);
    if (ret == LUMEQ_ERR_AGAIN)
        return 0;
    note_loss(l);
    if (ret == LUMEQ_ERR_GPU && is_on_lost_gpu(l, f))
        return submit_again(l, 0, error);
    if (ret == LUMEQ_ERR_GPU) { /* its input is lost with the GPU, and it was given back */
        pop(l);
        frame_free(&f);
    }
    if (ret < 0)
        return failed(l, ret, error);
    if (l->memory && !result.out.plane[0])
        return submit_again(l, 1, error);
    equalizer_offset_stats(&f->stats, f->decoded.frame);
    ret = equalizer_take_output(l->memory, f->out, &result, error);
    if (ret < 0 || drop)
        frame_free(&f);
    else
        ret = l->options.done(l->options.opaque, f, error);
    pop(l);
    return ret < 0 ? ret : 1;
}

/* Waits until at most `count` frames are in flight. */
static int receive_until(EqualizeLoop *l, int count, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && l->count > count)
        ret = receive(l, 1, 0, error);
    return ret < 0 ? ret : 0;
}

/* Returns 1 if the frame was lost with the GPU. No earlier frame is in flight then. */
static int submit(EqualizeLoop *l, Frame *f, MediaError *error)
{
    int ret = receive_until(l, l->slots - 1, error);
    if (ret >= 0 && is_on_lost_gpu(l, f))
        ret = receive_until(l, 0, error);
    if (ret >= 0 && is_on_lost_gpu(l, f))
        return 1;
    if (ret >= 0)
        ret = make_output(l, f, error);
    if (ret < 0)
        return ret;
    ret = hand_in(l, f);
    if (ret == LUMEQ_ERR_AGAIN && l->count) {
        av_frame_free(&f->out);
        l->slots = l->count;
        return submit(l, f, error);
    }
    if (ret < 0 && is_on_lost_gpu(l, f)) {
        note_loss(l);
        gpu_frame_abandon(f->out);
        av_frame_free(&f->out);
        return submit(l, f, error);
    }
    return ret < 0 ? failed(l, ret, error) : 0;
}

/* Takes ownership of the frame. */
static int equalize(EqualizeLoop *l, Frame *frame, MediaError *error)
{
    int ret = 0;
    if (frame->first) {
        ret = receive_until(l, 0, error); /* lumeq_rewind() cannot go back past a reset */
        lumeq_reset(l->options.equalizer);
    }
    if (ret < 0)
        frame_free(&frame);
    else
        ret = submit_or_free(l, frame, error);
    if (ret < 0)
        return ret;
    do
        ret = receive(l, 0, 0, error);
    while (ret > 0);
    return ret;
}

/* Frees the frames in flight, except those that the equalizer does not give back, which it may
 * still use. */
static void take_back(EqualizeLoop *l)
{
    for (int left = MOST + 1; l->count && l->count < left;) {
        MediaError error = {0};
        left = l->count;
        (void)receive(l, 1, 1, &error);
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
        Frame *frame = NULL;
        ret = l->options.next(l->options.opaque, &frame, !l->count, error);
        if (ret >= 0)
            ret = equalize(l, frame, error);
        else if (ret == AVERROR(EAGAIN))
            ret = receive(l, 1, 0, error);
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
