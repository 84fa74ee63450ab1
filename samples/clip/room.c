// The dark room: lit once by path tracing into a wide plate with one layer per lamp, then filmed by
// a camera that moves slowly over the plate, shifting each point by its distance.
#include "room.h"

#include <stdlib.h>

#include "scenes.h"

enum { PLATE_WIDTH = 2048, PLATE_HEIGHT = 1152, PLATE_PIXELS = PLATE_WIDTH * PLATE_HEIGHT };
enum { LIGHT_SAMPLES = 4, SMOOTH_PASSES = 5, EDGE_REACH = 7 };

static const Vec3 eye = {0.12f, 1.27f, -1.95f};
static const float plate_focal = 0.90f * PLATE_WIDTH, plate_horizon = 0.44f * PLATE_HEIGHT;
static const Vec3 lamp_light = {1.10f, 0.70f, 0.36f}, candle_light = {0.27f, 0.158f, 0.075f};
static const Vec3 night_light = {0.10f, 0.145f, 0.22f};

typedef struct Texel {
    Vec3 albedo, normal;
    float distance;
    Vec3 lamp, candle;        // light that falls in directly
    Vec3 lamp_bounced, night; // noisy light, to be smoothed
    Vec3 glow;                // light of the shade and of highlights
    float window;
} Texel;

// What filming needs of a plate point.
typedef struct Point {
    Vec3 lamp, candle, night;
    float near, window;
} Point;

static Texel *texels;
static Point *plate;
static Vec3 *smooth_from, *smooth_to;

static Ray plate_ray(float x, float y)
{
    const Vec3 along =
        vec((x - 0.5f * PLATE_WIDTH) / plate_focal, (plate_horizon - y) / plate_focal, 1);
    return (Ray){eye, normalize(along)};
}

static Vec3 ball_point(Random *random)
{
    const float z = random_in(random, -1, 1), turn = random_in(random, 0, 6.2832f);
    const float r = sqrtf(1 - z * z);
    return vec(r * cosf(turn), r * sinf(turn), z);
}

static Vec3 lamp_on(Vec3 p, Vec3 n, Random *random)
{
    const Vec3 to = add(room_bulb, scale(ball_point(random), 0.035f));
    const Vec3 way = sub(to, p);
    const float square = dot(way, way), facing = dot(n, way) / sqrtf(square);
    if (facing <= 0) {
        return vec(0, 0, 0);
    }
    const float seen = room_visible(p, to);
    const Vec3 tint = seen < 1 ? vec(1, 0.86f, 0.66f) : vec(1, 1, 1);
    return scale(mul(lamp_light, tint), seen * facing / (square + 0.02f));
}

static Vec3 candle_on(Vec3 p, Vec3 n, Random *random)
{
    const Vec3 to = add(room_flame, scale(ball_point(random), 0.012f));
    const Vec3 way = sub(to, p);
    const float square = dot(way, way), facing = dot(n, way) / sqrtf(square);
    if (facing <= 0) {
        return vec(0, 0, 0);
    }
    return scale(candle_light, room_visible(p, to) * facing / (square + 0.06f));
}

static Vec3 night_on(Vec3 p, Vec3 n, Random *random)
{
    const Vec3 spread = vec(random_unit(random), random_unit(random), 0);
    const Vec3 to = add(add(room_window_corner, mul(spread, room_window_size)), vec(0, 0, -0.075f));
    const Vec3 way = sub(to, p);
    const float square = dot(way, way), distance = sqrtf(square);
    const float facing = dot(n, way) / distance, leaving = way.z / distance;
    if (facing <= 0 || leaving <= 0) {
        return vec(0, 0, 0);
    }
    return scale(night_light, room_visible(p, to) * facing * leaving / (square + 0.1f));
}

static Vec3 bounce_along(Vec3 n, Random *random)
{
    return normalize(add(scale(n, 1.001f), ball_point(random)));
}

static void bounce(Texel *texel, Vec3 p, Vec3 n, Random *random)
{
    Hit hit;
    room_trace((Ray){p, bounce_along(n, random)}, &hit);
    if (hit.window) {
        return;
    }
    if (hit.shade) {
        texel->lamp_bounced = add(texel->lamp_bounced, scale(lamp_light, 1.1f));
        return;
    }
    const Vec3 q = add(hit.point, scale(hit.normal, 1e-3f));
    const Vec3 lamp = add(lamp_on(q, hit.normal, random), scale(lamp_light, 0.035f));
    const Vec3 night = add(night_on(q, hit.normal, random), scale(night_light, 0.05f));
    texel->lamp_bounced = add(texel->lamp_bounced, mul(hit.albedo, lamp));
    texel->night = add(texel->night, mul(hit.albedo, night));
}

static Vec3 highlight(const Hit *hit, Vec3 along, Vec3 lamp)
{
    const Vec3 way = normalize(sub(room_bulb, hit->point));
    const Vec3 half = normalize(sub(way, along));
    const float shine = powf(maxf(0, dot(half, hit->normal)), 60);
    return scale(lamp, 1.6f * hit->gloss * shine);
}

static Vec3 shade_glow(Vec3 p)
{
    const float up = (p.y - 1.07f) / 0.25f;
    const float warm = 0.8f * gauss((up - 0.5f) / 0.62f) + 0.25f;
    const float weave = 0.95f + 0.1f * noise2(atan2f(p.z - 1.02f, p.x + 0.34f) * 60, p.y * 500);
    return scale(vec(0.62f, 0.36f, 0.145f), warm * weave);
}

static void light_texel(Texel *texel, const Hit *hit, Vec3 along, Random *random)
{
    const Vec3 p = add(hit->point, scale(hit->normal, 1e-3f));
    for (int i = 0; i < LIGHT_SAMPLES; i++) {
        texel->lamp = add(texel->lamp, lamp_on(p, hit->normal, random));
        texel->candle = add(texel->candle, candle_on(p, hit->normal, random));
        texel->night = add(texel->night, night_on(p, hit->normal, random));
        bounce(texel, p, hit->normal, random);
    }
    const float share = 1.0f / LIGHT_SAMPLES;
    texel->lamp = scale(texel->lamp, share);
    texel->candle = scale(texel->candle, share);
    texel->lamp_bounced = scale(texel->lamp_bounced, share);
    texel->night = scale(texel->night, share);
    texel->glow = highlight(hit, along, texel->lamp);
}

static void trace_row(void *context, int y)
{
    (void)context;
    for (int x = 0; x < PLATE_WIDTH; x++) {
        Random random = {hash((uint32_t)(y * PLATE_WIDTH + x))};
        Texel *texel = &texels[y * PLATE_WIDTH + x];
        const Ray ray = plate_ray((float)x + 0.5f, (float)y + 0.5f);
        Hit hit;
        room_trace(ray, &hit);
        *texel = (Texel){.normal = hit.normal,
                         .distance = hit.distance * ray.along.z,
                         .albedo = hit.albedo,
                         .window = hit.window ? 1.f : 0.f};
        if (hit.shade) {
            texel->glow = shade_glow(hit.point);
            texel->albedo = vec(0, 0, 0);
        } else if (!hit.window) {
            light_texel(texel, &hit, ray.along, &random);
        }
    }
}

static float alike(const Texel *a, const Texel *b)
{
    const float bend = maxf(0, dot(a->normal, b->normal));
    const float step = (a->distance - b->distance) / (0.02f * a->distance);
    const float bend2 = bend * bend, bend4 = bend2 * bend2;
    return bend4 * bend4 * bend4 / (1 + step * step * step * step);
}

// One pass of an a-trous filter: neighbours at `step`, weighed by how alike their surfaces are.
static void smooth_row(void *context, int y)
{
    const int step = *(const int *)context;
    for (int x = 0; x < PLATE_WIDTH; x++) {
        const Texel *here = &texels[y * PLATE_WIDTH + x];
        Vec3 sum = {0};
        float total = 0;
        for (int k = 0; k < 9; k++) {
            const int nx = x + (k % 3 - 1) * step, ny = y + (k / 3 - 1) * step;
            if (nx < 0 || ny < 0 || nx >= PLATE_WIDTH || ny >= PLATE_HEIGHT) {
                continue;
            }
            const float kernel = (k % 3 == 1 ? 2.f : 1.f) * (k / 3 == 1 ? 2.f : 1.f);
            const int i = ny * PLATE_WIDTH + nx;
            const float weight = kernel * (k == 4 ? 1 : alike(here, &texels[i]));
            sum = add(sum, scale(smooth_from[i], weight));
            total += weight;
        }
        smooth_to[y * PLATE_WIDTH + x] = scale(sum, 1 / total);
    }
}

// Smooths the light in smooth_from; leaves the result there.
static void smooth(int threads)
{
    for (int pass = 0; pass < SMOOTH_PASSES; pass++) {
        int step = 1 << pass;
        parallel_rows(threads, PLATE_HEIGHT, smooth_row, &step);
        Vec3 *swap = smooth_from;
        smooth_from = smooth_to;
        smooth_to = swap;
    }
}

// What is near takes a rim of its surroundings along when the camera moves, so that its outline
// stays whole: two passes of a maximum filter over the nearness.
static void widen_row(void *context, int y)
{
    (void)context;
    for (int x = 0; x < PLATE_WIDTH; x++) {
        const int last = x + EDGE_REACH < PLATE_WIDTH ? x + EDGE_REACH : PLATE_WIDTH - 1;
        float near = 0;
        for (int i = x < EDGE_REACH ? 0 : x - EDGE_REACH; i <= last; i++) {
            near = maxf(near, smooth_to[y * PLATE_WIDTH + i].x);
        }
        smooth_to[y * PLATE_WIDTH + x].y = near;
    }
}

static void heighten_row(void *context, int y)
{
    (void)context;
    const int last = y + EDGE_REACH < PLATE_HEIGHT ? y + EDGE_REACH : PLATE_HEIGHT - 1;
    for (int x = 0; x < PLATE_WIDTH; x++) {
        float near = 0;
        for (int i = y < EDGE_REACH ? 0 : y - EDGE_REACH; i <= last; i++) {
            near = maxf(near, smooth_to[i * PLATE_WIDTH + x].y);
        }
        plate[y * PLATE_WIDTH + x].near = near;
    }
}

static void finish_plate(int threads)
{
    for (int i = 0; i < PLATE_PIXELS; i++) {
        smooth_from[i] = texels[i].lamp_bounced;
    }
    smooth(threads);
    for (int i = 0; i < PLATE_PIXELS; i++) {
        texels[i].lamp = add(texels[i].lamp, smooth_from[i]);
        smooth_from[i] = texels[i].night;
    }
    smooth(threads);
    for (int i = 0; i < PLATE_PIXELS; i++) {
        const Texel *t = &texels[i];
        smooth_to[i].x = 1 / t->distance;
        plate[i] = (Point){add(mul(t->albedo, t->lamp), t->glow), mul(t->albedo, t->candle),
                           mul(t->albedo, smooth_from[i]), 0, t->window};
    }
    parallel_rows(threads, PLATE_HEIGHT, widen_row, NULL);
    parallel_rows(threads, PLATE_HEIGHT, heighten_row, NULL);
}

bool room_prepare(int threads)
{
    texels = malloc(sizeof *texels * PLATE_PIXELS);
    plate = malloc(sizeof *plate * PLATE_PIXELS);
    smooth_from = malloc(sizeof *smooth_from * PLATE_PIXELS);
    smooth_to = malloc(sizeof *smooth_to * PLATE_PIXELS);
    const bool ok = texels && plate && smooth_from && smooth_to;
    if (ok) {
        room_build();
        parallel_rows(threads, PLATE_HEIGHT, trace_row, NULL);
        finish_plate(threads);
    }
    free(texels);
    free(smooth_from);
    free(smooth_to);
    texels = NULL;
    smooth_from = smooth_to = NULL;
    return ok;
}

void room_release(void)
{
    free(plate);
    plate = NULL;
}

static Point plate_sample(float x, float y)
{
    x = clampf(x - 0.5f, 0, PLATE_WIDTH - 1.01f);
    y = clampf(y - 0.5f, 0, PLATE_HEIGHT - 1.01f);
    const int ix = (int)x, iy = (int)y;
    const float fx = x - (float)ix, fy = y - (float)iy;
    const float w[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    const Point *p = plate + iy * PLATE_WIDTH + ix;
    const Point *at[4] = {p, p + 1, p + PLATE_WIDTH, p + PLATE_WIDTH + 1};
    Point sum = {0};
    for (int k = 0; k < 4; k++) {
        sum.lamp = add(sum.lamp, scale(at[k]->lamp, w[k]));
        sum.candle = add(sum.candle, scale(at[k]->candle, w[k]));
        sum.night = add(sum.night, scale(at[k]->night, w[k]));
        sum.near += w[k] * at[k]->near;
        sum.window += w[k] * at[k]->window;
    }
    return sum;
}

// A camera move seen from the plate: closer by `zoom`, aside by `slide` metres.
typedef struct Move {
    float zoom, slide, rise;
} Move;

static const float pivot_near = 1 / 3.2f;

static void plate_place(const Move *move, float x, float y, float *px, float *py)
{
    const float zoom = move->zoom * PLATE_WIDTH / (1.07f * VIDEO_WIDTH);
    const float bx = 0.5f * PLATE_WIDTH + (x - 0.5f * VIDEO_WIDTH) * zoom;
    const float by = 0.5f * PLATE_HEIGHT + (y - 0.5f * VIDEO_HEIGHT) * zoom;
    *px = bx;
    *py = by;
    for (int i = 0; i < 3; i++) {
        const int ix = (int)clampf(*px, 0, PLATE_WIDTH - 1),
                  iy = (int)clampf(*py, 0, PLATE_HEIGHT - 1);
        const float near = plate[iy * PLATE_WIDTH + ix].near - pivot_near;
        *px = bx + move->slide * plate_focal * near;
        *py = by - move->rise * plate_focal * near;
    }
}

// How bright the candle burns.
static float flutter(float seconds)
{
    return 0.72f + 0.56f * fbm2(seconds * 5.5f, 17, 4);
}

// The candle's flame, at plate coordinates.
static Vec3 flame(float px, float py, float seconds)
{
    const Vec3 wick = sub(room_flame, eye);
    const float k = plate_focal / wick.z, high = flutter(seconds) * 0.030f;
    const float y = (plate_horizon - py) / k - wick.y + 0.026f;
    const float lean = 0.35f * (fbm2(seconds * 3, 5, 3) - 0.5f) * maxf(0, y);
    const float x = (px - 0.5f * PLATE_WIDTH) / k - wick.x - lean;
    const float up = y / (1.6f * high);
    const float width = 0.0058f * sqrtf(clampf(up * 3, 0, 1)) * clampf(1.06f - up, 0, 1);
    const float body = up > 0 && up < 1 ? smoothstep(width, 0.45f * width, fabsf(x)) : 0;
    const float halo = 0.05f / (1 + (x * x + (y - high) * (y - high)) / 0.0005f);
    const float wax =
        y < 0 && fabsf(x) < 0.0125f ? smoothstep(-0.1f, -0.09f, y) * expf(y / 0.03f) : 0;
    const Vec3 heart =
        mix(vec(0.5f, 0.32f, 0.20f), vec(1.7f, 1.15f, 0.48f), smoothstep(0, 0.35f, up));
    const Vec3 glow = scale(vec(1.0f, 0.55f, 0.22f), halo + 0.55f * wax * flutter(seconds));
    return add(scale(heart, body), glow);
}

// Moonlit clouds over a far hill with a few lit windows.
static Vec3 night_sky(float px, float py, float seconds)
{
    const float x = px / 330, y = (plate_horizon - py) / 330;
    const float drift = 0.05f * seconds;
    const float warp = fbm2(x * 2 + drift, y * 3, 4);
    const float clouds =
        smoothstep(0.38f, 0.72f, fbm2(x * 2.2f + drift + warp, y * 4.5f + warp, 6));
    const float away = hypotf(x + 1.70f, y - 0.93f);
    Vec3 color = mix(vec(0.012f, 0.018f, 0.030f), vec(0.004f, 0.007f, 0.016f), y);
    const float lit = 0.12f + 0.9f / (1 + 14 * away * away);
    color = add(color, scale(vec(0.055f, 0.066f, 0.080f), clouds * lit));
    const float moon = smoothstep(0.062f, 0.052f, away) * (1 - 0.6f * clouds);
    color = add(color, scale(vec(0.30f, 0.32f, 0.33f), moon));
    const float star = hash_unit((uint32_t)floor_int(px / 3) * 7919u + (uint32_t)floor_int(py / 3));
    color = add(color, scale(vec(0.12f, 0.13f, 0.15f), star > 0.9985f ? 1 - clouds : 0));
    const float hill = 0.20f + 0.28f * (fbm2(x * 1.6f + 3, 1, 5) - 0.3f);
    if (y < hill) {
        const int cx = floor_int(x * 14), cy = floor_int(y * 22);
        const uint32_t cell = hash((uint32_t)cx * 31u + (uint32_t)cy);
        const float dx = x * 14 - (float)cx - 0.2f - 0.6f * hash_unit(cell);
        const float dy = (y * 22 - (float)cy - 0.5f) * 0.64f;
        const float lit = hash_unit(cell + 1) > 0.88f && y < hill - 0.07f ? 1 : 0;
        const float glow = lit / (1 + 500 * (dx * dx + dy * dy));
        color = add(vec(0.0035f, 0.005f, 0.008f), scale(vec(0.16f, 0.10f, 0.035f), glow));
    }
    return color;
}

// The lamp breathes a little, and twice it stumbles.
static float flicker(float seconds)
{
    const float breath = 0.05f * (fbm2(seconds * 7, 3, 3) - 0.5f);
    const float dip =
        0.22f * gauss((seconds - 1.24f) / 0.05f) + 0.16f * gauss((seconds - 1.40f) / 0.04f);
    return 1 + breath - dip;
}

static Vec3 film(Vec3 light, float x, float y)
{
    const float dx = (x - 640) / 640, dy = (y - 360) / 640;
    const float exposure = 0.26f * (1 - 0.28f * (dx * dx + dy * dy));
    const Vec3 v = scale(light, exposure);
    return vec(powf(1 - expf(-v.x), 0.4545f), powf(1 - expf(-v.y), 0.4545f),
               powf(1 - expf(-v.z), 0.4545f));
}

// Steam over the mug, at plate coordinates.
static float steam(float px, float py, float seconds)
{
    const Vec3 mug = sub(vec(-0.02f, 0.86f, 0.68f), eye);
    const float k = plate_focal / mug.z;
    const float x = (px - 0.5f * PLATE_WIDTH) / k - mug.x, y = (plate_horizon - py) / k - mug.y;
    if (y < -0.01f || y > 0.32f || fabsf(x) > 0.12f) {
        return 0;
    }
    const float bend = 0.10f * (fbm2(y * 7 - 1.1f * seconds, 0.4f * seconds + 9, 3) - 0.5f) * y * 5;
    const float wisp = fbm2((x + bend) * 40 + 7, y * 11 - 1.6f * seconds, 4);
    const float body = gauss((x + bend) / (0.018f + 0.09f * y)) * smoothstep(-0.01f, 0.03f, y);
    return body * smoothstep(0.32f, 0.10f, y) * smoothstep(0.35f, 0.75f, wisp);
}

static Vec3 film_pixel(const Move *move, float x, float y, float lamp, float seconds)
{
    Vec3 light = {0};
    for (int k = 0; k < 4; k++) {
        float px, py;
        plate_place(move, x + 0.25f + 0.5f * (float)(k % 2), y + 0.25f + 0.5f * (float)(k / 2), &px,
                    &py);
        const Point p = plate_sample(px, py);
        Vec3 here = add(scale(p.lamp, lamp), add(p.night, scale(p.candle, flutter(seconds))));
        if (p.window > 0) {
            here = mix(here, night_sky(px, py, seconds), p.window);
        }
        here = add(here, scale(vec(0.11f, 0.075f, 0.045f), lamp * steam(px, py, seconds)));
        here = add(here, flame(px, py, seconds));
        light = add(light, scale(here, 0.25f));
    }
    return film(light, x, y);
}

bool room_draw(Picture *picture, float seconds)
{
    const Move move = {1 - 0.016f * seconds, -0.028f + 0.016f * seconds, 0.006f - 0.004f * seconds};
    const float lamp = flicker(seconds);
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            picture->color[(size_t)y * (size_t)picture->width + (size_t)x] =
                film_pixel(&move, (float)x, (float)y, lamp, seconds);
        }
    }
    return true;
}
