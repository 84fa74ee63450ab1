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

/* What was found to be wrong on the way. */
typedef struct DamageReport {
    Damage packets, frames; /* the source's account, and the decoder's */
    ReadPart part;
} DamageReport;

/* Makes one report of two about spans of one input, the second of what follows the first. */
void damage_add(DamageReport *report, const DamageReport *next);

/* Not 0: something could not be read or decoded. */
int damage_is_seen(const DamageReport *report);

/* The sentence about what is known to be lost; 0 when nothing is. After the end, when no other
 * thread uses the source. */
int damage_describe(const Source *source, const DamageReport *report, char *text, size_t size);

#endif
