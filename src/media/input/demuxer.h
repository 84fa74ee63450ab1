/* A thread that reads a source into queues of packets, for a player. Sound and subtitles are ready
 * ahead of the pictures, and no track waits for another. */
#ifndef LUMEQ_MEDIA_DEMUXER_H
#define LUMEQ_MEDIA_DEMUXER_H

#include "media/error.h"
#include "media/input/source.h"

typedef enum DemuxKind {
    DEMUX_VIDEO,
    DEMUX_AUDIO,
    DEMUX_SUBTITLE,
    DEMUX_KINDS,
} DemuxKind;

typedef struct Demuxer Demuxer;

/* Selects all subtitle tracks and nothing else. No thread runs yet. The source must outlive it, and
 * nobody else may use it while the thread runs. MEDIA_INPUT. */
int demuxer_create(Demuxer **demuxer, Source *source, MediaError *error);

/* Selects the video or audio stream; NULL: no stream. While stopped. */
void demuxer_select(Demuxer *demuxer, DemuxKind kind, const AVStream *stream);

/* The selected stream, or NULL. While stopped, or from the thread that starts and stops it. */
const AVStream *demuxer_selected(const Demuxer *demuxer, DemuxKind kind);

/* Starts to read with empty queues at `position` (AV_TIME_BASE units from the start of the source,
 * see source_seek()), with earlier subtitles first (see source_look_back()). AV_NOPTS_VALUE: where
 * the source is. MEDIA_INPUT. */
int demuxer_start(Demuxer *demuxer, int64_t position, MediaError *error);

/*
 * Reads the next packet of the selected stream, or of any subtitle track, into an empty `packet`:
 * 0; AVERROR_EOF (the end, or no stream is selected); AVERROR(EAGAIN) (no packet yet; only without
 * `wait`); AVERROR_EXIT (stopped). Any thread, one for each kind. If the file has more sound before
 * the next picture than the queue can hold, the rest of that sound is dropped.
 */
int demuxer_read(Demuxer *demuxer, DemuxKind kind, AVPacket *packet, int wait);

/* From now on the reading thread calls `take`, which must not wait, with each packet of the
 * selected video. NULL: no more calls, and no call is in progress when this returns. Any time. */
void demuxer_tap(Demuxer *demuxer, void (*take)(void *opaque, const AVPacket *packet),
                 void *opaque);

/* Deselects the stream. Any time. */
void demuxer_give_up(Demuxer *demuxer, DemuxKind kind);

/* Latest end of the packets read since the start, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE:
 * unknown. While stopped. */
int64_t demuxer_end(const Demuxer *demuxer);

/* Number of video packets of a live source that were dropped for newer ones. Any thread. */
int64_t demuxer_dropped(Demuxer *demuxer);

/* Number of waiting packets. Any thread. */
int demuxer_waiting(Demuxer *demuxer, DemuxKind kind);

/* Ends the thread. demuxer_read() returns AVERROR_EXIT. */
void demuxer_stop(Demuxer *demuxer);

/* Stops it if necessary. *demuxer may be NULL. */
void demuxer_free(Demuxer **demuxer);

#endif
