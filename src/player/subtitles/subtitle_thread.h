/*
 * Decodes and draws subtitles on a thread, usually before the video frame is due.
 *
 * All functions must be called on one thread, the window's. They never wait for a picture.
 */
#ifndef LUMEQ_PLAYER_SUBTITLE_THREAD_H
#define LUMEQ_PLAYER_SUBTITLE_THREAD_H

#include <stdbool.h>

#include "player/subtitles/subtitles.h"

typedef struct SubtitleThread SubtitleThread;

/* If subtitle_thread_draw() has no picture yet, the subtitle thread calls `wake` when the picture
 * is ready. Returns NULL if out of memory or threads. */
SubtitleThread *subtitle_thread_create(void (*wake)(void *opaque), void *opaque);

/* See subtitles_select(). Removes the old picture at once. Shares the source (source_share()) until
 * the next selection. */
void subtitle_thread_select(SubtitleThread *thread, Source *source, const AVStream *stream);

/* True if too many packets are waiting. */
bool subtitle_thread_is_full(const SubtitleThread *thread);

/* See subtitles_packet(). Keeps a reference to the packet, or drops it if the queue is full or
 * memory runs out. */
void subtitle_thread_packet(SubtitleThread *thread, const AVPacket *packet);

/* See subtitles_reset(). */
void subtitle_thread_reset(SubtitleThread *thread);

/* See subtitles_draw(); the canvas is valid until the next call. If the picture is not ready, the
 * last one stays for up to 0.5 s, unless the position went back or the size changed. `next`: the
 * position to draw in advance, expected in the next call; AV_NOPTS_VALUE: unknown. */
bool subtitle_thread_draw(SubtitleThread *thread, int64_t position, int64_t next,
                          const SubtitlesPlace *place, Overlay *overlay);

/* See subtitles_trouble(); the text is valid until the next call. */
const char *subtitle_thread_trouble(SubtitleThread *thread);

/* Ends the thread and waits for it. *thread may be NULL. */
void subtitle_thread_free(SubtitleThread **thread);

#endif
