/* Bitmap subtitles, scaled to the picture. */
#ifndef LUMEQ_PLAYER_SUBTITLE_IMAGES_H
#define LUMEQ_PLAYER_SUBTITLE_IMAGES_H

#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitle_place.h"

/* {0} is empty. */
#define SUBTITLE_IMAGES_KEPT 64
typedef struct SubtitleImages {
    SubtitleEvent events[SUBTITLE_IMAGES_KEPT]; /* in order of arrival */
    int count;
    int drawn;            /* 1-based index of the event in the overlay; 0: none */
    int is_gone;          /* the drawn event was dropped */
    int forgot;           /* an event was dropped */
    int64_t forgotten;    /* end of the last dropped event */
    int left_out;         /* a dropped event should have been visible */
    SubtitlesPlace place; /* drawn for this place */
    Overlay overlay;      /* owned */
} SubtitleImages;

/* Takes ownership of the event; it ends earlier ones when it begins. The oldest events are dropped
 * when there are too many or they exceed SUBTITLE_BUDGET bytes. */
void subtitle_images_add(SubtitleImages *images, SubtitleEvent *event);

/* See subtitles_draw(). */
int subtitle_images_draw(SubtitleImages *images, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay);

/* See subtitles_trouble(). */
const char *subtitle_images_trouble(const SubtitleImages *images);

/* Drops all events. */
void subtitle_images_reset(SubtitleImages *images);

/* Frees everything; leaves it empty. */
void subtitle_images_free(SubtitleImages *images);

#endif
