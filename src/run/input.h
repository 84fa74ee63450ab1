/*
 * Turns the video of a source into frames: one thread reads packets (demuxer.h), another one
 * decodes them into a bounded queue.
 *
 * A run that writes a file gets the frames of a part of the source and the packets to copy, in
 * order of time. A window may start the input again at any position, and reads sound and subtitles
 * from the demuxer. In a window, a newer frame of a live source replaces the waiting one.
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

/* The span of a film that one of several runs reads. Its frames and times are those of one run over
 * the whole film. */
typedef struct InputSpan {
    /* Where to start decoding, as in source_seek(); -1: at the start. The first frames may lie
     * before this position, and are broken if they refer to frames before the key frame. */
    int64_t seek_us;
    int64_t zero; /* see input_zero() */
    /* Times of the source in the track's time base. Damage before the frame at begin_pts does not
     * count. Frames from end_pts on are left out. */
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
    /* True: decodes only the first frame, but returns the packets of the whole part. Without to_us,
     * the part ends at `film_end` (source time in AV_TIME_BASE units), unless AV_NOPTS_VALUE. */
    int packets_only;
    int64_t film_end;
    int shown; /* true: for a window; from_us, copy, span, packets_only and film_end are ignored */
    void (*wake)(void *opaque); /* called when a frame is queued or decoding has ended; or NULL */
    void *opaque;
} InputOptions;

/* Which frame of a window comes first. */
typedef struct InputStart {
    int64_t position; /* AV_TIME_BASE units from the source's start; AV_NOPTS_VALUE: do not seek */
    int before;  /* false: the frame shown at `position`; true: the last one that begins before */
    int preview; /* true: if an earlier frame is decoded first, sends it as a preview */
} InputStart;

typedef struct Input Input;

/* Seeks to the part and opens the decoder; starts no thread. The source and DecoderOptions.memory
 * must outlive the input. Error: MEDIA_INPUT. */
int input_open(Input **input, Source *source, const InputOptions *options, MediaError *error);

/* Starts the threads, unless they run. `start`: for a window; else NULL. Error: MEDIA_INPUT. */
int input_start(Input *input, const InputStart *start, MediaError *error);

/* Takes the next frame or packets, which the caller then owns. Any thread. Returns 0,
 * AVERROR(EAGAIN) (only with QUEUE_TRY), AVERROR_EOF at the end or if the source was stopped, or a
 * MEDIA_* error. After input_stop(), returns AVERROR_EXIT, or AVERROR_EOF in a window.
 *
 * For a file, times are shifted so that the earliest track in use starts at 0. */
int input_take(Input *input, Frame **frame, QueueWait wait, MediaError *error);

/* Returns what input_take() with QUEUE_TRY would, without taking the frame. */
int input_look(Input *input, MediaError *error);

/* The demuxer, from which a window reads sound and subtitles. The input starts and stops it. */
Demuxer *input_demuxer(const Input *input);

/* Nonzero: from now on skips frames that no other frame refers to. Any thread. */
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

/* Ends the threads and a waiting input_take(), and frees the queued frames. */
void input_stop(Input *input);

/* ---- while stopped ---- */

/* True if the part has ended before the source. In a window, also allowed after AVERROR_EOF. */
bool input_is_part(const Input *input);

/* Fills `text` with a sentence about damage; returns 0 if none was found. `lost`: number of frames
 * lost after decoding. */
int input_damage(const Input *input, int64_t lost, char *text, size_t size);

/* The counts of input_damage(), without `lost`. */
DamageReport input_report(const Input *input);

/* Call at the end if no frame came. Returns MEDIA_INPUT if the source could not be read, else 0. */
int input_explain(const Input *input, MediaError *error);

/* Stops the input if necessary. *input may be NULL. */
void input_close(Input **input);

#endif
