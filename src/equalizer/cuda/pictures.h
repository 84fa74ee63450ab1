/* Pictures on the device: the planes one after the other in one piece of memory. */
#ifndef LUMEQ_CUDA_PICTURES_H
#define LUMEQ_CUDA_PICTURES_H

#include "equalizer/cuda/kernels.h"
#include "lumeq/lumeq.h"

/* Bytes of the first planes of a picture on the device, and so where the next one begins. */
size_t lumeq_pictures_size(const LumeqImage *image, int planes);

/* The device's copy of a host's picture, of its first planes: the rows of each in the same order in
 * memory. */
LumeqImage lumeq_pictures_on_device(uint8_t *memory, const LumeqImage *image, int planes);

/* A plane as kernels see it. */
LumeqCudaPlane lumeq_pictures_plane(const LumeqImage *image, int plane);

/* The first planes of one picture into another of the same size. */
cudaError_t lumeq_pictures_copy(const LumeqImage *to, const LumeqImage *from, int planes,
                                enum cudaMemcpyKind kind, cudaStream_t stream);

#endif
