/* Replaces view_cuda.c in builds without CUDA. */
#include "player/view/view_cuda.h"

int view_cuda_open(ViewCuda **cuda, int device, MediaError *error)
{
    (void)device;
    *cuda = NULL;
    return media_fail(error, MEDIA_INPUT, "this build has no CUDA");
}

const ViewUploader *view_cuda_uploader(const ViewCuda *cuda)
{
    (void)cuda;
    return NULL;
}

int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count)
{
    (void)cuda;
    (void)rows;
    (void)count;
    return -1;
}

const char *view_cuda_failure(const ViewCuda *cuda)
{
    (void)cuda;
    return NULL;
}

void view_cuda_give_up(ViewCuda *cuda, const char *why)
{
    (void)cuda;
    (void)why;
}

void view_cuda_close(ViewCuda **cuda)
{
    *cuda = NULL;
}
