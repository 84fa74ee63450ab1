#include <math.h>

#include "player/view/view_state.h"

/* Between two pictures: this part of the area's longer side, at least so many pixels. */
#define GAP_PART 320
#define MIN_GAP 4

PictureTurn view_turn(const View *view, ViewSide side)
{
    const PictureFormat *format = &view->picture[side].format;
    PictureTurn turn = format->has_turn ? format->turn : view->turn;
    if (view->mirrored) {
        turn.xx = -turn.xx;
        turn.xy = -turn.xy;
    }
    return turn;
}

void view_upright_size(const View *view, ViewSide side, int *width, int *height)
{
    const PictureFormat *format = &view->picture[side].format;
    const int across = view_turn(view, side).xx == 0;
    *width = across ? format->height : format->width;
    *height = across ? format->width : format->height;
}

static int stretched(int length, double by, int limit)
{
    return (int)fmin(fmax(floor(length * by + 0.5), 1), limit);
}

void view_picture_size(const View *view, ViewSide side, int *width, int *height)
{
    *width = *height = 0;
    if (!view->picture[side].shown)
        return;
    view_upright_size(view, side, width, height);
    const double pixel = view->picture[side].format.aspect;
    const double aspect = view_turn(view, side).xx == 0 ? 1 / pixel : pixel;
    if (aspect > 1)
        *width = stretched(*width, aspect, view->max_size);
    else
        *height = stretched(*height, 1 / aspect, view->max_size);
}

static Rect fit(int width, int height, Rect area)
{
    if (width <= 0 || height <= 0 || area.width <= 0 || area.height <= 0)
        return (Rect){0};
    const double share = fmin((double)area.width / width, (double)area.height / height);
    const int across = stretched(width, share, area.width);
    const int down = stretched(height, share, area.height);
    return (Rect){area.x + (area.width - across) / 2, area.y + (area.height - down) / 2, across,
                  down};
}

/* The two halves of the area. */
static void halve(Rect area, int across, Rect half[2])
{
    const int longer = area.width > area.height ? area.width : area.height;
    const int gap = longer / GAP_PART > MIN_GAP ? longer / GAP_PART : MIN_GAP;
    half[0] = half[1] = area;
    if (across) {
        half[0].width = half[1].width = (area.width - gap) / 2;
        half[1].x = area.x + area.width - half[1].width;
    } else {
        half[0].height = half[1].height = (area.height - gap) / 2;
        half[1].y = area.y + area.height - half[1].height;
    }
}

static ViewPlaces lay_both(int width, int height, Rect area)
{
    Rect beside[2], above[2];
    halve(area, 1, beside);
    halve(area, 0, above);
    const int is_wider = fit(width, height, beside[0]).width >= fit(width, height, above[0]).width;
    const Rect *half = is_wider ? beside : above;
    return (ViewPlaces){{fit(width, height, half[0]), fit(width, height, half[1])}};
}

ViewPlaces view_layout(const View *view, const ViewScene *scene)
{
    ViewPlaces places = {0};
    int width, height;
    const int both = view->picture[VIEW_INPUT].shown && view->picture[VIEW_OUTPUT].shown;
    if (both && scene->compare == VIEW_COMPARE_SIDE) {
        view_picture_size(view, VIEW_OUTPUT, &width, &height);
        return lay_both(width, height, scene->area);
    }
    for (int side = 0; side < VIEW_SIDES; side++)
        if (scene->compare != VIEW_COMPARE_OFF || side == (int)scene->shown) {
            view_picture_size(view, side, &width, &height);
            places.picture[side] = fit(width, height, scene->area);
        }
    return places;
}

int view_split_column(const ViewPlaces *places, double split)
{
    const Rect *place = &places->picture[VIEW_OUTPUT];
    const double inside = fmin(fmax(split, 0), 1);
    return place->x + (int)floor(inside * place->width + 0.5);
}
