/*
 * Deep gray video whose picture is a sliver of its codes, as thermal cameras send it: where the
 * sliver is, and a line that spreads it over all codes.
 */
#ifndef LUMEQ_MEDIA_CODE_RANGE_H
#define LUMEQ_MEDIA_CODE_RANGE_H

#include <libavutil/frame.h>

typedef enum CodeRangeMode {
    CODE_RANGE_FULL, /* never stretch */
    CODE_RANGE_AUTO, /* stretch a sliver */
    CODE_RANGE_USED, /* stretch the used codes, however many they are */
} CodeRangeMode;

/* First and last code of a picture. high 0: do not stretch. */
typedef struct CodeWindow {
    int low, high;
} CodeWindow;

/* {0}: never stretch. */
typedef struct CodeRange {
    CodeRangeMode mode;
    enum AVColorRange levels; /* of the codes; UNSPECIFIED: as frames say */
    int is_measured;          /* `window` is the file's; else frames are measured as they come */
    CodeWindow window, all;   /* all: black and white of a file that was measured */
} CodeRange;

/* Codes and noise of one picture. */
typedef struct CodeUse {
    CodeWindow window; /* without 0.1 % of the samples at each end */
    int noise;         /* standard deviation, in codes; at least 1 */
    int has_content;   /* it uses more codes than its noise explains */
} CodeUse;

/* True for the formats this is about: gray of more than 8 bits, 16-bit little-endian. */
int code_range_suits(enum AVPixelFormat format);

/* Measures a frame of such a format. AVERROR(ENOMEM). */
int code_range_measure(const AVFrame *frame, CodeUse *use);

/* Adds a measured frame to the window of a file. */
void code_range_add(CodeRange *range, const AVFrame *frame, const CodeUse *use);

/* After the last frame: clears the window if the file uses too much for a stretch. */
void code_range_decide(CodeRange *range);

/* "uses codes 7600 to 8365 of 65535: stretched" */
void code_window_text(CodeWindow window, CodeWindow all, char *text, size_t size);

/* The stretch of one video's frames. For one thread at a time. */
typedef struct CodeStretch CodeStretch;

/* NULL: out of memory. */
CodeStretch *code_stretch_create(const CodeRange *range);

/* Replaces the frame by a stretched one, if there is something to stretch. AVERROR(ENOMEM): the
 * frame is as it was. */
int code_stretch_frame(CodeStretch *stretch, AVFrame *frame);

/* For frames from now on, if they are measured as they come. */
void code_stretch_set_mode(CodeStretch *stretch, CodeRangeMode mode);

/* After a seek: the next frame's window holds at once. */
void code_stretch_reset(CodeStretch *stretch);

/* code_window_text() of the last stretched frame; NULL: none was. */
const char *code_stretch_text(CodeStretch *stretch);

void code_stretch_free(CodeStretch **stretch);

#endif
