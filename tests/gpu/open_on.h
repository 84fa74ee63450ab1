/* Opens an equalizer on a backend for a test. */
#ifndef LUMEQ_TESTS_GPU_OPEN_ON_H
#define LUMEQ_TESTS_GPU_OPEN_ON_H

#include "../check.h"
#include "lumeq/lumeq.h"

/* Returns NULL if it cannot be opened; the test is then skipped or fails. */
static inline LumeqEqualizer *open_timed(LumeqBackendId backend, int timed)
{
    LumeqEqualizer *eq = NULL;
    char why[256] = "";
    const LumeqConfig config = {.backend = backend, .no_stage_times = !timed};
    const int ret = lumeq_create(&eq, &config, why, sizeof(why));
    if (ret == LUMEQ_ERR_UNAVAILABLE)
        check_skip("%s", why);
    else
        CHECK(ret == 0, "create answers %d: %s", ret, why);
    return eq;
}

static inline LumeqEqualizer *open_on(LumeqBackendId backend)
{
    return open_timed(backend, 1);
}

#endif
