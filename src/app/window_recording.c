#include "app/window_recording.h"

#include <ctype.h>
#include <stdio.h>

#include "app/terminal.h"
#include "media/camera/camera.h"

int window_recording_open(WindowRecording *r, const Options *options, const atomic_int *stop,
                          MediaError *error)
{
    *r = (WindowRecording){.options = options, .stop = stop, .open = 1};
    pthread_mutex_init(&r->lock, NULL);
    return options->output ? background_writer_create(&r->writer, options, stop, error) : 0;
}

int window_recording_start(WindowRecording *r, const Source *source, MediaError *error)
{
    r->source = source;
    return r->writer ? background_writer_start(r->writer, source, error) : 0;
}

/* ---- what is recorded ---- */

/* Under the lock. */
static int takes(const WindowRecording *r, int packets)
{
    return r->writer && !r->ending && !r->options->record_raw == !packets;
}

int window_recording_takes_frames(WindowRecording *r)
{
    pthread_mutex_lock(&r->lock);
    const int answer = takes(r, 0);
    pthread_mutex_unlock(&r->lock);
    return answer;
}

void window_recording_frame(WindowRecording *r, const AVFrame *frame, const LumeqFrameStats *stats)
{
    pthread_mutex_lock(&r->lock);
    if (takes(r, 0))
        background_writer_frame(r->writer, frame, stats);
    pthread_mutex_unlock(&r->lock);
}

void window_recording_packet(void *opaque, const AVPacket *packet)
{
    WindowRecording *r = opaque;
    pthread_mutex_lock(&r->lock);
    if (takes(r, 1))
        background_writer_packet(r->writer, packet);
    pthread_mutex_unlock(&r->lock);
}

/* ---- its begin and its end ---- */

static void set_writer(WindowRecording *r, BackgroundWriter *writer)
{
    pthread_mutex_lock(&r->lock);
    r->writer = writer;
    r->ending = 0;
    pthread_mutex_unlock(&r->lock);
}

static void begin_end(WindowRecording *r, int partial)
{
    pthread_mutex_lock(&r->lock);
    r->ending = 1;
    pthread_mutex_unlock(&r->lock);
    background_writer_end(r->writer, partial);
}

/* Of a writer that is done, or is waited for; `text` is what to say of it. */
static void finish(WindowRecording *r, char *text, size_t size)
{
    MediaError error = {0};
    BackgroundWriter *writer = r->writer;
    set_writer(r, NULL);
    r->source = NULL;
    const int ret = background_writer_close(&writer, text, size, &error);
    if (ret < 0) {
        snprintf(text, size, "recording failed: %s", error.text);
        r->failed = r->failed ? r->failed : error.fault;
    }
    if (*text)
        say(ret < 0 ? SAY_ERRORS : SAY_NORMAL, "%s", text);
}

static void begin(WindowRecording *r, const Source *source, char *text, size_t size)
{
    MediaError error = {0};
    BackgroundWriter *writer = NULL;
    int ret = background_writer_create_named(&writer, r->options, r->stop, &error);
    if (ret >= 0)
        ret = background_writer_start(writer, source, &error);
    if (ret < 0) {
        background_writer_close(&writer, NULL, 0, &(MediaError){0});
        snprintf(text, size, "No recording: %s", error.text);
        return;
    }
    snprintf(text, size, "Recording %s", background_writer_path(writer));
    r->source = source;
    set_writer(r, writer);
}

static int is_gone(const Source *source)
{
    return source->camera && camera_status(source->camera).state == CAMERA_GONE;
}

void window_recording_toggle(WindowRecording *r, const Source *source, char *text, size_t size)
{
    if (r->writer && !r->ending) {
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
static void describe(const BackgroundWriterState *state, char *line, size_t size)
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

void window_recording_follow(WindowRecording *r, PlayerRecording *to)
{
    if (!r->writer)
        return;
    const BackgroundWriterState state = background_writer_state(r->writer);
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

int window_recording_let_go(WindowRecording *r)
{
    if (r->writer && !r->ending)
        begin_end(r, 0);
    return !r->writer;
}

int window_recording_end(WindowRecording *r, int partial)
{
    char text[1200];
    if (!r->writer)
        return r->failed;
    if (!r->ending)
        begin_end(r, partial);
    finish(r, text, sizeof(text));
    return r->failed;
}

void window_recording_close(WindowRecording *r)
{
    if (!r->open)
        return;
    background_writer_close(&r->writer, NULL, 0, &(MediaError){0});
    pthread_mutex_destroy(&r->lock);
    *r = (WindowRecording){0};
}
