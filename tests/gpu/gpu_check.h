/* Helpers of tests on a GPU. */
#ifndef LUMEQ_TESTS_GPU_CHECK_H
#define LUMEQ_TESTS_GPU_CHECK_H

#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "../check.h"
#include "lumeq/lumeq.h"

static inline int cuda_ok(cudaError_t error, const char *what)
{
    return CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

#define OK(call) cuda_ok(call, #call)

/* Opens an equalizer. On failure, returns NULL and fails the test, or skips it without a GPU. */
static inline LumeqEqualizer *open_with(const LumeqConfig *config)
{
    LumeqEqualizer *eq = NULL;
    char why[256] = "";
    const int ret = lumeq_create(&eq, config, why, sizeof(why));
    if (ret == LUMEQ_ERR_UNAVAILABLE)
        check_skip("%s", why);
    else
        CHECK(ret == 0, "create returns %d: %s", ret, why);
    return eq;
}

static inline LumeqEqualizer *open_on(LumeqBackendId backend)
{
    return open_with(&(LumeqConfig){.backend = backend});
}

/* Returns 0 and skips the test on a machine without a GPU. */
static inline int have_gpu(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return 1;
    check_skip("no GPU");
    return 0;
}

static inline int cases_of(int usual)
{
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    return wanted ? atoi(wanted) : usual;
}

#endif
