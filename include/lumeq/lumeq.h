/*
 * liblumeq: equalizes the luma of video frames on the GPU or on the CPU, with identical results.
 *
 * The work has three steps, and each can be used alone. A LumeqEqualizer performs all three:
 * lumeq_submit() takes frames, and lumeq_receive() returns them in the same order.
 *
 *   lumeq_measure()                           frame -> measure (histogram and other statistics)
 *   lumeq_history_put(), lumeq_history_get()  measures, in order -> curves
 *   lumeq_apply()                             frame and its curve -> equalized frame
 *
 * Only the history has state. Frames may therefore be measured and equalized in any order, on any
 * number of threads, processes and machines, on GPUs and CPUs, with identical results. An equalizer
 * gives the same results as a history without lookahead.
 *
 * The library knows no files, codecs or windows. It never prints, never exits, never reads the
 * environment, and never asserts on its input.
 *
 * Errors. Functions return 0 or a negative LUMEQ_ERR_*; if a comment lists errors, the list is
 * complete. Unless stated otherwise, a call that fails changes nothing. NULL is an ARGUMENT error
 * unless explicitly allowed. Functions that cannot return an error return NULL or an empty string
 * instead, or do nothing.
 *
 * Threads. "Any thread" means that calls may run concurrently, even on the same object. Objects are
 * independent of each other, and each type states how threads may use it. After fork(), the child
 * may use and destroy its copies of the objects; their GPU counts as lost. If fork() came during
 * another thread's call on an object, the child may only destroy this object, unless it is a
 * context.
 *
 * Ownership. The caller owns all images, structs and byte buffers that it passes. After the call,
 * the library keeps pointers only to the planes of submitted frames. The caller owns the objects it
 * creates and destroys each with the function declared next to its constructor.
 *
 * Sizes. Structs that begin with `size` may grow in later versions. Set it to the sizeof of the
 * struct, or to 0 for the size in version 1.0. Members that the caller's struct lacks count as 0,
 * which is the default of every member that a later version adds. The library accepts the larger
 * struct of a later version if all members that it does not know are 0. Any other size is an
 * ARGUMENT error. In output structs, the library writes only members that both sides know, and
 * never `size`. A zeroed struct is valid, except for LumeqParams (see lumeq_params_default()).
 * Structs without `size` never change.
 */
#ifndef LUMEQ_LUMEQ_H
#define LUMEQ_LUMEQ_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) /* exported from the shared library */
#define LUMEQ_API __attribute__((visibility("default")))
#else
#define LUMEQ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LUMEQ_VERSION_MAJOR 1
#define LUMEQ_VERSION_MINOR 0
#define LUMEQ_VERSION_PATCH 0

/* 1.0.0 is 1000000. */
#define LUMEQ_VERSION                                                                              \
    (LUMEQ_VERSION_MAJOR * 1000000 + LUMEQ_VERSION_MINOR * 1000 + LUMEQ_VERSION_PATCH)

/* LUMEQ_VERSION of the running library, which may be newer than this header. Any thread. */
LUMEQ_API int lumeq_version(void);

/* Backends in this build: "CPU and CUDA 13.0" or "CPU only (...)". Static storage. Any thread. */
LUMEQ_API const char *lumeq_build_info(void);

enum {
    LUMEQ_ERR_ARGUMENT = -1,    /* an argument is outside its documented range */
    LUMEQ_ERR_AGAIN = -2,       /* would block: make another call first, or wait */
    LUMEQ_ERR_END = -3,         /* end of stream: everything submitted has been returned */
    LUMEQ_ERR_MEMORY = -4,      /* out of memory */
    LUMEQ_ERR_UNAVAILABLE = -5, /* the requested backend or device cannot be used */
    LUMEQ_ERR_GPU = -6,         /* a CUDA call failed; lumeq_last_error() has CUDA's text */
};

/* A short English phrase for a LUMEQ_ERR_*. Static storage, never NULL. Any thread. */
LUMEQ_API const char *lumeq_error_string(int error);

/* ---- pictures ------------------------------------------------------------------------------- */

/* The luma codes of black and white. Limited: 16 and 235, times 2^(depth - 8). Full: 0 and the last
 * code. */
typedef enum LumeqRange {
    LUMEQ_RANGE_LIMITED = 0,
    LUMEQ_RANGE_FULL = 1,
} LumeqRange;

/* Where an image's planes reside. */
typedef enum LumeqMemory {
    LUMEQ_MEMORY_HOST = 0, /* pageable or pinned */
    /* Memory of the equalizer's or context's GPU, in its CUDA context (LumeqConfig.cuda_context).
     * An ARGUMENT error without a GPU. Fastest if rows start at multiples of 16 bytes. */
    LUMEQ_MEMORY_CUDA = 1,
} LumeqMemory;

/*
 * A picture in memory. Plain data; it does not own its planes.
 *
 * Planes may have any alignment. The magnitude of a stride is at least the length of a row and at
 * most 2^31 - 1. Bottom-up pictures have negative strides. Samples deeper than 8 bits occupy 16
 * bits, little-endian; their addresses and strides are even. A sample is its code times 2^shift:
 * planar pictures have shift 0, P010 has depth 10 and shift 6. The bits below the code are ignored
 * in input and 0 in output. A sample above the last code, 2^depth - 1, counts as the last code.
 */
typedef struct LumeqImage {
    /* The first rows of luma, Cb and Cr. If only Cr is NULL, plane[1] holds interleaved Cb and Cr,
     * Cb first (NV12, P010, P016). If plane[1] is NULL, only luma is processed. */
    void *plane[3];
    ptrdiff_t stride[3];    /* bytes from one row to the next */
    int width, height;      /* luma, in pixels: 1..LUMEQ_MAX_SIDE each, at most 2^31 - 1 pixels */
    int chroma_x, chroma_y; /* subsampling, 0..2 each: a chroma sample covers 2^chroma_x columns
                             * and 2^chroma_y rows of luma, or fewer at the edges */
    int depth;              /* bits of a code: 8..16 */
    int shift;              /* unused bits below the code: 0..16 - depth; 0 if depth is 8 */
    LumeqRange range;
    LumeqMemory memory; /* of all planes */
} LumeqImage;

#define LUMEQ_MAX_SIDE 65535
#define LUMEQ_MAX_BINS 4096

/* Maximum number of frames that a GPU processes in one launch, see LumeqConfig.batch. */
#define LUMEQ_MAX_BATCH 16

/* A rectangle in a picture, in pixels. */
typedef struct LumeqRect {
    int x, y, width, height;
} LumeqRect;

/* Order of the colours of a pixel. */
typedef enum LumeqOrder {
    LUMEQ_ORDER_BGR = 0,
    LUMEQ_ORDER_RGB = 1,
} LumeqOrder;

/* A colour picture in host memory. Plain data; it does not own its pixels. Any alignment, but
 * `data` and `stride` are even if `depth` is 16. `stride` has the limits of LumeqImage.stride. */
typedef struct LumeqPixels {
    void *data;        /* the first row */
    ptrdiff_t stride;  /* bytes from one row to the next */
    int width, height; /* 1..LUMEQ_MAX_SIDE each */
    int channels;      /* 3 or 4; the fourth, such as alpha, is copied */
    int depth;         /* 8 or 16 bits per channel */
    LumeqOrder order;
} LumeqPixels;

/* ---- parameters ----------------------------------------------------------------------------- */

typedef enum LumeqMode {
    LUMEQ_MODE_GLOBAL = 0, /* one curve for the whole picture, from its histogram */
    /* Applies only `brightness`, `gamma` and `deflicker`. Still maintains the history. */
    LUMEQ_MODE_OFF = 1,
    /* One curve per tile, from the tile's histogram. Each pixel blends the results of the four
     * nearest tiles' curves, weighted by distance (contrast limited adaptive histogram
     * equalization). */
    LUMEQ_MODE_CLAHE = 2,
    /* The curve is a straight line from black at the 0.5 % percentile to white at 99.5 %. */
    LUMEQ_MODE_STRETCH = 3,
    /* Like mode GLOBAL with `lift`, but removes the share `strength` of the haze from every
     * picture. Mode GLOBAL with `lift` removes three quarters, and only from hazy pictures. With
     * chroma SCALE, both modes also remove the haze's colour. */
    LUMEQ_MODE_HAZE = 4,
} LumeqMode;

typedef enum LumeqChroma {
    /* Chroma is scaled with the luma that it covers, within bounds. The luma of saturated colours
     * rises less, because their chroma cannot rise further. */
    LUMEQ_CHROMA_SCALE = 0,
    LUMEQ_CHROMA_KEEP = 1, /* copied unchanged */
} LumeqChroma;

typedef enum LumeqBars {
    LUMEQ_BARS_AUTO = 0,   /* black bars at the edges stay unchanged and are not counted */
    LUMEQ_BARS_IGNORE = 1, /* treats bars as part of the picture */
} LumeqBars;

typedef enum LumeqLimit {
    LUMEQ_LIMIT_NONE = 0,
    LUMEQ_LIMIT_DARKEN = 1,  /* no code becomes lighter than it was */
    LUMEQ_LIMIT_LIGHTEN = 2, /* no code becomes darker than it was */
} LumeqLimit;

/* When to stretch gray pictures deeper than 8 bits, which may use few of their codes. See the
 * section "deep gray". */
typedef enum LumeqCodeRange {
    LUMEQ_CODE_RANGE_FULL = 0, /* never */
    LUMEQ_CODE_RANGE_AUTO = 1, /* if the used codes span less than 8 % of all */
    LUMEQ_CODE_RANGE_USED = 2, /* always */
} LumeqCodeRange;

/* Transfer function of luma: how much light a code represents. */
typedef enum LumeqTransfer {
    LUMEQ_TRANSFER_SDR = 0, /* of any kind: BT.709, BT.1886, sRGB and others */
    LUMEQ_TRANSFER_PQ = 1,  /* SMPTE ST 2084, as in HDR10 */
    LUMEQ_TRANSFER_HLG = 2, /* ARIB STD-B67, for a display of 1,000 nits */
} LumeqTransfer;

/* Parameters that may change from frame to frame. Start from lumeq_params_default(), since the
 * default of many members is not 0. */
typedef struct LumeqParams {
    size_t size;
    LumeqMode mode;
    /* Not 0: results equal OpenCV's bit for bit. Mode GLOBAL equals equalizeHist; mode CLAHE equals
     * CLAHE with the clip limit `clip`. Each frame is processed alone, over codes 0..255. Besides
     * `mode` and `clip`, only tiles_x and tiles_y have an effect. Frames of more than 8 bits, and
     * modes STRETCH and HAZE, are an ARGUMENT error. In mode OFF, `reference` is ignored. */
    int reference;
    /* 0 (unchanged) .. 1 (fully equalized), or LUMEQ_STRENGTH_AUTO (see `lift`). A value of 0..1
     * turns `lift` off. */
    double strength;
    /* Not 0: only dull or dark pictures get the full `strength`. Better exposed pictures get less,
     * down to a tenth. Ignored in mode HAZE. LumeqFrameStats.strength is the strength used. */
    int adaptive;
    /* Limit of a histogram bin, in multiples of the mean bin: 0 (no limit), 1..LUMEQ_MAX_CLIP or
     * LUMEQ_CLIP_AUTO. AUTO is 3; with `lift` it is as high as the picture's noise allows. Lower
     * limits stretch contrast less; 1 disables equalization. In pictures deeper than 8 bits, the
     * limit applies to groups of 2^(depth - 8) codes, each the equivalent of one 8-bit code. */
    double clip;
    double smooth;        /* time constant of the curve in seconds, 0 (none)..LUMEQ_MAX_SMOOTH */
    int scene_cut;        /* not 0: after a cut, use the new picture's curve at once */
    int tiles_x, tiles_y; /* for mode CLAHE: 1..LUMEQ_MAX_TILES each; 0 means 8 */
    LumeqChroma chroma;   /* for images with chroma planes */
    int dither; /* not 0: fractions of codes are not rounded but dithered, with an ordered pattern
                 * that changes with each frame. Filtered pictures are always dithered. */
    LumeqBars bars;
    /* 0 (none) .. 1: how much of the source's flicker (timelapse, old film) to even out, over half
     * a second before and after each frame. Values above 0 need a history with lookahead, and are
     * an ARGUMENT error elsewhere. With `lift`, such a history always evens out the flicker that
     * the curve would amplify. */
    double deflicker;
    /* The region whose histogram determines the curve, like a camera's metering area; the curve
     * applies to the whole picture. Width and height 0: the whole picture; both -1: the middle half
     * of its columns and rows. The region is clipped to the picture; if nothing remains, the whole
     * picture counts. The histograms and means in LumeqFrameStats describe the region without bars.
     * Ignored with `reference`, in mode HAZE, and for the curves of tiles. */
    LumeqRect meter;
    /* Sets the meaning of strength AUTO. Not 0, in mode GLOBAL without `reference`: dark pictures
     * are lifted first, as far as their noise allows. Then each picture is equalized as much as it
     * needs: most if it is dull or hazy, hardly at all if it is well exposed. `clip` still applies.
     * 0, or in other modes: AUTO means strength 0.8 with `adaptive`. */
    int lift;
    /* Noise reduction in lifted pictures: 0 (none) .. 1, or LUMEQ_DENOISE_AUTO, which is 1. With 0,
     * previous frames are not read, and noisy pictures are lifted less, because their noise stays.
     * Pictures that are not lifted keep their noise. */
    double denoise;
    /* Manual brightness, -1..1, applied before equalization (in mode STRETCH after it); black and
     * white stay. Positive values make dark parts up to seven times as light; -b undoes b.
     * `strength` then blends with the brightened picture. Ignored with `reference`. */
    double brightness;
    /* LUMEQ_MIN_GAMMA..LUMEQ_MAX_GAMMA: maps a tone x of the range 0..1 to x^(1 / gamma), before
     * `brightness`; 0 and 1: no change. */
    double gamma;
    /* Only with `lift` and without lookahead. Not 0: the first frame starts a video whose frames
     * have `previous`, so the noise is known from the third frame on. In the first two frames, dark
     * pictures that may be pure noise, as from a covered lens, stay unchanged, and other dark
     * pictures are lifted slightly less. 0: the first frame is lifted as if it had little noise.
     * Use 0 for single pictures and after lumeq_reset(). */
    int await_noise;
    /* DARKEN keeps every curve, including `brightness` and `gamma`, at or below the identity;
     * LIGHTEN keeps it at or above. DARKEN also disables the noise filter, as if `denoise` were 0;
     * with LIGHTEN the filter may still darken single samples. Both leave haze in luma. Ignored
     * with `reference`. */
    LumeqLimit limit;
    /* For the caller to pass to lumeq_stretch_window(). The other functions ignore it. */
    LumeqCodeRange code_range;
    /* PQ and HLG are equalized as an SDR display with a white of 203 nits would show them, so all
     * settings mean the same as for SDR. Light above 203 nits stays unchanged. Ignored with
     * `reference`. */
    LumeqTransfer transfer;
} LumeqParams;

#define LUMEQ_STRENGTH_AUTO (-1.0)
#define LUMEQ_CLIP_AUTO (-1.0)
#define LUMEQ_DENOISE_AUTO (-1.0)
#define LUMEQ_MAX_CLIP 1000.0
#define LUMEQ_MAX_SMOOTH 3600.0
#define LUMEQ_MAX_TILES 16
#define LUMEQ_MIN_GAMMA 0.1
#define LUMEQ_MAX_GAMMA 10.0

/*
 * Sets the defaults, as far as params->size reaches. They suit ordinary video: dark pictures are
 * lifted, dull ones gain contrast, and well exposed ones stay nearly unchanged. They are mode
 * GLOBAL, strength AUTO, lift, clip AUTO, smooth 0.5 s, scene_cut, 8x8 tiles, chroma SCALE, no
 * dither, bars AUTO, no deflicker, denoise AUTO. Does nothing if params->size is invalid. Any
 * thread.
 */
LUMEQ_API void lumeq_params_default(LumeqParams *params);

/*
 * Sets the defaults and then a profile, which is a set of parameters for a kind of video: "fog",
 * "medical-gray", "night", "screen", "surveillance", "thermal" or "water". `await_noise` and
 * `transfer` keep their values. Writes as far as params->size reaches. Error: ARGUMENT (also an
 * unknown name); the parameters then stay unchanged. Any thread.
 */
LUMEQ_API int lumeq_params_profile(LumeqParams *params, const char *name);

/* Returns the light of a luma code in nits. `signal` is the code's place between black (0) and
 * white (1), clamped to 0..1. SDR's white is 203 nits. Any thread. */
LUMEQ_API double lumeq_nits(LumeqTransfer transfer, double signal);

/* Returns the name of profile number `index`, counted from 0, or NULL past the last one. Static
 * storage. Any thread. */
LUMEQ_API const char *lumeq_profile_name(int index);

/* ---- backends ------------------------------------------------------------------------------- */

typedef enum LumeqBackendId {
    LUMEQ_BACKEND_AUTO = 0, /* CUDA if it works, otherwise the CPU */
    LUMEQ_BACKEND_CPU = 1,
    LUMEQ_BACKEND_CUDA = 2,
} LumeqBackendId;

/* Instruction sets. AVX512 means F, BW, VL, VBMI, BITALG and GFNI, as in Ice Lake and Zen 4. NEON
 * belongs to every 64-bit ARM CPU. */
enum { LUMEQ_CPU_AVX2 = 1, LUMEQ_CPU_AVX512 = 2, LUMEQ_CPU_SSE42 = 4, LUMEQ_CPU_NEON = 8 };

typedef enum LumeqLogLevel {
    LUMEQ_LOG_WARNING = 1, /* processing continues, but not as requested */
    LUMEQ_LOG_INFO = 2,    /* a choice and its reason */
} LumeqLogLevel;

/* Configuration of a context or an equalizer. {0} is the default. */
typedef struct LumeqConfig {
    size_t size;
    LumeqBackendId backend;
    int device;  /* CUDA device number */
    int threads; /* CPU threads, including the caller's: 1..256, 0 = one for each core */
    /* Instruction sets not to use even if the CPU has them: LUMEQ_CPU_* flags combined with |.
     * Results stay identical, only slower. Unknown bits are ignored. */
    unsigned cpu_without;
    /*
     * The CUcontext of `device` to work in. It must outlive the objects created with it. Each call
     * pushes and pops it, so the caller's current context stays. NULL: the primary context of the
     * device; calls then leave `device` current in their thread.
     */
    void *cuda_context;
    /* Called with one sentence without a newline, in the thread of the call that it concerns. The
     * callback must not call the library. NULL: no log. */
    void (*log)(void *user, LumeqLogLevel level, const char *text);
    void *log_user;
    /* Not 0: for live sources such as a camera or a window. An equalizer then sleeps while it waits
     * for the GPU, instead of keeping a core busy. Frames then arrive up to 0.2 ms later, or 0.3 ms
     * if they are in host memory. */
    int real_time;
    /* Not 0: on a GPU, stage times are not measured and stay 0 in LumeqFrameStats, which saves CUDA
     * calls for each frame. */
    int no_stage_times;
    /*
     * Maximum number of frames in a batch on a GPU, 0..LUMEQ_MAX_BATCH; 0 and 1: no batches. Frames
     * of a batch that have the same shape and settings share launches, which makes small frames
     * cheaper. lumeq_submit() collects frames until the batch is full. lumeq_receive() starts an
     * incomplete batch if the next frame to return is in it, or after lumeq_flush().
     * lumeq_destroy() drops an incomplete batch. A frame with LumeqSync starts its batch at once. A
     * frame's stage times cover all frames that share its launches. Up to four batches are in
     * flight; each frame takes 0.25 to 2 MB on the GPU, plus its planes if they are in host memory.
     * If the GPU has no memory for another frame, the frames in flight are finished first. Ignored
     * by contexts, by the CPU, and with real_time.
     */
    int batch;
} LumeqConfig;

/*
 * Synchronizes a call with the caller's own work on the GPU. With `stream` or `finished` set, a
 * call does not wait for the GPU, except to copy from or to pageable memory. Without `reference`,
 * lumeq_submit() also waits for the frame's measure, from which the host makes the curve. Results
 * are ready when the work queued on `stream`, or the event `finished`, has completed.
 *
 * If the library has to wait more than 10 seconds for earlier work of the caller, it treats the GPU
 * as lost. But the GPU may still execute the calls that did not wait for it. The memory passed to
 * these calls must then stay allocated and untouched until the process ends.
 *
 * Streams and events must belong to the library's CUDA context. Without a GPU, any LumeqSync is an
 * ARGUMENT error; contexts that have lost their GPU return GPU instead.
 */
typedef struct LumeqSync {
    size_t size;
    void *stream;   /* CUstream on which to queue all work; NULL: the library's own */
    void *ready;    /* CUevent to wait for before accessing memory; NULL: none */
    void *finished; /* CUevent to record after the last memory access; NULL: none */
    /* CUstream whose work queued so far must complete before memory is accessed; NULL: none. Like
     * `ready`, but without an event. The library queues no work on it. */
    void *after;
} LumeqSync;

/* ---- frames --------------------------------------------------------------------------------- */

/*
 * One frame to equalize.
 *
 * `out` has the size, depth and range of `in`; its shift may differ. `in` and `out` must not
 * overlap. If `out` has chroma planes, they are written as well. `in` must then have chroma of the
 * same subsampling, but planar and interleaved chroma may be mixed. out.plane[0] == NULL: the frame
 * is only measured, with the same statistics and effect on the history.
 *
 * A change of depth or range has the effect of lumeq_reset().
 *
 * Between submit and receive, no other GPU work may access an output in CUDA memory; after receive,
 * it is complete for every stream.
 */
typedef struct LumeqFrame {
    size_t size;
    LumeqImage in, out;
    int64_t time; /* presentation time in nanoseconds, or LUMEQ_NO_TIME */
    /* In nanoseconds, 0 = unknown; used if `time` is missing or does not increase. */
    int64_t duration;
    void *opaque; /* the caller's; returned with the frame */
    /* Frame number in the stream, 0 or more; selects the dither pattern. 0: the previous frame's
     * number plus 1; in the first frame and after a reset, 0. */
    int64_t number;
    /* NULL: none. Read by lumeq_submit(). NULL when the frame is returned. */
    const LumeqSync *sync;
    /* The frame before `in`, with the same size, depth, shift and range; to measure and filter
     * noise. NULL: none, as after a seek. Its planes are borrowed like those of `in`, and must be
     * unchanged since they were submitted. lumeq_submit() reads the struct. NULL when the frame is
     * returned. */
    const LumeqImage *previous;
    /* Not 0: rows alternate between two fields taken at different times. Filters then run on each
     * field separately; everything else is the same. */
    int interlaced;
} LumeqFrame;

#define LUMEQ_NO_TIME INT64_MIN

/* Stages of a frame on the GPU. The CPU has only LUMEQ_STAGE_EQUALIZE; the others take 0. */
enum { LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_EQUALIZE, LUMEQ_STAGE_DOWNLOAD, LUMEQ_STAGES };

/*
 * Statistics of one frame. There are 2^depth bins, at most LUMEQ_MAX_BINS: from 13 bits on, one bin
 * counts 2^(depth - 12) codes. Histograms sum to the area of the active picture.
 *
 * The caller sets `size` and points each array to memory for LUMEQ_MAX_BINS entries, or to NULL.
 * The library writes the first `bins` entries.
 *
 * If a bin counts several codes, `curve` is the output of its first code. The outputs of its other
 * codes are interpolated between this output and that of the next bin (after the last bin:
 * 2^depth). hist_out then assumes that all codes of a bin are equally frequent, and means use the
 * middle of each bin. In mode CLAHE, `curve` is the mean of the tiles' curves, and hist_out counts
 * the output of each tile's own curve. hist_out ignores dither, the filter (`filtered`) and the
 * removal of haze (`cleared`).
 */
typedef struct LumeqFrameStats {
    size_t size;
    uint32_t *hist_in, *hist_out;
    uint32_t *curve;  /* output code of each bin, with 16 fraction bits */
    LumeqRect active; /* the equalized part: the picture without its bars */
    int bins;
    int scene_cut;            /* 1: treated as the first frame of a new scene */
    double mean_in, mean_out; /* luma, in codes of the frame's depth */
    double strength;          /* strength used; with `lift`, for the equalization after the lift */
    double noise_gain;  /* steepest slope of the curve in the darkest quarter of the range: the
                         * maximum factor by which noise in dark areas grows. 1: unchanged */
    double curve_speed; /* mean over bins of |curve - previous curve| in codes, at strength 1 */
    /* Durations of the stages in microseconds, and the times at which they begin and end, counted
     * from the creation of the equalizer. Stages of neighbouring frames overlap. 0 if the
     * stage does not exist, and with LumeqConfig.no_stage_times on a GPU. lumeq_curve_stats() does
     * not write them. */
    double upload_us, equalize_us, download_us;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES];
    /* Number of previous frames that lumeq_apply() can use with this curve: at most 3 with
     * lookahead, else at most 1. */
    int previous;
    /* Standard deviation of the noise in still areas of the picture's darker half, in codes of 8
     * bits; -1 if unknown: previous frame missing or identical, few still areas, or `reference`. */
    double noise;
    /* With LumeqParams.lift: gain of the darkest tones before equalization, at least 1; else 1. */
    double lift;
    double dark;  /* with LumeqParams.lift, darkness of the picture, smoothed, 0..1; else 0 */
    int filtered; /* 1: the curve is steep enough to expose noise or banding, so the filter runs */
    double cleared; /* gain of contrast from removing haze: 0.5 means 1.5 times the contrast; mean
                     * over 16x9 parts of the picture */
} LumeqFrameStats;

/* A GPU of this machine. */
typedef struct LumeqGpu {
    size_t size;
    char name[128];
    uint64_t memory;  /* bytes */
    int major, minor; /* compute capability */
    int processors;   /* streaming multiprocessors */
} LumeqGpu;

/*
 * Writes up to `count` entries of `gpus`, ordered by device number, and returns the number of GPUs,
 * which may be larger. `gpus` may be NULL if `count` is 0. The size in the first entry applies to
 * all of them. If CUDA cannot be used, `why` (of `why_size` bytes, may be NULL) gets one sentence
 * with the reason. Errors: ARGUMENT, UNAVAILABLE, GPU. Any thread.
 */
LUMEQ_API int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size);

/* Memory that the library counts for this process, in bytes: current, peak (_most) and limit. */
typedef struct LumeqMemoryUse {
    size_t size;
    /* On the GPU: from lumeq_alloc_device() and lumeq_reserve_device(), and the library's own,
     * which may exceed the limit. All 0 if no context or equalizer was opened on it. */
    uint64_t device, device_most, device_limit;
    /* Pinned host memory: from lumeq_alloc_host(), and the library's own, as above. */
    uint64_t pinned, pinned_most, pinned_limit;
} LumeqMemoryUse;

/* Writes the memory use of a GPU, and of pinned memory. Errors: ARGUMENT. Any thread. */
LUMEQ_API int lumeq_memory_use(int device, LumeqMemoryUse *use);

/*
 * Reserves a part of the limit of lumeq_alloc_device() for GPU memory that other code, such as a
 * decoder, is about to allocate. Allocate only if this succeeds. Release each reservation with the
 * same number of bytes. Errors: ARGUMENT, MEMORY (the limit is reached), UNAVAILABLE (no equalizer
 * or context was opened on this GPU). Any thread.
 */
LUMEQ_API int lumeq_reserve_device(int device, uint64_t bytes);
LUMEQ_API void lumeq_release_device(int device, uint64_t bytes);

/* ---- step by step --------------------------------------------------------------------------- */

/*
 * The CPU threads, or the GPU and its streams, that measure and equalize. Any thread; it must
 * outlive the calls that use it. If its GPU is lost, calls without sync whose images are in host
 * memory continue on the CPU; all other calls fail with GPU.
 *
 * The functions of this section leave a sentence about their last error in lumeq_last_error(NULL).
 */
typedef struct LumeqContext LumeqContext;

/*
 * Creates a context. NULL config: the defaults. `why` (of `why_size` bytes, may be NULL) gets the
 * name of the device and, if AUTO chose the CPU, the reason. On failure it gets one sentence about
 * the error, and *context is NULL. Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU. Any thread.
 */
LUMEQ_API int lumeq_context_create(LumeqContext **context, const LumeqConfig *config, char *why,
                                   size_t why_size);

/* Waits for the context's work, then frees the context and sets *context to NULL. *context may be
 * NULL. First free the memory allocated with the context, and finish or free measures made with
 * sync. Curves and finished measures outlive the context. */
LUMEQ_API void lumeq_context_destroy(LumeqContext **context);

/* "cpu" or "cuda"; "cpu" also once the GPU is lost. Static storage. Any thread. */
LUMEQ_API const char *lumeq_context_backend_name(const LumeqContext *context);

/*
 * Allocates host memory that the backend accesses fastest (pinned for CUDA, ordinary for the CPU),
 * aligned to at least 64 bytes, with undefined content. Returns NULL if out of memory or if the GPU
 * is lost; ordinary memory works too, but is slower. The process may pin 2 GiB or a quarter of the
 * RAM, whichever is less. NULL may be freed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_host(LumeqContext *context, size_t size);
LUMEQ_API void lumeq_free_host(LumeqContext *context, void *memory);

/*
 * Allocates memory of the context's GPU for images in LUMEQ_MEMORY_CUDA, aligned to 256 bytes, with
 * undefined content. Returns NULL if the backend is the CPU or the GPU is out of memory. The
 * process may use half of a GPU's memory (lumeq_memory_use()). Freeing may wait for the GPU; NULL
 * may be freed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_device(LumeqContext *context, size_t size);
LUMEQ_API void lumeq_free_device(LumeqContext *context, void *memory);

/*
 * Returns the context's CUcontext, for example for a decoder on the same GPU, and a CUstream in it
 * for the caller's own work (see LumeqSync.after). The library queues nothing on this stream. Both
 * are valid until lumeq_context_destroy(), and work on the stream must have ended by then; a
 * CUcontext from LumeqConfig.cuda_context stays the caller's. Errors: ARGUMENT, UNAVAILABLE (the
 * backend is the CPU, or no stream can be created), GPU; both are then NULL. Any thread.
 */
LUMEQ_API int lumeq_get_cuda(LumeqContext *context, void **cuda_context, void **stream);

/*
 * Everything the history needs about a frame: its histogram, statistics to find bars, cuts, haze
 * and noise, and, for mode CLAHE, the histograms of the tiles. One thread at a time may write it;
 * once it is finished, any thread may read it.
 */
typedef struct LumeqMeasure LumeqMeasure;

/*
 * Measures `in`, whose chroma may be missing. If *measure is NULL, creates a measure; otherwise
 * overwrites *measure, which stays unchanged on failure. From `params` (NULL: the defaults) only
 * mode, reference, tiles and meter matter. `previous`: the frame before `in`, with the same size,
 * depth, shift and range, to measure noise; or NULL. Without sync the measure is finished when the
 * call returns. Errors: ARGUMENT, MEMORY, GPU. Any thread.
 */
LUMEQ_API int lumeq_measure(LumeqContext *context, LumeqMeasure **measure,
                            const LumeqParams *params, const LumeqImage *in,
                            const LumeqImage *previous, const LumeqSync *sync);

/* Finishes a measure that was made with sync; other functions cannot read it before. If the GPU is
 * still busy, waits or, with wait == 0, returns AGAIN. Does nothing if the measure is already
 * finished. Errors: ARGUMENT, AGAIN, GPU (the measure can then only be freed or overwritten). One
 * thread at a time.
 */
LUMEQ_API int lumeq_measure_finish(LumeqMeasure *measure, int wait);

/*
 * Serializes a finished measure, for any machine, in the format of this version. Before the call,
 * *size is the size of `bytes`; after it, the required size. bytes == NULL: only computes the size.
 * A measure of 8 bits takes a few KB, plus 1 KB for each tile (2 KB with `reference`). Errors:
 * ARGUMENT (also if `bytes` is too small; its content is then undefined), AGAIN (not finished). Any
 * thread.
 */
LUMEQ_API int lumeq_measure_pack(const LumeqMeasure *measure, void *bytes, size_t *size);

/* Deserializes a measure; *measure as in lumeq_measure(). Any bytes are safe to pass. They are
 * refused unless they are a complete measure in the format of this version. Errors: ARGUMENT,
 * MEMORY. Any thread. */
LUMEQ_API int lumeq_measure_unpack(LumeqMeasure **measure, const void *bytes, size_t size);

/*
 * Converts a finished measure of 8 bits to 9..16 bits (`depth`), for a picture that is measured in
 * 8 bits but equalized at this depth. In limited range, codes are shifted left. In full range,
 * copies of their high bits fill the low bits, so that white stays white; sums of luma are then
 * exact to within a code per sample. The result is for frames of this depth with `shift` 0.
 * Errors: ARGUMENT (also a measure made with `reference`), AGAIN (not finished), MEMORY; the
 * measure then stays unchanged. One thread at a time.
 */
LUMEQ_API int lumeq_measure_deepen(LumeqMeasure *measure, int depth);

/* Frees the measure and sets *measure to NULL. *measure may be NULL. Waits for the GPU if the
 * measure is not finished. */
LUMEQ_API void lumeq_measure_free(LumeqMeasure **measure);

/* Timing of a measured frame. */
typedef struct LumeqMoment {
    size_t size;
    int64_t number, time, duration; /* as in LumeqFrame */
    int discontinuity;              /* not 0: unrelated to the previous frame, as after a seek */
    int interlaced;                 /* as in LumeqFrame; stored in the curve */
} LumeqMoment;

/* Turns measures into curves, in order. It reads no pixels; it computes on the host, in integers.
 * One thread at a time. */
typedef struct LumeqHistory LumeqHistory;

#define LUMEQ_MAX_LOOKAHEAD INT64_C(10000000000)

/*
 * Creates a history. NULL params: the defaults.
 *
 * lookahead 0: a curve depends on its frame and earlier ones only, as with a LumeqEqualizer.
 * Otherwise, `lookahead` is how far measures run ahead of the returned curves, in nanoseconds, at
 * most LUMEQ_MAX_LOOKAHEAD. Cuts are then exact, bars are known from their first frame on, and
 * curves change together with the picture. A fade-in uses the curve of the scene after it, a
 * fade-out that of the scene before it. The history keeps the measures of the lookahead, and
 * earlier ones for at most half as long. To limit their number, a frame counts as 1/300 s or more.
 *
 * Errors: ARGUMENT, MEMORY; *history is then NULL. Any thread.
 */
LUMEQ_API int lumeq_history_create(LumeqHistory **history, const LumeqParams *params,
                                   int64_t lookahead);

/* Frees the history and sets *history to NULL. *history may be NULL. Its curves outlive it. */
LUMEQ_API void lumeq_history_destroy(LumeqHistory **history);

/*
 * Adds the measure of the next frame. The caller still owns the measure and may reuse it at once.
 * Both NULL: end of stream; lumeq_history_get() returns the remaining curves and then END, and the
 * next put begins a new stream. Errors: ARGUMENT (also a measure that is not finished, or whose
 * tiles or metering region differ from the parameters), AGAIN (get a curve first), MEMORY.
 */
LUMEQ_API int lumeq_history_put(LumeqHistory *history, const LumeqMeasure *measure,
                                const LumeqMoment *moment);

/* Everything needed to equalize one frame. Immutable. Any thread. */
typedef struct LumeqCurve LumeqCurve;

/* Returns the next frame's curve; release it with lumeq_curve_unref(). On failure *curve is NULL.
 * Errors: ARGUMENT, AGAIN (more measures are needed), END, MEMORY (call again for the curve). */
LUMEQ_API int lumeq_history_get(LumeqHistory *history, LumeqCurve **curve);

/* Sets the parameters of the frames put from now on. The change is fully visible in the next frame,
 * whatever `smooth` is. Errors: ARGUMENT (also a history with lookahead, whose parameters are
 * fixed). */
LUMEQ_API int lumeq_history_set_params(LumeqHistory *history, const LumeqParams *params);

/* Copies the state and the parameters of `from`. A curve that lumeq_history_get() has not returned
 * yet is not copied from `from`, and is dropped in `to`. To go back to a frame, use a copy made
 * before this frame. Errors: ARGUMENT (also a history with lookahead). */
LUMEQ_API int lumeq_history_copy(LumeqHistory *to, const LumeqHistory *from);

/* Frees the curve and sets *curve to NULL. *curve may be NULL. */
LUMEQ_API void lumeq_curve_unref(LumeqCurve **curve);

/* Writes the statistics of the frame and its curve. Error: ARGUMENT. */
LUMEQ_API int lumeq_curve_stats(const LumeqCurve *curve, LumeqFrameStats *stats);

/* Like lumeq_measure_pack() and lumeq_measure_unpack(), for a curve. Unpacking replaces *curve and
 * releases the old curve, which may be NULL. Errors: ARGUMENT; unpack: also MEMORY. */
LUMEQ_API int lumeq_curve_pack(const LumeqCurve *curve, void *bytes, size_t *size);
LUMEQ_API int lumeq_curve_unpack(LumeqCurve **curve, const void *bytes, size_t size);

/* Like lumeq_curve_pack(), but without the histograms, which hardly compress. Only
 * lumeq_curve_stats() uses them; for the restored curve, it writes histograms and means of 0. */
LUMEQ_API int lumeq_curve_pack_bare(const LumeqCurve *curve, void *bytes, size_t *size);

/*
 * Equalizes `in` by the curve into `out`, with the same results as lumeq_submit(). The images obey
 * the rules of LumeqFrame and have the size, depth, shift and range of the measured image (the
 * shift of `out` may differ). `previous`: the `count` frames before `in`, nearest first. At most
 * LumeqFrameStats.previous of them are read. Without sync the output is complete when the call
 * returns. Errors: ARGUMENT, MEMORY, GPU; after the last two the output is undefined. Any thread.
 */
LUMEQ_API int lumeq_apply(LumeqContext *context, const LumeqCurve *curve, const LumeqImage *in,
                          const LumeqImage *previous, int count, const LumeqImage *out,
                          const LumeqSync *sync);

/* ---- deep gray ------------------------------------------------------------------------------ */

/*
 * Thermal cameras send gray of 14 or 16 bits that uses only a few hundred codes. Stretch such
 * pictures before they are measured or submitted. The used codes then fill at least seven eighths
 * of the output; the other codes share its ends. Images of this section are gray, deeper than 8
 * bits, and in host memory. Errors leave a sentence in lumeq_last_error(NULL).
 */

/* First and last code of a range. */
typedef struct LumeqCodes {
    int low, high;
} LumeqCodes;

/* Finds the range of codes that a picture uses, without 0.1 % of the samples at each end. `noise`
 * gets the noise's standard deviation in codes; NULL: not wanted. Returns 1, or 0 if the picture
 * may be noise alone, as with a capped lens. Errors: ARGUMENT, MEMORY. Any thread. */
LUMEQ_API int lumeq_measure_codes(const LumeqImage *in, LumeqCodes *used, int *noise);

/* Returns 1 if LUMEQ_CODE_RANGE_AUTO stretches pictures that use these codes, else 0. `all`: the
 * codes of black and white; `held`: not 0 if the stream is already stretched. Error: ARGUMENT. Any
 * thread. */
LUMEQ_API int lumeq_is_sliver(const LumeqCodes *used, const LumeqCodes *all, int held);

/* The state of stretching one stream. One thread at a time. */
typedef struct LumeqStretch LumeqStretch;

/* Creates the state. `fixed`: the window, which is the range of codes to stretch, for all pictures.
 * NULL: the window follows the pictures with a time constant of 2 s. Errors: ARGUMENT, MEMORY;
 * *stretch is then NULL. */
LUMEQ_API int lumeq_stretch_create(LumeqStretch **stretch, const LumeqCodes *fixed);

/* Frees the stretch and sets *stretch to NULL. *stretch may be NULL. */
LUMEQ_API void lumeq_stretch_destroy(LumeqStretch **stretch);

/* Forgets earlier pictures, after a seek for example: the next one sets the window at once. */
LUMEQ_API void lumeq_stretch_reset(LumeqStretch *stretch);

/* Updates the window from the next picture of the stream; `time` is in nanoseconds. Returns 1 and
 * the window for lumeq_stretch_write(), or 0 if the picture should stay as it is. Errors: ARGUMENT,
 * MEMORY. */
LUMEQ_API int lumeq_stretch_window(LumeqStretch *stretch, LumeqCodeRange mode, const LumeqImage *in,
                                   int64_t time, LumeqCodes *window);

/* Writes the stretched picture; `out` has the size and depth of `in`, and may be `in`. Error:
 * ARGUMENT. */
LUMEQ_API int lumeq_stretch_write(LumeqStretch *stretch, const LumeqCodes *window,
                                  const LumeqImage *in, const LumeqImage *out);

/* ---- live ----------------------------------------------------------------------------------- */

/* The three steps in one, for frames in order. One thread at a time. */
typedef struct LumeqEqualizer LumeqEqualizer;

/* Creates an equalizer with the default parameters and an empty history. `config`, `why` and errors
 * are those of lumeq_context_create(). Any thread. */
LUMEQ_API int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why,
                           size_t why_size);

/* Waits for the frames in flight, frees the equalizer and sets *equalizer to NULL. *equalizer may
 * be NULL. Free the memory of its context first. */
LUMEQ_API void lumeq_destroy(LumeqEqualizer **equalizer);

/* Returns the equalizer's context, with which the caller can allocate memory, get the CUDA context,
 * or measure and equalize further frames step by step. It lives as long as the equalizer. NULL for
 * NULL. Any thread. */
LUMEQ_API LumeqContext *lumeq_get_context(LumeqEqualizer *equalizer);

/*
 * Returns "cpu" or "cuda". Static storage.
 *
 * The GPU is lost if a CUDA call fails, for example after a driver reset, or if it makes no
 * progress for 10 seconds. If the GPU is lost or has no memory for a frame, the CPU takes over.
 * Results stay identical, this function then returns "cpu", and lumeq_last_error() gives the
 * reason. The CPU also finishes the frames in flight, except for two kinds:
 *
 * A frame whose output is in CUDA memory, which the CPU cannot reach, is only measured: it comes
 * back with out.plane[0] == NULL and correct statistics. Submitting another output in CUDA
 * memory is an ARGUMENT error.
 *
 * A frame with an input in CUDA memory, or with a LumeqSync, is lost with the GPU: lumeq_receive()
 * returns the frame with an undefined output, and the error GPU. The history continues without the
 * frame, and `finished` of its LumeqSync may never complete. If the GPU only lacks memory for such
 * a frame, the GPU stays in use, and lumeq_submit() fails with UNAVAILABLE.
 */
LUMEQ_API const char *lumeq_backend_name(const LumeqEqualizer *equalizer);

/*
 * One sentence about the equalizer's last error other than AGAIN and END; "" if there was none.
 * Valid until the next call on the equalizer. NULL: the last error in this thread, with or without
 * an equalizer; valid until the next one.
 */
LUMEQ_API const char *lumeq_last_error(const LumeqEqualizer *equalizer);

/* Sets the parameters for frames submitted from now on; those in flight keep theirs. The change is
 * fully visible in the next frame, whatever `smooth` is. Error: ARGUMENT. */
LUMEQ_API int lumeq_set_params(LumeqEqualizer *equalizer, const LumeqParams *params);

/*
 * Submits the next frame, in presentation order. The equalizer borrows the planes of all images
 * until lumeq_receive() returns the frame; on failure it borrows nothing. At most one frame is in
 * flight on the CPU; on a GPU, four frames or, with LumeqConfig.batch, four batches. Errors: AGAIN
 * (that many frames are in flight: receive a frame first), ARGUMENT (also a frame deeper than 8
 * bits with params.reference), MEMORY, GPU, UNAVAILABLE (the GPU has no memory for this frame, and
 * the CPU may not take it: LUMEQ_BACKEND_CUDA was requested, an input is in CUDA memory, or the
 * frame has a LumeqSync; other frames may still succeed).
 */
LUMEQ_API int lumeq_submit(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/*
 * Returns the oldest frame in flight in `frame`, and its statistics in `stats`. Either may be NULL.
 * If the frame is not finished, waits after lumeq_flush() or if lumeq_submit() would return AGAIN;
 * otherwise returns AGAIN. After a GPU has written a frame, the next call of lumeq_submit() or
 * lumeq_receive() starts to copy it to an output in host memory. Errors: ARGUMENT, AGAIN (submit a
 * frame first, or wait), END (after lumeq_flush(): no frame is left), MEMORY, GPU (also for each
 * frame that was lost with the GPU; it is still returned).
 */
LUMEQ_API int lumeq_receive(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* Submits a frame, waits for it and returns it in the same struct. stats may be NULL. Errors: AGAIN
 * (other frames are in flight), otherwise those of lumeq_submit() and lumeq_receive(). */
LUMEQ_API int lumeq_process(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/*
 * Like lumeq_process() for a colour picture. It is converted to Y, Cb and Cr and back, as in JPEG
 * and OpenCV (full-range BT.601), with 10 bits for colours of 8 bits and 16 for 16. Colours of 8
 * bits that need no change keep their values. `out` differs from `in` in data and stride only and
 * may be the same memory. Noise is measured against the previous picture if it had the same size
 * and depth. In `stats`, means are in codes of the picture; histograms and the curve are those of
 * the planes. `time` and `duration` are those of LumeqFrame. Errors: those of lumeq_process().
 */
LUMEQ_API int lumeq_process_pixels(LumeqEqualizer *equalizer, const LumeqPixels *in,
                                   const LumeqPixels *out, int64_t time, int64_t duration,
                                   LumeqFrameStats *stats);

/* Ends input for now: lumeq_receive() waits for each frame in flight and then returns END. The next
 * submit resumes; the history is kept. */
LUMEQ_API void lumeq_flush(LumeqEqualizer *equalizer);

/* Clears the history, after a seek for example: the curve of the next frame depends on that frame
 * alone. Frames in flight are not affected. */
LUMEQ_API void lumeq_reset(LumeqEqualizer *equalizer);

#ifdef __cplusplus
}
#endif

#endif
