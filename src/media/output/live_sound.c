#include "media/output/live_sound.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <libavutil/channel_layout.h>
#include <libavutil/common.h>
#include <libavutil/fifo.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

/* Larger timing errors are corrected at once, by silence or a cut; smaller ones by resampling. */
#define LIMIT_US 35000.0

/* Blocks that arrive up to this much later help to find the delay of a block, see least_delay(). */
#define AHEAD_US 1000000

/* A block of this age is used even if later blocks are still missing. Sound that is missing for
 * SILENT_US becomes silence. */
#define MISSING_US 2000000
#define SILENT_US 2500000

/* Maximum increase and decrease of the assumed delay, as a share of the sound's length. Clocks
 * drift less than LONGER. SHORTER is larger, because a shorter delay is always nearer to the true
 * one. */
#define LONGER 300e-6
#define SHORTER 5e-3

/* Samples between adjustments of the resampler, and the maximum number of samples that one
 * adjustment adds or removes. */
#define ADJUST_SAMPLES LIVE_SOUND_RATE
#define MAX_ADJUST (LIVE_SOUND_RATE / 200)

#define MOST_SAMPLES (60 * LIVE_SOUND_RATE) /* to keep: one minute */
#define FIRST_BLOCKS 64
#define MAX_BLOCKS MOST_SAMPLES

typedef struct Block {
    float *samples;  /* NULL: none */
    int count, used; /* samples per channel: all, and those already taken */
    int64_t first;   /* index of its first sample since the device was started */
    int64_t time;    /* when its last sample arrived */
} Block;

struct LiveSound {
    int channels;
    pthread_mutex_t lock; /* protects the members up to `level` */
    AVFifo *blocks;       /* Block, oldest first */
    int64_t added;        /* samples so far */
    int64_t time;         /* of the last block */
    double level;

    /* Used by the thread that calls live_sound_read(). */
    SwrContext *resampler;
    Block block;
    int64_t start; /* time of position 0 */
    int64_t next;  /* position of the next sample to return */
    int64_t adjusted;
    double offset; /* time of the device's first sample */
    bool has_offset;
};

static double to_us(double samples)
{
    return samples * 1e6 / LIVE_SOUND_RATE;
}

LiveSound *live_sound_create(int channels)
{
    LiveSound *s = av_mallocz(sizeof(*s));
    if (!s)
        return NULL;
    s->channels = channels;
    s->time = AV_NOPTS_VALUE;
    pthread_mutex_init(&s->lock, NULL);
    s->blocks = av_fifo_alloc2(FIRST_BLOCKS, sizeof(Block), AV_FIFO_FLAG_AUTO_GROW);
    AVChannelLayout layout;
    av_channel_layout_default(&layout, channels);
    int ret = swr_alloc_set_opts2(&s->resampler, &layout, AV_SAMPLE_FMT_FLT, LIVE_SOUND_RATE,
                                  &layout, AV_SAMPLE_FMT_FLT, LIVE_SOUND_RATE, 0, NULL);
    if (ret >= 0) /* resample, although the rates are the same */
        ret = av_opt_set_int(s->resampler, "flags", SWR_FLAG_RESAMPLE, 0);
    if (!s->blocks || ret < 0 || swr_init(s->resampler) < 0)
        live_sound_close(&s);
    else
        av_fifo_auto_grow_limit(s->blocks, MAX_BLOCKS);
    return s;
}

int live_sound_channels(const LiveSound *s)
{
    return s->channels;
}

/* ---- the thread of the device ---- */

void live_sound_add(LiveSound *s, const float *samples, int count, int64_t time_us)
{
    const size_t all = (size_t)count * (size_t)s->channels;
    Block block = {
        .samples = av_memdup(samples, all * sizeof(*samples)), .count = count, .time = time_us};
    float peak = 0;
    for (size_t i = 0; i < all; i++)
        peak = fmaxf(peak, fabsf(samples[i]));
    const double fade = exp(-to_us(count) / 150e3);
    pthread_mutex_lock(&s->lock);
    block.first = s->added;
    s->added += count;
    s->time = time_us;
    s->level = fmax(fminf(peak, 1), s->level * fade);
    Block oldest;
    while (av_fifo_peek(s->blocks, &oldest, 1, 0) >= 0 && s->added - oldest.first > MOST_SAMPLES) {
        av_freep(&oldest.samples);
        av_fifo_drain2(s->blocks, 1);
    }
    if (block.samples && av_fifo_write(s->blocks, &block, 1) < 0)
        av_freep(&block.samples); /* becomes silence */
    pthread_mutex_unlock(&s->lock);
}

int64_t live_sound_time(LiveSound *s)
{
    pthread_mutex_lock(&s->lock);
    const int64_t time = s->time;
    pthread_mutex_unlock(&s->lock);
    return time;
}

double live_sound_level(LiveSound *s)
{
    pthread_mutex_lock(&s->lock);
    const double level = s->level;
    pthread_mutex_unlock(&s->lock);
    return level;
}

/* ---- the thread that reads ---- */

void live_sound_start(LiveSound *s, int64_t time_us)
{
    s->start = time_us;
}

/* The time of the device's first sample according to the block with the least delay: `oldest`, or a
 * block up to AHEAD_US later. Call under the lock. */
static double least_delay(const LiveSound *s, const Block *oldest)
{
    double least = INFINITY;
    Block b;
    for (size_t i = 0; av_fifo_peek(s->blocks, &b, 1, i) >= 0; i++) {
        if (b.time - oldest->time > AHEAD_US)
            break;
        least = fmin(least, (double)b.time - to_us((double)(b.first + b.count)));
    }
    return least;
}

static void follow(LiveSound *s, const Block *block, double least)
{
    const double later = least - s->offset, length = to_us(block->count);
    if (!s->has_offset || fabs(later) > LIMIT_US)
        s->offset = least;
    else
        s->offset += av_clipd(later, -SHORTER * length, LONGER * length);
    s->has_offset = true;
}

/* Moves the oldest block into s->block if its time is known and before `until`. */
static int take_block(LiveSound *s, int64_t until, int end)
{
    Block block;
    int ret = AVERROR(EAGAIN);
    pthread_mutex_lock(&s->lock);
    if (av_fifo_peek(s->blocks, &block, 1, 0) >= 0 &&
        (end || s->time - block.time >= AHEAD_US || until - block.time >= MISSING_US)) {
        const double least = least_delay(s, &block);
        if (least + to_us((double)block.first) < (double)until) {
            follow(s, &block, least);
            av_fifo_drain2(s->blocks, 1);
            s->block = block;
            ret = 0;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return ret;
}

static int finish_packet(LiveSound *s, AVPacket *packet, int64_t samples)
{
    av_shrink_packet(packet, (int)samples * s->channels * (int)sizeof(float));
    packet->pts = packet->dts = s->next;
    packet->duration = samples;
    packet->flags |= AV_PKT_FLAG_KEY;
    s->next += samples;
    return 0;
}

/* Returns up to a second of silence. */
static int silence(LiveSound *s, AVPacket *packet, int64_t samples)
{
    samples = FFMIN(samples, LIVE_SOUND_RATE);
    const int ret = av_new_packet(packet, (int)samples * s->channels * (int)sizeof(float));
    if (ret < 0)
        return ret;
    memset(packet->data, 0, (size_t)packet->size);
    return finish_packet(s, packet, samples);
}

/* Returns the rest of s->block, or the silence before it. AVERROR(EAGAIN): nothing is left. */
static int take_rest(LiveSound *s, AVPacket *packet)
{
    Block *b = &s->block;
    /* The gap before the rest of the block, in samples; negative: an overlap. */
    const double place = s->offset + to_us((double)(b->first + b->used)) - (double)s->start;
    const double off = place * LIVE_SOUND_RATE / 1e6 - (double)s->next -
                       (double)swr_get_delay(s->resampler, LIVE_SOUND_RATE);
    const double limit = s->next ? LIMIT_US * LIVE_SOUND_RATE / 1e6 : 0.5;
    if (off > limit)
        return silence(s, packet, llrint(off));
    if (off < -limit) {
        b->used += (int)fmin(b->count - b->used, rint(-off));
    } else if (!s->adjusted || s->next - s->adjusted >= ADJUST_SAMPLES) {
        s->adjusted = s->next;
        /* Does not fail for such a small adjustment. */
        (void)swr_set_compensation(s->resampler, av_clip((int)lrint(off), -MAX_ADJUST, MAX_ADJUST),
                                   ADJUST_SAMPLES);
    }
    int got = AVERROR(EAGAIN);
    if (b->used < b->count) {
        const uint8_t *from = (const uint8_t *)(b->samples + (size_t)b->used * (size_t)s->channels);
        const int in = b->count - b->used, room = swr_get_out_samples(s->resampler, in);
        got = room < 0 ? room
                       : av_new_packet(packet, FFMAX(room, 1) * s->channels * (int)sizeof(float));
        if (got >= 0)
            got = swr_convert(s->resampler, &packet->data, room, &from, in);
    }
    av_freep(&b->samples);
    if (got > 0)
        return finish_packet(s, packet, got);
    av_packet_unref(packet);
    return got < 0 ? got : AVERROR(EAGAIN);
}

int live_sound_read(LiveSound *s, int64_t until, int end, AVPacket *packet)
{
    int ret = AVERROR(EAGAIN);
    while (ret == AVERROR(EAGAIN) && (s->block.samples || take_block(s, until, end) >= 0))
        ret = take_rest(s, packet);
    if (ret != AVERROR(EAGAIN))
        return ret;
    const int64_t missing =
        av_rescale(until - s->start - (end ? 0 : SILENT_US), LIVE_SOUND_RATE, 1000000) - s->next;
    return missing > 0 ? silence(s, packet, missing) : AVERROR(EAGAIN);
}

void live_sound_close(LiveSound **sound)
{
    LiveSound *s = *sound;
    Block block;
    if (!s)
        return;
    while (s->blocks && av_fifo_read(s->blocks, &block, 1) >= 0)
        av_freep(&block.samples);
    av_freep(&s->block.samples);
    av_fifo_freep2(&s->blocks);
    swr_free(&s->resampler);
    pthread_mutex_destroy(&s->lock);
    av_freep(sound);
}
