#include "media/frame_memory.h"

#include <pthread.h>
#include <stdatomic.h>

#include <libavutil/imgutils.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"

/* Alignment of rows in bytes, for the widest vector instructions of decoders and encoders. */
#define ALIGNMENT 64

/* Bytes past the end of a plane that decoders and encoders may access. */
#define PLANE_PADDING (16 + ALIGNMENT)

/* Maximum number of blocks from the allocator. Beyond it, new planes are in ordinary memory. */
#define MAX_BLOCKS 512

typedef struct PlanePool {
    AVBufferPool *pool;
    size_t size;
} PlanePool;

struct FrameMemory {
    FrameAllocator allocator;
    bool has_allocator;
    atomic_llong ordinary; /* number of frames not in the allocator's memory */
    atomic_llong copied;   /* number of frames copied into the allocator's memory */

    pthread_mutex_t pools_lock;
    PlanePool decoded[4];           /* by plane; used by decoder threads */
    PlanePool output[3];            /* by plane */
    PlanePool interleaved;          /* interleaved chroma downloaded from a GPU */
    AVBufferRef *device, *surfaces; /* for outputs to a GPU encoder, or NULL */

    pthread_mutex_t blocks_lock; /* may be locked while holding pools_lock */
    struct {
        const uint8_t *data;
        size_t size;
    } blocks[MAX_BLOCKS]; /* memory from the allocator */
    int block_count;
};

FrameMemory *frame_memory_create(const FrameAllocator *allocator)
{
    FrameMemory *m = av_mallocz(sizeof(*m));
    if (!m)
        return NULL;
    pthread_mutex_init(&m->pools_lock, NULL);
    pthread_mutex_init(&m->blocks_lock, NULL);
    if (allocator) {
        m->allocator = *allocator;
        m->has_allocator = true;
    }
    return m;
}

bool frame_memory_owns(FrameMemory *m, const uint8_t *data)
{
    int found = 0;
    pthread_mutex_lock(&m->blocks_lock);
    for (int i = 0; i < m->block_count && !found; i++)
        found = data >= m->blocks[i].data && data < m->blocks[i].data + m->blocks[i].size;
    pthread_mutex_unlock(&m->blocks_lock);
    return found;
}

static void free_fast(void *opaque, uint8_t *data)
{
    FrameMemory *m = opaque;
    pthread_mutex_lock(&m->blocks_lock);
    for (int i = 0; i < m->block_count; i++)
        if (m->blocks[i].data == data) {
            m->blocks[i] = m->blocks[--m->block_count];
            break;
        }
    pthread_mutex_unlock(&m->blocks_lock);
    m->allocator.free(m->allocator.opaque, data);
}

static AVBufferRef *alloc_fast(FrameMemory *m, size_t size)
{
    uint8_t *data = m->has_allocator ? m->allocator.alloc(m->allocator.opaque, size) : NULL;
    if (!data)
        return NULL;
    pthread_mutex_lock(&m->blocks_lock);
    const int room = m->block_count < MAX_BLOCKS;
    if (room) {
        m->blocks[m->block_count].data = data;
        m->blocks[m->block_count++].size = size;
    }
    pthread_mutex_unlock(&m->blocks_lock);
    AVBufferRef *buffer = room ? av_buffer_create(data, size, free_fast, m, 0) : NULL;
    if (!buffer)
        free_fast(m, data);
    return buffer;
}

static AVBufferRef *alloc_plane(void *opaque, size_t size)
{
    AVBufferRef *buffer = alloc_fast(opaque, size);
    return buffer ? buffer
                  : av_buffer_allocz(size); /* zeroed: decoders may leave damaged parts unwritten */
}

static AVBufferRef *alloc_ordinary(void *opaque, size_t size)
{
    (void)opaque;
    return av_buffer_allocz(size);
}

static AVBufferRef *pool_get(FrameMemory *m, PlanePool *p, size_t size,
                             AVBufferRef *(*alloc)(void *opaque, size_t size))
{
    pthread_mutex_lock(&m->pools_lock);
    if (size != p->size) {
        av_buffer_pool_uninit(&p->pool); /* the old pool's buffers are freed when returned */
        p->pool = av_buffer_pool_init2(size, m, alloc, NULL);
        p->size = p->pool ? size : 0;
    }
    AVBufferRef *buffer = p->pool ? av_buffer_pool_get(p->pool) : NULL;
    pthread_mutex_unlock(&m->pools_lock);
    return buffer;
}

static int plane_layout(AVCodecContext *codec, const AVFrame *frame, int linesize[4],
                        size_t size[4])
{
    int width = frame->width, height = frame->height, align[AV_NUM_DATA_POINTERS];
    ptrdiff_t strides[4];
    avcodec_align_dimensions2(codec, &width, &height, align);
    for (int aligned = 0; !aligned; width = FFALIGN(width + 1, ALIGNMENT)) {
        const int ret = av_image_fill_linesizes(linesize, frame->format, width);
        if (ret < 0)
            return ret;
        aligned = 1;
        for (int i = 0; i < 4; i++)
            aligned &= linesize[i] % FFMAX(align[i], ALIGNMENT) == 0;
    }
    for (int i = 0; i < 4; i++)
        strides[i] = linesize[i];
    return av_image_fill_plane_sizes(size, frame->format, height, strides);
}

int frame_memory_get_buffer(FrameMemory *m, AVCodecContext *codec, AVFrame *frame, int flags)
{
    int linesize[4];
    size_t size[4];
    if (!m->has_allocator || !convert_is_direct(frame->format) ||
        !(codec->codec->capabilities & AV_CODEC_CAP_DR1) ||
        plane_layout(codec, frame, linesize, size) < 0)
        return avcodec_default_get_buffer2(codec, frame, flags);

    for (int i = 0; i < 4 && size[i]; i++) {
        frame->buf[i] = pool_get(m, &m->decoded[i], size[i] + PLANE_PADDING,
                                 i == 0 || m->allocator.all_planes ? alloc_plane : alloc_ordinary);
        if (!frame->buf[i]) {
            for (int k = 0; k < i; k++)
                av_buffer_unref(&frame->buf[k]);
            return avcodec_default_get_buffer2(codec, frame, flags);
        }
    }
    for (int i = 0; i < 4 && size[i]; i++) {
        frame->data[i] = frame->buf[i]->data;
        frame->linesize[i] = linesize[i];
    }
    frame->extended_data = frame->data;
    return 0;
}

/* The number of planes; without `chroma`, only luma counts. */
static int colour_planes(const AVFrame *frame, int chroma)
{
    return chroma ? convert_layout(frame->format).planes : 1;
}

static int plane_height(const AVFrame *frame, int plane)
{
    return plane ? AV_CEIL_RSHIFT(frame->height, convert_layout(frame->format).chroma_y)
                 : frame->height;
}

static int buffer_holds(const AVBufferRef *buffer, const uint8_t *data)
{
    return data >= buffer->data && data < buffer->data + buffer->size;
}

/* Replaces a plane and its buffer; keeps the old buffer if other planes use it. */
static int replace_plane(AVFrame *frame, int plane, AVBufferRef *buffer, int stride)
{
    int slot = 0;
    for (; slot < AV_NUM_DATA_POINTERS && frame->buf[slot]; slot++) {
        int shared = !buffer_holds(frame->buf[slot], frame->data[plane]);
        for (int i = 0; i < 4; i++)
            shared |=
                i != plane && frame->data[i] && buffer_holds(frame->buf[slot], frame->data[i]);
        if (!shared)
            break;
    }
    if (slot == AV_NUM_DATA_POINTERS)
        return AVERROR(EINVAL);
    av_buffer_unref(&frame->buf[slot]);
    frame->buf[slot] = buffer;
    frame->data[plane] = buffer->data;
    frame->linesize[plane] = stride;
    return 0;
}

static AVBufferRef *get_output(FrameMemory *m, const AVFrame *frame, int plane, int *stride)
{
    const int row = av_image_get_linesize(frame->format, frame->width, plane);
    if (row < 0)
        return NULL;
    *stride = FFALIGN(row, ALIGNMENT);
    return pool_get(m, &m->output[plane],
                    (size_t)*stride * (size_t)plane_height(frame, plane) + PLANE_PADDING,
                    plane == 0 || m->allocator.all_planes ? alloc_plane : alloc_ordinary);
}

/* Returns 1 if the plane was copied into this memory, 0 if it was already there, -1 on failure. */
static int adopt_plane(FrameMemory *m, AVFrame *frame, int plane)
{
    int stride;
    if (frame_memory_owns(m, frame->data[plane]))
        return 0;
    AVBufferRef *buffer = get_output(m, frame, plane, &stride);
    if (buffer && frame_memory_owns(m, buffer->data)) {
        av_image_copy_plane(buffer->data, stride, frame->data[plane], frame->linesize[plane],
                            av_image_get_linesize(frame->format, frame->width, plane),
                            plane_height(frame, plane));
        if (replace_plane(frame, plane, buffer, stride) == 0)
            return 1;
    }
    av_buffer_unref(&buffer);
    return -1;
}

void frame_memory_copy_in(FrameMemory *m, AVFrame *frame)
{
    int copied = 0, ordinary = 0;
    if (!m->has_allocator)
        return;
    for (int plane = 0; plane < colour_planes(frame, m->allocator.all_planes); plane++) {
        const int ret = adopt_plane(m, frame, plane);
        copied |= ret > 0;
        ordinary |= ret < 0;
    }
    m->copied += copied;
    m->ordinary += ordinary;
}

/* Returns a host frame with the properties of `in` but no planes. */
static AVFrame *host_frame_like(const AVFrame *in)
{
    AVFrame *out = convert_new_frame(gpu_frame_format(in), in->width, in->height);
    if (out && av_frame_copy_props(out, in) < 0)
        av_frame_free(&out);
    return out;
}

void frame_memory_encode_on(FrameMemory *m, AVBufferRef *device)
{
    if (device == m->device) /* write nothing: other threads may be in frame_memory_output() */
        return;
    av_buffer_unref(&m->surfaces);
    m->device = device;
}

/* Gives the first `planes` planes of a frame new buffers. */
static int alloc_planes(FrameMemory *m, AVFrame *frame, int planes)
{
    int ordinary = 0;
    for (int plane = 0; plane < planes; plane++) {
        int stride;
        AVBufferRef *buffer = get_output(m, frame, plane, &stride);
        if (!buffer || replace_plane(frame, plane, buffer, stride) < 0) {
            av_buffer_unref(&buffer);
            return AVERROR(ENOMEM);
        }
        ordinary |= (plane == 0 || m->allocator.all_planes) && !frame_memory_owns(m, buffer->data);
    }
    m->ordinary += m->has_allocator && ordinary;
    return 0;
}

AVFrame *frame_memory_output(FrameMemory *m, const AVFrame *in, int chroma)
{
    AVFrame *out;
    if (m->device) {
        /* Once an encoder has received a GPU frame, it accepts no host frames. */
        const int first = !m->surfaces;
        if (gpu_frame_make(&out, &m->surfaces, m->device, in) >= 0 || !first)
            return out;
        frame_memory_encode_on(m, NULL);
    }
    out = gpu_frame_is(in) ? host_frame_like(in) : av_frame_clone(in);
    if (out && alloc_planes(m, out, colour_planes(out, chroma || gpu_frame_is(in))) < 0)
        av_frame_free(&out);
    for (int i = 0;
         out && !gpu_frame_is(in) && convert_has_margins(in) && i < colour_planes(out, 1); i++)
        if (out->data[i] != in->data[i])
            av_image_copy_plane(out->data[i], out->linesize[i], in->data[i], in->linesize[i],
                                av_image_get_linesize(in->format, in->width, i),
                                plane_height(in, i));
    return out;
}

/* Returns a frame in the GPU's sample layout. It shares the planes of `host`, except interleaved
 * chroma. */
static AVFrame *make_stored(FrameMemory *m, const AVFrame *host, const AVFrame *frame)
{
    const enum AVPixelFormat format = gpu_frame_stored(frame);
    const int interleaved = gpu_frame_layout(frame).planes == 2;
    const int stride = FFALIGN(av_image_get_linesize(format, host->width, 1), ALIGNMENT);
    AVFrame *stored = av_frame_clone(host);
    AVBufferRef *buffer = NULL;
    if (stored && interleaved)
        buffer =
            pool_get(m, &m->interleaved,
                     (size_t)stride * (size_t)plane_height(host, 1) + PLANE_PADDING, alloc_plane);
    if (stored && interleaved && (!buffer || replace_plane(stored, 1, buffer, stride) < 0)) {
        av_buffer_unref(&buffer);
        av_frame_free(&stored);
    }
    if (stored)
        stored->format = format;
    return stored;
}

int frame_memory_download(FrameMemory *m, AVFrame **host, const AVFrame *frame)
{
    AVFrame *made = *host = host_frame_like(frame), *stored = NULL;
    if (made && alloc_planes(m, made, colour_planes(made, 1)) >= 0)
        stored = make_stored(m, made, frame);
    const int ret = stored ? gpu_frame_download(made, stored, frame) : AVERROR(ENOMEM);
    if (ret < 0)
        av_frame_free(host);
    av_frame_free(&stored);
    return ret;
}

int frame_memory_report(FrameMemory *m, char *text, size_t size)
{
    const long long copied = m->copied, ordinary = m->ordinary;
    if (!copied && !ordinary)
        return 0;
    snprintf(text, size, "%lld frames copied into pinned memory, %lld in ordinary memory", copied,
             ordinary);
    return 1;
}

void frame_memory_close(FrameMemory **memory)
{
    FrameMemory *m = *memory;
    if (!m)
        return;
    av_buffer_unref(&m->surfaces);
    for (int i = 0; i < 4; i++)
        av_buffer_pool_uninit(&m->decoded[i].pool);
    for (int i = 0; i < 3; i++)
        av_buffer_pool_uninit(&m->output[i].pool);
    av_buffer_pool_uninit(&m->interleaved.pool);
    pthread_mutex_destroy(&m->blocks_lock);
    pthread_mutex_destroy(&m->pools_lock);
    av_freep(memory);
}
