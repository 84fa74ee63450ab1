/* Finds the codes that a file's gray of more than 8 bits uses, once for all readers of the file. */
#ifndef LUMEQ_MEDIA_CODE_SURVEY_H
#define LUMEQ_MEDIA_CODE_SURVEY_H

#include "media/input/code_range.h"
#include "media/input/source.h"

/* True if the source is a file that may have to be stretched. */
int code_survey_suits(const CodeRange *range, const Source *source);

/*
 * Measures frames spread over [from_us, to_us) of such a file (to_us -1: its end) and sets *range.
 * Takes ownership of the source and closes it. MEDIA_INPUT; frames that cannot be decoded are
 * skipped.
 */
int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us,
                MediaError *error);

#endif
