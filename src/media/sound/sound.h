/* Decodes a sound track for a device or an encoder: converts samples to the wanted format and
 * speed, and finds their positions. */
#ifndef LUMEQ_MEDIA_SOUND_H
#define LUMEQ_MEDIA_SOUND_H

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>

#include "media/error.h"

#define SOUND_MIN_SPEED 0.25
#define SOUND_MAX_SPEED 4.0

typedef struct Sound Sound;

/* The caller owns `samples`, with room for sound_block_samples() per channel. */
typedef struct SoundBlock {
    float *samples;   /* -1..1, interleaved */
    int count;        /* samples per channel, at least 1 */
    int64_t position; /* of the first sample: microseconds from the input's start */
    double worth;     /* change of position from sample to sample, in microseconds */
} SoundBlock;

/* Opens the track's decoder. `origin_us` is source_start(), the origin of positions. `rate` and
 * `channels` (1, 2, 6 or 8, ordered FL FR FC LFE BL BR SL SR) are the device's; the track's may
 * differ and change. MEDIA_INPUT; *sound is then NULL. */
int sound_open(Sound **sound, const AVStream *stream, int64_t origin_us, int rate, int channels,
               MediaError *error);

typedef struct SoundFormat {
    int rate;
    enum AVSampleFormat format;
    AVChannelLayout layout;
    int block;    /* samples per frame; the last frame may be shorter */
    double speed; /* playback speed at unchanged pitch */
    int smooths;  /* not 0: positions slowly follow small deviations of the timestamps */
} SoundFormat;

/* Like sound_open(), but for sound_receive_frame() in format `to`. AVERROR; *sound is then NULL. */
int sound_open_as(Sound **sound, const AVStream *stream, int64_t origin_us, const SoundFormat *to);

/* Maximum samples per block at this rate: about 20 ms. */
int sound_block_samples(int rate);

/* Discards buffered data. The next block begins at `position`, with silence if the sound begins
 * later. AV_NOPTS_VALUE: the next block begins with the next decoded sample. */
void sound_start(Sound *sound, int64_t position);

/* Sets the speed, SOUND_MIN_SPEED to SOUND_MAX_SPEED, from about the next block on. */
void sound_set_speed(Sound *sound, double speed);

/* Sends a packet, or NULL at the end. Call it after sound_receive() returned AVERROR(EAGAIN).
 * Damaged sound is counted and replaced by silence. */
void sound_send(Sound *sound, const AVPacket *packet);

/* Returns 0 with the next block, AVERROR(EAGAIN) (send a packet), or AVERROR_EOF. Blocks are
 * continuous: gaps in the timestamps become silence, overlaps are cut, jitter is smoothed. But the
 * position jumps if the timestamps jump far (an hour ahead, a second back), or after a URL
 * reconnected (source_is_discontinuity()). */
int sound_receive(Sound *sound, SoundBlock *block);

/* Like sound_receive(), but fills a blank frame. The position is in *position, not in the frame. */
int sound_receive_frame(Sound *sound, AVFrame *frame, int64_t *position);

/* Number of damaged packets and frames since sound_open(). */
int64_t sound_damage(const Sound *sound);

/* Microseconds of silence that replace damaged sound. */
int64_t sound_lost(const Sound *sound);

void sound_close(Sound **sound);

#endif
