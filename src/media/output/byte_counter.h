/* A null output that counts the bytes a muxer writes. */
#ifndef LUMEQ_MEDIA_BYTE_COUNTER_H
#define LUMEQ_MEDIA_BYTE_COUNTER_H

#include <libavformat/avio.h>

#include "media/error.h"

/* Seekable, like a regular file. MEDIA_OUTPUT: out of memory. */
int byte_counter_open(AVIOContext **io, MediaError *error);

/* *io may be NULL. */
void byte_counter_close(AVIOContext **io);

#endif
