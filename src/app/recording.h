/* Recordings: beside the window, by the options, by a key, and until the camera goes; and of a
 * camera's packets without a window. For one thread, unless said otherwise. */
#ifndef LUMEQ_APP_RECORDING_H
#define LUMEQ_APP_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/options/options.h"
#include "player/player.h"

typedef struct Recorder Recorder;

/* {0} is a closed one. */
typedef struct WindowRecording {
    const Options *options;
    const atomic_int *stop;
    const Source *source; /* of the writer */
    int open;
    pthread_mutex_t lock; /* of what follows, for threads that bring frames and packets */
    Recorder *writer;     /* NULL: nothing is recorded, or being completed */
    int ending;           /* it is being completed */
    int failed;           /* a fault: something could not be recorded */
} WindowRecording;

/* Checks the OUTPUT of the options, if there is one, and its encoder; touches no file. The options
 * must outlive it. MEDIA_USAGE, MEDIA_OUTPUT. */
int window_recording_open(WindowRecording *recording, const Options *options,
                          const atomic_int *stop, MediaError *error);

/* Begins to record that OUTPUT, if there is one, with time 0 at the first frame. The source must be
 * there until window_recording_end(). MEDIA_USAGE, MEDIA_OUTPUT. */
int window_recording_start(WindowRecording *recording, const Source *source, MediaError *error);

/* Not 0: it takes equalized frames. Any thread. */
int window_recording_takes_frames(WindowRecording *recording);

/* An equalized frame, or one of its source's packets, untouched: whichever the options ask for;
 * neither is kept. Any thread. Does nothing while nothing is recorded. */
void window_recording_frame(WindowRecording *recording, const AVFrame *frame,
                            const LumeqFrameStats *stats);
void window_recording_packet(void *recording, const AVPacket *packet);

/* See PlayerHost.record, and player_tell(). */
void window_recording_toggle(WindowRecording *recording, const Source *source, char *text,
                             size_t size);
void window_recording_follow(WindowRecording *recording, PlayerRecording *to);

/* Begins to complete what is being recorded. Not 0: nothing is recorded any more, and the source is
 * not needed. It is window_recording_follow() that comes to that. */
int window_recording_let_go(WindowRecording *recording);

/* Completes what is being recorded, as NAME.partial.EXT if `partial`, and waits for it. Says what
 * has become of it; answers 0 or the fault of any recording so far. */
int window_recording_end(WindowRecording *recording, int partial);

/* When no other thread can bring packets any more. */
void window_recording_close(WindowRecording *recording);

/* Writes what a camera sends, untouched. As headless_run(). */
int recording_raw_run(const Options *options, atomic_int *stop);

#endif
