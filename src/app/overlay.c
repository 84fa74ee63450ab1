#include "app/overlay.h"

#include <stdlib.h>

#include "app/terminal.h"
#include "app/watched.h"
#include "pipeline/equalizer_frame.h"
#include "pipeline/frame_scopes.h"

struct FrameOverlay {
    OverlayLook look;
    PanelCache *panel;
    Scopes *scopes; /* NULL: none are shown */
    Text *text;
    Blender blender;
    int placed; /* the following is known */
    Watched watched;
    Rect rect; /* of the panel, in the picture as it is watched; {0}: none */
};

OverlayLook overlay_look(const Options *options)
{
    static const PanelOver overs[] = {PANEL_OVER_ONE, PANEL_OVER_SPLIT, PANEL_OVER_MIDDLE};
    return (OverlayLook){
        .scale = options->hist_scale ? PANEL_LOG : PANEL_LINEAR,
        .over = overs[options->compare],
        .scope = (PanelScope)options->scope,
    };
}

int overlay_open(FrameOverlay **overlay, OverlayLook look, MediaError *error)
{
    FrameOverlay *o = calloc(1, sizeof(*o));
    *overlay = o;
    if (o && look.scope != PANEL_HISTOGRAM)
        o->scopes = calloc(1, sizeof(*o->scopes));
    if (!o || panel_cache_create(&o->panel) < 0 || (look.scope && !o->scopes)) {
        overlay_close(overlay);
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    }
    o->look = look;
    if (text_open(&o->text) < 0)
        say(SAY_WARNINGS, "no font was found: the histogram panel has no text");
    return 0;
}

/* ---- where it is ---- */

static int place(FrameOverlay *o, const AVFrame *frame, MediaError *error)
{
    if (watched_find(&o->watched, frame, error) < 0)
        return error->fault;
    const int width = o->watched.width, height = o->watched.height;
    o->rect =
        panel_place_over(width, height, (Rect){0, 0, width, height}, o->look.over, width / 2).panel;
    o->rect.height =
        panel_scope_height(o->rect.width, o->rect.height, (PanelText){0}, o->look.scope);
    if (o->rect.width == 0)
        say(SAY_WARNINGS, "the video is written without the histogram panel: %dx%d has no room",
            width, height);
    else if (o->look.scope == PANEL_ALL &&
             !panel_has_room_for_all(o->rect.width, o->rect.height, (PanelText){0}))
        say(SAY_WARNINGS, "the panel has no room for all scopes in %dx%d: it has the histograms",
            width, height);
    o->placed = 1;
    return 0;
}

/* ---- one frame ---- */

static const Canvas *draw_panel(FrameOverlay *o, const AVFrame *frame, const LumeqFrameStats *stats,
                                const char *words)
{
    const PanelData data = {
        .bins = stats->bins,
        .depth = equalizer_depth(frame),
        .hist_in = stats->hist_in,
        .hist_out = stats->hist_out,
        .curve = stats->curve,
        .full_range = frame->color_range == AVCOL_RANGE_JPEG,
        .scale = o->look.scale,
        .translucent = 1,
        .words = words,
        .scope = o->look.scope,
        .scopes = o->scopes,
    };
    /* By the video's own clock: the same input gives the same pictures. */
    const int64_t now = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    return panel_cache_draw(o->panel, &data, o->rect.width, o->rect.height, o->text, now);
}

void overlay_count(FrameOverlay *o, const AVFrame *frame)
{
    if (o && o->scopes)
        (void)frame_scopes_count(o->scopes, frame, 0);
}

int overlay_draw(FrameOverlay *o, AVFrame *frame, const LumeqFrameStats *stats, const char *words,
                 MediaError *error)
{
    if (!o->placed && place(o, frame, error) < 0)
        return error->fault;
    if (o->rect.width == 0)
        return 0;
    const Canvas *canvas = draw_panel(o, frame, stats, words);
    if (!canvas)
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    const int ret = watched_blend(&o->watched, &o->blender, frame, o->rect, canvas);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the histogram panel cannot be drawn: %s",
                          media_av_text(ret));
    return 0;
}

void overlay_close(FrameOverlay **overlay)
{
    FrameOverlay *o = *overlay;
    if (!o)
        return;
    panel_cache_free(&o->panel);
    free(o->scopes);
    text_close(&o->text);
    blend_close(&o->blender);
    free(o);
    *overlay = NULL;
}
