/* Fragments that an mp4 lacks: libavformat does not look at their sequence numbers. */
#ifndef LUMEQ_MEDIA_FRAGMENTS_H
#define LUMEQ_MEDIA_FRAGMENTS_H

#include <stdint.h>

/* Returns the number of places in a file where the sequence numbers of fragments jump ahead, and in
 * *gaps the position of the fragment after each, which the caller frees with av_free(). */
int fragments_find_gaps(int fd, int64_t file_size, int64_t **gaps);

#endif
