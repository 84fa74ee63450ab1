/* Applies a curve to a frame, and copies the bars around it. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/lift_cpu.h"
#include "equalizer/cpu/tile_rows.h"
#include "equalizer/platform.h"
#include "equalizer/rule/transfer.h"

/* Smaller bands cost more overhead than they save. */
#define MIN_BAND_PIXELS (64 * 1024)

typedef struct Apply {
    CpuTeam *team;
    const LumeqApplyJob *job;
    LumeqRect active;
    LumeqImage in, out; /* the picture without bars, or one of its fields */
    int chroma_rows;    /* in `in` */
    int luma, chroma;   /* whether to write luma, chroma */
    int lift_luma, lift_chroma;
    LiftedPicture lifted; /* if lift_luma or lift_chroma is set */
    size_t lift_size;     /* size of each band's memory for the filter */
    int bands;
} Apply;

int lumeq_count_bands(const CpuTeam *team, const LumeqImage *image)
{
    const int64_t wanted = (int64_t)image->width * image->height / MIN_BAND_PIXELS;
    int bands = wanted < team->threads ? (int)wanted : team->threads;
    if (bands > image->height)
        bands = image->height;
    return bands < 1 ? 1 : bands;
}

/* Changes output samples from `in_shift` unused low bits to out->shift. */
static void shift_rows(const LumeqImage *out, int plane, int from, int rows, int in_shift)
{
    const int count = (int)(lumeq_row_size(out, plane) / 2);
    for (int y = from; y < from + rows && out->shift != in_shift; y++)
        for (int x = 0; x < count; x++) {
            uint16_t *sample = (uint16_t *)lumeq_row(out, plane, y) + x;
            *sample = (uint16_t)(*sample >> in_shift << out->shift);
        }
}

/* Copies rows of chroma from planar to interleaved or back. The images have the same size. */
static void copy_chroma(const LumeqImage *to, const LumeqImage *from, int rows)
{
    const int width = lumeq_width(from, 1), to_step = lumeq_step(to, 1), step = lumeq_step(from, 1);
    for (int y = 0; y < rows; y++)
        for (int i = 0; i < 2; i++) {
            void *const dst = lumeq_component(to, i, y);
            const void *const src = lumeq_component(from, i, y);
            if (from->depth > 8)
                take16(dst, to_step, src, step, width);
            else
                take8(dst, to_step, src, step, width);
        }
}

static int same_layout(const LumeqImage *a, const LumeqImage *b)
{
    return lumeq_planes(a) == lumeq_planes(b);
}

static void apply_luma(const Apply *a, int band)
{
    const LumeqApplyJob *job = a->job;
    const LumeqImage *in = &a->in, *out = &a->out;
    const int y = lumeq_band_start(in->height, band, a->bands);
    const int rows = lumeq_band_start(in->height, band + 1, a->bands) - y;
    if (job->clahe) {
        const LumeqRect *r = &a->active;
        lumeq_clahe_apply(job->grid, &a->team->kernels, lumeq_row(&job->out, 0, r->y + y),
                          out->stride[0], lumeq_row(&job->in, 0, r->y + y), in->stride[0], r->x,
                          r->x + r->width, rows, r->y + y, job->tables);
    } else if (a->lift_luma) {
        lumeq_lift_luma(&a->lifted, a->team->lift_memory + (size_t)band * a->lift_size, y,
                        y + rows);
        return;
    } else {
        const LumeqKernels *k = &a->team->kernels;
        const int deep = in->depth > 8;
        LumeqApplyKernel *const kernel = curve_has_nodes(&job->curve)
                                             ? (deep ? k->nodes16 : k->nodes8)
                                             : (deep ? k->apply16 : k->apply8);
        kernel(lumeq_row(out, 0, y), out->stride[0], lumeq_row(in, 0, y), in->stride[0], in->width,
               rows, y, job->table, &job->curve);
    }
    shift_rows(out, 0, y, rows, in->shift);
}

/* Scales rows of chroma, starting at row `y` of the picture. */
static void scale_chroma(const Apply *a, int y, int rows)
{
    const LumeqApplyJob *job = a->job;
    const LumeqImage *in = &a->in, *out = &a->out;
    const int luma_y = y << in->chroma_y;
    LumeqChromaRows work = {
        .luma = lumeq_row(in, 0, luma_y),
        .luma_stride = in->stride[0],
        .luma_width = in->width,
        .luma_height = in->height - luma_y,
        .sub_x = in->chroma_x,
        .sub_y = in->chroma_y,
        .step = lumeq_step(in, 1),
        .out_step = lumeq_step(out, 1),
        .height = rows,
        .y = y,
        .grid = job->clahe ? job->grid : NULL,
        .tables = job->clahe ? job->tables : NULL,
    };
    for (int i = 0; i < 2; i++) {
        work.dst[i] = lumeq_component(out, i, y);
        work.src[i] = lumeq_component(in, i, y);
        work.dst_stride[i] = out->stride[work.out_step == 2 ? 1 : i + 1];
        work.src_stride[i] = in->stride[work.step == 2 ? 1 : i + 1];
    }
    (in->depth > 8 ? a->team->kernels.chroma16 : a->team->kernels.chroma8)(&work, job->table,
                                                                           &job->curve);
}

static void apply_chroma(const Apply *a, int band)
{
    const int y = lumeq_band_start(a->chroma_rows, band, a->bands);
    const int end = lumeq_band_start(a->chroma_rows, band + 1, a->bands);
    if (a->lift_chroma) {
        lumeq_lift_chroma(&a->lifted, a->team->lift_memory + (size_t)band * a->lift_size, y, end);
        return;
    }
    scale_chroma(a, y, end - y);
    for (int plane = 1; plane < lumeq_planes(&a->out); plane++)
        shift_rows(&a->out, plane, y, end - y, a->in.shift);
}

static void apply_band(void *priv, int band)
{
    const Apply *a = priv;
    if (a->luma)
        apply_luma(a, band);
    if (a->chroma)
        apply_chroma(a, band);
}

static void copy_part(const LumeqApplyJob *job, LumeqRect part)
{
    const LumeqImage in = lumeq_part(&job->in, part), out = lumeq_part(&job->out, part);
    const int planes = job->write > 1 && !same_layout(&in, &out) ? 1 : job->write;
    for (int plane = 0; plane < planes; plane++)
        for (int y = 0; y < lumeq_height(&in, plane); y++)
            memcpy(lumeq_row(&out, plane, y), lumeq_row(&in, plane, y),
                   (size_t)lumeq_row_size(&in, plane));
    if (planes < job->write)
        copy_chroma(&out, &in, lumeq_height(&in, 1));
    for (int plane = 0; plane < job->write; plane++)
        shift_rows(&out, plane, 0, lumeq_height(&out, plane), in.shift);
}

static LumeqImage field_of(const LumeqImage *image, int field)
{
    LumeqImage result = *image;
    for (int i = 0; i < lumeq_planes(image); i++) {
        result.plane[i] = lumeq_row(image, i, field);
        result.stride[i] *= 2;
    }
    result.height = (image->height + 1 - field) / 2;
    return result;
}

/* Allocates the filter's memory for all bands, and keeps it for later pictures. */
static int open_lift(Apply *a)
{
    CpuTeam *team = a->team;
    a->lift_size = padded(lumeq_lift_memory(&a->lifted));
    const size_t size = (size_t)a->bands * a->lift_size;
    if (size <= team->lift_size)
        return 0;
    uint8_t *memory = lumeq_alloc(size), *old = team->lift_memory;
    if (!memory)
        return LUMEQ_ERR_MEMORY;
    memset(memory, 0, size);
    team->lift_memory = memory;
    team->lift_size = size;
    lumeq_free(old);
    return 0;
}

static void begin_lift(Apply *a)
{
    const LumeqApplyJob *job = a->job;
    const LiftTables *lift = &job->table->lift;
    const int there = job->previous_count;
    a->lift_luma = lift->luma_on && !job->clahe;
    a->lift_chroma = lift->chroma_on && !job->clahe;
    a->lifted.past_count = lift->past < there ? lift->past : there;
    for (int i = 0; i < a->lifted.past_count; i++)
        a->lifted.past[i] = lumeq_part(&job->previous[i], a->active);
}

static int apply_picture(Apply *a)
{
    const LumeqApplyJob *job = a->job;
    int ret = 0;
    a->bands = lumeq_count_bands(a->team, &a->in);
    if (a->lift_luma || a->lift_chroma) {
        a->lifted.kernels = &a->team->kernels.lift;
        a->lifted.params = &job->curve;
        a->lifted.table = job->table;
        a->lifted.in = a->in;
        a->lifted.out = a->out;
        a->lifted.chroma_rows = a->chroma_rows;
        a->lifted.frame_rows = a->active.height;
        ret = open_lift(a);
    }
    if (ret == 0)
        lumeq_workers_run(a->team->workers, apply_band, a, a->bands);
    return ret;
}

/* Filters each field by itself; everything else works on the frame. */
static int apply_fields(const Apply *whole)
{
    Apply rest = *whole;
    rest.luma &= !rest.lift_luma;
    rest.chroma &= !rest.lift_chroma;
    rest.lift_luma = rest.lift_chroma = 0;
    int ret = rest.luma || rest.chroma ? apply_picture(&rest) : 0;
    for (int i = 0; i < 2 && ret == 0; i++) {
        Apply field = *whole;
        field.luma &= field.lift_luma;
        field.chroma &= field.lift_chroma;
        field.chroma_rows = (lumeq_height(&field.in, 1) + 1 - i) / 2;
        field.in = field_of(&field.in, i);
        field.out = field_of(&field.out, i);
        for (int k = 0; k < field.lifted.past_count; k++)
            field.lifted.past[k] = field_of(&field.lifted.past[k], i);
        ret = apply_picture(&field);
    }
    return ret;
}

/* True if output luma must be bounded: chroma is scaled, and a raised cell of the table, tiles or
 * clearing of haze may raise luma. OpenCV's reference has no bound. */
static int bounds_luma(const LumeqApplyJob *job)
{
    const CurveGain *gain = job->table->gain;
    int raised = job->clahe || job->table->clear.light;
    for (int i = 0; i < CURVE_CELLS; i++)
        raised |= curve_is_raised(gain[i]);
    return raised && job->write > 1 && job->curve.chroma && !job->curve.reference;
}

/* Limits the rise of luma in saturated pixels; the haze's colour does not count as saturation. */
static void bound_band(void *priv, int band)
{
    const Apply *a = priv;
    const LumeqKernels *kernels = &a->team->kernels;
    const LumeqImage *in = &a->in;
    const int end = lumeq_band_start(in->height, band + 1, a->bands), black = a->job->curve.black;
    const LumeqImage *coloured = a->job->table->clear.light ? &a->out : in;
    LumeqBoundRow row = {
        .step = lumeq_step(in, 1),
        .left_step = lumeq_step(coloured, 1),
        .sub_x = in->chroma_x,
        .depth = in->depth,
        .in_shift = in->shift,
        .left_shift = coloured->shift,
        .out_shift = a->out.shift,
        .black = (uint32_t)black << (16 - in->depth),
        .range = transfer_range(&a->job->curve),
    };
    for (int y = lumeq_band_start(in->height, band, a->bands); y < end; y++) {
        const int chroma_y = y >> in->chroma_y;
        row.in = lumeq_row(in, 0, y);
        row.out = lumeq_row(&a->out, 0, y);
        for (int i = 0; i < 2; i++) {
            row.chroma[i] = lumeq_component(in, i, chroma_y);
            row.left[i] = lumeq_component(coloured, i, chroma_y);
        }
        (in->depth > 8 ? kernels->bound16 : kernels->bound8)(&row, in->width);
    }
}

/* Clears haze from output luma, cell by cell. */
static void clear_band(void *priv, int band)
{
    const Apply *a = priv;
    const LumeqKernels *kernels = &a->team->kernels;
    const LumeqImage *out = &a->out;
    const HazeClear *clear = &a->job->table->clear;
    const int height = a->job->out.height, end = lumeq_band_start(out->height, band + 1, a->bands);
    const uint32_t step = haze_step(height, MEASURE_ROWS);
    LumeqClearRow row = {
        .at = a->active.x,
        .width = a->job->out.width,
        .depth = out->depth,
        .shift = out->shift,
        .black = a->job->curve.black,
        .range = transfer_white(&a->job->curve) - a->job->curve.black,
        .light = clear->light,
        .lift = clear->lift,
    };
    for (int y = lumeq_band_start(out->height, band, a->bands); y < end; y++) {
        const HazePlace place = haze_between(a->active.y + y, step, MEASURE_ROWS);
        const uint16_t *gain = clear->gain + place.cell * MEASURE_COLUMNS;
        for (int i = 0; i < MEASURE_COLUMNS; i++)
            row.gain[i] = haze_gain(gain[i], gain[MEASURE_COLUMNS + i], place.part);
        row.out = lumeq_row(out, 0, y);
        (out->depth > 8 ? kernels->clear16 : kernels->clear8)(&row, out->width);
    }
}

/* Subtracts the haze's colour from output chroma. */
static void tint_band(void *priv, int band)
{
    const Apply *a = priv;
    const LumeqKernels *kernels = &a->team->kernels;
    const LumeqImage *in = &a->in, *out = &a->out;
    const int end = lumeq_band_start(a->chroma_rows, band + 1, a->bands);
    LumeqTintRow row = {
        .step = lumeq_step(out, 1),
        .sub_x = in->chroma_x,
        .sub_y = in->chroma_y,
        .luma_width = in->width,
        .depth = in->depth,
        .in_shift = in->shift,
        .out_shift = out->shift,
        .black = a->job->curve.black,
        .white = transfer_tint_end(&a->job->curve),
        .tint = a->job->table->tint,
    };
    for (int y = lumeq_band_start(a->chroma_rows, band, a->bands); y < end; y++) {
        for (int i = 0; i < 1 << in->chroma_y; i++) {
            const int line = (y << in->chroma_y) + i;
            row.luma[i] = lumeq_row(in, 0, line < in->height ? line : in->height - 1);
        }
        for (int i = 0; i < 2; i++)
            row.out[i] = lumeq_component(out, i, y);
        (in->depth > 8 ? kernels->tint16 : kernels->tint8)(&row, lumeq_width(in, 1));
    }
}

int lumeq_cpu_apply(CpuTeam *team, const LumeqApplyJob *job)
{
    LumeqRect bars[LUMEQ_BARS];
    const int count = lumeq_find_bars(&job->bars->active, job->in.width, job->in.height, bars);
    Apply whole = {
        .team = team,
        .job = job,
        .active = job->bars->active,
        .in = lumeq_part(&job->in, job->bars->active),
        .out = lumeq_part(&job->out, job->bars->active),
        .luma = 1,
        .chroma = job->write > 1,
    };
    whole.chroma_rows = lumeq_height(&whole.in, 1);
    begin_lift(&whole);
    const int lifted = whole.lift_luma || whole.lift_chroma;
    int ret =
        lifted && job->fields && whole.in.height > 1 ? apply_fields(&whole) : apply_picture(&whole);
    if (ret == 0 && job->table->clear.light) {
        whole.bands = lumeq_count_bands(team, &whole.in);
        lumeq_workers_run(team->workers, clear_band, &whole, whole.bands);
    }
    if (ret == 0 && whole.chroma && haze_is_cleared(job->table->tint)) {
        whole.bands = lumeq_count_bands(team, &whole.in);
        lumeq_workers_run(team->workers, tint_band, &whole, whole.bands);
    }
    if (ret == 0 && bounds_luma(job)) {
        whole.bands = lumeq_count_bands(team, &whole.in);
        lumeq_workers_run(team->workers, bound_band, &whole, whole.bands);
    }
    for (int i = 0; i < count && ret == 0; i++)
        copy_part(job, bars[i]);
    return ret;
}
