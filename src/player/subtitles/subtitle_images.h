/* Subtitles that are bitmaps, scaled from their canvas to the picture. */
#ifndef LUMEQ_PLAYER_SUBTITLE_IMAGES_H
#define LUMEQ_PLAYER_SUBTITLE_IMAGES_H

#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitles.h"

/* {0} is an empty one. */
#define SUBTITLE_IMAGES_KEPT 64
typedef struct SubtitleImages {
    SubtitleEvent events[SUBTITLE_IMAGES_KEPT]; /* in the order they came */
    int count;
    int drawn;            /* the event in the overlay, counted from 1; 0: none */
    int is_gone;          /* it was forgotten */
    SubtitlesPlace place; /* where */
    Overlay overlay;      /* owned */
} SubtitleImages;

/* Takes the event over: what was shown before ends where it begins. */
void subtitle_images_add(SubtitleImages *images, SubtitleEvent *event);

/* As subtitles_draw(). */
int subtitle_images_draw(SubtitleImages *images, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay);

/* Leaves it empty. */
void subtitle_images_free(SubtitleImages *images);

#endif
