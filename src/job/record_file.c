#include "job/record_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/job_plan.h"
#include "media/checksum.h"
#include "media/regular_file.h"

/* The first bytes of the file; the last four are the size of the text. */
static const char magic[] = "lumeqJOB";

#define HEAD (sizeof(magic) - 1)
#define MOST_TEXT ((int64_t)64 << 10)
#define MOST_BYTES ((uint32_t)1 << 30) /* in a record */
#define FIRST_RECORDS 256

int record_writer_open(RecordWriter *w, char *path, MediaError *error)
{
    int ret = path ? atomic_file_open(&w->file, path, error) : media_no_memory(error, MEDIA_OUTPUT);
    free(path);
    return ret < 0 ? ret : atomic_file_write(&w->file, magic, HEAD, error);
}

int record_writer_append(RecordWriter *w, const void *bytes, size_t size, MediaError *error)
{
    Record *r = &w->records[w->count - 1];
    r->size += (uint32_t)size;
    r->sum = checksum(r->sum, bytes, size);
    return atomic_file_write(&w->file, bytes, size, error);
}

int record_writer_add(RecordWriter *w, const Record *head, const void *bytes, size_t size,
                      MediaError *error)
{
    if (w->count == w->room) {
        const int64_t room = w->room ? 2 * w->room : FIRST_RECORDS;
        Record *larger = realloc(w->records, (size_t)room * sizeof(*larger));
        if (!larger)
            return media_no_memory(error, MEDIA_OUTPUT);
        w->records = larger;
        w->room = room;
    }
    Record *r = &w->records[w->count++];
    memcpy(r, head, sizeof(*r)); /* the padding, too: it is written */
    r->position = w->file.written;
    r->size = r->sum = r->unused = 0;
    return record_writer_append(w, bytes, size, error);
}

#define OWN_FIELDS 2
#define LIST_OWN_FIELDS(count, sum)                                                                \
    {                                                                                              \
        KEY_NUMBERS("records", count, 1, 0, JOB_MOST_COUNT), KEY_SUM("index", sum)                 \
    }

int record_writer_commit(RecordWriter *w, const char *title, const KeyField *fields,
                         size_t field_count, uint32_t *sum, MediaError *error)
{
    const size_t index = (size_t)w->count * sizeof(*w->records);
    uint32_t index_sum = checksum(0, w->records, index);
    const KeyField own[OWN_FIELDS] = LIST_OWN_FIELDS(w->count, index_sum);
    KeyText text = {0};
    key_text_add(&text, title, "%d", JOB_PLAN_VERSION);
    key_text_put(&text, own, OWN_FIELDS);
    key_text_put(&text, fields, field_count);
    (void)key_text_end(&text);
    const uint32_t size = (uint32_t)text.size;
    int ret = text.failed ? media_no_memory(error, MEDIA_OUTPUT)
                          : atomic_file_write(&w->file, w->records, index, error);
    if (ret >= 0)
        ret = atomic_file_write(&w->file, text.text, text.size, error);
    if (ret >= 0)
        ret = atomic_file_write(&w->file, &size, sizeof(size), error);
    if (ret >= 0)
        ret = atomic_file_commit(&w->file, error);
    if (sum)
        *sum = index_sum;
    key_text_free(&text);
    return ret;
}

void record_writer_close(RecordWriter *w)
{
    atomic_file_close(&w->file);
    free(w->records);
    *w = (RecordWriter){0};
}

/* ---- reading ---- */

int record_file_fail(const RecordFile *f, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "%s is incomplete: %s", media_quote(f->path), why);
}

static int read_at(const RecordFile *f, void *to, size_t size, int64_t position, MediaError *error)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pread(f->fd, (uint8_t *)to + done, size - done, (off_t)(position + (int64_t)done));
        if (n == 0)
            return record_file_fail(f, "it is too short", error);
        if (n < 0 && errno != EINTR)
            return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                              strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Reads `size` bytes into new memory, followed by a 0. Returns NULL on failure. */
static void *read_new(const RecordFile *f, size_t size, int64_t position, MediaError *error)
{
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) {
        (void)media_no_memory(error, MEDIA_OUTPUT);
    } else if (read_at(f, bytes, size, position, error) < 0) {
        free(bytes);
        bytes = NULL;
    } else {
        bytes[size] = 0;
    }
    return bytes;
}

/* Reads the text and sets the fields. `*end`: where the file ends; afterwards, where the text
 * begins. */
static int read_text(RecordFile *f, const char *title, const KeyField *fields, size_t field_count,
                     int64_t *end, MediaError *error)
{
    const KeyField own[OWN_FIELDS] = LIST_OWN_FIELDS(f->count, f->sum);
    char head[HEAD], *at, *key, *value;
    uint32_t size, sum;
    int lines = 0, ret = 0;
    if (*end < (int64_t)(HEAD + sizeof(size)))
        return record_file_fail(f, "it is too short", error);
    *end -= (int64_t)sizeof(size);
    if (read_at(f, head, HEAD, 0, error) < 0 || read_at(f, &size, sizeof(size), *end, error) < 0)
        return error->fault;
    if (memcmp(head, magic, HEAD) != 0)
        return media_fail(error, MEDIA_INPUT, "%s is not a part of a film", media_quote(f->path));
    *end -= size;
    if (size > MOST_TEXT || *end < (int64_t)HEAD)
        return record_file_fail(f, "it was cut off", error);
    char *text = at = read_new(f, size, *end, error);
    if (!text)
        return error->fault;
    if (!key_text_is_whole(text, &sum) || strlen(text) != size)
        ret = record_file_fail(f, "its checksum is wrong", error);
    for (; ret >= 0 && key_text_next(&at, &key, &value); lines++) {
        if (!lines && strcmp(key, title) != 0)
            ret =
                media_fail(error, MEDIA_INPUT, "%s is another file of a job", media_quote(f->path));
        else if (key_text_take(own, OWN_FIELDS, key, value) < 0 ||
                 key_text_take(fields, field_count, key, value) < 0)
            ret = record_file_fail(f, "a line is damaged", error);
    }
    free(text);
    return ret;
}

/* Reads the index, which ends where the text begins. */
static int read_index(RecordFile *f, int64_t text, MediaError *error)
{
    const int64_t size = f->count * (int64_t)sizeof(*f->records), begin = text - size;
    if (begin < (int64_t)HEAD)
        return record_file_fail(f, "its end is damaged", error);
    f->records = read_new(f, (size_t)size, begin, error);
    if (!f->records)
        return error->fault;
    if (checksum(0, f->records, (size_t)size) != f->sum)
        return record_file_fail(f, "its checksum is wrong", error);
    for (int64_t i = 0; i < f->count; i++) {
        const Record *r = &f->records[i];
        if (r->size > MOST_BYTES || !job_is_within(r->position, (int64_t)HEAD, begin - r->size))
            return record_file_fail(f, "its index is damaged", error);
    }
    return 0;
}

int record_file_open(RecordFile *f, char *path, const char *title, const KeyField *fields,
                     size_t field_count, MediaError *error)
{
    struct stat about;
    *f = (RecordFile){.fd = -1, .path = path};
    if (!path)
        return media_no_memory(error, MEDIA_OUTPUT);
    f->fd = regular_file_open(path, O_NOFOLLOW);
    if (f->fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (f->fd < 0 || fstat(f->fd, &about) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          regular_file_why());
    int64_t end = about.st_size;
    const int ret = read_text(f, title, fields, field_count, &end, error);
    return ret < 0 ? ret : read_index(f, end, error);
}

int record_file_read(const RecordFile *f, int64_t index, void *bytes, MediaError *error)
{
    const Record *r = &f->records[index];
    if (read_at(f, bytes, r->size, r->position, error) < 0)
        return error->fault;
    return checksum(0, bytes, r->size) == r->sum
               ? 0
               : record_file_fail(f, "the checksum of a record is wrong", error);
}

int record_file_verify(const RecordFile *f, MediaError *error)
{
    int ret = 0;
    for (int64_t i = 0; ret >= 0 && i < f->count; i++) {
        void *bytes = malloc((size_t)f->records[i].size + 1);
        ret = bytes ? record_file_read(f, i, bytes, error) : media_no_memory(error, MEDIA_OUTPUT);
        free(bytes);
    }
    return ret;
}

void record_file_release(RecordFile *f)
{
    if (f->path && f->fd >= 0)
        (void)close(f->fd);
    f->fd = -1;
}

void record_file_close(RecordFile *f)
{
    record_file_release(f);
    free(f->path);
    free(f->records);
    *f = (RecordFile){0};
}
