/* Packets of subtitles that are kept: each once, the newest where they are many. */
#include <string.h>

#include "check.h"
#include "media/subtitles/packet_store.h"

static AVPacket *make_packet(int64_t pts, int size)
{
    AVPacket *packet = av_packet_alloc();
    if (!packet || av_new_packet(packet, size) < 0)
        abort();
    memset(packet->data, 0, (size_t)size);
    packet->pts = pts;
    packet->duration = 1;
    return packet;
}

static void add(PacketStore *store, int64_t pts, int size)
{
    FREED_BY(av_packet_free) AVPacket *packet = make_packet(pts, size);
    packet_store_add(store, packet);
}

/* After a seek they come again, in any order; there may be very many. */
TEST(each_once)
{
    enum { COUNT = 100000 };
    PacketStore store = {.packets = NULL};
    for (int i = 0; i < COUNT; i++)
        add(&store, i, 8);
    for (int i = COUNT - 1; i >= 0; i -= 3)
        add(&store, i, 8);
    CHECK(store.count == COUNT, "%d packets", store.count);
    CHECK(store.packets[7]->pts == 7 && store.packets[COUNT - 1]->pts == COUNT - 1, "their order");
    add(&store, 7, 9); /* another text */
    CHECK(store.count == COUNT + 1, "what differs is another one");
    AVPacket *packet = make_packet(7, 8);
    packet->stream_index = 1;
    packet_store_add(&store, packet);
    av_packet_free(&packet);
    CHECK(store.count == COUNT + 2, "another track's is another one");
    packet_store_clear(&store);
    CHECK(!store.packets && !store.count && !store.known.slots, "something is left");
}

/* What has given way is taken again when it comes again. */
TEST(gives_way)
{
    enum { SIZE = 1 << 20, COUNT = 3 * PACKET_STORE_BYTES / SIZE };
    FREED_BY(packet_store_clear) PacketStore store = {.packets = NULL};
    for (int i = 0; i < COUNT; i++) {
        add(&store, i, SIZE);
        CHECK(store.bytes <= PACKET_STORE_BYTES, "%zu bytes", store.bytes);
        CHECK(store.packets[store.count - 1]->pts == i, "the newest is not there");
    }
    CHECK(store.bytes >= PACKET_STORE_BYTES / 2, "%zu bytes are all", store.bytes);
    const int count = store.count;
    add(&store, store.packets[0]->pts, SIZE);
    CHECK(store.count == count, "it is there twice");
    add(&store, 0, SIZE);
    CHECK(store.packets[store.count - 1]->pts == 0, "it is not taken again");
}

TEST_MAIN
