#include "job/frame_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job/job_limits.h"
#include "job/range_coder.h"
#include "media/checksum.h"

/* More than any curve or measure has. */
#define MOST_BYTES ((uint64_t)4 << 20)

#define COPY_BYTES ((size_t)64 << 10)

/* A number in 7 bits a byte takes no more; so many stand before the words of a frame. */
#define NUMBER_BYTES 10
#define NUMBERS 11

/* Words by turns may belong to two rows, such as the counts and the codes of a curve. In each
 * section of words, each row is told in the way that takes the fewest bits. */
#define ROWS 2
#define SECTION 512

/* By how much a word is expected to differ from that of the frame before: not at all; as its row's
 * last one did; as its row's last two lead on to; as the last word did, and the last two. */
typedef enum Way { WAY_SAME, WAY_ROW, WAY_ROW_SLOPE, WAY_WORD, WAY_WORD_SLOPE, WAYS } Way;

/* The last frame, which the next one is told by. */
typedef struct Before {
    MeasuredFrame frame;
    uint32_t *words;
    size_t count, room;
} Before;

static uint64_t fold(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static int64_t unfold(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static int make_room(uint32_t **words, size_t *room, size_t count)
{
    if (count <= *room)
        return 0;
    uint32_t *larger = realloc(*words, count * sizeof(**words));
    if (!larger)
        return -1;
    *words = larger;
    *room = count;
    return 0;
}

static uint32_t load_word(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What the numbers of a block are coded by. */
typedef struct Models {
    RangeModel words[ROWS], ways;
} Models;

static void begin_models(Models *m)
{
    for (int row = 0; row < ROWS; row++)
        range_model_begin(&m->words[row]);
    range_model_begin(&m->ways);
}

/* Frames of one size are told by each other. `by`: how words differ from those of the frame before.
 */
static uint32_t expect(const uint32_t *by, size_t i, Way way)
{
    const size_t step = way == WAY_ROW || way == WAY_ROW_SLOPE ? ROWS : 1;
    if (way == WAY_SAME || i < step)
        return 0;
    if (way == WAY_ROW || way == WAY_WORD || i < 2 * step)
        return by[i - step];
    return 2 * by[i - step] - by[i - 2 * step];
}

static uint32_t word_before(const Before *before, size_t i)
{
    return i < before->count ? before->words[i] : 0;
}

/* By how long the last two numbers were. */
static int context_of(const int last[2])
{
    return (last[0] + last[1] + 1) / 2;
}

static void note_length(int last[2], uint32_t number)
{
    last[1] = last[0];
    last[0] = range_length(number);
}

/* ---- out ---- */

struct BlockWriter {
    AtomicFile *file;
    Before before;
    Models models;
    uint32_t *words, *by;
    size_t room, by_room;
    uint8_t *out;
    size_t used, out_room;
    uint32_t sum;
};

BlockWriter *block_writer_create(AtomicFile *file)
{
    BlockWriter *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->file = file;
    block_writer_begin(w);
    return w;
}

void block_writer_begin(BlockWriter *w)
{
    w->before.frame = (MeasuredFrame){0};
    w->before.count = 0;
    begin_models(&w->models);
    w->sum = 0;
}

static void put_number(BlockWriter *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        w->out[w->used++] = (uint8_t)(value | 0x80);
    w->out[w->used++] = (uint8_t)value;
}

static void put_frame(BlockWriter *w, const MeasuredFrame *f)
{
    const MeasuredFrame *b = &w->before.frame;
    const int64_t fields[] = {
        f->pts - b->pts - b->duration,
        f->duration - b->duration,
        (int64_t)f->width - b->width,
        (int64_t)f->height - b->height,
        (int64_t)f->format - b->format,
        (int64_t)f->range - b->range,
        f->damaged,
        f->interlaced,
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        put_number(w, fold(fields[i]));
    put_number(w, f->mark);
}

static Way best_way(const uint32_t *by, size_t from, size_t to)
{
    int64_t least = INT64_MAX;
    Way best = WAY_SAME;
    for (int way = 0; way < WAYS; way++) {
        int64_t bits = 0;
        for (size_t i = from; i < to; i += ROWS)
            bits += range_length((uint32_t)fold((int32_t)(by[i] - expect(by, i, (Way)way))));
        best = bits < least ? (Way)way : best;
        least = bits < least ? bits : least;
    }
    return best;
}

static void put_words(BlockWriter *w, size_t count)
{
    RangeWriter out;
    range_write_begin(&out, w->out + w->used);
    for (size_t i = 0; i < count; i++)
        w->by[i] = w->words[i] - word_before(&w->before, i);
    for (size_t from = 0; from < count; from += SECTION) {
        const size_t to = count - from < SECTION ? count : from + SECTION;
        int last[ROWS][2] = {{0}};
        Way ways[ROWS];
        for (size_t row = 0; row < ROWS; row++) {
            ways[row] = best_way(w->by, from + row, to);
            range_write(&out, &w->models.ways, (int)row, (uint32_t)ways[row]);
        }
        for (size_t i = from; i < to; i++) {
            const size_t row = i % ROWS;
            const uint32_t number =
                (uint32_t)fold((int32_t)(w->by[i] - expect(w->by, i, ways[row])));
            range_write(&out, &w->models.words[row], context_of(last[row]), number);
            note_length(last[row], number);
        }
    }
    w->used += range_write_end(&out);
}

static int make_rooms_out(BlockWriter *w, size_t size, size_t count)
{
    const size_t most = size % 4 + NUMBERS * NUMBER_BYTES +
                        (count + ROWS * (count / SECTION + 1)) * RANGE_MOST_BYTES;
    if (make_room(&w->words, &w->room, count + 1) < 0 ||
        make_room(&w->by, &w->by_room, count + 1) < 0)
        return -1;
    if (most <= w->out_room)
        return 0;
    uint8_t *larger = realloc(w->out, most);
    if (!larger)
        return -1;
    w->out = larger;
    w->out_room = most;
    return 0;
}

/* How many bytes follow, and they. */
static int write_frame(BlockWriter *w, MediaError *error)
{
    uint8_t *const frame = w->out, length[NUMBER_BYTES];
    const size_t size = w->used;
    w->out = length;
    w->used = 0;
    put_number(w, size);
    const size_t n = w->used;
    w->out = frame;
    w->sum = checksum(checksum(w->sum, length, n), frame, size);
    const int ret = atomic_file_write(w->file, length, n, error);
    return ret < 0 ? ret : atomic_file_write(w->file, frame, size, error);
}

int block_writer_add(BlockWriter *w, const MeasuredFrame *frame, const void *bytes, size_t size,
                     MediaError *error)
{
    const size_t count = size / 4;
    if (make_rooms_out(w, size, count) < 0)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    for (size_t i = 0; i < count; i++)
        w->words[i] = load_word((const uint8_t *)bytes + 4 * i);
    w->used = 0;
    put_number(w, size);
    put_frame(w, frame);
    memcpy(w->out + w->used, (const uint8_t *)bytes + 4 * count, size % 4);
    w->used += size % 4;
    put_words(w, count);

    uint32_t *const words = w->before.words;
    const size_t room = w->before.room;
    w->before = (Before){*frame, w->words, count, w->room};
    w->words = words;
    w->room = room;
    return write_frame(w, error);
}

uint32_t block_writer_sum(const BlockWriter *w)
{
    return w->sum;
}

void block_writer_free(BlockWriter **writer)
{
    BlockWriter *w = *writer;
    if (!w)
        return;
    free(w->before.words);
    free(w->words);
    free(w->by);
    free(w->out);
    free(w);
    *writer = NULL;
}

/* ---- in ---- */

struct BlockReader {
    FILE *file;
    const char *name;
    int64_t left; /* bytes of the block */
    Before before;
    Models models;
    uint32_t *words, *by;
    size_t room, by_room;
    uint8_t *bytes, *in; /* what was kept of the frame, and as it is coded */
    size_t bytes_room, in_room;
    const uint8_t *at; /* in that, ... */
    size_t in_left;    /* ... and what is left of it */
    int bad;
};

static int check_sum(FILE *file, const char *name, int64_t size, uint32_t sum, MediaError *error)
{
    uint8_t *bytes = malloc(COPY_BYTES);
    uint32_t found = 0;
    int64_t left = size;
    while (bytes && left > 0) {
        const size_t wanted = left < (int64_t)COPY_BYTES ? (size_t)left : COPY_BYTES;
        const size_t n = fread(bytes, 1, wanted, file);
        if (!n)
            break;
        found = checksum(found, bytes, n);
        left -= (int64_t)n;
    }
    free(bytes);
    if (!bytes)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (left > 0)
        return media_fail(error, MEDIA_INPUT, "%s is not whole: %s", media_quote(name),
                          ferror(file) ? "it cannot be read" : "it is too short");
    return found == sum ? 0
                        : media_fail(error, MEDIA_INPUT, "%s is damaged: its checksum is wrong",
                                     media_quote(name));
}

int block_reader_open(BlockReader **reader, FILE *file, const char *name, int64_t position,
                      int64_t size, uint32_t sum, MediaError *error)
{
    BlockReader *r = *reader = calloc(1, sizeof(*r));
    if (!r) {
        fclose(file);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    *r = (BlockReader){.file = file, .name = name, .left = size};
    begin_models(&r->models);
    int ret = fseeko(file, (off_t)position, SEEK_SET) == 0 ? 0 : -1;
    if (ret == 0)
        ret = check_sum(file, name, size, sum, error);
    if (ret == 0)
        ret = fseeko(file, (off_t)position, SEEK_SET);
    if (ret < 0 && !error->fault)
        (void)media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(name),
                         strerror(errno));
    if (ret < 0)
        block_reader_close(reader);
    return ret < 0 ? error->fault : 0;
}

static uint8_t take_byte(BlockReader *r)
{
    r->bad |= !r->in_left;
    if (!r->in_left)
        return 0;
    r->in_left--;
    return *r->at++;
}

static uint64_t take_number(BlockReader *r)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = take_byte(r);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->bad = 1;
    return 0;
}

static MeasuredFrame take_frame(BlockReader *r)
{
    const MeasuredFrame *b = &r->before.frame;
    int64_t fields[8];
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        fields[i] = unfold(take_number(r));
    return (MeasuredFrame){
        .pts = (int64_t)((uint64_t)fields[0] + (uint64_t)b->pts + (uint64_t)b->duration),
        .duration = (int64_t)((uint64_t)fields[1] + (uint64_t)b->duration),
        .width = (int32_t)((uint64_t)fields[2] + (uint64_t)b->width),
        .height = (int32_t)((uint64_t)fields[3] + (uint64_t)b->height),
        .format = (int32_t)((uint64_t)fields[4] + (uint64_t)b->format),
        .range = (int32_t)((uint64_t)fields[5] + (uint64_t)b->range),
        .damaged = fields[6] != 0,
        .interlaced = fields[7] != 0,
        .mark = (uint32_t)take_number(r),
    };
}

static void take_words(BlockReader *r, size_t count)
{
    RangeReader in;
    range_read_begin(&in, r->at, r->in_left);
    for (size_t from = 0; from < count && !in.bad; from += SECTION) {
        const size_t to = count - from < SECTION ? count : from + SECTION;
        int last[ROWS][2] = {{0}};
        Way ways[ROWS];
        for (int row = 0; row < ROWS; row++) {
            const uint32_t way = range_read(&in, &r->models.ways, row);
            in.bad |= way >= WAYS;
            ways[row] = in.bad ? WAY_SAME : (Way)way;
        }
        for (size_t i = from; i < to; i++) {
            const size_t row = i % ROWS;
            const uint32_t number = range_read(&in, &r->models.words[row], context_of(last[row]));
            note_length(last[row], number);
            r->by[i] = expect(r->by, i, ways[row]) + (uint32_t)unfold(number);
            r->words[i] = word_before(&r->before, i) + r->by[i];
        }
    }
    r->bad |= in.bad;
}

static int grow(uint8_t **bytes, size_t *room, size_t size)
{
    if (size <= *room && *bytes)
        return 0;
    uint8_t *larger = realloc(*bytes, size + 1);
    if (!larger)
        return -1;
    *bytes = larger;
    *room = size;
    return 0;
}

static int make_rooms(BlockReader *r, size_t size)
{
    if (make_room(&r->words, &r->room, size / 4 + 1) < 0 ||
        make_room(&r->by, &r->by_room, size / 4 + 1) < 0)
        return -1;
    return grow(&r->bytes, &r->bytes_room, size);
}

/* Its bytes, as they are coded: 0, or -1 without memory for them. */
static int read_frame(BlockReader *r)
{
    uint64_t size = 0;
    int c = 0x80;
    for (int shift = 0; c & 0x80 && shift < 32 && r->left > 0; shift += 7, r->left--) {
        c = getc(r->file);
        size |= (uint64_t)(c & 0x7f) << shift;
    }
    r->bad |= c == EOF || c & 0x80 || (int64_t)size > r->left;
    if (r->bad)
        return 0;
    if (grow(&r->in, &r->in_room, (size_t)size) < 0)
        return -1;
    r->bad |= fread(r->in, 1, (size_t)size, r->file) != size;
    r->left -= (int64_t)size;
    r->at = r->in;
    r->in_left = (size_t)size;
    return 0;
}

int block_reader_next(BlockReader *r, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error)
{
    if (r->left <= 0 && !r->bad)
        return 0;
    if (read_frame(r) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const uint64_t length = r->bad ? 0 : take_number(r);
    r->bad |= length > MOST_BYTES || length / 4 > (r->in_left + 8) * RANGE_MOST_NUMBERS;
    if (!r->bad && make_rooms(r, (size_t)length) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const size_t count = r->bad ? 0 : (size_t)length / 4;
    if (!r->bad) {
        *frame = take_frame(r);
        r->bad |= !job_is_within(frame->pts, -JOB_MOST_PTS, JOB_MOST_PTS) ||
                  !job_is_within(frame->duration, -JOB_MOST_PTS, JOB_MOST_PTS);
        for (size_t i = 4 * count; i < length; i++)
            r->bytes[i] = take_byte(r);
        take_words(r, count);
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 4; k++)
                r->bytes[4 * i + (size_t)k] = (uint8_t)(r->words[i] >> 8 * k);
    }
    if (r->bad)
        return media_fail(error, MEDIA_INPUT, "%s does not hold what a plan does",
                          media_quote(r->name));
    uint32_t *const words = r->before.words;
    const size_t room = r->before.room;
    r->before = (Before){*frame, r->words, count, r->room};
    r->words = words;
    r->room = room;
    *bytes = r->bytes;
    *size = (size_t)length;
    return 1;
}

void block_reader_close(BlockReader **reader)
{
    BlockReader *r = *reader;
    if (!r)
        return;
    fclose(r->file);
    free(r->before.words);
    free(r->words);
    free(r->by);
    free(r->bytes);
    free(r->in);
    free(r);
    *reader = NULL;
}
