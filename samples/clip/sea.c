// The sea at dusk, letterboxed: waves from a sum of sines on a repeating tile, a lid of clouds,
// a headland with a lighthouse, a trawler going home.
#include <stdlib.h>

#include "scenes.h"

enum { TILE = 512, TILE_MASK = TILE - 1, WAVES = 72, SKY_WIDTH = 640, SKY_HEIGHT = 240 };
static const float tile_metres = 96, ripple_scale = 6.3f;
static const float eye_height = 5.2f, view_end = 4200;
static const float gravity = 9.81f;
static const float sun_x = -0.16f; // where the sun went down, in view slopes

typedef struct Wave {
    int kx, kz;
    float height, speed, phase;
} Wave;
static Wave waves[WAVES];

// Water height and its slopes over one tile at one time.
typedef struct Water {
    float *height, *slope_x, *slope_z;
} Water;

typedef struct Scene {
    Picture picture; // twice the size of the visible part
    Picture sky;
    Water water;
    float focal, center, horizon, seconds, sway;
} Scene;

bool sea_prepare(int threads)
{
    (void)threads;
    Random random = {90210};
    const float turn = 6.2831853f;
    for (int i = 0; i < WAVES; i++) {
        const float f = (float)i / WAVES, wavelength = 26 * powf(0.035f, f);
        const float k = tile_metres / wavelength, spread = 0.5f + 0.9f * f;
        const float heading = -1.9f + spread * random_in(&random, -1, 1);
        Wave *w = &waves[i];
        w->kx = (int)lroundf(k * cosf(heading));
        w->kz = (int)lroundf(k * sinf(heading));
        const float number = turn * hypotf((float)w->kx, (float)w->kz) / tile_metres;
        w->speed = sqrtf(gravity * number);
        w->height = 0.0062f * powf(wavelength, 0.95f) * random_in(&random, 0.5f, 1.2f);
        w->phase = random_in(&random, 0, turn);
    }
    return true;
}

void sea_release(void)
{
}

static bool water_alloc(Water *water)
{
    water->height = calloc(TILE * TILE, sizeof(float));
    water->slope_x = calloc(TILE * TILE, sizeof(float));
    water->slope_z = calloc(TILE * TILE, sizeof(float));
    return water->height && water->slope_x && water->slope_z;
}

static void water_free(Water *water)
{
    free(water->height);
    free(water->slope_x);
    free(water->slope_z);
}

// Adds one wave: products of two small tables of cosines replace a cosine per point.
static void add_wave(Water *water, const Wave *wave, float seconds)
{
    float cos_x[TILE], sin_x[TILE];
    const float step = 6.2831853f / TILE;
    for (int x = 0; x < TILE; x++) {
        const float angle = step * (float)(x * wave->kx & TILE_MASK);
        cos_x[x] = wave->height * cosf(angle);
        sin_x[x] = wave->height * sinf(angle);
    }
    for (int z = 0; z < TILE; z++) {
        const float angle =
            step * (float)(z * wave->kz & TILE_MASK) - wave->speed * seconds + wave->phase;
        const float c = cosf(angle), s = sinf(angle);
        float *row = water->height + z * TILE;
        for (int x = 0; x < TILE; x++) {
            row[x] += c * cos_x[x] - s * sin_x[x];
        }
    }
}

static void fill_water(Water *water, float seconds)
{
    for (int i = 0; i < WAVES; i++) {
        add_wave(water, &waves[i], seconds);
    }
    const float sharp = 0.32f;
    for (int i = 0; i < TILE * TILE; i++) {
        water->height[i] += sharp * water->height[i] * fabsf(water->height[i]);
    }
    const float per_metre = 0.5f * TILE / tile_metres;
    for (int z = 0; z < TILE; z++) {
        for (int x = 0; x < TILE; x++) {
            const float *row = water->height + z * TILE;
            const float left = row[(x - 1) & TILE_MASK], right = row[(x + 1) & TILE_MASK];
            const float near = water->height[((z - 1) & TILE_MASK) * TILE + x];
            const float far = water->height[((z + 1) & TILE_MASK) * TILE + x];
            water->slope_x[z * TILE + x] = per_metre * (right - left);
            water->slope_z[z * TILE + x] = per_metre * (far - near);
        }
    }
}

static float tile_at(const float *tile, float x, float z)
{
    const float tx = x * (TILE / tile_metres), tz = z * (TILE / tile_metres);
    const int ix = floor_int(tx), iz = floor_int(tz);
    const float fx = tx - (float)ix, fz = tz - (float)iz;
    const float *a = tile + (iz & TILE_MASK) * TILE, *b = tile + ((iz + 1) & TILE_MASK) * TILE;
    const int x0 = ix & TILE_MASK, x1 = (ix + 1) & TILE_MASK;
    return mixf(mixf(a[x0], a[x1], fx), mixf(b[x0], b[x1], fx), fz);
}

// Sky at view slopes: layered stratus, lit from below where the sun went down.
static Vec3 sky_color(float sx, float sy, float seconds)
{
    const float up = maxf(sy, 0) + 0.045f;
    const float px = sx / up * 0.55f + 0.035f * seconds, pz = 1 / up * 0.42f + 0.05f * seconds;
    const float warp = fbm2(px * 0.8f + 5, pz * 0.8f, 4);
    const float thick = fbm2(px + 1.7f * warp, pz + 1.3f * warp + 3, 7);
    const float under = fbm2(px + 1.7f * warp + 0.10f, pz + 1.3f * warp + 3.25f, 5);
    const float low = expf(-sy * 7.5f), toward = gauss((sx - sun_x) / 0.55f);
    Vec3 gap =
        mix(vec(0.30f, 0.33f, 0.39f), vec(0.80f, 0.52f, 0.33f), low * (0.25f + 0.75f * toward));
    gap = scale(gap, 0.75f + 0.45f * toward * low);
    Vec3 cloud = mix(vec(0.150f, 0.162f, 0.190f), vec(0.235f, 0.225f, 0.235f), low);
    const float rim = clampf((thick - under) * 4.2f, -0.5f, 1);
    const Vec3 fire = mix(vec(0.05f, 0.055f, 0.065f), vec(0.36f, 0.19f, 0.12f), low * toward);
    cloud = add(cloud, scale(fire, rim));
    const float cover = smoothstep(0.36f, 0.60f, thick + 0.10f * (1 - low));
    const Vec3 sky = mix(gap, cloud, cover);
    return mix(sky, vec(0.40f, 0.34f, 0.325f), 0.55f * expf(-sy * 38));
}

static void fill_sky(Scene *scene)
{
    const Picture *sky = &scene->sky;
    const float shrink = (float)scene->picture.width / SKY_WIDTH;
    for (int y = 0; y < SKY_HEIGHT; y++) {
        for (int x = 0; x < SKY_WIDTH; x++) {
            const float sx = ((float)x * shrink - scene->center) / scene->focal;
            const float sy = (float)(SKY_HEIGHT - 1 - y) * shrink / scene->focal;
            sky->color[y * SKY_WIDTH + x] = sky_color(sx, sy, scene->seconds);
        }
    }
}

static Vec3 sky_at(const Scene *scene, float sx, float sy)
{
    const float shrink = (float)SKY_WIDTH / (float)scene->picture.width;
    const float x = (scene->center + sx * scene->focal) * shrink;
    return picture_sample(&scene->sky, x, SKY_HEIGHT - 1 - sy * scene->focal * shrink);
}

static void draw_sky(Scene *scene)
{
    const Picture *p = &scene->picture;
    for (int y = 0; y < (int)scene->horizon + 8; y++) {
        for (int x = 0; x < p->width; x++) {
            const size_t i = (size_t)y * (size_t)p->width + (size_t)x;
            p->color[i] = sky_at(scene, ((float)x - scene->center) / scene->focal,
                                 maxf(0, scene->horizon - (float)y) / scene->focal);
        }
    }
}

typedef struct Slope {
    float x, z;
} Slope;

// Large waves and a finer copy of them, each fading where it would be smaller than a pixel.
static Slope water_slope(const Scene *scene, float x, float z)
{
    const float broad = 1 / (1 + 0.0035f * z), fine = expf(-z / 30);
    const float rx = ripple_scale * (0.8f * x + 0.6f * z),
                rz = ripple_scale * (0.8f * z - 0.6f * x);
    const float fx = tile_at(scene->water.slope_x, rx, rz),
                fz = tile_at(scene->water.slope_z, rx, rz);
    return (Slope){
        broad * tile_at(scene->water.slope_x, x, z) + 0.6f * fine * (0.8f * fx - 0.6f * fz),
        broad * tile_at(scene->water.slope_z, x, z) + 0.6f * fine * (0.6f * fx + 0.8f * fz)};
}

static Vec3 shade_water(const Scene *scene, float sx, float h, float z)
{
    const float x = scene->sway + sx * z;
    const Slope slope = water_slope(scene, x, z);
    const Vec3 n = normalize(vec(-slope.x, 1, -slope.z));
    const Vec3 view = normalize(vec(sx, (h - eye_height) / z, 1));
    const float facing = maxf(0, -dot(view, n));
    const float fresnel = 0.02f + 0.98f * powf(1 - facing, 5);
    const Vec3 bounced = sub(view, scale(n, 2 * dot(view, n)));
    const float lift = maxf(0.03f, bounced.y) / maxf(0.35f, bounced.z);
    const Vec3 image = sky_at(scene, clampf(bounced.x / maxf(0.35f, bounced.z), -0.53f, 0.53f),
                              minf(0.36f, 0.6f * lift + 0.02f));
    const float crest = smoothstep(-0.2f, 0.6f, h);
    const Vec3 body = mix(vec(0.026f, 0.044f, 0.050f), vec(0.052f, 0.085f, 0.086f), crest);
    Vec3 color = mix(body, scale(image, 0.92f), fresnel);
    const float broad = fbm2(x * 0.11f, z * 0.08f - 0.1f * scene->seconds, 3);
    const float lace = ridge2(x * 1.3f, z * 0.9f - 0.3f * scene->seconds, 6);
    const float foam =
        smoothstep(0.30f, 0.62f, h + 0.9f * (broad - 0.5f)) * smoothstep(0.38f, 0.66f, lace);
    color = mix(color, vec(0.33f, 0.34f, 0.36f), 0.7f * foam);
    const float air = 1 - expf(-z / 2600);
    return mix(color, vec(0.36f, 0.315f, 0.31f), air);
}

// Marches away from the eye and paints rows as the waves rise above those before them.
static void draw_water_column(Scene *scene, int column)
{
    const Picture *p = &scene->picture;
    const float sx = ((float)column + 0.5f - scene->center) / scene->focal;
    int top = p->height;
    for (float z = 6; z < view_end; z += maxf(0.06f, 0.0032f * z)) {
        const float h = tile_at(scene->water.height, scene->sway + sx * z, z);
        const float y = scene->horizon + scene->focal * (eye_height - h) / z;
        const int first = (int)maxf(scene->horizon, ceilf(y - 0.5f));
        if (first >= top) {
            continue;
        }
        for (int row = top - 1; row >= first; row--) {
            const float down = ((float)row + 0.5f - scene->horizon) / scene->focal;
            const float at = minf(z, (eye_height - h) / maxf(down, 1e-5f));
            p->color[(size_t)row * (size_t)p->width + (size_t)column] =
                shade_water(scene, sx, h, at);
        }
        top = first;
    }
}

// One headland: rock with strata and heath, hazed by its distance.
typedef struct Land {
    float left, rise, height, seed, haze;
} Land;

static const Land far_land = {0.02f, 9, 0.026f, 3.7f, 0.70f};
static const Land near_land = {0.205f, 13, 0.075f, 8.2f, 0.17f};

static float land_profile(const Land *land, float sx)
{
    const float in = sx - land->left;
    if (in <= 0) {
        return 0;
    }
    const float cliff = 1 - expf(-in * land->rise * 4 * fbm2(sx * 35 + land->seed, 1, 4));
    const float inland = 0.55f + 0.45f * smoothstep(0, 0.3f, in);
    const float rough = 0.62f + 0.76f * fbm2(sx * 17 + land->seed, land->seed, 7);
    return land->height * cliff * inland * rough;
}

static void draw_land(Scene *scene, const Land *land)
{
    const Picture *p = &scene->picture;
    for (int x = 0; x < p->width; x++) {
        const float sx = ((float)x + 0.5f - scene->center) / scene->focal + 0.00035f * scene->sway;
        const float crest = land_profile(land, sx);
        const float top = scene->horizon - crest * scene->focal;
        for (int y = (int)maxf(0, floorf(top)); crest > 0 && y < (int)scene->horizon + 2; y++) {
            const float sy = (scene->horizon - (float)y - 0.5f) / scene->focal;
            const float warp = 0.05f * fbm2(sx * 20 + land->seed, sy * 30, 4);
            const float strata = ridge2((sx + warp) * 90, (sy * 2.4f + warp) * 60, 6);
            const float face = fbm2((sx + warp) * 75, sy * 34 + land->seed, 6);
            const float gully =
                smoothstep(0.35f, 0.62f, fbm2((sx + 1.3f * warp) * 130, sy * 12, 5));
            Vec3 color = scale(vec(0.20f, 0.155f, 0.125f),
                               (0.12f + 1.9f * face * strata) * (0.35f + 0.65f * gully));
            const float heath = smoothstep(0.50f, 0.85f, sy / crest + 0.9f * (face - 0.5f));
            color = mix(color, scale(vec(0.045f, 0.055f, 0.032f), 0.5f + face), heath);
            const float surf =
                smoothstep(0.006f, 0.001f, sy) * fbm2(sx * 90, 2 + scene->seconds, 4);
            color = add(color, scale(vec(0.30f, 0.31f, 0.33f), surf));
            color = mix(color, vec(0.36f, 0.315f, 0.31f), land->haze);
            Vec3 *pixel = &p->color[(size_t)y * (size_t)p->width + (size_t)x];
            *pixel = mix(*pixel, color, clampf((float)y + 1 - top, 0, 1));
        }
    }
}

static void stroke(Scene *scene, float x0, float y0, float r0, float x1, float y1, float r1,
                   Vec3 color)
{
    const float f = scene->focal, cx = scene->center, hy = scene->horizon;
    const Stroke s = {cx + x0 * f, hy - y0 * f, r0 * f, cx + x1 * f, hy - y1 * f,
                      r1 * f,      0,           1,      color};
    picture_stroke(&scene->picture, &s);
}

static void draw_lighthouse(Scene *scene)
{
    const float x = 0.330f - 0.00035f * scene->sway,
                base = land_profile(&near_land, 0.330f) - 0.003f;
    const float top = base + 0.056f;
    const Vec3 white = vec(0.46f, 0.43f, 0.41f), red = vec(0.21f, 0.10f, 0.085f);
    stroke(scene, x, base, 0.0072f, x, top, 0.0052f, white);
    for (float up = 0.0145f; up<0.045f; up += up> 0.0235f && up < 0.034f ? 0.0115f : 0.0012f) {
        const float half = mixf(0.0062f, 0.0044f, up / 0.056f);
        stroke(scene, x - half, base + up, 0.0008f, x + half, base + up, 0.0008f, red);
    }
    stroke(scene, x - 0.0075f, top, 0.0011f, x + 0.0075f, top, 0.0011f, vec(0.06f, 0.06f, 0.06f));
    stroke(scene, x, top + 0.002f, 0.0042f, x, top + 0.008f, 0.004f, vec(0.12f, 0.11f, 0.10f));
    stroke(scene, x - 0.002f, top + 0.0125f, 0.003f, x + 0.002f, top + 0.0125f, 0.003f, red);
    stroke(scene, x + 0.018f, base + 0.006f, 0.006f, x + 0.032f, base + 0.006f, 0.006f, white);
    stroke(scene, x + 0.015f, base + 0.0125f, 0.0022f, x + 0.035f, base + 0.0125f, 0.0022f, red);
    const float turn = scene->seconds / 2.4f - 0.30f, phase = turn - floorf(turn + 0.5f);
    const float flash = gauss(phase / 0.075f);
    const float f = scene->focal, px = scene->center + x * f,
                py = scene->horizon - (top + 0.005f) * f;
    picture_glow(&scene->picture, px, py, 0.006f * f, scale(vec(1.2f, 1.05f, 0.8f), 0.12f + flash),
                 0);
    picture_glow(&scene->picture, px, py, 0.06f * f, scale(vec(0.30f, 0.26f, 0.19f), flash), 0);
}

static void draw_trawler(Scene *scene)
{
    const float t = scene->seconds, k = 0.00135f;
    const float x = -0.235f + 0.013f * t, y = -0.0105f + 0.0006f * sinf(1.9f * t);
    const float roll = 0.03f * sinf(1.3f * t);
    const Vec3 hull = vec(0.045f, 0.05f, 0.06f), deck = vec(0.24f, 0.235f, 0.23f);
    const Vec3 dark = vec(0.035f, 0.035f, 0.035f);
    stroke(scene, x - 13 * k, y + 3.2f * k, 2.0f * k, x + 9 * k, y + 3.0f * k, 2.3f * k, hull);
    stroke(scene, x + 8 * k, y + 3.4f * k, 2.0f * k, x + 15 * k, y + 5.6f * k, 0.7f * k, hull);
    stroke(scene, x + 1 * k, y + 7 * k, 2.2f * k, x + 5 * k, y + 7 * k, 2.2f * k, deck);
    stroke(scene, x + 1.5f * k, y + 8 * k, 0.5f * k, x + 4.8f * k, y + 8 * k, 0.5f * k, dark);
    stroke(scene, x - 1 * k, y + 5 * k, 0.35f * k, x + (-1 + 18 * roll) * k, y + 21 * k, 0.2f * k,
           dark);
    stroke(scene, x - 10 * k, y + 5 * k, 0.3f * k, x + (-10 + 12 * roll) * k, y + 14 * k, 0.2f * k,
           dark);
    stroke(scene, x - 1 * k, y + 18 * k, 0.12f * k, x + 13 * k, y + 6 * k, 0.12f * k, dark);
    stroke(scene, x - 1 * k, y + 18 * k, 0.12f * k, x - 10 * k, y + 13 * k, 0.12f * k, dark);
    const float f = scene->focal, px = scene->center + x * f, py = scene->horizon - y * f;
    picture_glow(&scene->picture, px + (-1 + 16 * roll) * k * f, py - 19 * k * f, 1.1f * k * f,
                 vec(1.3f, 1.1f, 0.75f), 0);
    picture_glow(&scene->picture, px + 3 * k * f, py - 7.3f * k * f, 1.3f * k * f,
                 vec(0.5f, 0.36f, 0.16f), 0);
}

static void draw_gulls(Scene *scene)
{
    for (int i = 0; i < 5; i++) {
        const float n = (float)i, t = scene->seconds,
                    size = 0.010f + 0.004f * hash_unit((uint32_t)i + 3);
        const float x = 0.06f + 0.05f * n - (0.045f + 0.008f * n) * t + 0.02f * sinf(t + 2 * n);
        const float y = 0.115f + 0.022f * sinf(0.9f * t + 1.9f * n) + 0.017f * n;
        const float flap = 0.42f * sinf(7 * t + 1.3f * n), tone = 0.05f;
        const Vec3 color = vec(tone, tone, 1.1f * tone);
        stroke(scene, x - 0.22f * size, y, 0.09f * size, x + 0.25f * size, y, 0.07f * size, color);
        for (int side = -1; side <= 1; side += 2) {
            const float s = (float)side;
            const float bx = x + s * 0.5f * size, by = y + (0.28f + 0.6f * flap) * size;
            stroke(scene, x, y, 0.08f * size, bx, by, 0.06f * size, color);
            stroke(scene, bx, by, 0.06f * size, x + s * 1.1f * size,
                   y + (0.1f + 1.3f * flap) * size, 0.02f * size, color);
        }
    }
}

// Dusk film: shadows lifted a little, light held back, dark corners.
static void grade(Picture *picture)
{
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            Vec3 *c = &picture->color[(size_t)y * (size_t)picture->width + (size_t)x];
            const float dx = ((float)x - 640) / 640, dy = ((float)y - 360) / 640;
            const Vec3 v = scale(*c, 0.62f * (1 - 0.30f * (dx * dx + dy * dy)));
            const Vec3 g = vec(powf(v.x, 0.4545f), powf(v.y, 0.4545f), powf(v.z, 0.4545f));
            *c = add(scale(g, 0.72f), vec(0.045f, 0.048f, 0.055f));
        }
    }
}

static void paint(Scene *scene)
{
    fill_water(&scene->water, scene->seconds);
    fill_sky(scene);
    draw_sky(scene);
    draw_land(scene, &far_land);
    draw_lighthouse(scene);
    draw_land(scene, &near_land);
    for (int x = 0; x < scene->picture.width; x++) {
        draw_water_column(scene, x);
    }
    draw_trawler(scene);
    draw_gulls(scene);
}

bool sea_draw(Picture *picture, float seconds)
{
    Scene scene = {.focal = 2 * 1210, .center = 2 * 640, .seconds = seconds};
    scene.horizon = 2 * (352 + 1.6f * sinf(0.8f * seconds));
    scene.sway = 1.1f * seconds;
    const bool ok = picture_alloc(&scene.picture, 2 * picture->width, 2 * picture->height, false) &&
                    picture_alloc(&scene.sky, SKY_WIDTH, SKY_HEIGHT, false) &&
                    water_alloc(&scene.water);
    if (ok) {
        paint(&scene);
        picture_halve(picture, &scene.picture);
        grade(picture);
    }
    picture_free(&scene.picture);
    picture_free(&scene.sky);
    water_free(&scene.water);
    return ok;
}
