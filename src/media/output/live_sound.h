/*
 * Aligns the live sound of a device to the monotonic clock, which also stamps camera pictures.
 *
 * Blocks of samples arrive late by varying amounts, but never early. So among neighbouring blocks,
 * the one with the least delay shows best when samples were recorded. The clock of a sound device
 * drifts, so a resampler stretches or shrinks the sound by up to 0.5 %. Missing samples become
 * silence.
 */
#ifndef LUMEQ_MEDIA_LIVE_SOUND_H
#define LUMEQ_MEDIA_LIVE_SOUND_H

#include <stdint.h>

#include <libavcodec/codec_id.h>
#include <libavcodec/packet.h>

#define LIVE_SOUND_RATE 48000

/* The codec of the packets from live_sound_read(): floats in native byte order. */
#define LIVE_SOUND_CODEC AV_NE(AV_CODEC_ID_PCM_F32BE, AV_CODEC_ID_PCM_F32LE)

typedef struct LiveSound LiveSound;

/* NULL: out of memory. */
LiveSound *live_sound_create(int channels);

int live_sound_channels(const LiveSound *sound);

/* Adds `count` interleaved samples per channel, at LIVE_SOUND_RATE by the device's clock.
 * `time_us`: av_gettime_relative() when the last sample arrived. Keeps the last minute. Any
 * thread. */
void live_sound_add(LiveSound *sound, const float *samples, int count, int64_t time_us);

/* `time_us` of the last live_sound_add(); AV_NOPTS_VALUE: no call yet. Any thread. */
int64_t live_sound_time(LiveSound *sound);

/* The recent peak, 0 to 1. Any thread. */
double live_sound_level(LiveSound *sound);

/* Sets the time at which the recording begins (its position 0). Earlier sound is left out. Call
 * once, in the thread that calls live_sound_read(). */
void live_sound_start(LiveSound *sound, int64_t time_us);

/*
 * Fills a blank packet with the next sound that was recorded before `until_us`. Packet times count
 * samples from the start and have no gaps. If `end`, the recording ends at `until_us`, and all the
 * remaining sound is returned, padded with silence. Otherwise, sound is returned about a second
 * late, and missing sound becomes silence after 2.5 seconds. Returns 0, AVERROR(EAGAIN) if no more
 * sound is ready, or AVERROR(ENOMEM).
 */
int live_sound_read(LiveSound *sound, int64_t until_us, int end, AVPacket *packet);

void live_sound_close(LiveSound **sound);

#endif
