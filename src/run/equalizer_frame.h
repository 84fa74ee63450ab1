/* FFmpeg's frames as the equalizer takes them, and what it gives back. */
#ifndef LUMEQ_RUN_EQUALIZER_FRAME_H
#define LUMEQ_RUN_EQUALIZER_FRAME_H

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/frame_memory.h"

/* Room for the arrays of a frame's statistics. */
typedef struct StatsArrays {
    uint32_t hist_in[LUMEQ_MAX_BINS], hist_out[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
} StatsArrays;

/* Statistics to be filled, with the arrays where they are not NULL. */
LumeqFrameStats equalizer_ask_stats(StatsArrays *arrays);

/* Fills `error` with what an equalizer's negative answer means. */
int equalizer_failed(const LumeqEqualizer *equalizer, int ret, MediaError *error);

/* Not 0: with these parameters frames may change. */
int equalizer_writes(const LumeqParams *params);

/* Not 0: with these parameters chroma is written, where frames have some. */
int equalizer_writes_chroma(const LumeqParams *params);

/* A frame for lumeq_submit(), `out` NULL: only measured. Chroma takes part where that of `out` is
 * its own. Frames are direct (media/convert.h); black bars in their margins are left out. */
LumeqFrame equalizer_frame(const AVFrame *in, const AVFrame *out);

/* What a call that reads the frame waits for: with `after`, where it was decoded on a GPU. Else the
 * frame is there. */
LumeqSync equalizer_after(const AVFrame *in);

/* The luma of the frame before `in`, for LumeqFrame.previous; without a plane where `before` is
 * NULL, or of another size, format or range. */
LumeqImage equalizer_before(const AVFrame *before, const AVFrame *in);

/* Where one of them is on the host, and the other on a GPU, that one is brought to the host: their
 * decoder has left the GPU between them, or has come back to it. What follows is compared with `in`
 * as it was, which whoever calls this keeps. NULL: nothing is done. 0, or AVERROR: the GPU may be
 * lost. */
int equalizer_meet(FrameMemory *memory, AVFrame *before, AVFrame *in);

/* What `in` is equalized into, with chroma of its own where that is written, too; in no memory,
 * NULL: `in` itself, which is only measured. NULL: MEDIA_INPUT (out of memory). */
AVFrame *equalizer_output(FrameMemory *memory, const AVFrame *in, int chroma, MediaError *error);

/* After lumeq_receive(): brings the planes of `out` to where the picture came back, see
 * lumeq_backend_name(). MEDIA_INPUT (out of memory). */
int equalizer_take_output(FrameMemory *memory, AVFrame *out, const LumeqFrame *frame,
                          MediaError *error);

/* Moves what the equalizer says of places in a picture to where that is in its frame. */
void equalizer_place(LumeqFrameStats *stats, const AVFrame *frame);

/* Bits of a code of its luma. */
int equalizer_depth(const AVFrame *frame);

#endif
