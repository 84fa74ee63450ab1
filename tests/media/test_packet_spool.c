/* Packets come out as they went in, whether they waited in memory or in a file. */
#include <errno.h>
#include <malloc.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "media/output/packet_spool.h"

#define COUNT 400

static int most_at_once, calls; /* 0: all */

/* 0: a signal has come in between. */
static size_t give_up_early(size_t size)
{
    errno = EINTR;
    if (most_at_once && calls++ % 3 == 1)
        return 0;
    return most_at_once && size > (size_t)most_at_once ? (size_t)most_at_once : size;
}

/* The system's calls, which may write or read fewer bytes than requested. */
ssize_t pwrite(int fd, const void *data, size_t size, off_t position)
{
    const struct iovec part = {(void *)data, give_up_early(size)};
    return part.iov_len ? pwritev(fd, &part, 1, position) : -1;
}

ssize_t pread(int fd, void *data, size_t size, off_t position)
{
    const struct iovec part = {data, give_up_early(size)};
    return part.iov_len ? preadv(fd, &part, 1, position) : -1;
}

static AVPacket *make_packet(CheckRandom *random, int number)
{
    AVPacket *packet = av_packet_alloc();
    if (!packet || av_new_packet(packet, check_below(random, 5000)) < 0)
        exit(1);
    for (int i = 0; i < packet->size; i++)
        packet->data[i] = (uint8_t)check_hash((uint64_t)number, (uint64_t)i);
    packet->pts = number * 10;
    packet->dts = number * 10 - 3;
    packet->duration = 7;
    packet->stream_index = number % 5;
    packet->flags = number % 3;
    if (number % 4 == 0) {
        uint8_t *data = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10);
        if (!data)
            exit(1);
        memset(data, number, 10);
    }
    return packet;
}

static int same_side_data(const AVPacket *a, const AVPacket *b)
{
    if (a->side_data_elems != b->side_data_elems)
        return 0;
    for (int i = 0; i < a->side_data_elems; i++)
        if (a->side_data[i].type != b->side_data[i].type ||
            a->side_data[i].size != b->side_data[i].size ||
            memcmp(a->side_data[i].data, b->side_data[i].data, a->side_data[i].size))
            return 0;
    return 1;
}

static void check_packet(const AVPacket *got, const AVPacket *expected)
{
    CHECK(got->size == expected->size && !memcmp(got->data, expected->data, (size_t)got->size),
          "%d bytes of %d", got->size, expected->size);
    CHECK(got->pts == expected->pts && got->dts == expected->dts &&
              got->duration == expected->duration && got->flags == expected->flags &&
              got->stream_index == expected->stream_index && same_side_data(got, expected),
          "packet %lld has become another one", (long long)expected->pts);
}

static void run(size_t limit, CheckRandom *random)
{
    FREED_BY(packet_spool_close)
    PacketSpool spool = {.beside = "/nowhere/at all.mkv", .limit = limit};
    MediaError error = {0};
    AVPacket *packets[COUNT], *got = NULL;
    int added = 0, taken = 0;
    while (taken < COUNT) {
        if (added < COUNT && (added == taken || check_below(random, 3))) {
            packets[added] = make_packet(random, added);
            AVPacket *copy = av_packet_clone(packets[added]);
            if (!copy)
                exit(1);
            CHECK(packet_spool_add(&spool, copy, &error) == 0, "%s", error.text);
            CHECK(!copy->data && !copy->size, "it is not taken over");
            av_packet_free(&copy);
            added++;
            continue;
        }
        if (!CHECK(packet_spool_take(&spool, &got, &error) == 0 && got, "take: %s", error.text))
            exit(1);
        check_packet(got, packets[taken]);
        av_packet_free(&got);
        av_packet_free(&packets[taken++]);
    }
    CHECK(packet_spool_take(&spool, &got, &error) == 0 && !got, "more than there were");
    CHECK(spool.bytes <= limit && (limit > 1 << 20) == !spool.written, "%zu bytes in memory",
          spool.bytes);
}

TEST(same_packets)
{
    CheckRandom random = check_random(1);
    run(0, &random);
    run(100000, &random);
    run(PACKET_SPOOL_BYTES, &random);
}

/* For packets of one byte the overhead is all that counts: memory stays within the limit, and
 * packets in the file take no memory. */
TEST(overhead_of_tiny_packets_counts)
{
    enum { LIMIT = 1 << 20, TINY = 100000 };
    FREED_BY(packet_spool_close) PacketSpool spool = {.limit = LIMIT};
    MediaError error = {0};
    AVPacket *packet = av_packet_alloc();
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < TINY && packet; i++) {
        if (av_new_packet(packet, 1) < 0)
            exit(1);
        packet->data[0] = (uint8_t)i;
        packet->pts = i;
        if (!CHECK(packet_spool_add(&spool, packet, &error) == 0, "%s", error.text))
            break;
    }
    const size_t more = mallinfo2().uordblks - before;
    CHECK(spool.bytes <= LIMIT && spool.bytes > LIMIT / 2, "%zu bytes in memory", spool.bytes);
    CHECK(more < 2 * LIMIT, "%zu bytes are taken for a limit of %d", more, LIMIT);
    av_packet_free(&packet);
    int taken = 0;
    while (packet_spool_take(&spool, &packet, &error) == 0 && packet) {
        if (!CHECK(packet->pts == taken && packet->size == 1 && packet->data[0] == (uint8_t)taken,
                   "packet %d is another one", taken))
            break;
        av_packet_free(&packet);
        taken++;
    }
    av_packet_free(&packet);
    CHECK(taken == TINY, "%d of %d come out: %s", taken, TINY, error.text);
    CHECK(spool.bytes == 0, "%zu bytes in memory of an empty one", spool.bytes);
}

/* A disk that transfers only a part at once. */
TEST(same_packets_with_short_writes)
{
    CheckRandom random = check_random(4);
    most_at_once = 700;
    run(0, &random);
    CHECK(calls > 5 * COUNT, "only %d calls", calls);
    most_at_once = 0;
}

TEST(closes_with_packets_left)
{
    CheckRandom random = check_random(2);
    PacketSpool spool = {.limit = 10000};
    MediaError error = {0};
    for (int i = 0; i < 20; i++) {
        FREED_BY(av_packet_free) AVPacket *packet = make_packet(&random, i);
        CHECK(packet_spool_add(&spool, packet, &error) == 0, "%s", error.text);
    }
    packet_spool_close(&spool);
    packet_spool_close(&spool);
}

TEST(nowhere_to_write)
{
    CheckRandom random = check_random(3);
    FREED_BY(packet_spool_close) PacketSpool spool = {.beside = "/nowhere/at all.mkv"};
    MediaError error = {0};
    FREED_BY(av_packet_free) AVPacket *packet = make_packet(&random, 1);
    (void)setenv("TMPDIR", "/nowhere/either", 1);
    CHECK(packet_spool_add(&spool, packet, &error) == MEDIA_OUTPUT &&
              strstr(error.text, "'/nowhere/either'") && strstr(error.text, "No such file"),
          "the error is %d: %s", error.fault, error.text);
    (void)unsetenv("TMPDIR");
}

TEST_MAIN
