/*
 * Subtitles on a thread of their own: packets are decoded and pictures drawn there, one picture
 * ahead of the frame that it belongs to. All functions are for one other thread, the loop, which
 * never waits for a picture: it has the one that is there.
 */
#ifndef LUMEQ_PLAYER_SUBTITLE_THREAD_H
#define LUMEQ_PLAYER_SUBTITLE_THREAD_H

#include "player/subtitles/subtitles.h"

typedef struct SubtitleThread SubtitleThread;

/* `wake`: something has come that subtitle_thread_draw() lacked, or subtitle_thread_trouble() tells
 * something else; from the thread. The thread itself starts with the first selection. NULL: no
 * memory. */
SubtitleThread *subtitle_thread_create(void (*wake)(void *opaque), void *opaque);

/* As subtitles_select(). What was drawn is gone at once. The source is shared until another one is
 * selected. */
void subtitle_thread_select(SubtitleThread *thread, Source *source, const AVStream *stream);

/* Not 0: so many packets are still to be decoded that others should wait. */
int subtitle_thread_is_full(SubtitleThread *thread);

/* As subtitles_packet(), of which a reference is kept. Without memory, or where it is full, it is
 * left out. */
void subtitle_thread_packet(SubtitleThread *thread, const AVPacket *packet);

/* As subtitles_reset(). What was drawn is not shown at another position. */
void subtitle_thread_reset(SubtitleThread *thread);

/*
 * As subtitles_draw(), as far as it has been drawn: the last picture stays a moment where the next
 * one is late, but not after a seek, nor over a picture of another size. `next`: the position that
 * is to be asked for after this one, which is drawn ahead; AV_NOPTS_VALUE: it is not known.
 */
int subtitle_thread_draw(SubtitleThread *thread, int64_t position, int64_t next,
                         const SubtitlesPlace *place, Overlay *overlay);

/* As subtitles_trouble(); valid until the next call. */
const char *subtitle_thread_trouble(SubtitleThread *thread);

/* Waits for the picture that is being drawn. NULL is allowed inside. */
void subtitle_thread_free(SubtitleThread **thread);

#endif
