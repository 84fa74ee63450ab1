/*
 * liblumeq: equalizes the luma of video frames, on the GPU or, bit for bit the same, on the CPU.
 *
 * It can be used in two ways. Live, a LumeqEqualizer does all the work: frames go in with
 * lumeq_submit() and come out in the same order with lumeq_receive(). Step by step, three functions
 * share the work, and each is useful alone:
 *
 *   lumeq_measure()                           a frame -> what has to be known about it
 *   lumeq_history_put(), lumeq_history_get()  measures, in order -> curves
 *   lumeq_apply()                             a frame and its curve -> the equalized frame
 *
 * Only the history has state. Frames may therefore be measured and equalized in any order, by any
 * number of threads, processes and machines, on GPUs and on CPUs, with the same bits. A history
 * that does not look ahead gives the bits of the live way.
 *
 * The library knows no files, codecs or windows. It never prints, never exits, never reads the
 * environment, and never asserts on what it is given.
 *
 * Errors. Functions return 0 or a negative LUMEQ_ERR_*; where a comment lists errors, those are all
 * there are. Unless said otherwise, a call that fails has changed nothing. NULL is an ARGUMENT
 * error wherever it is not explicitly allowed, except for functions that cannot return an error:
 * those return NULL or an empty string, or do nothing.
 *
 * Threads. "Any thread" means that calls may run at the same time, also on the same object. Objects
 * are independent of each other, and each type says how threads may use it.
 *
 * Ownership. The caller owns all images, structs and byte buffers that it passes; the library keeps
 * no pointer to them after the call, except for the planes of submitted frames. Objects belong to
 * the caller, who destroys them with the function next to the one that made them.
 *
 * Sizes. Structs that begin with `size` may grow in later versions. Set it to the sizeof of the
 * struct, or to 0, which stands for the size in version 0.9. Members that the caller's struct does
 * not have are taken to be 0, and 0 is the default of every member that is added later. A struct
 * from a later version is accepted as long as everything that this version does not know is 0; any
 * other size, and one that ends inside a member, is an ARGUMENT error. In structs that the library
 * fills, it writes the members that both sides know, and never `size`. A zeroed struct is valid,
 * with the exception of LumeqParams (see lumeq_params_default()). LumeqImage and LumeqRect never
 * change.
 */
#ifndef LUMEQ_LUMEQ_H
#define LUMEQ_LUMEQ_H

#include <stddef.h>
#include <stdint.h>

/* Marks what the shared library exports. */
#if defined(__GNUC__)
#define LUMEQ_API __attribute__((visibility("default")))
#else
#define LUMEQ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LUMEQ_VERSION_MAJOR 0
#define LUMEQ_VERSION_MINOR 9
#define LUMEQ_VERSION_PATCH 0

/* 0.9.0 is 9000. */
#define LUMEQ_VERSION                                                                              \
    (LUMEQ_VERSION_MAJOR * 1000000 + LUMEQ_VERSION_MINOR * 1000 + LUMEQ_VERSION_PATCH)

/* LUMEQ_VERSION of the library that runs, which may be newer than this header. Any thread. */
LUMEQ_API int lumeq_version(void);

/* What this build can compute with: "CPU and CUDA 13.0" or "CPU only (...)". Static storage. Any
 * thread. */
LUMEQ_API const char *lumeq_build_info(void);

enum {
    LUMEQ_ERR_ARGUMENT = -1,    /* an argument is outside its documented range */
    LUMEQ_ERR_AGAIN = -2,       /* not now; another call has to come first, or time has to pass */
    LUMEQ_ERR_END = -3,         /* everything that was handed in has been returned */
    LUMEQ_ERR_MEMORY = -4,      /* out of memory */
    LUMEQ_ERR_UNAVAILABLE = -5, /* the requested backend or device cannot be used */
    LUMEQ_ERR_GPU = -6,         /* a CUDA call failed; lumeq_last_error() has CUDA's text */
};

/* A short English phrase for a LUMEQ_ERR_*. Static storage, never NULL. Any thread. */
LUMEQ_API const char *lumeq_error_string(int error);

/* ---- pictures ------------------------------------------------------------------------------- */

/* Which luma codes are black and white. Limited: 16 and 235, times 2^(depth - 8). Full: 0 and the
 * last code. */
typedef enum LumeqRange {
    LUMEQ_RANGE_LIMITED = 0,
    LUMEQ_RANGE_FULL = 1,
} LumeqRange;

/* Where planes are. */
typedef enum LumeqMemory {
    LUMEQ_MEMORY_HOST = 0, /* pageable or pinned */
    /* Memory of the GPU that computes, in the CUDA context that it computes in (see
     * LumeqConfig.cuda_context). Refused while the backend is "cpu". Fastest where rows start at
     * multiples of 16 bytes. */
    LUMEQ_MEMORY_CUDA = 1,
} LumeqMemory;

/*
 * A picture in memory. Plain data; it does not own its planes.
 *
 * Planes may have any alignment, and any stride whose magnitude is at least the length of a row and
 * at most 2^31 - 1; negative strides (bottom-up pictures) are allowed. Samples deeper than 8 bits
 * are 16 bits wide, little-endian, and their planes and strides are even. Such a sample is its code
 * times 2^shift: planar pictures have shift 0, P010 has depth 10 and shift 6. The bits below the
 * code are ignored when read and written as 0. A sample above the last code, 2^depth - 1, counts as
 * the last code.
 */
typedef struct LumeqImage {
    /* The first rows of luma, Cb and Cr. Only Cr NULL: plane[1] has Cb and Cr in turns, Cb first
     * (NV12, P010, P016). Cb NULL, too: no chroma, or chroma that the library is to leave alone. */
    void *plane[3];
    ptrdiff_t stride[3];    /* bytes from one row to the next */
    int width, height;      /* of luma, in pixels: 1..LUMEQ_MAX_SIDE each, 2^31 - 1 in all */
    int chroma_x, chroma_y; /* subsampling: a chroma sample covers 2^chroma_x columns and
                             * 2^chroma_y rows of luma, fewer at the edges: 0..2 each */
    int depth;              /* bits of a code: 8..16 */
    int shift;              /* unused bits below the code: 0..16 - depth; 0 where depth is 8 */
    LumeqRange range;
    LumeqMemory memory; /* of all planes */
} LumeqImage;

#define LUMEQ_MAX_SIDE 65535
#define LUMEQ_MAX_BINS 4096

/* A part of a picture, in pixels. */
typedef struct LumeqRect {
    int x, y, width, height;
} LumeqRect;

/* ---- parameters ----------------------------------------------------------------------------- */

typedef enum LumeqMode {
    LUMEQ_MODE_GLOBAL = 0, /* one curve for the whole picture, from its histogram */
    /* The picture is copied unchanged but for `brightness` and `gamma`; histogram and history are
     * kept. */
    LUMEQ_MODE_OFF = 1,
    /* One curve for each tile of the picture, from the histogram of the tile. The curves of the
     * four tiles around a pixel are applied to it, and the results are weighted by how near the
     * tiles are (contrast limited adaptive histogram equalization). */
    LUMEQ_MODE_CLAHE = 2,
    /* One straight line: the codes below which 0.5 % and 99.5 % of the picture lie become black and
     * white. */
    LUMEQ_MODE_STRETCH = 3,
    /* Tiles as in mode CLAHE, but each tile's curve removes haze: it subtracts the light that the
     * tile's darkest 2 % have. A tile with something black stays as it is. `clip` limits the
     * slope, `adaptive` is ignored. Best with 16x16 tiles. */
    LUMEQ_MODE_HAZE = 4,
} LumeqMode;

typedef enum LumeqChroma {
    /* Saturation follows luma: chroma is scaled by the gain of the luma that it covers, within
     * bounds. Luma over saturated colours rises less than elsewhere, so that these keep their
     * chroma. */
    LUMEQ_CHROMA_SCALE = 0,
    LUMEQ_CHROMA_KEEP = 1, /* copied unchanged */
} LumeqChroma;

typedef enum LumeqBars {
    /* Black bars at the edges of the picture are left out of the histogram and left unchanged. */
    LUMEQ_BARS_AUTO = 0,
    LUMEQ_BARS_IGNORE = 1, /* bars are treated as part of the picture */
} LumeqBars;

typedef enum LumeqLimit {
    LUMEQ_LIMIT_NONE = 0,
    LUMEQ_LIMIT_DARKEN = 1,  /* no code becomes lighter than it was */
    LUMEQ_LIMIT_LIGHTEN = 2, /* no code becomes darker than it was */
} LumeqLimit;

/* What may change from frame to frame. Start from lumeq_params_default(): zeros have a meaning of
 * their own. */
typedef struct LumeqParams {
    size_t size;
    LumeqMode mode;
    /* Not 0: the textbook arithmetic of OpenCV, bit for bit: equalizeHist in mode GLOBAL, CLAHE in
     * mode CLAHE, with `clip` as its limit. Each frame on its own, over codes 0..255; range,
     * strength, smooth, scene_cut, chroma, dither and bars are ignored, and no history is kept.
     * For 8 bits only, and not in modes STRETCH and HAZE; anything else is an ARGUMENT error. */
    int reference;
    double strength; /* 0 (unchanged) .. 1 (fully equalized); see also `lift` */
    /* Not 0: the full `strength` is for pictures that need it, dull or dark ones; the better a
     * picture is exposed, the less of it is used, down to a tenth. LumeqFrameStats.strength says
     * how much was. */
    int adaptive;
    /* Limit of a histogram bin, in multiples of the mean bin: 0 (no limit), 1..LUMEQ_MAX_CLIP or
     * LUMEQ_CLIP_AUTO: as high as the noise in the picture allows with `lift`, else 3. The lower,
     * the less contrast is stretched; with 1 there is no equalization. In pictures deeper than 8
     * bits the limit is for the 2^(depth - 8) codes that are one code of 8 bits. */
    double clip;
    double smooth;        /* time constant of the curve in seconds, 0 (none)..LUMEQ_MAX_SMOOTH */
    int scene_cut;        /* not 0: after a cut the new picture's curve is used at once */
    int tiles_x, tiles_y; /* of modes CLAHE and HAZE: 1..LUMEQ_MAX_TILES each, 0 stands for 8 */
    LumeqChroma chroma;   /* for images with chroma planes */
    int dither; /* not 0: fractions of codes become a fine fixed pattern, which changes from frame
                 * to frame, instead of being rounded; what is lifted and filtered always has it */
    LumeqBars bars;
    /* 0 (none) .. 1: how much of the flicker of the source (timelapse, old film) is evened out,
     * over half a second before and after each frame. Needs a history that looks ahead; elsewhere
     * it is an ARGUMENT error. With `lift` such a history evens out what the curve would amplify,
     * with 0 too. */
    double deflicker;
    /* The part of the picture that its curve is made for, as a camera's metering does it: samples
     * outside are not counted, and equalized all the same. Width and height 0: all of it; both -1:
     * the middle half of its columns and rows. What lies beyond the picture does not count; where
     * nothing is left, all of it does. That is no error, as frames may change their size on the
     * way. LumeqFrameStats' histograms and means are those of the part, without its bars. With the
     * reference, and for tiles, it has no effect. */
    LumeqRect meter;
    /* Not 0, in mode GLOBAL without reference: the picture decides. What is dark is lifted first,
     * as far as its noise allows, haze is darkened, and of the equalization as much is taken as
     * the picture needs: next to none where it is well exposed. It is decided on the pictures of
     * some seconds. `strength` and `adaptive` are then ignored; `clip` still holds. 0: they say
     * what is done. */
    int lift;
    /* What is done against the noise of a picture that is lifted: 0 (nothing) .. 1, or
     * LUMEQ_DENOISE_AUTO: as much as there is noise to take away, which is 1. With 0 no frame
     * before is looked at, and noisy pictures are lifted less, since all of it will be seen. What
     * is not lifted is not filtered at all. */
    double denoise;
    /* Light by hand: what becomes of tones between black and white, which stay, before they are
     * equalized; in mode STRETCH, behind it. Of curves that only spread what is there, the
     * strength blends with it; in mode OFF it is all that is done. Without effect on the reference.
     * -1..1: positive: dark parts get up to seven times as light, negative: takes such back. */
    double brightness;
    /* LUMEQ_MIN_GAMMA..LUMEQ_MAX_GAMMA: tones x of the range become x^(1 / gamma), and then what
     * `brightness` makes of them; 1, and 0 as well: none. */
    double gamma;
    /* With `lift` and without lookahead, not 0: the first frame of all begins a video whose frames
     * have `previous`. Noise is told from the third one on; until then a dark picture that may be
     * nothing but noise, as with a covered lens, is left alone, and others are lifted a little
     * less. 0, for single pictures: they are lifted as if they had little noise. */
    int await_noise;
    /* Bounds every curve by the identity, `brightness` and `gamma` included. DARKEN does not filter
     * noise, as if `denoise` were 0; with LIGHTEN the filter may darken single samples. The
     * reference ignores it. */
    LumeqLimit limit;
} LumeqParams;

#define LUMEQ_CLIP_AUTO (-1.0)
#define LUMEQ_DENOISE_AUTO (-1.0)
#define LUMEQ_MAX_CLIP 1000.0
#define LUMEQ_MAX_SMOOTH 3600.0
#define LUMEQ_MAX_TILES 16
#define LUMEQ_MIN_GAMMA 0.1
#define LUMEQ_MAX_GAMMA 10.0
#define LUMEQ_MAX_REWIND 8 /* frames: see lumeq_rewind() */

/*
 * Fills in the defaults, as far as params->size reaches. They are chosen to look good on ordinary
 * video: what is dark is lifted, what is dull gains contrast, and what is well exposed is left
 * alone. Mode GLOBAL, lift, clip AUTO, smooth 0.5 s, scene_cut, 8x8 tiles, chroma SCALE, no dither,
 * bars AUTO, no deflicker, denoise AUTO; where there is no lift, strength 0.8 adaptive. In a struct
 * of a size without `lift` there is none. Does nothing where params->size cannot be one. Any
 * thread.
 */
LUMEQ_API void lumeq_params_default(LumeqParams *params);

/* ---- backends ------------------------------------------------------------------------------- */

typedef enum LumeqBackendId {
    LUMEQ_BACKEND_AUTO = 0, /* CUDA where it works, otherwise the CPU */
    LUMEQ_BACKEND_CPU = 1,
    LUMEQ_BACKEND_CUDA = 2,
} LumeqBackendId;

/* Instruction sets. AVX512 stands for F, BW, VL, VBMI, BITALG and GFNI, as of Ice Lake and Zen 4.
 */
enum { LUMEQ_CPU_AVX2 = 1, LUMEQ_CPU_AVX512 = 2 };

typedef enum LumeqLogLevel {
    LUMEQ_LOG_WARNING = 1, /* work goes on, but not as requested */
    LUMEQ_LOG_INFO = 2,    /* what was chosen, and why */
} LumeqLogLevel;

/* How to make a context or an equalizer. {0} is the default. */
typedef struct LumeqConfig {
    size_t size;
    LumeqBackendId backend;
    int device;  /* CUDA device number */
    int threads; /* CPU threads, including the caller's: 1..256, 0 = one for each core */
    /* LUMEQ_CPU_* that are not to be used even if the CPU has them, or-ed together. The result is
     * the same, only slower. Bits that this version does not know have no effect. */
    unsigned cpu_without;
    /*
     * The CUcontext of `device` to work in. It must live longer than whatever is made with it. Each
     * call pushes it and pops it again, so that the caller's current context stays. NULL: the
     * primary context of the device; calls then leave `device` current in their thread.
     */
    void *cuda_context;
    /* Receives one sentence without a newline, in the thread of the call that it is about. It must
     * not call the library. NULL: nobody is told. */
    void (*log)(void *user, LumeqLogLevel level, const char *text);
    void *log_user;
    /* Not 0: an equalizer on a GPU shares its CUDA streams with all others of the process that say
     * so and work in the same context, as is right for many live videos at once. Frames of all of
     * them then follow each other: one that waits (LumeqSync) holds up those that are submitted
     * after it, and what never ends loses the GPU for all. */
    int share_streams;
    /* Not 0: frames come at a pace of their own, as they do from a camera and for a window. Who
     * waits for the GPU in lumeq_receive() sleeps meanwhile and has the frame up to 0.2 ms later,
     * instead of keeping a core busy. */
    int real_time;
    /* Not 0: the times of stages in LumeqFrameStats stay 0 on a GPU, where each frame then takes
     * nine calls of CUDA fewer. */
    int no_stage_times;
} LumeqConfig;

/*
 * Ties a call to the caller's own work on the GPU. With a stream, or with `finished`, no call waits
 * for the GPU on the host as long as all images are in CUDA memory or in pinned memory; copies from
 * and to pageable memory may wait, and so may a call that fails. The results are there when what
 * was queued on the stream, or `finished`, has completed.
 *
 * Work that the caller has queued before counts as progress of the GPU only when it ends. If that
 * takes more than 10 seconds while it is waited for, the GPU is considered lost. Since it may wake
 * up, memory of calls that did not wait must then not be used for anything as long as the process
 * lives.
 *
 * Stream and events belong to the context that the library computes in. All of this is refused
 * (ARGUMENT) while the backend is "cpu".
 */
typedef struct LumeqSync {
    size_t size;
    void *stream;   /* CUstream on which to queue all work; NULL: the library's own */
    void *ready;    /* CUevent to wait for before any memory is touched; NULL: none */
    void *finished; /* CUevent to record when all memory is done with; NULL: none */
    /* CUstream: what was queued there before the call is waited for before any memory is touched,
     * as with `ready`; NULL: none. It needs no event, and the call's own work goes elsewhere. */
    void *after;
} LumeqSync;

/* ---- frames --------------------------------------------------------------------------------- */

/*
 * One frame to equalize.
 *
 * `out` has the size, depth and range of `in`; its shift may differ. Its memory is its own: in and
 * out must not overlap, since a decoder goes on reading its reference frames. If out has chroma
 * planes, they are written as well, and in must have chroma of the same subsampling; one of the two
 * may have Cb and Cr in turns and the other in two planes. out.plane[0] == NULL: the frame is only
 * measured, with the statistics and the history that it would have if it were written.
 *
 * A frame of another depth or range than the one before has the effect of lumeq_reset().
 *
 * The GPU must not use an output in CUDA memory for anything else between submit and receive; after
 * receive it is complete for every stream.
 */
typedef struct LumeqFrame {
    size_t size;
    LumeqImage in, out;
    int64_t time;     /* presentation time in nanoseconds, or LUMEQ_NO_TIME */
    int64_t duration; /* in nanoseconds, 0 = unknown; used where time is missing or does not rise */
    void *opaque;     /* the caller's; comes back with the frame */
    /* The number of the frame in its stream, which selects the dither's pattern: 0 or more. 0: one
     * more than the frame before; 0 for the first frame and after a reset. */
    int64_t number;
    /* NULL: none. Read by lumeq_submit(), which then does not wait for the GPU; lumeq_receive()
     * still does. Comes back as NULL. */
    const LumeqSync *sync;
    /* The frame before `in`, of its size, depth, shift and range, by which noise is told from
     * picture; NULL: not known, or `in` does not follow it. Borrowed like `in`, and unchanged since
     * it was submitted itself. The struct is read by lumeq_submit(), and comes back as NULL. */
    const LumeqImage *previous;
    /* Not 0: rows are those of two fields by turns, of two moments. What is filtered is then
     * filtered field by field; all else is as with other frames. */
    int interlaced;
} LumeqFrame;

#define LUMEQ_NO_TIME INT64_MIN

/* Stages of a frame's way through the GPU. On the CPU there is only the second; the others take no
 * time. */
enum { LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_EQUALIZE, LUMEQ_STAGE_DOWNLOAD, LUMEQ_STAGES };

/*
 * What was seen and done, per frame. There are 2^depth bins, at most LUMEQ_MAX_BINS: from 13 bits
 * on, one bin counts 2^(depth - 12) codes. Histograms sum to the area of the active picture.
 *
 * The caller sets `size` and, for each array that it wants, a pointer to room for LUMEQ_MAX_BINS
 * entries; NULL: not wanted. The first `bins` entries are written, the others stay as they are.
 *
 * Where a bin counts several codes, `curve` is that of the first of them; the codes between lie on
 * a straight line to the next bin's, the last bin's line leading to 2^depth. hist_out then takes
 * the codes within a bin of hist_in to be equally frequent, and the means are those of the bins'
 * middles. In modes CLAHE and HAZE, `curve` is the mean of the tiles' curves, and hist_out counts
 * what each tile's own curve makes of it. Dither may move a sample to the code next to the one that
 * hist_out counts it at, and a filter (`filtered`) further: it counts what the curve alone makes of
 * them.
 */
typedef struct LumeqFrameStats {
    size_t size;
    uint32_t *hist_in, *hist_out;
    uint32_t *curve;  /* output code of each bin, with 16 fraction bits */
    LumeqRect active; /* what was looked at and equalized: the picture without its bars */
    int bins;
    int scene_cut;            /* 1: taken for the first frame of a new scene */
    double mean_in, mean_out; /* luma, in codes of the frame's depth */
    double strength;          /* that was used; with LumeqParams.lift: of the equalization */
    double noise_gain;  /* steepest slope of the curve in the darkest quarter of the range: noise in
                         * dark areas grows by this at most. 1: as it was */
    double curve_speed; /* mean over bins of |curve - previous curve| before strength, in codes */
    /* From lumeq_receive() and lumeq_process(), else 0: time in each stage in microseconds, and
     * when each began and ended, counted from the making of the equalizer: stages of neighbouring
     * frames overlap. 0 where there is no such stage, or with LumeqConfig.no_stage_times. */
    double upload_us, equalize_us, download_us;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES];
    /* Of a curve: frames before its own that lumeq_apply() wants, all of its scene: up to 3 where
     * the history looks ahead, else 1 at most. */
    int previous;
    /* Standard deviation of the noise in what stands still in the darker half of the picture, in
     * codes of 8 bits; -1: there was no frame before, it was the same, or nothing stands still. */
    double noise;
    /* With LumeqParams.lift: how many times as light the darkest parts become before the
     * equalization, from 1 on; else 1. */
    double lift;
    double dark;  /* with it, how dark the pictures were taken to be, 0..1; else 0 */
    int filtered; /* 1: the curve is steep enough for noise or steps of the source to show, which a
                   * filter is to hold back */
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
 * Fills in up to `count` entries of `gpus`, ordered by device number, and returns how many GPUs
 * there are, which may be more. `gpus` may be NULL where `count` is 0. The size in the first entry
 * applies to all of them. Where CUDA cannot be used, `why` (of `why_size` bytes, may be NULL) gets
 * one sentence that says what is missing. Errors: ARGUMENT, UNAVAILABLE, GPU. Any thread.
 */
LUMEQ_API int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size);

/* How many bytes of memory this process has from the library now, had at most, and may have. */
typedef struct LumeqMemoryUse {
    size_t size;
    /* Of a GPU: lumeq_alloc_device(), lumeq_reserve_device(), and what the library needs itself,
     * which counts, but is not stopped by the limit. 0, all three: nothing was opened there. */
    uint64_t device, device_most, device_limit;
    /* Pinned, of the host: lumeq_alloc_host(), and what the library needs itself, as above. */
    uint64_t pinned, pinned_most, pinned_limit;
} LumeqMemoryUse;

/* Errors: ARGUMENT. Any thread. */
LUMEQ_API int lumeq_memory_use(int device, LumeqMemoryUse *use);

/*
 * Counts memory that others take of a GPU for the same work, as a decoder for its surfaces, towards
 * the limit that lumeq_alloc_device() has; they take it only where this succeeds. Each reservation
 * is released, with its bytes. Errors: ARGUMENT, MEMORY (the limit is reached), UNAVAILABLE (no
 * equalizer and no context was opened on this GPU). Any thread.
 */
LUMEQ_API int lumeq_reserve_device(int device, uint64_t bytes);
LUMEQ_API void lumeq_release_device(int device, uint64_t bytes);

/* ---- step by step --------------------------------------------------------------------------- */

/*
 * What measures and applies: threads of the CPU, or streams of a GPU. Any thread; it must outlive
 * the calls that use it. A GPU that is lost is replaced by the CPU for calls whose images are in
 * host memory and that have no sync; all others then fail with GPU.
 *
 * The functions of this part leave a sentence about their last error in lumeq_last_error(NULL).
 */
typedef struct LumeqContext LumeqContext;

/*
 * Makes a context. NULL config: the defaults. `why` (of `why_size` bytes, may be NULL) gets one
 * sentence: on success which backend was chosen and why, otherwise what is wrong; *context is then
 * NULL. Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU. Any thread.
 */
LUMEQ_API int lumeq_context_create(LumeqContext **context, const LumeqConfig *config, char *why,
                                   size_t why_size);

/* Waits for the work of the context, frees it and sets *context to NULL, which is allowed to be
 * NULL before. Measures that were made with sync must have been finished or freed; curves and
 * finished measures outlive it. */
LUMEQ_API void lumeq_context_destroy(LumeqContext **context);

/*
 * What the history has to know about a frame: the histogram of the whole frame, lit samples by line
 * and by column (by which bars are found), the sum of luma in 16x9 cells (by which a cut
 * between pictures with similar histograms is found), how far blocks of luma that stand still
 * differ from the frame before and, for mode CLAHE, the histograms of the tiles. One thread at a
 * time may write it; once it is finished, any thread may read it.
 */
typedef struct LumeqMeasure LumeqMeasure;

/*
 * Measures the luma of `in`. *measure is NULL, and is made, or an earlier measure, which is
 * replaced (on failure it stays what it was). Of `params` (NULL: the defaults), those matter that
 * decide what is counted: mode, reference and tiles. `previous` is the frame before `in`, of the
 * same size, depth, shift and range, by which noise is told from picture, or NULL. Without sync the
 * measure is finished when the call returns. Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU. Any
 * thread.
 */
LUMEQ_API int lumeq_measure(LumeqContext *context, LumeqMeasure **measure,
                            const LumeqParams *params, const LumeqImage *in,
                            const LumeqImage *previous, const LumeqSync *sync);

/* Finishes a measure that was made with sync; before that it cannot be read. wait == 0: AGAIN where
 * the GPU is not done yet, otherwise waits for it. A measure that is finished already is no error.
 * Errors: ARGUMENT, AGAIN, GPU (the measure can only be freed or replaced then). One thread at a
 * time. */
LUMEQ_API int lumeq_measure_finish(LumeqMeasure *measure, int wait);

/*
 * Writes a finished measure as bytes that any machine and any later version can read. *size is the
 * room in `bytes` before the call, and what is needed after it, also where the room is too small
 * (ARGUMENT; the bytes are then undefined). bytes == NULL: only the size. A measure of 8 bits takes
 * a few KB, and each tile adds one. Errors: ARGUMENT, AGAIN (not finished). Any thread.
 */
LUMEQ_API int lumeq_measure_pack(const LumeqMeasure *measure, void *bytes, size_t *size);

/* Reads it back; *measure as in lumeq_measure(). Any bytes are safe to read; what is not a whole
 * measure of this version or an earlier one is refused. Errors: ARGUMENT, MEMORY. Any thread. */
LUMEQ_API int lumeq_measure_unpack(LumeqMeasure **measure, const void *bytes, size_t size);

/*
 * Makes of a finished measure of 8 bits that of the same picture in `depth` bits, 9 to 16: codes
 * with zeros below them or, in full range, with their own upper bits, so that white stays white.
 * For frames that are to be equalized more finely than they were measured. Sums of luma in full
 * range are then right to within a code. Errors: ARGUMENT (also a measure of the reference), AGAIN
 * (not finished), MEMORY; it is then what it was. One thread at a time.
 */
LUMEQ_API int lumeq_measure_deepen(LumeqMeasure *measure, int depth);

/* Frees the measure and sets *measure to NULL, which is allowed to be NULL before. Waits for the
 * GPU where the measure is not finished. */
LUMEQ_API void lumeq_measure_free(LumeqMeasure **measure);

/* When a measured frame is shown. */
typedef struct LumeqMoment {
    size_t size;
    int64_t number, time, duration; /* as in LumeqFrame */
    int discontinuity; /* not 0: the frame before has nothing to do with it: a new stream, a seek */
    int interlaced;    /* as in LumeqFrame; its curve remembers it */
} LumeqMoment;

/* Turns measures into curves, in order. It sees no pixels; it computes on the host, in integers.
 * One thread at a time. */
typedef struct LumeqHistory LumeqHistory;

#define LUMEQ_MAX_LOOKAHEAD INT64_C(10000000000)

/*
 * Makes a history. NULL params: the defaults.
 *
 * lookahead 0: the curve of a frame depends on the frames before it, as in the live way. Otherwise
 * `lookahead` says by how many nanoseconds (up to LUMEQ_MAX_LOOKAHEAD) measures are ahead of the
 * curves that they give: cuts are then exact, fades are recognized by where they lead, bars are
 * known from their first frame on, and curves are centred in time. The measures of that time are
 * kept, and of at most half as much before it; each frame counts for at least 1/300 s.
 *
 * Errors: ARGUMENT, MEMORY; *history is then NULL. Any thread.
 */
LUMEQ_API int lumeq_history_create(LumeqHistory **history, const LumeqParams *params,
                                   int64_t lookahead);

/* Frees the history and sets *history to NULL, which is allowed to be NULL before. Its curves
 * outlive it. */
LUMEQ_API void lumeq_history_destroy(LumeqHistory **history);

/*
 * Hands in the measure of the next frame, which remains the caller's and may be reused at once.
 * Both NULL: no more will follow for now; lumeq_history_get() gives what is left and then END, and
 * the next put begins a new stream. Errors: ARGUMENT (also a measure that is not finished, or has
 * other tiles than the parameters want), AGAIN (a curve has to be taken out first), MEMORY.
 */
LUMEQ_API int lumeq_history_put(LumeqHistory *history, const LumeqMeasure *measure,
                                const LumeqMoment *moment);

/* All that a frame is equalized by. Immutable and reference-counted. Any thread. */
typedef struct LumeqCurve LumeqCurve;

/* Takes out the curve of the next frame, to be given back with lumeq_curve_unref(). On failure
 * *curve is NULL. Errors: ARGUMENT, AGAIN (more measures are needed), END, MEMORY (the same curve
 * may be asked for again). */
LUMEQ_API int lumeq_history_get(LumeqHistory *history, LumeqCurve **curve);

/*
 * The state as bytes, by the rules of lumeq_measure_pack(), and back: the curves that follow are
 * those that the saved history would have given. Loading replaces the state and keeps the
 * parameters of the history, so that the same frames can be tried with others. A state that was
 * saved with another lookahead is an ARGUMENT error. Errors: save: ARGUMENT, AGAIN (a curve has to
 * be taken out first); load: ARGUMENT, MEMORY.
 */
LUMEQ_API int lumeq_history_save(const LumeqHistory *history, void *bytes, size_t *size);
LUMEQ_API int lumeq_history_load(LumeqHistory *history, const void *bytes, size_t size);

/* Each reference is given back with an unref, which sets *curve to NULL; the last one frees the
 * curve. lumeq_curve_ref() returns the curve. NULL, and a pointer to NULL, are allowed. */
LUMEQ_API LumeqCurve *lumeq_curve_ref(LumeqCurve *curve);
LUMEQ_API void lumeq_curve_unref(LumeqCurve **curve);

/* Fills in what was seen of the frame and what the curve makes of it. Error: ARGUMENT. */
LUMEQ_API int lumeq_curve_stats(const LumeqCurve *curve, LumeqFrameStats *stats);

/* As bytes, by the rules of lumeq_measure_pack(), and back: *curve is NULL or a reference, which is
 * given back for the new one. Errors: ARGUMENT; unpack: also MEMORY. */
LUMEQ_API int lumeq_curve_pack(const LumeqCurve *curve, void *bytes, size_t *size);
LUMEQ_API int lumeq_curve_unpack(LumeqCurve **curve, const void *bytes, size_t size);

/* As lumeq_curve_pack(), but without the histograms, of which only lumeq_curve_stats() tells: those
 * of the curve that comes back are empty. They change with all noise, and hardly compress. */
LUMEQ_API int lumeq_curve_pack_bare(const LumeqCurve *curve, void *bytes, size_t *size);

/*
 * Gives a curve that was packed so its histograms again: `measure` is the one of its frame, made
 * again, finished. The curve has to be nobody else's yet. Errors: ARGUMENT (also a measure of
 * another kind of frame, and a curve of mode CLAHE), AGAIN (not finished); it is then what it was.
 */
LUMEQ_API int lumeq_curve_count(LumeqCurve *curve, const LumeqMeasure *measure);

/*
 * Writes what the curve makes of `in` into `out`, with the bits of lumeq_submit(). The images obey
 * the rules of LumeqFrame and have the size, depth, shift and range that were measured (the shift
 * of `out` may differ). `previous` are the `count` frames before `in`, the nearest first; no more
 * of them are looked at than LumeqFrameStats.previous says. Without sync the output is complete
 * when the call returns. Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU; the output is undefined after
 * one of the last three. Any thread.
 */
LUMEQ_API int lumeq_apply(LumeqContext *context, const LumeqCurve *curve, const LumeqImage *in,
                          const LumeqImage *previous, int count, const LumeqImage *out,
                          const LumeqSync *sync);

/* ---- live ----------------------------------------------------------------------------------- */

/* The three steps in one, for frames in order. One thread at a time may use it, except for the
 * functions that allocate and free memory: any thread may call those. */
typedef struct LumeqEqualizer LumeqEqualizer;

/* Makes an equalizer with the default parameters and an empty history. Config, `why` and errors as
 * in lumeq_context_create(). Any thread. */
LUMEQ_API int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why,
                           size_t why_size);

/* Waits for the frames in flight, frees the equalizer and sets *equalizer to NULL, which is allowed
 * to be NULL before. Memory from lumeq_alloc_host() and lumeq_alloc_device() must have been freed.
 */
LUMEQ_API void lumeq_destroy(LumeqEqualizer **equalizer);

/*
 * "cpu" or "cuda". Static storage.
 *
 * A GPU that is lost in mid-run (a reset of the driver, a fault of another program, no progress for
 * 10 seconds), or that cannot take a frame, for want of memory for example, is replaced by the CPU:
 * no frame is lost or doubled, the bits stay the same, the answer is "cpu" from then on, and
 * lumeq_last_error() says what happened. Three kinds of memory of the frames that were in flight on
 * a lost GPU need attention:
 *
 * Outputs in pinned memory, which a GPU that wakes up later might still write to. These frames come
 * back with out.plane and out.stride of memory of the equalizer, which is valid until
 * lumeq_destroy(). The memory that was handed in must not be used for anything as long as the
 * process lives; lumeq_free_host() may be called as usual and keeps everybody else from it.
 *
 * Outputs in CUDA memory, which the CPU cannot reach. These frames, and the one that a GPU could
 * not take, come back measured, with out.plane[0] == NULL and correct statistics (after
 * lumeq_rewind() they can be submitted again, with an output in host memory). A further submit with
 * such an output is an ARGUMENT error.
 *
 * Inputs in CUDA memory, and inputs that were waited for (LumeqSync.stream, ready), are lost with
 * the GPU. For each of these frames lumeq_receive() returns GPU once and gives the frame back, with
 * an undefined output; the history goes on without it. A GPU that merely cannot take such a frame
 * is kept, and the submit is UNAVAILABLE. Events of frames that were in flight mean nothing.
 */
LUMEQ_API const char *lumeq_backend_name(const LumeqEqualizer *equalizer);

/*
 * One sentence about the last error of this equalizer, "" if there was none; valid until the next
 * call on it. AGAIN and END are no errors in this sense: they leave it as it is. NULL: about the
 * last error in this thread of a function that is about no equalizer (one that was passed NULL
 * instead of an equalizer included); valid until the next such error.
 */
LUMEQ_API const char *lumeq_last_error(const LumeqEqualizer *equalizer);

/* Sets the parameters of the frames that are submitted from now on; those in flight keep theirs.
 * What they change is seen in the next frame, whatever `smooth` is. Error: ARGUMENT. */
LUMEQ_API int lumeq_set_params(LumeqEqualizer *equalizer, const LumeqParams *params);

/*
 * Hands in the next frame, in presentation order. The equalizer borrows the planes of both images
 * until lumeq_receive() gives the frame back; on failure it borrows nothing. Errors: AGAIN (as many
 * frames are in flight as there are slots: receive one first), ARGUMENT (also a frame deeper than 8
 * bits with params.reference), MEMORY, GPU, UNAVAILABLE (the GPU cannot take this frame, and the
 * CPU may not: LUMEQ_BACKEND_CUDA was requested, or the input is in CUDA memory; other frames may
 * still go).
 */
LUMEQ_API int lumeq_submit(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/*
 * Gives back the oldest submitted frame, finished, in `frame`, and its statistics in `stats`.
 * Either may be NULL. Look for the picture where `frame` says: the loss of a GPU may have moved it
 * (see lumeq_backend_name()). Waits for the frame when no more can be submitted and after
 * lumeq_flush(); otherwise an unfinished frame is AGAIN. Errors: ARGUMENT, AGAIN (submit a frame
 * first, or wait), END (after lumeq_flush(): none is left), MEMORY, GPU (also once for each frame
 * that was lost with the GPU, and is given back).
 */
LUMEQ_API int lumeq_receive(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* One in, one out: submits the frame, waits for it and gives it back in the same struct. stats may
 * be NULL. Errors: AGAIN (others are in flight), otherwise those of lumeq_submit() and
 * lumeq_receive(). */
LUMEQ_API int lumeq_process(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* No frame follows for now: lumeq_receive() waits for each frame in flight and ends with END. The
 * next submit ends this; the history is kept. */
LUMEQ_API void lumeq_flush(LumeqEqualizer *equalizer);

/*
 * Takes the `frames` frames that were received last out of the history: the next one that is
 * submitted follows the frame before them. Submitted again, frames can be seen with other
 * parameters, as after a key pressed while paused, and come out as if these had held before. As
 * many can be taken back as were received since the start or a reset, but not more than
 * LUMEQ_MAX_REWIND in a row. A reset that no frame was submitted after is taken back, too. Before
 * frames that were lost with a GPU are submitted again, with as many as have come back behind them,
 * or 0. Errors: AGAIN (frames are in flight), ARGUMENT; nothing is taken back then.
 */
LUMEQ_API int lumeq_rewind(LumeqEqualizer *equalizer, int frames);

/* Forgets the history, after a seek for example: the curve of the next frame depends on that frame
 * alone. Frames in flight keep it. */
LUMEQ_API void lumeq_reset(LumeqEqualizer *equalizer);

/* Makes a history, without lookahead and with the current parameters, that stands where the
 * equalizer stood after the frame that was received last. It is the caller's. Errors: ARGUMENT,
 * MEMORY; *history is then NULL. */
LUMEQ_API int lumeq_get_history(LumeqEqualizer *equalizer, LumeqHistory **history);

/*
 * Host memory that the backend reads and writes fastest (pinned for CUDA, ordinary for the CPU),
 * aligned to at least 64 bytes, its content undefined. NULL where there is none left; ordinary
 * memory works as well, only more slowly. Pinned memory is limited for the whole process: to 2 GiB,
 * or a quarter of the machine's memory where that is less. NULL may be freed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_host(LumeqEqualizer *equalizer, size_t size);
LUMEQ_API void lumeq_free_host(LumeqEqualizer *equalizer, void *memory);

/*
 * Memory of the equalizer's GPU for images in LUMEQ_MEMORY_CUDA, aligned to 256 bytes, its content
 * undefined. NULL where there is none: the backend is the CPU, or the GPU has none left. What the
 * process has of a GPU is limited to half of its memory (lumeq_memory_use()). Freeing may wait for
 * the GPU; NULL may be freed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_device(LumeqEqualizer *equalizer, size_t size);
LUMEQ_API void lumeq_free_device(LumeqEqualizer *equalizer, void *memory);

/*
 * For a decoder on the same GPU: the CUcontext that the equalizer computes in, and a CUstream of it
 * for the caller's own work (LumeqSync.after), on which the equalizer queues nothing. Both are
 * valid until lumeq_destroy(), the context of LumeqConfig.cuda_context as long as that is; work on
 * the stream must have ended by then. Errors: ARGUMENT, UNAVAILABLE (the backend is the CPU), GPU;
 * both are then NULL.
 */
LUMEQ_API int lumeq_get_cuda(LumeqEqualizer *equalizer, void **context, void **stream);

#ifdef __cplusplus
}
#endif

#endif
