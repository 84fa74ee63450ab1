/* The equalizer and the frame memory of a run, made from its options. */
#ifndef LUMEQ_APP_ENGINE_H
#define LUMEQ_APP_ENGINE_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/frame_memory.h"
#include "media/input/reader.h"
#include "media/input/source.h"
#include "media/output/writer.h"

/* What a sentence begins with that says why a GPU that has to be one is none. */
#define ENGINE_NO_GPU "--backend cuda: "

/* {0} is a closed one. */
typedef struct Engine {
    LumeqEqualizer *equalizer;
    LumeqContext *context;   /* for a lookahead, else NULL */
    FrameMemory *memory;     /* that frames are decoded to, and equalized into */
    const char *backend;     /* its name at the start; the CPU takes over from a GPU that is lost */
    AVBufferRef *gpu;        /* that decodes or encodes, too, or NULL */
    int decodes, encodes;    /* which of the two */
    char where[256];         /* what it is and why it was taken */
    atomic_int context_lost; /* not 0: the CPU has taken over from the context's GPU; any thread */
    int share_streams; /* before it is opened, as LumeqConfig has them: this and the next two */
    int real_time, no_stage_times;
    int device;         /* of the GPU */
    atomic_int no_room; /* it was said that there is none for a decoder's surfaces */
} Engine;

/* LUMEQ_CPU_MASK in the environment: what the program may use of a CPU, a sum of LUMEQ_CPU_*. As
 * LumeqConfig.cpu_without: 0 where the variable is not set, all where it is 0. */
unsigned engine_cpu_without(void);

/* `all_planes`: chroma is decoded into memory that the GPU copies from even where the options do
 * not write it. Where the options say so, and it can, the GPU that equalizes is made ready to
 * decode. MEDIA_USAGE, MEDIA_INPUT. */
int engine_open(Engine *engine, const Options *options, int all_planes, MediaError *error);

/* Frames are made where an encoder on the GPU takes them, if that is what equalizes. Before the
 * first one. */
void engine_encode_on_gpu(Engine *engine);

/* What decodes a source; frames that a GPU has decoded stay there. The engine outlives the
 * decoder. */
DecoderOptions engine_decoder(Engine *engine, const Options *options, const Source *source);

/* Whether deep gray frames are stretched, as the options say. source NULL: any. */
CodeRange engine_codes(const Options *options, const Source *source);

/* Finds the codes that a file uses, once for all that reads it. MEDIA_INPUT. */
int engine_survey_codes(CodeRange *codes, const Options *options, const Source *source,
                        const atomic_int *stop, MediaError *error);

/* Who counts a decoder's memory of the GPU. Says, once, where there is no room for it. */
GpuBudget engine_budget(Engine *engine);

/* How much memory of the GPU, and pinned memory, there was at most, with -v. */
void engine_say_memory(const Engine *engine);

/* Makes the context, once the engine is open, which stays where it is. MEDIA_USAGE. */
int engine_open_context(Engine *engine, const Options *options, MediaError *error);

/* Opens `path`, or NULL: the camera, as the options say, and says what the camera was set to. Ends
 * at `stop`. As source_open(). */
int engine_open_source(Source **source, const Options *options, const char *path,
                       const atomic_int *stop, MediaError *error);

/* The same of a file that has been opened before: what is chosen has been said. */
int engine_open_again(Source **source, const Options *options, const char *path,
                      const atomic_int *stop, MediaError *error);

/* The input, a pipe that two sources read, see shared_pipe.h. */
int engine_open_pipe(Source **source, const Options *options, struct SharedPipe *pipe, int side,
                     const atomic_int *stop, MediaError *error);

/* 1: a file is one that a run would open, or one that it should tell about: its name says that it
 * is a video, and it cannot be opened. 0: it is none. -1: stopped. */
int engine_wants(const Options *options, const char *path, const atomic_int *stop);

/* Begins to open a file. As source_opening_start(). */
int engine_start_opening(SourceOpening **opening, const Options *options, const char *path,
                         const atomic_int *stop, MediaError *error);

/* Not 0: what is written is watched, or recorded, as it comes: nothing is to be held back. */
int engine_is_live(const Options *options);

/* Not 0: it is read as it is written, faster than it should be shown. */
int engine_is_paced(const Options *options, const Source *source);

/* The video encoder of the options; what a camera gives has to be encoded in time. */
EncoderOptions engine_encoder(const Options *options);

/* The pieces that it writes, if any. */
SegmentOptions engine_segments(const Options *options);

/* The encoder that they mean; NULL: none that there is. */
const AVCodec *engine_find_encoder(const Options *options);

/* What they ask of the writer, and its making; the input is not opened. As writer_create(). */
WriterOptions engine_writer(const Options *options, const atomic_int *stop);
int engine_create_writer(Writer **writer, const WriterOptions *wanted, const Options *options,
                         MediaError *error);

/* What they ask of the reader, but for what decodes; writer NULL: nothing is written. */
ReaderOptions engine_reader(const Options *options, const Writer *writer);

/* What computes now, for a person; why it is not the GPU is said at the start, with -v. `lost`: the
 * GPU was. */
const char *engine_where(const Engine *engine, int lost);

/* Not 0: --backend cuda. */
int engine_needs_gpu(const Options *options);

/* Not 0: the CPU has taken over. When no other thread uses the equalizer. */
int engine_is_lost(const Engine *engine);

/* What the parameters depend on. Writer NULL: nothing is written; what a window shows is fine. One
 * pass. */
OptionsInput engine_input(const Options *options, const Source *source, const Writer *writer);

/* options_params(), which says what is chosen because of the input. MEDIA_USAGE where the options
 * do not suit it. */
int engine_params(LumeqParams *params, const Options *options, OptionsInput input,
                  const Source *source, MediaError *error);

/* For frames that are equalized one after the other, which know no deflicker. MEDIA_USAGE. When no
 * other thread uses the equalizer. */
int engine_set_params(Engine *engine, const LumeqParams *params, MediaError *error);

/* After the last frame is gone. */
void engine_close(Engine *engine);

#endif
