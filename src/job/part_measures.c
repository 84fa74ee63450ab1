#include "job/part_measures.h"

#include <stdlib.h>
#include <string.h>

#include "job/frame_block.h"

#define TITLE "lumeq-measures"

/* Hint for measures that cannot be used. */
#define AGAIN "; lumeq measure PLAN %d makes it anew"

/* `plan` and `part` are those that the file names. */
typedef struct Label {
    uint32_t plan;
    int part;
    char *first[2]; /* FFmpeg's first words about the damage, or NULL */
} Label;

#define FIELDS 11

static void list_fields(PartMeasures *m, Label *label, KeyField fields[FIELDS])
{
    const KeyField all[FIELDS] = {
        KEY_SUM("plan", label->plan),
        KEY_NUMBERS("part", label->part, 1, 0, JOB_MOST_PARTS),
        KEY_NUMBERS("frames", m->frames, 1, 0, JOB_MOST_COUNT),
        KEY_NUMBERS("before", m->before[0], 2, 0, UINT32_MAX),
        KEY_NUMBERS("last", m->last[0], 2, 0, UINT32_MAX),
        KEY_SUM("sum", m->sum),
        KEY_NUMBERS("packets-damage", m->damage.packets.read_errors, 2, 0, JOB_MOST_COUNT),
        KEY_NUMBERS("frames-damage", m->damage.frames.decode_errors, 2, 0, JOB_MOST_COUNT),
        KEY_NUMBERS("ends", m->damage.part.video_end, 2, INT64_MIN, JOB_MOST_US),
        KEY_TEXT("first-of-packets", label->first[0]),
        KEY_TEXT("first-of-frames", label->first[1]),
    };
    memcpy(fields, all, sizeof(all));
}

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

static int write_block(PartMeasures *m, AtomicFile *out, MeasureFile *file, MediaError *error)
{
    BlockWriter block = {.file = out};
    MeasureCursor cursor = {0};
    MeasuredFrame frame;
    LumeqMeasure *measure = NULL;
    int ret;
    while ((ret = measure_file_read(file, &cursor, &frame, &measure, error)) > 0) {
        size_t size = 0;
        ret = lumeq_measure_pack(measure, NULL, &size);
        void *bytes = ret < 0 ? NULL : block_writer_reserve(&block, size);
        if (!bytes || lumeq_measure_pack(measure, bytes, &size) < 0)
            ret = out_of_memory(error);
        else
            ret = block_writer_add(&block, &frame, error);
        if (ret < 0)
            break;
        m->last[1] = m->last[0];
        m->last[0] = frame.mark;
        m->frames++;
    }
    m->sum = block.sum;
    block_writer_close(&block);
    lumeq_measure_free(&measure);
    return ret;
}

int part_measures_write(PartMeasures *m, const JobPlan *plan, int part, MeasureFile *file,
                        MediaError *error)
{
    AtomicFile out = {0};
    KeyText text = {0};
    KeyField fields[FIELDS];
    Label label = {plan->mark, part, {NULL}};
    if (m->damage.packets.first[0])
        label.first[0] = m->damage.packets.first;
    if (m->damage.frames.first[0])
        label.first[1] = m->damage.frames.first;
    char *path = job_part_path(plan->folder, "measured", part);
    int ret = path ? sealed_file_create(&out, path, error) : out_of_memory(error);
    if (ret >= 0)
        ret = write_block(m, &out, file, error);
    list_fields(m, &label, fields);
    key_text_add(&text, TITLE, "%d", JOB_PLAN_VERSION);
    key_text_put(&text, fields, FIELDS);
    if (ret >= 0)
        ret = sealed_file_commit(&out, &text, error);
    key_text_free(&text);
    atomic_file_close(&out);
    free(path);
    return ret;
}

int part_measures_read(PartMeasures *m, const JobPlan *plan, int part, MediaError *error)
{
    KeyField fields[FIELDS];
    Label label = {.part = -1};
    *m = (PartMeasures){0};
    list_fields(m, &label, fields);
    int ret = sealed_file_open(&m->file, job_part_path(plan->folder, "measured", part), error);
    if (ret >= 0 && (key_text_read(m->file.text, fields, FIELDS) < 0 || label.plan != plan->mark ||
                     label.part != part))
        ret = media_fail(error, MEDIA_INPUT, "%s is damaged, or of another plan",
                         media_quote(m->file.path));
    if (error->fault)
        media_add(error, AGAIN, part);
    for (int i = 0; i < 2; i++) {
        Damage *damage = i ? &m->damage.frames : &m->damage.packets;
        if (label.first[i])
            snprintf(damage->first, sizeof(damage->first), "%s", label.first[i]);
        free(label.first[i]);
    }
    m->damage.part.frames = m->frames;
    return ret;
}

int part_measures_add(const PartMeasures *m, int part, MeasureFile *file, int64_t most,
                      MediaError *error)
{
    BlockReader block;
    LumeqMeasure *measure = NULL;
    MeasuredFrame frame;
    const void *bytes;
    size_t size;
    int ret = block_reader_open(&block, &m->file, SEALED_FILE_HEAD, m->file.size - SEALED_FILE_HEAD,
                                m->sum, error);
    while (file && ret >= 0 && (most < 0 || measure_file_count(file) < most) &&
           (ret = block_reader_next(&block, &frame, &bytes, &size, error)) > 0)
        ret = lumeq_measure_unpack(&measure, bytes, size) < 0
                  ? media_fail(error, MEDIA_INPUT, "%s: %s", media_quote(m->file.path),
                               lumeq_last_error(NULL))
                  : measure_file_add(file, &frame, measure, error);
    if (error->fault == MEDIA_INPUT)
        media_add(error, AGAIN, part);
    block_reader_close(&block);
    lumeq_measure_free(&measure);
    return ret;
}

int part_measures_are_there(const JobPlan *plan, int part, MediaError *error)
{
    PartMeasures m;
    int ret = part_measures_read(&m, plan, part, error);
    if (ret >= 0)
        ret = part_measures_add(&m, part, NULL, -1, error);
    part_measures_close(&m);
    return ret >= 0;
}

void part_measures_close(PartMeasures *m)
{
    sealed_file_close(&m->file);
}
