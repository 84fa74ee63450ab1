/* The wanted part of a source as messages: decoded frames, and packets to copy, in order of time.
 */
#ifndef LUMEQ_MEDIA_READER_H
#define LUMEQ_MEDIA_READER_H

#include "media/error.h"
#include "media/frame_memory.h"
#include "media/input/damage.h"
#include "media/input/decoder.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "media/message.h"

typedef enum ReaderRange {
    READER_RANGE_AUTO,
    READER_RANGE_LIMITED,
    READER_RANGE_FULL,
} ReaderRange;

/* For who reads a film in pieces: what all of it would give, without what is known already. */
typedef struct ReaderSpan {
    /* Where to begin to decode, as in source_seek(), -1: at the start. Frames before it may come,
     * and those that refer to what is before the key frame may be broken. */
    int64_t seek_us;
    int64_t zero; /* what becomes 0, see reader_zero() */
    /* In the track's time base, not shifted: damage before this frame does not count; frames from
     * there on are left out. */
    int64_t begin_pts, end_pts;
} ReaderSpan;

typedef struct ReaderOptions {
    int64_t from_us, to_us; /* positions from the start of the input; -1 = its start, its end */
    int64_t frames;         /* at most; -1 = all */
    ReaderRange range;      /* what the stream's luma range is taken for */
    DeinterlaceMode deinterlace;
    int full_rgb;   /* not 0: RGB becomes full-range YUV, to become RGB again later */
    int attach_rgb; /* see decoder_attach_rgb() */
    int count_bars; /* not 0: black bars that are added are a part of the picture */
    int copy;       /* not 0: packets of other streams are wanted */
    DecoderOptions decoder;
    VideoShape shape;       /* of the film's first frame; width 0: the first one is read here */
    const ReaderSpan *span; /* or NULL */
    /* Not 0: the first frame alone is decoded, and packets come as if all were; the part ends
     * at `film_end`, absolute, AV_TIME_BASE units, AV_NOPTS_VALUE: where it would anyway. */
    int packets_only;
    int64_t film_end;
} ReaderOptions;

typedef struct Reader Reader;

/* Seeks to the part and opens the decoder. The source and the memory must outlive the
 * reader. MEDIA_INPUT. */
int reader_open(Reader **reader, Source *source, const ReaderOptions *options, MediaError *error);

/* See decoder.h. Before the first message. */
void reader_deepen(Reader *reader, int depth);

/*
 * Fills an empty message: 0; AVERROR_EOF at the end of the part, of the input, or when the source
 * was told to stop; MEDIA_INPUT with `error` filled. Times are shifted so that the first of the
 * tracks that are not discarded starts at 0. One thread at a time.
 */
int reader_next(Reader *reader, Message *message, MediaError *error);

/* Not 0: reader_restart() works. */
int reader_can_restart(const Reader *reader);

/* Reads the frames from `number` (see Message) on again, decoded in software: the same bits.
 * Packets to copy that were given out are not repeated. The thread that reads has to be stopped.
 * MEDIA_INPUT. */
int reader_restart(Reader *reader, int64_t number, MediaError *error);

/* What of the input's times became 0, AV_TIME_BASE units. Once a message was filled, any thread. */
int64_t reader_zero(const Reader *reader);

/* Length of the part in seconds, and its frames; 0 where that is not known. */
double reader_duration(const Reader *reader);
int64_t reader_frames(const Reader *reader);

/* That frames are brought to from a GPU; NULL: ordinary memory. */
FrameMemory *reader_memory(const Reader *reader);

/* See decoder.h. Once the reader's thread has ended, or from it. */
int reader_is_on_gpu(const Reader *reader);
const char *reader_conversion(const Reader *reader);
const char *reader_codes(const Reader *reader);
const char *reader_changes(const Reader *reader);
VideoShape reader_shape(const Reader *reader);

/* The sentence about what is known to be lost of the input, or 0 when nothing is. After the end. */
int reader_damage(const Reader *reader, char *text, size_t size);

/* What that sentence is made of. After the end. */
DamageReport reader_report(const Reader *reader);

/* Of an input without a frame: MEDIA_INPUT with the sentence where it is no damage that there is
 * none (too large for FFmpeg, or not to be read); else 0. After the end. */
int reader_explain(const Reader *reader, MediaError *error);

void reader_close(Reader **reader);

#endif
