/* A file, standard input or a URL, demuxed: what is in it and its packets. */
#ifndef LUMEQ_MEDIA_SOURCE_H
#define LUMEQ_MEDIA_SOURCE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include <libavformat/avformat.h>
#include <libavutil/fifo.h>

#include "media/camera/camera.h"
#include "media/error.h"
#include "media/input/network.h"
#include "media/input/picture_list.h"
#include "media/log.h"

typedef struct SourceOptions {
    const char *path;   /* a plain file name, no protocol; "-" is standard input */
    int network;        /* not 0: `path` is a URL that network_scheme() knows */
    double silence_s;   /* of the network, until it counts as lost */
    double reconnect_s; /* of source_open(): not 0: a URL that ends, fails or is not there is opened
                         * anew, after pauses from so long to 30 times that */
    int64_t max_pixels; /* frames with more are refused */
    const atomic_int *stop;      /* not 0: give up; it outlives all that is opened */
    double open_timeout_s;       /* of files, until it is given up; 0: none */
    int video_track;             /* 0: the best one; else its number, plus 1 */
    double picture_rate;         /* not 0: `path` is a folder of pictures, or a name like
                                    frame%04d.png, and so many of them are a second */
    int allow_playlists;         /* not 0: other local files that the input names are opened too */
    const CameraOptions *camera; /* not NULL: a camera, and `path` is not looked at */
    struct SharedPipe *pipe; /* not NULL: two sources read this pipe, see shared_pipe.h; ... */
    int pipe_side;           /* ... this one as 0 or 1. The pipe outlives both */
    int low_latency;             /* not 0: the newest is what counts; of cameras it always is */
    int force_dolby_vision;      /* not 0: profile 5 is taken, though its first plane is not luma */
    int64_t find_largest_us; /* of source_open(): finds Source.largest_width up to this position */
    int *no_video;           /* gets 1 where it can be read and is no video; or NULL */
    int *answered;           /* gets 1 where there was something to be read; or NULL */
    void (*note)(const char *line); /* takes one line about what was chosen; or NULL */
} SourceOptions;

/* What is known to be wrong with the packets of the input, and with the frames in them. */
typedef struct Damage {
    int64_t read_errors, corrupt_packets, decode_errors, corrupt_frames;
    int64_t lost_frames;    /* that a GPU had failed at, and software could not go back to */
    char first[256];        /* FFmpeg's first word on it, or "" */
    unsigned width, height; /* of a picture that was too large for it, or 0 */
} Damage;

/* Counts a damage; what FFmpeg said of it is kept where it is the first. */
void damage_note(Damage *damage, int64_t *count, const LogNote *note, int averror);

/* A stream that may have been joined or cut in the middle begins with a key frame. If the first
 * packets of the video contain none, as in a stream that refreshes its pictures part by part, it
 * begins with the next packet. */
#define SOURCE_PACKETS_TO_KEY 600

/* How far the tracks of a file may be apart in it. AV_TIME_BASE units. */
#define SOURCE_INTERLEAVE_US 2000000

/* A subtitle this long after everything else is damage. AV_TIME_BASE units. */
#define SOURCE_STRAY_US INT64_C(3600000000)

/* Of a track, AV_TIME_BASE units. */
typedef struct TrackClock {
    int64_t last;     /* of the packet that was handed out last; AV_NOPTS_VALUE: none yet */
    int64_t duration; /* of that packet, 0 = unknown */
    int64_t interval; /* the next one is due then, after it; 0 = unknown */
    int64_t pos, end; /* of that packet, and where it ends before anything is added */
    int64_t moved_by; /* what was added to its time */
    int corrupt;      /* packets until a packet marked as corrupt counts; 0: none was */
} TrackClock;

/* How far a track has been read: after source_restart(), packets up to here are dropped. */
typedef struct TrackMark {
    int64_t time, latest; /* of the last packet, and the latest of all; AV_NOPTS_VALUE: unknown */
    int64_t pos;
    int size;  /* -1: nothing was read yet */
    int again; /* not 0: dropping them now */
} TrackMark;

#define SOURCE_NO_MARK ((TrackMark){AV_NOPTS_VALUE, AV_NOPTS_VALUE, -1, -1, 0})

/* Fields are to be read only. */
typedef struct Source {
    char *name; /* for messages: in quotes, or "standard input" */
    AVFormatContext *format;
    AVStream *video;  /* the track that is equalized */
    Camera *camera;   /* NULL: it is none */
    int live;         /* not 0: the newest is what counts */
    struct stat file; /* zeros: it is none */
    Damage damage;
    PictureList pictures; /* each is a frame; empty: it is a file of its own */
    int next_picture;

    int64_t max_pixels;
    int largest_width, largest_height;      /* of the pictures, where it is known, else 0 */
    unsigned refused_width, refused_height; /* that FFmpeg found too large at opening, or 0 */
    int no_video;                           /* it can be read, and has none */
    int fd;
    struct SharedPipe *pipe; /* that the bytes come from, or NULL */
    int pipe_side;
    int read_error;              /* errno of a read that failed, or 0 */
    int no_memory;               /* not 0: an allocator said so, see media_lacks_memory() */
    size_t bytes_read;           /* meanwhile */
    atomic_int patient;          /* not 0: a pipe, whose writer takes its time */
    Network *network;            /* NULL: it is a file */
    struct Reconnect *reconnect; /* NULL: it does not come back */
    const struct Source *within; /* that it is a connection of, and stopped with; or NULL */
    AVIOContext *io;             /* NULL: a session of the network, or a camera */
    int (*open_other)(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                      AVDictionary **options); /* FFmpeg's own way to open a file */
    const atomic_int *stop;
    atomic_int halted; /* see source_halt() */
    int failures;      /* read errors in a row ... */
    int64_t failed_at; /* ... and where the last one left off: it may come again */
    atomic_int shares; /* see source_share() */
    unsigned stream_count;
    int wants_key; /* maximum number of video packets to drop before the next key frame */
    AVFifo *held;  /* dropped packets, used if a file has no key frame; or NULL */
    size_t held_bytes;
    AVFifo *ahead;      /* packets that are read already, see video_count_packets(); or NULL */
    int *counted;       /* by stream: video packets among them; or NULL */
    TrackClock *clocks; /* by stream */
    TrackMark *marks;   /* by stream */
    int again;     /* after source_restart(), until the video gets past where it was: damage found
                      meanwhile is counted already */
    int64_t *gaps; /* positions of mp4 fragments before which others are missing */
    int gap_count;
    int64_t jump;      /* added to all times since one has jumped, AV_TIME_BASE units */
    int64_t last_jump; /* what was added before that */
    int64_t clock;     /* of the last packet of sound or video, before that is added */
    int64_t latest;    /* of the packets that were handed out */
} Source;

/*
 * Opens the input and picks its video track. Errors: MEDIA_INPUT, MEDIA_USAGE (no such track);
 * *source is then NULL.
 */
int source_open(Source **source, const SourceOptions *options, MediaError *error);

/* As source_open(), beside the caller's other work; not for a camera. */
typedef struct SourceOpening SourceOpening;
int source_opening_start(SourceOpening **opening, const SourceOptions *options, MediaError *error);

/* Waits `wait_ms` at most. AVERROR(EAGAIN): not yet; else as source_open(), and *opening is NULL.
 */
int source_opening_take(SourceOpening **opening, int wait_ms, Source **source, MediaError *error);

/* Gives it up: it is closed as soon as it can be, for which this waits a moment, if `wait`. NULL is
 * allowed inside. */
void source_opening_cancel(SourceOpening **opening, int wait);

/* Not 0: a thread goes on with what was given up. A program that ends has to leave by _exit() then,
 * not to take from it what it uses. */
int source_is_left_opening(void);

/* The sentence about bytes that could not be read: see `read_error`. */
int source_fail_to_read(const Source *source, MediaError *error);

/* Whether its file is no longer what it was when it was opened, or `path` another one: 0, or
 * MEDIA_INPUT with the sentence. Any thread. */
int source_is_changed(const Source *source, const char *path, MediaError *error);

/* The sentence about frames that are larger than what is allowed, or than what FFmpeg can do. */
int source_refuse_size(const Source *source, unsigned width, unsigned height, MediaError *error);

/* Not 0: a cover, or a preview of a chapter; no video. */
int source_is_picture(const AVStream *stream);

/* Not 0: a track of other programs than the video's, which is not read. */
int source_is_foreign(const Source *source, const AVStream *stream);

/* Its number among the tracks of its kind, from 0, without foreign ones of sound and subtitles. */
int source_track_number(const Source *source, const AVStream *stream);

/* Where the timestamps of the input begin, in AV_TIME_BASE units: positions are counted from here.
 */
int64_t source_start(const Source *source);

/* Where a track begins to be heard or seen, in AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. */
int64_t source_track_start(const Source *source, const AVStream *stream);

/* Not 0: whoever reads it gives up waiting and answers AVERROR_EXIT, until it is 0 again. Any
 * thread.
 */
void source_halt(Source *source, int halted);

/* Bytes a second that its video takes at most, estimated from its size, rate and kind of codec. */
double source_byte_rate(const Source *source);

/* Frames a second of its video, as far as the input tells; {0, 1}: it does not. */
AVRational source_frame_rate(const Source *source);

/* Whether a frame is as large as those of the pictures before it, which those of one video have to
 * be. 0 or MEDIA_INPUT. */
int source_check_picture(const Source *source, const AVFrame *frame, int width, int height,
                         MediaError *error);

/* Not 0: it was halted, or told to stop. */
int source_is_stopped(const Source *source);

/* Not 0: a URL that comes back, and is waited for. Any thread. */
int source_is_away(const Source *source);

/* Of such a URL, not 0: what follows in the packet's track, itself included, has nothing to do with
 * what was before. It was lost, which the video alone tells, and the packet has no data; or it is
 * back, the video with a key frame. */
int source_is_return(const AVPacket *packet);

/* Not 0: the key frame that a stream begins with, if packets before it may be missing. Frames that
 * refer to those are incomplete. */
int source_is_joined(const AVPacket *packet);

/* Not 0: a picture, not a video: also in a container of videos, as GIF and AVIF are. */
int source_is_still(const Source *source);

/* From where its timestamps begin to its end, AV_TIME_BASE units; 0 where that is not known. */
int64_t source_duration(const Source *source);

/* 0: it can only be read from front to back. */
int source_can_seek(const Source *source);

/*
 * Goes to where the video can be decoded from to show `position` (AV_TIME_BASE units, from
 * source_start()): a keyframe at or before it, its packet the first of the video that is read then.
 * An input that cannot do that stays at its start. Returns not 0 if it went to a keyframe.
 */
int source_seek(Source *source, int64_t position);

/* Not 0: source_restart() works. */
int source_can_restart(const Source *source);

/*
 * Reads the video again from a keyframe at or before `position` (as source_seek(); 0 = the start of
 * the input). Other tracks continue where they were: their packets that were already read are
 * dropped. To miss none, `position` must be where reading began, or SOURCE_INTERLEAVE_US before the
 * last packet read.
 */
void source_restart(Source *source, int64_t position);

/*
 * Shows `take` the packets of subtitles that lie before where source_seek() goes for `position`, up
 * to 10 s and 16 MB of the file: what began there may still be to be seen. The packets are the
 * source's. Only in files that have subtitles that are not discarded. A source_seek() has to
 * follow.
 */
void source_look_back(Source *source, int64_t position,
                      void (*take)(void *opaque, const AVPacket *packet), void *opaque);

/* The next packet of any stream that was there at the start and is not discarded: 0, AVERROR_EOF
 * (also after read errors that do not end, which are counted as damage), AVERROR_EXIT when stopped,
 * AVERROR(ENOMEM).
 */
int source_read(Source *source, AVPacket *packet);

/* Lists what an mp4 has outside of its tracks, see mp4_boxes_foreign(). */
void source_foreign(const Source *source, char *text, size_t size);

/* Not 0: an mp4 in fragments, nothing of which says how many there are. */
int source_has_fragments(const Source *source);

/* Frames the container says the video track shows, edit lists considered; 0 where it does not. */
int64_t source_frame_count(const Source *source);

/* True if the index says that no packet of the video follows this one; 0 if there is none. */
int source_is_last(const Source *source, const AVPacket *packet);

/* Where the video ends by that index, in its time base; AV_NOPTS_VALUE: unknown. Samples have their
 * lengths in decode order, and FFmpeg's muxer counts the last one from its own pts: the frame that
 * is shown last, `reordered` later, may end as much later. */
int64_t source_video_end(const Source *source, int64_t reordered);

/* Not 0: its video duration can be relied on (mp4, mov, mkv, webm, flv). */
int source_declares_duration(const Source *source);

/* Not 0: the duration is counted from time 0, not from where the timestamps begin (mkv, flv). */
int source_duration_is_end(const Source *source);

/* The same one, for an owner more: it is closed by the last of them. Any thread. */
Source *source_share(Source *source);

void source_close(Source **source);

/* ---- inside: for source.c and source_*.c alone, of which source.c uses source_reconnect.c, that
 * source_open.c, and all of them source_packets.c ---------------------------------------------- */

/* The next packets are the first of the input. If it is of a kind that can be joined or cut
 * anywhere, those before the first key frame are dropped. */
void source_expect_key(Source *source);

/* Whether there was no memory for something since source_watch_memory(), by the same thread.
 * Demuxers go on without a packet that they had no memory for, or tell it as the end. */
void source_watch_memory(Source *source);
int source_lacks_memory(const Source *source);

/* Keeps what allocators have left in errno, before a call that may change it. */
void source_keep_errno(Source *source);

/* Returns `time`, or AV_NOPTS_VALUE if it is more than a hundred years from 0. */
int64_t source_sane_time(int64_t time, AVRational base);

/* Notes damage if the demuxer has logged more than `before` errors since media_log_clear(). */
void source_note_logged(Source *source, int before);

/* Not 0: by its format, the file holds a picture and nothing else. */
int source_is_one_picture(const Source *source);

typedef struct Reconnect Reconnect;

/* Opens the first connection, for which it waits as long as it takes. `outer` is the source that is
 * made of it, and gets its `format` and `video`. MEDIA_INPUT: stopped, or what is there is no video
 * that can be read; MEDIA_USAGE. */
int source_reconnect_open(Reconnect **reconnect, const SourceOptions *options, Source *outer,
                          MediaError *error);

/* As source_read(). AVERROR_EOF: it has come back with another codec, which is noted as damage. */
int source_reconnect_read(Reconnect *reconnect, AVPacket *packet);

/* Any thread. */
int source_reconnect_is_away(const Reconnect *reconnect);

/* The `format` and `video` of the outer source go with it. */
void source_reconnect_close(Reconnect **reconnect);

/* A source with nothing open yet; NULL: there is no memory. */
Source *source_create(const SourceOptions *options);
int source_set_name(Source *source, const char *path); /* 0 or AVERROR(ENOMEM) */

/* Chooses and checks the video of what is open, and notes the streams. As source_open(). */
int source_take_video(Source *source, const SourceOptions *options, MediaError *error);
int source_note_streams(Source *source, const SourceOptions *options, MediaError *error);

/* Reads ahead for SourceOptions.find_largest_us, where pictures may get larger. */
void source_find_largest(Source *source, const SourceOptions *options);

/* source_read() and source_close() of a file or one connection. */
int source_read_own(Source *source, AVPacket *packet);
void source_free(Source **source);

/* source_is_stopped() for those who want a callback. */
int source_stop_callback(const void *source);

#endif
