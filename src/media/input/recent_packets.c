#include "media/input/recent_packets.h"

#include <string.h>

#include <libavutil/avutil.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>

#include "media/packet_bytes.h"

/* Limit for the kept packets. */
#define MOST_BYTES ((size_t)128 << 20)

/* New headers come once, with the packet that needs them first. */
static void free_packet(RecentPackets *r, int at)
{
    AVPacket **packet = &r->packets[at].packet;
    r->bytes -= *packet ? packet_bytes(*packet) : 0;
    if (*packet && av_packet_get_side_data(*packet, AV_PKT_DATA_NEW_EXTRADATA, NULL)) {
        av_packet_free(&r->headers);
        r->headers = *packet;
        *packet = NULL;
    }
    av_packet_free(packet);
}

static void forget(RecentPackets *r, int count)
{
    for (int i = 0; i < count; i++)
        free_packet(r, i);
    r->count -= count;
    r->before += count;
    if (r->count)
        memmove(r->packets, r->packets + count, (size_t)r->count * sizeof(r->packets[0]));
}

static int is_key(const RecentPackets *r, int at)
{
    return (r->packets[at].packet->flags & AV_PKT_FLAG_KEY) != 0;
}

/* More than the frames that may wait after a decoder, and the packets inside it. */
#define LEAST_PACKETS 96

/* Index of the last key frame that is far enough back, or 0. */
static int last_key(const RecentPackets *r)
{
    int at = r->count - LEAST_PACKETS;
    while (at > 0 && !is_key(r, at))
        at--;
    return at > 0 ? at : 0;
}

static int make_room(RecentPackets *r)
{
    const int room = r->room ? 2 * r->room : 64;
    if (r->count < r->room)
        return 0;
    RecentPacket *packets = av_realloc_array(r->packets, (size_t)room, sizeof(packets[0]));
    if (!packets)
        return AVERROR(ENOMEM);
    r->packets = packets;
    r->room = room;
    return 0;
}

AVPacket *recent_packets_add(RecentPackets *r, const AVPacket *packet, int hurried)
{
    if (packet->flags & AV_PKT_FLAG_KEY)
        forget(r, last_key(r));
    while (r->count && r->bytes + packet_bytes(packet) > MOST_BYTES) {
        int next = 1; /* the next key frame, or one packet if there is no other one */
        while (next < r->count && !is_key(r, next))
            next++;
        forget(r, next < r->count ? next : 1);
    }
    AVPacket *kept = make_room(r) < 0 ? NULL : av_packet_clone(packet);
    if (!kept)
        return NULL;
    r->packets[r->count++] = (RecentPacket){kept, kept->pts, 0, 0, hurried != 0};
    r->bytes += packet_bytes(kept);
    return kept;
}

int recent_packets_lack_key(const RecentPackets *r)
{
    return r->before != r->begun && (!r->count || !is_key(r, 0));
}

void recent_packets_take_back(RecentPackets *r)
{
    AVPacket **packet = &r->packets[--r->count].packet;
    r->bytes -= packet_bytes(*packet);
    av_packet_free(packet);
}

static int is_here(const RecentPackets *r, int64_t number)
{
    return number > r->before && number <= r->before + r->count;
}

static int64_t find_pts(const RecentPackets *r, int from, int to, int64_t pts)
{
    for (int i = from; i < to; i++)
        if (r->packets[i].pts == pts)
            return r->before + i + 1;
    return 0;
}

int64_t recent_packets_number(const RecentPackets *r, int64_t pts, int64_t number)
{
    const int at = is_here(r, number) ? (int)(number - r->before - 1) : 0;
    if (!number || number > r->before + r->count || pts == AV_NOPTS_VALUE)
        return number;
    const int64_t later = find_pts(r, at, r->count, pts);
    return later ? later : find_pts(r, 0, at, pts);
}

RecentPacket *recent_packets_find(const RecentPackets *r, int64_t number)
{
    return is_here(r, number) ? &r->packets[number - r->before - 1] : NULL;
}

void recent_packets_drop(RecentPackets *r)
{
    for (int i = 0; i < r->count; i++)
        free_packet(r, i);
}

void recent_packets_clear(RecentPackets *r)
{
    recent_packets_drop(r);
    av_freep(&r->packets);
    const int64_t before = r->before + r->count;
    *r = (RecentPackets){.before = before, .begun = before, .headers = r->headers};
}

void recent_packets_free(RecentPackets *r)
{
    recent_packets_clear(r);
    av_packet_free(&r->headers);
}
