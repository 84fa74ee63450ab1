/* Memory for frame planes from a caller's allocator, such as pinned memory for a GPU. */
#ifndef LUMEQ_MEDIA_FRAME_MEMORY_H
#define LUMEQ_MEDIA_FRAME_MEMORY_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

/* Both functions may be called from any thread. alloc returns memory aligned to at least 64 bytes,
 * or NULL to fall back to ordinary memory. */
typedef struct FrameAllocator {
    void *(*alloc)(void *opaque, size_t size);
    void (*free)(void *opaque, void *memory);
    void *opaque;
    int all_planes; /* not 0: for all planes; 0: only for luma */
} FrameAllocator;

typedef struct FrameMemory FrameMemory;

/* A NULL allocator means ordinary memory. Returns NULL if out of memory. */
FrameMemory *frame_memory_create(const FrameAllocator *allocator);

/* Implements get_buffer2 so that a decoder writes directly into this memory where possible. Any
 * thread. */
int frame_memory_get_buffer(FrameMemory *memory, AVCodecContext *decoder, AVFrame *frame,
                            int flags);

/* Moves a decoded frame's luma, and with `all_planes` its chroma, into memory of the allocator. A
 * plane that is already there, or finds no room, is not copied. One thread at a time. */
void frame_memory_copy_in(FrameMemory *memory, AVFrame *frame);

/* Returns an output frame with the properties of `in`, a direct frame (convert.h). Luma has new
 * memory. Chroma has new memory if `chroma` is not 0 or either frame is on a GPU. Other planes are
 * shared with `in`. New planes are uninitialized; if both frames are on the host and `in` has black
 * margins, they are copies. NULL: out of memory. The caller frees the frame. Any thread; after
 * frame_memory_encode_on() with a device, one thread at a time. */
AVFrame *frame_memory_output(FrameMemory *memory, const AVFrame *in, int chroma);

/* Copies a GPU frame to a host frame with planes in this memory. Returns 0 or AVERROR with NULL in
 * *host. The caller frees it. Any thread. */
int frame_memory_download(FrameMemory *memory, AVFrame **host, const AVFrame *frame);

/* From now on, frame_memory_output() allocates frames for an encoder on this device (borrowed; see
 * gpu_device_open()). If the first allocation fails, all frames are on the host. NULL: host frames.
 * Do not change the device while frame_memory_output() runs. */
void frame_memory_encode_on(FrameMemory *memory, AVBufferRef *device);

/* True if this plane's memory came from the allocator. Any thread. */
bool frame_memory_owns(FrameMemory *memory, const uint8_t *data);

/* Writes statistics about slow paths ("12 frames copied into pinned memory, 3 in ordinary memory")
 * to `text`. Returns 0 if no frame took a slow path. */
int frame_memory_report(FrameMemory *memory, char *text, size_t size);

/* Call after the last frame is freed. */
void frame_memory_close(FrameMemory **memory);

#endif
