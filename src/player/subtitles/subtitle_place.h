/* Where subtitles are drawn, and their memory limit. */
#ifndef LUMEQ_PLAYER_SUBTITLE_PLACE_H
#define LUMEQ_PLAYER_SUBTITLE_PLACE_H

#include <stdint.h>

#include "panel/canvas.h"

typedef struct SubtitlesPlace {
    Rect picture;                  /* in window pixels */
    int video_width, video_height; /* stored size, swapped if rotated by 90 degrees */
    int covered; /* rows at the picture's bottom that are covered; subtitles move above them */
} SubtitlesPlace;

/* Memory limit of the selected track in bytes: pending subtitles, and libass's bitmaps of all
 * visible lines. Enough for hundreds of ordinary HD lines, or two that cover a 4K picture, or eight
 * full HD bitmaps. */
#define SUBTITLE_BUDGET ((int64_t)64 << 20)
#define SUBTITLE_LEFT_OUT "too many subtitles for the memory limit: some are left out"

#endif
