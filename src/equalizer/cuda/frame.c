#include "equalizer/cuda/frame.h"

#include <string.h>

#include "equalizer/cuda/pictures.h"

/* Planes of a batch that are this far apart, or a multiple, have the same alignment for all
 * kernels.
 */
#define BATCH_ALIGNMENT 16

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
                              const LumeqCudaReport *report, const LumeqCudaBatch *batch,
                              cudaStream_t stream)
{
    const LumeqCudaPlane in = lumeq_pictures_plane(&job->in, 0);
    const LumeqCudaPlane out = lumeq_pictures_plane(&job->out, 0);
    if (!job->clahe)
        return lumeq_cuda_apply(device, &out, &in, job->table, job->bars, &job->curve, report,
                                batch, stream);
    const cudaError_t error =
        lumeq_cuda_clahe_apply(device, &out, &in, job->grid, job->tables, job->bars, batch, stream);
    return error || !report ? error : lumeq_cuda_report(report, batch, stream);
}

/* `early`: the kernel for luma may start early. */
static cudaError_t lift(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                        const LumeqCudaReport *report, const LumeqCudaBatch *batch, int early,
                        cudaStream_t stream)
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
                                                   &job->curve, report, batch, stream);
    return error || job->write == 1
               ? error
               : lumeq_cuda_lift_chroma(device, &chroma, job->fields, job->table, &job->curve,
                                        batch, stream);
}

static cudaError_t apply_curves(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                const LumeqCudaReport *report, const LumeqCudaBatch *batch,
                                int behind_curve, cudaStream_t stream)
{
    LumeqCudaDevice for_luma = *device;
    for_luma.early_launches = behind_curve && device->early_launches;
    if (may_be_lifted(job))
        return lift(device, job, report, batch, for_luma.early_launches, stream);
    const LumeqCudaChroma chroma = chroma_of(job);
    const cudaError_t error = apply_luma(&for_luma, job, report, batch, stream);
    return error || job->write == 1
               ? error
               : lumeq_cuda_chroma(device, &chroma, job->table, &job->curve, batch, stream);
}

cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   cudaStream_t stream)
{
    const LumeqCudaBatch batch = lumeq_cuda_batch_of_one(&job->curve);
    return apply_curves(device, job, NULL, &batch, 0, stream);
}

cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, LumeqCudaTally *host, cudaStream_t stream)
{
    const CurveParams *p = &job->curve;
    const LumeqCounts *c = &job->counts;
    const LumeqImage metered = lumeq_metered(&job->in, p);
    const LumeqCudaCount count = {
        .counted = lumeq_pictures_plane(&metered, 0),
        .luma = lumeq_pictures_plane(&job->in, 0),
        .before = lumeq_pictures_plane(&job->previous, 0),
        .bars = job->bars,
        .params = p,
        .tally = tally,
        .host = host,
    };
    cudaError_t error = lumeq_cuda_counter(p->depth, p->bins)(device, &count, stream);
    if (!error && c->cells)
        error = lumeq_cuda_cells(&count.luma, p->depth, p->shift, c->cells, stream);
    if (!error && job->clahe)
        error =
            lumeq_cuda_clahe_counts(device, &count.luma, &job->grid, c->tiles, c->padding, stream);
    return error;
}

static int same_plane(const LumeqImage *a, const LumeqImage *b, int plane)
{
    const ptrdiff_t apart = (uint8_t *)b->plane[plane] - (uint8_t *)a->plane[plane];
    return !a->plane[plane] == !b->plane[plane] && a->stride[plane] == b->stride[plane] &&
           apart % BATCH_ALIGNMENT == 0;
}

static int same_image(const LumeqImage *a, const LumeqImage *b)
{
    int same = a->width == b->width && a->height == b->height && a->depth == b->depth &&
               a->shift == b->shift && a->range == b->range && a->chroma_x == b->chroma_x &&
               a->chroma_y == b->chroma_y;
    for (int i = 0; i < 3; i++)
        same = same && same_plane(a, b, i);
    return same;
}

/* Without what a batch keeps for each frame. */
static CurveParams timeless(const CurveParams *params)
{
    CurveParams same = *params;
    same.alpha = same.slow = same.frame = 0;
    return same;
}

int lumeq_cuda_same_shape(const LumeqCudaWork *first, const LumeqCudaWork *other)
{
    const LumeqJob *a = first->job, *b = other->job;
    const CurveParams params = timeless(&a->curve), same = timeless(&b->curve);
    return a->write == b->write && a->clahe == b->clahe &&
           a->frame.interlaced == b->frame.interlaced && !memcmp(&params, &same, sizeof(same)) &&
           same_image(&first->in, &other->in) &&
           (!a->write || same_image(&first->out, &other->out)) &&
           (!a->clahe || (a->grid.haze == b->grid.haze && a->grid.limit == b->grid.limit &&
                          !memcmp(&a->grid.x, &b->grid.x, sizeof(a->grid.x)) &&
                          !memcmp(&a->grid.y, &b->grid.y, sizeof(a->grid.y))));
}

static LumeqCudaBatch batch_of(const LumeqCudaWork *work, int count)
{
    LumeqCudaBatch batch = {.count = count, .distance = sizeof(LumeqCudaFrame)};
    for (int i = 0; i < count; i++) {
        const LumeqCudaWork *w = &work[i];
        struct LumeqCudaInBatch *of = &batch.of[i];
        for (int k = 0; k < 3; k++) {
            of->in[k] = (uint8_t *)w->in.plane[k] - (uint8_t *)work->in.plane[k];
            of->out[k] = (uint8_t *)w->out.plane[k] - (uint8_t *)work->out.plane[k];
        }
        of->frame = w->job->curve.frame;
    }
    return batch;
}

cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqCudaWork *work,
                                  int count, LumeqCudaFrame *frames, cudaStream_t stream)
{
    const LumeqJob *job = work->job;
    const LumeqCudaBatch batch = batch_of(work, count);
    const LumeqCudaPlane luma = lumeq_pictures_plane(&work->in, 0);
    const cudaError_t error =
        lumeq_cuda_reference(device, &luma, &job->curve, frames->result.curve.bin, &frames->table,
                             &frames->counters, &batch, stream);
    const BarsState no_bars = {0};
    const TileInside inside = tile_inside(&job->grid, &no_bars);
    return error || !job->clahe
               ? error
               : lumeq_cuda_clahe_reference(device, &luma, &job->grid, &inside,
                                            &frames->result.tiles, &frames->tables,
                                            &frames->tile_counters, &batch, stream);
}

cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqCudaWork *work, int count,
                             LumeqCudaFrame *frames, const LumeqCudaReport *report,
                             int behind_curve, cudaStream_t stream)
{
    const LumeqJob *job = work->job;
    const LumeqCudaBatch batch = batch_of(work, count);
    const LumeqApplyJob apply = {
        .in = work->in,
        .out = work->out,
        .fields = job->frame.interlaced,
        .write = job->write > 1 ? lumeq_planes(&work->in) : 1,
        .curve = job->curve,
        .bars = &frames->result.curve.bars,
        .table = &frames->table,
        .clahe = job->clahe,
        .grid = &job->grid,
        .tables = &frames->tables,
    };
    if (job->write)
        return apply_curves(device, &apply, report, &batch, behind_curve, stream);
    return report ? lumeq_cuda_report(report, &batch, stream) : cudaSuccess;
}
