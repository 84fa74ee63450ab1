/* A track of sound: packets to samples as a device takes them, each with its position, at any
 * speed. */
#ifndef LUMEQ_MEDIA_SOUND_H
#define LUMEQ_MEDIA_SOUND_H

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>

#include "media/error.h"

#define SOUND_MIN_SPEED 0.25
#define SOUND_MAX_SPEED 4.0

typedef struct Sound Sound;

/* Samples that follow each other in time. `samples` is the caller's memory, with room for
 * sound_block_samples() times the channels. */
typedef struct SoundBlock {
    float *samples;   /* -1..1, interleaved */
    int count;        /* of samples of each channel, 1 or more */
    int64_t position; /* of the first one: microseconds from the start of the input */
    double worth;     /* microseconds of position that each one takes: more at higher speed */
} SoundBlock;

/*
 * Opens the track's decoder. `origin_us` is source_start(): where positions are counted from.
 * `rate` and `channels` (1, 2, 6 or 8; in the order FL FR FC LFE BL BR SL SR) are the device's, the
 * track may have any and change them. The stream must outlive it. MEDIA_INPUT, *sound is then NULL.
 */
int sound_open(Sound **sound, const AVStream *stream, int64_t origin_us, int rate, int channels,
               MediaError *error);

/* What a block for a device of that rate holds at most: about 20 ms. */
int sound_block_samples(int rate);

/* Forgets what it holds. The next sample given out is the one at `position`, or the first one that
 * follows, after silence; AV_NOPTS_VALUE: the first one there is. */
void sound_start(Sound *sound, int64_t position);

/* SOUND_MIN_SPEED to SOUND_MAX_SPEED; the pitch is kept. From about the next block on. */
void sound_set_speed(Sound *sound, double speed);

/* Hands in a packet, NULL at the end, when sound_receive() has answered AVERROR(EAGAIN). Damage is
 * counted and becomes silence. */
void sound_send(Sound *sound, const AVPacket *packet);

/*
 * The next block: 0, AVERROR(EAGAIN) (hand in a packet), or AVERROR_EOF. Blocks follow each other
 * in time: holes in the timestamps are filled with silence, what overlaps is cut, and what is only
 * jitter is smoothed. Only where the timestamps jump by more than that can be, and where a URL has
 * come back (source_is_return()), the position does.
 */
int sound_receive(Sound *sound, SoundBlock *block);

/* Packets and frames that were found damaged since it was opened. */
int64_t sound_damage(const Sound *sound);

void sound_close(Sound **sound);

#endif
