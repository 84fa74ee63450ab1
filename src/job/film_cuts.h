/* Where a film that was measured is cut into parts. */
#ifndef LUMEQ_JOB_FILM_CUTS_H
#define LUMEQ_JOB_FILM_CUTS_H

#include "pipeline/measure_file.h"

typedef struct FilmCuts {
    int count;
    int64_t *first; /* numbers of frames: where each part begins; the one behind all */
} FilmCuts;

/*
 * Cuts the frames of the file into `parts` parts of about the same number, fewer where there are
 * not so many, or where a cut would fall into a damaged span: what a decoder makes of that depends
 * on where it began. MEDIA_OUTPUT.
 */
int film_cuts_make(FilmCuts *cuts, MeasureFile *file, int64_t parts, MediaError *error);

void film_cuts_free(FilmCuts *cuts);

#endif
