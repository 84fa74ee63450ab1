/*
 * Uploads planes to OpenGL textures with CUDA. Planes in the memory of the drawing GPU are copied
 * on that GPU. Planes in host memory, pinned or not, are accepted as well.
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
 * error on failure, for example if OpenGL runs on another device; *cuda is then NULL. */
int view_cuda_open(ViewCuda **cuda, int device, MediaError *error);

/* For view_set_uploader(); valid as long as `cuda`. */
const ViewUploader *view_cuda_uploader(const ViewCuda *cuda);

/* Copies the rows of up to FRAME_ROWS_PLANES planes that are on the device to host memory, valid
 * until the next call, and updates their `data` and `stride`. Returns 0, or -1 if CUDA failed. */
int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count);

/* Returns NULL while CUDA works, or one sentence once it has failed or made no progress for 10
 * seconds. From then on OpenGL uploads the planes, so they must be in host memory. If CUDA fails in
 * view_set_frame() and a plane may be on the device, view_set_frame() also fails. */
const char *view_cuda_failure(const ViewCuda *cuda);

/* Stops using CUDA because the device is lost or may hang. `why` ends the sentence that
 * view_cuda_failure() returns. */
void view_cuda_give_up(ViewCuda *cuda, const char *why);

/* Call after view_close() or after the uploader was removed. *cuda may be NULL. */
void view_cuda_close(ViewCuda **cuda);

#endif
