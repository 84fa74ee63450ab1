/* A video written as numbered pictures, each a file that is there whole or not at all. What was
 * written before a run breaks off stays. */
#ifndef LUMEQ_MEDIA_PICTURE_SEQUENCE_H
#define LUMEQ_MEDIA_PICTURE_SEQUENCE_H

#include <libavcodec/packet.h>

#include "media/error.h"
#include "media/input/picture_list.h"

typedef struct PictureSequence {
    const char *pattern; /* "out%04d.png"; the caller's */
    int64_t count, bytes;
} PictureSequence;

/* Whether pictures of such names can be written: none is there yet, unless they are overwritten.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int picture_sequence_check(const char *pattern, int overwrite, MediaError *error);

/* Whether none of them would be one of these. MEDIA_USAGE. */
int picture_sequence_check_inputs(const char *pattern, const PictureList *inputs,
                                  MediaError *error);

/* Writes the next one, from number 1 on. MEDIA_OUTPUT. */
int picture_sequence_write(PictureSequence *sequence, const AVPacket *packet, MediaError *error);

#endif
