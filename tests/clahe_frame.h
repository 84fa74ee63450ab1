/* Equalizes frames in mode CLAHE with the C kernels, from the histogram to the samples. */
#ifndef LUMEQ_TESTS_CLAHE_FRAME_H
#define LUMEQ_TESTS_CLAHE_FRAME_H

#include "check.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/tile_rows.h"
#include "equalizer/pictures.h"
#include "equalizer/rule/curve.h"

typedef struct ClaheSettings {
    CurveParams curve; /* from clahe_curve() */
    int tiles_x, tiles_y;
    double clip; /* clip limit; read only if curve.reference is set */
} ClaheSettings;

/* `full`: 1 for full range, 0 for limited range. */
static inline CurveParams clahe_curve(int depth, int shift, int full)
{
    const int fraction = depth > 12 ? depth - 12 : 0;
    return (CurveParams){
        .depth = depth,
        .shift = shift,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
        .alpha = CURVE_ONE,
        .strength = CURVE_ONE,
    };
}

static inline int clahe_sample_size(const CurveParams *curve)
{
    return curve->depth > 8 ? 2 : 1;
}

static inline TileGrid clahe_grid(const ClaheSettings *settings, const CheckRect *src)
{
    TileGrid grid;
    lumeq_tile_grid(&grid, src->width / clahe_sample_size(&settings->curve), src->height,
                    settings->tiles_x, settings->tiles_y, &settings->curve, settings->clip);
    return grid;
}

/* Computes the curve of the whole picture. */
static inline void clahe_global(const CheckRect *src, const CurveParams *curve,
                                const CurveResult *before, CurveResult *result, CurveTable *table)
{
    static CurveWork work;
    static uint32_t hist[LUMEQ_MAX_BINS];
    LumeqKernels kernels;
    lumeq_kernels_c(&kernels);
    memset(hist, 0, sizeof(hist));
    (curve->depth > 8 ? kernels.histogram16 : kernels.histogram8)(
        hist, src->pixels, src->stride, src->width / clahe_sample_size(curve), src->height, curve);
    curve_compute(curve, hist, before, result, table, &work);
}

/* Computes the curves of the tiles from the whole picture's result. */
static inline void clahe_tiles(const TileGrid *grid, const CheckRect *src, const CurveResult *frame,
                               const TileResult *before, TileResult *result, TileTables *tables)
{
    static uint32_t hist[TILES_MAX][TILE_CELLS], padding[TILES_MAX][TILE_CELLS];
    const int padded = grid->curve.reference;
    LumeqKernels kernels;
    lumeq_kernels_c(&kernels);
    for (int tile = 0; tile < tile_count(grid); tile++)
        lumeq_clahe_count(grid, tile, &kernels, src->pixels, src->stride, hist[tile],
                          padded ? padding[tile] : NULL);
    lumeq_tile_curves(grid, hist, padded ? padding : NULL, frame, before, result, tables);
}

static inline void clahe_apply(const TileGrid *grid, const CheckRect *src, const CheckRect *dst,
                               const TileTables *tables)
{
    LumeqKernels kernels;
    lumeq_kernels_c(&kernels);
    lumeq_clahe_apply(grid, &kernels, dst->pixels, dst->stride, src->pixels, src->stride, 0,
                      grid->x.size, src->height, 0, tables);
}

/* Returns a frame's result with this smoothing factor and strength, valid until the next call. */
static inline CurveResult *clahe_frame(uint32_t alpha, uint32_t strength)
{
    static CurveResult frame;
    frame.alpha = alpha;
    frame.strength = strength;
    frame.weight = CURVE_ONE;
    frame.epoch.black = 0;
    return &frame;
}

/* Draws a picture of pictures.h at any depth. */
static inline void clahe_fill(const CheckRect *rect, const CurveParams *p, Picture picture,
                              uint64_t seed)
{
    const int width = rect->width / clahe_sample_size(p);
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned code = picture_code(picture, seed, x, y, width, rect->height);
            const unsigned low = (unsigned)check_hash(seed, (uint64_t)(y * width + x));
            const unsigned deep = code << (p->depth - 8) | (low & ((1u << (p->depth - 8)) - 1));
            if (p->depth == 8)
                check_row(rect, y)[x] = (uint8_t)code;
            else
                ((uint16_t *)(void *)check_row(rect, y))[x] = (uint16_t)(deep << p->shift);
        }
}

static inline unsigned clahe_sample(const CheckRect *rect, const CurveParams *p, int x, int y)
{
    const uint8_t *row = check_row(rect, y);
    return p->depth == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x];
}

#endif
