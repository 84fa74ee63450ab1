/* Writes a video as numbered picture files. Each appears only when complete; those written before a
 * run breaks off stay. */
#ifndef LUMEQ_MEDIA_PICTURE_SEQUENCE_H
#define LUMEQ_MEDIA_PICTURE_SEQUENCE_H

#include <libavcodec/packet.h>

#include "media/error.h"
#include "media/input/picture_list.h"

typedef struct PictureSequence {
    const char *pattern; /* such as "out%04d.png"; owned by the caller */
    int64_t count, bytes;
} PictureSequence;

/* Checks that pictures with such names can be written and, without `overwrite`, that none exists.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int picture_sequence_check(const char *pattern, int overwrite, MediaError *error);

/* Checks that no picture would overwrite an input. MEDIA_USAGE. */
int picture_sequence_check_inputs(const char *pattern, const PictureList *inputs,
                                  MediaError *error);

/* Writes the next picture; numbers start at 1. MEDIA_OUTPUT. */
int picture_sequence_write(PictureSequence *sequence, const AVPacket *packet, MediaError *error);

#endif
