/* Decodes subtitle packets to ASS lines or bitmaps. */
#ifndef LUMEQ_MEDIA_SUBTITLE_DECODER_H
#define LUMEQ_MEDIA_SUBTITLE_DECODER_H

#include "media/error.h"
#include "media/input/source.h"

/* For one thread at a time. */
typedef struct SubtitleDecoder SubtitleDecoder;

typedef enum SubtitleKind {
    SUBTITLE_KIND_ASS,    /* ASS with its own styles */
    SUBTITLE_KIND_PLAIN,  /* other text formats, converted to ASS without styles */
    SUBTITLE_KIND_IMAGES, /* bitmaps */
} SubtitleKind;

/* Pixels are R, G, B, A bytes, alpha not premultiplied, rows unpadded. Sizes in canvas pixels. */
typedef struct SubtitleBitmap {
    uint8_t *pixels;
    int x, y, width, height; /* may reach beyond the canvas */
} SubtitleBitmap;

/* Value of SubtitleEvent.end: the event lasts until the track's next event. */
#define SUBTITLE_UNTIL_NEXT INT64_MAX

/* Lines or bitmaps shown from `start` to `end`, in microseconds from source_start(). On a bitmap
 * track, an event without bitmaps only ends the previous event. */
typedef struct SubtitleEvent {
    int64_t start, end;
    char **lines; /* ASS: "ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text" */
    int line_count;
    SubtitleBitmap *bitmaps;
    int bitmap_count;
    int canvas_width, canvas_height; /* canvas of the bitmaps */
} SubtitleEvent;

/* The kind of a track. Needs no decoder. */
SubtitleKind subtitle_kind(const AVStream *stream);

/* The decoder does not need the source later. MEDIA_INPUT; *decoder is then NULL. */
int subtitle_decoder_open(SubtitleDecoder **decoder, const Source *source, const AVStream *stream,
                          MediaError *error);

/* The ASS header for the lines: styles and resolution. "" for bitmaps. Owned by the decoder. */
const char *subtitle_decoder_header(const SubtitleDecoder *decoder);

/* Returns 1 with *event, which the caller frees with subtitle_event_free(). Returns 0 if memory
 * runs out, or if the packet shows nothing, has no time or is damaged. Returns 0 also for a text
 * packet that was decoded before, because a seek can deliver packets again. */
int subtitle_decoder_decode(SubtitleDecoder *decoder, AVPacket *packet, SubtitleEvent *event);

/* Call after a seek. */
void subtitle_decoder_flush(SubtitleDecoder *decoder);

/* Frees the event's content and sets *event to {0}. */
void subtitle_event_free(SubtitleEvent *event);

void subtitle_decoder_close(SubtitleDecoder **decoder);

/* A font attached to the input; borrowed from the source. */
typedef struct SubtitleFont {
    const char *name;
    const uint8_t *data;
    int size;
} SubtitleFont;

/* Returns 1 with font `number`, counted from 0, or 0 if there is no such font. */
int subtitle_font(const Source *source, int number, SubtitleFont *font);

#endif
