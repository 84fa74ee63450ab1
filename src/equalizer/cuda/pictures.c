#include "equalizer/cuda/pictures.h"

#include "equalizer/backend.h"

/* Alignment of rows on the device: a thread reads this many bytes at once. */
#define PITCH_ALIGNMENT 16

/* Alignment of pictures, like cudaMalloc()'s. */
#define PICTURE_ALIGNMENT 256

static size_t pitch_of(const LumeqImage *image, int plane)
{
    const size_t row = (size_t)lumeq_row_size(image, plane);
    return (row + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
}

size_t lumeq_pictures_size(const LumeqImage *image, int planes)
{
    size_t size = 0;
    for (int i = 0; i < planes; i++)
        size += pitch_of(image, i) * (size_t)lumeq_height(image, i);
    return size;
}

LumeqImage lumeq_pictures_on_device(uint8_t *memory, const LumeqImage *image, int planes)
{
    LumeqImage device = *image;
    for (int i = 0; i < 3; i++) {
        const ptrdiff_t pitch = i < planes ? (ptrdiff_t)pitch_of(image, i) : 0;
        const int up = i < planes && image->stride[i] < 0;
        uint8_t *const start = memory + (i < planes ? lumeq_pictures_size(image, i) : 0);
        device.plane[i] = up ? start + (lumeq_height(image, i) - 1) * pitch : start;
        device.stride[i] = up ? -pitch : pitch;
        if (i >= planes)
            device.plane[i] = NULL;
    }
    return device;
}

/* Reserves memory for a copy of the picture, after the memory that is used already. */
static LumeqImage place(uint8_t *memory, size_t *used, const LumeqImage *image, int planes)
{
    const size_t size = lumeq_pictures_size(image, planes), start = *used;
    *used += (size + PICTURE_ALIGNMENT - 1) / PICTURE_ALIGNMENT * PICTURE_ALIGNMENT;
    return memory ? lumeq_pictures_on_device(memory + start, image, planes) : *image;
}

LumeqCudaPictures lumeq_pictures_place(uint8_t *memory, const LumeqImage *in, const LumeqImage *out,
                                       int write, int chroma)
{
    LumeqCudaPictures p = {
        .in = *in,
        .out = *out,
        .planes = write > 1 || chroma ? lumeq_planes(in) : 1,
        .planes_out = write,
    };
    if (in->memory != LUMEQ_MEMORY_CUDA)
        p.in = place(memory, &p.size, in, p.planes);
    if (write && out->memory != LUMEQ_MEMORY_CUDA)
        p.out = place(memory, &p.size, out, write);
    p.written = p.out;
    p.converted =
        write && (in->shift != out->shift || (write > 1 && lumeq_planes(in) != lumeq_planes(out)));
    if (!p.converted)
        return p;
    p.written = place(memory, &p.size, in, p.planes);
    if (in->shift == out->shift) { /* only chroma is converted */
        p.written.plane[0] = p.out.plane[0];
        p.written.stride[0] = p.out.stride[0];
    }
    return p;
}

LumeqCudaSamples lumeq_pictures_component(const LumeqImage *image, int i)
{
    const int step = lumeq_step(image, i), plane = step == 2 ? 1 : i;
    const ptrdiff_t before = step == 2 ? (i - 1) * (image->depth > 8 ? 2 : 1) : 0;
    return (LumeqCudaSamples){(uint8_t *)image->plane[plane] + before, image->stride[plane], step};
}

cudaError_t lumeq_pictures_convert(const LumeqCudaPictures *p, cudaStream_t stream)
{
    const int shifts = p->in.shift != p->out.shift;
    const int down = shifts ? p->in.shift : 0, up = shifts ? p->out.shift : 0;
    cudaError_t error = cudaSuccess;
    if (!p->converted)
        return error;
    for (int i = shifts ? 0 : 1; i < (p->planes_out > 1 ? 3 : 1) && !error; i++) {
        const LumeqCudaSamples to = lumeq_pictures_component(&p->out, i);
        const LumeqCudaSamples from = lumeq_pictures_component(&p->written, i);
        error = lumeq_cuda_convert(&to, &from, lumeq_width(&p->out, i), lumeq_height(&p->out, i),
                                   p->out.depth > 8 ? 2 : 1, down, up, stream);
    }
    return error;
}

LumeqCudaPlane lumeq_pictures_plane(const LumeqImage *image, int plane)
{
    return (LumeqCudaPlane){image->plane[plane], image->stride[plane],
                            lumeq_width(image, plane) * lumeq_step(image, plane),
                            lumeq_height(image, plane)};
}

/* If rows have no gaps, copies them all at once, which is fastest. Never writes into gaps. */
static cudaError_t copy_plane(const LumeqImage *to, const LumeqImage *from, int plane,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const size_t row = (size_t)lumeq_row_size(from, plane);
    const int height = lumeq_height(from, plane);
    const LumeqImage *const images[] = {to, from};
    uint8_t *lowest[2];
    size_t pitch[2];
    for (int i = 0; i < 2; i++) {
        const ptrdiff_t stride = images[i]->stride[plane];
        lowest[i] = (uint8_t *)images[i]->plane[plane] + (stride < 0 ? (height - 1) * stride : 0);
        pitch[i] = (size_t)(stride < 0 ? -stride : stride);
    }
    if (pitch[0] == row && pitch[1] == row)
        return cudaMemcpyAsync(lowest[0], lowest[1], row * (size_t)height, kind, stream);
    return cudaMemcpy2DAsync(lowest[0], pitch[0], lowest[1], pitch[1], row, (size_t)height, kind,
                             stream);
}

cudaError_t lumeq_pictures_copy(const LumeqImage *to, const LumeqImage *from, int planes,
                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < planes && !error; i++)
        error = copy_plane(to, from, i, kind, stream);
    return error;
}
