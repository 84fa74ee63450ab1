/*
 * Parameters, result and tables of a curve, and the history between frames: the types that the rule
 * (rule/) and all backends share.
 *
 * Q16 is fixed point with 16 fraction bits. Right shifts of negative numbers are arithmetic with
 * every supported compiler.
 */
#ifndef LUMEQ_CURVE_TYPES_H
#define LUMEQ_CURVE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/bars.h"
#include "equalizer/haze.h"
#include "equalizer/lift_filter.h"
#include "equalizer/noise.h"
#include "equalizer/samples.h"
#include "lumeq/lumeq.h"

#define CURVE_ONE 65536u /* 1.0 in Q16 */

/* Number of cells: a cell is the equivalent of one 8-bit code, at every depth. */
#define CURVE_CELLS 256

#define CURVE_CLIP_AUTO UINT32_MAX /* for CurveParams.clip */

/* Manual brightness and gamma, see rule/light.h; zero: unchanged. */
typedef struct CurveLight {
    uint32_t power; /* exponent of tones, Q24; 0 means 1 */
    int32_t lift;   /* Q24 */
} CurveLight;

#define CURVE_LIGHT_ONE (1u << 24) /* 1.0 in the members of CurveLight */

/* CurveParams.clear: remove haze as far as the picture is hazy, or from every picture. */
enum { CURVE_CLEAR_HAZY = 1, CURVE_CLEAR_ALWAYS };

#define CURVE_FADES_IN 2 /* for CurveResult.fades */

/* Everything the curve depends on besides the histogram and the history. */
typedef struct CurveParams {
    int32_t depth, shift; /* of the samples, as in LumeqImage */
    int32_t bins;
    int32_t fraction;     /* a bin counts 2^fraction codes */
    int32_t black, white; /* codes */
    uint32_t clip;        /* Q16 multiples of the mean bin; 0: no limit; CURVE_CLIP_AUTO: the lift
                           * rule decides */
    uint32_t alpha;       /* Q16, 1..CURVE_ONE: how far the curve moves to its target */
    uint32_t strength;    /* Q16 */
    int32_t adaptive;     /* well exposed pictures get less of the strength */
    int32_t stretch;      /* the target is a straight line */
    int32_t limit;        /* a LumeqLimit */
    int32_t lift;         /* lift_decide() makes the target */
    CurveLight light;
    uint32_t step;     /* microseconds since the previous frame */
    uint32_t denoise;  /* with a lift: share of the noise to filter, Q16 */
    int32_t past;      /* number of previous frames that the filter may use */
    int32_t first;     /* with a lift: first frame of a video, whose noise is not known yet */
    int32_t scene_cut; /* detect cuts */
    int32_t reference; /* OpenCV's curve; 8 bits only */
    int32_t transfer;  /* a LumeqTransfer */
    int32_t chroma;    /* scale chroma; otherwise all gains are 1 */
    int32_t clear;     /* clearing of haze: 0 (none), CURVE_CLEAR_HAZY or CURVE_CLEAR_ALWAYS */
    int32_t dither;
    uint32_t frame;  /* selects the dither pattern */
    LumeqRect meter; /* the counted region, within the picture; width 0: all of it */
} CurveParams;

typedef struct CurveBin {
    uint32_t target; /* Q16 codes: what `smooth` moves towards */
    uint32_t smooth; /* Q16 codes: the curve before strength is applied */
    uint32_t cdf;    /* Q16, of the last frame with samples in range */
    uint32_t hist;
    uint32_t curve; /* Q16 codes: output of the bin's first code, strength applied */
} CurveBin;

/* State of the lift between frames. */
typedef struct LiftState {
    uint32_t on;         /* 0: no lift, and the other members are undefined */
    uint32_t dark, more; /* Q16: LiftChoice.dark and LiftChoice.lift, smoothed like the curve */
    uint32_t voids;      /* LiftChoice.voids, smoothed like the curve */
    uint32_t ignored;    /* do not use this frame's measured noise, for example after a cut */
    uint32_t known;      /* the noise has been measured */
    uint32_t awaited;    /* frames left to wait for a noise measurement */
    uint32_t noise;      /* mean of the measured noise, in codes of 8 bits, Q16 */
    uint32_t seen;       /* noise measurements in this scene, at most LIFT_NOISE_SEEN */
} LiftState;

/* An epoch is a run of frames that share a target, see rule/epoch.h. */
typedef struct EpochState {
    uint32_t age;     /* microseconds, counted until they reach EPOCH_LEARN; 0: no epoch */
    uint32_t changed; /* how long the picture has differed from the mean CDF, in microseconds */
    uint32_t black;   /* the epoch began with a black picture, so its target is the identity */
    uint32_t need, dark, more, voids; /* targets of these members of CurveResult and LiftState */
    HazeState haze;                   /* target of CurveResult.cleared */
    uint32_t light[MEASURE_CELLS];    /* HazeState.mean of the epoch, smoothed like the curve */
    int32_t change;                   /* state of light_factor() between frames */
    uint32_t cdf[CURVE_CELLS];        /* mean CDF, Q16, by codes of 8 bits */
} EpochState;

/*
 * Result of a frame: the complete history for the next frame, and its statistics. Zero is an empty
 * history. Bins from `bins` on are undefined.
 */
typedef struct CurveResult {
    uint32_t bins;
    uint32_t depth; /* depth of the history; 0: no history */
    uint32_t white; /* the code of white; with the depth, it identifies the range */
    uint32_t scene_cut;
    uint32_t jumps;    /* consecutive changes of CURVE_JUMP or more; counted to CURVE_JUMPS + 1 */
    uint32_t need;     /* Q16, smoothed: share of the strength that the picture needs */
    uint32_t weight;   /* Q16: weight of this frame in the target */
    uint32_t alpha;    /* Q16: how far the curve moves to the target; 0 for the reference */
    uint32_t strength; /* Q16: strength used */
    uint32_t fades;    /* 1: fades out; CURVE_FADES_IN: is black or fades in; 0: no fade */
    uint32_t noise;    /* noise of this frame, from noise_of() */
    HazeState seen;    /* haze of this frame, from curve_haze() */
    HazeState cleared; /* the haze to remove, smoothed like the curve */
    HazeClear clear;   /* how to remove the haze, from `cleared` and the curve */
    BarsState bars;    /* found before the curve; the curve ignores samples in bars */
    LiftState lift;
    EpochState epoch;
    CurveBin bin[LUMEQ_MAX_BINS];
} CurveResult;

/* Lookup table of a frame. */
typedef struct CurveTable {
    CurveGain gain[CURVE_CELLS]; /* gain of chroma, by the cell of its luma */
    LiftTables lift;             /* without a lift, only luma_on and chroma_on are set, to 0 */
    HazeTint tint;               /* the haze's colour, subtracted from chroma as the last step */
    HazeClear clear;             /* the haze to remove from luma */
    union __attribute__((aligned(16))) {
        uint8_t codes8[256];              /* 8 bits: the output sample of each code */
        uint16_t codes16[LUMEQ_MAX_BINS]; /* up to 12 bits: the same, with shifted samples */
        /* With dither, or above 12 bits: nodes for curve_between(), including one past the last
         * code. */
        uint32_t nodes[LUMEQ_MAX_BINS + 1];
    };
} CurveTable;

/* Number of bins in a cell. */
CURVE_INLINE int curve_width(const CurveParams *p)
{
    return p->bins / CURVE_CELLS;
}

/* True if output codes are interpolated between nodes. */
CURVE_INLINE int curve_has_nodes(const CurveParams *p)
{
    return p->fraction || p->dither;
}

/* Converts Q16 codes of any depth to 256ths of 8-bit codes above black. */
CURVE_INLINE int32_t curve_above_black(const CurveParams *p, uint32_t value)
{
    return (int32_t)(value >> p->depth) - (p->black << 8 >> (p->depth - 8));
}

/* The gain of chroma whose luma changes from `in` to `out`, both in Q16 codes. */
CURVE_INLINE CurveGain curve_gain_over(const CurveParams *p, uint32_t in, uint32_t out,
                                       CurveGainRule rule)
{
    const int32_t from = curve_above_black(p, in), to = curve_above_black(p, out);
    CurveGain over;
    over.gain = (uint16_t)(p->chroma ? curve_gain(from, to, rule) : CURVE_GAIN_ONE);
    over.from = (uint16_t)(from > 0 ? from : 0);
    over.to = (uint16_t)(to > 0 ? to : 0);
    over.free = 0;
    return over;
}

#endif
