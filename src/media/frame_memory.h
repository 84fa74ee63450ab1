/* Memory for frame planes from a caller's allocator, such as pinned memory for a GPU. */
#ifndef LUMEQ_MEDIA_FRAME_MEMORY_H
#define LUMEQ_MEDIA_FRAME_MEMORY_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

/* alloc and free may be called from any thread. alloc returns memory aligned to at least 64 bytes,
 * or NULL; ordinary memory is then used instead. */
typedef struct FrameAllocator {
    void *(*alloc)(void *opaque, size_t size);
    void (*free)(void *opaque, void *memory);
    void *opaque;
    int all_planes; /* not 0: used for all planes; 0: only for luma */
} FrameAllocator;

typedef struct FrameMemory FrameMemory;

/* A NULL allocator means ordinary memory. Returns NULL if out of memory. */
FrameMemory *frame_memory_create(const FrameAllocator *allocator);

/* Implements AVCodecContext.get_buffer2. The decoder then writes directly into this memory if
 * possible. Any thread. */
int frame_memory_get_buffer(FrameMemory *memory, AVCodecContext *decoder, AVFrame *frame,
                            int flags);

/* Moves a decoded frame's luma, and with FrameAllocator.all_planes its chroma, into the allocator's
 * memory. If the allocator fails, a plane stays where it is. One thread at a time. */
void frame_memory_copy_in(FrameMemory *memory, AVFrame *frame);

/* Returns an output frame with the properties of `in`, a direct frame (convert.h). The caller frees
 * the output. If `in` or the output is on a GPU, all planes are new. Otherwise luma is new, chroma
 * is new if `chroma` is not 0, and other planes are shared with `in`. New planes are uninitialized,
 * but if `in` has black margins and neither frame is on a GPU, they are copies. NULL: out of
 * memory. Any thread; after frame_memory_encode_on() with a device, one thread at a time. */
AVFrame *frame_memory_output(FrameMemory *memory, const AVFrame *in, int chroma);

/* Sets *host to a copy of a GPU frame in this memory; the caller frees it. Returns 0 or AVERROR;
 * *host is then NULL. Any thread. */
int frame_memory_download(FrameMemory *memory, AVFrame **host, const AVFrame *frame);

/* From now on, frame_memory_output() allocates frames on this device, for its encoder. The device
 * (gpu_device_open()) is borrowed; NULL: host frames. If the first frame cannot be allocated there,
 * all frames are on the host. Do not change the device while frame_memory_output() runs. */
void frame_memory_encode_on(FrameMemory *memory, AVBufferRef *device);

/* True if this plane's memory came from the allocator. Any thread. */
bool frame_memory_owns(FrameMemory *memory, const uint8_t *data);

/* Writes statistics about slow paths ("12 frames copied into pinned memory, 3 in ordinary memory")
 * to `text`. Returns 0 if no frame took a slow path. */
int frame_memory_report(FrameMemory *memory, char *text, size_t size);

/* Call after the last frame is freed. */
void frame_memory_close(FrameMemory **memory);

#endif
