/*
 * Where scenes begin and fades lead, and how much a segment needs.
 *
 * Cut: the frame's change from the one before stands out from the changes around it, of the CDF
 * (as without lookahead) or of the mean luma of 16x9 cells, which tells pictures of like histogram
 * apart. Of the changes of the three frames before and behind, the largest but one is what motion,
 * and a picture that is shown twice or three times, comes to. A flash is none: behind it, the
 * picture is what it was before it. Its frames take the curve of those around them.
 *
 * Fade: light that rises from black to where it stays, or falls from where it was to black, while
 * the picture remains the same: code = black + f * (plateau's code - black), so that each cell's
 * luma above black is f times the plateau's. f is the quotient of the frames' means above black.
 * Bars do not matter to it, as they are black. What rises for longer than the lookahead shows leads
 * to the last frame that is known, for the time being.
 */
#include <string.h>

#include "equalizer/plan.h"

/* A change that stands out is so many times as large as those around it, in halves. */
#define SPIKE_HALVES 5

/* The change of the cells from which a spike of it is a cut: 2.5 % of the range. */
#define CHANGED (CURVE_ONE * 25 / 1000)

/* Cells that are darker than 4 codes of 8 bits, or lighter than 15/16 of the range, tell nothing
 * of the light, and fewer than this are too few. */
#define LEAST_CELLS 12

/* The most by which light is taken to change from a frame to the next. */
#define GAIN_MOST (4 * CURVE_ONE)
#define GAIN_LEAST (CURVE_ONE / 4)

/* Nanoseconds for which the light stays where a fade has led. */
#define CALM_TIME 200000000

/* Frames that a fade has between black and the plateau. */
#define FADE_LEAST 2

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Codes of the range, with 8 fraction bits. */
static uint64_t range_of(const PlanFrame *f)
{
    const LumeqImage image = lumeq_shape_image(&f->shape);
    const CurveParams p = lumeq_sample_params(&image);
    return (uint64_t)(p.white - p.black) << 8;
}

/* Sum over the cells of how far `f` is from `factor` times the other one. */
static uint64_t difference(const PlanFrame *f, const PlanFrame *other, uint32_t factor)
{
    uint64_t sum = 0;
    for (int i = 0; i < MEASURE_CELLS; i++)
        sum += apart(f->level[i],
                     (uint32_t)smaller((int64_t)other->level[i] * factor >> 16, UINT32_MAX));
    return sum;
}

/* Q16. */
static uint32_t change_between(const PlanFrame *a, const PlanFrame *b)
{
    return (uint32_t)((difference(a, b, CURVE_ONE) << 16) / (MEASURE_CELLS * range_of(a)));
}

/* The median over the cells of their luma's quotient, Q16. */
static uint32_t gain_between(const PlanFrame *f, const PlanFrame *before)
{
    const uint64_t range = range_of(f);
    const uint32_t dark = 4u << f->shape.depth, light = (uint32_t)(range - range / 16);
    uint32_t sorted[MEASURE_CELLS];
    int count = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const uint32_t now = f->level[i], was = before->level[i];
        if (now < dark || was < dark || now > light || was > light)
            continue;
        const uint64_t gain = ((uint64_t)now << 16) / was;
        const uint32_t bounded = gain > GAIN_MOST    ? GAIN_MOST
                                 : gain < GAIN_LEAST ? GAIN_LEAST
                                                     : (uint32_t)gain;
        int at = count++;
        for (; at > 0 && sorted[at - 1] > bounded; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = bounded;
    }
    if (count < LEAST_CELLS)
        return CURVE_ONE;
    return sorted[count / 2] / 2 + sorted[(count - 1) / 2] / 2 +
           (sorted[count / 2] & sorted[(count - 1) / 2] & 1);
}

void lumeq_plan_compare(PlanFrame *f, const PlanFrame *before)
{
    f->change = change_between(f, before);
    f->gain = gain_between(f, before);
}

/* ---- cuts ---------------------------------------------------------------------------------- */

/* The frame that is so many before or behind frame i, as long as nothing hard lies between. NULL:
 * there is none. */
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

/* The change of the frame that is so many before or behind frame i; where the film is not as long,
 * that of the one on the other side. */
static uint32_t change_around(const LumeqPlan *plan, size_t i, int away, int of_cells)
{
    const PlanFrame *f = neighbour(plan, i, away);
    if (!f || f->hard)
        f = neighbour(plan, i, -away);
    return !f ? 0 : of_cells ? f->change : f->distance;
}

/* Whether the frame's change is far above those around it. */
static int stands_out(const LumeqPlan *plan, size_t i, int of_cells)
{
    const PlanFrame *f = plan_frame(plan, i);
    uint32_t largest = 0, second = 0;
    for (int away = -PLAN_AROUND; away <= PLAN_AROUND; away++) {
        const uint32_t value = away ? change_around(plan, i, away, of_cells) : 0;
        second = value > largest ? largest : value > second ? value : second;
        largest = value > largest ? value : largest;
    }
    return 2 * (uint64_t)(of_cells ? f->change : f->distance) > SPIKE_HALVES * (uint64_t)second;
}

/* After how many frames the picture is again what it was before frame i. 0: after none. */
static int returns_after(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i), *before = neighbour(plan, i, -1);
    for (int away = 1; away < PLAN_AROUND; away++) {
        const PlanFrame *behind = neighbour(plan, i, away);
        if (behind && 2 * (uint64_t)change_between(behind, before) < f->change)
            return away;
    }
    return 0;
}

/* Whether frame i is what the picture was before a flash. */
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

/* Whether only the light is another one: what else is different is little beside what is to be seen
 * in the picture. */
static int is_light(const PlanFrame *f, const PlanFrame *before)
{
    uint64_t contrast = 0;
    for (int i = 0; i < MEASURE_CELLS; i++)
        contrast += apart(f->level[i], f->light);
    return 4 * difference(f, before, f->gain) < contrast;
}

static int is_break(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    if (f->hard || f->fade || !plan->params.scene_cut || plan->reference)
        return 0;
    const int jumps = f->moved && (f->distance >= CURVE_CUT_HIGH ||
                                   (f->distance >= CURVE_JUMP && stands_out(plan, i, 0)));
    return jumps || (f->change >= CHANGED && stands_out(plan, i, 1));
}

static void decide_cut(LumeqPlan *plan, size_t i)
{
    PlanFrame *f = plan_frame(plan, i);
    if (is_break(plan, i)) {
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

/* ---- fades --------------------------------------------------------------------------------- */

static int is_black(const PlanFrame *f)
{
    return (uint64_t)f->light << 16 < CURVE_BLACK_MEAN * range_of(f);
}

/* A plateau from which a factor can be told: 4 codes of 8 bits above black. */
static int is_plateau(const PlanFrame *f)
{
    return f->light >= 4u << f->shape.depth;
}

static uint32_t factor_of(const PlanFrame *f, const PlanFrame *plateau)
{
    const uint64_t factor = ((uint64_t)f->light << 16) / plateau->light;
    return factor < CURVE_ONE ? (uint32_t)factor : CURVE_ONE;
}

/* Whether the frame is the plateau's with less light, but for what moves. */
static int is_dimmed(const PlanFrame *f, const PlanFrame *plateau)
{
    const uint64_t code = (uint64_t)MEASURE_CELLS << f->shape.depth; /* one of 8 bits each */
    return difference(f, plateau, factor_of(f, plateau)) <=
           (uint64_t)MEASURE_CELLS * f->light / 3 + code / 2;
}

/* Whether the frame goes on from the one before it, in another light at most. */
static int goes_on(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    return !f->hard && (!f->cut || is_light(f, plan_frame(plan, i - 1)));
}

/* Whether the light stays from frame i on. -1: it is not known for as long as that. */
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

/* Whether the light keeps pace: of the way to black it has gone half of what a fade in a straight
 * line has, and more. Else it only wavers before a fade begins, or once it is over. */
static int keeps_pace(const PlanFrame *f, const PlanFrame *black, const PlanFrame *plateau)
{
    const int64_t whole =
        plateau->at > black->at ? plateau->at - black->at : black->at - plateau->at;
    const int64_t left = plateau->at > f->at ? plateau->at - f->at : f->at - plateau->at;
    return CURVE_ONE + CURVE_ONE / 32 >= factor_of(f, plateau) + CURVE_ONE * left / (2 * whole);
}

/* Marks the frames from `from` to before `to`, which are the plateau's in less light. `black`:
 * where the fade is at its darkest. */
static void mark(LumeqPlan *plan, size_t from, size_t to, size_t black, size_t plateau,
                 PlanFade fade)
{
    const PlanFrame *p = plan_frame(plan, plateau);
    if (!is_plateau(p))
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

/* Where the light that rises at frame i leads: the first frame at which it stays. SIZE_MAX: it does
 * not rise. `known` 0: it was seen to rise up to there, and no further. */
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

/* Frame i comes after black, after a part of such a fade that leads further than was known, or
 * after another scene. */
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

/* Where the light that falls from the plateau to frame i is at its darkest: at the first frame that
 * is black, or where the film or the scene ends with next to no light. SIZE_MAX: it does not fall,
 * or it is not known where to. */
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
    if (plateau->fade || f->light >= plateau->light - plateau->light / 256)
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
        /* Of what begins anew too little is known yet. */
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

/* ---- need ---------------------------------------------------------------------------------- */

static void count_need(PlanNeeds *needs, uint32_t need)
{
    const uint32_t slot = need >> 8 < PLAN_NEEDS ? need >> 8 : PLAN_NEEDS - 1;
    needs->count[slot] += 256;
    needs->sum[slot] += (uint64_t)need * 256;
}

/* Where the light that has gone out at frame `dark` began to: the fade has not been looked for yet.
 * Equal frames are part of it only between others. */
static size_t before_the_dark(const LumeqPlan *plan, size_t i, size_t dark)
{
    size_t end = dark;
    for (size_t k = dark; k > i + 1; k--) {
        const uint32_t now = plan_frame(plan, k - 1)->light, was = plan_frame(plan, k - 2)->light;
        if (was < now)
            break;
        end = was > now ? k - 1 : end;
    }
    return end;
}

/* Fades may not be known yet, but what comes after black is another scene. */
size_t lumeq_plan_scene_end(const LumeqPlan *plan, size_t i)
{
    size_t k = i + 1;
    while (k < plan->count && !plan_begins(plan, k) && !plan_frame(plan, k)->blank)
        k++;
    return k < plan->count && plan_frame(plan, k)->blank ? before_the_dark(plan, i, k) : k;
}

uint32_t lumeq_plan_need(const LumeqPlan *plan, size_t i, const PlanNeeds *past)
{
    PlanNeeds needs = *past;
    const size_t end = lumeq_plan_scene_end(plan, i);
    for (size_t k = i; k < end; k++) {
        const PlanFrame *f = plan_frame(plan, k);
        if (!f->blank && !f->flash)
            count_need(&needs, f->need);
    }
    uint64_t total = 0, below = 0;
    for (int slot = 0; slot < PLAN_NEEDS; slot++)
        total += needs.count[slot];
    for (int slot = 0; slot < PLAN_NEEDS; slot++) {
        below += needs.count[slot];
        if (needs.count[slot] && 2 * below >= total)
            return (uint32_t)(needs.sum[slot] / needs.count[slot]);
    }
    return 0;
}

int lumeq_plan_has_needs(const PlanNeeds *needs)
{
    for (int slot = 0; slot < PLAN_NEEDS; slot++)
        if (needs->count[slot])
            return 1;
    return 0;
}

/* What is longer ago than the lookahead counts for ever less. */
void lumeq_plan_needed(LumeqPlan *plan, const PlanFrame *f)
{
    PlanNeeds *needs = &plan->needs;
    if (!f->blank && !f->flash)
        count_need(needs, f->need);
    needs->time += f->step;
    if (needs->time <= plan->lookahead)
        return;
    needs->time /= 2;
    for (int slot = 0; slot < PLAN_NEEDS; slot++) {
        const uint32_t count = needs->count[slot];
        needs->count[slot] = count / 2;
        needs->sum[slot] = count ? needs->sum[slot] * (count / 2) / count : 0; /* as on average */
    }
}
