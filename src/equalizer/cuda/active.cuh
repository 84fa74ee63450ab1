/* The active picture within its frame: what lies around it are bars, whose samples stay. Known on
 * the device alone. */
#ifndef LUMEQ_CUDA_ACTIVE_CUH
#define LUMEQ_CUDA_ACTIVE_CUH

#include <limits.h>

#include "equalizer/bars.h"

typedef struct Active {
    int left, top, right, bottom;
} Active;

/* For one thread. Of a frame without bars, `bars` may be NULL. */
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
