#include "media/output/packet_spool.h"

#include <errno.h>
#include <string.h>

#include "media/packet_bytes.h"

#define FIRST_PACKETS 256 /* initial capacity */

/* A packet in the file: PacketHead, the data, and for each side data a SideHead and that data. */
typedef struct PacketHead {
    int64_t pts, dts, duration, pos;
    AVRational time_base;
    int stream_index, flags, size, side_data_count;
} PacketHead;

typedef struct SideHead {
    uint64_t type, size;
} SideHead;

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

static int fail_write(const PacketSpool *s, int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT,
                      "cannot keep what comes before the first picture in a temporary file in %s: "
                      "%s",
                      media_quote(s->file.folder ? s->file.folder : "."), strerror(reason));
}

static int write_part(PacketSpool *s, const void *data, size_t size, MediaError *error)
{
    const int reason = unnamed_file_write(&s->file, data, size, s->written);
    s->written += (int64_t)size;
    return reason ? fail_write(s, reason, error) : 0;
}

static int write_packet(PacketSpool *s, const AVPacket *p, MediaError *error)
{
    const PacketHead head = {.pts = p->pts,
                             .dts = p->dts,
                             .duration = p->duration,
                             .pos = p->pos,
                             .time_base = p->time_base,
                             .stream_index = p->stream_index,
                             .flags = p->flags,
                             .size = p->size,
                             .side_data_count = p->side_data_elems};
    int ret = write_part(s, &head, sizeof(head), error);
    if (ret == 0)
        ret = write_part(s, p->data, (size_t)p->size, error);
    for (int i = 0; i < p->side_data_elems && ret == 0; i++) {
        const AVPacketSideData *side = &p->side_data[i];
        const SideHead side_head = {side->type, side->size};
        ret = write_part(s, &side_head, sizeof(side_head), error);
        if (ret == 0)
            ret = write_part(s, side->data, side->size, error);
    }
    return ret;
}

static int put_away(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    if (!s->has_file) {
        s->has_file = 1;
        if (unnamed_file_open(&s->file, s->beside) < 0)
            return fail_write(s, errno, error);
    }
    const int ret = write_packet(s, packet, error);
    av_packet_unref(packet);
    return ret;
}

static int keep(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    if (!s->packets)
        s->packets = av_fifo_alloc2(FIRST_PACKETS, sizeof(AVPacket *), AV_FIFO_FLAG_AUTO_GROW);
    AVPacket *kept = s->packets ? av_packet_alloc() : NULL;
    if (!kept || av_fifo_write(s->packets, &kept, 1) < 0) {
        av_packet_free(&kept);
        return out_of_memory(error);
    }
    av_packet_move_ref(kept, packet);
    s->bytes += packet_bytes(kept);
    return 0;
}

int packet_spool_add(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    const int fits = !s->has_file && s->bytes + packet_bytes(packet) <= s->limit;
    return fits ? keep(s, packet, error) : put_away(s, packet, error);
}

static int read_part(PacketSpool *s, void *data, size_t size, MediaError *error)
{
    const int reason = unnamed_file_read(&s->file, data, size, s->read);
    s->read += (int64_t)size;
    if (!reason)
        return 0;
    return media_fail(error, MEDIA_OUTPUT,
                      "cannot read the temporary file of what comes before the first picture: %s",
                      reason < 0 ? "it has become shorter" : strerror(reason));
}

static int read_side_data(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    SideHead head;
    const int ret = read_part(s, &head, sizeof(head), error);
    if (ret < 0)
        return ret;
    uint8_t *data =
        av_packet_new_side_data(packet, (enum AVPacketSideDataType)head.type, (size_t)head.size);
    return data ? read_part(s, data, (size_t)head.size, error) : out_of_memory(error);
}

static int bring_back(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    PacketHead head;
    int ret = read_part(s, &head, sizeof(head), error);
    if (ret < 0)
        return ret;
    if (av_new_packet(packet, head.size) < 0)
        return out_of_memory(error);
    packet->pts = head.pts;
    packet->dts = head.dts;
    packet->duration = head.duration;
    packet->pos = head.pos;
    packet->time_base = head.time_base;
    packet->stream_index = head.stream_index;
    packet->flags = head.flags;
    ret = read_part(s, packet->data, (size_t)head.size, error);
    for (int i = 0; i < head.side_data_count && ret == 0; i++)
        ret = read_side_data(s, packet, error);
    return ret;
}

int packet_spool_take(PacketSpool *s, AVPacket **packet, MediaError *error)
{
    *packet = NULL;
    if (s->packets && av_fifo_read(s->packets, packet, 1) >= 0) {
        s->bytes -= packet_bytes(*packet);
        return 0;
    }
    if (s->read == s->written)
        return 0;
    *packet = av_packet_alloc();
    const int ret = *packet ? bring_back(s, *packet, error) : out_of_memory(error);
    if (ret < 0)
        av_packet_free(packet);
    return ret;
}

void packet_spool_close(PacketSpool *s)
{
    AVPacket *packet;
    while (s->packets && av_fifo_read(s->packets, &packet, 1) >= 0)
        av_packet_free(&packet);
    av_fifo_freep2(&s->packets);
    if (s->has_file)
        unnamed_file_close(&s->file);
    s->bytes = 0;
    s->written = s->read = s->has_file = 0;
}
