/* Describes in plain words what the equalizer decided about a picture. */
#ifndef LUMEQ_APP_DECISION_H
#define LUMEQ_APP_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include "app/options/options.h"

typedef enum DecisionKind {
    DECISION_OFF,
    DECISION_LIGHT, /* off, except for --brightness and --gamma */
    DECISION_REFERENCE,
    DECISION_ORDERED, /* an option decides: --strength, --limit darken or --mode */
    DECISION_LIFTED,
    DECISION_LAMPS, /* dark, with parts too bright for a lift */
    DECISION_HAZY,
    DECISION_DULL,
    DECISION_FINE,
    DECISION_PAGE, /* from here on: pictures that are usually left unchanged */
    DECISION_BLACK,
    DECISION_EMPTY, /* dark, and nothing stands out from the noise */
} DecisionKind;

#define DECISION_KINDS (DECISION_EMPTY + 1)

typedef struct Decision {
    DecisionKind kind;
    LumeqMode mode;
    LumeqLimit limit;
    int light;                   /* --brightness or --gamma is set */
    const Options *options;      /* borrowed; the text names some of them */
    int denoised;                /* visible noise was filtered */
    double dark, lift, strength; /* as in LumeqFrameStats */
    double change;               /* mean difference of luma in 8-bit codes; -1: unknown */
} Decision;

/* Finds out what the equalizer did to a frame. `stats` needs `hist_in`, and `curve` for
 * Decision.change. `params`: of the frame, made from `options`. `depth`: bits per sample. */
Decision decision_find(const LumeqFrameStats *stats, const LumeqParams *params,
                       const Options *options, int depth, int full_range);

/* Describes a decision in a sentence without a full stop. `key`: the window's key that changes a
 * well exposed picture more, or NULL. */
void decision_text(const Decision *decision, const char *key, char *text, size_t size);

/* The decisions about the frames of a video. Initialize with {0}. */
typedef struct Decisions {
    int64_t frames;
    struct {
        Decision sum; /* the numbers of `frames` decisions, added up */
        int64_t frames;
    } of[DECISION_KINDS];
} Decisions;

void decisions_add(Decisions *decisions, const Decision *decision);

/* Prints the most frequent kinds with their shares, in one line; "" if there are no frames. */
void decisions_text(const Decisions *decisions, char *text, size_t size);

#endif
