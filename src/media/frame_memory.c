#include "media/frame_memory.h"

#include <libavutil/buffer.h>
#include <libavutil/mem.h>

/* Rows begin at multiples of this, and encoders may read as much past the last one. */
#define ALIGNMENT 64

struct FrameMemory {
    FrameAllocator allocator;
    AVBufferPool *pool;
    size_t size; /* of the pool's buffers */
};

FrameMemory *frame_memory_create(const FrameAllocator *allocator)
{
    FrameMemory *memory = av_mallocz(sizeof(*memory));
    if (memory)
        memory->allocator = *allocator;
    return memory;
}

/* What a buffer needs to know to go back, also when the FrameMemory is gone. */
static void free_buffer(void *opaque, uint8_t *data)
{
    FrameAllocator *allocator = opaque;
    allocator->free(allocator->opaque, data);
    av_free(allocator);
}

static AVBufferRef *alloc_buffer(void *opaque, size_t size)
{
    FrameMemory *memory = opaque;
    FrameAllocator *allocator = av_memdup(&memory->allocator, sizeof(*allocator));
    uint8_t *data = allocator ? allocator->alloc(allocator->opaque, size) : NULL;
    AVBufferRef *buffer = data ? av_buffer_create(data, size, free_buffer, allocator, 0) : NULL;
    if (buffer)
        return buffer;
    if (data)
        allocator->free(allocator->opaque, data);
    av_free(allocator);
    return av_buffer_alloc(size);
}

static AVBufferRef *get_luma(FrameMemory *memory, size_t size)
{
    if (size != memory->size) {
        av_buffer_pool_uninit(&memory->pool);
        memory->pool = av_buffer_pool_init2(size, memory, alloc_buffer, NULL);
        memory->size = memory->pool ? size : 0;
    }
    return memory->pool ? av_buffer_pool_get(memory->pool) : NULL;
}

static int buffer_holds(const AVBufferRef *buffer, const uint8_t *data)
{
    return data >= buffer->data && data < buffer->data + buffer->size;
}

/* Puts the new luma in the place of the old one's buffer, or beside it where other planes need that. */
static int replace_luma(AVFrame *frame, AVBufferRef *luma)
{
    int free_slot = -1;
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) {
        if (!frame->buf[i]) {
            free_slot = i;
            break;
        }
        if (!buffer_holds(frame->buf[i], frame->data[0]))
            continue;
        int shared = 0;
        for (int plane = 1; plane < 4; plane++)
            shared |= frame->data[plane] && buffer_holds(frame->buf[i], frame->data[plane]);
        if (shared)
            continue;
        av_buffer_unref(&frame->buf[i]);
        frame->buf[i] = luma;
        return 0;
    }
    if (free_slot < 0)
        return AVERROR(EINVAL);
    frame->buf[free_slot] = luma;
    return 0;
}

AVFrame *frame_memory_output(FrameMemory *memory, const AVFrame *in)
{
    const size_t stride = ((size_t)in->width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    AVFrame *out = av_frame_clone(in);
    AVBufferRef *luma = out ? get_luma(memory, stride * (size_t)in->height + ALIGNMENT) : NULL;
    if (!luma || replace_luma(out, luma) < 0) {
        av_buffer_unref(&luma);
        av_frame_free(&out);
        return NULL;
    }
    out->data[0] = luma->data;
    out->linesize[0] = (int)stride;
    return out;
}

void frame_memory_close(FrameMemory **memory)
{
    if (!*memory)
        return;
    av_buffer_pool_uninit(&(*memory)->pool);
    av_freep(memory);
}
