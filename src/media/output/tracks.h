/* The tracks of the output beside the video: copied, converted, or left out with a line. */
#ifndef LUMEQ_MEDIA_TRACKS_H
#define LUMEQ_MEDIA_TRACKS_H

#include "media/error.h"
#include "media/input/source.h"
#include "media/output/transcode.h"

/* {0}: everything there is. */
typedef struct TrackOptions {
    /* NULL: as it is where the container can; "copy": the same where it does not keep when the
     * sound begins; "none"; an encoder */
    const char *acodec;
    int audio_track, sub_track; /* 0: all; else the number of the only one wanted, plus 1 */
    int no_subs, no_chapters, no_metadata;
    /* The part that is written, as in ReaderOptions, where part_given is set. */
    int part_given;
    int64_t from_us, to_us, frames;
    void (*note)(const char *line); /* takes one line about what is dropped or converted; or NULL */
} TrackOptions;

typedef struct Tracks Tracks;

/* Writes a packet, which it leaves blank. MEDIA_OUTPUT. */
typedef int (*TrackMuxer)(void *opaque, AVPacket *packet, const AVStream *out, MediaError *error);

/* What can be known before the input is opened. MEDIA_USAGE. */
int tracks_check(const TrackOptions *options, const AVOutputFormat *muxer, MediaError *error);

/*
 * Decides on every stream of the source, makes the source drop those that are left out, and gives
 * the output its streams, tags and chapters. `*video` is the one for the encoded frames. The
 * options must outlive the tracks. MEDIA_USAGE, MEDIA_OUTPUT; *tracks is then NULL.
 */
int tracks_map(Tracks **tracks, const TrackOptions *options, AVFormatContext *to,
               const Source *source, AVStream **video, MediaError *error);

/* Where packets go, once the header is written, and the first of them: cover pictures. */
int tracks_start(Tracks *tracks, TrackMuxer mux, void *opaque, MediaError *error);

/* Not 0: packets of this stream of the input are wanted. */
int tracks_wants(const Tracks *tracks, int stream);

/* Writes a packet of the input, which is left blank. MEDIA_OUTPUT. */
int tracks_packet(Tracks *tracks, AVPacket *packet, MediaError *error);

/* Writes what converters have left. MEDIA_OUTPUT. */
int tracks_finish(Tracks *tracks, MediaError *error);

/* Copied packets that were too damaged to be written. */
int64_t tracks_lost_packets(const Tracks *tracks);

/* Of all sound that is converted. */
SoundLoss tracks_lost_sound(const Tracks *tracks);

void tracks_close(Tracks **tracks);

#endif
