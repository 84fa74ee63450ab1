/*
 * Draws subtitles into a canvas: text with libass; bitmaps unscaled, because OpenGL scales them.
 *
 * All functions are for one thread and may take long (see subtitle_thread.h). Positions are
 * microseconds from source_start().
 */
#ifndef LUMEQ_PLAYER_SUBTITLES_H
#define LUMEQ_PLAYER_SUBTITLES_H

#include <stdbool.h>

#include "media/subtitles/subtitle_decoder.h"
#include "panel/canvas.h"

typedef struct SubtitlesPlace {
    Rect picture;                  /* in window pixels */
    int video_width, video_height; /* stored size, swapped if rotated by 90 degrees */
    int covered; /* rows at the picture's bottom that are hidden; subtitles move above them */
} SubtitlesPlace;

typedef struct Subtitles Subtitles;

/* No subtitles are drawn if the shown picture is wider or higher than this, in pixels. */
#define SUBTITLES_MAX_SIDE 8192

/* Returns 0, or -1 if out of memory; *subtitles is then NULL. */
int subtitles_open(Subtitles **subtitles);

/* Selects a track (NULL: none) and drops the old track's content. On failure nothing is drawn and
 * subtitles_trouble() says why. The source must outlive the selection. */
void subtitles_select(Subtitles *subtitles, const Source *source, const AVStream *stream);

/* Decodes a packet of the selected track; the packet stays unchanged. Repeated text is ignored. */
void subtitles_packet(Subtitles *subtitles, AVPacket *packet);

/* Call after a seek. Bitmaps are dropped, text is kept. */
void subtitles_reset(Subtitles *subtitles);

/* Draws the subtitles at a position into an overlay of their bounding box. Returns 1 if it differs
 * from the last call's. `subtitles` owns the canvas, which is valid until the next call. */
int subtitles_draw(Subtitles *subtitles, int64_t position, const SubtitlesPlace *place,
                   Overlay *overlay);

/* One sentence about what cannot be drawn, or NULL. */
const char *subtitles_trouble(const Subtitles *subtitles);

/* *subtitles may be NULL. */
void subtitles_close(Subtitles **subtitles);

/* ---- the two kinds ---- */

/* Memory limit of the selected track's subtitles in bytes: eight full HD bitmaps. */
#define SUBTITLE_BUDGET ((int64_t)64 << 20)

/* ---- text ---- */

typedef struct SubtitleText SubtitleText;

/* Searches for fonts, which may take seconds. `header`: see subtitle_decoder_header(). `plain`: the
 * text has no styles, so a readable style is used. Returns 0, or -1 if out of memory; *text is then
 * NULL. */
int subtitle_text_open(SubtitleText **text, const Source *source, const char *header, int plain);

void subtitle_text_add(SubtitleText *text, const SubtitleEvent *event);

/* See subtitles_draw(). */
int subtitle_text_draw(SubtitleText *text, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay);

/* See subtitles_trouble(). */
const char *subtitle_text_trouble(const SubtitleText *text);

/* *text may be NULL. */
void subtitle_text_close(SubtitleText **text);

/* ---- bitmaps ---- */

#define SUBTITLE_IMAGES_KEPT 64 /* maximum events */

/* {0} is empty. */
typedef struct SubtitleImages {
    SubtitleEvent events[SUBTITLE_IMAGES_KEPT]; /* in order of arrival */
    int count;
    int64_t drawn;        /* start of the event in `overlay`; AV_NOPTS_VALUE: draw again */
    SubtitlesPlace place; /* where `overlay` was drawn */
    Overlay overlay;      /* owned */
} SubtitleImages;

/* Takes ownership of the event. Earlier events end when the new one begins. The oldest events are
 * dropped if there are more than SUBTITLE_IMAGES_KEPT, or if all take more than SUBTITLE_BUDGET. */
void subtitle_images_add(SubtitleImages *images, SubtitleEvent *event);

/* See subtitles_draw(). */
int subtitle_images_draw(SubtitleImages *images, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay);

/* Frees everything and leaves `images` empty. */
void subtitle_images_free(SubtitleImages *images);

#endif
