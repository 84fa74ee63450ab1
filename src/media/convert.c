#include "media/convert.h"

#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#define HD_LINES 720

int convert_is_direct(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const uint64_t not_luma = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL |
                              AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                              AV_PIX_FMT_FLAG_BAYER;
    if (!desc || (desc->flags & not_luma))
        return 0;
    const AVComponentDescriptor *luma = &desc->comp[0];
    return luma->plane == 0 && luma->step == 1 && luma->offset == 0 && luma->depth == 8 &&
           luma->shift == 0;
}

enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format)
{
    static const enum AVPixelFormat direct[] = {
        AV_PIX_FMT_YUV420P,  AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P,  AV_PIX_FMT_YUV440P,
        AV_PIX_FMT_YUV411P,  AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_YUVA422P,
        AV_PIX_FMT_YUVA444P, AV_PIX_FMT_GRAY8,   AV_PIX_FMT_NONE,
    };
    if (convert_is_direct(format))
        return format;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int alpha = desc && (desc->flags & AV_PIX_FMT_FLAG_ALPHA);
    return avcodec_find_best_pix_fmt_of_list(direct, format, alpha, NULL);
}

int convert_can_make(enum AVPixelFormat format)
{
    return sws_isSupportedOutput(format);
}

enum AVPixelFormat convert_without_j(enum AVPixelFormat format, int *full)
{
    static const enum AVPixelFormat pairs[][2] = {
        {AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV420P}, {AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUV422P},
        {AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUV444P}, {AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUV440P},
        {AV_PIX_FMT_YUVJ411P, AV_PIX_FMT_YUV411P},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] == format) {
            *full = 1;
            return pairs[i][1];
        }
    return format;
}

static int is_rgb(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    return desc && (desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
}

static int is_full(const AVFrame *frame)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    return frame->color_range == AVCOL_RANGE_JPEG || is_rgb(frame->format) ||
           (frame->color_range == AVCOL_RANGE_UNSPECIFIED && desc && desc->nb_components < 3);
}

static int sws_matrix(enum AVColorSpace space)
{
    switch (space) {
    case AVCOL_SPC_BT709: return SWS_CS_ITU709;
    case AVCOL_SPC_FCC: return SWS_CS_FCC;
    case AVCOL_SPC_SMPTE240M: return SWS_CS_SMPTE240M;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return SWS_CS_BT2020;
    default: return SWS_CS_ITU601;
    }
}

static int set_number(struct SwsContext *sws, const char *name, int64_t value)
{
    return av_opt_set_int(sws, name, value, 0);
}

/* The ranges must be known before it is initialized: they decide which way it takes. */
static int open_sws(Converter *c)
{
    struct SwsContext *sws = sws_alloc_context();
    const int flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
    if (!sws)
        return AVERROR(ENOMEM);
    int ret = set_number(sws, "srcw", c->from.width) | set_number(sws, "srch", c->from.height) |
              set_number(sws, "src_format", c->from.format) |
              set_number(sws, "src_range", c->from.full) | set_number(sws, "dstw", c->to.width) |
              set_number(sws, "dsth", c->to.height) | set_number(sws, "dst_format", c->to.format) |
              set_number(sws, "dst_range", c->to.full) | set_number(sws, "sws_flags", flags);
    if (ret == 0)
        ret = sws_init_context(sws, NULL, NULL);
    if (ret < 0) {
        sws_freeContext(sws);
        return ret;
    }
    c->sws = sws;
    return 0;
}

static int prepare(Converter *c, const AVFrame *from, const AVFrame *to)
{
    Converter wanted = {0};
    wanted.from.width = from->width;
    wanted.from.height = from->height;
    wanted.from.format = from->format;
    wanted.from.full = is_full(from);
    wanted.to.width = to->width;
    wanted.to.height = to->height;
    wanted.to.format = to->format;
    wanted.to.full = is_full(to);
    if (!c->sws || memcmp(&c->from, &wanted.from, sizeof(c->from)) != 0 ||
        memcmp(&c->to, &wanted.to, sizeof(c->to)) != 0) {
        convert_close(c);
        *c = wanted;
        const int ret = open_sws(c);
        if (ret < 0)
            return ret;
    }
    const int *in = sws_getCoefficients(sws_matrix(from->colorspace));
    const int *out = sws_getCoefficients(sws_matrix(to->colorspace));
    /* Fails only for pairs of formats that have no matrix, such as gray to gray. */
    (void)sws_setColorspaceDetails(c->sws, in, is_full(from), out, is_full(to), 0, 1 << 16,
                                   1 << 16);
    return 0;
}

int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to)
{
    if (is_rgb(from->format) && !is_rgb(to->format) &&
        (to->colorspace == AVCOL_SPC_RGB || to->colorspace == AVCOL_SPC_UNSPECIFIED))
        to->colorspace = to->height >= HD_LINES ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    int ret = av_frame_get_buffer(to, 0);
    if (ret < 0)
        return ret;
    ret = prepare(converter, from, to);
    if (ret < 0)
        return ret;
    ret = sws_scale(converter->sws, (const uint8_t *const *)from->data, from->linesize, 0,
                    from->height, to->data, to->linesize);
    return ret < 0 ? ret : 0;
}

void convert_close(Converter *converter)
{
    sws_freeContext(converter->sws);
    converter->sws = NULL;
}
