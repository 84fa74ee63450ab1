/*
 * Converts the counts and curves of HDR video to an axis of light and back.
 *
 * The rule works on the axis of light: codes of an SDR display whose white is 203 nits, HDR's
 * reference white in BT.2408. The code at the share x of the range from black to white shows 203 *
 * x^2.4 nits. Counts of PQ and HLG codes are moved to the axis, where all light above 203 nits
 * becomes white. Curves are moved back to codes. They leave light from 203 nits on unchanged, and
 * approach the identity there without a kink.
 *
 * Sources: SMPTE ST 2084; ARIB STD-B67 with the system gamma of 1.2 of a display of 1,000 nits.
 */
#ifndef LUMEQ_TRANSFER_H
#define LUMEQ_TRANSFER_H

#include "equalizer/curve_types.h"

/* Positions of a format's bins on the axis of light. Zero-initialize it. */
typedef struct TransferMap {
    int32_t key[6];                     /* identifies the format */
    uint32_t begin[LUMEQ_MAX_BINS + 1]; /* where the bin begins, in bins above black, Q16 */
    uint32_t light[LUMEQ_MAX_BINS + 1]; /* the bin's first code, as a share of the range, Q24 */
    uint32_t kept[LUMEQ_MAX_BINS + 1];  /* transfer_kept() there, Q24 */
} TransferMap;

/* The share of a curve's change that applies at a place on the axis, both Q24: all of it up to the
 * middle, then less and less, and 0 at white. */
uint64_t transfer_kept(uint32_t place);

/* Fills in the map of a format, unless it is already for that format; does nothing for SDR. */
void transfer_map(const CurveParams *p, TransferMap *map);

/* Moves counts of codes to the axis of light. Returns `light`, which has room for p->bins counts,
 * or `counts` for SDR. */
const uint32_t *transfer_counts(const CurveParams *p, const TransferMap *map,
                                const uint32_t *counts, uint32_t *light);

/* Moves a curve (Q16 codes of all bins) from the axis of light to codes. Returns `codes`, which has
 * room for p->bins values, or `curve` for SDR. */
const uint32_t *transfer_curve(const CurveParams *p, const TransferMap *map, const uint32_t *curve,
                               uint32_t *codes);

/* Moves a mean to the axis of light. The mean is above black, in 256ths of a code. */
uint32_t transfer_level(const CurveParams *p, uint32_t level);

/* The code of white: of 203 nits in HDR. */
int transfer_white(const CurveParams *p);

/* For haze_kept(): where the removal of a tint ends, in codes above black; 0 for SDR. */
int32_t transfer_tint_end(const CurveParams *p);

/* The range of luma in which lifted colours stay: up to 203 nits in HDR. In 256ths of codes of 8
 * bits. */
uint32_t transfer_range(const CurveParams *p);

/* Moves the tones and the colour of a cell to the axis of light. */
HazeCell transfer_cell(const CurveParams *p, HazeCell cell);

/* Changes a tint on the axis of light to a tint in codes. */
HazeTint transfer_tint(const CurveParams *p, HazeTint tint);

/* Changes how haze is cleared on the axis of light to how it is cleared in codes. `nodes`: the
 * curve's output for each code of 8 bits, on the axis, Q8. Does nothing for SDR. Gains fit at a
 * cell's mean, or at 7/8 of the haze's light if the cell is lighter, for example by a lamp. */
void transfer_clear(const CurveParams *p, const HazeState *haze, const uint32_t nodes[CURVE_CELLS],
                    HazeClear *clear);

/* Moves noise, measured in the darker half of a picture, to the axis of light. `counts`: the
 * picture's histogram on the axis, by 8-bit code from black on. */
uint32_t transfer_noise(const CurveParams *p, const uint32_t counts[CURVE_CELLS], uint32_t noise);

/* How a curve changes a code. from, to: the levels before and after, on the axis of light, in
 * 256ths of 8-bit codes above black. codes, codes_after: how many codes of the format make one code
 * of the axis at these levels, Q16. */
typedef struct TransferStep {
    int32_t from, to, codes, codes_after;
} TransferStep;

/* `from`, `to`: codes, Q16. */
TransferStep transfer_step(const CurveParams *p, uint32_t from, uint32_t to);

#endif
