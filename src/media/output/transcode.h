/* Tracks that the container cannot hold as they are: decoded, and encoded to what it holds. */
#ifndef LUMEQ_MEDIA_TRANSCODE_H
#define LUMEQ_MEDIA_TRANSCODE_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

typedef struct AudioTranscoder AudioTranscoder;
typedef struct TextTranscoder TextTranscoder;

/* Takes a packet and leaves it blank. 0 or a negative number. */
typedef int (*PacketTaker)(void *opaque, AVPacket *packet);

/* Of sound that is converted: how much is silence because it could not be decoded (AV_TIME_BASE
 * units), and how often the decoder has failed where nothing is missing. */
typedef struct SoundLoss {
    int64_t silence;
    int64_t errors;
} SoundLoss;

/*
 * From a track of sound to an encoder; `out` gets its parameters and time base. Its timeline is
 * kept: gaps, what cannot be decoded, and what comes before it where the container does not hold
 * that, become silence, and what overlaps is cut. `whole`: not just a part of the track comes. 0 or
 * AVERROR; *transcoder is then NULL.
 */
int audio_transcoder_open(AudioTranscoder **transcoder, const AVStream *in, AVStream *out,
                          const AVCodec *encoder, const AVOutputFormat *muxer, int whole);

/* Hands in a packet, NULL at the end, and takes out all packets that are done by then, in `out`'s
 * time base as it was at opening. 0, AVERROR, or what `take` has answered.
 */
int audio_transcoder_run(AudioTranscoder *transcoder, const AVPacket *packet, PacketTaker take,
                         void *opaque);

/* Complete after the end. */
SoundLoss audio_transcoder_loss(const AudioTranscoder *transcoder);

void audio_transcoder_close(AudioTranscoder **transcoder);

/* From subtitles that are text to an encoder of such. As above. */
int text_transcoder_open(TextTranscoder **transcoder, const AVStream *in, AVStream *out,
                         const AVCodec *encoder);

/* One packet in, at most one out: 1 with `to` filled in milliseconds, 0 without, or AVERROR. */
int text_transcoder_run(TextTranscoder *transcoder, const AVPacket *packet, AVPacket *to);

void text_transcoder_close(TextTranscoder **transcoder);

/* Opens the decoder of a track: 0 or AVERROR. What it leaves in *decoder is the caller's in any
 * case. */
int transcode_open_decoder(AVCodecContext **decoder, const AVCodecParameters *in,
                           AVRational time_base);

#endif
