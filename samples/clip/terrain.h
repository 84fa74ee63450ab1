// The ground of the valley: heights and sunlit colour on a grid, in metres. The lake lies at 0.
#ifndef CLIP_TERRAIN_H
#define CLIP_TERRAIN_H

#include <stdbool.h>

#include "noise.h"

bool terrain_prepare(int threads);
void terrain_release(void);

float terrain_height(float x, float z);
Vec3 terrain_color(float x, float z);
// The middle of the road at distance z.
float road_x(float z);

#endif
