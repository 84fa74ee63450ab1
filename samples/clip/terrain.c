#include "terrain.h"

#include <stdlib.h>

#include "scenes.h"

enum { GRID_X = 1600, GRID_Z = 1664 };
static const float cell = 0.75f, first_x = -600, first_z = -8;
static const float road_end = 330;

static float *heights;
static Vec3 *colors;

float road_x(float z)
{
    return 7 + 63 * smoothstep(0, 175, z) + 4 * sinf(z / 17);
}

// Negative on the lake, positive on land, without the small bumps.
static float bank_height(float x, float z)
{
    const float ex = (x + 66) / 115, ez = (z - 135) / 100;
    const float edge = sqrtf(ex * ex + ez * ez) + 0.34f * (fbm2(x / 55 + 3, z / 55, 4) - 0.5f);
    return 7 * tanhf(1.6f * (edge - 1)) + 0.4f;
}

static float hill_height(float x, float z)
{
    const float rise = smoothstep(225, 760, z + 0.35f * fabsf(x + 20));
    const float warp = 60 * fbm2(x / 300 + 9, z / 300, 3);
    const float ridge = fbm2((x + warp) / 210 + 1.7f, (z - warp) / 210, 8);
    const float sides = smoothstep(90, 380, fabsf(x + 40)) * smoothstep(60, 300, z);
    return rise * (30 + 260 * powf(ridge, 2.2f)) + sides * 60 * ridge;
}

static float make_height(float x, float z)
{
    const float bank = bank_height(x, z);
    const float land = smoothstep(0.2f, 3, bank);
    float h = bank + land * (2.4f * (fbm2(x / 21, z / 21, 5) - 0.5f) + hill_height(x, z));
    const float aside = fabsf(x - road_x(z));
    if (z < road_end && aside < 10) {
        const float level = maxf(1.5f, bank_height(road_x(z), z)) - 0.25f;
        h = mixf(level, h, smoothstep(2.4f, 10, aside));
    }
    return h;
}

static Vec3 soil_color(float x, float z, float height, float slope)
{
    const float patches = fbm2(x / 9 + 40, z / 9, 5), broad = fbm2(x / 70, z / 70 + 8, 4);
    Vec3 color = mix(vec(0.105f, 0.125f, 0.050f), vec(0.24f, 0.21f, 0.10f),
                     smoothstep(0.3f, 0.7f, 0.55f * patches + 0.45f * broad));
    const float forest = smoothstep(0.42f, 0.6f, broad + 0.0012f * (z - 200));
    color = mix(color, vec(0.05f, 0.065f, 0.035f), forest * smoothstep(200, 300, z));
    color = mix(color, vec(0.16f, 0.15f, 0.14f), smoothstep(0.55f, 1.0f, slope + 0.4f * patches));
    return mix(vec(0.14f, 0.115f, 0.085f), color, smoothstep(0.15f, 0.9f, height));
}

static Vec3 road_color(Vec3 ground, float x, float z)
{
    const float aside = fabsf(x - road_x(z));
    const float ragged = 0.7f * (fbm2(x / 1.3f, z / 2.5f, 4) - 0.5f);
    const float ruts = expf(-12 * (aside - 0.8f) * (aside - 0.8f));
    const Vec3 gravel = scale(vec(0.33f, 0.30f, 0.26f), 0.75f + 0.5f * fbm2(x * 2, z * 2, 3));
    const Vec3 track = mix(mix(ground, gravel, 0.62f), scale(gravel, 1.15f), ruts);
    return mix(track, ground, z > road_end ? 1 : smoothstep(1.7f, 2.3f, aside + ragged));
}

static void fill_heights(void *context, int row)
{
    (void)context;
    for (int i = 0; i < GRID_X; i++) {
        heights[row * GRID_X + i] =
            make_height(first_x + cell * (float)i, first_z + cell * (float)row);
    }
}

static void fill_colors(void *context, int row)
{
    (void)context;
    const Vec3 sun = normalize(vec(0.55f, 0.42f, 0.5f));
    for (int i = 0; i < GRID_X; i++) {
        const int right = i + 1 < GRID_X ? 1 : 0, far = row + 1 < GRID_Z ? GRID_X : 0;
        const float *h = heights + row * GRID_X + i;
        const Vec3 normal = normalize(vec(h[0] - h[right], cell, h[0] - h[far]));
        const float x = first_x + cell * (float)i, z = first_z + cell * (float)row;
        const float slope = 1 / normal.y - 1;
        const Vec3 soil = road_color(soil_color(x, z, h[0], 2 * slope), x, z);
        const Vec3 light = add(scale(vec(0.62f, 0.68f, 0.75f), 0.45f + 0.55f * normal.y),
                               scale(vec(1.25f, 1.10f, 0.85f), maxf(0, dot(normal, sun))));
        colors[row * GRID_X + i] = mul(soil, light);
    }
}

bool terrain_prepare(int threads)
{
    heights = malloc(sizeof *heights * GRID_X * GRID_Z);
    colors = malloc(sizeof *colors * GRID_X * GRID_Z);
    if (!heights || !colors) {
        return false;
    }
    parallel_rows(threads, GRID_Z, fill_heights, NULL);
    parallel_rows(threads, GRID_Z, fill_colors, NULL);
    return true;
}

void terrain_release(void)
{
    free(heights);
    free(colors);
    heights = NULL;
    colors = NULL;
}

typedef struct Place {
    int index;
    float fx, fz;
} Place;

static Place place_of(float x, float z)
{
    const float gx = clampf((x - first_x) / cell, 0, GRID_X - 1.01f);
    const float gz = clampf((z - first_z) / cell, 0, GRID_Z - 1.01f);
    const int ix = (int)gx, iz = (int)gz;
    return (Place){iz * GRID_X + ix, gx - (float)ix, gz - (float)iz};
}

float terrain_height(float x, float z)
{
    const Place p = place_of(x, z);
    const float *h = heights + p.index;
    return mixf(mixf(h[0], h[1], p.fx), mixf(h[GRID_X], h[GRID_X + 1], p.fx), p.fz);
}

Vec3 terrain_color(float x, float z)
{
    const Place p = place_of(x, z);
    const Vec3 *c = colors + p.index;
    return mix(mix(c[0], c[1], p.fx), mix(c[GRID_X], c[GRID_X + 1], p.fx), p.fz);
}
