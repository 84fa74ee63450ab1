// Small mathematics shared by the scenes: vectors, value noise, fractal noise, a random generator.
#ifndef CLIP_NOISE_H
#define CLIP_NOISE_H

#include <math.h>
#include <stdint.h>

typedef struct Vec3 {
    float x, y, z;
} Vec3;

static inline Vec3 vec(float x, float y, float z)
{
    return (Vec3){x, y, z};
}
static inline Vec3 add(Vec3 a, Vec3 b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline Vec3 sub(Vec3 a, Vec3 b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline Vec3 mul(Vec3 a, Vec3 b)
{
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline Vec3 scale(Vec3 a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}
static inline float dot(Vec3 a, Vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline float length(Vec3 a)
{
    return sqrtf(dot(a, a));
}
static inline Vec3 normalize(Vec3 a)
{
    return scale(a, 1.0f / length(a));
}
static inline Vec3 cross(Vec3 a, Vec3 b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline Vec3 mix(Vec3 a, Vec3 b, float t)
{
    return add(scale(a, 1 - t), scale(b, t));
}
static inline float mixf(float a, float b, float t)
{
    return a + (b - a) * t;
}
static inline float minf(float a, float b)
{
    return a < b ? a : b;
}
static inline float maxf(float a, float b)
{
    return a > b ? a : b;
}
static inline float clampf(float v, float lo, float hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
static inline float smoothstep(float lo, float hi, float v)
{
    const float t = clampf((v - lo) / (hi - lo), 0, 1);
    return t * t * (3 - 2 * t);
}
static inline float gauss(float v)
{
    return expf(-v * v);
}
static inline int floor_int(float v)
{
    const int i = (int)v;
    return i - (v < (float)i);
}
static inline Vec3 rotate_y(Vec3 v, float c, float s)
{
    return vec(c * v.x + s * v.z, v.y, c * v.z - s * v.x);
}

typedef struct Random {
    uint32_t state;
} Random;

static inline uint32_t hash(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}
static inline float hash_unit(uint32_t v)
{
    return (float)(hash(v) >> 8) * (1.0f / 16777216);
}
static inline float random_unit(Random *random)
{
    random->state = random->state * 747796405u + 2891336453u;
    return hash_unit(random->state);
}
static inline float random_in(Random *random, float lo, float hi)
{
    return mixf(lo, hi, random_unit(random));
}

extern float noise_lattice[256 * 256];

// Fills the lattice; call once before any noise function.
void noise_init(void);

// Smooth value noise in 0..1 with period 256.
static inline float noise2(float x, float y)
{
    const int ix = floor_int(x), iy = floor_int(y);
    float fx = x - (float)ix, fy = y - (float)iy;
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    const int x0 = ix & 255, x1 = (ix + 1) & 255;
    const float *row0 = noise_lattice + ((iy & 255) << 8);
    const float *row1 = noise_lattice + (((iy + 1) & 255) << 8);
    return mixf(mixf(row0[x0], row0[x1], fx), mixf(row1[x0], row1[x1], fx), fy);
}

// As noise2, with a third axis made of shifted slices.
float noise3(float x, float y, float z);
// Fractal sums of noise, about 0..1 with mean 0.5.
float fbm2(float x, float y, int octaves);
float fbm3(float x, float y, float z, int octaves);
// Fractal sum of creases: sharp ridges, 0..1.
float ridge2(float x, float y, int octaves);

#endif
