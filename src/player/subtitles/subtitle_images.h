/* Subtitles that are bitmaps, scaled from their canvas to the picture. */
#ifndef LUMEQ_PLAYER_SUBTITLE_IMAGES_H
#define LUMEQ_PLAYER_SUBTITLE_IMAGES_H

#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitle_place.h"

/* {0} is an empty one. */
#define SUBTITLE_IMAGES_KEPT 64
typedef struct SubtitleImages {
    SubtitleEvent events[SUBTITLE_IMAGES_KEPT]; /* in the order they came */
    int count;
    int drawn;            /* the event in the overlay, counted from 1; 0: none */
    int is_gone;          /* it was forgotten */
    int forgot;           /* some were */
    int64_t forgotten;    /* the position where the last one of these would have ended */
    int left_out;         /* one was that had still to be seen */
    SubtitlesPlace place; /* where */
    Overlay overlay;      /* owned */
} SubtitleImages;

/* Takes the event over: what was shown before ends where it begins. Where all together are too
 * many, or more bytes than SUBTITLE_BUDGET, the oldest are forgotten. */
void subtitle_images_add(SubtitleImages *images, SubtitleEvent *event);

/* As subtitles_draw(). */
int subtitle_images_draw(SubtitleImages *images, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay);

/* As subtitles_trouble(). */
const char *subtitle_images_trouble(const SubtitleImages *images);

/* Forgets all events. */
void subtitle_images_reset(SubtitleImages *images);

/* Leaves it empty. */
void subtitle_images_free(SubtitleImages *images);

#endif
