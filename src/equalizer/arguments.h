/* Checks of the arguments of public functions. Each returns 0, or ARGUMENT with a sentence in
 * lumeq_error_text(). */
#ifndef LUMEQ_ARGUMENTS_H
#define LUMEQ_ARGUMENTS_H

#include "equalizer/backend.h"
#include "lumeq/lumeq.h"

/* Checks the caller's parameters (NULL: the defaults) and copies them. Replaces strength AUTO by
 * 0.8 and sets `adaptive`; with any other strength, clears `lift`. */
int lumeq_take_params(LumeqParams *to, const LumeqParams *from);

int lumeq_check_config(const LumeqConfig *config);

int lumeq_check_input(const LumeqImage *in, const LumeqParams *params, const LumeqBackend *backend);

int lumeq_check_previous(const LumeqImage *previous, const LumeqImage *in,
                         const LumeqBackend *backend);

int lumeq_check_pair(const LumeqImage *in, const LumeqImage *out, const LumeqBackend *backend);

int lumeq_check_frame(const LumeqFrame *frame, const LumeqParams *params,
                      const LumeqBackend *backend);

int lumeq_check_pixels(const LumeqPixels *in, const LumeqPixels *out);

#endif
