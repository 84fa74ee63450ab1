#include "media/convert.h"

#include <limits.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "media/compat.h"

/* RGB becomes BT.709 from this height on, else BT.601. */
#define HD_LINES 720

/* Bits of a sample including the unused low bits. */
static int sample_bits(const AVComponentDescriptor *component)
{
    return component->depth + component->shift;
}

/* True if chroma is in one or two planes and has luma's sample format. */
static bool is_chroma_plain(const AVPixFmtDescriptor *desc, int bytes)
{
    const AVComponentDescriptor *luma = &desc->comp[0], *cb = &desc->comp[1], *cr = &desc->comp[2];
    if (cb->depth != luma->depth || cr->depth != luma->depth || cb->shift != luma->shift ||
        cr->shift != luma->shift)
        return false;
    if (cb->plane == 1 && cr->plane == 2)
        return cb->step == bytes && cr->step == bytes;
    return cb->plane == 1 && cr->plane == 1 && cb->step == 2 * bytes && cr->step == 2 * bytes &&
           cb->offset + cr->offset == bytes;
}

bool convert_is_direct(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
    if (!desc || (desc->flags & other))
        return false;
    const AVComponentDescriptor *luma = &desc->comp[0], *alpha = &desc->comp[3];
    const int bytes = sample_bits(luma) > 8 ? 2 : 1;
    if (luma->depth < 8 || sample_bits(luma) > 16 || luma->plane != 0 || luma->offset != 0 ||
        luma->step != bytes || (bytes == 2 && (desc->flags & AV_PIX_FMT_FLAG_BE)))
        return false;
    if (desc->nb_components == 4 &&
        (alpha->plane != 3 || alpha->step != bytes || alpha->depth != luma->depth))
        return false;
    return desc->nb_components == 1 || (desc->nb_components >= 3 && is_chroma_plain(desc, bytes));
}

SampleLayout convert_layout(enum AVPixelFormat direct)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(direct);
    return (SampleLayout){
        .planes = desc->nb_components >= 3 ? desc->comp[2].plane + 1 : 1,
        .depth = desc->comp[0].depth,
        .shift = desc->comp[0].shift,
        .chroma_x = desc->log2_chroma_w,
        .chroma_y = desc->log2_chroma_h,
    };
}

bool convert_is_rgb(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    return desc && ((desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) ||
                    strncmp(desc->name, "xyz", 3) == 0);
}

int convert_depth(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    int depth = 0;
    if (desc && (desc->flags & AV_PIX_FMT_FLAG_BAYER)) /* the components share a pixel's bits */
        return av_get_bits_per_pixel(desc);
    for (int i = 0; desc && i < desc->nb_components; i++)
        depth = FFMAX(depth, desc->comp[i].depth);
    return depth;
}

static bool has_alpha(const AVPixFmtDescriptor *desc)
{
    return (desc->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

/* Rates how much precision `to` lacks or wastes (0: none); -1 if its components do not fit. */
static int distance(const AVPixFmtDescriptor *to, const AVPixFmtDescriptor *from, int depth)
{
    const int colours = from->nb_components >= 3 || has_alpha(from);
    const int spare_x = from->log2_chroma_w - to->log2_chroma_w;
    const int spare_y = from->log2_chroma_h - to->log2_chroma_h;
    const int missing = depth - to->comp[0].depth;
    if (has_alpha(to) != has_alpha(from) || (to->nb_components >= 3) != colours)
        return -1;
    /* Missing bits weigh most, then chroma resolution, then surplus bits. */
    return (missing > 0 ? 1000 * missing : -missing) +
           100 * ((spare_x < 0 ? 4 : spare_x) + (spare_y < 0 ? 4 : spare_y));
}

enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(format), *to = NULL;
    const enum AVPixelFormat swapped = av_pix_fmt_swap_endianness(format);
    enum AVPixelFormat best = AV_PIX_FMT_NONE;
    int least = INT_MAX;
    if (convert_is_direct(format))
        return format;
    if (convert_is_direct(swapped))
        return swapped;
    while (from && (to = av_pix_fmt_desc_next(to))) {
        const enum AVPixelFormat id = av_pix_fmt_desc_get_id(to);
        const int far = convert_is_direct(id) && convert_can_make(id)
                            ? distance(to, from, FFMIN(convert_depth(format), 16))
                            : -1;
        if (far >= 0 && far < least) { /* among equals, FFmpeg lists planar formats first */
            least = far;
            best = id;
        }
    }
    return best;
}

static bool is_deeper(const AVPixFmtDescriptor *to, const AVPixFmtDescriptor *from, int depth)
{
    return to->comp[0].depth == depth && to->comp[0].shift == 0 &&
           to->nb_components == from->nb_components && has_alpha(to) == has_alpha(from) &&
           to->log2_chroma_w == from->log2_chroma_w && to->log2_chroma_h == from->log2_chroma_h;
}

enum AVPixelFormat convert_deeper(enum AVPixelFormat direct, int depth)
{
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(direct), *to = NULL;
    while (from->comp[0].depth < depth && (to = av_pix_fmt_desc_next(to))) {
        const enum AVPixelFormat id = av_pix_fmt_desc_get_id(to);
        if (convert_is_direct(id) && convert_can_make(id) && is_deeper(to, from, depth))
            return id;
    }
    return direct;
}

bool convert_can_make(enum AVPixelFormat format)
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

bool convert_is_full(const AVFrame *frame)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    return frame->color_range == AVCOL_RANGE_JPEG || convert_is_rgb(frame->format) ||
           (frame->color_range == AVCOL_RANGE_UNSPECIFIED && desc && desc->nb_components < 3);
}

AVFrame *convert_new_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = format;
    frame->width = width;
    frame->height = height;
    return frame;
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

/* Sets swscale's chroma position in 1/256 of a luma sample. In a field of 4:2:0, a chroma row lies
 * a quarter (field 0) or three quarters (field 1) of the way between two luma rows. */
static int set_chroma(struct SwsContext *sws, const char *x_name, const char *y_name, int format,
                      int location, int fields, int field)
{
    static const int positions[][2] = {
        [AVCHROMA_LOC_UNSPECIFIED] = {0, 128}, [AVCHROMA_LOC_LEFT] = {0, 128},
        [AVCHROMA_LOC_CENTER] = {128, 128},    [AVCHROMA_LOC_TOPLEFT] = {0, 0},
        [AVCHROMA_LOC_TOP] = {128, 0},         [AVCHROMA_LOC_BOTTOMLEFT] = {0, 256},
        [AVCHROMA_LOC_BOTTOM] = {128, 256},
    };
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int *position = positions[(size_t)location < FF_ARRAY_ELEMS(positions) ? location : 0];
    const int y = fields == 2 && position[1] == 128 ? 64 + 128 * field : position[1];
    return (desc->log2_chroma_w ? av_opt_set_int(sws, x_name, position[0], 0) : 0) |
           (desc->log2_chroma_h ? av_opt_set_int(sws, y_name, y, 0) : 0);
}

/* The number of rows in a field, or in the frame if `fields` is 1. */
static int field_height(int height, int fields, int field)
{
    return (height + fields - 1 - field) / fields;
}

/* Opens a field's scaler. Sets the ranges before sws_init_context(), which depends on them. */
static int open_sws(Converter *c, int field)
{
    struct SwsContext *sws = sws_alloc_context();
    const int flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
    const int fields = c->from.fields;
    if (!sws)
        return AVERROR(ENOMEM);
    int ret = av_opt_set_int(sws, "srcw", c->from.width, 0) |
              av_opt_set_int(sws, "srch", field_height(c->from.height, fields, field), 0) |
              av_opt_set_int(sws, "src_format", c->from.format, 0) |
              av_opt_set_int(sws, "src_range", c->from.full, 0) |
              av_opt_set_int(sws, "dstw", c->to.width, 0) |
              av_opt_set_int(sws, "dsth", field_height(c->to.height, fields, field), 0) |
              av_opt_set_int(sws, "dst_format", c->to.format, 0) |
              av_opt_set_int(sws, "dst_range", c->to.full, 0) |
              av_opt_set_int(sws, "sws_flags", flags, 0);
    if (c->to.chroma >= 0)
        ret |= set_chroma(sws, "src_h_chr_pos", "src_v_chr_pos", c->from.format, c->from.chroma,
                          fields, field) |
               set_chroma(sws, "dst_h_chr_pos", "dst_v_chr_pos", c->to.format, c->to.chroma, fields,
                          field);
    if (ret == 0)
        ret = sws_init_context(sws, NULL, NULL);
    if (ret < 0) {
        sws_freeContext(sws);
        return ret;
    }
    c->sws[field] = sws;
    return 0;
}

/* True if both are YUV of the same size with different chroma resolutions. */
static int resamples_chroma(const AVFrame *from, const AVFrame *to)
{
    const AVPixFmtDescriptor *a = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *b = av_pix_fmt_desc_get(to->format);
    return a->nb_components >= 3 && b->nb_components >= 3 && !convert_is_rgb(from->format) &&
           !convert_is_rgb(to->format) && from->width == to->width && from->height == to->height &&
           (a->log2_chroma_w != b->log2_chroma_w || a->log2_chroma_h != b->log2_chroma_h);
}

static int prepare(Converter *c, const AVFrame *from, const AVFrame *to)
{
    Converter wanted = {0};
    const int from_rows = av_pix_fmt_desc_get(from->format)->log2_chroma_h;
    const int to_rows = av_pix_fmt_desc_get(to->format)->log2_chroma_h;
    /* Interlaced chroma is converted per field. swscale reads the same number of chroma rows for
     * both fields, so the height must be a multiple of 4. */
    const bool has_fields = FRAME_IS_INTERLACED(from) && resamples_chroma(from, to) &&
                            from_rows != to_rows && (!from_rows || from->height % 4 == 0);
    wanted.from.width = from->width;
    wanted.from.height = from->height;
    wanted.from.format = from->format;
    wanted.from.full = convert_is_full(from);
    wanted.from.matrix = sws_matrix(from->colorspace);
    wanted.to.width = to->width;
    wanted.to.height = to->height;
    wanted.to.format = to->format;
    wanted.to.full = convert_is_full(to);
    wanted.to.matrix = sws_matrix(to->colorspace);
    wanted.from.chroma = wanted.to.chroma = -1;
    wanted.from.fields = wanted.to.fields = has_fields ? 2 : 1;
    if (resamples_chroma(from, to)) {
        wanted.from.chroma = from->chroma_location;
        wanted.to.chroma = to->chroma_location;
    }
    if (!c->sws[0] || memcmp(&c->from, &wanted.from, sizeof(c->from)) != 0 ||
        memcmp(&c->to, &wanted.to, sizeof(c->to)) != 0) {
        convert_close(c);
        *c = wanted;
        for (int i = 0; i < c->from.fields; i++) {
            const int ret = open_sws(c, i);
            if (ret < 0) {
                convert_close(c);
                return ret;
            }
        }
    }
    const int *in = sws_getCoefficients(c->from.matrix);
    const int *out = sws_getCoefficients(c->to.matrix);
    /* Fails only for formats without a matrix, such as gray to gray. */
    for (int i = 0; i < c->from.fields; i++)
        (void)sws_setColorspaceDetails(c->sws[i], in, convert_is_full(from), out,
                                       convert_is_full(to), 0, 1 << 16, 1 << 16);
    return 0;
}

static int scale(const Converter *c, const AVFrame *from, const AVFrame *to, int field)
{
    const int fields = c->from.fields;
    const uint8_t *in[4];
    uint8_t *out[4];
    int in_stride[4], out_stride[4];
    for (int i = 0; i < 4; i++) {
        in[i] = from->data[i] ? from->data[i] + (ptrdiff_t)field * from->linesize[i] : NULL;
        out[i] = to->data[i] ? to->data[i] + (ptrdiff_t)field * to->linesize[i] : NULL;
        in_stride[i] = from->linesize[i] * fields;
        out_stride[i] = to->linesize[i] * fields;
    }
    return sws_scale(c->sws[field], in, in_stride, 0, field_height(from->height, fields, field),
                     out, out_stride);
}

/* Converts 8 bits to more. The low bits of full-range luma and of alpha repeat the high ones, so
 * that white stays white. swscale repeats them only for some formats. */
static void deepen(const AVFrame *from, const AVFrame *to)
{
    const AVPixFmtDescriptor *a = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *b = av_pix_fmt_desc_get(to->format);
    for (int i = 0; i < a->nb_components; i++) {
        const AVComponentDescriptor *c = &a->comp[i];
        const int chroma = i == 1 || i == 2, plane = b->comp[i].plane, step = b->comp[i].step / 2;
        const int width = AV_CEIL_RSHIFT(from->width, chroma ? a->log2_chroma_w : 0);
        const int height = AV_CEIL_RSHIFT(from->height, chroma ? a->log2_chroma_h : 0);
        const int more = b->comp[i].depth - 8, below = i == 3 || (!chroma && convert_is_full(from));
        for (int y = 0; y < height; y++) {
            const uint8_t *in =
                from->data[c->plane] + (ptrdiff_t)y * from->linesize[c->plane] + c->offset;
            uint16_t *out = (uint16_t *)(void *)(to->data[plane] + b->comp[i].offset +
                                                 (ptrdiff_t)y * to->linesize[plane]);
            for (int x = 0; x < width; x++, in += c->step, out += step)
                *out = (uint16_t)(*in << more | (below ? *in >> (8 - more) : 0));
        }
    }
}

static enum AVColorSpace matrix_for(const AVFrame *from, const AVFrame *to)
{
    if (convert_is_rgb(from->format) && !convert_is_rgb(to->format) &&
        (to->colorspace == AVCOL_SPC_RGB || to->colorspace == AVCOL_SPC_UNSPECIFIED))
        return to->height >= HD_LINES ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    return to->colorspace;
}

int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to)
{
    to->colorspace = matrix_for(from, to);
    const int height = to->height;
    to->height = FFALIGN(height, 4); /* gives both fields the same number of chroma rows */
    int ret = av_frame_get_buffer(to, 0);
    to->height = height;
    if (ret < 0)
        return ret;
    const AVPixFmtDescriptor *a = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *b = av_pix_fmt_desc_get(to->format);
    /* If only the depth differs, from 8 bits to more, swscale is not needed. */
    if (convert_is_direct(from->format) && convert_is_direct(to->format) && a->comp[0].depth == 8 &&
        b->comp[0].depth > 8 && is_deeper(b, a, b->comp[0].depth) && from->width == to->width &&
        from->height == to->height && convert_is_full(from) == convert_is_full(to)) {
        deepen(from, to);
        return 0;
    }
    ret = prepare(converter, from, to);
    if (ret < 0)
        return ret;
    for (int i = 0; i < converter->from.fields && ret >= 0; i++)
        ret = scale(converter, from, to, i);
    return ret < 0 ? ret : 0;
}

bool convert_has_margins(const AVFrame *frame)
{
    return frame->crop_left || frame->crop_right || frame->crop_top || frame->crop_bottom;
}

static int frame_with_margins(const AVFrame *picture, AVFrame *to)
{
    const ptrdiff_t strides[4] = {to->linesize[0], to->linesize[1], to->linesize[2],
                                  to->linesize[3]};
    int ret =
        av_image_fill_black(to->data, strides, to->format, to->color_range, to->width, to->height);
    AVFrame *inside = av_frame_clone(to);
    if (!inside)
        return AVERROR(ENOMEM);
    if (ret >= 0)
        ret = av_frame_apply_cropping(inside, AV_FRAME_CROP_UNALIGNED);
    if (ret >= 0)
        ret = av_frame_copy(inside, picture);
    av_frame_free(&inside);
    return ret;
}

int convert_fit(Converter *converter, const AVFrame *from, AVFrame *to)
{
    if (!convert_has_margins(to))
        return convert_frame(converter, from, to);
    AVFrame *picture =
        convert_new_frame(to->format, to->width - (int)(to->crop_left + to->crop_right),
                          to->height - (int)(to->crop_top + to->crop_bottom));
    if (!picture)
        return AVERROR(ENOMEM);
    picture->color_range = to->color_range;
    picture->colorspace = matrix_for(from, to);
    int ret = convert_frame(converter, from, picture);
    to->colorspace = picture->colorspace;
    if (ret >= 0)
        ret = av_frame_get_buffer(to, 0);
    if (ret >= 0)
        ret = frame_with_margins(picture, to);
    av_frame_free(&picture);
    return ret;
}

void convert_close(Converter *converter)
{
    for (int i = 0; i < 2; i++) {
        sws_freeContext(converter->sws[i]);
        converter->sws[i] = NULL;
    }
}
