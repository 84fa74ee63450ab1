/* Finds what libavformat ignores in MP4 and QuickTime files: data outside the tracks, such as GPS
 * from cameras. */
#ifndef LUMEQ_MEDIA_MP4_BOXES_H
#define LUMEQ_MEDIA_MP4_BOXES_H

#include <stddef.h>
#include <stdint.h>

/* Known top-level boxes of ISO/IEC 14496-12 and QuickTime. */
#define MP4_BOXES                                                                                  \
    "ftyp,moov,mdat,free,skip,wide,pnot,PICT,udta,uuid,meta,moof,mfra,sidx,ssix,styp,prft,emsg,"   \
    "pdin,imda,junk"

/* Lists such boxes, and data after the last box, of a file of `end` bytes: "'gps0' (3200 bytes)";
 * "" if the file has no such data. */
void mp4_boxes_foreign(int fd, int64_t end, char *text, size_t size);

#endif
