/* What was measured of a part that had been listed, for the plan of the whole film. */
#ifndef LUMEQ_JOB_PART_MEASURES_H
#define LUMEQ_JOB_PART_MEASURES_H

#include "job/job_plan.h"
#include "lumeq/lumeq.h"
#include "media/input/damage.h"
#include "pipeline/measure_file.h"

typedef struct PartMeasures {
    char *name; /* of the file that has them, in the plan's folder */
    int64_t frames, size;
    uint32_t sum;
    uint32_t before[2];  /* the marks of the frames before the first one */
    uint32_t last[2];    /* and of the last ones; 0: there was one alone */
    DamageReport damage; /* its `part` is of the measured frames alone */
} PartMeasures;

/* Keeps what is in the file, which is flushed. `before` and `damage` are known of the measures
 * already. MEDIA_OUTPUT. */
int part_measures_write(PartMeasures *measures, const JobPlan *plan, int part, MeasureFile *file,
                        MediaError *error);

/* -ENOENT: the part is not measured; MEDIA_INPUT. */
int part_measures_read(PartMeasures *measures, const JobPlan *plan, int part, MediaError *error);

/* Whether the part is measured, and what was measured is whole. Else the error says why; no fault:
 * nothing is there. */
int part_measures_are_there(const JobPlan *plan, int part, MediaError *error);

/* Adds those of a part to the file. MEDIA_INPUT, MEDIA_OUTPUT. */
int part_measures_add(const PartMeasures *measures, const JobPlan *plan, int part,
                      MeasureFile *file, MediaError *error);

void part_measures_free(PartMeasures *measures);

#endif
