/* The equalizer and the frame memory of a run, and the conversion of options for other parts. */
#ifndef LUMEQ_APP_ENGINE_H
#define LUMEQ_APP_ENGINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/frame_memory.h"
#include "media/input/source.h"
#include "media/output/writer.h"
#include "run/input.h"

/* Start of the message that says why a required GPU is missing. */
#define ENGINE_NO_GPU "--backend cuda: "

/* {0} is closed. */
typedef struct Engine {
    LumeqContext *context;
    FrameMemory *memory;  /* for decoded and equalized frames */
    const char *backend;  /* the name at the start; the CPU takes over if a GPU is lost */
    AVBufferRef *gpu;     /* also decodes or encodes; or NULL */
    int decodes, encodes; /* what `gpu` is used for */
    char where[256];      /* names the backend and the reason for it */
    int share_streams;    /* set before opening, as in LumeqConfig, like the next one */
    int real_time;
    int device;         /* number of the GPU */
    atomic_int no_room; /* the lack of room for surfaces was reported */
} Engine;

/* LumeqConfig.cpu_without, from the environment variable LUMEQ_CPU_MASK: a sum of LUMEQ_CPU_* that
 * the program may use. */
unsigned engine_cpu_without(void);

/* The library's configuration. The engine must not move while it is used. */
LumeqConfig engine_config(Engine *engine, const Options *options);

/* `all_planes`: decode chroma into pinned memory even if the options do not change it. Prepares the
 * GPU to decode if the options say so. The engine must not move afterwards. MEDIA_USAGE,
 * MEDIA_INPUT. */
int engine_open(Engine *engine, const Options *options, int all_planes, MediaError *error);

/* Makes frames for an encoder on the GPU that equalizes, if any. Call before the first frame. */
void engine_encode_on_gpu(Engine *engine);

/* Sets the options of a source's decoder that depend on the engine, which must outlive it. */
void engine_decoder(Engine *engine, const Options *options, const Source *source,
                    DecoderOptions *decoder);

/* How deep gray frames are stretched. `source` may be NULL for any. */
CodeRange engine_codes(const Options *options, const Source *source);

/* Finds the codes that a file uses. MEDIA_INPUT. */
int engine_survey_codes(CodeRange *codes, const Options *options, const Source *source,
                        const atomic_int *stop, MediaError *error);

/* Accounts for a decoder's GPU memory. Warns once if there is no room. */
GpuBudget engine_budget(Engine *engine);

/* Logs the peak GPU and pinned memory, with -v. */
void engine_say_memory(const Engine *engine);

/* Opens `path`, or the camera if it is NULL, and prints the camera's setting. Gives up at `stop`.
 * Returns like source_open(). */
int engine_open_source(Source **source, const Options *options, const char *path,
                       const atomic_int *stop, MediaError *error);

/* Opens a file once more, without messages. */
int engine_open_again(Source **source, const Options *options, const char *path,
                      const atomic_int *stop, MediaError *error);

/* Opens one side of a pipe that two sources read, see shared_pipe.h. */
int engine_open_pipe(Source **source, const Options *options, struct SharedPipe *pipe, int side,
                     const atomic_int *stop, MediaError *error);

/* Returns 1 if the file is a video, or cannot be opened but is named like one; 0 if not; -1 if
 * stopped. */
int engine_wants(const Options *options, const char *path, const atomic_int *stop);

/* Starts to open a file. Returns like source_opening_start(). */
int engine_start_opening(SourceOpening **opening, const Options *options, const char *path,
                         const atomic_int *stop, MediaError *error);

/* True if a file must be read in real time, since the output is watched. */
int engine_is_paced(const Options *options, const Source *source);

/* Options of the video encoder. */
EncoderOptions engine_encoder(const Options *options);

/* Options of the pieces that a writer splits its output into. */
SegmentOptions engine_segments(const Options *options);

/* The encoder that the options name or imply; NULL if it does not exist. */
const AVCodec *engine_find_encoder(const Options *options);

/* Fails with MEDIA_USAGE if that cannot encode a film in parts. */
int engine_check_parts(const Options *options, MediaError *error);

/* Options of the writer, and its creation, before the input is open. Returns like writer_create().
 */
WriterOptions engine_writer(const Options *options, const atomic_int *stop);
int engine_create_writer(Writer **writer, const WriterOptions *wanted, const Options *options,
                         MediaError *error);

/* Options of the input; of its decoder only those that depend on these options. `writer` is NULL if
 * nothing is written. */
InputOptions engine_video(const Options *options, const Writer *writer);

/* Names what equalizes now, for messages. `lost`: the GPU was lost. */
const char *engine_where(const Engine *engine, int lost);

/* True if the CPU has taken over. Any thread. */
int engine_is_lost(const Engine *engine);

/* Finds the properties of a run that parameters depend on. `writer` is NULL if nothing is written.
 */
OptionsInput engine_input(const Options *options, const Source *source, const Writer *writer);

/* Like options_params(), with messages about choices that depend on the input. MEDIA_USAGE if the
 * options do not suit it. */
int engine_params(LumeqParams *params, const Options *options, OptionsInput input,
                  const Source *source, MediaError *error);

/* Call after all frames are freed. */
void engine_close(Engine *engine);

/* ---- run choices ---- */

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
