/*
 * liblumeq: equalizes the luma of video frames on the GPU or on the CPU, with identical results.
 *
 * Three steps share the work, and each is useful alone. A LumeqEqualizer takes them for frames in a
 * row: lumeq_submit() takes frames and lumeq_receive() returns them in the same order.
 *
 *   lumeq_measure()                           frame -> measure (histogram and other statistics)
 *   lumeq_history_put(), lumeq_history_get()  measures, in order -> curves
 *   lumeq_apply()                             frame and its curve -> equalized frame
 *
 * Only the history has state. Frames may therefore be measured and equalized in any order, on any
 * number of threads, processes and machines, on GPUs and CPUs, with identical results. An equalizer
 * gives those of a history without lookahead.
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
 * may use and destroy its copies, but without a GPU: that counts as lost. If another thread was in
 * a call on a copy, and the object is no context, the child can only destroy it.
 *
 * Ownership. The caller owns all images, structs and byte buffers that it passes; the library keeps
 * no pointer to them after the call, except to the planes of submitted frames. The caller owns the
 * objects it creates and destroys each with the function declared next to its constructor.
 *
 * Sizes. Structs that begin with `size` may grow in later versions. Set it to the sizeof of the
 * struct, or to 0 for the size in version 1.0. The library reads members that the caller's struct
 * lacks as 0, which is the default of every member added later. It accepts a struct from a later
 * version if everything unknown to this version is 0; any other size is an ARGUMENT error. In
 * output structs it writes only the members that both sides know, and never `size`. A zeroed struct
 * is valid, except for LumeqParams (see lumeq_params_default()). LumeqImage and LumeqRect never
 * change.
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
    /* Memory of the equalizer's GPU, in its CUDA context (see LumeqConfig.cuda_context). Refused if
     * the backend is "cpu". Fastest if rows start at multiples of 16 bytes. */
    LUMEQ_MEMORY_CUDA = 1,
} LumeqMemory;

/*
 * A picture in memory. Plain data; it does not own its planes.
 *
 * Planes may have any alignment, and any stride whose magnitude is at least the length of a row and
 * at most 2^31 - 1; negative strides (bottom-up pictures) are allowed. Samples deeper than 8 bits
 * occupy 16 bits, little-endian, and their planes and strides are even. Each stores its code times
 * 2^shift: planar pictures have shift 0, P010 has depth 10 and shift 6. The bits below the code are
 * ignored in input and 0 in output. A sample above the last code, 2^depth - 1, counts as the last
 * code.
 */
typedef struct LumeqImage {
    /* The first rows of luma, Cb and Cr. If only Cr is NULL, plane[1] holds interleaved Cb and Cr,
     * Cb first (NV12, P010, P016). If Cb and Cr are NULL, the image has no chroma, or the library
     * ignores it. */
    void *plane[3];
    ptrdiff_t stride[3];    /* bytes from one row to the next */
    int width, height;      /* luma, in pixels: 1..LUMEQ_MAX_SIDE each, at most 2^31 - 1 pixels */
    int chroma_x, chroma_y; /* subsampling: a chroma sample covers 2^chroma_x columns and
                             * 2^chroma_y rows of luma, fewer at the edges: 0..2 each */
    int depth;              /* bits of a code: 8..16 */
    int shift;              /* unused bits below the code: 0..16 - depth; 0 if depth is 8 */
    LumeqRange range;
    LumeqMemory memory; /* of all planes */
} LumeqImage;

#define LUMEQ_MAX_SIDE 65535
#define LUMEQ_MAX_BINS 4096

/* Most frames that a GPU processes in one launch, see LumeqConfig.batch. */
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

/* A colour picture in host memory. Plain data; it does not own its pixels. Any alignment, but even
 * addresses for 16 bits; stride as in LumeqImage. Like LumeqImage it never changes. */
typedef struct LumeqPixels {
    void *data;        /* the first row */
    ptrdiff_t stride;  /* bytes from one row to the next */
    int width, height; /* 1..LUMEQ_MAX_SIDE each */
    int channels;      /* 3, or 4: the fourth, such as alpha, is copied */
    int depth;         /* 8 or 16 bits per channel */
    LumeqOrder order;
} LumeqPixels;

/* ---- parameters ----------------------------------------------------------------------------- */

typedef enum LumeqMode {
    LUMEQ_MODE_GLOBAL = 0, /* one curve for the whole picture, from its histogram */
    /* Copies the picture, changed only by `brightness` and `gamma`; histogram and history are still
     * maintained. */
    LUMEQ_MODE_OFF = 1,
    /* One curve per tile, from the tile's histogram. Each pixel blends the results of the four
     * nearest tiles' curves, weighted by distance (contrast limited adaptive histogram
     * equalization). */
    LUMEQ_MODE_CLAHE = 2,
    /* One straight line: the 0.5 % and 99.5 % percentiles become black and white. */
    LUMEQ_MODE_STRETCH = 3,
    /* As mode GLOBAL with `lift`, but clears haze however hazy the picture is, and by `strength`
     * instead of three quarters. Scaled chroma also loses the colour that nearly all of the picture
     * has in common. In PQ and HLG no haze is cleared. */
    LUMEQ_MODE_HAZE = 4,
} LumeqMode;

typedef enum LumeqChroma {
    /* Saturation follows luma: chroma is scaled by the gain of the luma that it covers, within
     * bounds. Saturated colours get less luma gain, so that they keep their chroma. */
    LUMEQ_CHROMA_SCALE = 0,
    LUMEQ_CHROMA_KEEP = 1, /* copied unchanged */
} LumeqChroma;

typedef enum LumeqBars {
    /* Detects black bars at the edges, excludes them from the histogram and leaves them unchanged.
     */
    LUMEQ_BARS_AUTO = 0,
    LUMEQ_BARS_IGNORE = 1, /* treats bars as part of the picture */
} LumeqBars;

typedef enum LumeqLimit {
    LUMEQ_LIMIT_NONE = 0,
    LUMEQ_LIMIT_DARKEN = 1,  /* no code becomes lighter than it was */
    LUMEQ_LIMIT_LIGHTEN = 2, /* no code becomes darker than it was */
} LumeqLimit;

/* Whether to stretch deep gray that uses few of its codes. */
typedef enum LumeqCodeRange {
    LUMEQ_CODE_RANGE_FULL = 0, /* never */
    LUMEQ_CODE_RANGE_AUTO = 1, /* if the used codes span less than 8 % of all */
    LUMEQ_CODE_RANGE_USED = 2, /* always */
} LumeqCodeRange;

/* How codes of luma stand for light. */
typedef enum LumeqTransfer {
    LUMEQ_TRANSFER_SDR = 0, /* of any kind: BT.709, BT.1886, sRGB and others */
    LUMEQ_TRANSFER_PQ = 1,  /* SMPTE ST 2084, as in HDR10 */
    LUMEQ_TRANSFER_HLG = 2, /* ARIB STD-B67, as on a display of 1,000 nits */
} LumeqTransfer;

/* Parameters that may change from frame to frame. Start from lumeq_params_default(): zeros have
 * meanings of their own. */
typedef struct LumeqParams {
    size_t size;
    LumeqMode mode;
    /* Not 0: OpenCV's arithmetic, bit for bit: equalizeHist in mode GLOBAL, CLAHE in mode CLAHE
     * with `clip` as its limit. Each frame is processed alone, over codes 0..255; range, strength,
     * smooth, scene_cut, chroma, dither and bars are ignored, and no history is kept. Deeper
     * frames, and modes STRETCH and HAZE, are an ARGUMENT error. */
    int reference;
    /* 0 (unchanged) .. 1 (fully equalized), or LUMEQ_STRENGTH_AUTO: as `lift` says. A number turns
     * `lift` off. */
    double strength;
    /* Not 0: only dull or dark pictures get the full `strength`; the better the exposure, the less
     * is used, down to a tenth. LumeqFrameStats.strength tells the strength used. */
    int adaptive;
    /* Limit of a histogram bin, in multiples of the mean bin: 0 (no limit), 1..LUMEQ_MAX_CLIP or
     * LUMEQ_CLIP_AUTO: with `lift`, as high as the picture's noise allows, else 3. Lower limits
     * stretch contrast less; 1 disables equalization. In pictures deeper than 8 bits, the limit
     * applies to the 2^(depth - 8) codes that make up one code of 8 bits. */
    double clip;
    double smooth;        /* time constant of the curve in seconds, 0 (none)..LUMEQ_MAX_SMOOTH */
    int scene_cut;        /* not 0: after a cut, use the new picture's curve at once */
    int tiles_x, tiles_y; /* for mode CLAHE: 1..LUMEQ_MAX_TILES each; 0 means 8 */
    LumeqChroma chroma;   /* for images with chroma planes */
    int dither; /* not 0: dither fractions of codes with a fine fixed pattern, different in each
                 * frame, instead of rounding; lifted and filtered pictures are always dithered */
    LumeqBars bars;
    /* 0 (none) .. 1: how much source flicker (timelapse, old film) is evened out, over half a
     * second before and after each frame. Needs a history with lookahead; elsewhere it is an
     * ARGUMENT error. With `lift` such a history also evens out the flicker that the curve would
     * amplify, even at 0. */
    double deflicker;
    /* The region that determines the curve, like a camera's metering area; the whole picture is
     * equalized with it. Width and height 0: the whole picture; both -1: the middle half of its
     * columns and rows. The region is clipped to the picture; if nothing remains, the whole picture
     * counts. That is no error, as frame sizes may change mid-stream. LumeqFrameStats' histograms
     * and means describe the region without bars. Ignored with `reference`, in mode HAZE, and
     * for tiles' own curves. */
    LumeqRect meter;
    /* With strength AUTO. Not 0, in mode GLOBAL without `reference`: the picture decides. Dark
     * pictures are lifted first, as far as their noise allows; then the picture is equalized as
     * much as it needs: most if it is dull or hazy, hardly at all if it is well exposed. `clip`
     * still applies. 0, and in other modes: strength 0.8, adaptive. */
    int lift;
    /* Noise reduction in lifted pictures: 0 (none) .. 1, or LUMEQ_DENOISE_AUTO, which is 1. With 0,
     * previous frames are not read, and noisy pictures are lifted less, since all of their noise
     * stays visible. Pictures that are not lifted are not filtered. */
    double denoise;
    /* Manual brightness, -1..1, applied before equalization (in mode STRETCH after it); black and
     * white stay. Positive values make dark parts up to seven times as light; negative values undo
     * the same positive value. In modes that blend by `strength`, the blend is with the brightened
     * picture. In mode OFF it is the only change. Ignored with `reference`. */
    double brightness;
    /* LUMEQ_MIN_GAMMA..LUMEQ_MAX_GAMMA: maps a tone x of the range 0..1 to x^(1 / gamma), before
     * `brightness`; 0 and 1: no change. */
    double gamma;
    /* With `lift` and without lookahead, not 0: the first frame starts a video whose frames have
     * `previous`. The noise is known from the third frame on; until then, a dark picture that may
     * be pure noise, as from a covered lens, stays unchanged, and others are lifted slightly less.
     * 0, for single pictures and for the first frame after lumeq_reset(): lift them as if they had
     * little noise. */
    int await_noise;
    /* Bounds every curve by the identity, including `brightness` and `gamma`. DARKEN disables the
     * noise filter, as if `denoise` were 0; with LIGHTEN the filter may still darken single
     * samples. Ignored with `reference`. */
    LumeqLimit limit;
    /* For lumeq_stretch_window(). Everything else ignores it and equalizes pictures as they are. */
    LumeqCodeRange code_range;
    /* PQ and HLG are equalized as an SDR display with a white of 203 nits would show them: all
     * settings mean the same as for SDR, and light above 203 nits stays unchanged. Ignored with
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
 * lifted, dull ones gain contrast, and well exposed ones stay nearly unchanged. Mode GLOBAL,
 * strength AUTO, lift, clip AUTO, smooth 0.5 s, scene_cut, 8x8 tiles, chroma SCALE, no dither, bars
 * AUTO, no deflicker, denoise AUTO. A struct too short for `lift` gets no lift. Does nothing if
 * params->size is invalid. Any thread.
 */
LUMEQ_API void lumeq_params_default(LumeqParams *params);

/*
 * Sets the defaults and then a profile, which is a set of parameters for a kind of video: "fog",
 * "medical-gray", "night", "screen", "surveillance", "thermal" or "water". `await_noise` stays. As
 * far as params->size reaches. Error: ARGUMENT, and the parameters stay. Any thread.
 */
LUMEQ_API int lumeq_params_profile(LumeqParams *params, const char *name);

/* The light of a code of luma, in nits: `signal` is its place in the range from black to white,
 * limited to 0..1. SDR's white is 203 nits. Thread-safe. */
LUMEQ_API double lumeq_nits(LumeqTransfer transfer, double signal);

/* The name of a profile, from 0; NULL: there are no more. Static storage. Any thread. */
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
    /* LUMEQ_CPU_* flags, or-ed, of instruction sets not to use even if the CPU has them. The
     * results are identical, only slower. Unknown bits are ignored. */
    unsigned cpu_without;
    /*
     * The CUcontext of `device` to work in. It must outlive the objects created with it. Each call
     * pushes and pops it, so the caller's current context stays. NULL: the primary context of the
     * device; calls then leave `device` current in their thread.
     */
    void *cuda_context;
    /* Receives one sentence without a newline, in the thread of the call it concerns. It must not
     * call the library. NULL: no log. */
    void (*log)(void *user, LumeqLogLevel level, const char *text);
    void *log_user;
    /* Not 0: for live sources such as a camera or a window. Calls then sleep while they wait for
     * the GPU, instead of keeping a core busy; frames arrive up to 0.2 ms later, in host memory
     * 0.3. */
    int real_time;
    /* Not 0: on a GPU, the stage times in LumeqFrameStats stay 0, which saves CUDA calls for each
     * frame. */
    int no_stage_times;
    /*
     * The most frames that a GPU processes together: 0 (like 1: each frame by itself) to
     * LUMEQ_MAX_BATCH. Small frames then cost less: those of the same shape and settings share
     * launches. lumeq_submit() keeps frames until there are that many, and lumeq_receive() starts
     * those that are there; lumeq_destroy() drops them. A frame with LumeqSync starts at once,
     * with all before it. Stage times are those of the frames that share launches. Four times as
     * many frames as that can be in flight; each takes 0.25 to 2 MB on the GPU, and its planes if
     * they are in host memory. A GPU without memory for them finishes those in flight first.
     * Contexts and the CPU ignore it, and so does a GPU with real_time.
     */
    int batch;
} LumeqConfig;

/*
 * Synchronizes a call with the caller's own work on the GPU. With `stream` or `finished` set, calls
 * do not wait for the GPU if all images are in CUDA memory or pinned memory; copies from and to
 * pageable memory may wait. One call always waits: lumeq_submit() for the measure of the frame,
 * since the host makes its curve, except with `reference`. The results are ready when the work
 * queued on the stream, or `finished`, has completed.
 *
 * If the caller's own earlier work delays a wait by more than 10 seconds without completing, the
 * GPU is considered lost. Since it may recover later, memory passed to calls that did not wait must
 * then stay untouched for the rest of the process.
 *
 * Stream and events belong to the library's CUDA context. All of this is an ARGUMENT error while
 * the backend is "cpu".
 */
typedef struct LumeqSync {
    size_t size;
    void *stream;   /* CUstream on which to queue all work; NULL: the library's own */
    void *ready;    /* CUevent to wait for before accessing memory; NULL: none */
    void *finished; /* CUevent to record after the last memory access; NULL: none */
    /* CUstream: wait for the work queued there so far before accessing memory, as with `ready`;
     * NULL: none. It needs no event, and the library queues its own work elsewhere. */
    void *after;
} LumeqSync;

/* ---- frames --------------------------------------------------------------------------------- */

/*
 * One frame to equalize.
 *
 * `out` has the size, depth and range of `in`; its shift may differ. `in` and `out` must not
 * overlap, since a decoder still reads its reference frames. If `out` has chroma planes, they are
 * written as well, and `in` must have chroma of the same subsampling; one may have interleaved and
 * the other planar chroma. out.plane[0] == NULL: the frame is only measured, with the same
 * statistics and effect on the history.
 *
 * A change of depth or range has the effect of lumeq_reset().
 *
 * The GPU must not use an output in CUDA memory for anything else between submit and receive; after
 * receive it is complete for every stream.
 */
typedef struct LumeqFrame {
    size_t size;
    LumeqImage in, out;
    int64_t time; /* presentation time in nanoseconds, or LUMEQ_NO_TIME */
    int64_t
        duration; /* in nanoseconds, 0 = unknown; used if time is missing or does not increase */
    void *opaque; /* the caller's; returned with the frame */
    /* Frame number in the stream, 0 or more; selects the dither pattern. 0: one more than the
     * previous frame, or 0 for the first frame and after a reset. */
    int64_t number;
    /* NULL: none. Read by lumeq_submit(). NULL when the frame is returned. */
    const LumeqSync *sync;
    /* The frame before `in`, with the same size, depth, shift and range; the reference for noise
     * measurement. NULL if unknown or if `in` does not follow it. Borrowed like `in`, and unchanged
     * since it was submitted itself. The struct is read by lumeq_submit(). NULL when the frame is
     * returned. */
    const LumeqImage *previous;
    /* Not 0: rows alternate between two fields taken at different times. Filters then run on each
     * field separately; everything else is the same. */
    int interlaced;
} LumeqFrame;

#define LUMEQ_NO_TIME INT64_MIN

/* Stages of a frame on the GPU. The CPU has only the second; the others take no time. */
enum { LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_EQUALIZE, LUMEQ_STAGE_DOWNLOAD, LUMEQ_STAGES };

/*
 * Statistics of one frame. There are 2^depth bins, at most LUMEQ_MAX_BINS: from 13 bits on, one bin
 * counts 2^(depth - 12) codes. Histograms sum to the area of the active picture.
 *
 * The caller sets `size` and points each array it needs to room for LUMEQ_MAX_BINS entries; NULL:
 * not wanted. The first `bins` entries are written, the others stay as they are.
 *
 * If a bin counts several codes, `curve` belongs to its first code; other codes are interpolated to
 * the next bin, or to 2^depth in the last bin. hist_out then assumes that the codes within a bin of
 * hist_in are equally frequent, and means use the middle of each bin. In mode CLAHE,
 * `curve` is the mean of the tiles' curves, and hist_out counts the output of each tile's own
 * curve. hist_out counts curve output only: dither may move a sample by one code, and a filter
 * (`filtered`), or haze that is cleared (`cleared`), further.
 */
typedef struct LumeqFrameStats {
    size_t size;
    uint32_t *hist_in, *hist_out;
    uint32_t *curve;  /* output code of each bin, with 16 fraction bits */
    LumeqRect active; /* the equalized part: the picture without its bars */
    int bins;
    int scene_cut;            /* 1: treated as the first frame of a new scene */
    double mean_in, mean_out; /* luma, in codes of the frame's depth */
    double strength;          /* used; with LumeqParams.lift: of the equalization */
    double noise_gain;  /* steepest slope of the curve in the darkest quarter of the range: the most
                           by which noise in dark areas grows. 1: unchanged */
    double curve_speed; /* mean over bins of |curve - previous curve| before strength, in codes */
    /* From lumeq_receive() and lumeq_process(), else 0: duration of each stage in microseconds, and
     * its begin and end since the equalizer was created; stages of neighbouring frames overlap. 0
     * if the stage does not exist, or with LumeqConfig.no_stage_times. */
    double upload_us, equalize_us, download_us;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES];
    /* For a curve: previous frames of its scene that lumeq_apply() can use: up to 3 with lookahead,
     * else at most 1. */
    int previous;
    /* Standard deviation of the noise in still areas of the picture's darker half, in codes of 8
     * bits; -1 if unknown: no previous frame, an identical one, no still areas, or the reference.
     */
    double noise;
    /* With LumeqParams.lift: gain of the darkest tones before equalization, at least 1; else 1. */
    double lift;
    double dark;  /* with LumeqParams.lift, darkness of the pictures, 0..1; else 0 */
    int filtered; /* 1: the curve is steep enough to expose noise or banding, so the filter runs */
    double cleared; /* haze: by how much clearing raises contrast, as a mean over cells; 0: none */
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

/* Memory that this process has from the library, in bytes: current, peak and limit. */
typedef struct LumeqMemoryUse {
    size_t size;
    /* On a GPU: lumeq_alloc_device(), lumeq_reserve_device(), and the library's own memory, which
     * counts but is not stopped by the limit. All three are 0 if nothing was opened on it. */
    uint64_t device, device_most, device_limit;
    /* Pinned host memory: lumeq_alloc_host(), and the library's own, as above. */
    uint64_t pinned, pinned_most, pinned_limit;
} LumeqMemoryUse;

/* Errors: ARGUMENT. Any thread. */
LUMEQ_API int lumeq_memory_use(int device, LumeqMemoryUse *use);

/*
 * Counts GPU memory that the caller's other code, such as a decoder, is about to allocate, towards
 * the limit of lumeq_alloc_device(); allocate only if this succeeds. Release each reservation with
 * the same number of bytes. Errors: ARGUMENT, MEMORY (the limit is reached), UNAVAILABLE (no
 * equalizer or context was opened on this GPU). Any thread.
 */
LUMEQ_API int lumeq_reserve_device(int device, uint64_t bytes);
LUMEQ_API void lumeq_release_device(int device, uint64_t bytes);

/* ---- step by step --------------------------------------------------------------------------- */

/*
 * Measures and equalizes: CPU threads, or streams of a GPU. Any thread; it must outlive the calls
 * that use it. If its GPU is lost, the CPU takes over calls whose images are in host memory and
 * that have no sync; all others then fail with GPU.
 *
 * The functions of this section leave a sentence about their last error in lumeq_last_error(NULL).
 */
typedef struct LumeqContext LumeqContext;

/*
 * Creates a context. NULL config: the defaults. `why` (of `why_size` bytes, may be NULL) gets one
 * sentence: on success the chosen backend and the reason, otherwise the error; *context is then
 * NULL. Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU. Any thread.
 */
LUMEQ_API int lumeq_context_create(LumeqContext **context, const LumeqConfig *config, char *why,
                                   size_t why_size);

/* Waits for the context's work, frees it and sets *context to NULL. *context may be NULL. Its
 * memory must have been freed before, and measures made with sync finished or freed; curves and
 * finished measures outlive the context. */
LUMEQ_API void lumeq_context_destroy(LumeqContext **context);

/* "cpu" or "cuda"; "cpu" also once the GPU is lost. Static storage. Any thread. */
LUMEQ_API const char *lumeq_context_backend_name(const LumeqContext *context);

/*
 * Host memory that the backend accesses fastest (pinned for CUDA, ordinary for the CPU), aligned to
 * at least 64 bytes, its content undefined. NULL if out of memory; ordinary memory works as well,
 * only more slowly. Pinned memory of the whole process is limited to 2 GiB, or to a quarter of the
 * machine's memory if that is less. NULL may be freed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_host(LumeqContext *context, size_t size);
LUMEQ_API void lumeq_free_host(LumeqContext *context, void *memory);

/*
 * Memory of the context's GPU for images in LUMEQ_MEMORY_CUDA, aligned to 256 bytes, its content
 * undefined. NULL if the backend is the CPU or the GPU is out of memory. The process may use half
 * of a GPU's memory (lumeq_memory_use()). Freeing may wait for the GPU; NULL may be freed. Any
 * thread.
 */
LUMEQ_API void *lumeq_alloc_device(LumeqContext *context, size_t size);
LUMEQ_API void lumeq_free_device(LumeqContext *context, void *memory);

/*
 * For a decoder on the same GPU: its CUcontext, and a CUstream in it for the caller's own work
 * (LumeqSync.after), on which the library queues nothing. Both are valid until
 * lumeq_context_destroy(), and one from LumeqConfig.cuda_context as long as the caller keeps it;
 * work on the stream must have ended by then. Errors: ARGUMENT, UNAVAILABLE (the backend is the
 * CPU), GPU; both are then NULL. Any thread.
 */
LUMEQ_API int lumeq_get_cuda(LumeqContext *context, void **cuda_context, void **stream);

/*
 * Everything the history needs about a frame: its histogram, counts of non-black samples by line
 * and column (to find bars), sums of luma in 16x9 cells (to find cuts between pictures with similar
 * histograms), percentiles and chroma of 16x9 cells (to find haze), noise statistics of still
 * blocks against the previous frame and, for mode CLAHE, the histograms of the tiles. One thread at
 * a time may write it; once it is finished, any thread may read it.
 */
typedef struct LumeqMeasure LumeqMeasure;

/*
 * Measures `in`, whose chroma may be missing. *measure is NULL, which creates one, or an earlier
 * measure to overwrite (on failure it stays unchanged). Of `params` (NULL: the defaults) only mode,
 * reference, tiles and meter matter. `previous` is the frame before `in`, with the same size,
 * depth, shift and range, as the reference for noise, or NULL. Without sync the measure is finished
 * when the call returns. Errors: ARGUMENT, MEMORY, GPU. Any thread.
 */
LUMEQ_API int lumeq_measure(LumeqContext *context, LumeqMeasure **measure,
                            const LumeqParams *params, const LumeqImage *in,
                            const LumeqImage *previous, const LumeqSync *sync);

/* Finishes a measure that was made with sync; it cannot be read before. wait == 0: returns AGAIN if
 * the GPU is still busy; otherwise waits. Does nothing if the measure is already finished. Errors:
 * ARGUMENT, AGAIN, GPU (the measure can then only be freed or overwritten). One thread at a time.
 */
LUMEQ_API int lumeq_measure_finish(LumeqMeasure *measure, int wait);

/*
 * Serializes a finished measure so that any machine and any later version can read it. *size is the
 * room in `bytes` before the call, and the required size after it, even if the room is too small
 * (ARGUMENT; the bytes are then undefined). bytes == NULL: only computes the size. A measure of 8
 * bits takes a few KB, plus one for each tile. Errors: ARGUMENT, AGAIN (not finished). Any thread.
 */
LUMEQ_API int lumeq_measure_pack(const LumeqMeasure *measure, void *bytes, size_t *size);

/* Deserializes a measure; *measure as in lumeq_measure(). Any bytes are safe to read; anything but
 * a complete measure of this version or an earlier one is refused. Errors: ARGUMENT, MEMORY. Any
 * thread. */
LUMEQ_API int lumeq_measure_unpack(LumeqMeasure **measure, const void *bytes, size_t size);

/*
 * Converts a finished measure of 8 bits to the measure of the same picture in `depth` bits, 9 to
 * 16: codes gain zeros as low bits or, in full range, copies of their high bits, so that white
 * stays white. Use it for frames that are equalized at a greater depth than they were measured at.
 * In full range, sums of luma are exact to within a code. Errors: ARGUMENT (also a measure of the
 * reference), AGAIN (not finished), MEMORY; the measure then stays unchanged. One thread at a time.
 */
LUMEQ_API int lumeq_measure_deepen(LumeqMeasure *measure, int depth);

/* Frees the measure and sets *measure to NULL. *measure may be NULL. Waits for the GPU if the
 * measure is not finished. */
LUMEQ_API void lumeq_measure_free(LumeqMeasure **measure);

/* Timing of a measured frame. */
typedef struct LumeqMoment {
    size_t size;
    int64_t number, time, duration; /* as in LumeqFrame */
    int discontinuity; /* not 0: unrelated to the previous frame: a new stream, a seek */
    int interlaced;    /* as in LumeqFrame; stored in the curve */
} LumeqMoment;

/* Turns measures into curves, in order. It reads no pixels; it computes on the host, in integers.
 * One thread at a time. */
typedef struct LumeqHistory LumeqHistory;

#define LUMEQ_MAX_LOOKAHEAD INT64_C(10000000000)

/*
 * Creates a history. NULL params: the defaults.
 *
 * lookahead 0: the curve of a frame depends on earlier frames only, as in the live way. Otherwise,
 * `lookahead` is how far measures run ahead of the returned curves, in nanoseconds, at most
 * LUMEQ_MAX_LOOKAHEAD: cuts are then exact, fades aim at the scene they lead to, bars are known
 * from their first frame on, and curves are centred in time. The history keeps the measures of that
 * span, and of at most half as much before it; each frame counts for at least 1/300 s.
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
 * tiles differ from the parameters), AGAIN (take out a curve first), MEMORY.
 */
LUMEQ_API int lumeq_history_put(LumeqHistory *history, const LumeqMeasure *measure,
                                const LumeqMoment *moment);

/* Everything needed to equalize one frame. Immutable. Any thread. */
typedef struct LumeqCurve LumeqCurve;

/* Returns the next frame's curve; release it with lumeq_curve_unref(). On failure *curve is NULL.
 * Errors: ARGUMENT, AGAIN (more measures are needed), END, MEMORY (retry for the same curve). */
LUMEQ_API int lumeq_history_get(LumeqHistory *history, LumeqCurve **curve);

/* Sets the parameters of the frames put from now on. If they change the curve's target, the next
 * curve is not smoothed: users expect to see their changes at once. Errors: ARGUMENT (also a
 * history with lookahead, whose parameters are fixed). */
LUMEQ_API int lumeq_history_set_params(LumeqHistory *history, const LumeqParams *params);

/* Copies the state and the parameters of `from`, but not a curve that is ready in it; one that is
 * ready in `to` is dropped. To return to an earlier frame, keep a copy from before it. Errors:
 * ARGUMENT (also a history with lookahead). */
LUMEQ_API int lumeq_history_copy(LumeqHistory *to, const LumeqHistory *from);

/* Frees the curve and sets *curve to NULL. *curve may be NULL. */
LUMEQ_API void lumeq_curve_unref(LumeqCurve **curve);

/* Writes the statistics of the frame and its curve. Error: ARGUMENT. */
LUMEQ_API int lumeq_curve_stats(const LumeqCurve *curve, LumeqFrameStats *stats);

/* Serialize and restore a curve, by the rules of lumeq_measure_pack(). lumeq_curve_unpack()
 * releases *curve, if it is not NULL, and replaces it. Errors: ARGUMENT; unpack: also MEMORY. */
LUMEQ_API int lumeq_curve_pack(const LumeqCurve *curve, void *bytes, size_t *size);
LUMEQ_API int lumeq_curve_unpack(LumeqCurve **curve, const void *bytes, size_t size);

/* Like lumeq_curve_pack(), but without the histograms, which only lumeq_curve_stats() reads; those
 * of the restored curve are empty. Histograms vary with noise and hardly compress. */
LUMEQ_API int lumeq_curve_pack_bare(const LumeqCurve *curve, void *bytes, size_t *size);

/*
 * Equalizes `in` by the curve into `out`, with the same results as lumeq_submit(). The images obey
 * the rules of LumeqFrame and have the measured size, depth, shift and range (the shift of `out`
 * may differ). `previous` are the `count` frames before `in`, nearest first; at most
 * LumeqFrameStats.previous of them are read. Without sync the output is complete when the call
 * returns. Errors: ARGUMENT, MEMORY, GPU; after the last two the output is undefined. Any thread.
 */
LUMEQ_API int lumeq_apply(LumeqContext *context, const LumeqCurve *curve, const LumeqImage *in,
                          const LumeqImage *previous, int count, const LumeqImage *out,
                          const LumeqSync *sync);

/* ---- deep gray ------------------------------------------------------------------------------ */

/*
 * Thermal cameras send gray of 14 or 16 bits that uses a few hundred codes. Stretch such pictures
 * before they are measured or submitted: the used codes fill the output but for a sixteenth at each
 * end, which other codes share. Images of this section are gray, deeper than 8 bits, and in host
 * memory. Errors leave a sentence in lumeq_last_error(NULL).
 */

/* First and last code. */
typedef struct LumeqCodes {
    int low, high;
} LumeqCodes;

/* Measures the codes that a picture uses, without 0.1 % of its samples at each end, and the
 * standard deviation of its noise in codes (NULL: not wanted). Returns 1, or 0 if noise alone
 * explains these codes, as with a capped lens. Errors: ARGUMENT, MEMORY. Any thread. */
LUMEQ_API int lumeq_measure_codes(const LumeqImage *in, LumeqCodes *used, int *noise);

/* 1 if LUMEQ_CODE_RANGE_AUTO stretches pictures that use these codes. `all`: the codes of black and
 * white; `held`: not 0 if the stream is already stretched. */
LUMEQ_API int lumeq_is_sliver(const LumeqCodes *used, const LumeqCodes *all, int held);

/* The state of one stream. One thread at a time. */
typedef struct LumeqStretch LumeqStretch;

/* `fixed`: stretch these codes in all pictures; NULL: the window follows the pictures with a time
 * constant of 2 s. Errors: ARGUMENT, MEMORY; *stretch is then NULL. */
LUMEQ_API int lumeq_stretch_create(LumeqStretch **stretch, const LumeqCodes *fixed);

/* Frees the stretch and sets *stretch to NULL. *stretch may be NULL. */
LUMEQ_API void lumeq_stretch_destroy(LumeqStretch **stretch);

/* After a seek: the next picture sets the window at once. */
LUMEQ_API void lumeq_stretch_reset(LumeqStretch *stretch);

/* Takes the next picture of the stream into account; `time` in nanoseconds. Returns 1 and the
 * window to stretch, or 0 if the picture should stay as it is. Errors: ARGUMENT, MEMORY. */
LUMEQ_API int lumeq_stretch_window(LumeqStretch *stretch, LumeqCodeRange mode, const LumeqImage *in,
                                   int64_t time, LumeqCodes *window);

/* Writes the stretched picture; `out` has the size and depth of `in`, and may be `in`. Error:
 * ARGUMENT. */
LUMEQ_API int lumeq_stretch_write(LumeqStretch *stretch, const LumeqCodes *window,
                                  const LumeqImage *in, const LumeqImage *out);

/* ---- live ----------------------------------------------------------------------------------- */

/* The three steps in one, for frames in order. One thread at a time. */
typedef struct LumeqEqualizer LumeqEqualizer;

/* Creates an equalizer with the default parameters and an empty history. Config, `why` and errors
 * as in lumeq_context_create(). Any thread. */
LUMEQ_API int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why,
                           size_t why_size);

/* Waits for the frames in flight, frees the equalizer and sets *equalizer to NULL. *equalizer may
 * be NULL. Memory of its context must have been freed before. */
LUMEQ_API void lumeq_destroy(LumeqEqualizer **equalizer);

/* The context of the equalizer: for its memory and CUDA, and for steps beside the frames. It lives
 * as long as the equalizer. NULL for NULL. Any thread. */
LUMEQ_API LumeqContext *lumeq_get_context(LumeqEqualizer *equalizer);

/*
 * "cpu" or "cuda". Static storage.
 *
 * The CPU takes over if the GPU is lost (a failed CUDA call, for example after a driver reset, or
 * no progress for 10 seconds) or has no memory for a frame. No frame is lost or repeated, the
 * results stay identical, this function then returns "cpu", and lumeq_last_error() gives the
 * reason. Frames that were in flight on a lost GPU need attention if they have:
 *
 * Outputs in CUDA memory, which the CPU cannot reach. These frames, and one for which the GPU had
 * no memory, come back measured, with out.plane[0] == NULL and correct statistics. Submitting
 * another such output is an ARGUMENT error.
 *
 * Inputs in CUDA memory, or a LumeqSync. These frames are lost with the GPU. For each of them
 * lumeq_receive() returns GPU once and returns the frame with an undefined output; the history
 * continues without it. A GPU without memory for such a frame is kept, and the submit fails with
 * UNAVAILABLE. Events of frames that were in flight are meaningless.
 */
LUMEQ_API const char *lumeq_backend_name(const LumeqEqualizer *equalizer);

/*
 * One sentence about the equalizer's last error, "" if there was no error; valid until the next
 * call on it. AGAIN and END do not count as errors here. NULL: the last error in this thread,
 * with or without an equalizer; valid until the next one.
 */
LUMEQ_API const char *lumeq_last_error(const LumeqEqualizer *equalizer);

/* Sets the parameters for frames submitted from now on; those in flight keep theirs. The change is
 * fully visible in the next frame, whatever `smooth` is. Error: ARGUMENT. */
LUMEQ_API int lumeq_set_params(LumeqEqualizer *equalizer, const LumeqParams *params);

/*
 * Submits the next frame, in presentation order. The equalizer borrows the planes of both images
 * until lumeq_receive() returns the frame; on failure it borrows nothing. Errors: AGAIN (all slots
 * are in flight, on a GPU four, or four batches: receive a frame first), ARGUMENT
 * (also a frame deeper than 8 bits with params.reference), MEMORY, GPU, UNAVAILABLE (the GPU has no
 * memory for this frame, and the CPU may not take it: LUMEQ_BACKEND_CUDA was requested, or the
 * input is in CUDA memory, or it has a LumeqSync; other frames may still succeed).
 */
LUMEQ_API int lumeq_submit(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/*
 * Returns the oldest submitted frame, finished, in `frame`, and its statistics in `stats`. Either
 * may be NULL. Waits for the frame if all slots are in flight, and after lumeq_flush(); otherwise
 * an unfinished frame is AGAIN. An output in host memory is copied from a GPU by this and the other
 * calls for frames, once it is written. Errors: ARGUMENT, AGAIN (submit a frame first, or wait),
 * END (after lumeq_flush(): no frame is left), MEMORY, GPU (also once for each frame lost with the
 * GPU, which is still returned).
 */
LUMEQ_API int lumeq_receive(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* Submits a frame, waits for it and returns it in the same struct. stats may be NULL. Errors: AGAIN
 * (other frames are in flight), otherwise those of lumeq_submit() and lumeq_receive(). */
LUMEQ_API int lumeq_process(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/*
 * Like lumeq_process() for a colour picture, which is converted to planes and back: Y, Cb and Cr of
 * full range BT.601 (JPEG's, and OpenCV's YCrCb), 10 bits for 8 and 16 for 16. Colours of 8 bits
 * that need no change keep their values. `out` differs from `in` in data and stride only and may be
 * the same memory. The picture before is the noise reference if it had the same shape. Means in
 * `stats` are in codes of the picture; histograms and curve are those of the planes. Time and
 * duration: as in LumeqFrame. Errors: as lumeq_process().
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
