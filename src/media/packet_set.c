#include "media/packet_set.h"

#include <libavutil/macros.h>
#include <libavutil/mem.h>
#include <libavutil/tree.h>

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

/* The elements of the tree are hashes. */
static int compare(const void *a, const void *b)
{
    return FFDIFFSIGN((uintptr_t)a, (uintptr_t)b);
}

int packet_set_add(PacketSet *set, const AVPacket *packet)
{
    uint64_t hash = hash_bytes(HASH_START, &packet->stream_index, sizeof(packet->stream_index));
    hash = hash_bytes(hash, &packet->pts, sizeof(packet->pts));
    hash = hash_bytes(hash, &packet->duration, sizeof(packet->duration));
    hash = hash_bytes(hash, packet->data, (size_t)packet->size);
    const uintptr_t key = (uintptr_t)hash;
    struct AVTreeNode *node = av_tree_node_alloc();
    if (!node)
        return 0;
    (void)av_tree_insert(&set->root, (void *)(key ? key : 1), compare, &node); /* NULL is invalid */
    const int was_there = node != NULL; /* av_tree_insert() sets `node` to NULL if it uses it */
    av_free(node);
    return was_there;
}

void packet_set_clear(PacketSet *set)
{
    av_tree_destroy(set->root);
    set->root = NULL;
}
