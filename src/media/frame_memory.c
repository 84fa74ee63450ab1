#include "media/frame_memory.h"

#include <pthread.h>
#include <stdatomic.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/convert.h"

/* Rows begin at multiples of this: what the widest vector instructions of decoders and encoders
 * ask. */
#define ALIGNMENT 64

/* Decoders and encoders read, and some write, this much past the end of a plane. */
#define PLANE_PADDING (16 + ALIGNMENT)

/* Pieces the allocator has given out at one time. Beyond them memory is ordinary. */
#define MAX_BLOCKS 512

/* Buffers of one size. */
typedef struct PlanePool {
    AVBufferPool *pool;
    size_t size;
} PlanePool;

struct FrameMemory {
    FrameAllocator allocator;
    int has_allocator;
    atomic_llong ordinary, copied; /* frames whose luma is not from the allocator; copied into it */

    pthread_mutex_t pools_lock;
    PlanePool decoded[4]; /* by plane; decoder threads take from them */
    PlanePool output;     /* luma */

    pthread_mutex_t blocks_lock; /* may be taken under the other */
    struct {
        const uint8_t *data;
        size_t size;
    } blocks[MAX_BLOCKS]; /* what came from the allocator */
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
        m->has_allocator = 1;
    }
    return m;
}

static int add_block(FrameMemory *m, const uint8_t *data, size_t size)
{
    pthread_mutex_lock(&m->blocks_lock);
    const int room = m->block_count < MAX_BLOCKS;
    if (room) {
        m->blocks[m->block_count].data = data;
        m->blocks[m->block_count++].size = size;
    }
    pthread_mutex_unlock(&m->blocks_lock);
    return room;
}

static void remove_block(FrameMemory *m, const uint8_t *data)
{
    pthread_mutex_lock(&m->blocks_lock);
    for (int i = 0; i < m->block_count; i++)
        if (m->blocks[i].data == data) {
            m->blocks[i] = m->blocks[--m->block_count];
            break;
        }
    pthread_mutex_unlock(&m->blocks_lock);
}

int frame_memory_owns(FrameMemory *m, const uint8_t *data)
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
    remove_block(m, data);
    m->allocator.free(m->allocator.opaque, data);
}

/* Memory of the allocator, or NULL. */
static AVBufferRef *alloc_fast(FrameMemory *m, size_t size)
{
    uint8_t *data = m->has_allocator ? m->allocator.alloc(m->allocator.opaque, size) : NULL;
    if (!data)
        return NULL;
    AVBufferRef *buffer =
        add_block(m, data, size) ? av_buffer_create(data, size, free_fast, m, 0) : NULL;
    if (!buffer) {
        remove_block(m, data);
        m->allocator.free(m->allocator.opaque, data);
    }
    return buffer;
}

static AVBufferRef *alloc_plane(void *opaque, size_t size)
{
    AVBufferRef *buffer = alloc_fast(opaque, size);
    return buffer ? buffer : av_buffer_alloc(size);
}

static AVBufferRef *alloc_ordinary(void *opaque, size_t size)
{
    (void)opaque;
    return av_buffer_alloc(size);
}

static AVBufferRef *pool_get(FrameMemory *m, PlanePool *p, size_t size,
                             AVBufferRef *(*alloc)(void *opaque, size_t size))
{
    pthread_mutex_lock(&m->pools_lock);
    if (size != p->size) {
        av_buffer_pool_uninit(&p->pool); /* its buffers live on until they are given back */
        p->pool = av_buffer_pool_init2(size, m, alloc, NULL);
        p->size = p->pool ? size : 0;
    }
    AVBufferRef *buffer = p->pool ? av_buffer_pool_get(p->pool) : NULL;
    pthread_mutex_unlock(&m->pools_lock);
    return buffer;
}

/* Strides and sizes of the planes as the decoder wants them: 0 or AVERROR. */
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

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    FrameMemory *m = codec->opaque;
    int linesize[4];
    size_t size[4];
    if (!convert_is_direct(frame->format) || !(codec->codec->capabilities & AV_CODEC_CAP_DR1) ||
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

void frame_memory_attach(FrameMemory *m, AVCodecContext *decoder)
{
    if (!m->has_allocator)
        return;
    decoder->opaque = m;
    decoder->get_buffer2 = get_buffer;
    allow_threaded_callbacks(decoder);
}

static int buffer_holds(const AVBufferRef *buffer, const uint8_t *data)
{
    return data >= buffer->data && data < buffer->data + buffer->size;
}

/* Puts the new luma in the place of the old one's buffer, or beside it where other planes need
 * that. */
static int replace_luma(AVFrame *frame, AVBufferRef *luma, int stride)
{
    int slot = 0;
    for (; slot < AV_NUM_DATA_POINTERS && frame->buf[slot]; slot++) {
        int shared = !buffer_holds(frame->buf[slot], frame->data[0]);
        for (int plane = 1; plane < 4; plane++)
            shared |= frame->data[plane] && buffer_holds(frame->buf[slot], frame->data[plane]);
        if (!shared)
            break;
    }
    if (slot == AV_NUM_DATA_POINTERS)
        return AVERROR(EINVAL);
    av_buffer_unref(&frame->buf[slot]);
    frame->buf[slot] = luma;
    frame->data[0] = luma->data;
    frame->linesize[0] = stride;
    return 0;
}

static AVBufferRef *get_output(FrameMemory *m, const AVFrame *frame, int *stride)
{
    *stride = FFALIGN(frame->width, ALIGNMENT);
    return pool_get(m, &m->output, (size_t)*stride * (size_t)frame->height + PLANE_PADDING,
                    alloc_plane);
}

void frame_memory_adopt(FrameMemory *m, AVFrame *frame)
{
    int stride;
    if (!m->has_allocator || frame_memory_owns(m, frame->data[0]))
        return;
    AVBufferRef *luma = get_output(m, frame, &stride);
    if (luma && frame_memory_owns(m, luma->data)) {
        av_image_copy_plane(luma->data, stride, frame->data[0], frame->linesize[0], frame->width,
                            frame->height);
        if (replace_luma(frame, luma, stride) == 0) {
            m->copied++;
            return;
        }
    }
    av_buffer_unref(&luma);
    m->ordinary++;
}

AVFrame *frame_memory_output(FrameMemory *m, const AVFrame *in)
{
    int stride;
    AVFrame *out = av_frame_clone(in);
    AVBufferRef *luma = out ? get_output(m, in, &stride) : NULL;
    if (!luma || replace_luma(out, luma, stride) < 0) {
        av_buffer_unref(&luma);
        av_frame_free(&out);
        return NULL;
    }
    if (m->has_allocator && !frame_memory_owns(m, out->data[0]))
        m->ordinary++;
    return out;
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
    for (int i = 0; i < 4; i++)
        av_buffer_pool_uninit(&m->decoded[i].pool);
    av_buffer_pool_uninit(&m->output.pool);
    pthread_mutex_destroy(&m->blocks_lock);
    pthread_mutex_destroy(&m->pools_lock);
    av_freep(memory);
}
