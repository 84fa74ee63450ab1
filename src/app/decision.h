/* What the equalizer decided about a picture, in words that a person knows. */
#ifndef LUMEQ_APP_DECISION_H
#define LUMEQ_APP_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

typedef enum DecisionKind {
    DECISION_OFF,
    DECISION_LIGHT, /* off, but for --brightness and --gamma */
    DECISION_REFERENCE,
    DECISION_ORDERED, /* with --strength, or by a mode that judges no picture: see `mode` */
    DECISION_LIFTED,
    DECISION_LAMPS, /* dark, but for what is too bright for a lift */
    DECISION_HAZY,
    DECISION_DULL,
    DECISION_FINE,
    DECISION_PAGE, /* from here on, pictures that are left alone */
    DECISION_BLACK,
    DECISION_EMPTY, /* dark, and nothing in it that stands out from its noise */
} DecisionKind;

#define DECISION_KINDS (DECISION_EMPTY + 1)

typedef struct Decision {
    DecisionKind kind;
    LumeqMode mode;
    LumeqLimit limit;
    int adaptive;                /* not 0: the strength was chosen for the picture */
    int light;                   /* not 0: --brightness or --gamma is set */
    int denoised;                /* not 0: noise that would show was filtered */
    double dark, lift, strength; /* as in LumeqFrameStats */
    double noise;                /* the same; -1: not known */
    double change;               /* mean difference of luma, in codes of 8 bits; -1: not known */
} Decision;

/* `stats` have the histogram `hist_in`; without `curve` the change is not known. `params`: that the
 * frame was equalized with; `depth`: bits of a code. */
Decision decision_find(const LumeqFrameStats *stats, const LumeqParams *params, int depth,
                       int full_range);

/* A sentence without its full stop. `key`: what makes more of a picture that was hardly changed, or
 * NULL. */
void decision_text(const Decision *decision, const char *key, char *text, size_t size);

/* Those of a video. {0} at first. */
typedef struct Decisions {
    int64_t frames;
    struct {
        Decision sum;
        int64_t frames, noisy; /* noisy: that tell of their noise */
    } of[DECISION_KINDS];
} Decisions;

void decisions_add(Decisions *decisions, const Decision *decision);

/* One line about all frames: the most frequent kinds, with their shares. "" without a frame. */
void decisions_text(const Decisions *decisions, char *text, size_t size);

#endif
