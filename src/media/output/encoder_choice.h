/* Chooses the encoder and its pixel format; finds out what encoders support. */
#ifndef LUMEQ_MEDIA_ENCODER_CHOICE_H
#define LUMEQ_MEDIA_ENCODER_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "media/error.h"

/* NULL and negative numbers select the default. */
typedef struct EncoderOptions {
    const char *codec;
    double crf;
    const char *preset;
    int64_t bitrate; /* bits per second */
    const char *pixel_format;
    int keep_format;            /* not 0: use the format nearest to that of the frames */
    int eight_bits, too_large;  /* encoder_choose_default() sets them, see there */
    const char *const *options; /* "key=value" strings, NULL-terminated; or NULL */
    const char *hint;           /* appended to the error if the encoder does not open; or NULL */
    int threads;
    int deinterlaced; /* not 0: frames are progressive, whatever their track says */
    int live;         /* not 0: prefer speed to size, since frames arrive in real time */
    /* not 0: the caller uses encoder_ask_key(), and no frame may refer across a key frame */
    int cuts;
    /* not 0: use closed groups of pictures. Ignored for MPEG encoders, whose scene detection this
     * would disable */
    int closed;
    int low_latency; /* not 0: encode without delay, with frequent key frames for viewers who join
                        later */
} EncoderOptions;

/* Finds the encoder that the options name; by default, the usual encoder for the container or, for
 * a picture, for the file name `path`. The container must support the codec. MEDIA_USAGE. */
int encoder_find(const AVCodec **codec, const EncoderOptions *options, const AVOutputFormat *format,
                 const char *path, MediaError *error);

/*
 * Chooses the default encoder in mp4, mov and mkv for frames of this format and size (0: unknown).
 * Keeps *codec in other containers, or if the options name an encoder. Lossless output, and 8-bit
 * output that hardware can decode as H.264, get libx264. Other output gets libx265. If libx265
 * cannot be used, chooses libx264; sets options->eight_bits if deeper frames must be reduced to 8
 * bits, and options->too_large if most hardware cannot decode this size.
 */
void encoder_choose_default(const AVCodec **codec, EncoderOptions *options,
                            const AVOutputFormat *format, enum AVPixelFormat from, int width,
                            int height);

/* True if the encoder has a private option of this name. */
bool encoder_has_option(const AVCodec *codec, const char *name);

/*
 * Chooses the requested format. By default, chooses the format nearest to `from` that the encoder
 * takes; but without keep_format, lossy H.264 and HEVC get 4:2:0 of at most 10 bits, since phones,
 * TVs and browsers decode nothing else. MEDIA_USAGE.
 */
int encoder_choose_format(enum AVPixelFormat *format, const AVCodec *codec,
                          const EncoderOptions *options, enum AVPixelFormat from,
                          MediaError *error);

/* True if the encoder takes frames in GPU memory (gpu_frame.h). */
bool encoder_takes_gpu_frames(const AVCodec *codec);

/* The range of sample depths that the encoder takes, in bits; 0: unknown. */
void encoder_depths(const AVCodec *codec, int *least, int *most);

bool encoder_is_lossless(const AVCodec *codec, const EncoderOptions *options);

/* The default quantizer for encoders that would otherwise aim at a low bit rate; 0 for other
 * encoders. */
int encoder_usual_quantizer(enum AVCodecID id);

/* The number of cores that this encoder keeps busy with pictures of `rows` rows (0: unknown).
 * Returns 0 unless the encoder is known to use many. */
int encoder_cores(const AVCodec *codec, int rows);

/* Fails with MEDIA_USAGE if a film cannot be encoded in independent parts, for example because the
 * options set a bit rate. */
int encoder_check_parts(const AVCodec *codec, const EncoderOptions *options, MediaError *error);

/* True if the encoder takes full range only: MJPEG, and encoders that take RGB but no YUV. */
bool encoder_is_full_range(const AVCodec *codec);

/* True if --vcodec help or --acodec help lists this encoder. Experimental encoders, and those that
 * only wrap frames, are not listed. */
bool encoder_is_listed(const AVCodec *codec, enum AVMediaType type);

bool format_has_alpha(enum AVPixelFormat format);

#endif
