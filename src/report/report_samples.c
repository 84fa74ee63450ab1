#include "report/report_samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES (BLOCK_SIDE * BLOCK_SIDE)

/* A block counts as black if its mean exceeds black by less than this many 8-bit codes. Noise does
 * not show in black blocks. */
#define ABOVE_BLACK 1.5

/* As in src/equalizer/noise.h, a block is still if its mean changes by at most STILL_SHARE of the
 * mean absolute difference of its samples, plus STILL_CODES. */
#define STILL_SHARE 0.35
#define STILL_CODES 0.15

/* Position of block `i` if `count` blocks are spread over `length` from `start`. */
static int place(int start, int length, int i, int count)
{
    return count > 1 ? start + (int)((int64_t)i * (length - BLOCK_SIDE) / (count - 1)) : start;
}

static void take_block(uint16_t *to, const AVFrame *frame, SampleLayout layout, int x, int y)
{
    for (int row = 0; row < BLOCK_SIDE; row++, to += BLOCK_SIDE) {
        const uint8_t *line = frame->data[0] + (ptrdiff_t)(y + row) * frame->linesize[0];
        for (int i = 0; i < BLOCK_SIDE; i++) {
            const uint8_t *at = line + (ptrdiff_t)(x + i) * (layout.depth > 8 ? 2 : 1);
            to[i] = (uint16_t)(layout.depth > 8 ? (at[0] | at[1] << 8) >> layout.shift : at[0]);
        }
    }
}

void block_samples_take(BlockSamples *s, const AVFrame *frame, LumeqRect active)
{
    const SampleLayout layout = convert_layout((enum AVPixelFormat)frame->format);
    const int columns = FFMIN(active.width / BLOCK_SIDE, BLOCK_COLUMNS);
    const int rows = FFMIN(active.height / BLOCK_SIDE, BLOCK_ROWS);
    s->count = columns * rows;
    s->depth = layout.depth;
    s->active = active;
    for (int i = 0; i < s->count; i++)
        take_block(s->code[i], frame, layout, place(active.x, active.width, i % columns, columns),
                   place(active.y, active.height, i / columns, rows));
}

/* Factor from codes to 8-bit codes. */
static double scale(int depth)
{
    return ldexp(1, 8 - depth);
}

/* Standard deviation of SAMPLES integers. */
static double deviation(int64_t sum, int64_t squares)
{
    return sqrt((double)(squares * SAMPLES - sum * sum)) / SAMPLES;
}

double block_samples_contrast(const BlockSamples *s)
{
    double all = 0;
    for (int i = 0; i < s->count; i++) {
        int64_t sum = 0, squares = 0;
        for (int k = 0; k < SAMPLES; k++) {
            sum += s->code[i][k];
            squares += (int64_t)s->code[i][k] * s->code[i][k];
        }
        all += deviation(sum, squares);
    }
    return s->count ? all / s->count * scale(s->depth) : (double)NAN;
}

/* Difference of a block from the previous frame, in 8-bit codes. */
typedef struct Difference {
    double mean, absolute, noise;
} Difference;

static Difference differ(const uint16_t *now, const uint16_t *then, int depth)
{
    int64_t sum = 0, absolute = 0, squares = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const int64_t d = (int64_t)now[k] - then[k];
        sum += d;
        absolute += d < 0 ? -d : d;
        squares += d * d;
    }
    return (Difference){
        .mean = (double)sum / SAMPLES * scale(depth),
        .absolute = (double)absolute / SAMPLES * scale(depth),
        .noise = deviation(sum, squares) / sqrt(2) * scale(depth), /* both frames are noisy */
    };
}

static double level(const uint16_t *code, int depth)
{
    int64_t sum = 0;
    for (int k = 0; k < SAMPLES; k++)
        sum += code[k];
    return (double)sum / SAMPLES * scale(depth);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return FFDIFFSIGN(x, y);
}

/* The quantile numerator / denominator; sorts the values. */
static double quantile(double *values, int count, int numerator, int denominator)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[(int64_t)(count - 1) * numerator / denominator];
}

/* Median level of the blocks that are not black, or a number below `least` if all are black. */
static double dark_up_to(const BlockSamples *s, double least)
{
    double levels[BLOCKS_MOST];
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const double here = level(s->code[i], s->depth);
        if (here >= least)
            levels[count++] = here;
    }
    return count ? quantile(levels, count, 1, 2) : least - 1;
}

static bool same_kind(const BlockSamples *a, const BlockSamples *b)
{
    return a->count && a->count == b->count && a->depth == b->depth &&
           memcmp(&a->active, &b->active, sizeof(a->active)) == 0;
}

int block_samples_noise(const ReportSamples *now, const ReportSamples *then,
                        double noise[REPORT_SIDES])
{
    const BlockSamples *source = &now->of[REPORT_BEFORE], *out = &now->of[REPORT_AFTER];
    const BlockSamples *old_source = &then->of[REPORT_BEFORE], *old_out = &then->of[REPORT_AFTER];
    double before[BLOCKS_MOST], after[BLOCKS_MOST];
    int dark = 0, count = 0;
    if (!same_kind(source, old_source) || !same_kind(out, old_out) ||
        memcmp(source->code, old_source->code, sizeof(source->code[0]) * (size_t)source->count) ==
            0)
        return -1;
    const double least = now->black + ABOVE_BLACK, most = dark_up_to(source, least);
    for (int i = 0; i < source->count; i++) {
        const double here = level(source->code[i], source->depth);
        const Difference d = differ(source->code[i], old_source->code[i], source->depth);
        if (here < least || here > most)
            continue;
        dark++;
        if (fabs(d.mean) > STILL_SHARE * d.absolute + STILL_CODES)
            continue;
        before[count] = d.noise;
        after[count++] = differ(out->code[i], old_out->code[i], out->depth).noise;
    }
    if (count < BLOCK_STILL || 4 * count < dark)
        return -1;
    noise[REPORT_BEFORE] = quantile(before, count, 1, 4);
    noise[REPORT_AFTER] = quantile(after, count, 1, 4);
    return 0;
}
