/*
 * Uploads planes to OpenGL textures with CUDA. Planes in the memory of the GPU that draws do not
 * leave it. Planes in pinned memory are not copied by the CPU. Other memory works, too.
 *
 * All functions are for the thread of the view's OpenGL context. Without CUDA support
 * view_cuda_open() fails.
 */
#ifndef LUMEQ_PLAYER_VIEW_CUDA_H
#define LUMEQ_PLAYER_VIEW_CUDA_H

#include <stddef.h>

#include "player/view/view_uploader.h"
#include "run/frame_scopes.h"

typedef struct ViewCuda ViewCuda;

/* `device` is the CUDA device that holds the planes in its primary context. Returns -1 with an
 * error on failure, for example if OpenGL does not run on it; *cuda is then NULL. */
int view_cuda_open(ViewCuda **cuda, int device, MediaError *error);

/* For view_set_uploader(); valid as long as `cuda`. */
const ViewUploader *view_cuda_uploader(const ViewCuda *cuda);

/* Copies rows of up to FRAME_ROWS_PLANES planes from the device to host memory, valid until the
 * next call, and updates `data` and `stride`. Rows on the host are not copied. Returns 0, or -1 if
 * CUDA failed. */
int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count);

/* Returns NULL while CUDA works, or one sentence after it failed or made no progress for 10
 * seconds. After that, OpenGL uploads the planes, which must be in host memory. The
 * view_set_frame() in which CUDA fails also fails if a plane is, or may be, on the device. */
const char *view_cuda_failure(const ViewCuda *cuda);

/* Stops using CUDA because the device is lost or may hang. `why` ends the sentence that
 * view_cuda_failure() returns. */
void view_cuda_give_up(ViewCuda *cuda, const char *why);

/* Call after view_close() or after the uploader was removed. *cuda may be NULL. */
void view_cuda_close(ViewCuda **cuda);

#endif
