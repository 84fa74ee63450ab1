/* Stretches gray video of more than 8 bits that uses few of its codes. */
#ifndef LUMEQ_MEDIA_CODE_RANGE_H
#define LUMEQ_MEDIA_CODE_RANGE_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "lumeq/lumeq.h"

/* The values are those of LumeqCodeRange. */
typedef enum CodeRangeMode {
    CODE_RANGE_FULL, /* never stretch */
    CODE_RANGE_AUTO, /* stretch if few codes are used */
    CODE_RANGE_USED, /* always stretch the used codes */
} CodeRangeMode;

/* {0}: never stretch. */
typedef struct CodeRange {
    CodeRangeMode mode;
    enum AVColorRange levels; /* range of the frames; UNSPECIFIED: as each frame declares */
    bool is_measured;         /* `window` is for the whole file; false: measure each frame */
    LumeqCodes window;        /* the codes to stretch; high 0: do not stretch */
    LumeqCodes all;           /* the file's codes of black and white */
} CodeRange;

/* True for supported formats: gray of more than 8 bits, little-endian in 2 bytes. */
bool code_range_suits(enum AVPixelFormat format);

/* Widens range->window to include the codes of a frame in a supported format. Ignores a frame
 * that is only noise. Returns 0 or AVERROR(ENOMEM). */
int code_range_add(CodeRange *range, const AVFrame *frame);

/* Call after the last frame. Clears the window if it is too wide, unless CODE_RANGE_USED is set. */
void code_range_decide(CodeRange *range);

/* Describes a window: "uses codes 7600 to 8365 of 65535: stretched". */
void code_window_text(LumeqCodes window, LumeqCodes all, char *text, size_t size);

/* Stretches the frames of one video. For one thread at a time. */
typedef struct CodeStretch CodeStretch;

/* NULL: out of memory. */
CodeStretch *code_stretch_create(const CodeRange *range);

/* Replaces the frame by a stretched one if necessary. AVERROR(ENOMEM): the frame is unchanged. */
int code_stretch_frame(CodeStretch *stretch, AVFrame *frame);

/* Changes the mode for later frames. With CodeRange.is_measured, AUTO and USED are the same. */
void code_stretch_set_mode(CodeStretch *stretch, CodeRangeMode mode);

/* Call after a seek. The window then jumps to that of the next frame, without a transition. */
void code_stretch_reset(CodeStretch *stretch);

/* code_window_text() of the last stretched frame, or NULL. */
const char *code_stretch_text(CodeStretch *stretch);

void code_stretch_free(CodeStretch **stretch);

#endif
