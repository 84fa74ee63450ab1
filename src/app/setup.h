/* Turns the program's options into parameters, sources, writers and their options. */
#ifndef LUMEQ_APP_SETUP_H
#define LUMEQ_APP_SETUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/input/source.h"
#include "media/output/writer.h"
#include "run/input.h"

/* ---- parameters ---- */

/* Sets the parameters, and all members of `input` except `ahead`. Prints choices that depend on the
 * input. `writer` is NULL if nothing is written. MEDIA_USAGE: the options do not suit the input. */
int setup_params(LumeqParams *params, OptionsInput *input, const Options *options,
                 const Source *source, const Writer *writer, MediaError *error);

/* Decides whether gray frames of more than 8 bits are stretched (--code-range). A NULL `source`
 * counts as SDR video. */
CodeRange setup_codes(const Options *options, const Source *source);

/* If a file's gray may have to be stretched, reads the file to find its codes. MEDIA_INPUT. */
int setup_survey_codes(CodeRange *codes, const Options *options, const Source *source,
                       const atomic_int *stop, MediaError *error);

bool is_auto10(const Options *options);

typedef struct FramesSeen {
    int64_t frames;   /* frames that the lookahead saw in the first seconds; 0: no lookahead */
    int64_t filtered; /* how many of them the noise filter changes */
} FramesSeen;

/* Returns the depth to which 8-bit frames are converted before equalizing, or 0 if they keep their
 * depth. Logs the reason. `writer` is NULL if nothing is written. */
int choose_output_depth(const Options *options, const LumeqParams *params, const Writer *writer,
                        const Source *source, FramesSeen seen);

/* ---- the input ---- */

/* Opens `path`, or the camera if `path` is NULL, and prints the camera's setting. If `pipe` is not
 * NULL, reads its side 0 (shared_pipe.h) instead of `path`. Gives up when `stop` is set. Returns
 * like source_open(). */
int setup_source(Source **source, const Options *options, const char *path, struct SharedPipe *pipe,
                 const atomic_int *stop, MediaError *error);

/* Opens INPUT a second time or, if `pipe` is not NULL, the pipe's side 1. Prints nothing. If `like`
 * is not NULL, skips the streams that `like` skips, so that both sources see the same packets. */
int setup_source_again(Source **source, const Options *options, struct SharedPipe *pipe,
                       const Source *like, const atomic_int *stop, MediaError *error);

/* Starts to open a file. Returns like source_opening_start(). */
int setup_start_opening(SourceOpening **opening, const Options *options, const char *path,
                        const atomic_int *stop, MediaError *error);

/* True if a file must be read in real time, because another program may watch the output live. */
bool setup_is_paced(const Options *options, const Source *source);

/* Options of the input. engine_decoder() sets further options of the input's decoder. `writer` is
 * NULL if nothing is written. */
InputOptions setup_video(const Options *options, const Writer *writer);

/* ---- the output ---- */

EncoderOptions setup_encoder(const Options *options);

SegmentOptions setup_segments(const Options *options);

/* The encoder that the options name or imply; NULL if it does not exist. */
const AVCodec *setup_find_encoder(const Options *options);

/* Fails with MEDIA_USAGE if the encoder of the options cannot encode a film in parts. */
int setup_check_parts(const Options *options, MediaError *error);

WriterOptions setup_writer(const Options *options, const atomic_int *stop);

/* Creates the writer that setup_video() and setup_params() need. Returns like writer_create(). */
int setup_create_writer(Writer **writer, const WriterOptions *wanted, const Options *options,
                        MediaError *error);

#endif
