#include "media/picture_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/csp.h>
#include <libavutil/frame.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>

#include "media/convert.h"
#include "media/side_data.h"

/* Pictures without a matrix tag are BT.709 from this height on, else BT.601. */
#define HD_LINES 720

#define USUAL_PEAK 1000.0    /* nits: usual grading of PQ video, and HLG's nominal peak */
#define HIGHEST_PEAK 10000.0 /* nits: the end of the PQ curve */
#define LOWEST_PEAK 100.0    /* nits: dimmer than any PQ mastering display */

/* 1 / tan(1 degree): players ignore smaller deviations from a quarter turn. */
#define NEARLY_WHOLE 57

/* A pixel aspect beyond this ratio, or its inverse, is an error in the header and is ignored. */
#define MOST_OBLONG 20.0

static void set_planes(PictureFormat *f, const AVPixFmtDescriptor *desc)
{
    const int chroma = desc->nb_components >= 3;
    const int two = chroma && desc->comp[2].plane == 1;
    f->depth = desc->comp[0].depth;
    f->shift = desc->comp[0].shift;
    f->bytes = f->depth + f->shift > 8 ? 2 : 1;
    f->planes = chroma ? 3 - two : 1;
    f->cr_first = two && desc->comp[2].offset == 0;
    f->sub_x = chroma ? 1 << desc->log2_chroma_w : 1;
    f->sub_y = chroma ? 1 << desc->log2_chroma_h : 1;
    f->plane[0] = (PicturePlane){f->width, f->height, 1};
    for (int i = 1; i < f->planes; i++)
        f->plane[i] = (PicturePlane){(f->width + f->sub_x - 1) / f->sub_x,
                                     (f->height + f->sub_y - 1) / f->sub_y, two ? 2 : 1};
}

static void set_siting(PictureFormat *f, enum AVChromaLocation location)
{
    f->chroma_x = 0;
    f->chroma_y = 0.5;
    switch (location) {
    case AVCHROMA_LOC_CENTER: f->chroma_x = 0.5; break;
    case AVCHROMA_LOC_TOPLEFT: f->chroma_y = 0; break;
    case AVCHROMA_LOC_TOP: f->chroma_x = 0.5, f->chroma_y = 0; break;
    case AVCHROMA_LOC_BOTTOMLEFT: f->chroma_y = 1; break;
    case AVCHROMA_LOC_BOTTOM: f->chroma_x = 0.5, f->chroma_y = 1; break;
    default: break;
    }
}

static double peak_of(const AVFrame *frame)
{
    double peak = 0;
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    if (data)
        peak = ((const AVContentLightMetadata *)data->data)->MaxCLL;
    data = av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    if (peak == 0 && data) {
        const AVMasteringDisplayMetadata *mastering =
            (const AVMasteringDisplayMetadata *)data->data;
        if (mastering->has_luminance && mastering->max_luminance.den > 0)
            peak = av_q2d(mastering->max_luminance);
    }
    if (peak == 0)
        return USUAL_PEAK;
    return av_clipd(peak, LOWEST_PEAK, HIGHEST_PEAK);
}

int picture_format(PictureFormat *f, const AVFrame *frame, char *why, size_t size)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    if (!convert_is_direct(frame->format)) {
        snprintf(why, size, "the pixel format %s cannot be shown as it is",
                 desc ? desc->name : "of this frame");
        return -1;
    }
    *f = (PictureFormat){.width = frame->width, .height = frame->height};
    set_planes(f, desc);
    set_siting(f, frame->chroma_location);
    enum AVColorSpace space = frame->colorspace;
    if (space != AVCOL_SPC_BT709 && space != AVCOL_SPC_FCC && space != AVCOL_SPC_BT470BG &&
        space != AVCOL_SPC_SMPTE170M && space != AVCOL_SPC_SMPTE240M &&
        space != AVCOL_SPC_BT2020_NCL && space != AVCOL_SPC_BT2020_CL)
        space = f->height >= HD_LINES ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    const AVLumaCoefficients *luma = av_csp_luma_coeffs_from_avcsp(space);
    f->kr = av_q2d(luma->cr);
    f->kb = av_q2d(luma->cb);
    f->full_range = frame->color_range == AVCOL_RANGE_JPEG;
    if (frame->color_range == AVCOL_RANGE_UNSPECIFIED)
        f->full_range = desc->nb_components == 1 || !strncmp(desc->name, "yuvj", 4);

    if (frame->color_trc == AVCOL_TRC_SMPTE2084)
        f->transfer = PICTURE_PQ;
    else if (frame->color_trc == AVCOL_TRC_ARIB_STD_B67)
        f->transfer = PICTURE_HLG;
    f->wide_gamut =
        frame->color_primaries == AVCOL_PRI_BT2020 ||
        (f->transfer != PICTURE_SDR && (frame->color_primaries == AVCOL_PRI_UNSPECIFIED ||
                                        frame->color_primaries == AVCOL_PRI_RESERVED0));
    f->peak = f->transfer == PICTURE_PQ ? peak_of(frame) : USUAL_PEAK;

    const AVRational pixel = frame->sample_aspect_ratio;
    f->aspect = pixel.num > 0 && pixel.den > 0 ? av_q2d(pixel) : 1;
    if (f->aspect > MOST_OBLONG || f->aspect < 1 / MOST_OBLONG)
        f->aspect = 1;
    int32_t matrix[9];
    f->has_turn = side_data_frame_matrix(frame, matrix);
    f->turn = f->has_turn ? picture_turn(matrix) : picture_upright();
    return 0;
}

/* The inverse of the rotation, which is its transpose, leads from displayed to stored pixels. */
PictureSteps picture_steps(PictureTurn t, int width, int height, ptrdiff_t pixel, ptrdiff_t line)
{
    const int from_right = t.xx + t.yx < 0, from_below = t.xy + t.yy < 0;
    return (PictureSteps){
        .first = (from_right ? (width - 1) * pixel : 0) + (from_below ? (height - 1) * line : 0),
        .column = t.xx * pixel + t.xy * line,
        .row = t.yx * pixel + t.yy * line,
    };
}

PictureTurn picture_turn_back(PictureTurn t)
{
    return (PictureTurn){t.xx, t.yx, t.xy, t.yy};
}

PictureTurn picture_upright(void)
{
    return (PictureTurn){1, 0, 0, 1};
}

static int sign(int32_t value)
{
    return (value > 0) - (value < 0);
}

static int64_t diagonal(const int32_t m[9])
{
    return llabs(m[0]) + llabs(m[4]);
}

static int64_t antidiagonal(const int32_t m[9])
{
    return llabs(m[1]) + llabs(m[3]);
}

/* The matrix maps (x, y) to (m[0] * x + m[3] * y, m[1] * x + m[4] * y). */
PictureTurn picture_turn(const int32_t m[9])
{
    const PictureTurn turn = diagonal(m) >= antidiagonal(m)
                                 ? (PictureTurn){sign(m[0]), 0, 0, sign(m[4])}
                                 : (PictureTurn){0, sign(m[3]), sign(m[1]), 0};
    return turn.xx * turn.yy - turn.xy * turn.yx != 0 ? turn : picture_upright();
}

bool picture_turn_is_whole(const int32_t m[9])
{
    const bool is_singular = (int64_t)m[0] * m[4] == (int64_t)m[1] * m[3];
    return is_singular || FFMIN(diagonal(m), antidiagonal(m)) * NEARLY_WHOLE <=
                              FFMAX(diagonal(m), antidiagonal(m));
}
