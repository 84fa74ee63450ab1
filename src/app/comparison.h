/* Before and after in the frames that are written, as the window compares them. */
#ifndef LUMEQ_APP_COMPARISON_H
#define LUMEQ_APP_COMPARISON_H

#include "app/options/options.h"
#include "media/error.h"

typedef struct AVFrame AVFrame;
typedef struct Comparison Comparison;

/* NULL where --compare asks for none. Finding the fonts of the machine may take a while.
 * MEDIA_INPUT. */
int comparison_open(Comparison **comparison, const Options *options, MediaError *error);

/*
 * The equalized frame becomes one of both: with a line in the middle, left of which is the decoded
 * frame, or of twice the width, both whole; as who watches the video sees it, if the frames are
 * turned. Both frames are of one size and format, which stay those of the first ones. Chroma that
 * is shared by samples on both sides moves the seam by less than its step: of an odd width, the
 * left picture lacks its last column. Memory that the frames share with others stays as it is.
 * One thread at a time. MEDIA_INPUT. NULL: nothing is done.
 */
int comparison_make(Comparison *comparison, const AVFrame *decoded, AVFrame *equalized,
                    MediaError *error);

/* NULL is allowed inside. */
void comparison_close(Comparison **comparison);

#endif
