#include "app/camera_sound.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/options/option_table.h"
#include "app/terminal.h"
#include "media/compat.h"
#include "player/clock.h"
#include "player/sound/microphone.h"

#define LOWEST_DB -60.0 /* level at which the meter shows nothing */

struct CameraSound {
    Microphone *microphone;
    const Source *source;
    Writer *writer;
    AVPacket *packet;
    int begun;
    atomic_int lost;   /* true after the microphone's loss was reported */
    int64_t until;     /* the sound is written up to here; microseconds of clock_now() */
    int64_t frame_end; /* end of the last written frame, in the source's time */
};

int camera_sound_open(CameraSound **sound, const Options *o, const Writer *writer,
                      TrackOptions *tracks, MediaError *error)
{
    *sound = NULL;
    if (!o->camera || (o->microphone && strcmp(o->microphone, "off") == 0) ||
        (o->acodec && strcmp(o->acodec, "none") == 0) || (o->output && o->low_latency))
        return 0;
    if (!writer_takes_sound(writer))
        return option_is_given(o->given, "microphone")
                   ? media_fail(error, MEDIA_USAGE, "--microphone %s: %s cannot hold sound",
                                media_quote(o->microphone),
                                o->output ? media_quote(o->output) : "the output")
                   : 0;
    MediaError why = {0};
    CameraSound *s = *sound = calloc(1, sizeof(*s));
    if (!s || !(s->packet = av_packet_alloc()))
        (void)media_no_memory(error, MEDIA_OUTPUT);
    else if (microphone_open(&s->microphone, o->microphone, &why) >= 0)
        tracks->live_channels = live_sound_channels(microphone_sound(s->microphone));
    else if (why.fault == MEDIA_USAGE)
        (void)media_fail(error, why.fault, "%s", why.text);
    else
        say(SAY_WARNINGS, "%s: recording without sound", why.text);
    if (!s || !s->microphone)
        camera_sound_close(sound);
    return error->fault;
}

void camera_sound_use(CameraSound *s, const Source *source, Writer *writer)
{
    if (!s)
        return;
    s->source = source;
    s->writer = writer;
    say(SAY_NORMAL, "recording sound from %s", microphone_name(s->microphone));
}

static int write_until(CameraSound *s, int end, MediaError *error)
{
    LiveSound *sound = microphone_sound(s->microphone);
    int ret = 0;
    if (!s->lost && microphone_is_lost(s->microphone)) {
        s->lost = 1;
        say(SAY_WARNINGS, "the microphone %s was disconnected: recording silence",
            media_quote(microphone_name(s->microphone)));
    }
    while (ret >= 0 && (ret = live_sound_read(sound, s->until, end, s->packet)) >= 0)
        ret = writer_live_sound(s->writer, s->packet, error);
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_OUTPUT);
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

int camera_sound_follow(CameraSound *s, int64_t time, MediaError *error)
{
    if (!s)
        return 0;
    const int64_t at =
        time == AV_NOPTS_VALUE ? clock_now() : camera_captured_at(s->source->camera, time);
    if (!s->begun && time == AV_NOPTS_VALUE)
        return 0;
    if (!s->begun)
        live_sound_start(microphone_sound(s->microphone), at);
    s->begun = 1;
    s->until = FFMAX(s->until, at);
    return write_until(s, 0, error);
}

int camera_sound_end(CameraSound *s, int64_t time, MediaError *error)
{
    if (!s || !s->begun)
        return 0;
    s->until = FFMAX(s->until, camera_captured_at(s->source->camera, time));
    return write_until(s, 1, error);
}

double camera_sound_level(CameraSound *s)
{
    if (!s)
        return -1;
    const double level = s->lost ? 0 : live_sound_level(microphone_sound(s->microphone));
    return level > 0 ? fmax(1 - 20 * log10(level) / LOWEST_DB, 0) : 0;
}

static int follow_frame(void *self, Frame *f)
{
    CameraSound *s = self;
    const AVFrame *frame = f->out;
    s->frame_end = f->zero_us + av_rescale_q(frame->pts + FRAME_DURATION(frame), frame->time_base,
                                             AV_TIME_BASE_Q);
    return camera_sound_follow(s, f->time_us + f->zero_us, f->error);
}

static void end_frames(void *self, int complete, MediaError *error)
{
    (void)complete;
    CameraSound *s = self;
    if (!error->fault)
        (void)camera_sound_end(s, s->frame_end, error);
}

Sink camera_sound_sink(CameraSound *s)
{
    return (Sink){.self = s, .frame = follow_frame, .end = end_frames};
}

void camera_sound_close(CameraSound **sound)
{
    CameraSound *s = *sound;
    if (!s)
        return;
    microphone_close(&s->microphone);
    av_packet_free(&s->packet);
    free(s);
    *sound = NULL;
}
