/*
 * Sound of a device that is recorded live. Its samples are put in their place on the monotonic
 * clock, on which cameras stamp their pictures.
 *
 * The clock of a sound device is never exactly the computer's, and blocks of samples come late by
 * amounts that vary, but never early. So the place of a sample follows the least delay of the
 * blocks around it, and a resampler stretches or shrinks the sound by parts of a thousand. Missing
 * samples become silence.
 */
#ifndef LUMEQ_MEDIA_LIVE_SOUND_H
#define LUMEQ_MEDIA_LIVE_SOUND_H

#include <stdint.h>

#include <libavcodec/codec_id.h>
#include <libavcodec/packet.h>

#define LIVE_SOUND_RATE 48000

/* The codec of its packets: native floats. */
#define LIVE_SOUND_CODEC AV_NE(AV_CODEC_ID_PCM_F32BE, AV_CODEC_ID_PCM_F32LE)

typedef struct LiveSound LiveSound;

/* NULL: out of memory. */
LiveSound *live_sound_create(int channels);

int live_sound_channels(const LiveSound *sound);

/* Adds `count` interleaved samples per channel, at LIVE_SOUND_RATE by the device's clock.
 * `time_us`: av_gettime_relative() when the last of them came. Keeps the last minute. Any thread.
 */
void live_sound_add(LiveSound *sound, const float *samples, int count, int64_t time_us);

/* The time of the last live_sound_add(); AV_NOPTS_VALUE: none yet. Any thread. */
int64_t live_sound_time(LiveSound *sound);

/* The recent peak, 0 to 1. Any thread. */
double live_sound_level(LiveSound *sound);

/* Makes this time position 0 of the recording; earlier sound is left out. Call once, in the thread
 * that reads. */
void live_sound_start(LiveSound *sound, int64_t time_us);

/*
 * Gets the next piece of sound from before `until_us` into a blank packet, whose times are in
 * samples from the start on, without gaps. `end`: the recording ends at `until_us`: returns all the
 * rest, completed with silence. Else sound comes about a second late, and missing sound becomes
 * silence after three. Returns 0, AVERROR(EAGAIN) if it must wait, or AVERROR(ENOMEM).
 */
int live_sound_read(LiveSound *sound, int64_t until_us, int end, AVPacket *packet);

void live_sound_close(LiveSound **sound);

#endif
