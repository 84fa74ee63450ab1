/* What is known to be lost of an input, in words. */
#ifndef LUMEQ_MEDIA_DAMAGE_H
#define LUMEQ_MEDIA_DAMAGE_H

#include "media/input/source.h"

/* How far an input was read. Times are absolute, AV_TIME_BASE units, AV_NOPTS_VALUE: unknown. */
typedef struct ReadPart {
    int64_t frames;    /* decoded */
    int64_t video_end; /* of the last one */
    int64_t any_end;   /* of anything read */
    int to_end;        /* not 0: it was to be read to its end */
    int whole;         /* not 0: and from its start */
} ReadPart;

/* The sentence about what is known to be lost, `frames` being the decoder's account; 0 when nothing
 * is. After the end, when no other thread uses the source. */
int damage_describe(const Source *source, const Damage *frames, const ReadPart *part, char *text,
                    size_t size);

#endif
