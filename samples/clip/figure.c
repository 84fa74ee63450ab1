// A woman reading at the table, made of blended round shapes.
#include "room.h"

static const Vec3 seat = {0.70f, 0, 1.02f};
static const Vec3 ahead = {-0.766f, 0, -0.643f}, aside = {0.643f, 0, -0.766f};
static const Vec3 bound_lo = {0.12f, 0.4f, 0.45f}, bound_hi = {1.08f, 1.46f, 1.42f};

typedef enum Part { SKIN, HAIR, KNIT, LASH, LIP } Part;
typedef struct Field {
    float distance;
    Part part;
} Field;

static float blend(float a, float b, float k)
{
    const float h = clampf(0.5f + 0.5f * (b - a) / k, 0, 1);
    return mixf(b, a, h) - k * h * (1 - h);
}

static float carve(float a, float b, float k)
{
    return -blend(-a, b, k);
}

static float egg(Vec3 p, Vec3 middle, Vec3 radii)
{
    const Vec3 q = sub(p, middle);
    const Vec3 inner = vec(q.x / radii.x, q.y / radii.y, q.z / radii.z);
    const Vec3 outer = vec(inner.x / radii.x, inner.y / radii.y, inner.z / radii.z);
    const float k = length(inner);
    return k * (k - 1) / (length(outer) + 1e-6f);
}

static float limb(Vec3 p, Vec3 a, Vec3 b, float ra, float rb)
{
    const Vec3 pa = sub(p, a), ba = sub(b, a);
    const float t = clampf(dot(pa, ba) / dot(ba, ba), 0, 1);
    return length(sub(pa, scale(ba, t))) - mixf(ra, rb, t);
}

// The face looks along +z; x is mirrored, so one half makes both.
static Field face(Vec3 p)
{
    p.x = fabsf(p.x);
    float d = egg(p, vec(0, 0.035f, -0.012f), vec(0.073f, 0.088f, 0.090f));
    d = blend(d, egg(p, vec(0, -0.045f, 0.030f), vec(0.054f, 0.074f, 0.060f)), 0.035f);
    d = blend(d, egg(p, vec(0.037f, -0.018f, 0.058f), vec(0.026f, 0.026f, 0.022f)), 0.025f);
    d = blend(d, egg(p, vec(0, -0.105f, 0.066f), vec(0.022f, 0.018f, 0.018f)), 0.025f);
    d = blend(d, limb(p, vec(0, 0.030f, 0.080f), vec(0.040f, 0.030f, 0.066f), 0.009f, 0.008f),
              0.018f);
    d = carve(d, egg(p, vec(0.032f, 0.009f, 0.097f), vec(0.019f, 0.013f, 0.016f)), 0.014f);
    d = blend(d, limb(p, vec(0, 0.018f, 0.084f), vec(0, -0.030f, 0.103f), 0.0065f, 0.0105f),
              0.014f);
    d = blend(d, egg(p, vec(0.0105f, -0.033f, 0.094f), vec(0.008f, 0.007f, 0.010f)), 0.006f);
    d = blend(d, egg(p, vec(0.076f, -0.005f, -0.012f), vec(0.010f, 0.030f, 0.018f)), 0.006f);
    const float lid = egg(p, vec(0.031f, 0.008f, 0.0705f), vec(0.016f, 0.0135f, 0.0145f));
    d = blend(d, lid, 0.003f);
    const float upper = egg(p, vec(0, -0.064f, 0.0875f), vec(0.020f, 0.0055f, 0.010f));
    const float lower = egg(p, vec(0, -0.0735f, 0.0865f), vec(0.016f, 0.0065f, 0.010f));
    const float lips = minf(upper, lower);
    const bool lip = lips < d + 0.001f;
    d = blend(d, lips, 0.004f);
    const bool lash = lid < d + 0.003f && p.y < 0.0035f && p.y > -0.001f && p.z > 0.07f;
    const float brow =
        limb(p, vec(0.017f, 0.041f, 0.088f), vec(0.045f, 0.036f, 0.068f), 0.0035f, 0.0025f);
    return (Field){d, lip ? LIP : lash || brow < 0 ? LASH : SKIN};
}

static float hair(Vec3 p)
{
    const float strands = 0.0025f * (noise2(p.x * 160, p.y * 26 + p.z * 20) - 0.5f);
    float d = egg(p, vec(0, 0.048f, -0.022f), vec(0.084f, 0.090f, 0.098f));
    d = carve(d, egg(p, vec(0, -0.035f, 0.085f), vec(0.070f, 0.102f, 0.075f)), 0.012f);
    d = blend(d, egg(p, vec(0, -0.01f, -0.075f), vec(0.066f, 0.075f, 0.055f)), 0.03f);
    d = blend(d, egg(p, vec(0, 0.045f, -0.135f), vec(0.048f, 0.045f, 0.042f)), 0.012f);
    return d + strands;
}

static float hands(Vec3 p)
{
    float d = egg(p, vec(0.085f, 0.828f, 0.34f), vec(0.038f, 0.020f, 0.050f));
    for (int i = 0; i < 4; i++) {
        const float x = 0.108f - 0.0155f * (float)i;
        const float reach = 0.425f - 0.008f * (float)(i * i - 2 * i);
        d = blend(d,
                  limb(p, vec(x, 0.83f, 0.37f), vec(x - 0.016f, 0.812f, reach), 0.0095f, 0.0075f),
                  0.006f);
    }
    return blend(d, limb(p, vec(0.06f, 0.832f, 0.33f), vec(0.03f, 0.822f, 0.375f), 0.011f, 0.008f),
                 0.008f);
}

static float clothes(Vec3 p)
{
    const float knit = 0.0022f * sinf(p.y * 520) * sinf(p.x * 420 + p.z * 300);
    const float folds = 0.014f * (fbm2(p.x * 11 + p.z * 7, p.y * 9, 3) - 0.5f);
    float d = egg(p, vec(0, 0.74f, -0.02f), vec(0.185f, 0.32f, 0.13f));
    p.x = fabsf(p.x);
    d = blend(d, limb(p, vec(0, 1.035f, -0.02f), vec(0.165f, 1.0f, -0.02f), 0.07f, 0.062f), 0.06f);
    d = blend(d, limb(p, vec(0.19f, 0.98f, -0.01f), vec(0.245f, 0.80f, 0.10f), 0.060f, 0.050f),
              0.03f);
    d = blend(d, limb(p, vec(0.245f, 0.80f, 0.10f), vec(0.11f, 0.825f, 0.30f), 0.050f, 0.034f),
              0.03f);
    d = blend(d, limb(p, vec(0, 1.075f, 0.0f), vec(0.03f, 1.075f, 0.0f), 0.056f, 0.052f), 0.012f);
    return d + knit + folds;
}

static Vec3 head_space(Vec3 p)
{
    const float c = 0.94f, s = 0.341f;
    const Vec3 q = sub(p, vec(0, 1.245f, 0.055f));
    return vec(q.x, c * q.y + s * q.z, c * q.z - s * q.y);
}

static Vec3 local(Vec3 p)
{
    const Vec3 q = sub(p, seat);
    return vec(dot(q, aside), q.y, dot(q, ahead));
}

static Field field(Vec3 world)
{
    const Vec3 p = local(world), h = head_space(p);
    Field f = {clothes(p), KNIT};
    Field flesh = {length(h) - 0.18f, SKIN};
    if (flesh.distance < 0.03f) {
        flesh = face(h);
        const float cap = hair(h);
        flesh = cap < flesh.distance ? (Field){cap, HAIR} : flesh;
    }
    const float neck = limb(p, vec(0, 1.05f, -0.015f), vec(0, 1.18f, 0.015f), 0.05f, 0.046f);
    const float pair = hands(vec(fabsf(p.x), p.y, p.z));
    f = flesh.distance < f.distance ? flesh : f;
    f = neck < f.distance ? (Field){neck, SKIN} : f;
    return pair < f.distance ? (Field){pair, SKIN} : f;
}

static bool cross_bound(Ray ray, float *enter, float *leave)
{
    const float from[3] = {ray.from.x, ray.from.y, ray.from.z};
    const float along[3] = {ray.along.x, ray.along.y, ray.along.z};
    const float lo[3] = {bound_lo.x, bound_lo.y, bound_lo.z};
    const float hi[3] = {bound_hi.x, bound_hi.y, bound_hi.z};
    for (int i = 0; i < 3; i++) {
        const float inverse = 1 / (along[i] == 0 ? 1e-9f : along[i]);
        const float a = (lo[i] - from[i]) * inverse, b = (hi[i] - from[i]) * inverse;
        *enter = maxf(*enter, minf(a, b));
        *leave = minf(*leave, maxf(a, b));
    }
    return *enter < *leave;
}

// Steps from `start` by the distance to the nearest surface until it is reached; negative when it
// never is.
static float march(Ray ray, float start, float limit, int steps, float close)
{
    float at = start, leave = limit;
    if (!cross_bound(ray, &at, &leave)) {
        return -1;
    }
    for (int i = 0; i < steps && at < leave; i++) {
        const float d = field(add(ray.from, scale(ray.along, at))).distance;
        if (d < close) {
            return at;
        }
        at += 0.85f * d;
    }
    return -1;
}

bool figure_blocks(Ray ray, float limit)
{
    return march(ray, 0.012f, limit, 48, 0.001f) >= 0;
}

static Vec3 part_color(Part part, Vec3 p)
{
    const Vec3 h = head_space(local(p));
    const float blush = gauss((fabsf(h.x) - 0.04f) / 0.02f) * gauss((h.y + 0.025f) / 0.022f);
    const float nose = gauss(h.x / 0.014f) * gauss((h.y + 0.032f) / 0.014f);
    const float mottle = 0.93f + 0.14f * fbm3(p.x * 150, p.y * 150, p.z * 150, 3);
    switch (part) {
    case SKIN:
        return scale(
            mix(vec(0.66f, 0.43f, 0.32f), vec(0.66f, 0.30f, 0.23f), 0.45f * blush + 0.35f * nose),
            mottle);
    case LIP: return scale(vec(0.48f, 0.19f, 0.16f), mottle);
    case HAIR:
        return scale(vec(0.17f, 0.09f, 0.05f),
                     0.6f + 0.9f * noise2(h.x * 260, h.y * 30 + h.z * 24));
    case LASH: return vec(0.10f, 0.06f, 0.045f);
    case KNIT: break;
    }
    return mul(vec(0.30f, 0.10f, 0.09f), vec(0.8f + 0.4f * mottle, 1, 1));
}

bool figure_trace(Ray ray, float limit, Hit *hit)
{
    const float at = march(ray, 0, limit, 110, 0.0006f);
    if (at < 0) {
        return false;
    }
    const Vec3 p = add(ray.from, scale(ray.along, at));
    const Field here = field(p);
    const float e = here.part == SKIN ? 0.0016f : 0.0011f;
    const Vec3 n = vec(field(add(p, vec(e, 0, 0))).distance - field(sub(p, vec(e, 0, 0))).distance,
                       field(add(p, vec(0, e, 0))).distance - field(sub(p, vec(0, e, 0))).distance,
                       field(add(p, vec(0, 0, e))).distance - field(sub(p, vec(0, 0, e))).distance);
    *hit = (Hit){.distance = at, .point = p, .normal = normalize(n)};
    hit->albedo = part_color(here.part, p);
    hit->gloss = here.part == HAIR ? 0.06f : here.part == KNIT ? 0 : 0.05f;
    return true;
}
