#include "equalizer/cuda/pictures.h"

#include "equalizer/backend.h"

/* Rows of the device's planes start at multiples of this: what a thread reads at once. */
#define PITCH_ALIGNMENT 16

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

/* The plane's rows in the order of memory: where the first of them starts. */
static uint8_t *lowest_row(const LumeqImage *image, int plane)
{
    uint8_t *const first = image->plane[plane];
    const ptrdiff_t stride = image->stride[plane];
    return stride < 0 ? first + (lumeq_height(image, plane) - 1) * stride : first;
}

static size_t distance_of_rows(const LumeqImage *image, int plane)
{
    return (size_t)(image->stride[plane] < 0 ? -image->stride[plane] : image->stride[plane]);
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

LumeqCudaPlane lumeq_pictures_plane(const LumeqImage *image, int plane)
{
    return (LumeqCudaPlane){image->plane[plane], image->stride[plane],
                            lumeq_width(image, plane) * lumeq_step(image, plane),
                            lumeq_height(image, plane)};
}

/* In one piece where the rows follow each other without a gap: that is fastest, and writes nothing
 * between them. */
static cudaError_t copy_plane(const LumeqImage *to, const LumeqImage *from, int plane,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const size_t row = (size_t)lumeq_row_size(from, plane);
    const size_t height = (size_t)lumeq_height(from, plane);
    const size_t to_pitch = distance_of_rows(to, plane), pitch = distance_of_rows(from, plane);
    uint8_t *const first = lowest_row(to, plane), *const source = lowest_row(from, plane);
    if (to_pitch == row && pitch == row)
        return cudaMemcpyAsync(first, source, row * height, kind, stream);
    return cudaMemcpy2DAsync(first, to_pitch, source, pitch, row, height, kind, stream);
}

cudaError_t lumeq_pictures_copy(const LumeqImage *to, const LumeqImage *from, int planes,
                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < planes && !error; i++)
        error = copy_plane(to, from, i, kind, stream);
    return error;
}
