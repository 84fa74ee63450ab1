/* Where a film that was measured is cut into parts. */
#ifndef LUMEQ_JOB_FILM_CUTS_H
#define LUMEQ_JOB_FILM_CUTS_H

#include "pipeline/measure_file.h"

typedef struct FilmCuts {
    int count;
    int64_t *first; /* numbers of frames: where each part begins; the one behind all */
} FilmCuts;

/* Where alone a film is cut: what is drawn into its frames may go by the first one of a stretch. */
typedef struct FilmStretches {
    int64_t (*number)(int64_t time_us); /* of the stretch that a time of the output is in */
    AVRational base;                    /* of the film's times, ... */
    int64_t shift;                      /* ... in which the output begins then */
} FilmStretches;

/*
 * Cuts the frames of the file into `parts` parts of about the same number, fewer where there are
 * not so many, or where a cut would fall into a damaged span: what a decoder makes of that depends
 * on where it began. `stretches` NULL: anywhere else. MEDIA_OUTPUT.
 */
int film_cuts_make(FilmCuts *cuts, MeasureFile *file, int64_t parts, const FilmStretches *stretches,
                   MediaError *error);

void film_cuts_free(FilmCuts *cuts);

#endif
