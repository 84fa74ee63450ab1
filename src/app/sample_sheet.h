/* A contact sheet: pictures of a film, before above after, with their times. */
#ifndef LUMEQ_APP_SAMPLE_SHEET_H
#define LUMEQ_APP_SAMPLE_SHEET_H

#include "media/error.h"

typedef struct AVFrame AVFrame;

typedef struct SampleSheet SampleSheet;

/* With room for so many pairs of pictures. NULL: out of memory. */
SampleSheet *sample_sheet_create(int room);

/* Adds a frame as it came and as it is written, at so many seconds of the film. MEDIA_OUTPUT. */
int sample_sheet_add(SampleSheet *sheet, const AVFrame *before, const AVFrame *after,
                     double position, MediaError *error);

/* Pairs that were added. */
int sample_sheet_count(const SampleSheet *sheet);

/* Draws it into a PNG of this name: at least one pair, in cells as large as the largest picture.
 * `overwrite`: of a file that is there. Without a font there are no times. MEDIA_OUTPUT,
 * MEDIA_USAGE. */
int sample_sheet_write(const SampleSheet *sheet, const char *path, int overwrite,
                       MediaError *error);

void sample_sheet_free(SampleSheet **sheet);

#endif
