#include "media/output/byte_counter.h"

#include <stdint.h>
#include <stdio.h>

#include <libavutil/macros.h>
#include <libavutil/mem.h>

#include "media/compat.h"

#define BUFFER_BYTES 32768

typedef struct ByteCounter {
    int64_t at, size;
} ByteCounter;

static int take(void *opaque, WrittenByte *bytes, int size)
{
    ByteCounter *c = opaque;
    (void)bytes;
    c->at += size;
    c->size = FFMAX(c->size, c->at);
    return size;
}

static int64_t seek(void *opaque, int64_t offset, int whence)
{
    ByteCounter *c = opaque;
    if (whence == AVSEEK_SIZE)
        return c->size;
    const int64_t from = whence == SEEK_CUR ? c->at : whence == SEEK_END ? c->size : 0;
    return c->at = from + offset;
}

int byte_counter_open(AVIOContext **io, MediaError *error)
{
    ByteCounter *c = av_mallocz(sizeof(*c));
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    *io = c && buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 1, c, NULL, take, seek) : NULL;
    if (*io)
        return 0;
    av_free(buffer);
    av_free(c);
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

void byte_counter_close(AVIOContext **io)
{
    if (!*io)
        return;
    av_freep(&(*io)->buffer);
    av_freep(&(*io)->opaque);
    avio_context_free(io);
}
