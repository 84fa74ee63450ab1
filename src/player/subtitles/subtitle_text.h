/* Subtitles that are text, through libass. */
#ifndef LUMEQ_PLAYER_SUBTITLE_TEXT_H
#define LUMEQ_PLAYER_SUBTITLE_TEXT_H

#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitle_place.h"

/* For one thread. */
typedef struct SubtitleText SubtitleText;

/* Looks for fonts, which may take seconds. `header`: as subtitle_decoder_header() answers it.
 * `plain`: the text has no look of its own and gets a readable one. 0, or -1 without memory; *text
 * is then NULL. */
int subtitle_text_open(SubtitleText **text, const Source *source, const char *header, int plain);

/* Keeps the lines of an event. */
void subtitle_text_add(SubtitleText *text, const SubtitleEvent *event);

/* As subtitles_draw(). */
int subtitle_text_draw(SubtitleText *text, int64_t position, const SubtitlesPlace *place,
                       Overlay *overlay);

/* As subtitles_trouble(). */
const char *subtitle_text_trouble(const SubtitleText *text);

/* As subtitles_is_unfinished(). */
int subtitle_text_is_unfinished(const SubtitleText *text);

/* NULL is allowed inside. */
void subtitle_text_close(SubtitleText **text);

#endif
