/*
 * What a camera shows, into a file beside the window: a thread of its own encodes and writes, and
 * nobody has to wait for it. What it cannot take in time is left out and counted. Functions are for
 * one thread unless they say otherwise.
 */
#ifndef LUMEQ_APP_RECORDER_H
#define LUMEQ_APP_RECORDER_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/input/source.h"

typedef struct Recorder Recorder;

/* Checks the output and its encoder, and touches no file. The options must outlive it.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int recorder_create(Recorder **recorder, const Options *options, const atomic_int *stop,
                    MediaError *error);

/* As recorder_create(), of a new file in the current folder with the time in its name. */
int recorder_create_named(Recorder **recorder, const Options *options, const atomic_int *stop,
                          MediaError *error);

const char *recorder_path(const Recorder *recorder);

/* Begins, with time 0 at the first frame. The source must outlive it. MEDIA_USAGE, MEDIA_OUTPUT. */
int recorder_start(Recorder *recorder, const Source *source, MediaError *error);

/* An equalized frame, or one of its source's packets, untouched, from any thread: whichever the
 * options ask for; neither is kept. */
void recorder_frame(Recorder *recorder, const AVFrame *frame, const LumeqFrameStats *stats);
void recorder_packet(Recorder *recorder, const AVPacket *packet);

/* As recorder_packet(), but waits for room, so that nothing is left out. Answers whether it will be
 * written. */
int recorder_packet_wait(Recorder *recorder, const AVPacket *packet);

/* No more follow. The file is completed beside, as NAME.partial.EXT where it is `partial`. */
void recorder_end(Recorder *recorder, int partial);

typedef struct RecorderState {
    int64_t frames, dropped; /* written, left out */
    int64_t length_us;       /* of what is written */
    int64_t bytes;           /* of the file, -1: unknown */
    int done;                /* nothing is written any more: recorder_close() does not wait */
    int failed;
} RecorderState;

RecorderState recorder_state(Recorder *recorder);

/* Once no more follow: waits until the file is complete. */
RecorderState recorder_wait(Recorder *recorder);

/* Waits until the file is complete, and frees all. `line` says what is in it, "" where there is no
 * file. MEDIA_OUTPUT, MEDIA_USAGE; NULL is allowed inside. */
int recorder_close(Recorder **recorder, char *line, size_t size, MediaError *error);

#endif
