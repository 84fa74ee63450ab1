/* The values of lumeq_params_default(), for initializers; test_equalizer checks that they match. */
#ifndef LUMEQ_TESTS_DEFAULT_PARAMS_H
#define LUMEQ_TESTS_DEFAULT_PARAMS_H

#include "lumeq/lumeq.h"

#define DEFAULT_PARAMS                                                                             \
    {                                                                                              \
        .size = sizeof(LumeqParams), .mode = LUMEQ_MODE_GLOBAL, .strength = LUMEQ_STRENGTH_AUTO,   \
        .clip = LUMEQ_CLIP_AUTO, .smooth = 0.5, .scene_cut = 1, .tiles_x = 8, .tiles_y = 8,        \
        .chroma = LUMEQ_CHROMA_SCALE, .bars = LUMEQ_BARS_AUTO, .lift = 1,                          \
        .denoise = LUMEQ_DENOISE_AUTO, .gamma = 1                                                  \
    }

#endif
