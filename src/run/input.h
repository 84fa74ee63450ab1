/*
 * The video of a source as frames: a thread reads packets (demuxer.h), another one decodes them
 * into a bounded queue.
 *
 * To write a file, the frames of a part of the source come with the packets to copy, in order of
 * time. A window starts at any position, as often as it likes; sound and subtitles are read from
 * the demuxer. If its source is live, a newer frame replaces the one that waits.
 */
#ifndef LUMEQ_RUN_INPUT_H
#define LUMEQ_RUN_INPUT_H

#include <stdbool.h>

#include "media/error.h"
#include "media/input/damage.h"
#include "media/input/decoder.h"
#include "media/input/demuxer.h"
#include "run/queue.h"
#include "run/run_frame.h"

/* For callers that read a film in pieces: each piece has the frames and times of the whole film. */
typedef struct InputSpan {
    /* Where to start decoding, as in source_seek(); -1: at the start. Earlier frames may come, and
     * those that refer to frames before the key frame may be broken. */
    int64_t seek_us;
    int64_t zero; /* see input_zero() */
    /* In the track's time base, not shifted: damage before this frame does not count; frames from
     * there on are left out. */
    int64_t begin_pts, end_pts;
} InputSpan;

typedef struct InputOptions {
    int64_t from_us; /* position from the start of the source, to write a file; -1: its start */
    int64_t to_us;   /* drops frames from this position on; -1: no limit */
    int64_t frames;  /* at most, after each start; -1: all */
    int range;       /* AVCOL_RANGE_* to override the stream's, or AVCOL_RANGE_UNSPECIFIED */
    DeinterlaceMode deinterlace;
    DecoderOptions decoder;
    int copy;              /* true: reads the packets of other streams, too */
    const InputSpan *span; /* or NULL */
    /* True: decodes only the first frame; packets come as if all frames were decoded. The part ends
     * at `film_end`, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: at its usual end. */
    int packets_only;
    int64_t film_end;
    /* True: for a window, which ignores the four options before this one. */
    int shown;
    void (*wake)(void *opaque); /* a thread has put a frame, or has ended; or NULL */
    void *opaque;
} InputOptions;

/* The first frame in a window. Positions are AV_TIME_BASE units from the start of the source. */
typedef struct InputStart {
    int64_t position; /* the frame at this position; AV_NOPTS_VALUE: the first one of all */
    int before;       /* true: the last frame that begins before the position */
    int preview;      /* true: sends the first decoded frame before it, as a preview */
} InputStart;

typedef struct Input Input;

/* Seeks to the part and opens the decoder; no thread runs. The source and the memory must outlive
 * it. MEDIA_INPUT. */
int input_open(Input **input, Source *source, const InputOptions *options, MediaError *error);

/* Starts the threads, unless they run. `start`: of a window, else NULL. MEDIA_INPUT. */
int input_start(Input *input, const InputStart *start, MediaError *error);

/*
 * The next frame or packets, which are the caller's: as queue_take(). AVERROR_EOF: the end of the
 * part or of the source, or the source is stopped; AVERROR_EXIT: the input is. Any thread. Errors
 * of the decoder.
 *
 * For a file, times are shifted so that the first of all tracks in use starts at 0.
 */
int input_take(Input *input, Frame **frame, QueueWait wait, MediaError *error);

/* Returns what input_take() with QUEUE_TRY would, without taking the frame. */
int input_look(Input *input, MediaError *error);

/* Has the sound and subtitles of a window; the input starts and stops it. */
Demuxer *input_demuxer(const Input *input);

/* True: skips frames that no other frame refers to. Any thread. */
void input_hurry(Input *input, int hurry);

/* Affects frames decoded from now on, as InputOptions.range. Any thread. */
void input_set_range(Input *input, int range);

/* While the input runs, only for what decoder.h allows any thread. */
Decoder *input_decoder(const Input *input);
const DecoderOptions *input_decoding(const Input *input);

/* The time of the source that is 0 in the output, AV_TIME_BASE units; 0 in a window. After the
 * first input_take(), any thread. */
int64_t input_zero(const Input *input);

/* Duration of the part in seconds, and its number of frames; 0 if unknown. Before the start. */
double input_duration(const Input *input);
int64_t input_frames(const Input *input);

/* Ends the threads, also while they wait, and frees the queued frames. Whoever waits in
 * input_take() gets AVERROR_EXIT. */
void input_stop(Input *input);

/* ---- while stopped ---- */

/* In a window, also after AVERROR_EOF: true if the requested part has ended before the source. */
bool input_is_part(const Input *input);

/* Fills `text` with a sentence about the damage, or returns 0 if none was found. `lost`: frames
 * lost after decoding. */
int input_damage(const Input *input, int64_t lost, char *text, size_t size);

/* The counts for that sentence. */
DamageReport input_report(const Input *input);

/* Call at the end if no frame came: MEDIA_INPUT if the source could not be read, else 0. */
int input_explain(const Input *input, MediaError *error);

/* Stops it if necessary. *input may be NULL. */
void input_close(Input **input);

#endif
