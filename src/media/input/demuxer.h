/* A thread that reads a source into packet queues. The queues share one limit in bytes. A player
 * uses DEMUX_BY_KIND: each kind of track has its own queue, so no track waits for another. To write
 * a file, DEMUX_IN_ORDER puts all packets into one queue, in the order of the input. */
#ifndef LUMEQ_MEDIA_DEMUXER_H
#define LUMEQ_MEDIA_DEMUXER_H

#include <stdbool.h>

#include "media/error.h"
#include "media/input/source.h"

typedef enum DemuxOrder {
    DEMUX_BY_KIND,
    DEMUX_IN_ORDER, /* the queue DEMUX_VIDEO gets all tracks that are not discarded */
} DemuxOrder;

typedef enum DemuxKind {
    DEMUX_VIDEO,
    DEMUX_AUDIO,
    DEMUX_SUBTITLE,
    DEMUX_KINDS,
} DemuxKind;

/* With DEMUX_IN_ORDER, AVPacket.opaque_ref holds these facts about the packet, or is NULL. */
typedef struct PacketNote {
    Damage damage; /* since the previous packet; after the last packet, see Source.damage */
    int64_t start; /* source_track_start() for a track's first packet, else AV_NOPTS_VALUE */
    bool is_last;  /* see source_is_last() */
} PacketNote;

typedef struct Demuxer Demuxer;

/* Does not start the thread yet. DEMUX_BY_KIND selects all subtitle tracks and nothing else. The
 * source must outlive the demuxer. Do not use the source while the thread runs. MEDIA_INPUT. */
int demuxer_create(Demuxer **demuxer, Source *source, DemuxOrder order, MediaError *error);

/* Selects the video or audio stream; NULL: no stream. Call while stopped. */
void demuxer_select(Demuxer *demuxer, DemuxKind kind, const AVStream *stream);

/* The selected stream, or NULL. Call while stopped, or in the thread that calls demuxer_start(). */
const AVStream *demuxer_selected(const Demuxer *demuxer, DemuxKind kind);

/* Empties the queues and starts to read at `position` (AV_TIME_BASE units from the start of the
 * source, see source_seek()). AV_NOPTS_VALUE: at the source's current position. MEDIA_INPUT. */
int demuxer_start(Demuxer *demuxer, int64_t position, MediaError *error);

/*
 * Reads the next packet of the selected stream, or of any subtitle track, into an empty `packet`.
 * Returns 0; AVERROR_EOF (the end, or no stream is selected); AVERROR(EAGAIN) (no packet yet; only
 * without `wait`); AVERROR(ENOMEM); or AVERROR_EXIT (stopped). Any thread, one at a time per kind.
 * If the queues are full before the next picture comes, further sound is dropped.
 */
int demuxer_read(Demuxer *demuxer, DemuxKind kind, AVPacket *packet, int wait);

/* With DEMUX_IN_ORDER, waits for the packet that is `index` packets after the next one. The demuxer
 * owns it. Returns 0, AVERROR(EAGAIN) (the queue has no room for it), or a demuxer_read() error.
 * Only for the thread that calls demuxer_read(). */
int demuxer_peek(Demuxer *demuxer, int index, const AVPacket **packet);

/* From now on, the demuxer's thread calls `take` with each packet of the selected video; `take`
 * must not wait. NULL ends this, and waits for a call that is still running. Any thread. */
void demuxer_tap(Demuxer *demuxer, void (*take)(void *opaque, const AVPacket *packet),
                 void *opaque);

/* Deselects the stream and drops its queued packets. Any thread. */
void demuxer_give_up(Demuxer *demuxer, DemuxKind kind);

/* Latest end of the packets read since demuxer_start(): a timestamp of the input in AV_TIME_BASE
 * units; AV_NOPTS_VALUE: unknown. Call while stopped. */
int64_t demuxer_end(const Demuxer *demuxer);

/* Number of video packets of a live source that were dropped for newer ones; 0 with DEMUX_IN_ORDER.
 * Any thread. */
int64_t demuxer_dropped(Demuxer *demuxer);

/* Ends the thread. demuxer_read() returns AVERROR_EXIT. */
void demuxer_stop(Demuxer *demuxer);

/* Stops the thread if necessary. *demuxer may be NULL. */
void demuxer_free(Demuxer **demuxer);

#endif
