/* Adds up and describes the damage of an input. */
#ifndef LUMEQ_MEDIA_DAMAGE_H
#define LUMEQ_MEDIA_DAMAGE_H

#include "media/input/source.h"

/* How much of an input was read. Times are timestamps of the input in AV_TIME_BASE units;
 * AV_NOPTS_VALUE: unknown. */
typedef struct ReadPart {
    int64_t frames;    /* number of decoded frames */
    int64_t video_end; /* end of the last frame */
    int64_t any_end;   /* end of anything read */
    int to_end;        /* not 0: the input should be read to its end */
    int whole;         /* not 0: the input should be read from its start to its end */
} ReadPart;

typedef struct DamageReport {
    Damage damage;
    ReadPart part;
} DamageReport;

/* Adds `next`, which was found later. */
void damage_sum(Damage *damage, const Damage *next);

/* Adds the report on a later part of the same input. */
void damage_add(DamageReport *report, const DamageReport *next);

/* True if something could not be read or decoded, or was lost with a GPU. */
bool damage_any(const Damage *damage);

/* Describes the damage; returns false if nothing is lost. No other thread may use the source. */
bool damage_describe(const Source *source, const DamageReport *report, char *text, size_t size);

#endif
