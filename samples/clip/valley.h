// Inside the fog scene: its camera and fog, and what stands in the landscape.
#ifndef CLIP_VALLEY_H
#define CLIP_VALLEY_H

#include "picture.h"

// A camera that looks along z without tilt. The view from below the water (eye.y negative) is
// the mirror image that the lake shows.
typedef struct View {
    Picture picture;
    float focal, center, horizon;
    Vec3 eye;
    float seconds;
} View;

typedef struct Spot {
    float x, y, distance;
} Spot;

Spot view_project(const View *view, Vec3 point);
// The light that reaches the eye from a surface at `point` through the fog.
Vec3 view_fog(const View *view, Vec3 color, Vec3 point);
// The light of the fog alone along a pixel.
Vec3 view_haze(const View *view, float x, float y);

void things_prepare(void);
// Houses hide what lies behind; terrain and its depth must be there already.
void houses_draw(const View *view);
// Fences, poles, car, boat and birds.
void things_draw(const View *view);
// True where no tree may stand.
bool things_occupy(float x, float z);

#endif
