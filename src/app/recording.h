/* The recording beside the window: it begins and ends by the options, by a key, and with the
 * camera, and says so. For one thread, unless said otherwise. */
#ifndef LUMEQ_APP_RECORDING_H
#define LUMEQ_APP_RECORDING_H

#include <pthread.h>

#include "app/recorder.h"
#include "player/player.h"

/* {0} is a closed one. */
typedef struct Recording {
    const Options *options;
    const atomic_int *stop;
    const Source *source; /* of the recorder */
    int open;
    pthread_mutex_t lock; /* of what follows, for threads that bring frames and packets */
    Recorder *recorder;   /* NULL: nothing is recorded, or being completed */
    int ending;           /* it is being completed */
    int failed;           /* a fault: something could not be recorded */
} Recording;

/* Checks the OUTPUT of the options, where there is one. As recorder_create(). */
int recording_open(Recording *recording, const Options *options, const atomic_int *stop,
                   MediaError *error);

/* Begins to record that OUTPUT, where there is one. The source must be there until recording_end().
 * As recorder_start(). */
int recording_start(Recording *recording, const Source *source, MediaError *error);

/* Not 0: it takes equalized frames. Any thread. */
int recording_takes_frames(Recording *recording);

/* As recorder_frame(), from any thread. Nothing happens while nothing is recorded. */
void recording_frame(Recording *recording, const AVFrame *frame, const LumeqFrameStats *stats);
void recording_packet(void *recording, const AVPacket *packet);

/* See PlayerOptions.record and .recording. */
void recording_toggle(Recording *recording, const Source *source, char *text, size_t size);
void recording_follow(Recording *recording, PlayerRecording *to);

/* Begins to complete what is being recorded. Not 0: nothing is recorded any more, and the source is
 * not needed. It is recording_follow() that comes to that. */
int recording_let_go(Recording *recording);

/* Completes what is being recorded, as NAME.partial.EXT if `partial`, and waits for it. Says what
 * has become of it; answers 0 or the fault of any recording so far. */
int recording_end(Recording *recording, int partial);

/* When no other thread can bring packets any more. */
void recording_close(Recording *recording);

#endif
