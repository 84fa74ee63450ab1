#include "job/film_joiner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of missing parts that the message names. */
#define NAMED 6

struct FilmJoiner {
    const JobPlan *plan;
    RecordFile *parts; /* only the current one is open */
    int64_t count;     /* number of packets in the film */
    int64_t next;      /* index of the next packet in the film */
    int64_t *dts;      /* decoding times of all packets */
    int part;          /* the part that has the next packet */
    int64_t in_part;   /* index of the next packet in that part */
};

JobPath film_joiner_rows(const JobPlan *plan, int part)
{
    const char *ending = plan->rows ? strrchr(plan->rows, '.') : NULL;
    return job_part_path(plan->folder, "rows", part, ending ? ending : "");
}

/* If the part's file is missing, returns -ENOENT and does not set *error. */
static int open_part(const JobPlan *plan, int part, RecordFile *file, MediaError *error)
{
    int ret = record_file_open(file, plan, RECORDS_PACKETS, part, error);
    if (ret >= 0 && !file->count)
        ret = record_file_fail(file, "it has no packets", error);
    const JobPath rows = film_joiner_rows(plan, part);
    if (ret >= 0 && plan->rows && access(rows.text, F_OK) < 0)
        ret = media_fail(error, MEDIA_INPUT, "the statistics of part %d, %s, are missing", part,
                         media_quote(rows.text));
    return ret;
}

int film_joiner_has(const JobPlan *plan, int part)
{
    MediaError error = {0};
    RecordFile file;
    const int ret = open_part(plan, part, &file, &error);
    record_file_close(&file);
    return ret >= 0;
}

static int open_all(FilmJoiner *j, MediaError *error)
{
    const JobPlan *plan = j->plan;
    char names[128] = "";
    int missing = 0, used = 0;
    for (int i = 0; i < plan->part_count; i++) {
        RecordFile *file = &j->parts[i];
        MediaError why = {0};
        const int ret = open_part(plan, i, file, &why);
        record_file_release(file);
        if (ret < 0 && why.fault)
            return media_fail(error, why.fault, "%s; lumeq segment PLAN %d -y makes it again",
                              why.text, i);
        j->count += file->count;
        if (ret < 0 && missing < NAMED)
            used += snprintf(names + used, sizeof(names) - (size_t)used, "%s%d",
                             missing ? ", " : "", i);
        missing += ret < 0;
    }
    return missing
               ? media_fail(error, MEDIA_INPUT,
                            "%d of %d parts %s missing: %s%s; lumeq segment PLAN K makes part K",
                            missing, plan->part_count, missing == 1 ? "is" : "are", names,
                            missing > NAMED ? ", ..." : "")
               : 0;
}

int film_joiner_check(const FilmJoiner *j, const uint8_t *extradata, int size, MediaError *error)
{
    for (int i = 0; i < j->plan->part_count; i++) {
        const RecordFile *file = &j->parts[i];
        if (file->last_size != (size_t)size ||
            (size && memcmp(file->last, extradata, (size_t)size) != 0))
            return media_fail(error, MEDIA_INPUT,
                              "part %d, %s, was encoded by another version or setting of the "
                              "encoder: its parameters differ",
                              i, media_quote(file->path));
    }
    return 0;
}

/* ---- decoding times ---- */

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts a part's presentation times. With a coarse time base, its first times may be up to
 * `last`, the previous part's last time. Such frames get the next ticks, as in a single run. */
static void part_times(RecordFile *file, int64_t *sorted, int64_t last)
{
    for (int64_t i = 0; i < file->count; i++)
        sorted[i] = file->records[i].packet.pts;
    qsort(sorted, (size_t)file->count, sizeof(*sorted), compare_times);
    for (int64_t i = 0; i < file->count && sorted[i] <= last; i++) {
        for (int64_t k = 0; k < file->count; k++)
            if (file->records[k].packet.pts == sorted[i])
                file->records[k].packet.pts = last + 1;
        sorted[i] = ++last;
    }
}

/* Returns how many packets are decoded before the first picture is shown: at least as many as in
 * any part, and enough for each picture to be decoded in time. */
static int64_t find_delay(const FilmJoiner *j, const int64_t *sorted)
{
    int64_t delay = 0, at = 0;
    for (int k = 0; k < j->plan->part_count; at += j->parts[k++].count)
        for (int64_t i = 0; i < j->parts[k].count; i++) {
            const PacketTimes *p = &j->parts[k].records[i].packet;
            while (delay < at + i && sorted[at + i - delay] > p->pts)
                delay++;
            if (p->dts != AV_NOPTS_VALUE && p->dts < sorted[at] && i >= delay)
                delay = i + 1;
        }
    return delay;
}

/* Makes decoding times as encoders do: packet i gets the presentation time of the picture that is
 * shown as number i - `delay`. The first `delay` packets keep the encoder's decoding times if these
 * increase and precede the first picture. */
static int make_times(FilmJoiner *j, MediaError *error)
{
    int64_t *sorted = malloc(((size_t)j->count + 1) * sizeof(*sorted)), at = 0;
    j->dts = malloc(((size_t)j->count + 1) * sizeof(*j->dts));
    if (!sorted || !j->dts) {
        free(sorted);
        return media_no_memory(error, MEDIA_OUTPUT);
    }
    for (int k = 0; k < j->plan->part_count; at += j->parts[k++].count)
        part_times(&j->parts[k], sorted + at, at ? sorted[at - 1] : INT64_MIN);
    const int64_t delay = find_delay(j, sorted);
    const RecordFile *first = &j->parts[0];
    const int64_t step = j->count > 1 ? sorted[1] - sorted[0] : 1;
    for (int64_t i = 0; i < j->count; i++) {
        const int64_t own = i < first->count ? first->records[i].packet.dts : AV_NOPTS_VALUE;
        j->dts[i] = i >= delay ? sorted[i - delay] : sorted[0] - (delay - i) * step;
        if (i < delay && own != AV_NOPTS_VALUE && own < sorted[0] && (!i || own > j->dts[i - 1]))
            j->dts[i] = own;
    }
    free(sorted);
    return 0;
}

/* ---- joiner ---- */

int film_joiner_open(FilmJoiner **joiner, const JobPlan *plan, MediaError *error)
{
    FilmJoiner *j = *joiner = calloc(1, sizeof(*j));
    if (!j)
        return media_no_memory(error, MEDIA_OUTPUT);
    j->plan = plan;
    j->parts = calloc((size_t)plan->part_count, sizeof(*j->parts));
    int ret = j->parts ? open_all(j, error) : media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0)
        ret = make_times(j, error);
    return ret;
}

int64_t film_joiner_next(const FilmJoiner *j)
{
    return j->next < j->count ? j->dts[j->next] : INT64_MAX;
}

int film_joiner_read(FilmJoiner *j, AVPacket *packet, MediaError *error)
{
    if (j->next >= j->count)
        return 0;
    RecordFile *file = &j->parts[j->part];
    if (packet_read(file, j->in_part, packet, error) < 0) {
        if (error->fault == MEDIA_INPUT) /* so that --resume makes the damaged part again */
            (void)unlink(file->path);
        media_add(error, "; lumeq segment PLAN %d -y makes it again", j->part);
        return error->fault;
    }
    packet->dts = j->dts[j->next++];
    if (++j->in_part == file->count) {
        record_file_release(file);
        j->part++;
        j->in_part = 0;
    }
    return 1;
}

void film_joiner_close(FilmJoiner **joiner)
{
    FilmJoiner *j = *joiner;
    if (!j)
        return;
    for (int i = 0; j->parts && i < j->plan->part_count; i++)
        record_file_close(&j->parts[i]);
    free(j->parts);
    free(j->dts);
    free(j);
    *joiner = NULL;
}
