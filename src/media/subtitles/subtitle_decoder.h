/* A subtitle track's packets to what is to be shown: lines of ASS, or bitmaps. */
#ifndef LUMEQ_MEDIA_SUBTITLE_DECODER_H
#define LUMEQ_MEDIA_SUBTITLE_DECODER_H

#include "media/error.h"
#include "media/input/source.h"

/* May be used by one thread at a time. */
typedef struct SubtitleDecoder SubtitleDecoder;

typedef enum SubtitleKind {
    SUBTITLE_KIND_ASS,   /* ASS of its own, with its own layout */
    SUBTITLE_KIND_PLAIN, /* text of another format, as ASS: without a look that its author wanted */
    SUBTITLE_KIND_IMAGES, /* bitmaps */
} SubtitleKind;

/* In pixels of the canvas that it is drawn on. R, G, B, A, rows without padding, alpha not
 * multiplied in. */
typedef struct SubtitleBitmap {
    uint8_t *pixels;
    int x, y, width, height; /* it may reach beyond the canvas */
} SubtitleBitmap;

/* The end of an event that stays until the next one of its track begins. */
#define SUBTITLE_UNTIL_NEXT INT64_MAX

/* What is shown from `start` to `end`, positions in AV_TIME_BASE units from source_start(). An
 * event of bitmaps without any ends what was there before. */
typedef struct SubtitleEvent {
    int64_t start, end;
    char **lines; /* of ASS: "ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text" */
    int line_count;
    SubtitleBitmap *bitmaps;
    int bitmap_count;
    int canvas_width, canvas_height; /* what bitmaps are placed in */
} SubtitleEvent;

/* What the packets of a track become, decoders that are missing apart. */
SubtitleKind subtitle_kind(const AVStream *stream);

/* The source must outlive it. MEDIA_INPUT (no decoder, ...); *decoder is then NULL. */
int subtitle_decoder_open(SubtitleDecoder **decoder, const Source *source, const AVStream *stream,
                          MediaError *error);

/* The head of an ASS file that its lines belong to: styles, and the resolution they are for. "" for
 * bitmaps. */
const char *subtitle_decoder_header(const SubtitleDecoder *decoder);

/*
 * Answers 1 with *event filled, to be freed, or 0: the packet (which stays as it is) shows nothing,
 * is damaged, or its text has been decoded before (as happens after a seek back).
 */
int subtitle_decoder_decode(SubtitleDecoder *decoder, AVPacket *packet, SubtitleEvent *event);

/* After a seek. */
void subtitle_decoder_flush(SubtitleDecoder *decoder);

/* Leaves it {0}. */
void subtitle_event_free(SubtitleEvent *event);

void subtitle_decoder_close(SubtitleDecoder **decoder);

/* A font that the input brings along. Borrowed from the source. */
typedef struct SubtitleFont {
    const char *name;
    const uint8_t *data;
    int size;
} SubtitleFont;

/* Fonts are counted from 0: 1, or 0 where there are no more. */
int subtitle_font(const Source *source, int number, SubtitleFont *font);

#endif
