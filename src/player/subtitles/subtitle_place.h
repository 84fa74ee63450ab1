/* Where subtitles are drawn, and how much memory they may take. */
#ifndef LUMEQ_PLAYER_SUBTITLE_PLACE_H
#define LUMEQ_PLAYER_SUBTITLE_PLACE_H

#include <stdint.h>

#include "panel/canvas.h"

typedef struct SubtitlesPlace {
    Rect picture;                  /* in pixels of the window */
    int video_width, video_height; /* of a frame as it is stored; turned by a quarter where the
                                      picture is shown so */
    int covered; /* rows at the bottom of the picture: what would stand there stands above */
} SubtitlesPlace;

/* Bytes of all that is kept of the selected track: what waits to be seen, and libass's bitmaps of
 * all lines that are seen at once. That is hundreds of usual lines in HD, or two that cover a whole
 * picture in 4K; or eight bitmaps that cover one in HD. */
#define SUBTITLE_BUDGET ((int64_t)64 << 20)
#define SUBTITLE_LEFT_OUT "there are more subtitles than there is memory for: some are left out"

#endif
