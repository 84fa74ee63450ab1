/* Replaces gst_lumeq_cuda.c in builds that do not accept CUDA memory. */
#include "gst_lumeq_cuda.h"

const char gst_lumeq_cuda_caps[] = "";

gboolean gst_lumeq_cuda_open(GstElement *element, GstObject **context, LumeqConfig *config)
{
    (void)element, (void)context, (void)config;
    return FALSE;
}

void gst_lumeq_cuda_set_context(GstElement *element, GstContext *offer, GstObject **context)
{
    (void)element, (void)offer, (void)context;
}

gboolean gst_lumeq_cuda_answer(GstElement *element, GstQuery *query, GstObject *context)
{
    (void)element, (void)query, (void)context;
    return FALSE;
}

gboolean gst_lumeq_cuda_put_pool(GstQuery *query, GstObject *context)
{
    (void)query, (void)context;
    return FALSE;
}

gboolean gst_lumeq_cuda_map(GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                            GstMapFlags flags, GstObject *context)
{
    (void)frame, (void)info, (void)buffer, (void)flags, (void)context;
    return FALSE;
}
