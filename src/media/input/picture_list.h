/* Picture files that are the frames of one video. */
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
 * Lists the pictures of a pattern such as "frame%04d.png"; their numbers may start anywhere but
 * must have no gaps. If `path` is a folder, lists its pictures in natural order; they must have the
 * same codec. Free the list also after a failure. MEDIA_INPUT.
 */
int picture_list_make(PictureList *list, const char *path, MediaError *error);

/* Reads a picture file into a packet. Returns 0 or AVERROR. */
int picture_list_read(const PictureList *list, int number, AVPacket *packet);

void picture_list_free(PictureList *list);

#endif
