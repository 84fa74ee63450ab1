/* The frames of a plan: copies of measures, and their statistics. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/platform.h"
#include "equalizer/rule/epoch.h"
#include "equalizer/rule/lift.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/plan.h"

PlanFrame *lumeq_plan_frame_new(const MeasureShape *shape)
{
    const size_t tiles = (size_t)shape->tiles_x * (size_t)shape->tiles_y * TILE_CELLS * 4;
    const size_t own = padded(sizeof(PlanFrame)), hist = padded((size_t)shape->bins * 4);
    const size_t padding = shape->reference ? tiles : 0;
    uint8_t *memory = lumeq_alloc(own + hist + tiles + padding);
    if (!memory)
        return NULL;
    PlanFrame *frame = (PlanFrame *)(void *)memory;
    memset(frame, 0, sizeof(*frame));
    frame->shape = *shape;
    frame->hist = (uint32_t *)(void *)(memory + own);
    if (tiles)
        frame->tiles = (uint32_t(*)[TILE_CELLS])(void *)(memory + own + hist);
    if (padding)
        frame->padding = (uint32_t(*)[TILE_CELLS])(void *)(memory + own + hist + tiles);
    return frame;
}

void lumeq_plan_frame_free(PlanFrame *frame)
{
    if (!frame)
        return;
    free(frame->target);
    lumeq_free(frame);
}

CurveParams lumeq_plan_params(const LumeqPlan *plan, const PlanFrame *frame)
{
    const LumeqImage image = lumeq_shape_image(&frame->shape);
    const LumeqClock clock = {.number = frame->number, .started = 1};
    CurveParams params = lumeq_curve_params(&plan->params, &image, &clock);
    /* With deflicker, mode OFF has a curve as well, which scales chroma and needs dither. */
    if (plan->params.deflicker > 0 && plan->params.mode == LUMEQ_MODE_OFF) {
        params.chroma = plan->params.chroma == LUMEQ_CHROMA_SCALE;
        params.dither = plan->params.dither != 0;
    }
    return params;
}

int lumeq_plan_grid(const LumeqPlan *plan, const PlanFrame *frame, const CurveParams *params,
                    TileGrid *grid)
{
    const LumeqImage image = lumeq_shape_image(&frame->shape);
    return lumeq_tiles_params(grid, &plan->params, &image, params);
}

/* The mean above black of `samples` codes with this sum, in codes with 8 fraction bits. */
static uint32_t above_black(uint64_t sum, uint64_t samples, const CurveParams *p)
{
    const uint64_t most = samples * ((1u << p->depth) - 1);
    const uint64_t mean = ((sum < most ? sum : most) << 8) / samples;
    const uint64_t black = (uint64_t)p->black << 8;
    return mean > black ? (uint32_t)(mean - black) : 0;
}

void lumeq_plan_take_cells(const LumeqPlan *plan, PlanFrame *f, const uint64_t *cells)
{
    const LumeqImage image = lumeq_shape_image(&f->shape);
    const CurveParams p = lumeq_plan_params(plan, f);
    const uint64_t last = (1u << p.depth) - 1;
    uint64_t sum = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int x = i % MEASURE_COLUMNS, y = i / MEASURE_COLUMNS;
        const int width = measure_cell_start(image.width, x + 1, MEASURE_COLUMNS) -
                          measure_cell_start(image.width, x, MEASURE_COLUMNS);
        const int height = measure_cell_start(image.height, y + 1, MEASURE_ROWS) -
                           measure_cell_start(image.height, y, MEASURE_ROWS);
        const uint64_t samples = (uint64_t)width * (uint64_t)height;
        f->level[i] = samples ? transfer_level(&p, above_black(cells[i], samples, &p)) : 0;
        sum += cells[i] < samples * last ? cells[i] : samples * last;
    }
    f->light =
        transfer_level(&p, above_black(sum, (uint64_t)image.width * (uint64_t)image.height, &p));
}

/* Histograms the picture without bars, in plan->work, and computes all statistics that do not
 * depend on other frames. */
static CurveView take_view(LumeqPlan *plan, PlanFrame *f, const CurveParams *p)
{
    CurveWork *w = &plan->work;
    const uint32_t bars = curve_bars(p, &f->active, f->area);
    transfer_map(p, &w->map);
    const uint32_t *left = curve_exclude(p, f->hist, bars, w->left);
    CurveView view = curve_count(p, transfer_counts(p, &w->map, left, w->moved), w->hist);
    curve_statistics(p, &view, w->hist, w->sums, w->cdf);
    f->blank = p->adaptive && view.mean < CURVE_BLACK_MEAN;
    f->need = curve_need(&view);
    epoch_cells(p, w->cdf, f->cdf);
    f->counted = p->lift && view.counted;
    curve_haze(p, f->cells, f->shape.width, f->shape.height, &f->active, &f->seen);
    if (f->counted)
        lift_shares(p, w->sums, view.counted, f->share);
    return view;
}

void lumeq_plan_look(LumeqPlan *plan, PlanFrame *f, const PlanFrame *before, int grew)
{
    const CurveParams p = lumeq_plan_params(plan, f);
    CurveView view = take_view(plan, f, &p);
    curve_compare(&p, &view, before ? &plan->trail : NULL, grew, plan->work.cdf);
    for (int i = 0; i < p.bins; i++)
        plan->trail.bin[i].cdf = plan->work.cdf[i];
    f->distance = view.distance;
    f->moved = view.moved;
    if (before)
        lumeq_plan_compare(&p, f, before);
}

void lumeq_plan_set_active(LumeqPlan *plan, PlanFrame *f, const LumeqRect *active)
{
    const CurveParams p = lumeq_plan_params(plan, f);
    f->active = *active;
    f->area = (uint32_t)f->shape.width * (uint32_t)f->shape.height -
              (uint32_t)active->width * (uint32_t)active->height;
    take_view(plan, f, &p);
    free(f->target);
    f->target = NULL;
}

/* Computes the tiles' targets as without lookahead, with an empty history. */
static void tile_targets(LumeqPlan *plan, const PlanFrame *f, const TileGrid *grid)
{
    CurveResult *frame = &plan->result;
    frame->bins = (uint32_t)f->shape.bins;
    frame->bars.active = f->active;
    frame->bars.area = f->area;
    frame->epoch.black = (uint32_t)f->blank;
    frame->strength = 0;
    static const TileResult none;
    lumeq_tile_curves(grid, f->tiles, NULL, frame, &none, &plan->tiles, &plan->tables);
    for (int tile = 0; tile < tile_count(grid); tile++)
        memcpy(f->target + f->shape.bins + (size_t)tile * TILE_CELLS, plan->tiles.tile[tile].target,
               sizeof(plan->tiles.tile[tile].target));
}

int lumeq_plan_target(LumeqPlan *plan, PlanFrame *f)
{
    if (f->target)
        return 0;
    const size_t tiles = (size_t)f->shape.tiles_x * (size_t)f->shape.tiles_y;
    f->target = malloc(((size_t)f->shape.bins + tiles * TILE_CELLS) * sizeof(*f->target));
    if (!f->target)
        return LUMEQ_ERR_MEMORY;
    const CurveParams p = lumeq_plan_params(plan, f);
    CurveWork *w = &plan->work;
    TileGrid grid;
    const CurveView view = take_view(plan, f, &p);
    light_bins(&p, w->light);
    curve_target(&p, view.counted, view.flat || f->blank, w->light, w->hist, w->sums, f->target);
    curve_smooth(&p, w->light, f->target, NULL, CURVE_ONE, f->target);
    for (int i = 0; i < p.bins; i++)
        plan->result.bin[i].cdf = w->cdf[i];
    if (lumeq_plan_grid(plan, f, &p, &grid))
        tile_targets(plan, f, &grid);
    return 0;
}
