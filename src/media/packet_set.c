#include "media/packet_set.h"

#include <libavutil/mem.h>

#define LEAST_ROOM 256 /* sizes are powers of two */

/* FNV-1a */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * HASH_PRIME;
    return hash;
}

/* Finds the slot of a hash, or a free one for it. */
static uint64_t *find(const PacketSet *set, uint64_t hash)
{
    size_t at = (size_t)hash & (set->room - 1);
    while (set->slots[at] && set->slots[at] != hash)
        at = (at + 1) & (set->room - 1);
    return &set->slots[at];
}

/* Keeps at least a quarter of the slots free. */
static int make_room(PacketSet *set)
{
    if (4 * (set->count + 1) <= 3 * set->room)
        return 0;
    PacketSet grown = {.room = set->room ? 2 * set->room : LEAST_ROOM};
    grown.slots = av_calloc(grown.room, sizeof(*grown.slots));
    if (!grown.slots)
        return -1;
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i])
            *find(&grown, set->slots[i]) = set->slots[i];
    grown.count = set->count;
    av_free(set->slots);
    *set = grown;
    return 0;
}

int packet_set_add(PacketSet *set, const AVPacket *packet)
{
    uint64_t hash = hash_bytes(HASH_START, &packet->stream_index, sizeof(packet->stream_index));
    hash = hash_bytes(hash, &packet->pts, sizeof(packet->pts));
    hash = hash_bytes(hash, &packet->duration, sizeof(packet->duration));
    hash = hash_bytes(hash, packet->data, (size_t)packet->size);
    hash += hash == 0; /* 0 marks free slots */
    if (set->room && *find(set, hash))
        return 1;
    if (make_room(set) < 0)
        return 0;
    *find(set, hash) = hash;
    set->count++;
    return 0;
}

void packet_set_clear(PacketSet *set)
{
    av_freep(&set->slots);
    *set = (PacketSet){.slots = NULL};
}
