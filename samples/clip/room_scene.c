// The furniture of the dark room, and rays against it.
#include "room.h"

typedef enum Shape { BOX, EGG, CONE } Shape;
typedef enum Material { PLAIN, WOOD, BOOK, CLOTH, PAINTING, SHADE, PAPER, GLAZE } Material;

// BOX: `at` is the middle, `size` half the edges. EGG: `size` holds the radii. CONE: `at` is the
// middle of the foot, `size` foot radius, height, top radius.
typedef struct Thing {
    Shape shape;
    Material material;
    Vec3 at, size, color;
    float cos_turn, sin_turn;
} Thing;

typedef struct Group {
    int first, end;
    Vec3 lo, hi;
} Group;

enum { MAX_THINGS = 420, MAX_GROUPS = 24 };
static Thing things[MAX_THINGS];
static Group groups[MAX_GROUPS];
static int thing_count, group_count;

const Vec3 room_bulb = {-0.34f, 1.20f, 1.02f}, room_flame = {0.17f, 0.895f, 0.60f};
const Vec3 room_window_corner = {-1.72f, 0.98f, 2.2f}, room_window_size = {0.96f, 1.16f, 0};
static const Vec3 room_lo = {-2.3f, 0, -3.2f}, room_hi = {2.3f, 2.55f, 2.2f};

static void put(Shape shape, Material material, Vec3 at, Vec3 size, float turn, Vec3 color)
{
    Group *group = &groups[group_count - 1];
    things[thing_count++] = (Thing){shape, material, at, size, color, cosf(turn), sinf(turn)};
    group->end = thing_count;
    const float around = hypotf(size.x, size.z);
    Vec3 reach = turn == 0 ? size : vec(around, size.y, around);
    if (shape == CONE) {
        const float r = maxf(size.x, size.z);
        reach = vec(r, size.y, r);
    }
    group->lo = vec(minf(group->lo.x, at.x - reach.x), minf(group->lo.y, at.y - reach.y),
                    minf(group->lo.z, at.z - reach.z));
    group->hi = vec(maxf(group->hi.x, at.x + reach.x), maxf(group->hi.y, at.y + reach.y),
                    maxf(group->hi.z, at.z + reach.z));
}

static void begin_group(void)
{
    groups[group_count++] = (Group){thing_count, thing_count, {9, 9, 9}, {-9, -9, -9}};
}

// A box by its two corners.
static void slab(Material material, Vec3 lo, Vec3 hi, Vec3 color)
{
    put(BOX, material, scale(add(lo, hi), 0.5f), scale(sub(hi, lo), 0.5f), 0, color);
}

static const Vec3 oak = {0.36f, 0.22f, 0.12f}, walnut = {0.20f, 0.115f, 0.065f};
static const Vec3 white = {0.66f, 0.63f, 0.56f}, brass = {0.50f, 0.37f, 0.16f};

static void build_window(void)
{
    begin_group();
    const Vec3 c = room_window_corner, s = room_window_size;
    const float x0 = c.x, x1 = c.x + s.x, y0 = c.y, y1 = c.y + s.y;
    const float bars[2][2] = {{0.33f, 0.5f}, {0.66f, 0.5f}};
    slab(PLAIN, vec(x0 - 0.08f, y0 - 0.08f, 2.13f), vec(x0, y1 + 0.08f, 2.2f), white);
    slab(PLAIN, vec(x1, y0 - 0.08f, 2.13f), vec(x1 + 0.08f, y1 + 0.08f, 2.2f), white);
    slab(PLAIN, vec(x0, y1, 2.13f), vec(x1, y1 + 0.08f, 2.2f), white);
    slab(PLAIN, vec(x0 - 0.14f, y0 - 0.09f, 2.05f), vec(x1 + 0.14f, y0 - 0.02f, 2.2f), white);
    slab(PLAIN, vec(x0 + 0.46f, y0, 2.15f), vec(x0 + 0.50f, y1, 2.19f), white);
    for (int i = 0; i < 2; i++) {
        const float y = y0 + bars[i][0] * s.y;
        slab(PLAIN, vec(x0, y - 0.014f, 2.155f), vec(x1, y + 0.014f, 2.185f), white);
    }
    slab(CLOTH, vec(x0 - 0.30f, 0.74f, 2.03f), vec(x0 + 0.06f, 2.28f, 2.10f),
         vec(0.30f, 0.12f, 0.10f));
    slab(CLOTH, vec(x1 - 0.06f, 0.74f, 2.03f), vec(x1 + 0.28f, 2.28f, 2.10f),
         vec(0.30f, 0.12f, 0.10f));
    slab(PLAIN, vec(x0 - 0.36f, 2.28f, 2.04f), vec(x1 + 0.34f, 2.31f, 2.08f), brass);
}

static void build_sideboard(void)
{
    begin_group();
    slab(WOOD, vec(-1.98f, 0.06f, 1.74f), vec(-0.52f, 0.68f, 2.16f), walnut);
    slab(WOOD, vec(-2.02f, 0.68f, 1.70f), vec(-0.48f, 0.72f, 2.2f), oak);
    for (int i = 0; i < 3; i++) {
        const float x = -1.95f + 0.48f * (float)i;
        slab(WOOD, vec(x, 0.12f, 1.725f), vec(x + 0.44f, 0.62f, 1.745f), scale(walnut, 1.25f));
        put(EGG, PLAIN, vec(x + 0.39f, 0.38f, 1.715f), vec(0.016f, 0.016f, 0.016f), 0, brass);
    }
    put(EGG, GLAZE, vec(-1.62f, 0.925f, 1.93f), vec(0.135f, 0.135f, 0.135f), 0,
        vec(0.15f, 0.24f, 0.27f));
    put(CONE, WOOD, vec(-1.62f, 0.72f, 1.93f), vec(0.09f, 0.07f, 0.02f), 0, oak);
    put(EGG, GLAZE, vec(-0.66f, 0.83f, 1.93f), vec(0.085f, 0.11f, 0.085f), 0,
        vec(0.24f, 0.30f, 0.42f));
    put(CONE, GLAZE, vec(-0.66f, 0.91f, 1.93f), vec(0.035f, 0.10f, 0.05f), 0,
        vec(0.24f, 0.30f, 0.42f));
    put(BOX, WOOD, vec(-1.28f, 0.82f, 1.97f), vec(0.14f, 0.10f, 0.08f), 0.15f, oak);
    put(CONE, PLAIN, vec(-0.92f, 0.72f, 1.88f), vec(0.03f, 0.17f, 0.022f), 0, white);
}

static Vec3 cover_color(Random *random)
{
    static const Vec3 colors[7] = {
        {0.30f, 0.08f, 0.06f}, {0.10f, 0.15f, 0.25f}, {0.12f, 0.20f, 0.12f}, {0.40f, 0.32f, 0.20f},
        {0.23f, 0.15f, 0.09f}, {0.46f, 0.41f, 0.32f}, {0.17f, 0.10f, 0.17f}};
    return scale(colors[(int)(random_unit(random) * 7)], random_in(random, 0.7f, 1.3f));
}

static void fill_shelf(float y, Random *random)
{
    float x = 0.86f;
    while (x < 2.02f) {
        if (random_unit(random) < 0.07f) {
            x += random_in(random, 0.05f, 0.16f);
        }
        const float w = random_in(random, 0.018f, 0.05f), h = random_in(random, 0.21f, 0.32f);
        const float front = random_in(random, 1.86f, 1.92f);
        slab(BOOK, vec(x, y, front), vec(x + w, y + h, 2.14f), cover_color(random));
        x += w + 0.003f;
    }
}

static void build_shelf(void)
{
    Random random = {5};
    begin_group();
    slab(WOOD, vec(0.80f, 0, 1.84f), vec(0.845f, 2.12f, 2.19f), walnut);
    slab(WOOD, vec(2.13f, 0, 1.84f), vec(2.175f, 2.12f, 2.19f), walnut);
    slab(WOOD, vec(0.845f, 0, 2.16f), vec(2.13f, 2.12f, 2.19f), scale(walnut, 0.8f));
    for (int i = 0; i < 6; i++) {
        const float y = 0.04f + 0.405f * (float)i;
        slab(WOOD, vec(0.845f, y, 1.84f), vec(2.13f, y + 0.03f, 2.17f), walnut);
    }
    for (int i = 0; i < 5; i++) {
        begin_group();
        fill_shelf(0.07f + 0.405f * (float)i, &random);
    }
    begin_group();
    put(BOX, WOOD, vec(1.2f, 2.18f, 2.02f), vec(0.2f, 0.07f, 0.13f), 0.2f, oak);
    put(EGG, GLAZE, vec(1.75f, 2.22f, 2.0f), vec(0.11f, 0.12f, 0.11f), 0, vec(0.35f, 0.33f, 0.28f));
}

static void build_table(void)
{
    begin_group();
    slab(WOOD, vec(-0.86f, 0.72f, 0.52f), vec(0.52f, 0.76f, 1.30f), oak);
    slab(WOOD, vec(-0.80f, 0.64f, 0.58f), vec(0.46f, 0.72f, 1.24f), scale(oak, 0.85f));
    for (int i = 0; i < 4; i++) {
        const float x = i % 2 ? 0.41f : -0.75f, z = i / 2 ? 1.20f : 0.62f;
        put(CONE, WOOD, vec(x, 0, z), vec(0.025f, 0.68f, 0.04f), 0, oak);
    }
    begin_group();
    put(CONE, GLAZE, vec(-0.34f, 0.76f, 1.02f), vec(0.085f, 0.03f, 0.05f), 0, brass);
    put(EGG, GLAZE, vec(-0.34f, 0.86f, 1.02f), vec(0.05f, 0.075f, 0.05f), 0,
        vec(0.16f, 0.25f, 0.24f));
    put(CONE, GLAZE, vec(-0.34f, 0.92f, 1.02f), vec(0.012f, 0.24f, 0.010f), 0, brass);
    put(CONE, SHADE, vec(-0.34f, 1.07f, 1.02f), vec(0.175f, 0.25f, 0.105f), 0,
        vec(0.8f, 0.7f, 0.5f));
    begin_group();
    put(CONE, GLAZE, vec(-0.02f, 0.76f, 0.68f), vec(0.036f, 0.09f, 0.042f), 0,
        vec(0.55f, 0.54f, 0.50f));
    put(BOX, BOOK, vec(-0.63f, 0.785f, 0.86f), vec(0.13f, 0.024f, 0.09f), 0.3f,
        vec(0.26f, 0.08f, 0.07f));
    put(BOX, BOOK, vec(-0.62f, 0.828f, 0.87f), vec(0.115f, 0.018f, 0.08f), -0.2f,
        vec(0.10f, 0.17f, 0.24f));
    put(BOX, BOOK, vec(-0.63f, 0.862f, 0.86f), vec(0.10f, 0.015f, 0.075f), 0.5f,
        vec(0.38f, 0.32f, 0.2f));
    put(BOX, PAPER, vec(0.385f, 0.772f, 0.745f), vec(0.10f, 0.012f, 0.15f), 0.87f,
        vec(0.66f, 0.61f, 0.50f));
    put(CONE, GLAZE, vec(-0.28f, 0.76f, 0.70f), vec(0.06f, 0.05f, 0.115f), 0,
        vec(0.33f, 0.26f, 0.20f));
    const float fruit[4][3] = {{-0.31f, 0.82f, 0.69f},
                               {-0.245f, 0.82f, 0.675f},
                               {-0.275f, 0.825f, 0.74f},
                               {-0.28f, 0.865f, 0.70f}};
    for (int i = 0; i < 4; i++) {
        put(EGG, GLAZE, vec(fruit[i][0], fruit[i][1], fruit[i][2]), vec(0.038f, 0.036f, 0.038f), 0,
            i % 2 ? vec(0.55f, 0.26f, 0.05f) : vec(0.45f, 0.10f, 0.06f));
    }
    put(CONE, GLAZE, vec(0.17f, 0.76f, 0.60f), vec(0.03f, 0.012f, 0.045f), 0, brass);
    put(CONE, PLAIN, vec(0.17f, 0.77f, 0.60f), vec(0.014f, 0.095f, 0.012f), 0, white);
    put(CONE, GLAZE, vec(0.18f, 0.76f, 1.17f), vec(0.04f, 0.20f, 0.04f), 0,
        vec(0.05f, 0.09f, 0.05f));
    put(CONE, GLAZE, vec(0.18f, 0.96f, 1.17f), vec(0.04f, 0.05f, 0.014f), 0,
        vec(0.05f, 0.09f, 0.05f));
    put(CONE, GLAZE, vec(0.18f, 1.01f, 1.17f), vec(0.014f, 0.08f, 0.014f), 0,
        vec(0.05f, 0.09f, 0.05f));
}

static void build_chair(void)
{
    begin_group();
    const float turn = 0.873f;
    put(BOX, WOOD, vec(0.88f, 0.80f, 1.17f), vec(0.02f, 0.32f, 0.21f), turn, walnut);
    put(BOX, WOOD, vec(0.70f, 0.43f, 1.02f), vec(0.21f, 0.03f, 0.21f), turn, walnut);
    put(CONE, WOOD, vec(0.50f, 0, 1.08f), vec(0.02f, 0.42f, 0.022f), 0, walnut);
    put(CONE, WOOD, vec(0.76f, 0, 0.78f), vec(0.02f, 0.42f, 0.022f), 0, walnut);
    put(CONE, WOOD, vec(0.92f, 0, 1.02f), vec(0.02f, 0.42f, 0.022f), 0, walnut);
    put(EGG, CLOTH, vec(0.56f, 0.47f, 0.88f), vec(0.24f, 0.09f, 0.24f), 0,
        vec(0.10f, 0.12f, 0.18f));
    put(CONE, CLOTH, vec(0.44f, 0.06f, 0.78f), vec(0.06f, 0.42f, 0.09f), 0,
        vec(0.10f, 0.12f, 0.18f));
    put(CONE, CLOTH, vec(0.60f, 0.06f, 0.66f), vec(0.06f, 0.42f, 0.09f), 0,
        vec(0.10f, 0.12f, 0.18f));
    put(EGG, GLAZE, vec(0.40f, 0.05f, 0.72f), vec(0.12f, 0.05f, 0.07f), 0,
        vec(0.10f, 0.06f, 0.04f));
    put(EGG, GLAZE, vec(0.56f, 0.05f, 0.60f), vec(0.12f, 0.05f, 0.07f), 0,
        vec(0.10f, 0.06f, 0.04f));
}

static void build_wall_pieces(void)
{
    begin_group();
    slab(WOOD, vec(-0.36f, 1.36f, 2.16f), vec(0.52f, 2.0f, 2.2f), brass);
    slab(PAINTING, vec(-0.31f, 1.41f, 2.155f), vec(0.47f, 1.95f, 2.17f), white);
    begin_group();
    slab(WOOD, vec(-2.3f, 2.42f, 1.45f), vec(2.3f, 2.55f, 1.6f), walnut);
    slab(WOOD, vec(-2.3f, 2.42f, 0.2f), vec(2.3f, 2.55f, 0.35f), walnut);
}

static void build_cat(void)
{
    begin_group();
    const Vec3 fur = vec(0.16f, 0.12f, 0.09f);
    put(EGG, PLAIN, vec(-1.02f, 1.07f, 2.06f), vec(0.085f, 0.125f, 0.075f), 0, fur);
    put(EGG, PLAIN, vec(-1.03f, 1.16f, 2.05f), vec(0.06f, 0.09f, 0.06f), 0, fur);
    put(EGG, PLAIN, vec(-1.045f, 1.27f, 2.04f), vec(0.06f, 0.052f, 0.055f), 0, fur);
    put(CONE, PLAIN, vec(-1.082f, 1.30f, 2.04f), vec(0.024f, 0.055f, 0.002f), 0, fur);
    put(CONE, PLAIN, vec(-1.010f, 1.30f, 2.04f), vec(0.024f, 0.055f, 0.002f), 0, fur);
    put(EGG, PLAIN, vec(-0.91f, 0.985f, 2.03f), vec(0.11f, 0.022f, 0.025f), 0, fur);
}

void room_build(void)
{
    thing_count = group_count = 0;
    build_window();
    build_sideboard();
    build_shelf();
    build_table();
    build_chair();
    build_wall_pieces();
    build_cat();
}

static bool cross_box(Vec3 from, Vec3 inverse, Vec3 lo, Vec3 hi, float *enter, float *leave)
{
    const Vec3 a = mul(sub(lo, from), inverse), b = mul(sub(hi, from), inverse);
    *enter = maxf(maxf(minf(a.x, b.x), minf(a.y, b.y)), minf(a.z, b.z));
    *leave = minf(minf(maxf(a.x, b.x), maxf(a.y, b.y)), maxf(a.z, b.z));
    return *enter <= *leave && *leave > 0;
}

static Vec3 inverse_of(Vec3 v)
{
    const float tiny = 1e-8f;
    return vec(1 / (fabsf(v.x) < tiny ? tiny : v.x), 1 / (fabsf(v.y) < tiny ? tiny : v.y),
               1 / (fabsf(v.z) < tiny ? tiny : v.z));
}

// Each of these gives the distance along the ray and the normal, both in the thing's own frame.
static float meet_box(Vec3 from, Vec3 along, Vec3 half, Vec3 *normal)
{
    float enter, leave;
    const Vec3 inverse = inverse_of(along);
    if (!cross_box(from, inverse, scale(half, -1), half, &enter, &leave) || enter <= 0) {
        return -1;
    }
    const Vec3 p = add(from, scale(along, enter));
    const Vec3 q = vec(fabsf(p.x) / half.x, fabsf(p.y) / half.y, fabsf(p.z) / half.z);
    *normal = q.x > q.y && q.x > q.z ? vec(copysignf(1, p.x), 0, 0)
              : q.y > q.z            ? vec(0, copysignf(1, p.y), 0)
                                     : vec(0, 0, copysignf(1, p.z));
    return enter;
}

static float meet_egg(Vec3 from, Vec3 along, Vec3 radii, Vec3 *normal)
{
    const Vec3 k = inverse_of(radii), o = mul(from, k), d = mul(along, k);
    const float a = dot(d, d), b = dot(o, d), c = dot(o, o) - 1, root = b * b - a * c;
    if (root < 0) {
        return -1;
    }
    const float t = (-b - sqrtf(root)) / a;
    *normal = normalize(mul(add(o, scale(d, t)), k));
    return t;
}

static float meet_cone(Vec3 from, Vec3 along, const Thing *cone, Vec3 *normal)
{
    const float height = cone->size.y, slope = (cone->size.z - cone->size.x) / height;
    const float ro = cone->size.x + slope * from.y, rd = slope * along.y;
    const float a = along.x * along.x + along.z * along.z - rd * rd;
    const float b = from.x * along.x + from.z * along.z - ro * rd;
    const float c = from.x * from.x + from.z * from.z - ro * ro, root = b * b - a * c;
    float best = -1;
    if (root >= 0) {
        for (int side = -1; side <= 1; side += 2) {
            const float t = (-b + (float)side * sqrtf(root)) / a, y = from.y + t * along.y;
            if (t > 1e-4f && y >= 0 && y <= height && (best < 0 || t < best)) {
                const Vec3 p = add(from, scale(along, t));
                best = t;
                *normal = normalize(vec(p.x, -slope * (cone->size.x + slope * y), p.z));
            }
        }
    }
    const float t = (height - from.y) / along.y, x = from.x + t * along.x, z = from.z + t * along.z;
    const bool lid = cone->material != SHADE && along.y < 0 && t > 1e-4f;
    if (lid && x * x + z * z < cone->size.z * cone->size.z && (best < 0 || t < best)) {
        best = t;
        *normal = vec(0, 1, 0);
    }
    if (best > 0 && dot(*normal, along) > 0) {
        *normal = scale(*normal, -1);
    }
    return best;
}

static float meet(const Thing *thing, Ray ray, Vec3 *normal)
{
    const float c = thing->cos_turn, s = thing->sin_turn;
    const Vec3 offset = sub(ray.from, thing->at);
    const Vec3 from = rotate_y(offset, c, -s), along = rotate_y(ray.along, c, -s);
    float t = -1;
    if (thing->shape == BOX) {
        t = meet_box(from, along, thing->size, normal);
    } else if (thing->shape == EGG) {
        t = meet_egg(from, along, thing->size, normal);
    } else {
        t = meet_cone(from, along, thing, normal);
    }
    *normal = rotate_y(*normal, c, s);
    return t;
}

static Vec3 wood_color(Vec3 color, Vec3 p, Vec3 size)
{
    const bool upright = size.y > size.x && size.y > size.z;
    const bool deep = size.z > size.x;
    const float u = upright ? p.y : deep ? p.z : p.x;
    const float v = upright ? p.x + p.z : deep ? p.x + p.y : p.z + p.y;
    const float rings = fbm2(u * 2.5f + 7, v * 38 + 2 * fbm2(u * 3, v * 6, 3), 4);
    const float pores = noise2(u * 30, v * 420);
    return scale(color, 0.55f + 0.75f * rings + 0.22f * (pores - 0.5f));
}

static Vec3 painting_color(Vec3 p)
{
    const float x = p.x * 2.2f, y = (p.y - 1.41f) / 0.54f;
    const float brush = 0.8f + 0.4f * fbm2(p.x * 90, p.y * 40, 3);
    const float clouds = fbm2(x * 3 + 4, y * 6, 5);
    Vec3 color =
        mix(vec(0.52f, 0.46f, 0.33f), vec(0.25f, 0.34f, 0.42f), y + 0.5f * (clouds - 0.5f));
    const float hills = 0.42f + 0.25f * (fbm2(x * 2 + 1, 3, 4) - 0.3f);
    color = y < hills ? vec(0.16f, 0.21f, 0.20f) : color;
    color = y < 0.40f
                ? mix(vec(0.24f, 0.28f, 0.26f), vec(0.44f, 0.42f, 0.34f), noise2(x * 2, y * 40))
                : color;
    const float bank = 0.17f + 0.12f * fbm2(x * 4 + 9, 1, 4);
    color = y < bank ? vec(0.13f, 0.12f, 0.06f) : color;
    const float tree =
        hypotf((x - 0.62f) / 0.22f, (y - 0.52f) / 0.30f) + 0.7f * (fbm2(x * 14, y * 14, 3) - 0.5f);
    color = tree < 0.8f ? vec(0.12f, 0.14f, 0.05f) : color;
    return scale(color, brush);
}

static Vec3 book_color(const Thing *book, Vec3 p)
{
    const float v = (p.y - book->at.y) / book->size.y;
    const bool gilt =
        book->size.y > 0.08f && (fabsf(fabsf(v) - 0.72f) < 0.03f ||
                                 (fabsf(v - 0.3f) < 0.12f && noise2(p.x * 900, p.y * 300) > 0.5f));
    const float wear = 0.75f + 0.5f * fbm2(p.x * 60 + p.z * 50, p.y * 30, 3);
    return gilt ? vec(0.46f, 0.35f, 0.16f) : scale(book->color, wear);
}

static void dress(const Thing *thing, Hit *hit)
{
    const Vec3 p = hit->point;
    const float grain = fbm3(p.x * 70, p.y * 70, p.z * 70, 3);
    hit->albedo = scale(thing->color, 0.85f + 0.3f * grain);
    switch (thing->material) {
    case WOOD: hit->albedo = wood_color(thing->color, p, thing->size); break;
    case BOOK: hit->albedo = book_color(thing, p); break;
    case PAINTING: hit->albedo = painting_color(p); break;
    case PAPER: {
        const Vec3 q = rotate_y(sub(p, thing->at), thing->cos_turn, -thing->sin_turn);
        const bool text = fabsf(q.z) > 0.015f && fabsf(q.z) < 0.13f && fabsf(q.x) < 0.085f &&
                          sinf(q.x * 700) > 0.2f && noise2(q.z * 300, q.x * 111.4f) > 0.35f;
        hit->albedo = scale(thing->color, text ? 0.6f : fabsf(q.z) < 0.004f ? 0.5f : 1);
        break;
    }
    case CLOTH: {
        const float fold = sinf(p.x * 75 + 3 * noise2(p.x * 9, p.y * 1.5f));
        if (thing->shape == BOX) {
            hit->normal = normalize(add(hit->normal, vec(0.8f * fold, 0, 0)));
        }
        hit->albedo = scale(thing->color, 0.6f + 0.8f * noise2(p.x * 300 + p.z * 200, p.y * 240));
        break;
    }
    case GLAZE: hit->gloss = 0.35f; break;
    case SHADE: hit->shade = true; break;
    case PLAIN: break;
    }
}

static Vec3 wall_color(float u, float y)
{
    const float stain = fbm2(u * 1.4f, y * 1.1f + 20, 5);
    if (y < 0.86f) {
        const float board = u / 0.16f - floorf(u / 0.16f);
        const float gap = board < 0.06f || (y > 0.80f && y < 0.82f) ? 0.45f : 1;
        return scale(wood_color(vec(0.30f, 0.25f, 0.18f), vec(u, y, 0), vec(0, 1, 0)), gap);
    }
    const float column = u / 0.24f, row = y / 0.30f + 0.5f * (float)(floor_int(column) & 1);
    const float cx = column - floorf(column) - 0.5f, cy = row - floorf(row) - 0.5f;
    const float petal = sqrtf(cx * cx * 2.2f + cy * cy) + 0.06f * cosf(6 * atan2f(cy, cx));
    const float motif = smoothstep(0.27f, 0.23f, petal) - smoothstep(0.15f, 0.11f, petal);
    const Vec3 paper = mix(vec(0.36f, 0.33f, 0.24f), vec(0.25f, 0.26f, 0.20f), motif);
    return scale(paper, 0.72f + 0.56f * stain);
}

static Vec3 floor_color(Vec3 p)
{
    const float rx = (p.x + 0.25f) / 1.55f, rz = (p.z - 0.55f) / 1.05f,
                r = sqrtf(rx * rx + rz * rz);
    const float thread = 0.8f + 0.4f * noise2(p.x * 180, p.z * 60);
    if (r < 1) {
        const float ring = smoothstep(0.06f, 0.03f, fabsf(r - 0.88f)) +
                           smoothstep(0.03f, 0.015f, fabsf(r - 0.72f));
        const float angle = atan2f(rz, rx), flower = sinf(10 * angle) * sinf(14 * r);
        const Vec3 ground =
            mix(vec(0.27f, 0.08f, 0.07f), vec(0.12f, 0.13f, 0.20f), smoothstep(0, 0.3f, flower));
        return scale(mix(ground, vec(0.45f, 0.37f, 0.22f), clampf(ring, 0, 1)), thread);
    }
    const float plank = p.x / 0.14f;
    const float gap = plank - floorf(plank) < 0.03f ? 0.4f : 1;
    const float shift = 3 * hash_unit((uint32_t)(floor_int(plank) + 100));
    return scale(
        wood_color(scale(oak, 0.75f + 0.1f * shift), vec(p.x, 0, p.z + shift), vec(0, 0, 1)), gap);
}

static void meet_walls(Ray ray, Hit *hit)
{
    float enter, leave;
    cross_box(ray.from, inverse_of(ray.along), room_lo, room_hi, &enter, &leave);
    const Vec3 p = add(ray.from, scale(ray.along, leave));
    const float close = 1e-3f;
    *hit = (Hit){.distance = leave, .point = p};
    if (p.y < room_lo.y + close) {
        hit->normal = vec(0, 1, 0);
        hit->albedo = floor_color(p);
        hit->gloss = 0.05f;
    } else if (p.y > room_hi.y - close) {
        hit->normal = vec(0, -1, 0);
        hit->albedo = scale(vec(0.55f, 0.52f, 0.46f), 0.8f + 0.4f * fbm2(p.x * 3, p.z * 3, 5));
    } else if (fabsf(p.x) > room_hi.x - close) {
        hit->normal = vec(-copysignf(1, p.x), 0, 0);
        hit->albedo = wall_color(p.z, p.y);
    } else {
        hit->normal = vec(0, 0, p.z > 0 ? -1.f : 1.f);
        hit->albedo = wall_color(p.x, p.y);
        const float u = p.x - room_window_corner.x, v = p.y - room_window_corner.y;
        hit->window = p.z > 0 && u > 0 && v > 0 && u < room_window_size.x && v < room_window_size.y;
    }
}

void room_trace(Ray ray, Hit *hit)
{
    meet_walls(ray, hit);
    const Vec3 inverse = inverse_of(ray.along);
    const Thing *nearest = NULL;
    for (int g = 0; g < group_count; g++) {
        float enter, leave;
        if (!cross_box(ray.from, inverse, groups[g].lo, groups[g].hi, &enter, &leave) ||
            enter > hit->distance) {
            continue;
        }
        for (int i = groups[g].first; i < groups[g].end; i++) {
            Vec3 normal = {0};
            const float t = meet(&things[i], ray, &normal);
            if (t > 1e-4f && t < hit->distance) {
                *hit = (Hit){
                    .distance = t, .point = add(ray.from, scale(ray.along, t)), .normal = normal};
                nearest = &things[i];
            }
        }
    }
    if (figure_trace(ray, hit->distance, hit)) {
        nearest = NULL;
    } else if (nearest) {
        dress(nearest, hit);
    }
}

float room_visible(Vec3 from, Vec3 to)
{
    const Vec3 way = sub(to, from);
    const float limit = length(way) - 2e-3f;
    const Ray ray = {from, scale(way, 1 / length(way))};
    const Vec3 inverse = inverse_of(ray.along);
    float light = 1;
    for (int g = 0; g < group_count; g++) {
        float enter, leave;
        if (!cross_box(from, inverse, groups[g].lo, groups[g].hi, &enter, &leave) ||
            enter > limit) {
            continue;
        }
        for (int i = groups[g].first; i < groups[g].end; i++) {
            Vec3 normal;
            const float t = meet(&things[i], ray, &normal);
            if (t > 1e-3f && t < limit) {
                if (things[i].material != SHADE) {
                    return 0;
                }
                light *= 0.8f;
            }
        }
    }
    return figure_blocks(ray, limit) ? 0 : light;
}
