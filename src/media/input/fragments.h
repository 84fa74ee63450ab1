/* Finds missing fragments of an mp4, whose sequence numbers libavformat ignores. */
#ifndef LUMEQ_MEDIA_FRAGMENTS_H
#define LUMEQ_MEDIA_FRAGMENTS_H

#include <stdint.h>

/* Returns the number of gaps in the sequence numbers of fragments, and in *gaps the positions of
 * the fragments after them; free with av_free(). */
int fragments_find_gaps(int fd, int64_t file_size, int64_t **gaps);

#endif
