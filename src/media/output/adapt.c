#include "media/output/adapt.h"

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

/* The samples of one colour component. */
typedef struct Samples {
    uint8_t *data;
    ptrdiff_t stride;
    int step, bytes; /* bytes from one sample to the next, and of each sample */
    int width, height;
} Samples;

static Samples samples_of(const AVFrame *frame, int component)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    const AVComponentDescriptor *c = &desc->comp[component];
    const int chroma = component == 1 || component == 2;
    return (Samples){
        .data = frame->data[c->plane] + c->offset,
        .stride = frame->linesize[c->plane],
        .step = c->step,
        .bytes = c->depth + c->shift > 8 ? 2 : 1,
        .width = AV_CEIL_RSHIFT(frame->width, chroma ? desc->log2_chroma_w : 0),
        .height = AV_CEIL_RSHIFT(frame->height, chroma ? desc->log2_chroma_h : 0),
    };
}

/* Repeats the last column and row into the padding. Only full-resolution planes grow: chroma of an
 * odd size already covers the padded one. */
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
    for (int i = 0; i < desc->nb_components && !(desc->flags & AV_PIX_FMT_FLAG_BITSTREAM); i++) {
        const Samples from = samples_of(frame, i), s = samples_of(to, i);
        for (int y = 0; y < s.height; y++)
            for (int x = y < from.height ? from.width : 0; x < s.width; x++)
                memcpy(s.data + y * s.stride + (ptrdiff_t)x * s.step,
                       s.data + FFMIN(y, from.height - 1) * s.stride +
                           (ptrdiff_t)FFMIN(x, from.width - 1) * s.step,
                       (size_t)s.bytes);
    }
    return 0;
}

/* BT470BG and SMPTE170M are the same matrix. */
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
    to->chroma_location = frame->chroma_location;
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
    if (ret >= 0)
        ret = converts || pads ? av_frame_copy_props(to, frame) : av_frame_ref(to, frame);
    to->color_range = a->range;
    /* padding is part of the picture */
    to->crop_left = to->crop_right = to->crop_top = to->crop_bottom = 0;
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
