#include "media/output/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>

#include "media/checksum.h"
#include "media/output/atomic_file.h"
#include "media/regular_file.h"

static const char magic[8] = "lumeqPRT";

#define VERSION 2
#define HEAD 16  /* bytes: the magic and the version */
#define ENTRY 48 /* of a packet in the index */
#define FOOT 212 /* the last bytes of the file */
#define NAME 64  /* of a companion in it */
#define FIRST_PACKETS 256

/* More than a part ever has of either. */
#define MOST_PACKETS (INT64_C(1) << 32)
#define MOST_BYTES (1u << 30)
#define MOST_TIME (INT64_C(1) << 60)

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
    uint8_t head[HEAD] = {0};
    *writer = NULL;
    PartWriter *w = av_mallocz(sizeof(*w));
    if (!w)
        return out_of_memory(error);
    memcpy(head, magic, sizeof(magic));
    AV_WL32(head + sizeof(magic), VERSION);
    int ret = atomic_file_open(&w->file, path, error);
    if (ret >= 0)
        ret = atomic_file_write(&w->file, head, sizeof(head), error);
    if (ret < 0)
        part_writer_close(&w);
    *writer = w;
    return ret;
}

static int make_room(PartWriter *w, MediaError *error)
{
    if (w->count < w->room)
        return 0;
    const int64_t room = w->room ? 2 * w->room : FIRST_PACKETS;
    PartPacket *larger = av_realloc_array(w->packets, (size_t)room, sizeof(*larger));
    if (!larger)
        return out_of_memory(error);
    w->packets = larger;
    w->room = room;
    return 0;
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
        .position = (uint64_t)w->file.written,
        .size = (uint32_t)packet->size,
        .flags = (uint32_t)packet->flags,
    };
    int ret = make_room(w, error);
    if (ret >= 0)
        ret = put(w, &p, packet->data, (size_t)packet->size, error);
    for (int i = 0; ret >= 0 && i < packet->side_data_elems; i++) {
        const AVPacketSideData *side = &packet->side_data[i];
        uint8_t head[8];
        AV_WL32(head, (uint32_t)side->type);
        AV_WL32(head + 4, (uint32_t)side->size);
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

static void pack_entry(uint8_t *to, const PartPacket *p)
{
    AV_WL64(to, (uint64_t)p->pts);
    AV_WL64(to + 8, (uint64_t)p->dts);
    AV_WL64(to + 16, (uint64_t)p->duration);
    AV_WL64(to + 24, p->position);
    AV_WL32(to + 32, p->size);
    AV_WL32(to + 36, p->side_size);
    AV_WL32(to + 40, p->flags);
    AV_WL32(to + 44, p->sum);
}

static PartPacket unpack_entry(const uint8_t *from)
{
    return (PartPacket){
        .pts = (int64_t)AV_RL64(from),
        .dts = (int64_t)AV_RL64(from + 8),
        .duration = (int64_t)AV_RL64(from + 16),
        .position = AV_RL64(from + 24),
        .size = AV_RL32(from + 32),
        .side_size = AV_RL32(from + 36),
        .flags = AV_RL32(from + 40),
        .sum = AV_RL32(from + 44),
    };
}

static void pack_companion(uint8_t *to, const PartCompanion *companion)
{
    memcpy(to, companion->name, NAME);
    AV_WL64(to + NAME, companion->size);
    AV_WL32(to + NAME + 8, companion->sum);
}

/* All but the checksum, which comes last. */
static void pack_foot(uint8_t foot[FOOT], const PartLabel *label, int64_t count, int64_t index,
                      int extradata_size)
{
    memset(foot, 0, FOOT);
    AV_WL64(foot, (uint64_t)index);
    AV_WL64(foot + 8, (uint64_t)count);
    AV_WL32(foot + 16, (uint32_t)extradata_size);
    AV_WL32(foot + 20, label->plan);
    AV_WL32(foot + 24, (uint32_t)label->part);
    AV_WL64(foot + 32, (uint64_t)label->frames);
    pack_companion(foot + 40, &label->rows);
    pack_companion(foot + 116, &label->report);
    memcpy(foot + 196, magic, sizeof(magic));
    AV_WL32(foot + 204, VERSION);
}

/* Whether nothing is shown before the first picture, which refers to no other: what comes after it
 * in order of decoding is then of this part alone. */
static int begins_closed(const PartPacket *packets, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (packets[i].pts < packets[0].pts)
            return 0;
    return !count || (packets[0].flags & AV_PKT_FLAG_KEY);
}

int part_writer_commit(PartWriter *w, const PartLabel *label, const uint8_t *extradata,
                       int extradata_size, MediaError *error)
{
    uint8_t entry[ENTRY], foot[FOOT];
    const int64_t index = w->file.written;
    uint32_t sum = 0;
    int ret = begins_closed(w->packets, w->count)
                  ? 0
                  : media_fail(error, MEDIA_USAGE,
                               "part %d cannot be joined with others: its encoder did not begin it "
                               "with a key frame and a closed group of pictures",
                               label->part);
    for (int64_t i = 0; ret >= 0 && i < w->count; i++) {
        pack_entry(entry, &w->packets[i]);
        sum = checksum(sum, entry, sizeof(entry));
        ret = atomic_file_write(&w->file, entry, sizeof(entry), error);
    }
    if (ret >= 0)
        ret = atomic_file_write(&w->file, extradata, (size_t)extradata_size, error);
    sum = checksum(sum, extradata, (size_t)extradata_size);
    pack_foot(foot, label, w->count, index, extradata_size);
    AV_WL32(foot + FOOT - 4, checksum(sum, foot, FOOT - 4));
    if (ret >= 0)
        ret = atomic_file_write(&w->file, foot, sizeof(foot), error);
    return ret < 0 ? ret : atomic_file_commit(&w->file, error);
}

void part_writer_close(PartWriter **writer)
{
    PartWriter *w = *writer;
    if (!w)
        return;
    atomic_file_close(&w->file);
    av_free(w->packets);
    av_freep(writer);
}

/* ---- reading ---- */

static int not_whole(const PartFile *f, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "%s is not whole: %s", media_quote(f->path), why);
}

/* As unnamed_file_read(). */
static int read_at(const PartFile *f, void *to, size_t size, uint64_t position, MediaError *error)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(f->fd, (uint8_t *)to + done, size - done, (off_t)(position + done));
        if (n == 0)
            return not_whole(f, "it is too short", error);
        if (n < 0 && errno != EINTR)
            return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                              strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void unpack_companion(PartCompanion *companion, const uint8_t *from)
{
    memcpy(companion->name, from, NAME);
    companion->name[NAME - 1] = '\0';
    companion->size = AV_RL64(from + NAME);
    companion->sum = AV_RL32(from + NAME + 8);
}

static void unpack_label(PartLabel *label, const uint8_t *foot)
{
    label->plan = AV_RL32(foot + 20);
    label->part = (int32_t)AV_RL32(foot + 24);
    label->frames = (int64_t)AV_RL64(foot + 32);
    unpack_companion(&label->rows, foot + 40);
    unpack_companion(&label->report, foot + 116);
}

static int has_limits(const PartPacket *p)
{
    return p->pts >= -MOST_TIME && p->pts <= MOST_TIME && p->duration >= -MOST_TIME &&
           p->duration <= MOST_TIME &&
           (p->dts == AV_NOPTS_VALUE || (p->dts >= -MOST_TIME && p->dts <= MOST_TIME));
}

/* The index and the extradata, which lie before the foot. */
static int take_index(PartFile *f, const uint8_t *foot, uint64_t end, MediaError *error)
{
    const uint64_t index = AV_RL64(foot), count = AV_RL64(foot + 8);
    const uint32_t extra = AV_RL32(foot + 16);
    if (count > MOST_PACKETS || extra > MOST_BYTES || index > end ||
        end - index != count * ENTRY + extra)
        return not_whole(f, "its end is damaged", error);
    const size_t size = (size_t)(end - index);
    uint8_t *bytes = av_malloc(size + FOOT);
    f->packets = av_malloc_array((size_t)count + 1, sizeof(*f->packets));
    f->extradata = av_mallocz(extra + AV_INPUT_BUFFER_PADDING_SIZE);
    int ret = bytes && f->packets && f->extradata ? 0 : out_of_memory(error);
    if (ret >= 0)
        ret = read_at(f, bytes, size, index, error);
    if (ret >= 0 && checksum(checksum(0, bytes, size), foot, FOOT - 4) != AV_RL32(foot + FOOT - 4))
        ret = not_whole(f, "its checksum is wrong", error);
    for (uint64_t i = 0; ret >= 0 && i < count; i++) {
        f->packets[i] = unpack_entry(bytes + i * ENTRY);
        const PartPacket *p = &f->packets[i];
        if (p->size > MOST_BYTES || p->side_size > MOST_BYTES || p->position > index ||
            (uint64_t)p->size + p->side_size > index - p->position || !has_limits(p))
            ret = not_whole(f, "its index is wrong", error);
    }
    if (ret >= 0 && !begins_closed(f->packets, (int64_t)count))
        ret = not_whole(f, "it does not begin with a closed group of pictures", error);
    if (ret >= 0) {
        memcpy(f->extradata, bytes + count * ENTRY, extra);
        f->extradata_size = (int)extra;
        f->count = (int64_t)count;
    }
    av_free(bytes);
    return ret;
}

int part_file_open(PartFile *f, const char *path, MediaError *error)
{
    uint8_t head[HEAD], foot[FOOT];
    struct stat about;
    *f = (PartFile){.path = av_strdup(path)};
    f->fd = regular_file_open(path, O_NOFOLLOW);
    if (f->fd < 0 && errno == ENOENT)
        return AVERROR(ENOENT);
    if (f->fd < 0 || fstat(f->fd, &about) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          regular_file_why());
    if (!f->path)
        return out_of_memory(error);
    if (about.st_size < HEAD + FOOT)
        return not_whole(f, "it is too short", error);
    const uint64_t end = (uint64_t)about.st_size - FOOT;
    if (read_at(f, head, HEAD, 0, error) < 0 || read_at(f, foot, FOOT, end, error) < 0)
        return error->fault;
    if (memcmp(head, magic, sizeof(magic)) != 0)
        return media_fail(error, MEDIA_INPUT, "%s is no part of a film", media_quote(path));
    if (AV_RL32(head + sizeof(magic)) != VERSION)
        return media_fail(error, MEDIA_INPUT, "%s is of another version: %u, not %d",
                          media_quote(path), AV_RL32(head + sizeof(magic)), VERSION);
    if (memcmp(foot + 196, magic, sizeof(magic)) != 0)
        return not_whole(f, "it was cut off", error);
    unpack_label(&f->label, foot);
    return take_index(f, foot, end, error);
}

/* The side data behind the packet's own bytes. */
static int take_side_data(const PartFile *f, AVPacket *packet, const uint8_t *side, size_t size,
                          MediaError *error)
{
    while (size >= 8) {
        const uint32_t type = AV_RL32(side), length = AV_RL32(side + 4);
        if (length > size - 8)
            break;
        uint8_t *to = av_packet_new_side_data(packet, (enum AVPacketSideDataType)type, length);
        if (!to)
            return out_of_memory(error);
        memcpy(to, side + 8, length);
        side += 8 + length;
        size -= 8 + length;
    }
    return size ? not_whole(f, "its side data is wrong", error) : 0;
}

int part_file_read(const PartFile *f, int64_t index, AVPacket *packet, MediaError *error)
{
    const PartPacket *p = &f->packets[index];
    uint8_t *side = av_malloc((size_t)p->side_size + 1);
    int ret = side && av_new_packet(packet, (int)p->size) >= 0 ? 0 : out_of_memory(error);
    if (ret >= 0)
        ret = read_at(f, packet->data, p->size, p->position, error);
    if (ret >= 0)
        ret = read_at(f, side, p->side_size, p->position + p->size, error);
    if (ret >= 0 && checksum(checksum(0, packet->data, p->size), side, p->side_size) != p->sum)
        ret = not_whole(f, "a packet's checksum is wrong", error);
    if (ret >= 0)
        ret = take_side_data(f, packet, side, p->side_size, error);
    av_free(side);
    packet->pts = p->pts;
    packet->dts = p->dts;
    packet->duration = p->duration;
    packet->flags = (int)p->flags;
    return ret;
}

void part_file_close(PartFile *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    av_freep(&f->path);
    av_freep(&f->packets);
    av_freep(&f->extradata);
    *f = (PartFile){.fd = -1};
}
