/* Opens and demuxes an input: a file, standard input, a URL or a camera. */
#ifndef LUMEQ_MEDIA_SOURCE_H
#define LUMEQ_MEDIA_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
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
    const char *path; /* a file name, or with `network` a URL; "-" is standard input */
    bool network;     /* `path` is a URL that network_scheme() accepts */
    double silence_s; /* seconds without data before a connection counts as lost */
    /* > 0: reopen a URL that ends, fails or is missing, first after this many seconds. Later pauses
     * double, up to 30 times the first; for udp and rtp, all pauses are equal. */
    double reconnect_s;
    bool reconnect_live;    /* reopen only a live stream, and only after it has begun */
    int64_t max_pixels;     /* larger frames are refused */
    const atomic_int *stop; /* *stop not 0: give up; must outlive the source */
    double open_timeout_s;  /* limit for opening a file; 0: none */
    int video_track;        /* 0: the best one; N + 1: track N */
    /* frames per second; > 0: `path` is a folder of pictures or a pattern like frame%04d.png */
    double picture_rate;
    bool allow_playlists;        /* also open local files that the input references */
    const CameraOptions *camera; /* not NULL: open a camera and ignore `path` */
    struct SharedPipe *pipe;     /* not NULL: read this pipe; it must outlive the source */
    int pipe_side;               /* 0 or 1, see shared_pipe.h */
    bool low_latency;            /* prefer the newest data, as for cameras */
    bool force_dolby_vision;     /* accept Dolby Vision profile 5, whose first plane is not luma */
    /* > 0: source_open() finds the largest picture up to this position */
    int64_t find_largest_us;
    bool *answered; /* becomes true if the input is readable, even if unsuitable; or NULL */
    const struct Source *within;    /* the reconnecting source that opens this one, or NULL */
    void (*note)(const char *line); /* receives notes about choices; or NULL */
} SourceOptions;

/* Known damage of an input's packets, and of the frames decoded from them. */
typedef struct Damage {
    bool cut_off;        /* the file ends inside an element, see cut_off.h */
    int64_t packets;     /* unreadable, undecodable or flagged as corrupt */
    int64_t frames;      /* with errors in the picture */
    int64_t lost_frames; /* lost because a GPU failed */
    char first[256];     /* FFmpeg's first message about damage, or "" */
} Damage;

/* Sets damage->first if it is empty: to the note's error, or to the text of `averror`. */
void damage_note(Damage *damage, const LogNote *note, int averror);

/* If a stream's start may be missing, video packets before its first key frame are dropped, at most
 * this many. If there is no key frame among them (gradual refresh), a file then returns the dropped
 * packets after all; a URL continues with the next packet. */
#define SOURCE_PACKETS_TO_KEY 600

/* In a file, a track may be ahead of others by up to this time. AV_TIME_BASE units. */
#define SOURCE_INTERLEAVE_US 2000000

/* The clock of a track, AV_TIME_BASE units. */
typedef struct TrackClock {
    int64_t last;     /* time of the last packet returned; AV_NOPTS_VALUE at first */
    int64_t duration; /* duration of the last packet; 0: unknown */
    int64_t interval; /* expected distance to the next packet; 0: unknown */
    int64_t moved_by; /* offset that was added to the last packet's time */
    int corrupt;      /* number of next packets that may excuse a corrupt one */
} TrackClock;

/* The state of reading bytes from a file or one connection. */
typedef struct SourceBytes {
    int fd;
    AVIOContext *io;         /* NULL: a network session or a camera */
    int read_error;          /* errno of a failed read, or 0 */
    size_t count;            /* bytes read since source_watch_memory() */
    atomic_bool may_be_slow; /* the input is a pipe, whose writer may be slow */
    Elements elements;       /* to find out if the input is cut off, see cut_off.h */
    /* FFmpeg's function that opens other files */
    int (*open_other)(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                      AVDictionary **options);
} SourceBytes;

/* The state of reading. Times are AV_TIME_BASE units. */
typedef struct SourceReading {
    int64_t last_packet;     /* highest byte position of a packet; -1: none */
    int64_t last_packet_end; /* highest byte position of a packet's end; -1: none */
    int next_picture;        /* index in Source.pictures */
    int failures;            /* number of consecutive read errors */
    int64_t failed_at;       /* byte position after the last read error */
    int wants_key;           /* maximum number of video packets to drop before the next key frame */
    AVFifo *held;            /* packets to return if no key frame comes; or NULL */
    size_t held_bytes;
    TrackClock *clocks;      /* by stream */
    int64_t jump, last_jump; /* offsets to add to times after and before the latest jump */
    int64_t clock;           /* time of the last sound or video packet, before `jump` is added */
    int64_t latest;          /* latest time of returned packets */
} SourceReading;

/* Fields are read-only for callers. */
typedef struct Source {
    /* The user's choices: constant. */
    SourceOptions options; /* `path` is a copy */
    bool live;             /* prefer the newest data */
    char *name;            /* for messages: quoted, or "standard input" */

    /* The container's properties: constant once the source is open. */
    AVFormatContext *format;
    AVStream *video; /* the track that is equalized */
    unsigned stream_count;
    struct stat file;                       /* stat() of the file, pipe or device; zeros: a URL */
    PictureList pictures;                   /* files that are the frames; empty: a single file */
    int largest_width, largest_height;      /* largest picture size, or 0 if unknown */
    unsigned refused_width, refused_height; /* size that FFmpeg refused on opening, or 0 */
    bool no_video;                          /* readable, but without video */

    /* The connection. */
    Camera *camera;              /* NULL: not a camera */
    Network *network;            /* NULL: a file, a camera, or a reconnecting URL */
    struct Reconnect *reconnect; /* NULL: never reopened */
    SourceBytes bytes;           /* source_open.c writes it */

    SourceReading reading; /* source_packets.c writes it */
    Damage damage;

    /* For other threads. */
    atomic_bool halted; /* see source_halt() */
    atomic_bool away;   /* the reconnecting URL is lost now */
    atomic_int losses;  /* see source_losses() */
    atomic_int shares;  /* see source_share() */
} Source;

/* Opens the input and chooses its video track. Errors: MEDIA_INPUT, MEDIA_USAGE (no such track);
 * *source is then NULL. */
int source_open(Source **source, const SourceOptions *options, MediaError *error);

/* Opens a file or one connection in the background; not for a camera. */
typedef struct SourceOpening SourceOpening;
int source_opening_start(SourceOpening **opening, const SourceOptions *options, MediaError *error);

/* Waits at most `wait_ms`. Returns AVERROR(EAGAIN) if not finished. Otherwise sets *opening to NULL
 * and returns like source_open(). */
int source_opening_take(SourceOpening **opening, int wait_ms, Source **source, MediaError *error);

/* Cancels opening. If `wait`, waits up to 0.2 s for the thread to end. *opening may be NULL. */
void source_opening_cancel(SourceOpening **opening, bool wait);

/* True if a cancelled thread is still running. The program must then end with _exit(), since the
 * thread may still use global data. */
bool source_opening_is_abandoned(void);

/* Reports SourceBytes.read_error. Returns MEDIA_INPUT. */
int source_fail_to_read(const Source *source, MediaError *error);

/* Checks that the file has not changed since it was opened, and that no other file has replaced it
 * at `path`. Returns 0, or MEDIA_INPUT with a message. Any thread. */
int source_check_unchanged(const Source *source, const char *path, MediaError *error);

/* Reports frames that are larger than allowed, or than FFmpeg supports. Returns MEDIA_INPUT. */
int source_refuse_size(const Source *source, unsigned width, unsigned height, MediaError *error);

/* True for covers and chapter thumbnails, which are not video. */
bool source_is_picture(const AVStream *stream);

/* True for a track of another AVProgram than the video's; such tracks are not read. */
bool source_is_foreign(const Source *source, const AVStream *stream);

/* A track's index among those of its type, from 0. Foreign tracks count only if they are video. */
int source_track_number(const Source *source, const AVStream *stream);

/* The first timestamp of the input, AV_TIME_BASE units. Positions count from here. */
int64_t source_start(const Source *source);

/* The start of a track, AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. */
int64_t source_track_start(const Source *source, const AVStream *stream);

/* If `halted`, a waiting reader gives up and returns AVERROR_EXIT. Any thread. */
void source_halt(Source *source, bool halted);

/* Estimated upper bound of the video's bytes per second, from its size, rate and type of codec. */
double source_byte_rate(const Source *source);

/* The video's frame rate as declared; {0, 1}: unknown. */
AVRational source_frame_rate(const Source *source);

/* True if the source was halted, or SourceOptions.stop is set. */
bool source_is_stopped(const Source *source);

/* True while a reconnecting URL is lost. Any thread. */
bool source_is_lost(const Source *source);

/* How often a URL was lost, or a camera came back. Any thread. */
int source_losses(const Source *source);

/* True for the empty packet that reports the loss of a URL, and for the first packet of each track
 * after a URL or camera has come back. The video of a URL then begins with a key frame. */
bool source_is_discontinuity(const AVPacket *packet);

/* True for a stream's first key frame if earlier packets may be missing. */
bool source_is_joined(const AVPacket *packet);

/* True for a still picture, even if its format (GIF, AVIF) can also hold a video. */
bool source_is_still(const Source *source);

/* The duration from the first timestamp, AV_TIME_BASE units; 0: unknown. */
int64_t source_duration(const Source *source);

/* False if the input can only be read sequentially. */
bool source_can_seek(const Source *source);

/* Seeks to the key frame at or before `position` (AV_TIME_BASE units from source_start()) and
 * returns true. Without such a key frame, seeks to the start and returns false. In a picture list,
 * seeks to `position` and returns false. Also returns false if the source cannot seek. */
bool source_seek(Source *source, int64_t position);

/* True if the input can be read again from its start: a file or a seekable URL, and not live. */
bool source_can_begin_again(const Source *source);

/* Reads the next packet of any stream that existed on opening and is not discarded. Returns 0,
 * AVERROR_EOF (also after persistent read errors, which count as damage), AVERROR_EXIT (stopped) or
 * AVERROR(ENOMEM). */
int source_read(Source *source, AVPacket *packet);

/* True for a fragmented mp4, which does not declare its length. */
bool source_has_fragments(const Source *source);

/* The video track's declared number of frames, considering edit lists; 0: unknown. */
int64_t source_frame_count(const Source *source);

/* True if this is the last video packet according to the index; false if there is no index. */
bool source_is_last(const Source *source, const AVPacket *packet);

/* The end of the video according to the index, in its time base; AV_NOPTS_VALUE: unknown.
 * Corrects an end that FFmpeg's muxer declared too early by `reordered`: the time from the frame
 * decoded last to the frame shown last. */
int64_t source_video_end(const Source *source, int64_t reordered);

/* True if the declared video duration is reliable (mp4, mov, mkv, webm, flv). */
bool source_declares_duration(const Source *source);

/* True if the duration counts from time 0, not from the first timestamp (mkv, flv). */
bool source_duration_is_end(const Source *source);

/* The length that a Matroska file declares for a track, AV_TIME_BASE units; 0: unknown, or more
 * than a hundred years. (AVStream.duration is the length of the whole file.) */
int64_t source_tagged_length(const AVStream *stream);

/* Adds an owner. The last owner's source_close() closes the source. Any thread. */
Source *source_share(Source *source);

void source_close(Source **source);

/* ---- private: for source.c and source_*.c ---- */

/* Call before the first packets of the input are read. For URLs, and formats that can be cut
 * anywhere, video packets before the first key frame are then dropped. */
void source_expect_key(Source *source);

/* source_lacks_memory() is true if memory ran out since source_watch_memory() in the same thread.
 * Demuxers do not report this: they skip a packet or report the end. */
void source_watch_memory(Source *source);
bool source_lacks_memory(const Source *source);

/* Returns `time`, or AV_NOPTS_VALUE if it is more than a hundred years from 0. */
int64_t source_sane_time(int64_t time, AVRational base);

/* Counts damage that the demuxer has logged since media_log_clear(). */
void source_note_logged(Source *source);

/* True if the format holds a single picture. */
bool source_is_one_picture(const Source *source);

/* Makes `outer` a reconnecting source and sets its `format` and `video`. Takes ownership of
 * `first`, an open connection. If `first` is NULL, waits until a connection can be opened.
 * MEDIA_INPUT: stopped, or not a readable video. MEDIA_USAGE: no such track. */
int source_reconnect_open(Source *outer, Source *first, MediaError *error);

/* Makes source_is_discontinuity() true for the packet. */
void source_mark_discontinuity(AVPacket *packet);

/* Like source_read(). AVERROR_EOF: the URL came back with another codec, which counts as damage. */
int source_reconnect_read(struct Reconnect *reconnect, AVPacket *packet);

/* Also frees the `format` and `video` of the outer source. */
void source_reconnect_close(struct Reconnect **reconnect);

/* Creates a source with nothing open. NULL: out of memory. */
Source *source_create(const SourceOptions *options);
int source_set_name(Source *source, const char *path); /* 0 or AVERROR(ENOMEM) */

/* Chooses and checks the video of an opened input, and calls source_note_streams(). Same errors as
 * source_open(). */
int source_take_video(Source *source, MediaError *error);

/* Initializes the state of the streams. MEDIA_INPUT: out of memory. */
int source_note_streams(Source *source, MediaError *error);

/* source_open() for a file or one connection. */
int source_open_connection(Source **source, const SourceOptions *options, MediaError *error);

/* Implements SourceOptions.find_largest_us for codecs that may change size. */
void source_find_largest(Source *source);

/* source_read() and source_close() for a file or one connection. */
int source_read_own(Source *source, AVPacket *packet);
void source_free(Source **source);

/* source_is_stopped() as a callback. */
int source_stop_callback(void *source);

#endif
