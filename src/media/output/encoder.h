/* Frames to packets of video. */
#ifndef LUMEQ_MEDIA_ENCODER_H
#define LUMEQ_MEDIA_ENCODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "media/error.h"

/* NULL and negative numbers: not asked for, take the default. */
typedef struct EncoderOptions {
    const char *codec;
    double crf;
    const char *preset;
    int64_t bitrate; /* bits a second */
    const char *pixel_format;
    const char *const *options; /* "key=value", NULL at the end; or NULL */
    int threads;
    int deinterlaced; /* not 0: frames have no fields, whatever their track says */
    int live; /* not 0: fast rather than small where nothing else is asked for: frames do not wait
               */
} EncoderOptions;

/* The track that the frames come from. */
typedef struct EncoderTrack {
    AVRational time_base, frame_rate; /* the rate {0, 0} where not known */
    enum AVFieldOrder field_order;
    int no_alpha; /* not 0: the container loses the alpha this encoder writes */
} EncoderTrack;

typedef struct Encoder Encoder;

/* The encoder asked for, or the usual one of the container or of pictures with a name like `path`,
 * that the container can hold. MEDIA_USAGE. */
int encoder_find(const AVCodec **codec, const EncoderOptions *options, const AVOutputFormat *format,
                 const char *path, MediaError *error);

/*
 * Opens the encoder for frames like `first` from the track, whose time base and rate it takes. What
 * it does not take of frames (pixel format, range, odd size) is adapted. Errors: MEDIA_USAGE (a
 * setting it does not have or refuses), MEDIA_OUTPUT.
 */
int encoder_open(Encoder **encoder, const AVCodec *codec, const EncoderOptions *options,
                 const AVFrame *first, const EncoderTrack *track, int global_header,
                 MediaError *error);

/* Not 0: with these options it keeps every sample as it is. */
int encoder_is_lossless(const AVCodec *codec, const EncoderOptions *options);

/* Not 0: it takes full range only, as JPEG, or RGB and gray but no YUV. */
int encoder_is_full_range(const AVCodec *codec);

/* For the muxer: time base, frame rate and parameters of the stream. */
const AVCodecContext *encoder_context(const Encoder *encoder);

/* What frames are adapted to ("padded to 642x360, yuv444p to yuv420p"), for a person, or NULL. */
const char *encoder_adaptation(const Encoder *encoder);

/* Hands in a frame, NULL at the end; takes no reference. MEDIA_OUTPUT. */
int encoder_send(Encoder *encoder, const AVFrame *frame, MediaError *error);

/* What was taken off frames because it is no longer true of them ("HDR10+"), or NULL. */
const char *encoder_dropped(const Encoder *encoder);

/* The next packet, in the encoder's time base, with its duration: 0, AVERROR(EAGAIN), AVERROR_EOF
 * or MEDIA_OUTPUT with `error` filled. */
int encoder_receive(Encoder *encoder, AVPacket *packet, MediaError *error);

/* Not 0: the times of the frames sent so far cannot be told by counting them. */
int encoder_was_uneven(const Encoder *encoder);

void encoder_close(Encoder **encoder);

#endif
