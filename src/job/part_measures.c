#include "job/part_measures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/frame_block.h"
#include "job/key_text.h"
#include "media/regular_file.h"

#define TITLE "lumeq-measures"
#define VERSION 4
#define MOST_TEXT 8192

/* What helps where what was measured of a part cannot be used. */
#define ANEW "; lumeq measure PLAN %d makes it anew"

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

static int write_block(PartMeasures *m, const JobPlan *plan, MeasureFile *file, MediaError *error)
{
    AtomicFile out = {0};
    char *path = job_path(plan->folder, m->name);
    BlockWriter *block = block_writer_open(&out);
    MeasureCursor cursor = {0};
    MeasuredFrame frame;
    LumeqMeasure *measure = NULL;
    uint8_t *bytes = NULL;
    size_t room = 0;
    int ret = path && block ? atomic_file_open(&out, path, error) : out_of_memory(error);
    while (ret >= 0 && (ret = measure_file_read(file, &cursor, &frame, &measure, error)) > 0) {
        size_t size = room;
        if (lumeq_measure_pack(measure, bytes, &size) < 0 || size > room) {
            free(bytes);
            bytes = malloc(room = size);
            if (!bytes)
                ret = out_of_memory(error);
        }
        if (ret >= 0 && lumeq_measure_pack(measure, bytes, &size) < 0)
            ret = media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
        if (ret >= 0)
            ret = block_writer_add(block, &frame, bytes, size, error);
        m->last[1] = m->last[0];
        m->last[0] = frame.mark;
        m->frames++;
    }
    if (ret >= 0)
        ret = block_writer_finish(block, &m->sum, error);
    m->size = out.written;
    if (ret >= 0)
        ret = atomic_file_commit(&out, error);
    atomic_file_close(&out);
    block_writer_close(&block);
    lumeq_measure_free(&measure);
    free(bytes);
    free(path);
    return ret;
}

static void add_damage(KeyText *text, const DamageReport *d)
{
    key_text_add(text, "damage",
                 "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                 d->packets.read_errors, d->packets.corrupt_packets, d->frames.decode_errors,
                 d->frames.corrupt_frames, d->part.video_end, d->part.any_end);
    if (d->packets.first[0])
        key_text_add(text, "first-of-packets", "%s", d->packets.first);
    if (d->frames.first[0])
        key_text_add(text, "first-of-frames", "%s", d->frames.first);
}

static int is_end(int64_t us)
{
    return us == AV_NOPTS_VALUE || job_is_within(us, -JOB_MOST_US, JOB_MOST_US);
}

static int take_damage(DamageReport *d, const char *value)
{
    return sscanf(value, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                  &d->packets.read_errors, &d->packets.corrupt_packets, &d->frames.decode_errors,
                  &d->frames.corrupt_frames, &d->part.video_end, &d->part.any_end) == 6 &&
           job_is_within(d->packets.read_errors, 0, JOB_MOST_COUNT) &&
           job_is_within(d->packets.corrupt_packets, 0, JOB_MOST_COUNT) &&
           job_is_within(d->frames.decode_errors, 0, JOB_MOST_COUNT) &&
           job_is_within(d->frames.corrupt_frames, 0, JOB_MOST_COUNT) &&
           is_end(d->part.video_end) && is_end(d->part.any_end);
}

static int take_text(char *text, size_t size, const char *value)
{
    return snprintf(text, size, "%s", value) >= 0;
}

static int write_text(const PartMeasures *m, const JobPlan *plan, int part, MediaError *error)
{
    KeyText text = {0};
    AtomicFile out = {0};
    char *path = job_part_path(plan->folder, "measured", part);
    key_text_add(&text, TITLE, "%d", VERSION);
    key_text_add(&text, "plan", "%08" PRIx32, plan->mark);
    key_text_add(&text, "part", "%d", part);
    key_text_add(&text, "measures",
                 "%" PRId64 " %" PRId64 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32
                 " %08" PRIx32,
                 m->frames, m->size, m->sum, m->before[0], m->before[1], m->last[0], m->last[1]);
    key_text_add(&text, "file", "%s", m->name);
    add_damage(&text, &m->damage);
    (void)key_text_end(&text);
    int ret = path && !text.failed ? atomic_file_open(&out, path, error) : out_of_memory(error);
    if (ret >= 0)
        ret = atomic_file_write(&out, text.text, text.size, error);
    if (ret >= 0)
        ret = atomic_file_commit(&out, error);
    atomic_file_close(&out);
    key_text_free(&text);
    free(path);
    return ret;
}

int part_measures_write(PartMeasures *m, const JobPlan *plan, int part, MeasureFile *file,
                        MediaError *error)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    m->name = malloc(64);
    if (!m->name)
        return out_of_memory(error);
    snprintf(m->name, 64, "measures-%05d-%08x-%08lx", part, (unsigned)getpid(),
             (unsigned long)t.tv_nsec);
    const int ret = write_block(m, plan, file, error);
    return ret < 0 ? ret : write_text(m, plan, part, error);
}

static int take_line(PartMeasures *m, const JobPlan *plan, int part, const char *key,
                     const char *value)
{
    uint32_t mark;
    if (strcmp(key, "plan") == 0)
        return sscanf(value, "%" SCNx32, &mark) == 1 && mark == plan->mark;
    if (strcmp(key, "part") == 0)
        return atoi(value) == part;
    if (strcmp(key, "measures") == 0)
        return sscanf(value,
                      "%" SCNd64 " %" SCNd64 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32
                      " %" SCNx32,
                      &m->frames, &m->size, &m->sum, &m->before[0], &m->before[1], &m->last[0],
                      &m->last[1]) == 7 &&
               job_is_within(m->frames, 0, JOB_MOST_COUNT) &&
               job_is_within(m->size, 0, JOB_MOST_COUNT);
    if (strcmp(key, "file") == 0)
        return !strchr(value, '/') && !m->name && (m->name = strdup(value));
    if (strcmp(key, "damage") == 0)
        return take_damage(&m->damage, value);
    if (strcmp(key, "first-of-packets") == 0)
        return take_text(m->damage.packets.first, sizeof(m->damage.packets.first), value);
    if (strcmp(key, "first-of-frames") == 0)
        return take_text(m->damage.frames.first, sizeof(m->damage.frames.first), value);
    return strcmp(key, "end") == 0 || (strcmp(key, TITLE) == 0 && atoi(value) == VERSION);
}

int part_measures_read(PartMeasures *m, const JobPlan *plan, int part, MediaError *error)
{
    char text[MOST_TEXT], *at = text, *key, *value;
    uint32_t sum;
    char *path = job_part_path(plan->folder, "measured", part);
    FILE *file = path ? regular_file_stream(path, O_NOFOLLOW) : NULL;
    int ret = path ? 0 : out_of_memory(error);
    if (path && !file)
        ret = errno == ENOENT ? -ENOENT
                              : media_fail(error, MEDIA_INPUT, "cannot read %s: %s" ANEW,
                                           media_quote(path), regular_file_why(), part);
    if (file) {
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        int right = key_text_is_whole(text, &sum);
        while (right && key_text_next(&at, &key, &value))
            right = take_line(m, plan, part, key, value);
        if (!right || !m->name)
            ret = media_fail(error, MEDIA_INPUT, "%s is damaged, or of another plan" ANEW,
                             media_quote(path), part);
        m->damage.part.frames = m->frames;
    }
    free(path);
    return ret;
}

/* `path`: of the block, which outlives its reader. */
static int open_block(BlockReader **block, const PartMeasures *m, const char *path,
                      MediaError *error)
{
    FILE *in = path ? regular_file_stream(path, O_NOFOLLOW) : NULL;
    if (!path)
        return out_of_memory(error);
    return in ? block_reader_open(block, in, path, 0, m->size, m->sum, error)
              : media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                           regular_file_why());
}

int part_measures_are_there(const JobPlan *plan, int part, MediaError *error)
{
    PartMeasures m = {0};
    BlockReader *block = NULL;
    char *path = NULL;
    int ret = part_measures_read(&m, plan, part, error);
    if (ret >= 0) {
        path = job_path(plan->folder, m.name);
        ret = open_block(&block, &m, path, error);
        if (ret < 0)
            media_add(error, ANEW, part);
    }
    block_reader_close(&block);
    part_measures_free(&m);
    free(path);
    return ret >= 0;
}

int part_measures_add(const PartMeasures *m, const JobPlan *plan, int part, MeasureFile *file,
                      MediaError *error)
{
    BlockReader *block = NULL;
    LumeqMeasure *measure = NULL;
    MeasuredFrame frame;
    const void *bytes;
    size_t size;
    char *path = job_path(plan->folder, m->name);
    int ret = open_block(&block, m, path, error);
    while (ret >= 0 && (ret = block_reader_next(block, &frame, &bytes, &size, error)) > 0) {
        if (lumeq_measure_unpack(&measure, bytes, size) < 0)
            ret =
                media_fail(error, MEDIA_INPUT, "%s: %s", media_quote(path), lumeq_last_error(NULL));
        else
            ret = measure_file_add(file, &frame, measure, error);
    }
    if (error->fault == MEDIA_INPUT)
        media_add(error, ANEW, part);
    block_reader_close(&block);
    lumeq_measure_free(&measure);
    free(path);
    return ret;
}

void part_measures_free(PartMeasures *m)
{
    free(m->name);
    *m = (PartMeasures){0};
}
