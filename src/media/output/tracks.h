/* Copies, converts or drops the tracks other than the encoded video. */
#ifndef LUMEQ_MEDIA_TRACKS_H
#define LUMEQ_MEDIA_TRACKS_H

#include <stdbool.h>

#include "media/error.h"
#include "media/input/source.h"
#include "media/output/transcode.h"

/* {0} keeps every track. */
typedef struct TrackOptions {
    /* NULL: copy sound if the container can store it and its start time, else convert it;
     * "copy": also copy if only the start time is lost; "none": drop; or an encoder's name */
    const char *acodec;
    int audio_track, sub_track; /* 0: all; N + 1: only track N */
    int no_subs, no_chapters, no_metadata;
    int live_channels; /* channels of live sound (live_sound.h); 0: no live sound */
    /* If part_given is not 0, the part to write, as in InputOptions. */
    int part_given;
    int64_t from_us, to_us, frames;
    /* receives each note about a dropped or converted track; or NULL */
    void (*note)(const char *line);
} TrackOptions;

typedef struct Tracks Tracks;

/* Writes a packet and leaves the packet blank. MEDIA_OUTPUT. */
typedef int (*TrackMuxer)(void *opaque, AVPacket *packet, const AVStream *out, MediaError *error);

/* Checks the options before the input is opened. MEDIA_USAGE. */
int tracks_check(const TrackOptions *options, const AVOutputFormat *muxer, MediaError *error);

/*
 * Decides what happens to every stream of the source, makes the source discard dropped streams, and
 * adds streams, tags and chapters to the output. `*video` receives the stream for the encoded
 * frames. The options must outlive the tracks. MEDIA_USAGE, MEDIA_OUTPUT; *tracks is then NULL.
 */
int tracks_map(Tracks **tracks, const TrackOptions *options, AVFormatContext *to,
               const Source *source, AVStream **video, MediaError *error);

/* The stream_index of live sound, or -1. */
int tracks_live(const Tracks *tracks);

/* Call after the header is written: sets the packet callback and writes the cover pictures. */
int tracks_start(Tracks *tracks, TrackMuxer mux, void *opaque, MediaError *error);

/* True if tracks_packet() accepts packets of this input stream. */
bool tracks_wants(const Tracks *tracks, int stream);

/* Writes a packet of the input and leaves the packet blank. MEDIA_OUTPUT. */
int tracks_packet(Tracks *tracks, AVPacket *packet, MediaError *error);

/* Flushes the converters. MEDIA_OUTPUT. */
int tracks_finish(Tracks *tracks, MediaError *error);

typedef struct TrackLosses {
    int64_t packets; /* copied packets that were too damaged to write */
    int64_t missing; /* length of sound not copied because its format changed, AV_TIME_BASE units */
    SoundLoss sound; /* of all converted sound; complete after tracks_finish() */
} TrackLosses;

TrackLosses tracks_losses(const Tracks *tracks);

void tracks_close(Tracks **tracks);

#endif
