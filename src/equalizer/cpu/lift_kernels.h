/*
 * What the filter of lifted pictures does to rows of samples. The arithmetic is in words in
 * tests/lift/README.md; samples are Q6 of 8-bit codes in 16 bits, at every depth.
 *
 * A row is memory of the filter's own: LIFT_MARGIN samples before and behind it may be read, and
 * all of the last LIFT_BLOCK may be written. What lies beyond the picture is undefined but for what
 * is said to be mirrored.
 */
#ifndef LUMEQ_LIFT_KERNELS_H
#define LUMEQ_LIFT_KERNELS_H

#include <stdint.h>

#include "equalizer/curve_types.h"
#include "equalizer/lift_filter.h"

#define LIFT_BLOCK 64  /* samples that are done at once; a multiple of the dither's period, 8 */
#define LIFT_MARGIN 64 /* that many are mirrored at most */

/* Place i of a row or column that ends with number `last`, mirrored about its ends without them. */
static inline int lift_mirrored(int i, int last)
{
    i = i < 0 ? -i : i;
    i = i < 2 * last - i ? i : 2 * last - i;
    return i < 0 ? 0 : i > last ? last : i;
}

/* Fills in so many samples before and behind a row. */
static inline void lift_mirror(int16_t *row, int width, int margin)
{
    for (int i = 1; i <= margin; i++) {
        row[-i] = row[lift_mirrored(-i, width - 1)];
        row[width - 1 + i] = row[lift_mirrored(width - 1 + i, width - 1)];
    }
}

/* What the kernels may make of a picture's tables, for all its rows: so many bytes. */
#define LIFT_PREPARED 8192
typedef void LiftPrepare(void *prepared, const CurveTable *table, const CurveParams *params);

/* What holds for all rows of a plane. */
typedef struct LiftRow {
    int width;
    const LiftTables *tables;
    const void *prepared;
    const CurveParams *params;
    int16_t *scratch[LIFT_PAST]; /* rows */
} LiftRow;

/* What is looked up by a code of 8 bits. */
typedef enum LiftEntries { LIFT_NODES, LIFT_TOLERANCES } LiftEntries;

static inline const uint32_t *lift_entries(const LiftRow *row, LiftEntries which)
{
    return which == LIFT_NODES ? row->tables->node : row->tables->tolerance;
}

/* Samples, `step` apart, as Q6; `margin` of them are mirrored at either end. */
typedef void LiftLoad(int16_t *to, const void *from, int step, int margin, const LiftRow *row);

/* How far a row is from one before, Q2. */
typedef void LiftApart(int16_t *apart, const int16_t *now, const int16_t *past, const LiftRow *row);

/* One of the frames before: the row, and how far five rows around it are apart. */
typedef struct LiftPastRow {
    const int16_t *row, *apart[5];
} LiftPastRow;

/* The temporal mean with `count` frames before, 1..LIFT_PAST; a sample is mirrored. */
typedef void LiftMean(int16_t *to, const int16_t *now, const LiftPastRow *past, int count,
                      const LiftRow *row);

/* 1 2 1 both ways. */
typedef void LiftSmooth(int16_t *to, const int16_t *const from[3], const LiftRow *row);

/* A quarter of the tolerance: from the range of 5x5 samples and the codes of `now`. */
typedef void LiftTolerance(int16_t *quarter, const int16_t *const from[5], const int16_t *now,
                           const LiftRow *row);

/* The same of samples of 8 bits that have no noise, whose rows end with them. */
typedef void LiftWholeTolerance(int16_t *quarter, const uint8_t *const from[5], const LiftRow *row);

/* What is above or below all eight around it goes to the nearest. One sample is mirrored in the
 * rows, `margin` become so. */
typedef void LiftSpecks(int16_t *to, const int16_t *const from[3], const int16_t *quarter,
                        int margin, const LiftRow *row);

/* One pass of the mean with holes: `here` between two rows, or twice itself moved. */
typedef void LiftPass(int16_t *to, const int16_t *before, const int16_t *here, const int16_t *after,
                      const int16_t *quarter, int width);

/* The curve and the dither of row `y`: samples, shifted by `shift`. Nothing else is written. Below
 * lift_floor() none is darker than the source's, above lift_ceiling() none lighter. */
typedef void LiftFinish(void *dst, const int16_t *from, const void *source, int y, int shift,
                        const LiftRow *row);

/* Luma under a row of chroma. */
typedef struct LiftUnder {
    const void *luma[4]; /* rows of samples, one or the same ones again for each of 2^sub_y */
    int columns;         /* in each */
    int sub_x, sub_y;
} LiftUnder;

/* A quarter of chroma's tolerance, and the cells of its gain, by the mean of luma. */
typedef void LiftUnderRow(int16_t *quarter, uint8_t *cells, const LiftUnder *under,
                          const LiftRow *row);

/* Both components of a row of chroma. */
typedef struct LiftChroma {
    void *dst[2];             /* samples: nothing else is written */
    const int16_t *from[2];   /* filtered, Q6 */
    const int16_t *source[2]; /* Q6 */
    const uint8_t *cells;
    const CurveGain *gain;
    int y, shift;
} LiftChroma;

typedef void LiftScale(const LiftChroma *chroma, const LiftRow *row);

typedef struct LiftKernels {
    LiftPrepare *prepare; /* NULL: nothing is */
    LiftLoad *load8, *load16;
    LiftApart *apart;
    LiftMean *mean;
    LiftSmooth *smooth;
    LiftTolerance *tolerance;
    LiftWholeTolerance *whole_tolerance; /* NULL: it is as others are */
    LiftSpecks *specks;
    LiftPass *pass;
    LiftFinish *finish8, *finish16;
    LiftUnderRow *under8, *under16;
    LiftScale *scale8, *scale16;
} LiftKernels;

/* The reference, and the same bits from other instruction sets; that of AVX-512 lacks what it has
 * from AVX2's. */
extern const LiftKernels lumeq_lift_c, lumeq_lift_avx2, lumeq_lift_avx512;

#endif
