/* Pictures, each a file, that are the frames of one video. */
#ifndef LUMEQ_MEDIA_PICTURE_LIST_H
#define LUMEQ_MEDIA_PICTURE_LIST_H

#include <libavcodec/packet.h>

#include "media/error.h"

/* {0} is empty. */
typedef struct PictureList {
    char **paths;
    int count;
} PictureList;

/*
 * Of "frame%04d.png", all that are there, by their numbers, from any number on and without a gap;
 * of a folder, its pictures in natural order, all of one kind. The list is to be freed in any case.
 * MEDIA_INPUT.
 */
int picture_list_make(PictureList *list, const char *path, MediaError *error);

/* The bytes of a picture. 0, or AVERROR. */
int picture_list_read(const PictureList *list, int number, AVPacket *packet);

void picture_list_free(PictureList *list);

#endif
