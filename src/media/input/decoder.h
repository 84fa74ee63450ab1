/* Decodes the video track's packets to frames that are ready to be equalized. */
#ifndef LUMEQ_MEDIA_DECODER_H
#define LUMEQ_MEDIA_DECODER_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

#include "media/frame_memory.h"
#include "media/gpu_frame.h"
#include "media/input/code_range.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "media/input/video_shape.h"

typedef struct Decoder Decoder;

typedef struct DecoderOptions {
    FrameMemory *memory; /* for frames; NULL: ordinary memory, only allowed without `gpu` */
    int threads;         /* 0: one for each core */
    int hides_broken;    /* not 0: drop frames with errors, up to 25 in a row; for live sources and
                            URLs always on */
    /* The GPU to decode on (gpu_device_open()), or NULL. If it does not support the video, software
     * decodes. If it fails later, frames up to the next key frame are lost, and software continues
     * there. Ignored for a pipe that is not live. */
    AVBufferRef *gpu;
    int lossless;   /* not 0: if the GPU loses frames, fail once with MEDIA_LOST, so that the caller
                       can begin again; 0: count lost frames */
    int gpu_frames; /* how many GPU frames the caller may hold; 0: all frames are downloaded */
    /* Limit of GPU memory. Without room for `gpu_frames` frames, all frames are downloaded. Without
     * room for the decoder's surfaces, software decodes. */
    GpuBudget budget;
    CodeRange codes; /* whether and how to stretch gray frames of more than 8 bits */
    int full_rgb;    /* not 0: RGB becomes full-range YUV; 0: limited range, which players expect */
    /* For frames whose display aspect is not the first frame's. Not 0: add black bars to them; 0:
     * scale them to the first frame's size and change their pixel aspect. */
    int bars;
    int marks_bars; /* not 0: crop_* of frames are the sizes of the bars; 0: crop_* are 0 */
    /* Shape of the output, for a decoder that starts inside a video; width 0: the first frame's. */
    VideoShape shape;
} DecoderOptions;

/* The source, the memory and the GPU's device must outlive the decoder. While the decoder is open,
 * another thread may read the source. Errors: MEDIA_INPUT; *decoder is then NULL. */
int decoder_open(Decoder **decoder, const Source *source, const DecoderOptions *options,
                 MediaError *error);

/* True if the GPU decodes. Only from the decoding thread. */
bool decoder_is_on_gpu(const Decoder *decoder);

/* The shape that frames are converted to; width 0 before the first frame. */
VideoShape decoder_shape(const Decoder *decoder);

/* Converts frames to at least this depth, in bits. Call before the first frame. */
void decoder_deepen(Decoder *decoder, int depth);

/* Sets the mode for the next frames, at first DEINTERLACE_OFF. Any thread. */
void decoder_deinterlace(Decoder *decoder, DeinterlaceMode mode);

/* Sets the mode of DecoderOptions.codes for the next frames. Any thread. */
void decoder_set_codes(Decoder *decoder, CodeRangeMode mode);

/* Call if the next packets may refer to earlier packets that were not sent. The decoder then drops
 * incomplete frames until the first complete one, and does not count them as damage. A packet with
 * source_is_joined() has the same effect. */
void decoder_join(Decoder *decoder);

/* Decodes a packet; NULL: the end. Counts damage instead of failing. Returns 0, AVERROR(EAGAIN)
 * (receive frames first, then send the packet again) or AVERROR(ENOMEM). */
int decoder_send(Decoder *decoder, const AVPacket *packet);

/* Receives the next frame in presentation order. It has a direct format (convert.h) and is in host
 * memory or on the GPU (gpu_frame.h). All frames have the same size and format, a color_range, and
 * increasing pts in the track's time base. Returns 0, AVERROR(EAGAIN) (send a packet), AVERROR_EOF,
 * or MEDIA_INPUT or MEDIA_LOST with a message. */
int decoder_receive(Decoder *decoder, AVFrame *frame, MediaError *error);

/* Damage since decoder_open() or the last decoder_forget_damage(). Errors of the latest frame are
 * not forgotten. */
const Damage *decoder_damage(const Decoder *decoder);
void decoder_forget_damage(Decoder *decoder);

/* If `hurry`, skips frames that no other frame refers to. */
void decoder_hurry(Decoder *decoder, int hurry);

/* The conversion of frames in words ("rgb24 to yuv444p"), or NULL. */
const char *decoder_conversion(const Decoder *decoder);

/* The codes of the last stretched frame, in words; NULL: no frame was stretched. */
const char *decoder_codes(const Decoder *decoder);

/* Changes in the video after its first frame, and how they are handled, in words; or NULL. */
const char *decoder_changes(const Decoder *decoder);

/* Call after a seek: drops all packets and frames. */
void decoder_flush(Decoder *decoder);

/* Call after receiving a frame. Returns true for the first frame after a reconnection. */
int decoder_take_return(Decoder *decoder);

void decoder_close(Decoder **decoder);

#endif
