#include "media/subtitles/packet_store.h"

#include <string.h>

#include <libavutil/mem.h>

#include "media/packet_set.h"

/* Rebuilds the set of known packets, so that dropped ones may come again. */
static void drop_oldest(PacketStore *s)
{
    int count = 0;
    while (s->bytes > PACKET_STORE_BYTES / 4 * 3 && count < s->count - 1) {
        s->bytes -= packet_bytes(s->packets[count]);
        av_packet_free(&s->packets[count++]);
    }
    s->count -= count;
    memmove(s->packets, s->packets + count, (size_t)s->count * sizeof(AVPacket *));
    packet_set_clear(&s->known);
    for (int i = 0; i < s->count; i++)
        (void)packet_set_add(&s->known, s->packets[i]);
}

void packet_store_add(PacketStore *s, const AVPacket *packet)
{
    AVPacket *kept = packet_set_add(&s->known, packet) ? NULL : av_packet_clone(packet);
    if (!kept)
        return;
    if (av_dynarray_add_nofree(&s->packets, &s->count, kept) < 0) {
        av_packet_free(&kept);
        return;
    }
    s->bytes += packet_bytes(kept);
    if (s->bytes > PACKET_STORE_BYTES)
        drop_oldest(s);
}

void packet_store_clear(PacketStore *s)
{
    for (int i = 0; i < s->count; i++)
        av_packet_free(&s->packets[i]);
    av_freep(&s->packets);
    packet_set_clear(&s->known);
    *s = (PacketStore){.packets = NULL};
}
