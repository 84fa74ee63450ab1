/* Records a window's video while it is shown, and a camera's video without a window. Not
 * thread-safe unless noted. */
#ifndef LUMEQ_APP_RECORDING_H
#define LUMEQ_APP_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/options/options.h"
#include "player/player.h"

typedef struct Recorder Recorder;

/* {0} is closed. */
typedef struct WindowRecording {
    const Options *options;
    const atomic_int *stop;
    const Source *source; /* what the writer records */
    int open;
    int64_t ticked;       /* time of the last empty frame, which makes the writer write sound */
    pthread_mutex_t lock; /* protects the following members */
    Recorder *writer;     /* NULL: no recording runs or is being completed */
    int ending;           /* the writer is completing its file */
    int failed;           /* the fault of a failed recording, or 0 */
} WindowRecording;

/* Checks OUTPUT, if given, and its encoder without touching a file. `options` and `stop` must
 * outlive the recording. MEDIA_USAGE, MEDIA_OUTPUT. */
int window_recording_open(WindowRecording *recording, const Options *options,
                          const atomic_int *stop, MediaError *error);

/* Starts to record into OUTPUT, if given. The source must live until window_recording_end().
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int window_recording_start(WindowRecording *recording, const Source *source, MediaError *error);

/* True if equalized frames are being recorded. Thread-safe. */
int window_recording_takes_frames(WindowRecording *recording);

/* Records an equalized frame, and takes a reference of its own. Does nothing with --record-raw or
 * if no recording runs. Thread-safe. */
void window_recording_frame(WindowRecording *recording, const AVFrame *frame,
                            const LumeqFrameStats *stats);

/* Records a packet of the source; only with --record-raw. Thread-safe. */
void window_recording_packet(void *recording, const AVPacket *packet);

/* See PlayerHost.record. */
void window_recording_toggle(WindowRecording *recording, const Source *source, char *text,
                             size_t size);

/* Sets *to for player_set_status(). Once the file is complete, prints the result. */
void window_recording_follow(WindowRecording *recording, PlayerRecording *to);

/* Ends the recording without waiting for its file. Returns true if the source is no longer needed;
 * otherwise call window_recording_follow(), and try again. */
int window_recording_release(WindowRecording *recording);

/* Ends the recording, waits for its file (NAME.partial.EXT if `partial`) and prints the result.
 * Returns 0, or the fault of the first recording that failed. */
int window_recording_end(WindowRecording *recording, int partial);

/* Call after all threads that bring frames and packets have ended. */
void window_recording_close(WindowRecording *recording);

/* Runs a camera without a window. If the camera comes back with another size, format or rate, the
 * recording continues in another file, such as "talk-2.mkv". Returns like headless_run(). */
int recording_camera_run(const Options *options, atomic_int *stop);

#endif
