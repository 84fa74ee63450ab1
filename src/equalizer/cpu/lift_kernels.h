/*
 * Row kernels of the filter for lifted pictures. tests/lift/README.md describes the arithmetic. At
 * every depth, samples are 8-bit codes with 6 fraction bits (Q6), stored in 16 bits.
 *
 * Kernels may read LIFT_MARGIN samples before and after a row, and write the whole last block
 * of LIFT_BLOCK samples. Samples beyond the picture are undefined unless they are mirrored.
 */
#ifndef LUMEQ_LIFT_KERNELS_H
#define LUMEQ_LIFT_KERNELS_H

#include <stdint.h>

#include "equalizer/curve_types.h"
#include "equalizer/lift_filter.h"

#define LIFT_BLOCK 64  /* samples; a multiple of the dither's period of 8 */
#define LIFT_MARGIN 64 /* maximum number of mirrored samples at each end */

/* Mirrors index i into 0..last, without repeating the ends. */
static inline int lift_mirrored(int i, int last)
{
    i = i < 0 ? -i : i;
    i = i < 2 * last - i ? i : 2 * last - i;
    return i < 0 ? 0 : i > last ? last : i;
}

/* Mirrors `margin` samples before and after a row. */
static inline void lift_mirror(int16_t *row, int width, int margin)
{
    for (int i = 1; i <= margin; i++) {
        row[-i] = row[margin < width ? i : lift_mirrored(-i, width - 1)];
        row[width - 1 + i] =
            row[margin < width ? width - 1 - i : lift_mirrored(width - 1 + i, width - 1)];
    }
}

/* Size in bytes of LiftRow.prepared, which LiftKernels.prepare fills once per band. */
#define LIFT_PREPARED 8192
typedef void LiftPrepare(void *prepared, const CurveTable *table, const CurveParams *params);

typedef struct LiftRow {
    int width;
    const LiftTables *tables;
    const void *prepared;
    const CurveParams *params;
    int16_t *scratch[2]; /* scratch rows */
} LiftRow;

/* Converts samples, which are `step` apart, to Q6. Mirrors `margin` samples at both ends. */
typedef void LiftLoad(int16_t *to, const void *from, int step, int margin, const LiftRow *row);

/* Looks up LiftTables.tolerance: low halves into `quarter`, high halves into `still` (or NULL). */
typedef void LiftLookUp(int16_t *quarter, int16_t *still, const int16_t *now, const LiftRow *row);

/* `now` minus the same row of a previous frame, Q2. */
typedef void LiftApart(int16_t *apart, const int16_t *now, const int16_t *past, const LiftRow *row);

/* The same row of a previous frame, and LiftApart's differences of the five rows around it. */
typedef struct LiftPastRow {
    const int16_t *row, *apart[5];
} LiftPastRow;

/* The temporal mean of `now` and `count` previous frames, 1..LIFT_PAST. Overwrites `still`. */
typedef void LiftMean(int16_t *to, const int16_t *now, int16_t *still, const LiftPastRow *past,
                      int count, const LiftRow *row);

/* Smooths with the weights 1 2 1 in both directions. */
typedef void LiftSmooth(int16_t *to, const int16_t *const from[3], const LiftRow *row);

/* Limits `quarter`, a quarter of the tolerance, by the range of the surrounding 5x5 samples. */
typedef void LiftTolerance(int16_t *quarter, const int16_t *const from[5], const LiftRow *row);

/* LiftLookUp and LiftTolerance for 8-bit samples without noise. `from`: rows without margins. */
typedef void LiftWholeTolerance(int16_t *quarter, const uint8_t *const from[5], const LiftRow *row);

/* If a sample is above or below all eight neighbours, moves it towards the neighbour that is
 * nearest in value. Mirrors `margin` samples of the output at both ends. */
typedef void LiftSpecks(int16_t *to, const int16_t *const from[3], const int16_t *quarter,
                        int margin, const LiftRow *row);

/* One a-trous pass over the row `here`. Vertically, `before` and `after` are rows above and below;
 * horizontally, they are `here` shifted by the pass's step. */
typedef void LiftPass(int16_t *to, const int16_t *before, const int16_t *here, const int16_t *after,
                      const int16_t *quarter, int width);

/* Applies curve and dither to row `y`, and shifts its codes left by `shift`. Writes nothing beyond
 * the row. The output is from min(source, lift_floor()) to max(source, lift_ceiling()). */
typedef void LiftFinish(void *dst, const int16_t *from, const void *source, int y, int shift,
                        const LiftRow *row);

/* Luma under a row of chroma. */
typedef struct LiftUnder {
    const void *luma[4]; /* 2^sub_y rows of samples; the picture's last row may repeat */
    int columns;         /* in each row */
    int sub_x, sub_y;
} LiftUnder;

/* Finds each chroma sample's cell (8-bit mean of its luma), and a quarter of its tolerance. */
typedef void LiftUnderRow(int16_t *quarter, uint8_t *cells, const LiftUnder *under,
                          const LiftRow *row);

/* Both components of a row of chroma. */
typedef struct LiftChroma {
    void *dst[2];             /* output samples; nothing else is written */
    const int16_t *from[2];   /* filtered, Q6 */
    const int16_t *source[2]; /* Q6 */
    const uint8_t *cells;
    const CurveGain *gain;
    int y, shift;
} LiftChroma;

typedef void LiftScale(const LiftChroma *chroma, const LiftRow *row);

typedef struct LiftKernels {
    LiftPrepare *prepare; /* NULL: nothing to prepare */
    LiftLoad *load8, *load16;
    LiftLookUp *look_up;
    LiftApart *apart;
    LiftMean *mean;
    LiftSmooth *smooth;
    LiftTolerance *tolerance;
    LiftWholeTolerance *whole_tolerance; /* NULL: use `look_up` and `tolerance` */
    LiftSpecks *specks;
    LiftPass *pass;
    LiftFinish *finish8, *finish16;
    LiftUnderRow *under8, *under16;
    LiftScale *scale8, *scale16;
} LiftKernels;

/* The reference, and kernels for instruction sets with the same results. */
extern const LiftKernels lumeq_lift_c, lumeq_lift_sse42, lumeq_lift_avx2, lumeq_lift_avx512,
    lumeq_lift_neon;

#endif
