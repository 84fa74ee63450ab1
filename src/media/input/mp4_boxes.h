/* Data that cameras add to an MP4 or QuickTime file outside of its tracks, such as GPS. */
#ifndef LUMEQ_MEDIA_MP4_BOXES_H
#define LUMEQ_MEDIA_MP4_BOXES_H

#include <stddef.h>
#include <stdint.h>

/* Lists such boxes of a file of `end` bytes, and data after its last box, in `text` ("'gps0' (3200
 * bytes)"). It is empty if there are none. */
void mp4_boxes_foreign(int fd, int64_t end, char *text, size_t size);

#endif
