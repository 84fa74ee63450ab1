/*
 * Subtitles over the picture: text through libass, bitmaps scaled, into a canvas. All functions are
 * for one thread, and may take long (see subtitle_thread.h). Positions are microseconds from the
 * start of the source, see source_start().
 */
#ifndef LUMEQ_PLAYER_SUBTITLES_H
#define LUMEQ_PLAYER_SUBTITLES_H

#include "media/input/source.h"
#include "panel/canvas.h"
#include "player/subtitles/subtitle_place.h"

typedef struct Subtitles Subtitles;

/* Pictures with a longer side than this have no subtitles. */
#define SUBTITLES_MAX_SIDE 8192

/* Nothing is selected. 0, or -1 without memory; *subtitles is then NULL. */
int subtitles_open(Subtitles **subtitles);

/*
 * Takes the subtitles of a stream from here on, NULL: of none. What was there is forgotten. Nothing
 * is drawn where that fails; subtitles_trouble() tells why. The source must outlive the selection.
 */
void subtitles_select(Subtitles *subtitles, const Source *source, const AVStream *stream);

/* Takes a packet of the stream in, which stays as it is. Text that comes again is not doubled. */
void subtitles_packet(Subtitles *subtitles, AVPacket *packet);

/* After a seek: packets follow from elsewhere. Bitmaps are forgotten, text is kept. */
void subtitles_reset(Subtitles *subtitles);

/*
 * What is to be seen at a position, within the picture: the tight rectangle around it. Answers 1
 * when that differs from the last call's, else 0. The overlay's canvas is the subtitles', valid
 * until their next call.
 */
int subtitles_draw(Subtitles *subtitles, int64_t position, const SubtitlesPlace *place,
                   Overlay *overlay);

/* Not 0: there was no time for all that is to be seen there; the next calls draw the rest. */
int subtitles_is_unfinished(const Subtitles *subtitles);

/* Why nothing is drawn, or not all, one sentence, or NULL: nothing is known to be wrong. */
const char *subtitles_trouble(const Subtitles *subtitles);

/* NULL is allowed inside. */
void subtitles_close(Subtitles **subtitles);

#endif
