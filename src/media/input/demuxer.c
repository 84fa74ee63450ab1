#include "media/input/demuxer.h"

#include <pthread.h>

#include <libavcodec/avcodec.h>
#include <libavutil/fifo.h>

#include "media/input/damage.h"
#include "media/packet_set.h"

/* The thread pauses while the queues of sound and of video each hold this duration and this number
 * of packets. */
#define ENOUGH_US 1000000
#define ENOUGH_PACKETS 25
/* With DEMUX_IN_ORDER, the thread pauses while the only queue holds this number of packets. */
#define ENOUGH_IN_ORDER 2
/* Limit of all queues together; a nearly raw 4K frame has 10 MB. While the decoder waits for a
 * picture, reading goes on and drops sound beyond the limit. */
#define MAX_BYTES (64 << 20)

#define FIRST_PACKETS 64 /* initial capacity of a queue */

/* If a live source has at least this many queued video packets, a new key frame replaces them. In
 * an intra-only stream, each packet replaces all queued ones. */
#define LIVE_PACKETS 5

typedef struct PacketQueue {
    const AVStream *stream; /* NULL: not selected */
    AVFifo *packets;        /* AVPacket * */
    int64_t duration;       /* of all its packets, in the stream's time base */
} PacketQueue;

struct Demuxer {
    Source *source;
    DemuxOrder order;
    pthread_t thread;
    int running;
    int64_t position; /* where to start, see demuxer_start() */

    /* Used by the thread while it runs. */
    int64_t end; /* latest end of a packet, see demuxer_end() */
    char *began; /* by stream: a packet was read */

    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t changed;
    PacketQueue queues[DEMUX_KINDS];
    size_t bytes;
    int lacks_picture; /* demuxer_read() has found no video packet */
    size_t peeks;      /* number of packets that demuxer_peek() wants */
    int64_t dropped;
    int stop;
    int ended; /* 0: not yet; AVERROR_EOF, AVERROR(ENOMEM) */
    void (*tap)(void *opaque, const AVPacket *packet);
    void *tap_opaque;
};

static bool is_subtitle(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
}

int demuxer_create(Demuxer **demuxer, Source *source, DemuxOrder order, MediaError *error)
{
    Demuxer *d = av_mallocz(sizeof(*d));
    *demuxer = d;
    if (!d)
        return media_no_memory(error, MEDIA_INPUT);
    d->source = source;
    d->order = order;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    for (int i = 0; i < DEMUX_KINDS; i++) {
        d->queues[i].packets =
            av_fifo_alloc2(FIRST_PACKETS, sizeof(AVPacket *), AV_FIFO_FLAG_AUTO_GROW);
        if (!d->queues[i].packets)
            break;
        av_fifo_auto_grow_limit(d->queues[i].packets, MAX_BYTES);
    }
    d->began = av_mallocz(source->stream_count);
    if (!d->queues[DEMUX_KINDS - 1].packets || !d->began) {
        demuxer_free(demuxer);
        return media_no_memory(error, MEDIA_INPUT);
    }
    if (order == DEMUX_IN_ORDER)
        d->queues[DEMUX_VIDEO].stream = source->video;
    for (unsigned i = 0; order == DEMUX_BY_KIND && i < source->stream_count; i++) {
        AVStream *stream = source->format->streams[i];
        const bool is_read = is_subtitle(stream) && !source_is_foreign(source, stream);
        stream->discard = is_read ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    return 0;
}

void demuxer_select(Demuxer *d, DemuxKind kind, const AVStream *stream)
{
    const AVStream *old = d->queues[kind].stream;
    if (old)
        d->source->format->streams[old->index]->discard = AVDISCARD_ALL;
    if (stream)
        d->source->format->streams[stream->index]->discard = AVDISCARD_DEFAULT;
    d->queues[kind].stream = stream;
}

const AVStream *demuxer_selected(const Demuxer *d, DemuxKind kind)
{
    return d->queues[kind].stream;
}

static void empty_queue(Demuxer *d, PacketQueue *queue)
{
    AVPacket *packet;
    while (queue->packets && av_fifo_read(queue->packets, &packet, 1) >= 0) {
        d->bytes -= packet_bytes(packet);
        av_packet_free(&packet);
    }
    queue->duration = 0;
}

void demuxer_tap(Demuxer *d, void (*take)(void *opaque, const AVPacket *packet), void *opaque)
{
    pthread_mutex_lock(&d->lock);
    d->tap = take;
    d->tap_opaque = opaque;
    pthread_mutex_unlock(&d->lock);
}

void demuxer_give_up(Demuxer *d, DemuxKind kind)
{
    pthread_mutex_lock(&d->lock);
    d->queues[kind].stream = NULL;
    empty_queue(d, &d->queues[kind]);
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static bool is_full(const Demuxer *d)
{
    const bool in_order = d->order == DEMUX_IN_ORDER;
    const size_t enough = FFMAX(d->peeks, in_order ? ENOUGH_IN_ORDER : ENOUGH_PACKETS);
    bool full = !d->source->live || in_order; /* if live, new pictures replace old ones */
    for (int i = 0; i < DEMUX_KINDS; i++) {
        const PacketQueue *queue = &d->queues[i];
        if (!queue->stream || i == DEMUX_SUBTITLE)
            continue;
        full &=
            av_fifo_can_read(queue->packets) >= enough &&
            (in_order || queue->duration == 0 ||
             av_rescale_q(queue->duration, queue->stream->time_base, AV_TIME_BASE_Q) >= ENOUGH_US);
    }
    return full || (d->bytes >= MAX_BYTES && !d->lacks_picture);
}

static bool belongs(const Demuxer *d, DemuxKind kind, const AVPacket *packet)
{
    const AVStream *wanted = d->queues[kind].stream;
    if (d->order == DEMUX_IN_ORDER)
        return kind == DEMUX_VIDEO;
    if (kind == DEMUX_SUBTITLE)
        return is_subtitle(d->source->format->streams[packet->stream_index]);
    return wanted && wanted->index == packet->stream_index;
}

/* Queues or drops the packet. Takes ownership unless out of memory. */
static int keep(Demuxer *d, AVPacket *packet)
{
    for (int i = 0; i < DEMUX_KINDS; i++) {
        PacketQueue *queue = &d->queues[i];
        if (!belongs(d, (DemuxKind)i, packet))
            continue;
        if (i == DEMUX_VIDEO)
            d->lacks_picture = 0;
        else if (d->bytes >= MAX_BYTES)
            break;
        if (i == DEMUX_VIDEO && d->source->live && d->order == DEMUX_BY_KIND &&
            (packet->flags & AV_PKT_FLAG_KEY)) {
            const enum AVCodecID id = queue->stream->codecpar->codec_id;
            const AVCodecDescriptor *codec = avcodec_descriptor_get(id);
            const size_t waiting = av_fifo_can_read(queue->packets);
            if (waiting >= LIVE_PACKETS || (codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY))) {
                d->dropped += (int64_t)waiting;
                empty_queue(d, queue);
            }
        }
        if (av_fifo_write(queue->packets, &packet, 1) < 0)
            return AVERROR(ENOMEM);
        queue->duration = av_sat_add64(queue->duration, packet->duration);
        d->bytes += packet_bytes(packet);
        pthread_cond_broadcast(&d->changed);
        return 0;
    }
    av_packet_free(&packet);
    return 0;
}

int64_t demuxer_end(const Demuxer *d)
{
    return d->end;
}

static int note_packet(Demuxer *d, AVPacket *packet)
{
    Source *s = d->source;
    const AVStream *stream = s->format->streams[packet->stream_index];
    char *began = &d->began[packet->stream_index];
    const bool is_last = stream == s->video && source_is_last(s, packet);
    if (*began && !is_last && !damage_any(&s->damage))
        return 0;
    PacketNote *note = av_mallocz(sizeof(*note));
    packet->opaque_ref =
        note ? av_buffer_create((uint8_t *)note, sizeof(*note), NULL, NULL, 0) : NULL;
    if (!packet->opaque_ref) {
        av_free(note);
        return AVERROR(ENOMEM);
    }
    note->damage = s->damage;
    note->start = *began ? AV_NOPTS_VALUE : source_track_start(s, stream);
    note->is_last = is_last;
    s->damage = (Damage){0};
    *began = 1;
    return 0;
}

/* Reads and queues one packet; waits while the queues are full. Negative: the thread must end. */
static int read_one(Demuxer *d)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? source_read(d->source, packet) : AVERROR(ENOMEM);
    if (ret < 0) {
        av_packet_free(&packet);
        return ret;
    }
    const AVRational base = d->source->format->streams[packet->stream_index]->time_base;
    const int64_t stamp = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (stamp != AV_NOPTS_VALUE) /* AV_NOPTS_VALUE, the initial `end`, is the lowest number */
        d->end = FFMAX(d->end, av_rescale_q(stamp, base, AV_TIME_BASE_Q) +
                                   av_rescale_q(packet->duration, base, AV_TIME_BASE_Q));
    if (d->order == DEMUX_IN_ORDER && note_packet(d, packet) < 0) {
        av_packet_free(&packet);
        return AVERROR(ENOMEM);
    }
    pthread_mutex_lock(&d->lock);
    if (d->tap && belongs(d, DEMUX_VIDEO, packet))
        d->tap(d->tap_opaque, packet);
    ret = keep(d, packet);
    while (!d->stop && is_full(d))
        pthread_cond_wait(&d->changed, &d->lock);
    if (d->stop)
        ret = AVERROR_EXIT;
    pthread_mutex_unlock(&d->lock);
    if (ret == AVERROR(ENOMEM))
        av_packet_free(&packet);
    return ret;
}

static void *demux_main(void *arg)
{
    Demuxer *d = arg;
    if (d->position != AV_NOPTS_VALUE)
        source_seek(d->source, d->position);
    int ret;
    do
        ret = read_one(d);
    while (ret >= 0);
    pthread_mutex_lock(&d->lock);
    d->ended = ret == AVERROR(ENOMEM) ? ret : AVERROR_EOF;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

int demuxer_start(Demuxer *d, int64_t position, MediaError *error)
{
    for (int i = 0; i < DEMUX_KINDS; i++)
        empty_queue(d, &d->queues[i]);
    d->position = position;
    d->end = AV_NOPTS_VALUE;
    d->stop = d->ended = d->lacks_picture = 0;
    source_halt(d->source, 0);
    if (pthread_create(&d->thread, NULL, demux_main, d) != 0)
        return media_fail(error, MEDIA_INPUT, "cannot start a thread to read the input");
    d->running = 1;
    return 0;
}

static int take(Demuxer *d, DemuxKind kind, AVPacket *packet)
{
    PacketQueue *queue = &d->queues[kind];
    if (d->stop)
        return AVERROR_EXIT;
    if (!queue->stream && kind != DEMUX_SUBTITLE)
        return AVERROR_EOF;
    if (packets_take(queue->packets, packet) < 0) {
        if (kind == DEMUX_VIDEO && !d->lacks_picture) {
            d->lacks_picture = 1;
            pthread_cond_broadcast(&d->changed);
        }
        return d->ended ? d->ended : AVERROR(EAGAIN);
    }
    queue->duration -= packet->duration;
    d->bytes -= packet_bytes(packet);
    pthread_cond_broadcast(&d->changed);
    return 0;
}

int demuxer_read(Demuxer *d, DemuxKind kind, AVPacket *packet, int wait)
{
    pthread_mutex_lock(&d->lock);
    int ret;
    while ((ret = take(d, kind, packet)) == AVERROR(EAGAIN) && wait)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
    return ret;
}

int demuxer_peek(Demuxer *d, int index, const AVPacket **packet)
{
    AVFifo *packets = d->queues[DEMUX_VIDEO].packets;
    pthread_mutex_lock(&d->lock);
    d->peeks = (size_t)index + 1;
    pthread_cond_broadcast(&d->changed);
    while (av_fifo_can_read(packets) < d->peeks && d->bytes < MAX_BYTES && !d->stop && !d->ended)
        pthread_cond_wait(&d->changed, &d->lock);
    int ret = AVERROR(EAGAIN);
    if (d->stop)
        ret = AVERROR_EXIT;
    else if (av_fifo_peek(packets, packet, 1, (size_t)index) >= 0)
        ret = 0;
    else if (d->ended)
        ret = d->ended;
    d->peeks = 0;
    pthread_mutex_unlock(&d->lock);
    return ret;
}

int64_t demuxer_dropped(Demuxer *d)
{
    pthread_mutex_lock(&d->lock);
    const int64_t dropped = d->dropped;
    pthread_mutex_unlock(&d->lock);
    return dropped;
}

void demuxer_stop(Demuxer *d)
{
    pthread_mutex_lock(&d->lock);
    d->stop = 1;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    if (!d->running)
        return;
    source_halt(d->source, 1);
    pthread_join(d->thread, NULL);
    d->running = 0;
}

void demuxer_free(Demuxer **demuxer)
{
    Demuxer *d = *demuxer;
    if (!d)
        return;
    demuxer_stop(d);
    for (int i = 0; i < DEMUX_KINDS; i++)
        empty_queue(d, &d->queues[i]);
    av_freep(&d->began);
    for (int i = 0; i < DEMUX_KINDS; i++)
        av_fifo_freep2(&d->queues[i].packets);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    av_freep(demuxer);
}
