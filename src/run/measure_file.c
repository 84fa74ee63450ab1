#include "run/measure_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/output/unnamed_file.h"

/* Written at once. */
#define BUFFER_SIZE ((size_t)256 << 10)

struct MeasureFile {
    UnnamedFile file;
    uint8_t *buffer; /* of what is written; once that is done, of one measure that is read */
    size_t used, room;
    int64_t written; /* bytes in the file */
    int64_t count;
};

/* What stands before each measure. The file is read by the program that writes it. */
typedef struct Record {
    MeasuredFrame frame;
    uint64_t size; /* of the measure */
} Record;

int measure_file_open(MeasureFile **file, const char *output, MediaError *error)
{
    *file = NULL;
    MeasureFile *f = calloc(1, sizeof(*f));
    if (!f)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    f->room = BUFFER_SIZE;
    f->buffer = malloc(f->room);
    int ret = unnamed_file_open(&f->file, output);
    if (!f->buffer || !f->file.folder)
        ret = media_fail(error, MEDIA_OUTPUT, "out of memory");
    else if (ret < 0)
        ret = media_fail(error, MEDIA_OUTPUT,
                         "measures need a temporary file, and none can be made in %s: %s",
                         media_quote(f->file.folder), strerror(errno));
    if (ret < 0)
        measure_file_close(&f);
    *file = f;
    return ret;
}

MeasuredFrame measure_file_frame(const AVFrame *frame, int64_t shift)
{
    return (MeasuredFrame){
        .pts = frame->pts + shift,
        .duration = FRAME_DURATION(frame),
        .width = frame->width,
        .height = frame->height,
        .format = gpu_frame_format(frame),
        .range = frame->color_range,
        .interlaced = FRAME_IS_INTERLACED(frame),
    };
}

uint32_t measure_mark(const void *packed, size_t size)
{
    uint8_t last[4] = {0};
    if (size >= sizeof(last))
        memcpy(last, (const uint8_t *)packed + size - sizeof(last), sizeof(last));
    return last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 | (uint32_t)last[3] << 24;
}

int measured_is_same(const MeasuredFrame *a, const MeasuredFrame *b)
{
    return a->pts == b->pts && a->duration == b->duration && a->width == b->width &&
           a->height == b->height && a->format == b->format && a->range == b->range &&
           a->interlaced == b->interlaced;
}

static int cannot_write(const MeasureFile *f, int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT,
                      "cannot write the temporary file of measures in the folder %s: %s",
                      media_quote(f->file.folder), strerror(reason));
}

int measure_file_flush(MeasureFile *f, MediaError *error)
{
    const int reason = unnamed_file_write(&f->file, f->buffer, f->used, f->written);
    if (reason)
        return cannot_write(f, reason, error);
    f->written += (int64_t)f->used;
    f->used = 0;
    return 0;
}

/* Room for `size` more bytes behind what is in the buffer. */
static int make_room(MeasureFile *f, size_t size, MediaError *error)
{
    if (f->used + size > f->room && measure_file_flush(f, error) < 0)
        return error->fault;
    if (size <= f->room)
        return 0;
    uint8_t *larger = malloc(size);
    if (!larger)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    free(f->buffer);
    f->buffer = larger;
    f->room = size;
    return 0;
}

int measure_file_add(MeasureFile *f, const MeasuredFrame *frame, const LumeqMeasure *measure,
                     MediaError *error)
{
    size_t size = 0;
    if (lumeq_measure_pack(measure, NULL, &size) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    Record record = {.frame = *frame, .size = size};
    if (make_room(f, sizeof(record) + size, error) < 0)
        return error->fault;
    uint8_t *const bytes = f->buffer + f->used + sizeof(record);
    if (lumeq_measure_pack(measure, bytes, &size) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    record.frame.mark = measure_mark(bytes, size);
    memcpy(f->buffer + f->used, &record, sizeof(record));
    f->used += sizeof(record) + size;
    f->count++;
    return 0;
}

int64_t measure_file_count(const MeasureFile *f)
{
    return f->count;
}

static int read_at(const MeasureFile *f, void *to, size_t size, int64_t position, MediaError *error)
{
    const int reason = unnamed_file_read(&f->file, to, size, position);
    if (!reason)
        return 0;
    return media_fail(error, MEDIA_OUTPUT, "cannot read the temporary file of measures back: %s",
                      reason < 0 ? "it has become shorter" : strerror(reason));
}

static int read_measure(MeasureFile *f, size_t size, int64_t position, LumeqMeasure **measure,
                        MediaError *error)
{
    if (make_room(f, size, error) < 0 || read_at(f, f->buffer, size, position, error) < 0)
        return error->fault;
    if (lumeq_measure_unpack(measure, f->buffer, size) < 0)
        return media_fail(error, MEDIA_OUTPUT,
                          "the temporary file of measures does not hold what was written: %s",
                          lumeq_last_error(NULL));
    return 0;
}

int measure_file_read(MeasureFile *f, MeasureCursor *cursor, MeasuredFrame *frame,
                      LumeqMeasure **measure, MediaError *error)
{
    Record record;
    if (cursor->position >= f->written)
        return 0;
    const int64_t behind = cursor->position + (int64_t)sizeof(record);
    int ret = read_at(f, &record, sizeof(record), cursor->position, error);
    if (ret >= 0 && measure)
        ret = read_measure(f, record.size, behind, measure, error);
    if (ret < 0)
        return ret;
    *frame = record.frame;
    cursor->position = behind + (int64_t)record.size;
    return 1;
}

void measure_file_close(MeasureFile **file)
{
    MeasureFile *f = *file;
    if (!f)
        return;
    unnamed_file_close(&f->file);
    free(f->buffer);
    free(f);
    *file = NULL;
}
