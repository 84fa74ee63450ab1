/*
 * Output in pieces: each is a file of its own, from a key frame on, under a name that tells when it
 * begins, which it gets when it is complete.
 *
 * Two pieces may be open for a moment: sound may still come of the one that the picture has left.
 */
#ifndef LUMEQ_MEDIA_SEGMENTS_H
#define LUMEQ_MEDIA_SEGMENTS_H

#include <libavformat/avformat.h>

#include "media/error.h"

typedef struct SegmentOptions {
    const char *path; /* in its name, conversions as in strftime() stand for the local time */
    double seconds;   /* of each piece, at least; it ends where a key frame can follow */
    int live;         /* not 0: pieces begin when it is now; else a time of the video is as much
                       * later than the first one as it lies behind that in the video */
    int overwrite;    /* files that are there already; else NAME-2.EXT and so on will do */
} SegmentOptions;

typedef struct Segments Segments;

/* Checks the name. The options must outlive it. MEDIA_USAGE: there is no time in it, one that would
 * be the same for two pieces, or, without `overwrite`, one that comes again. */
int segments_create(Segments **segments, const SegmentOptions *options, MediaError *error);

/*
 * Opens the first piece, which begins with the picture of this time. `like`: what each is to be,
 * apart from its file; its header is not written, and packets are in its streams' time bases. It
 * and `video`, one of its streams, must outlive the segments. `muxer`: options, or NULL.
 * MEDIA_OUTPUT.
 */
int segments_start(Segments *segments, AVFormatContext *like, const AVStream *video,
                   const AVDictionary *muxer, int64_t pts, AVRational base, MediaError *error);

/* Not 0: another piece is to begin with this picture, which has to be a key frame. */
int segments_is_due(const Segments *segments, int64_t pts, AVRational base);

/* Opens the next piece, for what is not before this picture. MEDIA_OUTPUT. */
int segments_cut(Segments *segments, int64_t pts, AVRational base, MediaError *error);

/* Writes a packet into the piece that it belongs to, and leaves it blank. MEDIA_OUTPUT, or, with no
 * error noted, the AVERROR of a muxer to whom the packet makes no sense. */
int segments_write(Segments *segments, AVPacket *packet, const AVStream *out, MediaError *error);

/* Completes what is open. MEDIA_OUTPUT. */
int segments_finish(Segments *segments, MediaError *error);

/* Of all pieces; their number; the name of the last one that is complete, or NULL. */
int64_t segments_bytes(const Segments *segments);
int64_t segments_count(const Segments *segments);
const char *segments_name(const Segments *segments);

/* What is not complete is removed. */
void segments_close(Segments **segments);

#endif
