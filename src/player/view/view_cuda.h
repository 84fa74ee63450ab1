/*
 * Planes get into the view's textures through CUDA: from the memory of the GPU that draws without
 * leaving it, and from pinned memory without a copy by the CPU. Other memory works as well.
 *
 * All functions are for the thread that the view's OpenGL context is current on. In builds without
 * CUDA view_cuda_open() says so.
 */
#ifndef LUMEQ_PLAYER_VIEW_CUDA_H
#define LUMEQ_PLAYER_VIEW_CUDA_H

#include <stddef.h>

#include "pipeline/frame_scopes.h"
#include "player/view/view_uploader.h"

typedef struct ViewCuda ViewCuda;

/*
 * `device` is the CUDA device that planes lie on, in its primary context. Declines with -1 and one
 * sentence in `why` where OpenGL does not run on it; *cuda is then NULL, and nothing is left
 * behind.
 */
int view_cuda_open(ViewCuda **cuda, int device, char *why, size_t size);

/* For view_set_uploader(); `cuda` stays the owner, and has to live as long as it is in use there.
 */
const ViewUploader *view_cuda_uploader(const ViewCuda *cuda);

/* Brings rows of up to FRAME_ROWS_PLANES planes that are on the device to the host: `data` and
 * `stride` become those there, until the next call. Rows on the host stay. 0; -1: CUDA has failed.
 */
int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count);

/*
 * NULL while all is well. Else one sentence: CUDA has failed, or has done nothing for 10 seconds,
 * and planes go the usual way from then on. The frame it failed at is refused by view_set_frame()
 * where a plane of it lies on the device, or nobody can tell any more; frames that come later must
 * lie in host memory.
 */
const char *view_cuda_failure(const ViewCuda *cuda);

/* CUDA is not called again: the device is lost, or may hang; `why` ends the sentence that
 * view_cuda_failure() answers from then on. */
void view_cuda_give_up(ViewCuda *cuda, const char *why);

/* After view_close(), or view_set_uploader() with NULL. *cuda is NULL then. NULL is allowed. */
void view_cuda_close(ViewCuda **cuda);

#endif
