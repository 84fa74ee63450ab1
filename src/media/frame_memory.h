/*
 * Memory for planes, from the allocator of whoever reads and writes them next (pinned memory for a
 * GPU). It is for luma; other planes are ordinary memory, unless it is for all of them.
 */
#ifndef LUMEQ_MEDIA_FRAME_MEMORY_H
#define LUMEQ_MEDIA_FRAME_MEMORY_H

#include <libavcodec/avcodec.h>

/* Both functions may be called by any thread. alloc answers NULL when it has none left: ordinary
 * memory is taken then. It is aligned to 64 bytes at least. */
typedef struct FrameAllocator {
    void *(*alloc)(void *opaque, size_t size);
    void (*free)(void *opaque, void *memory);
    void *opaque;
    int all_planes; /* not 0: for chroma and alpha, too */
} FrameAllocator;

typedef struct FrameMemory FrameMemory;

/* NULL allocator: ordinary memory for all. NULL: out of memory. */
FrameMemory *frame_memory_create(const FrameAllocator *allocator);

/* What a decoder's get_buffer2 does to decode straight into this memory, where that can be. Any
 * thread. */
int frame_memory_get_buffer(FrameMemory *memory, AVCodecContext *decoder, AVFrame *frame,
                            int flags);

/* Sees to it that a decoded frame's luma, and chroma where all planes are to be, is in this memory,
 * with one copy where it is not. Leaves it as it is when there is no such memory. One thread at a
 * time. */
void frame_memory_adopt(FrameMemory *memory, AVFrame *frame);

/* A frame like `in`, which is direct (convert.h), with a luma plane of its own, not yet written,
 * and everything else by reference. `chroma`: not 0: with chroma of its own as well, where there is
 * some, and so has one that is like a frame on a GPU (gpu_frame.h). NULL: out of memory. The caller
 * frees it. One thread at a time. */
AVFrame *frame_memory_output(FrameMemory *memory, const AVFrame *in, int chroma);

/* A frame like one on a GPU, on the host, with planes in this memory, to which it is brought with
 * one copy: 0 or AVERROR, and *host is NULL then. The caller frees it. Any thread. */
int frame_memory_download(FrameMemory *memory, AVFrame **host, const AVFrame *frame);

/* Outputs are made for an encoder on this device from now on (gpu_device_open()), as frames in its
 * memory; the first one that cannot be there ends that. NULL: no more of them are. In the thread of
 * frame_memory_output(), or before there is one. */
void frame_memory_encode_on(FrameMemory *memory, AVBufferRef *device);

/* Somebody may write into this plane of an output at any time from now on: it becomes a copy of
 * `data`, in ordinary memory, and nobody else gets its buffer before frame_memory_close(). 0, or
 * AVERROR. One thread at a time. */
int frame_memory_set_aside(FrameMemory *memory, AVFrame *frame, int plane, const uint8_t *data,
                           ptrdiff_t stride);

/* Not 0: these bytes of a plane came from the allocator. Any thread. */
int frame_memory_owns(FrameMemory *memory, const uint8_t *data);

/* What was not as fast as it could be ("12 frames copied, 3 in ordinary memory"), for a person, in
 * `text`; 0 when there is nothing to say. */
int frame_memory_report(FrameMemory *memory, char *text, size_t size);

/* After the last frame is gone. */
void frame_memory_close(FrameMemory **memory);

#endif
