#include "trees.h"

#include <stdlib.h>

enum { VARIANTS = 4, TREE_HEIGHT = 384 };
static const int group_width[] = {[TREE_CONIFER] = 208, [TREE_BROADLEAF] = 416, [TREE_GRASS] = 256};

static Tree trees[TREE_KINDS];

static void dab(TreeImage *image, float x, float y, float radius, float light)
{
    const int top = (int)maxf(0, y - radius - 1), left = (int)maxf(0, x - radius - 1);
    const int bottom = (int)minf((float)image->height - 1, y + radius + 1);
    const int right = (int)minf((float)image->width - 1, x + radius + 1);
    for (int py = top; py <= bottom; py++) {
        for (int px = left; px <= right; px++) {
            const float dx = (float)px + 0.5f - x, dy = (float)py + 0.5f - y;
            const float cover = clampf(radius + 0.5f - sqrtf(dx * dx + dy * dy), 0, 1);
            const int i = py * image->width + px;
            image->light[i] = mixf(image->light[i], light, cover);
            image->cover[i] = maxf(image->cover[i], cover);
        }
    }
}

typedef struct Twig {
    float x0, y0, x1, y1, r0, r1, light;
} Twig;

static void draw_twig(TreeImage *image, Twig t)
{
    const int steps = 1 + (int)(hypotf(t.x1 - t.x0, t.y1 - t.y0) / 0.8f);
    for (int i = 0; i <= steps; i++) {
        const float f = (float)i / (float)steps;
        dab(image, mixf(t.x0, t.x1, f), mixf(t.y0, t.y1, f), mixf(t.r0, t.r1, f), t.light);
    }
}

static void grow_bough(TreeImage *image, float y, float reach, float depth, Random *random)
{
    const float middle = 0.5f * (float)image->width;
    const float droop = random_in(random, 0.12f, 0.42f);
    const float light = 0.55f + 0.3f * depth + random_in(random, -0.12f, 0.12f);
    const int needles = 3 + (int)(fabsf(reach) / 2.2f);
    draw_twig(image,
              (Twig){middle, y, middle + reach, y + droop * fabsf(reach), 1.4f, 0.6f, light});
    for (int i = 0; i < needles; i++) {
        const float f = powf(random_unit(random), 0.7f);
        const float x = middle + reach * f, root = y + droop * fabsf(reach) * f;
        const float drop = random_in(random, 2, 9) * (1.2f - 0.6f * f);
        const float lean = random_in(random, -2.5f, 2.5f) + (reach > 0 ? 2.f : -2.f);
        const float shade = light * (0.55f + 0.5f * f) + random_in(random, -0.1f, 0.15f);
        draw_twig(image, (Twig){x, root - 1, x + lean, root + drop, 1.3f, 0.5f, shade});
    }
}

static void grow_conifer(TreeImage *image, Random *random)
{
    const float middle = 0.5f * (float)image->width, base = TREE_HEIGHT;
    const float girth = random_in(random, 62, 88), bare = random_in(random, 14, 50);
    draw_twig(image, (Twig){middle, base, middle, 6, 5, 0.7f, 0.3f});
    const int tiers = 75;
    for (int i = tiers; i > 0; i--) {
        const float f = (float)i / (float)tiers;
        const float y = 8 + f * (base - bare - 8);
        const float spread = girth * powf(f, 0.85f) * random_in(random, 0.55f, 1.08f) + 2;
        for (int k = 0; k < 5; k++) {
            const float turn = random_in(random, 0, 6.2832f);
            const float jitter = random_in(random, -4, 4);
            grow_bough(image, y + jitter, spread * cosf(turn), sinf(turn), random);
        }
    }
}

static void grow_leaves(TreeImage *image, float x, float y, Random *random)
{
    const int leaves = 30;
    for (int i = 0; i < leaves; i++) {
        const float dx = random_in(random, -10, 10) + random_in(random, -6, 6);
        const float dy = random_in(random, -8, 8) + random_in(random, -5, 5);
        const float light = 0.6f - 0.02f * dy + 0.012f * dx + random_in(random, -0.18f, 0.22f);
        dab(image, x + dx, y + dy, random_in(random, 0.5f, 1.25f), light);
    }
}

typedef struct Limb {
    float x, y, angle, size, radius;
    int order;
} Limb;

static void grow_limb(TreeImage *image, Limb limb, float leafy, Random *random)
{
    const float x = limb.x + limb.size * sinf(limb.angle);
    const float y = limb.y - limb.size * cosf(limb.angle);
    const float light = 0.28f + 0.02f * (float)limb.order;
    draw_twig(image, (Twig){limb.x, limb.y, x, y, limb.radius, limb.radius * 0.72f, light});
    if (limb.order >= 4 && random_unit(random) < leafy) {
        grow_leaves(image, x, y, random);
    }
    if (limb.order == 8) {
        return;
    }
    const int children = limb.order < 2 || random_unit(random) < 0.3f ? 3 : 2;
    for (int i = 0; i < children; i++) {
        const float side = (float)i - 0.5f * (float)(children - 1);
        const float turn = side * random_in(random, 0.35f, 0.75f) + random_in(random, -0.2f, 0.2f);
        const Limb child = {x,
                            y,
                            limb.angle * 0.86f + turn,
                            limb.size * random_in(random, 0.70f, 0.88f),
                            limb.radius * random_in(random, 0.58f, 0.72f),
                            limb.order + 1};
        grow_limb(image, child, leafy, random);
    }
}

static void grow_grass(TreeImage *image, Random *random)
{
    for (int blade = 0; blade < 70; blade++) {
        float x = 0.5f * (float)image->width + random_in(random, -60, 60), y = TREE_HEIGHT;
        float lean = random_in(random, -0.35f, 0.35f);
        const float size = random_in(random, 100, 360), bend = random_in(random, -0.12f, 0.16f);
        const float light = random_in(random, 0.35f, 1.0f);
        for (int i = 0; i < 10; i++) {
            const float nx = x + 0.1f * size * lean, ny = y - 0.1f * size;
            const float r = 2.2f * (1 - 0.09f * (float)i);
            draw_twig(image, (Twig){x, y, nx, ny, r, r * 0.9f, light * (0.5f + 0.06f * (float)i)});
            x = nx;
            y = ny;
            lean += bend;
        }
    }
}

static bool image_alloc(TreeImage *image, int width, int height)
{
    const size_t pixels = (size_t)width * (size_t)height;
    *image =
        (TreeImage){width, height, calloc(pixels, sizeof(float)), calloc(pixels, sizeof(float))};
    return image->cover && image->light;
}

static void image_halve(TreeImage *small, const TreeImage *large)
{
    for (int y = 0; y < small->height; y++) {
        for (int x = 0; x < small->width; x++) {
            float cover = 0, light = 0;
            for (int k = 0; k < 4; k++) {
                const int i = (2 * y + k / 2) * large->width + 2 * x + k % 2;
                cover += large->cover[i];
                light += large->cover[i] * large->light[i];
            }
            small->cover[y * small->width + x] = 0.25f * cover;
            small->light[y * small->width + x] = cover > 0 ? light / cover : 0;
        }
    }
}

static void grow(TreeImage *image, int kind, Random *random)
{
    const float middle = 0.5f * (float)image->width;
    if (kind / VARIANTS == TREE_CONIFER) {
        grow_conifer(image, random);
    } else if (kind / VARIANTS == TREE_GRASS) {
        grow_grass(image, random);
    } else {
        const Limb trunk = {middle, TREE_HEIGHT, random_in(random, -0.06f, 0.06f), 66, 8, 0};
        grow_limb(image, trunk, kind % VARIANTS < 2 ? 0.75f : 0.16f, random);
    }
}

bool trees_prepare(void)
{
    Random random = {20240917};
    for (int kind = 0; kind < TREE_KINDS; kind++) {
        TreeImage *level = trees[kind].level;
        for (int i = 0; i < TREE_LEVELS; i++) {
            if (!image_alloc(&level[i], group_width[kind / VARIANTS] >> i, TREE_HEIGHT >> i)) {
                return false;
            }
        }
        grow(&level[0], kind, &random);
        for (int i = 1; i < TREE_LEVELS; i++) {
            image_halve(&level[i], &level[i - 1]);
        }
    }
    return true;
}

void trees_release(void)
{
    for (int kind = 0; kind < TREE_KINDS; kind++) {
        for (int i = 0; i < TREE_LEVELS; i++) {
            free(trees[kind].level[i].cover);
            free(trees[kind].level[i].light);
            trees[kind].level[i] = (TreeImage){0};
        }
    }
}

const Tree *tree_of(TreeGroup group, unsigned variant)
{
    return &trees[(unsigned)group * VARIANTS + variant % VARIANTS];
}

TreeTexel tree_sample(const TreeImage *image, float u, float v)
{
    const float x = clampf(u * (float)image->width - 0.5f, 0, (float)image->width - 1.01f);
    const float y = clampf(v * (float)image->height - 0.5f, 0, (float)image->height - 1.01f);
    const int ix = (int)x, iy = (int)y, i = iy * image->width + ix;
    const float fx = x - (float)ix, fy = y - (float)iy;
    const float *c = image->cover + i;
    if (c[0] + c[1] + c[image->width] + c[image->width + 1] == 0) {
        return (TreeTexel){0, 0};
    }
    const float w[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    const int at[4] = {i, i + 1, i + image->width, i + image->width + 1};
    TreeTexel texel = {0, 0};
    float weight = 1e-6f;
    for (int k = 0; k < 4; k++) {
        const float cover = w[k] * image->cover[at[k]];
        texel.cover += cover;
        texel.light += cover * image->light[at[k]];
        weight += cover;
    }
    texel.light /= weight;
    return texel;
}
