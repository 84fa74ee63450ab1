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

/*
 * Where the kernels work on a frame's pictures: in the caller's own where those lie in CUDA memory,
 * else in copies. An output that is laid out otherwise than the input, or has another shift, is
 * made of what the kernels write.
 */
typedef struct LumeqCudaPictures {
    LumeqImage in;      /* what is read */
    LumeqImage written; /* what the kernels write, laid out like `in` */
    LumeqImage out;     /* the output */
    int planes;         /* that are read and written, of `in`'s layout */
    int planes_out;     /* of `out`; 0: nothing is written */
    int converted;      /* `out` is made of `written` */
    size_t size;        /* bytes of memory that the copies take */
} LumeqCudaPictures;

/* `memory` NULL: only what has no addresses of copies. `write`: planes of the output that are
 * written, 1 or all of them, or 0. */
LumeqCudaPictures lumeq_pictures_place(uint8_t *memory, const LumeqImage *in, const LumeqImage *out,
                                       int write);

/* `out` from `written`, where it is made of that. */
cudaError_t lumeq_pictures_convert(const LumeqCudaPictures *pictures, cudaStream_t stream);

/* A plane as kernels see it. */
LumeqCudaPlane lumeq_pictures_plane(const LumeqImage *image, int plane);

/* The first planes of one picture into another of the same size. */
cudaError_t lumeq_pictures_copy(const LumeqImage *to, const LumeqImage *from, int planes,
                                enum cudaMemcpyKind kind, cudaStream_t stream);

#endif
