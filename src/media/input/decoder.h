/* The video track's packets to frames that are ready to be equalized. */
#ifndef LUMEQ_MEDIA_DECODER_H
#define LUMEQ_MEDIA_DECODER_H

#include <libavcodec/avcodec.h>

#include "media/frame_memory.h"
#include "media/gpu_frame.h"
#include "media/input/code_range.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "media/input/video_shape.h"

typedef struct Decoder Decoder;

typedef struct DecoderOptions {
    FrameMemory *memory; /* where luma goes; NULL = ordinary memory, without a GPU alone */
    int threads;         /* 0 = one for each core */
    int hides_broken;    /* not 0: drop frames with errors, up to 25 in a row; always on for live
                            sources and URLs */
    /* That decodes what it can (gpu_frame.h), or NULL. What it cannot decode, or fails at, is
     * decoded in software, from a keyframe on, with the same frames; so is all once it is lost. Not
     * used for a pipe: if the GPU is lost, frames that lie on it could not be read again. */
    AVBufferRef *gpu;
    int gpu_frames; /* how many frames may be held that are left there; 0: all come to the host */
    /* Of its memory. Where there is no room for those frames, they come to the host; where there is
     * none for the surfaces that decoding takes, software decodes. */
    GpuBudget budget;
    CodeRange codes; /* whether and how deep gray frames are stretched */
} DecoderOptions;

/* The source and the memory must outlive the decoder; once it is open, another thread may read the
 * source. Errors: MEDIA_INPUT; *decoder is then NULL. */
int decoder_open(Decoder **decoder, const Source *source, const DecoderOptions *options,
                 MediaError *error);

/* Not 0: frames are decoded on the GPU. In the thread that decodes. */
int decoder_is_on_gpu(const Decoder *decoder);

/* RGB becomes full-range YUV, not the limited one that players expect. Before the first frame. */
void decoder_keep_full_rgb(Decoder *decoder);

/* Frames of another shape than the first get black bars. With `marked` crop_* has their sizes, and
 * they don't count. Without this call they are scaled to its size, with a pixel aspect ratio that
 * makes up for it. Before the first frame. */
void decoder_add_bars(Decoder *decoder, int marked);

/* The shape that frames are converted to; width 0 before the first one. */
VideoShape decoder_shape(const Decoder *decoder);

/* Sets it, for a decoder that begins in the middle. Before the first frame. */
void decoder_set_shape(Decoder *decoder, const VideoShape *shape);

/* Frames get at least so many bits. Before the first one. */
void decoder_deepen(Decoder *decoder, int depth);

/* For frames from now on; at first they are left as they are. Any thread. */
void decoder_deinterlace(Decoder *decoder, DeinterlaceMode mode);

/* Sets the mode of DecoderOptions.codes, for frames from now on. Any thread. */
void decoder_set_codes(Decoder *decoder, CodeRangeMode mode);

/* The next packets may refer to others that were never sent: incomplete frames are dropped until
 * the first complete one, and do not count as damage. A packet with source_is_joined() does the
 * same. */
void decoder_join(Decoder *decoder);

/* Hands in a packet, NULL at the end. Damage is counted, not an error. 0; AVERROR(EAGAIN): take
 * the frames out first, then hand it in again; or AVERROR(ENOMEM). */
int decoder_send(Decoder *decoder, const AVPacket *packet);

/*
 * The next frame in presentation order: direct (convert.h), or the same on the GPU (gpu_frame.h),
 * all of the first one's size and format,
 * with a pts (in the track's time base) that rises from frame to frame, and with color_range always
 * set. 0, AVERROR(EAGAIN) (hand in a packet), AVERROR_EOF, or MEDIA_INPUT with `error` filled.
 */
int decoder_receive(Decoder *decoder, AVFrame *frame, MediaError *error);

/* The damage found since opening. Forgetting keeps that of the last frame and of frames that are
 * still to come. */
const Damage *decoder_damage(const Decoder *decoder);
void decoder_forget_damage(Decoder *decoder);

/* Frames it works on at a time, and so has at hand soon after each other; 1: one by one. */
int decoder_frame_threads(const Decoder *decoder);

/* Not 0: frames that no other frame refers to are left out, to catch up. */
void decoder_hurry(Decoder *decoder, int hurry);

/* What frames were converted from and to, for a person ("rgb24 to yuv444p"), or NULL. */
const char *decoder_conversion(const Decoder *decoder);

/* Says which codes the picture uses if they were stretched, or NULL. */
const char *decoder_codes(const Decoder *decoder);

/* RGB frames come with what they were converted from (convert_original()). Before the first frame.
 */
void decoder_attach_rgb(Decoder *decoder);

/* Says what changes in the video after its first frame, and what becomes of it; NULL: nothing. */
const char *decoder_changes(const Decoder *decoder);

/* Replaces the decoder by a new one with the same settings that decodes in software, for packets
 * that are read again. Damage found before is not counted twice; `lost_frames`: of Damage, those
 * that do not come now. MEDIA_INPUT: unchanged. */
int decoder_restart(Decoder **decoder, int64_t lost_frames, MediaError *error);

/* Not 0: so far, decoding from any keyframe on gives the same frames and times. */
int decoder_can_begin_anywhere(const Decoder *decoder);

/* Forgets what it holds, after a seek. */
void decoder_flush(Decoder *decoder);

/* Not 0: the frame that was received last is the first since its source has come back
 * (SourceOptions.reconnect_s). Once for each. */
int decoder_take_return(Decoder *decoder);

void decoder_close(Decoder **decoder);

#endif
