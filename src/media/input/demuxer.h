/* A thread that reads a source into queues of packets, which share one limit in bytes. For a
 * player, each kind has a queue, so that no track waits for another. To write a file, all tracks
 * have one, in the order of the input. */
#ifndef LUMEQ_MEDIA_DEMUXER_H
#define LUMEQ_MEDIA_DEMUXER_H

#include <stdbool.h>

#include "media/error.h"
#include "media/input/source.h"

typedef enum DemuxOrder {
    DEMUX_BY_KIND,
    DEMUX_IN_ORDER, /* all tracks that are not discarded are read as DEMUX_VIDEO */
} DemuxOrder;

typedef enum DemuxKind {
    DEMUX_VIDEO,
    DEMUX_AUDIO,
    DEMUX_SUBTITLE,
    DEMUX_KINDS,
} DemuxKind;

/* Facts from the source about a packet, in the AVPacket.opaque_ref of packets that are read in
 * order; NULL: no facts. */
typedef struct PacketNote {
    Damage damage; /* since the packet before; Source.damage keeps that after the last one */
    int64_t start; /* of a track's first packet: source_track_start() */
    bool is_last;  /* see source_is_last() */
} PacketNote;

typedef struct Demuxer Demuxer;

/* By kind, selects all subtitle tracks and nothing else. No thread runs yet. The source must
 * outlive it, and nobody else may use it while the thread runs. MEDIA_INPUT. */
int demuxer_create(Demuxer **demuxer, Source *source, DemuxOrder order, MediaError *error);

/* Selects the video or audio stream; NULL: no stream. While stopped. */
void demuxer_select(Demuxer *demuxer, DemuxKind kind, const AVStream *stream);

/* The selected stream, or NULL. While stopped, or from the thread that starts and stops it. */
const AVStream *demuxer_selected(const Demuxer *demuxer, DemuxKind kind);

/* Starts to read with empty queues at `position` (AV_TIME_BASE units from the start of the source,
 * see source_seek()). AV_NOPTS_VALUE: where the source is. MEDIA_INPUT. */
int demuxer_start(Demuxer *demuxer, int64_t position, MediaError *error);

/*
 * Reads the next packet of the selected stream, or of any subtitle track, into an empty `packet`:
 * 0; AVERROR_EOF (the end, or no stream is selected); AVERROR(EAGAIN) (no packet yet; only without
 * `wait`); AVERROR_EXIT (stopped). Any thread, one for each kind. If the file has more sound before
 * the next picture than the queue can hold, the rest of that sound is dropped.
 */
int demuxer_read(Demuxer *demuxer, DemuxKind kind, AVPacket *packet, int wait);

/* In order: the packet that comes `index` packets after the next one, which stays the demuxer's. 0;
 * AVERROR_EOF; AVERROR_EXIT; or AVERROR(EAGAIN): it is too far ahead. Waits. For the thread that
 * reads. */
int demuxer_peek(Demuxer *demuxer, int index, const AVPacket **packet);

/* From now on the reading thread calls `take`, which must not wait, with each packet of the
 * selected video. NULL: no more calls, and no call is in progress when this returns. Any time. */
void demuxer_tap(Demuxer *demuxer, void (*take)(void *opaque, const AVPacket *packet),
                 void *opaque);

/* Deselects the stream. Any time. */
void demuxer_give_up(Demuxer *demuxer, DemuxKind kind);

/* Latest end of the packets read since the start, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE:
 * unknown. While stopped. */
int64_t demuxer_end(const Demuxer *demuxer);

/* Number of video packets of a live source that were dropped for newer ones: by kind only. Any
 * thread. */
int64_t demuxer_dropped(Demuxer *demuxer);

/* Ends the thread. demuxer_read() returns AVERROR_EXIT. */
void demuxer_stop(Demuxer *demuxer);

/* Stops it if necessary. *demuxer may be NULL. */
void demuxer_free(Demuxer **demuxer);

#endif
