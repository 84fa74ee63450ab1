/* Filters that convert decoded sound to the device's format and speed. */
#ifndef LUMEQ_MEDIA_SOUND_GRAPH_H
#define LUMEQ_MEDIA_SOUND_GRAPH_H

#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>

#include "media/filter_graph.h"

/* {0} is closed. */
typedef struct SoundGraph {
    FilterGraph filters;
    int rate, format; /* of its input frames */
    AVChannelLayout layout;
    double early_us; /* how early sound leaves the filters, in input microseconds */
} SoundGraph;

/* Output: float, interleaved, default layout. */
typedef struct SoundFormat {
    int rate, channels;
    int block;    /* samples per frame; the last may be shorter */
    double speed; /* playback speed at unchanged pitch */
} SoundFormat;

/* Opens filters for frames like `frame`, whose output comes from filters.out. Returns 0 or AVERROR;
 * it is then closed. */
int sound_graph_open(SoundGraph *graph, const AVFrame *frame, const SoundFormat *to);

/* Returns nonzero if it accepts frames like this one. */
int sound_graph_fits(const SoundGraph *graph, const AVFrame *frame);

/* Takes ownership of the frame; NULL at the end. Returns 0 or AVERROR. */
int sound_graph_send(SoundGraph *graph, AVFrame *frame);

void sound_graph_close(SoundGraph *graph);

#endif
