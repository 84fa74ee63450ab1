/* A chain of libavfilter's filters between one source and one sink. */
#ifndef LUMEQ_MEDIA_FILTER_GRAPH_H
#define LUMEQ_MEDIA_FILTER_GRAPH_H

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

/* {0} is a closed one. */
typedef struct FilterGraph {
    AVFilterGraph *graph;
    AVFilterContext *in, *out;
} FilterGraph;

/* The text begins with a source and ends with a sink, of pictures or of sound, named "in" and
 * "out": "abuffer@in=...,abuffersink@out". 0 or AVERROR; what is half open is to be closed. */
int filter_graph_open(FilterGraph *graph, const char *text, int threads);

/* For pictures of the size and the time base of this one; the text is of what stands between. */
int filter_graph_open_video(FilterGraph *graph, const AVFrame *first, enum AVPixelFormat format,
                            const char *text, int threads);

void filter_graph_close(FilterGraph *graph);

#endif
