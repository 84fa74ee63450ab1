// Inside the dark room: what a ray meets there. Metres; x to the right, y up, z away from us.
#ifndef CLIP_ROOM_H
#define CLIP_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "noise.h"

typedef struct Ray {
    Vec3 from, along;
} Ray;

typedef struct Hit {
    float distance;
    Vec3 point, normal, albedo;
    float gloss;
    bool shade;  // the lamp's shade, which glows
    bool window; // the night outside
} Hit;

extern const Vec3 room_bulb, room_flame;
extern const Vec3 room_window_corner, room_window_size;

void room_build(void);
void room_trace(Ray ray, Hit *hit);
// How much light passes between two points: 0, 1, or between when the shade is in the way.
float room_visible(Vec3 from, Vec3 to);

// The reader at the table.
bool figure_trace(Ray ray, float limit, Hit *hit);
// Only whether the ray is stopped before `limit`.
bool figure_blocks(Ray ray, float limit);

#endif
