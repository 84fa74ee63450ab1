#include "equalizer/cuda/frame.h"

#include <string.h>

#include "equalizer/cuda/pictures.h"
#include "equalizer/rule/transfer.h"

/* Planes that are a multiple of this (bytes) apart are aligned alike for all kernels. */
#define BATCH_ALIGNMENT 16

/* The same part of a frame that is `distance` bytes away; NULL stays NULL. */
#define after(part, distance) ((part) ? (void *)((uint8_t *)(part) + (distance)) : NULL)

static LumeqCudaLift lift_of(const LumeqApplyJob *job)
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
        .range = transfer_range(&job->curve),
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

static cudaError_t apply_luma(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                              const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const LumeqCudaPlane in = lumeq_pictures_plane(&job->in, 0);
    const LumeqCudaPlane out = lumeq_pictures_plane(&job->out, 0);
    const LumeqCudaLift lift = lift_of(job);
    if (job->clahe)
        return lumeq_cuda_clahe_apply(device, &out, &in, job->grid, job->tables, job->bars, batch,
                                      stream);
    return job->curve.lift & LUMEQ_CUDA_LIFT_LUMA
               ? lumeq_cuda_lift_luma(device, &lift, job->table, job->bars, &job->curve, batch,
                                      stream)
               : lumeq_cuda_apply(device, &out, &in, job->table, job->bars, &job->curve, batch,
                                  stream);
}

cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaBatch *batch, int early, cudaStream_t stream)
{
    const LumeqCudaChroma chroma = chroma_of(job);
    LumeqCudaDevice own = *device;
    own.early_launches = early;
    const cudaError_t error = apply_luma(&own, job, batch, stream);
    if (error || job->write == 1)
        return error;
    return !job->clahe && job->curve.lift & LUMEQ_CUDA_LIFT_CHROMA
               ? lumeq_cuda_lift_chroma(device, &chroma, job->fields, job->table, &job->curve,
                                        batch, stream)
               : lumeq_cuda_chroma(device, &chroma, job->table, &job->curve, batch, stream);
}

cudaError_t lumeq_cuda_clear_frame(const LumeqApplyJob *job, cudaStream_t stream)
{
    const CurveTable *table = job->table;
    const LumeqRect active = job->bars->active;
    LumeqApplyJob own = *job;
    own.in = lumeq_part(&job->in, active);
    own.out = lumeq_part(&job->out, active);
    const LumeqCudaPlane luma = lumeq_pictures_plane(&own.out, 0);
    cudaError_t error = cudaSuccess;
    if (table->clear.light)
        error = lumeq_cuda_clear_cells(&luma, active, job->in.width, job->in.height, &job->curve,
                                       transfer_white(&job->curve), &table->clear, stream);
    if (error || job->write == 1 || (!table->clear.light && !haze_is_cleared(table->tint)))
        return error;
    LumeqCudaChroma chroma = chroma_of(&own);
    if (!table->clear.light || !job->curve.chroma)
        chroma.luma_out.data = NULL;
    return lumeq_cuda_clear_haze(&chroma, &job->curve, transfer_tint_end(&job->curve), table->tint,
                                 stream);
}

cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, LumeqCudaTally *host,
                               const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const CurveParams *p = &job->curve;
    const LumeqCounts *c = &job->counts;
    const LumeqImage metered = lumeq_metered(&job->in, p);
    LumeqCudaCount count = {
        .counted = lumeq_pictures_plane(&metered, 0),
        .left = p->meter.x,
        .top = p->meter.y,
        .luma = lumeq_pictures_plane(&job->in, 0),
        .before = lumeq_pictures_plane(&job->previous, 0),
        .bars = job->bars,
        .sub_x = job->in.chroma_x,
        .sub_y = job->in.chroma_y,
        .params = p,
        .tally = tally,
        .host = host,
    };
    for (int i = 0; job->chroma && i < 2; i++)
        count.chroma[i] = lumeq_pictures_component(&job->in, 1 + i);
    cudaError_t error = lumeq_cuda_count(device, &count, batch, stream);
    for (int i = 0; i < batch->count && !error; i++) {
        const LumeqCudaInBatch *of = &batch->of[i];
        LumeqCudaPlane luma = count.luma;
        luma.data += of->in[0];
        if (c->cells)
            error =
                lumeq_cuda_cells(&luma, p->depth, p->shift, after(c->cells, of->device), stream);
        if (!error && job->clahe)
            error = lumeq_cuda_clahe_counts(device, &luma, &job->grid, after(c->tiles, of->device),
                                            after(c->padding, of->device), stream);
    }
    return error;
}

cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                                  const LumeqCudaReference *parts, const LumeqCudaBatch *batch,
                                  cudaStream_t stream)
{
    static const BarsState no_bars;
    const LumeqCudaPlane luma = lumeq_pictures_plane(&job->in, 0);
    const cudaError_t error = lumeq_cuda_reference(device, &luma, &job->curve, parts->tally,
                                                   parts->host, parts->table, batch, stream);
    const TileInside inside = tile_inside(&job->grid, &no_bars);
    return error || !job->clahe
               ? error
               : lumeq_cuda_clahe_reference(device, &luma, &job->grid, &inside, parts->sums,
                                            parts->tables, parts->counters, batch, stream);
}

static int same_plane(const LumeqImage *a, const LumeqImage *b, int plane)
{
    const ptrdiff_t apart = (uint8_t *)b->plane[plane] - (uint8_t *)a->plane[plane];
    return !a->plane[plane] == !b->plane[plane] && a->stride[plane] == b->stride[plane] &&
           apart % BATCH_ALIGNMENT == 0;
}

int lumeq_cuda_same_images(const LumeqImage *a, const LumeqImage *b)
{
    int same = a->width == b->width && a->height == b->height && a->depth == b->depth &&
               a->shift == b->shift && a->range == b->range && a->chroma_x == b->chroma_x &&
               a->chroma_y == b->chroma_y;
    for (int i = 0; i < 3; i++)
        same = same && same_plane(a, b, i);
    return same;
}

int lumeq_cuda_same_params(const CurveParams *a, const CurveParams *b)
{
    CurveParams same = *a;
    same.alpha = b->alpha;
    same.step = b->step;
    same.frame = b->frame;
    same.first = b->first;
    same.past = b->past;
    return !memcmp(&same, b, sizeof(same));
}
