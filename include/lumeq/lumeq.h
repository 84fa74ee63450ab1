/*
 * liblumeq: equalizes the luma of video frames, on the GPU or, bit for bit the same, on the CPU.
 *
 * There are two ways to use it. Live, a LumeqEqualizer does everything: frames go in with
 * lumeq_submit() and come out, in the same order, with lumeq_receive(). Stepwise, the same work is
 * three functions, each useful alone:
 *
 *   lumeq_measure()                           a frame -> what is to be known of it
 *   lumeq_history_put(), lumeq_history_get()  measures, in order -> curves
 *   lumeq_apply()                             a frame and its curve -> the frame equalized
 *
 * Only the history has a state. Frames may therefore be measured and equalized in any order, by any
 * number of threads, processes and machines, on GPUs and CPUs: the bits are the same. A history
 * that does not look ahead gives the bits of the live way.
 *
 * The library knows no files, codecs or windows; it never prints, exits, reads the environment or
 * asserts on what it is given.
 *
 * Functions return 0 or a negative LUMEQ_ERR_*. A pointer that is NULL where that is not allowed is
 * LUMEQ_ERR_ARGUMENT; functions that answer no error then answer NULL, an empty name, or do
 * nothing. Objects are independent of each other, and each says which threads may use it.
 *
 * Structs that begin with `size` may grow in later versions. It is the sizeof of the struct that
 * the caller was compiled with, or 0, which stands for the size of version 0.9. What lies beyond it
 * is taken for 0, and 0 is always the default there. Zeroed structs are valid, but for LumeqParams
 * (see lumeq_params_default()) and what a function says it needs. LumeqImage and LumeqRect never
 * change.
 */
#ifndef LUMEQ_LUMEQ_H
#define LUMEQ_LUMEQ_H

#include <stddef.h>
#include <stdint.h>

/* What the shared library exports. */
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

/* LUMEQ_VERSION of the library that is running. Any thread. */
LUMEQ_API int lumeq_version(void);

/* What this build computes with: "CPU and CUDA 13.0" or "CPU only (...)". Static storage. Any
 * thread. */
LUMEQ_API const char *lumeq_build_info(void);

enum {
    LUMEQ_ERR_ARGUMENT = -1,    /* an argument is out of its documented range; nothing was done */
    LUMEQ_ERR_AGAIN = -2,       /* submit: receive a frame first; receive: submit a frame first;
                                 * history_get: put a measure first */
    LUMEQ_ERR_END = -3,         /* everything that was handed in has been answered */
    LUMEQ_ERR_MEMORY = -4,      /* out of memory */
    LUMEQ_ERR_UNAVAILABLE = -5, /* the wanted backend or device is not on this machine */
    LUMEQ_ERR_GPU = -6,         /* a CUDA call failed; lumeq_last_error() has CUDA's text */
};

/* A short English phrase for a LUMEQ_ERR_*. Static storage, never NULL. Any thread. */
LUMEQ_API const char *lumeq_error_string(int error);

/* Luma codes that mean black and white: of 8 bits 16 and 235 (limited), 0 and 255 (full); of deeper
 * samples 16 and 235 times 2^(depth - 8), 0 and the last code. */
typedef enum LumeqRange {
    LUMEQ_RANGE_LIMITED = 0,
    LUMEQ_RANGE_FULL = 1,
} LumeqRange;

/* Where planes lie. */
typedef enum LumeqMemory {
    LUMEQ_MEMORY_HOST = 0, /* pinned or ordinary */
    /* Of the GPU that computes, in the CUDA context that it computes in (LumeqConfig.cuda_context).
     * Refused while the backend is "cpu". Fastest with rows that start at multiples of 16 bytes. */
    LUMEQ_MEMORY_CUDA = 1,
} LumeqMemory;

/*
 * A picture in memory. Plain data: it borrows the memory that its owner keeps.
 * Planes may have any stride whose magnitude is at least the row's length and at most 2^31 - 1,
 * negative ones (bottom-up pictures) included, and any alignment. Samples deeper than 8 bits lie in
 * 16 bits, little-endian; planes and strides are then even. Such a sample is the code times
 * 2^shift: planar pictures have shift 0, P010 has depth 10 and shift 6. What lies below the code is
 * not looked at and written as 0; a sample above the last code, 2^depth - 1, is taken for the last
 * one.
 */
typedef struct LumeqImage {
    /* First rows of luma, Cb and Cr. Cb NULL: gray, or chroma that is none of the library's. Only
     * Cr NULL: both lie in turns in plane[1], Cb first (NV12, P010, P016). */
    void *plane[3];
    ptrdiff_t stride[3];    /* bytes from one row to the next */
    int width, height;      /* of luma, in pixels: 1..LUMEQ_MAX_SIDE each */
    int chroma_x, chroma_y; /* a chroma sample lies over 2^chroma_x columns and 2^chroma_y rows of
                             * luma, those at the edges over fewer: 0..2 */
    int depth;              /* bits of a code: 8..16 */
    int shift;              /* unused bits below it: 0..16 - depth; 0 when depth is 8 */
    LumeqRange range;
    LumeqMemory memory; /* of all its planes */
} LumeqImage;

#define LUMEQ_MAX_SIDE 65535
#define LUMEQ_MAX_BINS 4096

typedef enum LumeqMode {
    LUMEQ_MODE_GLOBAL = 0, /* one curve for the whole picture, from its histogram */
    LUMEQ_MODE_OFF = 1,    /* the picture passes unchanged; histogram and history are still kept */
    /* A curve for each tile of the picture, from the tile's histogram; a pixel takes what the
     * curves of the four tiles around it make of it, weighted by how near they are (contrast
     * limited adaptive histogram equalization). */
    LUMEQ_MODE_CLAHE = 2,
    /* One straight line through the codes below which 0.5 % and 99.5 % of the picture lie, to black
     * and white. */
    LUMEQ_MODE_STRETCH = 3,
} LumeqMode;

typedef enum LumeqChroma {
    /* Saturation follows luma: chroma is scaled by the gain of the luma under it, within bounds. */
    LUMEQ_CHROMA_SCALE = 0,
    LUMEQ_CHROMA_KEEP = 1, /* unchanged */
} LumeqChroma;

typedef enum LumeqBars {
    /* Black bars at the picture's edges are left out of the histogram, and left as they are. */
    LUMEQ_BARS_AUTO = 0,
    LUMEQ_BARS_IGNORE = 1, /* they count like the picture */
} LumeqBars;

/* What may be changed from frame to frame. Start from lumeq_params_default(): zero has a meaning.
 */
typedef struct LumeqParams {
    size_t size;
    LumeqMode mode;
    /* Not 0: the textbook arithmetic of OpenCV, bit for bit: equalizeHist with mode GLOBAL, CLAHE
     * with mode CLAHE, whose limit is `clip`. Each frame on its own over codes 0..255; range,
     * strength, smooth, scene_cut, chroma, dither and bars are ignored and no history is kept.
     * Only for 8 bits, and not with mode STRETCH: others are refused. */
    int reference;
    double strength; /* 0 (untouched) .. 1 (fully equalized) */
    /* Not 0: `strength` is for pictures that need it, dull or dark; the better a picture is
     * exposed, the less of it is taken, down to a tenth. LumeqFrameStats.strength tells how much
     * was. */
    int adaptive;
    double clip; /* limit of a bin, in multiples of the mean bin: 0 = none, else 1..LUMEQ_MAX_CLIP.
                  * Deeper than 8 bits: of the 2^(depth - 8) codes that 8 bits would hold as one.
                  * The lower, the less contrast is stretched; 1 changes nothing */
    double smooth;        /* time constant of the curve in seconds, 0..LUMEQ_MAX_SMOOTH; 0 = none */
    int scene_cut;        /* not 0: a cut takes the new picture's curve at once */
    int tiles_x, tiles_y; /* of mode CLAHE: 1..LUMEQ_MAX_TILES each; 0 = 8 */
    LumeqChroma chroma;   /* of images that have chroma planes */
    int dither; /* not 0: fractions of codes are not rounded, but become a fixed fine pattern that
                 * changes from frame to frame */
    LumeqBars bars;
    /* 0 (none) .. 1: how much of the light that pumps in the source (timelapse, old film) is evened
     * out, over half a second before and after each frame. Only in a history that looks ahead. */
    double deflicker;
} LumeqParams;

#define LUMEQ_MAX_CLIP 1000.0
#define LUMEQ_MAX_SMOOTH 3600.0
#define LUMEQ_MAX_TILES 16

/*
 * Chosen for pleasing video: most of the gain in contrast, noise and flat areas held back. Mode
 * GLOBAL, strength 0.8 adaptive, clip 3, smooth 0.5 s, scene_cut, 8x8 tiles, chroma SCALE, no
 * dither, bars AUTO, no deflicker. Fills what params->size says there is. Any thread.
 */
LUMEQ_API void lumeq_params_default(LumeqParams *params);

typedef enum LumeqBackendId {
    LUMEQ_BACKEND_AUTO = 0, /* CUDA where it works, else the CPU */
    LUMEQ_BACKEND_CPU = 1,
    LUMEQ_BACKEND_CUDA = 2,
} LumeqBackendId;

/* What a CPU may have beyond plain C. AVX512 is F, BW, VL, VBMI, BITALG and GFNI, as of Ice Lake
 * and Zen 4. */
enum { LUMEQ_CPU_AVX2 = 1, LUMEQ_CPU_AVX512 = 2 };

typedef enum LumeqLogLevel {
    LUMEQ_LOG_WARNING = 1, /* it goes on, but not as was asked for */
    LUMEQ_LOG_INFO = 2,    /* what was chosen, and why */
} LumeqLogLevel;

/* How a context or an equalizer is made; {0} is the default. */
typedef struct LumeqConfig {
    size_t size;
    LumeqBackendId backend;
    int device;  /* CUDA device number */
    int threads; /* CPU threads, the caller's included: 0 = one for each core, at most 256 */
    unsigned cpu_without; /* sum of LUMEQ_CPU_*: what is not used although the CPU has it */
    /*
     * A CUcontext of `device` to work in, which must live longer than what is made with it: it is
     * pushed by each call and popped again, so that the caller's current context stays. NULL: the
     * device's primary context; calls then leave `device` current in their thread.
     */
    void *cuda_context;
    /* Gets one sentence, without a newline; called in the thread of the call that it is about, and
     * must call nothing of the library. NULL: nobody is told. */
    void (*log)(void *user, LumeqLogLevel level, const char *text);
    void *log_user;
} LumeqConfig;

/*
 * What a call has to do with the caller's own work on the GPU. With a stream, or with `finished`,
 * no call waits on the host for the GPU, as long as images lie in CUDA memory or in pinned memory;
 * copies from and to pageable host memory may, and so may a call that fails. Such a call's results
 * are there when what was queued on the stream, or `finished`, has passed. What the caller has
 * queued before counts as progress of the GPU only when it ends: where that takes more than 10
 * seconds, and it is waited for, the GPU is taken for lost: it may wake up, so that memory of calls
 * that did not wait must then not be used for anything as long as the process lives. Stream and
 * events are of the context that is computed in. Refused (ARGUMENT) while the backend is "cpu".
 */
typedef struct LumeqSync {
    size_t size;
    void *stream;   /* CUstream to queue all work on; NULL: the library's own */
    void *ready;    /* CUevent to wait for before any memory is touched; NULL: none */
    void *finished; /* CUevent that is recorded when all memory is done with; NULL: none */
} LumeqSync;

/*
 * One frame to equalize. `out` has the size, depth and range of `in`, may have another shift, and
 * has memory of its own: in and out must not overlap (a decoder goes on reading its reference
 * frames). Where out has chroma planes, in has chroma of the same subsampling, and they are
 * written, too; one may have it in turns in one plane and the other in two. A depth other than that
 * of the frame before has the effect of lumeq_reset(). out.plane[0] == NULL: the frame is only
 * measured; statistics and history as if it were written. An output in CUDA memory is not to be
 * used by the GPU for anything else from submit to receive; after receive it is complete for every
 * stream. The luma is then never brought to the host.
 */
typedef struct LumeqFrame {
    size_t size;
    LumeqImage in, out;
    int64_t time; /* presentation time in nanoseconds, or LUMEQ_NO_TIME */
    int64_t
        duration; /* in nanoseconds; 0 = unknown. Stands in where time is missing or not rising */
    void *opaque; /* the caller's; comes back with the frame */
    /* The frame's number in its stream, which the dither's pattern goes by. 0: that of the frame
     * before and 1; 0 for the first one and after a reset. */
    int64_t number;
    /* NULL: none. Read during lumeq_submit(), which gives the frame back without. It is that call
     * that does not wait for the GPU; lumeq_receive() does so as ever. */
    const LumeqSync *sync;
} LumeqFrame;

#define LUMEQ_NO_TIME INT64_MIN

/* A part of a picture, in pixels. */
typedef struct LumeqRect {
    int x, y, width, height;
} LumeqRect;

/* The stages of a frame on the GPU. On the CPU there is only the second; the others take no time.
 */
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
 * middles. In mode CLAHE, `curve` is the mean of the tiles' curves, and hist_out counts what each
 * tile's own curve makes of it. Dither may move a sample to the code next to the one that hist_out
 * counts it at.
 */
typedef struct LumeqFrameStats {
    size_t size;
    uint32_t *hist_in, *hist_out;
    uint32_t *curve;  /* output code of each bin, with 16 fraction bits */
    LumeqRect active; /* what was looked at and equalized: the picture without its bars */
    int bins;
    int scene_cut;            /* 1: taken for the first frame of a new scene */
    double mean_in, mean_out; /* luma, in codes of the frame's depth */
    double strength;          /* that was used */
    double noise_gain;  /* steepest slope of the curve in the darkest quarter of the range: noise in
                         * dark areas grows by this at most. 1: as it was */
    double curve_speed; /* mean over bins of |curve - previous curve| before strength, in codes */
    /* From lumeq_receive() and lumeq_process(), else 0: time in each stage in microseconds, and
     * when each began and ended, counted from the making of the equalizer: stages of neighbouring
     * frames overlap. 0 for a stage that there is not. */
    double upload_us, equalize_us, download_us;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES];
    int previous; /* of a curve: frames before it that lumeq_apply() wants; 0 in this version */
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
 * Fills the first `count` of `gpus`, in the order of their numbers, and answers how many there are.
 * `gpus` may be NULL where `count` is 0. The size in the first entry holds for all of them.
 * Where CUDA cannot be used: UNAVAILABLE or GPU, and one sentence in `why` (of `why_size` bytes,
 * may be NULL) that says what is missing. Thread-safe.
 */
LUMEQ_API int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size);

/* ---- step by step --------------------------------------------------------------------------- */

/*
 * What measures and applies: the CPU's threads, or a GPU's streams. Any number of threads may use
 * it at once; it must live longer than their calls. A GPU that is lost is replaced by the CPU, for
 * calls whose images lie in host memory; all others are then UNAVAILABLE.
 *
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU; *context is then NULL and `why` (where not NULL, of
 * `why_size` bytes) holds one sentence. On success it says which backend was taken and why. NULL
 * config: the defaults. All other functions of this part leave their sentence in
 * lumeq_last_error(NULL).
 */
typedef struct LumeqContext LumeqContext;

LUMEQ_API int lumeq_context_create(LumeqContext **context, const LumeqConfig *config, char *why,
                                   size_t why_size);

/* Waits for its work, frees it and sets *context to NULL. NULL is allowed. Measures that were made
 * with sync are to be finished or freed before; curves and finished measures outlive it. */
LUMEQ_API void lumeq_context_destroy(LumeqContext **context);

/*
 * All that is to be known of a frame: histogram of the whole frame, lit samples by lines and
 * columns (what bars are found by), sums of luma in 16x9 cells (what tells a cut between pictures
 * of like histogram) and, for mode CLAHE, the histograms of its tiles. One thread at a time may
 * write it; once finished any number may read it.
 */
typedef struct LumeqMeasure LumeqMeasure;

/*
 * Measures the luma of `in`. *measure is made where it is NULL, else written anew. Of `params` it
 * looks at what decides what is counted: mode, reference, tiles. `previous` is the frame before
 * `in`, of the same size and depth, or NULL; nothing is temporal yet. Without sync the measure is
 * finished when the call returns. On failure *measure is what it was.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU.
 */
LUMEQ_API int lumeq_measure(LumeqContext *context, LumeqMeasure **measure,
                            const LumeqParams *params, const LumeqImage *in,
                            const LumeqImage *previous, const LumeqSync *sync);

/* Waits for a measure that was made with sync; `wait` 0: AGAIN where it is not done. It is needed
 * before the measure is read. Errors: AGAIN, GPU (the measure is then good for nothing). */
LUMEQ_API int lumeq_measure_finish(LumeqMeasure *measure, int wait);

/*
 * Writes a finished measure as bytes that any machine and later version reads: into `bytes` if
 * `*size` is enough, and in any case the size that is needed into *size (a measure of 8 bits takes
 * a few KB; with tiles 64 times as much). bytes NULL: only the size. Errors: ARGUMENT (*size is too
 * small), AGAIN (it is not finished).
 */
LUMEQ_API int lumeq_measure_pack(const LumeqMeasure *measure, void *bytes, size_t *size);

/* The other way: *measure is made where it is NULL, else written anew. Any bytes are safe to read.
 * Errors: ARGUMENT (they are no whole measure, or one of a later version), MEMORY. */
LUMEQ_API int lumeq_measure_unpack(LumeqMeasure **measure, const void *bytes, size_t size);

/* Frees it and sets *measure to NULL; waits for the GPU where it is not finished. NULL is allowed.
 */
LUMEQ_API void lumeq_measure_free(LumeqMeasure **measure);

/* Which frame a measure is of. */
typedef struct LumeqMoment {
    size_t size;
    int64_t number;         /* in the stream, from 0 on: the dither's pattern goes by it */
    int64_t time, duration; /* as in LumeqFrame */
    int discontinuity; /* not 0: nothing goes on from the frame before; a new stream, or a seek */
} LumeqMoment;

/*
 * Turns measures into curves, in order. It sees no pixels and computes on the host, in integers.
 * One thread at a time.
 */
typedef struct LumeqHistory LumeqHistory;

#define LUMEQ_MAX_LOOKAHEAD INT64_C(10000000000)

/*
 * lookahead 0: a frame's curve depends on the frames before it, as live. Else the nanoseconds, up
 * to LUMEQ_MAX_LOOKAHEAD, by which measures are to be ahead of the curves that are got: cuts are
 * then exact, fades are recognized by where they lead, bars are known from their first frame on,
 * and curves are centred in time. As many frames' measures are kept, and at most half as many
 * behind; each frame counts for at least 1/300 s.
 * NULL params: the defaults. Errors: ARGUMENT, MEMORY; *history is then NULL.
 */
LUMEQ_API int lumeq_history_create(LumeqHistory **history, const LumeqParams *params,
                                   int64_t lookahead);
LUMEQ_API void lumeq_history_destroy(LumeqHistory **history); /* and sets it to NULL */

/*
 * Hands in the next frame's measure, which stays the caller's and may be reused at once. NULL,
 * both: there are no more, and lumeq_history_get() ends with END; the next put begins a new stream.
 * Errors: ARGUMENT (it was measured for other tiles than the parameters need, or is not finished),
 * AGAIN (there is a curve to be got first), MEMORY; nothing was done then.
 */
LUMEQ_API int lumeq_history_put(LumeqHistory *history, const LumeqMeasure *measure,
                                const LumeqMoment *moment);

/* A curve; see below. */
typedef struct LumeqCurve LumeqCurve;

/* The next frame's curve, which the caller gives back with lumeq_curve_unref(). Errors: AGAIN (more
 * measures are needed), END, MEMORY (nothing was done: it may be asked again). */
LUMEQ_API int lumeq_history_get(LumeqHistory *history, LumeqCurve **curve);

/*
 * The state as bytes, by the rules of lumeq_measure_pack(), and back: the curves that follow are
 * those that the saved history would have given. Load keeps the history's own parameters, so that
 * a frame may be seen with others; a state with another lookahead is ARGUMENT.
 */
LUMEQ_API int lumeq_history_save(const LumeqHistory *history, void *bytes, size_t *size);
LUMEQ_API int lumeq_history_load(LumeqHistory *history, const void *bytes, size_t size);

/*
 * All that a frame is equalized by. Immutable and counted: any number of threads may use it, and
 * each lumeq_curve_ref() is paired with a lumeq_curve_unref(), which sets *curve to NULL. Ref
 * answers the curve.
 */
LUMEQ_API LumeqCurve *lumeq_curve_ref(LumeqCurve *curve);
LUMEQ_API void lumeq_curve_unref(LumeqCurve **curve);

/* What was seen, and what the curve makes of it. Error: ARGUMENT. */
LUMEQ_API int lumeq_curve_stats(const LumeqCurve *curve, LumeqFrameStats *stats);

/* As bytes, by the rules of lumeq_measure_pack(), and back. */
LUMEQ_API int lumeq_curve_pack(const LumeqCurve *curve, void *bytes, size_t *size);
LUMEQ_API int lumeq_curve_unpack(LumeqCurve **curve, const void *bytes, size_t size);

/*
 * Writes what the curve makes of `in` into `out`, as lumeq_submit() would: the images keep to what
 * LumeqFrame says, and to the size, depth and range that was measured. `previous` are the `count`
 * frames before it, the nearest first; those that the curve does not want are not looked at.
 * Without sync the output is complete when the call returns. Errors: ARGUMENT, MEMORY, UNAVAILABLE,
 * GPU.
 */
LUMEQ_API int lumeq_apply(LumeqContext *context, const LumeqCurve *curve, const LumeqImage *in,
                          const LumeqImage *previous, int count, const LumeqImage *out,
                          const LumeqSync *sync);

/* ---- live ----------------------------------------------------------------------------------- */

/* The three in one, for frames in order. One thread at a time may use it, but for the functions
 * that allocate and free memory: any thread may call those between create and destroy. */
typedef struct LumeqEqualizer LumeqEqualizer;

/*
 * Makes an equalizer with the default parameters and an empty history. NULL config: the defaults.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU; *equalizer is then NULL, and `why` (where not NULL,
 * of `why_size` bytes) holds one sentence. On success it says which backend was taken and why.
 */
LUMEQ_API int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why,
                           size_t why_size);

/* Waits for frames in flight, frees everything and sets *equalizer to NULL. NULL is allowed. Memory
 * from lumeq_alloc_host() and lumeq_alloc_device() must have been freed before. */
LUMEQ_API void lumeq_destroy(LumeqEqualizer **equalizer);

/*
 * "cpu" or "cuda". Static storage. A GPU that is lost in mid-run (a driver's reset, a fault of
 * another program on it, no progress for 10 seconds) or cannot take a frame, for want of memory for
 * example, is replaced by the CPU: no frame is lost or doubled, the bits are the same, from then on
 * the answer is "cpu", and lumeq_last_error() says what happened. Two kinds of outputs of the
 * frames in flight on a lost GPU are not written as they were handed in:
 *
 * Pinned host memory, which a GPU that wakes up later may still write to. These frames come back
 * with out.plane and out.stride of the equalizer's own memory, which is valid until
 * lumeq_destroy(). What was handed in must not be used for anything as long as the process lives;
 * lumeq_free_host() may be called as ever, and keeps it from everybody else.
 *
 * CUDA memory, which the CPU does not reach. These frames, and the one that a GPU could not take,
 * come back measured, with out.plane[0] == NULL and right statistics (lumeq_redo() with an output
 * in host memory writes the last of them), and a submit with another one is ARGUMENT.
 *
 * Inputs in CUDA memory, and those that were waited for (LumeqSync.ready, stream), are lost with
 * the GPU. For each of these frames lumeq_receive() answers GPU once, and gives the frame back,
 * whose output is undefined; the history goes on without it. A GPU that only cannot take such a
 * frame is kept, and the submit is UNAVAILABLE. Events of frames that were in flight on a lost GPU
 * mean nothing.
 */
LUMEQ_API const char *lumeq_backend_name(const LumeqEqualizer *equalizer);

/*
 * The text of the last error of this equalizer, "" if none; valid until the next call on it. NULL:
 * of the last function that failed in this thread and is about no equalizer; valid until the next
 * one of those.
 */
LUMEQ_API const char *lumeq_last_error(const LumeqEqualizer *equalizer);

/* Parameters for the frames submitted from now on; those in flight keep theirs. Error: ARGUMENT. */
LUMEQ_API int lumeq_set_params(LumeqEqualizer *equalizer, const LumeqParams *params);

/*
 * Hands in the next frame, in presentation order. On success the equalizer borrows the memory of
 * both images until lumeq_receive() gives the frame back; on failure the caller keeps everything.
 * Errors: AGAIN (as many frames are in flight as there are slots), ARGUMENT (that a frame deeper
 * than 8 bits meets params.reference included), MEMORY, GPU, UNAVAILABLE (LUMEQ_BACKEND_CUDA was
 * asked for and the GPU cannot take this frame, for want of memory for example; it goes on with
 * those that it can take).
 */
LUMEQ_API int lumeq_submit(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/*
 * Gives back the oldest submitted frame, finished, in `frame`, and its statistics in `stats` where
 * that is not NULL. Where the picture is, `frame` says: a GPU that was lost may have changed that
 * (see lumeq_backend_name()). Waits for it when no more frames can be submitted or after
 * lumeq_flush(); else an unfinished frame is AGAIN. Errors: AGAIN, END, GPU (also once for a frame
 * that was lost with the GPU, and is given back).
 */
LUMEQ_API int lumeq_receive(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* One in, one out: submits the frame, waits for it and gives it back in it. AGAIN while others are
 * in flight; else as lumeq_submit() and lumeq_receive(). stats may be NULL. */
LUMEQ_API int lumeq_process(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* No frame follows for now: lumeq_receive() then waits for each frame in flight and ends with END.
 * The next submit ends that state; history is kept. */
LUMEQ_API void lumeq_flush(LumeqEqualizer *equalizer);

/*
 * Like lumeq_submit() with the frame that was received last, to see it with other parameters (a key
 * pressed while paused): it is computed from the history before it and takes the place of its first
 * computation in the history, which therefore does not advance. AGAIN unless all frames have been
 * received; ARGUMENT when none has been since the start or a reset.
 */
LUMEQ_API int lumeq_redo(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/* Forgets the history (after a seek): the next frame's curve is its own. Frames in flight keep it,
 * and so does lumeq_redo() of the last of them. */
LUMEQ_API void lumeq_reset(LumeqEqualizer *equalizer);

/* The history after the frame that was received last, without lookahead and with the parameters of
 * now, as an object of its own. Errors: ARGUMENT, MEMORY; *history is then NULL. */
LUMEQ_API int lumeq_get_history(LumeqEqualizer *equalizer, LumeqHistory **history);

/*
 * Host memory that the backend reads and writes fastest (pinned for CUDA, ordinary for the CPU),
 * aligned to 64 bytes at least. NULL when there is none left: ordinary memory then works as well,
 * only slower. What is pinned is limited for the whole process: to 2 GiB, or a quarter of the
 * machine's memory where that is less. Any thread.
 */
LUMEQ_API void *lumeq_alloc_host(LumeqEqualizer *equalizer, size_t size);
LUMEQ_API void lumeq_free_host(LumeqEqualizer *equalizer, void *memory);

/*
 * Memory of the equalizer's GPU for outputs of LUMEQ_MEMORY_CUDA, aligned to 256 bytes, its content
 * undefined. NULL when there is none: the backend is the CPU, or the GPU has none left. Freeing may
 * wait for the GPU; NULL is allowed. Any thread.
 */
LUMEQ_API void *lumeq_alloc_device(LumeqEqualizer *equalizer, size_t size);
LUMEQ_API void lumeq_free_device(LumeqEqualizer *equalizer, void *memory);

#ifdef __cplusplus
}
#endif

#endif
