/* Text subtitles, drawn by libass. */
#ifndef LUMEQ_PLAYER_SUBTITLE_TEXT_H
#define LUMEQ_PLAYER_SUBTITLE_TEXT_H

#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitle_place.h"

/* For one thread. */
typedef struct SubtitleText SubtitleText;

/* Searches for fonts, which may take seconds. `header`: see subtitle_decoder_header(). `plain`: the
 * text has no styles of its own and gets a readable one. Returns 0, or -1 if out of memory; *text
 * is then NULL. */
int subtitle_text_open(SubtitleText **text, const Source *source, const char *header, int plain);

/* Adds an event's lines. */
void subtitle_text_add(SubtitleText *text, const SubtitleEvent *event);

/* See subtitles_draw(). */
int subtitle_text_draw(SubtitleText *text, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay);

/* See subtitles_trouble(). */
const char *subtitle_text_trouble(const SubtitleText *text);

/* *text may be NULL. */
void subtitle_text_close(SubtitleText **text);

#endif
