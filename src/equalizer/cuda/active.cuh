/* The active picture within its frame. Around it are bars, which stay unchanged. */
#ifndef LUMEQ_CUDA_ACTIVE_CUH
#define LUMEQ_CUDA_ACTIVE_CUH

#include <limits.h>

#include "equalizer/bars.h"

typedef struct Active {
    int left, top, right, bottom;
} Active;

/* Runs in one thread. `bars` may be NULL: no bars. */
static __device__ __forceinline__ void find_active(Active *active, const BarsState *bars)
{
    const bool all = !bars || !__ldcg(&bars->area);
    active->left = all ? 0 : __ldcg(&bars->active.x);
    active->top = all ? 0 : __ldcg(&bars->active.y);
    active->right = all ? INT_MAX : active->left + __ldcg(&bars->active.width);
    active->bottom = all ? INT_MAX : active->top + __ldcg(&bars->active.height);
}

static __device__ __forceinline__ bool is_active_row(const Active &active, int y)
{
    return y >= active.top && y < active.bottom;
}

static __device__ __forceinline__ bool is_active(const Active &active, int x, int y)
{
    return is_active_row(active, y) && x >= active.left && x < active.right;
}

#endif
