/* A live input: its newest frame is shown at once, and cameras come and go. */
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "media/camera/camera.h"
#include "player/player_state.h"

/* After the last picture, sound that is on its way plays out, for so long: a sender that is faster
 * than time may have left much more. */
#define PLAY_OUT_US 500000

/* Without a picture for so long although so many packets came, they are damaged. */
#define DAMAGED_US 2000000
#define DAMAGED_PACKETS 3

/* ---- which frame ---- */

static int end(Player *p, int64_t now)
{
    Playback *b = p->playback;
    if (b->paused || p->dropped.playback) {
        b->ended_at = 0; /* the sound waits, too */
        return 0;
    }
    if (!b->ended_at)
        b->ended_at = now;
    if (b->pending || playback_is_silent(b, now) || now - b->ended_at >= PLAY_OUT_US)
        p->over = p->ended = 1;
    return 0;
}

static void drop_ahead(Player *p)
{
    while (p->playback->ahead_count) {
        EqualizedFrame *frame = playback_take(p->playback);
        equalized_frame_free(&frame);
    }
}

/* `came`: not 0: a picture has. */
static void follow_pictures(Player *p, int came, int64_t now)
{
    CameraPictures *pictures = &p->live.pictures;
    const CameraStatus status = camera_status(p->playback->source->camera);
    if (came || !pictures->since || status.state == CAMERA_GONE)
        *pictures = (CameraPictures){.since = now, .packets = status.frames};
    const int damaged =
        now - pictures->since > DAMAGED_US && status.frames - pictures->packets >= DAMAGED_PACKETS;
    if (damaged && !pictures->damaged)
        p->options.note("the camera's pictures are damaged: none can be shown");
    pictures->damaged = damaged;
}

int live_run(Player *p, int64_t now, MediaError *error)
{
    Playback *b = p->playback;
    equalize_stage_hold(p->stage, b->paused && !p->wanted.steps && !b->pending);
    int ret = playback_fetch_newest(b, error);
    if (ret >= 0)
        ret = showing_put_on_anew(p, error);
    if (ret < 0)
        return ret;
    if (b->source->camera)
        follow_pictures(p, b->ahead_count > 0, now);
    if (!b->ahead_count)
        return b->ended ? end(p, now) : 0;
    if (b->pending)
        return showing_show_first(p, now, error);
    if (b->paused && !p->wanted.steps) { /* they are older when it goes on */
        drop_ahead(p);
        return 0;
    }
    p->wanted.steps = 0;
    return showing_put_on(p, now, error);
}

/* ---- what comes and goes ---- */

static void follow_going(Player *p, const CameraStatus *status)
{
    char line[256];
    const int gone = status->state == CAMERA_GONE;
    if (gone == p->live.gone)
        return;
    p->live.gone = gone;
    snprintf(line, sizeof(line),
             gone ? "the camera is gone: %s; waiting for it" : "the camera is back", status->why);
    p->options.note(line);
}

/* Not 0: it is another one than before. */
static int set_notice(Player *p, const char *line)
{
    if (strcmp(line, p->live.notice) == 0)
        return 0;
    snprintf(p->live.notice, sizeof(p->live.notice), "%s", line);
    osd_notice(p->layers.osd, line);
    p->dirty = 1;
    return 1;
}

static void follow_camera(Player *p)
{
    Camera *camera = p->playback->source->camera;
    if (!camera) { /* or another input has taken its place */
        p->live.gone = p->live.pictures.damaged = 0;
        set_notice(p, "");
        return;
    }
    const CameraStatus status = camera_status(camera);
    char line[256];
    follow_going(p, &status);
    snprintf(line, sizeof(line), "camera: %s, waiting", status.why);
    if (status.unusable && set_notice(p, line))
        p->options.note(line);
    else if (!status.unusable)
        set_notice(p, p->live.gone               ? "camera gone, waiting"
                      : p->live.pictures.damaged ? "the camera's pictures are damaged"
                                                 : "");
}

static void follow_recording(Player *p)
{
    PlayerRecording *r = &p->live.recording;
    if (!p->options.recording)
        return;
    *r = (PlayerRecording){0};
    p->options.recording(p->options.opaque, r);
    osd_recording(p->layers.osd, r->on ? r->line : NULL);
    if (r->message[0])
        status_say(p, "%s", r->message);
}

int64_t live_lost(const Player *p)
{
    Camera *camera = p->playback->source->camera;
    return camera ? camera_status(camera).missed : 0;
}

int live_record(Player *p, int arg, MediaError *error)
{
    char text[512] = "Only a camera is recorded";
    (void)arg;
    (void)error;
    if (p->options.record && p->playback->source->camera)
        p->options.record(p->options.opaque, p->playback->source, text, sizeof(text));
    status_say(p, "%s", text);
    return 0;
}

void live_follow(Player *p)
{
    follow_camera(p);
    follow_recording(p);
}
