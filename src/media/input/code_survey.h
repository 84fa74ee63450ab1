/* Finds the codes that a gray video file of more than 8 bits uses. */
#ifndef LUMEQ_MEDIA_CODE_SURVEY_H
#define LUMEQ_MEDIA_CODE_SURVEY_H

#include "media/input/code_range.h"
#include "media/input/source.h"

/* True if the source is a seekable gray file that may need stretching. */
int code_survey_suits(const CodeRange *range, const Source *source);

/*
 * Measures frames spread over [from_us, to_us) of such a file and sets *range. `to_us` -1: the end.
 * Skips frames that cannot be decoded. Takes ownership of the source and closes it. MEDIA_INPUT.
 */
int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us,
                MediaError *error);

#endif
