#include "media/filter_graph.h"

#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

static AVFilterContext *find(AVFilterGraph *graph, const char *video, const char *sound)
{
    AVFilterContext *found = avfilter_graph_get_filter(graph, video);
    return found ? found : avfilter_graph_get_filter(graph, sound);
}

int filter_graph_open(FilterGraph *g, const char *text, int threads)
{
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    g->graph = avfilter_graph_alloc();
    if (!g->graph)
        return AVERROR(ENOMEM);
    g->graph->nb_threads = threads;
    int ret = avfilter_graph_parse2(g->graph, text, &inputs, &outputs);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (ret >= 0)
        ret = avfilter_graph_config(g->graph, NULL);
    if (ret < 0)
        return ret;
    g->in = find(g->graph, "buffer@in", "abuffer@in");
    g->out = find(g->graph, "buffersink@out", "abuffersink@out");
    return g->in && g->out ? 0 : AVERROR_BUG;
}

int filter_graph_open_video(FilterGraph *g, const AVFrame *first, enum AVPixelFormat format,
                            const char *text, int threads)
{
    char *whole =
        av_asprintf("buffer@in=video_size=%dx%d:pix_fmt=%s:time_base=%d/%d,%s,buffersink@out",
                    first->width, first->height, av_get_pix_fmt_name(format), first->time_base.num,
                    first->time_base.den, text);
    const int ret = whole ? filter_graph_open(g, whole, threads) : AVERROR(ENOMEM);
    av_free(whole);
    return ret;
}

void filter_graph_close(FilterGraph *g)
{
    avfilter_graph_free(&g->graph);
    *g = (FilterGraph){0};
}
