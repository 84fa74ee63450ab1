#include "job/part_file.h"

#include <stdlib.h>
#include <string.h>

#include "job/job_plan.h"

#define TITLE "lumeq-part"

/* Side data follows the packet's bytes: type and size of 4 bytes each, then its bytes. */
int part_writer_add(RecordWriter *w, const AVPacket *packet, MediaError *error)
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

/* True if the first picture is a key frame and no other is shown before it: then no picture refers
 * to an earlier part. */
static int begins_closed(const RecordWriter *w)
{
    for (int64_t i = 1; i < w->count; i++)
        if (w->records[i].packet.pts < w->records[0].packet.pts)
            return 0;
    return !w->count || (w->records[0].packet.flags & AV_PKT_FLAG_KEY);
}

#define FIELDS 3
#define LIST_FIELDS(label)                                                                         \
    {                                                                                              \
        KEY_SUM("plan", (label).plan), KEY_NUMBERS("part", (label).part, 1, 0, JOB_MOST_PARTS),    \
            KEY_NUMBERS("frames", (label).frames, 1, 0, JOB_MOST_COUNT),                           \
    }

int part_writer_commit(RecordWriter *w, const PartLabel *label, const uint8_t *extradata,
                       int extradata_size, MediaError *error)
{
    PartLabel copy = *label;
    const KeyField fields[FIELDS] = LIST_FIELDS(copy);
    Record last;
    memset(&last, 0, sizeof(last));
    if (!begins_closed(w))
        return media_fail(error, MEDIA_USAGE,
                          "part %d cannot be joined with others: its encoder did not begin it "
                          "with a key frame and a closed group of pictures",
                          label->part);
    const int ret = record_writer_add(w, &last, extradata, (size_t)extradata_size, error);
    return ret < 0 ? ret : record_writer_commit(w, TITLE, fields, FIELDS, NULL, error);
}

/* ---- reading ---- */

/* The last record is the extradata. */
static int read_extradata(PartFile *f, MediaError *error)
{
    f->count = f->file.count - 1;
    if (f->count < 0)
        return record_file_fail(&f->file, "it has no records", error);
    f->extradata_size = (int)f->file.records[f->count].size;
    f->extradata = malloc((size_t)f->extradata_size + 1);
    return f->extradata ? record_file_read(&f->file, f->count, f->extradata, error)
                        : media_no_memory(error, MEDIA_OUTPUT);
}

int part_file_open(PartFile *f, char *path, MediaError *error)
{
    *f = (PartFile){0};
    const KeyField fields[FIELDS] = LIST_FIELDS(f->label);
    const int ret = record_file_open(&f->file, path, TITLE, fields, FIELDS, error);
    return ret < 0 ? ret : read_extradata(f, error);
}

static int take_side_data(const PartFile *f, AVPacket *packet, const uint8_t *side, size_t size,
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
    return size ? record_file_fail(&f->file, "its side data is damaged", error) : 0;
}

int part_file_read(const PartFile *f, int64_t index, AVPacket *packet, MediaError *error)
{
    const Record *r = &f->file.records[index];
    if (r->first > r->size)
        return record_file_fail(&f->file, "its index is damaged", error);
    uint8_t *bytes = malloc((size_t)r->size + 1);
    int ret = bytes && av_new_packet(packet, (int)r->first) >= 0
                  ? 0
                  : media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0)
        ret = record_file_read(&f->file, index, bytes, error);
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

void part_file_close(PartFile *f)
{
    record_file_close(&f->file);
    free(f->extradata);
    *f = (PartFile){0};
}
