#include "job/frame_block.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "job/job_plan.h"
#include "media/checksum.h"

#define MOST_BYTES ((size_t)4 << 20) /* no curve or measure is larger */
#define LEVEL 4                      /* level 6 takes nearly twice the time and saves 1 to 3 % */

/* A frame without the padding at its end. */
#define FRAME_BYTES (offsetof(MeasuredFrame, interlaced) + sizeof(int32_t))

/* Precedes each record: the size of its curve or measure, and of the compressed bytes. */
typedef struct Head {
    uint32_t size, packed;
} Head;

/* A record of another size than the last one is compared with zeros. `size`: of the bytes. */
static int record_resize(FrameRecord *r, size_t size)
{
    const size_t count = (FRAME_BYTES + size + 3) / 4;
    if (count == r->count)
        return 0;
    free(r->words);
    *r = (FrameRecord){.words = calloc(1, 12 * count + compressBound(4 * count))};
    if (!r->words)
        return -1;
    r->last = r->words + count;
    r->planes = (uint8_t *)(r->last + count);
    r->count = count;
    return 0;
}

/* ---- writing ---- */

void *block_writer_reserve(BlockWriter *w, size_t size)
{
    if (size > MOST_BYTES || record_resize(&w->record, size) < 0)
        return NULL;
    w->size = (uint32_t)size;
    return (uint8_t *)w->record.words + FRAME_BYTES;
}

/* Stores how each word differs from that of the last record. In a curve, counts and codes alternate
 * and neighbours of a kind change alike, so the difference two words before is subtracted. Bit 0 is
 * the sign, and the low bytes of all words come first: zlib finds more that repeats. */
static void words_to_planes(const FrameRecord *r)
{
    uint32_t changes[2] = {0};
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t change = r->words[i] - r->last[i];
        const uint32_t rest = change - changes[i % 2];
        const uint32_t folded = rest << 1 ^ (rest >> 31 ? UINT32_MAX : 0);
        for (size_t k = 0; k < 4; k++)
            r->planes[k * r->count + i] = (uint8_t)(folded >> 8 * k);
        changes[i % 2] = change;
    }
    memcpy(r->last, r->words, 4 * r->count);
}

int block_writer_add(BlockWriter *w, const MeasuredFrame *frame, MediaError *error)
{
    FrameRecord *const r = &w->record;
    uint8_t *const packed = r->planes + 4 * r->count;
    uLongf length = compressBound(4 * r->count);
    memcpy(r->words, frame, FRAME_BYTES);
    words_to_planes(r);
    if (compress2(packed, &length, r->planes, 4 * r->count, LEVEL) != Z_OK)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    const Head head = {w->size, (uint32_t)length};
    w->sum = checksum(checksum(w->sum, &head, sizeof(head)), packed, length);
    const int ret = atomic_file_write(w->file, &head, sizeof(head), error);
    return ret < 0 ? ret : atomic_file_write(w->file, packed, length, error);
}

void block_writer_close(BlockWriter *w)
{
    free(w->record.words);
    *w = (BlockWriter){0};
}

/* ---- reading ---- */

int block_reader_open(BlockReader *r, const SealedFile *file, int64_t position, int64_t size,
                      uint32_t sum, MediaError *error)
{
    uint8_t bytes[4096];
    uint32_t found = 0;
    *r = (BlockReader){.file = file, .position = position, .end = position + size};
    for (int64_t at = position; at < r->end; at += (int64_t)sizeof(bytes)) {
        const size_t n =
            r->end - at < (int64_t)sizeof(bytes) ? (size_t)(r->end - at) : sizeof(bytes);
        if (sealed_file_read(file, bytes, n, at, error) < 0)
            return error->fault;
        found = checksum(found, bytes, n);
    }
    return found == sum ? 0
                        : media_fail(error, MEDIA_INPUT, "%s is damaged: its checksum is wrong",
                                     media_quote(file->path));
}

static void planes_to_words(const FrameRecord *r)
{
    uint32_t changes[2] = {0};
    for (size_t i = 0; i < r->count; i++) {
        uint32_t folded = 0;
        for (size_t k = 0; k < 4; k++)
            folded |= (uint32_t)r->planes[k * r->count + i] << 8 * k;
        changes[i % 2] += folded >> 1 ^ (folded & 1 ? UINT32_MAX : 0);
        r->words[i] += changes[i % 2];
    }
}

/* Reads and unpacks a record: 1, 0 if it is damaged, or MEDIA_INPUT. */
static int read_record(BlockReader *r, Head *head, MediaError *error)
{
    FrameRecord *const record = &r->record;
    if (r->end - r->position < (int64_t)sizeof(*head))
        return 0;
    if (sealed_file_read(r->file, head, sizeof(*head), r->position, error) < 0)
        return error->fault;
    r->position += (int64_t)sizeof(*head);
    if (head->size > MOST_BYTES || head->packed > r->end - r->position)
        return 0;
    if (record_resize(record, head->size) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    uLongf length = 4 * record->count;
    uint8_t *const packed = record->planes + length;
    if (head->packed > compressBound(length))
        return 0;
    if (sealed_file_read(r->file, packed, head->packed, r->position, error) < 0)
        return error->fault;
    r->position += head->packed;
    return uncompress(record->planes, &length, packed, head->packed) == Z_OK &&
           length == 4 * record->count;
}

int block_reader_next(BlockReader *r, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error)
{
    Head head = {0};
    if (r->position == r->end)
        return 0;
    int ret = read_record(r, &head, error);
    if (ret > 0) {
        planes_to_words(&r->record);
        memcpy(frame, r->record.words, FRAME_BYTES);
        ret = job_is_within(frame->pts, -JOB_MOST_PTS, JOB_MOST_PTS) &&
              job_is_within(frame->duration, -JOB_MOST_PTS, JOB_MOST_PTS);
    }
    if (ret == 0)
        return media_fail(error, MEDIA_INPUT, "%s does not hold what a plan does",
                          media_quote(r->file->path));
    *bytes = (const uint8_t *)r->record.words + FRAME_BYTES;
    *size = head.size;
    return ret;
}

void block_reader_close(BlockReader *r)
{
    free(r->record.words);
    *r = (BlockReader){0};
}
