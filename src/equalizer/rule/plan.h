/*
 * The history with lookahead. One thread at a time.
 *
 * A frame waits in a queue after its put. Each frame passes these steps, in the order of frames:
 *
 *   put     finds bars and changes against the previous frame, as without lookahead (plan_frame.c)
 *   cuts    3 puts later: tells cuts from flashes and motion (plan_shots.c)
 *   fades   before a curve is made: finds fades up to LumeqPlan.flicker after the curve's frame.
 *           Later frames in the queue show how a fade ends (plan_shots.c).
 *   curve   when the queue reaches the lookahead past the frame: makes the curve from the known
 *           frames of the epoch (plan_curve.c)
 *
 * A segment ends at cuts, discontinuities, changes of size or depth, and at the start or end of a
 * fade.
 *
 * While a curve is ready, lumeq_plan_put() accepts no measure. So each step sees the same frames,
 * whenever the caller gets its curves. All numbers are integers (Q16: 16 fraction bits), so every
 * machine gives the same bits.
 */
#ifndef LUMEQ_PLAN_H
#define LUMEQ_PLAN_H

#include "equalizer/backend.h"
#include "equalizer/measure.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/lift.h"
#include "equalizer/settings.h"

typedef struct LumeqPlan LumeqPlan;

/* Parameters and lookahead (above 0) are already checked. NULL: out of memory. */
LumeqPlan *lumeq_plan_create(const LumeqParams *params, int64_t lookahead);
void lumeq_plan_destroy(LumeqPlan **plan);

/* Like lumeq_history_put() and lumeq_history_get(), for arguments that are already checked.
 * `moment` comes from lumeq_take_struct(). On LUMEQ_ERR_MEMORY nothing has changed. */
int lumeq_plan_put(LumeqPlan *plan, const LumeqMeasure *measure, const LumeqMoment *moment);
void lumeq_plan_end(LumeqPlan *plan);
int lumeq_plan_get(LumeqPlan *plan, LumeqCurve **curve);

/* The rest is for plan_*.c only. */

/* Minimum time between frames, in nanoseconds: a lookahead of 10 s has at most 3000 frames. */
#define PLAN_LEAST_STEP (1000000000 / 300)

/* Maximum time between frames, longer than any lookahead. */
#define PLAN_MOST_STEP INT64_C(20000000000)

/* Number of frames before and after a frame that decide whether it is a cut. */
#define PLAN_AROUND 3

typedef enum PlanFade { PLAN_NO_FADE, PLAN_FADE_IN, PLAN_FADE_OUT } PlanFade;

typedef struct PlanFrame {
    MeasureShape shape; /* without tiles if the mode uses none */
    int64_t sequence;   /* index among all frames put */
    int64_t number;     /* selects the dither pattern */
    int64_t step;       /* nanoseconds since the previous frame, within the limits above */
    int64_t at;         /* sum of the steps up to this frame */
    LumeqRect active;
    uint32_t area; /* number of samples in the bars */
    int32_t hard;  /* unrelated to the previous frame */
    int32_t cut;   /* first frame of a scene */
    int32_t interlaced;

    int32_t flash; /* part of a flash: gets the curve of the surrounding frames */

    /* Changes against the previous frame, Q16; 0 if `hard`. */
    uint32_t distance; /* of the CDFs, as in curve_compare() */
    uint32_t moved;    /* enough of the picture changed for a cut, as in curve_compare() */
    uint32_t change;   /* mean difference of the cells, as a share of the range */
    uint32_t gain;     /* of the light, see light_gain() */

    PlanFade fade;
    uint32_t factor; /* in a fade: this frame's share of the light at the fade's bright end, Q16 */
    int64_t plateau; /* in a fade: sequence of the frame at the bright end */

    /* Mean luma above black, in codes with 8 fraction bits, of the frame and of each cell. */
    uint32_t light;
    uint32_t level[MEASURE_CELLS];

    HazeCell cells[MEASURE_CELLS];
    HazeState seen; /* from curve_haze() */
    uint32_t noise; /* from noise_of() */
    uint32_t need;  /* Q16 */
    int32_t blank;  /* the frame is black, so its target is the identity */

    uint32_t cdf[CURVE_CELLS]; /* as in EpochState */
    /* lift_shares() of the picture without bars; unused if `counted` is 0, which means no lift or
     * no samples in range. */
    uint32_t share[CURVE_CELLS];
    int32_t counted;

    uint32_t *hist;                /* of the whole frame: [bins] */
    uint32_t (*tiles)[TILE_CELLS]; /* NULL: none */
    uint32_t (*padding)[TILE_CELLS];
    /* The frame's target, followed by those of its tiles; NULL: not computed yet. */
    uint32_t *target;
} PlanFrame;

/* A curve to which the strength is not applied yet; Q16 codes. */
typedef struct PlanCurve {
    LiftChoice choice; /* `lowered` and `raised` are not used */
    HazeState cleared; /* as in CurveResult */
    uint32_t bin[LUMEQ_MAX_BINS];
    uint32_t tile[TILES_MAX][TILE_CELLS];
} PlanCurve;

/* The curve of an epoch, and the mean CDF of its frames. */
typedef struct PlanEpoch {
    uint32_t cdf[CURVE_CELLS];
    PlanCurve curve;
} PlanEpoch;

struct LumeqPlan {
    LumeqParams params;
    int64_t lookahead;
    int64_t flicker; /* deflicker averages over this many ns before and after a frame; 0: off */
    int reference;   /* OpenCV's curves: no history */

    /* State of put. */
    LumeqClock clock;
    BarsState bars;
    int64_t found[BARS_DIRECTIONS]; /* sequence of the frame that first showed the candidate bars */
    CurveResult trail;              /* holds only the CDF of the previous frame */
    int64_t sequence;               /* of the next frame to put */
    int ended;

    /* The frames in the queue: a ring of pointers. */
    PlanFrame **ring;
    size_t room, first, count;

    /* Sequence of the next frame to decide: on cuts, on fades, on curves. */
    int64_t cuts, settled, next;

    uint32_t noise; /* last measured, codes of 8 bits, Q16 */
    int32_t noise_known;
    PlanCurve last;     /* curve of the previous frame */
    int32_t last_depth; /* depth of `last`; 0: no curve yet */
    PlanEpoch epoch;    /* epoch of the previous frame; `last` moves towards its curve */
    uint32_t alpha;     /* how far `last` moved with the latest frame, Q16 */
    uint32_t even;      /* the latest factor for codes above black, Q16; see light_factor() */
    int32_t change;     /* as in EpochState */
    PlanEpoch plateau;  /* epoch of the bright end of the current fade */
    int64_t plateau_of; /* PlanFrame.plateau of the current fade; -1: no fade */

    CurveResult result;
    CurveWork work;
    TransferMap tile_map; /* HDR: for the cells of tiles */
    TileResult tiles;
    TileTables tables;
    uint64_t sums[LUMEQ_MAX_BINS];
};

static inline int64_t plan_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline PlanFrame *plan_frame(const LumeqPlan *plan, size_t i)
{
    return plan->ring[(plan->first + i) % plan->room];
}

/* Index of a frame in the queue; `count` or more if it is not there. */
static inline size_t plan_place(const LumeqPlan *plan, int64_t sequence)
{
    const int64_t first = plan->sequence - (int64_t)plan->count;
    return sequence < first ? SIZE_MAX : (size_t)(sequence - first);
}

/* True if a frame in the queue begins a segment. */
static inline int plan_begins(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    return f->hard || f->cut || !i || f->fade != plan_frame(plan, i - 1)->fade;
}

/* True if both have the same size, depth, range and grid. */
static inline int plan_same_shape(const MeasureShape *a, const MeasureShape *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->shift == b->shift && a->range == b->range && a->tiles_x == b->tiles_x &&
           a->tiles_y == b->tiles_y;
}

/* The parameters of a frame's curve. */
CurveParams lumeq_plan_params(const LumeqPlan *plan, const PlanFrame *frame);
/* Makes the grid of a frame's tiles. Returns 0 if the mode has no tiles. */
int lumeq_plan_grid(const LumeqPlan *plan, const PlanFrame *frame, const CurveParams *params,
                    TileGrid *grid);

void lumeq_plan_clear(LumeqPlan *plan);

/* Implemented in plan_frame.c. */

/* Allocates a frame with room for its counts. NULL: out of memory. */
PlanFrame *lumeq_plan_frame_new(const MeasureShape *shape);
void lumeq_plan_frame_free(PlanFrame *frame);

void lumeq_plan_take_cells(const LumeqPlan *plan, PlanFrame *frame, const uint64_t *cells);

/* Computes the frame's statistics and its changes against `before`, the previous frame (NULL if
 * `hard`). Stores the frame's CDF in plan->trail. `grew`: new bars were just excluded. */
void lumeq_plan_look(LumeqPlan *plan, PlanFrame *frame, const PlanFrame *before, int grew);

/* Changes the frame's bars and updates its statistics. */
void lumeq_plan_set_active(LumeqPlan *plan, PlanFrame *frame, const LumeqRect *active);

/* Computes the target if it is missing. On LUMEQ_ERR_MEMORY it stays missing. */
int lumeq_plan_target(LumeqPlan *plan, PlanFrame *frame);

/* Implemented in plan_shots.c. */

/* Computes the frame's `change` and `gain`. */
void lumeq_plan_compare(const CurveParams *params, PlanFrame *frame, const PlanFrame *before);

/* Decides on cuts at all frames that have PLAN_AROUND frames after them. */
void lumeq_plan_cuts(LumeqPlan *plan);

/* Decides on cuts and fades of the frames up to this time (PlanFrame.at). */
void lumeq_plan_settle(LumeqPlan *plan, int64_t until);

/* Implemented in plan_curve.c. */

/* Computes the curve of frame i in the queue. On LUMEQ_ERR_MEMORY nothing has changed. */
int lumeq_plan_make(LumeqPlan *plan, size_t i, LumeqCurve **curve);

#endif
