/* What "auto" means for a run: where it decodes, how far curves look ahead, how deep the output is.
 */
#ifndef LUMEQ_APP_RUN_CHOICES_H
#define LUMEQ_APP_RUN_CHOICES_H

#include <stdint.h>

#include "app/options/options.h"
#include "media/input/source.h"
#include "media/output/writer.h"

/* --hwdec: true if the GPU that equalizes should decode a video of this codec, in a window or by
 * the number of cores. AV_CODEC_ID_NONE: true for any codec. */
int hwdec_choice(const Options *options, enum AVCodecID codec);

/* Sets the lookahead of a headless run in nanoseconds (0: none), and logs the reason with -v.
 * `writer` is NULL if nothing is written. Returns MEDIA_USAGE if an option on the command line
 * needs a lookahead and the input cannot have one. */
int choose_lookahead(const Options *options, const Writer *writer, int64_t *nanoseconds,
                     MediaError *error);

/* True if the input is a pipe, which both decoders must share. */
int lookahead_of_pipe(const Options *options);

/* The lookahead of a film in parts, in nanoseconds; a job always has one. */
int64_t lookahead_of_parts(const Options *options);

/* True for --pix-fmt auto10. */
int is_auto10(const Options *options);

/* Frames of the first seconds, and how many of them the noise filter works on. No frames: there is
 * no lookahead. */
typedef struct FramesSeen {
    int64_t frames, filtered;
} FramesSeen;

/* Returns the depth to which 8-bit frames are converted before equalizing, or 0, and logs the
 * reason. `writer` is NULL if nothing is written. */
int choose_output_depth(const Options *options, const LumeqParams *params, const Writer *writer,
                        const Source *source, FramesSeen seen);

#endif
