/* Converts tracks that the container cannot hold: decodes and re-encodes them. */
#ifndef LUMEQ_MEDIA_TRANSCODE_H
#define LUMEQ_MEDIA_TRANSCODE_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

typedef struct AudioTranscoder AudioTranscoder;
typedef struct TextTranscoder TextTranscoder;

/* Receives a packet and leaves the packet blank. Returns 0 or a negative number. */
typedef int (*PacketTaker)(void *opaque, AVPacket *packet);

typedef struct SoundLoss {
    int64_t silence; /* length of sound that silence replaces, in AV_TIME_BASE units */
    int64_t errors;  /* number of decoder errors; not counted if `silence` is above 0 */
} SoundLoss;

/*
 * Opens a converter of a sound track; `out` gets the encoder's parameters and time base. To keep
 * the timeline, overlaps are cut. Silence fills gaps, replaces undecodable sound, and precedes
 * sound whose start the container cannot store. Returns 0 or AVERROR; *transcoder is then NULL.
 */
int audio_transcoder_open(AudioTranscoder **transcoder, const AVStream *in, AVStream *out,
                          const AVCodec *encoder, const AVOutputFormat *muxer);

/* Converts a packet (NULL at the end) and passes each finished packet to `take`, in the time base
 * that `out` got at opening. Returns 0, AVERROR, or the error of `take`. */
int audio_transcoder_run(AudioTranscoder *transcoder, const AVPacket *packet, PacketTaker take,
                         void *opaque);

/* Losses so far; complete after the run with a NULL packet. */
SoundLoss audio_transcoder_loss(const AudioTranscoder *transcoder);

void audio_transcoder_close(AudioTranscoder **transcoder);

/* Like audio_transcoder_open(), but converts text subtitles to another text format. */
int text_transcoder_open(TextTranscoder **transcoder, const AVStream *in, AVStream *out,
                         const AVCodec *encoder);

/* Converts one packet. Returns 1 and the result in `to`, with times in milliseconds; 0 if there is
 * nothing to write; or AVERROR. */
int text_transcoder_run(TextTranscoder *transcoder, const AVPacket *packet, AVPacket *to);

void text_transcoder_close(TextTranscoder **transcoder);

#endif
