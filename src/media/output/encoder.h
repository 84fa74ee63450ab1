/* Encodes frames to video packets. */
#ifndef LUMEQ_MEDIA_ENCODER_H
#define LUMEQ_MEDIA_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "media/error.h"
#include "media/output/encoder_choice.h"

/* Properties of the frames' track and of the container. */
typedef struct EncoderTrack {
    AVRational time_base, frame_rate; /* a rate of {0, 0} is unknown */
    enum AVFieldOrder field_order;
    int no_alpha;      /* not 0: the container drops the alpha that this encoder writes */
    int constant_rate; /* not 0: the container stores no times and shows frames in decode order */
} EncoderTrack;

typedef struct Encoder Encoder;

/*
 * Opens the encoder for frames like `first`, with the track's time base and rate. Frames that the
 * encoder does not accept (pixel format, range, odd size) are adapted. Errors: MEDIA_USAGE (an
 * unknown or refused setting), MEDIA_INPUT (a thread cannot be started), MEDIA_OUTPUT.
 */
int encoder_open(Encoder **encoder, const AVCodec *codec, const EncoderOptions *options,
                 const AVFrame *first, const EncoderTrack *track, int global_header,
                 MediaError *error);

/* The stream's time base, frame rate and parameters, for the muxer. */
const AVCodecContext *encoder_context(const Encoder *encoder);

/* Changes and losses so far, for notes to the user. */
typedef struct EncoderNotes {
    const char *adaptation; /* "converted from yuv444p to yuv420p", or NULL */
    const char *fields;     /* lost field flags ("flags all frames alike: ..."), or NULL */
    const char *dropped;    /* side data that no longer applies ("HDR10+"), or NULL */
    int loses_alpha;        /* frames have alpha, which is not stored */
    int loses_user_data, loses_captions; /* frames had such data, which the encoder drops */
    bool is_uneven;                      /* the frames were not evenly spaced in time */
} EncoderNotes;

const EncoderNotes *encoder_notes(const Encoder *encoder);

/* Makes the next frame sent a key frame. Reliable only with EncoderOptions.cuts. */
void encoder_ask_key(Encoder *encoder);

/* Sends a frame, which the caller keeps; NULL: the end. MEDIA_OUTPUT. */
int encoder_send(Encoder *encoder, const AVFrame *frame, MediaError *error);

/* Receives the next packet, in the encoder's time base, with its duration. Returns 0,
 * AVERROR(EAGAIN), AVERROR_EOF, or MEDIA_OUTPUT with `error` filled. */
int encoder_receive(Encoder *encoder, AVPacket *packet, MediaError *error);

/* The number of frames sent but not yet received as packets. */
int64_t encoder_held(const Encoder *encoder);

void encoder_close(Encoder **encoder);

/* Describes the video by codec, profile and pixel format ("HEVC Main 10, yuv420p10le"). The profile
 * comes from the first packet, because x264 and x265 store it only there. */
void encoder_describe(const AVCodecContext *encoder, const AVPacket *first, char *text,
                      size_t size);

#endif
