#include "job/part_file.h"

#include <stdlib.h>

#include "job/job_plan.h"
#include "media/checksum.h"

#define TITLE "lumeq-part"
#define FIRST_PACKETS 256

/* More than a part ever has of either. */
#define MOST_PACKETS (INT64_C(1) << 32)
#define MOST_BYTES (1 << 30)

struct PartWriter {
    AtomicFile file;
    PartPacket *packets;
    int64_t count, room;
};

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

int part_writer_open(PartWriter **writer, const char *path, MediaError *error)
{
    PartWriter *w = *writer = calloc(1, sizeof(*w));
    return w ? sealed_file_create(&w->file, path, error) : out_of_memory(error);
}

/* Writes and counts. */
static int put(PartWriter *w, PartPacket *p, const void *bytes, size_t size, MediaError *error)
{
    p->sum = checksum(p->sum, bytes, size);
    return atomic_file_write(&w->file, bytes, size, error);
}

int part_writer_add(PartWriter *w, const AVPacket *packet, MediaError *error)
{
    PartPacket p = {
        .pts = packet->pts,
        .dts = packet->dts,
        .duration = packet->duration,
        .position = w->file.written,
        .size = (uint32_t)packet->size,
        .flags = (uint32_t)packet->flags,
    };
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : FIRST_PACKETS;
        PartPacket *larger = realloc(w->packets, (size_t)w->room * sizeof(*larger));
        if (!larger)
            return out_of_memory(error);
        w->packets = larger;
    }
    int ret = put(w, &p, packet->data, (size_t)packet->size, error);
    for (int i = 0; ret >= 0 && i < packet->side_data_elems; i++) {
        const AVPacketSideData *side = &packet->side_data[i];
        const uint32_t head[2] = {(uint32_t)side->type, (uint32_t)side->size};
        ret = put(w, &p, head, sizeof(head), error);
        if (ret >= 0)
            ret = put(w, &p, side->data, side->size, error);
        p.side_size += (uint32_t)(sizeof(head) + side->size);
    }
    if (ret >= 0)
        w->packets[w->count++] = p;
    return ret;
}

int64_t part_writer_bytes(const PartWriter *w)
{
    return w->file.written;
}

/* True if the first picture is a key frame and no other is shown before it: then no picture refers
 * to an earlier part. */
static int begins_closed(const PartPacket *packets, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (packets[i].pts < packets[0].pts)
            return 0;
    return !count || (packets[0].flags & AV_PKT_FLAG_KEY);
}

/* The lines of the text. `sum`: of the index and the extradata, which follow the packets. */
#define FIELDS 6
#define LIST_FIELDS(label, count, extradata_size, sum)                                             \
    {                                                                                              \
        KEY_SUM("plan", (label).plan), KEY_NUMBERS("part", (label).part, 1, 0, JOB_MOST_PARTS),    \
            KEY_NUMBERS("frames", (label).frames, 1, 0, JOB_MOST_COUNT),                           \
            KEY_NUMBERS("packets", count, 1, 0, MOST_PACKETS),                                     \
            KEY_NUMBERS("extradata", extradata_size, 1, 0, MOST_BYTES), KEY_SUM("index", sum),     \
    }

int part_writer_commit(PartWriter *w, const PartLabel *label, const uint8_t *extradata,
                       int extradata_size, MediaError *error)
{
    const size_t size = (size_t)w->count * sizeof(*w->packets), extra = (size_t)extradata_size;
    uint32_t sum = checksum(checksum(0, w->packets, size), extradata, extra);
    PartLabel copy = *label;
    const KeyField fields[] = LIST_FIELDS(copy, w->count, extradata_size, sum);
    KeyText text = {0};
    if (!begins_closed(w->packets, w->count))
        return media_fail(error, MEDIA_USAGE,
                          "part %d cannot be joined with others: its encoder did not begin it "
                          "with a key frame and a closed group of pictures",
                          label->part);
    key_text_add(&text, TITLE, "%d", JOB_PLAN_VERSION);
    key_text_put(&text, fields, FIELDS);
    int ret = atomic_file_write(&w->file, w->packets, size, error);
    if (ret >= 0)
        ret = atomic_file_write(&w->file, extradata, extra, error);
    if (ret >= 0)
        return sealed_file_commit(&w->file, &text, error);
    key_text_free(&text);
    return ret;
}

void part_writer_close(PartWriter **writer)
{
    PartWriter *w = *writer;
    if (!w)
        return;
    atomic_file_close(&w->file);
    free(w->packets);
    free(w);
    *writer = NULL;
}

/* ---- reading ---- */

/* The index and the extradata, which end where the text begins. */
static int read_index(PartFile *f, MediaError *error)
{
    const int64_t size = f->count * (int64_t)sizeof(*f->packets);
    const int64_t extra = f->extradata_size, position = f->file.size - size - extra;
    if (position < SEALED_FILE_HEAD)
        return sealed_file_fail(&f->file, "its end is damaged", error);
    f->packets = malloc((size_t)size + 1);
    f->extradata = malloc((size_t)extra + 1);
    if (!f->packets || !f->extradata)
        return out_of_memory(error);
    if (sealed_file_read(&f->file, f->packets, (size_t)size, position, error) < 0 ||
        sealed_file_read(&f->file, f->extradata, (size_t)extra, position + size, error) < 0)
        return error->fault;
    if (checksum(checksum(0, f->packets, (size_t)size), f->extradata, (size_t)extra) != f->sum)
        return sealed_file_fail(&f->file, "its checksum is wrong", error);
    return 0;
}

int part_file_open(PartFile *f, char *path, MediaError *error)
{
    *f = (PartFile){0};
    const KeyField fields[] = LIST_FIELDS(f->label, f->count, f->extradata_size, f->sum);
    const int ret = sealed_file_open(&f->file, path, error);
    if (ret < 0)
        return ret;
    return key_text_read(f->file.text, fields, FIELDS) == FIELDS
               ? read_index(f, error)
               : sealed_file_fail(&f->file, "a line of it is wrong", error);
}

/* The side data behind the packet's own bytes. */
static int take_side_data(const PartFile *f, AVPacket *packet, const uint8_t *side, size_t size,
                          MediaError *error)
{
    uint32_t head[2]; /* type and size */
    while (size >= sizeof(head)) {
        memcpy(head, side, sizeof(head));
        size -= sizeof(head);
        side += sizeof(head);
        if (head[1] > size)
            return sealed_file_fail(&f->file, "its side data is wrong", error);
        uint8_t *to = av_packet_new_side_data(packet, (enum AVPacketSideDataType)head[0], head[1]);
        if (!to)
            return out_of_memory(error);
        memcpy(to, side, head[1]);
        side += head[1];
        size -= head[1];
    }
    return size ? sealed_file_fail(&f->file, "its side data is wrong", error) : 0;
}

int part_file_read(const PartFile *f, int64_t index, AVPacket *packet, MediaError *error)
{
    const PartPacket *p = &f->packets[index];
    uint8_t *side = malloc((size_t)p->side_size + 1);
    int ret = side && av_new_packet(packet, (int)p->size) >= 0 ? 0 : out_of_memory(error);
    if (ret >= 0)
        ret = sealed_file_read(&f->file, packet->data, p->size, p->position, error);
    if (ret >= 0)
        ret = sealed_file_read(&f->file, side, p->side_size, p->position + p->size, error);
    if (ret >= 0 && checksum(checksum(0, packet->data, p->size), side, p->side_size) != p->sum)
        ret = sealed_file_fail(&f->file, "a packet's checksum is wrong", error);
    if (ret >= 0)
        ret = take_side_data(f, packet, side, p->side_size, error);
    free(side);
    packet->pts = p->pts;
    packet->dts = p->dts;
    packet->duration = p->duration;
    packet->flags = (int)p->flags;
    return ret;
}

void part_file_close(PartFile *f)
{
    sealed_file_close(&f->file);
    free(f->packets);
    free(f->extradata);
    *f = (PartFile){0};
}
