/* Memory for frames, from the allocator of whoever reads and writes them next. */
#ifndef LUMEQ_MEDIA_FRAME_MEMORY_H
#define LUMEQ_MEDIA_FRAME_MEMORY_H

#include <libavutil/frame.h>

/* Both functions may be called by any thread. alloc answers NULL when it has none left: ordinary memory
 * is taken then. Memory is freed when the last frame that uses it goes. */
typedef struct FrameAllocator {
    void *(*alloc)(void *opaque, size_t size);
    void (*free)(void *opaque, void *memory);
    void *opaque;
} FrameAllocator;

typedef struct FrameMemory FrameMemory;

/* NULL: out of memory. */
FrameMemory *frame_memory_create(const FrameAllocator *allocator);

/* A frame like `in` with a luma plane of its own, not yet written, and everything else by reference.
 * NULL: out of memory. The caller frees it. One thread at a time. */
AVFrame *frame_memory_output(FrameMemory *memory, const AVFrame *in);

/* Frames that are still alive stay valid; the allocator must outlive them. */
void frame_memory_close(FrameMemory **memory);

#endif
