#include "app/recording.h"

#include <ctype.h>
#include <stdio.h>

#include "app/say.h"
#include "media/camera/camera.h"

int recording_open(Recording *r, const Options *options, const atomic_int *stop, MediaError *error)
{
    *r = (Recording){.options = options, .stop = stop, .open = 1};
    pthread_mutex_init(&r->lock, NULL);
    return options->output ? recorder_create(&r->recorder, options, stop, error) : 0;
}

int recording_start(Recording *r, const Source *source, MediaError *error)
{
    r->source = source;
    return r->recorder ? recorder_start(r->recorder, source, error) : 0;
}

/* ---- what is recorded ---- */

/* Under the lock. */
static int takes(const Recording *r, int packets)
{
    return r->recorder && !r->ending && !r->options->record_raw == !packets;
}

int recording_takes_frames(Recording *r)
{
    pthread_mutex_lock(&r->lock);
    const int answer = takes(r, 0);
    pthread_mutex_unlock(&r->lock);
    return answer;
}

void recording_frame(Recording *r, const AVFrame *frame, const LumeqFrameStats *stats)
{
    pthread_mutex_lock(&r->lock);
    if (takes(r, 0))
        recorder_frame(r->recorder, frame, stats);
    pthread_mutex_unlock(&r->lock);
}

void recording_packet(void *opaque, const AVPacket *packet)
{
    Recording *r = opaque;
    pthread_mutex_lock(&r->lock);
    if (takes(r, 1))
        recorder_packet(r->recorder, packet);
    pthread_mutex_unlock(&r->lock);
}

/* ---- its begin and its end ---- */

static void set_recorder(Recording *r, Recorder *recorder)
{
    pthread_mutex_lock(&r->lock);
    r->recorder = recorder;
    r->ending = 0;
    pthread_mutex_unlock(&r->lock);
}

static void begin_end(Recording *r, int partial)
{
    pthread_mutex_lock(&r->lock);
    r->ending = 1;
    pthread_mutex_unlock(&r->lock);
    recorder_end(r->recorder, partial);
}

/* Of a recorder that is done, or is waited for; `text` is what to say of it. */
static void finish(Recording *r, char *text, size_t size)
{
    MediaError error = {0};
    Recorder *recorder = r->recorder;
    set_recorder(r, NULL);
    r->source = NULL;
    const int ret = recorder_close(&recorder, text, size, &error);
    if (ret < 0) {
        snprintf(text, size, "recording failed: %s", error.text);
        r->failed = r->failed ? r->failed : error.fault;
    }
    if (*text)
        say(ret < 0 ? SAY_ERRORS : SAY_NORMAL, "%s", text);
}

static void begin(Recording *r, const Source *source, char *text, size_t size)
{
    MediaError error = {0};
    Recorder *recorder = NULL;
    int ret = recorder_create_named(&recorder, r->options, r->stop, &error);
    if (ret >= 0)
        ret = recorder_start(recorder, source, &error);
    if (ret < 0) {
        recorder_close(&recorder, NULL, 0, &(MediaError){0});
        snprintf(text, size, "No recording: %s", error.text);
        return;
    }
    snprintf(text, size, "Recording %s", recorder_path(recorder));
    r->source = source;
    set_recorder(r, recorder);
}

static int is_gone(const Source *source)
{
    return source->camera && camera_status(source->camera).state == CAMERA_GONE;
}

void recording_toggle(Recording *r, const Source *source, char *text, size_t size)
{
    if (r->recorder && !r->ending) {
        begin_end(r, 0);
        snprintf(text, size, "The recording is being completed");
    } else if (r->ending) {
        snprintf(text, size, "The last recording is still being completed");
    } else if (is_gone(source)) {
        snprintf(text, size, "No recording: the camera is gone");
    } else {
        begin(r, source, text, size);
    }
}

/* "REC 0:12", "REC 1:02:03, 3 dropped" */
static void describe(const RecorderState *state, char *line, size_t size)
{
    char hours[16] = "", dropped[40] = "";
    const int seconds = (int)(state->length_us / 1000000);
    if (seconds >= 3600)
        snprintf(hours, sizeof(hours), "%d:", seconds / 3600);
    if (state->dropped)
        snprintf(dropped, sizeof(dropped), ", %lld dropped", (long long)state->dropped);
    snprintf(line, size, *hours ? "REC %s%02d:%02d%s" : "REC %s%d:%02d%s", hours, seconds / 60 % 60,
             seconds % 60, dropped);
}

void recording_follow(Recording *r, PlayerRecording *to)
{
    if (!r->recorder)
        return;
    const RecorderState state = recorder_state(r->recorder);
    if (state.done) {
        finish(r, to->message, sizeof(to->message));
        to->message[0] = (char)toupper((unsigned char)to->message[0]);
        return;
    }
    if (!r->ending && is_gone(r->source))
        begin_end(r, 0);
    to->on = !r->ending;
    to->frames = state.frames;
    to->dropped = state.dropped;
    describe(&state, to->line, sizeof(to->line));
}

int recording_let_go(Recording *r)
{
    if (r->recorder && !r->ending)
        begin_end(r, 0);
    return !r->recorder;
}

int recording_end(Recording *r, int partial)
{
    char text[1200];
    if (!r->recorder)
        return r->failed;
    if (!r->ending)
        begin_end(r, partial);
    finish(r, text, sizeof(text));
    return r->failed;
}

void recording_close(Recording *r)
{
    if (!r->open)
        return;
    recorder_close(&r->recorder, NULL, 0, &(MediaError){0});
    pthread_mutex_destroy(&r->lock);
    *r = (Recording){0};
}
