/* Finds the codes that a file of gray with more than 8 bits uses. */
#ifndef LUMEQ_MEDIA_CODE_SURVEY_H
#define LUMEQ_MEDIA_CODE_SURVEY_H

#include "media/input/code_range.h"
#include "media/input/source.h"

/* True if the source is a seekable file whose gray may have to be stretched. */
int code_survey_suits(const CodeRange *range, const Source *source);

/*
 * Measures frames spread over [from_us, to_us) of such a file (to_us -1: its end) and sets *range.
 * Skips frames that cannot be decoded. Takes ownership of the source and closes it. MEDIA_INPUT.
 */
int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us,
                MediaError *error);

#endif
