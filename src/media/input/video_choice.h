/* Chooses the main video track and its program. */
#ifndef LUMEQ_MEDIA_VIDEO_CHOICE_H
#define LUMEQ_MEDIA_VIDEO_CHOICE_H

#include "media/input/source.h"

typedef struct VideoChoice {
    AVStream *video; /* or NULL */
    int count;       /* number of video tracks */
    int pictures;    /* number of covers, which are not video tracks */
    const char *why; /* "it is the longest" */
} VideoChoice;

/* The video track with this number, from 0; -1: the best one. Covers are not video. A track that
 * moves is better than stills; then one that lasts as long as the longest is better, then the
 * default track, then a larger picture. */
VideoChoice video_choose(const Source *source, int number);

/* Discards the tracks of other programs than the video's, and returns their number. Updates the
 * source's start and length to those of the remaining tracks. */
int video_keep_program(Source *source);

#endif
