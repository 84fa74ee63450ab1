/*
 * liblumeq: equalizes the luma of video frames, on the GPU or, bit for bit the same, on the CPU.
 *
 * Frames go in with lumeq_submit() and come out, in the same order, with lumeq_receive(). The
 * library knows no files, codecs or windows; it never prints, exits or asserts on what it is given.
 *
 * Functions return 0 or a negative LUMEQ_ERR_*. An equalizer may be used by one thread at a time;
 * different equalizers are independent of each other. The functions that allocate and free memory
 * are the exception: any thread may call them at any time between create and destroy.
 *
 * A pointer that is NULL where that is not allowed is LUMEQ_ERR_ARGUMENT; functions that answer no
 * error then answer NULL, an empty name, or do nothing.
 */
#ifndef LUMEQ_LUMEQ_H
#define LUMEQ_LUMEQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LUMEQ_VERSION_MAJOR 0
#define LUMEQ_VERSION_MINOR 1
#define LUMEQ_VERSION_PATCH 0

/* "0.1.0": the version of the library that is running. Static storage. */
const char *lumeq_version(void);

/* What this build computes with: "CPU and CUDA 13.0" or "CPU only (...)". Static storage. */
const char *lumeq_build_info(void);

enum {
    LUMEQ_ERR_ARGUMENT = -1,    /* an argument is out of its documented range; nothing was done */
    LUMEQ_ERR_AGAIN = -2,       /* submit: receive a frame first; receive: submit a frame first */
    LUMEQ_ERR_END = -3,         /* receive: flushed, and every submitted frame has been received */
    LUMEQ_ERR_MEMORY = -4,      /* out of memory */
    LUMEQ_ERR_UNAVAILABLE = -5, /* the wanted backend or device is not on this machine */
    LUMEQ_ERR_GPU = -6,         /* a CUDA call failed; lumeq_last_error() has CUDA's text */
};

/* A short English phrase for a LUMEQ_ERR_*. Static storage, never NULL. */
const char *lumeq_error_string(int error);

/* Luma codes that mean black and white: of 8 bits 16 and 235 (limited), 0 and 255 (full); of deeper
 * samples 16 and 235 times 2^(depth - 8), 0 and the last code. */
typedef enum LumeqRange {
    LUMEQ_RANGE_LIMITED = 0,
    LUMEQ_RANGE_FULL = 1,
} LumeqRange;

/* Where planes lie. */
typedef enum LumeqMemory {
    LUMEQ_MEMORY_HOST = 0, /* pinned or ordinary */
    /* Of the equalizer's GPU, in the device's primary context: from lumeq_alloc_device() or
     * cudaMalloc(). Memory of another context of that GPU is refused. Only for what is written, and
     * only while the backend is "cuda". Fastest with rows that start at multiples of 16 bytes. */
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
     * Cr NULL: both kinds lie in turns in plane[1] (NV12, P010; which one is first does not
     * matter). */
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

/* What may be changed from frame to frame. Start from LUMEQ_PARAMS_DEFAULT: zero has a meaning. */
typedef struct LumeqParams {
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
} LumeqParams;

#define LUMEQ_MAX_CLIP 1000.0
#define LUMEQ_MAX_SMOOTH 3600.0
#define LUMEQ_MAX_TILES 16

/* Chosen for pleasing video: most of the gain in contrast, noise and flat areas held back. */
#define LUMEQ_PARAMS_DEFAULT                                                                       \
    {                                                                                              \
        LUMEQ_MODE_GLOBAL, 0, 0.8, 1, 3.0, 0.5, 1, 8, 8, LUMEQ_CHROMA_SCALE, 0, LUMEQ_BARS_AUTO    \
    }

typedef enum LumeqBackendId {
    LUMEQ_BACKEND_AUTO = 0, /* CUDA where it works, else the CPU */
    LUMEQ_BACKEND_CPU = 1,
    LUMEQ_BACKEND_CUDA = 2,
} LumeqBackendId;

/* How an equalizer is made; {0} is the default. */
typedef struct LumeqConfig {
    LumeqBackendId backend;
    int device;  /* CUDA device number; calls of this library leave it current in their thread */
    int threads; /* CPU threads, the caller's included: 0 = one for each core, at most 256 */
} LumeqConfig;

/*
 * One frame to equalize. `out` has the size, depth, shift and range of `in`, and memory of its own:
 * in and out must not overlap (a decoder goes on reading its reference frames). Where out has
 * chroma planes, in has as many of the same shape, and they are written, too. `in` lies in host
 * memory. A depth other than that of the frame before has the effect of lumeq_reset().
 * out.plane[0] == NULL: the frame is only measured; statistics and history as if it were written.
 * An output in CUDA memory is not to be used by the GPU for anything else from submit to receive;
 * after receive it is complete for every stream. The luma is then never brought to the host.
 */
typedef struct LumeqFrame {
    LumeqImage in, out;
    int64_t time; /* presentation time in nanoseconds, or LUMEQ_NO_TIME */
    int64_t
        duration; /* in nanoseconds; 0 = unknown. Stands in where time is missing or not rising */
    void *opaque; /* the caller's; comes back with the frame */
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
 * What was seen and done, per frame. There are 2^depth bins, at most 4096: from 13 bits on, one
 * counts 2^(depth - 12) codes. Arrays have `bins` entries, what follows them is left as it was;
 * histograms sum to the active picture's area.
 *
 * Where a bin counts several codes, `curve` is that of its first one, and lies on straight lines
 * between those, the last of which leads to 2^depth. hist_out then takes the codes within a bin of
 * hist_in for evenly frequent, and the means are those of the bins' middles. In mode CLAHE `curve`
 * is the mean of the tiles', and hist_out what becomes of each tile by its own curve. Dither moves
 * samples to the code beside the one that hist_out has them at.
 */
typedef struct LumeqFrameStats {
    LumeqRect active; /* what was looked at and equalized: all but the bars */
    int bins;
    uint32_t hist_in[LUMEQ_MAX_BINS];
    uint32_t hist_out[LUMEQ_MAX_BINS];
    uint32_t curve[LUMEQ_MAX_BINS]; /* output code of each bin's, with 16 fraction bits */
    double mean_in, mean_out;       /* luma, in codes of the frame's depth */
    double strength;                /* that was used */
    double noise_gain;  /* steepest slope of the curve over the darkest quarter of the range: noise
                           in  dark areas grows by this at most. 1: as it was */
    double curve_speed; /* mean over bins of |curve - previous curve| before strength, codes a
                           frame */
    int scene_cut;      /* 1: taken for the first frame of a new scene */
    double upload_us, equalize_us, download_us; /* time in each stage, in microseconds */
    /* When each stage began and ended, in microseconds since the equalizer was made: stages of
     * neighbouring frames overlap. 0 where there is no such stage. */
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES];
} LumeqFrameStats;

/* A GPU of this machine. */
typedef struct LumeqGpu {
    char name[128];
    uint64_t memory;  /* bytes */
    int major, minor; /* compute capability */
    int processors;   /* streaming multiprocessors */
} LumeqGpu;

/*
 * Fills the first `count` of `gpus`, in the order of their numbers, and answers how many there are.
 * `gpus` may be NULL where `count` is 0.
 * Where CUDA cannot be used: UNAVAILABLE or GPU, and one sentence in `why` (of `why_size` bytes,
 * may be NULL) that says what is missing. Thread-safe.
 */
int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size);

typedef struct LumeqEqualizer LumeqEqualizer;

/*
 * Makes an equalizer with LUMEQ_PARAMS_DEFAULT and an empty history. NULL config: the defaults.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE, GPU; *equalizer is then NULL, and `why` (where not NULL,
 * of `why_size` bytes) holds one sentence. On success it says which backend was taken and why.
 */
int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why, size_t why_size);

/* Waits for frames in flight, frees everything and sets *equalizer to NULL. NULL is allowed. Memory
 * from lumeq_alloc_host() and lumeq_alloc_device() must have been freed before. */
void lumeq_destroy(LumeqEqualizer **equalizer);

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
 */
const char *lumeq_backend_name(const LumeqEqualizer *equalizer);

/* The text of the last error of this equalizer, "" if none. Valid until the next call on it. */
const char *lumeq_last_error(const LumeqEqualizer *equalizer);

/* Parameters for the frames submitted from now on; those in flight keep theirs. Error: ARGUMENT. */
int lumeq_set_params(LumeqEqualizer *equalizer, const LumeqParams *params);

/*
 * Hands in the next frame, in presentation order. On success the equalizer borrows the memory of
 * both images until lumeq_receive() gives the frame back; on failure the caller keeps everything.
 * Errors: AGAIN (as many frames are in flight as there are slots), ARGUMENT (that a frame deeper
 * than 8 bits meets params.reference included), MEMORY, GPU, UNAVAILABLE (LUMEQ_BACKEND_CUDA was
 * asked for and the GPU cannot take this frame, for want of memory for example; it goes on with
 * those that it can take).
 */
int lumeq_submit(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/*
 * Gives back the oldest submitted frame, finished, in `frame`, and its statistics in `stats` where
 * that is not NULL. Where the picture is, `frame` says: a GPU that was lost may have changed that
 * (see lumeq_backend_name()). Waits for it when no more frames can be submitted or after
 * lumeq_flush(); else an unfinished frame is AGAIN. Errors: AGAIN, END, GPU.
 */
int lumeq_receive(LumeqEqualizer *equalizer, LumeqFrame *frame, LumeqFrameStats *stats);

/* No frame follows for now: lumeq_receive() then waits for each frame in flight and ends with END.
 * The next submit ends that state; history is kept. */
void lumeq_flush(LumeqEqualizer *equalizer);

/*
 * Like lumeq_submit() with the frame that was received last, to see it with other parameters (a key
 * pressed while paused): it is computed from the history before it and takes the place of its first
 * computation in the history, which therefore does not advance. AGAIN unless all frames have been
 * received; ARGUMENT when none has been since the start or a reset.
 */
int lumeq_redo(LumeqEqualizer *equalizer, const LumeqFrame *frame);

/* Forgets the history (after a seek): the next frame's curve is its own. Frames in flight keep it,
 * and so does lumeq_redo() of the last of them. */
void lumeq_reset(LumeqEqualizer *equalizer);

/*
 * Host memory that the backend reads and writes fastest (pinned for CUDA, ordinary for the CPU),
 * aligned to 64 bytes at least. NULL when there is none left: ordinary memory then works as well,
 * only slower. What is pinned is limited for the whole process: to 2 GiB, or a quarter of the
 * machine's memory where that is less. Any thread.
 */
void *lumeq_alloc_host(LumeqEqualizer *equalizer, size_t size);
void lumeq_free_host(LumeqEqualizer *equalizer, void *memory);

/*
 * Memory of the equalizer's GPU for outputs of LUMEQ_MEMORY_CUDA, aligned to 256 bytes, its content
 * undefined. NULL when there is none: the backend is the CPU, or the GPU has none left. Freeing may
 * wait for the GPU; NULL is allowed. Any thread.
 */
void *lumeq_alloc_device(LumeqEqualizer *equalizer, size_t size);
void lumeq_free_device(LumeqEqualizer *equalizer, void *memory);

#ifdef __cplusplus
}
#endif

#endif
