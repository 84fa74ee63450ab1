#include "job/record_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/checksum.h"
#include "media/regular_file.h"

static const char magic[] = "lumeqJOB";

#define MOST_BYTES ((uint32_t)1 << 30) /* in a record */
#define FIRST_RECORDS 256

const char *const record_names[RECORD_KINDS] = {
    [RECORDS_MEASURES] = "measured", [RECORDS_CURVES] = "curves", [RECORDS_PACKETS] = "part"};

int record_writer_open(RecordWriter *w, const JobPlan *plan, RecordKind kind, int part,
                       MediaError *error)
{
    const JobPath path = job_part_path(plan->folder, record_names[kind], part, "");
    w->end = (RecordEnd){.version = JOB_PLAN_VERSION,
                         .kind = kind,
                         .plan = kind == RECORDS_CURVES ? 0 : plan->mark,
                         .part = (uint32_t)part};
    memcpy(w->end.magic, magic, sizeof(w->end.magic));
    return atomic_file_open(&w->file, path.text, error);
}

int record_writer_append(RecordWriter *w, const void *bytes, size_t size, MediaError *error)
{
    Record *r = &w->records[w->end.count - 1];
    r->size += (uint32_t)size;
    r->sum = checksum(r->sum, bytes, size);
    return atomic_file_write(&w->file, bytes, size, error);
}

int record_writer_add(RecordWriter *w, const Record *head, const void *bytes, size_t size,
                      MediaError *error)
{
    if (w->end.count == w->room) {
        const int64_t room = w->room ? 2 * w->room : FIRST_RECORDS;
        Record *larger = realloc(w->records, (size_t)room * sizeof(*larger));
        if (!larger)
            return media_no_memory(error, MEDIA_OUTPUT);
        w->records = larger;
        w->room = room;
    }
    Record *r = &w->records[w->end.count++];
    memcpy(r, head, sizeof(*r)); /* the padding, too: it is written */
    r->size = r->sum = 0;
    return record_writer_append(w, bytes, size, error);
}

int record_writer_commit(RecordWriter *w, const void *last, size_t size, MediaError *error)
{
    Record head;
    memset(&head, 0, sizeof(head));
    int ret = record_writer_add(w, &head, last, size, error);
    const size_t index = (size_t)w->end.count * sizeof(*w->records);
    if (ret >= 0)
        ret = atomic_file_write(&w->file, w->records, index, error);
    w->end.index = checksum(0, w->records, ret < 0 ? 0 : index);
    w->end.sum = checksum(0, &w->end, offsetof(RecordEnd, sum));
    if (ret >= 0)
        ret = atomic_file_write(&w->file, &w->end, sizeof(w->end), error);
    return ret < 0 ? ret : atomic_file_commit(&w->file, error);
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

static int check_end(const RecordFile *f, const JobPlan *plan, RecordKind kind, uint32_t part,
                     MediaError *error)
{
    const RecordEnd *end = &f->end;
    if (memcmp(end->magic, magic, sizeof(end->magic)) != 0)
        return media_fail(error, MEDIA_INPUT, "%s is not a part of a film, or was cut off",
                          media_quote(f->path));
    if (checksum(0, end, offsetof(RecordEnd, sum)) != end->sum)
        return record_file_fail(f, "its checksum is wrong", error);
    if (end->kind != kind || end->version != JOB_PLAN_VERSION)
        return media_fail(error, MEDIA_INPUT, "%s is another file of a job", media_quote(f->path));
    if (kind == RECORDS_CURVES ? end->index != plan->parts[part].curves : end->plan != plan->mark)
        return media_fail(error, MEDIA_INPUT, "%s is of another plan", media_quote(f->path));
    return end->part == part ? 0
                             : media_fail(error, MEDIA_INPUT, "%s is part %u, not part %u",
                                          media_quote(f->path), end->part, part);
}

/* Reads the index and the last record. `left`: the bytes before the end. */
static int read_index(RecordFile *f, int64_t left, MediaError *error)
{
    int64_t position = 0;
    if (f->end.count < 1 || f->end.count > left / (int64_t)sizeof(*f->records))
        return record_file_fail(f, "its end is damaged", error);
    const size_t size = (size_t)f->end.count * sizeof(*f->records);
    left -= (int64_t)size;
    f->records = malloc(size);
    if (!f->records)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (read_at(f, f->records, size, left, error) < 0)
        return error->fault;
    if (checksum(0, f->records, size) != f->end.index)
        return record_file_fail(f, "its checksum is wrong", error);
    for (int64_t i = 0; i < f->end.count; position += f->records[i++].size) {
        f->records[i].position = position;
        if (f->records[i].size > MOST_BYTES || f->records[i].size > left - position)
            return record_file_fail(f, "its index is damaged", error);
    }
    f->count = f->end.count - 1;
    f->last_size = f->records[f->count].size;
    f->last = malloc(f->last_size + 1);
    return f->last ? record_file_read(f, f->count, f->last, error)
                   : media_no_memory(error, MEDIA_OUTPUT);
}

int record_file_open(RecordFile *f, const JobPlan *plan, RecordKind kind, int part,
                     MediaError *error)
{
    struct stat about;
    const JobPath path = job_part_path(plan->folder, record_names[kind], part, "");
    *f = (RecordFile){.fd = -1, .path = strdup(path.text)};
    if (!f->path)
        return media_no_memory(error, MEDIA_OUTPUT);
    f->fd = regular_file_open(f->path, O_NOFOLLOW);
    if (f->fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (f->fd < 0 || fstat(f->fd, &about) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                          regular_file_why());
    const int64_t left = about.st_size - (int64_t)sizeof(f->end);
    if (left < 0)
        return record_file_fail(f, "it is too short", error);
    int ret = read_at(f, &f->end, sizeof(f->end), left, error);
    if (ret >= 0)
        ret = check_end(f, plan, kind, (uint32_t)part, error);
    return ret < 0 ? ret : read_index(f, left, error);
}

int record_file_read(RecordFile *f, int64_t index, void *bytes, MediaError *error)
{
    const Record *r = &f->records[index];
    if (f->fd < 0)
        f->fd = regular_file_open(f->path, O_NOFOLLOW);
    if (f->fd < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                          regular_file_why());
    if (read_at(f, bytes, r->size, r->position, error) < 0)
        return error->fault;
    return checksum(0, bytes, r->size) == r->sum
               ? 0
               : record_file_fail(f, "the checksum of a record is wrong", error);
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
    free(f->last);
    *f = (RecordFile){0};
}
