#include "media/subtitles/packet_store.h"

#include <string.h>

#include <libavutil/mem.h>

static int has(const PacketStore *s, const AVPacket *packet)
{
    for (int i = 0; i < s->count; i++)
        if (s->packets[i]->stream_index == packet->stream_index &&
            s->packets[i]->pts == packet->pts && s->packets[i]->size == packet->size &&
            s->packets[i]->pos == packet->pos)
            return 1;
    return 0;
}

static void drop_oldest(PacketStore *s)
{
    s->bytes -= (size_t)s->packets[0]->size;
    av_packet_free(&s->packets[0]);
    s->count--;
    memmove(s->packets, s->packets + 1, (size_t)s->count * sizeof(AVPacket *));
}

static int make_room(PacketStore *s)
{
    if (s->count < s->room)
        return 0;
    const int room = s->room ? s->room * 2 : 64;
    AVPacket **packets = av_realloc_array(s->packets, (size_t)room, sizeof(AVPacket *));
    if (!packets)
        return -1;
    s->packets = packets;
    s->room = room;
    return 0;
}

void packet_store_add(PacketStore *s, const AVPacket *packet)
{
    if (has(s, packet) || make_room(s) < 0)
        return;
    AVPacket *kept = av_packet_clone(packet);
    if (!kept)
        return;
    s->packets[s->count++] = kept;
    s->bytes += (size_t)kept->size;
    while (s->bytes > PACKET_STORE_BYTES && s->count > 1)
        drop_oldest(s);
}

void packet_store_clear(PacketStore *s)
{
    for (int i = 0; i < s->count; i++)
        av_packet_free(&s->packets[i]);
    av_freep(&s->packets);
    *s = (PacketStore){.packets = NULL};
}
