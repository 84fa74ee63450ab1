/*
 * Pictures in CUDA memory (memory:CUDAMemory). Builds without CUDA or gstreamer-cuda-1.0 use
 * gst_lumeq_no_cuda.c instead of gst_lumeq_cuda.c, and accept no CUDA memory.
 *
 * `context` is the GstCudaContext that the elements of a pipeline share; NULL until it is known.
 */
#ifndef LUMEQ_GST_LUMEQ_CUDA_H
#define LUMEQ_GST_LUMEQ_CUDA_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "lumeq/lumeq.h"

#define GST_LUMEQ_CUDA_FEATURE "memory:CUDAMemory"

/* Caps of pictures in CUDA memory; an empty string if they are not accepted. */
extern const char gst_lumeq_cuda_caps[];

/* If *context is NULL, finds the pipeline's context or creates one. Then stores the context in
 * `config`. FALSE without a GPU. */
gboolean gst_lumeq_cuda_open(GstElement *element, GstObject **context, LumeqConfig *config);

/* If *context is NULL, takes the context that another element or the application offers. */
void gst_lumeq_cuda_set_context(GstElement *element, GstContext *offer, GstObject **context);

/* Answers another element's query for the context. FALSE for other queries or without a context. */
gboolean gst_lumeq_cuda_answer(GstElement *element, GstQuery *query, GstObject *context);

/* Puts a pool of CUDA memory first in an allocation query. FALSE if the query's caps do not fit. */
gboolean gst_lumeq_cuda_put_pool(GstQuery *query, GstObject *context);

/* Maps a picture for the GPU. FALSE if it is not in the context's CUDA memory. */
gboolean gst_lumeq_cuda_map(GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                            GstMapFlags flags, GstObject *context);

#endif
