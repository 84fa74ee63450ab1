/*
 * Draws subtitles into a canvas: text with libass, bitmaps scaled.
 *
 * All functions are for one thread and may take long (see subtitle_thread.h). Positions are
 * microseconds from source_start().
 */
#ifndef LUMEQ_PLAYER_SUBTITLES_H
#define LUMEQ_PLAYER_SUBTITLES_H

#include "media/input/source.h"
#include "player/subtitles/subtitle_kinds.h"

typedef struct Subtitles Subtitles;

/* Larger pictures have no subtitles. */
#define SUBTITLES_MAX_SIDE 8192

/* Returns 0, or -1 if out of memory; *subtitles is then NULL. */
int subtitles_open(Subtitles **subtitles);

/* Selects a track (NULL: none) and drops the old one's content. On failure nothing is drawn and
 * subtitles_trouble() says why. The source must outlive the selection. */
void subtitles_select(Subtitles *subtitles, const Source *source, const AVStream *stream);

/* Decodes a packet of the selected track, which stays unchanged. Repeated text is ignored. */
void subtitles_packet(Subtitles *subtitles, AVPacket *packet);

/* Call after a seek. Bitmaps are dropped, text is kept. */
void subtitles_reset(Subtitles *subtitles);

/* Draws the subtitles at a position; the overlay is a tight rectangle. Returns 1 if it differs from
 * the last call. The canvas is owned by the subtitles and valid until the next call. */
int subtitles_draw(Subtitles *subtitles, int64_t position, const SubtitlesPlace *place,
                   Overlay *overlay);

/* One sentence about what cannot be drawn, or NULL. */
const char *subtitles_trouble(const Subtitles *subtitles);

/* *subtitles may be NULL. */
void subtitles_close(Subtitles **subtitles);

#endif
