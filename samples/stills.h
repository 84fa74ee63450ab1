/* Single pictures out of a video. */
#ifndef LUMEQ_SAMPLES_STILLS_H
#define LUMEQ_SAMPLES_STILLS_H

#include "media/convert.h"
#include "media/input/decoder.h"

/* Fields are to be read only. */
typedef struct Stills {
    Source *source;
    Decoder *decoder;
    AVPacket *packet;
    AVFrame *frame; /* the last one that was taken, as decoded */
    Converter converter;
} Stills;

/* `stills` is filled. On failure too it is to be closed. */
int stills_open(Stills *stills, const char *path, MediaError *error);

/* The first frame at `time` (seconds, on the video's own clock) or after it, else the last one. */
int stills_take(Stills *stills, double time, MediaError *error);

/* The frame that was taken, as RGBA of that size. The caller frees *picture. */
int stills_convert(Stills *stills, int width, int height, AVFrame **picture, MediaError *error);

/* How wide the picture is meant to be seen, in multiples of its height. */
double stills_aspect(const Stills *stills);

void stills_close(Stills *stills);

#endif
