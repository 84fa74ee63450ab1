/*
 * Queues sound blocks from the decoding thread to the device and computes the audible position.
 * Does not use SDL; times are microseconds of clock_now(), passed in.
 *
 * The device is assumed to have two buffers: while it plays one, it requests samples for the other.
 * So requested samples are heard one buffer later, as in ffplay.
 */
#ifndef LUMEQ_PLAYER_AUDIO_QUEUE_H
#define LUMEQ_PLAYER_AUDIO_QUEUE_H

#include <stdbool.h>

#include "media/sound/sound.h"

/* Blocks decoded ahead, about 20 ms each. With more, changes of speed would be heard later. */
#define AUDIO_QUEUE_BLOCKS 10

/* A device that requests nothing for this long is considered gone. When it requests sound again,
 * the queue skips to the position that the player's clock has reached. */
#define AUDIO_GONE_US 500000

typedef struct AudioQueue AudioQueue;

/* `buffer`: samples per device request; `block`: maximum samples per block; both per channel. The
 * queue delivers silence until audio_queue_start(). NULL if out of memory. */
AudioQueue *audio_queue_create(int rate, int channels, int buffer, int block);

/* Empties and starts the queue. */
void audio_queue_start(AudioQueue *queue);

/* Decoding thread: waits for a free block to fill; NULL when stopped. */
SoundBlock *audio_queue_room(AudioQueue *queue);

/* Decoding thread: queues the filled block. */
void audio_queue_push(AudioQueue *queue);

/* Decoding thread: no more blocks follow. */
void audio_queue_end(AudioQueue *queue);

/* Empties the queue and ends the wait in audio_queue_room(). Thread-safe. */
void audio_queue_stop(AudioQueue *queue);

/* A paused queue delivers silence and keeps its blocks. Thread-safe. */
void audio_queue_pause(AudioQueue *queue, int paused, int64_t now_us);

/* Skips the sound before this position. Thread-safe. */
void audio_queue_skip(AudioQueue *queue, int64_t position);

/* Sets the gain, which is reached gradually during the next request. Thread-safe. */
void audio_queue_gain(AudioQueue *queue, double gain);

/* Device thread: fills `samples` (interleaved) with `count` samples per channel. If blocks are
 * missing, fills in silence instead of waiting. */
void audio_queue_take(AudioQueue *queue, float *samples, int count, int64_t now_us);

/* Returns nonzero with the audible position. Returns 0 if the position is unknown: during silence,
 * an underrun or a pause, just after a change of speed, or if the device is gone. Thread-safe. */
int audio_queue_position(AudioQueue *queue, int64_t now_us, int64_t *position);

/* True if all sound up to audio_queue_end() was heard, or the queue is stopped. Thread-safe. */
bool audio_queue_is_over(AudioQueue *queue, int64_t now_us);

/* Number of waiting blocks, up to AUDIO_QUEUE_BLOCKS. Thread-safe. */
int audio_queue_waiting(AudioQueue *queue);

/* Number of underruns since creation. Thread-safe. */
int64_t audio_queue_underruns(AudioQueue *queue);

void audio_queue_free(AudioQueue **queue);

#endif
