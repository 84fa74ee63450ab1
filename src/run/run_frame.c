#include "run/run_frame.h"

#include <stdlib.h>
#include <time.h>

#include "media/gpu_frame.h"
#include "media/packet_set.h"

double run_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

Frame *frame_alloc(void)
{
    return calloc(1, sizeof(Frame));
}

void frame_free(Frame **frame)
{
    Frame *f = *frame;
    if (!f)
        return;
    frame_drop_pictures(f);
    for (int i = 0; i < f->decoded.packet_count; i++)
        av_packet_free(&f->decoded.packets[i]);
    lumeq_curve_unref(&f->curve);
    free(f->arrays);
    free(f);
    *frame = NULL;
}

void frame_free_queued(void *frame)
{
    frame_free(frame);
}

void frame_drop_pictures(Frame *f)
{
    gpu_frame_free(&f->decoded.frame);
    gpu_frame_free(&f->out);
    for (int i = 0; i < FRAME_PREVIOUS; i++)
        gpu_frame_free(&f->previous[i]);
}

int frame_init_stats(Frame *f, int arrays)
{
    f->arrays = arrays ? calloc(1, sizeof(*f->arrays)) : NULL;
    f->stats = equalizer_init_stats(f->arrays);
    return arrays && !f->arrays ? AVERROR(ENOMEM) : 0;
}

int frame_apply(LumeqContext *context, Frame *f, bool writes, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    LumeqFrame frame = equalizer_frame(in, writes ? f->out : NULL);
    LumeqImage previous[FRAME_PREVIOUS];
    int count = 0, ret = 0;
    while (count < FRAME_PREVIOUS) {
        previous[count] = equalizer_previous(f->previous[count], in);
        if (!previous[count].plane[0])
            break;
        count++;
    }
    if (f->on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    const LumeqSync sync = equalizer_sync(in);
    const double begin = run_now_us();
    if (writes)
        ret = lumeq_apply(context, f->curve, &frame.in, previous, count, &frame.out,
                          sync.after ? &sync : NULL);
    const double took = run_now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(f->curve, &f->stats);
    if (ret == LUMEQ_ERR_GPU)
        return MEDIA_LOST;
    if (ret < 0)
        return equalizer_failed(error);
    f->stats.active.x += (int)in->crop_left; /* from the cropped picture to the frame */
    f->stats.active.y += (int)in->crop_top;
    f->stats.equalize_us = writes ? took : 0;
    return 0;
}

void frame_note_skipped(Frame *next, const Frame *skipped)
{
    next->decoded.skipped += skipped->decoded.skipped + 1;
    next->decoded.returned |= skipped->decoded.returned;
}

/* Bytes of a frame's buffers, except those that it shares with `without`, which may be NULL. */
static int64_t buffer_bytes(const AVFrame *frame, const AVFrame *without)
{
    int64_t bytes = 0;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
        bool is_shared = false;
        for (int k = 0; without && k < AV_NUM_DATA_POINTERS && without->buf[k]; k++)
            is_shared |= without->buf[k]->data == frame->buf[i]->data;
        if (!is_shared)
            bytes += (int64_t)frame->buf[i]->size;
    }
    return bytes;
}

int64_t frame_bytes(const Frame *f)
{
    const Decoded *d = &f->decoded;
    int64_t bytes = 0;
    for (int i = 0; i < d->packet_count; i++)
        bytes += (int64_t)packet_bytes(d->packets[i]);
    if (d->frame)
        bytes += buffer_bytes(d->frame, NULL);
    if (f->out)
        bytes += buffer_bytes(f->out, d->frame);
    return bytes;
}
