#include "picture.h"

#include <stdlib.h>

enum { GRAIN_SIZE = 512, GRAIN_MASK = GRAIN_SIZE - 1 };
static float grain_tile[GRAIN_SIZE * GRAIN_SIZE];

bool picture_alloc(Picture *picture, int width, int height, bool with_depth)
{
    const size_t pixels = (size_t)width * (size_t)height;
    *picture = (Picture){.width = width, .height = height};
    picture->color = calloc(pixels, sizeof *picture->color);
    picture->depth = with_depth ? calloc(pixels, sizeof *picture->depth) : NULL;
    return picture->color && (picture->depth || !with_depth);
}

void picture_free(Picture *picture)
{
    free(picture->color);
    free(picture->depth);
    *picture = (Picture){0};
}

Vec3 picture_sample(const Picture *picture, float x, float y)
{
    x = clampf(x, 0, (float)picture->width - 1.001f);
    y = clampf(y, 0, (float)picture->height - 1.001f);
    const int ix = (int)x, iy = (int)y;
    const float fx = x - (float)ix, fy = y - (float)iy;
    const Vec3 *p = picture->color + (size_t)iy * (size_t)picture->width + ix;
    return mix(mix(p[0], p[1], fx), mix(p[picture->width], p[picture->width + 1], fx), fy);
}

void picture_halve(Picture *picture, const Picture *fine)
{
    for (int y = 0; y < picture->height; y++) {
        const Vec3 *row = fine->color + (size_t)(2 * y) * (size_t)fine->width;
        Vec3 *out = picture->color + (size_t)y * (size_t)picture->width;
        for (int x = 0; x < picture->width; x++, row += 2) {
            const Vec3 top = add(row[0], row[1]);
            const Vec3 bottom = add(row[fine->width], row[fine->width + 1]);
            out[x] = scale(add(top, bottom), 0.25f);
        }
    }
}

static float stroke_coverage(const Stroke *s, float x, float y)
{
    const float dx = s->x1 - s->x0, dy = s->y1 - s->y0;
    const float along = (x - s->x0) * dx + (y - s->y0) * dy;
    const float t = clampf(along / (dx * dx + dy * dy + 1e-6f), 0, 1);
    const float ex = x - s->x0 - t * dx, ey = y - s->y0 - t * dy;
    const float radius = mixf(s->r0, s->r1, t);
    const float thin = minf(1, 2 * radius);
    return thin * clampf(maxf(radius, 0.5f) - sqrtf(ex * ex + ey * ey) + 0.5f, 0, 1);
}

void picture_stroke(const Picture *picture, const Stroke *s)
{
    const float reach = maxf(s->r0, s->r1) + 1;
    const int left = (int)maxf(0, minf(s->x0, s->x1) - reach);
    const int top = (int)maxf(0, minf(s->y0, s->y1) - reach);
    const int right = (int)minf((float)picture->width, maxf(s->x0, s->x1) + reach + 1);
    const int bottom = (int)minf((float)picture->height, maxf(s->y0, s->y1) + reach + 1);
    for (int y = top; y < bottom; y++) {
        const size_t row = (size_t)y * (size_t)picture->width;
        for (int x = left; x < right; x++) {
            const size_t i = row + (size_t)x;
            if (picture->depth && picture->depth[i] < s->depth) {
                continue;
            }
            const float cover = s->opacity * stroke_coverage(s, (float)x + 0.5f, (float)y + 0.5f);
            if (cover > 0) {
                picture->color[i] = mix(picture->color[i], s->color, cover);
            }
        }
    }
}

void picture_glow(const Picture *picture, float x, float y, float sigma, Vec3 light, float depth)
{
    const float reach = 3 * sigma + 1;
    const int top = (int)maxf(0, y - reach), left = (int)maxf(0, x - reach);
    const int bottom = (int)minf((float)picture->height, y + reach);
    const int right = (int)minf((float)picture->width, x + reach);
    for (int py = top; py < bottom; py++) {
        for (int px = left; px < right; px++) {
            const size_t i = (size_t)py * (size_t)picture->width + (size_t)px;
            const float dx = (float)px + 0.5f - x, dy = (float)py + 0.5f - y;
            const float d = (dx * dx + dy * dy) / (sigma * sigma);
            if (d < 9 && !(picture->depth && picture->depth[i] < depth)) {
                const float bell = 1 / (1 + 2 * d) - 1.0f / 19;
                picture->color[i] = add(picture->color[i], scale(light, bell));
            }
        }
    }
}

static float grain_raw(int x, int y)
{
    const uint32_t cell = (uint32_t)((y & GRAIN_MASK) * GRAIN_SIZE + (x & GRAIN_MASK));
    float sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        sum += hash_unit(cell * 4 + k + 31337u) - 0.5f;
    }
    return sum * 1.732f;
}

void develop_init(void)
{
    for (int y = 0; y < GRAIN_SIZE; y++) {
        for (int x = 0; x < GRAIN_SIZE; x++) {
            const float near = grain_raw(x - 1, y) + grain_raw(x + 1, y) + grain_raw(x, y - 1) +
                               grain_raw(x, y + 1);
            grain_tile[y * GRAIN_SIZE + x] = (grain_raw(x, y) + 0.45f * near) / 1.345f;
        }
    }
}

static float grain_at(const Develop *how, uint32_t plane, int x, int y)
{
    const uint32_t shift = hash((uint32_t)how->frame * 3 + plane);
    const int gx = x + (int)(shift & GRAIN_MASK), gy = y + (int)(shift >> 16 & GRAIN_MASK);
    return grain_tile[(gy & GRAIN_MASK) * GRAIN_SIZE + (gx & GRAIN_MASK)];
}

static uint8_t code(float value, float lo, float hi)
{
    return (uint8_t)clampf(value + 0.5f, lo, hi);
}

static float luma_of(Vec3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static Vec3 clip(Vec3 c)
{
    return vec(clampf(c.x, 0, 1), clampf(c.y, 0, 1), clampf(c.z, 0, 1));
}

static void develop_luma(uint8_t *plane, const Picture *picture, const Develop *how)
{
    for (int y = 0; y < picture->height; y++) {
        const bool black = y < how->bar || y >= picture->height - how->bar;
        for (int x = 0; x < picture->width; x++) {
            const size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            const float luma = luma_of(clip(picture->color[i]));
            const float weight = 0.5f + 1.3f * sqrtf(luma) * (1 - luma);
            const float grain = how->grain * weight * grain_at(how, 0, x, y);
            const float value = 16 + how->fade * (219 * luma + grain);
            plane[i] = black ? 16 : code(value, 16, 235);
        }
    }
}

static void develop_chroma(uint8_t *cb, uint8_t *cr, const Picture *picture, const Develop *how)
{
    const int width = picture->width / 2;
    for (int y = 0; y < picture->height / 2; y++) {
        const bool black = 2 * y < how->bar || 2 * y >= picture->height - how->bar;
        for (int x = 0; x < width; x++) {
            const Vec3 *p = picture->color + (size_t)(2 * y) * (size_t)picture->width + 2 * x;
            const Vec3 top = add(clip(p[0]), clip(p[1]));
            const Vec3 *q = p + picture->width;
            const Vec3 c = scale(add(top, add(clip(q[0]), clip(q[1]))), 0.25f);
            const float luma = luma_of(c), gain = black ? 0 : how->fade;
            const float grain_b = 0.35f * how->grain * grain_at(how, 1, x, y);
            const float grain_r = 0.35f * how->grain * grain_at(how, 2, x, y);
            const int i = y * width + x;
            cb[i] = code(128 + gain * (224 * (c.z - luma) / 1.8556f + grain_b), 16, 240);
            cr[i] = code(128 + gain * (224 * (c.x - luma) / 1.5748f + grain_r), 16, 240);
        }
    }
}

void develop(uint8_t *yuv, const Picture *picture, const Develop *how)
{
    uint8_t *cb = yuv + VIDEO_WIDTH * VIDEO_HEIGHT;
    develop_luma(yuv, picture, how);
    develop_chroma(cb, cb + VIDEO_WIDTH * VIDEO_HEIGHT / 4, picture, how);
}
