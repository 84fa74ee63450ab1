/* --pix-fmt auto10: 10 bits where the output gains by them. */
#ifndef LUMEQ_APP_OUTPUT_DEPTH_H
#define LUMEQ_APP_OUTPUT_DEPTH_H

#include <stdint.h>

#include "app/options/options.h"
#include "media/input/source.h"
#include "media/output/writer.h"

/* Not 0: it was asked for. */
int output_depth_is_auto(const Options *options);

/* What the first seconds show: frames, and those of them that the filter of lifted pictures is for.
 * No frames: nothing is known ahead. */
typedef struct FramesSeen {
    int64_t frames, filtered;
} FramesSeen;

/* Answers how many bits frames of 8 get before they are equalized, 0: none more, and says why.
 * Writer NULL: nothing is written. */
int output_depth_choose(const Options *options, const LumeqParams *params, const Writer *writer,
                        const Source *source, FramesSeen seen);

#endif
