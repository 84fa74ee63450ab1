/* The equalizer of a run, the GPU and the memory of its frames. */
#ifndef LUMEQ_APP_ENGINE_H
#define LUMEQ_APP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/frame_memory.h"
#include "media/input/decoder.h"
#include "media/input/source.h"

/* {0} is closed. */
typedef struct Engine {
    LumeqContext *context;
    FrameMemory *memory;  /* for decoded and equalized frames */
    const char *backend;  /* name at the start, even after the CPU has taken over */
    AVBufferRef *gpu;     /* the GPU, if it also decodes or encodes; or NULL */
    int decodes, encodes; /* what `gpu` is used for */
    char where[256];      /* names the backend and the reason for it */
    int real_time;        /* set by the caller before engine_open(); as in LumeqConfig */
    int device;           /* number of the GPU */
    atomic_int no_room;   /* true: the lack of GPU memory was reported */
} Engine;

/* Returns LumeqConfig.cpu_without from the environment variable LUMEQ_CPU_MASK, which is the sum of
 * the LUMEQ_CPU_* to use. If it is not set, returns 0, which allows all. */
unsigned engine_cpu_without(void);

/* Returns the library's configuration. The engine must not move while a context uses it. */
LumeqConfig engine_config(Engine *engine, const Options *options);

/* Opens the equalizer, and prepares the GPU to decode if the options ask for it. `all_planes`:
 * decode chroma into pinned memory even if the options leave chroma unchanged. The engine must not
 * move afterwards. MEDIA_USAGE, MEDIA_INPUT. */
int engine_open(Engine *engine, const Options *options, int all_planes, MediaError *error);

/* If a GPU equalizes, keeps the frames on the GPU for the encoder. Call before the first frame. */
void engine_encode_on_gpu(Engine *engine);

/* Sets memory, threads, GPU and code range of a source's decoder. The engine must outlive the
 * decoder. */
void engine_decoder(Engine *engine, const Options *options, const Source *source,
                    DecoderOptions *decoder);

/* Returns callbacks that reserve GPU memory for a decoder, and warn once if there is no room. */
GpuBudget engine_budget(Engine *engine);

/* Logs the peak GPU and pinned memory, with -v. */
void engine_say_memory(const Engine *engine);

/* Names what equalizes now, for messages. `lost`: the GPU was lost. */
const char *engine_where(const Engine *engine, int lost);

/* True if the CPU has taken over. Any thread. */
bool engine_is_lost(const Engine *engine);

/* Call after all frames are freed. */
void engine_close(Engine *engine);

/* Applies --hwdec: true if the GPU that equalizes should decode this codec. AV_CODEC_ID_NONE: true
 * if it should decode at least one codec. */
int hwdec_choice(const Options *options, enum AVCodecID codec);

#endif
