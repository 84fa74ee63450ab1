#include "app/measure_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "media/compat.h"
#include "media/output/file_name.h"

/* Written at once. */
#define BUFFER_SIZE ((size_t)256 << 10)

struct MeasureFile {
    int fd;
    char *folder;
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

static int open_unnamed(const char *folder)
{
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd;
    char name[4096];
    const int length = snprintf(name, sizeof(name), "%s/.lumeq-measures-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(name, O_CLOEXEC);
    if (named >= 0)
        (void)unlink(name);
    return named;
}

static int open_in(MeasureFile *f, char *folder)
{
    av_free(f->folder);
    f->folder = folder;
    f->fd = folder ? open_unnamed(folder) : -1;
    return f->fd;
}

int measure_file_open(MeasureFile **file, const char *output, MediaError *error)
{
    const char *temporary = getenv("TMPDIR");
    *file = NULL;
    MeasureFile *f = calloc(1, sizeof(*f));
    if (!f)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    f->fd = -1;
    f->room = BUFFER_SIZE;
    f->buffer = malloc(f->room);
    if (output)
        open_in(f, file_name_folder(output));
    if (f->fd < 0)
        open_in(f, av_strdup(temporary && temporary[0] ? temporary : P_tmpdir));
    int ret = 0;
    if (!f->buffer || !f->folder)
        ret = media_fail(error, MEDIA_OUTPUT, "out of memory");
    else if (f->fd < 0)
        ret = media_fail(error, MEDIA_OUTPUT,
                         "two passes need a temporary file, and none can be made in %s: %s",
                         media_quote(f->folder), strerror(errno));
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
        .format = frame->format,
        .range = frame->color_range,
    };
}

static int cannot_write(const MeasureFile *f, int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT,
                      "cannot write the temporary file of the first pass in the folder %s: %s",
                      media_quote(f->folder), strerror(reason));
}

int measure_file_flush(MeasureFile *f, MediaError *error)
{
    size_t done = 0;
    while (done < f->used) {
        const ssize_t n = write(f->fd, f->buffer + done, f->used - done);
        if (n < 0 && errno != EINTR)
            return cannot_write(f, errno, error);
        done += n > 0 ? (size_t)n : 0;
    }
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
    const Record record = {.frame = *frame, .size = size};
    if (make_room(f, sizeof(record) + size, error) < 0)
        return error->fault;
    memcpy(f->buffer + f->used, &record, sizeof(record));
    if (lumeq_measure_pack(measure, f->buffer + f->used + sizeof(record), &size) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    f->used += sizeof(record) + size;
    f->count++;
    return 0;
}

int64_t measure_file_size(const MeasureFile *f)
{
    return f->written + (int64_t)f->used;
}

int64_t measure_file_count(const MeasureFile *f)
{
    return f->count;
}

static int read_at(MeasureFile *f, void *to, size_t size, int64_t position, MediaError *error)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pread(f->fd, (uint8_t *)to + done, size - done, (off_t)(position + (int64_t)done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return media_fail(error, MEDIA_OUTPUT,
                              "cannot read the temporary file of the first pass back: %s",
                              n ? strerror(errno) : "it has become shorter");
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int read_measure(MeasureFile *f, size_t size, int64_t position, LumeqMeasure **measure,
                        MediaError *error)
{
    if (make_room(f, size, error) < 0 || read_at(f, f->buffer, size, position, error) < 0)
        return error->fault;
    if (lumeq_measure_unpack(measure, f->buffer, size) < 0)
        return media_fail(error, MEDIA_OUTPUT,
                          "the temporary file of the first pass does not hold what was written: %s",
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
    if (f->fd >= 0)
        (void)close(f->fd);
    av_free(f->folder);
    free(f->buffer);
    free(f);
    *file = NULL;
}
