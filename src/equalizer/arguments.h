/* What the library is given, checked against what lumeq.h says. Answers 0 or LUMEQ_ERR_ARGUMENT
 * with one sentence in `text`. */
#ifndef LUMEQ_ARGUMENTS_H
#define LUMEQ_ARGUMENTS_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "lumeq/lumeq.h"

int lumeq_check_params(const LumeqParams *params, char *text, size_t text_size);

/* For this backend, with these parameters. */
int lumeq_check_frame(const LumeqFrame *frame, const LumeqParams *params,
                      const LumeqBackend *backend, char *text, size_t text_size);

#endif
