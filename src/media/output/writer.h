/* Writes the output: encodes equalized frames, copies or converts all other tracks, and puts them
 * into one container. */
#ifndef LUMEQ_MEDIA_WRITER_H
#define LUMEQ_MEDIA_WRITER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "media/error.h"
#include "media/input/source.h"
#include "media/output/encoder.h"
#include "media/output/segments.h"
#include "media/output/tracks.h"

typedef struct WriterOptions {
    const char *path;        /* "-" is standard output */
    const char *format;      /* muxer name; NULL: by the path's extension, y4m for "-" */
    int overwrite;           /* replace an existing file */
    int sequence;            /* not 0: `path` is a pattern for numbered pictures */
    int any_name;            /* not 0: if `path` exists, use NAME-2.EXT and so on */
    const atomic_int *stop;  /* value not 0: stop waiting for a pipe's reader; or NULL */
    SegmentOptions segments; /* seconds > 0: write segments; segments.path equals `path` */
    int low_latency;         /* not 0: write packets immediately */
    int copy_video;          /* not 0: copy the video's packets instead of encoding frames */
    int count_only;          /* not 0: write no file, only count its bytes */
    /* If not NULL, receives each encoded video packet; the writer still owns the packet. Then no
     * file is written, but count_only still counts bytes. */
    int (*take_encoded)(void *opaque, const AVPacket *packet, MediaError *error);
    void *take_opaque;
    void (*encoded)(void *opaque); /* called after each encoded packet; or NULL */
    void *encoded_opaque;
    int (*whole)(void *opaque, const struct stat *file, MediaError *error); /* see OutputFile */
    void *whole_opaque;
    EncoderOptions video;
    TrackOptions tracks; /* the other tracks, and the callback for notes */
} WriterOptions;

typedef struct Writer Writer;

/*
 * Call before the input is opened. Checks the options as far as possible, and changes no file.
 * `options` and all it points to must outlive the writer. `input`: the input file, which the output
 * must not overwrite; or NULL. Errors: MEDIA_USAGE, MEDIA_OUTPUT.
 */
int writer_create(Writer **writer, const WriterOptions *options, const struct stat *input,
                  MediaError *error);

/* Decides which streams are written, and makes the source discard the others. MEDIA_USAGE,
 * MEDIA_OUTPUT. */
int writer_map(Writer *writer, const Source *source, MediaError *error);

/* Shifts the chapters so that input time `zero` (AV_TIME_BASE units) becomes 0 in the output. The
 * caller shifts the times of frames and packets itself. Call before the first frame. */
void writer_set_start(Writer *writer, int64_t zero);

/* True if the output holds a single picture. */
bool writer_is_picture(const Writer *writer);

/* True if every frame is written as RGB or full-range YUV. */
bool writer_is_full_range(const Writer *writer);

/* Bits per sample in the output, for frames in format `from`; 0: unknown. */
int writer_depth(const Writer *writer, enum AVPixelFormat from);

/* The encoder's name, or NULL if the video is copied. Without --vcodec, the writer may still choose
 * another encoder at the first frame. */
const char *writer_encoder(const Writer *writer);

/* True if frames in format `from` are written losslessly or with more than 8 bits. */
bool writer_is_precise(const Writer *writer, enum AVPixelFormat from);

/* True if writer_frame() accepts frames in GPU memory (gpu_frame.h). */
bool writer_takes_gpu_frames(const Writer *writer);

/* Encodes a frame, which needs a time base and a pts above the previous frame's. The first frame
 * opens the encoder and the file. The caller keeps the frame. AVERROR_EOF: the output is a picture
 * and already has its frame. MEDIA_USAGE, MEDIA_OUTPUT, and MEDIA_INPUT as for encoder_open(). */
int writer_frame(Writer *writer, const AVFrame *frame, MediaError *error);

/* Opens the encoder and the file as writer_frame() does for this first frame, but encodes nothing.
 * For a film that is encoded in parts. Errors as for writer_frame(). */
int writer_open_encoder(Writer *writer, const AVFrame *first, MediaError *error);

/* The open encoder's extradata (its global headers). */
const uint8_t *writer_extradata(const Writer *writer, int *size);

/* Flushes the encoder; no frame may follow. MEDIA_OUTPUT. */
int writer_end_frames(Writer *writer, MediaError *error);

/* Writes the next packet of any encoder with these settings; leaves it blank. MEDIA_OUTPUT. */
int writer_encoded(Writer *writer, AVPacket *packet, MediaError *error);

/* Time base of the encoder's packets. */
AVRational writer_encoded_base(const Writer *writer);

/* Copies or converts a packet of another track; leaves it blank. Ignores unmapped streams. Returns
 * MEDIA_OUTPUT, or MEDIA_INPUT if too many packets come before the first frame. */
int writer_packet(Writer *writer, AVPacket *packet, MediaError *error);

/* True if the container can hold sound. */
bool writer_takes_sound(const Writer *writer);

/* Like writer_packet(), for a packet of live sound (TrackOptions.live_channels). */
int writer_live_sound(Writer *writer, AVPacket *packet, MediaError *error);

/* Used instead of writer_frame() with copy_video: copies the video's next packet and leaves it
 * blank. The first packet opens the file. MEDIA_OUTPUT. */
int writer_video_packet(Writer *writer, AVPacket *packet, MediaError *error);

/*
 * Flushes the encoder, completes the file and gives it its final name. If no frame was written,
 * returns 0 and leaves no file. MEDIA_OUTPUT: no file is left, or `error` contains its path.
 * `partial`: the run ended early, so the name is NAME.partial.EXT. `error` may already hold the
 * reason. If the partial file cannot be played, it is deleted, and `error` says so.
 */
int writer_finish(Writer *writer, int partial, MediaError *error);

/* Number of frames that the encoder still holds. */
int64_t writer_held(const Writer *writer);

/* Description of the encoded video ("HEVC Main 10, yuv420p10le"), "" before its first packet. Valid
 * until the writer is closed. */
const char *writer_video(const Writer *writer);

/* Bytes written so far; -1 if no file was opened. */
int64_t writer_bytes(const Writer *writer);

/* Losses of the other tracks; complete after writer_finish(). */
TrackLosses writer_losses(const Writer *writer);

/* True if the output is a pipe or a device. */
bool writer_is_direct(const Writer *writer);

/* Totals of the segments; all 0 without segments. */
SegmentTotals writer_segments(const Writer *writer);

/* Path of the finished file, last segment or sequence; else NULL. Valid until writer_close(). */
const char *writer_name(const Writer *writer);

/* Frees everything and removes an unfinished file. */
void writer_close(Writer **writer);

#endif
