#include "pipeline/frame_scopes.h"

#include "media/message.h"
#include "media/picture_format.h"

static ScopesPlane plane_of(const AVFrame *frame, const PictureFormat *f, int i, int component)
{
    const PicturePlane *plane = &f->plane[i];
    const int stands = f->turn.xx != 0;
    const PictureSteps steps =
        picture_steps(f->turn, plane->width, plane->height, (ptrdiff_t)plane->components * f->bytes,
                      frame->linesize[i]);
    return (ScopesPlane){
        .first = frame->data[i] + (ptrdiff_t)component * f->bytes + steps.first,
        .column = steps.column,
        .row = steps.row,
        .width = stands ? plane->width : plane->height,
        .height = stands ? plane->height : plane->width,
        .bytes = f->bytes,
        .depth = f->depth,
        .shift = f->shift,
    };
}

int frame_scopes_count(Scopes *scopes, const AVFrame *frame, int mirrored)
{
    char why[128];
    PictureFormat f;
    if (picture_format(&f, frame, why, sizeof(why)) < 0)
        return -1;
    if (mirrored)
        f.turn = (PictureTurn){-f.turn.xx, -f.turn.xy, f.turn.yx, f.turn.yy};
    ScopesPicture picture = {
        .luma = plane_of(frame, &f, 0, 0), .kr = f.kr, .kb = f.kb, .full_range = f.full_range};
    if (f.planes > 1) {
        const int two = f.planes == 2; /* both kinds of chroma are in one plane */
        picture.cb = plane_of(frame, &f, 1, two && f.cr_first);
        picture.cr = plane_of(frame, &f, two ? 1 : 2, two && !f.cr_first);
    }
    scopes_count(scopes, &picture);
    return 0;
}
