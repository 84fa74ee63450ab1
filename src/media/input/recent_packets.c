#include "media/input/recent_packets.h"

#include <string.h>

#include <libavutil/avutil.h>
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
        memmove(r->pts, r->pts + count, (size_t)r->count * sizeof(r->pts[0]));
    }
}

/* Frames that wait behind a decoder, and their packets that are in it, are no more than this. */
#define LEAST_PACKETS 96

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
    int64_t *pts = av_realloc_array(r->pts, (size_t)room, sizeof(pts[0]));
    if (!pts)
        return AVERROR(ENOMEM);
    r->pts = pts;
    r->room = room;
    return 0;
}

/* Forgets the oldest packets, up to a key frame where there is another one. */
static void forget_group(RecentPackets *r)
{
    int next = 1;
    while (next < r->count && !(r->packets[next]->flags & AV_PKT_FLAG_KEY))
        next++;
    forget(r, next < r->count ? next : 1);
}

AVPacket *recent_packets_add(RecentPackets *r, const AVPacket *packet)
{
    if (packet->flags & AV_PKT_FLAG_KEY)
        forget(r, last_key(r));
    while (r->count && r->bytes + packet_bytes(packet) > MOST_BYTES)
        forget_group(r);
    AVPacket *kept = make_room(r) < 0 ? NULL : av_packet_clone(packet);
    if (!kept)
        return NULL;
    r->came[r->count] = 0;
    r->pts[r->count] = kept->pts;
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

static int64_t find_pts(const RecentPackets *r, int from, int to, int64_t pts)
{
    for (int i = from; i < to; i++)
        if (r->pts[i] == pts)
            return r->before + i + 1;
    return 0;
}

int64_t recent_packets_number(const RecentPackets *r, int64_t pts, int64_t number)
{
    const int at = is_here(r, number) ? (int)(number - r->before - 1) : 0;
    if (!number || pts == AV_NOPTS_VALUE)
        return number;
    const int64_t later = find_pts(r, at, r->count, pts);
    return later ? later : find_pts(r, 0, at, pts);
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
    av_freep(&r->pts);
    *r = (RecentPackets){.before = r->before + r->count};
}
