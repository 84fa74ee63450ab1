#include "media/output/blend.h"

#include <math.h>
#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>

#include "media/picture_format.h"

/* Frames of at least this height are assumed to use BT.709's matrix if they have no matrix tag. */
#define HD_LINES 720

/* Alignment of rows in bytes, and bytes that encoders may read past the end of a plane. */
#define ALIGNMENT 64
#define PADDING 64

/* White of graphics in HDR video (ITU-R BT.2408), and the nominal peak of an HLG screen, in
 * nits. */
#define WHITE 203.0
#define HLG_SCREEN 1000.0

/* One component of the picture, and its alpha (`cover`). Samples have one or two bytes, like the
 * frame's, and use all bits. */
typedef struct Layer {
    const uint8_t *samples, *cover;
    ptrdiff_t stride, cover_stride;
    BlendPlace place;
} Layer;

/* One component of the frame. */
typedef struct Component {
    uint8_t *data;
    ptrdiff_t stride;
    int step;          /* bytes from one sample to the next */
    int sub_x, sub_y;  /* pixels per sample */
    int width, height; /* of the frame in pixels */
    int depth, shift;  /* a sample holds code << shift */
} Component;

/* Template functions: the compiler makes a version for each set of constant arguments. */
#define TEMPLATE static inline __attribute__((always_inline))

TEMPLATE uint32_t load(const uint8_t *samples, ptrdiff_t i, int bytes)
{
    return bytes == 1 ? samples[i] : AV_RL16(samples + i * 2);
}

TEMPLATE uint32_t get_code(const Component *c, const uint8_t *at, int bytes)
{
    return bytes == 1 ? *at : load(at, 0, 2) >> c->shift;
}

TEMPLATE void put_code(const Component *c, uint8_t *at, uint32_t code, int bytes)
{
    if (bytes == 1)
        *at = (uint8_t)code;
    else
        AV_WL16(at, (uint16_t)(code << c->shift));
}

/* Each sample of the frame becomes the mean of its pixels after blending. A sample covers `across`
 * x `down` pixels, or fewer at the right and lower edges. */
TEMPLATE void blend_samples(const Component *c, const Layer *l, int bytes, int across, int down)
{
    const BlendPlace *p = &l->place;
    const int end_x = p->x + p->width, end_y = p->y + p->height;
    for (int row = p->y / down; row * down < end_y; row++)
        for (int column = p->x / across; column * across < end_x; column++) {
            uint32_t sum = 0, cover = 0;
            for (int y = FFMAX(row * down, p->y); y < FFMIN((row + 1) * down, end_y); y++) {
                const uint8_t *samples = l->samples + (y - p->y) * l->stride;
                const uint8_t *covers = l->cover + (y - p->y) * l->cover_stride;
                for (int x = FFMAX(column * across, p->x); x < FFMIN((column + 1) * across, end_x);
                     x++) {
                    const uint32_t share = load(covers, x - p->x, bytes) >> (8 * (bytes - 1));
                    sum += (load(samples, x - p->x, bytes) >> (8 * bytes - c->depth)) * share;
                    cover += share;
                }
            }
            const int pixels =
                FFMIN(across, c->width - column * across) * FFMIN(down, c->height - row * down);
            const uint32_t all = 255 * (uint32_t)pixels;
            uint8_t *to = c->data + row * c->stride + (ptrdiff_t)column * c->step;
            put_code(c, to, (get_code(c, to, bytes) * (all - cover) + sum + all / 2) / all, bytes);
        }
}

TEMPLATE void blend_bytes(const Component *c, const Layer *l, int bytes)
{
    if (c->sub_x == 1 && c->sub_y == 1)
        blend_samples(c, l, bytes, 1, 1);
    else
        blend_samples(c, l, bytes, c->sub_x, c->sub_y);
}

static void blend_component(const Component *c, const Layer *l)
{
    if (c->depth == 8)
        blend_bytes(c, l, 1);
    else
        blend_bytes(c, l, 2);
}

static Layer make_layer(const AVFrame *yuva, int plane, BlendPlace place)
{
    return (Layer){yuva->data[plane], yuva->data[3], yuva->linesize[plane], yuva->linesize[3],
                   place};
}

static Component make_component(const AVFrame *frame, const PictureFormat *format, int i)
{
    const int two = i > 0 && format->planes == 2; /* Cb and Cr are interleaved in one plane */
    const int plane = two ? 1 : i, second = two && (i == 2) != format->cr_first;
    return (Component){
        .data = frame->data[plane] + second * format->bytes,
        .stride = frame->linesize[plane],
        .step = format->plane[plane].components * format->bytes,
        .sub_x = i ? format->sub_x : 1,
        .sub_y = i ? format->sub_y : 1,
        .width = frame->width,
        .height = frame->height,
        .depth = format->depth,
        .shift = format->shift,
    };
}

/* Raises the frame's alpha where the picture covers it. */
static void blend_alpha(const AVFrame *frame, const PictureFormat *format, const AVFrame *yuva,
                        BlendPlace place)
{
    Component alpha = make_component(frame, format, 0);
    alpha.data = frame->data[3];
    alpha.stride = frame->linesize[3];
    for (int y = 0; y < yuva->height; y++)
        memset(yuva->data[0] + y * yuva->linesize[0], 255,
               (size_t)yuva->width * (size_t)format->bytes);
    const Layer white = make_layer(yuva, 0, place);
    blend_component(&alpha, &white);
}

/* ---- the picture in the frame's colours ---- */

/* SMPTE ST 2084. */
static double pq(double nits)
{
    const double y = pow(nits / 10000, 2610.0 / 16384);
    return pow((3424.0 / 4096 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y), 2523.0 / 32);
}

/* The inverse of HLG's display gamma for HLG_SCREEN, then ARIB STD-B67. */
static double hlg(double nits)
{
    const double light = pow(nits / HLG_SCREEN, 1 / 1.2);
    return light <= 1.0 / 12 ? sqrt(3 * light)
                             : 0.17883277 * log(12 * light - 0.28466892) + 0.55991073;
}

/* Copies the picture to a frame. For HDR, converts it from SDR (ITU-R BT.1886) to PQ or HLG. */
static AVFrame *make_rgba(const BlendPicture *picture, PictureTransfer transfer)
{
    uint8_t codes[256];
    for (int i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    for (int i = 0; i < 256 && transfer != PICTURE_SDR; i++) {
        const double nits = WHITE * pow(i / 255.0, 2.4);
        codes[i] = (uint8_t)lrint(255 * (transfer == PICTURE_PQ ? pq(nits) : hlg(nits)));
    }
    AVFrame *rgba = convert_new_frame(AV_PIX_FMT_RGBA, picture->width, picture->height);
    if (rgba && av_frame_get_buffer(rgba, 0) < 0)
        av_frame_free(&rgba);
    for (int y = 0; rgba && y < picture->height; y++) {
        const uint8_t *from = picture->pixels + y * picture->row;
        uint8_t *to = rgba->data[0] + y * rgba->linesize[0];
        for (int x = 0; x < picture->width; x++, from += picture->column, to += 4) {
            for (int i = 0; i < 3; i++)
                to[i] = codes[from[i]];
            to[3] = from[3];
        }
    }
    return rgba;
}

/* Converts the picture to the size of its place and the colours of the frame. */
static int convert(Blender *blender, const BlendPicture *picture, const PictureFormat *format,
                   const AVFrame *frame, AVFrame *yuva)
{
    AVFrame *rgba = make_rgba(picture, format->transfer);
    yuva->color_range = frame->color_range;
    yuva->colorspace = frame->colorspace;
    if (yuva->colorspace == AVCOL_SPC_UNSPECIFIED || yuva->colorspace == AVCOL_SPC_RGB)
        yuva->colorspace = frame->height >= HD_LINES ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    const int ret = rgba ? convert_frame(&blender->converter, rgba, yuva) : AVERROR(ENOMEM);
    av_frame_free(&rgba);
    return ret;
}

/* ---- memory ---- */

AVFrame *blend_frame_like(Blender *b, const AVFrame *frame, int width, int height)
{
    const int size = av_image_get_buffer_size(frame->format, width, height, ALIGNMENT);
    AVFrame *own = size < 0 ? NULL : convert_new_frame(frame->format, width, height);
    const size_t bytes = own ? (size_t)size + PADDING : 0;
    if (own && bytes != b->size) {
        av_buffer_pool_uninit(&b->pool); /* the old pool's buffers are freed when returned */
        b->pool = av_buffer_pool_init(bytes, NULL);
        b->size = b->pool ? bytes : 0;
    }
    if (own && b->pool)
        own->buf[0] = av_buffer_pool_get(b->pool);
    if (own && own->buf[0] && av_frame_copy_props(own, frame) >= 0 &&
        av_image_fill_arrays(own->data, own->linesize, own->buf[0]->data, frame->format, width,
                             height, ALIGNMENT) >= 0)
        return own;
    av_frame_free(&own);
    return NULL;
}

/* Like av_frame_make_writable(), but with pooled memory. */
static int make_writable(Blender *b, AVFrame *frame)
{
    if (av_frame_is_writable(frame))
        return 0;
    AVFrame *own = blend_frame_like(b, frame, frame->width, frame->height);
    const int ret = own ? av_frame_copy(own, frame) : AVERROR(ENOMEM);
    if (ret >= 0) {
        av_frame_unref(frame);
        av_frame_move_ref(frame, own);
    }
    av_frame_free(&own);
    return ret;
}

int blend_picture(Blender *blender, AVFrame *frame, BlendPlace place, const BlendPicture *picture)
{
    char why[128];
    PictureFormat format;
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return AVERROR(EINVAL);
    AVFrame *yuva =
        convert_new_frame(format.bytes == 1 ? AV_PIX_FMT_YUVA444P : AV_PIX_FMT_YUVA444P16LE,
                          place.width, place.height);
    int ret = yuva ? convert(blender, picture, &format, frame, yuva) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = make_writable(blender, frame);
    for (int i = 0; ret >= 0 && i < (format.planes == 1 ? 1 : 3); i++) {
        const Component component = make_component(frame, &format, i);
        const Layer layer = make_layer(yuva, i, place);
        blend_component(&component, &layer);
    }
    if (ret >= 0 && (av_pix_fmt_desc_get(frame->format)->flags & AV_PIX_FMT_FLAG_ALPHA))
        blend_alpha(frame, &format, yuva, place);
    av_frame_free(&yuva);
    return ret;
}

void blend_copy(AVFrame *to, int x, int y, const AVFrame *from, BlendPlace part)
{
    const enum AVPixelFormat format = from->format;
    const int chroma = av_pix_fmt_desc_get(format)->log2_chroma_h;
    for (int i = 0; i < av_pix_fmt_count_planes(format); i++) {
        const int down = i == 1 || i == 2 ? chroma : 0;
        const ptrdiff_t first = (ptrdiff_t)(part.y >> down) * from->linesize[i];
        const ptrdiff_t there = (ptrdiff_t)(y >> down) * to->linesize[i];
        av_image_copy_plane(
            to->data[i] + there + av_image_get_linesize(format, x, i), to->linesize[i],
            from->data[i] + first + av_image_get_linesize(format, part.x, i), from->linesize[i],
            av_image_get_linesize(format, part.width, i), AV_CEIL_RSHIFT(part.height, down));
    }
}

void blend_close(Blender *blender)
{
    convert_close(&blender->converter);
    av_buffer_pool_uninit(&blender->pool);
}
