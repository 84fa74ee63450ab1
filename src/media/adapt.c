#include "media/adapt.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "media/convert.h"

struct Adapter {
    Converter converter;
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace space; /* AVCOL_SPC_UNSPECIFIED: any */
    int width, height;
    char description[160];
};

static void describe(Adapter *a, const AVFrame *first)
{
    const size_t size = sizeof(a->description);
    if (a->width != first->width || a->height != first->height)
        snprintf(a->description, size, "padded from %dx%d to %dx%d", first->width, first->height,
                 a->width, a->height);
    if (a->format != first->format)
        av_strlcatf(a->description, size, "%sconverted from %s to %s",
                    a->description[0] ? ", " : "", av_get_pix_fmt_name(first->format),
                    av_get_pix_fmt_name(a->format));
    if (a->range != first->color_range)
        av_strlcatf(a->description, size, "%sconverted to %s range", a->description[0] ? ", " : "",
                    a->range == AVCOL_RANGE_JPEG ? "full" : "limited");
}

Adapter *adapter_create(const AVFrame *first, const AVCodecContext *encoder)
{
    Adapter *a = av_mallocz(sizeof(*a));
    if (!a)
        return NULL;
    a->format = encoder->pix_fmt;
    a->range = encoder->color_range;
    a->space = AVCOL_SPC_UNSPECIFIED;
    if (encoder->codec_id == AV_CODEC_ID_MJPEG || encoder->codec_id == AV_CODEC_ID_WEBP)
        a->space = encoder->colorspace;
    a->width = encoder->width;
    a->height = encoder->height;
    describe(a, first);
    return a;
}

const char *adapter_description(const Adapter *a)
{
    return a->description[0] ? a->description : NULL;
}

/* Repeats the last column and row into the room beyond them. */
static void pad_plane(uint8_t *data, ptrdiff_t stride, int width, int height, int to_width,
                      int to_height)
{
    for (int y = 0; y < height; y++)
        for (int x = width; x < to_width; x++)
            data[y * stride + x] = data[y * stride + width - 1];
    for (int y = height; y < to_height; y++)
        memcpy(data + y * stride, data + (height - 1) * stride, (size_t)to_width);
}

/* Chroma of an odd size already covers the next even one: only planes of whole resolution grow. */
static int pad(const Adapter *a, const AVFrame *frame, AVFrame *to)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    to->format = frame->format;
    to->width = a->width;
    to->height = a->height;
    const int ret = av_frame_get_buffer(to, 0);
    if (ret < 0)
        return ret;
    av_image_copy(to->data, to->linesize, (const uint8_t **)(uintptr_t)frame->data, frame->linesize,
                  frame->format, frame->width, frame->height);
    for (int i = 0; i < desc->nb_components; i++) {
        const int plane = desc->comp[i].plane, chroma = i == 1 || i == 2;
        const int x = chroma ? desc->log2_chroma_w : 0, y = chroma ? desc->log2_chroma_h : 0;
        if (desc->comp[i].step == 1)
            pad_plane(to->data[plane], to->linesize[plane], AV_CEIL_RSHIFT(frame->width, x),
                      AV_CEIL_RSHIFT(frame->height, y), AV_CEIL_RSHIFT(to->width, x),
                      AV_CEIL_RSHIFT(to->height, y));
    }
    return 0;
}

/* The two that differ in name only are one. */
static int changes_matrix(const Adapter *a, const AVFrame *frame)
{
    return a->space != AVCOL_SPC_UNSPECIFIED && frame->colorspace != AVCOL_SPC_UNSPECIFIED &&
           frame->colorspace != AVCOL_SPC_BT470BG && frame->colorspace != a->space;
}

static int convert(Adapter *a, const AVFrame *frame, AVFrame *to)
{
    to->format = a->format;
    to->width = frame->width;
    to->height = frame->height;
    to->color_range = a->range;
    to->colorspace = changes_matrix(a, frame) ? a->space : frame->colorspace;
    return convert_frame(&a->converter, frame, to);
}

int adapter_run(Adapter *a, const AVFrame *frame, AVFrame *to)
{
    const int converts =
        frame->format != a->format || frame->color_range != a->range || changes_matrix(a, frame);
    const int pads = frame->width != a->width || frame->height != a->height;
    AVFrame *converted = converts && pads ? av_frame_alloc() : to;
    int ret = converted ? 0 : AVERROR(ENOMEM);
    av_frame_unref(to);
    if (ret >= 0 && converts)
        ret = convert(a, frame, converted);
    if (ret >= 0 && pads)
        ret = pad(a, converts ? converted : frame, to);
    if (ret >= 0 && !converts && !pads)
        ret = av_frame_ref(to, frame);
    if (ret >= 0)
        ret = av_frame_copy_props(to, frame);
    to->color_range = a->range;
    if (converted != to)
        av_frame_free(&converted);
    return ret;
}

void adapter_close(Adapter **adapter)
{
    if (!*adapter)
        return;
    convert_close(&(*adapter)->converter);
    av_freep(adapter);
}
