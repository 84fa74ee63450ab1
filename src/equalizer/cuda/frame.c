#include "equalizer/cuda/frame.h"

#include "equalizer/cuda/pictures.h"

static int may_be_lifted(const LumeqApplyJob *job)
{
    return job->curve.lift && !job->clahe;
}

static LumeqCudaLift luma_of(const LumeqApplyJob *job)
{
    LumeqCudaLift luma = {
        .in = lumeq_pictures_plane(&job->in, 0),
        .out = lumeq_pictures_plane(&job->out, 0),
        .previous_count = job->previous_count,
        .fields = job->fields,
    };
    for (int i = 0; i < job->previous_count; i++)
        luma.previous[i] = lumeq_pictures_plane(&job->previous[i], 0);
    return luma;
}

static LumeqCudaChroma chroma_of(const LumeqApplyJob *job)
{
    LumeqCudaChroma chroma = {
        .luma = lumeq_pictures_plane(&job->in, 0),
        .luma_out = lumeq_pictures_plane(&job->out, 0),
        .planes = job->write - 1,
        .step = lumeq_step(&job->in, 1),
        .width = lumeq_width(&job->in, 1),
        .height = lumeq_height(&job->in, 1),
        .sub_x = job->in.chroma_x,
        .sub_y = job->in.chroma_y,
        .grid = job->clahe ? job->grid : NULL,
        .tables = job->tables,
        .bars = job->bars,
    };
    for (int i = 0; i < chroma.planes; i++) {
        chroma.in[i] = lumeq_pictures_plane(&job->in, i + 1);
        chroma.out[i] = lumeq_pictures_plane(&job->out, i + 1);
    }
    return chroma;
}

/* The kernel for luma copies the report, if there is one. */
static cudaError_t apply_luma(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                              const LumeqCudaReport *report, cudaStream_t stream)
{
    const LumeqCudaPlane in = lumeq_pictures_plane(&job->in, 0);
    const LumeqCudaPlane out = lumeq_pictures_plane(&job->out, 0);
    if (!job->clahe)
        return lumeq_cuda_apply(device, &out, &in, job->table, job->bars, &job->curve, report,
                                stream);
    const cudaError_t error =
        lumeq_cuda_clahe_apply(device, &out, &in, job->grid, job->tables, job->bars, stream);
    return error || !report ? error : lumeq_cuda_report(report, stream);
}

/* `early`: the kernel for luma may start early. */
static cudaError_t lift(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                        const LumeqCudaReport *report, int early, cudaStream_t stream)
{
    LumeqCudaDevice for_luma = *device;
    const LumeqCudaLift luma = luma_of(job);
    LumeqCudaChroma chroma = {.planes = 0};
    for_luma.early_launches = early;
    if (job->write > 1) {
        chroma = chroma_of(job);
        chroma.with_luma = lumeq_cuda_with_luma(&luma, &chroma, job->curve.depth);
    }
    const cudaError_t error = lumeq_cuda_lift_luma(&for_luma, &luma, &chroma, job->table, job->bars,
                                                   &job->curve, report, stream);
    return error || job->write == 1 ? error
                                    : lumeq_cuda_lift_chroma(device, &chroma, job->fields,
                                                             job->table, &job->curve, stream);
}

cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaReport *report, int behind_curve,
                                   cudaStream_t stream)
{
    LumeqCudaDevice for_luma = *device;
    for_luma.early_launches = behind_curve && device->early_launches;
    if (may_be_lifted(job))
        return lift(device, job, report, for_luma.early_launches, stream);
    const LumeqCudaChroma chroma = chroma_of(job);
    const cudaError_t error = apply_luma(&for_luma, job, report, stream);
    return error || job->write == 1
               ? error
               : lumeq_cuda_chroma(device, &chroma, job->table, &job->curve, stream);
}

cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, cudaStream_t stream)
{
    const CurveParams *p = &job->curve;
    const LumeqCounts *c = &job->counts;
    const LumeqCudaPlane luma = lumeq_pictures_plane(&job->in, 0);
    const LumeqImage metered = lumeq_metered(&job->in, p);
    const LumeqCudaPlane counted = lumeq_pictures_plane(&metered, 0);
    LumeqCudaCounts *const counts = p->depth > 8 ? lumeq_cuda_counts16 : lumeq_cuda_counts8;
    cudaError_t error =
        counts(device, &counted, p->shift + p->fraction, p->bins, c->hist, tally, stream);
    if (!error)
        error =
            lumeq_cuda_profile(&luma, &job->bars, c->lit[BARS_COLUMNS], c->lit[BARS_ROWS], stream);
    if (!error)
        error = lumeq_cuda_cells(&luma, p->depth, p->shift, c->cells, stream);
    if (!error && job->previous.plane[0]) {
        const LumeqCudaPlane before = lumeq_pictures_plane(&job->previous, 0);
        error = lumeq_cuda_noise_counts(&luma, &before, p, c->noise, stream);
    }
    if (!error && job->clahe)
        error = lumeq_cuda_clahe_counts(device, &luma, &job->grid, c->tiles, c->padding, stream);
    return error;
}

cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqJob *job,
                                  const LumeqImage *in, const LumeqImage *previous,
                                  LumeqCudaHistory before, LumeqCudaFrame *frame,
                                  cudaStream_t stream)
{
    const LumeqCudaSurveyJob survey = {
        .now = lumeq_pictures_plane(in, 0),
        .before = lumeq_pictures_plane(previous, 0),
        .bars = job->bars,
        .work = &frame->survey,
    };
    const LumeqImage metered = lumeq_metered(in, &job->curve);
    const LumeqCudaPlane counted = lumeq_pictures_plane(&metered, 0);
    LumeqCudaHistogram *const histogram =
        job->curve.depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const cudaError_t error =
        histogram(device, &counted, &job->curve, before.curve, &frame->result.curve, &frame->table,
                  &survey, &frame->counters, stream);
    return error || !job->clahe
               ? error
               : lumeq_cuda_clahe_histogram(device, &survey.now, &job->grid, &frame->result.curve,
                                            before.tiles, &frame->result.tiles, &frame->tables,
                                            &frame->tile_counters, stream);
}

cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqJob *job,
                             const LumeqImage *in, const LumeqImage *previous,
                             const LumeqImage *out, LumeqCudaFrame *frame,
                             const LumeqCudaReport *report, int behind_curve, cudaStream_t stream)
{
    const LumeqApplyJob apply = {
        .in = *in,
        .out = *out,
        .previous = {*previous},
        .previous_count = previous->plane[0] != NULL,
        .fields = job->frame.interlaced,
        .write = job->write > 1 ? lumeq_planes(in) : 1,
        .curve = job->curve,
        .bars = &frame->result.curve.bars,
        .table = &frame->table,
        .clahe = job->clahe,
        .grid = &job->grid,
        .tables = &frame->tables,
    };
    if (job->write)
        return lumeq_cuda_apply_curve(device, &apply, report, behind_curve, stream);
    return report ? lumeq_cuda_report(report, stream) : cudaSuccess;
}
