/* The output: equalized frames encoded, everything else copied, one container around them. */
#ifndef LUMEQ_MEDIA_WRITER_H
#define LUMEQ_MEDIA_WRITER_H

#include <sys/stat.h>

#include "media/error.h"
#include "media/input/source.h"
#include "media/output/encoder.h"
#include "media/output/segments.h"
#include "media/output/tracks.h"

typedef struct WriterOptions {
    const char *path;       /* "-" is standard output */
    const char *format;     /* muxer name, NULL: by the path's extension; y4m for "-" */
    int overwrite;          /* a file that is there already */
    int sequence;           /* not 0: `path` is the pattern of numbered pictures */
    int any_name;           /* not 0: where there is one at the end, NAME-2.EXT and so on will do */
    const atomic_int *stop; /* not 0: give up writing into a pipe that nobody empties */
    SegmentOptions segments; /* seconds not 0: in pieces; its path is that of the output */
    int low_latency;         /* not 0: what is encoded goes out at once */
    int copy_video;          /* not 0: no frames are encoded; the packets of the video are copied */
    int count_only;          /* not 0: no file is written; what one would have is counted */
    /* Not NULL: takes the packets of the video as they are encoded, which stay the writer's.
     * Without count_only, that is all that becomes of them, and no file is written. */
    int (*take_encoded)(void *opaque, const AVPacket *packet, MediaError *error);
    void *take_opaque;
    void (*encoded)(void *opaque); /* called after each packet of the encoder; or NULL */
    void *encoded_opaque;
    int (*whole)(void *opaque, const struct stat *file, MediaError *error); /* as in OutputFile */
    void *whole_opaque;
    EncoderOptions video;
    TrackOptions tracks; /* everything else, and who takes the lines about what is adapted */
} WriterOptions;

typedef struct Writer Writer;

/*
 * Checks everything that can be known before the input is opened; touches no file. `options` and
 * what it points to must outlive the writer. `input`: what the input is, so that it is not
 * overwritten, or NULL. Errors: MEDIA_USAGE, MEDIA_OUTPUT.
 */
int writer_create(Writer **writer, const WriterOptions *options, const struct stat *input,
                  MediaError *error);

/* Decides which streams of the source are copied, and makes the source drop the rest. MEDIA_USAGE,
 * MEDIA_OUTPUT. */
int writer_map(Writer *writer, const Source *source, MediaError *error);

/* The time of the input that is 0 in the output (AV_TIME_BASE units), which frames and packets
 * count from already: chapters do from now on, too. Before the first frame. */
void writer_begin(Writer *writer, int64_t zero);

/* Not 0: the output holds one frame. */
int writer_is_picture(const Writer *writer);

/* Not 0: it is written as RGB or full-range YUV in any case. */
int writer_is_full_range(const Writer *writer);

/* Bits of the samples that frames in this format are written with; 0: not known. */
int writer_depth(const Writer *writer, enum AVPixelFormat from);

/* The encoder's name, or NULL if the video is copied. Without --vcodec, it is final when the first
 * frame is there. */
const char *writer_encoder(const Writer *writer);

/* Not 0: of frames in this format, every sample is written as it is, or more finely than in 8 bits.
 */
int writer_is_fine(const Writer *writer, enum AVPixelFormat from);

/* Not 0: its frames may be in the memory of a GPU, all of them (gpu_frame.h). */
int writer_takes_gpu_frames(const Writer *writer);

/* Encodes a frame, in order, with a time base and rising pts. The first one opens the encoder and
 * the file. Takes no reference. AVERROR_EOF: the output is a picture and has its frame already.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int writer_frame(Writer *writer, const AVFrame *frame, MediaError *error);

/* Whether its video can be encoded in parts. MEDIA_USAGE. */
int writer_check_parts(const Writer *writer, MediaError *error);

/* For a film that is encoded in parts: opens the encoder for frames like the film's first, and the
 * file, and encodes nothing. MEDIA_USAGE, MEDIA_OUTPUT. */
int writer_open_encoder(Writer *writer, const AVFrame *first, MediaError *error);

/* Of an open encoder: what stands before its packets. */
const uint8_t *writer_extradata(const Writer *writer, int *size);

/* No frame follows: takes the last packets from the encoder. MEDIA_OUTPUT. */
int writer_end_frames(Writer *writer, MediaError *error);

/* Writes a packet that such an encoder has made elsewhere, in order, which is left blank.
 * MEDIA_OUTPUT. */
int writer_encoded(Writer *writer, AVPacket *packet, MediaError *error);

/* Of an open encoder: a key frame is due after so many frames; 0: it does not say. */
int writer_key_interval(const Writer *writer);

/* Time base of those packets. */
AVRational writer_encoded_base(const Writer *writer);

/* Copies a packet of a stream that is mapped, in any order to the frames; its references are taken
 * over and it is left blank. MEDIA_OUTPUT. */
int writer_packet(Writer *writer, AVPacket *packet, MediaError *error);

/* With copy_video, instead of frames: copies a packet of the video, in order; the first one opens
 * the file. Its references are taken over and it is left blank. MEDIA_OUTPUT. */
int writer_video_packet(Writer *writer, AVPacket *packet, MediaError *error);

/*
 * Drains the encoder, completes the container and gives the file its name, or its .partial one.
 * Before the first frame there is nothing to finish: 0, and no file. MEDIA_OUTPUT: no file is left,
 * or `error` says where. A part stays unless nothing of it can be played, which `error` says; that
 * may hold what failed before.
 */
int writer_finish(Writer *writer, int partial, MediaError *error);

/* Frames that the encoder has not given out yet. */
int64_t writer_held(const Writer *writer);

/* Description of the encoded video ("HEVC Main 10, yuv420p10le"), "" before its first packet. Valid
 * until the writer is closed. */
const char *writer_video(const Writer *writer);

/* Bytes written so far; -1 before the first. */
int64_t writer_bytes(const Writer *writer);

/* Copied packets that were too damaged for the container, and are not in the output. */
int64_t writer_lost_packets(const Writer *writer);

/* Of all sound that is converted, once it is finished. */
SoundLoss writer_lost_sound(const Writer *writer);

/* Not 0: it goes into a pipe or a device, and nothing is kept of it. */
int writer_is_direct(const Writer *writer);

/* Pieces that are complete, where it writes such. */
int64_t writer_segments(const Writer *writer);

/* Once it is finished: where what was written is, or NULL; the last of pieces. Valid until the
 * writer is closed. */
const char *writer_name(const Writer *writer);

/* Frees all; a file that was not finished is removed. */
void writer_close(Writer **writer);

#endif
