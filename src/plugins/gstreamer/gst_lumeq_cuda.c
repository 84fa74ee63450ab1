#include "gst_lumeq_cuda.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

/* The element's formats that GStreamer 1.22 can store in CUDA memory. */
const char gst_lumeq_cuda_caps[] = GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
    GST_LUMEQ_CUDA_FEATURE, "{ I420, YV12, NV12, Y42B, Y444, I420_10LE, P010_10LE, I422_10LE, "
                            "I422_12LE, P016_LE, Y444_16LE }");

gboolean gst_lumeq_cuda_open(GstElement *element, GstObject **context, LumeqConfig *config)
{
    const int any_device = -1;
    guint device;
    if (!gst_cuda_load_library())
        return FALSE;
    gst_cuda_memory_init_once();
    if (!gst_cuda_ensure_element_context(element, any_device, (GstCudaContext **)context))
        return FALSE;
    g_object_get(*context, "cuda-device-id", &device, NULL);
    config->device = (int)device;
    config->cuda_context = gst_cuda_context_get_handle(GST_CUDA_CONTEXT(*context));
    return TRUE;
}

void gst_lumeq_cuda_set_context(GstElement *element, GstContext *offer, GstObject **context)
{
    if (!*context)
        gst_cuda_handle_set_context(element, offer, -1, (GstCudaContext **)context);
}

gboolean gst_lumeq_cuda_answer(GstElement *element, GstQuery *query, GstObject *context)
{
    return context && gst_cuda_handle_context_query(element, query, GST_CUDA_CONTEXT(context));
}

gboolean gst_lumeq_cuda_put_pool(GstQuery *query, GstObject *context)
{
    GstCaps *caps;
    GstVideoInfo info;
    guint size;
    gst_query_parse_allocation(query, &caps, NULL);
    if (!caps || !gst_video_info_from_caps(&info, caps))
        return FALSE;
    GstBufferPool *pool = gst_cuda_buffer_pool_new(GST_CUDA_CONTEXT(context));
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_set_params(config, caps, (guint)info.size, 0, 0);
    gboolean ok = gst_buffer_pool_set_config(pool, config);
    if (ok) {
        /* The pool computes the size with the GPU's strides. */
        config = gst_buffer_pool_get_config(pool);
        ok = gst_buffer_pool_config_get_params(config, NULL, &size, NULL, NULL);
        gst_structure_free(config);
    }
    if (ok && gst_query_get_n_allocation_pools(query) > 0)
        gst_query_set_nth_allocation_pool(query, 0, pool, size, 0, 0);
    else if (ok)
        gst_query_add_allocation_pool(query, pool, size, 0, 0);
    gst_object_unref(pool);
    return ok;
}

gboolean gst_lumeq_cuda_map(GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                            GstMapFlags flags, GstObject *context)
{
    GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
    if (!gst_is_cuda_memory(memory))
        return FALSE;
    GstCudaContext *other = GST_CUDA_MEMORY_CAST(memory)->context;
    if (gst_cuda_context_get_handle(other) !=
        gst_cuda_context_get_handle(GST_CUDA_CONTEXT(context)))
        return FALSE;
#if GST_CHECK_VERSION(1, 24, 0)
    /* since GStreamer 1.24, a stream may still be writing the picture */
    gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(memory));
#endif
    return gst_video_frame_map(frame, info, buffer, flags | GST_MAP_CUDA);
}
