#include "equalizer/cuda/frame.h"

#include "equalizer/cuda/pictures.h"

/* One frame on its way. */
typedef struct Work {
    const LumeqCudaDevice *device;
    const LumeqJob *job;
    const LumeqImage *in, *out;
    LumeqCudaFrame *frame;
    cudaStream_t stream;
} Work;

static cudaError_t apply_luma(const Work *w)
{
    const LumeqCudaPlane in = lumeq_pictures_plane(w->in, 0);
    const LumeqCudaPlane out = lumeq_pictures_plane(w->out, 0);
    const BarsState *bars = &w->frame->result.curve.bars;
    return w->job->clahe ? lumeq_cuda_clahe_apply(w->device, &out, &in, &w->job->grid,
                                                  &w->frame->tables, bars, w->stream)
                         : lumeq_cuda_apply(w->device, &out, &in, &w->frame->table, bars,
                                            &w->job->curve, w->stream);
}

static cudaError_t apply_chroma(const Work *w)
{
    LumeqCudaChroma chroma = {
        .luma = lumeq_pictures_plane(w->in, 0),
        .planes = w->job->write - 1,
        .step = lumeq_step(w->in, 1),
        .width = lumeq_width(w->in, 1),
        .height = lumeq_height(w->in, 1),
        .sub_x = w->in->chroma_x,
        .sub_y = w->in->chroma_y,
        .grid = w->job->clahe ? &w->job->grid : NULL,
        .tables = &w->frame->tables,
        .bars = &w->frame->result.curve.bars,
    };
    for (int i = 0; i < chroma.planes; i++) {
        chroma.in[i] = lumeq_pictures_plane(w->in, i + 1);
        chroma.out[i] = lumeq_pictures_plane(w->out, i + 1);
    }
    return lumeq_cuda_chroma(w->device, &chroma, &w->frame->table, &w->job->curve, w->stream);
}

cudaError_t lumeq_cuda_find_bars(const LumeqCudaDevice *device, const LumeqJob *job,
                                 const LumeqImage *in, const CurveResult *before,
                                 LumeqCudaFrame *frame, cudaStream_t stream)
{
    const LumeqCudaPlane luma = lumeq_pictures_plane(in, 0);
    return lumeq_cuda_bars(device, &luma, &job->bars, &before->bars, &frame->result.curve.bars,
                           &frame->profile, stream);
}

cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqJob *job,
                                  const LumeqImage *in, LumeqCudaHistory before,
                                  LumeqCudaFrame *frame, cudaStream_t stream)
{
    const LumeqCudaPlane luma = lumeq_pictures_plane(in, 0);
    LumeqCudaHistogram *const histogram =
        job->curve.depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const cudaError_t error =
        histogram(device, &luma, &job->curve, before.curve, &frame->result.curve, &frame->table,
                  &frame->counters, stream);
    return error || !job->clahe
               ? error
               : lumeq_cuda_clahe_histogram(device, &luma, &job->grid, &frame->result.curve,
                                            before.tiles, &frame->result.tiles, &frame->tables,
                                            &frame->tile_counters, stream);
}

cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqJob *job,
                             const LumeqImage *in, const LumeqImage *out, LumeqCudaFrame *frame,
                             cudaStream_t stream)
{
    if (!job->write)
        return cudaSuccess;
    const Work w = {device, job, in, out, frame, stream};
    const cudaError_t error = apply_luma(&w);
    return error || job->write == 1 ? error : apply_chroma(&w);
}
