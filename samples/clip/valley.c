// The fog scene: terrain drawn column by column, trees as flat pictures, a lake that mirrors both.
#include "valley.h"

#include <stdlib.h>

#include "scenes.h"
#include "terrain.h"
#include "trees.h"

static const float view_end = 1150;
// The mirror image leaves out what stands on the near bank.
static const float lake_start = 36, far_bank = 75;

typedef struct Plant {
    float x, z, ground, width, height;
    const Tree *tree;
    Vec3 color;
} Plant;

enum { MAX_PLANTS = 24000 };
static Plant *plants;
static int plant_count;

Spot view_project(const View *view, Vec3 point)
{
    const Vec3 d = sub(point, view->eye);
    const float k = view->focal / d.z;
    return (Spot){view->center + k * d.x, view->horizon - k * d.y, d.z};
}

// Optical depth between the eye and a point: thickest on the lake, thinner with height, in
// drifting banks.
static float fog_depth(const View *view, Vec3 p)
{
    const float ground = 1.0f / 175, fall = 34;
    const Vec3 d = sub(p, view->eye);
    const float y0 = fabsf(view->eye.y), y1 = maxf(0, p.y), rise = y1 - y0;
    const float e0 = expf(-y0 / fall), e1 = expf(-y1 / fall);
    const float mean = fabsf(rise) < 0.5f ? e0 : fall * (e0 - e1) / rise;
    const float drift = 5 * view->seconds;
    const float banks = fbm2((p.x - drift) / 85, p.z / 130 + y1 / 40, 3);
    const float way = length(d);
    return ground * way * (0.25f * smoothstep(0, 300, way) * e0 + mean * (0.3f + 1.4f * banks));
}

Vec3 view_haze(const View *view, float x, float y)
{
    const float sx = (x - view->center) / view->focal - 0.17f;
    const float height = (view->horizon - y) / view->focal;
    const float sy = height - 0.235f;
    const float away = sx * sx + 1.3f * sy * sy;
    const Vec3 air = mix(vec(0.49f, 0.535f, 0.575f), vec(0.60f, 0.645f, 0.68f),
                         smoothstep(-0.02f, 0.3f, height));
    const Vec3 warm = scale(vec(1.0f, 0.86f, 0.66f), 0.30f / (1 + 22 * away));
    return add(air, warm);
}

Vec3 view_fog(const View *view, Vec3 color, Vec3 point)
{
    const Spot spot = view_project(view, point);
    const float through = expf(-fog_depth(view, point));
    return mix(view_haze(view, spot.x, spot.y), color, through);
}

// Fills what the terrain left open.
static void draw_sky(const View *view)
{
    const Picture *picture = &view->picture;
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            const size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            if (picture->depth[i] > 0) {
                continue;
            }
            const float sx = ((float)x - view->center) / view->focal;
            const float sy = (view->horizon - (float)y) / view->focal;
            const float veil = fbm2(sx * 5 - 0.03f * view->seconds + 3, sy * 11, 5);
            const float ax = sx - 0.17f, ay = sy - 0.235f;
            const float disc = smoothstep(0.0285f, 0.0255f, sqrtf(ax * ax + ay * ay));
            Vec3 color = view_haze(view, (float)x, (float)y);
            color = scale(color, 0.90f + 0.22f * veil);
            color = add(color, scale(vec(0.30f, 0.27f, 0.22f), disc * (1.25f - veil)));
            picture->color[i] = color;
            picture->depth[i] = 1e9f;
        }
    }
}

// Fine grain of the ground, fading where it would be smaller than a pixel.
static float ground_detail(float x, float z, float distance)
{
    float detail = 1, size = 1.7f;
    for (int i = 0; i < 6 && size > 0.004f * distance; i++, size *= 0.45f) {
        const float fade = clampf(size / (0.004f * distance) - 1, 0, 1);
        detail += 0.30f * fade * (noise2(x / size + 7 * (float)i, z / (1.6f * size)) - 0.5f);
    }
    return detail;
}

static Vec3 shade_ground(const View *view, Vec3 p)
{
    const float distance = p.z - view->eye.z;
    const Vec3 color = scale(terrain_color(p.x, p.z), ground_detail(p.x, p.z, distance));
    return view_fog(view, color, p);
}

// Walks away from the eye along one column and paints each row that rises above those before.
static void draw_column(const View *view, int column)
{
    const Picture *picture = &view->picture;
    const float dx = ((float)column + 0.5f - view->center) / view->focal;
    const bool mirror = view->eye.y < 0;
    const float bottom = mirror ? view->horizon : (float)picture->height;
    int top = (int)minf((float)picture->height, bottom + 2);
    float before = mirror ? lake_start : 3, height_before = 0;
    const float pace = mirror ? 0.006f : 0.003f;
    bool over_water = false;
    for (float z = before; z < view_end && top > 0; z += maxf(0.05f, pace * z)) {
        const float h = maxf(0, terrain_height(view->eye.x + dx * z, view->eye.z + z));
        const float y = view->horizon - view->focal * (h - view->eye.y) / z;
        over_water |= h <= 0;
        if ((mirror && (h <= 0 || !over_water)) || y >= (float)top - 0.5f) {
            before = z;
            height_before = h;
            continue;
        }
        const int first = (int)maxf(0, ceilf(y - 0.5f));
        const float y_before = view->horizon - view->focal * (height_before - view->eye.y) / before;
        for (int row = top - 1; row >= first; row--) {
            const float t = clampf(((float)row + 0.5f - y) / (y_before - y + 1e-4f), 0, 1);
            const float at = mixf(z, before, t);
            const Vec3 p = vec(view->eye.x + dx * at, mixf(h, height_before, t), view->eye.z + at);
            const size_t i = (size_t)row * (size_t)picture->width + (size_t)column;
            picture->depth[i] = at;
            picture->color[i] = p.y > 0 || mirror ? shade_ground(view, p) : vec(-1, 0, 0);
        }
        top = first;
        before = z;
        height_before = h;
    }
}

static const TreeImage *level_for(const Plant *plant, float pixels)
{
    int level = 0;
    while (level + 1 < TREE_LEVELS && (float)plant->tree->level[level + 1].height >= pixels) {
        level++;
    }
    return &plant->tree->level[level];
}

static void draw_plant(const View *view, const Plant *plant)
{
    const Vec3 root = vec(plant->x, plant->ground, plant->z);
    const Spot foot = view_project(view, root);
    if (foot.distance < 1.5f || (view->eye.y < 0 && foot.distance < far_bank)) {
        return;
    }
    const Picture *picture = &view->picture;
    const float k = view->focal / foot.distance, w = k * plant->width, h = k * plant->height;
    const int left = (int)maxf(0, foot.x - 0.5f * w), top = (int)maxf(0, foot.y - h);
    const int right = (int)minf((float)picture->width, foot.x + 0.5f * w + 1);
    const int bottom = (int)minf((float)picture->height, foot.y + 1);
    if (left >= right || top >= bottom) {
        return;
    }
    const TreeImage *image = level_for(plant, h);
    const Vec3 crown = add(root, vec(0, plant->height, 0));
    const Vec3 dark_low = view_fog(view, vec(0, 0, 0), root);
    const Vec3 dark_high = view_fog(view, vec(0, 0, 0), crown);
    const Vec3 lit_low = sub(view_fog(view, plant->color, root), dark_low);
    const Vec3 lit_high = sub(view_fog(view, plant->color, crown), dark_high);
    const float faint = 0.012f * plant->color.y;
    if (lit_low.y < faint && lit_high.y < faint) {
        return;
    }
    for (int y = top; y < bottom; y++) {
        const float v = ((float)y + 0.5f - (foot.y - h)) / h;
        const Vec3 dark = mix(dark_high, dark_low, v), lit = mix(lit_high, lit_low, v);
        for (int x = left; x < right; x++) {
            const size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            if (v >= 1 || picture->depth[i] < foot.distance - 2) {
                continue;
            }
            const TreeTexel texel = tree_sample(image, ((float)x + 0.5f - foot.x) / w + 0.5f, v);
            if (texel.cover > 0.004f) {
                const Vec3 color = add(dark, scale(lit, texel.light));
                picture->depth[i] = texel.cover > 0.5f ? foot.distance : picture->depth[i];
                picture->color[i] = mix(picture->color[i], color, texel.cover);
            }
        }
    }
}

// Plants stand in falling order of z: what people built goes between the far and the near ones.
static void draw_plants(const View *view)
{
    const float near = 66;
    int i = 0;
    for (; i < plant_count && plants[i].z > near; i++) {
        draw_plant(view, &plants[i]);
    }
    things_draw(view);
    for (; i < plant_count; i++) {
        draw_plant(view, &plants[i]);
    }
}

static void draw_water(const View *view, const Picture *mirror)
{
    const Picture *picture = &view->picture;
    const float shrink = (float)mirror->width / (float)picture->width;
    for (int y = (int)view->horizon; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            const size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            if (picture->color[i].x >= 0) {
                continue;
            }
            const float z = picture->depth[i];
            const float wx = view->eye.x + ((float)x - view->center) / view->focal * z;
            const float wz = view->eye.z + z, t = view->seconds;
            const float calm = smoothstep(0.35f, 0.65f, fbm2(wx / 30 + 5, wz / 55 - 0.05f * t, 3));
            const float swell = fbm3(wx / 1.9f, wz / 0.9f - 0.5f * t, 0.9f * t, 4) - 0.5f;
            const float slope = swell * mixf(0.035f, 0.11f, calm);
            const float row = 2 * view->horizon - (float)y - fabsf(slope) * view->focal * 0.5f;
            const float column = (float)x + slope * view->focal * 0.25f;
            const Vec3 image = picture_sample(mirror, column * shrink, row * shrink);
            const float steep = view->eye.y / z;
            const float bright = clampf(0.93f - 2.2f * steep + 3.2f * slope, 0.2f, 1);
            const Vec3 deep = view_fog(view, vec(0.035f, 0.05f, 0.05f), vec(wx, 0, wz));
            picture->color[i] = mix(deep, image, bright);
        }
    }
}

static int farther_first(const void *a, const void *b)
{
    const float za = ((const Plant *)a)->z, zb = ((const Plant *)b)->z;
    return (za < zb) - (za > zb);
}

static void plant_one(TreeGroup group, float x, float z, float height, Random *random)
{
    static const Vec3 tints[3] = {
        {0.105f, 0.135f, 0.085f}, {0.25f, 0.18f, 0.075f}, {0.30f, 0.27f, 0.12f}};
    if (plant_count == MAX_PLANTS) {
        return;
    }
    const Tree *tree = tree_of(group, (unsigned)(random_unit(random) * 4));
    const float width = height * (float)tree->level[0].width / (float)tree->level[0].height;
    const float shade = random_in(random, 0.75f, 1.25f);
    const float dry = random_in(random, 0.8f, 1.2f);
    const Vec3 tint = mul(tints[group], vec(dry, 1, 1));
    plants[plant_count++] = (Plant){
        x, z, terrain_height(x, z) - 0.02f * height, width, height, tree, scale(tint, shade)};
}

static bool free_land(float x, float z, float margin)
{
    return terrain_height(x, z) > 0.7f && fabsf(x - road_x(z)) > margin && !things_occupy(x, z);
}

static void plant_forest(Random *random)
{
    const int tries = 24000;
    for (int i = 0; i < tries; i++) {
        const float z = 75 + 1000 * powf(random_unit(random), 1.35f);
        const float x = random_in(random, -1, 1) * (0.58f * z + 25);
        const float dense = fbm2(x / 60 + 21, z / 60, 4) + 0.14f * smoothstep(200, 420, z) -
                            0.12f * smoothstep(150, 90, z);
        if (free_land(x, z, 6) && dense > random_in(random, 0.47f, 0.62f)) {
            const bool conifer = fbm2(x / 45, z / 45 + 60, 3) > random_in(random, 0.38f, 0.55f);
            plant_one(conifer ? TREE_CONIFER : TREE_BROADLEAF, x, z,
                      random_in(random, 8, conifer ? 19 : 13), random);
        }
    }
}

static void plant_grass(Random *random)
{
    const int tries = 9000;
    for (int i = 0; i < tries; i++) {
        const float z = 5 + 85 * powf(random_unit(random), 1.6f);
        const float x = random_in(random, -1, 1) * (0.58f * z + 12);
        const float h = terrain_height(x, z);
        const float patch = fbm2(x / 5, z / 5 + 90, 4);
        if (h > 0.1f && fabsf(x - road_x(z)) > 2.3f && patch > random_in(random, 0.35f, 0.6f)) {
            const float reeds = smoothstep(1.2f, 0.3f, h);
            const float height = random_in(random, 0.25f, 0.7f) + 1.3f * reeds;
            plant_one(TREE_GRASS, x, z, height, random);
        }
    }
}

static void plant_near(Random *random)
{
    static const struct {
        TreeGroup group;
        float x, z, height;
    } near[] = {
        {TREE_BROADLEAF, -13.5f, 27, 12.5f}, {TREE_BROADLEAF, -24, 41, 10},
        {TREE_CONIFER, 33, 52, 15},          {TREE_CONIFER, 37, 57, 12},
        {TREE_CONIFER, 30, 61, 9},           {TREE_CONIFER, 41, 66, 17},
        {TREE_BROADLEAF, 21, 36, 6},         {TREE_CONIFER, -40, 58, 13},
        {TREE_CONIFER, -37, 55, 8},          {TREE_BROADLEAF, 3, 57, 4.5f},
    };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        plant_one(near[i].group, near[i].x, near[i].z, near[i].height, random);
    }
}

bool valley_prepare(int threads)
{
    plants = malloc(sizeof *plants * MAX_PLANTS);
    if (!plants || !terrain_prepare(threads) || !trees_prepare()) {
        return false;
    }
    things_prepare();
    Random random = {4711};
    plant_count = 0;
    plant_near(&random);
    plant_grass(&random);
    plant_forest(&random);
    qsort(plants, (size_t)plant_count, sizeof *plants, farther_first);
    return true;
}

void valley_release(void)
{
    free(plants);
    plants = NULL;
    trees_release();
    terrain_release();
}

static void draw_view(const View *view)
{
    for (int x = 0; x < view->picture.width; x++) {
        draw_column(view, x);
    }
    draw_sky(view);
}

static bool draw_mirror(Picture *mirror, const View *view)
{
    if (!picture_alloc(mirror, view->picture.width / 2, view->picture.height / 2, true)) {
        return false;
    }
    View below = *view;
    below.picture = *mirror;
    below.focal *= 0.5f;
    below.center *= 0.5f;
    below.horizon *= 0.5f;
    below.eye.y = -view->eye.y;
    draw_view(&below);
    houses_draw(&below);
    draw_plants(&below);
    return true;
}

// A hazy lens: little contrast, a faint cool tint, darker corners.
static void grade(Picture *picture)
{
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            Vec3 *c = &picture->color[(size_t)y * (size_t)picture->width + (size_t)x];
            const float dx = ((float)x - 640) / 640, dy = ((float)y - 360) / 640;
            const float corner = 1 - 0.10f * (dx * dx + dy * dy);
            const Vec3 v = vec(powf(maxf(0, c->x), 0.4545f), powf(maxf(0, c->y), 0.4545f),
                               powf(maxf(0, c->z), 0.4545f));
            *c = scale(add(scale(v, 0.56f), vec(0.225f, 0.233f, 0.236f)), corner);
        }
    }
}

bool valley_draw(Picture *picture, float seconds)
{
    View view = {.focal = 2 * 1180, .center = 2 * 600, .horizon = 2 * 318, .seconds = seconds};
    view.eye = vec(-4.5f + 2.3f * seconds, 11.5f, 1.2f * seconds);
    Picture mirror = {0};
    bool ok = picture_alloc(&view.picture, 2 * picture->width, 2 * picture->height, true);
    ok = ok && draw_mirror(&mirror, &view);
    if (ok) {
        draw_view(&view);
        draw_water(&view, &mirror);
        houses_draw(&view);
        draw_plants(&view);
        picture_halve(picture, &view.picture);
        grade(picture);
    }
    picture_free(&view.picture);
    picture_free(&mirror);
    return ok;
}
