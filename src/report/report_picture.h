/* A frame that stands for its shot, before and after; and which frames these are. */
#ifndef LUMEQ_REPORT_PICTURE_H
#define LUMEQ_REPORT_PICTURE_H

#include <stdint.h>

#define REPORT_CURVE 256    /* points of a curve: one for each code of 8 bits */
#define REPORT_HISTOGRAM 64 /* bins of a histogram that is drawn */

/* Pixels of the longer side. */
#define REPORT_PICTURE_SIDE 480

typedef struct ReportPicture {
    int64_t number, time_us;
    int64_t entropy; /* before, as a ReportFrame has it */
    int width, height;
    uint16_t curve[REPORT_CURVE];            /* codes of 8 bits, 8 fraction bits */
    uint32_t histogram[2][REPORT_HISTOGRAM]; /* before, after: millionths of the picture */
    char *jpeg[2];                           /* before, after, in base64; owned */
    char *words;                             /* owned */
} ReportPicture;

/* NULL is allowed. */
void report_picture_free(ReportPicture *picture);

/*
 * Frames that stand for a shot whose end is not known yet: those whose number is a multiple of the
 * least power of two of which there are no more than CHOICE_MOST in it. The choice for a shot holds
 * those of any part of it. {0} is that of no shot.
 */
#define CHOICE_MOST 4

typedef struct PictureChoice {
    int64_t step;
    int count;
    int64_t number[CHOICE_MOST + 1];
} PictureChoice;

/* Not 0: such a frame will be one of them. */
int picture_choice_wants(const PictureChoice *choice, int64_t number, int cut);

/* Takes it, if it is one. Not 0: those that are not multiples of `step` are none any more. */
int picture_choice_take(PictureChoice *choice, int64_t number, int cut);

#endif
