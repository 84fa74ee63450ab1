/* Bounds luma over saturated colours: decides which frames need it, and finds their rows. */
#include "equalizer/cpu/bound_cpu.h"

#include "equalizer/cpu/bands.h"

int lumeq_bounds_luma(const LumeqApplyJob *job)
{
    const CurveGain *gain = job->table->gain;
    int raised = job->clahe;
    for (int i = 0; i < CURVE_CELLS; i++)
        raised |= curve_is_raised(gain[i]);
    return raised && job->write > 1 && job->curve.chroma && !job->curve.reference;
}

void lumeq_bound_luma(const LumeqKernels *kernels, const LumeqImage *in, const LumeqImage *out,
                      const CurveParams *params, int y, int end)
{
    const int planar = lumeq_step(in, 1) == 1, sample = in->depth > 8 ? 2 : 1;
    LumeqBoundRow row = {
        .step = lumeq_step(in, 1),
        .sub_x = in->chroma_x,
        .depth = in->depth,
        .in_shift = in->shift,
        .out_shift = out->shift,
        .black = (uint32_t)params->black << (16 - in->depth),
        .range = curve_legal(in->depth, params->black != 0).range,
    };
    for (; y < end; y++) {
        const int chroma_y = y >> in->chroma_y;
        const uint8_t *chroma = lumeq_row(in, 1, chroma_y);
        row.in = lumeq_row(in, 0, y);
        row.out = lumeq_row(out, 0, y);
        row.chroma[0] = chroma;
        row.chroma[1] = planar ? lumeq_row(in, 2, chroma_y) : chroma + sample;
        (in->depth > 8 ? kernels->bound16 : kernels->bound8)(&row, in->width);
    }
}
