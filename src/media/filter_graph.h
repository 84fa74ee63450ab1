/* A chain of libavfilter's filters with one source and one sink. */
#ifndef LUMEQ_MEDIA_FILTER_GRAPH_H
#define LUMEQ_MEDIA_FILTER_GRAPH_H

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

/* {0} is closed. */
typedef struct FilterGraph {
    AVFilterGraph *graph;
    AVFilterContext *in, *out;
} FilterGraph;

/* Opens the filters in `text`, such as "abuffer@in=...,abuffersink@out". The source must be named
 * "in", the sink "out". Returns 0 or AVERROR. Close the graph also after a failure. */
int filter_graph_open(FilterGraph *graph, const char *text, int threads);

/* Opens a graph for frames of this format with the size and time base of `first`. `text` lists the
 * filters between source and sink. */
int filter_graph_open_video(FilterGraph *graph, const AVFrame *first, enum AVPixelFormat format,
                            const char *text, int threads);

void filter_graph_close(FilterGraph *graph);

#endif
