/*
 * HDR video, equalized in its own light.
 *
 * The rule works on an axis of light: the codes of an SDR display whose white is 203 nits, which
 * BT.2408 gives to HDR's paper white. A place x of the range from black to white stands for 203
 * times x^2.4 nits there. Counts of PQ and HLG codes are moved to that axis, with all light above
 * 203 nits at its white, and curves are moved back. Light from 203 nits on stays unchanged, and the
 * curve approaches the identity there without a kink.
 *
 * Sources: SMPTE ST 2084; ARIB STD-B67 with the system gamma of 1.2 of a display of 1,000 nits.
 */
#ifndef LUMEQ_TRANSFER_H
#define LUMEQ_TRANSFER_H

#include "equalizer/curve_types.h"

/* Positions of a format's bins on the axis of light. Zero at first. */
typedef struct TransferMap {
    int32_t key[6];                     /* the format that it is for */
    uint32_t begin[LUMEQ_MAX_BINS + 1]; /* Q16 bins above black */
    uint32_t light[LUMEQ_MAX_BINS + 1]; /* of the first code, Q24 of the range */
    uint32_t kept[LUMEQ_MAX_BINS + 1];  /* the share of the curve that applies there, Q24 */
} TransferMap;

/* The share of a curve that applies at a place on the axis, both Q24: all of it up to the middle,
 * then less and less, and 0 at white. */
uint64_t transfer_kept(uint32_t place);

/* Makes the map of a format, unless it is that already; nothing for SDR. The functions below need
 * it. */
void transfer_map(const CurveParams *p, TransferMap *map);

/* The counts of codes on the axis of light; for SDR they are returned as they are. `light`: memory
 * for p->bins of them. */
const uint32_t *transfer_counts(const CurveParams *p, const TransferMap *map,
                                const uint32_t *counts, uint32_t *light);

/* The curve of codes, from one on the axis of light (Q16 codes of all bins); for SDR it is returned
 * as it is. `codes`: memory for p->bins of them. */
const uint32_t *transfer_curve(const CurveParams *p, const TransferMap *map, const uint32_t *curve,
                               uint32_t *codes);

/* A mean of codes, above black and in 256ths of a code, on the axis of light. */
uint32_t transfer_level(const CurveParams *p, uint32_t level);

/* Noise of codes in the darker half of a picture, on the axis of light. `counts`: of the picture
 * there, by 8-bit code from black on. */
uint32_t transfer_noise(const CurveParams *p, const uint32_t counts[CURVE_CELLS], uint32_t noise);

/* A change of a code (Q16) on the axis of light: levels above black, in 256ths of codes of 8 bits;
 * and how many codes a code of the axis takes there, before and after, Q16. */
typedef struct TransferStep {
    int32_t from, to, codes, codes_after;
} TransferStep;

TransferStep transfer_step(const CurveParams *p, uint32_t from, uint32_t to);

#endif
