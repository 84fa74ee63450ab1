/*
 * Splits the output into segments: files that begin with a key frame. A complete segment is named
 * by its start time. Two segments can be open at once, because sound of the previous segment may
 * arrive after the first picture of the next one.
 */
#ifndef LUMEQ_MEDIA_SEGMENTS_H
#define LUMEQ_MEDIA_SEGMENTS_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "media/error.h"

typedef struct SegmentOptions {
    const char *path; /* strftime() conversions in the file name expand to local time */
    double seconds;   /* minimum length of a segment; the next one begins with a key frame */
    /* not 0: name a segment by the wall clock at its start; 0: by the wall clock at the first
     * segment's start plus the time since then in the video */
    int live;
    int64_t keep; /* delete the oldest segments beyond this many bytes; 0: keep all */
    void (*note)(const char *line);
    int overwrite; /* replace existing files; else use NAME-2.EXT and so on */
} SegmentOptions;

typedef struct Segments Segments;

/* Checks `path`. The options must outlive the segments. Call segments_close() even after a failure.
 * MEDIA_USAGE: a conversion is not allowed, or consecutive segments would have the same name. */
int segments_create(Segments **segments, const SegmentOptions *options, MediaError *error);

/*
 * Opens the first segment, which begins at the picture with this time. All segments get the streams
 * of `like`, whose header is not written. Packets must be in the time bases of these streams.
 * `like` and its stream `video` must outlive the segments. `muxer`: muxer options, or NULL.
 * MEDIA_OUTPUT.
 */
int segments_start(Segments *segments, AVFormatContext *like, const AVStream *video,
                   const AVDictionary *muxer, int64_t pts, AVRational base, MediaError *error);

/* True if the next segment is to begin with this picture, which must then be a key frame. */
bool segments_is_due(const Segments *segments, int64_t pts, AVRational base);

/* Begins the next segment at this picture. The file is opened when the picture's packet is written,
 * which may be many pictures later. MEDIA_OUTPUT. */
int segments_cut(Segments *segments, int64_t pts, AVRational base, MediaError *error);

/* Writes a packet into its segment and leaves the packet blank. MEDIA_OUTPUT. */
int segments_write(Segments *segments, AVPacket *packet, const AVStream *out, MediaError *error);

/* Completes all open segments. MEDIA_OUTPUT. */
int segments_finish(Segments *segments, MediaError *error);

typedef struct SegmentTotals {
    int64_t bytes;          /* of all segments */
    int64_t count, deleted; /* completed segments, and those deleted because of `keep` */
    int64_t refused;        /* copied packets that the muxer refused: the input is damaged */
    const char *name;       /* path of the segment completed last, or NULL */
} SegmentTotals;

SegmentTotals segments_totals(const Segments *segments);

/* Frees everything and removes incomplete segments. */
void segments_close(Segments **segments);

#endif
