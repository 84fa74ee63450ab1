/*
 * Turns the video of a source into frames: one thread reads packets (demuxer.h), another one
 * decodes them into a bounded queue.
 *
 * A run that writes a file gets the frames of a part of the source and the packets to copy, in
 * order of time. A window may restart at any position, and reads sound and subtitles from the
 * demuxer. If its source is live, a newer frame replaces the waiting one.
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

/* One run's span of a film that several runs read. Frames and times equal the whole film's. */
typedef struct InputSpan {
    /* Where to start decoding, as in source_seek(); -1: at the start. Frames before this position
     * may come out, and they may be broken if they refer to frames before the key frame. */
    int64_t seek_us;
    int64_t zero; /* see input_zero() */
    /* In the track's time base, not shifted. Damage before the frame at begin_pts does not count;
     * frames from end_pts on are left out. */
    int64_t begin_pts, end_pts;
} InputSpan;

typedef struct InputOptions {
    int64_t from_us; /* drops frames before this position of the source; -1: none */
    int64_t to_us;   /* drops frames from this position on; -1: no limit */
    int64_t frames;  /* maximum number of frames after each start; -1: all */
    int range;       /* AVCOL_RANGE_* to override the stream's, or AVCOL_RANGE_UNSPECIFIED */
    DeinterlaceMode deinterlace;
    DecoderOptions decoder;
    int copy;              /* true: returns the packets of other streams, too */
    const InputSpan *span; /* or NULL */
    /* True: decodes only the first frame; packets come as if all frames were decoded. The part ends
     * at `film_end`, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: at its usual end. */
    int packets_only;
    int64_t film_end;
    int shown; /* true: for a window; from_us, copy, span, packets_only and film_end are ignored */
    void (*wake)(void *opaque); /* called when a frame is queued or decoding has ended; or NULL */
    void *opaque;
} InputOptions;

/* The first frame in a window. Positions are AV_TIME_BASE units from the start of the source. */
typedef struct InputStart {
    int64_t position; /* the frame at this position; AV_NOPTS_VALUE: the input's first frame */
    int before;       /* true: instead, the last frame that begins before the position */
    int preview;      /* true: if an earlier frame is decoded first, sends it as a preview */
} InputStart;

typedef struct Input Input;

/* Seeks to the part and opens the decoder; starts no thread. The source and the decoder's memory
 * must outlive the input. MEDIA_INPUT. */
int input_open(Input **input, Source *source, const InputOptions *options, MediaError *error);

/* Starts the threads, unless they run. `start`: for a window; else NULL. MEDIA_INPUT. */
int input_start(Input *input, const InputStart *start, MediaError *error);

/*
 * Takes the next frame or packets, which the caller then owns. Returns like queue_take();
 * AVERROR_EOF: the part or the source has ended, or the source was stopped; AVERROR_EXIT: the input
 * was stopped (in a window: AVERROR_EOF); or a fault with `error` filled. Any thread.
 *
 * For a file, times are shifted so that the earliest track in use starts at 0.
 */
int input_take(Input *input, Frame **frame, QueueWait wait, MediaError *error);

/* Returns what input_take() with QUEUE_TRY would, without taking the frame. */
int input_look(Input *input, MediaError *error);

/* The demuxer, which has the sound and subtitles of a window; the input starts and stops it. */
Demuxer *input_demuxer(const Input *input);

/* While `hurry` is true, skips frames that no other frame refers to. Any thread. */
void input_hurry(Input *input, int hurry);

/* Changes InputOptions.range for frames decoded from now on. Any thread. */
void input_set_range(Input *input, int range);

/* While the input runs, call only those functions on its decoder that decoder.h allows for any
 * thread. */
Decoder *input_decoder(const Input *input);
const DecoderOptions *input_decoding(const Input *input);

/* The time of the source that is 0 in the output, AV_TIME_BASE units; 0 in a window. Call after
 * the first input_take(). Any thread. */
int64_t input_zero(const Input *input);

/* Duration of the part in seconds, and its number of frames; 0: unknown. Call before the start. */
double input_duration(const Input *input);
int64_t input_frames(const Input *input);

/* Ends the threads, even if they wait, and frees the queued frames. A waiting input_take() returns
 * as described there. */
void input_stop(Input *input);

/* ---- while stopped ---- */

/* True if the requested part has ended before the source. In a window, may also be called
 * after AVERROR_EOF. */
bool input_is_part(const Input *input);

/* Fills `text` with a sentence about the damage, or returns 0 if none was found. `lost`: frames
 * lost after decoding. */
int input_damage(const Input *input, int64_t lost, char *text, size_t size);

/* The counts for that sentence. */
DamageReport input_report(const Input *input);

/* Call at the end if no frame came: MEDIA_INPUT if the source could not be read, else 0. */
int input_explain(const Input *input, MediaError *error);

/* Stops the input if necessary. *input may be NULL. */
void input_close(Input **input);

#endif
