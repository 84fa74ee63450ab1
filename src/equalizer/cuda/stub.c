/* Replaces the CUDA backend in builds without CUDA. LUMEQ_NO_CUDA says why it is missing. */
#include <stdio.h>

#include "equalizer/backend.h"

static int open_stub(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    (void)priv;
    (void)config;
    snprintf(text, text_size, "this build has no CUDA (" LUMEQ_NO_CUDA ")");
    return LUMEQ_ERR_UNAVAILABLE;
}

static int list_stub(LumeqGpu *gpus, int count, char *text, size_t text_size)
{
    (void)gpus;
    (void)count;
    return open_stub(NULL, NULL, text, text_size);
}

static void close_stub(void *priv)
{
    (void)priv;
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU only (configured without CUDA)",
    .priv_size = 1,
    .open = open_stub,
    .list_gpus = list_stub,
    .close = close_stub,
};
