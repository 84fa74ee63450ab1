/* A source read by a thread of its own into queues of packets, for a player: sound and subtitles
 * are there ahead of the pictures, and none of them waits for another. */
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

/* Packets of all tracks of subtitles are wanted, of nothing else yet, and no thread runs. The
 * source must outlive it and is the demuxer's alone while it runs. MEDIA_INPUT. */
int demuxer_create(Demuxer **demuxer, Source *source, MediaError *error);

/* The stream of video or sound whose packets are wanted, NULL for none. While stopped. */
void demuxer_select(Demuxer *demuxer, DemuxKind kind, const AVStream *stream);

/* The selected stream, or NULL. While stopped, or from the thread that starts and stops it. */
const AVStream *demuxer_selected(const Demuxer *demuxer, DemuxKind kind);

/* Starts to read with empty queues: at `position` (AV_TIME_BASE units from the start of the
 * source, see source_seek()), subtitles from before that first, see source_look_back(); or where
 * the source is, AV_NOPTS_VALUE. MEDIA_INPUT. */
int demuxer_start(Demuxer *demuxer, int64_t position, MediaError *error);

/* Ends the thread, and whoever waits for the video; others go on waiting. */
void demuxer_pause(Demuxer *demuxer);

/* After demuxer_pause(): reads the video again from a keyframe at or before `position`, INT64_MIN:
 * from where it was started. Sound and subtitles go on. MEDIA_INPUT. */
int demuxer_restart(Demuxer *demuxer, int64_t position, MediaError *error);

/*
 * The next packet of the selected stream, or of any track of subtitles, in an empty `packet`: 0,
 * AVERROR_EOF (none follows, or none is selected), AVERROR(EAGAIN) (none yet; only without `wait`),
 * AVERROR_EXIT (stopped). Any thread, one for each kind. Where more sound than is kept lies before
 * the picture that is asked for, the rest of that sound is left out.
 */
int demuxer_read(Demuxer *demuxer, DemuxKind kind, AVPacket *packet, int wait);

/* From now on `take` is shown each packet of the selected video as it is read, by the thread that
 * reads: it must not wait. NULL: no more, and none is being shown when this returns. Any time. */
void demuxer_tap(Demuxer *demuxer, void (*take)(void *opaque, const AVPacket *packet),
                 void *opaque);

/* No more packets of the selected stream are wanted. Any time. */
void demuxer_give_up(Demuxer *demuxer, DemuxKind kind);

/* Where what was read since the start ends, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: unknown.
 * While stopped. */
int64_t demuxer_end(const Demuxer *demuxer);

/* Packets of the video that a live source has newer ones than, and that are not handed out. Any
 * thread. */
int64_t demuxer_dropped(Demuxer *demuxer);

/* Packets waiting, for the statistics. Any thread. */
int demuxer_waiting(Demuxer *demuxer, DemuxKind kind);

/* Ends the thread and everybody's wait in demuxer_read(). */
void demuxer_stop(Demuxer *demuxer);

/* Stopped already, or stops it. NULL is allowed inside. */
void demuxer_free(Demuxer **demuxer);

#endif
