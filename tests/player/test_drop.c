/* Files dropped on the window, from the drop until the first picture is shown. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>

#include "session.h"

#define NAP_US 1000

/* ---- a sound device that can be open only once ---- */

typedef SDL_AudioDeviceID (*OpenDevice)(const char *, int, const SDL_AudioSpec *, SDL_AudioSpec *,
                                        int);
typedef void (*CloseDevice)(SDL_AudioDeviceID);

static struct {
    int open, opened, refused;
} device;

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    memcpy(function, &found, sizeof(found));
}

SDL_AudioDeviceID SDL_OpenAudioDevice(const char *name, int capture, const SDL_AudioSpec *wanted,
                                      SDL_AudioSpec *obtained, int changes)
{
    OpenDevice open = NULL;
    find("SDL_OpenAudioDevice", &open);
    device.refused += device.open;
    if (device.open) {
        SDL_SetError("Device or resource busy");
        return 0;
    }
    const SDL_AudioDeviceID id = open(name, capture, wanted, obtained, changes);
    device.open = id != 0;
    device.opened += device.open;
    return id;
}

void SDL_CloseAudioDevice(SDL_AudioDeviceID id)
{
    CloseDevice close = NULL;
    find("SDL_CloseAudioDevice", &close);
    device.open = 0;
    close(id);
}

/* ---- a slow decoder ---- */

static atomic_int held;                       /* not 0: decoders other than `known` wait */
static atomic_int waiting;                    /* a decoder waits */
static _Atomic(const AVCodecContext *) known; /* the decoder of the file that plays */

int avcodec_receive_frame(AVCodecContext *codec, AVFrame *frame)
{
    int (*receive)(AVCodecContext *, AVFrame *) = NULL;
    const int of_player = codec->opaque && codec->codec_type == AVMEDIA_TYPE_VIDEO;
    find("avcodec_receive_frame", &receive);
    if (of_player && !atomic_load(&held))
        atomic_store(&known, codec);
    while (of_player && atomic_load(&held) && atomic_load(&known) != codec) {
        atomic_store(&waiting, 1);
        usleep(NAP_US);
    }
    return receive(codec, frame);
}

/* ---- tests ---- */

static int open_clip(Session *s, const char *const *arguments)
{
    memset(&device, 0, sizeof(device));
    atomic_store(&held, 0);
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.position >= 240000);
    return s->ended;
}

/* Drops a file whose first frame does not come before `held` is 0 again. */
static void drop_held(Session *s)
{
    atomic_store(&waiting, 0);
    atomic_store(&held, 1);
    session_drop(LUMEQ_CLIP);
    SESSION_UNTIL(s, atomic_load(&waiting));
}

/* Lets the first frame of the dropped file come, and waits until it plays from its start. */
static void release(Session *s)
{
    atomic_store(&held, 0);
    SESSION_UNTIL(s, state.position < 200000);
    SESSION_UNTIL(s, state.position >= 200000);
}

TEST(gets_the_only_sound_device)
{
    Session s;
    if (open_clip(&s, ARGUMENTS(LUMEQ_CLIP, "--no-config")))
        return;
    session_drop(LUMEQ_CLIP);
    release(&s);
    CHECK(!device.refused && device.opened == 2, "the device was opened %d times, refused %d times",
          device.opened, device.refused);
    CHECK(strstr(session_state(&s).message, "No sound") == NULL, "the message is '%s'",
          session_state(&s).message);
    SDL_Event link = {.type = SDL_DROPTEXT};
    link.drop.file = SDL_strdup(LUMEQ_CLIP);
    SDL_PushEvent(&link);
    release(&s);
    CHECK(device.opened == 3, "a dropped link does not play");
    session_close(&s);
    CHECK(!device.open, "the device is still open");
}

SESSION_TEST(old_file_plays_until_new_picture, open_clip(s, ARGUMENTS(LUMEQ_CLIP, "--no-config")))
{
    drop_held(s);
    const int64_t shown = session_state(s).shown;
    SESSION_UNTIL(s, state.shown >= shown + 3 && state.position >= 240000);
    release(s);
}

/* The end of the old file does not end the new one. */
SESSION_TEST(old_end_does_not_end_it,
             open_clip(s, ARGUMENTS(LUMEQ_CLIP, "--no-config", "--to", "0.5")))
{
    session_type(" "); /* opening the new file may take longer than the rest of the old one */
    drop_held(s);
    TYPE_UNTIL(s, " ", state.position >= 460000);
    session_turns(s, 4);
    release(s);
    SESSION_UNTIL(s, state.position >= 600000); /* --to does not apply to dropped files */
}

/* The second dropped file does not exist, so the played file continues. At the end, the window
 * closes while a dropped file is being opened. */
SESSION_TEST(second_drop_replaces_the_first, open_clip(s, ARGUMENTS(LUMEQ_CLIP, "--no-config")))
{
    drop_held(s);
    session_drop("/nonexistent/film.mkv");
    atomic_store(&held, 0);
    SESSION_UNTIL(s, strstr(state.message, "film.mkv") != NULL);
    const int64_t position = session_state(s).position;
    SESSION_UNTIL(s, state.position >= position + 80000);
    CHECK(position >= 240000, "the first dropped file is played");
    drop_held(s);
    atomic_store(&held, 0); /* otherwise the decoder would wait for ever */
}

TEST_MAIN
