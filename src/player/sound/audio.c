#include "player/sound/audio.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <SDL.h>

#include "media/sound/sound.h"
#include "player/clock.h"

/* Device buffer length, rounded to a power of two samples. */
#define BUFFER_MS 20

#define USUAL_RATE 48000
#define MAX_RATE 192000

struct Audio {
    SDL_AudioDeviceID device;
    SDL_AudioSpec spec;
    AudioQueue *queue;

    Sound *sound; /* NULL: stopped */
    Demuxer *demuxer;
    AVPacket *packet;
    pthread_t thread;
    _Atomic double speed;
    atomic_llong damage; /* damaged packets of all tracks so far */
};

static void SDLCALL fill(void *opaque, Uint8 *bytes, int size)
{
    Audio *a = opaque;
    const int count = size / (int)sizeof(float) / a->spec.channels;
    audio_queue_take(a->queue, (float *)(void *)bytes, count, clock_now());
}

/* Asks for no more channels than the device has, because sound.h mixes down better than devices do.
 * The device stays paused until audio_open() has created the queue. */
static int open_device(Audio *a, const AVStream *stream)
{
    const int rate = stream->codecpar->sample_rate;
    int channels = stream->codecpar->ch_layout.nb_channels;
    SDL_AudioSpec usual = {0};
    SDL_AudioSpec wanted = {.format = AUDIO_F32SYS, .callback = fill, .userdata = a, .samples = 1};
    if (SDL_GetDefaultAudioInfo(NULL, &usual, 0) == 0 && usual.channels)
        channels = SDL_min(channels, usual.channels);
    static const Uint8 layouts[] = {2, 1, 2, 2, 2, 2, 6, 6, 8}; /* by number of channels */
    wanted.channels = layouts[SDL_clamp(channels, 0, 8)];
    wanted.freq = rate > 0 && rate <= MAX_RATE ? rate : USUAL_RATE;
    while (wanted.samples * 1500 < wanted.freq * BUFFER_MS)
        wanted.samples = (Uint16)(wanted.samples * 2);
    a->device = SDL_OpenAudioDevice(NULL, 0, &wanted, &a->spec, SDL_AUDIO_ALLOW_FREQUENCY_CHANGE);
    return a->device ? 0 : -1;
}

int audio_open(Audio **audio, const AVStream *stream, MediaError *error)
{
    *audio = NULL;
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) < 0)
        return media_fail(error, MEDIA_INPUT, "no sound device is available: %s", SDL_GetError());
    Audio *a = calloc(1, sizeof(*a));
    if (!a) {
        SDL_QuitSubSystem(SDL_INIT_AUDIO);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    if (open_device(a, stream) < 0) {
        const int ret =
            media_fail(error, MEDIA_INPUT, "no sound device is available: %s", SDL_GetError());
        audio_close(&a);
        return ret;
    }
    a->packet = av_packet_alloc();
    a->queue = audio_queue_create(a->spec.freq, a->spec.channels, a->spec.samples,
                                  sound_block_samples(a->spec.freq));
    if (!a->packet || !a->queue) {
        audio_close(&a);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    SDL_PauseAudioDevice(a->device, 0);
    *audio = a;
    return 0;
}

void audio_close(Audio **audio)
{
    Audio *a = *audio;
    if (!a)
        return;
    audio_stop(a);
    if (a->device)
        SDL_CloseAudioDevice(a->device);
    audio_queue_free(&a->queue);
    av_packet_free(&a->packet);
    free(a);
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    *audio = NULL;
}

/* Returns 0, or a negative value at the end. */
static int next_block(Audio *a, SoundBlock *block)
{
    int ret;
    sound_set_speed(a->sound, a->speed);
    while ((ret = sound_receive(a->sound, block)) == AVERROR(EAGAIN)) {
        ret = demuxer_read(a->demuxer, DEMUX_AUDIO, a->packet, 1);
        if (ret < 0 && ret != AVERROR_EOF)
            return ret;
        sound_send(a->sound, ret < 0 ? NULL : a->packet);
        av_packet_unref(a->packet);
    }
    return ret;
}

static void *decode_main(void *arg)
{
    Audio *a = arg;
    const int64_t damage_before = a->damage;
    SoundBlock *block;
    while ((block = audio_queue_room(a->queue)) && next_block(a, block) >= 0) {
        audio_queue_push(a->queue);
        a->damage = damage_before + sound_damage(a->sound);
    }
    audio_queue_end(a->queue);
    return NULL;
}

int audio_start(Audio *a, Demuxer *demuxer, int64_t origin, int64_t position, double speed,
                MediaError *error)
{
    const AVStream *stream = demuxer_selected(demuxer, DEMUX_AUDIO);
    if (!stream)
        return media_fail(error, MEDIA_INPUT, "no sound track is selected");
    if (sound_open(&a->sound, stream, origin, a->spec.freq, a->spec.channels, error) < 0)
        return -1;
    sound_start(a->sound, position);
    a->demuxer = demuxer;
    a->speed = speed;
    audio_queue_start(a->queue);
    if (pthread_create(&a->thread, NULL, decode_main, a) != 0) {
        audio_queue_stop(a->queue);
        sound_close(&a->sound);
        return media_fail(error, MEDIA_INPUT, "cannot start a thread to decode sound");
    }
    return 0;
}

void audio_stop(Audio *a)
{
    if (!a->sound)
        return;
    audio_queue_stop(a->queue);
    pthread_join(a->thread, NULL);
    sound_close(&a->sound);
}

AudioQueue *audio_queue(const Audio *a)
{
    return a->queue;
}

void audio_set_volume(Audio *a, int volume, int muted)
{
    const double share = muted ? 0 : (double)volume / AUDIO_MAX_VOLUME;
    audio_queue_gain(a->queue, share * share * share);
}

void audio_set_speed(Audio *a, double speed)
{
    a->speed = speed;
}

int64_t audio_damage(const Audio *a)
{
    return a->damage;
}
