/* The rule: computes a frame's curve and lookup table from its histogram and the history. */
#ifndef LUMEQ_CURVE_H
#define LUMEQ_CURVE_H

#include "equalizer/curve_types.h"
#include "equalizer/rule/transfer.h"

/* Rounds of clipping. Each round spreads the excess over all bins, so part of it exceeds the limit
 * again. After four rounds, the rest is too small to move a code. */
#define CURVE_CLIP_ROUNDS 4

/* Minimum distance (curve_compare()) of two frames in a cut, as a share of the range: 26 codes in
 * 8-bit limited range. No fade moves the mean by as much within one frame. */
#define CURVE_CUT_HIGH (CURVE_ONE * 12 / 100)

/* A jump is a change of at least CURVE_JUMP. Up to CURVE_JUMPS jumps in a row, followed by a change
 * of at most CURVE_CALM, are a flash, or a cut between similarly bright scenes. Then the curve may
 * change to its target at once. More jumps in a row are a fade or motion. */
#define CURVE_JUMP (CURVE_ONE * 25 / 1000)
#define CURVE_CALM (CURVE_JUMP * 3 / 4)
#define CURVE_JUMPS 2

/*
 * With an adaptive strength, a picture with a mean below CURVE_BLACK_MEAN counts as black. Its
 * target is the identity, and each black frame moves the curve at least CURVE_BLACK_ALPHA of the
 * way. The frames after black are a fade until a frame changes by at most CURVE_FADE_CALM. A
 * picture must not be lifted because it is fading. So in a fade the curve moves more slowly: at an
 * eighth of the usual pace, or a 64th with a lift, if frames change by CURVE_FADE or more.
 */
#define CURVE_BLACK_MEAN (CURVE_ONE * 8 / 1000)
#define CURVE_BLACK_ALPHA (CURVE_ONE / 3)
#define CURVE_FADE_CALM (CURVE_ONE / 400)
#define CURVE_FADE (CURVE_ONE * 3 / 400)
#define CURVE_FADE_MEAN (CURVE_ONE * 32 / 100) /* for change_of() */

/* Share of the strength for pictures without need, if there is no lift. */
#define CURVE_NEED_LEAST (CURVE_ONE / 10)

/* Arrays by bin. */
typedef struct CurveWork {
    uint32_t light[LUMEQ_MAX_BINS];  /* codes before equalization, Q16 */
    uint32_t left[LUMEQ_MAX_BINS];   /* counts without bars */
    uint32_t moved[LUMEQ_MAX_BINS];  /* HDR: the counts on the axis of light (transfer.h); later the
                                      * curve, in codes */
    uint32_t hist[LUMEQ_MAX_BINS];   /* counts in range, then clipped */
    uint32_t sums[LUMEQ_MAX_BINS];   /* prefix sums of `hist` */
    uint32_t cdf[LUMEQ_MAX_BINS];    /* Q16 */
    uint32_t was[LUMEQ_MAX_BINS];    /* the previous frame's target, then its smoothed curve */
    uint32_t smooth[LUMEQ_MAX_BINS]; /* the target, then the smoothed curve */
    uint32_t curve[LUMEQ_MAX_BINS];
    TransferMap map; /* for HDR */
} CurveWork;

/* Statistics of a histogram. */
typedef struct CurveView {
    uint32_t counted;        /* number of samples in range */
    uint32_t flat;           /* true if there is nothing to equalize */
    uint32_t mean, variance; /* as shares of the range and of its square */
    uint32_t distance;       /* from the previous picture, see curve_compare() */
    uint32_t moved;          /* enough of the picture changed for a cut */
    uint32_t dims;           /* nearly all that changed got darker */
} CurveView;

/* The bins of black and white. */
static inline int curve_black(const CurveParams *p)
{
    return p->black >> p->fraction;
}

static inline int curve_white(const CurveParams *p)
{
    return p->white >> p->fraction;
}

/* Computes the curve, history and table of a frame from its histogram and `before`, the history.
 * The caller has set the frame's bars, noise and haze in `result`, which must not be `before`. */
void curve_compute(const CurveParams *p, const uint32_t *hist, const CurveResult *before,
                   CurveResult *result, CurveTable *table, CurveWork *w);

/* For reference frames, which do not affect the history: copies it to the result unchanged. */
void curve_keep_history(const CurveParams *p, const CurveResult *before, CurveResult *result);

/* Makes the table from a result. */
void curve_fill_table(const CurveParams *p, const CurveResult *result, CurveTable *table);

/* Fills in table->lift for `past` previous frames, from the result and the table's gains. */
void curve_fill_lift(const CurveParams *p, const CurveResult *result, int32_t past,
                     CurveTable *table);

/* The steps of curve_compute(), for tiles and plans. */

/* The number of counted samples that lie in bars. `active`, `area`: as in BarsState. */
uint32_t curve_bars(const CurveParams *p, const LumeqRect *active, uint32_t area);

/* Removes the samples of bars from a histogram. Bars are black, so these are the darkest `samples`.
 * Returns `left`, or `hist` if there is nothing to remove. */
const uint32_t *curve_exclude(const CurveParams *p, const uint32_t *hist, uint32_t samples,
                              uint32_t *left);

/* Copies the counts in range from `left` to `hist`. Sets `counted`. Sets `flat` if the range has no
 * samples, all samples are in one bin, or the clip limit is 1 and there is no lift. */
CurveView curve_count(const CurveParams *p, const uint32_t *left, uint32_t *hist);

/* Computes the prefix sums, the CDF and, from the CDF, mean and variance. If x is the position in
 * the range, 0 to 1, E(x) is the mean of 1 - CDF, and E(x^2) the mean of 2 x (1 - CDF). A picture
 * without samples in range counts as black. */
void curve_statistics(const CurveParams *p, CurveView *view, const uint32_t *hist, uint32_t *sums,
                      uint32_t *cdf);

/* Sets the distance from the previous frame: the mean over the range of the absolute difference of
 * the CDFs. Also sets `moved` and `dims`. A frame without samples in range has the distance 0 and
 * gets the previous CDF. `same_scene`: new bars were just excluded; the distance is 0. */
void curve_compare(const CurveParams *p, CurveView *view, const CurveResult *before, int same_scene,
                   uint32_t *cdf);

/* Computes the haze to remove from a frame: none unless the frame is hazy or p->clear is
 * CURVE_CLEAR_ALWAYS. */
void curve_haze(const CurveParams *p, const HazeCell *cells, int width, int height,
                const LumeqRect *active, HazeState *state);

/* Moves the haze `from` towards `to` by the share `part`, Q16. */
void curve_move_haze(HazeState *from, const HazeState *to, uint32_t part);

/* Multiplies the haze to remove by 1 - `dark`, unless p->clear is CURVE_CLEAR_ALWAYS. `dark`: the
 * picture's darkness, Q16. */
void curve_weaken_haze(const CurveParams *p, HazeState *haze, uint32_t dark);

/* Sets result->clear for this curve. The curve and the clearing amplify changes of light. Returns
 * the share of such a change in the output, Q16, that they add. */
uint32_t curve_clear_haze(const CurveParams *p, const uint32_t *curve, CurveResult *result);

/* Share of the strength that a picture needs, Q16. */
uint32_t curve_need(const CurveView *view);

/* The strength to use, from the need. */
uint32_t curve_strength(const CurveParams *p, uint32_t need);

/* Clips the counts in `hist`, and computes the target of equalization or stretching from them. If
 * `flat`, the target is the identity, `light`. `sums`: scratch memory for p->bins sums. */
void curve_target(const CurveParams *p, uint32_t counted, int flat, const uint32_t *light,
                  uint32_t *hist, uint32_t *sums, uint32_t *target);

/* Smooths a target: `smooth` is `was`, moved towards `target` by `alpha` (Q16). Bins outside the
 * range keep their code. `smooth` may be `target`. */
void curve_smooth(const CurveParams *p, const uint32_t *light, const uint32_t *target,
                  const uint32_t *was, uint32_t alpha, uint32_t *smooth);

/* Computes the curve: blends from `light` to `smooth` by the strength, and applies p->limit. The
 * history keeps `smooth`, so that a new strength or limit applies at once. */
void curve_weaken(const CurveParams *p, const uint32_t *light, const uint32_t *smooth,
                  uint32_t strength, uint32_t *curve);

/* Applies p->limit to the value of a curve at bin i. */
uint32_t curve_limited(const CurveParams *p, int i, uint32_t curve);

/* Converts a Q16 code of any depth to an 8-bit code, Q8. */
uint32_t curve_code8(const CurveParams *p, uint32_t curve);

#endif
