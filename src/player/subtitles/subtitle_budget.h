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

/* {.probe = a track with the styles of the one that is drawn, and no events} to begin with. */
typedef struct SubtitleBudget {
    ASS_Track *probe;  /* owned */
    BudgetLine *lines; /* that have not been seen yet */
    int line_count, line_room;
    int64_t *cost; /* of each event of the track that is drawn, in bytes */
    int cost_count, cost_room;
    int64_t text_bytes; /* of these lines and events */
    int64_t left_out;   /* lines */
} SubtitleBudget;

/* A line, to be seen from `start` on (both in milliseconds); copied. Without memory, or beyond
 * SUBTITLE_TEXT_BUDGET, it is left out. */
void subtitle_budget_add(SubtitleBudget *budget, const char *text, long long start,
                         long long duration);

/*
 * Moves the lines that are to be seen at `now` into the track, as far as they fit in beside those
 * that are there; the others are left out for good. What a line costs is found by rendering it
 * alone. Answers how many were rendered: after one, libass's next render cannot tell what has
 * changed since the last. `may_go_on` is asked after each; where it answers 0, the rest waits.
 */
int subtitle_budget_take(SubtitleBudget *budget, ASS_Renderer *renderer, ASS_Track *track,
                         long long now, int (*may_go_on)(void *opaque), void *opaque);

/* What rendered images take. */
int64_t subtitle_budget_bytes(const ASS_Image *images);

void subtitle_budget_close(SubtitleBudget *budget);

#endif
