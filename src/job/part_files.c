#include "job/part_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "media/checksum.h"
#include "media/regular_file.h"

/* ---- record file ---- */

static const char magic[] = "lumeqJOB";

#define MAX_RECORD ((uint32_t)1 << 30) /* bytes; a larger size is damage */
#define FIRST_RECORDS 256              /* initial room for records */

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
    return output_file_replace(&w->file, path.text, error);
}

static int record_writer_append(RecordWriter *w, const void *bytes, size_t size, MediaError *error)
{
    Record *r = &w->records[w->end.count - 1];
    r->size += (uint32_t)size;
    r->sum = checksum(r->sum, bytes, size);
    return output_file_write(&w->file, bytes, size, error);
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
    memcpy(r, head, sizeof(*r)); /* with the padding, because the file contains it */
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
        ret = output_file_write(&w->file, w->records, index, error);
    w->end.index = checksum(0, w->records, ret < 0 ? 0 : index);
    w->end.sum = checksum(0, &w->end, offsetof(RecordEnd, sum));
    if (ret >= 0)
        ret = output_file_write(&w->file, &w->end, sizeof(w->end), error);
    return ret < 0 ? ret : output_file_commit(&w->file, OUTPUT_REPLACE, error);
}

void record_writer_close(RecordWriter *w)
{
    output_file_close(&w->file);
    free(w->records);
    *w = (RecordWriter){0};
}

/* ---- reading ---- */

int record_file_fail(const RecordFile *f, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "%s is damaged: %s", media_quote(f->path), why);
}

static int read_at(const RecordFile *f, void *to, size_t size, int64_t position, MediaError *error)
{
    if (fseeko(f->file, (off_t)position, SEEK_SET) == 0 && fread(to, 1, size, f->file) == size)
        return 0;
    return record_file_fail(f, feof(f->file) ? "it is too short" : strerror(errno), error);
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
        return media_fail(error, MEDIA_INPUT, "%s is another kind of job file",
                          media_quote(f->path));
    if (kind == RECORDS_CURVES ? end->index != plan->parts[part].curves : end->plan != plan->mark)
        return media_fail(error, MEDIA_INPUT, "%s belongs to another plan", media_quote(f->path));
    return end->part == part ? 0
                             : media_fail(error, MEDIA_INPUT, "%s is part %u, not part %u",
                                          media_quote(f->path), end->part, part);
}

/* Reads a record into `bytes`, which has room for it. Errors: MEDIA_INPUT. */
static int record_file_read(RecordFile *f, int64_t index, void *bytes, MediaError *error)
{
    const Record *r = &f->records[index];
    if (!f->file)
        f->file = regular_file_stream(f->path, O_NOFOLLOW);
    if (!f->file)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                          regular_file_why());
    if (read_at(f, bytes, r->size, r->position, error) < 0)
        return error->fault;
    return checksum(0, bytes, r->size) == r->sum
               ? 0
               : record_file_fail(f, "the checksum of a record is wrong", error);
}

/* Reads the index and the last record. `left`: bytes before the RecordEnd. */
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
        if (f->records[i].size > MAX_RECORD || f->records[i].size > left - position)
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
    *f = (RecordFile){.path = strdup(path.text)};
    if (!f->path)
        return media_no_memory(error, MEDIA_OUTPUT);
    f->file = regular_file_stream(f->path, O_NOFOLLOW);
    if (!f->file && errno == ENOENT)
        return -ENOENT;
    if (!f->file || fstat(fileno(f->file), &about) < 0)
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

void record_file_release(RecordFile *f)
{
    if (f->file)
        (void)fclose(f->file);
    f->file = NULL;
}

void record_file_close(RecordFile *f)
{
    record_file_release(f);
    free(f->path);
    free(f->records);
    free(f->last);
    *f = (RecordFile){0};
}

#define MAX_BYTES ((size_t)4 << 20) /* no curve or measure is larger */
#define LEVEL 4 /* of zlib; level 6 takes nearly twice the time and saves 1 to 3 % */

#define AGAIN "; lumeq measure PLAN %d -y measures it again"

/* ---- frames ---- */

/* Makes room for `size` bytes. If the size changes, the previous frame's bytes count as zeros. */
static int resize(FrameBytes *f, size_t size)
{
    const size_t room = (size + 3) / 4 * 4;
    if (f->bytes && size == f->size)
        return 0;
    free(f->bytes);
    *f = (FrameBytes){.bytes = calloc(1, 3 * room + compressBound(room))};
    if (!f->bytes)
        return -1;
    f->last = f->bytes + room;
    f->changes = f->last + room;
    f->packed = f->changes + room;
    f->size = size;
    f->room = room;
    return 0;
}

/* Returns the index of byte `i` in `changes`. For better compression, the first bytes of all 4-byte
 * words come first, then the second bytes, and so on. */
static size_t place(const FrameBytes *f, size_t i)
{
    return i % 4 * (f->room / 4) + i / 4;
}

void *frame_writer_reserve(FrameWriter *w, size_t size, MediaError *error)
{
    if (size <= MAX_BYTES && resize(&w->frame, size) >= 0)
        return w->frame.bytes;
    (void)media_no_memory(error, MEDIA_OUTPUT);
    return NULL;
}

int frame_writer_add(FrameWriter *w, const MeasuredFrame *frame, MediaError *error)
{
    FrameBytes *const f = &w->frame;
    uLongf length = compressBound(f->room);
    Record head;
    memset(&head, 0, sizeof(head));
    memcpy(&head.frame, frame, offsetof(MeasuredFrame, interlaced) + sizeof(frame->interlaced));
    head.first = (uint32_t)f->size;
    for (size_t i = 0; i < f->size; i++)
        f->changes[place(f, i)] = (uint8_t)(f->bytes[i] - f->last[i]);
    memcpy(f->last, f->bytes, f->size);
    if (compress2(f->packed, &length, f->changes, f->room, LEVEL) != Z_OK)
        return media_no_memory(error, MEDIA_OUTPUT);
    return record_writer_add(&w->out, &head, f->packed, length, error);
}

int frame_writer_add_measure(FrameWriter *w, const MeasuredFrame *frame,
                             const LumeqMeasure *measure, MediaError *error)
{
    MeasuredFrame marked = *frame;
    size_t size = 0;
    (void)lumeq_measure_pack(measure, NULL, &size);
    void *bytes = frame_writer_reserve(w, size, error);
    if (!bytes)
        return error->fault;
    if (lumeq_measure_pack(measure, bytes, &size) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL));
    marked.mark = measure_mark(bytes, size);
    return frame_writer_add(w, &marked, error);
}

int frame_writer_add_curve(FrameWriter *w, const MeasuredFrame *frame, const LumeqCurve *curve,
                           int bare, MediaError *error)
{
    int (*const pack)(const LumeqCurve *curve, void *bytes, size_t *size) =
        bare ? lumeq_curve_pack_bare : lumeq_curve_pack;
    size_t size = 0;
    (void)pack(curve, NULL, &size);
    void *bytes = frame_writer_reserve(w, size, error);
    if (!bytes)
        return error->fault;
    return pack(curve, bytes, &size) < 0
               ? media_fail(error, MEDIA_INPUT, "%s", lumeq_last_error(NULL))
               : frame_writer_add(w, frame, error);
}

void frame_writer_close(FrameWriter *w)
{
    record_writer_close(&w->out);
    free(w->frame.bytes);
    *w = (FrameWriter){0};
}

int frame_reader_next(FrameReader *r, MeasuredFrame *frame, MediaError *error)
{
    FrameBytes *const f = &r->frame;
    if (r->next == r->file.count)
        return 0;
    const Record *const record = &r->file.records[r->next];
    if (record->first > MAX_BYTES)
        return record_file_fail(&r->file, "a frame is too large", error);
    if (resize(f, record->first) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    uLongf length = f->room;
    if (record->size > compressBound(length))
        return record_file_fail(&r->file, "a record is too long", error);
    if (record_file_read(&r->file, r->next, f->packed, error) < 0)
        return error->fault;
    if (uncompress(f->changes, &length, f->packed, record->size) != Z_OK || length != f->room)
        return record_file_fail(&r->file, "a record cannot be unpacked", error);
    for (size_t i = 0; i < f->size; i++)
        f->bytes[i] = (uint8_t)(f->bytes[i] + f->changes[place(f, i)]);
    r->next++;
    *frame = record->frame;
    return 1;
}

void frame_reader_close(FrameReader *r)
{
    record_file_close(&r->file);
    free(r->frame.bytes);
    *r = (FrameReader){0};
}

/* ---- the measures of listed parts ---- */

int part_measures_open(FrameReader *r, PartMeasures *m, const JobPlan *plan, int part,
                       MediaError *error)
{
    *r = (FrameReader){0};
    *m = (PartMeasures){0};
    int ret = record_file_open(&r->file, plan, RECORDS_MEASURES, part, error);
    if (ret == -ENOENT && !error->fault)
        return media_fail(error, MEDIA_INPUT,
                          "part %d is not measured; lumeq measure PLAN %d measures it", part, part);
    if (ret >= 0 && r->file.last_size != sizeof(*m))
        ret = record_file_fail(&r->file, "its end is damaged", error);
    if (ret >= 0)
        memcpy(m, r->file.last, sizeof(*m));
    m->damage.part.frames = r->file.count;
    if (error->fault)
        media_add(error, AGAIN, part);
    return ret;
}

int film_measures_next(FilmMeasures *f, MeasuredFrame *frame, MediaError *error)
{
    PartMeasures ignored;
    int ret;
    if (!f->frames)
        return 0;
    while (f->reader.next == f->reader.file.count && f->part < f->parts) {
        frame_reader_close(&f->reader);
        if (part_measures_open(&f->reader, &ignored, f->plan, f->part, error) < 0)
            return error->fault;
        f->part++;
    }
    ret = frame_reader_next(&f->reader, frame, error);
    if (ret > 0 &&
        lumeq_measure_unpack(&f->measure, f->reader.frame.bytes, f->reader.frame.size) < 0)
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

int part_curves_next(void *reader, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    FrameReader *r = reader;
    const int ret = frame_reader_next(r, frame, error);
    if (ret > 0 && lumeq_curve_unpack(curve, r->frame.bytes, r->frame.size) < 0)
        return media_fail(error, MEDIA_INPUT, "a curve in %s is invalid: %s",
                          media_quote(r->file.path), lumeq_last_error(NULL));
    return ret;
}

/* ---- encoded video ---- */

/* A record has the packet's bytes, then each side data: type, size (both uint32_t) and content. */
int packet_write(RecordWriter *w, const AVPacket *packet, MediaError *error)
{
    Record head;
    memset(&head, 0, sizeof(head));
    head.packet.pts = packet->pts;
    head.packet.dts = packet->dts;
    head.packet.duration = packet->duration;
    head.packet.flags = (uint32_t)packet->flags;
    head.first = (uint32_t)packet->size;
    int ret = record_writer_add(w, &head, packet->data, (size_t)packet->size, error);
    for (int i = 0; ret >= 0 && i < packet->side_data_elems; i++) {
        const AVPacketSideData *side = &packet->side_data[i];
        const uint32_t kind[2] = {(uint32_t)side->type, (uint32_t)side->size};
        ret = record_writer_append(w, kind, sizeof(kind), error);
        if (ret >= 0)
            ret = record_writer_append(w, side->data, side->size, error);
    }
    return ret;
}

int packets_commit(RecordWriter *w, const uint8_t *extradata, int size, MediaError *error)
{
    /* If the first packet is a key frame and no picture is shown before it, no picture needs
     * earlier parts. */
    bool is_closed = !w->end.count || (w->records[0].packet.flags & AV_PKT_FLAG_KEY);
    for (int64_t i = 1; i < w->end.count; i++)
        is_closed &= w->records[i].packet.pts >= w->records[0].packet.pts;
    if (!is_closed)
        return media_fail(error, MEDIA_USAGE,
                          "part %u cannot be joined with others: its encoder did not begin it "
                          "with a key frame and a closed group of pictures",
                          w->end.part);
    return record_writer_commit(w, extradata, (size_t)size, error);
}

static int take_side_data(const RecordFile *f, AVPacket *packet, const uint8_t *side, size_t size,
                          MediaError *error)
{
    uint32_t kind[2];
    while (size >= sizeof(kind)) {
        memcpy(kind, side, sizeof(kind));
        size -= sizeof(kind);
        side += sizeof(kind);
        if (kind[1] > size)
            break;
        uint8_t *to = av_packet_new_side_data(packet, (enum AVPacketSideDataType)kind[0], kind[1]);
        if (!to)
            return media_no_memory(error, MEDIA_OUTPUT);
        memcpy(to, side, kind[1]);
        side += kind[1];
        size -= kind[1];
    }
    return size ? record_file_fail(f, "its side data is damaged", error) : 0;
}

int packet_read(RecordFile *f, int64_t index, AVPacket *packet, MediaError *error)
{
    const Record *r = &f->records[index];
    if (r->first > r->size)
        return record_file_fail(f, "its index is damaged", error);
    uint8_t *bytes = malloc((size_t)r->size + 1);
    int ret = bytes && av_new_packet(packet, (int)r->first) >= 0
                  ? 0
                  : media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0)
        ret = record_file_read(f, index, bytes, error);
    if (ret >= 0) {
        memcpy(packet->data, bytes, r->first);
        ret = take_side_data(f, packet, bytes + r->first, r->size - r->first, error);
    }
    free(bytes);
    packet->pts = r->packet.pts;
    packet->dts = r->packet.dts;
    packet->duration = r->packet.duration;
    packet->flags = (int)r->packet.flags;
    return ret;
}
