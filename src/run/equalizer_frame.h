/* Converts between FFmpeg's frames and the equalizer's. */
#ifndef LUMEQ_RUN_EQUALIZER_FRAME_H
#define LUMEQ_RUN_EQUALIZER_FRAME_H

#include <stdbool.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/frame_memory.h"

/* Room for the arrays of a frame's statistics. */
typedef struct StatsArrays {
    uint32_t hist_in[LUMEQ_MAX_BINS], hist_out[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
} StatsArrays;

/* Empty statistics for the library to fill; `arrays` may be NULL. */
LumeqFrameStats equalizer_init_stats(StatsArrays *arrays);

/* Reports the library's last error in this thread. Returns MEDIA_INPUT. */
int equalizer_failed(MediaError *error);

/* True if these parameters may change a frame. */
bool equalizer_writes(const LumeqParams *params);

/* True if these parameters may change chroma. */
bool equalizer_writes_chroma(const LumeqParams *params);

/* A frame for the library, without cropped margins. `out`: NULL to measure only. Chroma is left out
 * if `out` shares the chroma planes of `in`. Both frames need a direct format (media/convert.h). */
LumeqFrame equalizer_frame(const AVFrame *in, const AVFrame *out);

/* Returns a sync that makes the library wait for the GPU's decoder. Its `after` is NULL if the
 * frame was not decoded on the GPU. */
LumeqSync equalizer_sync(const AVFrame *in);

/* The luma of `before`, the frame before `in`, as a previous image for the library. It has no
 * planes if `before` is NULL or differs from `in` in size, margins, format, range or memory. */
LumeqImage equalizer_previous(const AVFrame *before, const AVFrame *in);

/* If only one of the two frames is in GPU memory, replaces it by a copy in host memory. Does
 * nothing if their size, format or range differs, or if `before` is NULL. Returns 0, or an
 * AVERROR if memory runs out or the GPU may be lost. */
int equalizer_colocate(FrameMemory *memory, AVFrame *before, AVFrame *in);

/* Makes an output for `in`, with its own chroma planes if `chroma`. Without `memory`, returns a
 * reference to `in`. Returns NULL with the error MEDIA_INPUT if out of memory. */
AVFrame *equalizer_output(FrameMemory *memory, const AVFrame *in, int chroma, MediaError *error);

/* Measures a frame against the previous one, which may be NULL; see lumeq_measure(). Returns 0,
 * MEDIA_LOST (without filling `error`), or MEDIA_INPUT. */
int equalizer_measure(LumeqContext *context, LumeqMeasure **measure, const LumeqParams *params,
                      const AVFrame *in, const AVFrame *before, MediaError *error);

/* Bits per luma sample. */
int equalizer_depth(const AVFrame *frame);

#endif
