/* Scopes of FFmpeg's frames. */
#ifndef LUMEQ_PIPELINE_FRAME_SCOPES_H
#define LUMEQ_PIPELINE_FRAME_SCOPES_H

#include "panel/scopes.h"

struct AVFrame;

/* Counts a frame in host memory, as it is watched; `mirrored`: left and right exchanged, too. 0, or
 * -1 where its format is not known. */
int frame_scopes_count(Scopes *scopes, const struct AVFrame *frame, int mirrored);

#endif
