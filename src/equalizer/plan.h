/*
 * Curves that know what comes: the history with lookahead. One thread at a time.
 *
 * A frame waits in a queue from its put on. Decisions run ahead of the curves in the frames' order,
 * each once, with all measures that are there by then:
 *
 *   put       bars at the leading edge, as without lookahead; what of the frame differs from the
 *             one before (plan_frame.c)
 *   cuts      3 frames behind the last one, so that a cut is told from a flash and from motion
 *             (plan_shots.c)
 *   fades     `reach` ahead of the curve that is made: where they lead is then known for all of the
 *             lookahead less `reach`
 *   curve     a frame's, when measures up to its time plus the lookahead are there, from the frames
 *             within `reach` on both sides (plan_curve.c)
 *
 * A segment is what is smoothed over: it ends at cuts, at discontinuities, where the size or the
 * depth changes, and where a fade begins or ends.
 *
 * Which measures are there when something is decided follows from the order of frames alone: no
 * further one is taken while a curve can be got. All numbers are integers, Q16 having 16 fraction
 * bits; so the bits are the same on every machine.
 */
#ifndef LUMEQ_PLAN_H
#define LUMEQ_PLAN_H

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "equalizer/measure.h"
#include "equalizer/settings.h"

typedef struct LumeqPlan LumeqPlan;

/* Parameters and lookahead (above 0) have been checked. NULL: out of memory. */
LumeqPlan *lumeq_plan_create(const LumeqParams *params, int64_t lookahead);
void lumeq_plan_destroy(LumeqPlan **plan);

/* As lumeq_history_put() and lumeq_history_get(); the measure is finished and fits the parameters,
 * the moment is of this version's size. MEMORY: nothing was done. */
int lumeq_plan_put(LumeqPlan *plan, const LumeqMeasure *measure, const LumeqMoment *moment);
void lumeq_plan_end(LumeqPlan *plan);
int lumeq_plan_get(LumeqPlan *plan, LumeqCurve **curve);

/* Its state as bytes, and back: `bad` where it is none of such a plan, MEMORY where there is none
 * for it; it is then what it was. */
void lumeq_plan_save(const LumeqPlan *plan, ByteWriter *w);
int lumeq_plan_load(LumeqPlan *plan, ByteReader *r);

/* ---- inside: for plan_*.c alone ------------------------------------------------------------ */

/* A frame counts for at least as long as this, which bounds how many there are within the
 * lookahead: 3000 in 10 s. */
#define PLAN_LEAST_STEP (1000000000 / 300)

/* And for no more than this, which is more than any lookahead. */
#define PLAN_MOST_STEP INT64_C(20000000000)

/* Frames before and behind one that tell whether it is a cut. */
#define PLAN_AROUND 3

typedef enum PlanFade { PLAN_NO_FADE, PLAN_FADE_IN, PLAN_FADE_OUT } PlanFade;

typedef struct PlanFrame {
    MeasureShape shape; /* its tiles are those that are used */
    int64_t sequence;   /* its place among all frames that were put */
    int64_t number;     /* that the dither goes by */
    int64_t step;       /* nanoseconds since the frame before, within the bounds above */
    int64_t at;         /* the sum of these */
    LumeqRect active;
    uint32_t area; /* samples of the bars */
    int32_t hard;  /* nothing goes on from the frame before */
    int32_t cut;   /* it is the first one of a scene */
    int32_t interlaced;

    int32_t flash; /* another picture for a moment: curves are those of what is around it */

    /* Against the frame before, Q16; 0 where it is hard. */
    uint32_t distance; /* of the CDFs, as the curve without lookahead has it */
    uint32_t moved;    /* that one's: enough of the picture is another one */
    uint32_t change;   /* mean difference of the cells, as a share of the range */
    uint32_t gain;     /* the light of most cells, as a multiple of what it was */

    PlanFade fade;
    uint32_t factor; /* of a fade, Q16: its light as a share of the plateau's */
    int64_t plateau; /* of a fade: the frame that it leads to, or the one that it comes from */

    /* Above black, in codes with 8 fraction bits: of all of the frame, and of each cell. */
    uint32_t light;
    uint32_t level[MEASURE_CELLS];

    uint32_t noise; /* by noise_of() */
    uint32_t need;  /* Q16 */
    int32_t blank;  /* black: its target is the identity */

    /* With a lift: of the picture without its bars, as LiftState.share; 0: nothing is in range. */
    uint32_t share[CURVE_CELLS];
    int32_t counted;

    uint32_t *hist;                /* of the whole frame: [bins] */
    uint32_t (*tiles)[TILE_CELLS]; /* NULL: none */
    uint32_t (*padding)[TILE_CELLS];
    /* Its curve before smoothing and strength, and behind it those of its tiles; NULL: not made. */
    uint32_t *target;
} PlanFrame;

/* A smoothed curve before strength, Q16 codes. */
typedef struct PlanCurve {
    uint32_t need;
    uint32_t dark, more; /* of a lift, as in LiftState */
    uint32_t bin[LUMEQ_MAX_BINS];
    uint32_t tile[TILES_MAX][TILE_CELLS];
} PlanCurve;

/* How much the pictures of a segment needed, by their need's first 8 bits: how often, with 8
 * fraction bits, and what the needs sum up to. */
#define PLAN_NEEDS 256

typedef struct PlanNeeds {
    int64_t time; /* since it was last halved */
    uint32_t count[PLAN_NEEDS];
    uint64_t sum[PLAN_NEEDS];
} PlanNeeds;

/* What the rule of the lift looks at: weighted sums over frames. */
typedef struct PlanLight {
    uint64_t weight, noise_weight;
    uint64_t noise;
    uint64_t share[CURVE_CELLS]; /* with 8 bits less than PlanFrame.share */
} PlanLight;

struct LumeqPlan {
    LumeqParams params;
    int64_t lookahead;
    int64_t radius;  /* that the curve is smoothed over, to both sides */
    int64_t flicker; /* that light is evened out over; 0: it is not */
    int64_t reach;   /* the larger one */
    int reference;   /* each frame by itself */

    /* The leading edge. */
    LumeqClock clock;
    BarsState bars;
    int64_t found[BARS_DIRECTIONS]; /* the frame since which the bars that it has found are there */
    CurveResult trail;              /* of the frame before: the CDF */
    int64_t sequence;               /* of the next frame */
    int ended;

    /* In order: a ring of pointers. */
    PlanFrame **ring;
    size_t room, first, count;

    /* What comes next, by sequence. */
    int64_t cuts, settled, next;

    PlanNeeds needs; /* of the segment's frames whose curves have been made */
    PlanLight light; /* of the same, each for less the longer ago it is */
    uint32_t noise;  /* that was known last, codes of 8 bits, Q16 */
    int32_t noise_known;
    PlanCurve last;     /* that of the frame before */
    int32_t last_depth; /* that it is of; 0: there is none */
    PlanCurve target;   /* what the frame's is on its way to, with a lift */
    PlanCurve plateau;  /* that of the fade */
    int64_t plateau_of; /* the frame that this is of; -1: there is none */

    /* What curves are made in. */
    BarsProfile profile;
    BarsWork bars_work;
    CurveResult result;
    CurveWork work;
    CurveTable table;
    TileResult tiles;
    ClaheWork clahe;
    uint64_t sums[LUMEQ_MAX_BINS];
    uint32_t values[LUMEQ_MAX_BINS];
};

/* Frame number i of the queue. */
static inline PlanFrame *plan_frame(const LumeqPlan *plan, size_t i)
{
    return plan->ring[(plan->first + i) % plan->room];
}

/* Its place in the queue: at least `count` where it is not there. */
static inline size_t plan_place(const LumeqPlan *plan, int64_t sequence)
{
    const int64_t first = plan->sequence - (int64_t)plan->count;
    return sequence < first ? SIZE_MAX : (size_t)(sequence - first);
}

/* Whether a frame of the queue is the first of a segment. */
static inline int plan_begins(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    return f->hard || f->cut || !i || f->fade != plan_frame(plan, i - 1)->fade;
}

/* Whether the frames are of one size, depth, range and grid. */
static inline int plan_same_shape(const MeasureShape *a, const MeasureShape *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->shift == b->shift && a->range == b->range && a->tiles_x == b->tiles_x &&
           a->tiles_y == b->tiles_y;
}

/* The codes that make a frame's curve, and the grid of its tiles: answers whether there are any. */
CurveParams lumeq_plan_params(const LumeqPlan *plan, const PlanFrame *frame);
int lumeq_plan_grid(const LumeqPlan *plan, const PlanFrame *frame, const CurveParams *params,
                    TileGrid *grid);

/* Frees the frames and their ring. */
void lumeq_plan_clear(LumeqPlan *plan);

/* ---- frames (plan_frame.c) ----------------------------------------------------------------- */

/* A frame with room for what is counted of it. NULL: out of memory. */
PlanFrame *lumeq_plan_frame_new(const MeasureShape *shape);
void lumeq_plan_frame_free(PlanFrame *frame);

/* Its cells, from what was counted of them. */
void lumeq_plan_take_cells(PlanFrame *frame, const uint64_t *cells);

/* What it tells by itself and against the frame before, which is NULL where it is hard; leaves its
 * CDF in the trail. `grew`: bars are newly left out. */
void lumeq_plan_look(LumeqPlan *plan, PlanFrame *frame, const PlanFrame *before, int grew);

/* It has other bars than it was looked at with. */
void lumeq_plan_set_active(LumeqPlan *plan, PlanFrame *frame, const LumeqRect *active);

/* Makes its target unless it is there. MEMORY: it is not. */
int lumeq_plan_target(LumeqPlan *plan, PlanFrame *frame);

/* ---- cuts and fades (plan_shots.c) --------------------------------------------------------- */

/* The change of the cells, and the gain of the light. */
void lumeq_plan_compare(PlanFrame *frame, const PlanFrame *before);

/* Decides on cuts that enough is known of. */
void lumeq_plan_cuts(LumeqPlan *plan);

/* Decides all up to a time of the plan. */
void lumeq_plan_settle(LumeqPlan *plan, int64_t until);

/* The need of the segment that frame i of the queue is in: the median over those of its frames that
 * are in `past`, and of it and those behind it. 0 where all are black. */
uint32_t lumeq_plan_need(const LumeqPlan *plan, size_t i, const PlanNeeds *past);

/* Whether there was one that is not black. */
int lumeq_plan_has_needs(const PlanNeeds *needs);

/* The frame's curve has been made. */
void lumeq_plan_needed(LumeqPlan *plan, const PlanFrame *frame);

/* Behind the last frame of the scene that frame i is in, as far as it is there. */
size_t lumeq_plan_scene_end(const LumeqPlan *plan, size_t i);

/* ---- what is lifted (plan_lift.c) ---------------------------------------------------------- */

/* What the rule makes of frame i of the queue, before smoothing: `past` has the frames before. */
void lumeq_plan_lift(LumeqPlan *plan, size_t i, const PlanLight *past, const CurveParams *params,
                     PlanCurve *curve);

/* The frames before are longer ago by a time; the frame, whose curve has been made, is one of them.
 */
void lumeq_plan_age(PlanLight *past, int64_t time);
void lumeq_plan_lit(PlanLight *past, const PlanFrame *frame);

/* The noise that is known, or taken to be there; codes of 8 bits, Q16. */
uint32_t lumeq_plan_noise(const LumeqPlan *plan);

/* ---- curves (plan_curve.c) ----------------------------------------------------------------- */

/* The curve of frame i of the queue. MEMORY: nothing was done. */
int lumeq_plan_make(LumeqPlan *plan, size_t i, LumeqCurve **curve);

#endif
