/* Frames to packets of video. */
#ifndef LUMEQ_MEDIA_ENCODER_H
#define LUMEQ_MEDIA_ENCODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "media/error.h"
#include "media/output/encoder_choice.h"

/* The track that the frames come from. */
typedef struct EncoderTrack {
    AVRational time_base, frame_rate; /* the rate {0, 0} where not known */
    enum AVFieldOrder field_order;
    int no_alpha;      /* not 0: the container loses the alpha this encoder writes */
    int constant_rate; /* not 0: the container counts frames, and shows them as they are decoded */
} EncoderTrack;

typedef struct Encoder Encoder;

/*
 * Opens the encoder for frames like `first` from the track, whose time base and rate it takes. What
 * it does not take of frames (pixel format, range, odd size) is adapted. Errors: MEDIA_USAGE (a
 * setting it does not have or refuses), MEDIA_OUTPUT.
 */
int encoder_open(Encoder **encoder, const AVCodec *codec, const EncoderOptions *options,
                 const AVFrame *first, const EncoderTrack *track, int global_header,
                 MediaError *error);

/* For the muxer: time base, frame rate and parameters of the stream. */
const AVCodecContext *encoder_context(const Encoder *encoder);

/* What frames are adapted to ("padded to 642x360, yuv444p to yuv420p"), for a person, or NULL. */
const char *encoder_adaptation(const Encoder *encoder);

/* The next frame becomes a key frame, as far as the encoder does that, see EncoderOptions.cuts. */
void encoder_ask_key(Encoder *encoder);

/* Hands in a frame, NULL at the end; takes no reference. MEDIA_OUTPUT. */
int encoder_send(Encoder *encoder, const AVFrame *frame, MediaError *error);

/* Says which flags of fields the frames lose ("flags all frames alike: ..."), or NULL. */
const char *encoder_fields(const Encoder *encoder);

/* What was taken off frames because it is no longer true of them ("HDR10+"), or NULL. */
const char *encoder_dropped(const Encoder *encoder);

/* Returns 1 if frames had user data (SEI) and there is no place for it in the packets. */
int encoder_loses_user_data(const Encoder *encoder);

/* The next packet, in the encoder's time base, with its duration: 0, AVERROR(EAGAIN), AVERROR_EOF
 * or MEDIA_OUTPUT with `error` filled. */
int encoder_receive(Encoder *encoder, AVPacket *packet, MediaError *error);

/* Frames that were sent and have not come out as packets. */
int64_t encoder_held(const Encoder *encoder);

/* Not 0: the times of the frames sent so far cannot be told by counting them. */
int encoder_was_uneven(const Encoder *encoder);

void encoder_close(Encoder **encoder);

#endif
