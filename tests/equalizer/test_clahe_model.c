/* Compares mode CLAHE in C with a model in double precision. */
#include <math.h>

#include "../clahe_frame.h"

static TileTables tables;
static const TileResult no_tiles;

/* A tile's curve by the rules of mode CLAHE. Only the clip limit is rounded. */
static void model_curve(double *curve, const double *hist, const CurveParams *p, double clip)
{
    const int black = p->black >> (p->depth - 8), white = p->white >> (p->depth - 8);
    const int n = white - black + 1;
    double h[TILE_CELLS], total = 0, most = 0;
    for (int i = black; i <= white; i++) {
        h[i] = hist[i];
        total += h[i];
        most = fmax(most, h[i]);
    }
    for (int round = 0; round < CURVE_CLIP_ROUNDS && clip > 0; round++) {
        const double limit = floor(clip * total / n);
        double over = 0;
        for (int i = black; i <= white; i++) {
            over += fmax(0, h[i] - limit);
            h[i] = fmin(h[i], limit);
        }
        for (int i = black; i <= white; i++)
            h[i] += over / n;
    }
    double sum = -h[black];
    for (int i = 0; i < TILE_CELLS; i++) {
        curve[i] = i << (p->depth - 8);
        if (i >= black && i <= white && most < total) {
            sum += h[i];
            curve[i] = p->black + (p->white - p->black) * sum / (total - h[black]);
        }
    }
    curve[TILE_CELLS] = 1 << p->depth;
}

/* Returns the tile on a sample's left (or above it). *part: the weight of the next tile. */
static int model_place(int at, int size, int tiles, double *part)
{
    const double place = (at + 0.5) * tiles / size - 0.5;
    const double clamped = fmin(fmax(place, 0), tiles - 1);
    const int tile = (int)fmin(floor(clamped), tiles > 1 ? tiles - 2 : 0);
    *part = clamped - tile;
    return tile;
}

static double curves[TILES_MAX][TILE_CELLS + 1];

static double model_at(int tile, unsigned code, int fraction)
{
    const unsigned cell = code >> fraction;
    const double part = (double)(code - (cell << fraction)) / (1 << fraction);
    return curves[tile][cell] * (1 - part) + curves[tile][cell + 1] * part;
}

static void model_tiles(const CheckRect *in, const TileGrid *grid, double clip, double strength)
{
    const CurveParams *p = &grid->curve;
    for (int tile = 0; tile < tile_count(grid); tile++) {
        const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
        double hist[TILE_CELLS] = {0};
        for (int v = grid->y.size * y / grid->y.tiles; v < grid->y.size * (y + 1) / grid->y.tiles;
             v++)
            for (int u = grid->x.size * x / grid->x.tiles;
                 u < grid->x.size * (x + 1) / grid->x.tiles; u++)
                hist[clahe_sample(in, p, u, v) >> p->shift >> p->fraction]++;
        model_curve(curves[tile], hist, p, clip);
        for (int i = 0; i < TILE_CELLS; i++) {
            const double same = i << p->fraction;
            curves[tile][i] = same + strength * (curves[tile][i] - same);
        }
    }
}

static double model_sample(const TileGrid *grid, int x, int y, unsigned code)
{
    double part_x, part_y;
    const int tiles = grid->x.tiles, fraction = grid->curve.fraction;
    const int left = model_place(x, grid->x.size, tiles, &part_x);
    const int top = model_place(y, grid->y.size, grid->y.tiles, &part_y);
    const int right = tiles > 1, below = grid->y.tiles > 1 ? tiles : 0, at = top * tiles + left;
    return (1 - part_y) * ((1 - part_x) * model_at(at, code, fraction) +
                           part_x * model_at(at + right, code, fraction)) +
           part_y * ((1 - part_x) * model_at(at + below, code, fraction) +
                     part_x * model_at(at + below + right, code, fraction));
}

/* The largest difference between output and model, in 8-bit codes. */
static double model_distance(const CheckRect *in, const CheckRect *out, const TileGrid *grid)
{
    const CurveParams *p = &grid->curve;
    double worst = 0;
    for (int y = 0; y < grid->y.size; y++)
        for (int x = 0; x < grid->x.size; x++) {
            const double model = model_sample(grid, x, y, clahe_sample(in, p, x, y) >> p->shift);
            const double ours = clahe_sample(out, p, x, y) >> p->shift;
            worst = fmax(worst, fabs(model - ours) / (1 << p->fraction));
        }
    return worst;
}

TEST(model)
{
    static const struct {
        Picture picture;
        int width, height, tiles_x, tiles_y, depth, shift, full;
        double clip, strength;
    } cases[] = {
        {PICTURE_DARK, 640, 361, 8, 8, 8, 0, 0, 0, 1},
        {PICTURE_DARK, 640, 361, 8, 8, 8, 0, 0, 3, 0.5},
        {PICTURE_NOISE, 333, 222, 3, 5, 8, 0, 1, 2, 1},
        {PICTURE_DIAGONAL, 640, 361, 8, 8, 8, 0, 0, 4, 1},
        {PICTURE_RAMP, 640, 100, 16, 1, 8, 0, 1, 2, 1},
        {PICTURE_DIAGONAL, 512, 512, 1, 1, 8, 0, 1, 3, 1},
        {PICTURE_DARK, 640, 361, 8, 8, 10, 6, 0, 3, 1},
        {PICTURE_NARROW, 640, 361, 5, 3, 10, 0, 1, 0, 0.5},
        {PICTURE_DIAGONAL, 640, 361, 8, 8, 12, 4, 0, 3, 1},
        {PICTURE_DARK, 640, 361, 4, 4, 16, 0, 1, 3, 0.5},
        {PICTURE_NOISE, 640, 361, 2, 2, 16, 0, 0, 0, 1},
        {PICTURE_DARK, 640, 361, 4, 4, 13, 3, 0, 2, 1},
        {PICTURE_FLAT, 90, 50, 5, 3, 8, 0, 1, 3, 1},
        {PICTURE_FLAT, 90, 50, 2, 7, 14, 1, 0, 0, 1},
    };
    static TileResult result;
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(*cases)); i++) {
        ClaheSettings settings = {clahe_curve(cases[i].depth, cases[i].shift, cases[i].full),
                                  cases[i].tiles_x, cases[i].tiles_y, 0};
        const int size = clahe_sample_size(&settings.curve);
        settings.curve.clip = (uint32_t)(cases[i].clip * CURVE_ONE);
        CheckRect in =
            check_rect(cases[i].width * size, cases[i].height, cases[i].width * size, 0, 0);
        FREED_BY(check_rect_free) CheckRect out = check_rect(in.width, in.height, in.stride, 0, 64);
        clahe_fill(&in, &settings.curve, cases[i].picture, (uint64_t)i);
        const TileGrid grid = clahe_grid(&settings, &in);
        clahe_tiles(&grid, &in, clahe_frame(CURVE_ONE, (uint32_t)(cases[i].strength * CURVE_ONE)),
                    &no_tiles, &result, &tables);
        clahe_apply(&grid, &in, &out, &tables);
        model_tiles(&in, &grid, cases[i].clip, cases[i].strength);
        /* Codes, weights and counts are rounded. */
        const double rounding = cases[i].depth == 8 ? 1.0 : 0.75;
        const double most = cases[i].picture == PICTURE_FLAT ? 0 : rounding; /* flat: unchanged */
        const double distance = model_distance(&in, &out, &grid);
        CHECK(distance <= most, "case %d: %.3f codes from the model", i, distance);
        check_rect_free(&in);
    }
}

TEST_MAIN
