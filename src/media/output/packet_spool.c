#include "media/output/packet_spool.h"

#include <errno.h>
#include <string.h>

#include <libavutil/mem.h>

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

static int make_room(PacketSpool *s)
{
    if (s->count < s->room)
        return 0;
    const int room = s->room ? 2 * s->room : 256;
    SpooledPacket *more = av_realloc_array(s->packets, (size_t)room, sizeof(*more));
    if (!more)
        return -1;
    s->packets = more;
    s->room = room;
    return 0;
}

/* Its data into the file; the rest of it stays. */
static int put_away(PacketSpool *s, SpooledPacket *p, MediaError *error)
{
    if (!s->has_file) {
        s->has_file = 1;
        if (unnamed_file_open(&s->file, s->beside) < 0)
            return fail_write(s, errno, error);
    }
    const int reason = unnamed_file_write(&s->file, p->packet->data, (size_t)p->size, s->written);
    if (reason)
        return fail_write(s, reason, error);
    p->position = s->written;
    s->written += p->size;
    av_buffer_unref(&p->packet->buf);
    p->packet->data = NULL;
    p->packet->size = 0;
    return 0;
}

int packet_spool_add(PacketSpool *s, AVPacket *packet, MediaError *error)
{
    SpooledPacket p = {.packet = av_packet_alloc(), .position = -1, .size = packet->size};
    if (!p.packet || make_room(s) < 0) {
        av_packet_free(&p.packet);
        return out_of_memory(error);
    }
    av_packet_move_ref(p.packet, packet);
    if (s->bytes + (size_t)p.size <= s->limit) {
        s->bytes += (size_t)p.size;
    } else if (put_away(s, &p, error) < 0) {
        av_packet_free(&p.packet);
        return error->fault;
    }
    s->packets[s->count++] = p;
    return 0;
}

static int bring_back(const PacketSpool *s, SpooledPacket *p, MediaError *error)
{
    AVPacket *whole = av_packet_alloc();
    if (!whole || av_new_packet(whole, p->size) < 0 || av_packet_copy_props(whole, p->packet) < 0) {
        av_packet_free(&whole);
        return out_of_memory(error);
    }
    av_packet_free(&p->packet);
    p->packet = whole;
    const int reason = unnamed_file_read(&s->file, whole->data, (size_t)p->size, p->position);
    if (!reason)
        return 0;
    return media_fail(error, MEDIA_OUTPUT,
                      "cannot read the temporary file of what comes before the first picture: %s",
                      reason < 0 ? "it has become shorter" : strerror(reason));
}

int packet_spool_take(PacketSpool *s, AVPacket **packet, MediaError *error)
{
    *packet = NULL;
    if (s->next == s->count)
        return 0;
    SpooledPacket *p = &s->packets[s->next];
    if (p->position >= 0 && bring_back(s, p, error) < 0)
        return error->fault;
    *packet = p->packet;
    p->packet = NULL;
    s->next++;
    return 0;
}

void packet_spool_close(PacketSpool *s)
{
    for (int i = s->next; i < s->count; i++)
        av_packet_free(&s->packets[i].packet);
    av_freep(&s->packets);
    if (s->has_file)
        unnamed_file_close(&s->file);
    s->count = s->room = s->next = s->has_file = 0;
}
