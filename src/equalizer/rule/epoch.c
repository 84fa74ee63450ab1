#include "equalizer/rule/epoch.h"

#include <string.h>

#include "equalizer/rule/arithmetic.h"

/* Minimum changes: a half, less a margin for noise. */
#define EPOCH_CHANGED (CURVE_ONE * 45 / 100) /* of the picture, to end an epoch */
#define EPOCH_CUT (CURVE_ONE * 42 / 100)     /* of the histogram, in a cut */
#define EPOCH_BIN 4                          /* cells per bin of this histogram */

/* At most this share of a picture gets darker in a fade from black. */
#define EPOCH_NOISE (CURVE_ONE / 50)

/* The share of a picture that is not black is taken to be at least this. */
#define EPOCH_LIT (CURVE_ONE / 3)

void epoch_cells(const CurveParams *p, const uint32_t *cdf, uint32_t cells[CURVE_CELLS])
{
    const int width = curve_width(p);
    for (int i = 0; i < CURVE_CELLS; i++)
        cells[i] = cdf[(i + 1) * width - 1];
}

/* Lower bound of the share that got lighter by more than 1/part of its light plus a code. */
static uint32_t lighter(const uint32_t *first, const uint32_t *second, int black, int part)
{
    uint32_t most = 0;
    for (int i = black; i < CURVE_CELLS; i++) {
        const int to = i + 1 + (i - black) / part;
        const uint32_t left = second[to < CURVE_CELLS ? to : CURVE_CELLS - 1];
        most = most_of(most, first[i] > left ? first[i] - left : 0);
    }
    return most;
}

int epoch_differs(const CurveParams *p, const uint32_t was[CURVE_CELLS],
                  const uint32_t now[CURVE_CELLS])
{
    const int black = p->black >> (p->depth - 8);
    const uint32_t lit = most_of(EPOCH_LIT, CURVE_ONE - least_of(was[black + 1], now[black + 1]));
    const uint32_t changed = lighter(was, now, black, 8) + lighter(now, was, black, 8);
    return changed >= (uint32_t)((uint64_t)lit * EPOCH_CHANGED >> 16);
}

int epoch_is_cut(const uint32_t was[CURVE_CELLS], const uint32_t now[CURVE_CELLS])
{
    uint32_t lost = 0, before = 0, after = 0;
    for (int i = EPOCH_BIN - 1; i < CURVE_CELLS; i += EPOCH_BIN) {
        const uint32_t old = was[i] - before, new = now[i] - after;
        lost += old > new ? old - new : 0;
        before = was[i];
        after = now[i];
    }
    return lost >= EPOCH_CUT;
}

/* The code below which this share of a picture lies, with 8 fraction bits. */
static int32_t level_of(const uint32_t *cdf, uint32_t share)
{
    int i = 0;
    while (i < CURVE_CELLS - 1 && cdf[i] < share)
        i++;
    const uint32_t below = i ? cdf[i - 1] : 0, all = cdf[i] - below;
    return 256 * i + (int32_t)(share > below && all ? ((share - below) << 8) / all : 0);
}

/* True if the median and the 98th percentile get lighter, and almost nothing gets darker. */
static int rises(const CurveParams *p, const uint32_t *was, const uint32_t *now)
{
    static const uint32_t shares[] = {CURVE_ONE / 2, CURVE_ONE - CURVE_ONE / 50};
    const int32_t black = p->black >> (p->depth - 8);
    for (int i = 0; i < 2; i++) {
        const int32_t from = level_of(was, shares[i]) - 256 * black;
        if (level_of(now, shares[i]) - 256 * black < from + from / 16 + 64)
            return 0;
    }
    return lighter(now, was, black, 32) < EPOCH_NOISE;
}

uint32_t epoch_follow(const CurveParams *p, const EpochState *before,
                      const uint32_t cells[CURVE_CELLS], int begins, EpochState *now)
{
    if (before && before->age)
        *now = *before;
    else
        begins = 1;
    now->changed = !begins && epoch_differs(p, before->cdf, cells) ? now->changed + p->step : 0;
    begins = begins || (now->age < EPOCH_LEARN && rises(p, now->cdf, cells));
    if (begins || now->changed >= EPOCH_WAIT) {
        now->age = most_of(1, p->step);
        now->changed = 0;
        memcpy(now->cdf, cells, sizeof(now->cdf));
        return CURVE_ONE;
    }
    if (now->changed || now->age >= EPOCH_LEARN)
        return 0;
    now->age += p->step;
    const uint32_t part = (uint32_t)(((uint64_t)p->step << 16) / now->age);
    for (int i = 0; i < CURVE_CELLS; i++)
        now->cdf[i] = curve_lerp(now->cdf[i], cells[i], part);
    return part;
}
