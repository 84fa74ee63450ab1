#include "player/sound/audio_queue.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Blocks needed to start or resume, because the device may request several blocks at once. */
#define FIRST_BLOCKS 3

/* Jitter of up to MAX_JITTER_US between requests is averaged over SMOOTHED_CALLS requests. */
#define SMOOTHED_CALLS 16
#define MAX_JITTER_US 100000

/* After a larger jump between two blocks, the position is unknown until the jump is heard. */
#define GAP_US 40000

struct AudioQueue {
    int rate, channels, buffer;
    pthread_mutex_t lock; /* protects everything below except the blocks' samples */
    pthread_cond_t taken;
    SoundBlock blocks[AUDIO_QUEUE_BLOCKS];
    int first, count; /* filled blocks */
    int used;         /* samples of the first block already delivered */
    int running, paused, ended, playing;
    double gain, last_gain;
    int64_t underruns;

    int64_t delivered; /* samples since the device's start, including silence */
    int64_t run;       /* number of samples since the last silence or jump */
    double end, worth; /* position after the run, and duration of each sample, in microseconds */
    int64_t sound_end; /* `delivered` after the last sample that was not silence */
    double heard;      /* number of samples heard by anchor_time, smoothed */
    int64_t anchor_time, calls;   /* time of the last request, number of requests */
    int64_t missed, counted_from; /* missed: unpaused time from anchor_time to counted_from */
    double resume_at;             /* skip everything before this position; -INFINITY: nothing */
};

AudioQueue *audio_queue_create(int rate, int channels, int buffer, int block)
{
    AudioQueue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->rate = rate;
    q->channels = channels;
    q->buffer = buffer;
    q->gain = q->last_gain = 1;
    q->resume_at = -INFINITY;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->taken, NULL);
    for (int i = 0; i < AUDIO_QUEUE_BLOCKS; i++) {
        q->blocks[i].samples = calloc((size_t)block * (size_t)channels, sizeof(float));
        if (!q->blocks[i].samples)
            audio_queue_free(&q);
        if (!q)
            return NULL;
    }
    return q;
}

static void empty(AudioQueue *q)
{
    q->first = q->count = q->used = 0;
    q->playing = q->ended = 0;
    q->resume_at = -INFINITY;
    q->run = 0;
}

void audio_queue_start(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    empty(q);
    q->running = 1;
    pthread_mutex_unlock(&q->lock);
}

void audio_queue_stop(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    empty(q);
    q->running = 0;
    pthread_cond_broadcast(&q->taken);
    pthread_mutex_unlock(&q->lock);
}

SoundBlock *audio_queue_room(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->running && q->count == AUDIO_QUEUE_BLOCKS)
        pthread_cond_wait(&q->taken, &q->lock);
    SoundBlock *block = q->running ? &q->blocks[(q->first + q->count) % AUDIO_QUEUE_BLOCKS] : NULL;
    pthread_mutex_unlock(&q->lock);
    return block;
}

static double block_end(const SoundBlock *block)
{
    return (double)block->position + block->count * block->worth;
}

void audio_queue_push(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    const SoundBlock *block = &q->blocks[(q->first + q->count) % AUDIO_QUEUE_BLOCKS];
    q->count += q->running && block_end(block) > q->resume_at;
    pthread_mutex_unlock(&q->lock);
}

void audio_queue_end(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ended = 1;
    pthread_mutex_unlock(&q->lock);
}

void audio_queue_pause(AudioQueue *q, int paused, int64_t now)
{
    pthread_mutex_lock(&q->lock);
    if (paused && !q->paused)
        q->missed += now - q->counted_from;
    q->counted_from = now;
    q->paused = paused;
    pthread_mutex_unlock(&q->lock);
}

void audio_queue_skip(AudioQueue *q, int64_t position)
{
    pthread_mutex_lock(&q->lock);
    q->resume_at = (double)position;
    q->playing = 0;
    pthread_mutex_unlock(&q->lock);
}

void audio_queue_gain(AudioQueue *q, double gain)
{
    pthread_mutex_lock(&q->lock);
    q->gain = gain;
    pthread_mutex_unlock(&q->lock);
}

static double to_samples(const AudioQueue *q, int64_t us)
{
    return (double)us * q->rate / 1e6;
}

static bool is_gone(const AudioQueue *q, int64_t now)
{
    return !q->calls || now - q->anchor_time > AUDIO_GONE_US;
}

/* The sample that is heard now. */
static int64_t heard_now(const AudioQueue *q, int64_t now)
{
    const double heard = q->heard + to_samples(q, now - q->anchor_time);
    return heard < (double)q->delivered ? (int64_t)floor(heard) : q->delivered;
}

/* While the device was gone, the clock ran on. Skips to the clock's position plus two buffers, the
 * time until sound is heard again. */
static void catch_up(AudioQueue *q, int64_t now)
{
    if (!q->calls || !q->playing || !q->run)
        return;
    const int64_t alone = q->missed + (q->paused ? 0 : now - q->counted_from) - AUDIO_GONE_US;
    q->resume_at = q->end + (to_samples(q, alone) + 2 * q->buffer) * q->worth;
    q->playing = 0;
}

/* A request means that the device has played all delivered samples except the last buffer. */
static void note_call(AudioQueue *q, int64_t now)
{
    const double heard = (double)(q->delivered - q->buffer);
    const double expected = q->heard + to_samples(q, now - q->anchor_time);
    const int64_t weight = q->calls < SMOOTHED_CALLS ? q->calls + 1 : SMOOTHED_CALLS;
    if (is_gone(q, now)) {
        catch_up(q, now);
        q->calls = 0;
    }
    if (!q->calls || fabs(heard - expected) > to_samples(q, MAX_JITTER_US))
        q->heard = heard;
    else
        q->heard = expected + (heard - expected) / (double)weight;
    q->anchor_time = q->counted_from = now;
    q->missed = 0;
    q->calls++;
}

int audio_queue_position(AudioQueue *q, int64_t now, int64_t *position)
{
    pthread_mutex_lock(&q->lock);
    const int64_t unheard = q->delivered - heard_now(q, now);
    const int known = q->run && !is_gone(q, now) && unheard <= q->run;
    if (known)
        *position = llrint(q->end - (double)unheard * q->worth);
    pthread_mutex_unlock(&q->lock);
    return known;
}

bool audio_queue_is_over(AudioQueue *q, int64_t now)
{
    pthread_mutex_lock(&q->lock);
    const int all_heard = is_gone(q, now) || heard_now(q, now) >= q->sound_end;
    const int over = !q->running || (q->ended && !q->count && all_heard);
    pthread_mutex_unlock(&q->lock);
    return over;
}

int audio_queue_waiting(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    const int count = q->count;
    pthread_mutex_unlock(&q->lock);
    return count;
}

int64_t audio_queue_underruns(AudioQueue *q)
{
    pthread_mutex_lock(&q->lock);
    const int64_t underruns = q->underruns;
    pthread_mutex_unlock(&q->lock);
    return underruns;
}

static void drop_first(AudioQueue *q)
{
    q->first = (q->first + 1) % AUDIO_QUEUE_BLOCKS;
    q->count--;
    q->used = 0;
    pthread_cond_signal(&q->taken);
}

/* Skips to resume_at, exact to the sample. */
static void skip(AudioQueue *q)
{
    while (q->count && block_end(&q->blocks[q->first]) <= q->resume_at)
        drop_first(q);
    const SoundBlock *block = &q->blocks[q->first];
    const double before =
        q->count ? ceil((q->resume_at - (double)block->position) / block->worth) : 0;
    if (before > q->used && before < block->count)
        q->used = (int)before;
}

/* Skips to resume_at, then updates `playing`. Returns true if there are samples to play now. */
static bool update_playing(AudioQueue *q)
{
    skip(q);
    if (q->playing && !q->count) {
        q->underruns += !q->ended;
        q->playing = 0;
    } else if (q->count >= FIRST_BLOCKS || (q->count && q->ended)) {
        q->playing = 1;
    }
    return q->playing && !q->paused;
}

/* Copies up to `count` samples of the first block; returns the number. */
static int take_some(AudioQueue *q, float *samples, int count)
{
    const SoundBlock *block = &q->blocks[q->first];
    const int left = block->count - q->used, n = left < count ? left : count;
    const size_t channels = (size_t)q->channels;
    memcpy(samples, block->samples + (size_t)q->used * channels,
           (size_t)n * channels * sizeof(*samples));
    const double begin = (double)block->position + q->used * block->worth;
    q->run = block->worth == q->worth && fabs(begin - q->end) < GAP_US ? q->run + n : n;
    q->worth = block->worth;
    q->end = begin + n * q->worth;
    q->sound_end = q->delivered += n;
    q->used += n;
    if (q->used == block->count)
        drop_first(q);
    return n;
}

static void apply_gain(float *samples, int count, int channels, double from, double to)
{
    for (int i = 0; i < count; i++) {
        const float gain = (float)(from + (to - from) * (i + 1) / count);
        for (int c = 0; c < channels; c++)
            samples[i * channels + c] *= gain;
    }
}

void audio_queue_take(AudioQueue *q, float *samples, int count, int64_t now)
{
    int done = 0;
    pthread_mutex_lock(&q->lock);
    note_call(q, now);
    while (done < count && update_playing(q))
        done += take_some(q, samples + (size_t)done * (size_t)q->channels, count - done);
    if (done < count) {
        q->delivered += count - done;
        q->run = 0;
    }
    const double from = q->last_gain, to = q->gain;
    q->last_gain = to;
    pthread_mutex_unlock(&q->lock);

    memset(samples + (size_t)done * (size_t)q->channels, 0,
           (size_t)(count - done) * (size_t)q->channels * sizeof(*samples));
    apply_gain(samples, done, q->channels, from, to);
}

void audio_queue_free(AudioQueue **queue)
{
    AudioQueue *q = *queue;
    if (!q)
        return;
    for (int i = 0; i < AUDIO_QUEUE_BLOCKS; i++)
        free(q->blocks[i].samples);
    pthread_cond_destroy(&q->taken);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}
