#include "run/frame_scopes.h"

#include "media/picture_format.h"
#include "run/run_frame.h"

static int format_of(PictureFormat *f, const AVFrame *frame, int mirrored)
{
    char why[128];
    const int ret = picture_format(f, frame, why, sizeof(why));
    if (ret >= 0 && mirrored)
        f->turn = (PictureTurn){-f->turn.xx, -f->turn.xy, f->turn.yx, f->turn.yy};
    return ret;
}

/* False if a quarter turn makes rows into columns. */
static int keeps_rows(const PictureFormat *f)
{
    return f->turn.xx != 0;
}

/* The rows of a plane that the scopes count. In an upside-down frame, they include the last row. */
static FrameRows rows_of(const AVFrame *frame, const PictureFormat *f, int i)
{
    const PicturePlane *plane = &f->plane[i];
    const int step =
        scopes_step(plane->height, keeps_rows(f) ? SCOPES_MOST_ROWS : SCOPES_MOST_COLUMNS);
    const int first = f->turn.xy + f->turn.yy < 0 ? (plane->height - 1) % step : 0;
    return (FrameRows){
        .data = frame->data[i] + (ptrdiff_t)first * frame->linesize[i],
        .stride = (ptrdiff_t)step * frame->linesize[i],
        .bytes = plane->width * plane->components * f->bytes,
        .count = scopes_step(plane->height - first, step),
    };
}

int frame_scopes_rows(FrameRows rows[FRAME_ROWS_PLANES], const AVFrame *frame, int mirrored)
{
    PictureFormat f;
    if (format_of(&f, frame, mirrored) < 0)
        return -1;
    for (int i = 0; i < f.planes; i++)
        rows[i] = rows_of(frame, &f, i);
    return f.planes;
}

static ScopesPlane plane_of(const FrameRows *rows, const PictureFormat *f, int i, int component)
{
    const PicturePlane *plane = &f->plane[i];
    const PictureSteps steps =
        picture_steps(f->turn, plane->width, rows[i].count, (ptrdiff_t)plane->components * f->bytes,
                      rows[i].stride);
    return (ScopesPlane){
        .first = rows[i].data + (ptrdiff_t)component * f->bytes + steps.first,
        .column = steps.column,
        .row = steps.row,
        .width = keeps_rows(f) ? plane->width : rows[i].count,
        .height = keeps_rows(f) ? rows[i].count : plane->width,
        .bytes = f->bytes,
        .depth = f->depth,
        .shift = f->shift,
    };
}

void frame_scopes_count_rows(Scopes *scopes, const AVFrame *frame,
                             const FrameRows rows[FRAME_ROWS_PLANES], int mirrored)
{
    PictureFormat f;
    if (format_of(&f, frame, mirrored) < 0)
        return;
    ScopesPicture picture = {
        .luma = plane_of(rows, &f, 0, 0), .kr = f.kr, .kb = f.kb, .full_range = f.full_range};
    if (f.planes > 1) {
        const int two = f.planes == 2; /* Cb and Cr are interleaved in one plane */
        picture.cb = plane_of(rows, &f, 1, two && f.cr_first);
        picture.cr = plane_of(rows, &f, two ? 1 : 2, two && !f.cr_first);
    }
    scopes_count(scopes, &picture);
}

PanelLight frame_scopes_light(const AVFrame *frame)
{
    switch (frame->color_trc) {
    case AVCOL_TRC_SMPTE2084: return PANEL_PQ;
    case AVCOL_TRC_ARIB_STD_B67: return PANEL_HLG;
    default: return PANEL_CODES;
    }
}

int frame_scopes_count(Scopes *scopes, const AVFrame *frame, int mirrored)
{
    FrameRows rows[FRAME_ROWS_PLANES];
    if (frame_scopes_rows(rows, frame, mirrored) < 0)
        return -1;
    frame_scopes_count_rows(scopes, frame, rows, mirrored);
    return 0;
}
