#include "job/frame_block.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "job/job_plan.h"
#include "media/checksum.h"

#define MOST_BYTES ((size_t)4 << 20) /* no curve or measure is larger */
#define CHUNK ((size_t)32 << 10)
#define LEVEL 4 /* level 6 takes nearly twice the time and saves 1 to 3 % */

/* A frame without the padding at its end. */
#define FRAME_BYTES (offsetof(MeasuredFrame, interlaced) + sizeof(int32_t))

typedef struct Record {
    uint32_t *words; /* a frame and its bytes, in the machine's byte order */
    uint32_t *last;  /* the words of the record before */
    uint8_t *planes; /* the differences as they are compressed */
    size_t count;    /* number of words */
} Record;

/* A record of another size than the last one is compared with zeros. `size`: of the bytes. */
static int record_resize(Record *r, size_t size)
{
    const size_t count = (FRAME_BYTES + size + 3) / 4;
    if (count == r->count)
        return 0;
    free(r->words);
    *r = (Record){.words = calloc(3 * count, 4)};
    if (!r->words)
        return -1;
    r->last = r->words + count;
    r->planes = (uint8_t *)(r->last + count);
    r->count = count;
    return 0;
}

/* ---- writing ---- */

struct BlockWriter {
    AtomicFile *file;
    Record record;
    uint32_t sum;
    z_stream z;
    uint8_t packed[CHUNK];
};

BlockWriter *block_writer_open(AtomicFile *file)
{
    BlockWriter *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->file = file;
    if (deflateInit2(&w->z, LEVEL, Z_DEFLATED, MAX_WBITS, 8, Z_FILTERED) != Z_OK)
        block_writer_close(&w);
    return w;
}

static int compress_bytes(BlockWriter *w, void *bytes, size_t size, int flush, MediaError *error)
{
    int ret = 0;
    w->z.next_in = bytes;
    w->z.avail_in = (uInt)size;
    do {
        w->z.next_out = w->packed;
        w->z.avail_out = CHUNK;
        if (deflate(&w->z, flush) == Z_STREAM_ERROR)
            return media_fail(error, MEDIA_OUTPUT, "zlib cannot compress the frames of a part");
        const size_t n = CHUNK - w->z.avail_out;
        w->sum = checksum(w->sum, w->packed, n);
        ret = atomic_file_write(w->file, w->packed, n, error);
    } while (ret >= 0 && !w->z.avail_out);
    return ret;
}

/* Stores how each word differs from that of the last record. In a curve, counts and codes alternate
 * and neighbours of a kind change alike, so the difference two words before is subtracted. Bit 0 is
 * the sign, and the low bytes of all words come first: zlib finds more that repeats. */
static void words_to_planes(const Record *r)
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

int block_writer_add(BlockWriter *w, const MeasuredFrame *frame, const void *bytes, size_t size,
                     MediaError *error)
{
    Record *const r = &w->record;
    uint32_t length = (uint32_t)size;
    if (size > MOST_BYTES)
        return media_fail(error, MEDIA_OUTPUT, "a frame of a part takes %zu bytes", size);
    if (record_resize(r, size) < 0)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    memcpy(r->words, frame, FRAME_BYTES);
    memcpy((uint8_t *)r->words + FRAME_BYTES, bytes, size);
    words_to_planes(r);
    const int ret = compress_bytes(w, &length, sizeof(length), Z_NO_FLUSH, error);
    return ret < 0 ? ret : compress_bytes(w, r->planes, 4 * r->count, Z_NO_FLUSH, error);
}

int block_writer_finish(BlockWriter *w, uint32_t *sum, MediaError *error)
{
    const int ret = compress_bytes(w, NULL, 0, Z_FINISH, error);
    *sum = w->sum;
    return ret;
}

void block_writer_close(BlockWriter **writer)
{
    BlockWriter *w = *writer;
    if (!w)
        return;
    (void)deflateEnd(&w->z);
    free(w->record.words);
    free(w);
    *writer = NULL;
}

/* ---- reading ---- */

struct BlockReader {
    const SealedFile *file;
    int64_t left, end; /* bytes of the block that are still to be read, and where it ends */
    Record record;
    z_stream z;
    int status; /* of zlib */
    uint8_t packed[CHUNK];
};

/* 0 at the end. */
static size_t read_packed(BlockReader *r, MediaError *error)
{
    const size_t n = r->left < (int64_t)CHUNK ? (size_t)r->left : CHUNK;
    if (sealed_file_read(r->file, r->packed, n, r->end - r->left, error) < 0)
        return 0;
    r->left -= (int64_t)n;
    return n;
}

int block_reader_open(BlockReader **reader, const SealedFile *file, int64_t position, int64_t size,
                      uint32_t sum, MediaError *error)
{
    uint32_t found = 0;
    BlockReader *r = *reader = calloc(1, sizeof(*r));
    if (!r || inflateInit(&r->z) != Z_OK) {
        free(r);
        *reader = NULL;
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    r->file = file;
    r->left = size;
    r->end = position + size;
    for (size_t n; (n = read_packed(r, error)) > 0;)
        found = checksum(found, r->packed, n);
    r->left = size;
    if (error->fault || found == sum)
        return error->fault;
    return media_fail(error, MEDIA_INPUT, "%s is damaged: its checksum is wrong",
                      media_quote(file->path));
}

/* Returns how many bytes there were, fewer at the end and in a damaged block. */
static size_t decompress(BlockReader *r, void *to, size_t size, MediaError *error)
{
    r->z.next_out = to;
    r->z.avail_out = (uInt)size;
    while (r->status == Z_OK && r->z.avail_out) {
        if (!r->z.avail_in) {
            r->z.next_in = r->packed;
            r->z.avail_in = (uInt)read_packed(r, error);
        }
        r->status = inflate(&r->z, Z_NO_FLUSH); /* Z_BUF_ERROR if there is no input */
    }
    return size - r->z.avail_out;
}

static void planes_to_words(const Record *r)
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

int block_reader_next(BlockReader *r, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error)
{
    Record *const record = &r->record;
    uint32_t length;
    const size_t n = decompress(r, &length, sizeof(length), error);
    if (!n && r->status == Z_STREAM_END && !r->left && !r->z.avail_in)
        return 0;
    int right = n == sizeof(length) && length <= MOST_BYTES;
    if (right && record_resize(record, length) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    right = right && decompress(r, record->planes, 4 * record->count, error) == 4 * record->count;
    if (right) {
        planes_to_words(record);
        memcpy(frame, record->words, FRAME_BYTES);
        right = job_is_within(frame->pts, -JOB_MOST_PTS, JOB_MOST_PTS) &&
                job_is_within(frame->duration, -JOB_MOST_PTS, JOB_MOST_PTS);
    }
    if (r->status == Z_MEM_ERROR)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (!right)
        return media_fail(error, MEDIA_INPUT, "%s does not hold what a plan does",
                          media_quote(r->file->path));
    *bytes = (const uint8_t *)record->words + FRAME_BYTES;
    *size = length;
    return 1;
}

void block_reader_close(BlockReader **reader)
{
    BlockReader *r = *reader;
    if (!r)
        return;
    (void)inflateEnd(&r->z);
    free(r->record.words);
    free(r);
    *reader = NULL;
}
