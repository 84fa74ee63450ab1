#include "media/output/blend.h"

#include <math.h>
#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>

#include "media/picture_format.h"

/* Frames without a matrix tag count as HD from this height. */
#define HD_LINES 720

/* Chroma samples processed together, and the largest subsampling factor. */
#define COLUMNS 32
#define MAX_SUB 4

/* Alignment of rows, and bytes that encoders may read past the end of a plane. */
#define ALIGNMENT 64
#define PADDING 64

/* White of graphics in HDR video (ITU-R BT.2408), and the nominal peak of an HLG screen, in
 * nits. */
#define WHITE 203.0
#define HLG_SCREEN 1000.0

/* One component of the picture, and the coverage (alpha) of each sample. Both use the frame's bytes
 * per sample, with full range. */
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

/* Template functions, instantiated for samples of one and two bytes: `bytes` is a constant. */
#define TEMPLATE static inline __attribute__((always_inline))

TEMPLATE uint32_t load(const uint8_t *samples, ptrdiff_t i, int bytes)
{
    return bytes == 1 ? samples[i] : AV_RL16(samples + i * 2);
}

/* Reads a sample of the frame. */
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

/* Scales a sample of the picture to the frame's depth. */
TEMPLATE uint32_t picture_code(const Component *c, const uint8_t *samples, ptrdiff_t i, int bytes)
{
    return bytes == 1 ? samples[i] : load(samples, i, 2) >> (16 - c->depth);
}

/* 0 to 255 */
TEMPLATE uint32_t picture_cover(const uint8_t *cover, ptrdiff_t i, int bytes)
{
    return load(cover, i, bytes) >> (8 * (bytes - 1));
}

TEMPLATE void blend_row(const Component *c, uint8_t *to, const uint8_t *samples,
                        const uint8_t *cover, int count, int bytes)
{
    for (int x = 0; x < count; x++, to += bytes) {
        const uint32_t share = picture_cover(cover, x, bytes);
        const uint32_t sum = get_code(c, to, bytes) * (255 - share) +
                             picture_code(c, samples, x, bytes) * share + 127;
        /* For bytes, 16 bits suffice, which doubles the SIMD width. */
        put_code(c, to, bytes == 1 ? (uint16_t)sum / 255u : sum / 255, bytes);
    }
}

/* Blends a component that is not subsampled. */
TEMPLATE void blend_whole(const Component *c, const Layer *l, int bytes)
{
    for (int y = 0; y < l->place.height; y++)
        blend_row(c, c->data + (l->place.y + y) * c->stride + (ptrdiff_t)l->place.x * bytes,
                  l->samples + y * l->stride, l->cover + y * l->cover_stride, l->place.width,
                  bytes);
}

/* Consecutive samples of a component's row. */
typedef struct Samples {
    int row, column, count;
} Samples;

/* Sums over rows of the picture, per column of pixels: codes weighted by coverage, and coverage. */
typedef struct Sums {
    uint32_t codes[COLUMNS * MAX_SUB];
    uint16_t cover[COLUMNS * MAX_SUB];
} Sums;

/* Adds columns `left` to `right` - 1 of the picture to `sums`, starting at `first`. */
TEMPLATE void add_row(Sums *sums, int first, const Component *c, const Layer *l, int y, int left,
                      int right, int bytes)
{
    const uint8_t *samples = l->samples + y * l->stride, *cover = l->cover + y * l->cover_stride;
    for (int x = left; x < right; x++)
        sums->codes[first + x - left] +=
            picture_code(c, samples, x, bytes) * picture_cover(cover, x, bytes);
    for (int x = left; x < right; x++)
        sums->cover[first + x - left] += (uint16_t)picture_cover(cover, x, bytes);
}

/* Adds all rows of pixels that the samples cover. */
TEMPLATE void add_rows(Sums *sums, const Component *c, const Layer *l, Samples s, int bytes)
{
    const BlendPlace *p = &l->place;
    const int x = s.column * c->sub_x - p->x, y = s.row * c->sub_y - p->y;
    const int left = FFMAX(x, 0), right = FFMIN(x + s.count * c->sub_x, p->width);
    const int top = FFMAX(y, 0), bottom = FFMIN(y + c->sub_y, p->height);
    for (int i = top; i < bottom; i++)
        add_row(sums, left - x, c, l, i, left, right, bytes);
}

/* Each sample becomes the mean of its blended pixels. */
TEMPLATE void blend_samples(const Component *c, const Layer *l, Samples s, int bytes)
{
    Sums sums = {0};
    add_rows(&sums, c, l, s, bytes);
    uint8_t *to = c->data + s.row * c->stride + (ptrdiff_t)s.column * c->step;
    const int rows = FFMIN(c->sub_y, c->height - s.row * c->sub_y);
    for (int i = 0; i < s.count; i++, to += c->step) {
        uint32_t sum = 0, cover = 0;
        for (int k = i * c->sub_x; k < (i + 1) * c->sub_x; k++) {
            sum += sums.codes[k];
            cover += sums.cover[k];
        }
        const int columns = FFMIN(c->sub_x, c->width - (s.column + i) * c->sub_x);
        const uint32_t all = 255 * (uint32_t)(rows * columns);
        put_code(c, to, (get_code(c, to, bytes) * (all - cover) + sum + all / 2) / all, bytes);
    }
}

TEMPLATE void blend_bytes(const Component *c, const Layer *l, int bytes)
{
    const BlendPlace *p = &l->place;
    const int first = p->x / c->sub_x, end = (p->x + p->width + c->sub_x - 1) / c->sub_x;
    if (c->step == bytes && c->sub_x == 1 && c->sub_y == 1)
        blend_whole(c, l, bytes);
    else
        for (int row = p->y / c->sub_y; row * c->sub_y < p->y + p->height; row++)
            for (int column = first; column < end; column += COLUMNS)
                blend_samples(c, l, (Samples){row, column, FFMIN(COLUMNS, end - column)}, bytes);
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

/* Makes the covered part of the frame opaque. */
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

/* ARIB STD-B67 after the inverse of its display gamma. */
static double hlg(double nits)
{
    const double light = pow(nits / HLG_SCREEN, 1 / 1.2);
    return light <= 1.0 / 12 ? sqrt(3 * light)
                             : 0.17883277 * log(12 * light - 0.28466892) + 0.55991073;
}

/* The picture as a frame. For HDR, its R'G'B' is converted from an SDR display's (ITU-R BT.1886).
 */
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
        av_buffer_pool_uninit(&b->pool); /* its buffers are freed when they are returned */
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
