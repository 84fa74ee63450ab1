/* A fake of the window's CUDA uploads. Counts calls, and treats frames on the GPU as drawn. */
#ifndef LUMEQ_TESTS_PLAYER_FAKE_VIEW_CUDA_H
#define LUMEQ_TESTS_PLAYER_FAKE_VIEW_CUDA_H

#include <stdio.h>
#include <stdlib.h>

#include "player/view/view_cuda.h"

static struct {
    int opened, closed, uploads, fetched, given_up, too_late;
} fake_view_cuda;

struct ViewCuda {
    ViewUploader uploader;
    char failure[64];
};

static int count_upload(void *opaque, const ViewPlane *planes, int count, MediaError *error)
{
    (void)opaque;
    (void)planes;
    (void)count;
    (void)error;
    fake_view_cuda.uploads++;
    fake_view_cuda.too_late += fake_view_cuda.given_up;
    return 1;
}

int view_cuda_open(ViewCuda **cuda, int device, MediaError *error)
{
    (void)device;
    (void)error;
    *cuda = calloc(1, sizeof(**cuda));
    if (!*cuda)
        abort();
    (*cuda)->uploader.upload = count_upload;
    fake_view_cuda.opened++;
    return 0;
}

const ViewUploader *view_cuda_uploader(const ViewCuda *cuda)
{
    return &cuda->uploader;
}

int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count)
{
    (void)cuda;
    (void)rows; /* the fake GPU uses host memory */
    (void)count;
    fake_view_cuda.fetched++;
    return 0;
}

const char *view_cuda_failure(const ViewCuda *cuda)
{
    return cuda->failure[0] ? cuda->failure : NULL;
}

void view_cuda_give_up(ViewCuda *cuda, const char *why)
{
    snprintf(cuda->failure, sizeof(cuda->failure), "%s", why);
    fake_view_cuda.given_up++;
}

void view_cuda_close(ViewCuda **cuda)
{
    fake_view_cuda.closed += *cuda != NULL;
    free(*cuda);
    *cuda = NULL;
}

#endif
