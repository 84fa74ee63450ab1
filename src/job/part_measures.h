/* The measures of a listed part, for the plan of the whole film: a sealed file of one block. */
#ifndef LUMEQ_JOB_PART_MEASURES_H
#define LUMEQ_JOB_PART_MEASURES_H

#include "job/job_plan.h"
#include "job/sealed_file.h"
#include "lumeq/lumeq.h"
#include "media/input/damage.h"
#include "run/measure_file.h"

typedef struct PartMeasures {
    int64_t frames;
    uint32_t before[2];  /* the marks of the frames before the first one */
    uint32_t last[2];    /* and of the last ones; 0: there was one alone */
    DamageReport damage; /* its `part` is of the measured frames alone */
    SealedFile file;     /* that it was read from */
    uint32_t sum;        /* of the block */
} PartMeasures;

/* Writes the measures of the file, which is flushed; `before` and `damage` are set already.
 * MEDIA_OUTPUT. */
int part_measures_write(PartMeasures *measures, const JobPlan *plan, int part, MeasureFile *file,
                        MediaError *error);

/* -ENOENT: the part is not measured; MEDIA_INPUT. To be closed in any case. */
int part_measures_read(PartMeasures *measures, const JobPlan *plan, int part, MediaError *error);

/* Adds those that were read to the measure file, until it has `most` (-1: all); NULL: only verifies
 * their checksum. MEDIA_INPUT, MEDIA_OUTPUT. */
int part_measures_add(const PartMeasures *measures, int part, MeasureFile *file, int64_t most,
                      MediaError *error);

/* True if the part is measured and its file is whole. Otherwise the error says why; no fault: there
 * is no file. */
int part_measures_are_there(const JobPlan *plan, int part, MediaError *error);

void part_measures_close(PartMeasures *measures);

#endif
