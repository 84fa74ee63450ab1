/* The filters that bring decoded sound to a device's format, and to another speed. */
#ifndef LUMEQ_MEDIA_SOUND_GRAPH_H
#define LUMEQ_MEDIA_SOUND_GRAPH_H

#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>

#include "media/filter_graph.h"

/* {0} is a closed one. */
typedef struct SoundGraph {
    FilterGraph filters;
    int rate, format; /* of the frames that it takes */
    AVChannelLayout layout;
    double early_us; /* a sound comes out so much before its share of the samples: microseconds of
                        what goes in */
} SoundGraph;

/* What comes out: float, interleaved, the usual layout for so many channels. */
typedef struct SoundFormat {
    int rate, channels;
    int block;    /* samples of a frame, the last one may be shorter */
    double speed; /* 1: none is added; the pitch is kept */
} SoundFormat;

/* For frames like `frame`. 0 or AVERROR; it is closed then. */
int sound_graph_open(SoundGraph *graph, const AVFrame *frame, const SoundFormat *to);

/* Whether it takes frames like this one. */
int sound_graph_fits(const SoundGraph *graph, const AVFrame *frame);

/* Takes the frame over, NULL at the end. 0 or AVERROR. */
int sound_graph_send(SoundGraph *graph, AVFrame *frame);

/* 0, AVERROR(EAGAIN), AVERROR_EOF. */
int sound_graph_receive(SoundGraph *graph, AVFrame *frame);

void sound_graph_close(SoundGraph *graph);

#endif
