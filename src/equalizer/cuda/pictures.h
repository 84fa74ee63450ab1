/* Pictures on the device: planes follow each other in one allocation. */
#ifndef LUMEQ_CUDA_PICTURES_H
#define LUMEQ_CUDA_PICTURES_H

#include "equalizer/cuda/kernels.h"
#include "lumeq/lumeq.h"

/* Bytes of the first planes of a picture on the device, which is the offset of the next plane. */
size_t lumeq_pictures_size(const LumeqImage *image, int planes);

/* Describes a copy of the image's first planes in device memory. Rows keep their order. */
LumeqImage lumeq_pictures_on_device(uint8_t *memory, const LumeqImage *image, int planes);

/*
 * The pictures that kernels work on: the caller's, if they are in CUDA memory, else copies. Kernels
 * write the input's layout and shift. If the output's are different, the result is then converted.
 */
typedef struct LumeqCudaPictures {
    LumeqImage in;      /* the input */
    LumeqImage written; /* written by the kernels, in the layout of `in` */
    LumeqImage out;     /* the output */
    int planes;         /* planes of `in` and `written` */
    int planes_out;     /* planes of `out`; 0: nothing is written */
    int converted;      /* `out` is converted from `written` */
    size_t size;        /* bytes of memory for the copies */
} LumeqCudaPictures;

/* Places copies in `memory`; NULL: computes only the size. `write`: number of output planes to
 * write: 0, 1 or all. `chroma`: chroma of the input is read, whatever `write` is. */
LumeqCudaPictures lumeq_pictures_place(uint8_t *memory, const LumeqImage *in, const LumeqImage *out,
                                       int write, int chroma);

/* Converts `written` to `out`, if `converted` is set. */
cudaError_t lumeq_pictures_convert(const LumeqCudaPictures *pictures, cudaStream_t stream);

LumeqCudaPlane lumeq_pictures_plane(const LumeqImage *image, int plane);

/* Returns the samples of luma (0), Cb (1) or Cr (2). */
LumeqCudaSamples lumeq_pictures_component(const LumeqImage *image, int i);

/* Copies the first planes of a picture to another one of the same size. */
cudaError_t lumeq_pictures_copy(const LumeqImage *to, const LumeqImage *from, int planes,
                                enum cudaMemcpyKind kind, cudaStream_t stream);

#endif
