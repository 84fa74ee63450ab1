/* Which encoder, by which of the names that people have for it, and which of its pixel formats. */
#ifndef LUMEQ_MEDIA_ENCODER_CHOICE_H
#define LUMEQ_MEDIA_ENCODER_CHOICE_H

#include <stddef.h>

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
    int keep_format; /* not 0: the encoder gets the format nearest to that of the frames */
    int eight_bits;  /* not 0: H.264 gets 8 bits at most; see encoder_suit() */
    const char *const *options; /* "key=value", NULL at the end; or NULL */
    int threads;
    int deinterlaced; /* not 0: frames have no fields, whatever their track says */
    int live;   /* not 0: fast rather than small where nothing else is asked for: frames do not wait
                 */
    int cuts;   /* not 0: key frames are asked for, and nothing refers to what is before them */
    int closed; /* not 0: nothing refers to what is before a key frame; not for encoders of MPEG,
                   which would find no scenes then, and are open with B-frames alone */
    int low_latency; /* not 0: none is held back either, and who joins need not wait for long */
} EncoderOptions;

/* The encoder asked for, or the usual one of the container or of pictures with a name like `path`,
 * that the container can hold. MEDIA_USAGE. */
int encoder_find(const AVCodec **codec, const EncoderOptions *options, const AVOutputFormat *format,
                 const char *path, MediaError *error);

/*
 * Chooses between the usual encoders of mp4, mov and mkv, once the format of the frames is known:
 * libx264 for output of 8 bits, libx265 for more, and libx264 with `eight_bits` where there is no
 * libx265 or the container does not hold HEVC. Changes nothing if options name an encoder, or the
 * container has another usual one.
 */
void encoder_suit(const AVCodec **codec, EncoderOptions *options, const AVOutputFormat *format,
                  enum AVPixelFormat from);

/* Whether the encoder has an option of its own of this name. */
int encoder_has_option(const AVCodec *codec, const char *name);

/*
 * The format asked for, or the nearest to `from` that the encoder takes. Lossy H.264 and HEVC get
 * 4:2:0, and HEVC 10 bits at most, since phones, TVs and browsers decode nothing else; keep_format
 * and lossless settings prevent that. MEDIA_USAGE.
 */
int encoder_choose_format(enum AVPixelFormat *format, const AVCodec *codec,
                          const EncoderOptions *options, enum AVPixelFormat from,
                          MediaError *error);

/* True if the encoder loses nothing of RGB frames (`from`) that it gets as they are. */
int encoder_keeps_rgb(const AVCodec *codec, const EncoderOptions *options, enum AVPixelFormat from);

/* Whether it takes frames in ordinary memory, of a format that they can be converted to. */
int encoder_takes_frames(const AVCodec *codec);

/* Whether it takes frames in the memory of a GPU (gpu_frame.h). */
int encoder_is_on_gpu(const AVCodec *codec);

/* Bits of the samples that it takes, 0: it does not say. */
void encoder_depths(const AVCodec *codec, int *least, int *most);

/* Not 0: with these options it keeps every sample as it is. */
int encoder_is_lossless(const AVCodec *codec, const EncoderOptions *options);

/* The quantizer of encoders that would aim at a low rate of bits otherwise; 0: of others. */
int encoder_usual_quantizer(enum AVCodecID id);

/* How many cores one of these keeps busy with pictures of so many rows (0: unknown), where it is
 * known to be many; 0: it is not. */
int encoder_cores(const AVCodec *codec, int rows);

/* Whether a film can be encoded in parts, each by itself: at a constant quality. MEDIA_USAGE. */
int encoder_check_parts(const AVCodec *codec, const EncoderOptions *options, MediaError *error);

/* Not 0: it takes full range only, as JPEG, or RGB and gray but no YUV. */
int encoder_is_full_range(const AVCodec *codec);

/* Whether a person is told of this encoder: not of those that FFmpeg itself calls experimental, nor
 * of what frames only pass through. */
int encoder_is_listed(const AVCodec *codec, enum AVMediaType type);

/* The encoders that may be meant by the name of a codec (hevc), its other name (h265) or a part of
 * their own (nvenc): "libx265, hevc_nvenc"; "": none. */
void encoder_names_meant(enum AVMediaType type, const char *name, char *text, size_t size);

int format_has_alpha(enum AVPixelFormat format);

#endif
