/* How much memory lines of text take until they are seen, and when they are drawn: those that would
 * take more than there is are left out. For one thread. */
#ifndef LUMEQ_PLAYER_SUBTITLE_BUDGET_H
#define LUMEQ_PLAYER_SUBTITLE_BUDGET_H

#include <ass/ass.h>
#include <stdint.h>

#include "player/subtitles/subtitle_place.h"

/* What the text alone may take, drawn or not: the script of any film. */
#define SUBTITLE_TEXT_BUDGET (SUBTITLE_BUDGET / 2)

typedef struct BudgetLine {
    char *text; /* a chunk of ASS, owned */
    long long start, duration;
} BudgetLine;

/* An event of the track that is drawn. */
typedef struct BudgetEvent {
    int64_t cost; /* bytes of its images, the most that was seen */
    int may_grow; /* its tags change it while it is seen */
} BudgetEvent;

/* {.probe = a track with the styles of the one that is drawn, and no events} to begin with. */
typedef struct SubtitleBudget {
    ASS_Track *probe;  /* owned */
    BudgetLine *lines; /* that have not been seen yet */
    int line_count, line_room;
    BudgetEvent *events; /* in the order of the track's */
    int event_count, event_room;
    int64_t text_bytes; /* of these lines and events */
    int64_t left_out;   /* lines */
} SubtitleBudget;

/* A line, to be seen from `start` on (both in milliseconds); copied. Without memory, or beyond
 * SUBTITLE_TEXT_BUDGET, it is left out. */
void subtitle_budget_add(SubtitleBudget *budget, const char *text, long long start,
                         long long duration);

/*
 * Moves the lines that are to be seen at `now` into the track, as far as they fit in beside those
 * that are there; the others are left out for good. Those that are there and have grown until they
 * do not fit any more are left out, too, as by subtitle_budget_halve(). What a line costs is found
 * by rendering it alone, again each time where its tags change it. Answers how many were rendered:
 * after one, libass's next render cannot tell what has changed since the last. `may_go_on` is asked
 * after each; where it answers 0, the lines that are new wait, and those that change are left out.
 */
int subtitle_budget_take(SubtitleBudget *budget, ASS_Renderer *renderer, ASS_Track *track,
                         long long now, int (*may_go_on)(void *opaque), void *opaque);

/* Not 0: lines that are to be seen at `now` have waited for the next time. */
int subtitle_budget_waits(const SubtitleBudget *budget, long long now);

/* What is seen at `now` takes too much memory. Leaves it out until no more than half of its cost is
 * left: first the lines that change, the most expensive ones of them before the others. */
void subtitle_budget_halve(SubtitleBudget *budget, ASS_Track *track, long long now);

/* It takes too much time. Leaves out half of the lines that change, the most expensive ones: the
 * others take no time once they have been drawn. Where none changes it is as above. */
void subtitle_budget_halve_changing(SubtitleBudget *budget, ASS_Track *track, long long now);

/* What rendered images take. */
int64_t subtitle_budget_bytes(const ASS_Image *images);

void subtitle_budget_close(SubtitleBudget *budget);

#endif
