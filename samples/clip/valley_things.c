// What people built in the valley, and what moves there.
#include "terrain.h"
#include "valley.h"

// A convex body: the points p with dot(normal, p) <= reach for each face.
enum { MAX_FACES = 8, MAX_SOLIDS = 40 };
typedef enum Surface { WALL, ROOF, STONE } Surface;
typedef struct Face {
    Vec3 normal;
    float reach;
} Face;
typedef struct Solid {
    Vec3 origin;
    float cos_turn, sin_turn, radius;
    Surface surface;
    Vec3 color;
    int faces;
    Face face[MAX_FACES];
} Solid;

static Solid solids[MAX_SOLIDS];
static int solid_count;

static const struct House {
    float x, z, turn, width, length, wall, roof;
    Vec3 color;
} houses[] = {
    {50, 168, 0.5f, 4.2f, 6.5f, 4.0f, 3.6f, {0.62f, 0.58f, 0.50f}},
    {84, 178, -0.4f, 4.5f, 7.0f, 4.4f, 4.0f, {0.45f, 0.24f, 0.17f}},
    {57, 205, 1.1f, 4.0f, 8.0f, 3.6f, 3.8f, {0.55f, 0.50f, 0.42f}},
    {94, 215, 0.2f, 5.0f, 9.0f, 4.6f, 4.2f, {0.60f, 0.57f, 0.52f}},
    {76, 238, 0.9f, 4.4f, 7.0f, 4.0f, 4.0f, {0.5f, 0.35f, 0.25f}},
    {-98, 268, 0.7f, 4.5f, 8.0f, 4.2f, 4.2f, {0.56f, 0.52f, 0.46f}},
    {-64, 283, -0.3f, 4.0f, 6.0f, 3.8f, 3.8f, {0.42f, 0.22f, 0.16f}},
    {20, 72, 0.25f, 2.1f, 2.8f, 2.3f, 1.6f, {0.22f, 0.17f, 0.12f}},
};
enum { HOUSES = sizeof houses / sizeof *houses };
static const struct House church = {72, 196, 0.35f, 4.2f, 9, 6.5f, 5.5f, {0.36f, 0.33f, 0.29f}};

bool things_occupy(float x, float z)
{
    for (int i = 0; i < HOUSES; i++) {
        if (hypotf(x - houses[i].x, z - houses[i].z) < houses[i].length + 3) {
            return true;
        }
    }
    return hypotf(x - church.x, z - church.z) < 18;
}

static Solid *new_solid(const struct House *at, Vec3 offset, float radius, Surface surface)
{
    Solid *s = &solids[solid_count++];
    const float c = cosf(at->turn), sn = sinf(at->turn);
    const float ground = maxf(0.5f, terrain_height(at->x, at->z));
    *s = (Solid){.origin = add(vec(at->x, ground, at->z), rotate_y(offset, c, sn)),
                 .cos_turn = c,
                 .sin_turn = sn,
                 .radius = radius,
                 .surface = surface,
                 .color = at->color};
    return s;
}

static void add_face(Solid *s, float x, float y, float z, float reach)
{
    const Vec3 n = vec(x, y, z);
    s->face[s->faces++] = (Face){scale(n, 1 / length(n)), reach / length(n)};
}

static void add_sides(Solid *s, float half_x, float half_z, float bottom)
{
    add_face(s, 1, 0, 0, half_x);
    add_face(s, -1, 0, 0, half_x);
    add_face(s, 0, 0, 1, half_z);
    add_face(s, 0, 0, -1, half_z);
    add_face(s, 0, -1, 0, -bottom);
}

static void build_house(const struct House *h)
{
    const float w = h->width, l = h->length, eave = 0.45f;
    Solid *body = new_solid(h, vec(0, 0, 0), l + h->wall + h->roof, WALL);
    add_sides(body, w, l, -2);
    add_face(body, h->roof, w, 0, w * (h->wall + h->roof) - 0.3f * w);
    add_face(body, -h->roof, w, 0, w * (h->wall + h->roof) - 0.3f * w);
    Solid *roof = new_solid(h, vec(0, 0, 0), l + h->wall + h->roof, ROOF);
    roof->color = mix(vec(0.13f, 0.085f, 0.07f), h->color, 0.12f);
    add_sides(roof, w + eave, l + eave, h->wall - 0.4f);
    add_face(roof, h->roof, w, 0, w * (h->wall + h->roof));
    add_face(roof, -h->roof, w, 0, w * (h->wall + h->roof));
    Solid *chimney = new_solid(h, vec(0.3f * w, 0, 0.4f * l), h->wall + h->roof + 2, STONE);
    chimney->color = vec(0.26f, 0.16f, 0.12f);
    add_sides(chimney, 0.45f, 0.5f, h->wall);
    add_face(chimney, 0, 1, 0, h->wall + h->roof + 0.7f);
}

static void build_church(void)
{
    build_house(&church);
    Solid *tower = new_solid(&church, vec(0, 0, -11), 20, STONE);
    add_sides(tower, 2.6f, 2.6f, -2);
    add_face(tower, 0, 1, 0, 17);
    Solid *spire = new_solid(&church, vec(0, 0, -11), 40, ROOF);
    spire->color = vec(0.10f, 0.115f, 0.11f);
    add_face(spire, 0, -1, 0, -17);
    const float top = 33, half = 2.9f;
    for (int i = 0; i < 4; i++) {
        const float a = 1.5708f * (float)i;
        add_face(spire, (top - 17) * cosf(a), half, (top - 17) * sinf(a), half * top);
    }
}

void things_prepare(void)
{
    solid_count = 0;
    for (int i = 0; i < HOUSES; i++) {
        build_house(&houses[i]);
    }
    build_church();
}

typedef struct Entry {
    float distance;
    int face;
} Entry;

// Where a ray enters the body: the last of the planes it crosses from outside.
static Entry enter_solid(const Solid *s, Vec3 from, Vec3 along)
{
    Entry entry = {0, -1};
    float leave = 1e9f;
    for (int i = 0; i < s->faces; i++) {
        const float speed = dot(s->face[i].normal, along);
        const float gap = s->face[i].reach - dot(s->face[i].normal, from);
        const float t = gap / (speed == 0 ? 1e-9f : speed);
        if (speed < 0 && t > entry.distance) {
            entry = (Entry){t, i};
        } else if (speed > 0) {
            leave = minf(leave, t);
        } else if (speed == 0 && gap < 0) {
            leave = -1;
        }
    }
    return entry.distance < leave ? entry : (Entry){0, -1};
}

static bool in_window(float along, float up, float half)
{
    const float u = along - 2.3f * floorf(along / 2.3f) - 1.15f;
    return fabsf(u) < 0.42f && fabsf(along) < half - 0.5f &&
           ((up > 0.9f && up < 2.3f) || (up > 3.3f && up < 4.2f));
}

static Vec3 solid_color(const Solid *s, Vec3 p, Vec3 normal)
{
    const Vec3 sun = normalize(vec(0.55f, 0.42f, 0.5f));
    const Vec3 turned = rotate_y(normal, s->cos_turn, s->sin_turn);
    const Vec3 light = add(scale(vec(0.42f, 0.46f, 0.50f), 0.6f + 0.35f * normal.y),
                           scale(vec(0.8f, 0.7f, 0.55f), maxf(0, dot(turned, sun))));
    const float along = fabsf(normal.x) > fabsf(normal.z) ? p.z : p.x;
    Vec3 color = scale(s->color, 0.7f + 0.6f * fbm2(along * 1.7f, p.y * 1.1f, 4));
    if (s->surface == ROOF) {
        color = scale(color, 0.8f + 0.4f * noise2(p.z * 4, floorf(p.y * 3.5f) * 7.3f));
    } else if (s->surface == WALL && in_window(along, p.y, 6)) {
        const float lit = hash_unit((uint32_t)(s->origin.x * 7 + floorf(along / 2.3f) * 13));
        return lit > 0.55f ? vec(0.95f, 0.66f, 0.30f) : vec(0.05f, 0.06f, 0.07f);
    }
    return mul(color, light);
}

static void draw_solid(const View *view, const Solid *s)
{
    const Picture *picture = &view->picture;
    const Spot middle = view_project(view, s->origin);
    const float reach = view->focal * s->radius / middle.distance;
    const int left = (int)maxf(0, middle.x - reach);
    const int right = (int)minf((float)picture->width, middle.x + reach);
    const int top = (int)maxf(0, middle.y - reach);
    const int bottom = (int)minf((float)picture->height, middle.y + 0.4f * reach);
    const Vec3 from = rotate_y(sub(view->eye, s->origin), s->cos_turn, -s->sin_turn);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            const Vec3 ray = vec(((float)x + 0.5f - view->center) / view->focal,
                                 (view->horizon - (float)y - 0.5f) / view->focal, 1);
            const Vec3 along = rotate_y(ray, s->cos_turn, -s->sin_turn);
            const Entry entry = enter_solid(s, from, along);
            const size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            if (entry.face < 0 || entry.distance > picture->depth[i]) {
                continue;
            }
            const Vec3 p = add(from, scale(along, entry.distance));
            const Vec3 color = solid_color(s, p, s->face[entry.face].normal);
            picture->depth[i] = entry.distance;
            picture->color[i] = view_fog(view, color, add(view->eye, scale(ray, entry.distance)));
        }
    }
}

static void draw_rod(const View *view, Vec3 a, float ra, Vec3 b, float rb, Vec3 color)
{
    const Spot p = view_project(view, a), q = view_project(view, b);
    if (p.distance < 2 || q.distance < 2 || (view->eye.y < 0 && p.distance < 75)) {
        return;
    }
    const float kp = view->focal / p.distance, kq = view->focal / q.distance;
    const Stroke stroke = {p.x,
                           p.y,
                           ra * kp,
                           q.x,
                           q.y,
                           rb * kq,
                           minf(p.distance, q.distance) - 0.4f,
                           1,
                           view_fog(view, color, scale(add(a, b), 0.5f))};
    picture_stroke(&view->picture, &stroke);
}

static Vec3 on_ground(float x, float z, float up)
{
    return vec(x, terrain_height(x, z) + up, z);
}

static void draw_fence(const View *view)
{
    const Vec3 wood = vec(0.17f, 0.14f, 0.11f);
    for (int i = 40; i >= 1; i--) {
        const float z = 4 + 3.2f * (float)i, next = z + 3.2f;
        const float tilt = 0.16f * (hash_unit((uint32_t)i) - 0.5f);
        const Vec3 post = on_ground(road_x(z) - 3.6f, z, 0);
        const Vec3 other = on_ground(road_x(next) - 3.6f, next, 0);
        draw_rod(view, post, 0.07f, add(post, vec(tilt, 1.25f, 0)), 0.06f, wood);
        for (int rail = 0; rail < 2; rail++) {
            const float up = 0.55f + 0.45f * (float)rail;
            draw_rod(view, add(post, vec(0, up, 0)), 0.035f, add(other, vec(0, up, 0)), 0.035f,
                     scale(wood, 1.15f));
        }
    }
}

static void draw_wire(const View *view, Vec3 a, Vec3 b)
{
    const int parts = 8;
    Vec3 from = a;
    for (int i = 1; i <= parts; i++) {
        const float t = (float)i / (float)parts;
        const Vec3 to = add(mix(a, b, t), vec(0, -3.2f * t * (1 - t), 0));
        draw_rod(view, from, 0.016f, to, 0.016f, vec(0.06f, 0.06f, 0.06f));
        from = to;
    }
}

static void draw_poles(const View *view)
{
    const Vec3 wood = vec(0.10f, 0.085f, 0.07f);
    for (int i = 7; i >= 0; i--) {
        const float z = 14 + 28 * (float)i, next = z + 28;
        const Vec3 foot = on_ground(road_x(z) + 5, z, 0);
        const Vec3 top = add(foot, vec(0, 7.6f, 0)), arm = add(foot, vec(0, 7.1f, 0));
        const Vec3 other = on_ground(road_x(next) + 5, next, 7.25f);
        draw_rod(view, foot, 0.14f, top, 0.10f, wood);
        draw_rod(view, add(arm, vec(-0.9f, 0, 0)), 0.06f, add(arm, vec(0.9f, 0, 0)), 0.06f, wood);
        for (int side = -1; side <= 1; side += 2) {
            const Vec3 shift = vec(0.8f * (float)side, 0, 0);
            draw_wire(view, add(arm, add(shift, vec(0, 0.15f, 0))), add(other, shift));
        }
    }
}

static void draw_boat(const View *view)
{
    const float bob = 0.04f * sinf(2 * view->seconds), t = view->seconds;
    const Vec3 at = vec(-21 + 0.9f * t, 0.12f + bob, 96);
    const Vec3 hull = vec(0.07f, 0.05f, 0.04f), coat = vec(0.13f, 0.10f, 0.06f);
    draw_rod(view, add(at, vec(-2.1f, 0.22f, 0)), 0.12f, add(at, vec(-0.8f, 0.12f, 0)), 0.3f, hull);
    draw_rod(view, add(at, vec(-0.9f, 0.1f, 0)), 0.3f, add(at, vec(1.2f, 0.1f, 0)), 0.3f, hull);
    draw_rod(view, add(at, vec(1.1f, 0.12f, 0)), 0.3f, add(at, vec(2.2f, 0.34f, 0)), 0.08f, hull);
    const float lean = 0.12f * sinf(1.7f * t);
    const Vec3 hip = add(at, vec(0.1f, 0.45f, 0)), neck = add(hip, vec(lean, 0.62f, 0));
    draw_rod(view, hip, 0.23f, neck, 0.17f, coat);
    draw_rod(view, add(neck, vec(0.02f, 0.22f, 0)), 0.13f, add(neck, vec(0.02f, 0.28f, 0)), 0.12f,
             vec(0.30f, 0.20f, 0.15f));
    const float sweep = sinf(1.7f * t + 1);
    const Vec3 grip = add(hip, vec(0.45f, 0.3f, -0.1f));
    draw_rod(view, neck, 0.07f, grip, 0.06f, coat);
    draw_rod(view, grip, 0.035f, add(at, vec(1.0f + 0.9f * sweep, -0.2f, -1.6f)), 0.05f, hull);
}

static void draw_birds(const View *view)
{
    for (int i = 0; i < 7; i++) {
        const float k = (float)i, t = view->seconds;
        const float rank = (float)((i + 1) / 2) * (i % 2 ? 1.f : -1.f);
        const Vec3 at = vec(30 - 9 * t + 3.4f * fabsf(rank) + hash_unit((uint32_t)i + 9),
                            31 + 1.5f * rank + 0.5f * sinf(t + k), 120 + 2 * rank);
        const float flap = sinf(9 * t + 1.7f * k) * 0.45f;
        const Vec3 black = vec(0.03f, 0.03f, 0.035f);
        draw_rod(view, add(at, vec(-0.5f, 0, 0)), 0.07f, add(at, vec(0.4f, 0, 0)), 0.12f, black);
        for (int side = -1; side <= 1; side += 2) {
            const Vec3 bend = add(at, vec(0.15f, 0.25f + 0.5f * flap, 0.6f * (float)side));
            const Vec3 tip =
                add(at, vec(0.45f + 0.35f * (float)side, 0.2f + 2 * flap, (float)side));
            draw_rod(view, at, 0.12f, bend, 0.09f, black);
            draw_rod(view, bend, 0.09f, tip, 0.02f, black);
        }
    }
}

static void draw_car(const View *view)
{
    const float z = 150 - 11 * view->seconds, x = road_x(z);
    const Vec3 at = on_ground(x - 0.9f, z, 0);
    const Vec3 paint = vec(0.07f, 0.08f, 0.10f);
    if (view->eye.y < 0) {
        return;
    }
    draw_rod(view, add(at, vec(-0.55f, 0.55f, 0)), 0.38f, add(at, vec(0.55f, 0.55f, 0)), 0.38f,
             paint);
    draw_rod(view, add(at, vec(-0.4f, 1.15f, 0.5f)), 0.3f, add(at, vec(0.4f, 1.15f, 0.5f)), 0.3f,
             scale(paint, 0.7f));
    const float through = expf(-z / 260);
    for (int side = -1; side <= 1; side += 2) {
        const Vec3 lamp = add(at, vec(0.62f * (float)side, 0.62f, -0.6f));
        const Spot s = view_project(view, lamp);
        const float k = view->focal / s.distance;
        const Vec3 light = scale(vec(1.0f, 0.93f, 0.78f), through);
        picture_glow(&view->picture, s.x, s.y, 0.24f * k, scale(light, 1.5f), s.distance - 4);
        picture_glow(&view->picture, s.x, s.y, 2.6f * k, scale(light, 0.26f), s.distance - 4);
    }
    const Spot pool = view_project(view, on_ground(road_x(z - 9) - 0.9f, z - 9, 0));
    picture_glow(&view->picture, pool.x, pool.y, 1.7f * view->focal / pool.distance,
                 scale(vec(0.2f, 0.18f, 0.14f), through), pool.distance - 3);
}

void houses_draw(const View *view)
{
    for (int i = 0; i < solid_count; i++) {
        draw_solid(view, &solids[i]);
    }
}

void things_draw(const View *view)
{
    draw_poles(view);
    draw_fence(view);
    draw_boat(view);
    draw_birds(view);
    draw_car(view);
}
