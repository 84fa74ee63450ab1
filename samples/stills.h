/* Takes single pictures from a video. */
#ifndef LUMEQ_SAMPLES_STILLS_H
#define LUMEQ_SAMPLES_STILLS_H

#include "media/convert.h"
#include "media/input/decoder.h"

/* Callers may only read the fields. */
typedef struct Stills {
    Source *source;
    Decoder *decoder;
    AVPacket *packet;
    AVFrame *frame; /* the frame taken last, as decoded */
    Converter converter;
} Stills;

/* Call stills_close() after a failure as well. */
int stills_open(Stills *stills, const char *path, MediaError *error);

/* Takes the first frame at or after `time` (timestamp in seconds), else the last frame. */
int stills_take(Stills *stills, double time, MediaError *error);

/* Converts the taken frame to RGBA of the given size. The caller frees *picture. */
int stills_convert(Stills *stills, int width, int height, AVFrame **picture, MediaError *error);

/* Display aspect ratio: width / height. */
double stills_aspect(const Stills *stills);

void stills_close(Stills *stills);

#endif
