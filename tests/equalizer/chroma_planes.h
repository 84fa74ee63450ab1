/* Pictures with chroma and a model of chroma's gain, for tests of the CPU's kernels. */
#ifndef LUMEQ_TESTS_CHROMA_PLANES_H
#define LUMEQ_TESTS_CHROMA_PLANES_H

#include <math.h>

#include "variants.h"

#define GUARD 128

/* Luma, Cb and Cr, or luma and interleaved chroma. */
typedef struct Planes {
    CheckRect rect[3];
} Planes;

/* `random` NULL: rows follow each other without a gap. */
static inline CheckRect open_plane(int samples, int rows, int size, int guard, CheckRandom *random)
{
    const int stride = random ? any_stride(random, samples) : samples;
    const int offset = random ? check_below(random, 16) : 0;
    return check_rect(samples * size, rows, (ptrdiff_t)stride * size, offset * size, guard);
}

static inline Planes open_planes(ChromaShape shape, int width, int height, int size, int guard,
                                 CheckRandom *random)
{
    Planes planes = {.rect = {open_plane(width, height, size, guard, random)}};
    for (int i = 1; i <= shape.planes; i++)
        planes.rect[i] =
            open_plane(chroma_row(shape, width), chroma_side(height, shape.y), size, guard, random);
    return planes;
}

static inline void close_planes(Planes *planes)
{
    for (int i = 0; i < 3; i++)
        check_rect_free(&planes->rect[i]);
}

static inline void set_sample(const CheckRect *rect, int x, int y, int size, int sample)
{
    check_row(rect, y)[x * size] = (uint8_t)sample;
    if (size == 2)
        check_row(rect, y)[x * size + 1] = (uint8_t)(sample >> 8);
}

/* Cb and Cr. */
typedef struct Pixel {
    int code[2];
} Pixel;

static inline Pixel pixel_at(const Planes *planes, ChromaShape shape, int x, int y,
                             const CurveParams *p)
{
    Pixel pixel;
    for (int i = 0; i < 2; i++)
        pixel.code[i] = code_at(&planes->rect[chroma_plane(shape, i)],
                                chroma_column(shape, i, x) * sample_size(p), y, p->depth, p->shift);
    return pixel;
}

static inline void run_chroma(const LumeqKernels *kernels, const Planes *in, const Planes *out,
                              ChromaShape shape, const CurveTable *table, const CurveParams *p,
                              int split)
{
    const int height = in->rect[1].height;
    for (int part = 0; part < 2; part++) {
        const int y = part ? split : 0, end = part ? height : split;
        const LumeqChromaRows rows =
            chroma_rows(shape, in->rect, out->rect, sample_size(p), y, end);
        if (end > y)
            (p->depth > 8 ? kernels->chroma16 : kernels->chroma8)(&rows, table, p);
    }
}

/* The model: in double precision and codes of 8 bits. */

/* The gain of chroma if luma goes from `in` to `out`, in codes above black. Chroma gets 3/4 of
 * luma's gain or 1/4 of luma's loss, at most 1.8. The effect fades in from code 6 to code 32. */
static inline double model_gain(double in, double out)
{
    if (in <= 6)
        return 1;
    const double more = fmin(fmax(out / in, 0), 4) - 1;
    return fmin(1 + more * (more > 0 ? 0.75 : 0.25) * fmin((in - 6) / 26, 1), 1.8);
}

/* Limits a gain above 1 so that the colour stays within R'G'B'. Luma goes from `from` to `to`, in
 * codes above black. 15/8 of positive Cb and Cr must fit between luma and white, 15/8 of negative
 * Cb and Cr between luma and black. A colour that did not fit before counts as if it just did. The
 * result is at least 7/8. If `from` is above white, there is no limit. */
static inline double model_limit(double gain, double cb, double cr, double from, double to,
                                 double range)
{
    const double chroma[2] = {cb, cr};
    double least = gain;
    from = fmax(from, 0);
    to = fmin(fmax(to, 0), range);
    if (gain <= 1 || from > range)
        return gain;
    for (int i = 0; i < 2; i++) {
        const double before = chroma[i] > 0 ? range - from : from;
        const double after = chroma[i] > 0 ? range - to : to;
        const double reach = fmin(fabs(chroma[i]) * 15 / 8, before);
        if (reach * gain > after)
            least = fmin(least, fmax(after / reach, 0.875));
    }
    return least;
}

#endif
