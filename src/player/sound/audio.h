/* Plays a sound track on SDL's default device; a thread decodes it. */
#ifndef LUMEQ_PLAYER_AUDIO_H
#define LUMEQ_PLAYER_AUDIO_H

#include <stdint.h>

#include "media/error.h"
#include "media/input/demuxer.h"
#include "player/sound/audio_queue.h"

#define AUDIO_MAX_VOLUME 100

/* audio_open(), audio_start(), audio_stop() and audio_close() must not overlap. Another thread may
 * call the other functions meanwhile. Positions are microseconds from the start of the input. */
typedef struct Audio Audio;

/* Opens the default device at full volume, with the rate and channels of `stream` if the device
 * supports them. Sound is converted to the device's format. Returns a negative value with an error
 * on failure; *audio is then NULL. */
int audio_open(Audio **audio, const AVStream *stream, MediaError *error);

/* Plays the demuxer's selected track from `position_us`, or from the demuxer's position if
 * AV_NOPTS_VALUE. `origin_us` is source_start(). The previous track must be stopped. The demuxer
 * must be running. Returns a negative value with an error on failure. */
int audio_start(Audio *audio, Demuxer *demuxer, int64_t origin_us, int64_t position_us,
                double speed, MediaError *error);

/* Stops playback and drops the sound that was not heard. Stop the demuxer first, because the
 * decoding thread may be waiting for it. No effect when stopped. */
void audio_stop(Audio *audio);

/* The queue that the device plays. Call only its thread-safe functions. Pause and volume persist
 * across audio_stop() and audio_start(). */
AudioQueue *audio_queue(const Audio *audio);

/* Sets the volume, 0 to AUDIO_MAX_VOLUME, at once. To match perceived loudness, samples are
 * multiplied by (volume / AUDIO_MAX_VOLUME)^3, so 50 is -18 dB and 10 is -60 dB. */
void audio_set_volume(Audio *audio, int volume, int muted);

/* Sets the speed, SOUND_MIN_SPEED to SOUND_MAX_SPEED, at unchanged pitch. The change is heard about
 * 200 ms later, because sound is decoded ahead. */
void audio_set_speed(Audio *audio, double speed);

/* Number of damaged packets and frames in all tracks so far. */
int64_t audio_damage(const Audio *audio);

void audio_close(Audio **audio);

#endif
