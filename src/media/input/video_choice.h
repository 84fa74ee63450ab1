/* Chooses the film among several video tracks, and the program that it belongs to. */
#ifndef LUMEQ_MEDIA_VIDEO_CHOICE_H
#define LUMEQ_MEDIA_VIDEO_CHOICE_H

#include "media/input/source.h"

/*
 * Prepares video_choose(): if the container does not say how long each of several video tracks is,
 * reads packets ahead, which source_read() returns first. AVERROR(ENOMEM).
 */
int video_count_packets(Source *source);

typedef struct VideoChoice {
    AVStream *video; /* or NULL */
    int count;       /* of video tracks */
    int pictures;    /* covers and the like, which are not counted as video */
    const char *why; /* "it is the longest" */
} VideoChoice;

/* The video track with this number, from 0; -1: the best one. Covers are not video. A track that
 * moves is better than stills; then one that lasts as long as the longest is better, then the
 * default track, then a larger picture. */
VideoChoice video_choose(const Source *source, int number);

/* Discards the tracks of other programs than the video's, and returns their number. The start and
 * the length of the source are then those of the other video and sound tracks. */
int video_keep_program(Source *source);

#endif
