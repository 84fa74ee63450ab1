/* Opens and demuxes an input: a file, standard input, a URL or a camera. */
#ifndef LUMEQ_MEDIA_SOURCE_H
#define LUMEQ_MEDIA_SOURCE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include <libavformat/avformat.h>
#include <libavutil/fifo.h>

#include "media/camera/camera.h"
#include "media/error.h"
#include "media/input/cut_off.h"
#include "media/input/network.h"
#include "media/input/picture_list.h"
#include "media/log.h"

typedef struct SourceOptions {
    const char *path; /* a plain file name without protocol; "-" is standard input */
    int network;      /* not 0: `path` is a URL that network_scheme() accepts */
    double silence_s; /* seconds without data before a connection counts as lost */
    /* for source_open(): > 0: reopen a URL that ends, fails or is missing, after pauses from
     * this long up to 30 times that */
    double reconnect_s;
    int reconnect_live;     /* not 0: only a live stream, and only after it has begun */
    int64_t max_pixels;     /* larger frames are refused */
    const atomic_int *stop; /* not 0: give up; must outlive the source */
    double open_timeout_s;  /* limit for opening a file; 0: none */
    int video_track;        /* 0: the best one; N + 1: track N */
    /* > 0: `path` is a folder of pictures or a pattern like frame%04d.png, shown at this rate */
    double picture_rate;
    int allow_playlists;         /* not 0: also open local files that the input references */
    const CameraOptions *camera; /* not NULL: open a camera and ignore `path` */
    /* not NULL: read this pipe, which two sources share, see shared_pipe.h; ... */
    struct SharedPipe *pipe;
    int pipe_side;          /* ... as side 0 or 1. The pipe must outlive both */
    int low_latency;        /* not 0: prefer the newest data, as for cameras */
    int force_dolby_vision; /* not 0: accept profile 5, although its first plane is not luma */
    /* for source_open(): > 0: determine Source.largest_width up to this position */
    int64_t find_largest_us;
    int *no_video;                  /* set to 1 if the input is readable but not a video; or NULL */
    int *answered;                  /* set to 1 if the input had data; or NULL */
    void (*note)(const char *line); /* receives notes about choices; or NULL */
} SourceOptions;

/* Known damage of an input's packets, and of the frames decoded from them. */
typedef struct Damage {
    int64_t cut_off; /* 1: the file ends inside an element, see cut_off.h */
    int64_t read_errors, corrupt_packets, decode_errors, corrupt_frames;
    int64_t lost_frames;    /* lost with a GPU, up to the next key frame */
    char first[256];        /* FFmpeg's first message about it, or "" */
    unsigned width, height; /* size of a picture that FFmpeg refused as too large, or 0 */
} Damage;

/* Increments a damage counter and keeps FFmpeg's message if it is the first. */
void damage_note(Damage *damage, int64_t *count, const LogNote *note, int averror);

/* A stream that may have been cut or joined begins with a key frame. If this many video packets
 * contain none, as in a stream with gradual refresh, it begins with the next packet. */
#define SOURCE_PACKETS_TO_KEY 600

/* Largest distance of simultaneous packets of different tracks in a file. AV_TIME_BASE units. */
#define SOURCE_INTERLEAVE_US 2000000

/* The clock of a track, AV_TIME_BASE units. */
typedef struct TrackClock {
    int64_t last;     /* time of the last packet returned; AV_NOPTS_VALUE at first */
    int64_t duration; /* its duration; 0: unknown */
    int64_t interval; /* expected distance to the next packet; 0: unknown */
    int64_t moved_by; /* the shift of its time */
    int corrupt;      /* packets left until a corrupt packet counts; 0: none */
} TrackClock;

/* Fields are read-only for callers. */
typedef struct Source {
    char *name; /* for messages: quoted, or "standard input" */
    AVFormatContext *format;
    AVStream *video;  /* the track that is equalized */
    Camera *camera;   /* NULL: not a camera */
    int live;         /* not 0: prefer the newest data */
    struct stat file; /* zeros: not a file */
    Damage damage;
    Elements elements;                    /* of a pipe */
    int64_t last_packet, last_packet_end; /* the highest positions of packets read; -1: none */
    PictureList pictures;                 /* each is a frame; empty: a single file */
    int next_picture;

    int64_t max_pixels;
    int largest_width, largest_height;      /* largest picture size, or 0 if unknown */
    unsigned refused_width, refused_height; /* size that FFmpeg refused on opening, or 0 */
    int no_video;                           /* readable, but without video */
    int fd;
    struct SharedPipe *pipe; /* source of the bytes, or NULL */
    int pipe_side;
    int read_error;              /* errno of a failed read, or 0 */
    int no_memory;               /* not 0: an allocation failed, see media_lacks_memory() */
    size_t bytes_read;           /* bytes read since source_watch_memory() */
    atomic_int patient;          /* not 0: a pipe, whose writer may be slow */
    Network *network;            /* NULL: a file */
    struct Reconnect *reconnect; /* NULL: never reopened */
    atomic_int away;             /* not 0: `reconnect` is lost now */
    atomic_int losses;           /* see source_losses() */
    const struct Source *within; /* the reconnecting source of this connection, or NULL */
    AVIOContext *io;             /* NULL: a network session or a camera */
    int (*open_other)(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                      AVDictionary **options); /* FFmpeg's default function to open a file */
    const atomic_int *stop;
    atomic_int halted; /* see source_halt() */
    int failures;      /* consecutive read errors ... */
    int64_t failed_at; /* ... and the position after the last one */
    atomic_int shares; /* see source_share() */
    unsigned stream_count;
    int wants_key; /* maximum number of video packets to drop before the next key frame */
    AVFifo *held;  /* dropped packets, used if a file has no key frame; or NULL */
    size_t held_bytes;
    TrackClock *clocks; /* by stream */
    int64_t jump;       /* added to all times since a jump, AV_TIME_BASE units */
    int64_t last_jump;  /* the value before that jump */
    int64_t clock;      /* time of the last sound or video packet, before the shift */
    int64_t latest;     /* latest time of returned packets */
} Source;

/*
 * Opens the input and chooses its video track. Errors: MEDIA_INPUT, MEDIA_USAGE (no such track);
 * *source is then NULL.
 */
int source_open(Source **source, const SourceOptions *options, MediaError *error);

/* Like source_open(), but in the background; not for a camera. */
typedef struct SourceOpening SourceOpening;
int source_opening_start(SourceOpening **opening, const SourceOptions *options, MediaError *error);

/* Waits at most `wait_ms`. Returns AVERROR(EAGAIN) if not finished, else the result of
 * source_open() with *opening set to NULL. */
int source_opening_take(SourceOpening **opening, int wait_ms, Source **source, MediaError *error);

/* Cancels opening; with `wait`, waits a moment for the thread. *opening may be NULL. */
void source_opening_cancel(SourceOpening **opening, int wait);

/* Returns 1 if a cancelled thread is still running. The program must then end with _exit(), since
 * the thread may use its data. */
int source_opening_is_abandoned(void);

/* Reports a read error, see `read_error`. */
int source_fail_to_read(const Source *source, MediaError *error);

/* Checks that its file has not changed since it was opened and is still at `path`. Returns 0, or
 * MEDIA_INPUT with a message. Any thread. */
int source_check_unchanged(const Source *source, const char *path, MediaError *error);

/* Reports frames larger than allowed or than FFmpeg supports. */
int source_refuse_size(const Source *source, unsigned width, unsigned height, MediaError *error);

/* True for covers and chapter thumbnails, which are not video. */
int source_is_picture(const AVStream *stream);

/* True for a track of another program than the video's; such tracks are not read. */
int source_is_foreign(const Source *source, const AVStream *stream);

/* Its index among the tracks of its type, from 0, not counting foreign sound and subtitles. */
int source_track_number(const Source *source, const AVStream *stream);

/* The first timestamp of the input, AV_TIME_BASE units. Positions count from here. */
int64_t source_start(const Source *source);

/* The start of a track, AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. */
int64_t source_track_start(const Source *source, const AVStream *stream);

/* With `halted` not 0, a waiting reader gives up and returns AVERROR_EXIT, until called with 0. Any
 * thread. */
void source_halt(Source *source, int halted);

/* Estimated upper bound of the video's bytes per second, from its size, rate and type of codec. */
double source_byte_rate(const Source *source);

/* The video's frame rate as declared; {0, 1}: unknown. */
AVRational source_frame_rate(const Source *source);

/* Returns 1 if it was halted or stopped. */
int source_is_stopped(const Source *source);

/* Returns 1 while a reconnecting URL is lost; how often it or a camera was lost and came back. Any
 * thread. */
int source_is_lost(const Source *source);
int source_losses(const Source *source);

/* Returns 1 if the packet is a discontinuity of a reconnecting URL or a camera, unrelated to
 * earlier packets of its track. On a loss, a URL's video gets a packet without data; on return, the
 * first packet is marked, for a URL's video a key frame. */
int source_is_discontinuity(const AVPacket *packet);

/* Returns 1 for a stream's first key frame if packets before it may be missing. Frames that refer
 * to those are incomplete. */
int source_is_joined(const AVPacket *packet);

/* Returns 1 for a still picture, also in a container for videos such as GIF and AVIF. */
int source_is_still(const Source *source);

/* The duration from the first timestamp, AV_TIME_BASE units; 0: unknown. */
int64_t source_duration(const Source *source);

/* Returns 0 if it can only be read sequentially. */
int source_can_seek(const Source *source);

/*
 * Seeks to the keyframe at or before `position` (AV_TIME_BASE units from source_start()), whose
 * packet is then the first of the video. An input that cannot seek stays at its start. Returns 1 if
 * it went to a keyframe.
 */
int source_seek(Source *source, int64_t position);

/* Returns 1 if it is a file that can be read again from its start. */
int source_can_begin_again(const Source *source);

/* Reads the next packet of any initial stream that is not discarded. Returns 0, AVERROR_EOF (also
 * after persistent read errors, which count as damage), AVERROR_EXIT when stopped, or
 * AVERROR(ENOMEM). */
int source_read(Source *source, AVPacket *packet);

/* Returns 1 for a fragmented mp4, which does not declare its length. */
int source_has_fragments(const Source *source);

/* The video track's declared number of frames, considering edit lists; 0: unknown. */
int64_t source_frame_count(const Source *source);

/* Returns 1 if this is the last video packet according to the index; 0 if there is no index. */
int source_is_last(const Source *source, const AVPacket *packet);

/* The end of the video according to the index, in its time base; AV_NOPTS_VALUE: unknown. Durations
 * are in decode order, and FFmpeg's muxer counts the last one from its own pts: the frame shown
 * last, `reordered` later, may end that much later. */
int64_t source_video_end(const Source *source, int64_t reordered);

/* Returns 1 if the declared video duration is reliable (mp4, mov, mkv, webm, flv). */
int source_declares_duration(const Source *source);

/* Returns 1 if the duration counts from time 0, not from the first timestamp (mkv, flv). */
int source_duration_is_end(const Source *source);

/* The length that a Matroska file declares for a track, AV_TIME_BASE units; 0: unknown, or more
 * than a hundred years. For such files, libavformat reports the file's length as the track's. */
int64_t source_tagged_length(const AVStream *stream);

/* Adds an owner: the last source_close() closes it. Any thread. */
Source *source_share(Source *source);

void source_close(Source **source);

/* ---- private: for source.c and source_*.c. source.c uses source_reconnect.c, which uses
 * source_open.c; all use source_packets.c ---- */

/* Call when the next packets are the first of the input. If its format can be cut anywhere, packets
 * before the first key frame are dropped. */
void source_expect_key(Source *source);

/* Detect that memory ran out since source_watch_memory() in the same thread. Demuxers ignore
 * packets they cannot allocate, or report the end. */
void source_watch_memory(Source *source);
int source_lacks_memory(const Source *source);

/* Saves errno, which allocators set, before a call that may change it. */
void source_keep_errno(Source *source);

/* Returns `time`, or AV_NOPTS_VALUE if it is more than a hundred years from 0. */
int64_t source_sane_time(int64_t time, AVRational base);

/* Counts damage that the demuxer has logged since media_log_clear(). */
void source_note_logged(Source *source);

/* Returns 1 if the format holds a single picture. */
int source_is_one_picture(const Source *source);

typedef struct Reconnect Reconnect;

/* Takes `first`, an open connection, or if NULL opens one, waiting as long as necessary. `outer` is
 * the reconnecting source, and receives its `format` and `video`. MEDIA_INPUT: stopped, or not a
 * readable video; MEDIA_USAGE. */
int source_reconnect_open(Reconnect **reconnect, const SourceOptions *options, Source *outer,
                          Source *first, MediaError *error);

/* Makes the packet one, see source_is_discontinuity(). */
void source_mark_discontinuity(AVPacket *packet);

/* Like source_read(). AVERROR_EOF: it came back with another codec, which counts as damage. */
int source_reconnect_read(Reconnect *reconnect, AVPacket *packet);

/* Also frees the `format` and `video` of the outer source. */
void source_reconnect_close(Reconnect **reconnect);

/* Creates a source with nothing open. NULL: out of memory. */
Source *source_create(const SourceOptions *options);
int source_set_name(Source *source, const char *path); /* 0 or AVERROR(ENOMEM) */

/* Chooses and checks the video of an opened input, and initializes its streams. Errors as
 * source_open(). */
int source_take_video(Source *source, const SourceOptions *options, MediaError *error);
int source_note_streams(Source *source, const SourceOptions *options, MediaError *error);

/* Implements SourceOptions.find_largest_us for codecs that may change size. */
void source_find_largest(Source *source, const SourceOptions *options);

/* source_read() and source_close() for a file or one connection. */
int source_read_own(Source *source, AVPacket *packet);
void source_free(Source **source);

/* source_is_stopped() as a callback. */
int source_stop_callback(void *source);

#endif
