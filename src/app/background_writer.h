/*
 * A file that a thread of its own encodes and writes, so that nobody has to wait for it: what a
 * camera shows, beside the window or without one. What it cannot take in time is left out and
 * counted. Functions are for one thread unless they say otherwise.
 */
#ifndef LUMEQ_APP_BACKGROUND_WRITER_H
#define LUMEQ_APP_BACKGROUND_WRITER_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/input/source.h"

typedef struct BackgroundWriter BackgroundWriter;

/* Checks the output and its encoder, and touches no file. The options must outlive it.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int background_writer_create(BackgroundWriter **writer, const Options *options,
                             const atomic_int *stop, MediaError *error);

/* As background_writer_create(), of a new file in the current folder with the time in its name. */
int background_writer_create_named(BackgroundWriter **writer, const Options *options,
                                   const atomic_int *stop, MediaError *error);

const char *background_writer_path(const BackgroundWriter *writer);

/* Begins, with time 0 at the first frame. The source must outlive it. MEDIA_USAGE, MEDIA_OUTPUT. */
int background_writer_start(BackgroundWriter *writer, const Source *source, MediaError *error);

/* An equalized frame, or one of its source's packets, untouched, from any thread: whichever the
 * options ask for; neither is kept. */
void background_writer_frame(BackgroundWriter *writer, const AVFrame *frame,
                             const LumeqFrameStats *stats);
void background_writer_packet(BackgroundWriter *writer, const AVPacket *packet);

/* As background_writer_packet(), but waits for room, so that nothing is left out. Answers whether
 * it will be written. */
int background_writer_packet_wait(BackgroundWriter *writer, const AVPacket *packet);

/* No more follow. The file is completed beside, as NAME.partial.EXT where it is `partial`. */
void background_writer_end(BackgroundWriter *writer, int partial);

typedef struct BackgroundWriterState {
    int64_t frames, dropped; /* written, left out */
    int64_t length_us;       /* of what is written */
    int64_t bytes;           /* of the file, -1: unknown */
    int done; /* nothing is written any more: background_writer_close() does not wait */
    int failed;
} BackgroundWriterState;

BackgroundWriterState background_writer_state(BackgroundWriter *writer);

/* Once no more follow: waits until the file is complete. */
BackgroundWriterState background_writer_wait(BackgroundWriter *writer);

/* Waits until the file is complete, and frees all. `line` says what is in it, "" where there is no
 * file. MEDIA_OUTPUT, MEDIA_USAGE; NULL is allowed inside. */
int background_writer_close(BackgroundWriter **writer, char *line, size_t size, MediaError *error);

#endif
