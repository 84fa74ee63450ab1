/* Counts the pixels of FFmpeg's frames for scopes. */
#ifndef LUMEQ_RUN_FRAME_SCOPES_H
#define LUMEQ_RUN_FRAME_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "panel/panel.h"

struct AVFrame;

/* The axis of the panel that suits a frame's transfer function. */
PanelLight frame_scopes_light(const struct AVFrame *frame);

#define FRAME_ROWS_PLANES 3

/* Evenly spaced rows of a plane; the memory is borrowed. */
typedef struct FrameRows {
    const uint8_t *data; /* the first row */
    ptrdiff_t stride;    /* bytes from one of these rows to the next */
    int bytes;           /* per row */
    int count;
} FrameRows;

/* Counts a frame in host memory in its display orientation; `mirrored` swaps left and right.
 * Returns 0, or -1 if picture_format() does not support the frame's format. */
int frame_scopes_count(Scopes *scopes, const struct AVFrame *frame, int mirrored);

/* The first of two steps for frames on a GPU: lists the rows to count in each plane. The caller
 * then downloads them. Returns the number of planes, or -1 like frame_scopes_count(). */
int frame_scopes_rows(FrameRows rows[FRAME_ROWS_PLANES], const struct AVFrame *frame, int mirrored);

/* The second step: counts the downloaded rows. */
void frame_scopes_count_rows(Scopes *scopes, const struct AVFrame *frame,
                             const FrameRows rows[FRAME_ROWS_PLANES], int mirrored);

#endif
