/* A chain of libavfilter's filters between one source and one sink. */
#ifndef LUMEQ_MEDIA_FILTER_GRAPH_H
#define LUMEQ_MEDIA_FILTER_GRAPH_H

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

/* {0} is closed. */
typedef struct FilterGraph {
    AVFilterGraph *graph;
    AVFilterContext *in, *out;
} FilterGraph;

/* The text must name its video or sound source "in" and sink "out":
 * "abuffer@in=...,abuffersink@out". Returns 0 or AVERROR. Always close the graph. */
int filter_graph_open(FilterGraph *graph, const char *text, int threads);

/* Opens a graph for frames with the size and time base of `first`; `text` lists the filters between
 * source and sink. */
int filter_graph_open_video(FilterGraph *graph, const AVFrame *first, enum AVPixelFormat format,
                            const char *text, int threads);

void filter_graph_close(FilterGraph *graph);

#endif
