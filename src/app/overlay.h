/* The histogram panel in the frames that are written, as the window shows it over the picture. */
#ifndef LUMEQ_APP_OVERLAY_H
#define LUMEQ_APP_OVERLAY_H

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/message.h"
#include "panel/panel.h"

typedef struct FrameOverlay FrameOverlay;

/* Finding the fonts of the machine may take a while. MEDIA_INPUT. */
int overlay_open(FrameOverlay **overlay, PanelScale scale, MediaError *error);

/*
 * Draws the panel with these figures into an equalized frame, with its text upright for who watches
 * the video. Memory that the frame shares with others stays as it is. Frames come in order and are
 * all of the first one's size; where that has no room for a panel, it is said, and they stay as
 * they are. One thread at a time. MEDIA_INPUT.
 */
int overlay_draw(FrameOverlay *overlay, AVFrame *frame, const LumeqFrameStats *stats,
                 MediaError *error);

/* NULL is allowed inside. */
void overlay_close(FrameOverlay **overlay);

#endif
