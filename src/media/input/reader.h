/* The wanted part of a source: decoded frames, and packets to copy, in order of time.
 */
#ifndef LUMEQ_MEDIA_READER_H
#define LUMEQ_MEDIA_READER_H

#include "media/decoded.h"
#include "media/error.h"
#include "media/frame_memory.h"
#include "media/input/damage.h"
#include "media/input/decoder.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"

typedef enum ReaderRange {
    READER_RANGE_AUTO,
    READER_RANGE_LIMITED,
    READER_RANGE_FULL,
} ReaderRange;

/* For callers that read a film in pieces: each piece has the frames and times of the whole film. */
typedef struct ReaderSpan {
    /* Where to start decoding, as in source_seek(); -1: at the start. Earlier frames may come, and
     * those that refer to frames before the key frame may be broken. */
    int64_t seek_us;
    int64_t zero; /* see reader_zero() */
    /* In the track's time base, not shifted: damage before this frame does not count; frames from
     * there on are left out. */
    int64_t begin_pts, end_pts;
} ReaderSpan;

typedef struct ReaderOptions {
    int64_t from_us, to_us; /* positions from the start of the input; -1 = its start, its end */
    int64_t frames;         /* at most; -1 = all */
    ReaderRange range;      /* overrides the stream's luma range */
    DeinterlaceMode deinterlace;
    int full_rgb;   /* not 0: RGB becomes full-range YUV, to become RGB again later */
    int attach_rgb; /* see DecoderOptions */
    int count_bars; /* not 0: black bars that are added are a part of the picture */
    int copy;       /* true: reads the packets of other streams, too */
    DecoderOptions decoder;
    VideoShape shape; /* of the film's first frame; width 0: that of this reader's first one */
    const ReaderSpan *span; /* or NULL */
    /* True: decodes only the first frame; packets come as if all frames were decoded. The part ends
     * at `film_end`, absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: at its usual end. */
    int packets_only;
    int64_t film_end;
} ReaderOptions;

typedef struct Reader Reader;

/* Seeks to the part and opens the decoder. The source and the memory must outlive the
 * reader. MEDIA_INPUT. */
int reader_open(Reader **reader, Source *source, const ReaderOptions *options, MediaError *error);

/* See decoder.h. Before the first reader_next(). */
void reader_deepen(Reader *reader, int depth);

/* Fills an empty `decoded`. Returns 0; AVERROR_EOF at the end of the part or of the input, or when
 * the source is stopped; or MEDIA_INPUT with `error` filled. Times are shifted so that the first of
 * all tracks in use starts at 0. One thread at a time. */
int reader_next(Reader *reader, Decoded *decoded, MediaError *error);

/* DecoderOptions.lossless. */
int reader_is_lossless(const Reader *reader);

/* The time of the input that is 0 in the output, AV_TIME_BASE units. After the first reader_next(),
 * any thread. */
int64_t reader_zero(const Reader *reader);

/* Duration of the part in seconds, and its number of frames; 0 if unknown. */
double reader_duration(const Reader *reader);
int64_t reader_frames(const Reader *reader);

/* Memory for frames that are downloaded from a GPU; NULL: ordinary memory. */
FrameMemory *reader_memory(const Reader *reader);

/* For what decoder.h tells. From the reading thread, or after it has ended. */
const Decoder *reader_decoder(const Reader *reader);

/* After the end: fills `text` with a sentence about the damage, or returns 0 if none was found.
 * `lost`: frames lost after decoding. */
int reader_damage(Reader *reader, int64_t lost, char *text, size_t size);

/* The counts for that sentence. After the end. */
DamageReport reader_report(Reader *reader);

/* After the end of an input without a frame: MEDIA_INPUT with the reason if it is not damage (too
 * large for FFmpeg, or unreadable), else 0. */
int reader_explain(const Reader *reader, MediaError *error);

void reader_close(Reader **reader);

#endif
