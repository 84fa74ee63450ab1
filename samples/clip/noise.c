#include "noise.h"

float noise_lattice[256 * 256];

void noise_init(void)
{
    for (uint32_t i = 0; i < 256 * 256; i++) {
        noise_lattice[i] = hash_unit(i + 977u);
    }
}

float noise3(float x, float y, float z)
{
    const int slice = floor_int(z);
    float f = z - (float)slice;
    f = f * f * (3 - 2 * f);
    const float sx = 37.0f * (float)slice, sy = 17.0f * (float)slice;
    return mixf(noise2(x + sx, y + sy), noise2(x + sx + 37.0f, y + sy + 17.0f), f);
}

float fbm2(float x, float y, int octaves)
{
    float sum = 0, weight = 0.5f, total = 0;
    for (int i = 0; i < octaves; i++) {
        sum += weight * noise2(x, y);
        total += weight;
        weight *= 0.5f;
        const float rotated = 1.62f * x - 1.21f * y + 13.7f;
        y = 1.21f * x + 1.62f * y + 5.3f;
        x = rotated;
    }
    return sum / total;
}

float fbm3(float x, float y, float z, int octaves)
{
    float sum = 0, weight = 0.5f, total = 0;
    for (int i = 0; i < octaves; i++) {
        sum += weight * noise3(x, y, z);
        total += weight;
        weight *= 0.5f;
        const float rotated = 1.62f * x - 1.21f * y + 13.7f;
        y = 1.21f * x + 1.62f * y + 5.3f;
        x = rotated;
        z = z * 1.7f + 3.1f;
    }
    return sum / total;
}

float ridge2(float x, float y, int octaves)
{
    float sum = 0, weight = 0.5f, total = 0;
    for (int i = 0; i < octaves; i++) {
        const float crease = 1 - fabsf(2 * noise2(x, y) - 1);
        sum += weight * crease * crease;
        total += weight;
        weight *= 0.5f;
        const float rotated = 1.62f * x - 1.21f * y + 13.7f;
        y = 1.21f * x + 1.62f * y + 5.3f;
        x = rotated;
    }
    return sum / total;
}
