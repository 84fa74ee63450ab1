/*
 * Makes curves that take later frames into account. Its own threads read and decode the input a
 * second time, some seconds ahead of the equalized frames, and measure it. Only measures are kept.
 */
#ifndef LUMEQ_RUN_LOOKAHEAD_H
#define LUMEQ_RUN_LOOKAHEAD_H

#include <stdbool.h>

#include "run/curve_maker.h"
#include "run/input.h"

typedef struct LookaheadOptions {
    /* Opens the input a second time, to read the same streams as `like`. */
    int (*open)(void *opaque, const Source *like, Source **source, MediaError *error);
    void *opaque;
    const Source *source; /* source of the frames to equalize */
    InputOptions input;   /* options of the input whose frames are equalized */
    LumeqContext *context;
    int64_t nanoseconds; /* how far to look ahead, up to LUMEQ_MAX_LOOKAHEAD */
} LookaheadOptions;

typedef struct Lookahead Lookahead;

/* All that the options point to must outlive the lookahead. Close it even after an error. */
int lookahead_open(Lookahead **lookahead, const LookaheadOptions *options, MediaError *error);

/* Measures the first frames, up to `nanoseconds`. Call it before lookahead_start() if the
 * parameters depend on these frames. Stores their number, and how many would be denoised without a
 * lookahead. Error: MEDIA_INPUT. */
int lookahead_survey(Lookahead *lookahead, const LumeqParams *params, int64_t *frames,
                     int64_t *filtered, MediaError *error);

/* Begins to make curves. `depth`: see curve_maker_open(). Error: MEDIA_INPUT. */
int lookahead_start(Lookahead *lookahead, const LumeqParams *params, int depth, MediaError *error);

/* Waits for the next frame and its curve, which the caller must unref. Returns 1, 0 after the last
 * frame, or a MEDIA_* error. */
int lookahead_next(Lookahead *lookahead, MeasuredFrame *frame, LumeqCurve **curve,
                   MediaError *error);

/* True if the input is damaged. Call after lookahead_next() has returned 0. */
bool lookahead_is_damaged(const Lookahead *lookahead);

/* Ends the threads. *lookahead may be NULL. */
void lookahead_close(Lookahead **lookahead);

#endif
