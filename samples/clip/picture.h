// The picture the scenes paint on, and its way to 8-bit video.
#ifndef CLIP_PICTURE_H
#define CLIP_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise.h"

enum { VIDEO_WIDTH = 1280, VIDEO_HEIGHT = 720, VIDEO_RATE = 25 };
enum { VIDEO_BYTES = VIDEO_WIDTH * VIDEO_HEIGHT * 3 / 2 };

// Linear light in `color`, and optionally a distance per pixel that hides what lies behind it.
typedef struct Picture {
    int width, height;
    Vec3 *color;
    float *depth;
} Picture;

// How a finished picture becomes video.
typedef struct Develop {
    float fade;  // 1 shows the picture, 0 is black
    float grain; // standard deviation in luma codes
    int bar;     // rows of exact black above and below
    int frame;
} Develop;

// Returns false when memory is short; picture_free accepts the result either way.
bool picture_alloc(Picture *picture, int width, int height, bool with_depth);
void picture_free(Picture *picture);

Vec3 picture_sample(const Picture *picture, float x, float y);
// Averages 2x2 blocks of `fine` into `picture`, which has half its size.
void picture_halve(Picture *picture, const Picture *fine);

// A capsule with its own radius at each end, smooth at the edge; `opacity` 0..1.
typedef struct Stroke {
    float x0, y0, r0, x1, y1, r1;
    float depth;
    float opacity;
    Vec3 color;
} Stroke;
void picture_stroke(const Picture *picture, const Stroke *stroke);

// Adds a round glow of light; `sigma` is its radius in pixels.
void picture_glow(const Picture *picture, float x, float y, float sigma, Vec3 light, float depth);

// Prepares the grain; call once.
void develop_init(void);
// Writes planar 4:2:0, limited range, BT.709. `picture` holds R'G'B' (gamma applied), 0..1.
void develop(uint8_t *yuv, const Picture *picture, const Develop *how);

#endif
