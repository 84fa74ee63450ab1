#include "job/frame_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define MOST_BYTES ((size_t)4 << 20) /* no curve or measure is larger */
#define LEVEL 4                      /* level 6 takes nearly twice the time and saves 1 to 3 % */

#define MEASURES "lumeq-measures"
#define CURVES "lumeq-curves"

/* Hint for measures that cannot be used. */
#define AGAIN "; lumeq measure PLAN %d measures it again"

/* Makes room for `size` bytes. A record of another size than the last one is compared with zeros.
 */
static int words_resize(FrameWords *w, size_t size)
{
    const size_t count = (size + 3) / 4;
    if (w->words && count == w->count)
        return 0;
    free(w->words);
    *w = (FrameWords){.words = calloc(1, 12 * count + compressBound(4 * count))};
    if (!w->words)
        return -1;
    w->last = w->words + count;
    w->planes = (uint8_t *)(w->last + count);
    w->count = count;
    return 0;
}

/* ---- writing ---- */

void *frame_writer_reserve(FrameWriter *w, size_t size)
{
    if (size > MOST_BYTES || words_resize(&w->words, size) < 0)
        return NULL;
    w->size = (uint32_t)size;
    return w->words.words;
}

/* Stores how each word differs from that of the last record. In a curve, counts alternate with
 * codes, and neighbouring counts (or codes) change alike, so the change of two words before is
 * subtracted. Bit 0 is the sign, and the low bytes of all words come first, so that zlib finds more
 * repetitions. */
static void words_to_planes(const FrameWords *w)
{
    uint32_t changes[2] = {0};
    for (size_t i = 0; i < w->count; i++) {
        const uint32_t change = w->words[i] - w->last[i];
        const uint32_t rest = change - changes[i % 2];
        const uint32_t folded = rest << 1 ^ (rest >> 31 ? UINT32_MAX : 0);
        for (size_t k = 0; k < 4; k++)
            w->planes[k * w->count + i] = (uint8_t)(folded >> 8 * k);
        changes[i % 2] = change;
    }
    memcpy(w->last, w->words, 4 * w->count);
}

int frame_writer_add(FrameWriter *w, const MeasuredFrame *frame, MediaError *error)
{
    const FrameWords *const words = &w->words;
    uint8_t *const packed = words->planes + 4 * words->count;
    uLongf length = compressBound(4 * words->count);
    Record head;
    memset(&head, 0, sizeof(head));
    memcpy(&head.frame, frame, offsetof(MeasuredFrame, interlaced) + sizeof(frame->interlaced));
    head.first = w->size;
    words_to_planes(words);
    if (compress2(packed, &length, words->planes, 4 * words->count, LEVEL) != Z_OK)
        return media_no_memory(error, MEDIA_OUTPUT);
    return record_writer_add(&w->out, &head, packed, length, error);
}

int frame_writer_add_measure(FrameWriter *w, const MeasuredFrame *frame,
                             const LumeqMeasure *measure, MediaError *error)
{
    MeasuredFrame marked = *frame;
    size_t size = 0;
    int ret = lumeq_measure_pack(measure, NULL, &size);
    void *bytes = ret < 0 ? NULL : frame_writer_reserve(w, size);
    if (bytes)
        ret = lumeq_measure_pack(measure, bytes, &size);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    if (!bytes)
        return media_no_memory(error, MEDIA_OUTPUT);
    marked.mark = measure_mark(bytes, size);
    return frame_writer_add(w, &marked, error);
}

int frame_writer_add_curve(FrameWriter *w, const MeasuredFrame *frame, const LumeqCurve *curve,
                           int bare, MediaError *error)
{
    int (*const pack)(const LumeqCurve *curve, void *bytes, size_t *size) =
        bare ? lumeq_curve_pack_bare : lumeq_curve_pack;
    size_t size = 0;
    int ret = pack(curve, NULL, &size);
    void *bytes = ret < 0 ? NULL : frame_writer_reserve(w, size);
    if (bytes)
        ret = pack(curve, bytes, &size);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    return bytes ? frame_writer_add(w, frame, error) : media_no_memory(error, MEDIA_OUTPUT);
}

void frame_writer_close(FrameWriter *w)
{
    record_writer_close(&w->out);
    free(w->words.words);
    *w = (FrameWriter){0};
}

/* ---- reading ---- */

static void planes_to_words(const FrameWords *w)
{
    uint32_t changes[2] = {0};
    for (size_t i = 0; i < w->count; i++) {
        uint32_t folded = 0;
        for (size_t k = 0; k < 4; k++)
            folded |= (uint32_t)w->planes[k * w->count + i] << 8 * k;
        changes[i % 2] += folded >> 1 ^ (folded & 1 ? UINT32_MAX : 0);
        w->words[i] += changes[i % 2];
    }
}

int frame_reader_next(FrameReader *r, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error)
{
    FrameWords *const words = &r->words;
    if (r->next == r->file.count)
        return 0;
    const Record *const record = &r->file.records[r->next];
    if (record->first > MOST_BYTES ||
        !job_is_within(record->frame.pts, -JOB_MOST_PTS, JOB_MOST_PTS) ||
        !job_is_within(record->frame.duration, -JOB_MOST_PTS, JOB_MOST_PTS))
        return record_file_fail(&r->file, "a frame of it is damaged", error);
    if (words_resize(words, record->first) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    uLongf length = 4 * words->count;
    uint8_t *const packed = words->planes + length;
    if (record->size > compressBound(length))
        return record_file_fail(&r->file, "a record is too long", error);
    if (record_file_read(&r->file, r->next, packed, error) < 0)
        return error->fault;
    if (uncompress(words->planes, &length, packed, record->size) != Z_OK ||
        length != 4 * words->count)
        return record_file_fail(&r->file, "a record cannot be unpacked", error);
    planes_to_words(words);
    r->next++;
    *frame = record->frame;
    *bytes = words->words;
    *size = record->first;
    return 1;
}

void frame_reader_close(FrameReader *r)
{
    record_file_close(&r->file);
    free(r->words.words);
    *r = (FrameReader){0};
}

/* ---- the measures of listed parts ---- */

typedef struct MeasuresText {
    uint32_t plan;
    int part;
    char *first[2]; /* FFmpeg's first words about the damage, or NULL */
} MeasuresText;

#define FIELDS 8
#define LIST_FIELDS(m, label)                                                                      \
    {                                                                                              \
        KEY_SUM("plan", (label).plan), KEY_NUMBERS("part", (label).part, 1, 0, JOB_MOST_PARTS),    \
            KEY_NUMBERS("before", (m)->before[0], 2, 0, UINT32_MAX),                               \
            KEY_NUMBERS("packets-damage", (m)->damage.packets.cut_off, 3, 0, JOB_MOST_COUNT),      \
            KEY_NUMBERS("frames-damage", (m)->damage.frames.decode_errors, 2, 0, JOB_MOST_COUNT),  \
            KEY_NUMBERS("ends", (m)->damage.part.video_end, 2, INT64_MIN, JOB_MOST_US),            \
            KEY_TEXT("first-of-packets", (label).first[0]),                                        \
            KEY_TEXT("first-of-frames", (label).first[1]),                                         \
    }

int part_measures_commit(FrameWriter *w, PartMeasures *m, const JobPlan *plan, int part,
                         MediaError *error)
{
    MeasuresText text = {plan->mark, part, {NULL}};
    const KeyField fields[FIELDS] = LIST_FIELDS(m, text);
    if (m->damage.packets.first[0])
        text.first[0] = m->damage.packets.first;
    if (m->damage.frames.first[0])
        text.first[1] = m->damage.frames.first;
    return record_writer_commit(&w->out, MEASURES, fields, FIELDS, NULL, error);
}

int part_measures_open(FrameReader *r, PartMeasures *m, const JobPlan *plan, int part,
                       MediaError *error)
{
    MeasuresText text = {.part = -1};
    const KeyField fields[FIELDS] = LIST_FIELDS(m, text);
    *r = (FrameReader){0};
    *m = (PartMeasures){0};
    int ret = record_file_open(&r->file, job_part_path(plan->folder, "measured", part), MEASURES,
                               fields, FIELDS, error);
    if (ret >= 0 && (text.plan != plan->mark || text.part != part))
        ret = media_fail(error, MEDIA_INPUT, "%s is of another plan or part",
                         media_quote(r->file.path));
    if (error->fault)
        media_add(error, AGAIN, part);
    for (int i = 0; i < 2; i++) {
        Damage *damage = i ? &m->damage.frames : &m->damage.packets;
        if (text.first[i])
            snprintf(damage->first, sizeof(damage->first), "%s", text.first[i]);
        free(text.first[i]);
    }
    m->damage.part.frames = r->file.count;
    return ret;
}

int part_measures_exist(const JobPlan *plan, int part, MediaError *error)
{
    FrameReader reader;
    PartMeasures measures;
    int ret = part_measures_open(&reader, &measures, plan, part, error);
    if (ret >= 0)
        ret = record_file_verify(&reader.file, error);
    frame_reader_close(&reader);
    return ret >= 0;
}

int film_measures_next(FilmMeasures *f, MeasuredFrame *frame, MediaError *error)
{
    PartMeasures ignored;
    const void *bytes;
    size_t size;
    int ret;
    if (!f->frames)
        return 0;
    while (f->reader.next == f->reader.file.count && f->part < f->parts) {
        frame_reader_close(&f->reader);
        ret = part_measures_open(&f->reader, &ignored, f->plan, f->part, error);
        if (ret < 0)
            return error->fault ? ret
                                : media_fail(error, MEDIA_INPUT, "part %d is not measured" AGAIN,
                                             f->part, f->part);
        f->part++;
    }
    ret = frame_reader_next(&f->reader, frame, &bytes, &size, error);
    if (ret > 0 && lumeq_measure_unpack(&f->measure, bytes, size) < 0)
        ret = media_fail(error, MEDIA_INPUT, "%s: %s", media_quote(f->reader.file.path),
                         lumeq_last_error(NULL));
    if (error->fault)
        media_add(error, AGAIN, f->part - 1);
    f->frames -= ret > 0;
    return ret;
}

void film_measures_close(FilmMeasures *f)
{
    frame_reader_close(&f->reader);
    lumeq_measure_free(&f->measure);
}

/* ---- the curves of a part ---- */

int part_curves_commit(FrameWriter *w, JobPart *part, MediaError *error)
{
    uint32_t sum;
    const int ret = record_writer_commit(&w->out, CURVES, NULL, 0, &sum, error);
    part->curves = sum;
    return ret;
}

int part_curves_open(FrameReader *r, const JobPlan *plan, int part, MediaError *error)
{
    *r = (FrameReader){0};
    const int ret = record_file_open(&r->file, job_part_path(plan->folder, "curves", part), CURVES,
                                     NULL, 0, error);
    if (ret == -ENOENT && !error->fault)
        return media_fail(error, MEDIA_INPUT, "%s, the curves of the part, is missing",
                          media_quote(r->file.path));
    if (ret >= 0 && r->file.sum != plan->parts[part].curves)
        return media_fail(error, MEDIA_INPUT, "%s is of another plan", media_quote(r->file.path));
    return ret < 0 ? ret : record_file_verify(&r->file, error);
}

int part_curves_next(void *reader, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    FrameReader *r = reader;
    const void *bytes;
    size_t size;
    const int ret = frame_reader_next(r, frame, &bytes, &size, error);
    if (ret > 0 && lumeq_curve_unpack(curve, bytes, size) < 0)
        return media_fail(error, MEDIA_INPUT, "a curve in %s is invalid: %s",
                          media_quote(r->file.path), lumeq_last_error(NULL));
    return ret;
}
