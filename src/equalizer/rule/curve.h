/* The rule: computes a frame's curve and lookup table from its histogram and the history. */
#ifndef LUMEQ_CURVE_H
#define LUMEQ_CURVE_H

#include "equalizer/curve_types.h"
#include "equalizer/rule/transfer.h"

/* Rounds of clipping. Each spreads the excess over all bins, which pushes a fraction of it over the
 * limit again; after four rounds the remainder moves no code. */
#define CURVE_CLIP_ROUNDS 4

/* Minimum distance between the CDFs of two frames in a cut, as a share of the range. No fade moves
 * the mean by as much (26 codes in 8-bit limited range) within one frame. */
#define CURVE_CUT_HIGH (CURVE_ONE * 12 / 100)

/* One or two changes in a row of at least CURVE_JUMP, followed by one of at most CURVE_CALM, are a
 * cut between similarly bright scenes, or a flash: the curve changes to its target at once. More
 * such changes in a row are a fade or motion. */
#define CURVE_JUMP (CURVE_ONE * 25 / 1000)
#define CURVE_CALM (CURVE_JUMP * 3 / 4)
#define CURVE_JUMPS 2

/*
 * With an adaptive strength, pictures with a mean below CURVE_BLACK_MEAN count as black: their
 * target is the identity, and their curve moves at least a third of the way to it. The frames after
 * black count as a fade until one changes by less than CURVE_FADE_CALM. A fade only looks dark and
 * must not be lifted for that, so its curve follows more slowly: at an eighth of the usual pace, or
 * at a 64th with lift, if frames change by CURVE_FADE or more.
 */
#define CURVE_BLACK_MEAN (CURVE_ONE * 8 / 1000)
#define CURVE_BLACK_ALPHA (CURVE_ONE / 3)
#define CURVE_FADE_CALM (CURVE_ONE / 400)
#define CURVE_FADE (CURVE_ONE * 3 / 400)
#define CURVE_FADE_MEAN (CURVE_ONE * 32 / 100)

/* Share of the strength for pictures that need none. */
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
    uint32_t counted, flat;  /* number of samples in range; true: there is nothing to equalize */
    uint32_t mean, variance; /* as shares of the range and of its square */
    uint32_t distance;       /* from the previous picture */
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

/*
 * Computes the curve, history and table of a frame from its histogram. `result` has the frame's
 * bars, noise and haze, and must not be `before`, the history.
 */
void curve_compute(const CurveParams *p, const uint32_t *hist, const CurveResult *before,
                   CurveResult *result, CurveTable *table, CurveWork *w);

/* Copies the history to the result unchanged, for reference frames, which do not affect it. */
void curve_keep_history(const CurveParams *p, const CurveResult *before, CurveResult *result);

/* Makes the table from a result. */
void curve_fill_table(const CurveParams *p, const CurveResult *result, CurveTable *table);

/* Makes only the filter's tables, for `past` previous frames. The gains must be filled in already.
 */
void curve_fill_lift(const CurveParams *p, const CurveResult *result, int32_t past,
                     CurveTable *table);

/* The steps of curve_compute(), for tiles and plans. */

/* The number of counted samples that lie in bars. */
uint32_t curve_bars(const CurveParams *p, const LumeqRect *active, uint32_t area);

/* Removes the darkest `samples` from a histogram: those of the bars, which are black. Returns
 * `left`, or `hist` if there is nothing to remove. */
const uint32_t *curve_exclude(const CurveParams *p, const uint32_t *hist, uint32_t samples,
                              uint32_t *left);

/* Copies the counts in range. Sets `counted`, and `flat` if the curve is the identity: the range is
 * empty, all counts are in one bin, or the clip limit is 1, which only an even histogram meets. */
CurveView curve_count(const CurveParams *p, const uint32_t *left, uint32_t *hist);

/* Computes the prefix sums, the CDF and, from the CDF, mean and variance. If x is a bin's position
 * in the range, E(x) = sum of 1 - CDF, and E(x^2) = sum of 2 x (1 - CDF). A picture with no samples
 * in range is black. */
void curve_statistics(const CurveParams *p, CurveView *view, const uint32_t *hist, uint32_t *sums,
                      uint32_t *cdf);

/* Computes the distance from the previous frame: the mean over the range of the CDFs' |difference|,
 * or 0 if either frame has no samples in range; such a frame keeps the old CDF. `same_scene`: new
 * bars were just excluded, so the change of the histogram means nothing. */
void curve_compare(const CurveParams *p, CurveView *view, const CurveResult *before, int same_scene,
                   uint32_t *cdf);

/* Computes the haze to remove from a frame: none unless it is hazy or CURVE_CLEAR_ALWAYS is set. */
void curve_haze(const CurveParams *p, const HazeCell *cells, int width, int height,
                const LumeqRect *active, HazeState *state);

/* Moves a haze towards another by `part`, Q16. */
void curve_move_haze(HazeState *from, const HazeState *to, uint32_t part);

/* Reduces the haze to remove to the share 1 - `dark` (the picture's darkness, Q16), unless
 * CURVE_CLEAR_ALWAYS is set. */
void curve_weaken_haze(const CurveParams *p, HazeState *haze, uint32_t dark);

/* Sets result->clear for this curve. Returns the share of the output's changes of light, Q16, that
 * the curve and the clearing add. */
uint32_t curve_clear_haze(const CurveParams *p, const uint32_t *curve, CurveResult *result);

/* Share of the strength that a picture needs. */
uint32_t curve_need(const CurveView *view);

/* The strength to use, from the need. */
uint32_t curve_strength(const CurveParams *p, uint32_t need);

/* Computes the target of equalization or stretching from the counts, which it clips. If `flat`, the
 * target is the identity, `light`. `sums`: scratch memory for p->bins sums. */
void curve_target(const CurveParams *p, uint32_t counted, int flat, const uint32_t *light,
                  uint32_t *hist, uint32_t *sums, uint32_t *target);

/* Smooths a target: moves the curve `was` towards it by `alpha`. Bins outside the range keep their
 * code. `smooth` may be `target`. */
void curve_smooth(const CurveParams *p, const uint32_t *light, const uint32_t *target,
                  const uint32_t *was, uint32_t alpha, uint32_t *smooth);

/* Computes the curve: the smoothed curve weakened by the strength and limited. The history stores
 * the smoothed curve, without the limit, so that another limit applies at once. */
void curve_weaken(const CurveParams *p, const uint32_t *light, const uint32_t *smooth,
                  uint32_t strength, uint32_t *curve);

/* Bounds the curve at bin i by the identity, as p->limit demands. */
uint32_t curve_limited(const CurveParams *p, int i, uint32_t curve);

/* Converts a Q16 code of any depth to 8 bits, Q8. */
uint32_t curve_code8(const CurveParams *p, uint32_t curve);

#endif
