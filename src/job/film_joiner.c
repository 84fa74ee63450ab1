#include "job/film_joiner.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "media/checksum.h"
#include "media/compat.h"
#include "media/regular_file.h"

#define COPY_BYTES ((size_t)64 << 10)

/* So many parts are named, of those that are missing. */
#define NAMED 6

struct FilmJoiner {
    const JobPlan *plan;
    PartFile *parts; /* closed but for what was read of them; the current one is open */
    int64_t count, next;
    int64_t *dts; /* of all packets */
    int part;     /* that the next packet is of */
    int64_t in_part;
    int part_is_open;
};

/* What comes with a part, as it says; `what` names it: "the statistics of part". */
static int check_companion(const JobPlan *plan, int part, const char *what,
                           const PartCompanion *companion, MediaError *error)
{
    char *path = companion->name[0] && !strchr(companion->name, '/')
                     ? job_path(plan->folder, companion->name)
                     : NULL;
    uint8_t *bytes = malloc(COPY_BYTES);
    FILE *file = path && bytes ? regular_file_stream(path, O_NOFOLLOW) : NULL;
    uint64_t size = 0;
    uint32_t sum = 0;
    for (size_t n; file && (n = fread(bytes, 1, COPY_BYTES, file)) > 0; size += n)
        sum = checksum(sum, bytes, n);
    const int is_there = file != NULL;
    if (file)
        fclose(file);
    free(bytes);
    free(path);
    if (is_there && size == companion->size && sum == companion->sum)
        return 0;
    return media_fail(error, MEDIA_INPUT, "%s %d, %s, are %s", what, part,
                      media_quote(companion->name), is_there ? "damaged" : "missing");
}

/* Of an open part. */
static int check_part(const JobPlan *plan, int part, const PartFile *file, MediaError *error)
{
    const PartLabel *label = &file->label;
    if (label->plan != plan->mark)
        return media_fail(error, MEDIA_INPUT, "part %d, %s, is of another plan", part,
                          media_quote(file->path));
    if (label->part != part)
        return media_fail(error, MEDIA_INPUT, "%s is part %d, not part %d", media_quote(file->path),
                          label->part, part);
    if (label->frames != plan->parts[part].frames || !file->count)
        return media_fail(error, MEDIA_INPUT,
                          "part %d, %s, is too short: it has %" PRId64 " frames, and %" PRId64
                          " are planned",
                          part, media_quote(file->path), label->frames, plan->parts[part].frames);
    int ret = 0;
    if (plan->rows)
        ret = check_companion(plan, part, "the statistics of part", &label->rows, error);
    if (ret >= 0 && plan->report)
        ret = check_companion(plan, part, "the report's figures of part", &label->report, error);
    return ret;
}

/* -ENOENT: it is missing. */
static int open_part(const JobPlan *plan, int part, PartFile *file, MediaError *error)
{
    char *path = job_part_path(plan->folder, "part", part);
    const int ret =
        path ? part_file_open(file, path, error) : media_fail(error, MEDIA_INPUT, "out of memory");
    free(path);
    return ret < 0 ? ret : check_part(plan, part, file, error);
}

int film_joiner_has(const JobPlan *plan, int part)
{
    MediaError error = {0};
    PartFile file = {.fd = -1};
    const int ret = open_part(plan, part, &file, &error);
    part_file_close(&file);
    return ret >= 0;
}

/* Adds a number to a list in words. */
static void name_part(char *text, size_t size, int part, int named)
{
    const size_t used = strlen(text);
    if (named < NAMED)
        snprintf(text + used, size - used, "%s%d", named ? ", " : "", part);
    else if (named == NAMED)
        snprintf(text + used, size - used, ", ...");
}

static int open_all(FilmJoiner *j, MediaError *error)
{
    const JobPlan *plan = j->plan;
    char names[128] = "";
    int missing = 0;
    for (int i = 0; i < plan->part_count; i++) {
        PartFile *file = &j->parts[i];
        MediaError why = {0};
        const int ret = open_part(plan, i, file, &why);
        if (file->fd >= 0)
            (void)close(file->fd); /* of many, not all can be open */
        file->fd = -1;
        if (ret < 0 && why.fault)
            return media_fail(error, why.fault, "%s; lumeq segment PLAN %d -y makes it anew",
                              why.text, i);
        if (ret < 0)
            name_part(names, sizeof(names), i, missing++);
        else
            j->count += file->count;
    }
    return missing ? media_fail(error, MEDIA_INPUT,
                                "%d of %d parts %s missing: %s; lumeq segment PLAN K makes part K",
                                missing, plan->part_count, missing == 1 ? "is" : "are", names)
                   : 0;
}

int film_joiner_check(const FilmJoiner *j, const uint8_t *extradata, int size, MediaError *error)
{
    for (int i = 0; i < j->plan->part_count; i++) {
        const PartFile *file = &j->parts[i];
        if (file->extradata_size != size ||
            (size && memcmp(file->extradata, extradata, (size_t)size) != 0))
            return media_fail(error, MEDIA_INPUT,
                              "part %d, %s, was encoded by another version or setting of %s: its "
                              "parameters differ",
                              i, media_quote(file->path), j->plan->encoder);
    }
    return 0;
}

/* ---- times of decoding ---- */

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Where a coarse time base made two frames one, the later one comes a tick later, as in one run:
 * also between parts. */
static void part_times(PartFile *file, int64_t *sorted, int64_t last)
{
    for (int64_t i = 0; i < file->count; i++)
        sorted[i] = file->packets[i].pts;
    qsort(sorted, (size_t)file->count, sizeof(*sorted), compare_times);
    for (int64_t i = 0; i < file->count && sorted[i] <= last; i++) {
        for (int64_t k = 0; k < file->count; k++)
            if (file->packets[k].pts == sorted[i])
                file->packets[k].pts = last + 1;
        sorted[i] = ++last;
    }
}

/* Packets of the film that are decoded before the first picture is shown, at least: as many as the
 * first of a part, and so many that no picture comes after its time. */
static int64_t find_delay(const FilmJoiner *j, const int64_t *sorted)
{
    int64_t delay = 0, at = 0;
    for (int k = 0; k < j->plan->part_count; at += j->parts[k++].count)
        for (int64_t i = 0; i < j->parts[k].count; i++) {
            const PartPacket *p = &j->parts[k].packets[i];
            while (delay < at + i && sorted[at + i - delay] > p->pts)
                delay++;
            if (p->dts != AV_NOPTS_VALUE && p->dts < sorted[at] && i >= delay)
                delay = i + 1;
        }
    return delay;
}

/* The rule by which an encoder does it: the times of all pictures in order, later by the delay. The
 * first ones are those of the first part. */
static int make_times(FilmJoiner *j, MediaError *error)
{
    int64_t *sorted = malloc(((size_t)j->count + 1) * sizeof(*sorted)), at = 0;
    j->dts = malloc(((size_t)j->count + 1) * sizeof(*j->dts));
    if (!sorted || !j->dts) {
        free(sorted);
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    }
    for (int k = 0; k < j->plan->part_count; at += j->parts[k++].count)
        part_times(&j->parts[k], sorted + at, at ? sorted[at - 1] : INT64_MIN);
    const int64_t delay = find_delay(j, sorted);
    const PartFile *first = &j->parts[0];
    const int64_t step = j->count > 1 ? FFMIN(sorted[1] - sorted[0], JOB_MOST_US / (delay + 1)) : 1;
    for (int64_t i = 0; i < j->count; i++) {
        const int64_t own = i < first->count ? first->packets[i].dts : AV_NOPTS_VALUE;
        j->dts[i] = i >= delay ? sorted[i - delay] : sorted[0] - (delay - i) * step;
        if (i < delay && own != AV_NOPTS_VALUE && own < sorted[0] && (!i || own > j->dts[i - 1]))
            j->dts[i] = own;
    }
    free(sorted);
    return 0;
}

/* ---- */

int film_joiner_open(FilmJoiner **joiner, const JobPlan *plan, MediaError *error)
{
    FilmJoiner *j = *joiner = calloc(1, sizeof(*j));
    if (!j)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    j->plan = plan;
    j->parts = calloc((size_t)plan->part_count, sizeof(*j->parts));
    for (int i = 0; j->parts && i < plan->part_count; i++)
        j->parts[i].fd = -1;
    int ret = j->parts ? open_all(j, error) : media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (ret >= 0)
        ret = make_times(j, error);
    return ret;
}

int64_t film_joiner_next(const FilmJoiner *j)
{
    return j->next < j->count ? j->dts[j->next] : INT64_MAX;
}

/* But for the times, which may have become others. */
static int has_same_packets(const PartFile *a, const PartFile *b)
{
    for (int64_t i = 0; i < a->count && a->count == b->count; i++)
        if (a->packets[i].sum != b->packets[i].sum || a->packets[i].size != b->packets[i].size ||
            a->packets[i].position != b->packets[i].position)
            return 0;
    return a->count == b->count;
}

/* The part of the next packet becomes the one that is open. */
static int change_part(FilmJoiner *j, MediaError *error)
{
    PartFile *file = &j->parts[j->part], again = {.fd = -1};
    const int ret = part_file_open(&again, file->path, error);
    if (ret < 0 && !error->fault)
        (void)media_fail(error, MEDIA_INPUT, "%s is not there any more", media_quote(file->path));
    if (ret >= 0 && !has_same_packets(file, &again))
        (void)media_fail(error, MEDIA_INPUT, "%s has been made anew meanwhile: join again",
                         media_quote(file->path));
    FFSWAP(int, file->fd, again.fd);
    part_file_close(&again);
    j->part_is_open = 1;
    return error->fault;
}

/* A part that cannot be read counts as missing from now on, so that it is made anew. */
static void set_aside(const PartFile *file)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof(name), "%s.damaged", file->path) < (int)sizeof(name))
        (void)rename(file->path, name);
}

int film_joiner_read(FilmJoiner *j, AVPacket *packet, MediaError *error)
{
    if (j->next >= j->count)
        return 0;
    PartFile *file = &j->parts[j->part];
    if (!j->part_is_open && change_part(j, error) < 0)
        return error->fault;
    if (part_file_read(file, j->in_part, packet, error) < 0) {
        if (error->fault == MEDIA_INPUT)
            set_aside(file);
        media_add(error, "; lumeq segment PLAN %d -y makes it anew", j->part);
        return error->fault;
    }
    packet->dts = j->dts[j->next++];
    if (++j->in_part == file->count) {
        (void)close(file->fd);
        file->fd = -1;
        j->part++;
        j->in_part = 0;
        j->part_is_open = 0;
    }
    return 1;
}

const PartLabel *film_joiner_label(const FilmJoiner *j, int part)
{
    return &j->parts[part].label;
}

void film_joiner_close(FilmJoiner **joiner)
{
    FilmJoiner *j = *joiner;
    if (!j)
        return;
    for (int i = 0; j->parts && i < j->plan->part_count; i++)
        part_file_close(&j->parts[i]);
    free(j->parts);
    free(j->dts);
    free(j);
    *joiner = NULL;
}
