#include "player/sound/microphone.h"

#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "player/clock.h"
#include "player/window.h"

#define BLOCK_SAMPLES 1024 /* 21 ms */
#define MAX_SILENCE_US 2000000

struct Microphone {
    SDL_AudioDeviceID device;
    char name[256];
    LiveSound *sound;
    int64_t opened_at;
};

static int start_sdl(MediaError *error)
{
    window_silence_libraries();
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    return SDL_InitSubSystem(SDL_INIT_AUDIO) >= 0
               ? 0
               : media_fail(error, MEDIA_INPUT, "no sound system is available: %s", SDL_GetError());
}

static int list_names(TextList *names, MediaError *error)
{
    const int count = SDL_GetNumAudioDevices(1);
    for (int i = 0; i < count; i++) {
        const char *name = SDL_GetAudioDeviceName(i, 1);
        if (name && text_list_add(names, name) < 0)
            return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    return 0;
}

int microphone_list(TextList *names, MediaError *error)
{
    if (start_sdl(error) < 0)
        return error->fault;
    const int ret = list_names(names, error);
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    return ret;
}

static int refuse_name(const TextList *names, const char *name, const char *why, MediaError *error)
{
    char found[768] = "";
    for (int i = 0; i < names->count; i++) {
        SDL_strlcat(found, i ? ", " : "", sizeof(found));
        SDL_strlcat(found, media_quote(names->all[i]), sizeof(found));
    }
    return media_fail(error, MEDIA_USAGE, "--microphone %s: %s; found: %s", media_quote(name), why,
                      names->count ? found : "none");
}

/* Finds the device with this name, or the only device whose name contains this name. */
static int find_name(const TextList *names, const char *name, const char **device,
                     MediaError *error)
{
    int count = 0;
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->all[i], name) == 0) {
            *device = names->all[i];
            return 0;
        }
        if (SDL_strcasestr(names->all[i], name)) {
            *device = names->all[i];
            count++;
        }
    }
    if (count == 1)
        return 0;
    return refuse_name(names, name,
                       count ? "several microphones match" : "no microphone has this name", error);
}

static void SDLCALL receive(void *opaque, Uint8 *bytes, int size)
{
    Microphone *m = opaque;
    const int count = size / (int)sizeof(float) / live_sound_channels(m->sound);
    /* SDL continues with silence when the device is gone */
    if (SDL_GetAudioDeviceStatus(m->device) == SDL_AUDIO_PLAYING)
        live_sound_add(m->sound, (const float *)(const void *)bytes, count, clock_now());
}

/* The device stays paused until the microphone is complete. */
static int open_device(Microphone *m, const char *device, const TextList *names, MediaError *error)
{
    SDL_AudioSpec usual = {0}, got;
    SDL_AudioSpec wanted = {.freq = LIVE_SOUND_RATE,
                            .format = AUDIO_F32SYS,
                            .channels = 2,
                            .samples = BLOCK_SAMPLES,
                            .callback = receive,
                            .userdata = m};
    char *name = NULL;
    const int is_known = !device && SDL_GetDefaultAudioInfo(&name, &usual, 1) == 0;
    if (is_known && usual.channels == 1)
        wanted.channels = 1;
    SDL_strlcpy(m->name,
                device              ? device
                : is_known && name  ? name
                : names->count == 1 ? names->all[0]
                                    : "the default microphone",
                sizeof(m->name));
    SDL_free(name);
    m->sound = live_sound_create(wanted.channels);
    if (!m->sound)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    m->device = SDL_OpenAudioDevice(device, 1, &wanted, &got, 0);
    if (!m->device)
        return media_fail(error, MEDIA_INPUT, "the microphone %s cannot be opened: %s",
                          media_quote(m->name), SDL_GetError());
    m->opened_at = clock_now();
    SDL_PauseAudioDevice(m->device, 0);
    return 0;
}

int microphone_open(Microphone **microphone, const char *name, MediaError *error)
{
    *microphone = NULL;
    if (start_sdl(error) < 0)
        return error->fault;
    TextList names = {0};
    const char *device = NULL;
    Microphone *m = calloc(1, sizeof(*m));
    int ret = m ? list_names(&names, error) : media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0 && name)
        ret = find_name(&names, name, &device, error);
    else if (ret >= 0 && SDL_GetNumAudioDevices(1) == 0)
        ret = media_fail(error, MEDIA_INPUT, "no microphone was found");
    if (ret >= 0)
        ret = open_device(m, device, &names, error);
    text_list_free(&names);
    *microphone = m;
    if (ret < 0)
        microphone_close(microphone);
    if (!m)
        SDL_QuitSubSystem(SDL_INIT_AUDIO);
    return ret;
}

const char *microphone_name(const Microphone *m)
{
    return m->name;
}

LiveSound *microphone_sound(Microphone *m)
{
    return m->sound;
}

bool microphone_is_lost(Microphone *m)
{
    const int64_t last = live_sound_time(m->sound);
    return SDL_GetAudioDeviceStatus(m->device) == SDL_AUDIO_STOPPED ||
           clock_now() - SDL_max(last, m->opened_at) > MAX_SILENCE_US;
}

void microphone_close(Microphone **microphone)
{
    Microphone *m = *microphone;
    if (!m)
        return;
    if (m->device)
        SDL_CloseAudioDevice(m->device);
    live_sound_close(&m->sound);
    free(m);
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    *microphone = NULL;
}
