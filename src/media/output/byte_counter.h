/* A file that is not there: what a muxer writes into it is counted, and thrown away. */
#ifndef LUMEQ_MEDIA_BYTE_COUNTER_H
#define LUMEQ_MEDIA_BYTE_COUNTER_H

#include <libavformat/avio.h>

#include "media/error.h"

/* As a regular file, in which a muxer may go back. MEDIA_OUTPUT: out of memory. */
int byte_counter_open(AVIOContext **io, MediaError *error);

/* NULL is allowed inside. */
void byte_counter_close(AVIOContext **io);

#endif
