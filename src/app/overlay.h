/* The histogram panel in the frames that are written, as the window shows it over the picture. */
#ifndef LUMEQ_APP_OVERLAY_H
#define LUMEQ_APP_OVERLAY_H

#include "app/options/options.h"
#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/message.h"
#include "panel/panel.h"
#include "panel/panel_place.h"

typedef struct FrameOverlay FrameOverlay;

/* How the panel looks. */
typedef struct OverlayLook {
    PanelScale scale;
    PanelOver over; /* what it is over */
    PanelScope scope;
} OverlayLook;

/* As the options of a run without a window say. */
OverlayLook overlay_look(const Options *options);

/* Finding the fonts of the machine may take a while. MEDIA_INPUT. */
int overlay_open(FrameOverlay **overlay, OverlayLook look, MediaError *error);

/* Counts for scopes what is equalized, before anything is drawn into it. NULL: there is no panel.
 */
void overlay_count(FrameOverlay *overlay, const AVFrame *frame);

/*
 * Draws the panel with these figures and words (NULL: none) into an equalized frame, with its text
 * upright for who watches the video. Memory that the frame shares with others stays as it is.
 * Frames come in order and are all of the first one's size; where that has no room for a panel, it
 * is said, and they stay as they are. One thread at a time. MEDIA_INPUT.
 */
int overlay_draw(FrameOverlay *overlay, AVFrame *frame, const LumeqFrameStats *stats,
                 const char *words, MediaError *error);

/* NULL is allowed inside. */
void overlay_close(FrameOverlay **overlay);

#endif
