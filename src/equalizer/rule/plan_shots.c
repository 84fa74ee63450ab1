/*
 * Finds cuts and fades.
 *
 * Cut: the frame's change stands out from the changes around it. A change is measured on the CDF
 * (as without lookahead) and on the mean luma of 16x9 cells, which separates pictures with similar
 * histograms. It is compared with the second largest change among the three frames on each side, so
 * motion and repeated frames do not count. Frames of a flash, after which the earlier picture
 * returns, are not cuts. They use the curve of the surrounding frames.
 *
 * Fade: light rises from black to a plateau, or falls from a plateau to black, while the picture
 * stays the same: each cell's luma above black is f times the plateau's. f is the ratio of the
 * frames' means above black, so black bars do not change it. If a rise is longer than the
 * lookahead, the last known frame serves as the plateau for now.
 */
#include <string.h>

#include "equalizer/rule/light.h"
#include "equalizer/rule/plan.h"

/* Ratio by which a change stands out, in halves. */
#define SPIKE_HALVES 5

/* Minimum change of the cells in a cut: 2.5 % of the range. */
#define CHANGED (CURVE_ONE * 25 / 1000)

/* Nanoseconds of steady light at the end of a fade. */
#define CALM_TIME 200000000

/* Minimum number of frames between black and plateau. */
#define FADE_LEAST 2

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Codes in the range, with 8 fraction bits. */
static uint64_t range_of(const PlanFrame *f)
{
    const LumeqImage image = lumeq_shape_image(&f->shape);
    const CurveParams p = lumeq_sample_params(&image);
    return (uint64_t)(p.white - p.black) << 8;
}

/* Sum over the cells of |f - factor * other|. */
static uint64_t difference(const PlanFrame *f, const PlanFrame *other, uint32_t factor)
{
    uint64_t sum = 0;
    for (int i = 0; i < MEASURE_CELLS; i++)
        sum += apart(f->level[i],
                     (uint32_t)plan_least((int64_t)other->level[i] * factor >> 16, UINT32_MAX));
    return sum;
}

/* Mean difference of the cells as a share of the range, Q16. */
static uint32_t change_between(const PlanFrame *a, const PlanFrame *b)
{
    return (uint32_t)((difference(a, b, CURVE_ONE) << 16) / (MEASURE_CELLS * range_of(a)));
}

void lumeq_plan_compare(const CurveParams *p, PlanFrame *f, const PlanFrame *before)
{
    f->change = change_between(f, before);
    f->gain = light_gain(p, before->seen.mean, f->seen.mean, 50);
}

/* The frame `away` frames after frame i, or before frame i if `away` is negative. NULL if there is
 * no such frame or it is unrelated to frame i. */
static const PlanFrame *neighbour(const LumeqPlan *plan, size_t i, int away)
{
    for (; away < 0; away++, i--)
        if (!i || plan_frame(plan, i)->hard)
            return NULL;
    for (; away > 0; away--, i++)
        if (i + 1 >= plan->count || plan_frame(plan, i + 1)->hard)
            return NULL;
    return plan_frame(plan, i);
}

/* True if the frame's change is far above the changes of the frames around it. */
static int stands_out(const LumeqPlan *plan, size_t i, int of_cells)
{
    const PlanFrame *f = plan_frame(plan, i);
    uint32_t largest = 0, second = 0;
    for (int away = -PLAN_AROUND; away <= PLAN_AROUND; away++) {
        if (!away)
            continue;
        const PlanFrame *other = neighbour(plan, i, away);
        if (!other || other->hard) /* near the ends, one side counts twice */
            other = neighbour(plan, i, -away);
        const uint32_t value = !other ? 0 : of_cells ? other->change : other->distance;
        second = value > largest ? largest : value > second ? value : second;
        largest = value > largest ? value : largest;
    }
    return 2 * (uint64_t)(of_cells ? f->change : f->distance) > SPIKE_HALVES * (uint64_t)second;
}

/* The number of frames after which the picture before frame i returns; 0: it does not return. */
static int returns_after(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i), *before = neighbour(plan, i, -1);
    for (int away = 1; away < PLAN_AROUND; away++) {
        const PlanFrame *later = neighbour(plan, i, away);
        if (later && 2 * (uint64_t)change_between(later, before) < f->change)
            return away;
    }
    return 0;
}

/* True if frame i returns to the picture before a flash. */
static int is_return(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    for (int away = 2; away <= PLAN_AROUND; away++) {
        const PlanFrame *earlier = neighbour(plan, i, -away);
        if (earlier && 2 * (uint64_t)change_between(f, earlier) < f->change)
            return 1;
    }
    return 0;
}

/* True if only the light changed: the remaining difference is small against the contrast. */
static int is_light(const PlanFrame *f, const PlanFrame *before)
{
    uint64_t contrast = 0;
    for (int i = 0; i < MEASURE_CELLS; i++)
        contrast += apart(f->level[i], f->light);
    return 4 * difference(f, before, f->gain) < contrast;
}

/* True if most cells that are not black are unchanged. A change of a lamp or caption is no cut. */
static int goes_on_mostly(const PlanFrame *f, const PlanFrame *before)
{
    const uint32_t code = 1u << f->shape.depth; /* of 8 bits, with 8 fraction bits */
    int lit = 0, same = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const uint32_t a = f->level[i], b = before->level[i], more = a > b ? a : b;
        lit += more >= 2 * code;
        same += more >= 2 * code && apart(a, b) <= more / 16 + code;
    }
    return 2 * same > lit;
}

static void decide_cut(LumeqPlan *plan, size_t i)
{
    PlanFrame *f = plan_frame(plan, i);
    const int jumps = f->moved && (f->distance >= CURVE_CUT_HIGH ||
                                   (f->distance >= CURVE_JUMP && stands_out(plan, i, 0)));
    if (!f->hard && !f->fade && plan->params.scene_cut && !plan->reference &&
        !goes_on_mostly(f, plan_frame(plan, i - 1)) &&
        (jumps || (f->change >= CHANGED && stands_out(plan, i, 1)))) {
        const int frames = returns_after(plan, i);
        for (size_t k = i; k < i + (size_t)frames; k++)
            plan_frame(plan, k)->flash = 1;
        f->cut = !frames && !is_return(plan, i) &&
                 !(plan->params.deflicker > 0 && is_light(f, plan_frame(plan, i - 1)));
    }
    plan->cuts = f->sequence + 1;
}

void lumeq_plan_cuts(LumeqPlan *plan)
{
    while (plan->cuts + PLAN_AROUND < plan->sequence)
        decide_cut(plan, plan_place(plan, plan->cuts));
}

static int is_black(const PlanFrame *f)
{
    return (uint64_t)f->light << 16 < CURVE_BLACK_MEAN * range_of(f);
}

static uint32_t factor_of(const PlanFrame *f, const PlanFrame *plateau)
{
    const uint64_t factor = ((uint64_t)f->light << 16) / plateau->light;
    return factor < CURVE_ONE ? (uint32_t)factor : CURVE_ONE;
}

/* True if the frame is the plateau's picture, dimmed, apart from moving parts. */
static int is_dimmed(const PlanFrame *f, const PlanFrame *plateau)
{
    const uint64_t code = (uint64_t)MEASURE_CELLS << f->shape.depth; /* an 8-bit code per cell */
    return difference(f, plateau, factor_of(f, plateau)) <=
           (uint64_t)MEASURE_CELLS * f->light / 3 + code / 2;
}

/* True if the frame continues the previous one, perhaps in different light. */
static int goes_on(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    return !f->hard && (!f->cut || is_light(f, plan_frame(plan, i - 1)));
}

/* 1 if the light does not rise within CALM_TIME after frame i, 0 if it rises, -1 if unknown yet. */
static int stays(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    for (size_t k = i + 1; k < plan->count && goes_on(plan, k); k++) {
        const PlanFrame *g = plan_frame(plan, k);
        if (g->light > f->light + f->light / 64)
            return 0;
        if (g->at - f->at >= CALM_TIME)
            return 1;
    }
    const PlanFrame *last = plan_frame(plan, plan->count - 1);
    return plan->ended || last->hard || last->at - f->at >= CALM_TIME ? 1 : -1;
}

/* True if the frame is dimmed at least half as much as in a linear fade. Otherwise the light only
 * wavers before or after the fade. */
static int keeps_pace(const PlanFrame *f, const PlanFrame *black, const PlanFrame *plateau)
{
    const int64_t whole =
        plateau->at > black->at ? plateau->at - black->at : black->at - plateau->at;
    const int64_t left = plateau->at > f->at ? plateau->at - f->at : f->at - plateau->at;
    return CURVE_ONE + CURVE_ONE / 32 >= factor_of(f, plateau) + CURVE_ONE * left / (2 * whole);
}

/* Marks the frames in [from, to) as a fade if all are dimmed versions of the plateau. `black`: the
 * darkest frame of the fade. */
static void mark(LumeqPlan *plan, size_t from, size_t to, size_t black, size_t plateau,
                 PlanFade fade)
{
    const PlanFrame *p = plan_frame(plan, plateau);
    if (p->light < 4u << p->shape.depth) /* 4 codes of 8 bits: too dark for a factor */
        return;
    for (size_t i = from; i < to; i++)
        if (!is_dimmed(plan_frame(plan, i), p) ||
            !keeps_pace(plan_frame(plan, i), plan_frame(plan, black), p))
            return;
    for (size_t i = from; i < to; i++) {
        PlanFrame *f = plan_frame(plan, i);
        f->fade = fade;
        f->factor = factor_of(f, p);
        f->plateau = p->sequence;
        f->cut = f->flash = 0;
    }
}

/* The last frame of a rise of light from frame i: the first frame whose light stays, or the scene's
 * last. SIZE_MAX: the light falls. `known` 0: the end of the rise is not known yet. */
static size_t rise_from(const LumeqPlan *plan, size_t i, int *known)
{
    *known = 1;
    for (size_t k = i;; k++) {
        const int calm = stays(plan, k);
        if (calm > 0)
            return k;
        if (k + 1 >= plan->count) {
            *known = 0;
            return k;
        }
        if (!goes_on(plan, k + 1))
            return k;
        const uint32_t light = plan_frame(plan, k)->light;
        if (plan_frame(plan, k + 1)->light + light / 16 < light)
            return SIZE_MAX;
    }
}

/* Finds a fade-in at frame i: after black, after another scene, or continuing a rise that the
 * lookahead did not cover. */
static void find_fade_in(LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i), *before = i ? plan_frame(plan, i - 1) : NULL;
    if (is_black(f))
        return;
    const int first = !before || f->hard || (f->cut && !is_light(f, before));
    const int after = !first && (is_black(before) || before->fade == PLAN_FADE_IN);
    if (!first && !after)
        return;
    int known;
    const size_t to = rise_from(plan, i, &known);
    const int continues = after && before->fade == PLAN_FADE_IN;
    if (to == SIZE_MAX || to < i + (continues ? 1 : FADE_LEAST))
        return;
    if (first && 4 * (uint64_t)f->light > plan_frame(plan, to)->light)
        return;
    mark(plan, i, known ? to : i + 1, continues || first ? i : i - 1, to, PLAN_FADE_IN);
}

/* The darkest frame of a fall of light that begins at frame i: the first black frame, or a nearly
 * black frame at the end of the film or scene. SIZE_MAX: the light does not fall, or the end
 * of the fall is not known yet. */
static size_t fall_from(const LumeqPlan *plan, size_t i, const PlanFrame *plateau)
{
    for (size_t k = i;; k++) {
        const PlanFrame *f = plan_frame(plan, k);
        if (is_black(f))
            return k;
        if (k + 1 >= plan->count ? plan->ended : !goes_on(plan, k + 1))
            return f->light < plateau->light / 8 ? k : SIZE_MAX;
        if (k + 1 >= plan->count || plan_frame(plan, k + 1)->light > f->light + plateau->light / 64)
            return SIZE_MAX;
    }
}

static void find_fade_out(LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    if (!i || f->hard || f->cut || is_black(f))
        return;
    const PlanFrame *plateau = plan_frame(plan, i - 1);
    if (plateau->fade || plateau->flash || f->light >= plateau->light - plateau->light / 256)
        return;
    const size_t darkest = fall_from(plan, i, plateau);
    if (darkest == SIZE_MAX || darkest < i + FADE_LEAST)
        return;
    const size_t to = is_black(plan_frame(plan, darkest)) ? darkest : darkest + 1;
    mark(plan, i, to, darkest, i - 1, PLAN_FADE_OUT);
}

void lumeq_plan_settle(LumeqPlan *plan, int64_t until)
{
    for (size_t i = plan_place(plan, plan->settled);
         i < plan->count && plan_frame(plan, i)->at <= until; i++) {
        /* A new stream is decided once its first curve is due: too little is known before. */
        if (plan_frame(plan, i)->hard && plan->settled > plan->next)
            break;
        if (plan->cuts <= plan->settled)
            decide_cut(plan, i);
        if (!plan_frame(plan, i)->fade && !plan->reference) {
            find_fade_in(plan, i);
            if (!plan_frame(plan, i)->fade)
                find_fade_out(plan, i);
        }
        plan->settled++;
    }
}
