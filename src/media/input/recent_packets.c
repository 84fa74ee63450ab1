#include "media/input/recent_packets.h"

#include <string.h>

#include <libavutil/error.h>
#include <libavutil/mem.h>

#include "media/packet_bytes.h"

/* A stream without key frames is kept as far as this. */
#define MOST_BYTES ((size_t)128 << 20)

static void forget(RecentPackets *r, int count)
{
    for (int i = 0; i < count; i++) {
        r->bytes -= r->packets[i] ? packet_bytes(r->packets[i]) : 0;
        av_packet_free(&r->packets[i]);
    }
    r->count -= count;
    r->before += count;
    if (r->count) {
        memmove(r->packets, r->packets + count, (size_t)r->count * sizeof(r->packets[0]));
        memmove(r->came, r->came + count, (size_t)r->count);
    }
}

/* Frames that wait behind a decoder, and their packets that are in it, are no more than this. */
#define LEAST_PACKETS 48

/* The last key frame, far enough back. 0: there is none but the first packet. */
static int last_key(const RecentPackets *r)
{
    int at = r->count - LEAST_PACKETS;
    while (at > 0 && !(r->packets[at]->flags & AV_PKT_FLAG_KEY))
        at--;
    return at > 0 ? at : 0;
}

static int make_room(RecentPackets *r)
{
    const int room = r->room ? 2 * r->room : 64;
    if (r->count < r->room)
        return 0;
    AVPacket **packets = av_realloc_array(r->packets, (size_t)room, sizeof(packets[0]));
    if (packets)
        r->packets = packets;
    uint8_t *came = packets ? av_realloc(r->came, (size_t)room) : NULL;
    if (!came)
        return AVERROR(ENOMEM);
    r->came = came;
    r->room = room;
    return 0;
}

AVPacket *recent_packets_add(RecentPackets *r, const AVPacket *packet)
{
    if (packet->flags & AV_PKT_FLAG_KEY)
        forget(r, last_key(r));
    while (r->count && r->bytes + packet_bytes(packet) > MOST_BYTES)
        forget(r, 1);
    AVPacket *kept = make_room(r) < 0 ? NULL : av_packet_clone(packet);
    if (!kept)
        return NULL;
    r->came[r->count] = 0;
    r->packets[r->count++] = kept;
    r->bytes += packet_bytes(kept);
    return kept;
}

void recent_packets_take_back(RecentPackets *r)
{
    r->count--;
    r->bytes -= packet_bytes(r->packets[r->count]);
    av_packet_free(&r->packets[r->count]);
}

static int is_here(const RecentPackets *r, int64_t number)
{
    return number > r->before && number <= r->before + r->count;
}

void recent_packets_mark(RecentPackets *r, int64_t number, int came)
{
    if (is_here(r, number))
        r->came[number - r->before - 1] = came != 0;
}

int recent_packets_came(const RecentPackets *r, int64_t number)
{
    return is_here(r, number) && r->came[number - r->before - 1];
}

void recent_packets_drop(RecentPackets *r)
{
    for (int i = 0; i < r->count; i++)
        av_packet_free(&r->packets[i]);
    r->bytes = 0;
}

void recent_packets_clear(RecentPackets *r)
{
    recent_packets_drop(r);
    av_freep(&r->packets);
    av_freep(&r->came);
    *r = (RecentPackets){.before = r->before + r->count};
}
