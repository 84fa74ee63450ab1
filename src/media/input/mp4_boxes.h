/* Finds data outside the tracks of an MP4 or QuickTime file, such as GPS from cameras. */
#ifndef LUMEQ_MEDIA_MP4_BOXES_H
#define LUMEQ_MEDIA_MP4_BOXES_H

#include <stddef.h>
#include <stdint.h>

/* Lists such boxes, and data after the last box, of a file of `end` bytes: "'gps0' (3200 bytes)";
 * "" if there are none. */
void mp4_boxes_foreign(int fd, int64_t end, char *text, size_t size);

#endif
