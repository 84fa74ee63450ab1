/* The sound of the player: a track, decoded by a thread of its own, to SDL's default device. */
#ifndef LUMEQ_PLAYER_AUDIO_H
#define LUMEQ_PLAYER_AUDIO_H

#include <stddef.h>
#include <stdint.h>

#include "media/input/demuxer.h"

#define AUDIO_MAX_VOLUME 100

/* One thread opens, starts, stops and closes; all other functions may be another one's, also during
 * a start and a stop. Times are microseconds of clock_now(), positions microseconds
 * from the start of the input. */
typedef struct Audio Audio;

/*
 * Opens the default device, at full volume. `stream`'s rate and channels are asked for; the device
 * may have others, any track can be played on it. SDL's audio part is started for it. 0, or -1 with
 * a sentence in `why`; *audio is then NULL.
 */
int audio_open(Audio **audio, const AVStream *stream, char *why, size_t size);

/*
 * Plays the demuxer's track of sound from `position_us` on, AV_NOPTS_VALUE: from where the demuxer
 * reads. `origin_us` is source_start(). What was played before must be stopped. The demuxer must
 * run; it is read until audio_stop(). 0, or -1 with a sentence in `why`: it cannot be decoded.
 */
int audio_start(Audio *audio, Demuxer *demuxer, int64_t origin_us, int64_t position_us,
                double speed, char *why, size_t size);

/* Ends what plays; nothing of it is heard after the next audio_start(). The demuxer is stopped
 * before, as the sound may be waiting for it. Does nothing when stopped. */
void audio_stop(Audio *audio);

/* Stays as it is over audio_stop() and audio_start(), as the volume and mute do. */
void audio_pause(Audio *audio, int paused);

/* Goes on at this position: what is before it is not heard. For what is ahead by little; further
 * away, starting anew is faster. */
void audio_skip(Audio *audio, int64_t position_us);

/* 0 to AUDIO_MAX_VOLUME, at once. Loudness as it is felt: samples are multiplied with the cube of
 * volume / AUDIO_MAX_VOLUME, so that 50 is -18 dB and 10 is -60 dB. */
void audio_set_volume(Audio *audio, int volume);
void audio_set_mute(Audio *audio, int mute);

/* SOUND_MIN_SPEED to SOUND_MAX_SPEED, the pitch is kept; heard after what is decoded already, about
 * 200 ms. */
void audio_set_speed(Audio *audio, double speed);

/*
 * Not 0: *position_us is what is heard now. 0: not known; the clock goes on by itself. That is so
 * before the first sample is heard, when paused, stopped, over or run dry, and when the device has
 * not asked for samples for half a second. When such a device comes back, the sound goes on where
 * it would be then.
 */
int audio_position(Audio *audio, int64_t now_us, int64_t *position_us);

/* Not 0: all there is of the track has been heard, or nothing plays. */
int audio_is_over(Audio *audio, int64_t now_us);

/* For the statistics: how often the device has run dry, and what of the tracks was damaged. */
int64_t audio_underruns(Audio *audio);
int64_t audio_damage(const Audio *audio);

void audio_close(Audio **audio);

#endif
