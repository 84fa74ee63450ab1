/* Replaces the CUDA backend in builds without CUDA. LUMEQ_NO_CUDA says why it is missing. */
#include "equalizer/backend.h"
#include "equalizer/last_error.h"

static int refuse(void)
{
    return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE, "this build has no CUDA (" LUMEQ_NO_CUDA ")");
}

static int open_stub(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    (void)priv, (void)config, (void)text, (void)text_size;
    return refuse();
}

static int list_stub(LumeqGpu *gpus, int count)
{
    (void)gpus, (void)count;
    return refuse();
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
