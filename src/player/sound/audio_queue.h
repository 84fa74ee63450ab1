/*
 * Blocks of sound between the thread that decodes them and the device that asks for samples, and
 * the account of which of them is heard when. Knows no SDL; all times are microseconds of
 * clock_now(), handed in.
 *
 * A device is thought of as having two buffers: while one is heard it asks for the other. So the
 * samples that it is given begin to be heard when one buffer has passed, as ffplay counts it too;
 * how late or early it asks is evened out.
 */
#ifndef LUMEQ_PLAYER_AUDIO_QUEUE_H
#define LUMEQ_PLAYER_AUDIO_QUEUE_H

#include "media/sound/sound.h"

/* Decoded ahead: 10 blocks of about 20 ms. More would delay what is changed meanwhile. */
#define AUDIO_QUEUE_BLOCKS 10

/* A device that has not asked for so long is gone; it may come back. */
#define AUDIO_GONE_US 500000

typedef struct AudioQueue AudioQueue;

/* `buffer` is what the device asks for at a time; blocks hold `block` samples at most. NULL: no
 * memory. It is silent until audio_queue_start(). */
AudioQueue *audio_queue_create(int rate, int channels, int buffer, int block);

/* Begins with an empty queue; nothing that was in it is heard any more, nor are positions of it
 * known. */
void audio_queue_start(AudioQueue *queue);

/* The thread that decodes: a block to be filled, as soon as there is room; NULL when stopped. */
SoundBlock *audio_queue_room(AudioQueue *queue);

/* The thread that decodes: that block is filled. */
void audio_queue_push(AudioQueue *queue);

/* The thread that decodes: no more follow. */
void audio_queue_end(AudioQueue *queue);

/* Silences it and ends the wait in audio_queue_room(). Any thread. */
void audio_queue_stop(AudioQueue *queue);

/* Paused, it gives silence and keeps its blocks. Any thread. */
void audio_queue_pause(AudioQueue *queue, int paused, int64_t now_us);

/* What is before this position is left out from here on. Any thread. */
void audio_queue_skip(AudioQueue *queue, int64_t position);

/* What samples are multiplied with, reached within one buffer. Any thread. */
void audio_queue_gain(AudioQueue *queue, double gain);

/* The device's thread: fills `samples` (interleaved) with `count` samples of each channel. Never
 * waits for longer than a block is copied. */
void audio_queue_take(AudioQueue *queue, float *samples, int count, int64_t now_us);

/* Not 0: *position is what is heard now. 0: that is not known: nothing is heard yet or any more,
 * the queue has run dry, is paused, or the device is gone. Does not go back by itself, but with the
 * positions of blocks. Any thread. */
int audio_queue_position(AudioQueue *queue, int64_t now_us, int64_t *position);

/* Not 0: the last block has been heard, or nothing was started. Any thread. */
int audio_queue_is_over(AudioQueue *queue, int64_t now_us);

/* Blocks in it, of AUDIO_QUEUE_BLOCKS. Any thread. */
int audio_queue_waiting(AudioQueue *queue);

/* How often it has run dry since it was created. Any thread. */
int64_t audio_queue_underruns(AudioQueue *queue);

void audio_queue_free(AudioQueue **queue);

#endif
