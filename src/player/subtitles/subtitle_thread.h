/*
 * Decodes and draws subtitles on a thread, one picture at a time, usually before its frame is due.
 *
 * All functions must be called on the loop's thread. They never wait for a picture.
 */
#ifndef LUMEQ_PLAYER_SUBTITLE_THREAD_H
#define LUMEQ_PLAYER_SUBTITLE_THREAD_H

#include <stdbool.h>

#include "player/subtitles/subtitles.h"

typedef struct SubtitleThread SubtitleThread;

/* `wake` is called from the thread when a picture that subtitle_thread_draw() lacked is ready.
 * Returns NULL if out of memory or threads. */
SubtitleThread *subtitle_thread_create(void (*wake)(void *opaque), void *opaque);

/* See subtitles_select(). Removes the old picture at once. The source is shared until the next
 * selection. */
void subtitle_thread_select(SubtitleThread *thread, Source *source, const AVStream *stream);

/* True if too many packets are waiting. */
bool subtitle_thread_is_full(const SubtitleThread *thread);

/* See subtitles_packet(); keeps a reference. Drops the packet if the queue is full or memory runs
 * out. */
void subtitle_thread_packet(SubtitleThread *thread, const AVPacket *packet);

/* See subtitles_reset(). */
void subtitle_thread_reset(SubtitleThread *thread);

/* See subtitles_draw(); the canvas is valid until the next call. If the picture is late, the last
 * picture stays for a moment, unless the position went back or the size changed. `next`: expected
 * position of the next call, for which a picture is drawn in advance; AV_NOPTS_VALUE: unknown. */
bool subtitle_thread_draw(SubtitleThread *thread, int64_t position, int64_t next,
                          const SubtitlesPlace *place, Overlay *overlay);

/* See subtitles_trouble(); valid until the next call. */
const char *subtitle_thread_trouble(SubtitleThread *thread);

/* Waits for the thread. *thread may be NULL. */
void subtitle_thread_free(SubtitleThread **thread);

#endif
